/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers of four floats by the compiler's vector extension, for the architecture's baseline:
 * SSE2, NEON, or scalars. */
#pragma once

#include <math.h>
#include <string.h>

#include "core/backends/float/isa.h"

#define SL_SIMD(name) name##_base
#define LANES 4
#ifdef __aarch64__
#include <arm_neon.h>
#define SL_SIMD_NAME "neon"
#define MAX_ROWS 8
#define MAX_GROUPS 2
#define IS_FASTER TRUE
typedef float32x4_t Vec;
#elif defined(__SSE2__)
#include <emmintrin.h>
#define SL_SIMD_NAME "sse2"
#define MAX_ROWS 4
#define MAX_GROUPS 2
#define IS_FASTER FALSE
typedef __m128 Vec;
#else
#define SL_SIMD_NAME "c"
#define MAX_ROWS 4
#define MAX_GROUPS 2
#define IS_FASTER FALSE
typedef gfloat Vec __attribute__ ((vector_size (16)));
#endif

typedef gint32 Mask __attribute__ ((vector_size (16)));

static inline Vec
load (const gfloat *at)
{
  Vec values;
  memcpy (&values, at, sizeof values);
  return values;
}

#ifdef __aarch64__
#define SL_WIDENS

/* Floats of numbers of binary16. */
static inline Vec
load_half (const guint16 *at)
{
  return vcvt_f32_f16 (vreinterpret_f16_u16 (vld1_u16 (at)));
}

/* Floats of numbers of bfloat16. */
static inline Vec
load_bfloat (const guint16 *at)
{
  return vreinterpretq_f32_u32 (vshll_n_u16 (vld1_u16 (at), 16));
}

/* Floats of whole numbers of 8 bits. */
static inline Vec
load_bytes (const gint8 *at)
{
  guint32 four;
  memcpy (&four, at, sizeof four);
  const int16x8_t wide = vmovl_s8 (vreinterpret_s8_u32 (vdup_n_u32 (four)));
  return vcvtq_f32_s32 (vmovl_s16 (vget_low_s16 (wide)));
}
#endif

/* Floats of LANES bytes, shifted right by @shift, of which the bits of @mask are kept. */
static inline Vec
load_unsigned (const guint8 *at, const gint shift, const gint mask)
{
  return (Vec){ (gfloat) (at[0] >> shift & mask), (gfloat) (at[1] >> shift & mask),
                (gfloat) (at[2] >> shift & mask), (gfloat) (at[3] >> shift & mask) };
}

static inline Vec
broadcast (gfloat value)
{
  return (Vec){ value, value, value, value };
}

/* @a * @b + @sum */
static inline Vec
fused (Vec a, Vec b, Vec sum)
{
#ifdef __aarch64__
  return vfmaq_f32 (sum, a, b);
#else
  return a * b + sum;
#endif
}

#ifdef __aarch64__
/* @a's lane times @b + @sum */
#define fused_lane(a, lane, b, sum) vfmaq_laneq_f32 (sum, b, a, lane)
#endif

/* 1 / @values */
static inline Vec
reciprocal_of (Vec values)
{
  return broadcast (1) / values;
}

/* To the nearest whole number, of numbers within the range of int32. */
static inline Vec
rounded (Vec values)
{
#if defined(__aarch64__)
  return vrndnq_f32 (values);
#elif defined(__SSE2__)
  return _mm_cvtepi32_ps (_mm_cvtps_epi32 (values));
#else
  return (Vec){ rintf (values[0]), rintf (values[1]), rintf (values[2]), rintf (values[3]) };
#endif
}

/* @values times two to a whole @power; both results are normal numbers, or NaN of NaN. */
static inline Vec
times_power (Vec values, Vec power)
{
  typedef gint32 Ints __attribute__ ((vector_size (16)));
#if defined(__aarch64__)
  const Ints whole = (Ints) vcvtq_s32_f32 (power);
#elif defined(__SSE2__)
  const Ints whole = (Ints) _mm_cvtps_epi32 (power);
#else
  Ints whole = { 0 };
  for (guint i = 0; i < LANES; i++)
    if (!isnan (power[i]))
      whole[i] = (gint32) power[i];
#endif
  Ints bits;
  memcpy (&bits, &values, sizeof bits);
  bits += whole << 23;
  memcpy (&values, &bits, sizeof values);
  return values;
}

/* The larger of each pair. If one is NaN, x86 takes the second operand, so that one may be NaN. */
static inline Vec
larger (Vec a, Vec b)
{
#if defined(__aarch64__)
  return vmaxq_f32 (a, b);
#elif defined(__SSE2__)
  return _mm_max_ps (a, b);
#else
  return (Vec){ MAX (a[0], b[0]), MAX (a[1], b[1]), MAX (a[2], b[2]), MAX (a[3], b[3]) };
#endif
}

/* The larger of each pair, @b where @a is NaN. */
static inline Vec
larger_number (Vec a, Vec b)
{
#if defined(__aarch64__)
  return vmaxnmq_f32 (a, b);
#else
  return larger (a, b);
#endif
}

/* The smaller of each pair, and NaN as in larger(). */
static inline Vec
smaller (Vec a, Vec b)
{
#if defined(__aarch64__)
  return vminq_f32 (a, b);
#elif defined(__SSE2__)
  return _mm_min_ps (a, b);
#else
  return (Vec){ MIN (a[0], b[0]), MIN (a[1], b[1]), MIN (a[2], b[2]), MIN (a[3], b[3]) };
#endif
}

static inline void
store (gfloat *at, Vec values)
{
  memcpy (at, &values, sizeof values);
}

/* The first @n lanes, less than LANES. */
static inline Mask
mask_of (gint32 n)
{
  return (Mask){ n > 0 ? -1 : 0, n > 1 ? -1 : 0, n > 2 ? -1 : 0, 0 };
}

/* The lanes of a mask; the rest of the register is 0. Reads all of them. */
static inline Vec
load_masked (const gfloat *at, Mask mask)
{
  Mask bits;
  Vec values;
  memcpy (&bits, at, sizeof bits);
  bits &= mask;
  memcpy (&values, &bits, sizeof values);
  return values;
}

/* @n less than LANES; the rest of the register is 0. */
static inline Vec
load_first (const gfloat *at, gint32 n)
{
  Vec values = broadcast (0);
  memcpy (&values, at, (gsize) n * sizeof at[0]);
  return values;
}

/* @n less than LANES. */
static inline void
store_first (gfloat *at, gint32 n, Vec values)
{
  memcpy (at, &values, (gsize) n * sizeof at[0]);
}

/* Loaded once, as x86's loads of operands would not be. */
static inline Vec
in_register (Vec values)
{
  return values;
}

/* The largest lane. */
static inline gfloat
highest_lane (Vec values)
{
#ifdef __aarch64__
  return vmaxvq_f32 (values);
#else
  return MAX (MAX (values[0], values[1]), MAX (values[2], values[3]));
#endif
}

/* The sums of the lanes of @n registers, up to four, within limits. */
static inline void
store_sums (gfloat at[4], const Vec *values, const gint n, gfloat lo, gfloat hi)
{
  const Vec a = values[0], b = values[n > 1 ? 1 : 0], c = values[n > 2 ? 2 : 0],
            d = values[n > 3 ? 3 : 0];
#if defined(__aarch64__)
  const Vec sums = vpaddq_f32 (vpaddq_f32 (a, b), vpaddq_f32 (c, d));
#elif defined(__SSE2__)
  const Vec ab = _mm_unpacklo_ps (a, b) + _mm_unpackhi_ps (a, b),
            cd = _mm_unpacklo_ps (c, d) + _mm_unpackhi_ps (c, d);
  const Vec sums = _mm_movelh_ps (ab, cd) + _mm_movehl_ps (cd, ab);
#else
  const Vec sums = { a[0] + a[1] + a[2] + a[3], b[0] + b[1] + b[2] + b[3],
                     c[0] + c[1] + c[2] + c[3], d[0] + d[1] + d[2] + d[3] };
#endif
  store (at, smaller (broadcast (hi), larger (broadcast (lo), sums)));
}
