/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Assignment against every permutation there is, and against the dual bound where those are too
 * many. */
#include "postprocess/predictions/assignment.h"
#include "tests/support/program.h"

#define SMALL 7

/* The largest sum over rows from @row on, trying every column and none. */
static gint64
best_sum (const gint32 *gain, guint rows, guint columns, guint row, guint used)
{
  if (row == rows)
    return 0;
  gint64 best = best_sum (gain, rows, columns, row + 1, used);
  for (guint c = 0; c < columns; c++)
    if (gain[row * columns + c] > 0 && !(used >> c & 1))
      best = MAX (best, gain[row * columns + c]
                          + best_sum (gain, rows, columns, row + 1, used | 1u << c));
  return best;
}

/* The sum of the pairs in @match, after checking that no column is taken twice. */
static gint64
sum_of (const gint32 *gain, guint rows, guint columns, const gint32 *match)
{
  g_autofree gboolean *taken = g_new0 (gboolean, columns + 1);
  gint64 sum = 0;
  for (guint r = 0; r < rows; r++) {
    if (match[r] < 0)
      continue;
    g_assert_cmpint (match[r], <, (gint) columns);
    g_assert_false (taken[match[r]]);
    taken[match[r]] = TRUE;
    g_assert_cmpint (gain[r * columns + (guint) match[r]], >, 0);
    sum += gain[r * columns + (guint) match[r]];
  }
  return sum;
}

static void
test_permutations (void)
{
  SlAssignment assignment = { 0 };
  for (guint round = 0; round < 4000; round++) {
    const guint rows = (guint) g_test_rand_int_range (0, SMALL + 1),
                columns = (guint) g_test_rand_int_range (0, SMALL + 1);
    /* Few different gains make ties, many make none. */
    const gint32 most = round % 3 == 0 ? 3 : round % 3 == 1 ? 50 : SL_ASSIGNMENT_GAIN;
    gint32 gain[SMALL * SMALL], match[SMALL];
    for (guint i = 0; i < rows * columns; i++)
      gain[i] = g_test_rand_int_range (0, 4) == 0 ? 0 : g_test_rand_int_range (0, most + 1);
    sl_assignment_solve (&assignment, gain, rows, columns, match);
    g_assert_cmpint (sum_of (gain, rows, columns, match), ==, best_sum (gain, rows, columns, 0, 0));
  }
  sl_assignment_clear (&assignment);
}

/* Gains of a permutation, raised above all others: the only best answer, known beforehand. */
static void
test_large (void)
{
  const guint n = 200;
  g_autofree gint32 *gain = g_new (gint32, n * n), *match = g_new (gint32, n),
                    *hidden = g_new (gint32, n);
  SlAssignment assignment = { 0 };
  for (guint i = 0; i < n; i++)
    hidden[i] = (gint32) i;
  for (guint i = n - 1; i > 0; i--) {
    const guint k = (guint) g_test_rand_int_range (0, (gint) i + 1);
    const gint32 swap = hidden[i];
    hidden[i] = hidden[k];
    hidden[k] = swap;
  }
  /* gain = a_r + b_c off the hidden pairs and 1 more on them: a_r + b_c alone would make every
   * permutation equal. */
  g_autofree gint32 *a = g_new (gint32, n), *b = g_new (gint32, n);
  for (guint i = 0; i < n; i++) {
    a[i] = g_test_rand_int_range (1, SL_ASSIGNMENT_GAIN / 2 - 1);
    b[i] = g_test_rand_int_range (1, SL_ASSIGNMENT_GAIN / 2 - 1);
  }
  for (guint r = 0; r < n; r++)
    for (guint c = 0; c < n; c++)
      gain[r * n + c] = a[r] + b[c] + (hidden[r] == (gint32) c);
  sl_assignment_solve (&assignment, gain, n, n, match);
  for (guint r = 0; r < n; r++)
    g_assert_cmpint (match[r], ==, hidden[r]);
  sl_assignment_clear (&assignment);
}

static void
test_extremes (void)
{
  const guint n = SL_ASSIGNMENT_MOST;
  g_autofree gint32 *gain = g_new0 (gint32, (gsize) n * n), *match = g_new (gint32, n);
  SlAssignment assignment = { 0 };
  sl_assignment_solve (&assignment, gain, n, n, match);
  for (guint r = 0; r < n; r++)
    g_assert_cmpint (match[r], ==, -1);
  for (gsize i = 0; i < (gsize) n * n; i++)
    gain[i] = SL_ASSIGNMENT_GAIN;
  sl_assignment_solve (&assignment, gain, n, n, match);
  g_assert_cmpint (sum_of (gain, n, n, match), ==, (gint64) n * SL_ASSIGNMENT_GAIN);
  sl_assignment_solve (&assignment, gain, n, 3, match);
  g_assert_cmpint (sum_of (gain, n, 3, match), ==, 3 * (gint64) SL_ASSIGNMENT_GAIN);
  sl_assignment_solve (&assignment, gain, 3, n, match);
  g_assert_cmpint (sum_of (gain, 3, n, match), ==, 3 * (gint64) SL_ASSIGNMENT_GAIN);
  sl_assignment_solve (&assignment, gain, 0, n, match);
  sl_assignment_solve (&assignment, gain, n, 0, match);
  g_assert_cmpint (match[0], ==, -1);
  sl_assignment_clear (&assignment);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assignment/permutations", test_permutations);
  g_test_add_func ("/assignment/large", test_large);
  g_test_add_func ("/assignment/extremes", test_extremes);
  return g_test_run ();
}
