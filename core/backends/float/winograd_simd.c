/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Winograd's input and output transforms of 4x4 and 6x6 tiles for 3x3 windows: see winograd.c. */
#include "core/backends/float/simd.h"

/* One dimension of four values: a - c, b + c, c - b, b - d. */
static inline void
spread (Vec *a, Vec *b, Vec *c, Vec *d)
{
  const Vec second = *b, third = *c;
  *a = *a - third;
  *b = second + third;
  *c = third - second;
  *d = second - *d;
}

void
SL_SIMD (sl_float_tile_in) (const gfloat *const *pixels, gint32 channels, gfloat *to, gsize apart)
{
  for (gint32 c = 0; c < channels; c += LANES) {
    Vec v[16];
    SL_UNROLL
    for (gint i = 0; i < 16; i++)
      v[i] = load (pixels[i] + c);
    SL_UNROLL
    for (gint x = 0; x < 4; x++)
      spread (&v[x], &v[4 + x], &v[8 + x], &v[12 + x]);
    SL_UNROLL
    for (gint y = 0; y < 16; y += 4)
      spread (&v[y], &v[y + 1], &v[y + 2], &v[y + 3]);
    SL_UNROLL
    for (gint i = 0; i < 16; i++)
      store (to + (gsize) i * apart + c, v[i]);
  }
}

void
SL_SIMD (sl_float_tile_out) (const SlFloatGemm *gemm, const gfloat *sums, gsize apart,
                             gint32 channels, gfloat *const *out)
{
  const Vec lo = broadcast (gemm->lo), hi = broadcast (gemm->hi);
  for (gint32 c = 0; c < channels; c += LANES) {
    const Vec bias = load (gemm->bias + c);
    Vec v[16], rows[8];
    SL_UNROLL
    for (gint i = 0; i < 16; i++)
      v[i] = load (sums + (gsize) i * apart + c);
    SL_UNROLL
    for (gint x = 0; x < 4; x++) {
      rows[x] = v[x] + (v[4 + x] + v[8 + x]);
      rows[4 + x] = v[4 + x] - v[8 + x] - v[12 + x];
    }
    SL_UNROLL
    for (gint y = 0; y < 2; y++) {
      const Vec *row = rows + 4 * y;
      const Vec first = bias + (row[0] + (row[1] + row[2]));
      const Vec second = bias + (row[1] - row[2] - row[3]);
      if (out[2 * y] != NULL)
        store_some (out[2 * y] + c, channels - c, limited (first, lo, hi));
      if (out[2 * y + 1] != NULL)
        store_some (out[2 * y + 1] + c, channels - c, limited (second, lo, hi));
    }
  }
}

/* The interpolation points 0, -A, A, -B, B and infinity of 6x6 tiles. Their powers are exact. */
#define A SL_FLOAT_POINT_A
#define B SL_FLOAT_POINT_B

/* One dimension of six values: coefficients of x^0 to x^5 of the products of all (x - point) but
 * one point's, times them. */
static inline __attribute__ ((always_inline)) void
spread_six (Vec v[6])
{
  const Vec both = broadcast (-(A * A + B * B)), product = broadcast (A * A * B * B);
  const Vec even_a = fused (broadcast (-B * B), v[2], v[4]),
            odd_a = fused (broadcast (-B * B), v[1], v[3]);
  const Vec even_b = fused (broadcast (-A * A), v[2], v[4]),
            odd_b = fused (broadcast (-A * A), v[1], v[3]);
  v[0] = fused (product, v[0], fused (both, v[2], v[4]));
  v[5] = fused (product, v[1], fused (both, v[3], v[5]));
  v[1] = fused (broadcast (A), odd_a, even_a);
  v[2] = fused (broadcast (-A), odd_a, even_a);
  v[3] = fused (broadcast (B), odd_b, even_b);
  v[4] = fused (broadcast (-B), odd_b, even_b);
}

/* Four sums of six products, each weighed by a power of its point. */
static inline __attribute__ ((always_inline)) void
collect_four (const Vec v[6], Vec sums[4])
{
  const Vec even_a = v[1] + v[2], odd_a = v[1] - v[2], even_b = v[3] + v[4], odd_b = v[3] - v[4];
  sums[0] = v[0] + (even_a + even_b);
  sums[1] = fused (broadcast (B), odd_b, broadcast (A) * odd_a);
  sums[2] = fused (broadcast (B * B), even_b, broadcast (A * A) * even_a);
  sums[3] = fused (broadcast (A * A * A), odd_a, fused (broadcast (B * B * B), odd_b, v[5]));
}

void
SL_SIMD (sl_float_tile_in_six) (const gfloat *const *pixels, gint32 channels, gfloat *to,
                                gsize apart)
{
  for (gint32 c = 0; c < channels; c += LANES) {
    Vec columns[6][6];
    for (gint x = 0; x < 6; x++) {
      Vec v[6];
      SL_UNROLL
      for (gint y = 0; y < 6; y++)
        v[y] = load (pixels[6 * y + x] + c);
      spread_six (v);
      SL_UNROLL
      for (gint y = 0; y < 6; y++)
        columns[y][x] = v[y];
    }
    for (gint y = 0; y < 6; y++) {
      Vec v[6];
      SL_UNROLL
      for (gint x = 0; x < 6; x++)
        v[x] = columns[y][x];
      spread_six (v);
      SL_UNROLL
      for (gint x = 0; x < 6; x++)
        store (to + (gsize) (6 * y + x) * apart + c, v[x]);
    }
  }
}

void
SL_SIMD (sl_float_tile_out_six) (const SlFloatGemm *gemm, const gfloat *sums, gsize apart,
                                 gint32 channels, gfloat *const *out)
{
  const Vec lo = broadcast (gemm->lo), hi = broadcast (gemm->hi);
  for (gint32 c = 0; c < channels; c += LANES) {
    const Vec bias = load (gemm->bias + c);
    Vec rows[4][6];
    for (gint x = 0; x < 6; x++) {
      Vec v[6], column[4];
      SL_UNROLL
      for (gint y = 0; y < 6; y++)
        v[y] = load (sums + (gsize) (6 * y + x) * apart + c);
      collect_four (v, column);
      SL_UNROLL
      for (gint y = 0; y < 4; y++)
        rows[y][x] = column[y];
    }
    for (gint y = 0; y < 4; y++) {
      Vec results[4];
      collect_four (rows[y], results);
      SL_UNROLL
      for (gint x = 0; x < 4; x++)
        if (out[4 * y + x] != NULL)
          store_some (out[4 * y + x] + c, channels - c, limited (bias + results[x], lo, hi));
    }
  }
}
