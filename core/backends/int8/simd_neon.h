/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The register operations of the loops for Arm, with and without its dot products of signed bytes.
 */
#pragma once

#include "core/backends/int8/isa.h"

#ifdef __aarch64__
#include <arm_neon.h>
#include <string.h>

#if defined(SL_INT8_FOR_I8MM)
#define SL_SIMD(name) name##_i8mm
#elif defined(SL_INT8_FOR_DOTPROD)
#define SL_SIMD(name) name##_dotprod
#else
#define SL_SIMD(name) name##_neon
#endif
#define LANES 4
#define VEC_BYTES 16
#ifndef SL_INT8_FOR_I8MM
/* Rows are flipped before they are multiplied. */
#define NO_FLIP
#endif
#if defined(SL_INT8_FOR_DOTPROD)
#define MAX_ROWS 8
/* A register holds a row's activations of so many steps. */
#define LOADED_STEPS 4
#endif
/* There are registers for all sums of a depthwise window at once. */
#ifdef __ARM_FEATURE_DOTPROD
#define ALL_SUMS
#endif

typedef int32x4_t Vec;
typedef float32x4_t VecF;
typedef gint32 Mask;

/** SlInt8Output in registers. */
typedef struct
{
  int16x8_t zero_point;
  uint8x16_t lo, hi, flip;
} Narrow;

static inline uint8x16_t
bytes_of (Vec vec)
{
  return vreinterpretq_u8_s32 (vec);
}

static inline uint16x8_t
pairs_of (Vec vec)
{
  return vreinterpretq_u16_s32 (vec);
}

static inline Vec
load (const void *at)
{
  return vreinterpretq_s32_u8 (vld1q_u8 (at));
}

static inline VecF
load_floats (const gfloat *at)
{
  return vld1q_f32 (at);
}

/* The first @n floats at @at, of which there may be none, and zeros. */
static inline VecF
load_first (const gfloat *at, gint32 n)
{
  gfloat some[LANES] = { 0 };
  if (n >= LANES)
    return vld1q_f32 (at);
  for (gint32 i = 0; i < n; i++)
    some[i] = at[i];
  return vld1q_f32 (some);
}

/* The same as integers. */
static inline Vec
load_dwords (const gfloat *at, gint32 n)
{
  return vreinterpretq_s32_f32 (load_first (at, n));
}

static inline Vec
larger (Vec a, Vec b)
{
  return vmaxq_s32 (a, b);
}

static inline Vec
larger_unsigned (Vec a, Vec b)
{
  return vreinterpretq_s32_u32 (vmaxq_u32 (vreinterpretq_u32_s32 (a), vreinterpretq_u32_s32 (b)));
}

static inline gint32
largest_lane (Vec x)
{
  return vmaxvq_s32 (x);
}

static inline guint32
largest_unsigned_lane (Vec x)
{
  return vmaxvq_u32 (vreinterpretq_u32_s32 (x));
}

static inline VecF
set_floats (gfloat value)
{
  return vdupq_n_f32 (value);
}

static inline VecF
plus (VecF a, VecF b)
{
  return vaddq_f32 (a, b);
}

static inline VecF
times (VecF a, VecF b)
{
  return vmulq_f32 (a, b);
}

/* @a * @b + @c, rounded once. */
static inline VecF
times_plus (VecF a, VecF b, VecF c)
{
  return vfmaq_f32 (c, a, b);
}

/* Of @limit and @x, which is the result where it is NaN. */
static inline VecF
at_least (VecF limit, VecF x)
{
  return vmaxq_f32 (limit, x);
}

static inline VecF
at_most (VecF limit, VecF x)
{
  return vminq_f32 (limit, x);
}

static inline VecF
to_floats (Vec sums)
{
  return vcvtq_f32_s32 (sums);
}

static inline Vec
rounded (VecF x)
{
  return vcvtnq_s32_f32 (x);
}

/* The first @left floats. */
static inline void
store_floats (gfloat *at, gint32 left, VecF x)
{
  gfloat some[LANES];
  vst1q_f32 (left >= LANES ? at : some, x);
  for (gint32 i = 0; left < LANES && i < left; i++)
    at[i] = some[i];
}

static inline Vec
set_bytes (guint8 byte)
{
  return vreinterpretq_s32_u8 (vdupq_n_u8 (byte));
}

static inline Vec
set_dwords (gint32 dword)
{
  return vdupq_n_s32 (dword);
}

/* Bytes or pairs of bytes of two registers in turn, from the lower or upper half of each. */
static inline Vec
zip_low8 (Vec a, Vec b)
{
  return vreinterpretq_s32_u8 (vzip1q_u8 (bytes_of (a), bytes_of (b)));
}

static inline Vec
zip_high8 (Vec a, Vec b)
{
  return vreinterpretq_s32_u8 (vzip2q_u8 (bytes_of (a), bytes_of (b)));
}

static inline Vec
zip_low16 (Vec a, Vec b)
{
  return vreinterpretq_s32_u16 (vzip1q_u16 (pairs_of (a), pairs_of (b)));
}

static inline Vec
zip_high16 (Vec a, Vec b)
{
  return vreinterpretq_s32_u16 (vzip2q_u16 (pairs_of (a), pairs_of (b)));
}

/* The weights of rows 0, 1, 2 for rows 1, 2, 3. */
static inline Vec
next_row (Vec weights)
{
  return vshlq_n_s32 (weights, 8);
}

/* Four bytes of activations in every lane. */
static inline Vec
broadcast (const guint8 *at)
{
  gint32 four;
  memcpy (&four, at, sizeof four);
  return vdupq_n_s32 (four);
}

static inline Vec
flipped (Vec values, Vec flip)
{
  return veorq_s32 (values, flip);
}

/* @sums + products of signed @values and @weights, four to a lane. Two products fit 16 bits where
 * weights are -127..127. */
static inline Vec
dot (Vec sums, Vec values, Vec weights)
{
  const int8x16_t a = vreinterpretq_s8_s32 (values), w = vreinterpretq_s8_s32 (weights);
#ifdef __ARM_FEATURE_DOTPROD
  return vdotq_s32 (sums, a, w);
#else
  const int16x8_t low = vmull_s8 (vget_low_s8 (a), vget_low_s8 (w)), high = vmull_high_s8 (a, w);
  return vpadalq_s16 (sums, vpaddq_s16 (low, high));
#endif
}

/* load() where it is written: compilers change the order of loads and products for the worse. */
static inline __attribute__ ((always_inline)) Vec
load_now (const guint8 *at)
{
  Vec loaded;
  __asm__ volatile("ldr %q0, %1" : "=w"(loaded) : "m"(*(const Vec *) (gconstpointer) at));
  return loaded;
}

/* The same, without an addition before it. */
static inline __attribute__ ((always_inline)) Vec
load_at (const guint8 *at, gsize offset)
{
  Vec loaded;
  __asm__ volatile("ldr %q0, [%1, %2]" : "=w"(loaded) : "r"(at), "r"(offset) : "memory");
  return loaded;
}

#ifdef LOADED_STEPS
#define DOT_LANE(lane) \
  __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[" #lane "]" : "+w"(sums) : "w"(weights), "w"(values))

/* @sums + products of the @k-th four activations of @values and @weights. */
static inline __attribute__ ((always_inline)) Vec
dot_part (Vec sums, Vec values, const gint k, Vec weights)
{
  if (k == 0)
    DOT_LANE (0);
  else if (k == 1)
    DOT_LANE (1);
  else if (k == 2)
    DOT_LANE (2);
  else
    DOT_LANE (3);
  return sums;
}
#undef DOT_LANE
#endif

static inline Narrow
narrow_of (const SlInt8Output *output)
{
  return (Narrow){ vdupq_n_s16 (output->zero_point), vdupq_n_u8 (output->lo),
                   vdupq_n_u8 (output->hi), vdupq_n_u8 (output->flip) };
}

static inline Vec
scaled (Vec sums, VecF scale, VecF rest)
{
  return vcvtnq_s32_f32 (vaddq_f32 (vmulq_f32 (vcvtq_f32_s32 (sums), scale), rest));
}

/* Four registers of scaled sums as quantised values, those of x[0] first. */
static inline Vec
to_bytes (const Narrow *narrow, const Vec x[4])
{
  const int16x8_t x01 =
    vqaddq_s16 (vcombine_s16 (vqmovn_s32 (x[0]), vqmovn_s32 (x[1])), narrow->zero_point);
  const int16x8_t x23 =
    vqaddq_s16 (vcombine_s16 (vqmovn_s32 (x[2]), vqmovn_s32 (x[3])), narrow->zero_point);
  const uint8x16_t values = vcombine_u8 (vqmovun_s16 (x01), vqmovun_s16 (x23));
  return vreinterpretq_s32_u8 (
    veorq_u8 (vminq_u8 (vmaxq_u8 (values, narrow->lo), narrow->hi), narrow->flip));
}

static inline Vec
in_order (Vec values)
{
  return values;
}

/* The first @n bytes of a register. Loads read a whole one, which the padding of tensors allows. */
static inline Mask
mask_of (gint32 n)
{
  return n;
}

static inline Vec
load_some (Mask mask, const guint8 *at)
{
  return load (at);
}

static inline void
store_some (guint8 *at, Mask mask, Vec values)
{
  guint8 bytes[VEC_BYTES];
  if (mask >= VEC_BYTES) {
    vst1q_u8 (at, bytes_of (values));
    return;
  }
  vst1q_u8 (bytes, bytes_of (values));
  memcpy (at, bytes, (gsize) mask);
}

/* The @k-th of the four parts of @values: one register's results, of which the first @left are
 * wanted. */
static inline __attribute__ ((always_inline)) void
store_one (guint8 *c, gint32 left, const gint k, Vec values)
{
  const gint32 part = k == 0   ? vgetq_lane_s32 (values, 0)
                      : k == 1 ? vgetq_lane_s32 (values, 1)
                      : k == 2 ? vgetq_lane_s32 (values, 2)
                               : vgetq_lane_s32 (values, 3);
  if (left > 0)
    memcpy (c, &part, (gsize) MIN (left, LANES));
}

/* Half of @values: the results of two registers. */
static inline __attribute__ ((always_inline)) void
store_pair (guint8 *c, const gint half, Vec values)
{
  vst1_u8 (c, half ? vget_high_u8 (bytes_of (values)) : vget_low_u8 (bytes_of (values)));
}

/* For addition: LANES quantised values of each side, weighted and shifted. */
static inline Vec
widened (const guint8 *at)
{
  guint32 four;
  memcpy (&four, at, sizeof four);
  return vreinterpretq_s32_u32 (vmovl_u16 (vget_low_u16 (vmovl_u8 (vcreate_u8 (four)))));
}

static inline Vec
weighted_sum (const SlInt8Add *add, const guint8 *a, const guint8 *b, Vec flip)
{
  const Vec first = vmlaq_n_s32 (vdupq_n_s32 (add->bias), veorq_s32 (widened (a), flip), add->a);
  const Vec sum = vmlaq_n_s32 (first, veorq_s32 (widened (b), flip), add->b);
  const Vec below = vshrq_n_s32 (vsubq_s32 (sum, vdupq_n_s32 (add->lift)), 31);
  return vshlq_s32 (vaddq_s32 (sum, below), vdupq_n_s32 (-add->shift));
}

#endif
