/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Embeddings of slots against cosines in double precision, written out here; and vectors without a
 * direction. */
#include <math.h>
#include <string.h>

#include "postprocess/predictions/appearance.h"
#include "tests/support/program.h"

#define LENGTH 37

static void
random_unit (gfloat vector[LENGTH])
{
  do
    for (guint i = 0; i < LENGTH; i++)
      vector[i] = (gfloat) g_test_rand_double_range (-1, 1);
  while (!sl_appearance_unit (vector, LENGTH));
}

static double
cosine (const gfloat *a, const gfloat *b)
{
  double product = 0, aa = 0, bb = 0;
  for (guint i = 0; i < LENGTH; i++) {
    product += (double) a[i] * b[i];
    aa += (double) a[i] * a[i];
    bb += (double) b[i] * b[i];
  }
  return product / sqrt (aa * bb);
}

static void
test_unit (void)
{
  static const gfloat odd[] = { 0, NAN, INFINITY, -INFINITY };
  gfloat vector[LENGTH];
  for (guint i = 0; i < LENGTH; i++)
    vector[i] = 1e25f * ((gfloat) i - 3);
  g_assert_true (sl_appearance_unit (vector, LENGTH));
  double squares = 0;
  for (guint i = 0; i < LENGTH; i++)
    squares += (double) vector[i] * vector[i];
  g_assert_cmpfloat_with_epsilon (squares, 1, 1e-6);
  for (guint i = 0; i < G_N_ELEMENTS (odd); i++) {
    memset (vector, 0, sizeof vector);
    vector[LENGTH - 1] = odd[i];
    g_assert_false (sl_appearance_unit (vector, LENGTH));
  }
}

static void
test_cosine (void)
{
  SlAppearance looks = { 0 };
  gfloat known[20][LENGTH], other[LENGTH];
  guint slots[20];
  sl_appearance_start (&looks, LENGTH);
  for (guint i = 0; i < 20; i++) {
    random_unit (known[i]);
    slots[i] = sl_appearance_take (&looks, known[i]);
    g_assert_cmpuint (slots[i], !=, SL_APPEARANCE_NONE);
  }
  random_unit (other);
  for (guint i = 0; i < 20; i++) {
    g_assert_cmpfloat_with_epsilon (sl_appearance_cosine (&looks, slots[i], other),
                                    cosine (known[i], other), 1e-5);
    g_assert_cmpfloat_with_epsilon (sl_appearance_cosine (&looks, slots[i], known[i]), 1, 1e-5);
  }
  g_assert_cmpfloat (sl_appearance_cosine (&looks, SL_APPEARANCE_NONE, other), ==, 0);
  /* A slot that was given back is taken again, empty. */
  sl_appearance_give_back (&looks, slots[7]);
  sl_appearance_give_back (&looks, SL_APPEARANCE_NONE);
  g_assert_cmpuint (sl_appearance_take (&looks, other), ==, slots[7]);
  g_assert_cmpfloat_with_epsilon (sl_appearance_cosine (&looks, slots[7], known[7]),
                                  cosine (known[7], other), 1e-5);
  sl_appearance_clear (&looks);
}

/* The mean keeps 0.9 of itself and takes 0.1 of the new embedding; its length is 1. */
static void
test_mean (void)
{
  SlAppearance looks = { 0 };
  gfloat first[LENGTH], next[LENGTH], mean[LENGTH];
  random_unit (first);
  for (guint i = 0; i < LENGTH; i++)
    next[i] = first[i] + (gfloat) g_test_rand_double_range (-0.05, 0.05);
  g_assert_true (sl_appearance_unit (next, LENGTH));
  sl_appearance_start (&looks, LENGTH);
  const guint slot = sl_appearance_take (&looks, first);
  memcpy (mean, first, sizeof mean);
  for (guint step = 0; step < 5; step++) {
    for (guint i = 0; i < LENGTH; i++)
      mean[i] = 0.9f * mean[i] + 0.1f * next[i];
    g_assert_true (sl_appearance_unit (mean, LENGTH));
    sl_appearance_learn (&looks, slot, next);
  }
  g_assert_cmpfloat_with_epsilon (sl_appearance_cosine (&looks, slot, mean), 1, 1e-5);
  g_assert_cmpfloat_with_epsilon (sl_appearance_cosine (&looks, slot, first), cosine (mean, first),
                                  1e-5);
  sl_appearance_clear (&looks);
}

/* Another side of an object is kept beside the mean; there are three such views, the oldest goes.
 */
static void
test_views (void)
{
  SlAppearance looks = { 0 };
  gfloat views[1 + SL_APPEARANCE_VIEWS + 1][LENGTH];
  sl_appearance_start (&looks, LENGTH);
  memset (views, 0, sizeof views);
  for (guint i = 0; i < G_N_ELEMENTS (views); i++)
    views[i][i] = 1;
  const guint slot = sl_appearance_take (&looks, views[0]);
  for (guint i = 1; i < G_N_ELEMENTS (views); i++) {
    sl_appearance_learn (&looks, slot, views[i]);
    g_assert_cmpfloat (sl_appearance_cosine (&looks, slot, views[i]), ==, 1);
  }
  g_assert_cmpfloat (sl_appearance_cosine (&looks, slot, views[1]), <, 0.5);
  for (guint i = 2; i < G_N_ELEMENTS (views); i++)
    g_assert_cmpfloat (sl_appearance_cosine (&looks, slot, views[i]), ==, 1);
  /* The opposite of the mean, again and again: it turns, and stays a direction. */
  gfloat opposite[LENGTH] = { 0 };
  opposite[0] = -1;
  for (guint i = 0; i < 100; i++)
    sl_appearance_learn (&looks, slot, opposite);
  g_assert_cmpfloat_with_epsilon (sl_appearance_cosine (&looks, slot, opposite), 1, 1e-5);
  sl_appearance_clear (&looks);
}

/* Cosines are relative to those of different objects; a model that gives the same for all of them
 * says nothing. */
static void
test_others (void)
{
  SlAppearance looks = { 0 };
  gfloat a[LENGTH], b[LENGTH];
  random_unit (a);
  for (guint i = 0; i < LENGTH; i++)
    b[i] = a[i] + (gfloat) g_test_rand_double_range (-0.1, 0.1);
  g_assert_true (sl_appearance_unit (b, LENGTH));
  sl_appearance_start (&looks, LENGTH);
  const guint slot = sl_appearance_take (&looks, a);
  for (guint i = 0; i < 300; i++)
    sl_appearance_tell_apart (&looks, a, b);
  g_assert_cmpfloat (cosine (a, b), <, 0.97);
  g_assert_cmpfloat_with_epsilon (sl_appearance_cosine (&looks, slot, b), 0, 1e-4);
  g_assert_cmpfloat_with_epsilon (sl_appearance_cosine (&looks, slot, a), 1, 1e-4);
  for (guint i = 0; i < 2000; i++)
    sl_appearance_tell_apart (&looks, a, a);
  g_assert_cmpfloat (sl_appearance_cosine (&looks, slot, a), ==, 0);
  sl_appearance_forget (&looks);
  g_assert_cmpfloat (sl_appearance_cosine (&looks, sl_appearance_take (&looks, a), a), >, 0.99);
  sl_appearance_clear (&looks);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/appearance/unit", test_unit);
  g_test_add_func ("/appearance/cosine", test_cosine);
  g_test_add_func ("/appearance/mean", test_mean);
  g_test_add_func ("/appearance/views", test_views);
  g_test_add_func ("/appearance/others", test_others);
  return g_test_run ();
}
