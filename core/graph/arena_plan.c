/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Greedy by size (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference",
 * 2020): the largest block first, each at the lowest gap among the blocks already placed whose
 * lifetimes it shares. For threads that have halves of blocks, each where the middle of a larger
 * one is, else behind all, while that leaves the arena small enough.
 *
 * That takes the square of the number of blocks, so only the largest are placed so. Others, of
 * models of thousands of nodes, share slots behind them: step by step, each block takes one that is
 * free, of about its size where there is one, and a slot is as large as its largest block.
 */
#include "core/graph/arena_plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/graph/tensor.h"

/* Blocks that are placed one by one. */
#define MAX_PLACED 4096
/* Pairs of blocks that are compared for the sake of middles. */
#define MAX_LOOKS (1 << 25)
#define NONE G_MAXUINT

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

/* @placed is sorted by offset: the lowest gap that holds @block between those it overlaps in time.
 */
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

/* Adds to @looks how many were compared. */
static gboolean
is_free (SlBlock *const *placed, guint n, const SlBlock *block, gsize at, guint *looks)
{
  guint i = 0;
  while (i < n
         && (placed[i]->last < block->first || placed[i]->first > block->last
             || placed[i]->offset >= at + padded (block->bytes)
             || at >= placed[i]->offset + padded (placed[i]->bytes)))
    i++;
  *looks += i;
  return i == n;
}

/* Where the middle of @block is that of one of @placed, the largest first. FALSE where none is free
 * below @limit, or too many were looked at. */
static gboolean
find_middle (SlBlock *const *placed, guint n, const SlBlock *block, gsize limit, guint *looks,
             gsize *at)
{
  const gsize half = block->bytes / 2;
  for (guint i = 0; i < n && *looks < MAX_LOOKS; i++) {
    const gsize middle = placed[i]->offset + placed[i]->bytes / 2;
    *at = middle < half ? limit : (middle - half) / SL_TENSOR_ALIGN * SL_TENSOR_ALIGN;
    if (*at + padded (block->bytes) <= limit && is_free (placed, n, block, *at, looks))
      return TRUE;
  }
  return FALSE;
}

static gsize
largest_live_set (const SlBlock *blocks, guint n_blocks, guint n_steps, guint *fullest)
{
  g_autofree gssize *change = g_new0 (gssize, n_steps + 1);
  for (guint i = 0; i < n_blocks; i++) {
    change[blocks[i].first] += (gssize) padded (blocks[i].bytes);
    change[blocks[i].last + 1] -= (gssize) padded (blocks[i].bytes);
  }
  gssize live = 0, most = 0;
  for (guint i = 0; i < n_steps; i++) {
    live += change[i];
    if (fullest != NULL && (live > most || i == 0))
      *fullest = i;
    most = MAX (most, live);
  }
  return (gsize) most;
}

/* Places blocks in @order; with a @limit by their middles. */
static gsize
place (SlBlock *const *order, guint n_blocks, gsize limit)
{
  gsize size = 0;
  guint looks = 0;
  g_autofree SlBlock **placed = g_new (SlBlock *, n_blocks + 1);
  for (guint i = 0; i < n_blocks; i++) {
    if (!find_middle (order, i, order[i], limit, &looks, &order[i]->offset))
      order[i]->offset =
        size + padded (order[i]->bytes) <= limit ? size : lowest_gap (placed, i, order[i]);
    size = MAX (size, order[i]->offset + padded (order[i]->bytes));
    guint k = i;
    for (; k > 0 && placed[k - 1]->offset > order[i]->offset; k--)
      placed[k] = placed[k - 1];
    placed[k] = order[i];
  }
  return size;
}

typedef struct
{
  gsize bytes, offset;
  guint next; /* of those that are free and alike */
} Slot;

/* Slots that are free, by the bits of their size. */
typedef struct
{
  Slot *slots;
  guint n;
  guint free[64 + 1];
} Slots;

static void
give_back (Slots *s, guint slot)
{
  const guint bits = g_bit_storage (s->slots[slot].bytes);
  s->slots[slot].next = s->free[bits];
  s->free[bits] = slot;
}

/* A free slot for @bytes: the least that may hold them, else the largest, else a new one. */
static guint
take_slot (Slots *s, gsize bytes)
{
  const guint own = g_bit_storage (bytes);
  guint bits = own;
  while (bits < G_N_ELEMENTS (s->free) && s->free[bits] == NONE)
    bits++;
  for (guint less = own; bits == G_N_ELEMENTS (s->free) && less > 0; less--)
    if (s->free[less - 1] != NONE)
      bits = less - 1;
  const guint slot = bits < G_N_ELEMENTS (s->free) ? s->free[bits] : s->n++;
  if (bits < G_N_ELEMENTS (s->free))
    s->free[bits] = s->slots[slot].next;
  s->slots[slot].bytes = MAX (s->slots[slot].bytes, bytes);
  return slot;
}

/* Gives each of @blocks a slot from @at on; returns the arena's size. */
static gsize
share (SlBlock *const *blocks, guint n_blocks, guint n_steps, gsize at)
{
  Slots s = { .slots = g_new0 (Slot, n_blocks) };
  g_autofree Slot *slots = s.slots;
  g_autofree guint *begins = g_new (guint, n_steps), *ends = g_new (guint, n_steps),
                   *slot_of = g_new (guint, n_blocks);
  g_autofree guint *next_begin = g_new (guint, n_blocks), *next_end = g_new (guint, n_blocks);
  memset (s.free, 0xff, sizeof s.free);
  memset (begins, 0xff, n_steps * sizeof begins[0]);
  memset (ends, 0xff, n_steps * sizeof ends[0]);
  for (guint i = n_blocks; i-- > 0;) {
    next_begin[i] = begins[blocks[i]->first];
    begins[blocks[i]->first] = i;
    next_end[i] = ends[blocks[i]->last];
    ends[blocks[i]->last] = i;
  }
  for (guint step = 0; step < n_steps; step++) {
    for (guint i = begins[step]; i != NONE; i = next_begin[i])
      slot_of[i] = take_slot (&s, padded (blocks[i]->bytes));
    for (guint i = ends[step]; i != NONE; i = next_end[i])
      give_back (&s, slot_of[i]);
  }
  for (guint i = 0; i < s.n; i++) {
    slots[i].offset = at;
    at += slots[i].bytes;
  }
  for (guint i = 0; i < n_blocks; i++)
    blocks[i]->offset = slots[slot_of[i]].offset;
  return at;
}

gsize
sl_arena_plan (SlBlock *blocks, guint n_blocks, guint n_steps, gboolean halves, gsize *lower_bound,
               guint *fullest)
{
  g_autofree SlBlock **order = g_new (SlBlock *, n_blocks + 1);
  for (guint i = 0; i < n_blocks; i++)
    order[i] = &blocks[i];
  qsort (order, n_blocks, sizeof order[0], larger_first);
  const guint n_placed = MIN (n_blocks, MAX_PLACED);
  gsize size = place (order, n_placed, 0);
  if (halves) {
    const gsize limit = size + size / 4, with_halves = place (order, n_placed, limit);
    size = with_halves <= limit ? with_halves : place (order, n_placed, 0);
  }
  if (n_blocks > n_placed)
    size = share (order + n_placed, n_blocks - n_placed, n_steps, size);
  *lower_bound = largest_live_set (blocks, n_blocks, n_steps, fullest);
  return size;
}
