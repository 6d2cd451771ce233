/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Queries times keys as shares of a softmax. Where no score is far from 0, shares need not be
 * relative to the largest one, so scores become powers of two while they are in registers.
 */
#include <math.h>

#include "core/backends/float/decay.h"

#ifdef SL_PARTS

#define TILE_ROWS SlFloatShares
#include "core/backends/float/tiles.h"

/* Floats of keys ahead, as in gemm_simd.c. */
#define PREFETCH 512

static inline __attribute__ ((always_inline)) void
multiply (Vec *sums, const SlFloatPanel *panel, const SlFloatShares *tile, const gint rows,
          const gint groups)
{
  const gfloat *keys = panel->weights, *a[MAX_ROWS];
  SL_UNROLL
  for (gint m = 0; m < rows; m++)
    a[m] = tile->queries[m];
  SL_UNROLL
  for (gint i = 0; i < rows * groups; i++)
    sums[i] = broadcast (0);
  for (gint32 k = 0; k < tile->depth; k++, keys += groups * LANES) {
    Vec w[MAX_GROUPS];
    SL_UNROLL
    for (gint g = 0; g < groups; g++) {
      __builtin_prefetch (keys + PREFETCH + g * LANES);
      w[g] = load (keys + g * LANES);
    }
    SL_UNROLL
    for (gint i = 0; i < rows * groups; i++)
      sums[i] = fused (broadcast (a[i / groups][k]), w[i % groups], sums[i]);
  }
}

/* Sums of shares are added up by lane at the tile's @totals. */
static inline __attribute__ ((always_inline)) void
share (const SlFloatGemm *gemm, const SlFloatPanel *panel, const SlFloatShares *tile, gfloat *c,
       gsize c_stride, const gint rows, const gint groups)
{
  Vec sums[MAX_ROWS * MAX_GROUPS];
  const gint32 left = panel->channels - (groups - 1) * LANES;
  multiply (sums, panel, tile, rows, groups);
  const Vec scale = broadcast (tile->scale), above = broadcast (WHOLE_PARTS);
  SL_UNROLL
  for (gint m = 0; m < rows; m++) {
    gfloat *row = c + (gsize) m * c_stride, *last = row + (groups - 1) * LANES;
    Vec total = load (tile->totals + m * LANES);
    SL_UNROLL
    for (gint g = 0; g < groups; g++) {
      sums[m * groups + g] = share_of (sums[m * groups + g], scale, above);
      if (g < groups - 1) {
        store (row + g * LANES, sums[m * groups + g]);
        total = total + sums[m * groups + g];
      }
    }
    store_some (last, left, sums[m * groups + groups - 1]);
    total = total + (left < LANES ? load_first (last, left) : sums[m * groups + groups - 1]);
    store (tile->totals + m * LANES, total);
  }
}

DEFINE_TILES (share)

void
SL_SIMD (sl_float_share) (const SlFloatShares *tile, gint32 n_panels, gfloat *c, gsize c_stride,
                          gfloat *sums)
{
  gfloat totals[MAX_ROWS * LANES] __attribute__ ((aligned (64))) = { 0 }, four[4];
  SlFloatShares summed = *tile;
  summed.totals = totals;
  for (gint32 p = 0; p < n_panels; p++) {
    const SlFloatPanel *panel = &tile->panels[p];
    share_tiles[tile->rows - 1][panel->groups - 1](NULL, panel, &summed, c + panel->channel,
                                                   c_stride);
  }
  for (gint32 r = 0; r < tile->rows; r++) {
    const Vec total = load (totals + r * LANES);
    store_sums (four, &total, 1, -INFINITY, INFINITY);
    sums[r] = four[0];
  }
}

gfloat
SL_SIMD (sl_float_largest_square) (const gfloat *const *rows, gint32 n, gint32 depth)
{
  const gint32 whole = depth / LANES * LANES;
  gfloat largest = 0, sums[4];
  for (gint32 r = 0; r < n; r++) {
    Vec sum = broadcast (0);
    for (gint32 k = 0; k < whole; k += LANES)
      sum = fused (load (rows[r] + k), load (rows[r] + k), sum);
    if (whole < depth) {
      const Vec rest = load_first (rows[r] + whole, depth - whole);
      sum = fused (rest, rest, sum);
    }
    store_sums (sums, &sum, 1, -INFINITY, INFINITY);
    /* NaN is the largest. */
    largest = largest > sums[0] ? largest : sums[0];
  }
  return largest;
}

#endif
