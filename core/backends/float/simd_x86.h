/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers of AVX-512, of AVX2 with FMA, and those of AVX2 where AVX-512 makes them twice as many.
 */
#pragma once

#include "core/backends/float/isa.h"

#ifdef __FMA__
#include <immintrin.h>

#ifdef SL_FLOAT_FOR_AVX512
#define SL_SIMD(name) name##_avx512
#define SL_SIMD_NAME "avx512"
#define LANES 16
#define MAX_ROWS 8
#define MAX_GROUPS 3
/* times_power() of a power below that of the least number is 0. */
#define SL_SCALES_TO_ZERO
#define V(name) _mm512_##name
typedef __m512 Vec;
typedef __mmask16 Mask;
#else
#ifdef SL_FLOAT_FOR_AVX512VL
#define SL_SIMD(name) name##_avx512vl
#define SL_SIMD_NAME "avx512vl"
#define MAX_ROWS 8
#define MAX_GROUPS 3
#else
#define SL_SIMD(name) name##_fma
#define SL_SIMD_NAME "avx2"
#define MAX_ROWS 6
#define MAX_GROUPS 2
/* A third register of channels in place of a panel of one, whose sums are too few. */
#define ODD_GROUPS 3
#endif
#define LANES 8
#define V(name) _mm256_##name
typedef __m256 Vec;
typedef __m256i Mask;
#endif
#define IS_FASTER TRUE
/* There are loops of Strassen's algorithm. */
#define SL_STRASSEN

static inline Vec
load (const gfloat *at)
{
  return V (loadu_ps) (at);
}

#define SL_WIDENS

/* Floats of numbers of binary16. */
static inline Vec
load_half (const guint16 *at)
{
#ifdef SL_FLOAT_FOR_AVX512
  return _mm512_cvtph_ps (_mm256_loadu_si256 ((const __m256i *) (gconstpointer) at));
#else
  return _mm256_cvtph_ps (_mm_loadu_si128 ((const __m128i *) (gconstpointer) at));
#endif
}

/* Floats of numbers of bfloat16. */
static inline Vec
load_bfloat (const guint16 *at)
{
#ifdef SL_FLOAT_FOR_AVX512
  const __m512i wide =
    _mm512_cvtepu16_epi32 (_mm256_loadu_si256 ((const __m256i *) (gconstpointer) at));
  return _mm512_castsi512_ps (_mm512_slli_epi32 (wide, 16));
#else
  const __m256i wide =
    _mm256_cvtepu16_epi32 (_mm_loadu_si128 ((const __m128i *) (gconstpointer) at));
  return _mm256_castsi256_ps (_mm256_slli_epi32 (wide, 16));
#endif
}

/* Floats of whole numbers of 8 bits. */
static inline Vec
load_bytes (const gint8 *at)
{
#ifdef SL_FLOAT_FOR_AVX512
  return _mm512_cvtepi32_ps (
    _mm512_cvtepi8_epi32 (_mm_loadu_si128 ((const __m128i *) (gconstpointer) at)));
#else
  return _mm256_cvtepi32_ps (
    _mm256_cvtepi8_epi32 (_mm_loadl_epi64 ((const __m128i *) (gconstpointer) at)));
#endif
}

/* Floats of LANES bytes, shifted right by @shift, of which the bits of @mask are kept. */
static inline Vec
load_unsigned (const guint8 *at, const gint shift, const gint mask)
{
#ifdef SL_FLOAT_FOR_AVX512
  const __m512i wide =
    _mm512_cvtepu8_epi32 (_mm_loadu_si128 ((const __m128i *) (gconstpointer) at));
  return _mm512_cvtepi32_ps (
    _mm512_and_si512 (_mm512_srli_epi32 (wide, (guint) shift), _mm512_set1_epi32 (mask)));
#else
  const __m256i wide =
    _mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const __m128i *) (gconstpointer) at));
  return _mm256_cvtepi32_ps (
    _mm256_and_si256 (_mm256_srli_epi32 (wide, shift), _mm256_set1_epi32 (mask)));
#endif
}

static inline Vec
broadcast (gfloat value)
{
  return V (set1_ps) (value);
}

/* @a * @b + @sum */
static inline Vec
fused (Vec a, Vec b, Vec sum)
{
  return V (fmadd_ps) (a, b, sum);
}

/* 1 / @values, of values from 1: the processor's approximation and one step of Newton's method. The
 * approximation is up to 2^-11.4 off, and by how much differs between AMD and Intel; the result is
 * 2e-7 off at most. It is a third of a division's work. */
static inline Vec
reciprocal_of (Vec values)
{
#ifdef SL_FLOAT_FOR_AVX512
  const Vec first = _mm512_rcp14_ps (values);
#else
  const Vec first = _mm256_rcp_ps (values);
#endif
  return V (fmadd_ps) (first, V (fnmadd_ps) (values, first, V (set1_ps) (1)), first);
}

/* To the nearest whole number. */
static inline Vec
rounded (Vec values)
{
#ifdef SL_FLOAT_FOR_AVX512
  return _mm512_roundscale_ps (values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
  return _mm256_round_ps (values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#endif
}

/* @values times two to a whole @power; both results are normal numbers, or NaN of NaN. */
static inline Vec
times_power (Vec values, Vec power)
{
#ifdef SL_FLOAT_FOR_AVX512
  return _mm512_scalef_ps (values, power);
#else
  const __m256i exponent = _mm256_slli_epi32 (_mm256_cvtps_epi32 (power), 23);
  return _mm256_castsi256_ps (_mm256_add_epi32 (_mm256_castps_si256 (values), exponent));
#endif
}

/* Parts of a power of two whose powers a register holds: power_of_whole(). */
#define SL_PARTS LANES

/* Two to a power of whole sixteenths, or of eighths where a register is of eight lanes. They are
 * the last bits of @shifted. The table has two to each of them, less what they add to the exponent
 * together with the power. */
static inline Vec
power_of_whole (Vec shifted)
{
#ifdef SL_FLOAT_FOR_AVX512
  const __m512i powers = _mm512_setr_epi32 (
    0x3f800000, 0x3f7daac3, 0x3f7b95c2, 0x3f79c3d3, 0x3f7837f0, 0x3f76f532, 0x3f75fed7, 0x3f75583f,
    0x3f7504f3, 0x3f7508a4, 0x3f75672a, 0x3f76248c, 0x3f7744fd, 0x3f78ccdf, 0x3f7ac0c7, 0x3f7d257d);
  const __m512i bits = _mm512_castps_si512 (shifted);
  return _mm512_castsi512_ps (
    _mm512_add_epi32 (_mm512_permutexvar_epi32 (bits, powers), _mm512_slli_epi32 (bits, 19)));
#else
  const __m256i powers = _mm256_setr_epi32 (0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7,
                                            0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7);
  const __m256i bits = _mm256_castps_si256 (shifted);
  return _mm256_castsi256_ps (
    _mm256_add_epi32 (_mm256_permutevar8x32_epi32 (powers, bits), _mm256_slli_epi32 (bits, 20)));
#endif
}

/* Numbers of @table: each lane of @shifted has in its last bits which one it gets. */
static inline Vec
part_of (const gfloat *table, Vec shifted)
{
#ifdef SL_FLOAT_FOR_AVX512
  return _mm512_permutexvar_ps (_mm512_castps_si512 (shifted), load (table));
#else
  return _mm256_permutevar8x32_ps (load (table), _mm256_castps_si256 (shifted));
#endif
}

/* The larger of each pair. Where one is NaN, x86 takes the second: what may be NaN stands there. */
static inline Vec
larger (Vec a, Vec b)
{
  return V (max_ps) (a, b);
}

/* The larger of each pair, @b where @a is NaN. */
static inline Vec
larger_number (Vec a, Vec b)
{
  return larger (a, b);
}

/* The smaller of each pair, and NaN as in larger(). */
static inline Vec
smaller (Vec a, Vec b)
{
  return V (min_ps) (a, b);
}

static inline void
store (gfloat *at, Vec values)
{
  V (storeu_ps) (at, values);
}

/* The first @n lanes, less than LANES. */
static inline Mask
mask_of (gint32 n)
{
#ifdef SL_FLOAT_FOR_AVX512
  return (__mmask16) ((1u << n) - 1);
#else
  return _mm256_cmpgt_epi32 (_mm256_set1_epi32 (n), _mm256_setr_epi32 (0, 1, 2, 3, 4, 5, 6, 7));
#endif
}

/* The lanes of a mask; the rest of the register is 0. */
static inline Vec
load_masked (const gfloat *at, Mask mask)
{
#ifdef SL_FLOAT_FOR_AVX512
  return _mm512_maskz_loadu_ps (mask, at);
#else
  return _mm256_maskload_ps (at, mask);
#endif
}

/* @n less than LANES; the rest of the register is 0. */
static inline Vec
load_first (const gfloat *at, gint32 n)
{
  return load_masked (at, mask_of (n));
}

/* @n less than LANES. */
static inline void
store_first (gfloat *at, gint32 n, Vec values)
{
#ifdef SL_FLOAT_FOR_AVX512
  _mm512_mask_storeu_ps (at, mask_of (n), values);
#else
  _mm256_maskstore_ps (at, mask_of (n), values);
#endif
}

/* Loaded once: compilers would load it again for each operation, which takes twice as long where it
 * crosses a line of the cache. */
static inline Vec
in_register (Vec values)
{
#ifdef SL_FLOAT_FOR_AVX512
  __asm__("" : "+v"(values));
#else
  __asm__("" : "+x"(values));
#endif
  return values;
}

/* The largest lane. */
static inline gfloat
highest_lane (Vec values)
{
#ifdef SL_FLOAT_FOR_AVX512
  const __m256 half =
    _mm256_max_ps (_mm512_castps512_ps256 (values), _mm512_extractf32x8_ps (values, 1));
#else
  const __m256 half = values;
#endif
  const __m128 four = _mm_max_ps (_mm256_castps256_ps128 (half), _mm256_extractf128_ps (half, 1)),
               two = _mm_max_ps (four, _mm_movehl_ps (four, four));
  return _mm_cvtss_f32 (_mm_max_ss (two, _mm_shuffle_ps (two, two, 1)));
}

/* The sums of the lanes of @n registers, up to four, within limits. */
static inline void
store_sums (gfloat at[4], const Vec *values, const gint n, gfloat lo, gfloat hi)
{
  const Vec a = values[0], b = values[n > 1 ? 1 : 0], c = values[n > 2 ? 2 : 0],
            d = values[n > 3 ? 3 : 0];
  const Vec ab = V (add_ps) (V (unpacklo_ps) (a, b), V (unpackhi_ps) (a, b)),
            cd = V (add_ps) (V (unpacklo_ps) (c, d), V (unpackhi_ps) (c, d));
  const Vec all = V (add_ps) (V (shuffle_ps) (ab, cd, 0x44), V (shuffle_ps) (ab, cd, 0xee));
#ifdef SL_FLOAT_FOR_AVX512
  const __m256 half = _mm256_add_ps (_mm512_castps512_ps256 (all), _mm512_extractf32x8_ps (all, 1));
#else
  const __m256 half = all;
#endif
  const __m128 sums = _mm_add_ps (_mm256_castps256_ps128 (half), _mm256_extractf128_ps (half, 1));
  _mm_storeu_ps (at, _mm_min_ps (_mm_set1_ps (hi), _mm_max_ps (_mm_set1_ps (lo), sums)));
}

#endif
