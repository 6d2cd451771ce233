/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a decoder's result (0..1 of the model's input) to predictions in pixels of the frame, named.
 */
#ifndef SL_PLUGINS_PREDICTIONMAP_H
#define SL_PLUGINS_PREDICTIONMAP_H

#include <glib.h>

#include "models/labels.h"
#include "postprocess/prediction.h"
#include "postprocess/result.h"
#include "preprocess/affine.h"

G_BEGIN_DECLS

/**
 * SlFrameGeometry:
 * @map: tensor pixels -> frame pixels
 * @tensor_width, @tensor_height, @frame_width, @frame_height: all >= 1
 */
typedef struct
{
  SlAffine map;
  gint tensor_width, tensor_height;
  gint frame_width, frame_height;
} SlFrameGeometry;

typedef struct _SlPredictionMap SlPredictionMap;

SlPredictionMap *sl_prediction_map_new (void);
void sl_prediction_map_free (SlPredictionMap *map);
/**
 * sl_prediction_map_fill: sets sizes, objects and labels of @prediction, valid until the next call or until @labels die.
 * @labels (nullable); at most @max_labels labels. Allocates nothing.
 *
 * Boxes are clipped to the frame; those without area inside it are left out. Whole pixels are the smallest rectangle
 * around the box: x = floor (left), x + w = ceil (right), within a thousandth of a pixel.
 */
void sl_prediction_map_fill (SlPredictionMap *map, const SlResult *result, const SlLabels *labels, const SlFrameGeometry *geometry,
                             guint max_labels, SlPrediction *prediction);

G_END_DECLS

#endif
