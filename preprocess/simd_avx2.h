/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers of AVX2 with F16C: what differs from those of AVX-512. */
#pragma once

#include "core/base/unroll.h"
#include "preprocess/simd_x86.h"

#ifdef SL_PREPROCESS_FOR_AVX2
#include <string.h>

#define ROWS_TOGETHER 1

/* What part [q] of 24 interleaved 16-bit elements takes from the register of channel [c]. */
static const int8_t half_order[3][3][16] = {
  {
    { 0, 1, -1, -1, -1, -1, 2, 3, -1, -1, -1, -1, 4, 5, -1, -1 },
    { -1, -1, 0, 1, -1, -1, -1, -1, 2, 3, -1, -1, -1, -1, 4, 5 },
    { -1, -1, -1, -1, 0, 1, -1, -1, -1, -1, 2, 3, -1, -1, -1, -1 },
  },
  {
    { -1, -1, 6, 7, -1, -1, -1, -1, 8, 9, -1, -1, -1, -1, 10, 11 },
    { -1, -1, -1, -1, 6, 7, -1, -1, -1, -1, 8, 9, -1, -1, -1, -1 },
    { 4, 5, -1, -1, -1, -1, 6, 7, -1, -1, -1, -1, 8, 9, -1, -1 },
  },
  {
    { -1, -1, -1, -1, 12, 13, -1, -1, -1, -1, 14, 15, -1, -1, -1, -1 },
    { 10, 11, -1, -1, -1, -1, 12, 13, -1, -1, -1, -1, 14, 15, -1, -1 },
    { -1, -1, 10, 11, -1, -1, -1, -1, 12, 13, -1, -1, -1, -1, 14, 15 },
  },
};

/* @sums of widened bytes, in their order. */
static ALWAYS_INLINE void
keep_sums (int16_t *dst, Sums sums)
{
  keep (dst, _mm256_permute2x128_si256 (sums.a, sums.b, 0x20));
  keep (dst + WORDS, _mm256_permute2x128_si256 (sums.a, sums.b, 0x31));
}

static ALWAYS_INLINE void
split_pair (int16_t *even, int16_t *odd, const int16_t *src)
{
  const __m256i halves = _mm256_broadcastsi128_si256 (
    _mm_setr_epi8 (0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
  const __m256i a = _mm256_shuffle_epi8 (load (src), halves);
  const __m256i b = _mm256_shuffle_epi8 (load (src + WORDS), halves);
  keep (even, _mm256_permute4x64_epi64 (_mm256_unpacklo_epi64 (a, b), _MM_SHUFFLE (3, 1, 2, 0)));
  keep (odd, _mm256_permute4x64_epi64 (_mm256_unpackhi_epi64 (a, b), _MM_SHUFFLE (3, 1, 2, 0)));
}

static ALWAYS_INLINE __m256i
load_two (const int16_t *low, const int16_t *high)
{
  return _mm256_inserti128_si256 (_mm256_castsi128_si256 (_mm_loadu_si128 ((const __m128i *) low)),
                                  _mm_loadu_si128 ((const __m128i *) high), 1);
}

static ALWAYS_INLINE __m256i
pick_third (const __m256i in[3], int first)
{
  __m256i out = _mm256_setzero_si256 ();
  SL_UNROLL
  for (int part = 0; part < 3; part++)
    out = _mm256_or_si256 (
      out, _mm256_shuffle_epi8 (
             in[part], _mm256_broadcastsi128_si256 (load_order (third_order[first][part]))));
  return out;
}

/* Each half of a register has eight groups. */
static ALWAYS_INLINE void
split_triple (int16_t *const dst[3], ptrdiff_t x, const int16_t *src)
{
  __m256i in[3];
  SL_UNROLL
  for (int i = 0; i < 3; i++)
    in[i] = load_two (src + 8 * i, src + 24 + 8 * i);
  SL_UNROLL
  for (int c = 0; c < 3; c++)
    keep (dst[c] + x, pick_third (in, c));
}

/* Sums of the four 32-bit lanes of each half: lane i of a half from in[i]. */
static ALWAYS_INLINE __m256i
add_fours (const __m256i in[4])
{
  const __m256i ab =
    _mm256_add_epi32 (_mm256_unpacklo_epi32 (in[0], in[1]), _mm256_unpackhi_epi32 (in[0], in[1]));
  const __m256i cd =
    _mm256_add_epi32 (_mm256_unpacklo_epi32 (in[2], in[3]), _mm256_unpackhi_epi32 (in[2], in[3]));
  return _mm256_add_epi32 (_mm256_unpacklo_epi64 (ab, cd), _mm256_unpackhi_epi64 (ab, cd));
}

/* Up to four taps: the columns i to i + 3 in one register. */
static ALWAYS_INLINE __m256i
multiply_fours (const int16_t *row, const int32_t *start, const int16_t *weight)
{
  __m128i half[2];
  SL_UNROLL
  for (int i = 0; i < 2; i++) {
    const __m128i low = _mm_loadl_epi64 ((const __m128i *) (row + start[2 * i]));
    half[i] =
      _mm_unpacklo_epi64 (low, _mm_loadl_epi64 ((const __m128i *) (row + start[2 * i + 1])));
  }
  return _mm256_madd_epi16 (_mm256_inserti128_si256 (_mm256_castsi128_si256 (half[0]), half[1], 1),
                            load (weight));
}

static ALWAYS_INLINE Ints
sum_fours (const int16_t *row, const int32_t *start, const int16_t *weight)
{
  const __m256i a = multiply_fours (row, start, weight);
  const __m256i b = multiply_fours (row, start + 4, weight + 16);
  return _mm256_permute4x64_epi64 (_mm256_hadd_epi32 (a, b), _MM_SHUFFLE (3, 1, 2, 0));
}

/* Up to eight taps: two columns in the halves of a register. */
static ALWAYS_INLINE Ints
sum_eights (const int16_t *row, const int32_t *start, const int16_t *weight)
{
  __m256i product[4];
  SL_UNROLL
  for (int k = 0; k < 4; k++)
    product[k] = _mm256_madd_epi16 (load_two (row + start[2 * k], row + start[2 * k + 1]),
                                    load (weight + 16 * k));
  return _mm256_permutevar8x32_epi32 (add_fours (product),
                                      _mm256_setr_epi32 (0, 4, 1, 5, 2, 6, 3, 7));
}

/* Multiples of sixteen taps: a column a register. */
static ALWAYS_INLINE Ints
sum_sixteens (const int16_t *row, const int32_t *start, const int16_t *weight, int stride)
{
  __m256i product[8];
  SL_UNROLL
  for (int k = 0; k < 8; k++, weight += stride) {
    const int16_t *sample = row + start[k];
    product[k] = _mm256_madd_epi16 (load (sample), load (weight));
    for (int t = 16; t < stride; t += 16)
      product[k] =
        _mm256_add_epi32 (product[k], _mm256_madd_epi16 (load (sample + t), load (weight + t)));
  }
  const __m256i a = add_fours (product), b = add_fours (product + 4);
  return _mm256_add_epi32 (_mm256_permute2x128_si256 (a, b, 0x20),
                           _mm256_permute2x128_si256 (a, b, 0x31));
}

static ALWAYS_INLINE void
interleave_bytes (uint8_t *dst, SlOutType type, const Pixels value[3])
{
  const __m256i order = _mm256_broadcastsi128_si256 (
    _mm_setr_epi8 (0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  const __m256i packed = _mm256_shuffle_epi8 (pack_pixels (type, value), order);
  const __m128i rest = _mm256_extracti128_si256 (packed, 1);
  const int32_t last = _mm_extract_epi32 (rest, 2);
  _mm_storeu_si128 ((__m128i *) dst, _mm256_castsi256_si128 (packed));
  _mm_storel_epi64 ((__m128i *) (dst + 12), rest);
  memcpy (dst + 20, &last, sizeof last);
}

static ALWAYS_INLINE void
interleave_halves (uint16_t *dst, const Pixels value[3])
{
  __m128i half[3];
  SL_UNROLL
  for (int c = 0; c < 3; c++)
    half[c] = _mm256_cvtps_ph (value[c], _MM_FROUND_TO_NEAREST_INT);
  SL_UNROLL
  for (int q = 0; q < 3; q++) {
    __m128i out = _mm_setzero_si128 ();
    SL_UNROLL
    for (int c = 0; c < 3; c++)
      out = _mm_or_si128 (out, _mm_shuffle_epi8 (half[c], load_order (half_order[q][c])));
    _mm_storeu_si128 ((__m128i *) (dst + 8 * q), out);
  }
}

/* Halves of the three results hold pixels 0..3 and 4..7: a0 b0 c0 a1 | b1 c1 a2 b2 | c2 a3 b3 c3.
 */
static ALWAYS_INLINE void
interleave_floats (float *dst, const Pixels value[3])
{
  const __m256 ab =
    _mm256_shuffle_ps (value[0], value[1], _MM_SHUFFLE (2, 0, 2, 0)); /* a0 a2 b0 b2 */
  const __m256 bc =
    _mm256_shuffle_ps (value[1], value[2], _MM_SHUFFLE (3, 1, 3, 1)); /* b1 b3 c1 c3 */
  const __m256 ca =
    _mm256_shuffle_ps (value[2], value[0], _MM_SHUFFLE (3, 1, 2, 0));    /* c0 c2 a1 a3 */
  const __m256 x = _mm256_shuffle_ps (ab, ca, _MM_SHUFFLE (2, 0, 2, 0)); /* a0 b0 c0 a1 */
  const __m256 y = _mm256_shuffle_ps (bc, ab, _MM_SHUFFLE (3, 1, 2, 0)); /* b1 c1 a2 b2 */
  const __m256 z = _mm256_shuffle_ps (ca, bc, _MM_SHUFFLE (3, 1, 3, 1)); /* c2 a3 b3 c3 */
  _mm256_storeu_ps (dst, _mm256_permute2f128_ps (x, y, 0x20));
  _mm256_storeu_ps (dst + 8, _mm256_permute2f128_ps (z, x, 0x30));
  _mm256_storeu_ps (dst + 16, _mm256_permute2f128_ps (y, z, 0x31));
}

static ALWAYS_INLINE void
put_halves (uint16_t *dst, Pixels value)
{
  _mm_storeu_si128 ((__m128i *) dst, _mm256_cvtps_ph (value, _MM_FROUND_TO_NEAREST_INT));
}

static ALWAYS_INLINE void
put_bytes (uint8_t *dst, SlOutType type, Pixels value)
{
  const __m256i order = _mm256_broadcastsi128_si256 (
    _mm_setr_epi8 (0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
  const __m256i packed = _mm256_shuffle_epi8 (flip (_mm256_cvtps_epi32 (value), type), order);
  const __m128i both =
    _mm_unpacklo_epi32 (_mm256_castsi256_si128 (packed), _mm256_extracti128_si256 (packed, 1));
  _mm_storel_epi64 ((__m128i *) dst, both);
}

#endif
