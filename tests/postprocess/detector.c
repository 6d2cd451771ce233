/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selection and suppression against the plainest way to write them, and what a million candidates
 * cost. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "postprocess/nms.h"
#include "postprocess/select.h"
#include "tests/support/program.h"

typedef struct
{
  double key;
  guint index;
} Entry;

static int
by_key (const void *a, const void *b)
{
  const Entry *x = a, *y = b;
  return x->key > y->key ? -1 : x->key < y->key ? 1 : x->index < y->index ? -1 : 1;
}

/* The indices of the @k highest of those at least @threshold, by sorting them all. */
static guint
sort_all (const double *keys, guint n, double threshold, guint k, Entry *out)
{
  guint count = 0;
  for (guint i = 0; i < n; i++)
    if (keys[i] >= threshold && isfinite (keys[i]))
      out[count++] = (Entry){ keys[i], i };
  qsort (out, count, sizeof *out, by_key);
  return MIN (count, k);
}

static void
check_floats (guint n, guint k, gfloat threshold, guint kinds)
{
  g_autofree gfloat *scores = g_new (gfloat, n);
  g_autofree double *keys = g_new (double, n);
  g_autofree Entry *expected = g_new (Entry, n);
  g_autofree guint32 *bins = g_new (guint32, SL_SELECT_BINS);
  g_autofree SlRanked *items = g_new (SlRanked, k);
  SlTopK top = { items, 0, k };
  for (guint i = 0; i < n; i++) {
    scores[i] = (gfloat) (g_test_rand_int_range (-50, (gint) kinds) / (double) kinds);
    if (i % 97 == 5)
      scores[i] = i % 2 ? NAN : INFINITY;
    if (i % 89 == 3)
      scores[i] = -0.0f;
    keys[i] = scores[i];
  }
  sl_select_floats (scores, n, threshold, bins, &top);
  const guint count = sort_all (keys, n, threshold, k, expected);
  g_assert_cmpuint (top.count, ==, count);
  for (guint i = 0; i < count; i++)
    g_assert_cmpuint (top.items[i].index, ==, expected[i].index);
}

static void
test_select_floats (void)
{
  for (guint round = 0; round < 20; round++) {
    check_floats (1 + round * 37, 16, 0.25f, 1000);
    check_floats (4000, 100 + round, 0, 100000000);
    check_floats (4000, 64, -0.5f, 7);
    check_floats (300, 300, 0.9f, 50);
  }
}

static void
test_select_codes (void)
{
  for (guint round = 0; round < 40; round++) {
    const guint n = 1 + 101 * round, k = 1 + 13 * (round % 7),
                lowest = round % 3 == 0 ? 0 : 20 * (round % 14);
    g_autofree guint8 *ranks = g_new (guint8, n);
    g_autofree double *keys = g_new (double, n);
    g_autofree Entry *expected = g_new (Entry, n);
    g_autofree SlRanked *items = g_new (SlRanked, k);
    SlTopK top = { items, 0, k };
    for (guint i = 0; i < n; i++)
      keys[i] = ranks[i] = (guint8) g_test_rand_int_range (0, round % 2 ? 256 : 4);
    sl_select_codes (ranks, n, lowest, &top);
    const guint count = sort_all (keys, n, lowest, k, expected);
    g_assert_cmpuint (top.count, ==, count);
    for (guint i = 0; i < count; i++)
      g_assert_cmpuint (top.items[i].index, ==, expected[i].index);
  }
}

static double
overlap (const SlDetection *a, const SlDetection *b)
{
  const double w = MIN (a->x_max, b->x_max) - (double) MAX (a->x_min, b->x_min);
  const double h = MIN (a->y_max, b->y_max) - (double) MAX (a->y_min, b->y_min);
  if (w <= 0 || h <= 0)
    return 0;
  return w * h
         / ((a->x_max - (double) a->x_min) * (a->y_max - (double) a->y_min)
            + (b->x_max - (double) b->x_min) * (b->y_max - (double) b->y_min) - w * h);
}

static void
check_nms (guint n, gboolean agnostic, guint most, double iou)
{
  g_autofree SlDetection *boxes = g_new0 (SlDetection, n);
  g_autofree guint *kept = g_new (guint, most);
  g_autofree guint *expected = g_new (guint, n);
  guint n_expected = 0;
  SlNms nms;
  for (guint i = 0; i < n; i++) {
    const gfloat x = (gfloat) g_test_rand_double (), y = (gfloat) g_test_rand_double ();
    boxes[i] = (SlDetection){ x,
                              y,
                              x + (gfloat) g_test_rand_double_range (0.01, 0.4),
                              y + (gfloat) g_test_rand_double_range (0.01, 0.4),
                              1 - (gfloat) i / (gfloat) n,
                              g_test_rand_int_range (0, 3),
                              0,
                              0 };
  }
  for (guint i = 0; i < n && n_expected < most; i++) {
    gboolean free_of_others = TRUE;
    for (guint k = 0; k < n_expected; k++) {
      const SlDetection *other = &boxes[expected[k]];
      if ((agnostic || other->label_id == boxes[i].label_id) && overlap (other, &boxes[i]) > iou)
        free_of_others = FALSE;
    }
    if (free_of_others)
      expected[n_expected++] = i;
  }
  sl_nms_init (&nms, (gfloat) iou, agnostic, most);
  g_assert_cmpuint (sl_nms_run (&nms, boxes, n, kept), ==, n_expected);
  for (guint k = 0; k < n_expected; k++)
    g_assert_cmpuint (kept[k], ==, expected[k]);
  sl_nms_clear (&nms);
}

static void
test_nms (void)
{
  for (guint round = 0; round < 30; round++) {
    check_nms (1 + round * 20, round % 2, 100, 0.4501);
    check_nms (300, round % 2, 1 + round, 0.2003);
    check_nms (200, TRUE, 200, 0.9007);
  }
}

/* A million candidates above the threshold, the best ones last. Printed; only a processor time that
 * no machine needs fails. */
static void
test_million (void)
{
  const guint n = 1000000, k = 2048;
  g_autofree gfloat *scores = g_new (gfloat, n);
  g_autofree guint32 *bins = g_new (guint32, SL_SELECT_BINS);
  g_autofree SlRanked *items = g_new (SlRanked, k);
  SlTopK top = { items, 0, k };
  clock_t best = G_MAXINT32;
  for (guint i = 0; i < n; i++)
    scores[i] = 0.5f + 0.25f * (gfloat) i / (gfloat) n;
  for (guint round = 0; round < 3; round++) {
    const clock_t start = clock ();
    sl_select_floats (scores, n, 0.5f, bins, &top);
    best = MIN (best, clock () - start);
  }
  g_test_message ("%u of a million selected in %ld us", k, (long) best);
  g_assert_cmpuint (top.count, ==, k);
  g_assert_cmpfloat (top.items[0].key, ==, scores[n - 1]);
  g_assert_cmpfloat (top.items[k - 1].key, <=, top.items[0].key);
  g_assert_cmpint (best, <, CLOCKS_PER_SEC / 2);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/detector/select_floats", test_select_floats);
  g_test_add_func ("/detector/select_codes", test_select_codes);
  g_test_add_func ("/detector/nms", test_nms);
  g_test_add_func ("/detector/million", test_million);
  return g_test_run ();
}
