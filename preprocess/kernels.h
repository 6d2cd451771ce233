/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The row functions the normaliser is made of, as a table: blend rows of the picture into 16-bit
 * rows, split these into components, reduce them to the tensor's columns in 32 bits, then matrix
 * and store. C defines their behaviour; other instruction sets provide the same table and give the
 * same bits.
 *
 * A 16-bit row holds component values scaled to 15 bits: an 8-bit value times 128, a 10-bit value
 * times 32, so at most 32736. It is 64-byte aligned and followed by SL_AXIS_SLACK readable samples.
 * A 32-bit row holds those times SL_TAP_ONE and has room for a multiple of SL_AXIS_GROUP. Rows of
 * the picture and of the tensor have any alignment, and nothing outside their n samples is touched.
 */
#pragma once

#include <stddef.h>

#include "preprocess/prefetch.h"
#include "preprocess/axis.h"

#define SL_ROW_ALIGN 64
/** Bits of a 16-bit row's samples, and of what one code of 0..2^bits-1 becomes in a 32-bit row:
 * 2^(15 - bits + 14). */
#define SL_ROW_BITS 15
#define SL_TAP_BITS 14

/**
 * SlBand: a weighted sum of rows of a plane:
 *   ((first << (16 - bits)) * weight[0] >> 16) + ((last << (16 - bits)) * weight[1] >> 16)
 *   + (((sum of the rows between) << shift) * weight[2] >> 16), every term an unsigned 16-bit
 * number; of more than one row
 *   of 8 bits, @shift is at most 6.
 * @first, @last: a sample of these rows; @last is not read when @weight[1] and @count are 0
 * @between: @count rows, @stride bytes apart and followed by @last; not read when @count is 0
 */
typedef struct
{
  const uint8_t *first, *last, *between;
  ptrdiff_t stride;
  int count;
  uint16_t weight[3];
  int shift;
} SlBand;

/** One output channel: clamp (((m[0] * src[0] + m[1] * src[1]) + m[2] * src[2]) + constant, low,
 * high) in float32, each operation rounded by itself. */
typedef struct
{
  float m[3], constant;
  float low, high;
} SlMix;

/** How the channels of a stored row lie. */
typedef enum
{
  SL_STORE_ONE,         /* one channel */
  SL_STORE_PLANES,      /* three rows */
  SL_STORE_INTERLEAVED, /* three channels in turn, in dst[0] */
  SL_STORE_COUNT
} SlStoreLayout;

/** Stores @n pixels of src[0..2] through one or three mixes. Integers are rounded half to even,
 * float16 to nearest even; the mixes' bounds are those of the type or tighter. Mixes for int8 make
 * a number from 0 to 255 too, and 128 is taken off the rounded one: so int8 is uint8 less 128
 * always, where a constant of 128 less could round the other way. */
typedef void (*SlStore) (void *const dst[3], const int32_t *const src[3], const SlMix *mix, int n);

/**
 * SlKernels: functions with @prefetch may issue prefetches by its pace.
 * @gathers: whether @reduce needs SlAxis.gather
 * @blend: @n samples of 8 bits
 * @blend_pairs: @n pairs of 8-bit samples; the first of each to @even, the second to @odd
 * @blend_words: @n samples of 10 bits in little-endian words, which @left (0 or 6) moves up to bit
 * 15; the six bits below and, for 6, above
 *   the value are ignored
 * @split_pairs, @split_triples: @n groups of a 16-bit row into rows
 * @reduce: for each of 1 to 3 @rows, dst[i] = the sum of row[start[i] + t] * weight[i * stride + t]
 * over the taps t of each column i; the axis has taps.
 *   Garbage beyond the last column is allowed up to a multiple of SL_AXIS_GROUP
 * @store: by SlOutType and SlStoreLayout; NULL where only the plain kernels have one
 */
typedef struct
{
  const char *name;
  bool gathers;
  void (*blend) (int16_t *dst, const SlBand *band, int n, SlPrefetch *prefetch);
  void (*blend_pairs) (int16_t *even, int16_t *odd, const SlBand *band, int n,
                       SlPrefetch *prefetch);
  void (*blend_words) (int16_t *dst, const SlBand *band, int left, int n, SlPrefetch *prefetch);
  void (*split_pairs) (int16_t *even, int16_t *odd, const int16_t *src, int n);
  void (*split_triples) (int16_t *const dst[3], const int16_t *src, int n);
  void (*reduce) (int32_t *const dst[3], const int16_t *const row[3], const SlAxis *columns,
                  int rows, SlPrefetch *prefetch);
  SlStore store[SL_OUT_COUNT][SL_STORE_COUNT];
} SlKernels;

extern const SlKernels sl_kernels_c;
extern const SlKernels sl_kernels_sse41, sl_kernels_avx2;
extern const SlKernels sl_kernels_avx512;
extern const SlKernels sl_kernels_neon;

/** sl_kernels_find: (nullable): the table called @name, NULL when this build or this processor has
 * none. */
const SlKernels *sl_kernels_find (const char *name);
/** sl_kernels_get: the best table of this processor, or of what the environment's SIGHTLINE_CPU
 * allows; the same at every call. */
const SlKernels *sl_kernels_get (void);

/** sl_blend_tall: the weighted sum of a span of too many rows for @blend; @rows is sample 0 of row
 * 0, @n samples of @bits. */
void sl_blend_tall (int16_t *dst, const uint8_t *rows, ptrdiff_t stride, const SlSpan *span,
                    int bits, int left, int n);
/** sl_reduce_wide: reduce for an axis that has spans. */
void sl_reduce_wide (int32_t *dst, const int16_t *row, const SlAxis *columns);
