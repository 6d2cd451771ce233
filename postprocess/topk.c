/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bounded min-heap. Invariant: items[0] is the worst entry held, so most candidates cost one
 * comparison.
 */
#include "postprocess/topk.h"

static inline gboolean
worse (const SlRanked *a, const SlRanked *b)
{
  return a->key < b->key || (a->key == b->key && a->index > b->index);
}

static void
sift_down (SlRanked *items, guint count, guint at)
{
  SlRanked moved = items[at];
  for (guint child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && worse (&items[child + 1], &items[child]))
      child++;
    if (!worse (&items[child], &moved))
      break;
    items[at] = items[child];
    at = child;
  }
  items[at] = moved;
}

static void
sift_up (SlRanked *items, guint at)
{
  SlRanked moved = items[at];
  while (at > 0 && worse (&moved, &items[(at - 1) / 2])) {
    items[at] = items[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  items[at] = moved;
}

void
sl_top_k_push (SlTopK *top, gfloat key, guint32 index)
{
  if (top->count < top->capacity) {
    top->items[top->count] = (SlRanked){ key, index };
    sift_up (top->items, top->count++);
  } else if (top->capacity > 0 && key > top->items[0].key) {
    top->items[0] = (SlRanked){ key, index };
    sift_down (top->items, top->count, 0);
  }
}

void
sl_top_k_sort (SlTopK *top)
{
  for (guint left = top->count; left > 1; left--) {
    SlRanked worst = top->items[0];
    top->items[0] = top->items[left - 1];
    top->items[left - 1] = worst;
    sift_down (top->items, left - 1, 0);
  }
}
