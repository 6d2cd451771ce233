/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The heat map against sums with an exponential each. */
#include "postprocess/analyze/heat.h"
#include "tests/support/program.h"

#include <math.h>

#define COLUMNS 7
#define ROWS 5

static void
compare (gdouble half_life)
{
  g_autoptr (SlHeat) heat = sl_heat_new (COLUMNS, ROWS, half_life);
  gdouble expected[COLUMNS * ROWS] = { 0 };
  for (guint i = 0; i < 3000; i++) {
    const gdouble seconds = g_test_rand_double_range (0, 0.2),
                  x = g_test_rand_double_range (-0.1, 1.1),
                  y = g_test_rand_double_range (-0.1, 1.1);
    sl_heat_pass (heat, seconds);
    for (guint k = 0; k < COLUMNS * ROWS && half_life > 0; k++)
      expected[k] *= exp (-G_LN2 * seconds / half_life);
    sl_heat_add (heat, x, y, seconds);
    expected[MIN ((guint) (CLAMP (y, 0, 1) * ROWS), ROWS - 1) * COLUMNS
             + MIN ((guint) (CLAMP (x, 0, 1) * COLUMNS), COLUMNS - 1)] += seconds;
    if (i % 100 > 0)
      continue;
    const SlHeatMap map = sl_heat_view (heat);
    gdouble most = 0;
    for (guint k = 0; k < COLUMNS * ROWS; k++)
      most = MAX (most, expected[k]);
    g_assert_cmpuint (map.width, ==, COLUMNS);
    g_assert_cmpuint (map.height, ==, ROWS);
    g_assert_cmpfloat_with_epsilon (map.most, most, 1e-9 * MAX (most, 1));
    for (guint k = 0; k < COLUMNS * ROWS; k++)
      g_assert_cmpfloat_with_epsilon (map.cells[k], expected[k] / most * 255, 0.5 + 1e-6);
  }
}

static void
test_sums (void)
{
  compare (0);
  compare (10);
  compare (0.05);
}

/* Nothing yet, and a pause so long that all is gone. */
static void
test_empty (void)
{
  g_autoptr (SlHeat) heat = sl_heat_new (3, 2, 0.001);
  g_assert_cmpfloat (sl_heat_view (heat).most, ==, 0);
  sl_heat_add (heat, 0.5, 0.5, 1);
  sl_heat_pass (heat, 1e9);
  g_assert_cmpfloat (sl_heat_view (heat).most, <, 1e-200);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/heat/sums", test_sums);
  g_test_add_func ("/heat/empty", test_empty);
  return g_test_run ();
}
