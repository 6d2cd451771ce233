/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Directions are compared by the cosine of their angle, where the paper takes the angle: that needs
 * no trigonometric function for each pair. */
#include "postprocess/predictions/observed.h"

#include <math.h>
#include <string.h>

/* After a longer gap the filter begins anew. */
#define LONGEST 64
/* Centres nearer than this share of the box's height have no direction: a detector's jitter. */
#define STILL 0.05

static const double *
oldest (const SlObserved *self)
{
  return self->centres[self->n < SL_OBSERVED_SPAN ? 0 : self->n % SL_OBSERVED_SPAN];
}

/* The direction from @from to @to: FALSE where they are too near for one. */
static gboolean
point (const double from[2], const double to[2], double height, double direction[2])
{
  const double x = to[0] - from[0], y = to[1] - from[1], length = sqrt (x * x + y * y);
  if (!(length > STILL * height))
    return FALSE;
  direction[0] = x / length;
  direction[1] = y / length;
  return TRUE;
}

void
sl_observed_add (SlObserved *self, const double box[4], const SlKalmanBox *filter)
{
  self->direction[0] = self->direction[1] = 0;
  if (self->n > 0)
    point (oldest (self), box, box[3], self->direction);
  memcpy (self->centres[self->n % SL_OBSERVED_SPAN], box, sizeof self->centres[0]);
  memcpy (self->box, box, sizeof self->box);
  self->filter = *filter;
  /* The place in the ring and whether it is full are all that counts. */
  self->n = self->n + 1 < 2 * SL_OBSERVED_SPAN ? self->n + 1 : SL_OBSERVED_SPAN;
}

void
sl_observed_shift (SlObserved *self, const double by[2])
{
  for (guint k = 0; k < 2; k++) {
    self->box[k] += by[k];
    self->filter.axis[k].position += by[k];
    for (guint i = 0; i < SL_OBSERVED_SPAN; i++)
      self->centres[i][k] += by[k];
  }
}

void
sl_observed_catch_up (const SlObserved *self, const double box[4], guint gap, SlKalmanBox *filter)
{
  double between[4];
  if (gap > LONGEST) {
    sl_kalman_box_init (filter, box);
    for (guint k = 0; k < 2; k++)
      filter->axis[k].velocity = (box[k] - self->box[k]) / gap;
    return;
  }
  *filter = self->filter;
  for (guint step = 1; step <= gap; step++) {
    for (guint k = 0; k < 4; k++)
      between[k] = self->box[k] + (box[k] - self->box[k]) * step / gap;
    sl_kalman_box_predict (filter, FALSE);
    sl_kalman_box_update (filter, between);
  }
}

double
sl_observed_agrees (const SlObserved *self, double x, double y)
{
  const double to[2] = { x, y };
  double direction[2];
  if (self->n == 0 || !point (oldest (self), to, self->box[3], direction))
    return 0;
  return self->direction[0] * direction[0] + self->direction[1] * direction[1];
}
