/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Depthwise windows: a register of channels of up to SL_FLOAT_MAX_PIXELS output pixels at a time,
 * whose sums stay in registers. Where filter width and stride are known to the compiler, an input
 * pixel is loaded once for all windows that cover it, of two rows if they are of stride 1.
 */
#include "core/backends/float/simd.h"

/* Pixels of each of two rows: their sums and a row of both windows' weights are registers. */
#define PAIR_PIXELS (MAX_ROWS > 6 ? SL_FLOAT_MAX_PIXELS : SL_FLOAT_MAX_PIXELS / 2)

/* What a pixel's address, of floats or binary16, points to. */
static inline const Real *
pixel (const gfloat *at)
{
  return (const Real *) (gconstpointer) at;
}

/* Any window. */
static inline __attribute__ ((always_inline)) void
add_row (const SlFloatDepthwise *layer, const gfloat *const *columns, const Real *weights,
         gint32 channel, Vec *sums, const gint pixels)
{
  for (gint32 x = 0; x < layer->filter_w; x++) {
    const Vec w = load (weights + x * LANES);
    SL_UNROLL
    for (gint i = 0; i < pixels; i++)
      sums[i] = fused (load (pixel (columns[i * layer->stride + x * layer->dilation]) + channel), w,
                       sums[i]);
  }
}

/* A window of @width without dilation. */
static inline __attribute__ ((always_inline)) void
add_known_row (const gfloat *const *columns, const Real *weights, gint32 channel, Vec *sums,
               const gint pixels, const gint width, const gint stride)
{
  Vec w[5];
  SL_UNROLL
  for (gint x = 0; x < width; x++)
    w[x] = load (weights + x * LANES);
  SL_UNROLL
  for (gint column = 0; column < (pixels - 1) * stride + width; column++) {
    const Vec values = load (pixel (columns[column]) + channel);
    SL_UNROLL
    for (gint x = column % stride; x < width; x += stride)
      if (x <= column && (column - x) / stride < pixels)
        sums[(column - x) / stride] = fused (values, w[x], sums[(column - x) / stride]);
  }
}

/* @width 0: any window. */
static inline __attribute__ ((always_inline)) void
run_pixels (const SlFloatDepthwise *layer, const SlFloatStrip *strip, gint32 first, gint32 channel,
            Real *out, const gint pixels, const gint width, const gint stride)
{
  Vec sums[SL_FLOAT_MAX_PIXELS];
  const gint32 taps = layer->filter_h * layer->filter_w;
  const Real *weights = (const Real *) layer->weights + (gsize) channel * (gsize) taps;
  const gfloat *const *columns = strip->pixels + first * layer->stride;
  const Vec bias = load ((const Real *) layer->bias + channel), lo = broadcast (layer->lo),
            hi = broadcast (layer->hi);
  SL_UNROLL
  for (gint i = 0; i < pixels; i++)
    sums[i] = bias;
  for (gint32 y = 0; y < layer->filter_h;
       y++, columns += strip->columns, weights += layer->filter_w * LANES) {
    if (width > 0)
      add_known_row (columns, weights, channel, sums, pixels, width, stride);
    else
      add_row (layer, columns, weights, channel, sums, pixels);
  }
  out += (gsize) first * strip->stride + (gsize) channel;
  SL_UNROLL
  for (gint i = 0; i < pixels; i++)
    store_some (out + (gsize) i * strip->stride, layer->channels - channel,
                limited (sums[i], lo, hi));
}

typedef void (*PixelsFunction) (const SlFloatDepthwise *layer, const SlFloatStrip *strip,
                                gint32 first, gint32 channel, Real *out);

#define DEFINE(pixels, width, stride)                                                     \
  static void run_##pixels##_##width##_##stride (const SlFloatDepthwise *layer,           \
                                                 const SlFloatStrip *strip, gint32 first, \
                                                 gint32 channel, Real *out)               \
  {                                                                                       \
    run_pixels (layer, strip, first, channel, out, pixels, width, stride);                \
  }
#define DEFINE_PIXELS(pixels) \
  DEFINE (pixels, 0, 0)       \
  DEFINE (pixels, 3, 1) DEFINE (pixels, 3, 2) DEFINE (pixels, 5, 1) DEFINE (pixels, 5, 2)
#define PIXELS(pixels)                                                              \
  {                                                                                 \
    run_##pixels##_0_0, run_##pixels##_3_1, run_##pixels##_3_2, run_##pixels##_5_1, \
      run_##pixels##_5_2                                                            \
  }
DEFINE_PIXELS (1)
DEFINE_PIXELS (2)
DEFINE_PIXELS (3)
DEFINE_PIXELS (4)
DEFINE_PIXELS (5)
DEFINE_PIXELS (6)
DEFINE_PIXELS (7)
DEFINE_PIXELS (8)

/* By pixels less one; then any window, and those of known width and stride. */
static const PixelsFunction functions[SL_FLOAT_MAX_PIXELS][5] = {
  PIXELS (1), PIXELS (2), PIXELS (3), PIXELS (4), PIXELS (5), PIXELS (6), PIXELS (7), PIXELS (8),
};

/* A row of the input, and the rows of weights that the windows of the upper and of the lower row of
 * the output have for it, NULL = none. */
static inline __attribute__ ((always_inline)) void
add_shared_row (const gfloat *const *columns, const Real *upper, const Real *lower, gint32 channel,
                Vec *sums, const gint pixels, const gint width)
{
  Vec w[2][5];
  SL_UNROLL
  for (gint x = 0; x < width; x++) {
    if (upper != NULL)
      w[0][x] = load (upper + x * LANES);
    if (lower != NULL)
      w[1][x] = load (lower + x * LANES);
  }
  SL_UNROLL
  for (gint column = 0; column < pixels - 1 + width; column++) {
    const Vec values = load (pixel (columns[column]) + channel);
    SL_UNROLL
    for (gint x = 0; x < width; x++) {
      const gint i = column - x;
      if (i >= 0 && i < pixels && upper != NULL)
        sums[i] = fused (values, w[0][x], sums[i]);
      if (i >= 0 && i < pixels && lower != NULL)
        sums[pixels + i] = fused (values, w[1][x], sums[pixels + i]);
    }
  }
}

static inline __attribute__ ((always_inline)) void
run_pair (const SlFloatDepthwise *layer, const SlFloatStrip *strip, gint32 first, gint32 channel,
          Real *const out[2], const gint pixels, const gint width)
{
  Vec sums[2 * SL_FLOAT_MAX_PIXELS];
  const gint row = width * LANES;
  const Real *weights = (const Real *) layer->weights + (gsize) channel * (gsize) (width * width);
  const gfloat *const *columns = strip->pixels + first;
  const Vec bias = load ((const Real *) layer->bias + channel), lo = broadcast (layer->lo),
            hi = broadcast (layer->hi);
  const gsize at = (gsize) first * strip->stride + (gsize) channel;
  SL_UNROLL
  for (gint i = 0; i < 2 * pixels; i++)
    sums[i] = bias;
  add_shared_row (columns, weights, NULL, channel, sums, pixels, width);
  for (gint y = 1; y < width; y++) {
    columns += strip->columns;
    weights += row;
    add_shared_row (columns, weights, weights - row, channel, sums, pixels, width);
  }
  add_shared_row (columns + strip->columns, NULL, weights, channel, sums, pixels, width);
  SL_UNROLL
  for (gint i = 0; i < 2 * pixels; i++)
    store_some (out[i / pixels] + at + (gsize) (i % pixels) * strip->stride,
                layer->channels - channel, limited (sums[i], lo, hi));
}

typedef void (*PairFunction) (const SlFloatDepthwise *layer, const SlFloatStrip *strip,
                              gint32 first, gint32 channel, Real *const out[2]);

#define DEFINE_PAIR(pixels, width)                                                               \
  static void pair_##pixels##_##width (const SlFloatDepthwise *layer, const SlFloatStrip *strip, \
                                       gint32 first, gint32 channel, Real *const out[2])         \
  {                                                                                              \
    run_pair (layer, strip, first, channel, out, pixels, width);                                 \
  }
#define DEFINE_PAIRS(pixels) DEFINE_PAIR (pixels, 3) DEFINE_PAIR (pixels, 5)
#define PAIRS(pixels)                    \
  {                                      \
    pair_##pixels##_3, pair_##pixels##_5 \
  }
DEFINE_PAIRS (1)
DEFINE_PAIRS (2)
DEFINE_PAIRS (3)
DEFINE_PAIRS (4)
#if MAX_ROWS > 6
DEFINE_PAIRS (5)
DEFINE_PAIRS (6)
DEFINE_PAIRS (7)
DEFINE_PAIRS (8)
#endif

/* By pixels less one; then windows of three by three, and of five by five. */
static const PairFunction pairs[PAIR_PIXELS][2] = {
  PAIRS (1), PAIRS (2), PAIRS (3), PAIRS (4),
#if MAX_ROWS > 6
  PAIRS (5), PAIRS (6), PAIRS (7), PAIRS (8),
#endif
};

void
SL_SIMD (sl_float_depthwise) (const SlFloatDepthwise *layer, const SlFloatStrip *strip,
                              gfloat *const out[2])
{
  const gint32 most = strip->rows == 2 ? PAIR_PIXELS : SL_FLOAT_MAX_PIXELS;
  const gboolean is_known =
    layer->dilation == 1 && layer->stride <= 2 && (layer->filter_w == 3 || layer->filter_w == 5);
  Real *const to[2] = { (Real *) (gpointer) out[0], (Real *) (gpointer) out[1] };
  const gint32 kind = is_known ? (layer->filter_w == 3 ? 0 : 2) + layer->stride : 0;
  for (gint32 channel = 0; channel < layer->channels; channel += LANES) {
    gint32 first = 0;
    for (gint32 pieces = (strip->count + most - 1) / most; pieces > 0; pieces--) {
      const gint32 pixels = (strip->count - first + pieces - 1) / pieces;
      if (strip->rows == 2)
        pairs[pixels - 1][layer->filter_w == 5](layer, strip, first, channel, to);
      else
        functions[pixels - 1][kind](layer, strip, first, channel, to[0]);
      first += pixels;
    }
  }
}
