/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events: lists, one with its notes, what is kept and deleted. */
#include <string.h>

#include "core/base/json.h"
#include "core/base/json_reader.h"
#include "tools/run/api/job.h"
#include "tools/run/events/folder.h"

/* Bytes of notes that are told. */
#define NOTES_MOST (8 << 20)

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
  sl_json_append_count (json, "bytes", row->bytes);
  sl_json_append_text (json, "color",
                       row->color != NULL && *row->color != '\0' ? row->color : NULL);
}

static void
list (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  g_autoptr (GError) error = NULL;
  guint64 total;
  g_autoptr (GPtrArray) rows = sl_event_query_list (&job->query, job->stores, &total, &error);
  if (rows == NULL) {
    sl_api_job_fail (job, error);
    return;
  }
  g_string_append (job->json, "{\"events\":[");
  for (guint i = 0; i < rows->len; i++) {
    g_string_append (job->json, i > 0 ? "," : "");
    sl_api_append_event (job->json, rows->pdata[i]);
    g_string_append_c (job->json, '}');
  }
  g_string_append (job->json, "]");
  const SlEventRow *last =
    rows->len > 0 && rows->len == job->query.limit ? rows->pdata[rows->len - 1] : NULL;
  g_autofree char *next =
    last != NULL ? g_strdup_printf ("%" G_GINT64_FORMAT "_%s", last->us, last->stem) : NULL;
  sl_json_append_text (job->json, "next", next);
  sl_json_append_count (job->json, "total", total);
  g_string_append_c (job->json, '}');
}

static void
timeline (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  g_autoptr (GError) error = NULL;
  if (!sl_api_job_buckets (request, job, SL_BUCKET_MINUTE))
    return;
  g_autoptr (GArray) buckets =
    sl_event_query_timeline (&job->query, job->stores, &job->buckets, &error);
  if (buckets == NULL) {
    sl_api_job_fail (job, error);
    return;
  }
  g_string_append (job->json, "{\"buckets\":[");
  for (guint i = 0; i < buckets->len; i++) {
    const SlEventBucket *bucket = &g_array_index (buckets, SlEventBucket, i);
    g_string_append (job->json, i > 0 ? ",{" : "{");
    sl_api_append_time (job->json, "from", bucket->from);
    sl_json_append_count (job->json, "count", bucket->count);
    g_string_append_c (job->json, '}');
  }
  g_string_append (job->json, "]}");
}

/* Written anew, as readers of files are less strict than browsers. */
static gboolean
copy_value (SlJsonReader *reader, GString *json)
{
  const SlJsonKind kind = sl_json_reader_kind (reader);
  const gboolean object = kind == SL_JSON_OBJECT;
  const char *begin = reader->at;
  gdouble number = 0;
  if (kind == SL_JSON_STRING && sl_json_reader_string (reader))
    sl_json_append_string (json, reader->text->str);
  else if (kind == SL_JSON_NUMBER && sl_json_reader_number (reader, &number))
    sl_json_append_double (json, number, 15);
  else if (kind == SL_JSON_LIST || object) {
    g_string_append_c (json, object ? '{' : '[');
    gboolean good = sl_json_reader_enter (reader, kind);
    for (guint i = 0; good && sl_json_reader_next (reader); i++) {
      g_string_append (json, i > 0 ? "," : "");
      if (object) {
        sl_json_append_string (json, reader->key->str);
        g_string_append_c (json, ':');
      }
      good = copy_value (reader, json);
    }
    g_string_append_c (json, object ? '}' : ']');
  } else if (sl_json_reader_skip (reader)) /* true, false or null */
    g_string_append_len (json, begin, reader->at - begin);
  return reader->error == NULL;
}

/* (nullable): the row of a member that answers have. */
static const SlJsonKind *
kind_of_member (const char *key)
{
  static const struct
  {
    const char *key;
    SlJsonKind kind;
  } members[] = { { "width", SL_JSON_NUMBER },  { "height", SL_JSON_NUMBER },
                  { "frames", SL_JSON_NUMBER }, { "at", SL_JSON_NUMBER },
                  { "cut", SL_JSON_STRING },    { "format", SL_JSON_STRING },
                  { "events", SL_JSON_LIST },   { "predictions", SL_JSON_OBJECT },
                  { "trail", SL_JSON_OBJECT } };
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    if (strcmp (key, members[i].key) == 0)
      return &members[i].kind;
  return NULL;
}

/* Members that the notes have, where they are of their kind; nothing of notes that are no JSON. */
static void
append_notes (GString *json, const char *notes, gsize length)
{
  SlJsonReader reader;
  GString *found = g_string_new ("{");
  sl_json_reader_init (&reader, notes, length);
  if (g_utf8_validate (notes, (gssize) length, NULL)
      && sl_json_reader_enter (&reader, SL_JSON_OBJECT))
    while (sl_json_reader_next (&reader)) {
      const SlJsonKind *wanted = kind_of_member (reader.key->str),
                       kind = sl_json_reader_kind (&reader);
      if (wanted == NULL || kind != *wanted) {
        sl_json_reader_skip (&reader);
        continue;
      }
      sl_json_append_key (found, reader.key->str);
      copy_value (&reader, found);
    }
  if (sl_json_reader_end (&reader) && found->len > 1)
    g_string_append_printf (json, ",%s", found->str + 1);
  sl_json_reader_clear (&reader);
  g_string_free (found, TRUE);
}

static void
one (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  SlEventRow *row = sl_api_job_event (request, job);
  if (row == NULL)
    return;
  g_autoptr (GBytes) notes =
    row->clip ? sl_clip_file_read (row->store->folder, row->stem, SL_CLIP_NOTES, NOTES_MOST, NULL)
              : NULL;
  sl_api_append_event (job->json, row);
  if (notes != NULL)
    append_notes (job->json, g_bytes_get_data (notes, NULL), g_bytes_get_size (notes));
  g_string_append_c (job->json, '}');
  sl_event_row_free (row);
}

/* (nullable): having refused, as events without a clip have no files. */
static SlEventRow *
clip_of (SlApiRequest *request, SlApiJob *job)
{
  SlEventRow *row = sl_api_job_event (request, job);
  if (row == NULL || row->clip)
    return row;
  sl_api_job_refuse (job, SOUP_STATUS_CONFLICT,
                     "%s: there is no clip of this event, so there is nothing to keep", row->stem);
  sl_event_row_free (row);
  return NULL;
}

static void
keep (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  g_autoptr (GError) error = NULL;
  SlEventRow *row = clip_of (request, job);
  if (row == NULL)
    return;
  g_mutex_lock (&row->store->write.lock);
  if (!sl_clip_files_keep (row->store->folder, row->stem, job->keep, &error)
      || !sl_store_set_kept (row->store, row->stem, job->keep, &error))
    sl_api_job_fail (job, error);
  g_mutex_unlock (&row->store->write.lock);
  if (error == NULL) {
    row->kept = job->keep;
    sl_api_append_event (job->json, row);
    g_string_append_c (job->json, '}');
    job->changed = g_strdup_printf ("event %s is %s", row->stem, job->keep ? "kept" : "not kept");
  }
  sl_event_row_free (row);
}

static void delete (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  g_autoptr (GError) error = NULL;
  SlEventRow *row = sl_api_job_event (request, job);
  if (row == NULL)
    return;
  g_mutex_lock (&row->store->write.lock);
  if ((row->clip && !sl_clip_files_delete (row->store->folder, row->stem, &error))
      || !sl_store_remove (row->store, row->stem, &error))
    sl_api_job_fail (job, error);
  g_mutex_unlock (&row->store->write.lock);
  if (error == NULL) {
    g_string_append (job->json, "{}");
    job->changed = g_strdup_printf ("event %s is deleted", row->stem);
  }
  sl_event_row_free (row);
}

static void
answer_list (SlApiRequest *request)
{
  if (sl_api_query (request, "words") != NULL || sl_api_query (request, "similar") != NULL)
    sl_api_list_like (request);
  else
    sl_api_job_answer (request, list);
}

static void
answer_timeline (SlApiRequest *request)
{
  sl_api_job_answer (request, timeline);
}

static void
answer_one (SlApiRequest *request)
{
  sl_api_job_answer (request, one);
}

static void
answer_delete (SlApiRequest *request)
{
  sl_api_job_answer (request, delete);
}

/* {"keep":true} */
static gboolean
read_keep (SlApiRequest *request, gboolean *keep_it)
{
  SlJsonReader reader;
  gsize length = 0;
  const char *text = request->body != NULL ? g_bytes_get_data (request->body, &length) : NULL;
  SlJsonKind kind = SL_JSON_NOTHING;
  sl_json_reader_init (&reader, text != NULL ? text : "", length);
  if (sl_json_reader_enter (&reader, SL_JSON_OBJECT))
    while (sl_json_reader_next (&reader)) {
      if (strcmp (reader.key->str, "keep") == 0)
        kind = sl_json_reader_kind (&reader);
      sl_json_reader_skip (&reader);
    }
  const gboolean whole = sl_json_reader_end (&reader);
  sl_json_reader_clear (&reader);
  *keep_it = kind == SL_JSON_TRUE;
  return whole && (kind == SL_JSON_TRUE || kind == SL_JSON_FALSE);
}

static void
answer_keep (SlApiRequest *request)
{
  gboolean keep_it;
  if (!read_keep (request, &keep_it)) {
    sl_api_error (request, SOUP_STATUS_BAD_REQUEST, "expected {\"keep\":true} or {\"keep\":false}");
    return;
  }
  SlApiJob *job = sl_api_job_new (request);
  if (job == NULL)
    return;
  job->keep = keep_it;
  sl_api_job_run (request, job, keep);
}

const SlApiRoute sl_api_events_routes[] = {
  { "GET", "/api/v1/events", SL_ROLE_LOOK, 0, answer_list },
  { "GET", "/api/v1/events/timeline", SL_ROLE_LOOK, 0, answer_timeline },
  { "GET", "/api/v1/events/{id}", SL_ROLE_LOOK, 0, answer_one },
  { "POST", "/api/v1/events/{id}/keep", SL_ROLE_REVIEW, 1024, answer_keep },
  { "DELETE", "/api/v1/events/{id}", SL_ROLE_REVIEW, 0, answer_delete },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};
