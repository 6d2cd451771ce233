/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thresholds and confidences from cosines whose distribution is known, compared with quantiles of
 * the normal distribution from tables. */
#include <math.h>

#include "pipelines/gallery/calibrate.h"
#include "tests/support/program.h"

static const SlIdentityRules rules = { 1, 1000, 0.6, 0.05 };

/* Cosines around @mean, whose deviation is @deviation: two values suffice for both. */
static void
add_same (SlCalibration *calibration, guint camera, guint n, gdouble mean, gdouble deviation)
{
  for (guint i = 0; i < n; i++)
    sl_calibration_same (calibration, camera, mean + (i % 2 == 0 ? deviation : -deviation));
}

static void
add_others (SlCalibration *calibration, guint a, guint b, guint n, gdouble mean, gdouble deviation)
{
  for (guint i = 0; i < n; i++)
    sl_calibration_others (calibration, i % 2 == 0 ? a : b, i % 2 == 0 ? b : a,
                           mean + (i / 2 % 2 == 0 ? deviation : -deviation));
}

static void
test_without (void)
{
  g_autofree SlCalibration *calibration = g_new0 (SlCalibration, 1);
  for (guint step = 0; step < 3; step++) {
    const SlPairRule rule = sl_calibration_pair (calibration, 0, 0, 10, &rules);
    g_assert_false (rule.is_calibrated);
    g_assert_cmpfloat (rule.threshold, ==, 0.6);
    g_assert_cmpfloat_with_epsilon (sl_calibration_odds (&rule, 0.6), 1, 1e-9);
    g_assert_cmpfloat (sl_calibration_odds (&rule, 0.9), >, 100);
    if (step == 0)
      add_same (calibration, 0, SL_CALIBRATION_SAME, 0.9, 0.02);
    else
      add_others (calibration, 0, 0, SL_CALIBRATION_OTHERS - 1, 0.1, 0.1);
  }
}

/* One in a hundred strangers among N people: the quantile at 1 - 0.01/N. */
static void
test_threshold (void)
{
  static const struct
  {
    guint people;
    gdouble deviations;
  } quantiles[] = { { 1, 2.3263 }, { 10, 3.0902 }, { 100, 3.7190 } };
  const gdouble n = 4000, mean = 0.1, deviation = 0.08;
  g_autofree SlCalibration *calibration = g_new0 (SlCalibration, 1);
  add_same (calibration, 0, (guint) n, 0.85, 0.03);
  add_others (calibration, 0, 0, (guint) n, mean, deviation);
  for (guint i = 0; i < G_N_ELEMENTS (quantiles); i++) {
    const SlPairRule rule = sl_calibration_pair (calibration, 0, 0, quantiles[i].people, &rules);
    const gdouble wider = 1 + 2 / sqrt (n), middle = (mean + 0.85) / 2,
                  strangers = mean + deviation * wider * quantiles[i].deviations;
    g_assert_true (rule.is_calibrated);
    g_assert_cmpfloat_with_epsilon (rule.threshold, MAX (middle, strangers), 1e-3);
    g_assert_cmpfloat (rule.hits, >, 0.999);
    g_assert_cmpfloat_with_epsilon (sl_calibration_odds (&rule, middle), 1, 1e-6);
  }
  for (gdouble cosine = -1; cosine < 1; cosine += 0.1) {
    const SlPairRule rule = sl_calibration_pair (calibration, 0, 0, 10, &rules);
    g_assert_cmpfloat (sl_calibration_odds (&rule, cosine), <=,
                       sl_calibration_odds (&rule, cosine + 0.1));
  }
}

/* A camera whose colours differ: all cosines with it are lower, so the threshold is, too. */
static void
test_pair (void)
{
  g_autofree SlCalibration *calibration = g_new0 (SlCalibration, 1);
  for (guint camera = 0; camera < 2; camera++) {
    add_same (calibration, camera, 400, 0.85, 0.03);
    add_others (calibration, camera, camera, 400, 0.4, 0.05);
  }
  g_assert_false (sl_calibration_pair (calibration, 0, 1, 10, &rules).is_calibrated);
  add_others (calibration, 0, 1, 400, 0.2, 0.05);
  const SlPairRule within = sl_calibration_pair (calibration, 0, 0, 10, &rules),
                   between = sl_calibration_pair (calibration, 1, 0, 10, &rules);
  g_assert_true (between.is_calibrated);
  g_assert_cmpfloat_with_epsilon (within.threshold - between.threshold, 0.2, 1e-6);
}

static SlCosines
make_cosines (guint n, gdouble mean, gdouble deviation)
{
  SlCosines cosines = { 0 };
  for (guint i = 0; i < n; i++)
    sl_cosines_add (&cosines, mean + (i % 2 == 0 ? deviation : -deviation));
  return cosines;
}

/* Tracks count as twenty cosines beside those of merges: mean and variance of the mixture. */
static void
test_merged (void)
{
  const gdouble n = 60, merged = 0.5, deviation = 0.05, wider = 1 + 2 / sqrt (400);
  g_autofree SlCalibration *calibration = g_new0 (SlCalibration, 1);
  for (guint camera = 0; camera < 2; camera++)
    add_same (calibration, camera, 400, 0.9, 0.03);
  add_others (calibration, 0, 1, 400, 0.2, 0.05);
  const SlPairRule before = sl_calibration_pair (calibration, 0, 1, 10, &rules);
  const SlCosines cosines = make_cosines (n, merged, deviation),
                  parts[] = { make_cosines (20, merged, deviation),
                              make_cosines (40, merged, deviation) };
  g_autofree SlCalibration *twice = g_memdup2 (calibration, sizeof *calibration);
  sl_calibration_merged (calibration, 1, 0, &cosines);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    sl_calibration_merged (twice, 0, 1, &parts[i]);
  const SlPairRule rule = sl_calibration_pair (calibration, 0, 1, 10, &rules),
                   same = sl_calibration_pair (twice, 1, 0, 10, &rules);
  const gdouble tracks = 0.03 * sqrt (400.0 / 399) * wider, mean = (20 * 0.9 + n * merged) / 80,
                variance = (20 * tracks * tracks + n * deviation * deviation) / 80
                           + 20 * n / 6400 * (0.9 - merged) * (0.9 - merged),
                apart = 0.05 * sqrt (400.0 / 399) * wider;
  g_assert_cmpfloat_with_epsilon (rule.middle, (mean + 0.2) / 2, 1e-9);
  g_assert_cmpfloat_with_epsilon (rule.slope, (mean - 0.2) / ((variance + apart * apart) / 2),
                                  1e-6);
  g_assert_cmpfloat_with_epsilon (same.middle, rule.middle, 1e-9);
  g_assert_cmpfloat_with_epsilon (same.slope, rule.slope, 1e-6);
  g_assert_cmpfloat (rule.threshold, <, before.threshold);
  g_assert_cmpfloat (sl_calibration_odds (&rule, 0.5), >, sl_calibration_odds (&before, 0.5));
  const SlPairRule within = sl_calibration_pair (calibration, 0, 0, 10, &rules);
  g_assert_false (within.is_calibrated); /* another pair */
}

/* Without tracks, merges alone are enough from twenty cosines on. */
static void
test_merged_alone (void)
{
  g_autofree SlCalibration *calibration = g_new0 (SlCalibration, 1);
  const SlCosines first = make_cosines (19, 0.7, 0), more = make_cosines (1, 0.7, 0);
  add_others (calibration, 0, 1, 400, 0.2, 0.05);
  sl_calibration_merged (calibration, 0, 1, &first);
  g_assert_false (sl_calibration_pair (calibration, 0, 1, 10, &rules).is_calibrated);
  sl_calibration_merged (calibration, 0, 1, &more);
  const SlPairRule rule = sl_calibration_pair (calibration, 0, 1, 10, &rules);
  g_assert_true (rule.is_calibrated);
  g_assert_cmpfloat_with_epsilon (rule.middle, 0.45, 1e-9);
}

/* Merges of different persons never let more strangers in: of 1 - 0.01/10 the quantile is 3.0902.
 */
static void
test_merged_wrongly (void)
{
  g_autofree SlCalibration *calibration = g_new0 (SlCalibration, 1);
  const gdouble strangers = 0.2 + 0.05 * 3.0902;
  const SlCosines wrong = make_cosines (10, 0.2, 0.05);
  for (guint camera = 0; camera < 2; camera++)
    add_same (calibration, camera, 400, 0.9, 0.03);
  add_others (calibration, 0, 1, 400, 0.2, 0.05);
  for (guint i = 0; i < 200; i++) {
    sl_calibration_merged (calibration, 0, 1, &wrong);
    g_assert_cmpfloat (sl_calibration_pair (calibration, 0, 1, 10, &rules).threshold, >, strangers);
  }
}

/* A model that does not tell people apart changes nothing. */
static void
test_blind (void)
{
  g_autofree SlCalibration *calibration = g_new0 (SlCalibration, 1);
  add_same (calibration, 0, 400, 0.9, 0.03);
  add_others (calibration, 0, 0, 400, 0.95, 0.03);
  g_assert_false (sl_calibration_pair (calibration, 0, 0, 10, &rules).is_calibrated);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/calibrate/without", test_without);
  g_test_add_func ("/calibrate/threshold", test_threshold);
  g_test_add_func ("/calibrate/pair", test_pair);
  g_test_add_func ("/calibrate/merged", test_merged);
  g_test_add_func ("/calibrate/merged-alone", test_merged_alone);
  g_test_add_func ("/calibrate/merged-wrongly", test_merged_wrongly);
  g_test_add_func ("/calibrate/blind", test_blind);
  return g_test_run ();
}
