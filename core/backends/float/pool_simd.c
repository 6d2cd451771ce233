/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The largest of each channel under small windows: a register of channels of a few output pixels at
 * a time. Where side and stride are known to the compiler, windows beside each other share the
 * largest of each column. NaN is skipped.
 */
#include <math.h>

#include "core/backends/float/simd.h"

/* Output pixels at a time. */
#define AT_ONCE 4

/* The largest of a column of the windows. */
static inline __attribute__ ((always_inline)) Vec
column_of (const gfloat *const *column, gint32 columns, gint32 channel, const gint height)
{
  Vec most = larger_number (load (*column + channel), broadcast (-INFINITY));
  SL_UNROLL
  for (gint y = 1; y < height; y++)
    most = larger_number (load (column[y * columns] + channel), most);
  return most;
}

/* @side 0: any window. */
static inline __attribute__ ((always_inline)) void
run_pixels (const SlFloatDepthwise *layer, const SlFloatStrip *strip, gint32 first, gint32 channel,
            gfloat *out, const gint pixels, const gint side, const gint stride)
{
  Vec most[AT_ONCE];
  const gfloat *const *columns = strip->pixels + first * layer->stride;
  const Vec lo = broadcast (layer->lo), hi = broadcast (layer->hi);
  const gint known = side > 0 ? (pixels - 1) * stride + side : 0;
  SL_UNROLL
  for (gint i = 0; i < pixels; i++)
    most[i] = broadcast (-INFINITY);
  SL_UNROLL
  for (gint column = 0; column < known; column++) {
    const Vec values = column_of (columns + column, strip->columns, channel, side);
    SL_UNROLL
    for (gint i = 0; i < pixels; i++)
      if (column >= i * stride && column < i * stride + side)
        most[i] = larger_number (values, most[i]);
  }
  for (gint32 y = 0; side == 0 && y < layer->filter_h; y++)
    for (gint32 x = 0; x < layer->filter_w; x++) {
      const gfloat *const *at = columns + y * strip->columns + x;
      SL_UNROLL
      for (gint i = 0; i < pixels; i++)
        most[i] = larger_number (load (at[i * layer->stride] + channel), most[i]);
    }
  out += (gsize) first * strip->stride + (gsize) channel;
  SL_UNROLL
  for (gint i = 0; i < pixels; i++)
    store_some (out + (gsize) i * strip->stride, layer->channels - channel,
                limited (most[i], lo, hi));
}

typedef void (*PixelsFunction) (const SlFloatDepthwise *layer, const SlFloatStrip *strip,
                                gint32 first, gint32 channel, gfloat *out);

#define DEFINE(pixels, side, stride)                                                     \
  static void run_##pixels##_##side##_##stride (const SlFloatDepthwise *layer,           \
                                                const SlFloatStrip *strip, gint32 first, \
                                                gint32 channel, gfloat *out)             \
  {                                                                                      \
    run_pixels (layer, strip, first, channel, out, pixels, side, stride);                \
  }
#define DEFINE_PIXELS(pixels) \
  DEFINE (pixels, 0, 0) DEFINE (pixels, 2, 2) DEFINE (pixels, 3, 1) DEFINE (pixels, 3, 2)
#define PIXELS(pixels)                                                             \
  {                                                                                \
    run_##pixels##_0_0, run_##pixels##_2_2, run_##pixels##_3_1, run_##pixels##_3_2 \
  }
DEFINE_PIXELS (1)
DEFINE_PIXELS (2)
DEFINE_PIXELS (3)
DEFINE_PIXELS (4)

/* By pixels less one; then any window, and those of known side and stride. */
static const PixelsFunction functions[AT_ONCE][4] = { PIXELS (1), PIXELS (2), PIXELS (3),
                                                      PIXELS (4) };

void
SL_SIMD (sl_float_largest) (const SlFloatDepthwise *layer, const SlFloatStrip *strip,
                            gfloat *const out[2])
{
  const gint32 side = layer->filter_w, stride = layer->stride;
  const gint kind = layer->filter_h != side                     ? 0
                    : side == 2 && stride == 2                  ? 1
                    : side == 3 && (stride == 1 || stride == 2) ? 1 + stride
                                                                : 0;
  for (gint32 channel = 0; channel < layer->channels; channel += LANES)
    for (gint32 first = 0; first < strip->count; first += AT_ONCE) {
      const gint32 pixels = MIN (AT_ONCE, strip->count - first);
      functions[pixels - 1][kind](layer, strip, first, channel, out[0]);
    }
}
