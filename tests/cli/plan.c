/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What fits, computed by hand for round numbers. */
#include "tools/advise/plan.h"

static void
test_camera (void)
{
  static const struct
  {
    const char *text;
    guint width, height;
    gdouble rate; /* 0 = refused */
  } rows[] = {
    { "1080p15", 1920, 1080, 15 },
    { "720p", 1280, 720, 25 },
    { "480p7.5", 852, 480, 7.5 },
    { "1280x720@10", 1280, 720, 10 },
    { "640x480", 640, 480, 25 },
    { "8192x8192@240", 8192, 8192, 240 },
    { "" },
    { "p15" },
    { "1080" },
    { "1080p15x" },
    { "1080p-1" },
    { "1080p0" },
    { "1080p1e9" },
    { "1080pnan" },
    { "x720" },
    { "1280x" },
    { "1280x@10" },
    { "15x720" },
    { "1280x8193" },
    { "99999999999999999999x1" },
    { "8192p" },
    { "-1080p15" },
    { " 1080p15" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlAdvisedCamera camera = { 0 };
    g_test_message ("%s", rows[i].text);
    g_assert_cmpint (sl_advised_camera_parse (rows[i].text, &camera), ==, rows[i].rate > 0);
    if (rows[i].rate <= 0)
      continue;
    g_assert_cmpuint (camera.width, ==, rows[i].width);
    g_assert_cmpuint (camera.height, ==, rows[i].height);
    g_assert_cmpfloat (camera.rate, ==, rows[i].rate);
  }
}

/* 4 cameras at 10 frames a second; 5 ms of decoding, 20 ms of the model: 40 * 25 ms = 1 processor.
 */
static void
test_load (void)
{
  SlPlanAim aim = { { 640, 480, 10 }, 4, 2, 10, 0.25, 5 };
  const SlPlanTimes one = { 1, 1, 18, 1 }, two = { 2, 1, 18, 1 };
  SlPlan plan = sl_plan_make (&aim, &one);
  g_assert_cmpfloat_with_epsilon (plan.load, 1, 1e-9);
  g_assert_cmpfloat_with_epsilon (plan.frame_ms, 20, 1e-9);
  g_assert_cmpfloat_with_epsilon (plan.most_rate, 10, 1e-9);
  g_assert_cmpuint (plan.interval, ==, 1);
  g_assert_true (plan.fits);
  plan = sl_plan_make (&aim, &two); /* 40 * (5 + 2 + 36) ms */
  g_assert_cmpfloat_with_epsilon (plan.load, 1.72, 1e-9);
  g_assert_cmpfloat_with_epsilon (plan.most_rate, 1000 * (1.5 - 0.2) / (4 * 38), 1e-9);
  g_assert_false (plan.fits);
  aim.margin = 0;
  g_assert_true (sl_plan_make (&aim, &two).fits);
}

/* Frames without a model are decoded all the same. */
static void
test_interval (void)
{
  const SlPlanAim aim = { { 640, 480, 15 }, 4, 2, 4, 0.25, 10 };
  const SlPlanTimes times = { 1, 0, 50, 0 };
  const SlPlan plan = sl_plan_make (&aim, &times);
  g_assert_cmpuint (plan.interval, ==, 3); /* 5 a second, not below 4 */
  g_assert_cmpfloat_with_epsilon (plan.load, 0.6 + 1, 1e-9);
  g_assert_false (plan.fits);
  g_assert_cmpfloat_with_epsilon (plan.most_rate, 4.5, 1e-9);
}

/* A model slower than the frames, on many processors; and decoding that takes all of them. */
static void
test_limits (void)
{
  SlPlanAim aim = { { 640, 480, 10 }, 1, 64, 10, 0, 1 };
  const SlPlanTimes times = { 1, 0, 200, 0 };
  SlPlan plan = sl_plan_make (&aim, &times);
  g_assert_false (plan.fits);
  g_assert_cmpfloat_with_epsilon (plan.most_rate, 5, 1e-9);
  aim.cameras = 1000;
  aim.decode_ms = 100;
  plan = sl_plan_make (&aim, &times);
  g_assert_false (plan.fits);
  g_assert_cmpfloat (plan.most_rate, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plan/camera", test_camera);
  g_test_add_func ("/plan/load", test_load);
  g_test_add_func ("/plan/interval", test_interval);
  g_test_add_func ("/plan/limits", test_limits);
  return g_test_run ();
}
