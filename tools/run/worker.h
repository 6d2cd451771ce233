/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One supervised pipeline: started, watched, restarted with back-off, reloaded, stopped. All
 * functions and callbacks on the main thread; state changes, which may block, happen on the
 * worker's own.
 */
#pragma once

#include "pipelines/description/description.h"
#include "pipelines/description/edit.h"
#include "tools/run/flow.h"
#include "tools/run/live.h"

typedef enum
{
  SL_WORKER_STARTING, /* until its first frame */
  SL_WORKER_RUNNING,
  SL_WORKER_STOPPING,
  SL_WORKER_WAITING, /* for its next start */
  SL_WORKER_ENDED,   /* end of stream, or asked to stop */
  SL_WORKER_FAILED   /* and not started again */
} SlWorkerState;

typedef struct _SlWorker SlWorker;

/**
 * SlWorkerTotals: of a worker, over all its starts.
 * @counts: sums; first and last are 0
 * @running: microseconds between the first and the last frame at a sink of each start
 * @recoveries: how often a camera, or the pipeline, was back after a failure
 * @timed: whether @p50 and @p95 are known: microseconds, of the last 512 frames of the last start
 * @histograms: of all frames
 */
typedef struct
{
  SlFlowCounts counts;
  gint64 running;
  guint recoveries;
  gboolean timed;
  gint64 p50[SL_N_STAGES], p95[SL_N_STAGES];
  SlHistogram histograms[SL_N_STAGES];
} SlWorkerTotals;

/**
 * SlWorkerOptions:
 * @dot: (nullable): folder for graphs
 * @black_box: (nullable): folder for black boxes, of elements for which the description names none
 * @state: (nullable): folder in which counts outlive the process, of pipelines whose description
 * names none
 * @keep_tracks: seconds of tracks that an slanalyze keeps for previews; 0 = as it states
 * @drain_us: how long the end of stream may take to go through a pipeline that is to stop
 * @changed: called after every change of state
 * @adopted: called with each pipeline before it plays, but for the first, which
 * sl_worker_pipeline() has
 * @posted: called with each message of an element that an application may want to know
 * @set: called after a setting has changed at run time
 * @dropping: called before a pipeline, which is in NULL, is let go
 */
typedef struct
{
  const char *dot, *black_box, *state;
  gint keep_tracks;
  gint64 drain_us;
  void (*changed) (SlWorker *worker, gpointer data);
  void (*adopted) (SlWorker *worker, GstElement *pipeline, gpointer data);
  void (*posted) (SlWorker *worker, GstMessage *message, gpointer data);
  void (*set) (SlWorker *worker, SlLiveKind kind, gpointer data);
  void (*dropping) (SlWorker *worker, gpointer data);
  gpointer data;
} SlWorkerOptions;

/** sl_worker_new: loads the description at @path and builds its pipeline once, so that every error
 * in it comes from here; starts nothing. @parameters: (element-type utf8 utf8): a reference is
 * kept. @options must live as long. */
SlWorker *sl_worker_new (const char *path, GHashTable *parameters, const SlWorkerOptions *options,
                         GError **error);
/** sl_worker_free: only of a worker that is at rest. */
void sl_worker_free (SlWorker *worker);
/** sl_worker_state_folder: (nullable): where counts go on over the end of the program. */
const char *sl_worker_state_folder (const SlWorker *worker);
void sl_worker_start (SlWorker *worker);
/** sl_worker_stop: for good: end of stream first, so that files are finished, NULL after at most
 * the options' @drain_us. */
void sl_worker_stop (SlWorker *worker);
/** sl_worker_reload: reads the file again; when it changed, the new pipeline takes the old one's
 * place, and the old comes back when the new fails before its first frame. If only zones, lines and
 * masks changed, the pipeline goes on with the new ones. What is wrong is logged.
 */
void sl_worker_reload (SlWorker *worker);
/** sl_worker_read: (transfer full) (nullable): the description as its files are now, of which
 * nothing is taken; NULL where it is wrong. */
SlDescription *sl_worker_read (const SlWorker *worker);
/** sl_worker_edit: (transfer full): the description's files, to change their regions; NULL with
 * @error set where they cannot be read. */
SlEdit *sl_worker_edit (const SlWorker *worker, GError **error);
/** sl_worker_dump: has its models write black boxes, and logs why where one does not; @reason: a
 * word. */
void sl_worker_dump (SlWorker *worker, const char *reason);
/** sl_worker_tick: watches the clock; to be called some times a second. */
void sl_worker_tick (SlWorker *worker);
SlWorkerState sl_worker_state (const SlWorker *worker);
/** sl_worker_at_rest: it will do nothing more by itself. */
gboolean sl_worker_at_rest (const SlWorker *worker);
/** sl_worker_stuck: its pipeline did not stop when told to; only the end of the process helps. */
gboolean sl_worker_stuck (const SlWorker *worker);
/** sl_worker_settled: it has shown a frame or failed once. */
gboolean sl_worker_settled (const SlWorker *worker);
const char *sl_worker_name (const SlWorker *worker);
/** sl_worker_set_name: for logs, where two descriptions have one name. */
void sl_worker_set_name (SlWorker *worker, const char *name);
/** sl_worker_description: (transfer none): valid until the worker is reloaded. */
const SlDescription *sl_worker_description (const SlWorker *worker);
/** sl_worker_pipeline: (transfer none) (nullable): it may be in any state. */
GstElement *sl_worker_pipeline (const SlWorker *worker);
/** sl_worker_restarts: starts as the restart policy wants them, after a failure or an end; those of
 * a reload are not among them. */
guint sl_worker_restarts (const SlWorker *worker);
/** sl_worker_totals: up to now. */
void sl_worker_totals (const SlWorker *worker, SlWorkerTotals *totals);
/** sl_worker_live: (transfer none): its settings at run time. */
SlLive *sl_worker_live (SlWorker *worker);
/** sl_worker_flow: (transfer none) (nullable): of the pipeline that is running. */
SlFlow *sl_worker_flow (SlWorker *worker);
const char *sl_worker_state_name (SlWorkerState state);
