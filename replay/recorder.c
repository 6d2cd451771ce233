/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A ring, and one thread that writes black boxes of it one after the other. The thread that runs the model never waits for it. */
#include "replay/recorder.h"

#include "base/show.h"
#include "replay/folder.h"
#include "replay/ring.h"
#include "sightline/error.h"

/* Black boxes that wait to be written, or are being written. */
#define MOST_JOBS 4

struct _SlRecorder
{
  gatomicrefcount refs;
  SlBlackBoxInfo *info;
  char *folder;
  guint files;
  SlRecorderWritten written;
  gpointer data;
  SlRing *ring;    /* (nullable): NULL when it could not be made */
  GError *no_ring; /* (nullable): why, until it has been told */
  gboolean failed; /* the model's thread: it has been told that nothing is recorded */
  GThread *thread;
  GMutex lock;
  GCond changed;
  GQueue jobs;     /* under the lock; of Job, the one that is worked on among them */
  gboolean ending; /* under the lock */
};

/** A black box to write, or a recorder to release; with neither, what others left is to be found. */
typedef struct
{
  SlRecorder *retired; /* (nullable) */
  char *path, *reason;
  gint64 created;
  SlRingView *view;
} Job;

static void
job_free (Job *job)
{
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
  if (writer != NULL && sl_ring_write (recorder->ring, job->view, writer, &n, &error) && sl_black_box_writer_finish (writer, &error))
    sl_black_box_prune (recorder->folder, recorder->files);
  recorder->written (job->path, n, error, recorder->data);
}

static void
work_on (SlRecorder *recorder, Job *job)
{
  if (job->retired != NULL)
    sl_recorder_unref (job->retired);
  else if (job->view != NULL)
    write_view (recorder, job);
  else
    sl_ring_recover (recorder->folder, recorder->files, recorder->written, recorder->data);
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
    work_on (recorder, job);
    g_mutex_lock (&recorder->lock);
    g_queue_pop_head (&recorder->jobs);
    job_free (job);
  }
  g_mutex_unlock (&recorder->lock);
  return NULL;
}

static void
push (SlRecorder *recorder, Job *job)
{
  g_mutex_lock (&recorder->lock);
  g_queue_push_tail (&recorder->jobs, job);
  g_cond_signal (&recorder->changed);
  g_mutex_unlock (&recorder->lock);
}

static void
join (SlRecorder *recorder)
{
  g_mutex_lock (&recorder->lock);
  recorder->ending = TRUE;
  g_cond_signal (&recorder->changed);
  g_mutex_unlock (&recorder->lock);
  if (recorder->thread != NULL)
    g_thread_join (recorder->thread);
}

SlRecorder *
sl_recorder_new (SlModel *model, SlSession *session, const char *input_shape, const SlRecorderSettings *settings, GError **error)
{
  if (!sl_black_box_check_folder (settings->folder, error))
    return NULL;
  g_autoptr (SlBlackBoxInfo) info = sl_black_box_info_new (model, session, input_shape, error);
  if (info == NULL)
    return NULL;
  g_autoptr (GError) failed = NULL, no_thread = NULL;
  SlRing *ring = sl_ring_new (info, settings->folder, settings->seconds, settings->limit, &failed);
  if (ring == NULL && g_error_matches (failed, SL_ERROR, SL_ERROR_LIMIT)) {
    g_propagate_error (error, g_steal_pointer (&failed));
    return NULL;
  }
  SlRecorder *recorder = g_new0 (SlRecorder, 1);
  g_atomic_ref_count_init (&recorder->refs);
  recorder->info = g_steal_pointer (&info);
  recorder->folder = g_strdup (settings->folder);
  recorder->files = settings->files;
  recorder->written = settings->written;
  recorder->data = settings->data;
  recorder->ring = ring;
  recorder->no_ring = g_steal_pointer (&failed);
  g_mutex_init (&recorder->lock);
  g_cond_init (&recorder->changed);
  g_queue_push_tail (&recorder->jobs, g_new0 (Job, 1));
  recorder->thread = g_thread_try_new ("black-box", work, recorder, &no_thread);
  if (recorder->thread != NULL)
    return recorder;
  g_set_error (error, SL_ERROR, SL_ERROR_LIMIT, "no thread can be started that writes black boxes: %s", no_thread->message);
  sl_recorder_unref (recorder);
  return NULL;
}

SlRecorder *
sl_recorder_ref (SlRecorder *recorder)
{
  g_atomic_ref_count_inc (&recorder->refs);
  return recorder;
}

void
sl_recorder_unref (SlRecorder *recorder)
{
  if (recorder == NULL || !g_atomic_ref_count_dec (&recorder->refs))
    return;
  join (recorder);
  g_queue_clear_full (&recorder->jobs, (GDestroyNotify) job_free);
  g_mutex_clear (&recorder->lock);
  g_cond_clear (&recorder->changed);
  sl_ring_free (recorder->ring);
  g_clear_error (&recorder->no_ring);
  sl_black_box_info_free (recorder->info);
  g_free (recorder->folder);
  g_free (recorder);
}

void
sl_recorder_retire (SlRecorder *recorder, SlRecorder *old)
{
  Job *job = g_new0 (Job, 1);
  job->retired = old;
  push (recorder, job);
}

/* TRUE for what was told before. */
static gboolean
fail_once (SlRecorder *recorder, GError *failed, GError **error)
{
  if (recorder->failed) {
    g_clear_error (&failed);
    return TRUE;
  }
  recorder->failed = TRUE;
  g_propagate_error (error, failed);
  return FALSE;
}

gboolean
sl_recorder_begin (SlRecorder *recorder, guint64 pts, const void *const *inputs, GError **error)
{
  GError *failed = NULL;
  if (recorder->no_ring != NULL)
    return fail_once (recorder, g_steal_pointer (&recorder->no_ring), error);
  return recorder->ring == NULL || sl_ring_begin (recorder->ring, pts, inputs, &failed) || fail_once (recorder, failed, error);
}

gboolean
sl_recorder_end (SlRecorder *recorder, const void *const *outputs, GError **error)
{
  GError *failed = NULL;
  return recorder->ring == NULL || sl_ring_end (recorder->ring, outputs, &failed) || fail_once (recorder, failed, error);
}

char *
sl_recorder_dump (SlRecorder *recorder, const char *reason)
{
  g_mutex_lock (&recorder->lock);
  const gboolean busy = recorder->jobs.length >= MOST_JOBS;
  g_mutex_unlock (&recorder->lock);
  SlRingView *view = recorder->ring != NULL && !busy ? sl_ring_view (recorder->ring) : NULL;
  if (view == NULL)
    return NULL;
  Job *job = g_new0 (Job, 1);
  job->view = view;
  job->reason = sl_show_message (reason);
  job->path = sl_black_box_path (recorder->folder, &job->created);
  char *path = g_strdup (job->path);
  push (recorder, job);
  return path;
}
