/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers of 64-bit Arm, two at a time. */
#pragma once

#include "core/base/unroll.h"
#include "preprocess/kernels.h"
#include "preprocess/normalize.h"

#ifdef SL_PREPROCESS_FOR_NEON
#include <arm_neon.h>

#define ALWAYS_INLINE inline __attribute__ ((always_inline))
#define SL_SIMD_NAME "neon"
#define SL_SIMD(name) name##_neon
#define BYTES 32
#define WORDS 16
#define PIXELS 8
#define ROWS_TOGETHER 1

typedef uint16_t Weight;
typedef int16x8_t Shift;
typedef SlMix Mix;

typedef struct
{
  uint16x8_t low, high;
} Vec;

typedef struct
{
  int32x4_t low, high;
} Ints;

typedef struct
{
  float32x4_t low, high;
} Pixels;

/** BYTES sums of 16 bits. */
typedef struct
{
  Vec a, b;
} Sums;

/**
 * Weights: those of a band.
 * @second: 0xff, or 0 when the second row of the last pair does not count
 * @raise: the shift of a sum
 */
typedef struct
{
  Weight first, last, between;
  uint8x16_t second;
  Shift raise;
} Weights;

static ALWAYS_INLINE void
keep (int16_t *to, Vec value)
{
  vst1q_s16 (to, vreinterpretq_s16_u16 (value.low));
  vst1q_s16 (to + 8, vreinterpretq_s16_u16 (value.high));
}

static ALWAYS_INLINE void
keep_ints (int32_t *to, Ints value)
{
  vst1q_s32 (to, value.low);
  vst1q_s32 (to + 4, value.high);
}

static ALWAYS_INLINE void
keep_sums (int16_t *dst, Sums sums)
{
  keep (dst, sums.a);
  keep (dst + WORDS, sums.b);
}

static ALWAYS_INLINE Vec
zero (void)
{
  return (Vec){ vdupq_n_u16 (0), vdupq_n_u16 (0) };
}

static ALWAYS_INLINE Vec
plus (Vec x, Vec y)
{
  return (Vec){ vaddq_u16 (x.low, y.low), vaddq_u16 (x.high, y.high) };
}

static ALWAYS_INLINE uint16x8_t
multiply_half (uint16x8_t x, Weight weight)
{
  const uint32x4_t low = vmull_n_u16 (vget_low_u16 (x), weight);
  const uint32x4_t high = vmull_high_n_u16 (x, weight);
  return vuzp2q_u16 (vreinterpretq_u16_u32 (low), vreinterpretq_u16_u32 (high));
}

/* The products' upper 16 bits. */
static ALWAYS_INLINE Vec
multiply_high (Vec x, Weight weight)
{
  return (Vec){ multiply_half (x.low, weight), multiply_half (x.high, weight) };
}

static ALWAYS_INLINE Shift
shift_of (int bits)
{
  return vdupq_n_s16 ((int16_t) bits);
}

static ALWAYS_INLINE Vec
shifted (Vec x, Shift left)
{
  return (Vec){ vshlq_u16 (x.low, left), vshlq_u16 (x.high, left) };
}

static ALWAYS_INLINE Weights
load_weights (const SlBand *band)
{
  return (Weights){
    .first = band->weight[0],
    .last = band->weight[1],
    .between = band->weight[2],
    .second = vdupq_n_u8 (band->count % 2 == 0 ? 0xff : 0),
    .raise = shift_of (band->shift),
  };
}

/* BYTES samples, with @split those at even places first. */
static ALWAYS_INLINE uint8x16x2_t
load_samples (const uint8_t *row, bool split)
{
  return split ? vld2q_u8 (row) : (uint8x16x2_t){ { vld1q_u8 (row), vld1q_u8 (row + 16) } };
}

static ALWAYS_INLINE Vec
widen_bytes (uint8x16_t bytes)
{
  return (Vec){ vshll_n_u8 (vget_low_u8 (bytes), 8), vshll_high_n_u8 (bytes, 8) };
}

/* Samples times 256. */
static ALWAYS_INLINE Sums
widen (const uint8_t *row, bool split)
{
  const uint8x16x2_t samples = load_samples (row, split);
  return (Sums){ widen_bytes (samples.val[0]), widen_bytes (samples.val[1]) };
}

static ALWAYS_INLINE Vec
add_bytes (Vec sums, uint8x16_t bytes)
{
  return (Vec){ vaddw_u8 (sums.low, vget_low_u8 (bytes)), vaddw_high_u8 (sums.high, bytes) };
}

static ALWAYS_INLINE Sums
add_pair (Sums sums, const uint8_t *row, ptrdiff_t stride, const Weights *weights, bool split)
{
  const uint8x16x2_t x = load_samples (row, split), y = load_samples (row + stride, split);
  return (Sums){ add_bytes (add_bytes (sums.a, x.val[0]), y.val[0]),
                 add_bytes (add_bytes (sums.b, x.val[1]), y.val[1]) };
}

/* The sums are shifted when they are complete. */
static ALWAYS_INLINE Sums
add_last_pair (Sums sums, const uint8_t *row, ptrdiff_t stride, const Weights *weights, bool split)
{
  const uint8x16x2_t x = load_samples (row, split), y = load_samples (row + stride, split);
  const Vec a = add_bytes (add_bytes (sums.a, x.val[0]), vandq_u8 (y.val[0], weights->second));
  const Vec b = add_bytes (add_bytes (sums.b, x.val[1]), vandq_u8 (y.val[1], weights->second));
  return (Sums){ shifted (a, weights->raise), shifted (b, weights->raise) };
}

static ALWAYS_INLINE uint16x8_t
load_eight (const uint8_t *row, Shift left)
{
  return vandq_u16 (vshlq_u16 (vreinterpretq_u16_u8 (vld1q_u8 (row)), left), vdupq_n_u16 (0xffc0));
}

/* Codes of 10 bits in the upper bits of words. */
static ALWAYS_INLINE Vec
load_words (const uint8_t *row, Shift left)
{
  return (Vec){ load_eight (row, left), load_eight (row + 16, left) };
}

static ALWAYS_INLINE Vec
add_codes (Vec sum, Vec words)
{
  return (Vec){ vsraq_n_u16 (sum.low, words.low, 6), vsraq_n_u16 (sum.high, words.high, 6) };
}

static ALWAYS_INLINE void
split_pair (int16_t *even, int16_t *odd, const int16_t *src)
{
  for (int x = 0; x < WORDS; x += 8) {
    const int16x8x2_t both = vld2q_s16 (src + 2 * x);
    vst1q_s16 (even + x, both.val[0]);
    vst1q_s16 (odd + x, both.val[1]);
  }
}

static ALWAYS_INLINE void
split_triple (int16_t *const dst[3], ptrdiff_t x, const int16_t *src)
{
  for (int i = 0; i < WORDS; i += 8) {
    const int16x8x3_t all = vld3q_s16 (src + 3 * i);
    vst1q_s16 (dst[0] + x + i, all.val[0]);
    vst1q_s16 (dst[1] + x + i, all.val[1]);
    vst1q_s16 (dst[2] + x + i, all.val[2]);
  }
}

/* Products of one column's taps, in four partial sums. */
static ALWAYS_INLINE int32x4_t
multiply_taps (const int16_t *sample, const int16_t *weight, int stride)
{
  if (stride == 4)
    return vmull_s16 (vld1_s16 (sample), vld1_s16 (weight));
  int32x4_t sum = vdupq_n_s32 (0);
  for (int t = 0; t < stride; t += 8) {
    const int16x8_t s = vld1q_s16 (sample + t);
    const int16x8_t w = vld1q_s16 (weight + t);
    sum = vmlal_high_s16 (vmlal_s16 (sum, vget_low_s16 (s), vget_low_s16 (w)), s, w);
  }
  return sum;
}

static ALWAYS_INLINE int32x4_t
sum_four_columns (const int16_t *row, const int32_t *start, const int16_t *weight, int stride)
{
  int32x4_t sum[4];
  SL_UNROLL
  for (int k = 0; k < 4; k++)
    sum[k] = multiply_taps (row + start[k], weight + (ptrdiff_t) k * stride, stride);
  return vpaddq_s32 (vpaddq_s32 (sum[0], sum[1]), vpaddq_s32 (sum[2], sum[3]));
}

static ALWAYS_INLINE Ints
sum_sixteens (const int16_t *row, const int32_t *start, const int16_t *weight, int stride)
{
  return (Ints){ sum_four_columns (row, start, weight, stride),
                 sum_four_columns (row, start + 4, weight + (ptrdiff_t) 4 * stride, stride) };
}

static ALWAYS_INLINE Ints
sum_fours (const int16_t *row, const int32_t *start, const int16_t *weight)
{
  return sum_sixteens (row, start, weight, 4);
}

static ALWAYS_INLINE Ints
sum_eights (const int16_t *row, const int32_t *start, const int16_t *weight)
{
  return sum_sixteens (row, start, weight, 8);
}

static ALWAYS_INLINE Mix
load_mix (const SlMix *mix)
{
  return *mix;
}

static ALWAYS_INLINE float32x4_t
apply_half (const Mix *mix, float32x4_t x, float32x4_t y, float32x4_t z)
{
  const float32x4_t low = vdupq_n_f32 (mix->low);
  const float32x4_t high = vdupq_n_f32 (mix->high);
  const float32x4_t xy = vaddq_f32 (vmulq_n_f32 (x, mix->m[0]), vmulq_n_f32 (y, mix->m[1]));
  float32x4_t sum =
    vaddq_f32 (vaddq_f32 (xy, vmulq_n_f32 (z, mix->m[2])), vdupq_n_f32 (mix->constant));
  sum = vbslq_f32 (vcgtq_f32 (sum, low), sum, low);
  return vbslq_f32 (vcltq_f32 (sum, high), sum, high);
}

static ALWAYS_INLINE Pixels
load_pixels (const int32_t *src)
{
  return (Pixels){ vcvtq_f32_s32 (vld1q_s32 (src)), vcvtq_f32_s32 (vld1q_s32 (src + 4)) };
}

static ALWAYS_INLINE Pixels
apply (const Mix *mix, const Pixels in[3])
{
  return (Pixels){ apply_half (mix, in[0].low, in[1].low, in[2].low),
                   apply_half (mix, in[0].high, in[1].high, in[2].high) };
}

static ALWAYS_INLINE uint8x8_t
to_bytes (Pixels value, SlOutType type)
{
  const int16x4_t low = vmovn_s32 (vcvtnq_s32_f32 (value.low));
  const uint8x8_t bytes =
    vmovn_u16 (vreinterpretq_u16_s16 (vmovn_high_s32 (low, vcvtnq_s32_f32 (value.high))));
  return type == SL_OUT_I8 ? veor_u8 (bytes, vdup_n_u8 (0x80)) : bytes;
}

static ALWAYS_INLINE uint16x8_t
to_halves (Pixels value)
{
  return vreinterpretq_u16_f16 (vcvt_high_f16_f32 (vcvt_f16_f32 (value.low), value.high));
}

static ALWAYS_INLINE void
put_floats (float *dst, Pixels value)
{
  vst1q_f32 (dst, value.low);
  vst1q_f32 (dst + 4, value.high);
}

static ALWAYS_INLINE void
put_halves (uint16_t *dst, Pixels value)
{
  vst1q_u16 (dst, to_halves (value));
}

static ALWAYS_INLINE void
put_bytes (uint8_t *dst, SlOutType type, Pixels value)
{
  vst1_u8 (dst, to_bytes (value, type));
}

static ALWAYS_INLINE void
interleave_floats (float *dst, const Pixels value[3])
{
  vst3q_f32 (dst, (float32x4x3_t){ { value[0].low, value[1].low, value[2].low } });
  vst3q_f32 (dst + 12, (float32x4x3_t){ { value[0].high, value[1].high, value[2].high } });
}

static ALWAYS_INLINE void
interleave_halves (uint16_t *dst, const Pixels value[3])
{
  vst3q_u16 (
    dst, (uint16x8x3_t){ { to_halves (value[0]), to_halves (value[1]), to_halves (value[2]) } });
}

static ALWAYS_INLINE void
interleave_bytes (uint8_t *dst, SlOutType type, const Pixels value[3])
{
  vst3_u8 (dst, (uint8x8x3_t){ { to_bytes (value[0], type), to_bytes (value[1], type),
                                 to_bytes (value[2], type) } });
}

#endif
