/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The row functions for reductions beyond what 16-bit sums and tap tables hold: more than 256 rows
 * (64 of ten bits) or 64 columns to one. They sum in 32 bits and weigh in 64, with SlSpan's 30-bit
 * weights, on every processor.
 */
#include "preprocess/kernels.h"

#define WEIGHT_BITS 30
#define CHUNK 256

static inline int32_t
read_sample (const uint8_t *row, int x, int bits, int left)
{
  if (bits == 8)
    return row[x];
  const unsigned int word = row[2 * x] | (unsigned int) row[2 * x + 1] << 8;
  return (int32_t) (((word << left) & 0xffc0) >> 6);
}

static inline int64_t
weigh (const SlSpan *span, int32_t first, int32_t last, int32_t between, int shift)
{
  const int64_t ends = (int64_t) first * span->weight[0] + (int64_t) last * span->weight[1];
  return (ends + (int64_t) between * span->weight[2]) >> shift;
}

void
sl_blend_tall (int16_t *dst, const uint8_t *rows, ptrdiff_t stride, const SlSpan *span, int bits,
               int left, int n)
{
  const uint8_t *first = rows + span->first * stride;
  const uint8_t *last = rows + span->last * stride;
  for (int begin = 0; begin < n; begin += CHUNK) {
    const int end = begin + CHUNK < n ? begin + CHUNK : n;
    int32_t sum[CHUNK] = { 0 };
    for (int32_t r = span->first + 1; r < span->last; r++) {
      for (int x = begin; x < end; x++)
        sum[x - begin] += read_sample (rows + r * stride, x, bits, left);
    }
    for (int x = begin; x < end; x++) {
      const int32_t a = read_sample (first, x, bits, left);
      const int32_t b = read_sample (last, x, bits, left);
      dst[x] = (int16_t) weigh (span, a, b, sum[x - begin], WEIGHT_BITS - (SL_ROW_BITS - bits));
    }
  }
}

void
sl_reduce_wide (int32_t *dst, const int16_t *row, const SlAxis *columns)
{
  for (int i = 0; i < columns->count; i++) {
    const SlSpan *span = &columns->span[i];
    int32_t sum = 0;
    for (int32_t k = span->first + 1; k < span->last; k++)
      sum += row[k];
    dst[i] =
      (int32_t) weigh (span, row[span->first], row[span->last], sum, WEIGHT_BITS - SL_TAP_BITS);
  }
}
