/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread takes the oldest request, and where its model is run in batches as many more for the
 * same model as wait already: none is waited for, so a batch makes nobody later. Where so few are
 * not faster at once, the others stay for whichever thread is free next. Requests for other models
 * keep their places.
 */
#include "tools/serve/jobs.h"

#include "core/runtime/session.h"
#include "models/batch.h"
#include "core/base/fail.h"
#include "tools/run/log.h"

/* Of --batch auto. */
#define MAX_AUTO 16

/* What one computing thread has of each model. @outputs: of each request of a batch */
typedef struct
{
  SlSession *session;
  SlBatchSession *batch; /* (nullable) */
  guint most;
  void *(*outputs)[SL_MAX_IO];
} Bench;

typedef struct
{
  SlServeWorker *worker;
  Bench *benches;
} Job;

struct _SlServeJobs
{
  GPtrArray *threads;
};

static void
free_job (Job *job)
{
  for (guint i = 0; i < job->worker->models->len; i++) {
    Bench *bench = &job->benches[i];
    for (guint k = 0; k < bench->most; k++)
      for (guint o = 0; o < SL_MAX_IO; o++)
        sl_tensor_buffer_free (bench->outputs[k][o]);
    g_free (bench->outputs);
    g_clear_pointer (&bench->batch, sl_batch_session_free);
    g_clear_pointer (&bench->session, sl_session_free);
  }
  g_free (job->benches);
  g_free (job);
}

/* The model's batches: of @batch requests, of as many as is fastest with 0. FALSE with @error set
 * where they were asked for, by number, and cannot be. */
static gboolean
open_batch (Bench *bench, SlServedModel *served, guint batch, gboolean by_number, gboolean first,
            GError **error)
{
  g_autoptr (GError) reason = NULL;
  gdouble batch_ms, single_ms;
  bench->most = 1;
  if (batch == 1)
    return TRUE;
  bench->batch = batch == 0
                   ? sl_batch_session_new_best (served->model, bench->session, MAX_AUTO, &reason)
                   : sl_batch_session_new (served->model, bench->session, batch, &reason);
  if (bench->batch == NULL && !by_number) {
    sl_run_log (SL_LOG_INFO, served->name, "batch", "%sframes are computed one by one: %s",
                first ? "" : "one of the jobs: ", reason->message);
    return TRUE;
  }
  if (bench->batch == NULL)
    return sl_fail (error, SL_ERROR_UNSUPPORTED, "%s: --batch %u: %s", served->name, batch,
                    reason->message);
  bench->most = sl_batch_session_size (bench->batch);
  const gdouble gain = sl_batch_session_times (bench->batch, &batch_ms, &single_ms);
  if (first)
    sl_run_log (
      SL_LOG_INFO, served->name, "batch",
      "up to %u frames that wait are computed at once, in %.3g ms; one alone takes %.3g ms (%.2f "
      "times as fast)",
      bench->most, batch_ms, single_ms, gain);
  return TRUE;
}

static gboolean
open_bench (Bench *bench, SlServedModel *served, const SlServeSettings *settings, gboolean first,
            GError **error)
{
  const guint batch = first ? settings->batch : served->batch;
  bench->session = sl_session_new (sl_model_graph (served->model), settings->threads, error);
  if (bench->session == NULL
      || !open_batch (bench, served, batch, settings->batch > 0, first, error))
    return FALSE;
  bench->outputs = g_malloc0_n (bench->most, sizeof *bench->outputs);
  for (guint k = 0; k < bench->most; k++)
    for (guint o = 0; o < served->contract->n_outputs; o++)
      if ((bench->outputs[k][o] = sl_tensor_buffer_new (served->contract->outputs[o].bytes))
          == NULL)
        return sl_fail (error, SL_ERROR_LIMIT, "%s: there is no memory for the model's outputs",
                        served->name);
  return TRUE;
}

/* @first: it measures for the others, too. */
static Job *
new_job (SlServeWorker *worker, const SlServeSettings *settings, gboolean first, GError **error)
{
  Job *job = g_new0 (Job, 1);
  job->worker = worker;
  job->benches = g_new0 (Bench, worker->models->len);
  for (guint i = 0; i < worker->models->len; i++) {
    SlServedModel *served = g_ptr_array_index (worker->models, i);
    if (!open_bench (&job->benches[i], served, settings, first, error)) {
      job->benches[i].most = job->benches[i].outputs != NULL ? job->benches[i].most : 0;
      free_job (job);
      return NULL;
    }
    if (first)
      served->batch = job->benches[i].most;
  }
  return job;
}

static Bench *
find_bench (const Job *job, const SlServedModel *served)
{
  guint index = 0;
  g_ptr_array_find (job->worker->models, served, &index);
  return &job->benches[index];
}

/* Whether the @n requests were run at once, and are done. The first batch of a model that fails for
 * good is told. */
static gboolean
run_batch (const Job *job, Bench *bench, SlWork *const *works, guint n)
{
  SlServedModel *served = works[0]->served;
  SlBatchItem items[SL_MAX_BATCH];
  if (n == 1)
    return FALSE;
  for (guint k = 0; k < n; k++)
    items[k] = (SlBatchItem){ (const void *const *) works[k]->inputs, bench->outputs[k] };
  if (sl_batch_session_run (bench->batch, NULL, items, n) == SL_STATUS_OK)
    return TRUE;
  const char *failure = sl_batch_session_failure (bench->batch);
  g_mutex_lock (&job->worker->lock);
  const gboolean told = served->batch_failed;
  served->batch_failed = told || failure != NULL;
  g_mutex_unlock (&job->worker->lock);
  if (failure != NULL && !told)
    sl_run_log (SL_LOG_WARNING, served->name, "batch",
                "computing %u frames at once failed, so each is computed by itself from now on: %s",
                n, failure);
  return FALSE;
}

static void
answer_work (SlServeWorker *worker, SlWork *work, void *const *outputs, const char *refusal,
             gint64 start, gint64 end)
{
  SlServeFigures *figures = &work->served->figures;
  const gboolean done = worker->door->answer (worker, work, outputs, refusal, start, end);
  const gint64 now = g_get_monotonic_time ();
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&worker->lock);
  if (done)
    sl_serve_figures_answered (figures, work->arrived, start, end, now);
  else
    figures->refused++;
  worker->progress = now;
}

/* Computes one request alone, unless its client no longer waits for it. */
static void
compute_one (SlServeWorker *worker, Bench *bench, SlWork *work)
{
  const gint64 start = g_get_monotonic_time ();
  if (start >= work->until) {
    g_mutex_lock (&worker->lock);
    work->served->figures.stale++;
    g_mutex_unlock (&worker->lock);
    return;
  }
  const SlStatus status =
    sl_session_run (bench->session, (const void *const *) work->inputs, bench->outputs[0]);
  const char *refusal =
    status == SL_STATUS_OK ? NULL : sl_session_status_text (bench->session, status);
  answer_work (worker, work, bench->outputs[0], refusal, start, g_get_monotonic_time ());
}

/* At once, or, where that fails, each by itself and answered in its turn, so that none suffers for
 * another. */
static void
compute (Job *job, SlWork *const *works, guint n)
{
  SlServeWorker *worker = job->worker;
  Bench *bench = find_bench (job, works[0]->served);
  const gint64 start = g_get_monotonic_time ();
  const gboolean whole = run_batch (job, bench, works, n);
  const gint64 end = g_get_monotonic_time ();
  for (guint k = 0; k < n; k++)
    if (whole)
      answer_work (worker, works[k], bench->outputs[k], NULL, start, end);
    else
      compute_one (worker, bench, works[k]);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&worker->lock);
  worker->computed_us += g_get_monotonic_time () - start;
  works[0]->served->figures.batches += whole;
  works[0]->served->figures.batched += whole ? n : 0;
}

/* Under the lock: (transfer full): the link's request, which waits no more. */
static SlWork *
take (SlServeWorker *worker, GList *link)
{
  SlWork *work = link->data;
  g_queue_delete_link (&worker->queue, link);
  work->served->figures.waiting--;
  return work;
}

/* Called under the lock. Takes the oldest request, and more requests for its model where a batch is
 * faster. Returns their number. Requests whose clients no longer wait are dropped. */
static guint
take_works (Job *job, SlWork **works)
{
  SlServeWorker *worker = job->worker;
  GList *links[SL_MAX_BATCH];
  const Bench *bench = NULL;
  const SlServedModel *served = NULL;
  const gint64 now = g_get_monotonic_time ();
  guint n = 0;
  for (GList *link = worker->queue.head, *next; link != NULL && (n == 0 || n < bench->most);
       link = next) {
    const SlWork *work = link->data;
    next = link->next;
    if (n > 0 && work->served != served)
      continue;
    if (now >= work->until) {
      work->served->figures.stale++;
      sl_work_free (take (worker, link));
      continue;
    }
    if (n == 0) {
      served = work->served;
      bench = find_bench (job, served);
    }
    links[n++] = link;
  }
  if (n > 1 && !sl_batch_session_pays (bench->batch, n))
    n = 1;
  for (guint k = 0; k < n; k++)
    works[k] = take (worker, links[k]);
  return n;
}

/* Under the lock, which it lets go meanwhile. */
static void
wait_for_work (SlServeWorker *worker)
{
  if (!worker->receives) {
    g_cond_wait (&worker->changed, &worker->lock);
    return;
  }
  worker->idle++;
  g_mutex_unlock (&worker->lock);
  worker->door->await (worker);
  g_mutex_lock (&worker->lock);
  worker->idle--;
}

static gpointer
job_thread (gpointer data)
{
  Job *job = data;
  SlServeWorker *worker = job->worker;
  SlWork *works[SL_MAX_BATCH];
  g_mutex_lock (&worker->lock);
  while (!worker->stopping) {
    const gboolean waited = g_queue_is_empty (&worker->queue);
    const guint n = take_works (job, works);
    if (waited) {
      wait_for_work (worker);
      continue;
    }
    worker->door->settle (worker);
    worker->busy++;
    g_mutex_unlock (&worker->lock);
    if (n > 0)
      compute (job, works, n);
    for (guint k = 0; k < n; k++)
      sl_work_free (works[k]);
    g_mutex_lock (&worker->lock);
    worker->busy--;
    sl_serve_worker_changed (worker);
  }
  g_mutex_unlock (&worker->lock);
  free_job (job);
  return NULL;
}

SlServeJobs *
sl_serve_jobs_start (SlServeWorker *worker, const SlServeSettings *settings, GError **error)
{
  g_autoptr (GPtrArray) made = g_ptr_array_new ();
  for (guint i = 0; i < worker->n_jobs; i++) {
    Job *job = new_job (worker, settings, i == 0, error);
    if (job == NULL) {
      g_ptr_array_foreach (made, (GFunc) (void (*) (void)) free_job, NULL);
      return NULL;
    }
    g_ptr_array_add (made, job);
  }
  SlServeJobs *jobs = g_new0 (SlServeJobs, 1);
  jobs->threads = g_ptr_array_new ();
  for (guint i = 0; i < made->len; i++)
    g_ptr_array_add (jobs->threads, g_thread_new ("sl-serve", job_thread, made->pdata[i]));
  return jobs;
}

void
sl_serve_jobs_join (SlServeJobs *jobs)
{
  for (guint i = 0; i < jobs->threads->len; i++)
    g_thread_join (jobs->threads->pdata[i]);
  g_ptr_array_unref (jobs->threads);
  g_free (jobs);
}
