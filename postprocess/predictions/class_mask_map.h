/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mask of classes over the model's input -> one over the frame. Used by mapper.c, one thread at a
 * time.
 */
#pragma once

#include "postprocess/predictions/geometry.h"
#include "postprocess/result.h"

typedef struct _SlClassMaskMap SlClassMaskMap;

SlClassMaskMap *sl_class_mask_map_new (void);
void sl_class_mask_map_free (SlClassMaskMap *map);
/** sl_class_mask_map_run: @out is @mask itself where both grids are the same, else memory of @map,
 * valid until the next run. The cell under a cell's centre counts, SL_MASK_VOID outside. @cells:
 * how many cells of @out each class has. */
void sl_class_mask_map_run (SlClassMaskMap *map, const SlClassMask *mask,
                            const SlFrameGeometry *geometry, SlClassMask *out, guint32 cells[256]);
