/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/api/job.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/printable.h"
#include "core/base/utc.h"
#include "tools/run/events/folder.h"
#include "tools/search/searcher.h"

static void
job_free (gpointer data)
{
  SlApiJob *job = data;
  g_clear_pointer (&job->stores, g_ptr_array_unref);
  g_clear_pointer (&job->folders, g_ptr_array_unref);
  g_clear_pointer (&job->bytes, g_bytes_unref);
  g_clear_pointer (&job->file, sl_mp4_unref);
  sl_buckets_clear (&job->buckets);
  if (job->json != NULL)
    g_string_free (job->json, TRUE);
  g_free (job->why);
  g_free (job->before);
  g_free (job->user);
  g_strfreev (job->ids);
  g_ptr_array_unref (job->changes);
  g_free (job->save_as);
  if (job->asker != NULL)
    sl_searcher_leave (job->searcher, job->asker);
  g_free (job->asker);
  g_free (job);
}

static void
send_file (gpointer file)
{
  sl_mp4_unref (file);
}

static void
done (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  for (guint i = 0; i < job->changes->len; i++)
    sl_api_audit (request, "%s", (const char *) job->changes->pdata[i]);
  if (job->why != NULL)
    sl_api_error (request, job->status, "%s", job->why);
  else if (job->file != NULL) {
    const SlSendFile file = {
      job->file->fd, job->file->size, job->type, job->name, g_steal_pointer (&job->file), send_file
    };
    sl_api_file (request, &file);
  } else if (job->bytes != NULL)
    sl_api_bytes (request, job->type, job->bytes, job->name);
  else
    sl_api_json (request, SOUP_STATUS_OK, g_steal_pointer (&job->json));
}

/* @us stays as it is without a value. */
static gboolean
read_time (SlApiRequest *request, const char *name, gint64 *us)
{
  const char *text = sl_api_query (request, name);
  if (text == NULL || *text == '\0')
    return TRUE;
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  g_autoptr (GDateTime) time = g_date_time_new_from_iso8601 (text, utc);
  if (time != NULL) {
    *us = g_date_time_to_unix (time) * G_USEC_PER_SEC + g_date_time_get_microsecond (time);
    return TRUE;
  }
  sl_api_error (request, SOUP_STATUS_BAD_REQUEST,
                "?%s=%s: expected a time such as 2026-11-29T15:04:05Z", name, text);
  return FALSE;
}

static gboolean
read_flag (SlApiRequest *request, const char *name, gint *flag)
{
  const char *text = sl_api_query (request, name);
  *flag = text == NULL || *text == '\0' ? -1 : *text - '0';
  if (text == NULL || *text == '\0' || strcmp (text, "0") == 0 || strcmp (text, "1") == 0)
    return TRUE;
  sl_api_error (request, SOUP_STATUS_BAD_REQUEST, "?%s=%s: expected 0 or 1", name, text);
  return FALSE;
}

static gboolean
read_limit (SlApiRequest *request, guint *limit)
{
  const char *text = sl_api_query (request, "limit");
  guint64 number = 50;
  if (text == NULL
      || g_ascii_string_to_unsigned (text, 10, 1, SL_QUERY_LIMIT_MOST, &number, NULL)) {
    *limit = (guint) number;
    return TRUE;
  }
  sl_api_error (request, SOUP_STATUS_BAD_REQUEST, "?limit=%s: expected 1 to %d", text,
                SL_QUERY_LIMIT_MOST);
  return FALSE;
}

/* A cursor is TIME_STEM. */
static gboolean
read_cursor (SlApiRequest *request, SlApiJob *job)
{
  const char *text = sl_api_query (request, "before");
  char *end = NULL;
  if (text == NULL || *text == '\0')
    return TRUE;
  job->query.before_us = g_ascii_strtoll (text, &end, 10);
  if (g_ascii_isdigit (*text) && *end == '_') {
    job->query.before = job->before = g_strdup (end + 1);
    return TRUE;
  }
  sl_api_error (request, SOUP_STATUS_BAD_REQUEST,
                "?before=%s: expected what a list of events has as \"next\"", text);
  return FALSE;
}

static const char *
value_of (SlApiRequest *request, const char *name)
{
  const char *text = sl_api_query (request, name);
  return text != NULL && *text != '\0' ? text : NULL;
}

SlApiJob *
sl_api_job_new (SlApiRequest *request)
{
  SlApiJob *job = g_new0 (SlApiJob, 1);
  SlEventQuery *query = &job->query;
  job->changes = g_ptr_array_new_with_free_func (g_free);
  job->user = g_strdup (request->user);
  query->pipeline = value_of (request, "pipeline");
  query->region = value_of (request, "region");
  query->event = value_of (request, "event");
  query->label = value_of (request, "label");
  query->color = value_of (request, "color");
  query->text = value_of (request, "text");
  job->csv = g_strcmp0 (sl_api_query (request, "format"), "csv") == 0;
  if (!read_time (request, "from", &query->from) || !read_time (request, "to", &query->to)
      || !read_flag (request, "kept", &query->kept)
      || !read_flag (request, "reviewed", &query->reviewed) || !read_limit (request, &query->limit)
      || !read_cursor (request, job)) {
    job_free (job);
    return NULL;
  }
  job->events = sl_run_site_events (request->site);
  job->stores = sl_events_stores (job->events);
  job->folders = sl_events_folders (job->events);
  job->json = g_string_new (NULL);
  return job;
}

void
sl_api_job_run (SlApiRequest *request, SlApiJob *job, SlApiFunc work)
{
  sl_api_in_thread (request, work, done, job, job_free);
}

void
sl_api_job_answer (SlApiRequest *request, SlApiFunc work)
{
  SlApiJob *job = sl_api_job_new (request);
  if (job != NULL)
    sl_api_job_run (request, job, work);
}

void
sl_api_job_convert (SlApiRequest *request, SlApiFunc work)
{
  SlApiJob *job = sl_api_job_new (request);
  if (job != NULL)
    sl_api_in_clips (request, work, done, job, job_free);
}

void
sl_api_job_refuse (SlApiJob *job, guint status, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_free (job->why);
  job->why = g_strdup_vprintf (format, args);
  va_end (args);
  job->status = status;
}

void
sl_api_job_fail (SlApiJob *job, const GError *error)
{
  sl_api_job_refuse (job, SOUP_STATUS_INTERNAL_SERVER_ERROR, "%s",
                     error != NULL ? error->message : "the index gives no answer");
}

gboolean
sl_api_job_buckets (SlApiRequest *request, SlApiJob *job, gint64 smallest)
{
  static const struct
  {
    const char *name;
    gint64 width;
  } buckets[] = { { "minute", SL_BUCKET_MINUTE },
                  { "hour", SL_BUCKET_HOUR },
                  { "day", SL_BUCKET_DAY } };
  const char *text = value_of (request, "bucket"), *name = value_of (request, "zone");
  g_autoptr (GError) error = NULL;
  gint64 width = 0;
  for (guint i = 0; i < G_N_ELEMENTS (buckets); i++)
    if (buckets[i].width >= smallest && strcmp (text != NULL ? text : "hour", buckets[i].name) == 0)
      width = buckets[i].width;
  if (width == 0) {
    sl_api_job_refuse (job, SOUP_STATUS_BAD_REQUEST, "?bucket=%s: expected %shour or day", text,
                       smallest == SL_BUCKET_MINUTE ? "minute, " : "");
    return FALSE;
  }
  g_autoptr (GTimeZone) zone = name != NULL ? sl_buckets_zone (name, &error) : NULL;
  if (error != NULL) {
    sl_api_job_refuse (job, SOUP_STATUS_BAD_REQUEST, "?zone=%s", error->message);
    return FALSE;
  }
  sl_buckets_init (&job->buckets, width, zone);
  return TRUE;
}

void
sl_api_job_refuse_missing (SlApiJob *job, const char *id)
{
  sl_api_job_refuse (job, SOUP_STATUS_NOT_FOUND,
                     "%s: there is no such event; it may have been deleted: load the list again",
                     id);
}

SlEventRow *
sl_api_job_event (SlApiRequest *request, SlApiJob *job)
{
  return sl_api_job_find (job, request->parts[0]);
}

SlEventRow *
sl_api_job_find (SlApiJob *job, const char *id)
{
  g_autoptr (GError) error = NULL;
  SlEventRow *row = sl_event_query_one (job->stores, id, &error);
  if (error != NULL)
    sl_api_job_fail (job, error);
  else if (row == NULL)
    sl_api_job_refuse_missing (job, id);
  return row;
}

gboolean
sl_api_job_is_recorded (const SlApiJob *job, const SlEventRow *row)
{
  const gboolean may_be = !row->clip && g_get_real_time () - row->us < SL_BUCKET_DAY;
  for (guint i = 0; may_be && i < job->folders->len; i++) {
    const SlEventFolder *folder = job->folders->pdata[i];
    if (strcmp (folder->pipeline, row->pipeline) == 0
        && sl_clip_is_recorded (folder->path, folder->source, row->us + SL_STORE_LATE))
      return TRUE;
  }
  return FALSE;
}

static void
append_known (GString *json, const char *key, gdouble value)
{
  if (value >= 0)
    sl_json_append_number (json, key, value, 6);
  else
    sl_json_append_text (json, key, NULL);
}

void
sl_api_append_event (GString *json, const SlEventRow *row)
{
  g_string_append_c (json, '{');
  sl_json_append_text (json, "id", row->stem);
  sl_json_append_text (json, "pipeline", row->pipeline);
  sl_api_append_time (json, "time", row->us);
  sl_json_append_text (json, "event", row->event);
  sl_json_append_text (json, "region", row->region);
  sl_json_append_text (json, "label", row->label);
  append_known (json, "object", row->object > 0 ? (gdouble) row->object : -1);
  append_known (json, "confidence", row->confidence);
  append_known (json, "seconds", row->seconds);
  sl_json_append_boolean (json, "clip", row->clip);
  sl_json_append_boolean (json, "picture", row->picture);
  sl_json_append_boolean (json, "kept", row->kept);
  sl_json_append_key (json, "reviewed");
  if (row->reviewer != NULL) {
    g_string_append_c (json, '{');
    sl_json_append_text (json, "user", *row->reviewer != '\0' ? row->reviewer : NULL);
    sl_api_append_time (json, "time", row->reviewed);
    g_string_append_c (json, '}');
  } else
    g_string_append (json, "null");
  sl_json_append_count (json, "bytes", row->bytes);
  sl_json_append_text (json, "color",
                       row->color != NULL && *row->color != '\0' ? row->color : NULL);
}

void
sl_api_append_time (GString *json, const char *key, gint64 us)
{
  sl_json_append_key (json, key);
  if (us == 0) {
    g_string_append (json, "null");
    return;
  }
  g_string_append_c (json, '"');
  sl_utc_append (json, us);
  g_string_append_c (json, '"');
}
