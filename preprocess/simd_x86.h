/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the registers of SSE4.1, AVX2 and AVX-512 have in common: the same instructions of 128, 256
 * and 512 bits. */
#pragma once

#include "preprocess/kernels.h"
#include "preprocess/normalize.h"

#if defined(SL_PREPROCESS_FOR_AVX512) || defined(SL_PREPROCESS_FOR_AVX2) \
  || defined(SL_PREPROCESS_FOR_SSE41)
#include <immintrin.h>

#define ALWAYS_INLINE inline __attribute__ ((always_inline))

#ifdef SL_PREPROCESS_FOR_AVX512
#define SL_SIMD_NAME "avx512"
#define SL_SIMD(name) name##_avx512
#define BYTES 64
#define V(name) _mm512_##name
#define V_SI(name) _mm512_##name##_si512
typedef __m512i Vec;
typedef __m512 Pixels;
#elif defined(SL_PREPROCESS_FOR_AVX2)
#define SL_SIMD_NAME "avx2"
#define SL_SIMD(name) name##_avx2
#define BYTES 32
#define V(name) _mm256_##name
#define V_SI(name) _mm256_##name##_si256
typedef __m256i Vec;
typedef __m256 Pixels;
#else
#define SL_SIMD_NAME "sse41"
#define SL_SIMD(name) name##_sse41
#define BYTES 16
#define V(name) _mm_##name
#define V_SI(name) _mm_##name##_si128
typedef __m128i Vec;
typedef __m128 Pixels;
#endif
#define WORDS (BYTES / 2)
#define PIXELS (BYTES / 4)

typedef Vec Weight;
typedef Vec Ints;
typedef __m128i Shift;

/** BYTES sums of 16 bits. */
typedef struct
{
  Vec a, b;
} Sums;

/**
 * Weights: those of a band.
 * @unit, @rest: 1 << shift for the bytes of a pair of rows, and of the last pair, whose second row
 * may not count
 * @raise: the shift of a sum of words
 */
typedef struct
{
  Weight first, last, between;
  Vec unit, rest;
  Shift raise;
} Weights;

/** SlMix in registers. */
typedef struct
{
  Pixels m[3], constant, low, high;
} Mix;

static ALWAYS_INLINE Vec
load (const void *from)
{
  return V_SI (loadu) ((const Vec *) from);
}

static ALWAYS_INLINE void
keep (void *to, Vec value)
{
  V_SI (storeu) ((Vec *) to, value);
}

static ALWAYS_INLINE void
keep_ints (int32_t *to, Ints value)
{
  keep (to, value);
}

static ALWAYS_INLINE Vec
zero (void)
{
  return V_SI (setzero) ();
}

static ALWAYS_INLINE Vec
plus (Vec x, Vec y)
{
  return V (add_epi16) (x, y);
}

/* The products' upper 16 bits. */
static ALWAYS_INLINE Vec
multiply_high (Vec x, Weight weight)
{
  return V (mulhi_epu16) (x, weight);
}

static ALWAYS_INLINE Shift
shift_of (int bits)
{
  return _mm_cvtsi32_si128 (bits);
}

static ALWAYS_INLINE Vec
shifted (Vec x, Shift left)
{
  return V (sll_epi16) (x, left);
}

static ALWAYS_INLINE Weights
load_weights (const SlBand *band)
{
  const int unit = 1 << (band->shift & 7);
  return (Weights){
    .first = V (set1_epi16) ((int16_t) band->weight[0]),
    .last = V (set1_epi16) ((int16_t) band->weight[1]),
    .between = V (set1_epi16) ((int16_t) band->weight[2]),
    .unit = V (set1_epi8) ((char) unit),
    .rest = band->count % 2 == 0 ? V (set1_epi8) ((char) unit) : V (set1_epi16) ((int16_t) unit),
    .raise = shift_of (band->shift),
  };
}

/* The even bytes of @x and the odd ones of @y. */
static ALWAYS_INLINE Vec
even_odd (Vec x, Vec y)
{
#ifdef SL_PREPROCESS_FOR_AVX512
  return _mm512_mask_blend_epi8 (0xaaaaaaaaaaaaaaaa, x, y);
#else
  return V (blendv_epi8) (y, x, V (set1_epi16) (0xff));
#endif
}

/* BYTES samples times 256: the lower and the upper half of each 128-bit lane, or with @split those
 * at even and at odd places. */
static ALWAYS_INLINE Sums
widen (const uint8_t *row, bool split)
{
  const Vec bytes = load (row);
  if (split)
    return (Sums){ V (slli_epi16) (bytes, 8),
                   V_SI (and) (bytes, V (set1_epi16) ((int16_t) 0xff00)) };
  return (Sums){ V (unpacklo_epi8) (zero (), bytes), V (unpackhi_epi8) (zero (), bytes) };
}

/* Samples of two rows, in turn, are multiplied by @unit's bytes and added up by pairs. */
static ALWAYS_INLINE Sums
add_rows (Sums sums, const uint8_t *row, ptrdiff_t stride, Vec unit, bool split)
{
  const Vec x = load (row), y = load (row + stride);
  const Vec a = split ? even_odd (x, V (slli_epi16) (y, 8)) : V (unpacklo_epi8) (x, y);
  const Vec b = split ? even_odd (V (srli_epi16) (x, 8), y) : V (unpackhi_epi8) (x, y);
  return (Sums){ plus (sums.a, V (maddubs_epi16) (a, unit)),
                 plus (sums.b, V (maddubs_epi16) (b, unit)) };
}

static ALWAYS_INLINE Sums
add_pair (Sums sums, const uint8_t *row, ptrdiff_t stride, const Weights *weights, bool split)
{
  return add_rows (sums, row, stride, weights->unit, split);
}

static ALWAYS_INLINE Sums
add_last_pair (Sums sums, const uint8_t *row, ptrdiff_t stride, const Weights *weights, bool split)
{
  return add_rows (sums, row, stride, weights->rest, split);
}

/* Codes of 10 bits in the upper bits of words. */
static ALWAYS_INLINE Vec
load_words (const uint8_t *row, Shift left)
{
  return V_SI (and) (shifted (load (row), left), V (set1_epi16) ((int16_t) 0xffc0));
}

static ALWAYS_INLINE Vec
add_codes (Vec sum, Vec words)
{
  return plus (sum, V (srli_epi16) (words, 6));
}

static ALWAYS_INLINE Mix
load_mix (const SlMix *mix)
{
  return (Mix){
    .m = { V (set1_ps) (mix->m[0]), V (set1_ps) (mix->m[1]), V (set1_ps) (mix->m[2]) },
    .constant = V (set1_ps) (mix->constant),
    .low = V (set1_ps) (mix->low),
    .high = V (set1_ps) (mix->high),
  };
}

static ALWAYS_INLINE Pixels
load_pixels (const int32_t *src)
{
  return V (cvtepi32_ps) (load (src));
}

static ALWAYS_INLINE Pixels
apply (const Mix *mix, const Pixels in[3])
{
  const Pixels ab = V (add_ps) (V (mul_ps) (in[0], mix->m[0]), V (mul_ps) (in[1], mix->m[1]));
  const Pixels sum = V (add_ps) (V (add_ps) (ab, V (mul_ps) (in[2], mix->m[2])), mix->constant);
  return V (min_ps) (V (max_ps) (sum, mix->low), mix->high);
}

/* Bytes as @type has them. */
static ALWAYS_INLINE Vec
flip (Vec bytes, SlOutType type)
{
  return type == SL_OUT_I8 ? V_SI (xor) (bytes, V (set1_epi8) ((char) 0x80)) : bytes;
}

/* The three channels of a pixel in the lower bytes of 32 bits. */
static ALWAYS_INLINE Vec
pack_pixels (SlOutType type, const Pixels value[3])
{
  const Vec low = V (set1_epi32) (0xff);
  const Vec a = V_SI (and) (V (cvtps_epi32) (value[0]), low);
  const Vec b = V (slli_epi32) (V_SI (and) (V (cvtps_epi32) (value[1]), low), 8);
  const Vec c = V (slli_epi32) (V (cvtps_epi32) (value[2]), 16);
  return flip (V_SI (or) (V_SI (or) (a, b), c), type);
}

#ifndef SL_PREPROCESS_FOR_AVX512
/* Bytes of 24 16-bit elements in three registers: what register [part] has of every third element
 * from [first] on. */
static const int8_t third_order[3][3][16] = {
  {
    { 0, 1, 6, 7, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 },
    { -1, -1, -1, -1, -1, -1, 2, 3, 8, 9, 14, 15, -1, -1, -1, -1 },
    { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 4, 5, 10, 11 },
  },
  {
    { 2, 3, 8, 9, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 },
    { -1, -1, -1, -1, -1, -1, 4, 5, 10, 11, -1, -1, -1, -1, -1, -1 },
    { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 6, 7, 12, 13 },
  },
  {
    { 4, 5, 10, 11, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 },
    { -1, -1, -1, -1, 0, 1, 6, 7, 12, 13, -1, -1, -1, -1, -1, -1 },
    { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 2, 3, 8, 9, 14, 15 },
  },
};

static ALWAYS_INLINE __m128i
load_order (const int8_t order[16])
{
  return _mm_loadu_si128 ((const __m128i *) order);
}

#endif

static ALWAYS_INLINE void
put_floats (float *dst, Pixels value)
{
  V (storeu_ps) (dst, value);
}

#endif
