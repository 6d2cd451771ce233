/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The map between tensor and frame against worked examples and the definitions of the three fits.
 */
#include "preprocess/affine.h"

#include <glib.h>
#include <math.h>

#define EPSILON 1e-9

static const int sizes[] = { 1, 2, 3, 7, 224, 300, 1080, 1920, 8192, 32767, 32768 };

static void
assert_point (const SlAffine *map, double x, double y, double frame_x, double frame_y)
{
  double got_x, got_y;
  sl_affine_apply (map, x, y, &got_x, &got_y);
  g_assert_cmpfloat_with_epsilon (got_x, frame_x, EPSILON * (1.0 + fabs (frame_x)));
  g_assert_cmpfloat_with_epsilon (got_y, frame_y, EPSILON * (1.0 + fabs (frame_y)));
}

static void
test_identity (void)
{
  SlAffine map;
  sl_affine_identity (&map);
  assert_point (&map, 0, 0, 0, 0);
  assert_point (&map, 3.5, -7.25, 3.5, -7.25);
}

static void
test_examples (void)
{
  static const struct
  {
    SlAffineFit fit;
    int frame[2], tensor[2];
    double corners[4]; /* where the tensor's corners fall in the frame */
  } cases[] = {
    { SL_AFFINE_STRETCH, { 1920, 1080 }, { 224, 224 }, { 0, 0, 1920, 1080 } },
    { SL_AFFINE_LETTERBOX, { 1920, 1080 }, { 224, 224 }, { 0, -420, 1920, 1500 } },
    { SL_AFFINE_CROP, { 1920, 1080 }, { 224, 224 }, { 420, 0, 1500, 1080 } },
    { SL_AFFINE_LETTERBOX, { 810, 1080 }, { 640, 640 }, { -135, 0, 945, 1080 } },
    { SL_AFFINE_CROP, { 810, 1080 }, { 640, 640 }, { 0, 135, 810, 945 } },
    { SL_AFFINE_LETTERBOX, { 100, 50 }, { 30, 20 }, { 0, -25.0 / 3, 100, 50 + 25.0 / 3 } },
    { SL_AFFINE_CROP, { 100, 50 }, { 30, 20 }, { 12.5, 0, 87.5, 50 } },
    { SL_AFFINE_LETTERBOX, { 64, 48 }, { 320, 240 }, { 0, 0, 64, 48 } },
    { SL_AFFINE_CROP, { 64, 48 }, { 320, 240 }, { 0, 0, 64, 48 } },
    { SL_AFFINE_CROP, { 1, 1 }, { 32768, 1 }, { 0, 0.5 - 0.5 / 32768, 1, 0.5 + 0.5 / 32768 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    SlAffine map;
    sl_affine_fit (&map, cases[i].fit, cases[i].frame[0], cases[i].frame[1], cases[i].tensor[0], cases[i].tensor[1]);
    assert_point (&map, 0, 0, cases[i].corners[0], cases[i].corners[1]);
    assert_point (&map, cases[i].tensor[0], cases[i].tensor[1], cases[i].corners[2], cases[i].corners[3]);
    g_assert_cmpfloat (map.xy, ==, 0.0);
    g_assert_cmpfloat (map.yx, ==, 0.0);
  }
}

/* Definitions: centres coincide; stretch covers the frame, letterbox contains it and crop lies in it, both with one
 * scale and touching it along one axis. */
static void
check_fit (SlAffineFit fit, int frame_w, int frame_h, int tensor_w, int tensor_h)
{
  SlAffine map;
  double x0, y0, x1, y1;
  sl_affine_fit (&map, fit, frame_w, frame_h, tensor_w, tensor_h);
  assert_point (&map, tensor_w / 2.0, tensor_h / 2.0, frame_w / 2.0, frame_h / 2.0);
  sl_affine_apply (&map, 0, 0, &x0, &y0);
  sl_affine_apply (&map, tensor_w, tensor_h, &x1, &y1);
  const double excess_w = x1 - x0 - frame_w;
  const double excess_h = y1 - y0 - frame_h;
  const double slack = EPSILON * (fabs (x0) + fabs (y0) + fabs (x1) + fabs (y1) + 1.0);
  switch (fit) {
    case SL_AFFINE_STRETCH:
      g_assert_cmpfloat (fabs (excess_w), <=, slack);
      g_assert_cmpfloat (fabs (excess_h), <=, slack);
      return;
    case SL_AFFINE_LETTERBOX:
      g_assert_cmpfloat (fmin (excess_w, excess_h), >=, -slack);
      break;
    case SL_AFFINE_CROP:
      g_assert_cmpfloat (fmax (excess_w, excess_h), <=, slack);
      break;
  }
  g_assert_cmpfloat (map.xx, ==, map.yy);
  g_assert_cmpfloat (fmin (fabs (excess_w), fabs (excess_h)), <=, slack);
}

static void
test_fits (void)
{
  for (guint a = 0; a < G_N_ELEMENTS (sizes); a++) {
    for (guint b = 0; b < G_N_ELEMENTS (sizes); b++) {
      for (guint c = 0; c < G_N_ELEMENTS (sizes); c++) {
        for (int fit = SL_AFFINE_STRETCH; fit <= SL_AFFINE_CROP; fit++)
          check_fit (fit, sizes[a], sizes[b], sizes[c], sizes[(a + b + c) % G_N_ELEMENTS (sizes)]);
      }
    }
  }
}

static void
test_round_trips (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  for (int i = 0; i < 1000; i++) {
    SlAffine map = {
      g_rand_double_range (rand, 0.5, 9),    g_rand_double_range (rand, -0.2, 0.2), g_rand_double_range (rand, -900, 900),
      g_rand_double_range (rand, -0.2, 0.2), g_rand_double_range (rand, 0.5, 9),    g_rand_double_range (rand, -900, 900),
    };
    double x, y;
    SlAffine inverse;
    g_assert_true (sl_affine_invert (&map, &inverse));
    sl_affine_apply (&map, 12.5, -3.75, &x, &y);
    sl_affine_apply (&inverse, x, y, &x, &y);
    g_assert_cmpfloat_with_epsilon (x, 12.5, 1e-8);
    g_assert_cmpfloat_with_epsilon (y, -3.75, 1e-8);
    g_assert_true (sl_affine_invert (&map, &map));
    g_assert_cmpmem (&map, sizeof map, &inverse, sizeof inverse);
  }
}

static void
test_singular (void)
{
  const SlAffine untouched = { 1, 2, 3, 4, 5, 6 };
  const SlAffine singular[] = {
    { 0 }, { 1, 2, 0, 2, 4, 0 }, { NAN, 0, 0, 0, 1, 0 }, { INFINITY, 0, 0, 0, 1, 0 }, { 1e-320, 0, 0, 0, 1, 0 }
  };
  for (guint i = 0; i < G_N_ELEMENTS (singular); i++) {
    SlAffine inverse = untouched;
    g_assert_false (sl_affine_invert (&singular[i], &inverse));
    g_assert_cmpmem (&inverse, sizeof inverse, &untouched, sizeof untouched);
  }
}

static void
test_box (void)
{
  double box[4] = { 56, 0, 168, 112 };
  SlAffine map;
  sl_affine_fit (&map, SL_AFFINE_LETTERBOX, 1920, 1080, 224, 224);
  sl_affine_box (&map, box, box);
  const double expected[4] = { 480, -420, 1440, 540 };
  for (int i = 0; i < 4; i++)
    g_assert_cmpfloat_with_epsilon (box[i], expected[i], 1e-9);

  const SlAffine quarter_turn = { 0, -1, 10, 1, 0, 20 };
  const double in[4] = { 1, 2, 4, 8 };
  const double turned[4] = { 2, 21, 8, 24 };
  sl_affine_box (&quarter_turn, in, box);
  for (int i = 0; i < 4; i++)
    g_assert_cmpfloat (box[i], ==, turned[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/affine/identity", test_identity);
  g_test_add_func ("/affine/examples", test_examples);
  g_test_add_func ("/affine/fits", test_fits);
  g_test_add_func ("/affine/round-trips", test_round_trips);
  g_test_add_func ("/affine/singular", test_singular);
  g_test_add_func ("/affine/box", test_box);
  return g_test_run ();
}
