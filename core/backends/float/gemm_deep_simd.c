/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tile of a matrix product of few channels: a register holds products of one sum along the depth,
 * so none of its lanes stays empty however few the channels are. Up to MAX_GROUPS channels share
 * the activations that a load brings; lanes are added up behind the last run.
 */
#include "core/backends/float/tiles.h"

static inline __attribute__ ((always_inline)) void
add_step (Vec *sums, const gfloat *const *a, gint32 k, const gfloat *weights, const Mask *mask,
          const gint rows, const gint channels)
{
  Vec w[MAX_GROUPS];
  SL_UNROLL
  for (gint g = 0; g < channels; g++)
    w[g] = load (weights + g * LANES);
  SL_UNROLL
  for (gint m = 0; m < rows; m++) {
    const Vec values = in_register (mask != NULL ? load_masked (a[m] + k, *mask) : load (a[m] + k));
    SL_UNROLL
    for (gint g = 0; g < channels; g++)
      sums[g * rows + m] = fused (values, w[g], sums[g * rows + m]);
  }
}

static inline __attribute__ ((always_inline)) void
multiply (const SlFloatGemm *gemm, const SlFloatPanel *panel, const SlFloatRows *tile, gfloat *c,
          gsize c_stride, const gint rows, const gint channels)
{
  Vec sums[MAX_ROWS * MAX_GROUPS];
  const gfloat *weights = panel->weights;
  const gfloat *const *runs = tile->runs;
  const gint32 whole = tile->length / LANES * LANES;
  const Mask mask = mask_of (tile->length - whole);
  SL_UNROLL
  for (gint i = 0; i < rows * channels; i++)
    sums[i] = load_first (gemm->bias + panel->channel + i / rows, 1);
  for (gint32 run = tile->n_runs; run > 0; run--, runs += rows) {
    const gfloat *a[MAX_ROWS];
    SL_UNROLL
    for (gint m = 0; m < rows; m++)
      a[m] = runs[m] + panel->offset;
    for (gint32 k = 0; k < whole; k += LANES, weights += channels * LANES)
      add_step (sums, a, k, weights, NULL, rows, channels);
    if (whole < tile->length) {
      add_step (sums, a, whole, weights, &mask, rows, channels);
      weights += channels * LANES;
    }
  }
  SL_UNROLL
  for (gint i = 0; i < rows * channels; i += 4) {
    gfloat four[4];
    store_sums (four, &sums[i], MIN (rows * channels - i, 4), gemm->lo, gemm->hi);
    SL_UNROLL
    for (gint j = 0; j < MIN (rows * channels - i, 4); j++)
      c[(gsize) ((i + j) % rows) * c_stride + (gsize) ((i + j) / rows)] = four[j];
  }
}

DEFINE_TILES (multiply)

void
SL_SIMD (sl_float_gemm_deep) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                              const SlFloatRows *rows, gfloat *c, gsize c_stride)
{
  for (gint32 p = first; p < end; p++) {
    const SlFloatPanel *panel = &gemm->panels[p];
    multiply_tiles[rows->rows - 1][panel->groups - 1](gemm, panel, rows, c + panel->channel,
                                                      c_stride);
  }
}
