/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A session runs a prepared graph. sl_session_new() divides the nodes among backends, places
 * intermediate tensors in one block of memory and starts threads; sl_session_run() only runs.
 *
 * Any number of sessions, on any threads, may share a graph: they share the file's bytes, every
 * constant and the packed weights, as far as backends can share them.
 */
#pragma once

#include <glib.h>

#include "core/base/thread_count.h"
#include "core/external/external.h"
#include "core/graph/graph.h"

typedef enum
{
  SL_STATUS_OK = 0,
  SL_STATUS_BACKEND_FAILED, /* a backend returned an error at run time */
  SL_STATUS_CANCELLED,      /* sl_session_cancel() was called */
} SlStatus;

typedef struct _SlSession SlSession;

/**
 * SlSessionStats:
 * @nodes: nodes that run (views cost nothing and are not counted)
 * @steps: runs of neighbouring nodes, or single nodes, that a backend runs one after the other
 * @in_place_nodes: nodes that write over one of their inputs
 * @parts: tensors that are written in place, into those of concatenations
 * @arena_bytes: memory for intermediate tensors
 * @arena_lower_bound: largest sum of tensors alive at the same time
 * @weight_bytes: constants in the model file
 * @packed_bytes: weights that backends packed and all sessions of the graph share
 */
typedef struct
{
  guint nodes, steps, in_place_nodes, parts;
  gsize arena_bytes, arena_lower_bound, weight_bytes, packed_bytes;
} SlSessionStats;

/**
 * SlBackendUse: a session's use of a backend.
 * @name, @title: "int8" and "int8 kernels"
 * @cpu: (nullable): the instruction set of its kernels, where it chooses one: "c", "avx2",
 * "avxvnni", "avx512", "neon", "dotprod" or "i8mm"
 * @nodes: how many it runs
 */
typedef struct
{
  const char *name, *title, *cpu;
  guint nodes;
} SlBackendUse;

/**
 * sl_session_new:
 * @graph: (transfer none): a prepared graph; the session keeps a reference
 * @threads: 1..SL_MAX_THREADS, or 0 for as many as run it fastest: it is run a few times to find
 * out
 *
 * Returns: (transfer full): NULL with @error set when memory, threads or a backend refuse
 */
SlSession *sl_session_new (SlGraph *graph, guint threads, GError **error);
/** sl_session_new_full: of 1..SL_MAX_THREADS threads; with @profile every node runs by itself and
 * its time is kept; slower than without. */
SlSession *sl_session_new_full (SlGraph *graph, guint threads, gboolean profile, GError **error);
/** sl_session_new_external: a session that another runtime runs as a whole; @graph is of the same
 * file as @model, or its skeleton. It has one step, because nodes and steps are internal to that
 * runtime. */
SlSession *sl_session_new_external (SlGraph *graph, SlExternalModel *model, guint threads,
                                    GError **error);
/** sl_session_set_fallback: whether one of our sessions repeats a run that failed in the other
 * runtime; it then does all later runs, too.
 *  */
void sl_session_set_fallback (SlSession *session, gboolean fallback);
/** sl_session_external: (transfer none) (nullable): the runtime's model that runs now; NULL of a
 * session of ours, and after a fallback. */
SlExternalModel *sl_session_external (const SlSession *session);
/** sl_session_take_notice: (transfer full) (nullable): once after a run that fell back: the reason,
 * for a warning. Call it from the thread that runs the session. */
char *sl_session_take_notice (SlSession *session);
void sl_session_free (SlSession *session);

/**
 * sl_session_run:
 * @inputs: one pointer per graph input, in order, to tensor->bytes bytes plus SL_TENSOR_PADDING
 * readable ones,
 *          aligned to the element size (SL_TENSOR_ALIGN is fastest); read only
 * @outputs: one pointer per graph output, to tensor->bytes bytes plus SL_TENSOR_PADDING writable
 * ones
 *
 * Not thread-safe: one run at a time per session. Does not allocate after the first run with given
 * pointers.
 */
SlStatus sl_session_run (SlSession *session, const void *const *inputs, void *const *outputs);
/** sl_session_reset: every held input gets its value from before the first run. Between runs, in
 * their thread. */
void sl_session_reset (SlSession *session);
/** sl_session_forget: the same only for state from run to run. */
void sl_session_forget (SlSession *session);
/** sl_session_held: (transfer none): memory of held input @i (core/graph/graph.h), to read or to
 * write between runs; another one after each run. */
void *sl_session_held (SlSession *session, guint i);
/** sl_session_all_inputs: fills @all, of up to SL_MAX_IO: @inputs of the next run and, behind them,
 * what is held. */
void sl_session_all_inputs (const SlSession *session, const void *const *inputs, const void **all);
/** sl_session_status_text: (transfer none): what the last run's status means. */
const char *sl_session_status_text (const SlSession *session, SlStatus status);
/** sl_session_cancel: any thread: makes a run return SL_STATUS_CANCELLED before its next step, and
 * later runs at once, until called with FALSE. */
void sl_session_cancel (SlSession *session, gboolean cancelled);
gboolean sl_session_is_cancelled (const SlSession *session);
/** sl_session_link: cancelling @session also cancels @other (nullable), until the next call, which
 * replaces @other. */
void sl_session_link (SlSession *session, SlSession *other);
/** sl_session_node_ns: nanoseconds spent in node @node over all runs; 0 unless profiling. */
guint64 sl_session_node_ns (const SlSession *session, guint node);

/** sl_session_threads: how many run it. */
guint sl_session_threads (const SlSession *session);
SlGraph *sl_session_graph (SlSession *session); /* (transfer none) */
void sl_session_stats (const SlSession *session, SlSessionStats *stats);
/** sl_session_backend: (transfer none): the backend of node @node: "int8" (fast 8-bit kernels),
 * "xnnpack" or "plain", or "view" for a node that is not run. */
const char *sl_session_backend (const SlSession *session, guint node);
/** sl_session_backend_use: the session's use of backend @i, in the order of preference; FALSE when
 * there are no more. */
gboolean sl_session_backend_use (const SlSession *session, guint i, SlBackendUse *use);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlSession, sl_session_free)
