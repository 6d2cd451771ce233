/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events: lists, one with its notes, words that they are found by. */
#include <string.h>

#include "core/base/json.h"
#include "core/base/json_reader.h"
#include "tools/run/api/job.h"
#include "tools/run/events/folder.h"
#include "tools/run/events/words.h"

/* Bytes of notes that are told. */
#define NOTES_MOST (8 << 20)

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

static void
words (SlApiRequest *request, gpointer data)
{
  static const char *const keys[SL_N_WORDS] = {
    [SL_WORD_EVENT] = "events", [SL_WORD_REGION] = "regions", [SL_WORD_LABEL] = "labels"
  };
  SlApiJob *job = data;
  g_string_append_c (job->json, '{');
  for (guint kind = 0; kind < SL_N_WORDS; kind++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GPtrArray) texts = sl_event_words (job->stores, (SlWordKind) kind, &error);
    if (texts == NULL) {
      sl_api_job_fail (job, error);
      return;
    }
    sl_json_append_key (job->json, keys[kind]);
    g_string_append_c (job->json, '[');
    for (guint i = 0; i < texts->len; i++) {
      g_string_append (job->json, i > 0 ? "," : "");
      sl_json_append_string (job->json, texts->pdata[i]);
    }
    g_string_append_c (job->json, ']');
  }
  g_string_append_c (job->json, '}');
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
  sl_json_append_boolean (job->json, "recording", sl_api_job_is_recorded (job, row));
  if (notes != NULL)
    append_notes (job->json, g_bytes_get_data (notes, NULL), g_bytes_get_size (notes));
  g_string_append_c (job->json, '}');
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
answer_words (SlApiRequest *request)
{
  sl_api_job_answer (request, words);
}

static const char *const list_keys[] = { "pipeline", "region", "event", "label",   "color",
                                         "from",     "to",     "text",  "kept",    "reviewed",
                                         "limit",    "before", "words", "similar", NULL };
static const char *const timeline_keys[] = { "pipeline", "region", "event", "label", "color",
                                             "from",     "to",     "text",  "kept",  "reviewed",
                                             "bucket",   "zone",   NULL };

const SlApiRoute sl_api_events_routes[] = {
  { "GET", "/api/v1/events", SL_ROLE_LOOK, 0, answer_list, list_keys },
  { "GET", "/api/v1/events/timeline", SL_ROLE_LOOK, 0, answer_timeline, timeline_keys },
  { "GET", "/api/v1/events/words", SL_ROLE_LOOK, 0, answer_words },
  { "GET", "/api/v1/events/{id}", SL_ROLE_LOOK, 0, answer_one },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};
