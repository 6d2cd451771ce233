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
  const gfloat *rows[MAX_ROWS], *line = ahead != NULL ? ahead->at : NULL;
  const gsize pace = ahead != NULL ? ahead->pace : 0;
  SL_UNROLL
  for (gint m = 0; m < MAX_ROWS; m++)
    rows[m] = x + (gsize) m * stride;
  for (gint32 k = 0; k < half; k++, weights += STEP, second += STEP, line += pace) {
    Vec w[MAX_GROUPS];
    SL_UNROLL
    for (gint g = 0; g < MAX_GROUPS; g++) {
      if (g * LANES % LINE == 0) {
        if (ahead == NULL)
          __builtin_prefetch (weights + PREFETCH + g * LANES, 0, 3);
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

/* What is at @from, with the sums added or subtracted; it may be the sums themselves. */
static inline __attribute__ ((always_inline)) void
combine (const gfloat *from, const Sign sign, const Vec *sums, Vec *all)
{
  SL_UNROLL
  for (gint i = 0; i < REGISTERS; i++) {
    const Vec old = load (from + i * LANES);
    all[i] = sign == PLUS ? old + sums[i] : old - sums[i];
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

/** A slice of a block and of a pair. @half: of its depth; @depth: of whole rows; @begins: it is the
 * first, whose results begin as the bias; @ends: it is the last, whose results are limited and go
 * to rows at @c; @ahead: weights of the two halves of either panel that are prefetched */
typedef struct
{
  const SlFloatGemm *gemm;
  const gfloat *x11, *x22, *added, *w11, *w12;
  gint32 left, right; /* channels of the panels */
  gsize depth, c_stride;
  gfloat *c;
  gint32 half;
  gboolean begins, ends;
  Ahead ahead[4];
} Slice;

/* Sums that are the first ones of their results. */
static inline __attribute__ ((always_inline)) void
begin (const Slice *slice, const Vec *sums, gint32 channel, gfloat *to)
{
  const gfloat *bias = slice->gemm->bias + channel;
  const gboolean begins = slice->begins;
  SL_UNROLL
  for (gint i = 0; i < REGISTERS; i++)
    store (to + i * LANES,
           sums[i] + load (begins ? bias + i % MAX_GROUPS * LANES : to + i * LANES));
}

/* Sums that nothing of this slice is added to: within limits to rows, or to what is kept. */
static inline __attribute__ ((always_inline)) void
end (const Slice *slice, Vec *sums, gint32 channel, gboolean below, gfloat *to)
{
  gfloat *c = slice->c + (below ? (gsize) MAX_ROWS * slice->c_stride : 0) + channel;
  if (!slice->ends) {
    keep (sums, to);
    return;
  }
  if (is_limited (slice->gemm)) {
    const Vec lo = broadcast (slice->gemm->lo), hi = broadcast (slice->gemm->hi);
    SL_UNROLL
    for (gint i = 0; i < REGISTERS; i++)
      sums[i] = limited (sums[i], lo, hi);
  }
  SL_UNROLL
  for (gint i = 0; i < REGISTERS; i++)
    store (c + (gsize) (i / MAX_GROUPS) * slice->c_stride + i % MAX_GROUPS * LANES, sums[i]);
}

/* Adds the products of a slice. */
static void
multiply_slice (const Slice *slice, Results *to)
{
  const gint32 half = slice->half, left = slice->left, right = slice->right;
  const gsize depth = slice->depth, stride = SL_FLOAT_STRASSEN_ROW (depth),
              block = MAX_ROWS * stride, quarter = (gsize) half * STEP;
  const gfloat *added = slice->added, *w11 = slice->w11, *w21 = w11 + quarter, *w12 = slice->w12,
               *w22 = w12 + quarter;
  const Ahead *ahead = slice->ahead;
  Vec sums[REGISTERS], all[REGISTERS];
  clear (sums);
  multiply (sums, added, stride, w11, w22, PLUS, NULL, half);
  begin (slice, sums, left, to->y11);
  begin (slice, sums, right, to->y22);
  clear (sums);
  multiply (sums, added + block, stride, w11, w11, ALONE, &ahead[0], half);
  begin (slice, sums, left, to->y21);
  combine (to->y22, MINUS, sums, all);
  keep (all, to->y22);
  clear (sums);
  multiply (sums, slice->x11, depth, w12, w22, MINUS, NULL, half);
  begin (slice, sums, right, to->y12);
  combine (to->y22, PLUS, sums, sums);
  multiply (sums, added + 3 * block, stride, w11, w12, PLUS, &ahead[1], half);
  end (slice, sums, right, TRUE, to->y22);
  clear (sums);
  multiply (sums, slice->x22, depth, w21, w11, MINUS, NULL, half);
  combine (to->y11, PLUS, sums, all);
  keep (all, to->y11);
  combine (to->y21, PLUS, sums, sums);
  end (slice, sums, left, TRUE, to->y21);
  clear (sums);
  multiply (sums, added + 2 * block, stride, w22, w22, ALONE, &ahead[2], half);
  combine (to->y12, PLUS, sums, all);
  end (slice, all, right, FALSE, to->y12);
  combine (to->y11, MINUS, sums, sums);
  multiply (sums, added + 4 * block, stride, w21, w22, PLUS, &ahead[3], half);
  end (slice, sums, left, FALSE, to->y11);
}

/* A block by a pair, while weights of the pair at @later are prefetched. */
static void
multiply_pair (const SlFloatGemm *gemm, const SlFloatPanel *pair, const SlFloatPanel *later,
               const SlFloatBlock *block, gfloat *c, gsize c_stride)
{
  const gint32 slices = sl_float_strassen_slices (block->depth);
  const gsize depth = (gsize) block->depth, count = (gsize) block->count;
  Results results ALIGNED;
  Slice slice = { .gemm = gemm,
                  .left = pair[0].channel,
                  .right = pair[1].channel,
                  .depth = depth,
                  .c = c,
                  .c_stride = c_stride };
  for (gint32 i = 0, first = 0, next; i < slices; i++, first = next) {
    next = sl_float_strassen_slice (block->depth, LANES, i + 1);
    slice.half = (next - first) / 2;
    slice.begins = i == 0;
    slice.ends = i + 1 == slices;
    slice.x11 = block->rows + first;
    slice.x22 = block->rows + MAX_ROWS * depth + first + slice.half;
    slice.added = block->sums + first / 2;
    slice.w11 = (const gfloat *) pair[0].weights + (gsize) first * STEP;
    slice.w12 = (const gfloat *) pair[1].weights + (gsize) first * STEP;
    const gsize quarter = (gsize) slice.half * STEP;
    for (gsize k = 0; k < 4; k++)
      slice.ahead[k] = (Ahead){ (const gfloat *) later[k / 2].weights + (gsize) first * STEP
                                  + k % 2 * quarter + quarter * (gsize) block->index / count,
                                (STEP + count - 1) / count };
    multiply_slice (&slice, &results);
  }
}

void
SL_SIMD (sl_float_strassen) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                             const SlFloatBlock *block, gfloat *c, gsize c_stride)
{
  for (gint32 p = first; p + 1 < end; p += 2)
    multiply_pair (gemm, &gemm->panels[p], &gemm->panels[(p + block->ahead) % block->panels], block,
                   c, c_stride);
}

#endif
