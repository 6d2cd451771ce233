/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packed weights that all sessions of a graph share (internal to core), in the order in which a
 * backend reads them. The runtime attaches a cache to each graph; backends fill it. The first
 * session that needs an entry makes it; it lives as long as the graph.
 */
#pragma once

#include "core/graph/arena.h"

typedef struct _SlWeightCache SlWeightCache;
/** SlWeightFunc: makes an entry in @arena, which no other thread uses meanwhile. */
typedef void *(*SlWeightFunc) (SlArena *arena, gpointer data);

/* Functions for sl_graph_attach(), of a SlWeightCache. */
gpointer sl_weight_cache_new (void);
void sl_weight_cache_free (gpointer cache);
/**
 * sl_weight_cache_get:
 * @key, @how: identify the entry, such as a node and an instruction set; both are compared as
 * pointers
 * @make: makes the entry from @data if it does not exist
 * @destroy: (nullable): takes the entry before its arena is freed
 *
 * Any thread; the call waits for an entry that another thread is making.
 *
 * Returns: (transfer none)
 */
void *sl_weight_cache_get (SlWeightCache *cache, const void *key, const void *how,
                           SlWeightFunc make, gpointer data, GDestroyNotify destroy);
/** sl_weight_cache_count: @bytes more are packed outside of the arenas of entries; any thread. */
void sl_weight_cache_count (SlWeightCache *cache, gsize bytes);
/** sl_weight_cache_bytes: of all entries; any thread. */
gsize sl_weight_cache_bytes (SlWeightCache *cache);
