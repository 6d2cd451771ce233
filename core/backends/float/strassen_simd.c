/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two tiles of rows by two panels with seven products instead of eight: Strassen's algorithm, once.
 * Rows, depth and channels are halved. Sums of activations are made once for all panels. Sums of
 * weights are made when registers are loaded, beside the multiplications, so panels stay as they
 * are packed.
 *
 * The depth is taken in slices, whose products are added up in the results.
 *
 *   product                        added to the results
 *   (x11 + x22) * (w11 + w22)      y11, y22
 *   (x21 + x22) * w11              y21, -y22
 *   x11 * (w12 - w22)              y12, y22
 *   (x21 - x11) * (w11 + w12)      y22
 *   x22 * (w21 - w11)              y11, y21
 *   (x11 + x12) * w22              -y11, y12
 *   (x12 - x22) * (w21 + w22)      y11
 */
#include <math.h>

#include "core/backends/float/simd.h"

#ifdef SL_STRASSEN

/* Registers of a tile, and floats of it. */
#define REGISTERS (MAX_ROWS * MAX_GROUPS)
#define TILE (REGISTERS * LANES)
/* Floats of the weights of an activation. */
#define STEP (MAX_GROUPS * LANES)
/* Floats of a line of the cache, and of weights ahead. */
#define LINE 16
#define PREFETCH 512
#define ALIGNED __attribute__ ((aligned (64)))

typedef enum
{
  ALONE,
  PLUS,
  MINUS
} Sign;

static inline Vec
magnitude_of (Vec values)
{
  return larger (values, broadcast (0) - values);
}

/* The sums of a slice of two rows, which are @half apart in each of five blocks at @to. Returns
 * whether the magnitudes of their halves are alike. */
static gboolean
add_halves (const gfloat *top, const gfloat *bottom, gint32 half, gsize block, gfloat *to)
{
  Vec sizes[4] = { broadcast (0), broadcast (0), broadcast (0), broadcast (0) };
  gfloat size[4];
  for (gint32 k = 0; k < half; k += LANES) {
    const Vec x11 = load (top + k), x12 = load (top + half + k), x21 = load (bottom + k),
              x22 = load (bottom + half + k);
    store (to + k, x11 + x22);
    store (to + block + k, x21 + x22);
    store (to + 2 * block + k, x11 + x12);
    store (to + 3 * block + k, x21 - x11);
    store (to + 4 * block + k, x12 - x22);
    sizes[0] = sizes[0] + magnitude_of (x11);
    sizes[1] = sizes[1] + magnitude_of (x12);
    sizes[2] = sizes[2] + magnitude_of (x21);
    sizes[3] = sizes[3] + magnitude_of (x22);
  }
  store_sums (size, sizes, 4, 0, INFINITY);
  return sl_float_strassen_alike (size);
}

gboolean
SL_SIMD (sl_float_strassen_sums) (const gfloat *rows, gint32 depth, gfloat *sums)
{
  const gsize row = SL_FLOAT_STRASSEN_ROW (depth);
  gboolean alike = TRUE;
  for (gint m = 0; m < MAX_ROWS; m++, rows += depth, sums += row)
    for (gint32 i = 0, first = 0, end; i < sl_float_strassen_slices (depth); i++, first = end) {
      end = sl_float_strassen_slice (depth, LANES, i + 1);
      alike &= add_halves (rows + first, rows + (gsize) MAX_ROWS * (gsize) depth + first,
                           (end - first) / 2, MAX_ROWS * row, sums + first / 2);
    }
  return alike;
}

/** Weights that are prefetched: @pace floats for each activation. */
typedef struct
{
  const gfloat *at;
  gsize pace;
} Ahead;

/* Adds to the sums a tile of rows, @stride floats apart, times weights, or times their sum with or
 * difference from @second. Weights @ahead are prefetched into the second cache, since they may come
 * from memory; where it is NULL, those of this product into the first. */
static inline __attribute__ ((always_inline)) void
multiply (Vec *sums, const gfloat *x, gsize stride, const gfloat *weights, const gfloat *second,
          const Sign sign, const Ahead *ahead, gint32 half)
{
  const gfloat *rows[MAX_ROWS], *line = ahead != NULL ? ahead->at : weights + PREFETCH;
  const gsize pace = ahead != NULL ? ahead->pace : STEP;
  SL_UNROLL
  for (gint m = 0; m < MAX_ROWS; m++)
    rows[m] = x + (gsize) m * stride;
  for (gint32 k = 0; k < half; k++, weights += STEP, second += STEP, line += pace) {
    Vec w[MAX_GROUPS];
    SL_UNROLL
    for (gint g = 0; g < MAX_GROUPS; g++) {
      if (g * LANES % LINE == 0) {
        if (ahead == NULL)
          __builtin_prefetch (line + g * LANES, 0, 3);
        else
          __builtin_prefetch (line + g * LANES, 0, 2);
      }
      w[g] = load (weights + g * LANES);
      if (sign == PLUS)
        w[g] = w[g] + load (second + g * LANES);
      if (sign == MINUS)
        w[g] = w[g] - load (second + g * LANES);
    }
    SL_UNROLL
    for (gint i = 0; i < REGISTERS; i++)
      sums[i] = fused (broadcast (rows[i / MAX_GROUPS][k]), w[i % MAX_GROUPS], sums[i]);
  }
}

static inline __attribute__ ((always_inline)) void
clear (Vec *sums)
{
  SL_UNROLL
  for (gint i = 0; i < REGISTERS; i++)
    sums[i] = broadcast (0);
}

/* What is at @from, with the sums added or subtracted, to @to. */
static inline __attribute__ ((always_inline)) void
combine (const gfloat *from, const Sign sign, const Vec *sums, gfloat *to)
{
  SL_UNROLL
  for (gint i = 0; i < REGISTERS; i++) {
    const Vec old = load (from + i * LANES);
    store (to + i * LANES, sign == PLUS ? old + sums[i] : old - sums[i]);
  }
}

/* The sums continue from what is at @from, added to them or less them. */
static inline __attribute__ ((always_inline)) void
go_on (const gfloat *from, const Sign sign, Vec *sums)
{
  SL_UNROLL
  for (gint i = 0; i < REGISTERS; i++) {
    const Vec old = load (from + i * LANES);
    sums[i] = sign == PLUS ? old + sums[i] : old - sums[i];
  }
}

static inline __attribute__ ((always_inline)) void
keep (const Vec *sums, gfloat *to)
{
  SL_UNROLL
  for (gint i = 0; i < REGISTERS; i++)
    store (to + i * LANES, sums[i]);
}

/** Results of a block by a pair, before they are limited. */
typedef struct
{
  gfloat y11[TILE], y12[TILE], y21[TILE], y22[TILE];
} Results;

/** A slice of a block and of a pair. @half: of its depth; @depth: of whole rows; @ahead: weights of
 * the two halves of either panel that are prefetched */
typedef struct
{
  const gfloat *x11, *x22, *added, *w11, *w12;
  gsize depth;
  gint32 half;
  Ahead ahead[4];
} Slice;

/* Adds the products of a slice. */
static void
multiply_slice (const Slice *slice, Results *to)
{
  const gint32 half = slice->half;
  const gsize depth = slice->depth, stride = SL_FLOAT_STRASSEN_ROW (depth),
              block = MAX_ROWS * stride, quarter = (gsize) half * STEP;
  const gfloat *added = slice->added, *w11 = slice->w11, *w21 = w11 + quarter, *w12 = slice->w12,
               *w22 = w12 + quarter;
  const Ahead *ahead = slice->ahead;
  Vec sums[REGISTERS];
  clear (sums);
  multiply (sums, added, stride, w11, w22, PLUS, NULL, half);
  combine (to->y11, PLUS, sums, to->y11);
  combine (to->y22, PLUS, sums, to->y22);
  clear (sums);
  multiply (sums, added + block, stride, w11, w11, ALONE, &ahead[0], half);
  combine (to->y21, PLUS, sums, to->y21);
  combine (to->y22, MINUS, sums, to->y22);
  clear (sums);
  multiply (sums, slice->x11, depth, w12, w22, MINUS, NULL, half);
  combine (to->y12, PLUS, sums, to->y12);
  go_on (to->y22, PLUS, sums);
  multiply (sums, added + 3 * block, stride, w11, w12, PLUS, &ahead[1], half);
  keep (sums, to->y22);
  clear (sums);
  multiply (sums, slice->x22, depth, w21, w11, MINUS, NULL, half);
  combine (to->y21, PLUS, sums, to->y21);
  combine (to->y11, PLUS, sums, to->y11);
  clear (sums);
  multiply (sums, added + 2 * block, stride, w22, w22, ALONE, &ahead[2], half);
  combine (to->y12, PLUS, sums, to->y12);
  go_on (to->y11, MINUS, sums);
  multiply (sums, added + 4 * block, stride, w21, w22, PLUS, &ahead[3], half);
  keep (sums, to->y11);
}

/* The slice of a depth from @first to before @end. */
static Slice
slice_of (const SlFloatPanel *pair, const SlFloatBlock *block, gint32 first, gint32 end)
{
  const gint32 half = (end - first) / 2;
  const gsize depth = (gsize) block->depth, at = (gsize) first * STEP,
              quarter = (gsize) half * STEP, count = (gsize) block->count;
  Slice slice = { .x11 = block->rows + first,
                  .x22 = block->rows + MAX_ROWS * depth + first + half,
                  .added = block->sums + first / 2,
                  .w11 = (const gfloat *) pair[0].weights + at,
                  .w12 = (const gfloat *) pair[1].weights + at,
                  .depth = depth,
                  .half = half };
  for (gsize i = 0; i < 4; i++)
    slice.ahead[i] = (Ahead){ (i < 2 ? slice.w11 : slice.w12) + (gsize) block->ahead * depth * STEP
                                + i % 2 * quarter + quarter * (gsize) block->index / count,
                              (STEP + count - 1) / count };
  return slice;
}

/* Results begin as the bias. */
static void
begin (const gfloat *bias, gfloat *to)
{
  SL_UNROLL
  for (gint i = 0; i < REGISTERS; i++)
    store (to + i * LANES, load (bias + i % MAX_GROUPS * LANES));
}

/* Results, within limits, to rows at @c. */
static void
finish (const SlFloatGemm *gemm, const gfloat *results, gfloat *c, gsize c_stride)
{
  const Vec lo = broadcast (gemm->lo), hi = broadcast (gemm->hi);
  const gboolean is_within = is_limited (gemm);
  for (gint m = 0; m < MAX_ROWS; m++)
    SL_UNROLL
  for (gint g = 0; g < MAX_GROUPS; g++) {
    const Vec result = load (results + (m * MAX_GROUPS + g) * LANES);
    store (c + (gsize) m * c_stride + g * LANES, is_within ? limited (result, lo, hi) : result);
  }
}

/* A block by a pair. */
static void
multiply_pair (const SlFloatGemm *gemm, const SlFloatPanel *pair, const SlFloatBlock *block,
               gfloat *c, gsize c_stride)
{
  const gint32 left = pair[0].channel, right = pair[1].channel, depth = block->depth;
  gfloat *below = c + (gsize) MAX_ROWS * c_stride;
  Results results ALIGNED;
  begin (gemm->bias + left, results.y11);
  begin (gemm->bias + right, results.y12);
  begin (gemm->bias + left, results.y21);
  begin (gemm->bias + right, results.y22);
  for (gint32 i = 0, first = 0, end; i < sl_float_strassen_slices (depth); i++, first = end) {
    end = sl_float_strassen_slice (depth, LANES, i + 1);
    const Slice slice = slice_of (pair, block, first, end);
    multiply_slice (&slice, &results);
  }
  finish (gemm, results.y11, c + left, c_stride);
  finish (gemm, results.y12, c + right, c_stride);
  finish (gemm, results.y21, below + left, c_stride);
  finish (gemm, results.y22, below + right, c_stride);
}

void
SL_SIMD (sl_float_strassen) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                             const SlFloatBlock *block, gfloat *c, gsize c_stride)
{
  for (gint32 p = first; p + 1 < end; p += 2)
    multiply_pair (gemm, &gemm->panels[p], block, c, c_stride);
}

#endif
