/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Zones, lines and masks of a pipeline: read from its description, saved into it, and counted in
 * kept tracks before they are. A save is refused, and nothing written, where `check` would refuse
 * the result.
 */
#include <math.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/json_reader.h"
#include "pipelines/description/build.h"
#include "plugins/meta/class_names.h"
#include "sightline/error.h"
#include "tools/run/api/api.h"
#include "tools/run/api/reply.h"

#define MAX_BODY (256 << 10)
#define DAY_MS 86400000.0

typedef struct
{
  SlApiReply reply;
  GstElement *analyzer; /* (nullable): of a preview, with @text and what it is of */
  char *text, *revision;
  GPtrArray *regions; /* (nullable): of SlEditRegion, those of the request */
} Job;

static void
job_free (gpointer data)
{
  Job *job = data;
  g_clear_pointer (&job->regions, g_ptr_array_unref);
  gst_clear_object (&job->analyzer);
  sl_api_reply_clear (&job->reply);
  g_free (job->text);
  g_free (job->revision);
  g_free (job);
}

static void
answer_job (SlApiRequest *request, gpointer data)
{
  sl_api_reply_send (request, &((Job *) data)->reply);
}

static SlWorker *
find_worker (SlApiRequest *request, Job *job)
{
  SlWorker *worker = sl_run_site_worker (request->site, request->parts[0]);
  if (worker == NULL)
    sl_api_reply_refuse (&job->reply, SOUP_STATUS_NOT_FOUND, SL_API_NO_PIPELINE, request->parts[0]);
  return worker;
}

/* (transfer full) (nullable) */
static GstElement *
find_analyzer (SlWorker *worker)
{
  GstElement *pipeline = sl_worker_pipeline (worker);
  if (pipeline == NULL)
    return NULL;
  g_autoptr (GPtrArray) found = sl_find_elements (pipeline, "slanalyze");
  return found->len > 0 ? gst_object_ref (found->pdata[0]) : NULL;
}

static void
append_seconds (GString *json, const char *key, guint ms)
{
  if (ms > 0) {
    sl_json_append_number (json, key, ms / 1000.0, 9);
  } else {
    sl_json_append_key (json, key);
    g_string_append (json, "null");
  }
}

static void
append_region (GString *json, const SlEditRegion *region)
{
  g_string_append_c (json, '{');
  sl_json_append_text (json, "kind", sl_region_kind_name (region->kind));
  sl_json_append_text (json, "name", region->name);
  sl_json_append_key (json, "points");
  g_string_append_c (json, '[');
  for (guint i = 0; i < region->n_points; i++) {
    g_string_append (json, i > 0 ? ",[" : "[");
    sl_json_append_double (json, region->points[i].x, 6);
    g_string_append_c (json, ',');
    sl_json_append_double (json, region->points[i].y, 6);
    g_string_append_c (json, ']');
  }
  g_string_append_c (json, ']');
  sl_json_append_text (json, "classes", region->classes);
  sl_json_append_text (json, "anchor", sl_anchor_name (region->anchor));
  append_seconds (json, "dwell_after", region->dwell_after);
  append_seconds (json, "left_behind_after", region->left_behind_after);
  append_seconds (json, "empty_after", region->empty_after);
  g_string_append_c (json, '}');
}

static void
append_regions (GString *json, const GPtrArray *regions)
{
  sl_json_append_key (json, "regions");
  g_string_append_c (json, '[');
  for (guint i = 0; i < regions->len; i++) {
    g_string_append (json, i > 0 ? "," : "");
    append_region (json, regions->pdata[i]);
  }
  g_string_append_c (json, ']');
}

static void
append_labels (GString *json, GstElement *analyzer)
{
  g_autoptr (GstPad) pad = analyzer != NULL ? gst_element_get_static_pad (analyzer, "sink") : NULL;
  g_auto (GStrv) labels = pad != NULL ? sl_class_names_ask (pad) : NULL;
  sl_json_append_key (json, "labels");
  g_string_append_c (json, '[');
  for (guint i = 0; labels != NULL && labels[i] != NULL; i++) {
    g_string_append (json, i > 0 ? "," : "");
    sl_json_append_string (json, labels[i]);
  }
  g_string_append_c (json, ']');
}

static void
share (SlEdit *edit, SlApiRequest *request, const SlWorker *own)
{
  const GPtrArray *workers = sl_run_site_workers (request->site);
  for (guint i = 0; i < workers->len; i++)
    if (workers->pdata[i] != own)
      sl_edit_share (edit, sl_worker_description (workers->pdata[i])->files,
                     sl_worker_name (workers->pdata[i]));
}

/* (transfer full) (nullable): why the regions cannot be saved. @stated: (nullable): of the property
 * of the slanalyze */
static char *
why_not (const SlEdit *edit, const SlApiRequest *request, GstElement *analyzer, const char *stated)
{
  const SlDescription *description = sl_edit_description (edit);
  g_autoptr (GError) error = NULL;
  if (request->role < SL_ROLE_CONFIGURE)
    return g_strdup_printf ("%s may look: expected the role configure to change zones",
                            request->user);
  if (analyzer == NULL && strstr (description->launch, "slanalyze") == NULL)
    return g_strdup_printf (
      "%s:%u: the launch line has no slanalyze: put sltrack ! slanalyze behind slpredict",
      description->launch_file, description->launch_line);
  if (description->regions == NULL && stated != NULL)
    return g_strdup_printf (
      "%s:%u: the regions are in regions= of slanalyze: move them into groups [zone NAME], [line "
      "NAME] and [mask NAME]",
      description->launch_file, description->launch_line);
  if (!sl_edit_check_writable (edit, &error))
    return g_strdup (error->message);
  return NULL;
}

/* The state of the files: the answer of GET, also behind a save and in a conflict. */
static void
describe (SlApiRequest *request, Job *job, SlWorker *worker, const char *problem)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlEdit) edit = sl_worker_edit (worker, &error);
  g_autoptr (GstElement) analyzer = find_analyzer (worker);
  g_autofree char *stated = NULL;
  if (edit == NULL) {
    sl_api_reply_refuse (&job->reply, SOUP_STATUS_UNPROCESSABLE_ENTITY,
                         "%s: correct the file first", error->message);
    return;
  }
  if (analyzer != NULL && sl_worker_description (worker)->regions == NULL)
    g_object_get (analyzer, "regions", &stated, NULL);
  share (edit, request, worker);
  g_autofree char *why = why_not (edit, request, analyzer, stated);
  g_autofree char *file = g_path_get_basename (sl_edit_description (edit)->path);
  g_autoptr (SlRegions) inline_regions = stated != NULL ? sl_regions_parse (stated, NULL) : NULL;
  g_autoptr (GPtrArray) shown = inline_regions != NULL ? sl_edit_regions_of (inline_regions) : NULL;
  job->reply.json = g_string_new ("{");
  if (problem != NULL)
    sl_json_append_text (job->reply.json, "error", problem);
  sl_json_append_text (job->reply.json, "revision", sl_edit_revision (edit));
  sl_json_append_boolean (job->reply.json, "editable", why == NULL);
  sl_json_append_text (job->reply.json, "why", why);
  sl_json_append_text (job->reply.json, "file", file);
  append_labels (job->reply.json, analyzer);
  append_regions (job->reply.json, shown != NULL ? shown : sl_edit_regions (edit));
  g_string_append_c (job->reply.json, '}');
}

static void
get_regions (SlApiRequest *request, gpointer data)
{
  Job *job = data;
  SlWorker *worker = find_worker (request, job);
  job->reply.status = worker != NULL ? SOUP_STATUS_OK : job->reply.status;
  if (worker != NULL)
    describe (request, job, worker, NULL);
}

static gboolean
read_points (SlJsonReader *reader, SlEditRegion *region)
{
  if (!sl_json_reader_enter (reader, SL_JSON_LIST))
    return FALSE;
  while (sl_json_reader_next (reader)) {
    gdouble xy[3] = { 0 };
    guint n = 0;
    if (!sl_json_reader_enter (reader, SL_JSON_LIST))
      return FALSE;
    for (; sl_json_reader_next (reader); n++)
      if (!sl_json_reader_number (reader, &xy[MIN (n, 2)]))
        return FALSE;
    if (n != 2 || !(xy[0] >= 0 && xy[0] <= 1 && xy[1] >= 0 && xy[1] <= 1))
      return sl_json_reader_fail (
        reader, "points: expected x and y from 0 to 1, got %u numbers that begin with %g and %g", n,
        xy[0], xy[1]);
    if (region->n_points == SL_REGION_MAX_POINTS)
      return sl_json_reader_fail (reader, "points: more than %d", SL_REGION_MAX_POINTS);
    region->points[region->n_points++] = (SlRegionPoint){ xy[0], xy[1] };
  }
  return reader->error == NULL;
}

/* @text: (out) (nullable): null and "" are NULL */
static gboolean
read_text (SlJsonReader *reader, char **text)
{
  g_clear_pointer (text, g_free);
  if (sl_json_reader_kind (reader) == SL_JSON_NULL)
    return sl_json_reader_skip (reader);
  if (!sl_json_reader_string (reader))
    return FALSE;
  if (reader->text->len > 0)
    *text = g_strdup (reader->text->str);
  return TRUE;
}

static gboolean
read_seconds (SlJsonReader *reader, guint *ms)
{
  gdouble seconds = 0;
  *ms = 0;
  if (sl_json_reader_kind (reader) == SL_JSON_NULL)
    return sl_json_reader_skip (reader);
  if (!sl_json_reader_number (reader, &seconds))
    return FALSE;
  if (!(seconds >= 0 && seconds * 1000 <= DAY_MS))
    return sl_json_reader_fail (reader, "%s: expected seconds from 0 to 86400, got %g",
                                reader->key->str, seconds);
  *ms = (guint) lrint (seconds * 1000);
  return TRUE;
}

static gboolean
read_kind (SlJsonReader *reader, SlEditRegion *region)
{
  if (!sl_json_reader_string (reader))
    return FALSE;
  for (guint k = 0; k <= SL_REGION_MASK; k++)
    if (strcmp (reader->text->str, sl_region_kind_name ((SlRegionKind) k)) == 0) {
      region->kind = (SlRegionKind) k;
      return TRUE;
    }
  return sl_json_reader_fail (reader, "kind: expected zone, line or mask, got '%s'",
                              reader->text->str);
}

static gboolean
read_anchor (SlJsonReader *reader, SlEditRegion *region)
{
  g_autofree char *name = NULL;
  region->anchor = SL_ANCHOR_DEFAULT;
  if (!read_text (reader, &name) || name == NULL || sl_anchor_parse (name, &region->anchor))
    return reader->error == NULL;
  return sl_json_reader_fail (
    reader, "anchor: expected bottom, centre, top, left, right or null, got '%s'", name);
}

static gboolean
read_member (SlJsonReader *reader, SlEditRegion *region)
{
  const char *key = reader->key->str;
  if (strcmp (key, "kind") == 0)
    return read_kind (reader, region);
  if (strcmp (key, "name") == 0)
    return read_text (reader, &region->name);
  if (strcmp (key, "was") == 0)
    return read_text (reader, &region->was);
  if (strcmp (key, "points") == 0)
    return read_points (reader, region);
  if (strcmp (key, "classes") == 0)
    return read_text (reader, &region->classes);
  if (strcmp (key, "anchor") == 0)
    return read_anchor (reader, region);
  if (strcmp (key, "dwell_after") == 0)
    return read_seconds (reader, &region->dwell_after);
  if (strcmp (key, "left_behind_after") == 0)
    return read_seconds (reader, &region->left_behind_after);
  if (strcmp (key, "empty_after") == 0)
    return read_seconds (reader, &region->empty_after);
  return sl_json_reader_skip (reader);
}

static gboolean
read_regions (SlJsonReader *reader, GPtrArray *regions)
{
  if (!sl_json_reader_enter (reader, SL_JSON_LIST))
    return FALSE;
  while (sl_json_reader_next (reader)) {
    SlEditRegion *region = g_new0 (SlEditRegion, 1);
    region->anchor = SL_ANCHOR_DEFAULT;
    g_ptr_array_add (regions, region);
    if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
      return FALSE;
    while (sl_json_reader_next (reader))
      if (!read_member (reader, region))
        return FALSE;
    if (region->name == NULL)
      region->name = g_strdup ("");
    if (regions->len > SL_REGIONS_MOST)
      return sl_json_reader_fail (reader, "regions: more than %d", SL_REGIONS_MOST);
  }
  return reader->error == NULL;
}

/* FALSE, having answered, where the body is not {"revision":…,"regions":[…]}. */
static gboolean
read_body (SlApiRequest *request, Job *job)
{
  SlJsonReader reader;
  if (sl_api_read_body (request, &reader))
    while (sl_json_reader_next (&reader)) {
      if (strcmp (reader.key->str, "revision") == 0) {
        read_text (&reader, &job->revision);
      } else if (strcmp (reader.key->str, "regions") == 0) {
        g_clear_pointer (&job->regions, g_ptr_array_unref);
        job->regions = sl_edit_regions_new ();
        read_regions (&reader, job->regions);
      } else {
        sl_json_reader_skip (&reader);
      }
    }
  const gboolean good = sl_json_reader_end (&reader) && job->regions != NULL;
  if (!good)
    sl_api_error (request, SOUP_STATUS_BAD_REQUEST, "%s: expected {\"regions\":[...]}%s",
                  reader.error != NULL ? reader.error->message : "no regions", " as GET has them");
  sl_json_reader_clear (&reader);
  return good;
}

/* Whether the models before slanalyze have the classes that regions of @description name. */
static gboolean
check_classes (const SlDescription *description, GstElement *analyzer, GError **error)
{
  g_autoptr (GstPad) pad = analyzer != NULL ? gst_element_get_static_pad (analyzer, "sink") : NULL;
  g_autoptr (SlRegions) regions = pad != NULL && description->regions != NULL
                                    ? sl_regions_parse (description->regions, NULL)
                                    : NULL;
  const GArray *lists[] = { regions != NULL ? regions->list : NULL,
                            regions != NULL ? regions->masks : NULL };
  for (guint l = 0; regions != NULL && l < G_N_ELEMENTS (lists); l++)
    for (guint i = 0; i < lists[l]->len; i++) {
      const SlRegion *region = &g_array_index (lists[l], SlRegion, i);
      if (sl_class_names_check (pad, region->classes, error))
        continue;
      g_prefix_error (error, "[%s %s] ", sl_region_kind_name (region->kind), region->name);
      return FALSE;
    }
  return TRUE;
}

/* Whether the texts in memory make a pipeline, as `check` has it. */
static gboolean
check_result (SlApiRequest *request, Job *job, SlEdit *edit, GstElement *analyzer)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) trial = NULL;
  g_autofree char *why = why_not (edit, request, analyzer, NULL);
  if (why != NULL) {
    sl_api_reply_refuse (&job->reply, SOUP_STATUS_FORBIDDEN, "%s", why);
    return FALSE;
  }
  if (!sl_edit_set_regions (edit, job->regions, &error)) {
    sl_api_reply_refuse (&job->reply,
                         g_error_matches (error, SL_ERROR, SL_ERROR_OPEN)
                           ? SOUP_STATUS_FORBIDDEN
                           : SOUP_STATUS_UNPROCESSABLE_ENTITY,
                         "%s", error->message);
    return FALSE;
  }
  trial = sl_description_build (sl_edit_description (edit), &error);
  if (trial != NULL && check_classes (sl_edit_description (edit), analyzer, &error))
    return TRUE;
  sl_api_reply_refuse (&job->reply, SOUP_STATUS_UNPROCESSABLE_ENTITY, "%s", error->message);
  return FALSE;
}

static void
tell_conflict (SlApiRequest *request, Job *job, SlWorker *worker)
{
  job->reply.status = SOUP_STATUS_CONFLICT;
  describe (
    request, job, worker,
    "the description was changed on the disk meanwhile, and nothing was saved: take its regions "
    "over, and save again");
}

static void
put_regions (SlApiRequest *request, gpointer data)
{
  Job *job = data;
  g_autoptr (GError) error = NULL;
  SlWorker *worker = find_worker (request, job);
  g_autoptr (SlEdit) edit = worker != NULL ? sl_worker_edit (worker, &error) : NULL;
  g_autoptr (GstElement) analyzer = worker != NULL ? find_analyzer (worker) : NULL;
  if (worker == NULL)
    return;
  if (edit == NULL) {
    sl_api_reply_refuse (&job->reply, SOUP_STATUS_UNPROCESSABLE_ENTITY,
                         "%s: correct the file first", error->message);
    return;
  }
  if (g_strcmp0 (job->revision, sl_edit_revision (edit)) != 0) {
    tell_conflict (request, job, worker);
    return;
  }
  share (edit, request, worker);
  if (!check_result (request, job, edit, analyzer))
    return;
  const SlEditResult result = sl_edit_save (edit, &error);
  if (result == SL_EDIT_CONFLICT) {
    tell_conflict (request, job, worker);
  } else if (result == SL_EDIT_FAILED) {
    sl_api_reply_refuse (&job->reply, SOUP_STATUS_INTERNAL_SERVER_ERROR, "%s", error->message);
  } else {
    const guint n = job->regions->len;
    sl_api_audit (request,
                  n == 1 ? "%s: saved, with %u zone, line or mask"
                         : "%s: saved, with %u zones, lines and masks",
                  request->parts[0], n);
    sl_worker_reload (worker);
    job->reply.status = SOUP_STATUS_OK;
    describe (request, job, worker, NULL);
  }
}

static void
find_preview (SlApiRequest *request, gpointer data)
{
  Job *job = data;
  SlWorker *worker = find_worker (request, job);
  if (worker == NULL)
    return;
  job->analyzer = find_analyzer (worker);
  if (job->analyzer == NULL)
    sl_api_reply_refuse (
      &job->reply, SOUP_STATUS_SERVICE_UNAVAILABLE,
      "%s: no slanalyze runs, so there are no tracks: expected one in the launch line, and a "
      "pipeline that runs",
      request->parts[0]);
}

static void
append_preview (GString *json, const GstStructure *region)
{
  const char *names[][2] = { { "entered", "in" }, { "left", "out" } };
  const gboolean line = gst_structure_has_name (region, "line");
  g_string_append_c (json, '{');
  sl_json_append_text (json, "kind", gst_structure_get_name (region));
  sl_json_append_text (json, "name", gst_structure_get_string (region, "name"));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    guint64 count = 0;
    gst_structure_get_uint64 (region, names[i][0], &count);
    sl_json_append_count (json, names[i][0], line ? 0 : count);
    sl_json_append_count (json, names[i][1], line ? count : 0);
  }
  g_string_append_c (json, '}');
}

static void
count_preview (SlApiRequest *request, gpointer data)
{
  Job *job = data;
  g_autoptr (GstStructure) preview = NULL;
  gdouble seconds = 0;
  g_signal_emit_by_name (job->analyzer, "preview", job->text, &preview);
  const char *problem = gst_structure_get_string (preview, "error");
  if (problem != NULL) {
    sl_api_reply_refuse (&job->reply, SOUP_STATUS_UNPROCESSABLE_ENTITY, "%s", problem);
    return;
  }
  gst_structure_get (preview, "seconds", G_TYPE_DOUBLE, &seconds, NULL);
  job->reply.status = SOUP_STATUS_OK;
  job->reply.json = g_string_new ("{");
  sl_json_append_number (job->reply.json, "seconds", seconds, 6);
  sl_json_append_key (job->reply.json, "regions");
  g_string_append_c (job->reply.json, '[');
  for (guint i = 0; i < sl_report_list_length (preview, "regions"); i++) {
    g_string_append (job->reply.json, i > 0 ? "," : "");
    append_preview (job->reply.json, sl_report_list_item (preview, "regions", i));
  }
  g_string_append (job->reply.json, "]}");
}

/* The element was found; counting may take a while, so another thread does it. */
static void
begin_preview (SlApiRequest *request, gpointer data)
{
  Job *found = data;
  if (found->analyzer == NULL) {
    answer_job (request, found);
    return;
  }
  Job *job = g_new0 (Job, 1);
  job->analyzer = g_steal_pointer (&found->analyzer);
  job->text = g_steal_pointer (&found->text);
  sl_api_in_thread (request, count_preview, answer_job, job, job_free);
}

static void
answer_get (SlApiRequest *request)
{
  sl_api_on_main (request, get_regions, answer_job, g_new0 (Job, 1), job_free);
}

static void
answer_put (SlApiRequest *request)
{
  Job *job = g_new0 (Job, 1);
  if (read_body (request, job))
    sl_api_on_main (request, put_regions, answer_job, job, job_free);
  else
    job_free (job);
}

static void
answer_preview (SlApiRequest *request)
{
  Job *job = g_new0 (Job, 1);
  g_autoptr (GError) error = NULL;
  const gboolean good = read_body (request, job);
  job->text = good ? sl_edit_regions_to_text (job->regions, &error) : NULL;
  if (job->text != NULL) {
    sl_api_on_main (request, find_preview, begin_preview, job, job_free);
    return;
  }
  if (good)
    sl_api_error (request, SOUP_STATUS_UNPROCESSABLE_ENTITY, "%s", error->message);
  job_free (job);
}

const SlApiRoute sl_api_regions_routes[] = {
  { "GET", "/api/v1/pipelines/{name}/regions", SL_ROLE_LOOK, 0, answer_get },
  { "PUT", "/api/v1/pipelines/{name}/regions", SL_ROLE_CONFIGURE, MAX_BODY, answer_put },
  { "POST", "/api/v1/pipelines/{name}/regions/preview", SL_ROLE_LOOK, MAX_BODY, answer_preview },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};
