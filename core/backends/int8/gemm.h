/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the matrix products of registers and those of AMX's tiles share: a step, and how sums become
 * results.
 */
#pragma once

#include "core/backends/int8/simd.h"

#ifdef SL_SIMD
/* Bytes of weights ahead: those of a whole model come from the third cache or from memory in every
 * inference. */
#define PREFETCH 2048

/** Where a tile reads and writes; (float results) the @rows that its rows were rounded of, and
 * where floats go, @c_stride of them apart. */
typedef struct
{
  const guint8 *a;
  gsize stride;
  guint8 *c;
  gsize c_stride;
  const SlInt8Row *rows;
  gfloat *floats;
} Tile;

/* @flip: (nullable) exclusive or for activations; @ahead: whether weights come from beyond the
 * first cache */
static inline __attribute__ ((always_inline)) void
step (Vec *sums, const gint rows, const gint groups, const guint8 *a, gsize stride,
      const guint8 *weights, const Vec *flip, const gboolean ahead)
{
  if (ahead)
    __builtin_prefetch (weights + PREFETCH);
  if (ahead && groups * VEC_BYTES > 64)
    __builtin_prefetch (weights + PREFETCH + 64);
  const Vec w0 = load (weights), w1 = groups > 1 ? load (weights + VEC_BYTES) : w0;
  SL_UNROLL
  for (gint m = 0; m < rows; m++) {
    const Vec values = flip != NULL ? flipped (broadcast (a + (gsize) m * stride), *flip)
                                    : broadcast (a + (gsize) m * stride);
    sums[m * groups] = dot (sums[m * groups], values, w0);
    if (groups > 1)
      sums[m * groups + 1] = dot (sums[m * groups + 1], values, w1);
  }
}

static inline __attribute__ ((always_inline)) void
store_four (const SlInt8Panel *panel, const Tile *tile, const gint i, const gint n,
            const gint groups, Vec values)
{
  guint8 *const c = tile->c + (gsize) (i / groups) * tile->c_stride;
  if (groups == 2 && panel->channels == 2 * LANES) {
    store_pair (c, 0, values);
    if (i + 2 < n)
      store_pair (c + tile->c_stride, 1, values);
    return;
  }
  /* The next sums are of the same row's second group or of the next row. */
  const gsize second = groups > 1 ? LANES : tile->c_stride,
              third = groups > 1 ? tile->c_stride : 2 * tile->c_stride;
  const gint32 left = groups > 1 ? panel->channels - LANES : panel->channels;
  store_one (c, panel->channels, 0, values);
  if (i + 1 < n)
    store_one (c + second, left, 1, values);
  if (i + 2 < n)
    store_one (c + third, panel->channels, 2, values);
  if (i + 3 < n)
    store_one (c + third + second, left, 3, values);
}

/** What turns a panel's sums into quantised values: the scales of its groups, and what is added. */
typedef struct
{
  Narrow narrow;
  VecF scale[2], rest[2];
} Finish;

static inline __attribute__ ((always_inline)) Finish
finish_of (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const gint groups)
{
  const gfloat *scale = gemm->scale + panel->channel, *rest = gemm->rest + panel->channel;
  return (Finish){ narrow_of (&gemm->output),
                   { load_floats (scale), load_floats (groups > 1 ? scale + LANES : scale) },
                   { load_floats (rest), load_floats (groups > 1 ? rest + LANES : rest) } };
}

/* Sums @i to @i + 3 of @n. */
static inline __attribute__ ((always_inline)) void
finish_four (const Finish *finish, const SlInt8Panel *panel, const Tile *tile, const Vec *sums,
             const gint i, const gint n, const gint groups)
{
  const Vec x[4] = { scaled (sums[i], finish->scale[0], finish->rest[0]),
                     scaled (sums[MIN (i + 1, n - 1)], finish->scale[1], finish->rest[1]),
                     scaled (sums[MIN (i + 2, n - 1)], finish->scale[0], finish->rest[0]),
                     scaled (sums[MIN (i + 3, n - 1)], finish->scale[1], finish->rest[1]) };
  store_four (panel, tile, i, n, groups, in_order (to_bytes (&finish->narrow, x)));
}

/* (float results) The sums of all @rows. */
static inline __attribute__ ((always_inline)) void
finish_all_floats (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile,
                   const Vec *sums, const gint rows, const gint groups)
{
  SL_UNROLL
  for (gint g = 0; g < groups; g++) {
    const FloatFinish finish = float_finish_of (gemm, panel->channel + g * LANES);
    SL_UNROLL
    for (gint m = 0; m < rows; m++)
      finish_floats (&finish, &tile->rows[m], sums[m * groups + g], panel->channels - g * LANES,
                     tile->floats + (gsize) m * tile->c_stride + g * LANES);
  }
}
#endif
