/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Selection by histogram. Floats are ranked by their bits, turned so that they grow with the
 * number: the upper half makes the first histogram, the lower half of those in the bin where the
 * cut falls the second.
 */
#include "postprocess/select.h"

#include <math.h>
#include <string.h>

/* The bin in which the @wanted-th highest entry lies; *@above = entries in the bins over it. */
static guint
cut_bin (const guint32 *bins, guint n_bins, guint wanted, guint *above)
{
  guint bin = n_bins - 1;
  *above = 0;
  while (bin > 0 && *above + bins[bin] < wanted)
    *above += bins[bin--];
  return bin;
}

void
sl_select_codes (const guint8 *ranks, guint n, guint lowest, SlTopK *top)
{
  guint32 bins[256] = { 0 };
  guint passing = 0, above = 0, cut = lowest, room = top->capacity;
  top->count = 0;
  if (lowest > 255)
    return;
  for (guint i = 0; i < n; i++)
    passing += ranks[i] >= lowest;
  if (passing > top->capacity) {
    for (guint i = 0; i < n; i++)
      bins[ranks[i]]++;
    cut = cut_bin (bins, 256, top->capacity, &above);
    room = top->capacity - above;
  }
  for (guint i = 0; i < n && passing > 0; i++) {
    if (ranks[i] < cut || (ranks[i] == cut && room == 0))
      continue;
    room -= ranks[i] == cut && room > 0;
    sl_top_k_push (top, ranks[i], i);
  }
  sl_top_k_sort (top);
}

/* Grows with the number, for finite ones; -0 counts as 0. */
static inline guint32
order_of (gfloat score)
{
  guint32 bits;
  const gfloat plain = score + 0.0f;
  memcpy (&bits, &plain, sizeof bits);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static inline gboolean
passes (gfloat score, gfloat threshold)
{
  return score >= threshold && score < INFINITY && score > -INFINITY;
}

/* The order of the @wanted-th best score; *@room = how many of exactly that one may be taken. */
static guint32
find_cut (const gfloat *scores, guint n, gfloat threshold, guint wanted, guint32 *bins, guint *room)
{
  guint above = 0, more = 0;
  memset (bins, 0, SL_SELECT_BINS * sizeof *bins);
  for (guint i = 0; i < n; i++)
    if (passes (scores[i], threshold))
      bins[order_of (scores[i]) >> 16]++;
  const guint32 high = cut_bin (bins, SL_SELECT_BINS, wanted, &above);
  memset (bins, 0, SL_SELECT_BINS * sizeof *bins);
  for (guint i = 0; i < n; i++)
    if (passes (scores[i], threshold) && order_of (scores[i]) >> 16 == high)
      bins[order_of (scores[i]) & 0xffff]++;
  const guint32 low = cut_bin (bins, SL_SELECT_BINS, wanted - above, &more);
  *room = wanted - above - more;
  return high << 16 | low;
}

void
sl_select_floats (const gfloat *scores, guint n, gfloat threshold, guint32 *bins, SlTopK *top)
{
  guint passing = 0, room = 0;
  guint32 cut = 0;
  top->count = 0;
  for (guint i = 0; i < n; i++)
    passing += passes (scores[i], threshold);
  if (passing == 0)
    return;
  if (passing > top->capacity)
    cut = find_cut (scores, n, threshold, top->capacity, bins, &room);
  for (guint i = 0; i < n; i++) {
    if (!passes (scores[i], threshold))
      continue;
    const guint32 order = order_of (scores[i]);
    if (order < cut || (order == cut && room == 0))
      continue;
    room -= order == cut && room > 0;
    sl_top_k_push (top, scores[i], i);
  }
  sl_top_k_sort (top);
}
