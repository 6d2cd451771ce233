/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Backends compute the nodes of a graph (internal to core). A backend is a folder beside this file
 * and a row in the table of choose.c. The runtime asks rows in the table's order which of them
 * supports a node, and knows none by name.
 */
#pragma once

#include "core/base/thread_pool.h"
#include "core/backends/weight_cache.h"
#include "core/graph/graph.h"

/** Most rows of the table. */
#define SL_MAX_BACKENDS 8

typedef struct _SlBackend SlBackend;

/** SlScratch: memory that the steps of a session share, since they run one after the other: @bytes
 * for each thread. Set after all are prepared. */
typedef struct
{
  guint8 *memory;
  gsize bytes;
} SlScratch;

/**
 * SlHost: the session that backends work for.
 * @backends: the backend of each node; NULL for views, which are not run
 * @weights: shared by all sessions of @graph
 * @arena: the session's, for memory that steps need as long as the session lives
 * @pool: (nullable): @threads threads that sleep between frames, where some node's backend uses
 * them
 * @scratch: prepare() raises its @bytes to what the step needs: sl_host_need_scratch()
 * @strides: for each tensor that is written in place, into that of a concatenation: elements from a
 * row of its last dimension to the next; 0 = the tensor has memory of its own
 */
typedef struct
{
  SlGraph *graph;
  const SlBackend **backends;
  SlWeightCache *weights;
  SlArena *arena;
  guint threads;
  SlPool *pool;
  SlScratch scratch;
  const gint32 *strides;
} SlHost;

/**
 * SlStep: nodes that a backend runs at once.
 * @nodes: (element-type guint): positions in the graph, ascending; one where the backend does not
 * join nodes
 * @operands: (element-type gint32): tensors whose memory a run is given. Of a backend that joins
 * nodes: every variable tensor that the
 *   nodes read or write, once. Else the node's inputs, then its outputs, -1 for an omitted one.
 * @is_output: (element-type gboolean): for each of @operands whether the step produces it
 */
typedef struct
{
  const SlBackend *backend;
  GArray *nodes, *operands, *is_output;
} SlStep;

/**
 * SlBackend: functions not marked nullable are there in every row.
 * @name: in SIGHTLINE_BACKEND and in reports
 * @title: in texts for people
 * @failure: the message when @run fails
 * @joins_nodes: neighbouring nodes become one step
 * @packs_weights: layers read a packed copy of their weights, so that the model file's pages may go
 * @asks_weights: @prepare makes weights readable: see sl_graph_need_values()
 * @uses_pool: steps run on the host's pool
 * @keeps_halves: in most steps, one of two threads reads and writes the first half of the data, and
 * the other the second
 * @may_refuse: @prepare may fail for a node that @supports takes, which then goes to a later row.
 * Such steps are prepared first, while all constants are readable.
 * @cpu: (nullable): the instruction set that its kernels are for
 * @open: (nullable): before anything else, for each session: FALSE with @error set where the
 * backend cannot run on this machine
 * @supports: whether it computes @node exactly, or, where all that read its results round them to 8
 * bits, with an error far below that rounding
 * @faster: (nullable): whether it is faster than the rows after it on @node, which it supports;
 * NULL = always
 * @writes_parts: (nullable): whether it can write the rows of @node's output with a stride: see
 * SlHost; NULL = never
 * @neighbours: (nullable): how many nodes from @first on it runs as one step, so that tensors
 * between them are never in memory: each is read by the next node alone. @backends has one for each
 * node; @readers: for each tensor how often it is read; @threads: of the session
 * @start_threads: (nullable): threads of its own for @backend, a session that runs nodes on it;
 * NULL without @error where it needs none
 * @rest_threads: (nullable): called after a run: the threads sleep until the next one; (nullable)
 * @threads
 * @stop_threads: (nullable): (nullable) @threads
 * @prepare: what @run needs, made before the first run; NULL with @error set where the step is
 * refused
 * @run: @memory has one pointer for each of the step's operands, NULL for an omitted one, and for
 * an input of CONCATENATION that is written in place. Allocates nothing. FALSE when it failed.
 * @free: (nullable): of what @prepare made
 */
struct _SlBackend
{
  const char *name, *title, *failure;
  gboolean joins_nodes, packs_weights, asks_weights, uses_pool, keeps_halves, may_refuse;
  const char *(*cpu) (void);
  gboolean (*open) (GError **error);
  gboolean (*supports) (const SlGraph *graph, const SlNode *node);
  gboolean (*faster) (const SlGraph *graph, const SlNode *node);
  gboolean (*writes_parts) (const SlGraph *graph, const SlNode *node);
  guint (*neighbours) (const SlGraph *graph, const SlBackend *const *backends, const guint *readers,
                       guint threads, guint first);
  gpointer (*start_threads) (const SlHost *host, GError **error);
  void (*rest_threads) (gpointer threads);
  void (*stop_threads) (gpointer threads);
  gpointer (*prepare) (SlHost *host, const SlStep *step, gpointer threads, GError **error);
  gboolean (*run) (gpointer prepared, void *const *memory);
  void (*free) (gpointer prepared);
};

/* One for each folder. */
extern const SlBackend sl_backend_int8, sl_backend_float, sl_backend_xnnpack, sl_backend_plain;

/** sl_host_need_scratch: a step needs @bytes of @host's scratch for each thread; they begin aligned
 * as tensors do. */
void sl_host_need_scratch (SlHost *host, gsize bytes);
/** sl_backends_for: (transfer container): names of the backends that can run some node of @graph,
 * NULL-terminated; which of them do may depend on the processor. */
const char **sl_backends_for (const SlGraph *graph);
/** sl_backends_get: (nullable): row @i of the table, the preferred ones first; NULL past the last.
 */
const SlBackend *sl_backends_get (guint i);
/** sl_backends_choose: (transfer full): the backend of each node, NULL for views: the first row
 * that supports it and is faster.
 *
 *  The environment's SIGHTLINE_BACKEND names a row that takes every node it supports; what it does
 * not support goes to the rows after it.
 */
const SlBackend **sl_backends_choose (const SlGraph *graph);
/** sl_backends_next: (transfer none): the first row after @backend that supports @node; the last
 * row supports every node. */
const SlBackend *sl_backends_next (const SlBackend *backend, const SlGraph *graph,
                                   const SlNode *node);
/** sl_backends_heavy: whether the nodes of @backend are worth more than one thread of its own;
 * these threads spin between steps. If an earlier row has nodes, too, only layers that no earlier
 * row supports count: the others are small. */
gboolean sl_backends_heavy (const SlHost *host, const SlBackend *backend);
