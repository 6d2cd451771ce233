/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Part of a picture -> tensor, for a part that is rotated by any angle, reaches beyond the picture
 * or is seen at an angle: the input of landmark models and of readers of text. For other parts the
 * normaliser is faster. libc only.
 */
#pragma once

#include "core/base/corners.h"
#include "preprocess/normalize.h"

typedef struct SlWarp SlWarp;

/** sl_warp_new: (nullable): NULL when out of memory. It must be set before it runs. */
SlWarp *sl_warp_new (void);
/** sl_warp_free: NULL is legal. */
void sl_warp_free (SlWarp *warp);
/** sl_warp_set: what to make of pictures of @image: @part, its sizes above 0, stretched over the
 * tensor of @spec, whose fit, orientation, crop and filter do not count. A pixel of the tensor is
 * interpolated between the four picture pixels around its centre; these are means if the part is
 * reduced by more than 2. It is border if its centre falls outside the picture. Memory is kept from
 * part to part. After any error it must be set again before it runs. */
SlNormalizeStatus sl_warp_set (SlWarp *warp, const SlImageInfo *image, const SlNormalizeSpec *spec,
                               const SlTurnedRect *part);
/** sl_warp_set_corners: likewise of the part between @corners, which sl_corners_order() made, seen
 * from the front. The fit of @spec counts: with SL_FIT_LETTERBOX the part keeps its proportions,
 * and what it leaves of the tensor is border. */
SlNormalizeStatus sl_warp_set_corners (SlWarp *warp, const SlImageInfo *image,
                                       const SlNormalizeSpec *spec, const SlCorners *corners);
/** sl_warp_run: fills @tensor (width * height * channels elements, aligned to its element). One
 * thread at a time. */
void sl_warp_run (SlWarp *warp, const SlImage *image, void *tensor);
/** sl_warp_map: tensor -> picture; of corners the affine map through all but the lower right one.
 */
const SlAffine *sl_warp_map (const SlWarp *warp);
