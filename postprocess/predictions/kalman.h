/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a box is and how it moves: a Kalman filter of constant velocity over centre, width and
 * height. Used by the tracker.
 *
 * The noise is that of ByteTrack (Y. Zhang et al., "ByteTrack: Multi-Object Tracking by Associating
 * Every Detection Box", ECCV 2022) with width and height as in BoT-SORT (N. Aharon et al.,
 * arXiv:2206.14651): a standard deviation of 1/20 of the box's size for positions and 1/160 for
 * velocities, a frame. Nothing in it couples one coordinate with another, so the filter of eight
 * states is four of two: a position, its velocity, and the covariance [pp pv; pv vv].
 */
#pragma once

#include <glib.h>

/** Width and height are never below this. */
#define SL_KALMAN_SMALLEST 1e-3

typedef struct
{
  double position, velocity;
  double pp, pv, vv;
} SlKalmanAxis;

/** Centre x and y, width, height; velocities are a frame. */
typedef struct
{
  SlKalmanAxis axis[4];
} SlKalmanBox;

/** sl_kalman_box_init: @box: centre x and y, width and height, all finite, sizes at least
 * SL_KALMAN_SMALLEST; standing still. */
void sl_kalman_box_init (SlKalmanBox *self, const double box[4]);
/** sl_kalman_box_predict: one frame on. @rigid: the size stays. */
void sl_kalman_box_predict (SlKalmanBox *self, gboolean rigid);
/** sl_kalman_box_update: as @box was measured, same terms as for init. */
void sl_kalman_box_update (SlKalmanBox *self, const double box[4]);
/** sl_kalman_box_corners: x_min, y_min, x_max, y_max; never without area. */
void sl_kalman_box_corners (const SlKalmanBox *self, double corners[4]);
