/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times as text, and invalid texts. */
#include "core/base/duration.h"
#include "tests/support/program.h"

static void
test_times (void)
{
  static const struct
  {
    const char *text;
    guint ms;
  } good[] = { { "0", 0 },       { "2", 2000 },    { "2s", 2000 },    { "2 s", 2000 },
               { "1.5s", 1500 }, { "250ms", 250 }, { "1min", 60000 }, { "24h", 86400000 } };
  static const char *const bad[] = {
    "", "s", "-1", "1d", "25h", "1 s x", "inf", "nan", "1e99", ".5"
  };
  guint ms = 0;
  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    g_assert_true (sl_duration_parse (good[i].text, &ms));
    g_assert_cmpuint (ms, ==, good[i].ms);
  }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_false (sl_duration_parse (bad[i], &ms));
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/duration/times", test_times);
  return g_test_run ();
}
