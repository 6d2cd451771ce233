/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The register operations of the loops that are written once for all instruction sets: registers of
 * LANES 32-bit sums, and tiles of at most MAX_ROWS rows. Each library that is built from them has
 * its own ending on these names.
 */
#pragma once

#if defined(SL_INT8_FOR_NEON) || defined(SL_INT8_FOR_DOTPROD) || defined(SL_INT8_FOR_I8MM)
#include "core/backends/int8/simd_neon.h"
#else
#include "core/backends/int8/simd_x86.h"
#endif

#ifdef SL_SIMD
void SL_SIMD (sl_int8_gemm) (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a,
                             gsize stride, gint32 rows, guint8 *c, gsize c_stride);
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
