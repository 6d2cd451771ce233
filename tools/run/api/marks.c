/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What people decide about events: which are kept, which somebody has looked at, which are deleted.
 */
#include <string.h>

#include "core/base/json.h"
#include "core/base/json_reader.h"
#include "tools/run/api/job.h"
#include "tools/run/events/folder.h"

/* Events of one request, and bytes of its body. */
#define IDS_MOST 200
#define MAX_BODY (64 << 10)

/* Under the lock of the store. FALSE with @error set, or having refused. */
typedef gboolean (*Act) (SlApiJob *job, SlEventRow *row, GError **error);

static gboolean
set_kept (SlApiJob *job, SlEventRow *row, gboolean kept, GError **error)
{
  if (!row->clip) {
    sl_api_job_refuse (job, SOUP_STATUS_CONFLICT,
                       "%s: there is no clip of this event, so there is nothing to keep",
                       row->stem);
    return FALSE;
  }
  row->kept = kept;
  return sl_clip_files_keep (row->store->folder, row->stem, kept, error)
         && sl_store_set_kept (row->store, row->stem, kept, error);
}

static gboolean
keep (SlApiJob *job, SlEventRow *row, GError **error)
{
  return set_kept (job, row, TRUE, error);
}

static gboolean
let_go (SlApiJob *job, SlEventRow *row, GError **error)
{
  return set_kept (job, row, FALSE, error);
}

/* @user: (nullable): NULL: nobody has looked at it */
static gboolean
set_review (SlEventRow *row, const char *user, GError **error)
{
  const gint64 now = g_get_real_time ();
  g_free (row->reviewer);
  row->reviewer = g_strdup (user);
  row->reviewed = now;
  return (!row->clip || sl_clip_files_review (row->store->folder, row->stem, user, now, error))
         && sl_store_set_review (row->store, row->stem, user, now, error);
}

static gboolean
review (SlApiJob *job, SlEventRow *row, GError **error)
{
  return set_review (row, job->user, error);
}

static gboolean
forget_review (SlApiJob *job, SlEventRow *row, GError **error)
{
  return set_review (row, NULL, error);
}

/* A clip that is being recorded would bring the event back. */
static gboolean delete (SlApiJob *job, SlEventRow *row, GError **error)
{
  if (sl_api_job_is_recorded (job, row)) {
    sl_api_job_refuse (job, SOUP_STATUS_CONFLICT,
                       "%s: its clip is still being recorded: delete it when it is complete",
                       row->stem);
    return FALSE;
  }
  return (!row->clip || sl_clip_files_delete (row->store->folder, row->stem, error))
         && sl_store_remove (row->store, row->stem, error);
}

static const struct
{
  const char *word, *told;
  Act act;
} marks[] = {
  { "keep", "kept", keep },         { "release", "not kept", let_go },
  { "review", "reviewed", review }, { "unreview", "not reviewed", forget_review },
  { "delete", "deleted", delete },
};

enum
{
  KEEP,
  RELEASE,
  REVIEW,
  UNREVIEW,
  DELETE
};

/* FALSE, having refused. @id: as the request has it. An event without a clip that is to be deleted
 * may have become a clip, which may show more. */
static gboolean
do_mark (SlApiJob *job, SlEventRow *row, const char *id)
{
  g_autoptr (GError) error = NULL;
  gboolean done = FALSE;
  if (job->mark == DELETE && strcmp (row->stem, id) != 0) {
    sl_api_job_refuse (job, SOUP_STATUS_CONFLICT,
                       "%s: the clip %s took its place: load the list again, and delete that", id,
                       row->stem);
    return FALSE;
  }
  g_mutex_lock (&row->store->write.lock);
  if (!sl_store_has (row->store, row->stem)) /* a clip took its place since it was looked up */
    sl_api_job_refuse_missing (job, id);
  else
    done = marks[job->mark].act (job, row, &error);
  g_mutex_unlock (&row->store->write.lock);
  if (done)
    g_ptr_array_add (job->changes,
                     g_strdup_printf ("event %s is %s", row->stem, marks[job->mark].told));
  else if (error != NULL)
    sl_api_job_fail (job, error);
  return done;
}

static void
mark_one (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  SlEventRow *row = sl_api_job_event (request, job);
  if (row == NULL)
    return;
  const gboolean done = do_mark (job, row, request->parts[0]);
  if (done && job->mark != DELETE)
    sl_api_append_event (job->json, row);
  else
    g_string_append_c (job->json, '{');
  g_string_append_c (job->json, '}');
  if (done && job->mark == DELETE)
    sl_mp4_cache_tidy (sl_events_mp4s (job->events));
  sl_event_row_free (row);
}

/* What cannot be done of some events is told, and done of the others. */
static void
mark_many (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  g_autoptr (GString) failed = g_string_new (NULL);
  guint n = 0;
  for (guint i = 0; job->ids[i] != NULL; i++) {
    SlEventRow *row = sl_api_job_find (job, job->ids[i]);
    if (row != NULL && do_mark (job, row, job->ids[i])) {
      n++;
    } else {
      g_string_append (failed, failed->len > 0 ? ",{" : "{");
      sl_json_append_text (failed, "id", job->ids[i]);
      sl_json_append_text (failed, "error", job->why);
      g_string_append_c (failed, '}');
      g_clear_pointer (&job->why, g_free);
    }
    g_clear_pointer (&row, sl_event_row_free);
  }
  g_string_append_c (job->json, '{');
  sl_json_append_count (job->json, "done", n);
  g_string_append_printf (job->json, ",\"failed\":[%s]}", failed->str);
  if (job->mark == DELETE)
    sl_mp4_cache_tidy (sl_events_mp4s (job->events));
}

static void
answer_delete (SlApiRequest *request)
{
  SlApiJob *job = sl_api_job_new (request);
  if (job == NULL)
    return;
  job->mark = DELETE;
  sl_api_job_run (request, job, mark_one);
}

/* FALSE where the body is not {NAME: true or false}. */
static gboolean
read_flag (SlApiRequest *request, const char *name, gboolean *flag)
{
  SlJsonReader reader;
  SlJsonKind kind = SL_JSON_NOTHING;
  if (sl_api_read_body (request, &reader))
    while (sl_json_reader_next (&reader)) {
      if (strcmp (reader.key->str, name) == 0)
        kind = sl_json_reader_kind (&reader);
      sl_json_reader_skip (&reader);
    }
  const gboolean whole = sl_json_reader_end (&reader);
  sl_json_reader_clear (&reader);
  *flag = kind == SL_JSON_TRUE;
  return whole && (kind == SL_JSON_TRUE || kind == SL_JSON_FALSE);
}

static void
answer_flag (SlApiRequest *request, const char *name, guint set, guint unset)
{
  gboolean flag;
  if (!read_flag (request, name, &flag)) {
    sl_api_error (request, SOUP_STATUS_BAD_REQUEST, "expected {\"%s\":true} or {\"%s\":false}",
                  name, name);
    return;
  }
  SlApiJob *job = sl_api_job_new (request);
  if (job == NULL)
    return;
  job->mark = flag ? set : unset;
  sl_api_job_run (request, job, mark_one);
}

static void
answer_keep (SlApiRequest *request)
{
  answer_flag (request, "keep", KEEP, RELEASE);
}

static void
answer_review (SlApiRequest *request)
{
  answer_flag (request, "reviewed", REVIEW, UNREVIEW);
}

static gboolean
read_ids (SlJsonReader *reader, GStrvBuilder *ids)
{
  guint n = 0;
  gboolean good = sl_json_reader_enter (reader, SL_JSON_LIST);
  while (good && sl_json_reader_next (reader)) {
    good = n++ < IDS_MOST && sl_json_reader_kind (reader) == SL_JSON_STRING
           && sl_json_reader_string (reader);
    if (good)
      g_strv_builder_add (ids, reader->text->str);
  }
  return good && n > 0;
}

/* FALSE where the body is not {"do":WORD,"ids":[...]}. @mark: G_N_ELEMENTS (marks) = unknown */
static gboolean
read_many (SlApiRequest *request, guint *mark, GStrv *ids)
{
  SlJsonReader reader;
  g_autoptr (GStrvBuilder) all = g_strv_builder_new ();
  gboolean listed = FALSE, good = TRUE;
  *mark = G_N_ELEMENTS (marks);
  if (sl_api_read_body (request, &reader))
    while (good && sl_json_reader_next (&reader)) {
      const SlJsonKind kind = sl_json_reader_kind (&reader);
      if (strcmp (reader.key->str, "ids") == 0 && kind == SL_JSON_LIST && !listed) {
        listed = good = read_ids (&reader, all);
      } else if (strcmp (reader.key->str, "do") == 0 && kind == SL_JSON_STRING) {
        good = sl_json_reader_string (&reader);
        for (guint i = 0; good && i < G_N_ELEMENTS (marks); i++)
          if (strcmp (reader.text->str, marks[i].word) == 0)
            *mark = i;
      } else
        good = sl_json_reader_skip (&reader);
    }
  good = good && listed && *mark < G_N_ELEMENTS (marks) && sl_json_reader_end (&reader);
  sl_json_reader_clear (&reader);
  *ids = g_strv_builder_end (all);
  return good;
}

static void
answer_many (SlApiRequest *request)
{
  guint mark;
  g_auto (GStrv) ids = NULL;
  if (!read_many (request, &mark, &ids)) {
    sl_api_error (request, SOUP_STATUS_BAD_REQUEST,
                  "expected {\"do\":\"keep\", \"release\", \"review\", \"unreview\" or "
                  "\"delete\",\"ids\":[1 to %d ids of events]}",
                  IDS_MOST);
    return;
  }
  SlApiJob *job = sl_api_job_new (request);
  if (job == NULL)
    return;
  job->mark = mark;
  job->ids = g_steal_pointer (&ids);
  sl_api_job_run (request, job, mark_many);
}

const SlApiRoute sl_api_marks_routes[] = {
  { "POST", "/api/v1/events", SL_ROLE_REVIEW, MAX_BODY, answer_many },
  { "POST", "/api/v1/events/{id}/keep", SL_ROLE_REVIEW, 1024, answer_keep },
  { "POST", "/api/v1/events/{id}/review", SL_ROLE_REVIEW, 1024, answer_review },
  { "DELETE", "/api/v1/events/{id}", SL_ROLE_REVIEW, 0, answer_delete },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};
