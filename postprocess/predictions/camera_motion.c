/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "postprocess/predictions/camera_motion.h"

#include <math.h>
#include <string.h>

/* Fewer objects say nothing about the camera. */
#define LEAST 4
/* The median counts from this many of its own errors on: median deviations over the root of the
 * number of objects. Noise of standing cameras reaches 4 of them, which costs ids. */
#define CLEAR 6
/* By how many standard deviations of a coin's throws one sign must be more frequent. */
#define SIGNS 2

void
sl_camera_motion_add (SlCameraMotion *self, const SlKalmanBox *before, const SlKalmanBox *after,
                      const double measured[4])
{
  g_return_if_fail (self->n < SL_CAMERA_MOST);
  for (guint k = 0; k < 2; k++) {
    const SlKalmanAxis *was = &before->axis[k], *is = &after->axis[k];
    self->values[SL_CAMERA_SURPRISE][k][self->n] = measured[k] - was->position;
    self->values[SL_CAMERA_POSITION][k][self->n] = is->position - was->position;
    self->values[SL_CAMERA_VELOCITY][k][self->n] = is->velocity - was->velocity;
  }
  self->n++;
}

static void
swap (double *a, double *b)
{
  const double kept = *a;
  *a = *b;
  *b = kept;
}

/* The middle of @n values, which change their order: Hoare's selection. */
static double
middle (double *values, guint n)
{
  guint low = 0, high = n - 1;
  const guint wanted = n / 2;
  while (low < high) {
    const double pivot = values[(low + high) / 2];
    guint i = low, j = high;
    for (;; i++, j--) {
      while (values[i] < pivot)
        i++;
      while (values[j] > pivot)
        j--;
      if (i >= j)
        break;
      swap (&values[i], &values[j]);
    }
    if (wanted <= j)
      high = j;
    else
      low = j + 1;
  }
  return values[low];
}

static double
median (SlCameraMotion *self, SlCameraValue value, guint k)
{
  memcpy (self->work, self->values[value][k], self->n * sizeof *self->work);
  return middle (self->work, self->n);
}

/* Whether clearly more than half of the surprises have one sign: a cheap test that most frames of a
 * standing camera fail. */
static gboolean
is_one_sided (const SlCameraMotion *self, guint k)
{
  guint positive = 0;
  for (guint i = 0; i < self->n; i++)
    positive += self->values[SL_CAMERA_SURPRISE][k][i] > 0;
  const double excess = 2.0 * positive - self->n;
  return excess * excess >= SIGNS * SIGNS * self->n;
}

static gboolean
is_clear (SlCameraMotion *self, guint k)
{
  if (!is_one_sided (self, k))
    return FALSE;
  const double common = median (self, SL_CAMERA_SURPRISE, k);
  for (guint i = 0; i < self->n; i++)
    self->work[i] = fabs (self->values[SL_CAMERA_SURPRISE][k][i] - common);
  return fabs (common) > CLEAR * middle (self->work, self->n) / sqrt (self->n);
}

gboolean
sl_camera_motion_find (SlCameraMotion *self, double common[SL_CAMERA_VALUES][2])
{
  if (self->n < LEAST || !(is_clear (self, 0) || is_clear (self, 1)))
    return FALSE;
  for (SlCameraValue value = SL_CAMERA_SURPRISE; value < SL_CAMERA_VALUES; value++)
    for (guint k = 0; k < 2; k++)
      common[value][k] = median (self, value, k);
  return TRUE;
}
