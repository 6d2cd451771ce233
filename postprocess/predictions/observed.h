/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What was seen of a tracked object, beside what its filter expects: the centre of OC-SORT (J. Cao
 * et al., "Observation-Centric SORT: Rethinking SORT for Robust Multi-Object Tracking", CVPR 2023).
 * Used by the tracker.
 */
#pragma once

#include "postprocess/predictions/kalman.h"

/** Frames over which the direction of a motion is measured. */
#define SL_OBSERVED_SPAN 6

/** SlObserved: zeroed = nothing was seen. */
typedef struct
{
  SlKalmanBox filter; /* when the object was seen last */
  double box[4];      /* where: centre and size */
  double centres[SL_OBSERVED_SPAN][2];
  guint n;             /* boxes so far */
  double direction[2]; /* of length 1, or 0 */
} SlObserved;

/** sl_observed_add: the object was seen at @box, and @filter knows it. */
void sl_observed_add (SlObserved *self, const double box[4], const SlKalmanBox *filter);
/** sl_observed_catch_up: sets @filter to what it would be, had the object moved straight from where
 * it was seen last to @box, @gap frames (at least 1) later. Takes at most 64 steps. */
void sl_observed_catch_up (const SlObserved *self, const double box[4], guint gap,
                           SlKalmanBox *filter);
/** sl_observed_shift: the camera moved: all places move @by, x and y. */
void sl_observed_shift (SlObserved *self, const double by[2]);
/** sl_observed_agrees: the cosine of the angle between the object's direction and that to a box
 * with its centre at @x, @y; 0 where one of them is not known. */
double sl_observed_agrees (const SlObserved *self, double x, double y);
