/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Access to the brightness of a picture in any format that the preprocessor takes. */
#pragma once

#include "preprocess/image.h"
#include "postprocess/read/gray.h"

/** sl_luma_of: where the brightness of @image with the format @info lies in memory. Valid while the
 * image is valid. */
SlLuma sl_luma_of (const SlImageInfo *info, const SlImage *image);
