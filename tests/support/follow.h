/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracker on a drawn sequence, and what it reaches. Used by a benchmark and by a test. */
#pragma once

#include "tests/support/walks.h"
#include "tools/evaluate/tracks.h"

/** FollowHow: what the tracker goes by, beside overlap. @camera: the motion of the camera, measured
 * in drawn pictures; @described: (out): boxes that were described so far */
typedef struct
{
  gboolean observed, appearance, camera;
  guint64 described;
} FollowHow;

/** follow_scene: @us: (inout): microseconds of a frame's update, if they are fewer. */
SlTrackFigures follow_scene (const WalkScene *scene, guint32 seed, FollowHow *how, double *us);
