/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State changes and ends of streams on a thread of their own; answers come back through the default
 * main context. */
#include "tools/run/job.h"

/* For a pipeline that is asked to end while it still starts. */
#define START_PATIENCE (GST_SECOND / 2)

struct _SlJobs
{
  GThread *thread;
  GAsyncQueue *queue; /* of Job */
  SlJobDone done;
  gpointer data;
  GMutex lock;    /* of pending */
  GList *pending; /* sources of answers not yet given */
};

typedef struct
{
  SlJobs *jobs;
  GstElement *pipeline; /* NULL = end of the thread */
  GstState state;       /* GST_STATE_VOID_PENDING = the end of the stream */
  gboolean good;
  GSource *answer;
} Job;

static void
job_free (gpointer data)
{
  Job *job = data;
  gst_clear_object (&job->pipeline);
  g_free (job);
}

static gboolean
give_answer (gpointer data)
{
  Job *job = data;
  SlJobs *jobs = job->jobs;
  g_mutex_lock (&jobs->lock);
  jobs->pending = g_list_remove (jobs->pending, job->answer);
  g_mutex_unlock (&jobs->lock);
  jobs->done (job->state, job->good, jobs->data);
  return G_SOURCE_REMOVE;
}

static void
post_answer (Job *job)
{
  GSource *source = g_idle_source_new ();
  job->answer = source;
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, give_answer, job, job_free);
  g_mutex_lock (&job->jobs->lock);
  job->jobs->pending = g_list_prepend (job->jobs->pending, source);
  g_source_attach (source, NULL);
  g_mutex_unlock (&job->jobs->lock);
  g_source_unref (source);
}

/* On the way to PLAYING the source would wait for the sink, the sink for the pipeline, and the
 * pipeline for this call. */
static gboolean
send_end (GstElement *pipeline)
{
  GstState state;
  const GstStateChangeReturn change =
    gst_element_get_state (pipeline, &state, NULL, START_PATIENCE);
  return (change == GST_STATE_CHANGE_SUCCESS || change == GST_STATE_CHANGE_NO_PREROLL)
         && state == GST_STATE_PLAYING && gst_element_send_event (pipeline, gst_event_new_eos ());
}

static gboolean
do_job (const Job *job)
{
  if (job->state == GST_STATE_VOID_PENDING)
    return send_end (job->pipeline);
  return gst_element_set_state (job->pipeline, job->state) != GST_STATE_CHANGE_FAILURE;
}

static gpointer
run (gpointer data)
{
  SlJobs *jobs = data;
  Job *job;
  while ((job = g_async_queue_pop (jobs->queue))->pipeline != NULL) {
    job->good = do_job (job);
    post_answer (job);
  }
  job_free (job);
  return NULL;
}

SlJobs *
sl_jobs_new (SlJobDone done, gpointer data)
{
  SlJobs *jobs = g_new0 (SlJobs, 1);
  jobs->done = done;
  jobs->data = data;
  jobs->queue = g_async_queue_new ();
  g_mutex_init (&jobs->lock);
  jobs->thread = g_thread_new ("pipeline", run, jobs);
  return jobs;
}

void
sl_jobs_push (SlJobs *jobs, GstElement *pipeline, GstState state)
{
  Job *job = g_new0 (Job, 1);
  job->jobs = jobs;
  job->pipeline = pipeline != NULL ? gst_object_ref (pipeline) : NULL;
  job->state = state;
  g_async_queue_push (jobs->queue, job);
}

void
sl_jobs_push_end (SlJobs *jobs, GstElement *pipeline)
{
  sl_jobs_push (jobs, pipeline, GST_STATE_VOID_PENDING);
}

void
sl_jobs_free (SlJobs *jobs)
{
  sl_jobs_push (jobs, NULL, GST_STATE_NULL);
  g_thread_join (jobs->thread);
  while (jobs->pending != NULL) {
    g_source_destroy (jobs->pending->data);
    jobs->pending = g_list_delete_link (jobs->pending, jobs->pending);
  }
  g_async_queue_unref (jobs->queue);
  g_mutex_clear (&jobs->lock);
  g_free (jobs);
}
