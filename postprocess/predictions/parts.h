/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A mask of classes that a model made of one object of a frame -> parts of that object, one a class. Used by slpostprocess, one thread
 * at a time.
 */
#ifndef SL_PREDICTIONS_PARTS_H
#define SL_PREDICTIONS_PARTS_H

#include "models/labels.h"
#include "postprocess/predictions/class_filter.h"
#include "postprocess/predictions/geometry.h"
#include "postprocess/predictions/prediction.h"

G_BEGIN_DECLS

typedef struct _SlPredictionParts SlPredictionParts;

SlPredictionParts *sl_prediction_parts_new (void);
/** sl_prediction_parts_free: NULL is legal. */
void sl_prediction_parts_free (SlPredictionParts *parts);
/** sl_prediction_parts_choose: as sl_prediction_mapper_choose(). */
void sl_prediction_parts_choose (SlPredictionParts *parts, const SlClassFilter *classes, guint most);
/**
 * sl_prediction_parts_run: fills @prediction, as sl_prediction_mapper_fill() does, with an object for each class that @mask has inside @region
 * (pixels of the frame, inside it, sizes >= 1): the box around its cells, and which cells of it these are; those with the most cells
 * first, confidence 1. Background and SL_MASK_VOID are no parts. Borders that a letterbox adds to the object are left
 * out. Valid until the next run.
 */
void sl_prediction_parts_run (SlPredictionParts *parts, const SlClassMask *mask, const SlFrameGeometry *geometry, const SlRect *region,
                              const SlLabels *labels, const char *const *names, SlPredictionView *prediction);

G_END_DECLS

#endif
