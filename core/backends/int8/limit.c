/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which weights the products of bytes may have. AVX2 multiplies unsigned with signed bytes and adds
 * the products of two neighbouring activations in 16 bits, where large weights of one sign
 * overflow. So such sums of weights have a limit. What is beyond it goes into further steps, as do
 * weights of nine bits. Trained weights are mostly small: the products of two steps often fit
 * together, which saves one of four multiplications.
 */
#include <string.h>

#include "core/backends/int8/layer.h"

/* Activations of a step, and weights of a block: those of two steps. */
#define UNIT 4
#define BLOCK (2 * UNIT)
/* What a block has beyond its limit: with the products of each step added by themselves, or of both
 * steps together. */
#define OVER_ONE 1
#define OVER_TWO 2
/* Multiplications of a step, of two steps together, and what a step of int16 takes in the time of
 * as many. */
#define STEP_COST 2
#define TWO_COST 3
#define INT16_COST 2.4
/* Most panels of a layer that are looked at before the others are taken to be like them. */
#define SAMPLES 8

typedef gint16 Eight __attribute__ ((vector_size (16)));
typedef gint32 Four __attribute__ ((vector_size (16)));
typedef guint32 FourBits __attribute__ ((vector_size (16)));

/* The sums of neighbours. */
static inline Four
add_pairs (Eight x)
{
  return ((Four) x >> 16) + ((Four) ((FourBits) x << 16) >> 16);
}

static inline gboolean
any (Four flags)
{
  guint64 halves[2];
  memcpy (halves, &flags, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

static guint8
over_of (const gint16 *values, gint32 n, gint32 limit)
{
  Eight x = { 0 };
  if (n == BLOCK)
    memcpy (&x, values, sizeof x);
  else
    memcpy (&x, values, (gsize) n * sizeof values[0]);
  const Four most = (Four){ 0 } + limit, plus = add_pairs (x & (x > 0)),
             minus = -add_pairs (x & (x < 0));
  const Four plus_two = plus + __builtin_shufflevector (plus, plus, 2, 3, 0, 1),
             minus_two = minus + __builtin_shufflevector (minus, minus, 2, 3, 0, 1);
  if (!any ((plus_two > most) | (minus_two > most)))
    return 0;
  return any ((plus > most) | (minus > most)) ? OVER_ONE | OVER_TWO : OVER_TWO;
}

static gint32
blocks_of (const SlInt8Weights *w)
{
  return (w->run + BLOCK - 1) / BLOCK;
}

gboolean
sl_int8_find_over (SlInt8Weights *w, gint32 lanes, gdouble *cost)
{
  const gint32 blocks = blocks_of (w);
  gint32 one = 0, two = 0;
  memset (w->over, 0, (gsize) (w->depth / w->run * blocks));
  for (gint32 lane = 0; lane < lanes; lane++) {
    const gint16 *values = w->values + (gsize) lane * (gsize) w->depth;
    guint8 *over = w->over;
    for (gint32 first = 0; first < w->depth; first += w->run)
      for (gint32 k = 0; k < w->run; k += BLOCK)
        *over++ |= over_of (values + first + k, MIN (BLOCK, w->run - k), w->limit);
  }
  for (gint32 b = 0; b < w->depth / w->run * blocks; b++) {
    const gboolean whole = w->run - b % blocks * BLOCK > UNIT;
    one += whole ? 2 * STEP_COST : STEP_COST;
    two += whole ? TWO_COST : STEP_COST;
    one += w->over[b] & OVER_ONE ? STEP_COST : 0;
    two += w->over[b] & OVER_TWO ? STEP_COST : 0;
  }
  *cost = MIN (one, two);
  return two < one;
}

void
sl_int8_take (const SlInt8Weights *w, const gint16 *values, gint32 n, gint8 *to)
{
  gint32 room[UNIT / 2][2] = { { w->limit, w->limit }, { w->limit, w->limit } };
  for (gint32 i = 0; i < n; i++) {
    const gint sign = values[i] < 0;
    gint32 *left = &room[i % UNIT / 2][sign];
    const gint32 amount =
      MIN (MIN (ABS ((gint32) values[i]), sign ? -w->least : G_MAXINT8), *left);
    *left -= amount;
    to[i] = (gint8) (sign ? -amount : amount);
  }
}

void
sl_int8_limit (SlInt8Weights *w, gint32 lanes, gboolean twos)
{
  const gint32 blocks = blocks_of (w), span = twos ? BLOCK : UNIT;
  for (gint32 b = 0; b < w->depth / w->run * blocks; b++) {
    if (w->over[b] == 0 || (!twos && w->over[b] == OVER_TWO))
      continue;
    const gint32 k = b % blocks * BLOCK, first = b / blocks * w->run + k,
                 n = MIN (BLOCK, w->run - k);
    for (gint32 lane = 0; lane < lanes; lane++) {
      const gsize at = (gsize) lane * (gsize) w->depth + (gsize) first;
      for (gint32 i = 0; i < n; i += span)
        sl_int8_take (w, w->values + at + i, MIN (span, n - i), w->low + at + i);
      w->steps[lane] = MAX (w->steps[lane], 2);
    }
  }
}

gboolean
sl_int8_fits_bytes (const SlInt8Isa *isa, const SlGraph *graph, const SlNode *node, gint32 runs)
{
  SlInt8Weights w;
  gdouble cost = 0, int16 = 0;
  const gint32 width = isa->lanes * isa->max_groups;
  sl_int8_weights_init (&w, isa, graph, node, runs, width);
  const gint32 panels = (w.channels + width - 1) / width, samples = MIN (panels, SAMPLES);
  for (gint32 i = 0; i < samples; i++) {
    const gint32 first = panels * i / samples * width, lanes = MIN (width, w.channels - first);
    gdouble panel = 0;
    sl_int8_weights_read (&w, first, lanes);
    sl_int8_find_over (&w, lanes, &panel);
    cost += panel;
    int16 += INT16_COST * runs * ((w.run + UNIT - 1) / UNIT);
  }
  sl_int8_weights_clear (&w);
  return cost <= int16;
}
