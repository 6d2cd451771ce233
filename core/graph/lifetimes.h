/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory of intermediate tensors (internal to core): from the order of nodes to lifetimes to
 * offsets in one arena.
 */
#pragma once

#include "core/graph/graph.h"

/**
 * SlMemoryPlan:
 * @bytes: size of the arena
 * @lower_bound: largest sum of tensors alive at the same time
 * @fullest: the node at which that is
 * @in_place: nodes that write where they read
 */
typedef struct
{
  gsize bytes, lower_bound;
  guint in_place, fullest;
} SlMemoryPlan;

/** sl_roots_new: (transfer full): for each tensor the one that owns its bytes: itself, or the
 * tensor that it is a view of. */
gint32 *sl_roots_new (const SlGraph *graph);

/**
 * sl_memory_plan:
 * @roots: for each tensor the one whose bytes it shows, or is a part of
 * @bound: for each root, whether it lives in memory of the caller's
 * @ends: (nullable): for each node the last of those that run with it at once, row by row: it
 * writes over none of their inputs
 * @halves: as for sl_arena_plan()
 * @offsets: (out): for each root its place in the arena, -1 = not there
 *
 * A tensor is alive from the node that writes it to the last that reads it or a view of it. An
 * elementwise node writes over an input of the same size that nothing reads afterwards.
 */
void sl_memory_plan (const SlGraph *graph, const gint32 *roots, const guint8 *bound,
                     const guint *ends, gboolean halves, gssize *offsets, SlMemoryPlan *plan);

/** sl_memory_at_once: bytes that a run of @graph takes for tensors: its inputs and outputs, and the
 * arena that sl_memory_plan() finds for the others.
 *  @fullest: (out): the node at which most is alive. All tensors have their bytes, the sum of which
 * is no more than G_MAXSIZE / 4. */
gsize sl_memory_at_once (const SlGraph *graph, guint *fullest);
