/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The k best of a stream of scores, without sorting the rest: a bounded min-heap. Memory is the
 * caller's, so decoders allocate it once. Equal scores rank by index, lower first.
 */
#pragma once

#include <glib.h>

typedef struct
{
  gfloat key;
  guint32 index;
} SlRanked;

/**
 * SlTopK:
 * @items: room for @capacity entries; a heap with the worst on top until sl_top_k_sort()
 * @count: entries held
 */
typedef struct
{
  SlRanked *items;
  guint count, capacity;
} SlTopK;

/** sl_top_k_push: offers one score (not NaN). Indices must come in ascending order. */
void sl_top_k_push (SlTopK *top, gfloat key, guint32 index);
/** sl_top_k_sort: turns the heap into a list, best first. Set @count to 0 before the next push. */
void sl_top_k_sort (SlTopK *top);
