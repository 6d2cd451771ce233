/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows by the root of their mean square: three passes over a row, which the first cache holds. */
#include <math.h>

#include "core/backends/float/simd.h"

/* Sums beside each other, which hide the latency of an addition. */
#define TOGETHER 4

/* The first @n lanes, the others 0. */
static inline Vec
first_lanes (Vec values, gint32 n)
{
  gfloat lanes[LANES] = { 0 };
  store_first (lanes, n, values);
  return load (lanes);
}

/* @sum and @value, or its square. */
static inline __attribute__ ((always_inline)) Vec
plus (Vec sum, Vec value, const gboolean squares)
{
  if (squares)
    return fused (value, value, sum);
  return sum + value;
}

/* The sum of @n values less @mean, or of their squares. */
static inline __attribute__ ((always_inline)) gfloat
sum_of (const gfloat *x, gsize n, gfloat mean, const gboolean squares)
{
  const Vec less = broadcast (mean);
  Vec sums[TOGETHER];
  gfloat total[4];
  gsize i = 0;
  SL_UNROLL
  for (gint t = 0; t < TOGETHER; t++)
    sums[t] = broadcast (0);
  for (; i + TOGETHER * LANES <= n; i += TOGETHER * LANES)
    SL_UNROLL
  for (gint t = 0; t < TOGETHER; t++)
    sums[t] = plus (sums[t], load (x + i + t * LANES) - less, squares);
  for (; i + LANES <= n; i += LANES)
    sums[0] = plus (sums[0], load (x + i) - less, squares);
  if (i < n) {
    const gint32 left = (gint32) (n - i);
    sums[0] = plus (sums[0], first_lanes (load_first (x + i, left) - less, left), squares);
  }
  const Vec all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  store_sums (total, &all, 1, -INFINITY, INFINITY);
  return total[0];
}

static inline __attribute__ ((always_inline)) Vec
shifted (Vec x, Vec mean, Vec by, Vec scale, Vec shift)
{
  return fused ((x - mean) * by, scale, shift);
}

void
SL_SIMD (sl_float_normalize) (const SlFloatNorm *norm, const gfloat *in, gfloat *out, gsize rows)
{
  const gsize n = norm->n;
  for (gsize r = 0; r < rows; r++, in += n, out += n) {
    const gfloat mean = norm->centered ? sum_of (in, n, 0, FALSE) / (gfloat) n : 0;
    const gfloat square = sum_of (in, n, mean, TRUE) / (gfloat) n;
    const Vec less = broadcast (mean), by = broadcast (1 / sqrtf (square + norm->epsilon));
    gsize i = 0;
    for (; i + LANES <= n; i += LANES)
      store (out + i,
             shifted (load (in + i), less, by, load (norm->scale + i), load (norm->shift + i)));
    if (i < n) {
      const gint32 left = (gint32) (n - i);
      store_first (out + i, left,
                   shifted (load_first (in + i, left), less, by, load (norm->scale + i),
                            load (norm->shift + i)));
    }
  }
}
