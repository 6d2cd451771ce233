/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SL_TOOLS_EVAL_THUMBNAIL_H
#define SL_TOOLS_EVAL_THUMBNAIL_H

#include <glib.h>

/** sl_thumbnail_new: (transfer full): the JPEG @image (base64), small enough for a page of many; as
 * it is where it cannot be made smaller. */
char *sl_thumbnail_new (const char *image);

#endif
