/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * From a decoder's result (0..1 of the model's input) to predictions in pixels of the frame, named.
 */
#ifndef SL_PREDICTIONS_MAPPER_H
#define SL_PREDICTIONS_MAPPER_H

#include <glib.h>

#include "models/labels.h"
#include "postprocess/predictions/class_filter.h"
#include "postprocess/predictions/geometry.h"
#include "postprocess/predictions/prediction.h"
#include "postprocess/result.h"

G_BEGIN_DECLS

typedef struct _SlPredictionMapper SlPredictionMapper;

SlPredictionMapper *sl_prediction_mapper_new (void);
void sl_prediction_mapper_free (SlPredictionMapper *mapper);
/** sl_prediction_mapper_choose: from now on objects and labels of other classes than those of @classes (nullable: all), which outlives its
 *  use here, are left out, then all but the first @most objects. A mask keeps all its classes. */
void sl_prediction_mapper_choose (SlPredictionMapper *mapper, const SlClassFilter *classes, guint most);
/**
 * sl_prediction_mapper_fill: sets sizes, objects, labels, mask, vector and outputs of @prediction, valid until the next call, until @labels die
 * or until @result changes. @labels (nullable): names of classes; @names (nullable), NULL-terminated: those where there are
 * no labels. At most @max_labels labels. Allocates nothing but the mask's grid, when its size changes.
 *
 * Boxes are clipped to the frame; those without area inside it are left out. Whole pixels are the smallest rectangle
 * around the box: x = floor (left), x + w = ceil (right), within a thousandth of a pixel. Keypoints are not clipped. A mask
 * becomes a grid over the frame with cells about as large as the model's, SL_MASK_VOID where the model did not look.
 */
void sl_prediction_mapper_fill (SlPredictionMapper *mapper, const SlResult *result, const SlLabels *labels, const char *const *names,
                                const SlFrameGeometry *geometry, guint max_labels, SlPredictionView *prediction);

G_END_DECLS

#endif
