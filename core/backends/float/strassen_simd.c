/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two tiles of rows by two panels with seven products instead of eight: Strassen's algorithm, once.
 * Rows, depth and channels are halved. Sums of activations are made once for all panels. Sums of
 * weights are made when registers are loaded, beside the multiplications, so panels stay as they
 * are packed.
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

/* Into which cache weights are prefetched: those of this product into the first, those of the next
 * pair, which may come from memory, into the second. */
typedef enum
{
  NEAR,
  FAR
} Cache;

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

/* The sums of two rows, which are @half apart in each of five blocks at @to. Returns whether the
 * magnitudes of their halves are alike. */
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
  const gint32 half = depth / 2;
  const gsize row = SL_FLOAT_STRASSEN_ROW (depth);
  gboolean alike = TRUE;
  for (gint m = 0; m < MAX_ROWS; m++)
    alike &=
      add_halves (rows + (gsize) m * (gsize) depth, rows + (gsize) (m + MAX_ROWS) * (gsize) depth,
                  half, MAX_ROWS * row, sums + (gsize) m * row);
  return alike;
}

/* Adds to the sums a tile of rows, @stride floats apart, times weights, or times their sum with or
 * difference from @second. Weights at @next are prefetched. */
static inline __attribute__ ((always_inline)) void
multiply (Vec *sums, const gfloat *x, gsize stride, const gfloat *weights, const gfloat *second,
          const Sign sign, const gfloat *next, const Cache cache, gint32 half)
{
  const gfloat *rows[MAX_ROWS];
  SL_UNROLL
  for (gint m = 0; m < MAX_ROWS; m++)
    rows[m] = x + (gsize) m * stride;
  for (gint32 k = 0; k < half; k++, weights += STEP, second += STEP) {
    Vec w[MAX_GROUPS];
    SL_UNROLL
    for (gint g = 0; g < MAX_GROUPS; g++) {
      if (g * LANES % LINE == 0) {
        if (cache == NEAR)
          __builtin_prefetch (next + (gsize) k * STEP + g * LANES, 0, 3);
        else
          __builtin_prefetch (next + (gsize) k * STEP + g * LANES, 0, 2);
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

/* What is at @from, with the sums added or subtracted. */
static inline __attribute__ ((always_inline)) void
combine (const gfloat *from, const Sign sign, const Vec *sums, Vec *all)
{
  SL_UNROLL
  for (gint i = 0; i < REGISTERS; i++)
    if (sign == PLUS)
      all[i] = load (from + i * LANES) + sums[i];
    else
      all[i] = load (from + i * LANES) - sums[i];
}

static inline __attribute__ ((always_inline)) void
keep (const Vec *sums, gfloat *to)
{
  SL_UNROLL
  for (gint i = 0; i < REGISTERS; i++)
    store (to + i * LANES, sums[i]);
}

/* Results, with bias and within limits, to rows at @c. */
static inline __attribute__ ((always_inline)) void
finish (const SlFloatGemm *gemm, const Vec *sums, gint32 channel, gfloat *c, gsize c_stride)
{
  Vec results[REGISTERS];
  SL_UNROLL
  for (gint i = 0; i < REGISTERS; i++)
    results[i] = sums[i] + load (gemm->bias + channel + i % MAX_GROUPS * LANES);
  if (is_limited (gemm)) {
    const Vec lo = broadcast (gemm->lo), hi = broadcast (gemm->hi);
    SL_UNROLL
    for (gint i = 0; i < REGISTERS; i++)
      results[i] = limited (results[i], lo, hi);
  }
  SL_UNROLL
  for (gint i = 0; i < REGISTERS; i++)
    store (c + (gsize) (i / MAX_GROUPS) * c_stride + channel + i % MAX_GROUPS * LANES, results[i]);
}

/* A block by a pair. */
static void
multiply_pair (const SlFloatGemm *gemm, const SlFloatPanel *pair, const gfloat *rows, gint32 depth,
               const gfloat *added, gfloat *c, gsize c_stride)
{
  const gint32 half = depth / 2, left = pair[0].channel, right = pair[1].channel;
  const gsize stride = SL_FLOAT_STRASSEN_ROW (depth), block = MAX_ROWS * stride,
              quarter = (gsize) half * STEP;
  const gfloat *w11 = pair[0].weights, *w21 = w11 + quarter, *w12 = pair[1].weights,
               *w22 = w12 + quarter, *next = w22 + quarter;
  const gfloat *x22 = rows + (gsize) MAX_ROWS * (gsize) depth + half;
  gfloat *below = c + (gsize) MAX_ROWS * c_stride;
  gfloat y11[TILE] ALIGNED, y12[TILE] ALIGNED, y21[TILE] ALIGNED, y22[TILE] ALIGNED;
  Vec sums[REGISTERS], all[REGISTERS];
  clear (sums);
  multiply (sums, added, stride, w11, w22, PLUS, w11 + PREFETCH, NEAR, half);
  keep (sums, y11);
  clear (sums);
  multiply (sums, added + block, stride, w11, w11, ALONE, next, FAR, half);
  keep (sums, y21);
  combine (y11, MINUS, sums, all);
  keep (all, y22);
  clear (sums);
  multiply (sums, rows, (gsize) depth, w12, w22, MINUS, w12 + PREFETCH, NEAR, half);
  keep (sums, y12);
  combine (y22, PLUS, sums, sums);
  multiply (sums, added + 3 * block, stride, w11, w12, PLUS, next + quarter, FAR, half);
  finish (gemm, sums, right, below, c_stride);
  clear (sums);
  multiply (sums, x22, (gsize) depth, w21, w11, MINUS, w21 + PREFETCH, NEAR, half);
  combine (y21, PLUS, sums, all);
  finish (gemm, all, left, below, c_stride);
  combine (y11, PLUS, sums, all);
  keep (all, y11);
  clear (sums);
  multiply (sums, added + 2 * block, stride, w22, w22, ALONE, next + 2 * quarter, FAR, half);
  combine (y12, PLUS, sums, all);
  finish (gemm, all, right, c, c_stride);
  combine (y11, MINUS, sums, sums);
  multiply (sums, added + 4 * block, stride, w21, w22, PLUS, next + 3 * quarter, FAR, half);
  finish (gemm, sums, left, c, c_stride);
}

void
SL_SIMD (sl_float_strassen) (const SlFloatGemm *gemm, gint32 first, gint32 end, const gfloat *rows,
                             gint32 depth, const gfloat *sums, gfloat *c, gsize c_stride)
{
  for (gint32 p = first; p + 1 < end; p += 2)
    multiply_pair (gemm, &gemm->panels[p], rows, depth, sums, c, c_stride);
}

#endif
