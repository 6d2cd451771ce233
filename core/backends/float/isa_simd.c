/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators, products of vectors and matrices, and the row of each instruction set. */
#include "core/backends/float/simd.h"

/* Sums at a time, enough of them to hide the latency of a multiply-add. */
#define MAX_REGISTERS 8
/* Registers of a PRELU that are read before they are written, or of a weighed sum. */
#define TOGETHER 4

static void
add_simd (const gfloat *a, const gfloat *b, gfloat *out, gsize n, gfloat lo, gfloat hi)
{
  const Vec least = broadcast (lo), most = broadcast (hi);
  for (gsize i = 0; i < n; i += LANES)
    store_some (out + i, (gint32) MIN (n - i, LANES),
                limited (load (a + i) + load (b + i), least, most));
}

static void
multiply_simd (const gfloat *a, const gfloat *b, gfloat *out, gsize n, gfloat lo, gfloat hi)
{
  const Vec least = broadcast (lo), most = broadcast (hi);
  for (gsize i = 0; i < n; i += LANES)
    store_some (out + i, (gint32) MIN (n - i, LANES),
                limited (load (a + i) * load (b + i), least, most));
}

static inline Vec
bent (Vec values, Vec slope)
{
  return fused (smaller (broadcast (0), values), slope, larger (broadcast (0), values));
}

static void
leaky_simd (gfloat slope, const gfloat *in, gfloat *out, gsize n)
{
  const Vec below = broadcast (slope);
  const gint32 left = (gint32) (n % LANES);
  gsize i = 0;
  for (; i + LANES <= n; i += LANES)
    store (out + i, bent (load (in + i), below));
  /* What is behind belongs to another thread. */
  if (left > 0)
    store_first (out + i, left, bent (load_first (in + i, left), below));
}

static void
prelu_simd (const gfloat *slopes, gsize period, const gfloat *in, gfloat *out, gsize n)
{
  for (gsize first = 0; first < n; first += period) {
    const gsize end = MIN (first + period, n);
    gsize i = first;
    for (; i + TOGETHER * LANES <= end; i += TOGETHER * LANES) {
      Vec values[TOGETHER];
      SL_UNROLL
      for (gint r = 0; r < TOGETHER; r++)
        values[r] = bent (load (in + i + r * LANES), load (slopes + (i - first) + r * LANES));
      SL_UNROLL
      for (gint r = 0; r < TOGETHER; r++)
        store (out + i + r * LANES, values[r]);
    }
    for (; i + LANES <= end; i += LANES)
      store (out + i, bent (load (in + i), load (slopes + (i - first))));
    /* What is behind belongs to another thread. */
    if (i < end)
      store_first (out + i, (gint32) (end - i),
                   bent (load_first (in + i, (gint32) (end - i)), load (slopes + (i - first))));
  }
}

static inline __attribute__ ((always_inline)) void
add_columns (const gfloat *rows, gsize stride, const gfloat *factors, gsize n_rows, gfloat *sums,
             const gint registers)
{
  Vec all[MAX_REGISTERS];
  SL_UNROLL
  for (gint r = 0; r < registers; r++)
    all[r] = load (sums + r * LANES);
  for (gsize k = 0; k < n_rows; k++, rows += stride) {
    const Vec factor = broadcast (factors[k]);
    SL_UNROLL
    for (gint r = 0; r < registers; r++)
      all[r] = fused (factor, load (rows + r * LANES), all[r]);
  }
  SL_UNROLL
  for (gint r = 0; r < registers; r++)
    store (sums + r * LANES, all[r]);
}

static void
add_rows_simd (const gfloat *rows, gsize stride, const gfloat *factors, gsize n_rows, gfloat *sums,
               gsize n)
{
  gsize i = 0;
  for (; i + MAX_REGISTERS * LANES <= n; i += MAX_REGISTERS * LANES)
    add_columns (rows + i, stride, factors, n_rows, sums + i, MAX_REGISTERS);
  for (; i + 2 * LANES <= n; i += 2 * LANES)
    add_columns (rows + i, stride, factors, n_rows, sums + i, 2);
  for (; i + LANES <= n; i += LANES)
    add_columns (rows + i, stride, factors, n_rows, sums + i, 1);
  if (i < n) {
    const gint32 left = (gint32) (n - i);
    Vec sum = load_first (sums + i, left);
    for (gsize k = 0; k < n_rows; k++)
      sum = fused (broadcast (factors[k]), load_first (rows + k * stride + i, left), sum);
    store_first (sums + i, left, sum);
  }
}

static inline __attribute__ ((always_inline)) void
weigh_columns (const gfloat *const *rows, gsize at, const gfloat *factors, gsize n_rows,
               gfloat *out, const gint registers)
{
  Vec all[TOGETHER];
  SL_UNROLL
  for (gint r = 0; r < registers; r++)
    all[r] = broadcast (0);
  for (gsize k = 0; k < n_rows; k++) {
    const Vec factor = broadcast (factors[k]);
    SL_UNROLL
    for (gint r = 0; r < registers; r++)
      all[r] = fused (factor, load (rows[k] + at + r * LANES), all[r]);
  }
  SL_UNROLL
  for (gint r = 0; r < registers; r++)
    store (out + at + r * LANES, all[r]);
}

static void
weigh_simd (const gfloat *const *rows, const gfloat *factors, gsize n_rows, gfloat *out, gsize n)
{
  gsize i = 0;
  for (; i + TOGETHER * LANES <= n; i += TOGETHER * LANES)
    weigh_columns (rows, i, factors, n_rows, out, TOGETHER);
  for (; i + 2 * LANES <= n; i += 2 * LANES)
    weigh_columns (rows, i, factors, n_rows, out, 2);
  for (; i + LANES <= n; i += LANES)
    weigh_columns (rows, i, factors, n_rows, out, 1);
  if (i < n) {
    const gint32 left = (gint32) (n - i);
    Vec sum = broadcast (0);
    for (gsize k = 0; k < n_rows; k++)
      sum = fused (broadcast (factors[k]), load_first (rows[k] + i, left), sum);
    store_first (out + i, left, sum);
  }
}

const SlFloatIsa SL_SIMD (sl_float_isa) = {
  .name = SL_SIMD_NAME,
  .lanes = LANES,
  .max_rows = MAX_ROWS,
  .max_groups = MAX_GROUPS,
  .odd_groups = ODD_GROUPS,
  .sparse_rows = SPARSE_REGISTERS * LANES,
  .faster = IS_FASTER,
  .gemm = SL_SIMD (sl_float_gemm),
#ifdef SL_LOOKS_AHEAD
  .gemm_ahead = SL_SIMD (sl_float_gemm_ahead),
#endif
#ifdef SL_WIDENS
  .gemm_half = SL_SIMD (sl_float_gemm_half),
  .gemm_bfloat = SL_SIMD (sl_float_gemm_bfloat),
  .gemm_bytes = SL_SIMD (sl_float_gemm_bytes),
#endif
#ifdef SL_STRASSEN
  .strassen_sums = SL_SIMD (sl_float_strassen_sums),
  .strassen = SL_SIMD (sl_float_strassen),
#endif
  .widen = SL_SIMD (sl_float_widen),
  .gemm_deep = SL_SIMD (sl_float_gemm_deep),
  .depthwise = SL_SIMD (sl_float_depthwise),
  .largest = SL_SIMD (sl_float_largest),
  .turn = SL_SIMD (sl_float_turn),
  .sparse = SL_SIMD (sl_float_sparse),
  .tile_in = { SL_SIMD (sl_float_tile_in), SL_SIMD (sl_float_tile_in_six) },
  .tile_out = { SL_SIMD (sl_float_tile_out), SL_SIMD (sl_float_tile_out_six) },
  .add = add_simd,
  .multiply = multiply_simd,
  .activate = SL_SIMD (sl_float_activate),
  .softmax = SL_SIMD (sl_float_softmax),
  .leaky = leaky_simd,
  .prelu = prelu_simd,
  .add_rows = add_rows_simd,
  .weigh = weigh_simd,
  .normalize = SL_SIMD (sl_float_normalize),
#ifdef SL_PARTS
  .share = SL_SIMD (sl_float_share),
  .largest_square = SL_SIMD (sl_float_largest_square),
#endif
  .attend = SL_SIMD (sl_float_attend),
  .add_scaled = SL_SIMD (sl_float_add_scaled),
  .blend = SL_SIMD (sl_float_blend),
};
