/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of scores on their way through a softmax whose keys come block by block: shares are
 * relative to the largest score so far, in powers of two, so that a score takes one multiply-add
 * before its power. What earlier blocks gave is brought to the new largest score by one factor.
 */
#include <math.h>

#include "core/backends/float/decay.h"

static inline gfloat
one_power (gfloat x)
{
  gfloat lanes[LANES];
  store (lanes, power_of_two (broadcast (x)));
  return lanes[0];
}

/* The largest of the @n values at @row. */
static inline __attribute__ ((always_inline)) gfloat
highest_of (const gfloat *row, gint32 n)
{
  gfloat highest = -INFINITY;
  gint32 i = 0;
  if (n >= LANES) {
    Vec a = load (row), b = load (row + n - LANES);
    for (i = LANES; i + 2 * LANES <= n; i += 2 * LANES) {
      a = larger (load (row + i), a);
      b = larger (load (row + i + LANES), b);
    }
    if (i + LANES <= n)
      a = larger (load (row + i), a);
    return highest_lane (larger (a, b));
  }
  for (; i < n; i++)
    highest = MAX (highest, row[i]);
  return highest;
}

/* Shares of scores relative to @base: powers of two of scores times @scale less @base. */
typedef struct
{
  Vec scale, base;
#ifdef SL_PARTS
  Vec least, above;
#endif
} Shares;

static inline Vec
exact_share (const Shares *shares, Vec score)
{
  return power_of_two (fused (score, shares->scale, shares->base * broadcast (-1)));
}

#ifdef SL_PARTS
/* Smaller shares are as large as this power of two: it vanishes beside that of the largest score,
 * and its products with values are normal numbers. */
#define LEAST_SHARE -100
/* Bases up to here are sums of whole parts that float holds, together with scores near them. */
#define MOST_BASE 65536

/* The same where the base is of whole parts and up to MOST_BASE, with fewer operations. */
static inline Vec
near_share (const Shares *shares, Vec score)
{
  return share_of (larger (shares->least, score), shares->scale, shares->above);
}
#endif

/* The shares of a row in place; returns their sums by lane. */
static inline __attribute__ ((always_inline)) Vec
to_shares (Vec (*to_share) (const Shares *shares, Vec score), const Shares *shares, gfloat *row,
           gint32 n)
{
  const gint32 whole = n / LANES * LANES;
  Vec total = broadcast (0);
  for (gint32 i = 0; i < whole; i += LANES) {
    const Vec value = to_share (shares, load (row + i));
    total = total + value;
    store (row + i, value);
  }
  if (whole < n) {
    gfloat lanes[LANES] = { 0 };
    const Vec value = to_share (shares, load_first (row + whole, n - whole));
    store_first (row + whole, n - whole, value);
    store_first (lanes, n - whole, value);
    total = total + load (lanes);
  }
  return total;
}

/* What shares are relative to: the largest score, in whole parts where that is possible. */
static inline gfloat
base_of (gfloat top)
{
#ifdef SL_PARTS
  if (fabsf (top) <= MOST_BASE)
    return (top + WHOLE_PARTS) - WHOLE_PARTS;
#endif
  return top;
}

static inline Vec
row_to_shares (const SlFloatScores *scores, gfloat *row, gfloat top)
{
  Shares shares = { .scale = broadcast (scores->scale), .base = broadcast (top) };
#ifdef SL_PARTS
  if (fabsf (top) <= MOST_BASE) {
    const gfloat least = (top + LEAST_SHARE) / scores->scale;
    shares.least = broadcast (MAX (least, -G_MAXFLOAT));
    shares.above = broadcast (WHOLE_PARTS - top);
    return to_shares (near_share, &shares, row, scores->keys);
  }
#endif
  if (top == -INFINITY)
    shares.base = broadcast (0);
  return to_shares (exact_share, &shares, row, scores->keys);
}

/* Beyond scores that are computed, and exact times another number. */
#define HIGHEST 0x1p126f

/* The largest of the @n scores at @row, times @scale. Where all keys of a query are masked by the
 * least number there is, or some by the largest, that is not finite. Such scores differ by nothing,
 * as their sums with that number are the number. So they become one that is finite. */
static inline gfloat
top_of (gfloat *row, gint32 n, gfloat scale)
{
  const gfloat highest = highest_of (row, n), top = highest * scale;
  if (fabsf (top) < INFINITY || !(fabsf (highest) < INFINITY) || !(HIGHEST * scale < INFINITY))
    return top;
  for (gint32 i = 0; i < n; i++)
    if (row[i] > HIGHEST || (row[i] < -HIGHEST && row[i] > -INFINITY))
      row[i] = copysignf (HIGHEST, row[i]);
  return copysignf (HIGHEST, highest) * scale;
}

/* The largest scores of all rows come first: they are independent, so their latencies overlap. */
void
SL_SIMD (sl_float_attend) (const SlFloatScores *scores)
{
  gfloat *bases = scores->olds;
  for (gint32 r = 0; r < scores->rows; r++) {
    gfloat *row = scores->scores + (gsize) r * scores->stride;
    const gfloat before = scores->first ? -INFINITY : scores->tops[r];
    bases[r] = base_of (MAX (before, top_of (row, scores->keys, scores->scale)));
  }
  for (gint32 r = 0; r < scores->rows; r++) {
    gfloat sums[4];
    const gfloat base = bases[r] > -INFINITY ? bases[r] : 0, old_base = scores->tops[r];
    const Vec total = row_to_shares (scores, scores->scores + (gsize) r * scores->stride, bases[r]);
    store_sums (sums, &total, 1, -INFINITY, INFINITY);
    scores->tops[r] = bases[r];
    scores->olds[r] = scores->first ? 0 : one_power (old_base - base);
    scores->sums[r] = scores->first ? sums[0] : fmaf (scores->sums[r], scores->olds[r], sums[0]);
  }
}

void
SL_SIMD (sl_float_add_scaled) (gfloat *scores, gsize n, gfloat scale, const gfloat *mask,
                               gfloat factor)
{
  const Vec by = broadcast (scale), mask_by = broadcast (factor);
  gsize i = 0;
  for (; i + LANES <= n; i += LANES)
    store (scores + i, fused (load (mask + i), mask_by, load (scores + i) * by));
  if (i < n) {
    const gint32 left = (gint32) (n - i);
    store_first (scores + i, left,
                 fused (load_first (mask + i, left), mask_by, load_first (scores + i, left) * by));
  }
}

void
SL_SIMD (sl_float_blend) (gfloat *out, const gfloat *add, gsize n, gfloat old, gfloat share)
{
  const Vec by = broadcast (share), old_by = broadcast (old);
  gsize i = 0;
  for (; old != 0 && i + LANES <= n; i += LANES)
    store (out + i, fused (load (out + i), old_by, load (add + i)) * by);
  for (; i + LANES <= n; i += LANES)
    store (out + i, load (add + i) * by);
  if (i < n) {
    const gint32 left = (gint32) (n - i);
    const Vec more = load_first (add + i, left);
    store_first (out + i, left,
                 (old != 0 ? fused (load_first (out + i, left), old_by, more) : more) * by);
  }
}
