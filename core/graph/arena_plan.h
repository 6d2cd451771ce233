/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory plan (internal to core): places blocks with known lifetimes in one arena so that blocks
 * alive at the same time never overlap.
 */
#pragma once

#include <glib.h>

/** A block: alive from step @first to step @last, inclusive; @offset is the result, a multiple of
 * SL_TENSOR_ALIGN. */
typedef struct
{
  gsize bytes;
  guint first, last;
  gsize offset;
} SlBlock;

/**
 * sl_arena_plan:
 * @halves: two threads write a half of each block: blocks have the same middle where they can, so
 * that the bytes of a half stay with one
 *   thread, in whose cache they are. The arena is at most a quarter larger for that
 * @lower_bound: (out): the largest sum of sizes alive at one step
 * @fullest: (out) (nullable): that step
 *
 * Sets every offset; returns the arena's size.
 */
gsize sl_arena_plan (SlBlock *blocks, guint n_blocks, guint n_steps, gboolean halves,
                     gsize *lower_bound, guint *fullest);
