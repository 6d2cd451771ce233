/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * XNNPACK behind a small interface (internal to core): which nodes it takes, and runtimes over runs of nodes.
 * xnnpack.c and xnn_weights.c alone include xnnpack.h; the subgraph API common to 2022-02 and later is used, and later ones' cache of
 * weights where it is.
 */
#ifndef SL_CORE_BACKENDS_XNNPACK_XNN_H
#define SL_CORE_BACKENDS_XNNPACK_XNN_H

#include "core/graph/graph.h"
#include "core/runtime/session.h"

G_BEGIN_DECLS

typedef struct _SlXnnRuntime SlXnnRuntime;
typedef struct pthreadpool *SlThreadPool;

/** sl_xnn_init: FALSE with @error set when XNNPACK cannot run on this machine. Call once before the rest; thread-safe. */
gboolean sl_xnn_init (GError **error);
/** sl_xnn_start_problem: (transfer full): why XNNPACK does not start: the files it cannot read below @root, "" but in tests, on an
 *  @arm processor or another; where it can read them, what its status says, @otherwise. */
char *sl_xnn_start_problem (const char *root, gboolean arm, const char *otherwise);
/** sl_xnn_supports: whether XNNPACK has an operator for @node with its types and parameters. Exact for the definition; creating the
 *  runtime may still refuse unusual scales. */
gboolean sl_xnn_supports (const SlGraph *graph, const SlNode *node);

/**
 * sl_xnn_runtime_new:
 * @nodes: positions in @graph, ascending
 * @externals: tensors whose memory the caller gives on each run: everything read from or needed outside @nodes
 * @is_output: for each of @externals, whether @nodes produce it
 * @pool: (nullable): threads; must outlive the runtime
 */
SlXnnRuntime *sl_xnn_runtime_new (const SlGraph *graph, const guint *nodes, guint n_nodes, const gint32 *externals,
                                  const gboolean *is_output, guint n_externals, SlThreadPool pool, GError **error);
void sl_xnn_runtime_free (SlXnnRuntime *runtime);
/** sl_xnn_runtime_run: @memory holds one pointer per external, in their order; set up again only when one changed. */
SlStatus sl_xnn_runtime_run (SlXnnRuntime *runtime, void *const *memory);

/** SlXnnWeights: what XNNPACK packed for the runtimes of a graph; NULL where each runtime packs for itself. */
typedef struct _SlXnnWeights SlXnnWeights;
struct xnn_subgraph;
struct xnn_runtime;

/** sl_xnn_weights_new: (nullable): @graph outlives them, and they outlive its runtimes. */
SlXnnWeights *sl_xnn_weights_new (const SlGraph *graph);
void sl_xnn_weights_free (SlXnnWeights *weights);
/** sl_xnn_weights_bytes: what is packed so far; any thread. */
gsize sl_xnn_weights_bytes (SlXnnWeights *weights);
/** sl_xnn_weights_make_runtime: returns an enum xnn_status; any thread. (nullable) @weights */
int sl_xnn_weights_make_runtime (SlXnnWeights *weights, struct xnn_subgraph *subgraph, SlThreadPool pool, struct xnn_runtime **runtime);
/** sl_graph_xnn_weights: (transfer none) (nullable): those of a graph. */
SlXnnWeights *sl_graph_xnn_weights (const SlGraph *graph);

/** sl_thread_pool_new: NULL with @error set when threads cannot be started; @threads 1 gives NULL without error. */
SlThreadPool sl_thread_pool_new (guint threads, GError **error);
void sl_thread_pool_free (SlThreadPool pool);
/** sl_thread_pool_rest: between parallel loops the threads spin, to be quick; this makes them sleep until the next one. (nullable) @pool */
void sl_thread_pool_rest (SlThreadPool pool);

G_END_DECLS

#endif
