/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers of threads: 0 and "auto" are one, and what is beyond the range is refused. */
#include "core/base/thread_count.h"
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

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/thread-count/range", test_threads);
  return g_test_run ();
}
