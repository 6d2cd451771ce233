/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A matrix product with weights most of which are zero: a tile of rows is turned, so that one
 * register has four activations of as many rows as it has lanes. Four weights of an output channel,
 * unless all are zero, cost one step a register.
 */
#include "core/backends/int8/simd.h"

#ifdef SPARSE_REGISTERS
#include "core/backends/transpose.h"

/* Bytes of a column: of each row four. */
#define COLUMN (SPARSE_REGISTERS * VEC_BYTES)
#define ROWS (SPARSE_REGISTERS * LANES)
/* Output channels of a column, and columns of them that are turned back at once. */
#define QUAD 4
#define BACK 4

void
SL_SIMD (sl_int8_turn) (const guint8 *rows, gint32 n, gint32 depth, guint8 flip, guint8 *columns)
{
  const gsize line = (gsize) depth;
  const guint32 flips = flip * 0x01010101u;
  gint32 r = 0;
  for (; r + 4 <= n; r += 4) {
    gint32 k = 0;
    for (; k + 16 <= depth; k += 16)
      sl_turn (rows + (gsize) r * line + k, line, columns + (gsize) (k / QUAD) * COLUMN + r * QUAD,
               COLUMN, flips);
    for (; k < depth; k += QUAD)
      for (gint32 i = r; i < r + 4; i++)
        for (gint32 b = 0; b < QUAD; b++)
          columns[(gsize) (k / QUAD) * COLUMN + (gsize) (i * QUAD + b)] =
            rows[(gsize) i * line + (gsize) (k + b)] ^ flip;
  }
  for (; r < ROWS; r++)
    for (gint32 k = 0; k < depth; k++)
      columns[(gsize) (k / QUAD) * COLUMN + (gsize) (r * QUAD + k % QUAD)] =
        r < n ? rows[(gsize) r * line + (gsize) k] ^ flip : 0;
}

/* Channel @channel of all rows of the tile, in the order of to_bytes(). */
static inline Vec
multiply (const SlInt8Sparse *layer, const Narrow *narrow, gint32 channel, const guint8 *columns)
{
  Vec sums[SPARSE_REGISTERS];
  const Vec bias = set_dwords (layer->bias[channel]);
  const VecF scale = V (set1_ps) (layer->scale[channel]), rest = V (set1_ps) (layer->rest[channel]);
  SL_UNROLL
  for (gint i = 0; i < SPARSE_REGISTERS; i++)
    sums[i] = bias;
  for (gint32 at = layer->starts[channel]; at < layer->starts[channel + 1]; at++) {
    const guint8 *column = columns + (gsize) layer->places[at] * COLUMN;
    const Vec weights = broadcast ((const guint8 *) layer->weights + (gsize) at * QUAD);
    SL_UNROLL
    for (gint i = 0; i < SPARSE_REGISTERS; i++)
      sums[i] = dot (sums[i], load (column + i * VEC_BYTES), weights);
  }
  SL_UNROLL
  for (gint i = 0; i < SPARSE_REGISTERS; i++)
    sums[i] = scaled (sums[i], scale, rest);
  return to_bytes (narrow, sums);
}

/* @n channels from @channel on, up to four: of each row four bytes that follow each other. */
static inline void
multiply_quad (const SlInt8Sparse *layer, const Narrow *narrow, gint32 channel, gint32 n,
               const guint8 *columns, guint8 *out)
{
  Vec bytes[QUAD];
  for (gint32 i = 0; i < QUAD; i++)
    bytes[i] = i < n ? multiply (layer, narrow, channel + i, columns) : bytes[0];
  const Vec a = zip_low8 (bytes[0], bytes[1]), b = zip_high8 (bytes[0], bytes[1]);
  const Vec c = zip_low8 (bytes[2], bytes[3]), d = zip_high8 (bytes[2], bytes[3]);
  const Vec quads[SPARSE_REGISTERS] = { zip_low16 (a, c), zip_high16 (a, c), zip_low16 (b, d),
                                        zip_high16 (b, d) };
  SL_UNROLL
  for (gint i = 0; i < SPARSE_REGISTERS; i++)
    V_SI (storeu) ((Vec *) (out + i * VEC_BYTES), quads[i]);
}

void
SL_SIMD (sl_int8_sparse) (const SlInt8Sparse *layer, gint32 first, gint32 end,
                          const guint8 *columns, gint32 rows, guint8 *c, gsize c_stride)
{
  guint8 out[BACK * COLUMN];
  const Narrow narrow = narrow_of (&layer->output);
  for (gint32 channel = first; channel < end; channel += BACK * QUAD) {
    const gint32 n = MIN (BACK * QUAD, end - channel);
    gint32 r = 0;
    for (gint32 i = 0; i < n; i += QUAD)
      multiply_quad (layer, &narrow, channel + i, n - i, columns, out + i / QUAD * COLUMN);
    for (; n == BACK * QUAD && r + 4 <= rows; r += 4)
      sl_turn (out + r * QUAD, COLUMN, c + (gsize) r * c_stride + channel, c_stride, 0);
    for (; r < rows; r++)
      for (gint32 i = 0; i < n; i++)
        c[(gsize) r * c_stride + (gsize) (channel + i)] =
          out[i / QUAD * COLUMN + r * QUAD + i % QUAD];
  }
}
#endif
