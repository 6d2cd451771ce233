/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the AVX-512 loops share: sums to codes. Sums times scale stay below 2^30, so conversion never overflows. */
#ifndef SL_CORE_INT8_AVX512_H
#define SL_CORE_INT8_AVX512_H

#include "core/kernels/int8/isa.h"

#ifdef __AVX512VNNI__
#include <immintrin.h>

/** SlInt8Output in registers. */
typedef struct
{
  __m512i zero_point, lo, hi, flip;
} SlInt8Narrow;

void sl_int8_gemm_avx512 (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a, gsize stride, gint32 rows, guint8 *c,
                          gsize c_stride);
void sl_int8_depthwise_avx512 (const SlInt8Depthwise *layer, const guint8 *const *taps, guint8 *out);
void sl_int8_depthwise_rows_avx512 (const SlInt8Depthwise *layer, const SlInt8Rows *rows);
void sl_int8_depthwise_flat_avx512 (const SlInt8Depthwise *layer, const SlInt8Flat *flat);

static inline SlInt8Narrow
sl_int8_narrow (const SlInt8Output *output)
{
  return (SlInt8Narrow){ _mm512_set1_epi16 (output->zero_point), _mm512_set1_epi8 ((char) output->lo), _mm512_set1_epi8 ((char) output->hi),
                         _mm512_set1_epi8 ((char) output->flip) };
}

static inline __m512i
sl_int8_scale (__m512i sums, __m512 scale)
{
  return _mm512_cvtps_epi32 (_mm512_mul_ps (_mm512_cvtepi32_ps (sums), scale));
}

/** sl_int8_to_codes: four registers of scaled sums to 64 codes; each 128-bit lane holds four of x[0], of x[1], of x[2], of x[3]. */
static inline __m512i
sl_int8_to_codes (const SlInt8Narrow *narrow, const __m512i x[4])
{
  const __m512i x01 = _mm512_adds_epi16 (_mm512_packs_epi32 (x[0], x[1]), narrow->zero_point);
  const __m512i x23 = _mm512_adds_epi16 (_mm512_packs_epi32 (x[2], x[3]), narrow->zero_point);
  const __m512i codes = _mm512_packus_epi16 (x01, x23);
  return _mm512_xor_si512 (_mm512_min_epu8 (_mm512_max_epu8 (codes, narrow->lo), narrow->hi), narrow->flip);
}

/** sl_int8_in_order: what sl_int8_to_codes() gave, x[i] in 128-bit lane i. */
static inline __m512i
sl_int8_in_order (__m512i codes)
{
  return _mm512_permutexvar_epi32 (_mm512_setr_epi32 (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), codes);
}

#endif

#endif
