/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Curves, calibration and matrices of few answers, counted by hand. */
#include "tools/evaluate/curve.h"

#include <math.h>

#include "tools/evaluate/matrix.h"
#include "tests/support/program.h"

static GArray *
answers_new (const SlAnswer *answers, guint n)
{
  GArray *array = g_array_new (FALSE, FALSE, sizeof (SlAnswer));
  g_array_append_vals (array, answers, n);
  sl_answers_sort (array);
  return array;
}

/* Two answers of one confidence are one point. */
static void
test_curve (void)
{
  static const SlAnswer some[] = {
    { 0.5, 0, 0, FALSE }, { 0.9, 0, 1, TRUE }, { 0.7, 0, 2, FALSE }, { 0.5, 0, 3, TRUE }
  };
  static const SlCurvePoint expected[] = { { 0.9, 1, 0.25, 0.4 },
                                           { 0.7, 0.5, 0.25, 1.0 / 3 },
                                           { 0.5, 0.5, 0.5, 0.5 } };
  g_autoptr (GArray) answers = answers_new (some, G_N_ELEMENTS (some)),
                     curve = sl_curve_new (answers, 4);
  g_assert_cmpuint (g_array_index (answers, SlAnswer, 2).picture, ==, 0);
  g_assert_cmpuint (curve->len, ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < curve->len; i++) {
    const SlCurvePoint *got = &g_array_index (curve, SlCurvePoint, i);
    g_assert_cmpfloat_with_epsilon (got->confidence, expected[i].confidence, 1e-12);
    g_assert_cmpfloat_with_epsilon (got->precision, expected[i].precision, 1e-12);
    g_assert_cmpfloat_with_epsilon (got->recall, expected[i].recall, 1e-12);
    g_assert_cmpfloat_with_epsilon (got->f1, expected[i].f1, 1e-12);
  }
  g_assert_true (sl_curve_best (curve) == &g_array_index (curve, SlCurvePoint, 2));
}

static void
test_nothing (void)
{
  static const SlAnswer wrong[] = { { 0.3, 0, 0, FALSE }, { 0.6, 0, 0, FALSE } };
  SlCalibrationBin bins[SL_CALIBRATION_BINS];
  gdouble error;
  g_autoptr (GArray) none = answers_new (NULL, 0), empty = sl_curve_new (none, 3);
  g_autoptr (GArray) answers = answers_new (wrong, G_N_ELEMENTS (wrong)),
                     curve = sl_curve_new (answers, 0);
  g_assert_null (sl_curve_best (empty));
  g_assert_false (sl_calibration (none, bins, &error));
  g_assert_cmpfloat (sl_curve_best (curve)->confidence, ==, 0.6);
  g_assert_cmpfloat (sl_curve_best (curve)->f1, ==, 0);
}

/* Bins 0.2..0.3, with 1 of 2 right, and 0.9..1, with both right: errors of 0.25 and 0.025. */
static void
test_calibration (void)
{
  static const SlAnswer some[] = {
    { 0.2, 0, 0, TRUE }, { 0.3 - 1e-9, 0, 0, FALSE }, { 1, 0, 0, TRUE }, { 0.95, 0, 0, TRUE }
  };
  static const SlAnswer beyond[] = { { 1.5, 0, 0, TRUE } }, below[] = { { -0.5, 0, 0, TRUE } },
                        unknown[] = { { NAN, 0, 0, TRUE } };
  SlCalibrationBin bins[SL_CALIBRATION_BINS];
  gdouble error;
  g_autoptr (GArray) answers = answers_new (some, G_N_ELEMENTS (some)),
                     high = answers_new (beyond, 1), low = answers_new (below, 1);
  g_autoptr (GArray) nan = answers_new (unknown, 1);
  g_assert_true (sl_calibration (answers, bins, &error));
  g_assert_cmpfloat_with_epsilon (error, (0.25 + 0.025) / 2, 1e-8);
  g_assert_cmpuint (bins[2].n, ==, 2);
  g_assert_cmpfloat_with_epsilon (bins[2].confidence, 0.25, 1e-8);
  g_assert_cmpfloat_with_epsilon (bins[2].right, 0.5, 1e-12);
  g_assert_cmpuint (bins[9].n, ==, 2);
  g_assert_cmpfloat_with_epsilon (bins[9].right, 1, 1e-12);
  g_assert_true (bins[3].n == 0 && isnan (bins[3].right) && isnan (bins[3].confidence));
  g_assert_false (sl_calibration (high, bins, &error));
  g_assert_false (sl_calibration (low, bins, &error));
  g_assert_false (sl_calibration (nan, bins, &error));
}

/* Overlaps of found (rows) and true objects. */
static gdouble
overlap (guint found, guint truth, gconstpointer data)
{
  return ((const gdouble (*)[4]) data)[found][truth];
}

static guint64
cell_of (const GArray *matrix, gint32 truth, gint32 guess)
{
  for (guint i = 0; i < matrix->len; i++) {
    const SlMatrixCell *cell = &g_array_index (matrix, SlMatrixCell, i);
    if (cell->truth == truth && cell->guess == guess)
      return cell->n;
  }
  return 0;
}

/* True objects 0 and 1 of classes 5 and 6, 2 is ignored and 3 is a crowd. The first found takes 0
 * although its class differs, the second must take 1, the third and the fourth take the crowd and
 * do not count, and the last has no true object left. */
static void
test_matrix (void)
{
  static const SlEvalObject truth[] = { { .label = 5 },
                                        { .label = 6 },
                                        { .label = 5, .ignored = TRUE },
                                        { .label = 6, .ignored = TRUE, .crowd = TRUE } };
  static const SlEvalObject found[] = { { .confidence = 0.9, .label = 6 },
                                        { .confidence = 0.8, .label = 6 },
                                        { .confidence = 0.7, .label = 7 },
                                        { .confidence = 0.6, .label = 7 },
                                        { .confidence = 0.5, .label = 5 } };
  static const gdouble overlaps[5][4] = {
    { 0.9, 0.6, 0.95 }, { 0.7, 0.5 }, { 0, 0, 0.4, 0.8 }, { 0, 0, 0, 0.8 }, { 0.9, 0.49 }
  };
  g_autoptr (SlObjectPairs) pairs = sl_object_pairs_new ();
  sl_object_pairs_add (pairs, truth, G_N_ELEMENTS (truth), found, G_N_ELEMENTS (found), overlap,
                       overlaps);
  g_autoptr (GArray) all = sl_object_pairs_matrix (pairs, 0),
                     few = sl_object_pairs_matrix (pairs, 0.85);
  g_assert_cmpuint (all->len, ==, 3);
  g_assert_cmpuint (cell_of (all, 5, 6), ==, 1);
  g_assert_cmpuint (cell_of (all, 6, 6), ==, 1);
  g_assert_cmpuint (cell_of (all, SL_MATRIX_NOTHING, 5), ==, 1);
  g_assert_cmpuint (few->len, ==, 2);
  g_assert_cmpuint (cell_of (few, 5, 6), ==, 1);
  g_assert_cmpuint (cell_of (few, 6, SL_MATRIX_NOTHING), ==, 1);
}

/* Of two true objects that overlap alike, the one of the class is taken, whatever their order. */
static void
test_equal_overlaps (void)
{
  static const SlEvalObject truth[] = { { .label = 5 }, { .label = 6 }, { .label = 5 } },
                            found[] = { { .confidence = 0.9, .label = 6 } };
  static const gdouble overlaps[1][4] = { { 0.8, 0.8, 0.8 } };
  g_autoptr (SlObjectPairs) pairs = sl_object_pairs_new ();
  sl_object_pairs_add (pairs, truth, G_N_ELEMENTS (truth), found, G_N_ELEMENTS (found), overlap,
                       overlaps);
  g_autoptr (GArray) matrix = sl_object_pairs_matrix (pairs, 0);
  g_assert_cmpuint (cell_of (matrix, 6, 6), ==, 1);
  g_assert_cmpuint (cell_of (matrix, 5, SL_MATRIX_NOTHING), ==, 2);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/evaluate/curve/points", test_curve);
  g_test_add_func ("/evaluate/curve/nothing", test_nothing);
  g_test_add_func ("/evaluate/curve/calibration", test_calibration);
  g_test_add_func ("/evaluate/curve/matrix", test_matrix);
  g_test_add_func ("/evaluate/curve/equal-overlaps", test_equal_overlaps);
  return g_test_run ();
}
