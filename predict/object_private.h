/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The objects, labels and names of a frame's predictions as applications get them: NULL-terminated
 * arrays in the predictions' arena.
 */
#pragma once

#include "core/graph/arena.h"
#include "postprocess/predictions/prediction.h"
#include "sightline/predictions.h"

/** SlPredictionLists: arrays are NULL-terminated. */
typedef struct
{
  SlObject *const *objects;
  SlLabel *const *labels;
  SlMask *class_mask;                /* (nullable) */
  const char *const *keypoint_names; /* "" for a point without a name */
  const char *const *mask_class_names;
  SlOutput *const *outputs;
} SlPredictionLists;

/** sl_prediction_lists_new: made in @arena; they refer to @owner, and to what @view points at. */
const SlPredictionLists *sl_prediction_lists_new (SlArena *arena, SlPredictions *owner,
                                                  const SlPredictionView *view);

/** sl_output_list_new: those of @outputs, NULL-terminated, likewise. */
SlOutput *const *sl_output_list_new (SlArena *arena, SlPredictions *owner,
                                     const SlOutputs *outputs);
