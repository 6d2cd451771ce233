/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A matrix product with weights most of which are zero: a tile of rows is turned, so that one
 * register has an activation of as many rows as it has lanes, and each weight that is not zero
 * costs one multiply-add a register. No tile of weights is needed, so zeros may be anywhere.
 */
#include "core/backends/float/simd.h"
#include "core/backends/transpose.h"

#define WIDTH (SPARSE_REGISTERS * LANES)
/* Output channels that are turned back at once. */
#define BACK 4

void
SL_SIMD (sl_float_turn) (const gfloat *rows, gint32 n, gint32 depth, gfloat *columns)
{
  const gsize line = (gsize) depth;
  gint32 r = 0;
  for (; r + 4 <= n; r += 4) {
    gint32 k = 0;
    for (; k + 4 <= depth; k += 4)
      sl_turn (rows + (gsize) r * line + k, line * sizeof rows[0], columns + (gsize) k * WIDTH + r,
               WIDTH * sizeof rows[0], 0);
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
  const Vec bias = broadcast (layer->bias[channel]), lo = broadcast (layer->lo),
            hi = broadcast (layer->hi);
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
SL_SIMD (sl_float_sparse) (const SlFloatSparse *layer, gint32 first, gint32 end,
                           const gfloat *columns, gint32 rows, gfloat *c, gsize c_stride)
{
  gfloat out[BACK * WIDTH];
  for (gint32 channel = first; channel < end; channel += BACK) {
    const gint32 n = MIN (BACK, end - channel);
    gint32 r = 0;
    for (gint32 i = 0; i < n; i++)
      multiply (layer, channel + i, columns, out + i * WIDTH);
    for (; n == BACK && r + 4 <= rows; r += 4)
      sl_turn (out + r, WIDTH * sizeof c[0], c + (gsize) r * c_stride + channel,
               c_stride * sizeof c[0], 0);
    for (; r < rows; r++)
      for (gint32 i = 0; i < n; i++)
        c[(gsize) r * c_stride + (gsize) (channel + i)] = out[i * WIDTH + r];
  }
}
