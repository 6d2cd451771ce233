/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Geometry against sampling: winding angles, points along segments, a grid of cells. */
#include "postprocess/analyze/geometry.h"

#include <math.h>

#include "postprocess/analyze/area.h"
#include "tests/support/program.h"

static gdouble
any (void)
{
  return g_test_rand_double_range (-1, 1);
}

static SlRegionPoint
any_point (void)
{
  return (SlRegionPoint){ any (), any () };
}

/* A polygon that goes once around the origin, with corners at growing angles. */
static guint
any_star (SlRegionPoint *points)
{
  const guint n = (guint) g_test_rand_int_range (3, 12);
  for (guint i = 0; i < n; i++) {
    const gdouble angle = (i + g_test_rand_double_range (0, 0.8)) * 2 * G_PI / n,
                  radius = g_test_rand_double_range (0.2, 1);
    points[i] = (SlRegionPoint){ radius * cos (angle), radius * sin (angle) };
  }
  return n;
}

/* How often the polygon goes around @point, by the angles under which its sides are seen. */
static gint
windings (const SlRegionPoint *points, guint n, SlRegionPoint point)
{
  gdouble sum = 0;
  for (guint i = 0, k = n - 1; i < n; k = i++) {
    const gdouble a = atan2 (points[k].y - point.y, points[k].x - point.x),
                  b = atan2 (points[i].y - point.y, points[i].x - point.x);
    sum += remainder (b - a, 2 * G_PI);
  }
  return (gint) lrint (sum / (2 * G_PI));
}

static void
test_polygon (void)
{
  for (guint i = 0; i < 2000; i++) {
    SlRegionPoint points[12];
    const guint n = any_star (points);
    guint inside = 0;
    for (guint k = 0; k < 20; k++) {
      const SlRegionPoint point = any_point ();
      g_assert_cmpint (sl_polygon_has (points, n, point), ==, windings (points, n, point) != 0);
    }
    if (i % 100 > 0)
      continue;
    for (guint k = 0; k < 40000; k++)
      inside += sl_polygon_has (
        points, n, (SlRegionPoint){ (k % 200 + 0.5) / 100 - 1, (k / 200 + 0.5) / 100 - 1 });
    g_assert_cmpfloat_with_epsilon (sl_polygon_area (points, n), inside / 10000.0, 0.03);
  }
}

static void
test_distances (void)
{
  for (guint i = 0; i < 2000; i++) {
    const SlRegionPoint a = any_point (), b = any_point (), point = any_point ();
    gdouble least = HUGE_VAL, straight = HUGE_VAL;
    for (gint k = -20000; k <= 20000; k++) {
      const gdouble part = k / 2000.0, distance = hypot (a.x + part * (b.x - a.x) - point.x,
                                                         a.y + part * (b.y - a.y) - point.y);
      if (part >= 0 && part <= 1)
        least = MIN (least, distance);
      straight = MIN (straight, distance);
    }
    g_assert_cmpfloat_with_epsilon (sl_segment_distance (a, b, point), least, 2e-3);
    if (hypot (b.x - a.x, b.y - a.y) > 0.5)
      g_assert_cmpfloat_with_epsilon (fabs (sl_line_distance (a, b, point)), straight, 2e-3);
  }
  g_assert_cmpfloat (
    sl_segment_distance ((SlRegionPoint){ 1, 1 }, (SlRegionPoint){ 1, 1 }, (SlRegionPoint){ 4, 5 }),
    ==, 5);
  /* y grows downwards: below a line that goes to the right is its right. */
  g_assert_cmpfloat (
    sl_line_distance ((SlRegionPoint){ 0, 0 }, (SlRegionPoint){ 1, 0 }, (SlRegionPoint){ 0.5, 2 }),
    ==, 2);
}

/* Segments cross where the ends of each lie on different sides of the other; here by the equation
 * of both. */
static void
test_crossings (void)
{
  guint crossing = 0;
  for (guint i = 0; i < 20000; i++) {
    const SlRegionPoint a = any_point (), b = any_point (), c = any_point (), d = any_point ();
    const gdouble det = (b.x - a.x) * (d.y - c.y) - (b.y - a.y) * (d.x - c.x);
    const gdouble s = ((c.x - a.x) * (d.y - c.y) - (c.y - a.y) * (d.x - c.x)) / det;
    const gdouble t = ((c.x - a.x) * (b.y - a.y) - (c.y - a.y) * (b.x - a.x)) / det;
    const gboolean expected = s >= 0 && s <= 1 && t >= 0 && t <= 1;
    g_assert_cmpint (sl_segments_cross (a, b, c, d), ==, expected);
    crossing += expected;
  }
  g_assert_cmpuint (crossing, >, 1000);
  static const SlRegionPoint row[] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 3, 0 }, { 1, 1 } };
  g_assert_true (sl_segments_cross (row[0], row[2], row[1], row[3]));
  g_assert_false (sl_segments_cross (row[0], row[1], row[2], row[3]));
  g_assert_true (sl_segments_cross (row[0], row[2], row[1], row[4]));
}

/* A zone over the whole frame has no edges, a narrow one an inside all the same. */
static void
test_area (void)
{
  SlArea area;
  SlRegion whole = { .kind = SL_REGION_ZONE,
                     .n_points = 4,
                     .points = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } } };
  sl_area_init (&area, &whole, 640, 480, 0.02);
  for (guint i = 0; i < 1000; i++)
    g_assert_cmpint (sl_area_side (&area, (SlRegionPoint){ any () * 1000, any () * 1000 }), ==, 1);
  g_assert_cmpint (sl_area_side (&area, (SlRegionPoint){ 640, 480 }), ==, 1);
  SlRegion bottom = { .kind = SL_REGION_ZONE,
                      .n_points = 4,
                      .points = { { 0, 0.5 }, { 1, 0.5 }, { 1, 1 }, { 0, 1 } } };
  sl_area_init (&area, &bottom, 640, 480, 0.02);
  g_assert_cmpint (sl_area_side (&area, (SlRegionPoint){ 320, 480 }), ==, 1);
  g_assert_cmpint (sl_area_side (&area, (SlRegionPoint){ 320, 250 }), ==, 1);
  g_assert_cmpint (sl_area_side (&area, (SlRegionPoint){ 320, 249 }), ==, 0);
  g_assert_cmpint (sl_area_side (&area, (SlRegionPoint){ 320, 231 }), ==, 0);
  g_assert_cmpint (sl_area_side (&area, (SlRegionPoint){ 320, 230 }), ==, -1);
  SlRegion narrow = { .kind = SL_REGION_ZONE,
                      .n_points = 4,
                      .points = { { 0.2, 0.5 }, { 0.8, 0.5 }, { 0.8, 0.51 }, { 0.2, 0.51 } } };
  sl_area_init (&area, &narrow, 640, 480, 0.02);
  g_assert_cmpint (sl_area_side (&area, (SlRegionPoint){ 320, 242.4 }), ==, 1);
  g_assert_cmpint (sl_area_side (&area, (SlRegionPoint){ 320, 236 }), ==, 0);
  g_assert_cmpint (sl_area_side (&area, (SlRegionPoint){ 320, 230 }), ==, -1);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/geometry/polygon", test_polygon);
  g_test_add_func ("/geometry/distances", test_distances);
  g_test_add_func ("/geometry/crossings", test_crossings);
  g_test_add_func ("/geometry/area", test_area);
  return g_test_run ();
}
