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
  g_test_add_func ("/calibrate/blind", test_blind);
  return g_test_run ();
}
