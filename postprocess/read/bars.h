/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SL_READ_BARS_H
#define SL_READ_BARS_H

#include "postprocess/read/gray.h"

/** sl_bars_fit: whether the bars in @part of @gray, which are upright, are those of the EAN-13 or
 * UPC-A code @text: no other digit fits better in the place of any of its digits. FALSE where @text
 * is not twelve or thirteen digits. */
gboolean sl_bars_fit (const SlGray *gray, const SlRect *part, const char *text);

#endif
