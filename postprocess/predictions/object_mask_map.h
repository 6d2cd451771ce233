/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Maps masks of single objects from the model's grid to a grid over the object's region of the
 * frame. Used by mapper.c, one thread at a time.
 */
#pragma once

#include "postprocess/predictions/prediction.h"
#include "postprocess/result.h"
#include "postprocess/predictions/geometry.h"

/** Cells of the masks of one frame: memory for SL_MAX_OBJECT_CELLS, allocated at the first mask. */
typedef struct
{
  guint8 *cells;
  guint used;
} SlObjectMaskMap;

/** sl_object_mask_share: the confidence, 0..255, that the point @x, @y (0..1 of the model's input)
 * belongs to the object of @box. 0 outside the box. For a mask with is_cut, 0 outside the mask. */
guint8 sl_object_mask_share (const SlInstanceMask *mask, const SlDetection *box, double x,
                             double y);
/** sl_object_mask_map_clear: also for a zeroed struct. */
void sl_object_mask_map_clear (SlObjectMaskMap *map);
/** sl_object_mask_map_run: maps @mask of @box to a grid over the pixels x, y, w, h of @object, with
 * cells about as large as the model's. Cells outside @box are 0. For a mask with is_cut, cells
 * outside the mask are 0. @out has no cells where @mask has none, or where the memory is used up.
 * Set used = 0 for a new frame. */
void sl_object_mask_map_run (SlObjectMaskMap *map, const SlInstanceMask *mask,
                             const SlDetection *box, const SlFrameGeometry *geometry,
                             const SlObjectView *object, SlObjectMask *out);
