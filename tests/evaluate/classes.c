/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures counted by hand: shares, the order of the worst classes and of confusions. */
#include "tools/evaluate/classes.h"
#include "tests/support/program.h"

static void
add (SlClassScore *score, gint32 truth, guint times, gint32 first, gint32 second)
{
  const gint32 best[] = { first, second };
  for (guint i = 0; i < times; i++)
    sl_class_score_add (score, truth, best, G_N_ELEMENTS (best));
}

static void
test_counts (void)
{
  g_autoptr (SlClassScore) score = sl_class_score_new ();
  SlClassFigures all;
  add (score, 7, 3, 7, 2);
  add (score, 7, 1, 2, 7);
  add (score, 2, 2, 7, 9);
  add (score, 2, 2, 2, 7);
  add (score, 5, 1, 7, 9);
  g_autoptr (GArray) classes = sl_class_score_figures (score, &all);
  g_assert_cmpuint (all.pictures, ==, 9);
  g_assert_cmpuint (all.right, ==, 5);
  g_assert_cmpuint (all.near, ==, 6);
  g_assert_cmpuint (classes->len, ==, 3);
  static const SlClassFigures expected[] = { { 5, 1, 0, 0 }, { 2, 4, 2, 2 }, { 7, 4, 3, 4 } };
  for (guint i = 0; i < classes->len; i++)
    g_assert_cmpmem (&g_array_index (classes, SlClassFigures, i), sizeof expected[i], &expected[i],
                     sizeof expected[i]);
  g_autoptr (GArray) confusions = sl_class_score_confusions (score);
  static const SlConfusion wrong[] = { { 2, 7, 2 }, { 5, 7, 1 }, { 7, 2, 1 } };
  g_assert_cmpuint (confusions->len, ==, G_N_ELEMENTS (wrong));
  for (guint i = 0; i < confusions->len; i++)
    g_assert_cmpmem (&g_array_index (confusions, SlConfusion, i), sizeof wrong[i], &wrong[i],
                     sizeof wrong[i]);
}

static void
test_best_five (void)
{
  static const gint32 best[] = { 1, 2, 3, 4, 5, 6 };
  g_autoptr (SlClassScore) score = sl_class_score_new ();
  SlClassFigures all;
  sl_class_score_add (score, 5, best, G_N_ELEMENTS (best));
  sl_class_score_add (score, 6, best, G_N_ELEMENTS (best));
  sl_class_score_add (score, 1, NULL, 0);
  g_array_unref (sl_class_score_figures (score, &all));
  g_assert_cmpuint (all.pictures, ==, 3);
  g_assert_cmpuint (all.right, ==, 0);
  g_assert_cmpuint (all.near, ==, 1);
  g_autoptr (GArray) confusions = sl_class_score_confusions (score);
  g_assert_cmpint (g_array_index (confusions, SlConfusion, 0).guess, ==, SL_CLASS_SCORE_NONE);
}

static void
test_nothing (void)
{
  g_autoptr (SlClassScore) score = sl_class_score_new ();
  SlClassFigures all;
  g_autoptr (GArray) classes = sl_class_score_figures (score, &all),
                     confusions = sl_class_score_confusions (score);
  g_assert_cmpuint (all.pictures + classes->len + confusions->len, ==, 0);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/evaluate/classes/counts", test_counts);
  g_test_add_func ("/evaluate/classes/best-five", test_best_five);
  g_test_add_func ("/evaluate/classes/nothing", test_nothing);
  return g_test_run ();
}
