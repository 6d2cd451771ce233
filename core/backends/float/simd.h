/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The register operations of the float loops, beside +, - and *: LANES floats each, tiles of at
 * most MAX_ROWS rows and MAX_GROUPS registers of channels. The loops are compiled once for each
 * instruction set: AVX-512 with registers of 16 and of 8, AVX2 with FMA, and what every processor
 * has. Loops of binary16 have numbers of 16 bits in the place of floats. Where SL_WIDENS is
 * defined, weights of 16 and 8 bits become floats as they are loaded.
 */
#pragma once

#include <math.h>

#include "core/base/unroll.h"
#include "core/backends/float/isa.h"

#if defined(SL_FLOAT_FOR_FP16)
#include "core/backends/float/simd_fp16.h"
#elif defined(SL_FLOAT_FOR_AVX512) || defined(SL_FLOAT_FOR_AVX512VL) || defined(SL_FLOAT_FOR_FMA)
#include "core/backends/float/simd_x86.h"
#else
#include "core/backends/float/simd_base.h"
#endif
#ifndef SL_FLOAT_FOR_FP16
typedef gfloat Real;
#endif

/* Registers of a panel of matrix products of a layer where their number is odd. */
#ifndef ODD_GROUPS
#define ODD_GROUPS MAX_GROUPS
#endif

/* Loops that prefetch weights of later panels; those that load several activations at once do not.
 */
#ifndef fused_lane
#define SL_LOOKS_AHEAD
#endif

/* Registers of a tile with sparse weights: enough sums to hide the latency of a multiply-add. */
#define SPARSE_REGISTERS (LANES >= 16 ? 4 : 8)

/* @values within the limits; NaN stays NaN. */
static inline Vec
limited (Vec values, Vec lo, Vec hi)
{
  return smaller (hi, larger (lo, values));
}

/* Whether results have limits. */
static inline gboolean
is_limited (const SlFloatGemm *gemm)
{
  return gemm->lo > -INFINITY || gemm->hi < INFINITY;
}

/* The first @left of a register's numbers, or all. */
static inline void
store_some (Real *at, gint32 left, Vec values)
{
  if (left >= LANES)
    store (at, values);
  else
    store_first (at, left, values);
}

/* The @curve of @n numbers, in place or not. */
static inline __attribute__ ((always_inline)) void
bend (Vec (*curve) (Vec x, SlActivation activation), const SlActivation activation, const Real *in,
      Real *out, gsize n)
{
  const gint32 left = (gint32) (n % LANES);
  gsize i = 0;
  for (; i + LANES <= n; i += LANES)
    store (out + i, curve (load (in + i), activation));
  /* What is behind belongs to another thread. */
  if (left > 0)
    store_first (out + i, left, curve (load_first (in + i, left), activation));
}

void SL_SIMD (sl_float_activate) (SlActivation activation, const gfloat *in, gfloat *out, gsize n);
void SL_SIMD (sl_float_softmax) (gfloat beta, const gfloat *in, gfloat *out, gsize n, gsize rows);
void SL_SIMD (sl_float_normalize) (const SlFloatNorm *norm, const gfloat *in, gfloat *out,
                                   gsize rows);
#ifdef SL_PARTS
void SL_SIMD (sl_float_share) (const SlFloatShares *tile, gint32 n_panels, gfloat *c,
                               gsize c_stride, gfloat *sums);
gfloat SL_SIMD (sl_float_largest_square) (const gfloat *const *rows, gint32 n, gint32 depth);
#endif
void SL_SIMD (sl_float_attend) (const SlFloatScores *scores);
void SL_SIMD (sl_float_add_scaled) (gfloat *scores, gsize n, gfloat scale, const gfloat *mask,
                                    gfloat factor);
void SL_SIMD (sl_float_blend) (gfloat *out, const gfloat *add, gsize n, gfloat old, gfloat share);
void SL_SIMD (sl_float_gemm) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                              const SlFloatRows *rows, gfloat *c, gsize c_stride);
#ifdef SL_LOOKS_AHEAD
void SL_SIMD (sl_float_gemm_ahead) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                                    const SlFloatRows *rows, const guint8 *ahead, gsize step,
                                    gfloat *c, gsize c_stride);
#endif
#ifdef SL_WIDENS
void SL_SIMD (sl_float_gemm_half) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                                   const SlFloatRows *rows, gfloat *c, gsize c_stride);
void SL_SIMD (sl_float_gemm_bfloat) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                                     const SlFloatRows *rows, gfloat *c, gsize c_stride);
void SL_SIMD (sl_float_gemm_bytes) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                                    const SlFloatRows *rows, gfloat *c, gsize c_stride);
#endif
#ifdef SL_STRASSEN
gboolean SL_SIMD (sl_float_strassen_sums) (const gfloat *rows, gint32 depth, gfloat *sums);
void SL_SIMD (sl_float_strassen) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                                  const SlFloatBlock *block, gfloat *c, gsize c_stride);
#endif
void SL_SIMD (sl_float_widen) (const SlFloatFewBits *panel, gfloat *to);
void SL_SIMD (sl_float_gemm_deep) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                                   const SlFloatRows *rows, gfloat *c, gsize c_stride);
void SL_SIMD (sl_float_turn) (const gfloat *rows, gint32 n, gint32 depth, gfloat *columns);
void SL_SIMD (sl_float_sparse) (const SlFloatSparse *layer, gint32 first, gint32 end,
                                const gfloat *columns, gint32 rows, gfloat *c, gsize c_stride);
void SL_SIMD (sl_float_tile_in) (const gfloat *const *pixels, gint32 channels, gfloat *to,
                                 gsize apart);
void SL_SIMD (sl_float_tile_out) (const SlFloatGemm *gemm, const gfloat *sums, gsize apart,
                                  gint32 channels, gfloat *const *out);
void SL_SIMD (sl_float_tile_in_six) (const gfloat *const *pixels, gint32 channels, gfloat *to,
                                     gsize apart);
void SL_SIMD (sl_float_tile_out_six) (const SlFloatGemm *gemm, const gfloat *sums, gsize apart,
                                      gint32 channels, gfloat *const *out);
void SL_SIMD (sl_float_depthwise) (const SlFloatDepthwise *layer, const SlFloatStrip *strip,
                                   gfloat *const out[2]);
void SL_SIMD (sl_float_largest) (const SlFloatDepthwise *layer, const SlFloatStrip *strip,
                                 gfloat *const out[2]);
