/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A call is its message's data, so it ends with it. A job holds the message. A job's function runs
 * in a thread of the pool or on the main thread, and comes back by a source of the server's
 * context. When the server ends, the main thread waits for it, so no job runs there.
 */
#include "tools/run/api/call.h"

#include "tools/run/events/mp4.h"
#include "tools/run/http/proxy.h"

/* Threads for jobs: databases and files of one machine. */
#define THREADS 2
/* One that answers at once while as many clips are converted as may be. */
#define CLIP_THREADS (SL_MP4_MOST + 1)
/* Passwords that wait for the one thread that checks them: a second's work, at 16 MB. */
#define MAX_HASHING 16

struct _SlApiJobs
{
  GMainContext *context; /* the server's */
  GThreadPool *pool, *clips, *hashing;
  GQueue all; /* of Job: those whose end has not come back */
};

typedef struct
{
  SlApiCall *call;
  SoupServerMessage *message;
  SlApiFunc work, done;
  gpointer data;
  GDestroyNotify free;
  GSource *main, *back; /* (nullable) */
} Job;

static GQuark
call_quark (void)
{
  return g_quark_from_static_string ("sl-api-call");
}

static void
call_free (gpointer data)
{
  SlApiCall *call = data;
  for (guint i = 0; i < SL_API_PARTS; i++)
    g_free (call->request.parts[i]);
  g_clear_pointer (&call->request.query, g_hash_table_unref);
  g_clear_pointer (&call->request.body, g_bytes_unref);
  g_clear_pointer (&call->received, g_byte_array_unref);
  g_free (call->user);
  g_free (call->address);
  g_free (call->session);
  g_free (call);
}

static void
on_finished (SoupServerMessage *message, gpointer data)
{
  ((SlApiCall *) data)->gone = TRUE;
}

/* (transfer full): in numbers. */
static char *
address_of (SoupServerMessage *message)
{
  g_autoptr (GInetAddress) address = sl_proxy_client (message);
  return address != NULL ? g_inet_address_to_string (address) : g_strdup ("");
}

SlApiCall *
sl_api_call_new (SoupServerMessage *message, SlApi *api, GHashTable *query)
{
  SlApiCall *call = g_new0 (SlApiCall, 1);
  call->request.message = message;
  call->request.site = api->site;
  call->request.query = query != NULL ? g_hash_table_ref (query) : NULL;
  call->request.user = SL_API_ANYONE;
  call->api = api;
  call->address = address_of (message);
  g_object_set_qdata_full (G_OBJECT (message), call_quark (), call, call_free);
  g_signal_connect (message, "finished", G_CALLBACK (on_finished), call);
  return call;
}

SlApiCall *
sl_api_call_of (SoupServerMessage *message)
{
  return g_object_get_qdata (G_OBJECT (message), call_quark ());
}

static void
on_chunk (SoupServerMessage *message, GBytes *chunk, gpointer data)
{
  SlApiCall *call = data;
  gsize size;
  const guint8 *bytes = g_bytes_get_data (chunk, &size);
  call->too_long = call->too_long || size > call->route->max_body - call->received->len;
  if (!call->too_long)
    g_byte_array_append (call->received, bytes, (guint) size);
}

void
sl_api_call_take_body (SlApiCall *call)
{
  call->received = g_byte_array_new ();
  g_signal_connect (call->request.message, "got-chunk", G_CALLBACK (on_chunk), call);
}

void
sl_api_call_end_body (SlApiCall *call)
{
  if (call->received == NULL)
    return;
  g_byte_array_append (call->received, (const guint8 *) "", 1);
  g_autoptr (GBytes) whole = g_byte_array_free_to_bytes (g_steal_pointer (&call->received));
  call->request.body = g_bytes_new_from_bytes (whole, 0, g_bytes_get_size (whole) - 1);
}

static void
job_free (Job *job)
{
  for (GSource **source = &job->main; source != NULL;
       source = source == &job->main ? &job->back : NULL) {
    if (*source != NULL)
      g_source_destroy (*source);
    g_clear_pointer (source, g_source_unref);
  }
  if (job->free != NULL)
    job->free (job->data);
  g_object_unref (job->message);
  g_free (job);
}

static gboolean
on_back (gpointer data)
{
  Job *job = data;
  SlApiCall *call = job->call;
  g_queue_remove (&call->api->jobs->all, job);
  if (!call->gone)
    job->done (&call->request, job->data);
  if (--call->busy == 0 && !call->gone)
    soup_server_message_unpause (job->message);
  job_free (job);
  return G_SOURCE_REMOVE;
}

/* Not the server's thread. */
static void
run (Job *job)
{
  job->work (&job->call->request, job->data);
  job->back = g_idle_source_new ();
  g_source_set_priority (job->back, G_PRIORITY_DEFAULT);
  g_source_set_callback (job->back, on_back, job, NULL);
  g_source_attach (job->back, job->call->api->jobs->context);
}

static void
run_in_thread (gpointer job, gpointer data)
{
  run (job);
}

static gboolean
run_on_main (gpointer job)
{
  run (job);
  return G_SOURCE_REMOVE;
}

static Job *
begin (SlApiRequest *request, SlApiFunc work, SlApiFunc done, gpointer data, GDestroyNotify free)
{
  SlApiCall *call = (SlApiCall *) request;
  Job *job = g_new0 (Job, 1);
  job->call = call;
  job->message = g_object_ref (request->message);
  job->work = work;
  job->done = done;
  job->data = data;
  job->free = free;
  g_queue_push_tail (&call->api->jobs->all, job);
  if (call->busy++ == 0)
    soup_server_message_pause (request->message);
  return job;
}

void
sl_api_file (SlApiRequest *request, const SlSendFile *file)
{
  SlApiCall *call = (SlApiCall *) request;
  SlSenders *senders = sl_run_site_senders (request->site);
  if (sl_senders_is_full (senders)) {
    sl_api_error (request, SOUP_STATUS_SERVICE_UNAVAILABLE,
                  "%d files are being sent: expected at most as many; try again later",
                  SL_SENDERS_MOST);
    file->free (file->data);
  } else if (sl_senders_send (senders, request->message, file)) {
    call->busy++; /* the message waits for its sender, and not for jobs */
  }
}

void
sl_api_in_thread (SlApiRequest *request, SlApiFunc work, SlApiFunc done, gpointer data,
                  GDestroyNotify free)
{
  Job *job = begin (request, work, done, data, free);
  g_thread_pool_push (job->call->api->jobs->pool, job, NULL);
}

void
sl_api_in_clips (SlApiRequest *request, SlApiFunc work, SlApiFunc done, gpointer data,
                 GDestroyNotify free)
{
  Job *job = begin (request, work, done, data, free);
  g_thread_pool_push (job->call->api->jobs->clips, job, NULL);
}

gboolean
sl_api_in_hashing (SlApiCall *call, SlApiFunc work, SlApiFunc done, gpointer data,
                   GDestroyNotify free)
{
  GThreadPool *hashing = call->api->jobs->hashing;
  if (g_thread_pool_unprocessed (hashing) >= MAX_HASHING)
    return FALSE;
  g_thread_pool_push (hashing, begin (&call->request, work, done, data, free), NULL);
  return TRUE;
}

void
sl_api_on_main (SlApiRequest *request, SlApiFunc work, SlApiFunc done, gpointer data,
                GDestroyNotify free)
{
  Job *job = begin (request, work, done, data, free);
  GSource *source = g_idle_source_new ();
  job->main = g_source_ref (source);
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, run_on_main, job, NULL);
  g_source_attach (source, NULL); /* from here on the job may be gone */
  g_source_unref (source);
}

SlApiJobs *
sl_api_jobs_new (void)
{
  SlApiJobs *jobs = g_new0 (SlApiJobs, 1);
  jobs->context = g_main_context_ref_thread_default ();
  jobs->pool = g_thread_pool_new (run_in_thread, NULL, THREADS, FALSE, NULL);
  jobs->clips = g_thread_pool_new (run_in_thread, NULL, CLIP_THREADS, FALSE, NULL);
  jobs->hashing = g_thread_pool_new (run_in_thread, NULL, 1, FALSE, NULL);
  g_queue_init (&jobs->all);
  return jobs;
}

void
sl_api_jobs_free (SlApiJobs *jobs)
{
  g_thread_pool_free (jobs->pool, TRUE, TRUE);
  g_thread_pool_free (jobs->clips, TRUE, TRUE);
  g_thread_pool_free (jobs->hashing, TRUE, TRUE);
  g_queue_clear_full (&jobs->all, (GDestroyNotify) job_free);
  g_main_context_unref (jobs->context);
  g_free (jobs);
}
