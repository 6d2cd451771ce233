/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The normaliser's row functions for 64-bit Arm, as kernels.h defines them and kernels_c.c does them. Ends of rows repeat
 * the last full block, or are left to C where there is none.
 */
#include <arm_neon.h>

#include "base/unroll.h"
#include "preprocess/kernels.h"
#include "preprocess/normalize.h"

#define ALWAYS_INLINE inline __attribute__ ((always_inline))
#define BYTES 16
#define WORDS 8
#define PIXELS 8

/* 16 sums of 16 bits in order. */
typedef struct
{
  uint16x8_t a, b;
} Sums;

static ALWAYS_INLINE uint16x8_t
multiply_high (uint16x8_t x, uint16_t weight)
{
  const uint32x4_t low = vmull_n_u16 (vget_low_u16 (x), weight);
  const uint32x4_t high = vmull_high_n_u16 (x, weight);
  return vuzp2q_u16 (vreinterpretq_u16_u32 (low), vreinterpretq_u16_u32 (high));
}

/* The sum with @row times 256 times @weight. */
static ALWAYS_INLINE Sums
add_weighed (Sums sums, uint8x16_t row, uint16_t weight)
{
  sums.a = vaddq_u16 (sums.a, multiply_high (vshll_n_u8 (vget_low_u8 (row), 8), weight));
  sums.b = vaddq_u16 (sums.b, multiply_high (vshll_high_n_u8 (row, 8), weight));
  return sums;
}

static ALWAYS_INLINE Sums
add_row (Sums sums, uint8x16_t row)
{
  return (Sums){ vaddw_u8 (sums.a, vget_low_u8 (row)), vaddw_high_u8 (sums.b, row) };
}

static ALWAYS_INLINE Sums
add_between (Sums sums, Sums between, const SlBand *band)
{
  const int16x8_t shift = vdupq_n_s16 ((int16_t) band->shift);
  sums.a = vaddq_u16 (sums.a, multiply_high (vshlq_u16 (between.a, shift), band->weight[2]));
  sums.b = vaddq_u16 (sums.b, multiply_high (vshlq_u16 (between.b, shift), band->weight[2]));
  return sums;
}

static ALWAYS_INLINE void
keep (int16_t *dst, Sums sums)
{
  vst1q_s16 (dst, vreinterpretq_s16_u16 (sums.a));
  vst1q_s16 (dst + WORDS, vreinterpretq_s16_u16 (sums.b));
}

static ALWAYS_INLINE bool
has_last (const SlBand *band)
{
  return band->weight[1] != 0 || band->count > 0;
}

static ALWAYS_INLINE void
blend_block (int16_t *dst, const SlBand *band, ptrdiff_t x)
{
  const Sums zero = { vdupq_n_u16 (0), vdupq_n_u16 (0) };
  const uint8_t *row = band->between + x;
  Sums sums = add_weighed (zero, vld1q_u8 (band->first + x), band->weight[0]);
  Sums between = zero;
  if (has_last (band))
    sums = add_weighed (sums, vld1q_u8 (band->last + x), band->weight[1]);
  for (int i = 0; i < band->count; i++, row += band->stride)
    between = add_row (between, vld1q_u8 (row));
  keep (dst + x, add_between (sums, between, band));
}

static void
blend_neon (int16_t *dst, const SlBand *band, int n, SlPrefetch *prefetch)
{
  if (n < BYTES) {
    sl_kernels_c.blend (dst, band, n, prefetch);
    return;
  }
  for (int x = 0; x + BYTES <= n; x += BYTES) {
    if (x % SL_CACHE_LINE == 0)
      sl_prefetch_step (prefetch);
    blend_block (dst, band, x);
  }
  if (n % BYTES != 0)
    blend_block (dst, band, n - BYTES);
}

static ALWAYS_INLINE void
pair_block (int16_t *even, int16_t *odd, const SlBand *band, ptrdiff_t x)
{
  int16_t *const dst[2] = { even + x, odd + x };
  const Sums zero = { vdupq_n_u16 (0), vdupq_n_u16 (0) };
  const uint8_t *row = band->between + 2 * x;
  const uint8x16x2_t first = vld2q_u8 (band->first + 2 * x);
  Sums sums[2], between[2] = { zero, zero };
  SL_UNROLL
  for (int h = 0; h < 2; h++)
    sums[h] = add_weighed (zero, first.val[h], band->weight[0]);
  if (has_last (band)) {
    const uint8x16x2_t last = vld2q_u8 (band->last + 2 * x);
    SL_UNROLL
    for (int h = 0; h < 2; h++)
      sums[h] = add_weighed (sums[h], last.val[h], band->weight[1]);
  }
  for (int i = 0; i < band->count; i++, row += band->stride) {
    const uint8x16x2_t both = vld2q_u8 (row);
    between[0] = add_row (between[0], both.val[0]);
    between[1] = add_row (between[1], both.val[1]);
  }
  SL_UNROLL
  for (int h = 0; h < 2; h++)
    keep (dst[h], add_between (sums[h], between[h], band));
}

static void
blend_pairs_neon (int16_t *even, int16_t *odd, const SlBand *band, int n, SlPrefetch *prefetch)
{
  if (n < BYTES) {
    sl_kernels_c.blend_pairs (even, odd, band, n, prefetch);
    return;
  }
  for (int x = 0; x + BYTES <= n; x += BYTES) {
    if (2 * x % SL_CACHE_LINE == 0)
      sl_prefetch_step (prefetch);
    pair_block (even, odd, band, x);
  }
  if (n % BYTES != 0)
    pair_block (even, odd, band, n - BYTES);
}

static ALWAYS_INLINE uint16x8_t
load_words (const uint8_t *row, int16x8_t left)
{
  return vandq_u16 (vshlq_u16 (vreinterpretq_u16_u8 (vld1q_u8 (row)), left), vdupq_n_u16 (0xffc0));
}

static ALWAYS_INLINE void
word_block (int16_t *dst, const SlBand *band, int16x8_t left, ptrdiff_t x)
{
  const uint8_t *row = band->between + 2 * x;
  uint16x8_t value = multiply_high (load_words (band->first + 2 * x, left), band->weight[0]);
  uint16x8_t sum = vdupq_n_u16 (0);
  if (has_last (band))
    value = vaddq_u16 (value, multiply_high (load_words (band->last + 2 * x, left), band->weight[1]));
  for (int i = 0; i < band->count; i++, row += band->stride)
    sum = vsraq_n_u16 (sum, load_words (row, left), 6);
  sum = multiply_high (vshlq_u16 (sum, vdupq_n_s16 ((int16_t) band->shift)), band->weight[2]);
  vst1q_s16 (dst + x, vreinterpretq_s16_u16 (vaddq_u16 (value, sum)));
}

static void
blend_words_neon (int16_t *dst, const SlBand *band, int left, int n, SlPrefetch *prefetch)
{
  const int16x8_t shift = vdupq_n_s16 ((int16_t) left);
  if (n < WORDS) {
    sl_kernels_c.blend_words (dst, band, left, n, prefetch);
    return;
  }
  for (int x = 0; x + WORDS <= n; x += WORDS) {
    if (2 * x % SL_CACHE_LINE == 0)
      sl_prefetch_step (prefetch);
    word_block (dst, band, shift, x);
  }
  if (n % WORDS != 0)
    word_block (dst, band, shift, n - WORDS);
}

static void
split_pairs_neon (int16_t *even, int16_t *odd, const int16_t *src, int n)
{
  int x = 0;
  for (; x + WORDS <= n; x += WORDS) {
    const int16x8x2_t both = vld2q_s16 (src + 2 * x);
    vst1q_s16 (even + x, both.val[0]);
    vst1q_s16 (odd + x, both.val[1]);
  }
  sl_kernels_c.split_pairs (even + x, odd + x, src + 2 * x, n - x);
}

static void
split_triples_neon (int16_t *const dst[3], const int16_t *src, int n)
{
  int x = 0;
  for (; x + WORDS <= n; x += WORDS) {
    const int16x8x3_t all = vld3q_s16 (src + 3 * x);
    vst1q_s16 (dst[0] + x, all.val[0]);
    vst1q_s16 (dst[1] + x, all.val[1]);
    vst1q_s16 (dst[2] + x, all.val[2]);
  }
  sl_kernels_c.split_triples ((int16_t *const[3]){ dst[0] + x, dst[1] + x, dst[2] + x }, src + 3 * x, n - x);
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

static ALWAYS_INLINE void
reduce_row (int32_t *dst, const int16_t *row, const SlAxis *columns, int stride)
{
  for (int i = 0; i < columns->count; i += 4) {
    const int16_t *weight = columns->weight + (ptrdiff_t) i * stride;
    int32x4_t sum[4];
    SL_UNROLL
    for (int k = 0; k < 4; k++)
      sum[k] = multiply_taps (row + columns->start[i + k], weight + k * stride, stride);
    vst1q_s32 (dst + i, vpaddq_s32 (vpaddq_s32 (sum[0], sum[1]), vpaddq_s32 (sum[2], sum[3])));
  }
}

static void
reduce_neon (int32_t *const dst[3], const int16_t *const row[3], const SlAxis *columns, int rows, SlPrefetch *prefetch)
{
  for (int r = 0; r < rows; r++) {
    if (columns->stride == 4)
      reduce_row (dst[r], row[r], columns, 4);
    else if (columns->stride == 8)
      reduce_row (dst[r], row[r], columns, 8);
    else if (columns->stride == 16)
      reduce_row (dst[r], row[r], columns, 16);
    else
      reduce_row (dst[r], row[r], columns, columns->stride);
  }
}

typedef struct
{
  float32x4_t low, high;
} Pixels;

typedef SlMix Mix;

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
  float32x4_t sum = vaddq_f32 (vaddq_f32 (xy, vmulq_n_f32 (z, mix->m[2])), vdupq_n_f32 (mix->constant));
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
  return (Pixels){ apply_half (mix, in[0].low, in[1].low, in[2].low), apply_half (mix, in[0].high, in[1].high, in[2].high) };
}

static ALWAYS_INLINE uint8x8_t
to_bytes (Pixels value, SlOutType type)
{
  const int16x4_t low = vmovn_s32 (vcvtnq_s32_f32 (value.low));
  const uint8x8_t bytes = vmovn_u16 (vreinterpretq_u16_s16 (vmovn_high_s32 (low, vcvtnq_s32_f32 (value.high))));
  return type == SL_OUT_I8 ? veor_u8 (bytes, vdup_n_u8 (0x80)) : bytes;
}

static ALWAYS_INLINE uint16x8_t
to_halves (Pixels value)
{
  return vreinterpretq_u16_f16 (vcvt_high_f16_f32 (vcvt_f16_f32 (value.low), value.high));
}

static ALWAYS_INLINE void
put (void *dst, SlOutType type, ptrdiff_t x, Pixels value)
{
  if (type == SL_OUT_F32) {
    vst1q_f32 ((float *) dst + x, value.low);
    vst1q_f32 ((float *) dst + x + 4, value.high);
  } else if (type == SL_OUT_F16) {
    vst1q_u16 ((uint16_t *) dst + x, to_halves (value));
  } else {
    vst1_u8 ((uint8_t *) dst + x, to_bytes (value, type));
  }
}

static ALWAYS_INLINE void
interleave (void *dst, SlOutType type, ptrdiff_t x, const Pixels value[3])
{
  if (type == SL_OUT_F32) {
    vst3q_f32 ((float *) dst + 3 * x, (float32x4x3_t){ { value[0].low, value[1].low, value[2].low } });
    vst3q_f32 ((float *) dst + 3 * x + 12, (float32x4x3_t){ { value[0].high, value[1].high, value[2].high } });
  } else if (type == SL_OUT_F16) {
    vst3q_u16 ((uint16_t *) dst + 3 * x, (uint16x8x3_t){ { to_halves (value[0]), to_halves (value[1]), to_halves (value[2]) } });
  } else {
    vst3_u8 ((uint8_t *) dst + 3 * x, (uint8x8x3_t){ { to_bytes (value[0], type), to_bytes (value[1], type), to_bytes (value[2], type) } });
  }
}

#include "preprocess/store_simd.h"

const SlKernels sl_kernels_neon = {
  .name = "neon",
  .blend = blend_neon,
  .blend_pairs = blend_pairs_neon,
  .blend_words = blend_words_neon,
  .split_pairs = split_pairs_neon,
  .split_triples = split_triples_neon,
  .reduce = reduce_neon,
  .store = SL_STORE_TABLE,
};
