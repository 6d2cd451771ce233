/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keypoints, labels and masks of objects as applications get them: handles in the predictions'
 * arena. */
#pragma once

#include "postprocess/predictions/prediction.h"
#include "sightline/predictions.h"

struct _SlKeypoint
{
  SlPredictions *owner;
  const char *name; /* (nullable) */
  gdouble x, y, confidence;
};

struct _SlLabel
{
  SlPredictions *owner;
  const SlLabelled *value;
};

struct _SlMask
{
  SlPredictions *owner;
  guint width, height;
  const guint8 *cells;
  SlBox box;
};
