/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the sessions of a graph make once and share (internal to core): weights packed in the order in which a backend reads them. The
 * cache is the runtime's, which attaches one to each graph; backends fill it. An entry is made by the first session that wants it and
 * lives as long as the graph.
 */
#ifndef SL_CORE_BACKENDS_WEIGHT_CACHE_H
#define SL_CORE_BACKENDS_WEIGHT_CACHE_H

#include "core/graph/arena.h"

typedef struct _SlWeightCache SlWeightCache;
/** SlWeightFunc: makes an entry in @arena, which nobody else uses meanwhile. */
typedef void *(*SlWeightFunc) (SlArena *arena, gpointer data);

SlWeightCache *sl_weight_cache_new (void);
void sl_weight_cache_free (SlWeightCache *cache);
/**
 * sl_weight_cache_get:
 * @key, @how: what the entry is of, such as a node and an instruction set; both are compared as pointers
 * @make: makes the entry from @data if nobody has yet
 * @destroy: (nullable): takes the entry before its arena is freed
 *
 * Any thread; an entry that another thread makes just now is waited for.
 *
 * Returns: (transfer none)
 */
void *sl_weight_cache_get (SlWeightCache *cache, const void *key, const void *how, SlWeightFunc make, gpointer data,
                           GDestroyNotify destroy);
/** sl_weight_cache_count: @bytes more are packed outside of the arenas of entries; any thread. */
void sl_weight_cache_count (SlWeightCache *cache, gsize bytes);
/** sl_weight_cache_bytes: of all entries; any thread. */
gsize sl_weight_cache_bytes (SlWeightCache *cache);

#endif
