/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Against the definition, by counting: of values in order the percentile is the first that at least
 * so many percent of them do not exceed.
 */
#include "core/base/percentile.h"
#include "tests/support/program.h"

#include <math.h>

/* Values 1..n: i of them do not exceed i. */
static gsize
by_definition (gsize n, guint percent)
{
  for (gsize i = 1; i <= n; i++)
    if (i * 100 >= n * percent)
      return i - 1;
  g_assert_not_reached ();
}

static void
test_definition (void)
{
  for (gsize n = 1; n <= 1000; n++)
    for (guint percent = 1; percent <= 100; percent++)
      g_assert_cmpuint (sl_percentile_index (n, percent), ==, by_definition (n, percent));
}

/* The textbook's example: 15, 20, 35, 40, 50. */
static void
test_example (void)
{
  static const gint values[] = { 15, 20, 35, 40, 50 };
  static const gint expected[][2] = { { 5, 15 },  { 30, 20 }, { 40, 20 },
                                      { 50, 35 }, { 95, 50 }, { 100, 50 } };
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_cmpint (values[sl_percentile_index (G_N_ELEMENTS (values), (guint) expected[i][0])],
                     ==, expected[i][1]);
  g_assert_cmpuint (sl_percentile_index (512, 95), ==, 486);
  g_assert_cmpuint (sl_percentile_index (20, 95), ==, 18);
  g_assert_cmpuint (sl_percentile_index (G_MAXSIZE, 100), ==, G_MAXSIZE - 1);
}

static void
test_median (void)
{
  static const gint64 us[] = { 9000, 2500, 7000, 1000 };
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof us[0]);
  g_assert_true (isnan (sl_percentile_median_ms (times)) && isnan (sl_percentile_median_ms (NULL)));
  g_array_append_vals (times, us, G_N_ELEMENTS (us));
  g_assert_cmpfloat (sl_percentile_median_ms (times), ==, 2.5);
  g_array_set_size (times, 3);
  g_assert_cmpfloat (sl_percentile_median_ms (times), ==, 2.5);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/percentile/definition", test_definition);
  g_test_add_func ("/percentile/example", test_example);
  g_test_add_func ("/percentile/median", test_median);
  return g_test_run ();
}
