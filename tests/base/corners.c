/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Corners in order: of parts turned by known angles, given in every order; and the perspective map
 * against one that is found by Gauss's elimination.
 */
#include "core/base/corners.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "tests/support/perspective.h"
#include "tests/support/program.h"

static const guint orders[][4] = { { 0, 1, 2, 3 }, { 2, 3, 0, 1 }, { 3, 2, 1, 0 },
                                   { 0, 2, 1, 3 }, { 1, 3, 0, 2 }, { 3, 0, 1, 2 } };

/* A part of @width x @height around (300, 200), turned by @degrees clockwise. */
static void
turn (double width, double height, double degrees, double points[4][2])
{
  static const double ends[4][2] = { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, 1 } };
  const double c = cos (degrees * G_PI / 180), s = sin (degrees * G_PI / 180);
  for (guint i = 0; i < 4; i++) {
    const double x = ends[i][0] * width / 2, y = ends[i][1] * height / 2;
    points[i][0] = 300 + c * x - s * y;
    points[i][1] = 200 + s * x + c * y;
  }
}

/* Whatever the order of @points, the upper left corner is @first of them. */
static void
assert_first (const double points[4][2], guint first)
{
  for (guint k = 0; k < G_N_ELEMENTS (orders); k++) {
    double mixed[4][2];
    SlCorners corners;
    for (guint i = 0; i < 4; i++)
      memcpy (mixed[i], points[orders[k][i]], sizeof mixed[i]);
    g_assert_true (sl_corners_order ((const double (*)[2]) mixed, &corners));
    for (guint i = 0; i < 4; i++)
      for (guint j = 0; j < 2; j++)
        g_assert_cmpfloat_with_epsilon (corners.at[i][j], points[(first + i) % 4][j], 1e-9);
  }
}

static void
test_order (void)
{
  /* A plate of 200x50; a line of text of 50x200 whose long side is its direction. */
  static const struct
  {
    double width, height, degrees;
    guint first;
  } rows[] = { { 200, 50, 0, 0 },   { 200, 50, 40, 0 }, { 200, 50, -40, 0 }, { 200, 50, 60, 0 },
               { 200, 50, -60, 0 }, { 200, 50, 89, 0 }, { 60, 50, 30, 0 },   { 50, 60, -30, 0 },
               { 200, 50, 180, 2 }, { 50, 200, 0, 1 },  { 50, 200, 5, 1 },   { 50, 200, -5, 1 },
               { 50, 200, -40, 1 }, { 50, 200, 40, 3 }, { 200, 50, -89, 2 } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    double points[4][2];
    turn (rows[i].width, rows[i].height, rows[i].degrees, points);
    assert_first ((const double (*)[2]) points, rows[i].first);
  }
}

static void
test_refused (void)
{
  static const double rows[][4][2] = {
    { { 0, 0 }, { 9, 0 }, { 9, 9 }, { NAN, 9 } },
    { { 0, 0 }, { 9, 0 }, { 9, 9 }, { 2e7, 9 } },
    { { 0, 0 }, { 9, 0 }, { 9, -INFINITY }, { 0, 9 } },
    { { 5, 5 }, { 5, 5 }, { 5, 5 }, { 5, 5 } },
    { { 0, 0 }, { 3, 3 }, { 6, 6 }, { 9, 9 } },
    { { 0, 0 }, { 9, 0 }, { 4.5, 9 }, { 4.5, 3 } },
    { { 0, 0 }, { 0.9, 0 }, { 0.9, 0.9 }, { 0, 0.9 } },
    { { 0, 0 }, { 9, 0 }, { 9, 0 }, { 0, 9 } },
  };
  SlCorners corners;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_false (sl_corners_order (rows[i], &corners));
}

static void
test_size (void)
{
  SlCorners corners = { { { 0, 0 }, { 80, 0 }, { 100, 40 }, { 0, 40 } } };
  double width, height;
  sl_corners_size (&corners, &width, &height);
  g_assert_cmpfloat_with_epsilon (width, 90, 1e-9);
  g_assert_cmpfloat_with_epsilon (height, (40 + hypot (20, 40)) / 2, 1e-9);
  sl_corners_grow (&corners, 2);
  g_assert_cmpfloat_with_epsilon (corners.at[0][0], -45, 1e-9);
  g_assert_cmpfloat_with_epsilon (corners.at[0][1], -20, 1e-9);
  g_assert_cmpfloat_with_epsilon (corners.at[2][0], 155, 1e-9);
}

static void
test_map (void)
{
  static const double ends[4][2] = { { 10, 4 }, { 110, 4 }, { 110, 34 }, { 10, 34 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  guint used = 0;
  for (guint i = 0; i < 300; i++) {
    double points[4][2], map[8], x, y;
    SlCorners corners;
    SlHomography homography;
    turn (200, 80, g_rand_double_range (rand, -80, 80), points);
    for (guint k = 0; k < 8; k++)
      points[k / 2][k % 2] += g_rand_double_range (rand, -35, 35);
    if (!sl_corners_order ((const double (*)[2]) points, &corners))
      continue;
    used++;
    perspective_solve (ends, corners.at, map);
    sl_homography_set (&homography, &corners, 10, 4, 100, 30);
    for (guint k = 0; k < 20; k++) {
      const double u = g_rand_double_range (rand, 10, 110), v = g_rand_double_range (rand, 4, 34);
      double expected_x, expected_y;
      perspective_apply (map, u, v, &expected_x, &expected_y);
      g_assert_true (sl_homography_apply (&homography, u, v, &x, &y));
      g_assert_cmpfloat_with_epsilon (x, expected_x, 1e-6);
      g_assert_cmpfloat_with_epsilon (y, expected_y, 1e-6);
    }
  }
  g_assert_cmpuint (used, >, 200);
}

/* Lines of this part meet at x = 200; beyond that there is no frame. */
static void
test_horizon (void)
{
  const SlCorners corners = { { { 0, 0 }, { 100, 25 }, { 100, 75 }, { 0, 100 } } };
  SlHomography homography;
  double x, y;
  sl_homography_set (&homography, &corners, 0, 0, 1, 1);
  g_assert_true (sl_homography_apply (&homography, 100, 0.5, &x, &y));
  g_assert_cmpfloat (x, <, 200);
  g_assert_cmpfloat_with_epsilon (y, 50, 1e-6);
  g_assert_false (sl_homography_apply (&homography, -1.1, 0.5, &x, &y));
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/corners/order", test_order);
  g_test_add_func ("/corners/refused", test_refused);
  g_test_add_func ("/corners/size", test_size);
  g_test_add_func ("/corners/map", test_map);
  g_test_add_func ("/corners/horizon", test_horizon);
  return g_test_run ();
}
