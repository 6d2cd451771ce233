/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The register operations of the loops that are written once for all instruction sets: registers of
 * LANES 32-bit sums, and tiles of at most MAX_ROWS rows. Each library that is built from them has
 * its own ending on these names.
 */
#pragma once

#include <math.h>

#if defined(SL_INT8_FOR_NEON) || defined(SL_INT8_FOR_DOTPROD) || defined(SL_INT8_FOR_I8MM)
#include "core/backends/int8/simd_neon.h"
#else
#include "core/backends/int8/simd_x86.h"
#endif

/* The last quantised value of a rounded row; the first is 0. */
#ifndef ROUNDED_MOST
#define ROUNDED_MOST 255
#endif

#ifdef SL_SIMD
/** FloatFinish: what turns the sums of LANES channels into floats; @limited: these have limits. */
typedef struct
{
  VecF scale, lean, rest, lo, hi;
  gboolean limited;
} FloatFinish;

static inline FloatFinish
float_finish_of (const SlInt8Gemm *gemm, gint32 channel)
{
  return (FloatFinish){ load_floats (gemm->scale + channel),
                        load_floats (gemm->lean + channel),
                        load_floats (gemm->rest + channel),
                        set_floats (gemm->lo),
                        set_floats (gemm->hi),
                        gemm->lo > -INFINITY || gemm->hi < INFINITY };
}

/* The first @left results of a row. */
static inline void
finish_floats (const FloatFinish *f, const SlInt8Row *row, Vec sums, gint32 left, gfloat *to)
{
  const VecF sum = times_plus (to_floats (sums), f->scale, times (f->lean, set_floats (row->lean)));
  const VecF value = times_plus (sum, set_floats (row->scale), f->rest);
  store_floats (to, left, f->limited ? at_most (f->hi, at_least (f->lo, value)) : value);
}

void SL_SIMD (sl_int8_round) (const gfloat *const *from, gsize n, gint32 rows, gboolean whole,
                              void *to, gsize stride, SlInt8Row *as);
void SL_SIMD (sl_int8_round_shares) (const gfloat *from, gsize n, void *to, SlInt8Row *row);
#ifndef USES_INT16
void SL_SIMD (sl_int8_flip) (guint8 *to, const guint8 *from, gsize n);
#endif
void SL_SIMD (sl_int8_to_weights) (const gfloat *from, gsize n, gfloat inverse, gint8 *to);
void SL_SIMD (sl_int8_gelu) (const gfloat *from, gfloat *to, gsize n);
void SL_SIMD (sl_int8_gemm_floats) (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a,
                                    gsize stride, gint32 n, const SlInt8Row *rows, gfloat *c,
                                    gsize c_stride);
void SL_SIMD (sl_int8_gemm) (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a,
                             gsize stride, gint32 rows, guint8 *c, gsize c_stride);
#ifdef SL_INT8_AMX
void sl_int8_gemm_floats_amx (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a,
                              gsize stride, gint32 n, const SlInt8Row *rows, gfloat *c,
                              gsize c_stride);
void sl_int8_gemm_amx (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a,
                       gsize stride, gint32 rows, guint8 *c, gsize c_stride);
#endif
void SL_SIMD (sl_int8_depthwise) (const SlInt8Depthwise *layer, const guint8 *const *taps,
                                  guint8 *out);
void SL_SIMD (sl_int8_depthwise_rows) (const SlInt8Depthwise *layer, const SlInt8Rows *rows);
void SL_SIMD (sl_int8_depthwise_flat) (const SlInt8Depthwise *layer, const SlInt8Flat *flat);
#ifdef SPARSE_REGISTERS
void SL_SIMD (sl_int8_turn) (const guint8 *rows, gint32 n, gint32 depth, guint8 flip,
                             guint8 *columns);
void SL_SIMD (sl_int8_sparse) (const SlInt8Sparse *layer, gint32 first, gint32 end,
                               const guint8 *columns, gint32 rows, guint8 *c, gsize c_stride);
#endif
#endif
