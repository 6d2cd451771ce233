/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers of SSE4.1: what differs from those of AVX2 and AVX-512. */
#pragma once

#include "core/base/unroll.h"
#include "preprocess/simd_x86.h"

#ifdef SL_PREPROCESS_FOR_SSE41
#include <string.h>

#define ROWS_TOGETHER 1
#define NO_HALVES

/* @sums of widened bytes are in their order already. */
static ALWAYS_INLINE void
keep_sums (int16_t *dst, Sums sums)
{
  keep (dst, sums.a);
  keep (dst + WORDS, sums.b);
}

static ALWAYS_INLINE void
split_pair (int16_t *even, int16_t *odd, const int16_t *src)
{
  const __m128i halves = _mm_setr_epi8 (0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  const __m128i a = _mm_shuffle_epi8 (load (src), halves),
                b = _mm_shuffle_epi8 (load (src + WORDS), halves);
  keep (even, _mm_unpacklo_epi64 (a, b));
  keep (odd, _mm_unpackhi_epi64 (a, b));
}

static ALWAYS_INLINE void
split_triple (int16_t *const dst[3], ptrdiff_t x, const int16_t *src)
{
  __m128i in[3];
  SL_UNROLL
  for (int i = 0; i < 3; i++)
    in[i] = load (src + 8 * i);
  SL_UNROLL
  for (int c = 0; c < 3; c++) {
    const __m128i a = _mm_shuffle_epi8 (in[0], load_order (third_order[c][0]));
    const __m128i b = _mm_shuffle_epi8 (in[1], load_order (third_order[c][1]));
    keep (dst[c] + x, _mm_or_si128 (_mm_or_si128 (a, b),
                                    _mm_shuffle_epi8 (in[2], load_order (third_order[c][2]))));
  }
}

/* The sums of the four lanes of each of four registers. */
static ALWAYS_INLINE Ints
add_fours (const __m128i in[4])
{
  return _mm_hadd_epi32 (_mm_hadd_epi32 (in[0], in[1]), _mm_hadd_epi32 (in[2], in[3]));
}

static ALWAYS_INLINE __m128i
load_two (const int16_t *low, const int16_t *high)
{
  return _mm_unpacklo_epi64 (_mm_loadl_epi64 ((const __m128i *) low),
                             _mm_loadl_epi64 ((const __m128i *) high));
}

/* Up to four taps: two columns a register. */
static ALWAYS_INLINE Ints
sum_fours (const int16_t *row, const int32_t *start, const int16_t *weight)
{
  const __m128i a = _mm_madd_epi16 (load_two (row + start[0], row + start[1]), load (weight));
  const __m128i b = _mm_madd_epi16 (load_two (row + start[2], row + start[3]), load (weight + 8));
  return _mm_hadd_epi32 (a, b);
}

/* Multiples of eight taps: a column a register. */
static ALWAYS_INLINE Ints
sum_sixteens (const int16_t *row, const int32_t *start, const int16_t *weight, int stride)
{
  __m128i product[4];
  SL_UNROLL
  for (int k = 0; k < 4; k++, weight += stride) {
    const int16_t *sample = row + start[k];
    product[k] = _mm_madd_epi16 (load (sample), load (weight));
    for (int t = 8; t < stride; t += 8)
      product[k] =
        _mm_add_epi32 (product[k], _mm_madd_epi16 (load (sample + t), load (weight + t)));
  }
  return add_fours (product);
}

static ALWAYS_INLINE Ints
sum_eights (const int16_t *row, const int32_t *start, const int16_t *weight)
{
  return sum_sixteens (row, start, weight, 8);
}

static ALWAYS_INLINE void
interleave_bytes (uint8_t *dst, SlOutType type, const Pixels value[3])
{
  const __m128i order = _mm_setr_epi8 (0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  const __m128i packed = _mm_shuffle_epi8 (pack_pixels (type, value), order);
  const int32_t last = _mm_extract_epi32 (packed, 2);
  _mm_storel_epi64 ((__m128i *) dst, packed);
  memcpy (dst + 8, &last, sizeof last);
}

/* a0 b0 c0 a1 | b1 c1 a2 b2 | c2 a3 b3 c3 */
static ALWAYS_INLINE void
interleave_floats (float *dst, const Pixels value[3])
{
  const __m128 ab = _mm_shuffle_ps (value[0], value[1], _MM_SHUFFLE (2, 0, 2, 0)); /* a0 a2 b0 b2 */
  const __m128 bc = _mm_shuffle_ps (value[1], value[2], _MM_SHUFFLE (3, 1, 3, 1)); /* b1 b3 c1 c3 */
  const __m128 ca = _mm_shuffle_ps (value[2], value[0], _MM_SHUFFLE (3, 1, 2, 0)); /* c0 c2 a1 a3 */
  _mm_storeu_ps (dst, _mm_shuffle_ps (ab, ca, _MM_SHUFFLE (2, 0, 2, 0)));
  _mm_storeu_ps (dst + 4, _mm_shuffle_ps (bc, ab, _MM_SHUFFLE (3, 1, 2, 0)));
  _mm_storeu_ps (dst + 8, _mm_shuffle_ps (ca, bc, _MM_SHUFFLE (3, 1, 3, 1)));
}

static ALWAYS_INLINE void
put_bytes (uint8_t *dst, SlOutType type, Pixels value)
{
  const __m128i order = _mm_setr_epi8 (0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const int32_t bytes =
    _mm_cvtsi128_si32 (_mm_shuffle_epi8 (flip (_mm_cvtps_epi32 (value), type), order));
  memcpy (dst, &bytes, sizeof bytes);
}

#endif
