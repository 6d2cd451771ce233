/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What all workers do, whichever door their requests come through: models, a queue, threads that
 * compute, and an end at which all that was taken is answered.
 */
#include "tools/serve/worker.h"

#include "tools/run/log.h"
#include "tools/serve/jobs.h"

/* The most messages of one kind about invalid requests. */
#define MAX_COMPLAINTS 20

void
sl_serve_complain_some (SlServeWorker *self, const char *name, const char *text)
{
  g_mutex_lock (&self->lock);
  const guint n = ++self->complaints;
  g_mutex_unlock (&self->lock);
  if (n <= MAX_COMPLAINTS)
    sl_run_log (SL_LOG_WARNING, name, "trouble", "%s%s", text,
                n == MAX_COMPLAINTS ? " (further ones are counted only)" : "");
}

void
sl_serve_worker_take (SlServeWorker *self, SlWork *work)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (g_queue_is_empty (&self->queue) && self->busy == 0)
    self->progress = work->arrived;
  g_queue_push_tail (&self->queue, work);
  work->served->figures.waiting++;
  sl_serve_figures_asked (&work->served->figures, work->client, work->arrived);
  self->door->settle (self);
  sl_serve_worker_changed (self);
}

void
sl_serve_worker_unref (gpointer data)
{
  SlServeWorker *self = data;
  if (!g_atomic_ref_count_dec (&self->refs))
    return;
  g_queue_clear_full (&self->queue, (GDestroyNotify) sl_work_free);
  g_ptr_array_unref (self->models);
  g_hash_table_unref (self->vital);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self->name);
  g_free (self->address);
  g_free (self->report_topic);
  g_free (self->failed);
  g_free (self->away);
  g_free (self);
}

SlServeWorker *
sl_serve_worker_new (const SlServeSettings *settings, GPtrArray *models, GError **error)
{
  SlServeWorker *self = g_new0 (SlServeWorker, 1);
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  g_queue_init (&self->queue);
  g_atomic_ref_count_init (&self->refs);
  self->door = settings->pictures != NULL   ? &sl_serve_http_door
               : settings->endpoint != NULL ? &sl_serve_zmq_door
                                            : &sl_serve_broker_door;
  self->models = g_ptr_array_ref (models);
  self->vital = g_hash_table_new (NULL, NULL);
  self->name = g_strdup (settings->name);
  self->n_jobs = settings->jobs;
  self->queue_length = settings->queue;
  self->reported = self->progress = g_get_monotonic_time ();
  self->jobs = sl_serve_jobs_start (self, settings, error);
  if (self->jobs == NULL || !self->door->open (self, settings, error)) {
    sl_serve_worker_free (self);
    return NULL;
  }
  return self;
}

SlServeState
sl_serve_worker_state (SlServeWorker *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  return self->connected ? self->state : SL_SERVE_AWAY;
}

const char *
sl_serve_worker_failed (SlServeWorker *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  return self->failed;
}

gboolean
sl_serve_worker_wait (SlServeWorker *self, gboolean (*done) (SlServeWorker *self), gint64 until)
{
  while (self->connected && !done (self))
    if (!g_cond_wait_until (&self->changed, &self->lock, until))
      break;
  return done (self);
}

gboolean
sl_serve_worker_drain (SlServeWorker *self, gint64 timeout_us)
{
  return self->door->drain (self, g_get_monotonic_time () + timeout_us);
}

void
sl_serve_worker_free (SlServeWorker *self)
{
  if (self == NULL)
    return;
  g_mutex_lock (&self->lock);
  self->stopping = TRUE;
  self->receives = FALSE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  if (self->door->interrupt != NULL)
    self->door->interrupt (self);
  g_clear_pointer (&self->jobs, sl_serve_jobs_join);
  self->door->close (self);
  sl_serve_worker_unref (self);
}
