/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Found objects of pictures against true ones: by boxes and, where the model and the data set have
 * them, by masks and keypoints.
 */
#pragma once

#include "core/base/affine.h"
#include "tools/evaluate/matrix.h"
#include "tools/evaluate/objects.h"
#include "postprocess/result.h"
#include "tools/eval/ground_truth.h"

typedef enum
{
  SL_MEASURE_BOXES,
  SL_MEASURE_MASKS,
  SL_MEASURE_POINTS,
  SL_MEASURES
} SlMeasure;

/** SlMeasures: (nullable): those that are not taken are NULL. @pairs: (nullable): by boxes. */
typedef struct
{
  SlObjectScore *scores[SL_MEASURES];
  SlObjectPairs *pairs;
} SlMeasures;

/** SlSight: a picture as a model saw it: @map: tensor pixels -> pixels of the picture. */
typedef struct
{
  const SlAffine *map;
  gint tensor_width, tensor_height, width, height;
} SlSight;

/** sl_measure_name: "boxes", "masks", "keypoints". */
const char *sl_measure_name (SlMeasure measure);
void sl_measures_clear (SlMeasures *measures);
/** sl_measures_add: @truths: (element-type SlGroundTruth): in pixels of the picture, with classes
 * of the model as labels. */
void sl_measures_add (SlMeasures *measures, const GArray *truths, const SlResult *result,
                      const SlSight *sight);
