/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Settings that act at the next frame. What is asked for is checked as a whole before any of it is
 * set. The rate is told in inferences a second; the element has an interval of frames.
 */
#include <string.h>

#include "core/base/json.h"
#include "core/base/json_reader.h"
#include "tools/run/api/api.h"
#include "tools/run/api/reply.h"

#define MAX_BODY (16 << 10)

typedef struct
{
  SlLiveWish wishes[SL_N_LIVE];
  gboolean asked[SL_N_LIVE];
  SlApiReply reply;
} Job;

static void
job_free (gpointer data)
{
  Job *job = data;
  for (guint i = 0; i < SL_N_LIVE; i++)
    g_free (job->wishes[i].text);
  sl_api_reply_clear (&job->reply);
  g_free (job);
}

static void
answer_job (SlApiRequest *request, gpointer data)
{
  sl_api_reply_send (request, &((Job *) data)->reply);
}

static void
append_member (GString *json, const char *key, const char *raw)
{
  sl_json_append_key (json, key);
  g_string_append (json, raw);
}

/* The value @text of the element in the terms of clients. */
static void
append_value (GString *json, const char *key, SlLiveKind kind, GstElement *element,
              const char *text)
{
  gdouble number;
  const gboolean stated = sl_live_stated (element, kind, text, &number);
  if (kind == SL_LIVE_CLASSES)
    sl_json_append_text (json, key, stated ? text : NULL);
  else if (kind == SL_LIVE_RECORDING || kind == SL_LIVE_REDACTION)
    sl_json_append_boolean (json, key, strcmp (text, "true") == 0);
  else if (!stated)
    append_member (json, key, "null"); /* the model's own; unknown */
  else
    sl_json_append_number (json, key, number, 4);
}

static void
append_setting (GString *json, SlLiveKind kind, GstElement *element, const SlLive *live,
                const char *why)
{
  static const char *const types[SL_N_LIVE] = { "number", "text", "number", "boolean", "boolean" };
  const gdouble fps = element != NULL && kind == SL_LIVE_RATE ? sl_live_frame_rate (element) : 0;
  g_string_append_c (json, '{');
  sl_json_append_text (json, "key", sl_live_rows[kind].key);
  sl_json_append_text (json, "title", sl_live_rows[kind].title);
  sl_json_append_text (json, "type", types[kind]);
  if (element != NULL) {
    g_autofree char *text = sl_live_text (element, kind);
    append_value (json, "value", kind, element, text);
    append_value (json, "default", kind, element, sl_live_default (live, kind));
  } else {
    append_member (json, "value", "null");
    append_member (json, "default", "null");
  }
  if (kind == SL_LIVE_THRESHOLD) {
    append_member (json, "min", "0");
    append_member (json, "max", "1");
  } else if (fps > 0) {
    sl_json_append_number (json, "min", MIN (1, fps), 4);
    sl_json_append_number (json, "max", fps, 4);
  } else {
    append_member (json, "min", "null");
    append_member (json, "max", "null");
  }
  sl_json_append_boolean (json, "editable", why == NULL);
  sl_json_append_text (json, "why", why);
  g_string_append_c (json, '}');
}

static void
describe (Job *job, SlWorker *worker)
{
  GstElement *pipeline = sl_worker_pipeline (worker);
  job->reply.status = SOUP_STATUS_OK;
  job->reply.json = g_string_new ("{\"settings\":[");
  for (guint i = 0; i < SL_N_LIVE; i++) {
    g_autoptr (GstElement) element = sl_live_find (pipeline, (SlLiveKind) i);
    g_autofree char *why =
      sl_live_why_not ((SlLiveKind) i, element, sl_worker_description (worker));
    g_string_append (job->reply.json, i > 0 ? "," : "");
    append_setting (job->reply.json, (SlLiveKind) i, element, sl_worker_live (worker), why);
  }
  g_string_append (job->reply.json, "]}");
}

/* (nullable): having said why */
static SlWorker *
find_worker (SlApiRequest *request, Job *job)
{
  SlWorker *worker = sl_run_site_worker (request->site, request->parts[0]);
  if (worker == NULL)
    sl_api_reply_refuse (&job->reply, SOUP_STATUS_NOT_FOUND, SL_API_NO_PIPELINE, request->parts[0]);
  else if (sl_worker_pipeline (worker) == NULL)
    sl_api_reply_refuse (
      &job->reply, SOUP_STATUS_SERVICE_UNAVAILABLE,
      "%s does not run right now, so that it has no settings: try again when it does",
      request->parts[0]);
  return job->reply.why == NULL ? worker : NULL;
}

static gboolean
check_wish (Job *job, SlLiveKind kind, GstElement *element, char **text)
{
  g_autoptr (GError) error = NULL;
  const SlLiveWish *wish = &job->wishes[kind];
  const gdouble most = kind == SL_LIVE_RATE ? sl_live_frame_rate (element) : 0;
  if (most > 0 && wish->kind == SL_LIVE_NUMBER && wish->number > most)
    return sl_api_reply_refuse (
      &job->reply, SOUP_STATUS_UNPROCESSABLE_ENTITY,
      "rate: expected at most %.6g, the frames a second of the camera, got %.6g", most,
      wish->number);
  return sl_live_check (kind, element, &job->wishes[kind], text, &error)
         || sl_api_reply_refuse (&job->reply, SOUP_STATUS_UNPROCESSABLE_ENTITY, "%s",
                                 error->message);
}

static gboolean
set_one (SlApiRequest *request, Job *job, SlLive *live, SlLiveKind kind, GstElement *element,
         const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *before = sl_live_text (element, kind);
  if (!sl_live_set (live, element, kind, text, &error)) {
    sl_api_audit (request, "%s: %s: refused: %s", request->parts[0], sl_live_rows[kind].key,
                  error->message);
    return sl_api_reply_refuse (&job->reply, SOUP_STATUS_UNPROCESSABLE_ENTITY, "%s: %s",
                                sl_live_rows[kind].key, error->message);
  }
  g_autofree char *told = sl_live_told (live, element, kind, before);
  if (told != NULL)
    sl_api_audit (request, "%s: %s", request->parts[0], told);
  return TRUE;
}

static void
patch_settings (SlApiRequest *request, gpointer data)
{
  Job *job = data;
  SlWorker *worker = find_worker (request, job);
  GstElement *elements[SL_N_LIVE] = { NULL };
  char *texts[SL_N_LIVE] = { NULL };
  gboolean good = worker != NULL;
  for (guint i = 0; good && i < SL_N_LIVE; i++) {
    if (!job->asked[i])
      continue;
    elements[i] = sl_live_find (sl_worker_pipeline (worker), (SlLiveKind) i);
    g_autofree char *why =
      sl_live_why_not ((SlLiveKind) i, elements[i], sl_worker_description (worker));
    good = why == NULL ? check_wish (job, (SlLiveKind) i, elements[i], &texts[i])
                       : sl_api_reply_refuse (&job->reply, SOUP_STATUS_FORBIDDEN, "%s: %s",
                                              sl_live_rows[i].key, why);
  }
  for (guint i = 0; i < SL_N_LIVE; i++) {
    if (good && elements[i] != NULL)
      good = set_one (request, job, sl_worker_live (worker), (SlLiveKind) i, elements[i], texts[i]);
    gst_clear_object (&elements[i]);
    g_free (texts[i]);
  }
  if (good)
    describe (job, worker);
}

static void
get_settings (SlApiRequest *request, gpointer data)
{
  SlWorker *worker = find_worker (request, data);
  if (worker != NULL)
    describe (data, worker);
}

static gboolean
read_member (SlJsonReader *reader, Job *job)
{
  SlLiveKind kind;
  if (!sl_live_kind_of (reader->key->str, &kind))
    return sl_json_reader_fail (reader, SL_LIVE_UNKNOWN, reader->key->str);
  job->asked[kind] = TRUE;
  return sl_live_read_wish (reader, &job->wishes[kind]);
}

static void
answer_get (SlApiRequest *request)
{
  sl_api_on_main (request, get_settings, answer_job, g_new0 (Job, 1), job_free);
}

static void
answer_patch (SlApiRequest *request)
{
  Job *job = g_new0 (Job, 1);
  SlJsonReader reader;
  if (sl_api_read_body (request, &reader))
    while (sl_json_reader_next (&reader))
      read_member (&reader, job);
  if (sl_json_reader_end (&reader)) {
    sl_api_on_main (request, patch_settings, answer_job, job, job_free);
  } else {
    sl_api_error (request, SOUP_STATUS_UNPROCESSABLE_ENTITY, "%s", reader.error->message);
    job_free (job);
  }
  sl_json_reader_clear (&reader);
}

const SlApiRoute sl_api_settings_routes[] = {
  { "GET", "/api/v1/pipelines/{name}/settings", SL_ROLE_LOOK, 0, answer_get },
  { "PATCH", "/api/v1/pipelines/{name}/settings", SL_ROLE_CONFIGURE, MAX_BODY, answer_patch },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};
