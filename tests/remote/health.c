/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When a worker is not well, and with what words: reports made by hand.
 */
#include <string.h>

#include "tools/serve/report.h"
#include "tests/support/program.h"

static void
check (SlServeState state, gint64 stuck, gint64 silent, const char *expected)
{
  char away[] = "Connection refused";
  const SlServeReport report = { .made = 1000, .state = state, .stuck = stuck, .away = away };
  g_autoptr (GPtrArray) reasons = sl_serve_report_health (&report, 1000 + silent);
  g_assert_cmpuint (reasons->len, ==, expected != NULL);
  if (expected != NULL)
    g_assert_cmpstr (reasons->pdata[0], ==, expected);
}

static void
test_health (void)
{
  const gint64 second = G_USEC_PER_SEC;
  check (SL_SERVE_SERVING, 0, 0, NULL);
  check (SL_SERVE_PAUSED, 9 * second, 0, NULL);
  check (SL_SERVE_SERVING, 0, 4 * second, NULL);
  check (SL_SERVE_AWAY, 0, 0, "the broker is away: Connection refused");
  check (SL_SERVE_JOINING, 0, 0, "the worker takes no requests: it is joining");
  check (SL_SERVE_LEAVING, 0, 0, "the worker takes no requests: it is leaving");
  check (SL_SERVE_SERVING, 11 * second, 0,
         "nothing was answered for 11.0 s, and requests wait: a model does not come to its end");
  check (SL_SERVE_SERVING, 8 * second, 3 * second,
         "nothing was answered for 11.0 s, and requests wait: a model does not come to its end");
  check (SL_SERVE_SERVING, 0, 6 * second, "the program's main thread hangs for 6.0 s");
}

/* Clients count for a minute, and a flood of them is bounded; ages are of the last requests. */
static void
test_figures (void)
{
  SlServeFigures figures = { .answered = 0 };
  sl_serve_figures_init (&figures);
  g_assert_cmpint (sl_serve_figures_age (&figures, 50), ==, -1);
  for (guint i = 0; i < 5000; i++) {
    g_autofree char *client = g_strdup_printf ("models/toy/answers/anyone/%u", i);
    sl_serve_figures_asked (&figures, client, i < 10 ? 30 * G_USEC_PER_SEC : 0);
  }
  g_assert_cmpuint (sl_serve_figures_clients (&figures, 60 * G_USEC_PER_SEC), ==, 4096);
  g_assert_cmpuint (sl_serve_figures_clients (&figures, 61 * G_USEC_PER_SEC), ==, 10);
  for (gint64 i = 1; i <= 1000; i++)
    sl_serve_figures_answered (&figures, 0, 0, i, i);
  g_assert_cmpint (sl_serve_figures_age (&figures, 50), >=, 1000 - 129);
  g_assert_cmpint (sl_serve_figures_age (&figures, 50), <=, 1000 - 126);
  g_assert_cmpuint (figures.answered, ==, 1000);
  g_assert_cmpuint (figures.histograms[SL_SERVE_AGE].counts[0], ==, 500);
  g_assert_cmpuint (figures.histograms[SL_SERVE_AGE].sum, ==, 500500);
  sl_serve_figures_clear (&figures);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/serve/health", test_health);
  g_test_add_func ("/serve/figures", test_figures);
  return g_test_run ();
}
