/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of a block of rows, then the few of them that are among the best so far. Most rows are not,
 * so the list is kept in order by moving its end.
 */
#include "core/search/search.h"

#include <math.h>
#include <string.h>

#include "core/base/cpu.h"
#include "core/search/products.h"

#define BLOCK 256
#define LARGEST 127

/* The best last. */
static const SlCpuRow rows[] = {
  { &sl_search_loop_base, SL_CPU_LEVEL_C, 0 },
#ifdef SL_SEARCH_AVX2
  { &sl_search_loop_avx2, SL_CPU_LEVEL_AVX2, 0 },
#endif
#ifdef SL_SEARCH_AVX512
  { &sl_search_loop_avx512, SL_CPU_LEVEL_AVX512, SL_CPU_AVX512 },
#endif
};

guint
sl_search_loops (const SlSearchLoop *loops[3])
{
  return sl_cpu_all (rows, G_N_ELEMENTS (rows), (const void **) loops);
}

gsize
sl_search_stride (guint length)
{
  return ((gsize) length + SL_SEARCH_STEP - 1) / SL_SEARCH_STEP * SL_SEARCH_STEP;
}

gfloat
sl_search_pack (const gfloat *vector, guint length, gint8 *row)
{
  double squares = 0, largest = 0;
  memset (row, 0, sl_search_stride (length));
  for (guint i = 0; i < length; i++) {
    largest = fmax (largest, fabs ((double) vector[i]));
    squares += (double) vector[i] * (double) vector[i];
  }
  if (!isfinite (squares) || squares <= 0)
    return 0;
  double rounded = 0;
  for (guint i = 0; i < length; i++) {
    row[i] = (gint8) nearbyint ((double) vector[i] / largest * LARGEST);
    rounded += row[i] * row[i];
  }
  return (gfloat) (1 / sqrt (rounded));
}

/* Puts @hit into its place among @n, of which @most are kept. Returns how many there are. */
static guint
insert (SlSearchHit *hits, guint n, guint most, SlSearchHit hit)
{
  guint at = n < most ? n++ : most - 1;
  for (; at > 0 && hits[at - 1].cosine < hit.cosine; at--)
    hits[at] = hits[at - 1];
  hits[at] = hit;
  return n;
}

guint
sl_search_more (const SlSearchTable *table, gsize first, const gint8 *query, gfloat scale,
                guint most, SlSearchHit *hits, guint n)
{
  const SlSearchLoop *loop = sl_cpu_best (rows, G_N_ELEMENTS (rows));
  gint32 sums[BLOCK];
  for (gsize at = 0; at < table->n && most > 0; at += BLOCK) {
    const gsize count = MIN (table->n - at, BLOCK);
    loop->products (table->numbers + at * table->stride, count, table->stride, query, sums);
    for (gsize i = 0; i < count; i++) {
      const gfloat cosine = (gfloat) sums[i] * (table->scales[at + i] * scale);
      if (table->scales[at + i] > 0 && (n < most || cosine > hits[n - 1].cosine))
        n = insert (hits, n, most, (SlSearchHit){ first + at + i, cosine });
    }
  }
  return n;
}

guint
sl_search (const SlSearchTable *table, const gint8 *query, gfloat scale, guint most,
           SlSearchHit *hits)
{
  return sl_search_more (table, 0, query, scale, most, hits, 0);
}
