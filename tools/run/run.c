/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline run`: pipelines from description files, supervised until they end or a signal comes.
 * One timer drives the workers and the figures; everything else is a reaction to a message, a
 * signal, or a thread's answer.
 */
#include <glib-unix.h>
#include <gst/gst.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "core/base/duration.h"
#include "pipelines/description/promises.h"
#include "plugins/elements.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/run/boxes.h"
#include "tools/run/control.h"
#include "tools/run/dbus.h"
#include "tools/run/http/choose.h"
#include "tools/run/http/http.h"
#include "tools/run/log.h"
#include "tools/run/keep.h"
#include "tools/run/memory.h"
#include "tools/run/notify.h"
#include "tools/run/renew.h"
#include "tools/run/settings.h"
#include "tools/run/stats.h"
#include "tools/run/worker.h"
#include "tools/search/describe.h"
#include "tools/signals.h"

#define TICK_MS 100
/* Seconds of tracks that the console counts with zones that are not saved. */
#define KEEP_TRACKS 600
/* From SIGTERM to the end, whatever the pipelines do: by default, and the limits of --stop-timeout.
 */
#define STOP_MS 1800
#define MIN_STOP_MS 100
#define MAX_STOP_MS (600 * 1000)
/* Of that, what elements have to stop after the end of stream, and at most half of it. */
#define REST_MS 800

typedef struct
{
  GMainLoop *loop;
  GPtrArray *workers;
  SlWorkerOptions options;
  SlStats *stats;  /* (nullable) */
  SlRunHttp *http; /* (nullable) */
  SlRunDbus *dbus; /* (nullable) */
  SlRunControl *control;
  gboolean ready; /* has been told */
  gboolean stopping;
  gboolean overdue; /* pipelines did not stop in time */
  guint stop_ms;
  SlManager manager;
} Run;

/* "2 running, 1 waiting" */
static char *
status_text (const Run *run)
{
  guint counts[SL_WORKER_FAILED + 1] = { 0 };
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < run->workers->len; i++)
    counts[sl_worker_state (run->workers->pdata[i])]++;
  for (guint s = 0; s < G_N_ELEMENTS (counts); s++)
    if (counts[s] > 0)
      g_string_append_printf (text, "%s%u %s", text->len > 0 ? ", " : "", counts[s],
                              sl_worker_state_name ((SlWorkerState) s));
  return g_string_free (text, FALSE);
}

static gboolean
all (const Run *run, gboolean (*is) (const SlWorker *))
{
  for (guint i = 0; i < run->workers->len; i++)
    if (!is (run->workers->pdata[i]))
      return FALSE;
  return TRUE;
}

static void
on_changed (SlWorker *worker, gpointer data)
{
  Run *run = data;
  g_autofree char *text = status_text (run);
  const gboolean now_ready = !run->ready && all (run, sl_worker_settled);
  g_autofree char *state = g_strdup_printf ("%sSTATUS=%s", now_ready ? "READY=1\n" : "", text);
  run->ready = run->ready || now_ready;
  if (sl_worker_state (worker) == SL_WORKER_RUNNING)
    sl_run_control_tell (run->control, worker); /* the frame rate is known now */
  sl_manager_tell (&run->manager, state);
  if (all (run, sl_worker_at_rest))
    g_main_loop_quit (run->loop);
}

static void
on_adopted (SlWorker *worker, GstElement *pipeline, gpointer data)
{
  Run *run = data;
  if (run->http != NULL)
    sl_run_http_adopt (run->http, worker, pipeline);
  sl_run_control_adopt (run->control, worker);
}

static void
on_posted (SlWorker *worker, GstMessage *message, gpointer data)
{
  Run *run = data;
  if (run->http != NULL)
    sl_run_http_posted (run->http, worker, message);
  sl_run_control_posted (run->control, worker, message);
}

static void
on_set (SlWorker *worker, SlLiveKind kind, gpointer data)
{
  Run *run = data;
  if (run->dbus != NULL)
    sl_run_dbus_changed (run->dbus, worker, kind);
  sl_run_control_tell (run->control, worker);
}

static void
on_dropping (SlWorker *worker, gpointer data)
{
  Run *run = data;
  if (run->http != NULL)
    sl_run_http_drop (run->http, worker);
}

static gboolean
on_overdue (gpointer data)
{
  Run *run = data;
  if (all (run, sl_worker_at_rest))
    return G_SOURCE_REMOVE;
  for (guint i = 0; i < run->workers->len; i++)
    if (!sl_worker_at_rest (run->workers->pdata[i]))
      sl_run_log (SL_LOG_ERROR, sl_worker_name (run->workers->pdata[i]), "stuck",
                  "did not stop within %.1f s; ending without it; a longer --stop-timeout gives "
                  "it more time",
                  run->stop_ms / 1000.0);
  run->overdue = TRUE;
  g_main_loop_quit (run->loop);
  return G_SOURCE_REMOVE;
}

static void
stop_all (Run *run)
{
  run->stopping = TRUE;
  sl_manager_tell (&run->manager, "STOPPING=1");
  g_timeout_add (run->stop_ms, on_overdue, run);
  for (guint i = 0; i < run->workers->len; i++)
    sl_worker_stop (run->workers->pdata[i]);
  if (all (run, sl_worker_at_rest))
    g_main_loop_quit (run->loop);
}

static gboolean
on_stop_signal (gpointer data)
{
  Run *run = data;
  if (run->stopping)
    _exit (SL_EXIT_INTERRUPTED);
  sl_run_log (SL_LOG_INFO, NULL, "stopping", "stopping");
  stop_all (run);
  return G_SOURCE_CONTINUE;
}

/* The senders of the pipelines are made again; the console's part of [push] is not. */
static void
tell_push (const Run *run, const SlDescription *before, const SlDescription *after)
{
  if (run->http != NULL && !sl_renew_same_push (before, after))
    sl_run_log (SL_LOG_WARNING, after->name, "push",
                "%s: [push] changed; the console reads it when the program starts: start it again",
                after->path);
}

/* FALSE, having logged why, when files that changed contradict each other. */
static gboolean
check_reload (Run *run)
{
  g_autoptr (GPtrArray) read =
    g_ptr_array_new_with_free_func ((GDestroyNotify) sl_description_free);
  g_autoptr (GPtrArray) descriptions = g_ptr_array_new ();
  for (guint i = 0; i < run->workers->len; i++) {
    SlDescription *description = sl_worker_read (run->workers->pdata[i]);
    if (description != NULL)
      g_ptr_array_add (read, description);
    g_ptr_array_add (descriptions, description != NULL
                                     ? description
                                     : (gpointer) sl_worker_description (run->workers->pdata[i]));
  }
  g_autofree char *message = sl_promises_contradiction (descriptions);
  if (message != NULL)
    sl_run_log (SL_LOG_ERROR, NULL, "reload-failed", "%s; going on with the descriptions before",
                message);
  for (guint i = 0; message == NULL && i < descriptions->len; i++)
    tell_push (run, sl_worker_description (run->workers->pdata[i]), descriptions->pdata[i]);
  return message == NULL;
}

static gboolean
on_reload_signal (gpointer data)
{
  Run *run = data;
  g_autofree char *state =
    g_strdup_printf ("RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT, g_get_monotonic_time ());
  sl_manager_tell (&run->manager, state);
  const gboolean good = !run->stopping && check_reload (run);
  for (guint i = 0; good && i < run->workers->len; i++)
    sl_worker_reload (run->workers->pdata[i]);
  sl_manager_tell (&run->manager, "READY=1");
  return G_SOURCE_CONTINUE;
}

static gboolean
on_dump_signal (gpointer data)
{
  Run *run = data;
  for (guint i = 0; i < run->workers->len; i++)
    sl_worker_dump (run->workers->pdata[i], "SIGUSR1");
  return G_SOURCE_CONTINUE;
}

static gboolean
on_watchdog (gpointer data)
{
  sl_manager_tell (&((Run *) data)->manager, "WATCHDOG=1");
  return G_SOURCE_CONTINUE;
}

static gboolean
on_tick (gpointer data)
{
  Run *run = data;
  for (guint i = 0; i < run->workers->len; i++) {
    SlWorker *worker = run->workers->pdata[i];
    sl_worker_tick (worker);
    if (sl_worker_stuck (worker) && !run->stopping) {
      sl_run_log (SL_LOG_ERROR, sl_worker_name (worker), "stuck",
                  "an element does not stop; ending, since only a new process can go on");
      run->overdue = TRUE;
      stop_all (run);
    }
  }
  if (run->stats != NULL)
    sl_stats_tick (run->stats);
  if (run->http != NULL)
    sl_run_http_tick (run->http);
  sl_run_control_tick (run->control);
  sl_manager_tell_rest (&run->manager);
  return G_SOURCE_CONTINUE;
}

static void
complain (const char *event, const char *message)
{
  if (sl_run_log_json ())
    sl_run_log (SL_LOG_ERROR, NULL, event, "%s", message);
  else
    sl_complain ("run", "%s", message);
}

static gboolean
load (Run *run, SlRunOptions *options, char **files)
{
  gboolean good = TRUE;
  for (guint i = 0; files[i] != NULL; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GHashTable) parameters =
      sl_run_options_parameters_for (options, files[i], files[1] == NULL, &error);
    SlWorker *worker =
      parameters != NULL ? sl_worker_new (files[i], parameters, &run->options, &error) : NULL;
    if (worker == NULL) {
      complain ("bad-description", error->message);
      good = FALSE;
      continue;
    }
    guint namesakes = 1;
    for (guint j = 0; j < run->workers->len; j++)
      namesakes += strcmp (sl_worker_name (run->workers->pdata[j]), sl_worker_name (worker)) == 0;
    if (namesakes > 1) {
      g_autofree char *name =
        g_strdup_printf ("%s-%u", sl_worker_name (worker), run->workers->len + 1);
      sl_worker_set_name (worker, name);
    }
    g_ptr_array_add (run->workers, worker);
  }
  return good && sl_run_options_all_used ("run", options);
}

/* FALSE, having complained, where counts are to go on and cannot. */
static gboolean
check_state (Run *run)
{
  for (guint i = 0; i < run->workers->len; i++) {
    const char *folder = sl_worker_state_folder (run->workers->pdata[i]);
    g_autoptr (GError) error = NULL;
    if (folder == NULL || sl_keep_check (folder, TRUE, &error))
      continue;
    complain ("bad-state", error->message);
    return FALSE;
  }
  return TRUE;
}

/* FALSE, having complained, when descriptions state different budgets of the one processor. */
static gboolean
check_cores (Run *run)
{
  g_autoptr (GPtrArray) descriptions = g_ptr_array_new ();
  for (guint i = 0; i < run->workers->len; i++)
    g_ptr_array_add (descriptions, (gpointer) sl_worker_description (run->workers->pdata[i]));
  g_autofree char *message = sl_promises_contradiction (descriptions);
  if (message != NULL)
    complain ("bad-description", message);
  return message == NULL;
}

/* Those of an earlier run are told about events nevertheless. */
static void
warn_of_push (Run *run)
{
  for (guint i = 0; i < run->workers->len; i++) {
    SlWorker *worker = run->workers->pdata[i];
    if (sl_description_setting (sl_worker_description (worker), SL_PUSHER, SL_PUSH_SUBSCRIPTIONS)
        != NULL)
      sl_run_log (SL_LOG_WARNING, sl_worker_name (worker), "push", SL_PUSH_NEEDS_HTTP);
  }
}

/* FALSE, having complained, when it is to be and cannot. */
static gboolean
open_http (Run *run, const SlHttpOptions *options)
{
  g_auto (SlHttpSettings) settings = { 0 };
  g_autoptr (GPtrArray) descriptions = g_ptr_array_new ();
  g_autofree char *origin = NULL;
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < run->workers->len; i++)
    g_ptr_array_add (descriptions, (gpointer) sl_worker_description (run->workers->pdata[i]));
  g_auto (SlModelSettings) search = { NULL };
  const gboolean chosen = sl_http_choose (options, descriptions, &settings, &origin, &error)
                          && sl_search_choose (descriptions, &search, &error);
  if (chosen && settings.listen == NULL && search.model == NULL) {
    warn_of_push (run);
    return TRUE;
  }
  if (chosen && settings.listen == NULL) {
    complain ("bad-search", SL_SEARCH_NEEDS_HTTP);
    return FALSE;
  }
  run->options.keep_tracks = KEEP_TRACKS;
  run->http = chosen ? sl_run_http_new (&settings, origin, run->workers, &error) : NULL;
  if (run->http == NULL
      || (search.model != NULL && !sl_run_http_search (run->http, &search, &error)))
    complain (run->http == NULL ? "bad-http" : "bad-search", error->message);
  return error == NULL;
}

/* FALSE, having complained, when it is to be and cannot. */
static gboolean
open_dbus (Run *run, const char *bus)
{
  g_autoptr (GError) error = NULL;
  if (bus == NULL)
    return TRUE;
  run->dbus = sl_run_dbus_new (bus, run->workers, run->http, &error);
  if (run->dbus == NULL)
    complain ("bad-dbus", error->message);
  return run->dbus != NULL;
}

static int
supervise (Run *run)
{
  const guint64 watchdog = sl_notify_watchdog_interval ();
  int status = SL_EXIT_OK;
  g_timeout_add (TICK_MS, on_tick, run);
  if (watchdog > 0)
    g_timeout_add ((guint) MAX (watchdog / 1000, 1), on_watchdog, run);
  for (guint i = 0; i < run->workers->len; i++)
    sl_worker_start (run->workers->pdata[i]);
  if (run->http != NULL)
    sl_run_http_start (run->http);
  if (!all (run, sl_worker_at_rest))
    g_main_loop_run (run->loop);
  run->stopping = TRUE; /* a signal ends what follows */
  sl_run_boxes_finish ();
  for (guint i = 0; i < run->workers->len; i++)
    if (sl_worker_state (run->workers->pdata[i]) == SL_WORKER_FAILED)
      status = SL_EXIT_FAILED;
  return run->overdue ? SL_EXIT_FAILED : status;
}

static int
run_files (SlRunOptions *options, const SlHttpOptions *http, guint stop_ms, char **files)
{
  const guint rest_ms = MIN (REST_MS, stop_ms / 2);
  Run run = { .options = { .dot = options->dot,
                           .drain_us = (gint64) (stop_ms - rest_ms) * 1000,
                           .black_box = options->black_box,
                           .state = options->state,
                           .changed = on_changed,
                           .adopted = on_adopted,
                           .posted = on_posted,
                           .set = on_set,
                           .dropping = on_dropping },
              .stop_ms = stop_ms };
  sl_memory_few_arenas ();
  sl_run_log_init (options->json);
  sl_elements_init (NULL, NULL);
  sl_run_register_elements ();
  run.options.data = &run;
  run.workers = g_ptr_array_new ();
  run.loop = g_main_loop_new (NULL, FALSE);
  int status = SL_EXIT_FAILED;
  signal (SIGPIPE, SIG_IGN); /* a pipeline's reader that goes away is that pipeline's failure */
  g_unix_signal_add (SIGTERM, on_stop_signal, &run);
  g_unix_signal_add (SIGINT, on_stop_signal, &run);
  g_unix_signal_add (SIGHUP, on_reload_signal, &run);
  g_unix_signal_add (SIGUSR1, on_dump_signal, &run);
  sl_signals_release ();
  if (load (&run, options, files) && check_state (&run) && check_cores (&run)
      && open_http (&run, http) && open_dbus (&run, options->dbus)) {
    run.control = sl_run_control_new (run.http);
    run.stats = options->stats ? sl_stats_new (run.workers) : NULL;
    status = supervise (&run);
  }
  if (run.stats != NULL)
    sl_stats_summary (run.stats);
  sl_stats_free (run.stats);
  if (run.overdue)
    _exit (status); /* threads that hang cannot be joined */
  sl_run_dbus_free (run.dbus);
  g_clear_pointer (&run.control, sl_run_control_free);
  g_clear_pointer (&run.http, sl_run_http_free);
  for (guint i = 0; i < run.workers->len; i++)
    sl_worker_free (run.workers->pdata[i]);
  g_ptr_array_unref (run.workers);
  g_main_loop_unref (run.loop);
  sl_manager_clear (&run.manager);
  return status;
}

static gboolean
read_stop_timeout (const char *text, guint *ms)
{
  *ms = STOP_MS;
  return text == NULL || (sl_duration_parse (text, ms) && *ms >= MIN_STOP_MS && *ms <= MAX_STOP_MS);
}

static int
run_run (int argc, char **argv)
{
  g_auto (SlRunOptions) options = { 0 };
  g_auto (SlHttpOptions) http = { 0 };
  g_auto (GStrv) files = NULL;
  g_autoptr (GError) error = NULL;
  const GOptionEntry entries[] = {
    SL_RUN_OPTION_SET (options),
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json,
      "Log JSON objects, one a line, to standard error", NULL },
    { "stats", 0, 0, G_OPTION_ARG_NONE, &options.stats,
      "Show frames, drops, latency, processor and memory, as a table on a terminal, else as lines; "
      "and a summary at the end",
      NULL },
    SL_HTTP_OPTIONS (http,
                     "Serve a web page with the live pictures and the state of the pipelines, at "
                     "http://ADDR:PORT/"),
    { "dot", 0, 0, G_OPTION_ARG_FILENAME, &options.dot,
      "Write the graph of each pipeline, when it runs and when it fails, to DIR", "DIR" },
    { "blackbox", 0, 0, G_OPTION_ARG_FILENAME, &options.black_box,
      "Record the inputs of models, and write the last ones to FOLDER when a pipeline fails, on "
      "SIGUSR1, and after a crash",
      "FOLDER" },
    { "state", 0, 0, G_OPTION_ARG_FILENAME, &options.state,
      "Keep counts of zones and lines in FOLDER, so that they continue when the program starts "
      "again",
      "FOLDER" },
    { "dbus", 0, 0, G_OPTION_ARG_STRING, &options.dbus,
      "Offer settings at run time as properties of org.sightline.Pipeline on a message bus: "
      "session or system",
      "BUS" },
    { "stop-timeout", 0, 0, G_OPTION_ARG_STRING, &options.stop_timeout,
      "Wait for pipelines that stop at most TIME, such as 500ms or 10s (1.8 s)", "TIME" },
    { NULL },
  };
  guint stop_ms;
  int status = sl_options_parse (
    "run", "FILE...", "Runs pipelines from description files and keeps them running.",
    "SIGTERM and Ctrl-C stop within 2 seconds or --stop-timeout, or when black boxes are written, "
    "SIGHUP reads the files again, SIGUSR1 writes black boxes.",
    argc, argv, entries, NULL, &files);
  if (status >= 0)
    return status;
  if (files[0] == NULL)
    return sl_options_usage (
      "run", "expected at least one FILE: a pipeline description (docs/pipelines.md)");
  if (options.dot != NULL && !g_file_test (options.dot, G_FILE_TEST_IS_DIR))
    return sl_options_usage ("run", "--dot: expected an existing folder, got '%s'", options.dot);
  if (options.black_box != NULL && !g_file_test (options.black_box, G_FILE_TEST_IS_DIR))
    return sl_options_usage ("run", "--blackbox: expected an existing folder, got '%s'",
                             options.black_box);
  if (!read_stop_timeout (options.stop_timeout, &stop_ms))
    return sl_options_usage ("run", "--stop-timeout: expected a time of 100ms..10min, got '%s'",
                             options.stop_timeout);
  if (!sl_http_options_check (&http, &error) || !sl_run_dbus_check (options.dbus, &error))
    return sl_options_usage ("run", "%s", error->message);
  if (!sl_run_options_check ("run", &options))
    return SL_EXIT_USAGE;
  return run_files (&options, &http, stop_ms, files);
}

const SlCommand sl_command_run = { "run",
                                   "run pipelines from description files and keep them running",
                                   run_run };
