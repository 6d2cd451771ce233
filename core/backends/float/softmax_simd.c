/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Softmax of rows. Long rows lie along registers. Of short ones each lane has its own: a block of
 * them is turned into columns, so that neither the largest value nor the sum is looked for across a
 * register.
 */
#include <math.h>

#include "core/backends/float/decay.h"

/* Registers beside each other, which hide the latency of an exponential. */
#define TOGETHER (LANES > 4 ? 4 : 2)
#define BLOCK (TOGETHER * LANES)
/* Longer rows lie along registers. */
#define SHORT 32

/* What decay() is at the least, and a little more: 0 is better, which costs no time where it is
 * multiplied. */
#define NOTHING 1.3e-38f

/* e^(@beta (@x - @highest)) */
static inline Vec
risen (Vec x, Vec highest, Vec beta)
{
  return larger (broadcast (0), decay ((highest - x) * beta) - broadcast (NOTHING));
}

/* The largest, or the sum, of the first @n lanes of @values. */
static inline gfloat
across (Vec values, gint32 n, const gboolean sum)
{
  gfloat lanes[LANES], result;
  store (lanes, values);
  result = lanes[0];
  for (gint32 i = 1; i < n; i++)
    result = sum ? result + lanes[i] : MAX (result, lanes[i]);
  return result;
}

static void
long_row (gfloat beta, const gfloat *in, gfloat *out, gsize n)
{
  const gint32 left = (gint32) (n % LANES);
  const gsize whole = n - (gsize) left;
  gfloat highest = -INFINITY, sum = 0;
  if (whole > 0) {
    Vec most = load (in);
    for (gsize i = LANES; i < whole; i += LANES)
      most = larger (load (in + i), most);
    highest = across (most, LANES, FALSE);
  }
  for (gsize i = whole; i < n; i++)
    highest = MAX (highest, in[i]);
  const Vec top = broadcast (highest), factor = broadcast (beta);
  Vec total = broadcast (0);
  for (gsize i = 0; i < whole; i += LANES) {
    const Vec value = risen (load (in + i), top, factor);
    total = total + value;
    store (out + i, value);
  }
  if (left > 0) {
    const Vec value = risen (load_first (in + whole, left), top, factor);
    store_first (out + whole, left, value);
    sum = across (value, left, TRUE);
  }
  const Vec part = reciprocal_of (broadcast (sum + across (total, LANES, TRUE)));
  for (gsize i = 0; i < whole; i += LANES)
    store (out + i, load (out + i) * part);
  if (left > 0)
    store_first (out + whole, left, load_first (out + whole, left) * part);
}

/* BLOCK rows of @n values as columns, in place. */
static __attribute__ ((noinline)) void
softmax_columns (gfloat beta, gfloat *columns, gsize n)
{
  const Vec factor = broadcast (beta);
  Vec most[TOGETHER], total[TOGETHER];
  SL_UNROLL
  for (gint t = 0; t < TOGETHER; t++) {
    most[t] = load (columns + t * LANES);
    total[t] = broadcast (0);
  }
  for (gsize k = 1; k < n; k++)
    SL_UNROLL
  for (gint t = 0; t < TOGETHER; t++)
    most[t] = larger (load (columns + k * BLOCK + t * LANES), most[t]);
  for (gsize k = 0; k < n; k++)
    SL_UNROLL
  for (gint t = 0; t < TOGETHER; t++) {
    const Vec value = risen (load (columns + k * BLOCK + t * LANES), most[t], factor);
    total[t] = total[t] + value;
    store (columns + k * BLOCK + t * LANES, value);
  }
  SL_UNROLL
  for (gint t = 0; t < TOGETHER; t++)
    total[t] = reciprocal_of (total[t]);
  for (gsize k = 0; k < n; k++)
    SL_UNROLL
  for (gint t = 0; t < TOGETHER; t++)
    store (columns + k * BLOCK + t * LANES, load (columns + k * BLOCK + t * LANES) * total[t]);
}

static inline __attribute__ ((always_inline)) void
short_rows (gfloat beta, const gfloat *in, gfloat *out, const gsize n, gsize rows)
{
  gfloat columns[SHORT * BLOCK] __attribute__ ((aligned (64)));
  for (gsize r = 0; r < rows; r++)
    for (gsize k = 0; k < n; k++)
      columns[k * BLOCK + r] = in[r * n + k];
  for (gsize r = rows; r < BLOCK; r++)
    for (gsize k = 0; k < n; k++)
      columns[k * BLOCK + r] = 0;
  softmax_columns (beta, columns, n);
  for (gsize r = 0; r < rows; r++)
    for (gsize k = 0; k < n; k++)
      out[r * n + k] = columns[k * BLOCK + r];
}

void
SL_SIMD (sl_float_softmax) (gfloat beta, const gfloat *in, gfloat *out, gsize n, gsize rows)
{
  for (; n > SHORT && rows > 0; rows--, in += n, out += n)
    long_row (beta, in, out, n);
  while (rows > 0) {
    const gsize block = MIN (rows, BLOCK);
    if (n == 2)
      short_rows (beta, in, out, 2, block);
    else
      short_rows (beta, in, out, n, block);
    in += block * n;
    out += block * n;
    rows -= block;
  }
}
