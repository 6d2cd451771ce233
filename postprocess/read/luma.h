/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The brightness in a picture of any format that the preprocessor takes.
 */
#ifndef SL_READ_LUMA_H
#define SL_READ_LUMA_H

#include "preprocess/image.h"
#include "postprocess/read/gray.h"

G_BEGIN_DECLS

/** sl_luma_of: where the brightness of @image, of @info, lies; valid as long as the image is. */
SlLuma sl_luma_of (const SlImageInfo *info, const SlImage *image);

G_END_DECLS

#endif
