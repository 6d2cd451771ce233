/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sl_sort_descending() on inputs that are kind and unkind to medians of three. */
#include "core/ops/kernels/kernels.h"
#include "tests/support/program.h"

#define N 4096

static void
check (const gdouble *values, gsize n)
{
  g_autofree gint32 *places = g_new (gint32, n);
  g_autofree gboolean *seen = g_new0 (gboolean, n);
  sl_sort_descending (values, places, n);
  for (gsize i = 0; i < n; i++) {
    g_assert_cmpint (places[i], >=, 0);
    g_assert_cmpuint ((gsize) places[i], <, n);
    g_assert_false (seen[places[i]]);
    seen[places[i]] = TRUE;
    if (i > 0)
      g_assert_cmpfloat (values[places[i - 1]], >=, values[places[i]]);
  }
}

static void
test_orders (void)
{
  gdouble values[N];
  for (guint kind = 0; kind < 6; kind++)
    for (gsize n = 1; n <= N; n = n * 3 / 2 + 1) {
      for (gsize i = 0; i < n; i++)
        values[i] = kind == 0   ? (gdouble) i
                    : kind == 1 ? -(gdouble) i
                    : kind == 2 ? 1
                    : kind == 3 ? (gdouble) MIN (i, n - i)
                    : kind == 4 ? (gdouble) (i * 7919 % 101)
                    /* Medians of three find nearly the least each time: the sort by halves goes on
                       as a heap. */
                    : i >= n / 2 / 2 * 2 ? -(gdouble) (2 * (i + 1 - n / 2 / 2 * 2))
                    : i % 2 == 0         ? -(gdouble) (i + 1)
                                         : -(gdouble) (n / 2 / 2 * 2 + i);
      check (values, n);
    }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sort/orders", test_orders);
  return g_test_run ();
}
