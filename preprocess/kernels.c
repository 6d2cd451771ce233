/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The normaliser's row functions in C: the definition that other instruction sets are tested against. Floats are
 * summed left to right, without contraction.
 */
#include "preprocess/kernels.h"

#include <string.h>

static void
sample_two (float *restrict dst, const uint8_t *restrict row, const int32_t *restrict offset, const float *restrict weight, int n)
{
  for (int i = 0; i < n; i++)
    dst[i] = (float) row[offset[2 * i]] * weight[2 * i] + (float) row[offset[2 * i + 1]] * weight[2 * i + 1];
}

static void
sample (float *dst, const uint8_t *row, const SlAxis *columns)
{
  const int taps = columns->taps;
  if (taps == 2) {
    sample_two (dst, row, columns->offset, columns->weight, columns->count);
    return;
  }
  for (int i = 0; i < columns->count; i++) {
    const int32_t *offset = columns->offset + i * taps;
    const float *weight = columns->weight + i * taps;
    float sum = (float) row[offset[0]] * weight[0];
    for (int t = 1; t < taps; t++)
      sum += (float) row[offset[t]] * weight[t];
    dst[i] = sum;
  }
}

static void
blend_two (float *restrict dst, const float *restrict a, const float *restrict b, float wa, float wb, int n)
{
  for (int i = 0; i < n; i++)
    dst[i] = a[i] * wa + b[i] * wb;
}

static void
blend (float *dst, const float *const *rows, const float *weight, int taps, int n)
{
  if (taps == 2) {
    blend_two (dst, rows[0], rows[1], weight[0], weight[1], n);
    return;
  }
  for (int i = 0; i < n; i++)
    dst[i] = rows[0][i] * weight[0];
  for (int t = 1; t < taps; t++) {
    for (int i = 0; i < n; i++)
      dst[i] += rows[t][i] * weight[t];
  }
}

/* NaN becomes low. */
static inline float
clamp (float value, float low, float high)
{
  value = value > low ? value : low;
  return value < high ? value : high;
}

static void
mix_one (float *restrict dst, const float *restrict a, const SlMix *mix, int n)
{
  const float m = mix->m[0], constant = mix->constant, low = mix->low, high = mix->high;
  for (int i = 0; i < n; i++)
    dst[i] = clamp (a[i] * m + constant, low, high);
}

static void
mix_three (float *restrict dst, const float *restrict a, const float *restrict b, const float *restrict c, const SlMix *mix, int n)
{
  const float m0 = mix->m[0], m1 = mix->m[1], m2 = mix->m[2];
  const float constant = mix->constant, low = mix->low, high = mix->high;
  for (int i = 0; i < n; i++)
    dst[i] = clamp (a[i] * m0 + b[i] * m1 + c[i] * m2 + constant, low, high);
}

static void
mix (float *dst, const float *const src[3], const SlMix *row, int n)
{
  if (row->inputs == 1)
    mix_one (dst, src[0], row, n);
  else
    mix_three (dst, src[0], src[1], src[2], row, n);
}

/* Half to even for |value| < 2^22: adding 1.5 * 2^23 leaves the rounded integer in the low bits of the significand. */
static inline int32_t
round_code (float value)
{
  const float biased = value + 12582912.0f;
  int32_t bits;
  memcpy (&bits, &biased, sizeof bits);
  return bits - 0x4b400000;
}

/* U8 and I8 share their low byte. */
static void
store_bytes (void *dst, const float *const src[3], int channels, int n)
{
  uint8_t *restrict out = dst;
  const float *restrict a = src[0];
  if (channels == 1) {
    for (int i = 0; i < n; i++)
      out[i] = (uint8_t) round_code (a[i]);
    return;
  }
  const float *restrict b = src[1];
  const float *restrict c = src[2];
  for (int i = 0; i < n; i++) {
    out[3 * i] = (uint8_t) round_code (a[i]);
    out[3 * i + 1] = (uint8_t) round_code (b[i]);
    out[3 * i + 2] = (uint8_t) round_code (c[i]);
  }
}

static void
store_floats (void *dst, const float *const src[3], int channels, int n)
{
  float *restrict out = dst;
  if (channels == 1) {
    memcpy (out, src[0], (size_t) n * sizeof *out);
    return;
  }
  const float *restrict a = src[0];
  const float *restrict b = src[1];
  const float *restrict c = src[2];
  for (int i = 0; i < n; i++) {
    out[3 * i] = a[i];
    out[3 * i + 1] = b[i];
    out[3 * i + 2] = c[i];
  }
}

const SlKernels sl_kernels_c = {
  .name = "c",
  .sample = sample,
  .blend = blend,
  .mix = mix,
  .store = { [SL_OUT_U8] = store_bytes, [SL_OUT_I8] = store_bytes, [SL_OUT_F32] = store_floats },
};
