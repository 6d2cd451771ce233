/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Depthwise loops, a register of channels at a time. Bytes of four taps of a channel are brought
 * together by two rounds of unpacking, which leaves channels in an order that packing the sums
 * undoes; weights are stored in it. In 3x3 windows the taps are the rows of a column, so a column
 * is unpacked once for all windows that hold it, and with stride 1 a fourth row serves a second
 * output row: its weights are the same ones, shifted by a byte. With AVX2 and SSE4.1 taps are
 * widened to int16 and paired, and the second output row has weights of its own.
 */
#include "core/backends/int8/simd.h"

#ifdef USES_INT16
#define BLOCK (2 * LANES)
#else
#define BLOCK VEC_BYTES
#endif
/* Registers of sums. */
#define SUMS (BLOCK / LANES)
/* Bytes of weights for four taps. */
#define QUAD_BYTES (4 * VEC_BYTES)

/** Four taps of a block: channels 16 l + 4 v + i of 128-bit lane l are dwords i of q[v]. With
 * int16: channels 8 l + 4 v + i, of the first two taps in q[v], of the others in q[2 + v]. */
typedef struct
{
  Vec q[4];
} Quad;

/** One block of channels of a layer. */
typedef struct
{
  const gint8 *weights;
  const gint32 *bias;
  const gfloat *scale, *rest;
  gint passes;
  Mask mask;
  Vec flip;
} Block;

static inline Block
block_at (const SlInt8Depthwise *layer, gint32 channel)
{
  const gint32 left = layer->channels - channel;
  return (Block){
    .weights = layer->weights + (gsize) (channel / BLOCK) * layer->block_bytes,
    .bias = layer->bias + channel,
    .scale = layer->scale + channel,
    .rest = layer->rest + channel,
    .passes = layer->passes[channel / BLOCK],
    .mask = mask_of (left),
    .flip = set_bytes (layer->flip),
  };
}

#ifdef USES_INT16
static inline __attribute__ ((always_inline)) Quad
interleave (Vec a, Vec b, Vec c, Vec d)
{
  return (Quad){ { zip_low16 (a, b), zip_high16 (a, b), zip_low16 (c, d), zip_high16 (c, d) } };
}

static inline __attribute__ ((always_inline)) Vec
load_block (const Block *block, const guint8 *at)
{
#ifdef SL_INT8_FOR_SSE41
  return _mm_cvtepu8_epi16 (_mm_xor_si128 (_mm_loadl_epi64 ((const __m128i *) at), block->flip));
#else
  return _mm256_cvtepu8_epi16 (
    _mm_xor_si128 (_mm_loadu_si128 ((const __m128i *) at), _mm256_castsi256_si128 (block->flip)));
#endif
}

static inline Vec
set_values (guint8 value)
{
  return V (set1_epi16) (value);
}

static inline __attribute__ ((always_inline)) void
store_half (guint8 *out, gint32 left, __m128i values)
{
  guint8 bytes[16];
  _mm_storeu_si128 ((__m128i *) bytes, values);
  if (left >= BLOCK)
    memcpy (out, bytes, BLOCK);
  else
    memcpy (out, bytes, (gsize) left);
}

/* The sums of one output, or of two, as quantised values. */
static inline __attribute__ ((always_inline)) void
store_values (const Narrow *narrow, gint32 left, const Vec *s, const Vec *t, guint8 *first,
              guint8 *second)
{
  const Vec x[4] = { s[0], s[1], t[0], t[1] };
#ifdef SL_INT8_FOR_SSE41
  const Vec values = to_bytes (narrow, x), other = _mm_unpackhi_epi64 (values, values);
  store_half (first, left, values);
#else
  /* Each 128-bit lane holds eight channels of both. */
  const Vec values = _mm256_permute4x64_epi64 (to_bytes (narrow, x), 0xd8);
  const __m128i other = _mm256_extracti128_si256 (values, 1);
  store_half (first, left, _mm256_castsi256_si128 (values));
#endif
  if (t != s)
    store_half (second, left, other);
}
#else
static inline __attribute__ ((always_inline)) Quad
interleave (Vec a, Vec b, Vec c, Vec d)
{
  const Vec ab0 = zip_low8 (a, b), ab1 = zip_high8 (a, b);
  const Vec cd0 = zip_low8 (c, d), cd1 = zip_high8 (c, d);
  return (Quad){ { zip_low16 (ab0, cd0), zip_high16 (ab0, cd0), zip_low16 (ab1, cd1),
                   zip_high16 (ab1, cd1) } };
}

static inline __attribute__ ((always_inline)) Vec
load_block (const Block *block, const guint8 *at)
{
  return flipped (load_some (block->mask, at), block->flip);
}

static inline Vec
set_values (guint8 value)
{
  return set_bytes (value);
}

static inline __attribute__ ((always_inline)) void
store_values (const Narrow *narrow, Mask mask, const Vec *s, const Vec *t, guint8 *first,
              guint8 *second)
{
  store_some (first, mask, to_bytes (narrow, s));
  if (t != s)
    store_some (second, mask, to_bytes (narrow, t));
}
#endif

void
SL_SIMD (sl_int8_depthwise) (const SlInt8Depthwise *layer, const guint8 *const *taps, guint8 *out)
{
  const Narrow narrow = narrow_of (&layer->output);
  for (gint32 channel = 0; channel < layer->channels; channel += BLOCK) {
    const Block block = block_at (layer, channel);
    const gint8 *weights = block.weights;
    Vec sums[SUMS];
    SL_UNROLL
    for (gint v = 0; v < SUMS; v++)
      sums[v] = load (block.bias + LANES * v);
    for (gint pass = 0; pass < block.passes; pass++)
      for (gint32 i = 0; i < layer->quads; i++, weights += QUAD_BYTES) {
        const guint8 *const *tap = taps + 4 * i;
        const Quad quad =
          interleave (load_block (&block, tap[0] + channel), load_block (&block, tap[1] + channel),
                      load_block (&block, tap[2] + channel), load_block (&block, tap[3] + channel));
        SL_UNROLL
        for (gint v = 0; v < 4; v++)
          sums[v % SUMS] = dot (sums[v % SUMS], quad.q[v], load (weights + VEC_BYTES * v));
      }
    SL_UNROLL
    for (gint v = 0; v < SUMS; v++)
      sums[v] = scaled (sums[v], load_floats (block.scale + LANES * v),
                        load_floats (block.rest + LANES * v));
    store_values (&narrow, block.mask, sums, sums, out + channel, NULL);
  }
}

/** A walk along the columns of a band of rows. */
typedef struct
{
  const SlInt8Rows *rows;
  Block block;
  Narrow narrow;
  Vec pad;
  gint32 channel, channels;
} Walk;

static inline __attribute__ ((always_inline)) Quad
column (const Walk *walk, gint32 x, const gboolean two)
{
  if ((guint32) x >= (guint32) walk->rows->width)
    return (Quad){ { walk->pad, walk->pad, walk->pad, walk->pad } };
  const gsize at = (gsize) x * (gsize) walk->channels + (gsize) walk->channel;
  const Vec r0 = load_block (&walk->block, walk->rows->rows[0] + at),
            r1 = load_block (&walk->block, walk->rows->rows[1] + at);
  const Vec r2 = load_block (&walk->block, walk->rows->rows[2] + at);
  return interleave (r0, r1, r2, two ? load_block (&walk->block, walk->rows->rows[3] + at) : r2);
}

#ifdef USES_INT16
/* Scaled sums of part @v of the window over three columns; its weights begin at @weights. */
static inline __attribute__ ((always_inline)) Vec
window_sum (const Block *block, const gint v, const Quad *a, const Quad *b, const Quad *c,
            const gint8 *weights)
{
  const gint8 *w = weights + VEC_BYTES * v, *last = w + 2 * VEC_BYTES;
  const Vec first =
    dot (dot (load (block->bias + LANES * v), a->q[v], load (w)), a->q[2 + v], load (last));
  const Vec second =
    dot (dot (first, b->q[v], load (w + QUAD_BYTES)), b->q[2 + v], load (last + QUAD_BYTES));
  const Vec sum = dot (dot (second, c->q[v], load (w + 2 * QUAD_BYTES)), c->q[2 + v],
                       load (last + 2 * QUAD_BYTES));
  return scaled (sum, load_floats (block->scale + LANES * v),
                 load_floats (block->rest + LANES * v));
}
#endif

#ifdef ALL_SUMS
/* The sums of all registers in turn, so that none waits for the one before: of the window, and with
 * @two of the next output row. */
static inline __attribute__ ((always_inline)) void
window_sums (const Block *block, const Quad *const columns[3], Vec *s, Vec *t, const gboolean two)
{
  const gint8 *weights = block->weights;
  gint pass = block->passes;
  SL_UNROLL
  for (gint v = 0; v < SUMS; v++)
    s[v] = t[v] = load (block->bias + LANES * v);
  do {
    SL_UNROLL
    for (gint column = 0; column < 3; column++) {
      Vec w[SUMS];
      SL_UNROLL
      for (gint v = 0; v < SUMS; v++) {
        w[v] = load (weights + column * QUAD_BYTES + VEC_BYTES * v);
        s[v] = dot (s[v], columns[column]->q[v], w[v]);
      }
      SL_UNROLL
      for (gint v = 0; two && v < SUMS; v++)
        t[v] = dot (t[v], columns[column]->q[v], next_row (w[v]));
    }
    weights += 3 * QUAD_BYTES;
  } while (--pass > 0);
}
#endif

/* The quantised values of the window over columns @a, @b, @c, and with @two those of the next
 * output row. */
static inline __attribute__ ((always_inline)) void
window (const Block *block, const Narrow *narrow, const Quad *a, const Quad *b, const Quad *c,
        guint8 *first, guint8 *second, const gboolean two)
{
  Vec x[SUMS], y[SUMS];
#ifdef ALL_SUMS
  Vec s[SUMS], t[SUMS];
  window_sums (block, (const Quad *const[]){ a, b, c }, s, t, two);
#endif
  SL_UNROLL
  for (gint v = 0; v < SUMS; v++) {
#if defined(ALL_SUMS)
    const VecF scale = load_floats (block->scale + LANES * v),
               rest = load_floats (block->rest + LANES * v);
    x[v] = scaled (s[v], scale, rest);
    if (two)
      y[v] = scaled (t[v], scale, rest);
#elif defined(USES_INT16)
    x[v] = window_sum (block, v, a, b, c, block->weights);
    if (two)
      y[v] = window_sum (block, v, a, b, c, block->weights + 3 * QUAD_BYTES);
#else
    const gint8 *weights = block->weights + VEC_BYTES * v;
    Vec s = load (block->bias + LANES * v), t = s;
    for (gint pass = block->passes; pass > 0; pass--, weights += 3 * QUAD_BYTES) {
      const Vec w0 = load (weights), w1 = load (weights + QUAD_BYTES);
      const Vec w2 = load (weights + 2 * QUAD_BYTES);
      s = dot (dot (dot (s, a->q[v], w0), b->q[v], w1), c->q[v], w2);
      if (two) {
        t = dot (t, a->q[v], next_row (w0));
        t = dot (t, b->q[v], next_row (w1));
        t = dot (t, c->q[v], next_row (w2));
      }
    }
    const VecF scale = load_floats (block->scale + LANES * v),
               rest = load_floats (block->rest + LANES * v);
    x[v] = scaled (s, scale, rest);
    if (two)
      y[v] = scaled (t, scale, rest);
#endif
  }
  store_values (narrow, block->mask, x, two ? y : x, first, second);
}

/* The outputs of the window at @x. */
static inline __attribute__ ((always_inline)) void
step (const Walk *walk, const Quad *a, const Quad *b, const Quad *c, gint32 x, const gboolean two)
{
  const gsize at = (gsize) x * (gsize) walk->channels + (gsize) walk->channel;
  window (&walk->block, &walk->narrow, a, b, c, walk->rows->out[0] + at, walk->rows->out[two] + at,
          two);
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
    const Quad b = column (walk, 2 * x + 1 - left, FALSE),
               c = column (walk, 2 * x + 2 - left, FALSE);
    step (walk, &a, &b, &c, x, FALSE);
    a = c;
  }
}

void
SL_SIMD (sl_int8_depthwise_rows) (const SlInt8Depthwise *layer, const SlInt8Rows *rows)
{
  for (gint32 channel = 0; channel < layer->channels; channel += BLOCK) {
    const Walk walk = {
      .rows = rows,
      .block = block_at (layer, channel),
      .narrow = narrow_of (&layer->output),
      .pad = set_values (layer->pad ^ layer->flip),
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
  const Vec r0 = load_block (block, flat->columns[0][column] + at),
            r1 = load_block (block, flat->columns[1][column] + at);
  const Vec r2 = load_block (block, flat->columns[2][column] + at);
  return interleave (r0, r1, r2, two ? load_block (block, flat->columns[3][column] + at) : r2);
}

static inline __attribute__ ((always_inline)) void
run_flat (const SlInt8Depthwise *layer, const SlInt8Flat *flat, const gboolean two)
{
  const Narrow narrow = narrow_of (&layer->output);
  gint32 channel = 0;
  for (gint32 at = 0; at < flat->bytes; at += BLOCK) {
    Block block = block_at (layer, channel);
    if (flat->bytes - at < BLOCK)
      block.mask = mask_of (flat->bytes - at);
    const Quad a = flat_column (&block, flat, 0, at, two),
               b = flat_column (&block, flat, 1, at, two);
    const Quad c = flat_column (&block, flat, 2, at, two);
    window (&block, &narrow, &a, &b, &c, flat->out[0] + at, flat->out[two] + at, two);
    channel = channel + BLOCK < layer->channels ? channel + BLOCK : 0;
  }
}

void
SL_SIMD (sl_int8_depthwise_flat) (const SlInt8Depthwise *layer, const SlInt8Flat *flat)
{
  if (flat->out[1] != NULL)
    run_flat (layer, flat, TRUE);
  else
    run_flat (layer, flat, FALSE);
}
