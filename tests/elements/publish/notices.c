/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How often notices are told: by a clock of the test. */
#include "plugins/publish/notice.h"

#include "tests/support/program.h"

#define SECOND G_USEC_PER_SEC

static const SlRegionView regions[] = { { .name = "yard" }, { .name = "gate" } };

/* Whether an event of @kind at region @region is told at @now. */
static gboolean
takes (SlNotices *notices, SlAnalysisEventKind kind, guint region, gint64 now)
{
  const SlAnalysisEvent event = { .kind = kind, .region = region, .label = "person" };
  const SlAnalysis analysis = {
    .n_regions = G_N_ELEMENTS (regions), .regions = regions, .n_events = 1, .events = &event
  };
  const SlPredictionView prediction = { .analysis = &analysis };
  return sl_notices_take (notices, &prediction, 0, NULL, now);
}

/* One notice of a kind and a place in each interval; what came between does not begin another. */
static void
test_every (void)
{
  SlNotices notices = { 0 };
  g_assert_true (sl_notices_open (&notices, "entered,left", NULL, 30 * SECOND, NULL));
  const gint64 start = 5 * SECOND;
  g_assert_true (takes (&notices, SL_EVENT_ENTERED, 0, start));
  g_assert_false (takes (&notices, SL_EVENT_ENTERED, 0, start));
  g_assert_true (takes (&notices, SL_EVENT_LEFT, 0, start + 1));
  g_assert_true (takes (&notices, SL_EVENT_ENTERED, 1, start + 2));
  for (guint i = 1; i < 30; i++)
    g_assert_false (takes (&notices, SL_EVENT_ENTERED, 0, start + i * SECOND));
  g_assert_false (takes (&notices, SL_EVENT_ENTERED, 0, start + 30 * SECOND - 1));
  g_assert_true (takes (&notices, SL_EVENT_ENTERED, 0, start + 30 * SECOND));
  g_assert_false (takes (&notices, SL_EVENT_ENTERED, 1, start + 30 * SECOND + 1));
  g_assert_true (takes (&notices, SL_EVENT_ENTERED, 1, start + 30 * SECOND + 2));
  g_assert_false (takes (&notices, SL_EVENT_ENTERED, 0, start + 59 * SECOND));
  sl_notices_clear (&notices);
}

/* An event that does not count, by its kind or place, does not begin an interval. */
static void
test_every_of_those_that_count (void)
{
  SlNotices notices = { 0 };
  g_assert_true (sl_notices_open (&notices, "entered", "gate", 30 * SECOND, NULL));
  g_assert_false (takes (&notices, SL_EVENT_ENTERED, 0, SECOND));
  g_assert_false (takes (&notices, SL_EVENT_LEFT, 1, SECOND));
  g_assert_true (takes (&notices, SL_EVENT_ENTERED, 1, SECOND));
  g_assert_false (takes (&notices, SL_EVENT_ENTERED, 1, 2 * SECOND));
  sl_notices_clear (&notices);
}

/* Without an interval all are told; opening again forgets those before. */
static void
test_always (void)
{
  SlNotices notices = { 0 };
  g_assert_true (sl_notices_open (&notices, "all", NULL, 0, NULL));
  for (guint i = 0; i < 3; i++)
    g_assert_true (takes (&notices, SL_EVENT_ENTERED, 0, SECOND));
  g_assert_true (sl_notices_open (&notices, "all", NULL, SECOND, NULL));
  g_assert_true (takes (&notices, SL_EVENT_ENTERED, 0, SECOND));
  g_assert_true (sl_notices_open (&notices, "all", NULL, SECOND, NULL));
  g_assert_true (takes (&notices, SL_EVENT_ENTERED, 0, SECOND));
  sl_notices_clear (&notices);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/notices/every", test_every);
  g_test_add_func ("/notices/every-of-those-that-count", test_every_of_those_that_count);
  g_test_add_func ("/notices/always", test_always);
  return g_test_run ();
}
