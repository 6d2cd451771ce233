/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tile of a matrix product in bfloat16: an instruction multiplies two activations with their
 * weights for each channel and adds both to a sum, which is a float. Activations are rounded once
 * for all panels, the runs of a row behind each other.
 */
#include "core/backends/float/tiles.h"

/* Activations of a register. */
#define WIDE (2 * LANES)

static inline Mask
first_of (gint32 n)
{
  return mask_of (CLAMP (n, 0, LANES));
}

/* Rows of @stride numbers; what is written behind a run is overwritten by the next one. */
static void
round_rows (const SlFloatRows *tile, gsize stride, guint16 *to)
{
  for (gint32 r = 0; r < tile->rows; r++) {
    guint16 *at = to + (gsize) r * stride;
    for (gint32 run = 0; run < tile->n_runs; run++, at += tile->length) {
      const gfloat *from = tile->runs[run * tile->rows + r];
      gint32 k = 0;
      for (; k + WIDE <= tile->length; k += WIDE)
        _mm512_storeu_si512 (
          at + k, (__m512i) _mm512_cvtne2ps_pbh (load (from + k + LANES), load (from + k)));
      if (k < tile->length) {
        const gint32 left = tile->length - k;
        const Vec low = load_masked (from + k, first_of (left)),
                  high = load_masked (from + k + LANES, first_of (left - LANES));
        _mm512_storeu_si512 (at + k, (__m512i) _mm512_cvtne2ps_pbh (high, low));
      }
    }
  }
}

/* Two numbers for each lane. */
static inline __m512bh
both (const guint16 *at)
{
  gint32 pair;
  memcpy (&pair, at, sizeof pair);
  return (__m512bh) _mm512_set1_epi32 (pair);
}

/* @tile: its only runs are rows as round_rows() has them, as many pairs long as its length says. */
static inline __attribute__ ((always_inline)) void
multiply (const SlFloatGemm *gemm, const SlFloatPanel *panel, const SlFloatRows *tile, gfloat *c,
          gsize c_stride, const gint rows, const gint groups)
{
  Vec sums[MAX_ROWS * MAX_GROUPS];
  const guint16 *weights = panel->weights, *a[MAX_ROWS];
  SL_UNROLL
  for (gint i = 0; i < rows * groups; i++)
    sums[i] = load (gemm->bias + panel->channel + i % groups * LANES);
  SL_UNROLL
  for (gint m = 0; m < rows; m++)
    a[m] = (const guint16 *) (gconstpointer) tile->runs[m];
  for (gint32 k = 0; k < 2 * tile->length; k += 2, weights += groups * WIDE) {
    __m512bh w[MAX_GROUPS];
    SL_UNROLL
    for (gint g = 0; g < groups; g++) {
      __builtin_prefetch (weights + 8 * WIDE * MAX_GROUPS + g * WIDE);
      w[g] = (__m512bh) _mm512_loadu_si512 (weights + g * WIDE);
    }
    SL_UNROLL
    for (gint i = 0; i < rows * groups; i++)
      sums[i] = _mm512_dpbf16_ps (sums[i], w[i % groups], both (a[i / groups] + k));
  }
  const Vec lo = broadcast (gemm->lo), hi = broadcast (gemm->hi);
  SL_UNROLL
  for (gint i = 0; i < rows * groups; i++) {
    gfloat *at = c + (gsize) (i / groups) * c_stride + i % groups * LANES;
    store_some (at, i % groups < groups - 1 ? LANES : panel->channels - (groups - 1) * LANES,
                limited (sums[i], lo, hi));
  }
}

DEFINE_TILES (multiply)

void SL_SIMD (sl_float_gemm_bf16) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                                   const SlFloatRows *rows, gint32 depth, gfloat *c, gsize c_stride,
                                   guint16 *scratch);

void
SL_SIMD (sl_float_gemm_bf16) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                              const SlFloatRows *rows, gint32 depth, gfloat *c, gsize c_stride,
                              guint16 *scratch)
{
  const gsize stride = ((gsize) depth + 1) / 2 * 2;
  const gfloat *runs[MAX_ROWS];
  const SlFloatRows rounded = {
    .runs = runs, .n_runs = 1, .length = (gint32) (stride / 2), .rows = rows->rows
  };
  round_rows (rows, stride, scratch);
  for (gint32 r = 0; r < rows->rows; r++)
    runs[r] = (const gfloat *) (gconstpointer) (scratch + (gsize) r * stride);
  for (gint32 p = first; p < end; p++) {
    const SlFloatPanel *panel = &gemm->panels[p];
    multiply_tiles[rows->rows - 1][panel->groups - 1](gemm, panel, &rounded, c + panel->channel,
                                                      c_stride);
  }
}
