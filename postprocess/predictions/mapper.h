/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Maps a decoder's result (0..1 of the model's input) to predictions with names, in pixels of the
 * frame.
 */
#pragma once

#include <glib.h>

#include "models/labels.h"
#include "postprocess/predictions/class_filter.h"
#include "postprocess/predictions/geometry.h"
#include "postprocess/predictions/prediction.h"
#include "postprocess/result.h"

typedef struct _SlPredictionMapper SlPredictionMapper;

SlPredictionMapper *sl_prediction_mapper_new (void);
void sl_prediction_mapper_free (SlPredictionMapper *mapper);
/** sl_prediction_mapper_choose: from now on only objects and labels that pass @classes (nullable:
 * all) are kept, and of the objects only the first @most. A mask keeps all its classes. The caller
 * owns @classes, and frees it after the mapper's last use. */
void sl_prediction_mapper_choose (SlPredictionMapper *mapper, const SlClassFilter *classes,
                                  guint most);
/**
 * sl_prediction_mapper_fill: sets sizes, objects, labels, mask, vector and outputs of @prediction.
 * They are valid until the next call, until
 * @labels is freed or until @result changes. @labels (nullable): names of classes; @names
 * (nullable), NULL-terminated: the names where
 * @labels has none. At most @max_labels labels are set. Only the mask's grid is allocated, when its
 * size changes.
 *
 * Boxes are clipped to the frame; those without area inside it are left out. The whole pixels of an
 * object are the smallest rectangle around the box: x = floor (left), x + w = ceil (right), with a
 * tolerance of a thousandth of a pixel. Keypoints are not clipped. A mask becomes a grid over the
 * frame with cells about as large as the model's. Cells outside the model's input are SL_MASK_VOID.
 */
void sl_prediction_mapper_fill (SlPredictionMapper *mapper, const SlResult *result,
                                const SlLabels *labels, const char *const *names,
                                const SlFrameGeometry *geometry, guint max_labels,
                                SlPredictionView *prediction);
