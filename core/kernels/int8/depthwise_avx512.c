/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Depthwise loops for AVX-512 VNNI, 64 channels at a time. Bytes of four taps of a channel are brought together by two
 * rounds of unpacking, which leaves channels in an order that packing the sums undoes; weights are stored in it.
 * In 3x3 windows the taps are the rows of a column, so a column is unpacked once for all windows that hold it, and
 * with stride 1 a fourth row serves a second output row: its weights are the same ones, shifted by a byte.
 */
#include <immintrin.h>

#include "core/kernels/int8/avx512.h"

#define BLOCK 64

/** Four taps of 64 channels: channels 16 l + 4 v + i of lane l are dwords i of q[v]. */
typedef struct
{
  __m512i q[4];
} Quad;

/** One block of channels of a layer. */
typedef struct
{
  const gint8 *weights;
  const gint32 *bias;
  const gfloat *scale;
  gint passes;
  __mmask64 mask;
  __m512i flip;
} Block;

static inline Block
block_at (const SlInt8Depthwise *layer, gint32 channel)
{
  const gint32 left = layer->channels - channel;
  return (Block){
    .weights = layer->weights + (gsize) (channel / BLOCK) * layer->block_bytes,
    .bias = layer->bias + channel,
    .scale = layer->scale + channel,
    .passes = layer->passes[channel / BLOCK],
    .mask = left >= BLOCK ? ~(__mmask64) 0 : ((__mmask64) 1 << left) - 1,
    .flip = _mm512_set1_epi8 ((char) layer->flip),
  };
}

static inline __attribute__ ((always_inline)) Quad
interleave (__m512i a, __m512i b, __m512i c, __m512i d)
{
  const __m512i ab0 = _mm512_unpacklo_epi8 (a, b), ab1 = _mm512_unpackhi_epi8 (a, b);
  const __m512i cd0 = _mm512_unpacklo_epi8 (c, d), cd1 = _mm512_unpackhi_epi8 (c, d);
  return (Quad){ { _mm512_unpacklo_epi16 (ab0, cd0), _mm512_unpackhi_epi16 (ab0, cd0), _mm512_unpacklo_epi16 (ab1, cd1),
                   _mm512_unpackhi_epi16 (ab1, cd1) } };
}

static inline __attribute__ ((always_inline)) __m512i
load (const Block *block, const guint8 *at)
{
  return _mm512_xor_si512 (_mm512_maskz_loadu_epi8 (block->mask, at), block->flip);
}

void
sl_int8_depthwise_avx512 (const SlInt8Depthwise *layer, const guint8 *const *taps, guint8 *out)
{
  const SlInt8Narrow narrow = sl_int8_narrow (&layer->output);
  for (gint32 channel = 0; channel < layer->channels; channel += BLOCK) {
    const Block block = block_at (layer, channel);
    const gint8 *weights = block.weights;
    __m512i sums[4];
    SL_UNROLL
    for (gint v = 0; v < 4; v++)
      sums[v] = _mm512_loadu_si512 (block.bias + 16 * v);
    for (gint pass = 0; pass < block.passes; pass++)
      for (gint32 i = 0; i < layer->quads; i++, weights += 4 * BLOCK) {
        const guint8 *const *tap = taps + 4 * i;
        const Quad quad = interleave (load (&block, tap[0] + channel), load (&block, tap[1] + channel), load (&block, tap[2] + channel),
                                      load (&block, tap[3] + channel));
        SL_UNROLL
        for (gint v = 0; v < 4; v++)
          sums[v] = _mm512_dpbusd_epi32 (sums[v], quad.q[v], _mm512_load_si512 (weights + 64 * v));
      }
    SL_UNROLL
    for (gint v = 0; v < 4; v++)
      sums[v] = sl_int8_scale (sums[v], _mm512_loadu_ps (block.scale + 16 * v));
    _mm512_mask_storeu_epi8 (out + channel, block.mask, sl_int8_to_codes (&narrow, sums));
  }
}

/** A walk along the columns of a band of rows. */
typedef struct
{
  const SlInt8Rows *rows;
  Block block;
  SlInt8Narrow narrow;
  __m512i pad;
  gint32 channel, channels;
} Walk;

static inline __attribute__ ((always_inline)) Quad
column (const Walk *walk, gint32 x, const gboolean two)
{
  if ((guint32) x >= (guint32) walk->rows->width)
    return (Quad){ { walk->pad, walk->pad, walk->pad, walk->pad } };
  const gsize at = (gsize) x * (gsize) walk->channels + (gsize) walk->channel;
  const __m512i r0 = load (&walk->block, walk->rows->rows[0] + at), r1 = load (&walk->block, walk->rows->rows[1] + at);
  const __m512i r2 = load (&walk->block, walk->rows->rows[2] + at);
  return interleave (r0, r1, r2, two ? load (&walk->block, walk->rows->rows[3] + at) : r2);
}

/* The codes of the window over columns @a, @b, @c, and with @two those of the next output row. */
static inline __attribute__ ((always_inline)) void
window (const Block *block, const SlInt8Narrow *narrow, const Quad *a, const Quad *b, const Quad *c, guint8 *first, guint8 *second,
        const gboolean two)
{
  __m512i x[4], y[4];
  SL_UNROLL
  for (gint v = 0; v < 4; v++) {
    const gint8 *weights = block->weights + 64 * v;
    __m512i s = _mm512_loadu_si512 (block->bias + 16 * v), t = s;
    for (gint pass = block->passes; pass > 0; pass--, weights += 3 * 4 * BLOCK) {
      const __m512i w0 = _mm512_load_si512 (weights), w1 = _mm512_load_si512 (weights + 4 * BLOCK);
      const __m512i w2 = _mm512_load_si512 (weights + 8 * BLOCK);
      s = _mm512_dpbusd_epi32 (_mm512_dpbusd_epi32 (_mm512_dpbusd_epi32 (s, a->q[v], w0), b->q[v], w1), c->q[v], w2);
      if (two) {
        t = _mm512_dpbusd_epi32 (t, a->q[v], _mm512_slli_epi32 (w0, 8));
        t = _mm512_dpbusd_epi32 (t, b->q[v], _mm512_slli_epi32 (w1, 8));
        t = _mm512_dpbusd_epi32 (t, c->q[v], _mm512_slli_epi32 (w2, 8));
      }
    }
    const __m512 scale = _mm512_loadu_ps (block->scale + 16 * v);
    x[v] = sl_int8_scale (s, scale);
    if (two)
      y[v] = sl_int8_scale (t, scale);
  }
  _mm512_mask_storeu_epi8 (first, block->mask, sl_int8_to_codes (narrow, x));
  if (two)
    _mm512_mask_storeu_epi8 (second, block->mask, sl_int8_to_codes (narrow, y));
}

/* The outputs of the window at @x. */
static inline __attribute__ ((always_inline)) void
step (const Walk *walk, const Quad *a, const Quad *b, const Quad *c, gint32 x, const gboolean two)
{
  const gsize at = (gsize) x * (gsize) walk->channels + (gsize) walk->channel;
  window (&walk->block, &walk->narrow, a, b, c, walk->rows->out[0] + at, walk->rows->out[two] + at, two);
}

static inline __attribute__ ((always_inline)) void
walk_stride1 (const Walk *walk, const gboolean two)
{
  const gint32 left = walk->rows->left, n = walk->rows->out_width;
  Quad a = column (walk, -left, two), b = column (walk, 1 - left, two), c;
  gint32 x = 0;
  for (; x + 3 <= n; x += 3) {
    c = column (walk, x + 2 - left, two);
    step (walk, &a, &b, &c, x, two);
    a = column (walk, x + 3 - left, two);
    step (walk, &b, &c, &a, x + 1, two);
    b = column (walk, x + 4 - left, two);
    step (walk, &c, &a, &b, x + 2, two);
  }
  for (; x < n; x++) {
    c = column (walk, x + 2 - left, two);
    step (walk, &a, &b, &c, x, two);
    a = b;
    b = c;
  }
}

static inline __attribute__ ((always_inline)) void
walk_stride2 (const Walk *walk)
{
  const gint32 left = walk->rows->left;
  Quad a = column (walk, -left, FALSE);
  for (gint32 x = 0; x < walk->rows->out_width; x++) {
    const Quad b = column (walk, 2 * x + 1 - left, FALSE), c = column (walk, 2 * x + 2 - left, FALSE);
    step (walk, &a, &b, &c, x, FALSE);
    a = c;
  }
}

void
sl_int8_depthwise_rows_avx512 (const SlInt8Depthwise *layer, const SlInt8Rows *rows)
{
  for (gint32 channel = 0; channel < layer->channels; channel += BLOCK) {
    const Walk walk = {
      .rows = rows,
      .block = block_at (layer, channel),
      .narrow = sl_int8_narrow (&layer->output),
      .pad = _mm512_set1_epi8 ((char) (layer->pad ^ layer->flip)),
      .channel = channel,
      .channels = layer->channels,
    };
    if (rows->stride == 2)
      walk_stride2 (&walk);
    else if (rows->out[1] != NULL)
      walk_stride1 (&walk, TRUE);
    else
      walk_stride1 (&walk, FALSE);
  }
}

static inline __attribute__ ((always_inline)) Quad
flat_column (const Block *block, const SlInt8Flat *flat, gint column, gint32 at, const gboolean two)
{
  const __m512i r0 = load (block, flat->columns[0][column] + at), r1 = load (block, flat->columns[1][column] + at);
  const __m512i r2 = load (block, flat->columns[2][column] + at);
  return interleave (r0, r1, r2, two ? load (block, flat->columns[3][column] + at) : r2);
}

static inline __attribute__ ((always_inline)) void
run_flat (const SlInt8Depthwise *layer, const SlInt8Flat *flat, const gboolean two)
{
  const SlInt8Narrow narrow = sl_int8_narrow (&layer->output);
  gint32 channel = 0;
  for (gint32 at = 0; at < flat->bytes; at += BLOCK) {
    Block block = block_at (layer, channel);
    if (flat->bytes - at < BLOCK)
      block.mask = ((__mmask64) 1 << (flat->bytes - at)) - 1;
    const Quad a = flat_column (&block, flat, 0, at, two), b = flat_column (&block, flat, 1, at, two);
    const Quad c = flat_column (&block, flat, 2, at, two);
    window (&block, &narrow, &a, &b, &c, flat->out[0] + at, flat->out[two] + at, two);
    channel = channel + BLOCK < layer->channels ? channel + BLOCK : 0;
  }
}

void
sl_int8_depthwise_flat_avx512 (const SlInt8Depthwise *layer, const SlInt8Flat *flat)
{
  if (flat->out[1] != NULL)
    run_flat (layer, flat, TRUE);
  else
    run_flat (layer, flat, FALSE);
}
