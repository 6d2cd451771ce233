/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Masks of objects over their boxes, as Mask R-CNN gives them: [N,1,height,width] of 0..1, brought
 * to the pixels of the model's input as torchvision pastes them into pictures. Used by
 * decoders/torchvision.c.
 */
#pragma once

#include "core/graph/tensor_info.h"
#include "postprocess/result.h"

/** Most pixels of a mask's side. */
#define SL_MAX_BOX_MASK_SIDE 256

typedef struct
{
  guint width, height;              /* of each mask of the model */
  gfloat input_width, input_height; /* in pixels */
  guint8 *cells;
  SlInstanceMask *masks;
  guint used; /* of SL_MAX_OBJECT_CELLS */
} SlBoxMasks;

/** sl_box_masks_shape: whether @tensor can be masks of @n boxes: float32[N,1,height,width], smaller
 * than the model's input. */
gboolean sl_box_masks_shape (const SlTensorInfo *tensor, guint n, gfloat input_width,
                             gfloat input_height);
/** sl_box_masks_init: @tensor has passed sl_box_masks_shape(). */
void sl_box_masks_init (SlBoxMasks *self, const SlTensorInfo *tensor, gfloat input_width,
                        gfloat input_height, guint max_results);
/** sl_box_masks_clear: also for a zeroed struct. */
void sl_box_masks_clear (SlBoxMasks *self);
/** sl_box_masks_run: fills masks[i] for each detection of @result from row @rows[i] of @data. A
 * cell is a pixel of the model's input; where all would be more than SL_MAX_OBJECT_CELLS, large
 * objects have larger cells. */
void sl_box_masks_run (SlBoxMasks *self, const void *data, const guint *rows,
                       const SlResult *result);
