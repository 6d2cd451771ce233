/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/serve/report.h"

#include "tools/serve/serving.h"

/* Milliseconds without an answer, while requests wait, after which not all is well. */
#define STALL_MS 10000
/* And without a report, which is made twice a second. */
#define SILENCE_MS 5000

const char *
sl_serve_state_name (SlServeState state)
{
  static const char *const names[] = { "away", "joining", "serving", "full", "leaving", "left" };
  return names[state];
}

static void
model_free (gpointer data)
{
  SlServeModel *model = data;
  g_free (model->name);
  g_free (model->file);
  g_free (model->hash);
  g_free (model);
}

/* Under the worker's lock. */
static SlServeModel *
model_new (SlServedModel *served, const SlServeModel *before, gint64 now, gdouble seconds)
{
  SlServeModel *model = g_new0 (SlServeModel, 1);
  model->name = g_strdup (served->name);
  model->file = g_strdup (served->file);
  model->hash = g_strdup (served->hash);
  model->batch = served->batch;
  model->clients = sl_serve_figures_clients (&served->figures, now);
  model->p50 = sl_serve_figures_age (&served->figures, 50);
  model->p95 = sl_serve_figures_age (&served->figures, 95);
  model->figures = served->figures;
  model->figures.clients = NULL;
  if (before != NULL && seconds > 0)
    model->rate = (gdouble) (served->figures.answered - before->figures.answered) / seconds;
  return model;
}

/* Under the worker's lock: computing time so far is kept in @report->busy until the shares are
 * known. */
static void
read_worker (SlServeReport *report, SlServeWorker *worker, const SlServeReport *before,
             gdouble seconds)
{
  report->state = worker->connected ? worker->state : SL_SERVE_AWAY;
  report->away =
    worker->connected ? NULL : g_strdup (worker->away != NULL ? worker->away : "not connected yet");
  report->waiting = worker->queue.length;
  report->jobs = worker->n_jobs;
  report->busy = (gdouble) worker->busy / worker->n_jobs;
  if (worker->queue.length > 0 || worker->busy > 0)
    report->stuck = report->made - worker->progress;
  for (guint i = 0; i < worker->models->len; i++)
    g_ptr_array_add (report->models, model_new (worker->models->pdata[i],
                                                before != NULL ? before->models->pdata[i] : NULL,
                                                report->made, seconds));
}

SlServeReport *
sl_serve_report_new (SlServeWorker *worker, const SlServeReport *before)
{
  SlServeReport *report = g_new0 (SlServeReport, 1);
  g_atomic_ref_count_init (&report->refs);
  report->made = g_get_monotonic_time ();
  report->started = before != NULL ? before->started : g_get_real_time () / G_USEC_PER_SEC;
  report->models = g_ptr_array_new_with_free_func (model_free);
  const gdouble seconds =
    before != NULL ? (gdouble) (report->made - before->made) / G_USEC_PER_SEC : 0;
  g_mutex_lock (&worker->lock);
  report->name = g_strdup (worker->name);
  report->broker = g_strdup (worker->address);
  read_worker (report, worker, before, seconds);
  g_mutex_unlock (&worker->lock);
  sl_process_figures_read (&report->process);
  if (seconds > 0)
    report->cpu_percent = 100 * (report->process.cpu - before->process.cpu) / seconds;
  return report;
}

SlServeReport *
sl_serve_report_ref (SlServeReport *report)
{
  g_atomic_ref_count_inc (&report->refs);
  return report;
}

void
sl_serve_report_unref (SlServeReport *report)
{
  if (!g_atomic_ref_count_dec (&report->refs))
    return;
  g_free (report->name);
  g_free (report->broker);
  g_free (report->away);
  g_ptr_array_unref (report->models);
  g_free (report);
}

GPtrArray *
sl_serve_report_health (const SlServeReport *report, gint64 now)
{
  GPtrArray *reasons = g_ptr_array_new_with_free_func (g_free);
  const gint64 silent = now - report->made, stuck = report->stuck > 0 ? report->stuck + silent : 0;
  if (report->state == SL_SERVE_AWAY)
    g_ptr_array_add (reasons, g_strdup_printf ("the broker is away: %s", report->away));
  else if (report->state != SL_SERVE_SERVING && report->state != SL_SERVE_PAUSED)
    g_ptr_array_add (reasons, g_strdup_printf ("the worker takes no requests: it is %s",
                                               sl_serve_state_name (report->state)));
  if (stuck > STALL_MS * G_TIME_SPAN_MILLISECOND)
    g_ptr_array_add (
      reasons,
      g_strdup_printf (
        "nothing was answered for %.1f s, and requests wait: a model does not come to its end",
        (gdouble) stuck / G_USEC_PER_SEC));
  if (silent > SILENCE_MS * G_TIME_SPAN_MILLISECOND && report->state != SL_SERVE_LEAVING)
    g_ptr_array_add (reasons, g_strdup_printf ("the program's main thread hangs for %.1f s",
                                               (gdouble) silent / G_USEC_PER_SEC));
  return reasons;
}
