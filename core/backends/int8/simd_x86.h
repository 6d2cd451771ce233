/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The register operations of the x86 loops. The loops are compiled once for each instruction set:
 * AVX-512 with VNNI, 256-bit VNNI in the encoding of AVX-VNNI, the same in that of AVX-512, AVX2,
 * and SSE4.1. The last two have no byte product that cannot overflow, so there weights and
 * activations are int16. AVX2 has loops of bytes besides, for weights whose products cannot
 * overflow. Where activations are rounded here, it rounds them to seven bits.
 */
#pragma once

#include "core/backends/int8/isa.h"

#if defined(__AVX2__) || defined(SL_INT8_FOR_SSE41)
#include <immintrin.h>
#include <string.h>

#if defined(SL_INT8_FOR_AVX512)
#define SL_SIMD(name) name##_avx512
#define LANES 16
#define MAX_ROWS 13
/* Steps of the deepest layers whose results are packed between the steps of the next tile; their
 * activations need no flip. */
#define MAX_SHALLOW 24
#define V(name) _mm512_##name
#define V_SI(name) _mm512_##name##_si512
typedef __m512i Vec;
typedef __m512 VecF;
typedef __mmask64 Mask;
#elif defined(SL_INT8_FOR_SSE41)
#define SL_SIMD(name) name##_sse41
#define USES_INT16
#define LANES 4
#define MAX_ROWS 6
#define V(name) _mm_##name
#define V_SI(name) _mm_##name##_si128
typedef __m128i Vec;
typedef __m128 VecF;
typedef gint32 Mask;
#else
#define LANES 8
#define MAX_ROWS 6
#define V(name) _mm256_##name
#define V_SI(name) _mm256_##name##_si256
typedef __m256i Vec;
typedef __m256 VecF;
typedef gint32 Mask;
#if defined(SL_INT8_FOR_AVXVNNI)
#define SL_SIMD(name) name##_avxvnni
#elif defined(SL_INT8_FOR_VNNI256)
#define SL_SIMD(name) name##_vnni256
#elif defined(SL_INT8_FOR_AVX2BYTES)
#define SL_SIMD(name) name##_avx2bytes
/* Two products of these and of int8 weights fit 16 bits. */
#define ROUNDED_MOST 127
/* The products of two steps are added before they are widened. */
#define TWO_STEPS
/* Rows are flipped before they are multiplied. */
#define NO_FLIP
#else
#define SL_SIMD(name) name##_avx2
#define USES_INT16
#endif
#endif

#ifndef USES_INT16
/* Of a tile whose weights are mostly zero: as many as to_bytes() takes. */
#define SPARSE_REGISTERS 4
#endif

/* Bytes of a register. */
#define VEC_BYTES (4 * LANES)

/** SlInt8Output in registers. */
typedef struct
{
  Vec zero_point, lo, hi, flip;
  gboolean plain, limited; /* zero point 0 and all of 0..255; not all of 0..255 */
} Narrow;

static inline Vec
load (const void *at)
{
  return V_SI (loadu) ((const Vec *) at);
}

static inline VecF
load_floats (const gfloat *at)
{
  return V (loadu_ps) (at);
}

/* The first @n floats at @at, of which there may be none, and zeros. */
static inline VecF
load_first (const gfloat *at, gint32 n)
{
#if defined(SL_INT8_FOR_AVX512)
  return _mm512_maskz_loadu_ps (n >= LANES ? 0xffff : (__mmask16) ((1u << MAX (n, 0)) - 1), at);
#elif !defined(SL_INT8_FOR_SSE41)
  const __m256i places = _mm256_setr_epi32 (0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_maskload_ps (at, _mm256_cmpgt_epi32 (_mm256_set1_epi32 (n), places));
#else
  gfloat some[LANES] = { 0 };
  if (n >= LANES)
    return V (loadu_ps) (at);
  for (gint32 i = 0; i < n; i++)
    some[i] = at[i];
  return V (loadu_ps) (some);
#endif
}

/* The same as integers. */
static inline Vec
load_dwords (const gfloat *at, gint32 n)
{
#ifdef SL_INT8_FOR_AVX512
  return _mm512_castps_si512 (load_first (at, n));
#elif defined(SL_INT8_FOR_SSE41)
  return _mm_castps_si128 (load_first (at, n));
#else
  return _mm256_castps_si256 (load_first (at, n));
#endif
}

static inline Vec
larger (Vec a, Vec b)
{
  return V (max_epi32) (a, b);
}

static inline Vec
larger_unsigned (Vec a, Vec b)
{
  return V (max_epu32) (a, b);
}

/* Both halves of a register. */
#if defined(SL_INT8_FOR_SSE41)
#define HALVES(max, x) (x)
#else
#define HALVES(max, x) max (_mm256_castsi256_si128 (x), _mm256_extracti128_si256 (x, 1))
#endif

static inline gint32
largest_lane (Vec x)
{
#ifdef SL_INT8_FOR_AVX512
  return _mm512_reduce_max_epi32 (x);
#else
  __m128i four = HALVES (_mm_max_epi32, x);
  four = _mm_max_epi32 (four, _mm_shuffle_epi32 (four, 0x4e));
  return _mm_cvtsi128_si32 (_mm_max_epi32 (four, _mm_shuffle_epi32 (four, 0xb1)));
#endif
}

static inline guint32
largest_unsigned_lane (Vec x)
{
#ifdef SL_INT8_FOR_AVX512
  return _mm512_reduce_max_epu32 (x);
#else
  __m128i four = HALVES (_mm_max_epu32, x);
  four = _mm_max_epu32 (four, _mm_shuffle_epi32 (four, 0x4e));
  return (guint32) _mm_cvtsi128_si32 (_mm_max_epu32 (four, _mm_shuffle_epi32 (four, 0xb1)));
#endif
}

static inline VecF
set_floats (gfloat value)
{
  return V (set1_ps) (value);
}

static inline VecF
plus (VecF a, VecF b)
{
  return V (add_ps) (a, b);
}

static inline VecF
times (VecF a, VecF b)
{
  return V (mul_ps) (a, b);
}

/* @a * @b + @c, rounded once where every processor of the set can. */
static inline VecF
times_plus (VecF a, VecF b, VecF c)
{
#ifdef SL_INT8_FOR_AVX512
  return _mm512_fmadd_ps (a, b, c);
#else
  return plus (times (a, b), c);
#endif
}

/* Of @limit and @x, which is the result where it is NaN. */
static inline VecF
at_least (VecF limit, VecF x)
{
  return V (max_ps) (limit, x);
}

static inline VecF
at_most (VecF limit, VecF x)
{
  return V (min_ps) (limit, x);
}

static inline VecF
to_floats (Vec sums)
{
  return V (cvtepi32_ps) (sums);
}

static inline Vec
rounded (VecF x)
{
  return V (cvtps_epi32) (x);
}

/* The first @left floats. */
static inline void
store_floats (gfloat *at, gint32 left, VecF x)
{
  if (left >= LANES) {
    V (storeu_ps) (at, x);
    return;
  }
#ifdef SL_INT8_FOR_AVX512
  _mm512_mask_storeu_ps (at, (__mmask16) ((1u << MAX (left, 0)) - 1), x);
#else
  gfloat some[LANES];
  V (storeu_ps) (some, x);
  for (gint32 i = 0; i < left; i++)
    at[i] = some[i];
#endif
}

static inline Vec
set_bytes (guint8 byte)
{
  return V (set1_epi8) ((char) byte);
}

static inline Vec
set_dwords (gint32 dword)
{
  return V (set1_epi32) (dword);
}

/* Bytes or pairs of bytes of two registers in turn, from the lower or upper half of each 128-bit
 * lane. */
static inline Vec
zip_low8 (Vec a, Vec b)
{
  return V (unpacklo_epi8) (a, b);
}

static inline Vec
zip_high8 (Vec a, Vec b)
{
  return V (unpackhi_epi8) (a, b);
}

static inline Vec
zip_low16 (Vec a, Vec b)
{
  return V (unpacklo_epi16) (a, b);
}

static inline Vec
zip_high16 (Vec a, Vec b)
{
  return V (unpackhi_epi16) (a, b);
}

/* The weights of rows 0, 1, 2 for rows 1, 2, 3. */
static inline Vec
next_row (Vec weights)
{
  return V (slli_epi32) (weights, 8);
}

/* Four bytes of activations in every lane. */
static inline Vec
broadcast (const guint8 *at)
{
  gint32 four;
  memcpy (&four, at, sizeof four);
  return V (set1_epi32) (four);
}

static inline Vec
flipped (Vec values, Vec flip)
{
  return V_SI (xor) (values, flip);
}

/* @sums + products of @values, unsigned or int16, and @weights, four or two to a lane. */
static inline Vec
dot (Vec sums, Vec values, Vec weights)
{
#if defined(USES_INT16)
  return V (add_epi32) (sums, V (madd_epi16) (values, weights));
#elif defined(SL_INT8_FOR_AVX2BYTES)
  return V (add_epi32) (sums,
                        V (madd_epi16) (V (maddubs_epi16) (values, weights), V (set1_epi16) (1)));
#elif defined(SL_INT8_FOR_AVXVNNI)
  return _mm256_dpbusd_avx_epi32 (sums, values, weights);
#else
  return V (dpbusd_epi32) (sums, values, weights);
#endif
}

#ifdef TWO_STEPS
/* The same of two steps whose products fit 16 bits together. */
static inline Vec
dot_two (Vec sums, Vec values0, Vec weights0, Vec values1, Vec weights1)
{
  const Vec products =
    V (add_epi16) (V (maddubs_epi16) (values0, weights0), V (maddubs_epi16) (values1, weights1));
  return V (add_epi32) (sums, V (madd_epi16) (products, V (set1_epi16) (1)));
}
#endif

static inline Narrow
narrow_of (const SlInt8Output *output)
{
  return (Narrow){ V (set1_epi16) (output->zero_point),
                   V (set1_epi8) ((char) output->lo),
                   V (set1_epi8) ((char) output->hi),
                   V (set1_epi8) ((char) output->flip),
                   output->zero_point == 0 && output->lo == 0 && output->hi == 255,
                   output->lo > 0 || output->hi < 255 };
}

/* Layers are refused whose scaled sums could reach 2^30, so that this never overflows. */
static inline Vec
scaled (Vec sums, VecF scale, VecF rest)
{
  return V (cvtps_epi32) (V (add_ps) (V (mul_ps) (V (cvtepi32_ps) (sums), scale), rest));
}

/* Four registers of scaled sums as quantised values; each 128-bit lane holds four of x[0], of x[1],
 * of x[2], of x[3]. */
static inline Vec
to_bytes (const Narrow *narrow, const Vec x[4])
{
  const Vec x01 = V (packs_epi32) (x[0], x[1]), x23 = V (packs_epi32) (x[2], x[3]);
  if (narrow->plain)
    return V_SI (xor) (V (packus_epi16) (x01, x23), narrow->flip);
  Vec values = V (packus_epi16) (V (adds_epi16) (x01, narrow->zero_point),
                                 V (adds_epi16) (x23, narrow->zero_point));
  if (narrow->limited)
    values = V (min_epu8) (V (max_epu8) (values, narrow->lo), narrow->hi);
  return V_SI (xor) (values, narrow->flip);
}

/* The same with those of x[0] first, then those of x[1] and so on. */
static inline Vec
in_order (Vec values)
{
#ifdef SL_INT8_FOR_AVX512
  return _mm512_permutexvar_epi32 (
    _mm512_setr_epi32 (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), values);
#elif defined(SL_INT8_FOR_SSE41)
  return values;
#else
  return _mm256_permutevar8x32_epi32 (values, _mm256_setr_epi32 (0, 4, 1, 5, 2, 6, 3, 7));
#endif
}

/* The first @n bytes of a register, and the loads and stores of as many. Without masks loads read a
 * whole register, which the padding of tensors allows. */
static inline Mask
mask_of (gint32 n)
{
#ifdef SL_INT8_FOR_AVX512
  return n >= VEC_BYTES ? ~(__mmask64) 0 : ((__mmask64) 1 << n) - 1;
#else
  return n;
#endif
}

static inline Vec
load_some (Mask mask, const guint8 *at)
{
#ifdef SL_INT8_FOR_AVX512
  return _mm512_maskz_loadu_epi8 (mask, at);
#else
  return load (at);
#endif
}

static inline void
store_some (guint8 *at, Mask mask, Vec values)
{
#ifdef SL_INT8_FOR_AVX512
  _mm512_mask_storeu_epi8 (at, mask, values);
#else
  guint8 bytes[VEC_BYTES];
  if (mask >= VEC_BYTES) {
    V_SI (storeu) ((Vec *) at, values);
    return;
  }
  V_SI (storeu) ((Vec *) bytes, values);
  memcpy (at, bytes, (gsize) mask);
#endif
}

/* The @k-th of the four parts of @values that in_order() gave: one register's results, of which the
 * first @left are wanted. */
static inline __attribute__ ((always_inline)) void
store_one (guint8 *c, gint32 left, const gint k, Vec values)
{
#ifdef SL_INT8_FOR_AVX512
  const __m128i bytes = k == 0   ? _mm512_castsi512_si128 (values)
                        : k == 1 ? _mm512_extracti32x4_epi32 (values, 1)
                        : k == 2 ? _mm512_extracti32x4_epi32 (values, 2)
                                 : _mm512_extracti32x4_epi32 (values, 3);
  if (left >= LANES)
    _mm_storeu_si128 ((__m128i *) c, bytes);
  else if (left > 0)
    _mm_mask_storeu_epi8 (c, (__mmask16) ((1u << left) - 1), bytes);
#elif defined(SL_INT8_FOR_SSE41)
  const gint32 bytes = k == 0   ? _mm_cvtsi128_si32 (values)
                       : k == 1 ? _mm_extract_epi32 (values, 1)
                       : k == 2 ? _mm_extract_epi32 (values, 2)
                                : _mm_extract_epi32 (values, 3);
  if (left > 0)
    memcpy (c, &bytes, (gsize) MIN (left, LANES));
#else
  const __m128i pair =
    k < 2 ? _mm256_castsi256_si128 (values) : _mm256_extracti128_si256 (values, 1);
  const gint64 bytes = k % 2 == 0 ? _mm_cvtsi128_si64 (pair) : _mm_extract_epi64 (pair, 1);
  if (left > 0)
    memcpy (c, &bytes, (gsize) MIN (left, LANES));
#endif
}

/* Half of @values: the results of two registers. */
static inline __attribute__ ((always_inline)) void
store_pair (guint8 *c, const gint half, Vec values)
{
#ifdef SL_INT8_FOR_AVX512
  _mm256_storeu_si256 ((__m256i *) c, half == 0 ? _mm512_castsi512_si256 (values)
                                                : _mm512_extracti64x4_epi64 (values, 1));
#elif defined(SL_INT8_FOR_SSE41)
  _mm_storel_epi64 ((__m128i *) c, half == 0 ? values : _mm_unpackhi_epi64 (values, values));
#else
  _mm_storeu_si128 ((__m128i *) c, half == 0 ? _mm256_castsi256_si128 (values)
                                             : _mm256_extracti128_si256 (values, 1));
#endif
}

/* For addition: LANES quantised values of each side, weighted and shifted. */
static inline Vec
widened (const guint8 *at)
{
#ifdef SL_INT8_FOR_AVX512
  return _mm512_cvtepu8_epi32 (_mm_loadu_si128 ((const __m128i *) at));
#elif defined(SL_INT8_FOR_SSE41)
  gint32 four;
  memcpy (&four, at, sizeof four);
  return _mm_cvtepu8_epi32 (_mm_cvtsi32_si128 (four));
#else
  return _mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const __m128i *) at));
#endif
}

static inline Vec
weighted_sum (const SlInt8Add *add, const guint8 *a, const guint8 *b, Vec flip)
{
  const Vec x = V (mullo_epi32) (V_SI (xor) (widened (a), flip), V (set1_epi32) (add->a));
  const Vec y = V (mullo_epi32) (V_SI (xor) (widened (b), flip), V (set1_epi32) (add->b));
  const Vec sum = V (add_epi32) (V (add_epi32) (x, y), V (set1_epi32) (add->bias));
  const Vec below = V (srai_epi32) (V (sub_epi32) (sum, V (set1_epi32) (add->lift)), 31);
  return V (sra_epi32) (V (add_epi32) (sum, below), _mm_cvtsi32_si128 (add->shift));
}

#endif
