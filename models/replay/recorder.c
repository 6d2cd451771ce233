/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A ring, and one thread that writes black boxes from it, one after the other. Neither the
 * inference thread nor the thread that frees the recorder blocks on it. The thread frees all memory
 * at its end.
 */
#include "models/replay/recorder.h"

#include "core/base/printable.h"
#include "models/replay/folder.h"
#include "models/replay/ring.h"
#include "core/base/fail.h"

/* Black boxes that wait to be written, or are being written. */
#define MAX_JOBS 4

struct _SlRecorder
{
  gatomicrefcount refs;
  SlBlackBoxInfo *info;
  char *folder;
  guint files;
  SlRecorderWritten written;
  gpointer data;
  GDestroyNotify free_data; /* (nullable) */
  SlRing *ring;             /* (nullable): NULL when it could not be made */
  GError *no_ring;          /* (nullable): why, until it has been told */
  gboolean failed;          /* the model's thread: it has been told that nothing is recorded */
  gboolean threaded;
  GMutex lock;
  GCond changed;
  GQueue jobs;     /* under the lock; of Job, the one that is worked on among them */
  guint n_boxes;   /* under the lock: of the jobs, those that write one */
  gboolean ending; /* under the lock */
};

/** A black box to write; without a view, what others left is to be found. */
typedef struct
{
  char *path, *reason;
  gint64 created;
  SlRingView *view;
  gpointer held;
  GDestroyNotify release; /* (nullable) */
} Job;

/* Requested black boxes and released recorders of the process. */
static struct
{
  GMutex lock;
  GCond changed;
  guint n; /* under the lock */
} unfinished;

static void
begin_work (void)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&unfinished.lock);
  unfinished.n++;
}

static void
end_work (void)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&unfinished.lock);
  unfinished.n--;
  g_cond_broadcast (&unfinished.changed);
}

gboolean
sl_recorders_wait (gint64 end)
{
  gboolean in_time = TRUE;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&unfinished.lock);
  while (unfinished.n > 0 && in_time)
    in_time = g_cond_wait_until (&unfinished.changed, &unfinished.lock, end);
  return unfinished.n == 0;
}

static void
job_free (Job *job)
{
  if (job->release != NULL)
    job->release (job->held);
  sl_ring_view_free (job->view);
  g_free (job->path);
  g_free (job->reason);
  g_free (job);
}

static void
write_view (SlRecorder *recorder, const Job *job)
{
  g_autoptr (GError) error = NULL;
  guint n = 0;
  SlBlackBoxInfo info = *recorder->info;
  info.reason = job->reason;
  info.created = job->created;
  g_autoptr (SlBlackBoxWriter) writer = sl_black_box_writer_new (job->path, &info, &error);
  if (writer != NULL && sl_ring_write (job->view, writer, &n, &error)
      && sl_black_box_writer_finish (writer, &error))
    sl_black_box_prune (recorder->folder, recorder->files, job->path);
  recorder->written (job->path, n, error, recorder->data);
}

static void
destroy (SlRecorder *recorder)
{
  g_queue_clear_full (&recorder->jobs, (GDestroyNotify) job_free);
  g_mutex_clear (&recorder->lock);
  g_cond_clear (&recorder->changed);
  sl_ring_free (recorder->ring);
  g_clear_error (&recorder->no_ring);
  sl_black_box_info_free (recorder->info);
  g_free (recorder->folder);
  if (recorder->free_data != NULL)
    recorder->free_data (recorder->data);
  g_free (recorder);
  end_work ();
}

/* Ends when all is done and no more will come. */
static gpointer
work (gpointer data)
{
  SlRecorder *recorder = data;
  g_mutex_lock (&recorder->lock);
  while (TRUE) {
    while (recorder->jobs.length == 0 && !recorder->ending)
      g_cond_wait (&recorder->changed, &recorder->lock);
    Job *job = g_queue_peek_head (&recorder->jobs);
    if (job == NULL)
      break;
    g_mutex_unlock (&recorder->lock);
    if (job->view != NULL)
      write_view (recorder, job);
    else
      sl_ring_recover (recorder->folder, recorder->files, recorder->written, recorder->data);
    g_mutex_lock (&recorder->lock);
    g_queue_pop_head (&recorder->jobs);
    const gboolean box = job->view != NULL;
    recorder->n_boxes -= box;
    g_mutex_unlock (&recorder->lock);
    job_free (job);
    if (box)
      end_work ();
    g_mutex_lock (&recorder->lock);
  }
  g_mutex_unlock (&recorder->lock);
  destroy (recorder);
  return NULL;
}

static void
push (SlRecorder *recorder, Job *job)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&recorder->lock);
  g_queue_push_tail (&recorder->jobs, job);
  recorder->n_boxes++;
  g_cond_signal (&recorder->changed);
}

/* What a black box needs beside the thread; FALSE with @error set. */
static gboolean
open_ring (SlRecorder *recorder, SlModel *model, SlSession *session, const char *input_shape,
           const SlRecorderSettings *settings, GError **error)
{
  if (!sl_black_box_check_folder (settings->folder, error))
    return FALSE;
  sl_black_box_look (settings->folder);
  recorder->info = sl_black_box_info_new (model, session, input_shape, error);
  if (recorder->info != NULL)
    recorder->ring =
      sl_ring_new (recorder->info, settings->folder, settings->seconds, settings->limit, error);
  return recorder->ring != NULL;
}

static gboolean
start (SlRecorder *recorder, GError **error)
{
  g_autoptr (GError) failed = NULL;
  g_queue_push_tail (&recorder->jobs, g_new0 (Job, 1));
  GThread *thread = g_thread_try_new ("black-box", work, recorder, &failed);
  recorder->threaded = thread != NULL;
  if (recorder->threaded)
    g_thread_unref (thread);
  else
    sl_fail (error, SL_ERROR_OPEN, "no thread can be started that writes black boxes: %s",
             failed->message);
  return recorder->threaded;
}

gboolean
sl_recorder_check (SlModel *model, SlSession *session, const char *input_shape,
                   const SlRecorderSettings *settings, GError **error)
{
  if (!sl_black_box_check_folder (settings->folder, error))
    return FALSE;
  g_autoptr (SlBlackBoxInfo) info = sl_black_box_info_new (model, session, input_shape, error);
  return info != NULL && sl_ring_most (info, settings->limit, error) > 0;
}

SlRecorder *
sl_recorder_new (SlModel *model, SlSession *session, const char *input_shape,
                 const SlRecorderSettings *settings, GError **error)
{
  g_autoptr (SlRecorder) recorder = g_new0 (SlRecorder, 1);
  g_autoptr (GError) failed = NULL;
  g_atomic_ref_count_init (&recorder->refs);
  g_mutex_init (&recorder->lock);
  g_cond_init (&recorder->changed);
  recorder->folder = g_strdup (settings->folder);
  recorder->files = settings->files;
  recorder->written = settings->written;
  recorder->data = settings->data;
  recorder->free_data = settings->free_data;
  const gboolean opened = open_ring (recorder, model, session, input_shape, settings, &failed);
  if (!opened && g_error_matches (failed, SL_ERROR, SL_ERROR_LIMIT)) {
    g_propagate_error (error, g_steal_pointer (&failed));
    return NULL;
  }
  if (opened && !start (recorder, &failed))
    g_clear_pointer (&recorder->ring, sl_ring_free);
  recorder->no_ring = g_steal_pointer (&failed);
  return g_steal_pointer (&recorder);
}

const char *
sl_recorder_place (const SlRecorder *recorder, gboolean *in_memory)
{
  return recorder->ring != NULL ? sl_ring_path (recorder->ring, in_memory) : NULL;
}

SlRecorder *
sl_recorder_ref (SlRecorder *recorder)
{
  g_atomic_ref_count_inc (&recorder->refs);
  return recorder;
}

/* Where no black box is being written, the ring goes at once: a process may end before the thread
 * does. */
void
sl_recorder_unref (SlRecorder *recorder)
{
  if (recorder == NULL || !g_atomic_ref_count_dec (&recorder->refs))
    return;
  begin_work ();
  if (!recorder->threaded) {
    destroy (recorder);
    return;
  }
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&recorder->lock);
  recorder->ending = TRUE;
  if (recorder->n_boxes == 0)
    sl_ring_remove (recorder->ring);
  g_cond_signal (&recorder->changed);
}

/* That there is little room is told once as it is. TRUE for what was told before. */
static gboolean
fail_once (SlRecorder *recorder, GError *failed, GError **error)
{
  const gboolean fails = !g_error_matches (failed, SL_ERROR, SL_ERROR_LIMIT);
  if (fails && recorder->failed) {
    g_clear_error (&failed);
    return TRUE;
  }
  recorder->failed = recorder->failed || fails;
  g_propagate_error (error, failed);
  return FALSE;
}

gboolean
sl_recorder_begin (SlRecorder *recorder, guint64 pts, const void *const *inputs, GError **error)
{
  GError *failed = NULL;
  if (recorder->no_ring != NULL)
    return fail_once (recorder, g_steal_pointer (&recorder->no_ring), error);
  return recorder->ring == NULL || sl_ring_begin (recorder->ring, pts, inputs, &failed)
         || fail_once (recorder, failed, error);
}

gboolean
sl_recorder_end (SlRecorder *recorder, const void *const *outputs, GError **error)
{
  GError *failed = NULL;
  return recorder->ring == NULL || sl_ring_end (recorder->ring, outputs, &failed)
         || fail_once (recorder, failed, error);
}

char *
sl_recorder_dump (SlRecorder *recorder, const char *reason, gpointer held, GDestroyNotify release)
{
  g_mutex_lock (&recorder->lock);
  const gboolean busy = recorder->jobs.length >= MAX_JOBS;
  g_mutex_unlock (&recorder->lock);
  Job *job = g_new0 (Job, 1);
  job->view = recorder->ring != NULL && !busy ? sl_ring_view (recorder->ring) : NULL;
  job->held = held;
  job->release = release;
  if (job->view == NULL) {
    job_free (job);
    return NULL;
  }
  job->reason = sl_printable_message (reason);
  job->path = sl_black_box_path (recorder->folder, recorder->info->model, &job->created);
  char *path = g_strdup (job->path);
  begin_work ();
  push (recorder, job);
  return path;
}
