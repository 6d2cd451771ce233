/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The delay before the n-th attempt, against the powers of two written out, and the chance in it
 * against its bounds.
 */
#include "core/base/backoff.h"
#include "tests/support/program.h"

static const struct
{
  guint shortest, longest, failures, most;
} cases[] = {
  { 500, 10000, 1, 500 },
  { 500, 10000, 2, 1000 },
  { 500, 10000, 3, 2000 },
  { 500, 10000, 5, 8000 },
  { 500, 10000, 6, 10000 },
  { 500, 10000, 7, 10000 },
  { 500, 10000, G_MAXUINT, 10000 },
  { 20, 10, 1, 20 },
  { 20, 10, 9, 20 },
  { 0, 1000, 5, 0 },
  { 1, G_MAXUINT, 32, 1u << 31 },
  { 1, G_MAXUINT, 33, G_MAXUINT },
  { 3, G_MAXUINT, 40, G_MAXUINT },
};

static void
test_doubling (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpuint (
      sl_backoff_delay_at (cases[i].shortest, cases[i].longest, cases[i].failures, 0), ==,
      cases[i].most);
}

static void
test_chance (void)
{
  g_assert_cmpuint (sl_backoff_delay_at (1000, 8000, 1, 1), ==, 750);
  g_assert_cmpuint (sl_backoff_delay_at (1000, 8000, 4, 0.5), ==, 7000);
  g_assert_cmpuint (sl_backoff_delay_at (1000, 8000, 9, 1), ==, 6000);
}

/* Of 4000 delays at the longest each quarter of the range gets its share; all within it. The odds
 * of a wrong failure are below 1e-9. */
static void
test_spread (void)
{
  guint counts[4] = { 0 };
  for (guint i = 0; i < 4000; i++) {
    const guint delay = sl_backoff_delay (500, 10000, 20);
    g_assert_cmpuint (delay, >=, 7500);
    g_assert_cmpuint (delay, <=, 10000);
    counts[MIN ((delay - 7500) / 625, 3)]++;
  }
  for (guint i = 0; i < 4; i++)
    g_assert_cmpuint (counts[i], >, 800);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backoff/doubling", test_doubling);
  g_test_add_func ("/backoff/chance", test_chance);
  g_test_add_func ("/backoff/spread", test_spread);
  return g_test_run ();
}
