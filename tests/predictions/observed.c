/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was seen of objects on known paths: directions, and where a filter is after a gap. */
#include <math.h>
#include <string.h>

#include "postprocess/predictions/observed.h"
#include "tests/support/program.h"

static void
step (SlKalmanBox *filter, SlObserved *seen, const double box[4])
{
  if (seen->n == 0)
    sl_kalman_box_init (filter, box);
  else {
    sl_kalman_box_predict (filter, FALSE);
    sl_kalman_box_update (filter, box);
  }
  sl_observed_add (seen, box, filter);
}

/* Objects in every direction; boxes in every other one. */
static void
test_directions (void)
{
  for (guint degrees = 0; degrees < 360; degrees += 15) {
    SlKalmanBox filter;
    SlObserved seen = { 0 };
    const double angle = degrees * G_PI / 180;
    g_assert_cmpfloat (sl_observed_agrees (&seen, 100, 0), ==, 0);
    for (guint i = 0; i < 20; i++)
      step (&filter, &seen,
            (const double[4]){ 500 + 8 * i * cos (angle), 500 + 8 * i * sin (angle), 40, 80 });
    /* As seen from where the object was SL_OBSERVED_SPAN - 1 frames before the last one. */
    const double x = 500 + 8 * (20 - SL_OBSERVED_SPAN) * cos (angle),
                 y = 500 + 8 * (20 - SL_OBSERVED_SPAN) * sin (angle);
    for (guint turn = 0; turn < 360; turn += 30) {
      const double to = angle + turn * G_PI / 180;
      g_assert_cmpfloat_with_epsilon (
        sl_observed_agrees (&seen, x + 60 * cos (to), y + 60 * sin (to)), cos (turn * G_PI / 180),
        1e-9);
    }
    g_assert_cmpfloat (sl_observed_agrees (&seen, x, y), ==, 0);
  }
}

/* What stands still has no direction, whatever its box trembles. */
static void
test_still (void)
{
  SlKalmanBox filter;
  SlObserved seen = { 0 };
  for (guint i = 0; i < 50; i++) {
    step (&filter, &seen,
          (const double[4]){ 500 + g_test_rand_double_range (-1, 1),
                             500 + g_test_rand_double_range (-1, 1), 40, 80 });
    g_assert_cmpfloat (sl_observed_agrees (&seen, 600, 500), ==, 0);
  }
}

/* After a gap the filter is as if boxes of a straight line had been seen in it: the same as a
 * filter that did see them. */
static void
test_catch_up (void)
{
  for (guint gap = 1; gap <= 64; gap += 7) {
    SlKalmanBox filter, every, caught;
    SlObserved seen = { 0 };
    for (guint i = 0; i < 10; i++)
      step (&filter, &seen, (const double[4]){ 100 + 5.0 * i, 200 - 2.0 * i, 40, 80 });
    every = filter;
    const double last[4] = { 145, 182, 40, 80 }, next[4] = { 145 - 3.0 * gap, 182 + gap, 44, 88 };
    for (guint i = 1; i <= gap; i++) {
      const double share = (double) i / gap;
      double box[4];
      for (guint k = 0; k < 4; k++)
        box[k] = (1 - share) * last[k] + share * next[k];
      sl_kalman_box_predict (&every, FALSE);
      sl_kalman_box_update (&every, box);
    }
    sl_observed_catch_up (&seen, next, gap, &caught);
    for (guint k = 0; k < 4; k++) {
      g_assert_cmpfloat_with_epsilon (caught.axis[k].position, every.axis[k].position, 1e-6);
      g_assert_cmpfloat_with_epsilon (caught.axis[k].velocity, every.axis[k].velocity, 1e-6);
    }
    if (gap > 30) /* the new motion, not the one before the gap */
      g_assert_cmpfloat_with_epsilon (caught.axis[0].velocity, -3, 0.2);
  }
}

/* A gap of any length takes no longer, and ends where the box is. */
static void
test_long_gap (void)
{
  SlKalmanBox filter;
  SlObserved seen = { 0 };
  step (&filter, &seen, (const double[4]){ 100, 200, 40, 80 });
  const double next[4] = { 1100, 700, 40, 80 };
  sl_observed_catch_up (&seen, next, 1000, &filter);
  g_assert_cmpfloat_with_epsilon (filter.axis[0].position, 1100, 1e-9);
  g_assert_cmpfloat_with_epsilon (filter.axis[0].velocity, 1, 1e-9);
  g_assert_cmpfloat_with_epsilon (filter.axis[1].velocity, 0.5, 1e-9);
  sl_observed_catch_up (&seen, next, G_MAXUINT, &filter);
  g_assert_cmpfloat_with_epsilon (filter.axis[0].velocity, 0, 1e-6);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/observed/directions", test_directions);
  g_test_add_func ("/observed/still", test_still);
  g_test_add_func ("/observed/catch-up", test_catch_up);
  g_test_add_func ("/observed/long-gap", test_long_gap);
  return g_test_run ();
}
