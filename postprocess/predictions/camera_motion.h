/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a camera moved, from the boxes of a frame: what the surprises of all objects have in common.
 * An object that nobody saw in the frame moved with the camera, too. No pixel is read, so it costs
 * a microsecond, and needs a few objects that are seen. Used by the tracker.
 */
#pragma once

#include "postprocess/predictions/kalman.h"

/** Most objects of a frame. */
#define SL_CAMERA_MOST 256

/** What the surprise, the correction of the position and that of the velocity are: x and y. */
typedef enum
{
  SL_CAMERA_SURPRISE,
  SL_CAMERA_POSITION,
  SL_CAMERA_VELOCITY,
  SL_CAMERA_VALUES
} SlCameraValue;

/** The frame's objects so far; zeroed = none. */
typedef struct
{
  guint n;
  double values[SL_CAMERA_VALUES][2][SL_CAMERA_MOST];
  double work[SL_CAMERA_MOST];
} SlCameraMotion;

/** sl_camera_motion_add: an object that @measured, centre and size, moved from @before, where it
 * was expected, to @after. At most SL_CAMERA_MOST of a frame. */
void sl_camera_motion_add (SlCameraMotion *self, const SlKalmanBox *before,
                           const SlKalmanBox *after, const double measured[4]);
/** sl_camera_motion_find: @common: (out): the medians, in pixels. FALSE where the objects are few,
 * or do not agree well enough: then the camera counts as still. */
gboolean sl_camera_motion_find (SlCameraMotion *self, double common[SL_CAMERA_VALUES][2]);
