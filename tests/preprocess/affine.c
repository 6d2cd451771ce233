/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The map between tensor and frame against worked examples and the definitions of the three fits.
 */
#include "core/base/affine.h"
#include "tests/support/program.h"

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

/* 224 of 256: of 1920x1080 the central square of 945 pixels; of a stretched frame seven eighths of
 * both sides. */
static void
test_share (void)
{
  SlAffine map;
  const SlRect whole = { 0, 0, 1920, 1080 };
  sl_affine_fit (&map, SL_FIT_CROP, 1920, 1080, 224, 224);
  sl_affine_zoom (&map, 0.875, 224, 224);
  assert_point (&map, 0, 0, 487.5, 67.5);
  assert_point (&map, 224, 224, 1432.5, 1012.5);
  sl_affine_view (&map, SL_FIT_STRETCH, SL_ORIENTATION_90R, &whole, 108, 192);
  sl_affine_zoom (&map, 0.875, 108, 192);
  assert_point (&map, 0, 0, 120, 1012.5);
  assert_point (&map, 108, 192, 1800, 67.5);
  sl_affine_zoom (&map, 0, 108, 192);
  assert_point (&map, 0, 0, 120, 1012.5);
}

static void
test_examples (void)
{
  static const struct
  {
    SlFit fit;
    int frame[2], tensor[2];
    double corners[4]; /* where the tensor's corners fall in the frame */
  } cases[] = {
    { SL_FIT_STRETCH, { 1920, 1080 }, { 224, 224 }, { 0, 0, 1920, 1080 } },
    { SL_FIT_LETTERBOX, { 1920, 1080 }, { 224, 224 }, { 0, -420, 1920, 1500 } },
    { SL_FIT_CROP, { 1920, 1080 }, { 224, 224 }, { 420, 0, 1500, 1080 } },
    { SL_FIT_LETTERBOX, { 810, 1080 }, { 640, 640 }, { -135, 0, 945, 1080 } },
    { SL_FIT_CROP, { 810, 1080 }, { 640, 640 }, { 0, 135, 810, 945 } },
    { SL_FIT_LETTERBOX, { 100, 50 }, { 30, 20 }, { 0, -25.0 / 3, 100, 50 + 25.0 / 3 } },
    { SL_FIT_CROP, { 100, 50 }, { 30, 20 }, { 12.5, 0, 87.5, 50 } },
    { SL_FIT_LETTERBOX, { 64, 48 }, { 320, 240 }, { 0, 0, 64, 48 } },
    { SL_FIT_CROP, { 64, 48 }, { 320, 240 }, { 0, 0, 64, 48 } },
    { SL_FIT_CROP, { 1, 1 }, { 32768, 1 }, { 0, 0.5 - 0.5 / 32768, 1, 0.5 + 0.5 / 32768 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    SlAffine map;
    sl_affine_fit (&map, cases[i].fit, cases[i].frame[0], cases[i].frame[1], cases[i].tensor[0],
                   cases[i].tensor[1]);
    assert_point (&map, 0, 0, cases[i].corners[0], cases[i].corners[1]);
    assert_point (&map, cases[i].tensor[0], cases[i].tensor[1], cases[i].corners[2],
                  cases[i].corners[3]);
    g_assert_cmpfloat (map.xy, ==, 0.0);
    g_assert_cmpfloat (map.yx, ==, 0.0);
  }
}

/* Definitions: centres coincide; stretch covers the frame, letterbox contains it and crop lies in
 * it, both with one scale and touching it along one axis. */
static void
check_fit (SlFit fit, int frame_w, int frame_h, int tensor_w, int tensor_h)
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
    case SL_FIT_STRETCH:
      g_assert_cmpfloat (fabs (excess_w), <=, slack);
      g_assert_cmpfloat (fabs (excess_h), <=, slack);
      return;
    case SL_FIT_LETTERBOX:
      g_assert_cmpfloat (fmin (excess_w, excess_h), >=, -slack);
      break;
    case SL_FIT_CROP:
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
        for (int fit = SL_FIT_STRETCH; fit <= SL_FIT_CROP; fit++)
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
      g_rand_double_range (rand, 0.5, 9),    g_rand_double_range (rand, -0.2, 0.2),
      g_rand_double_range (rand, -900, 900), g_rand_double_range (rand, -0.2, 0.2),
      g_rand_double_range (rand, 0.5, 9),    g_rand_double_range (rand, -900, 900),
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
  const SlAffine singular[] = { { 0 },
                                { 1, 2, 0, 2, 4, 0 },
                                { NAN, 0, 0, 0, 1, 0 },
                                { INFINITY, 0, 0, 0, 1, 0 },
                                { 1e-320, 0, 0, 0, 1, 0 } };
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
  sl_affine_fit (&map, SL_FIT_LETTERBOX, 1920, 1080, 224, 224);
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

/* A worked example of each orientation: a 40x20 part at (10, 30) letterboxed into 100x100, so 2.5
 * pixels for one. */
static void
test_orientations (void)
{
  /* Where the tensor's points (0, 25) and (100, 75) (or (25, 0) and (75, 100) when turned) fall:
   * corners of the part. */
  static const struct
  {
    SlOrientation orientation;
    gboolean turned;
    double upper_left[2], lower_right[2];
  } cases[] = {
    { SL_ORIENTATION_IDENTITY, FALSE, { 10, 30 }, { 50, 50 } },
    { SL_ORIENTATION_90R, TRUE, { 10, 50 }, { 50, 30 } },
    { SL_ORIENTATION_180, FALSE, { 50, 50 }, { 10, 30 } },
    { SL_ORIENTATION_90L, TRUE, { 50, 30 }, { 10, 50 } },
    { SL_ORIENTATION_HORIZ, FALSE, { 50, 30 }, { 10, 50 } },
    { SL_ORIENTATION_VERT, FALSE, { 10, 50 }, { 50, 30 } },
    { SL_ORIENTATION_UL_LR, TRUE, { 10, 30 }, { 50, 50 } },
    { SL_ORIENTATION_UR_LL, TRUE, { 50, 50 }, { 10, 30 } },
  };
  const SlRect part = { 10, 30, 40, 20 };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const double a[2] = { cases[i].turned ? 25 : 0, cases[i].turned ? 0 : 25 };
    SlAffine map;
    sl_affine_view (&map, SL_FIT_LETTERBOX, cases[i].orientation, &part, 100, 100);
    assert_point (&map, a[0], a[1], cases[i].upper_left[0], cases[i].upper_left[1]);
    assert_point (&map, 100 - a[0], 100 - a[1], cases[i].lower_right[0], cases[i].lower_right[1]);
  }
}

/* A box of the frame, on the tensor, rounded to its whole pixels and brought back, is off by at
 * most half a tensor pixel a side; unrounded it is exact. */
static void
check_box_round_trip (GRand *rand, SlFit fit, SlOrientation orientation)
{
  const SlRect part = { g_rand_int_range (rand, 0, 900), g_rand_int_range (rand, 0, 900),
                        g_rand_int_range (rand, 1, 2000), g_rand_int_range (rand, 1, 2000) };
  SlAffine map, inverse;
  double box[4], tensor[4], back[4];
  sl_affine_view (&map, fit, orientation, &part, g_rand_int_range (rand, 1, 700),
                  g_rand_int_range (rand, 1, 700));
  g_assert_true (sl_affine_invert (&map, &inverse));
  for (int i = 0; i < 2; i++) {
    const double length = i == 0 ? part.width : part.height;
    box[i] = (i == 0 ? part.x : part.y) + g_rand_double_range (rand, 0, length);
    box[i + 2] = box[i] + g_rand_double_range (rand, 0, length);
  }
  sl_affine_box (&inverse, box, tensor);
  sl_affine_box (&map, tensor, back);
  for (int i = 0; i < 4; i++)
    g_assert_cmpfloat_with_epsilon (back[i], box[i], 1e-6);
  for (int i = 0; i < 4; i++)
    tensor[i] = rint (tensor[i]);
  sl_affine_box (&map, tensor, back);
  const double scale[2] = { fmax (fabs (map.xx), fabs (map.xy)),
                            fmax (fabs (map.yy), fabs (map.yx)) };
  for (int i = 0; i < 4; i++)
    g_assert_cmpfloat (fabs (back[i] - box[i]), <=, 0.5 * scale[i % 2] + 1e-6);
}

static void
test_box_round_trips (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  for (int fit = SL_FIT_STRETCH; fit <= SL_FIT_CROP; fit++) {
    for (int orientation = SL_ORIENTATION_IDENTITY; orientation <= SL_ORIENTATION_UR_LL;
         orientation++) {
      for (int i = 0; i < 500; i++)
        check_box_round_trip (rand, (SlFit) fit, (SlOrientation) orientation);
    }
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/affine/identity", test_identity);
  g_test_add_func ("/affine/examples", test_examples);
  g_test_add_func ("/affine/share", test_share);
  g_test_add_func ("/affine/fits", test_fits);
  g_test_add_func ("/affine/round-trips", test_round_trips);
  g_test_add_func ("/affine/singular", test_singular);
  g_test_add_func ("/affine/box", test_box);
  g_test_add_func ("/affine/orientations", test_orientations);
  g_test_add_func ("/affine/box-round-trips", test_box_round_trips);
  return g_test_run ();
}
