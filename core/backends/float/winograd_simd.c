/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Winograd's input and output transforms of 4x4 tiles for 3x3 windows: see winograd.c. */
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
    Vec v[SL_FLOAT_TILE];
    SL_UNROLL
    for (gint i = 0; i < SL_FLOAT_TILE; i++)
      v[i] = load (pixels[i] + c);
    SL_UNROLL
    for (gint x = 0; x < 4; x++)
      spread (&v[x], &v[4 + x], &v[8 + x], &v[12 + x]);
    SL_UNROLL
    for (gint y = 0; y < 16; y += 4)
      spread (&v[y], &v[y + 1], &v[y + 2], &v[y + 3]);
    SL_UNROLL
    for (gint i = 0; i < SL_FLOAT_TILE; i++)
      store (to + (gsize) i * apart + c, v[i]);
  }
}

void
SL_SIMD (sl_float_tile_out) (const SlFloatGemm *gemm, const gfloat *sums, gsize apart,
                             gint32 channels, gfloat *const out[4])
{
  const Vec lo = broadcast (gemm->lo), hi = broadcast (gemm->hi);
  for (gint32 c = 0; c < channels; c += LANES) {
    const Vec bias = load (gemm->bias + c);
    Vec v[SL_FLOAT_TILE], rows[8];
    SL_UNROLL
    for (gint i = 0; i < SL_FLOAT_TILE; i++)
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
