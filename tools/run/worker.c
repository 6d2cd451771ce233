/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The life of a pipeline: STARTING until its first frame, RUNNING, then STOPPING, and from there
 * where its end leads: WAITING for the next start, ENDED or FAILED. There is one way out of a
 * pipeline, finish(), which keeps why, and one place that decides what comes then, on_stopped().
 */
#include "tools/run/worker.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "core/base/backoff.h"
#include "core/base/redact.h"
#include "core/base/printable.h"
#include "pipelines/description/build.h"
#include "pipelines/supervise/bus.h"
#include "pipelines/supervise/elements.h"
#include "tools/run/boxes.h"
#include "tools/run/job.h"
#include "tools/run/keep.h"
#include "tools/run/log.h"
#include "tools/run/memory.h"
#include "tools/run/model_files.h"
#include "tools/run/promises.h"
#include "tools/run/renew.h"

/* Longest wait for elements to stop. */
#define STOP_TIMEOUT (10 * G_USEC_PER_SEC)
/* What the watchdog counts at a tick at most: before that the whole program stood still. */
#define TICK_MOST (G_USEC_PER_SEC * 3 / 10)
/* Until a failure in the same words has black boxes again: a pipeline that fails each minute would
 * replace all that are kept. */
#define SAME_FAILURE (600 * G_USEC_PER_SEC)
#define MAX_FAILURES 64

typedef enum
{
  END_OF_STREAM,
  END_FAILED,
  END_STOPPED, /* asked to */
  END_REPLACED /* by a new description */
} End;

struct _SlWorker
{
  char *path, *name;
  GHashTable *parameters;
  const SlWorkerOptions *options;
  SlDescription *description;
  SlDescription *fallback; /* (nullable): goes on when @description fails before its first frame */
  GstElement *pipeline;    /* (nullable) */
  guint bus_watch;
  SlFlow *flow;
  SlRunModels *models;
  SlJobs *jobs;
  SlKeep *keep;
  SlLive *live;
  SlRunPromises *promises;
  SlWorkerState state;
  End end;
  gboolean stop_asked, draining, settled, stuck;
  gboolean for_good;        /* what failed, no second start mends */
  guint restarts, failures; /* failures in a row, for the back-off */
  gint64 started, running_since, stop_since, next_start;
  gint64 ticked, quiet_since, quiet; /* the last tick; the last frame, and what counts since then */
  gint64 failed_since;     /* the last frame before the failure; 0 = since then it came back */
  gint64 away_last;        /* when a camera was seen to be away last */
  GHashTable *warned;      /* names of elements whose last word was a warning */
  GHashTable *boxed;       /* words of failures that have black boxes -> when, a gint64 */
  SlWorkerTotals finished; /* of the pipelines before this one */
};

static const char *const state_names[] = { "starting", "running", "stopping",
                                           "waiting",  "ended",   "failed" };

const char *
sl_worker_state_name (SlWorkerState state)
{
  return state_names[state];
}

static void
set_state (SlWorker *worker, SlWorkerState state)
{
  worker->state = state;
  worker->settled = worker->settled || state != SL_WORKER_STARTING;
  worker->options->changed (worker, worker->options->data);
}

/* Graphs have every property in them: without secrets, and for nobody else to read. */
static void
write_dot (SlWorker *worker, const char *suffix)
{
  if (worker->options->dot == NULL || worker->pipeline == NULL)
    return;
  g_autoptr (GError) error = NULL;
  g_autofree char *file = g_strconcat (worker->name, suffix, ".dot", NULL);
  g_strdelimit (file, "/", '_');
  g_autofree char *path = g_build_filename (worker->options->dot, file, NULL);
  g_autofree char *graph =
    gst_debug_bin_to_dot_data (GST_BIN (worker->pipeline), GST_DEBUG_GRAPH_SHOW_ALL);
  g_autofree char *shown = sl_redact (graph);
  if (!g_file_set_contents_full (path, shown, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, &error))
    sl_run_log (SL_LOG_WARNING, worker->name, "dot", "%s", error->message);
}

/* To NULL, on the worker's thread, which may be on its way up. */
static void
tear_down (SlWorker *worker)
{
  worker->draining = FALSE;
  worker->stop_since = g_get_monotonic_time ();
  sl_pipeline_interrupt (GST_BIN (worker->pipeline));
  sl_jobs_push (worker->jobs, worker->pipeline, GST_STATE_NULL);
}

static gboolean
is_up (const SlWorker *worker)
{
  return worker->state == SL_WORKER_STARTING || worker->state == SL_WORKER_RUNNING;
}

static void
finish (SlWorker *worker, End end)
{
  if (!is_up (worker))
    return;
  worker->end = end;
  set_state (worker, SL_WORKER_STOPPING);
  tear_down (worker);
}

/* (transfer full): without numbers, of which elements that are made again have others. */
static char *
words_of (const char *message)
{
  GString *words = g_string_new (NULL);
  for (; *message != '\0'; message++)
    if (!g_ascii_isdigit (*message))
      g_string_append_c (words, *message);
  return g_string_free (words, FALSE);
}

static void
write_boxes (SlWorker *worker, const char *message)
{
  g_autofree char *words = words_of (message);
  const gint64 now = g_get_monotonic_time (), *before = g_hash_table_lookup (worker->boxed, words);
  if (before != NULL && now - *before < SAME_FAILURE)
    return;
  if (sl_run_boxes_dump (worker->pipeline, message, NULL) == 0)
    return;
  if (g_hash_table_size (worker->boxed) >= MAX_FAILURES)
    g_hash_table_remove_all (worker->boxed);
  g_hash_table_insert (worker->boxed, g_steal_pointer (&words), g_memdup2 (&now, sizeof now));
}

static void G_GNUC_PRINTF (2, 3) fail (SlWorker *worker, const char *format, ...)
{
  if (!is_up (worker))
    return;
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  sl_run_log (SL_LOG_ERROR, worker->name, "failed", "%s", message);
  if (worker->failed_since == 0) {
    SlFlowCounts counts;
    sl_flow_counts (worker->flow, &counts);
    worker->failed_since = counts.last > 0 ? counts.last : g_get_monotonic_time ();
  }
  write_dot (worker, "-failed");
  write_boxes (worker, message);
  finish (worker, END_FAILED);
}

/* What element messages say in words, such as a camera's that is away. */
static void
log_warning (gpointer data, const char *element, const GError *warning)
{
  SlWorker *worker = data;
  sl_run_log (SL_LOG_WARNING, worker->name, "warning", "%s: %s", element, warning->message);
  g_hash_table_add (worker->warned, g_strdup (element));
}

/* From an element that had warned it is the word that all is well again: a camera is back. */
static void
log_info (gpointer data, const char *element, const GError *info)
{
  SlWorker *worker = data;
  const gboolean recovered = g_hash_table_remove (worker->warned, element);
  worker->finished.recoveries += recovered ? 1 : 0;
  sl_run_log (SL_LOG_INFO, worker->name, recovered ? "recovered" : "info", "%s: %s", element,
              info->message);
}

static void
note_recovery (SlWorker *worker, gint64 since)
{
  if (worker->failed_since == 0)
    return;
  sl_run_log (SL_LOG_INFO, worker->name, "recovered", "back after %.1f s",
              (double) (since - worker->failed_since) / G_USEC_PER_SEC);
  worker->failed_since = 0;
  worker->finished.recoveries++;
}

static void
take_posted (gpointer data, GstMessage *message)
{
  SlWorker *worker = data;
  const GstStructure *structure = gst_message_get_structure (message);
  if (gst_structure_has_name (structure, "model-changed"))
    sl_run_log (SL_LOG_INFO, worker->name, "model-changed", "%s: %s runs now",
                GST_MESSAGE_SRC_NAME (message), gst_structure_get_string (structure, "model"));
  worker->options->posted (worker, message, worker->options->data);
}

/* STARTING becomes RUNNING once a frame is through; told by the clock, and before the end where
 * that was faster. */
static void
note_first_frame (SlWorker *worker)
{
  SlFlowCounts counts;
  if (worker->state != SL_WORKER_STARTING)
    return;
  sl_flow_counts (worker->flow, &counts);
  if (counts.first == 0)
    return;
  worker->running_since = counts.first;
  g_clear_pointer (&worker->fallback, sl_description_free);
  sl_run_log (SL_LOG_INFO, worker->name, "running", "running; first frame after %.0f ms",
              (double) (counts.first - worker->started) / 1000);
  note_recovery (worker, counts.first);
  write_dot (worker, "");
  set_state (worker, SL_WORKER_RUNNING);
}

static gboolean
is_unread_output (const char *message)
{
  struct pollfd output = { .fd = STDOUT_FILENO };
  return strstr (message, g_strerror (EPIPE)) != NULL && poll (&output, 1, 0) > 0
         && (output.revents & POLLERR) != 0;
}

static void
take_for_good (gpointer data)
{
  ((SlWorker *) data)->for_good = TRUE;
}

/* @element: (nullable): who says so */
static void
take_error (gpointer data, const char *element, const GError *error)
{
  SlWorker *worker = data;
  if (worker->draining)
    tear_down (worker);
  note_first_frame (worker);
  worker->for_good = worker->for_good || is_unread_output (error->message);
  const gboolean asked_again =
    worker->description->restart != SL_RESTART_NO && worker->fallback == NULL;
  fail (worker, "%s%s%s%s", element != NULL ? element : "", element != NULL ? ": " : "",
        error->message,
        worker->for_good && asked_again ? "; not started again, since it would fail again" : "");
}

static void
take_end (gpointer data)
{
  SlWorker *worker = data;
  note_first_frame (worker);
  if (worker->draining) {
    tear_down (worker);
  } else if (is_up (worker)) {
    sl_run_log (SL_LOG_INFO, worker->name, "end-of-stream", "end of stream");
    finish (worker, END_OF_STREAM);
  }
}

static const SlBusEvents bus_events = { .failed = take_error,
                                        .warned = log_warning,
                                        .informed = log_info,
                                        .posted = take_posted,
                                        .ended = take_end,
                                        .stays = take_for_good };

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  SlWorker *worker = data;
  sl_drops_take_message (sl_flow_drops (worker->flow), message);
  sl_bus_handle (worker->pipeline, message, &bus_events, worker);
  return G_SOURCE_CONTINUE;
}

static void
add_flow (SlFlow *flow, SlWorkerTotals *totals)
{
  SlFlowCounts counts;
  gboolean timed = FALSE;
  sl_flow_counts (flow, &counts);
  totals->counts.in += counts.in;
  totals->counts.out += counts.out;
  totals->counts.predictions += counts.predictions;
  totals->counts.dropped += counts.dropped;
  totals->running += counts.last - counts.first;
  for (guint s = 0; s < SL_N_STAGES; s++)
    timed = sl_flow_latency (flow, (SlStage) s, &totals->p50[s], &totals->p95[s]);
  for (guint s = 0; s < SL_N_STAGES; s++)
    sl_flow_add_histogram (flow, (SlStage) s, &totals->histograms[s]);
  totals->timed = totals->timed || timed;
}

/* Of a pipeline that showed no frame nothing is new. */
static void
keep_counts (SlWorker *worker)
{
  SlFlowCounts counts;
  sl_flow_counts (worker->flow, &counts);
  if (counts.first == 0)
    return;
  sl_keep_collect (worker->keep, worker->pipeline);
  sl_keep_save (worker->keep);
}

static void
drop_pipeline (SlWorker *worker)
{
  if (worker->pipeline == NULL)
    return;
  worker->options->dropping (worker, worker->options->data);
  g_source_remove (worker->bus_watch);
  g_hash_table_remove_all (worker->warned);
  keep_counts (worker);
  add_flow (worker->flow, &worker->finished);
  g_clear_pointer (&worker->flow, sl_flow_free);
  g_clear_pointer (&worker->models, sl_run_models_free);
  gst_clear_object (&worker->pipeline);
}

static void
adopt (SlWorker *worker, GstElement *pipeline)
{
  worker->pipeline = pipeline;
  GstBus *bus = gst_element_get_bus (pipeline);
  worker->bus_watch = gst_bus_add_watch (bus, on_message, worker);
  gst_object_unref (bus);
  worker->flow = sl_flow_new (pipeline);
  worker->models = sl_run_models_new (pipeline);
}

static void
wait_for_start (SlWorker *worker)
{
  worker->failures++;
  const guint delay = sl_backoff_delay (worker->description->backoff_min,
                                        worker->description->backoff_max, worker->failures);
  worker->next_start = g_get_monotonic_time () + (gint64) delay * 1000;
  sl_run_log (SL_LOG_INFO, worker->name, "waiting", "starts again in %.1f s", delay / 1000.0);
  set_state (worker, SL_WORKER_WAITING);
}

static void
keep_tracks (SlWorker *worker)
{
  g_autoptr (GPtrArray) analyzers = sl_find_elements (worker->pipeline, "slanalyze");
  for (guint i = 0; worker->options->keep_tracks > 0 && i < analyzers->len; i++) {
    gint stated = 0;
    g_object_get (analyzers->pdata[i], "keep-tracks", &stated, NULL);
    if (stated == 0)
      g_object_set (analyzers->pdata[i], "keep-tracks", worker->options->keep_tracks, NULL);
  }
}

static void
begin (SlWorker *worker)
{
  g_autoptr (GError) error = NULL;
  worker->for_good = FALSE;
  worker->started = g_get_monotonic_time ();
  if (worker->pipeline == NULL) {
    GstElement *pipeline = sl_description_build (worker->description, &error);
    if (pipeline == NULL) {
      sl_run_log (SL_LOG_ERROR, worker->name, "failed", "%s", error->message);
      set_state (worker, SL_WORKER_FAILED);
      return;
    }
    adopt (worker, pipeline);
    worker->options->adopted (worker, pipeline, worker->options->data);
  }
  sl_keep_apply (worker->keep, worker->pipeline);
  keep_tracks (worker);
  sl_live_apply (worker->live, worker->pipeline, worker->name, worker->description->launch);
  /* A black box has the open picture. */
  sl_run_boxes_attach (worker->pipeline,
                       worker->description->privacy_strict ? NULL : worker->options->black_box,
                       worker->name);
  set_state (worker, SL_WORKER_STARTING);
  sl_jobs_push (worker->jobs, worker->pipeline, GST_STATE_PLAYING);
}

/* The new description did not get as far as a frame. */
static void
fall_back (SlWorker *worker)
{
  sl_description_free (worker->description);
  worker->description = g_steal_pointer (&worker->fallback);
  sl_run_log (SL_LOG_WARNING, worker->name, "reload-failed",
              "the new description did not start; going on with the one before");
  begin (worker);
}

/* The pipeline is at rest: what comes then. */
static void
on_stopped (SlWorker *worker)
{
  const SlRestart restart = worker->description->restart;
  drop_pipeline (worker);
  sl_memory_trim ();
  const gboolean for_good =
    worker->end == END_FAILED && restart == SL_RESTART_NO && worker->fallback == NULL;
  if (worker->end == END_STOPPED || (worker->stop_asked && !for_good))
    set_state (worker, SL_WORKER_ENDED);
  else if (worker->end == END_REPLACED)
    begin (worker);
  else if (worker->end == END_FAILED && worker->fallback != NULL)
    fall_back (worker);
  else if (worker->for_good)
    set_state (worker, SL_WORKER_FAILED);
  else if (restart == SL_RESTART_ALWAYS
           || (restart == SL_RESTART_ON_FAILURE && worker->end == END_FAILED))
    wait_for_start (worker);
  else
    set_state (worker, worker->end == END_FAILED ? SL_WORKER_FAILED : SL_WORKER_ENDED);
}

static void
on_job (GstState state, gboolean good, gpointer data)
{
  SlWorker *worker = data;
  if (state == GST_STATE_VOID_PENDING) {
    if (!good && worker->draining)
      tear_down (worker);
    return;
  }
  if (state == GST_STATE_NULL && worker->state == SL_WORKER_STOPPING) {
    on_stopped (worker);
    return;
  }
  if (good || worker->pipeline == NULL)
    return;
  while (is_up (worker) && sl_bus_read (worker->pipeline, &bus_events, worker))
    continue;
  if (is_up (worker)) /* no element said why */
    fail (worker, SL_BUS_REFUSAL_UNSAID, "the pipeline");
}

static void
on_set (SlLiveKind kind, gpointer data)
{
  SlWorker *worker = data;
  worker->options->set (worker, kind, worker->options->data);
}

SlWorker *
sl_worker_new (const char *path, GHashTable *parameters, const SlWorkerOptions *options,
               GError **error)
{
  SlDescription *description = sl_description_load (path, parameters, error);
  GstElement *pipeline = description != NULL ? sl_description_build (description, error) : NULL;
  if (pipeline == NULL) {
    g_clear_pointer (&description, sl_description_free);
    return NULL;
  }
  SlWorker *worker = g_new0 (SlWorker, 1);
  worker->path = g_strdup (path);
  worker->name = sl_printable (description->name, SL_PRINTABLE_NAME);
  worker->parameters = g_hash_table_ref (parameters);
  worker->options = options;
  worker->description = description;
  worker->state = SL_WORKER_ENDED;
  worker->jobs = sl_jobs_new (on_job, worker);
  worker->keep = sl_keep_new ();
  worker->live = sl_live_new (worker->keep);
  worker->promises = sl_run_promises_new ();
  sl_live_set_listener (worker->live, on_set, worker);
  worker->warned = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  worker->boxed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  adopt (worker, pipeline);
  return worker;
}

void
sl_worker_free (SlWorker *worker)
{
  sl_jobs_free (worker->jobs);
  drop_pipeline (worker);
  sl_live_free (worker->live);
  sl_run_promises_free (worker->promises);
  sl_keep_free (worker->keep);
  g_hash_table_unref (worker->warned);
  g_hash_table_unref (worker->boxed);
  sl_description_free (worker->description);
  g_clear_pointer (&worker->fallback, sl_description_free);
  g_hash_table_unref (worker->parameters);
  g_free (worker->path);
  g_free (worker->name);
  g_free (worker);
}

const char *
sl_worker_state_folder (const SlWorker *worker)
{
  return worker->description->state != NULL ? worker->description->state : worker->options->state;
}

void
sl_worker_start (SlWorker *worker)
{
  sl_keep_open (worker->keep, worker->name, sl_worker_state_folder (worker));
  begin (worker);
}

void
sl_worker_stop (SlWorker *worker)
{
  worker->stop_asked = TRUE;
  if (worker->state == SL_WORKER_WAITING)
    set_state (worker, SL_WORKER_ENDED);
  if (!is_up (worker))
    return;
  worker->end = END_STOPPED;
  worker->stop_since = g_get_monotonic_time ();
  worker->draining = worker->state == SL_WORKER_RUNNING;
  set_state (worker, SL_WORKER_STOPPING);
  if (worker->draining)
    sl_jobs_push_end (worker->jobs, worker->pipeline);
  else
    tear_down (worker);
}

/* The pipeline goes on as @description, which is taken, says. */
static void
go_on (SlWorker *worker, SlDescription *description)
{
  g_autofree char *taken = sl_renew (worker->pipeline, worker->description, description);
  sl_description_free (worker->description);
  worker->description = description;
  g_autofree char *missing = NULL;
  g_autofree char *files =
    worker->models != NULL ? sl_run_models_reload (worker->models, &missing) : g_strdup ("");
  const gboolean whole = missing == NULL || missing[0] == '\0';
  sl_run_log (whole ? SL_LOG_INFO : SL_LOG_WARNING, worker->name, "reloaded",
              "%s: the same pipeline; it goes on%s%s%s%s%s%s", worker->path, taken,
              files[0] != '\0' ? ", and loads what is new: " : "", files,
              whole ? "" : "; no such file any more: ", whole ? "" : missing,
              whole ? "" : ": what was loaded of it runs on, put it back before the next start");
}

static void
replace (SlWorker *worker, SlDescription *description)
{
  const gboolean alive = worker->state == SL_WORKER_RUNNING;
  g_clear_pointer (&worker->fallback, sl_description_free);
  if (alive)
    worker->fallback = worker->description;
  else
    sl_description_free (worker->description);
  worker->description = description;
  worker->failures = 0;
  sl_run_log (SL_LOG_INFO, worker->name, "reloaded", "%s: changed; starting the new pipeline",
              worker->path);
  if (worker->state == SL_WORKER_STARTING || alive)
    finish (worker, END_REPLACED);
  else if (worker->state == SL_WORKER_STOPPING)
    worker->end = END_REPLACED;
  else
    begin (worker);
}

SlDescription *
sl_worker_read (const SlWorker *worker)
{
  return sl_description_load (worker->path, worker->parameters, NULL);
}

SlEdit *
sl_worker_edit (const SlWorker *worker, GError **error)
{
  return sl_edit_open (worker->path, worker->parameters, error);
}

void
sl_worker_reload (SlWorker *worker)
{
  g_autoptr (GError) error = NULL;
  SlDescription *description = sl_description_load (worker->path, worker->parameters, &error);
  GstElement *trial = description != NULL ? sl_description_build (description, &error) : NULL;
  if (trial == NULL) {
    sl_run_log (SL_LOG_ERROR, worker->name, "reload-failed",
                "%s; going on with the description before", error->message);
    g_clear_pointer (&description, sl_description_free);
    return;
  }
  gst_object_unref (trial);
  if (!sl_renew_same_search (worker->description, description))
    sl_run_log (SL_LOG_WARNING, worker->name, "search",
                "%s: [search] changed; it is read when the program starts: start it again",
                worker->path);
  const gboolean running = worker->state == SL_WORKER_RUNNING;
  if (!sl_worker_at_rest (worker)
      && sl_renew_can (worker->pipeline, running, worker->description, description))
    go_on (worker, description);
  else
    replace (worker, description);
}

void
sl_worker_dump (SlWorker *worker, const char *reason)
{
  const gboolean alive = is_up (worker);
  guint recording = 0;
  const guint n = alive ? sl_run_boxes_dump (worker->pipeline, reason, &recording) : 0;
  if (!alive)
    sl_run_log (SL_LOG_WARNING, worker->name, "black-box",
                "%s, but the pipeline is not running: no black box", reason);
  else if (recording == 0)
    sl_run_log (SL_LOG_WARNING, worker->name, "black-box",
                "%s, but nothing is recorded: start with --blackbox FOLDER for black boxes",
                reason);
  else if (n < recording)
    sl_run_log (
      SL_LOG_WARNING, worker->name, "black-box",
      "%s: black boxes of %u of %u models: the others have not run yet, or several are being "
      "written, or nothing could be recorded",
      reason, n, recording);
}

/* What counts of the time since @since, the last frame. */
static gint64
count_quiet (SlWorker *worker, gint64 since, gint64 now)
{
  if (worker->quiet_since != since) {
    worker->quiet_since = since;
    worker->quiet = 0;
  }
  worker->quiet += MIN (now - MAX (since, worker->ticked), TICK_MOST);
  return worker->quiet;
}

static void
tick_alive (SlWorker *worker, gint64 now)
{
  SlFlowCounts counts;
  const SlDescription *description = worker->description;
  note_first_frame (worker);
  if (worker->state == SL_WORKER_RUNNING) {
    sl_keep_tick (worker->keep, worker->pipeline);
    sl_run_promises_tick (worker->promises, worker->pipeline, worker->name, worker->running_since,
                          now);
  }
  sl_flow_counts (worker->flow, &counts);
  if (worker->state == SL_WORKER_RUNNING
      && now - worker->running_since > (gint64) description->backoff_max * 1000)
    worker->failures = 0;
  const gboolean first = worker->state == SL_WORKER_STARTING;
  const guint limit = first ? description->start_timeout : description->watchdog;
  const gint64 most = (gint64) limit * 1000;
  /* A pipeline has as long again for its first frame after the camera is back. Frames may be on
   * their way while the camera is away, so each tick asks, also one that frames came before. */
  if (!first && limit > 0 && sl_camera_is_away (worker->pipeline))
    worker->away_last = now;
  const gint64 since = first ? worker->started : MAX (counts.last, worker->away_last);
  const gint64 quiet = count_quiet (worker, since, now);
  if (limit > 0 && (first ? now - since : quiet) > most)
    fail (worker,
          first ? "no frame within %g s of its start (start-timeout)"
                : "no frame for %g s (watchdog)",
          limit / 1000.0);
}

void
sl_worker_tick (SlWorker *worker)
{
  const gint64 now = g_get_monotonic_time ();
  if (worker->state == SL_WORKER_WAITING && now >= worker->next_start) {
    worker->restarts++; /* a reload is no restart, nor is a start that is only waited for */
    begin (worker);
  } else if (is_up (worker))
    tick_alive (worker, now);
  else if (worker->state == SL_WORKER_STOPPING && worker->draining
           && now - worker->stop_since > worker->options->drain_us)
    tear_down (worker);
  else if (worker->state == SL_WORKER_STOPPING && !worker->draining
           && now - worker->stop_since > STOP_TIMEOUT)
    worker->stuck = TRUE;
  worker->ticked = now;
}

SlWorkerState
sl_worker_state (const SlWorker *worker)
{
  return worker->state;
}

gboolean
sl_worker_at_rest (const SlWorker *worker)
{
  return worker->state == SL_WORKER_ENDED || worker->state == SL_WORKER_FAILED;
}

gboolean
sl_worker_stuck (const SlWorker *worker)
{
  return worker->stuck;
}

gboolean
sl_worker_settled (const SlWorker *worker)
{
  return worker->settled;
}

const char *
sl_worker_name (const SlWorker *worker)
{
  return worker->name;
}

void
sl_worker_set_name (SlWorker *worker, const char *name)
{
  g_free (worker->name);
  worker->name = g_strdup (name);
}

const SlDescription *
sl_worker_description (const SlWorker *worker)
{
  return worker->description;
}

GstElement *
sl_worker_pipeline (const SlWorker *worker)
{
  return worker->pipeline;
}

guint
sl_worker_restarts (const SlWorker *worker)
{
  return worker->restarts;
}

void
sl_worker_totals (const SlWorker *worker, SlWorkerTotals *totals)
{
  *totals = worker->finished;
  if (worker->flow != NULL)
    add_flow (worker->flow, totals);
}

SlLive *
sl_worker_live (SlWorker *worker)
{
  return worker->live;
}

SlFlow *
sl_worker_flow (SlWorker *worker)
{
  return worker->flow;
}
