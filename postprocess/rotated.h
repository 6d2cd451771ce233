/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Boxes that are turned about their middle, and their suppression. */
#pragma once

#include "postprocess/detector.h"

/** Most candidates that are compared: each pair costs a clipped polygon. */
#define SL_MAX_ROTATED 1000

/** In pixels; @angle in radians from the x axis towards the y axis. */
typedef struct
{
  gfloat x, y, w, h, angle;
} SlRotated;

/** sl_rotated_corners: x, y of the four corners, one behind the other around the box, which begin
 * at the one that is right below the middle of a box that is not turned. */
void sl_rotated_corners (const SlRotated *box, double corners[4][2]);
/** sl_rotated_overlap: intersection over union of two boxes, 0..1; not a number where one is too
 * large for that. */
double sl_rotated_overlap (const SlRotated *a, const SlRotated *b);
/** sl_rotated_suppress: what sl_detector_finish() does, by overlaps of @boxes, which are those of
 * @detector's candidates. */
void sl_rotated_suppress (SlDetector *detector, const SlRotated *boxes, SlResult *result);
