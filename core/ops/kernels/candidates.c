/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Boxes or points by descending score from a heap: of thousands, a few are looked at before enough
 * are found. */
#include "core/ops/kernels/kernels.h"

static inline gboolean
comes_before (const SlCandidate *a, const SlCandidate *b)
{
  return a->score > b->score || (a->score == b->score && a->place < b->place);
}

/* Puts the item at @at of a heap of @n where it belongs, below it. */
static void
sink (SlCandidate *heap, gsize n, gsize at)
{
  const SlCandidate item = heap[at];
  for (gsize child = 2 * at + 1; child < n; child = 2 * at + 1) {
    child += child + 1 < n && comes_before (&heap[child + 1], &heap[child]);
    if (!comes_before (&heap[child], &item))
      break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = item;
}

void
sl_candidates_order (SlCandidate *candidates, gsize n)
{
  for (gsize i = n / 2; i-- > 0;)
    sink (candidates, n, i);
}

SlCandidate
sl_candidates_take (SlCandidate *candidates, gsize *n)
{
  const SlCandidate best = candidates[0];
  candidates[0] = candidates[--*n];
  sink (candidates, *n, 0);
  return best;
}
