/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A matrix product with weights most of which are zero: a tile of rows is turned, so that one register has an activation of as many rows as
 * it has lanes, and each weight that is not zero costs one multiply-add a register. No tile of weights is needed, so zeros may be anywhere.
 */
#include "core/backends/float/simd.h"

#define WIDTH (SPARSE_REGISTERS * LANES)
/* Output channels that are turned back at once. */
#define BACK 4

typedef gfloat Four __attribute__ ((vector_size (16)));

/* Four floats of each of four lines that lie @from floats apart, as four columns that lie @to floats apart. */
static inline void
turn (const gfloat *in, gsize from, gfloat *out, gsize to)
{
  Four rows[4];
  for (guint i = 0; i < 4; i++)
    memcpy (&rows[i], in + i * from, sizeof rows[i]);
  const Four a = __builtin_shufflevector (rows[0], rows[1], 0, 4, 1, 5), b = __builtin_shufflevector (rows[2], rows[3], 0, 4, 1, 5);
  const Four c = __builtin_shufflevector (rows[0], rows[1], 2, 6, 3, 7), d = __builtin_shufflevector (rows[2], rows[3], 2, 6, 3, 7);
  const Four columns[4] = { __builtin_shufflevector (a, b, 0, 1, 4, 5), __builtin_shufflevector (a, b, 2, 3, 6, 7),
                            __builtin_shufflevector (c, d, 0, 1, 4, 5), __builtin_shufflevector (c, d, 2, 3, 6, 7) };
  for (guint i = 0; i < 4; i++)
    memcpy (out + i * to, &columns[i], sizeof columns[i]);
}

void
SL_SIMD (sl_float_turn) (const gfloat *rows, gint32 n, gint32 depth, gfloat *columns)
{
  const gsize line = (gsize) depth;
  gint32 r = 0;
  for (; r + 4 <= n; r += 4) {
    gint32 k = 0;
    for (; k + 4 <= depth; k += 4)
      turn (rows + (gsize) r * line + k, line, columns + (gsize) k * WIDTH + r, WIDTH);
    for (; k < depth; k++)
      for (gint32 i = r; i < r + 4; i++)
        columns[(gsize) k * WIDTH + (gsize) i] = rows[(gsize) i * line + (gsize) k];
  }
  for (gint32 k = 0; r < WIDTH && k < depth; k++)
    for (gint32 i = r; i < WIDTH; i++)
      columns[(gsize) k * WIDTH + (gsize) i] = i < n ? rows[(gsize) i * line + (gsize) k] : 0;
}

/* Channel @channel of all rows of the tile. */
static inline void
multiply (const SlFloatSparse *layer, gint32 channel, const gfloat *columns, gfloat *out)
{
  Vec sums[SPARSE_REGISTERS];
  const Vec bias = broadcast (layer->bias[channel]), lo = broadcast (layer->lo), hi = broadcast (layer->hi);
  SL_UNROLL
  for (gint i = 0; i < SPARSE_REGISTERS; i++)
    sums[i] = bias;
  for (gint32 at = layer->starts[channel]; at < layer->starts[channel + 1]; at++) {
    const gfloat *column = columns + (gsize) layer->places[at] * WIDTH;
    const Vec weight = broadcast (layer->values[at]);
    SL_UNROLL
    for (gint i = 0; i < SPARSE_REGISTERS; i++)
      sums[i] = fused (weight, load (column + i * LANES), sums[i]);
  }
  SL_UNROLL
  for (gint i = 0; i < SPARSE_REGISTERS; i++)
    store (out + i * LANES, limited (sums[i], lo, hi));
}

void
SL_SIMD (sl_float_sparse) (const SlFloatSparse *layer, gint32 first, gint32 end, const gfloat *columns, gint32 rows, gfloat *c,
                           gsize c_stride)
{
  gfloat out[BACK * WIDTH];
  for (gint32 channel = first; channel < end; channel += BACK) {
    const gint32 n = MIN (BACK, end - channel);
    gint32 r = 0;
    for (gint32 i = 0; i < n; i++)
      multiply (layer, channel + i, columns, out + i * WIDTH);
    for (; n == BACK && r + 4 <= rows; r += 4)
      turn (out + r, WIDTH, c + (gsize) r * c_stride + channel, c_stride);
    for (; r < rows; r++)
      for (gint32 i = 0; i < n; i++)
        c[(gsize) r * c_stride + (gsize) (channel + i)] = out[i * WIDTH + r];
  }
}
