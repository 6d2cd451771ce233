/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Medians against sorted values, when a camera counts as still, and an id that lives on while the
 * camera turns and nobody sees its object. */
#include "postprocess/predictions/camera_motion.h"

#include <math.h>
#include <stdlib.h>

#include "postprocess/predictions/track.h"
#include "tests/support/program.h"

static int
compare (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;
  return x < y ? -1 : x > y;
}

/* An object whose place was expected @surprise off, by x alone. */
static void
add (SlCameraMotion *motion, double surprise)
{
  SlKalmanBox before, after;
  const double expected[4] = { 100, 100, 40, 80 }, measured[4] = { 100 + surprise, 100, 40, 80 };
  sl_kalman_box_init (&before, expected);
  sl_kalman_box_predict (&before, FALSE);
  after = before;
  sl_kalman_box_update (&after, measured);
  sl_camera_motion_add (motion, &before, &after, measured);
}

static void
test_medians (void)
{
  g_autofree SlCameraMotion *motion = g_new0 (SlCameraMotion, 1);
  for (guint n = 4; n <= SL_CAMERA_MOST; n = n * 3 / 2) {
    double values[SL_CAMERA_MOST], common[SL_CAMERA_VALUES][2];
    motion->n = 0;
    for (guint i = 0; i < n; i++) {
      values[i] = 20 + floor (g_test_rand_double_range (0, 8));
      add (motion, values[i]);
    }
    qsort (values, n, sizeof *values, compare);
    g_assert_true (sl_camera_motion_find (motion, common));
    g_assert_cmpfloat_with_epsilon (common[SL_CAMERA_SURPRISE][0], values[n / 2], 1e-9);
    g_assert_cmpfloat_with_epsilon (common[SL_CAMERA_SURPRISE][1], 0, 1e-9);
    /* A filter takes a part of the surprise. */
    g_assert_cmpfloat (common[SL_CAMERA_POSITION][0], >, 0.5 * values[n / 2]);
    g_assert_cmpfloat (common[SL_CAMERA_POSITION][0], <, values[n / 2]);
    g_assert_cmpfloat (common[SL_CAMERA_VELOCITY][0], >, 0);
  }
}

static void
test_still (void)
{
  g_autofree SlCameraMotion *motion = g_new0 (SlCameraMotion, 1);
  double common[SL_CAMERA_VALUES][2];
  static const double few[] = { 9, 9, 9 }, apart[] = { 3, -3, 4, -4, 5, -5, 2, -2 },
                      loose[] = { 1, 30, 2, 60, 1, 90, 3, 80 };
  static const struct
  {
    const double *values;
    guint n;
  } cases[] = { { NULL, 0 }, { few, 3 }, { apart, 8 }, { loose, 8 } };
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    motion->n = 0;
    for (guint i = 0; i < cases[c].n; i++)
      add (motion, cases[c].values[i]);
    g_assert_false (sl_camera_motion_find (motion, common));
  }
  add (motion, 0);
  motion->n = 0;
  for (guint i = 0; i < 6; i++)
    add (motion, 9 + 0.1 * i);
  g_assert_true (sl_camera_motion_find (motion, common));
}

/* Five people stand; the camera begins to turn while nobody sees the sixth, for 20 frames. */
static void
test_hidden (void)
{
  g_autoptr (SlTracker) tracker = sl_tracker_new ();
  double camera = 0;
  for (guint frame = 0; frame < 60; frame++) {
    SlTrackBox boxes[6];
    SlTrackMatch matches[6];
    const gboolean hidden = frame >= 25 && frame < 45;
    camera += frame >= 27 ? 12 : 0;
    for (guint i = 0; i < 6; i++) {
      const double x = 150.0 * i + camera;
      boxes[i] = (SlTrackBox){ { x, 100, x + 50, 220 }, 0.9, 0, 0 };
    }
    sl_tracker_update (tracker, boxes, hidden ? 5 : 6, 1, frame, matches);
    for (guint i = 0; i < (hidden ? 5u : 6u); i++)
      g_assert_cmpint (matches[i].id, ==, i + 1);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/camera-motion/medians", test_medians);
  g_test_add_func ("/camera-motion/still", test_still);
  g_test_add_func ("/camera-motion/hidden", test_hidden);
  return g_test_run ();
}
