/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * XNNPACK behind a small interface (internal to core/backends/xnnpack): which nodes it takes, and
 * runtimes over runs of nodes. The subgraph API common to 2022-02 and later is used, and later
 * ones' cache of weights where it is.
 */
#pragma once

#include "core/backends/backend.h"

typedef struct pthreadpool *SlXnnThreads;
struct xnn_subgraph;
struct xnn_runtime;

/** sl_xnn_init: FALSE with @error set when XNNPACK cannot run on this machine. Call once before the
 * rest; thread-safe. */
gboolean sl_xnn_init (GError **error);
/** sl_xnn_start: xnn_initialize() without AMX; an enum xnn_status. */
int sl_xnn_start (void);
/** sl_xnn_has_amx: whether the process had AMX before, so that XNNPACK may use it. */
gboolean sl_xnn_has_amx (void);
/** sl_xnn_start_problem: (transfer full): why XNNPACK does not start: the files it cannot read
 * below @root, "" but in tests, on an
 *  @arm processor or another; where it can read them, what its status says, @otherwise. */
char *sl_xnn_start_problem (const char *root, gboolean arm, const char *otherwise);
/** sl_xnn_supports: whether XNNPACK has an operator for @node with its types and parameters. Exact
 * for the definition; creating the runtime may still refuse unusual scales. */
gboolean sl_xnn_supports (const SlGraph *graph, const SlNode *node);

/* SlBackend's prepare(), run() and free(). A runtime is set up again only when one of the pointers
 * in @memory changed. */
gpointer sl_xnn_runtime_new (SlHost *host, const SlStep *step, gpointer threads, GError **error);
gboolean sl_xnn_runtime_run (gpointer runtime, void *const *memory);
void sl_xnn_runtime_free (gpointer runtime);

/** sl_xnn_make_runtime: returns an enum xnn_status; any thread. Weights packed for another runtime
 * of the graph are shared where this XNNPACK can share them; they are in the host's cache. */
int sl_xnn_make_runtime (const SlHost *host, struct xnn_subgraph *subgraph, SlXnnThreads threads,
                         struct xnn_runtime **runtime);

/** sl_xnn_threads_new: NULL with @error set when threads cannot be started; @threads 1 gives NULL
 * without error. */
SlXnnThreads sl_xnn_threads_new (guint threads, GError **error);
void sl_xnn_threads_free (gpointer threads);
/** sl_xnn_threads_rest: between parallel loops the threads spin, to be quick; this makes them sleep
 * until the next one. (nullable) @threads */
void sl_xnn_threads_rest (gpointer threads);
