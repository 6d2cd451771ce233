/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The normaliser's row functions in C: the definition that other instruction sets are tested
 * against, and what they call for the ends of rows. Floats are computed operation by operation,
 * without contraction.
 */
#include <math.h>
#include <string.h>

#include "preprocess/kernels.h"
#include "preprocess/store_table.h"

/* Samples at a time, so that sums stay in the first cache and compilers see loops without branches.
 */
#define CHUNK 128

static inline uint16_t
scale (unsigned int value, uint16_t weight)
{
  return (uint16_t) ((value * (uint32_t) weight) >> 16);
}

/* The last row, or the first for one that has no weight and may not be read. */
static inline const uint8_t *
last_row (const SlBand *band)
{
  return band->weight[1] != 0 || band->count > 0 ? band->last : band->first;
}

static inline int16_t
weigh (const SlBand *band, unsigned int first, unsigned int last, unsigned int sum)
{
  const uint16_t ends = (uint16_t) (scale (first, band->weight[0]) + scale (last, band->weight[1]));
  return (int16_t) (ends + scale ((uint16_t) (sum << band->shift), band->weight[2]));
}

/* At most CHUNK samples from byte @at of the rows. */
static void
blend_chunk (int16_t *restrict dst, const SlBand *band, ptrdiff_t at, int n)
{
  const SlBand local = *band;
  const uint8_t *restrict first = band->first + at;
  const uint8_t *restrict last = last_row (band) + at;
  uint16_t sum[CHUNK] = { 0 };
  for (int i = 0; i < band->count; i++) {
    const uint8_t *restrict row = band->between + i * band->stride + at;
    for (int x = 0; x < n; x++)
      sum[x] = (uint16_t) (sum[x] + row[x]);
  }
  for (int x = 0; x < n; x++)
    dst[x] = weigh (&local, (unsigned int) first[x] << 8, (unsigned int) last[x] << 8, sum[x]);
}

static void
blend (int16_t *dst, const SlBand *band, int n, SlPrefetch *prefetch)
{
  for (int x = 0; x < n; x += CHUNK)
    blend_chunk (dst + x, band, x, n - x < CHUNK ? n - x : CHUNK);
}

/* The code in the high ten bits of sixteen. */
static inline unsigned int
read_word (const uint8_t *row, ptrdiff_t x, int left)
{
  const unsigned int word = row[2 * x] | (unsigned int) row[2 * x + 1] << 8;
  return (word << left) & 0xffc0;
}

static void
blend_words (int16_t *dst, const SlBand *band, int left, int n, SlPrefetch *prefetch)
{
  const uint8_t *last = last_row (band);
  for (int begin = 0; begin < n; begin += CHUNK) {
    const int end = n - begin < CHUNK ? n : begin + CHUNK;
    uint16_t sum[CHUNK] = { 0 };
    for (int i = 0; i < band->count; i++) {
      for (int x = begin; x < end; x++)
        sum[x - begin] =
          (uint16_t) (sum[x - begin]
                      + (read_word (band->between + i * band->stride, x, left) >> 6));
    }
    for (int x = begin; x < end; x++)
      dst[x] =
        weigh (band, read_word (band->first, x, left), read_word (last, x, left), sum[x - begin]);
  }
}

static void
split_pairs (int16_t *even, int16_t *odd, const int16_t *src, int n)
{
  for (int x = 0; x < n; x++) {
    even[x] = src[2 * x];
    odd[x] = src[2 * x + 1];
  }
}

static void
blend_pairs (int16_t *even, int16_t *odd, const SlBand *band, int n, SlPrefetch *prefetch)
{
  int16_t both[CHUNK];
  for (int x = 0; x < n; x += CHUNK / 2) {
    const int pairs = n - x < CHUNK / 2 ? n - x : CHUNK / 2;
    blend_chunk (both, band, 2 * (ptrdiff_t) x, 2 * pairs);
    split_pairs (even + x, odd + x, both, pairs);
  }
}

static void
split_triples (int16_t *const dst[3], const int16_t *src, int n)
{
  for (int x = 0; x < n; x++) {
    dst[0][x] = src[3 * x];
    dst[1][x] = src[3 * x + 1];
    dst[2][x] = src[3 * x + 2];
  }
}

static void
reduce_row (int32_t *dst, const int16_t *row, const SlAxis *columns)
{
  for (int i = 0; i < columns->count; i++) {
    const int16_t *sample = row + columns->start[i];
    const int16_t *weight = columns->weight + i * columns->stride;
    int32_t sum = 0;
    for (int t = 0; t < columns->taps; t++)
      sum += sample[t] * weight[t];
    dst[i] = sum;
  }
}

static void
reduce (int32_t *const dst[3], const int16_t *const row[3], const SlAxis *columns, int rows,
        SlPrefetch *prefetch)
{
  for (int r = 0; r < rows; r++)
    reduce_row (dst[r], row[r], columns);
}

static inline float
mix_pixel (const SlMix *mix, const int32_t *const src[3], int x)
{
  const float a = (float) src[0][x] * mix->m[0];
  const float b = (float) src[1][x] * mix->m[1];
  const float c = (float) src[2][x] * mix->m[2];
  float value = ((a + b) + c) + mix->constant;
  value = value > mix->low ? value : mix->low;
  return value < mix->high ? value : mix->high;
}

/* Half to even for |value| < 2^22: adding 1.5 * 2^23 leaves the rounded integer in the low bits of
 * the significand. */
static inline uint8_t
to_byte (float value)
{
  const float biased = value + 12582912.0f;
  uint32_t bits;
  memcpy (&bits, &biased, sizeof bits);
  return (uint8_t) bits;
}

/* IEEE 754 binary16. Below 2^-14 the sum with 0.5 rounds at the last place of a subnormal half. */
static inline uint16_t
to_half (float value)
{
  uint32_t bits;
  memcpy (&bits, &value, sizeof bits);
  const uint32_t sign = bits & 0x80000000u;
  uint32_t magnitude = bits ^ sign;
  if (magnitude < 0x38800000u) {
    float small;
    memcpy (&small, &magnitude, sizeof small);
    small += 0.5f;
    memcpy (&magnitude, &small, sizeof magnitude);
    return (uint16_t) (sign >> 16 | (magnitude - 0x3f000000u));
  }
  magnitude += 0xc8000fffu + (magnitude >> 13 & 1);
  return (uint16_t) (sign >> 16 | magnitude >> 13);
}

static inline __attribute__ ((always_inline)) void
put (void *dst, SlOutType type, size_t at, float value)
{
  if (type == SL_OUT_F32)
    ((float *) dst)[at] = value;
  else if (type == SL_OUT_F16)
    ((uint16_t *) dst)[at] = to_half (value);
  else if (type == SL_OUT_I32)
    ((int32_t *) dst)[at] = (int32_t) lrintf (value);
  else if (type == SL_OUT_I64)
    ((int64_t *) dst)[at] = lrintf (value);
  else
    ((uint8_t *) dst)[at] = to_byte (value) ^ (type == SL_OUT_I8 ? 0x80 : 0);
}

static inline __attribute__ ((always_inline)) void
store (void *const dst[3], const int32_t *const src[3], const SlMix *mix, int n, SlOutType type,
       SlStoreLayout layout)
{
  const int channels = layout == SL_STORE_ONE ? 1 : 3;
  for (int x = 0; x < n; x++) {
    for (int c = 0; c < channels; c++) {
      const float value = mix_pixel (&mix[c], src, x);
      if (layout == SL_STORE_INTERLEAVED)
        put (dst[0], type, (size_t) x * 3 + (size_t) c, value);
      else
        put (dst[c], type, (size_t) x, value);
    }
  }
}

SL_STORES
SL_STORE (store_i32_one, SL_OUT_I32, SL_STORE_ONE)
SL_STORE (store_i32_planes, SL_OUT_I32, SL_STORE_PLANES)
SL_STORE (store_i32_interleaved, SL_OUT_I32, SL_STORE_INTERLEAVED)
SL_STORE (store_i64_one, SL_OUT_I64, SL_STORE_ONE)
SL_STORE (store_i64_planes, SL_OUT_I64, SL_STORE_PLANES)
SL_STORE (store_i64_interleaved, SL_OUT_I64, SL_STORE_INTERLEAVED)

const SlKernels sl_kernels_c = {
  .name = "c",
  .blend = blend,
  .blend_pairs = blend_pairs,
  .blend_words = blend_words,
  .split_pairs = split_pairs,
  .split_triples = split_triples,
  .reduce = reduce,
  .store = { SL_STORE_ROWS,
             [SL_OUT_I32] = { store_i32_one, store_i32_planes, store_i32_interleaved },
             [SL_OUT_I64] = { store_i64_one, store_i64_planes, store_i64_interleaved } },
};
