/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Greedy by size (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020): the
 * largest block first, each at the lowest gap among the blocks already placed whose lifetimes it shares. For threads that have halves of
 * blocks, each where the middle of a larger one is, else behind all, while that leaves the arena small enough.
 */
#include "core/runtime/arena_plan.h"

#include <stdlib.h>

#include "core/graph/tensor.h"

static gsize
padded (gsize bytes)
{
  return (bytes + SL_TENSOR_PADDING + SL_TENSOR_ALIGN - 1) / SL_TENSOR_ALIGN * SL_TENSOR_ALIGN;
}

static int
larger_first (const void *a, const void *b)
{
  const SlBlock *x = *(SlBlock *const *) a, *y = *(SlBlock *const *) b;
  if (x->bytes != y->bytes)
    return x->bytes < y->bytes ? 1 : -1;
  return x->first < y->first ? -1 : x->first > y->first;
}

/* @placed is sorted by offset: the lowest gap that holds @block between those it overlaps in time. */
static gsize
lowest_gap (SlBlock *const *placed, guint n, const SlBlock *block)
{
  gsize at = 0;
  for (guint i = 0; i < n; i++) {
    const SlBlock *other = placed[i];
    if (other->last < block->first || other->first > block->last)
      continue;
    if (other->offset >= at && other->offset - at >= padded (block->bytes))
      break;
    at = MAX (at, other->offset + padded (other->bytes));
  }
  return at;
}

static gboolean
is_free (SlBlock *const *placed, guint n, const SlBlock *block, gsize at)
{
  for (guint i = 0; i < n; i++)
    if (placed[i]->last >= block->first && placed[i]->first <= block->last && placed[i]->offset < at + padded (block->bytes)
        && at < placed[i]->offset + padded (placed[i]->bytes))
      return FALSE;
  return TRUE;
}

/* Where the middle of @block is that of one of @placed, the largest first. FALSE where none is free below @limit. */
static gboolean
find_middle (SlBlock *const *placed, guint n, const SlBlock *block, gsize limit, gsize *at)
{
  const gsize half = block->bytes / 2;
  for (guint i = 0; i < n; i++) {
    const gsize middle = placed[i]->offset + placed[i]->bytes / 2;
    *at = middle < half ? limit : (middle - half) / SL_TENSOR_ALIGN * SL_TENSOR_ALIGN;
    if (*at + padded (block->bytes) <= limit && is_free (placed, n, block, *at))
      return TRUE;
  }
  return FALSE;
}

static gsize
largest_live_set (const SlBlock *blocks, guint n_blocks, guint n_steps)
{
  g_autofree gssize *change = g_new0 (gssize, n_steps + 1);
  for (guint i = 0; i < n_blocks; i++) {
    change[blocks[i].first] += (gssize) padded (blocks[i].bytes);
    change[blocks[i].last + 1] -= (gssize) padded (blocks[i].bytes);
  }
  gssize live = 0, most = 0;
  for (guint i = 0; i < n_steps; i++) {
    live += change[i];
    most = MAX (most, live);
  }
  return (gsize) most;
}

/* Places blocks in @order; with a @limit by their middles. */
static gsize
place (SlBlock *const *order, guint n_blocks, gsize limit)
{
  gsize size = 0;
  g_autofree SlBlock **placed = g_new (SlBlock *, n_blocks + 1);
  for (guint i = 0; i < n_blocks; i++) {
    if (!find_middle (order, i, order[i], limit, &order[i]->offset))
      order[i]->offset = size + padded (order[i]->bytes) <= limit ? size : lowest_gap (placed, i, order[i]);
    size = MAX (size, order[i]->offset + padded (order[i]->bytes));
    guint k = i;
    for (; k > 0 && placed[k - 1]->offset > order[i]->offset; k--)
      placed[k] = placed[k - 1];
    placed[k] = order[i];
  }
  return size;
}

gsize
sl_arena_plan (SlBlock *blocks, guint n_blocks, guint n_steps, gboolean halves, gsize *lower_bound)
{
  g_autofree SlBlock **order = g_new (SlBlock *, n_blocks + 1);
  for (guint i = 0; i < n_blocks; i++)
    order[i] = &blocks[i];
  qsort (order, n_blocks, sizeof order[0], larger_first);
  gsize size = place (order, n_blocks, 0);
  if (halves) {
    const gsize limit = size + size / 4, with_halves = place (order, n_blocks, limit);
    size = with_halves <= limit ? with_halves : place (order, n_blocks, 0);
  }
  *lower_bound = largest_live_set (blocks, n_blocks, n_steps);
  return size;
}
