/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers of threads: 0 and "auto" are one, and what is beyond the range is refused. */
#include "core/base/thread_count.h"

#include "tests/base/sysfs.h"
#include "tests/support/program.h"

static void
test_threads (void)
{
  static const char *const bad[] = { "",   "65",  "10000",      "-1",  "+1",
                                     " 1", "two", "4294967297", "AUTO" };
  guint threads = 77;
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_false (sl_threads_parse (bad[i], &threads));
  g_assert_cmpuint (threads, ==, 77);
  for (guint i = 1; i <= 64; i++) {
    g_autofree char *text = g_strdup_printf ("%u", i);
    g_assert_true (sl_threads_parse (text, &threads));
    g_assert_cmpuint (threads, ==, i);
    g_assert_cmpuint (sl_threads_resolve (i), ==, i);
  }
  g_assert_true (sl_threads_parse ("0", &threads));
  g_assert_cmpuint (threads, ==, 0);
  threads = 77;
  g_assert_true (sl_threads_parse ("auto", &threads));
  g_assert_cmpuint (threads, ==, 0);
  g_assert_cmpuint (sl_threads_resolve (0), ==, MIN (g_get_num_processors (), 4));
  g_assert_nonnull (g_strstr_len (SL_THREADS_EXPECTED, -1, "1..64 "));
  g_assert_cmpint (SL_MAX_THREADS, ==, 64);
}

/* Boards: how many fast cores and slow ones, their capacities, and the numbers tried. */
static void
test_trials (void)
{
  static const struct
  {
    guint big, little, capacity, n, trials[SL_MAX_TRIALS];
  } boards[] = {
    { 4, 0, 0, 3, { 1, 2, 4 } },      /* equal, not stated */
    { 4, 0, 1024, 3, { 1, 2, 4 } },   /* equal, stated */
    { 8, 0, 1024, 3, { 1, 2, 4 } },   /* equal: no more than four */
    { 4, 4, 430, 4, { 1, 2, 4, 8 } }, /* four A76 and four A55 */
    { 2, 6, 430, 4, { 1, 2, 4, 8 } }, /* two A78 and six A55 */
    { 3, 1, 300, 4, { 1, 2, 3, 4 } }, { 1, 0, 0, 1, { 1 } },
    { 2, 4, 850, 3, { 1, 2, 4 } }, /* nearly as fast: equal */
    { 2, 2, 485, 3, { 1, 2, 4 } },    { 6, 2, 300, 5, { 1, 2, 4, 6, 8 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (boards); i++) {
    char *root = sysfs_begin ();
    guint trials[SL_MAX_TRIALS] = { 0 };
    const guint first = boards[i].little; /* as on many boards, the slow ones come first */
    for (guint k = 0; k < boards[i].little + boards[i].big; k++)
      sysfs_put_core (root, k,
                      k < first                ? boards[i].capacity
                      : boards[i].capacity > 0 ? 1024
                                               : 0,
                      0, 0);
    g_assert_cmpuint (sl_threads_trials (root, trials), ==, boards[i].n);
    g_assert_cmpmem (trials, boards[i].n * sizeof trials[0], boards[i].trials,
                     boards[i].n * sizeof trials[0]);
    sysfs_end (root);
  }
}

/* Where the system does not tell of cores, GLib counts them. */
static void
test_trials_untold (void)
{
  char *root = sysfs_begin ();
  guint trials[SL_MAX_TRIALS], n = sl_threads_trials (root, trials);
  g_assert_cmpuint (trials[0], ==, 1);
  g_assert_cmpuint (trials[n - 1], <=, MIN (g_get_num_processors (), 4));
  n = sl_threads_trials (NULL, trials);
  g_assert_cmpuint (trials[0], ==, 1);
  g_assert_cmpuint (trials[n - 1], <=, SL_MAX_THREADS);
  sysfs_end (root);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/thread-count/range", test_threads);
  g_test_add_func ("/thread-count/trials", test_trials);
  g_test_add_func ("/thread-count/trials-untold", test_trials_untold);
  return g_test_run ();
}
