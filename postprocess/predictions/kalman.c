/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The four filters of two states each. Called by the tracker for each track and frame. */
#include "postprocess/predictions/kalman.h"

#define POSITION_NOISE (1.0 / 20)
#define VELOCITY_NOISE (1.0 / 160)
/* How much less is known of a box seen once. */
#define FIRST_POSITION 2
#define FIRST_VELOCITY 10
/* A size shrinks to this share of the last at most, a frame. */
#define MIN_SHARE 0.1

static double
square (double x)
{
  return x * x;
}

static double
limit_size (double size, double last)
{
  return MAX (size, MAX (MIN_SHARE * last, SL_KALMAN_SMALLEST));
}

/* The size that the noise of @axis is relative to. */
static double
size_of (const SlKalmanBox *self, guint axis)
{
  return self->axis[2 + axis % 2].position;
}

void
sl_kalman_box_init (SlKalmanBox *self, const double box[4])
{
  for (guint i = 0; i < 4; i++) {
    const double size = box[2 + i % 2];
    self->axis[i] = (SlKalmanAxis){
      .position = box[i],
      .pp = square (FIRST_POSITION * POSITION_NOISE * size),
      .vv = square (FIRST_VELOCITY * VELOCITY_NOISE * size),
    };
  }
}

void
sl_kalman_box_predict (SlKalmanBox *self, gboolean rigid)
{
  const double sizes[2] = { size_of (self, 0), size_of (self, 1) };
  for (guint i = 0; i < 4; i++) {
    SlKalmanAxis *a = &self->axis[i];
    if (i >= 2 && rigid)
      a->velocity = 0;
    a->position += a->velocity;
    a->pp += 2 * a->pv + a->vv + square (POSITION_NOISE * sizes[i % 2]);
    a->pv += a->vv;
    a->vv += square (VELOCITY_NOISE * sizes[i % 2]);
    if (i >= 2)
      a->position = limit_size (a->position, sizes[i % 2]);
  }
}

void
sl_kalman_box_update (SlKalmanBox *self, const double box[4])
{
  const double sizes[2] = { size_of (self, 0), size_of (self, 1) };
  for (guint i = 0; i < 4; i++) {
    SlKalmanAxis *a = &self->axis[i];
    const double total = a->pp + square (POSITION_NOISE * sizes[i % 2]);
    const double gain = a->pp / total, velocity_gain = a->pv / total,
                 surprise = box[i] - a->position;
    a->position += gain * surprise;
    a->velocity += velocity_gain * surprise;
    a->vv -= velocity_gain * a->pv;
    a->pv -= gain * a->pv;
    a->pp -= gain * a->pp;
    if (i >= 2)
      a->position = limit_size (a->position, sizes[i % 2]);
  }
}

void
sl_kalman_box_corners (const SlKalmanBox *self, double corners[4])
{
  for (guint i = 0; i < 4; i++)
    corners[i] = self->axis[i % 2].position + (i < 2 ? -0.5 : 0.5) * self->axis[2 + i % 2].position;
}
