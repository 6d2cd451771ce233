/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Converts a class mask of one object to parts of that object, one part for each class. Used by
 * slpostprocess, one thread at a time.
 */
#pragma once

#include "models/labels.h"
#include "postprocess/predictions/class_filter.h"
#include "postprocess/predictions/geometry.h"
#include "postprocess/predictions/prediction.h"

typedef struct _SlPredictionParts SlPredictionParts;

SlPredictionParts *sl_prediction_parts_new (void);
/** sl_prediction_parts_free: NULL is legal. */
void sl_prediction_parts_free (SlPredictionParts *parts);
/** sl_prediction_parts_choose: as sl_prediction_mapper_choose(). */
void sl_prediction_parts_choose (SlPredictionParts *parts, const SlClassFilter *classes,
                                 guint most);
/**
 * sl_prediction_parts_run: fills @prediction as sl_prediction_mapper_fill() does, with an object
 * for each class of @mask inside @region.
 * @region: pixels of the frame, inside the frame, sizes >= 1. An object is the box around the cells
 * of its class, and has a mask of these cells. The object with the most cells comes first; the
 * confidence is 1. Background and SL_MASK_VOID give no objects. Borders that a letterbox adds to
 * the object are left out. Valid until the next run.
 */
void sl_prediction_parts_run (SlPredictionParts *parts, const SlClassMask *mask,
                              const SlFrameGeometry *geometry, const SlRect *region,
                              const SlLabels *labels, const char *const *names,
                              SlPredictionView *prediction);
