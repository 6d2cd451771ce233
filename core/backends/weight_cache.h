/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the sessions of a graph make once and share (internal to core): weights in the order in which some kernel reads
 * them. A pack is made by the first session that wants it and lives as long as the graph.
 */
#ifndef SL_CORE_BACKENDS_WEIGHT_CACHE_H
#define SL_CORE_BACKENDS_WEIGHT_CACHE_H

#include "core/graph/arena.h"
#include "core/graph/graph.h"

G_BEGIN_DECLS

typedef struct _SlPacks SlPacks;
/** Makes a pack in @arena, which nobody else uses meanwhile. */
typedef void *(*SlPackFunc) (SlArena *arena, gpointer data);

SlPacks *sl_packs_new (void);
void sl_packs_free (SlPacks *packs);
/** sl_packs_get: (transfer none): the pack of @node made @how, by @make if nobody has yet. Any thread; one that another thread makes
 *  just now is waited for. */
void *sl_packs_get (SlPacks *packs, const void *node, const void *how, SlPackFunc make, gpointer data);
/** sl_packs_bytes: of all packs. */
gsize sl_packs_bytes (SlPacks *packs);

/** sl_graph_packs: (transfer none): those of a prepared graph. */
SlPacks *sl_graph_packs (const SlGraph *graph);

G_END_DECLS

#endif
