/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers of AVX-512 with VBMI and VNNI: what differs from those of AVX2. */
#pragma once

#include "core/base/unroll.h"
#include "preprocess/simd_x86.h"

#ifdef SL_PREPROCESS_FOR_AVX512
#include "preprocess/gather.h"

#define GATHERS
#define ROWS_TOGETHER 3

/* Where a lane takes its element from: of the pairs and triples of a 16-bit row, of two registers
 * and then a third. */
static const int16_t pair_order[64] __attribute__ ((aligned (64))) = {
  0,  2,  4,  6,  8,  10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42,
  44, 46, 48, 50, 52, 54, 56, 58, 60, 62, 1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23,
  25, 27, 29, 31, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63,
};
static const int16_t triple_order[3][WORDS] __attribute__ ((aligned (64))) = {
  { 0,  3,  6,  9,  12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45,
    48, 51, 54, 57, 60, 63, 66, 69, 72, 75, 78, 81, 84, 87, 90, 93 },
  { 1,  4,  7,  10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40, 43, 46,
    49, 52, 55, 58, 61, 64, 67, 70, 73, 76, 79, 82, 85, 88, 91, 94 },
  { 2,  5,  8,  11, 14, 17, 20, 23, 26, 29, 32, 35, 38, 41, 44, 47,
    50, 53, 56, 59, 62, 65, 68, 71, 74, 77, 80, 83, 86, 89, 92, 95 },
};
/* Element i of an interleaved row is channel i % 3 of pixel i / 3. */
static const uint8_t byte_order[64] __attribute__ ((aligned (64))) = {
  0,  1,  2,  4,  5,  6,  8,  9,  10, 12, 13, 14, 16, 17, 18, 20, 21, 22, 24, 25, 26, 28,
  29, 30, 32, 33, 34, 36, 37, 38, 40, 41, 42, 44, 45, 46, 48, 49, 50, 52, 53, 54, 56, 57,
  58, 60, 61, 62, 0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
};
static const int16_t half_order[64] __attribute__ ((aligned (64))) = {
  0,  16, 32, 1,  17, 33, 2,  18, 34, 3,  19, 35, 4,  20, 36, 5,  21, 37, 6,  22, 38, 7,
  23, 39, 8,  24, 40, 9,  25, 41, 10, 26, 42, 11, 27, 43, 12, 28, 44, 13, 29, 45, 14, 30,
  46, 15, 31, 47, 0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
};
static const int32_t float_order[3][PIXELS] __attribute__ ((aligned (64))) = {
  { 0, 16, 0, 1, 17, 1, 2, 18, 2, 3, 19, 3, 4, 20, 4, 5 },
  { 21, 5, 6, 22, 6, 7, 23, 7, 8, 24, 8, 9, 25, 9, 10, 26 },
  { 10, 11, 27, 11, 12, 28, 12, 13, 29, 13, 14, 30, 14, 15, 31, 15 },
};
static const uint16_t float_thirds[3] = { 0x4924, 0x2492, 0x9249 };

/* @sums of widened bytes, in their order. */
static ALWAYS_INLINE void
keep_sums (int16_t *dst, Sums sums)
{
  const __m512i low = _mm512_setr_epi64 (0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i high = _mm512_setr_epi64 (4, 5, 12, 13, 6, 7, 14, 15);
  keep (dst, _mm512_permutex2var_epi64 (sums.a, low, sums.b));
  keep (dst + WORDS, _mm512_permutex2var_epi64 (sums.a, high, sums.b));
}

static ALWAYS_INLINE void
split_pair (int16_t *even, int16_t *odd, const int16_t *src)
{
  const __m512i a = load (src), b = load (src + WORDS);
  keep (even, _mm512_permutex2var_epi16 (a, load (pair_order), b));
  keep (odd, _mm512_permutex2var_epi16 (a, load (pair_order + WORDS), b));
}

/* Every third of 96 samples: from the first 64, then from the last 32 where the index is beyond. */
static ALWAYS_INLINE __m512i
pick_third (__m512i a, __m512i b, __m512i c, int first)
{
  const __m512i index = load (triple_order[first]);
  const __mmask32 beyond = _mm512_cmpge_epi16_mask (index, _mm512_set1_epi16 (2 * WORDS));
  return _mm512_mask_permutexvar_epi16 (_mm512_permutex2var_epi16 (a, index, b), beyond, index, c);
}

static ALWAYS_INLINE void
split_triple (int16_t *const dst[3], ptrdiff_t x, const int16_t *src)
{
  const __m512i a = load (src), b = load (src + WORDS), c = load (src + 2 * WORDS);
  SL_UNROLL
  for (int i = 0; i < 3; i++)
    keep (dst[i] + x, pick_third (a, b, c, i));
}

/* Lanes 4k to 4k + 3 of register i added up: lane 4i + k. */
static ALWAYS_INLINE __m512i
add_fours (const __m512i in[4])
{
  const __m512i order = _mm512_setr_epi32 (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i ab =
    _mm512_add_epi32 (_mm512_unpacklo_epi32 (in[0], in[1]), _mm512_unpackhi_epi32 (in[0], in[1]));
  const __m512i cd =
    _mm512_add_epi32 (_mm512_unpacklo_epi32 (in[2], in[3]), _mm512_unpackhi_epi32 (in[2], in[3]));
  const __m512i sum =
    _mm512_add_epi32 (_mm512_unpacklo_epi64 (ab, cd), _mm512_unpackhi_epi64 (ab, cd));
  return _mm512_permutexvar_epi32 (order, sum);
}

/* Neighbouring lanes added up. */
static ALWAYS_INLINE __m512i
add_twos (__m512i a, __m512i b)
{
  const __m512i even =
    _mm512_setr_epi32 (0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_setr_epi32 (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  return _mm512_add_epi32 (_mm512_permutex2var_epi32 (a, even, b),
                           _mm512_permutex2var_epi32 (a, odd, b));
}

static ALWAYS_INLINE __m128i
load_eight (const int16_t *from)
{
  return _mm_loadu_si128 ((const __m128i *) from);
}

/* Four samples from each of four starts. */
static ALWAYS_INLINE __m256i
load_fours (const int16_t *row, const int32_t *start)
{
  const __m128i a = _mm_loadl_epi64 ((const __m128i *) (row + start[0]));
  const __m128i b = _mm_loadl_epi64 ((const __m128i *) (row + start[2]));
  const __m128i ab = _mm_unpacklo_epi64 (a, _mm_loadl_epi64 ((const __m128i *) (row + start[1])));
  const __m128i cd = _mm_unpacklo_epi64 (b, _mm_loadl_epi64 ((const __m128i *) (row + start[3])));
  return _mm256_inserti128_si256 (_mm256_castsi128_si256 (ab), cd, 1);
}

/* Up to four taps: eight columns a register. */
static ALWAYS_INLINE Ints
sum_fours (const int16_t *row, const int32_t *start, const int16_t *weight)
{
  __m512i sum[2];
  SL_UNROLL
  for (int k = 0; k < 2; k++) {
    const int32_t *first = start + 8 * k;
    const __m512i samples = _mm512_inserti64x4 (_mm512_castsi256_si512 (load_fours (row, first)),
                                                load_fours (row, first + 4), 1);
    sum[k] = _mm512_dpwssd_epi32 (zero (), samples, load (weight + 32 * k));
  }
  return add_twos (sum[0], sum[1]);
}

/* Up to eight taps: four columns a register. */
static ALWAYS_INLINE Ints
sum_eights (const int16_t *row, const int32_t *start, const int16_t *weight)
{
  __m512i sum[4];
  SL_UNROLL
  for (int k = 0; k < 4; k++) {
    const int32_t *first = start + 4 * k;
    __m512i samples = _mm512_castsi128_si512 (load_eight (row + first[0]));
    samples = _mm512_inserti32x4 (samples, load_eight (row + first[1]), 1);
    samples = _mm512_inserti32x4 (samples, load_eight (row + first[2]), 2);
    samples = _mm512_inserti32x4 (samples, load_eight (row + first[3]), 3);
    sum[k] = _mm512_dpwssd_epi32 (zero (), samples, load (weight + 32 * k));
  }
  return add_fours (sum);
}

static ALWAYS_INLINE __m512i
load_two (const int16_t *low, const int16_t *high)
{
  return _mm512_inserti64x4 (_mm512_castsi256_si512 (_mm256_loadu_si256 ((const __m256i *) low)),
                             _mm256_loadu_si256 ((const __m256i *) high), 1);
}

/* Four columns of sixteen taps: the sums of each in the four lanes of a quarter. */
static ALWAYS_INLINE __m512i
multiply_sixteens (const int16_t *row, const int32_t *start, const int16_t *weight, int stride)
{
  __m512i a = _mm512_setzero_si512 ();
  __m512i b = _mm512_setzero_si512 ();
  for (int t = 0; t < stride; t += 16) {
    const int16_t *at = weight + t;
    const __m512i first = stride == 16 ? load (at) : load_two (at, at + stride);
    const __m512i second =
      stride == 16 ? load (at + 32) : load_two (at + 2 * stride, at + 3 * stride);
    a = _mm512_dpwssd_epi32 (a, load_two (row + start[0] + t, row + start[1] + t), first);
    b = _mm512_dpwssd_epi32 (b, load_two (row + start[2] + t, row + start[3] + t), second);
  }
  return _mm512_add_epi32 (_mm512_shuffle_i32x4 (a, b, _MM_SHUFFLE (2, 0, 2, 0)),
                           _mm512_shuffle_i32x4 (a, b, _MM_SHUFFLE (3, 1, 3, 1)));
}

/* Multiples of sixteen taps: two columns a register. */
static ALWAYS_INLINE Ints
sum_sixteens (const int16_t *row, const int32_t *start, const int16_t *weight, int stride)
{
  __m512i sum[4];
  SL_UNROLL
  for (int k = 0; k < 4; k++)
    sum[k] = multiply_sixteens (row, start + 4 * k, weight + (ptrdiff_t) 4 * k * stride, stride);
  return add_fours (sum);
}

static ALWAYS_INLINE void
interleave_bytes (uint8_t *dst, SlOutType type, const Pixels value[3])
{
  const __m512i packed = _mm512_permutexvar_epi8 (load (byte_order), pack_pixels (type, value));
  _mm256_storeu_si256 ((__m256i *) dst, _mm512_castsi512_si256 (packed));
  _mm_storeu_si128 ((__m128i *) (dst + 32), _mm512_extracti32x4_epi32 (packed, 2));
}

static ALWAYS_INLINE void
interleave_halves (uint16_t *dst, const Pixels value[3])
{
  const __m512i a = _mm512_castsi256_si512 (_mm512_cvtps_ph (value[0], _MM_FROUND_TO_NEAREST_INT));
  const __m512i ab =
    _mm512_inserti64x4 (a, _mm512_cvtps_ph (value[1], _MM_FROUND_TO_NEAREST_INT), 1);
  const __m512i c = _mm512_castsi256_si512 (_mm512_cvtps_ph (value[2], _MM_FROUND_TO_NEAREST_INT));
  const __m512i rest = _mm512_permutex2var_epi16 (ab, load (half_order + WORDS), c);
  _mm512_storeu_si512 (dst, _mm512_permutex2var_epi16 (ab, load (half_order), c));
  _mm256_storeu_si256 ((__m256i *) (dst + WORDS), _mm512_castsi512_si256 (rest));
}

static ALWAYS_INLINE void
interleave_floats (float *dst, const Pixels value[3])
{
  SL_UNROLL
  for (int q = 0; q < 3; q++) {
    const __m512i order = load (float_order[q]);
    const __m512 ab = _mm512_permutex2var_ps (value[0], order, value[1]);
    _mm512_storeu_ps (dst + q * PIXELS,
                      _mm512_mask_permutexvar_ps (ab, float_thirds[q], order, value[2]));
  }
}

static ALWAYS_INLINE void
put_halves (uint16_t *dst, Pixels value)
{
  _mm256_storeu_si256 ((__m256i *) dst, _mm512_cvtps_ph (value, _MM_FROUND_TO_NEAREST_INT));
}

static ALWAYS_INLINE void
put_bytes (uint8_t *dst, SlOutType type, Pixels value)
{
  _mm_storeu_si128 ((__m128i *) dst,
                    _mm512_cvtepi32_epi8 (flip (_mm512_cvtps_epi32 (value), type)));
}

/** sl_gather_reduce_avx512: SlKernels.reduce for an axis that has SlAxis.gather; see
 * gather_avx512.c. */
void sl_gather_reduce_avx512 (int32_t *const dst[3], const int16_t *const row[3],
                              const SlGather *gather, int rows, SlPrefetch *prefetch);

#endif
