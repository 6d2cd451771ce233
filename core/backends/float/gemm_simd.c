/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tile of a matrix product: activations broadcast one at a time, times the weights of up to MAX_GROUPS registers of channels. Sums stay
 * in registers. Rows are runs of activations that pointers name, so windows of a convolution need no copies.
 */
#include "core/backends/float/tiles.h"

/* Floats of weights ahead: those of a whole model come from the third cache or from memory in every inference. */
#define PREFETCH 512

static inline __attribute__ ((always_inline)) void
load_weights (Vec *w, const gfloat *weights, const gint groups)
{
  SL_UNROLL
  for (gint g = 0; g < groups; g++) {
    __builtin_prefetch (weights + PREFETCH + g * LANES);
    w[g] = load (weights + g * LANES);
  }
}

#ifdef fused_lane
/* LANES activations of each row, which one load brings. */
static inline __attribute__ ((always_inline)) void
loaded_steps (Vec *sums, const gfloat *const *a, gint32 k, const gfloat *weights, const gint rows, const gint groups)
{
  Vec values[MAX_ROWS], w[MAX_GROUPS];
  SL_UNROLL
  for (gint m = 0; m < rows; m++)
    values[m] = load (a[m] + k);
#define STEP(lane)                                            \
  load_weights (w, weights + (lane) *groups * LANES, groups); \
  SL_UNROLL                                                   \
  for (gint i = 0; i < rows * groups; i++)                    \
    sums[i] = fused_lane (values[i / groups], lane, w[i % groups], sums[i]);
  STEP (0)
  STEP (1)
  STEP (2)
  STEP (3)
#undef STEP
}
#endif

static inline __attribute__ ((always_inline)) void
multiply (const SlFloatGemm *gemm, const SlFloatPanel *panel, const SlFloatRows *tile, gfloat *c, gsize c_stride, const gint rows,
          const gint groups)
{
  Vec sums[MAX_ROWS * MAX_GROUPS];
  const gfloat *weights = panel->weights;
  const gfloat *const *runs = tile->runs;
  SL_UNROLL
  for (gint i = 0; i < rows * groups; i++)
    sums[i] = load (gemm->bias + panel->channel + i % groups * LANES);
  for (gint32 run = tile->n_runs; run > 0; run--, runs += rows) {
    const gfloat *a[MAX_ROWS];
    SL_UNROLL
    for (gint m = 0; m < rows; m++)
      a[m] = runs[m] + panel->offset;
    gint32 k = 0;
#ifdef fused_lane
    for (; k + LANES <= tile->length; k += LANES, weights += LANES * groups * LANES)
      loaded_steps (sums, a, k, weights, rows, groups);
#endif
    for (; k < tile->length; k++, weights += groups * LANES) {
      Vec w[MAX_GROUPS];
      load_weights (w, weights, groups);
      SL_UNROLL
      for (gint i = 0; i < rows * groups; i++)
        sums[i] = fused (broadcast (a[i / groups][k]), w[i % groups], sums[i]);
    }
  }
  const Vec lo = broadcast (gemm->lo), hi = broadcast (gemm->hi);
  SL_UNROLL
  for (gint i = 0; i < rows * groups; i++) {
    gfloat *at = c + (gsize) (i / groups) * c_stride + i % groups * LANES;
    if (i % groups < groups - 1)
      store (at, limited (sums[i], lo, hi));
    else
      store_some (at, panel->channels - (groups - 1) * LANES, limited (sums[i], lo, hi));
  }
}

DEFINE_TILES (multiply)

void
SL_SIMD (sl_float_gemm) (const SlFloatGemm *gemm, gint32 first, gint32 end, const SlFloatRows *rows, gfloat *c, gsize c_stride)
{
  for (gint32 p = first; p < end; p++) {
    const SlFloatPanel *panel = &gemm->panels[p];
    multiply_tiles[rows->rows - 1][panel->groups - 1](gemm, panel, rows, c + panel->channel, c_stride);
  }
}
