/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pixels counted by hand. */
#include "tools/evaluate/cells.h"
#include "tests/support/program.h"

#include <math.h>

static void
test_counts (void)
{
  static const guint8 truth[] = { 0, 0, 0, 1, 1, 255, 2, 255 },
                      found[] = { 0, 0, 1, 1, 255, 1, 3, 255 };
  SlCellScore score = { 0 };
  SlCellFigures mean;
  gdouble right;
  sl_cell_score_add (&score, truth, found, 4);
  sl_cell_score_add (&score, truth + 4, found + 4, 4);
  g_autoptr (GArray) classes = sl_cell_score_figures (&score, &mean, &right);
  /* Class 0: 2 of 3; class 1: 1 of 3, for one is missed and one too many; 2 is missed, 3 is not
   * there. */
  static const SlCellFigures expected[] = {
    { 0, 3, 2, 2, 2.0 / 3 }, { 1, 2, 2, 1, 1.0 / 3 }, { 2, 1, 0, 0, 0 }, { 3, 0, 1, 0, 0 }
  };
  g_assert_cmpuint (classes->len, ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < classes->len; i++) {
    const SlCellFigures *got = &g_array_index (classes, SlCellFigures, i);
    g_assert_cmpint (got->label, ==, expected[i].label);
    g_assert_cmpuint (got->truths, ==, expected[i].truths);
    g_assert_cmpuint (got->found, ==, expected[i].found);
    g_assert_cmpuint (got->both, ==, expected[i].both);
    g_assert_cmpfloat_with_epsilon (got->iou, expected[i].iou, 1e-12);
  }
  g_assert_cmpfloat_with_epsilon (mean.iou, 0.25, 1e-12);
  g_assert_cmpfloat_with_epsilon (right, 0.5, 1e-12);
}

static void
test_nothing (void)
{
  SlCellScore score = { 0 };
  SlCellFigures mean;
  gdouble right;
  g_autoptr (GArray) classes = sl_cell_score_figures (&score, &mean, &right);
  g_assert_cmpuint (classes->len, ==, 0);
  g_assert_true (isnan (mean.iou) && isnan (right));
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/evaluate/cells/counts", test_counts);
  g_test_add_func ("/evaluate/cells/nothing", test_nothing);
  return g_test_run ();
}
