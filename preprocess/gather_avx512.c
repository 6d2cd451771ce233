/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Columns reduced by picking 32 samples at once from a window of 64, as gather.h regroups the taps:
 * in AVX-512 with VBMI this takes less time than loading each column's samples. Other instruction
 * sets cannot pick from so many.
 */
#include "core/base/unroll.h"
#include "preprocess/simd_avx512.h"

/* One group, of each row. */
static ALWAYS_INLINE void
gather_group (Vec sum[3], const int16_t *const row[3], const SlGatherStep *step, int32_t base,
              int steps, int rows)
{
  Vec low[3], high[3];
  SL_UNROLL
  for (int r = 0; r < rows; r++) {
    low[r] = load (row[r] + base);
    high[r] = load (row[r] + base + WORDS);
    sum[r] = zero ();
  }
  for (int i = 0; i < steps; i++) {
    const Vec index = load (step[i].index), weight = load (step[i].weight);
    SL_UNROLL
    for (int r = 0; r < rows; r++)
      sum[r] =
        _mm512_dpwssd_epi32 (sum[r], _mm512_permutex2var_epi16 (low[r], index, high[r]), weight);
  }
}

/* All columns; @lanes and @rows are constants, @steps may be one. Pointers are copied, because
 * stores could change the arrays they come from. */
static ALWAYS_INLINE void
gather_columns (int32_t *const dst[3], const int16_t *const row[3], const SlGather *gather,
                SlPrefetch *prefetch, int lanes, int steps, int rows)
{
  SlPrefetch lines = *prefetch;
  const int32_t *base = gather->base;
  const int groups = gather->groups;
  const int16_t *from[3];
  int32_t *to[3];
  SL_UNROLL
  for (int r = 0; r < rows; r++) {
    from[r] = row[r];
    to[r] = dst[r];
  }
  for (int group = 0; group < groups; group += lanes) {
    const ptrdiff_t x = group / lanes * PIXELS;
    Vec a[3], b[3];
    sl_prefetch_step (&lines);
    gather_group (a, from, gather->step + (ptrdiff_t) group * steps, base[group], steps, rows);
    if (lanes == 2)
      gather_group (b, from, gather->step + (ptrdiff_t) (group + 1) * steps, base[group + 1], steps,
                    rows);
    SL_UNROLL
    for (int r = 0; r < rows; r++)
      keep (to[r] + x, lanes == 2 ? add_twos (a[r], b[r]) : a[r]);
  }
  *prefetch = lines;
}

static ALWAYS_INLINE void
gather_rows (int32_t *const dst[3], const int16_t *const row[3], const SlGather *gather,
             SlPrefetch *prefetch, int rows)
{
  if (gather->lanes == 1 && gather->steps == 1)
    gather_columns (dst, row, gather, prefetch, 1, 1, rows);
  else if (gather->lanes == 1 && gather->steps == 2)
    gather_columns (dst, row, gather, prefetch, 1, 2, rows);
  else if (gather->lanes == 1)
    gather_columns (dst, row, gather, prefetch, 1, gather->steps, rows);
  else if (gather->steps == 2)
    gather_columns (dst, row, gather, prefetch, 2, 2, rows);
  else
    gather_columns (dst, row, gather, prefetch, 2, gather->steps, rows);
}

void
sl_gather_reduce_avx512 (int32_t *const dst[3], const int16_t *const row[3], const SlGather *gather,
                         int rows, SlPrefetch *prefetch)
{
  if (rows == 1)
    gather_rows (dst, row, gather, prefetch, 1);
  else if (rows == 2)
    gather_rows (dst, row, gather, prefetch, 2);
  else
    gather_rows (dst, row, gather, prefetch, 3);
}
