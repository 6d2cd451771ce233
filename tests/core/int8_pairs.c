/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which steps of weights are put together, and what a step takes of weights: against sums in plain
 * integers.
 */
#include <string.h>

#include "core/backends/int8/layer.h"
#include "tests/support/program.h"

#define UNIT 4
#define MOST_STEPS 150
#define MOST_BYTES 64

/** Steps of @lanes channels, whose weights are at most @most. */
typedef struct
{
  gint32 n, lanes, limit, most;
  gint8 weights[MOST_STEPS][MOST_BYTES], ordered[MOST_STEPS][MOST_BYTES];
  gint32 offsets[MOST_STEPS], ordered_offsets[MOST_STEPS];
} Steps;

/* What the weights of one sign of pair @pair of a step add up to. */
static gint32
sum_of (const gint8 *weights, gint32 pair, gint32 sign)
{
  return MAX (sign * weights[2 * pair], 0) + MAX (sign * weights[2 * pair + 1], 0);
}

static gboolean
fit (const Steps *s, const gint8 *a, const gint8 *b)
{
  for (gint32 pair = 0; pair < s->lanes * UNIT / 2; pair++)
    for (gint32 sign = -1; sign <= 1; sign += 2)
      if (sum_of (a, pair, sign) + sum_of (b, pair, sign) > s->limit)
        return FALSE;
  return TRUE;
}

/* Offsets are numbers of steps, so they tell which step went where. */
static void
fill (Steps *s, GRand *rand)
{
  for (gint32 i = 0; i < s->n; i++) {
    s->offsets[i] = i;
    for (gint32 k = 0; k < s->lanes * UNIT; k++)
      ((gint8 *) s->weights)[i * s->lanes * UNIT + k] =
        (gint8) g_rand_int_range (rand, MAX (-s->most, -128), MIN (s->most, 127) + 1);
  }
}

static gint32
pair_steps (Steps *s, GRand *rand)
{
  fill (s, rand);
  return sl_int8_pair_steps (s->n, s->lanes, s->limit, (const guint8 *) s->weights, s->offsets,
                             (guint8 *) s->ordered, s->ordered_offsets);
}

static void
check (const Steps *s, gint32 twos)
{
  const gsize each = (gsize) (s->lanes * UNIT);
  const gint8 *from = (const gint8 *) s->weights, *to = (const gint8 *) s->ordered;
  gboolean seen[MOST_STEPS] = { FALSE };
  g_assert_cmpint (2 * twos, <=, s->n);
  for (gint32 i = 0; i < s->n; i++) {
    const gint32 step = s->ordered_offsets[i];
    g_assert_cmpint (step, >=, 0);
    g_assert_cmpint (step, <, s->n);
    g_assert_false (seen[step]);
    seen[step] = TRUE;
    g_assert_cmpmem (to + (gsize) i * each, each, from + (gsize) step * each, each);
  }
  for (gint32 i = 0; i < twos; i++)
    g_assert_true (fit (s, to + (gsize) (2 * i) * each, to + (gsize) (2 * i + 1) * each));
}

/* Every step is there once, and twos fit. All are put together where all fit, none where none. */
static void
test_pairs (void)
{
  static const gint32 limits[] = { 128, 258 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  for (guint i = 0; i < 2000; i++) {
    Steps s = { .n = g_rand_int_range (rand, 1, MOST_STEPS + 1),
                .lanes = i % 3 == 0 ? 8 : 16,
                .limit = limits[i % 2],
                .most = g_rand_int_range (rand, 0, 129) };
    const gint32 twos = pair_steps (&s, rand);
    check (&s, twos);
    if (4 * s.most <= s.limit - 4)
      g_assert_cmpint (twos, ==, s.n / 2);
  }
}

/* Neighbours are put together in place: those that fit come first, each step keeps its offset, and
 * the odd step stays last. */
static void
test_neighbours (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  for (guint i = 0; i < 2000; i++) {
    Steps s = { .n = g_rand_int_range (rand, 1, MOST_STEPS + 1),
                .lanes = i % 3 == 0 ? 8 : 16,
                .limit = 258,
                .most = g_rand_int_range (rand, 0, 129) };
    const gsize each = (gsize) (s.lanes * UNIT);
    gint32 expected = 0;
    fill (&s, rand);
    for (gint32 k = 0; k + 1 < s.n; k += 2)
      expected += fit (&s, (const gint8 *) s.weights + (gsize) k * each,
                       (const gint8 *) s.weights + (gsize) (k + 1) * each);
    memcpy (s.ordered, s.weights, sizeof s.ordered);
    memcpy (s.ordered_offsets, s.offsets, sizeof s.offsets);
    const gint32 twos =
      sl_int8_join_neighbours (s.n, s.lanes, s.limit, (guint8 *) s.ordered, s.ordered_offsets);
    check (&s, twos);
    for (gint32 k = 0; k < twos; k++)
      g_assert_cmpint (s.ordered_offsets[2 * k] + 1, ==, s.ordered_offsets[2 * k + 1]);
    if (s.n % 2 == 1)
      g_assert_cmpint (s.ordered_offsets[s.n - 1], ==, s.n - 1);
    /* Sums of 255 and 256 are as one. */
    g_assert_cmpint (twos, <=, expected);
    if (4 * s.most <= s.limit - 4)
      g_assert_cmpint (twos, ==, s.n / 2);
  }
}

/* Sums of two weights of -128 are larger than a byte. */
static void
test_least (void)
{
  Steps s = { .n = 4, .lanes = 8, .limit = 258, .most = 0 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_assert_cmpint (pair_steps (&s, rand), ==, 2);
  memset (s.weights, G_MININT8, sizeof s.weights);
  g_assert_cmpint (sl_int8_pair_steps (s.n, s.lanes, s.limit, (const guint8 *) s.weights, s.offsets,
                                       (guint8 *) s.ordered, s.ordered_offsets),
                   ==, 0);
  check (&s, 0);
}

/* What a step takes is within the limit, and steps after each other take all. */
static void
test_take (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  for (guint i = 0; i < 2000; i++) {
    const SlInt8Weights w = { .limit = i % 2 == 0 ? 128 : 258, .least = -128 };
    const gint32 most = g_rand_int_range (rand, 1, 256);
    gint16 left[UNIT];
    for (gint k = 0; k < UNIT; k++)
      left[k] = (gint16) g_rand_int_range (rand, -most, most + 1);
    for (gint step = 0; step < 4; step++) {
      gint8 taken[UNIT];
      sl_int8_take (&w, left, UNIT, taken);
      for (gint32 pair = 0; pair < UNIT / 2; pair++) {
        g_assert_cmpint (sum_of (taken, pair, 1), <=, w.limit);
        g_assert_cmpint (sum_of (taken, pair, -1), <=, w.limit);
      }
      for (gint k = 0; k < UNIT; k++)
        left[k] = (gint16) (left[k] - taken[k]);
    }
    for (gint k = 0; k < UNIT; k++)
      g_assert_cmpint (left[k], ==, 0);
  }
}

/* Weights beyond the limit are found wherever they are, in runs of any length. */
static void
test_limit (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  for (guint i = 0; i < 2000; i++) {
    gint16 values[120];
    gint8 low[120];
    guint8 steps = 1;
    SlInt8Weights w = { .limit = 128, .least = -128, .values = values, .low = low };
    w.steps = &steps;
    w.run = g_rand_int_range (rand, 1, 61);
    w.depth = w.run * g_rand_int_range (rand, 1, 120 / w.run + 1);
    const gint32 most = g_rand_int_range (rand, 60, 80);
    gboolean beyond = FALSE;
    for (gint32 k = 0; k < w.depth; k++) {
      values[k] = (gint16) g_rand_int_range (rand, -most, most + 1);
      low[k] = (gint8) values[k];
    }
    for (gint32 k = 0; k < w.depth; k++)
      if (k % w.run % 2 == 1)
        beyond |= ABS (values[k - 1] + values[k]) > 128;
    sl_int8_limit (&w, 0);
    g_assert_cmpuint (steps, ==, beyond ? 2 : 1);
    for (gint32 k = 0; k < w.depth; k++)
      if (k % w.run % 2 == 1)
        g_assert_cmpint (ABS (low[k - 1] + low[k]), <=, 128);
      else
        g_assert_cmpint (low[k], ==, values[k]);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/int8-pairs/together", test_pairs);
  g_test_add_func ("/core/int8-pairs/neighbours", test_neighbours);
  g_test_add_func ("/core/int8-pairs/least", test_least);
  g_test_add_func ("/core/int8-pairs/take", test_take);
  g_test_add_func ("/core/int8-pairs/limit", test_limit);
  return g_test_run ();
}
