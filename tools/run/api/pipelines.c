/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the pipelines are, in words of people who do not know GStreamer. */
#include <string.h>

#include "core/base/json.h"
#include "core/base/utc.h"
#include "tools/run/api/call.h"
#include "tools/run/http/texts.h"

/* Of the frames that come, the share that is looked at in a pipeline that keeps up. */
#define KEEPS_UP 0.8

typedef enum
{
  LEVEL_GOOD,
  LEVEL_WARNING,
  LEVEL_BAD
} Level;

static const char *const levels[] = { "good", "warning", "bad" };

/* What is open is @json's last list. */
static void
append_comma (GString *json)
{
  if (json->str[json->len - 1] != '[' && json->str[json->len - 1] != '{')
    g_string_append_c (json, ',');
}

/* (transfer full) (nullable): the camera that does not play. */
static char *
camera_words (const SlReportPipeline *pipeline)
{
  for (guint i = 0; i < pipeline->cameras->len; i++) {
    const SlReportCamera *camera = &g_array_index (pipeline->cameras, SlReportCamera, i);
    if (g_strcmp0 (camera->state, "playing") != 0 && g_strcmp0 (camera->state, "ended") != 0)
      return g_strdup_printf ("no connection to the camera %s", camera->name);
  }
  return NULL;
}

/* (transfer full): of one that runs. @age: milliseconds since its last frame */
static char *
running_words (const SlReportPipeline *pipeline, gint64 age, guint stall, double in, double out,
               Level *level)
{
  char *camera = camera_words (pipeline);
  *level = LEVEL_BAD;
  if (camera != NULL)
    return camera;
  if (age > (gint64) stall)
    return g_strdup_printf ("no picture for %d s", (int) (age / 1000));
  *level = LEVEL_WARNING;
  gboolean promised;
  char *broken = sl_report_broken_promise (pipeline, &promised);
  if (broken != NULL)
    return broken;
  if (!promised && in >= 1 && out < KEEPS_UP * in)
    return g_strdup_printf ("behind: %.0f of %.0f frames a second", out, in);
  *level = LEVEL_GOOD;
  return g_strdup ("running");
}

/* (transfer full) */
static char *
words_of (const SlReportPipeline *pipeline, gint64 age, guint stall, double in, double out,
          Level *level)
{
  static const struct
  {
    const char *words;
    Level level;
  } states[] = {
    [SL_WORKER_STARTING] = { "starting", LEVEL_WARNING },
    [SL_WORKER_STOPPING] = { "stopping", LEVEL_WARNING },
    [SL_WORKER_WAITING] = { "failed: it starts again soon", LEVEL_BAD },
    [SL_WORKER_ENDED] = { "at its end", LEVEL_GOOD },
    [SL_WORKER_FAILED] = { "failed: it is not started again", LEVEL_BAD },
  };
  if (pipeline->state == SL_WORKER_RUNNING)
    return running_words (pipeline, age, stall, in, out, level);
  *level = states[pipeline->state].level;
  return g_strdup (states[pipeline->state].words);
}

/* Those of @all that are about the pipeline @name, or about all. Returns TRUE without any. */
static gboolean
append_reasons (GString *json, const GPtrArray *all, const SlReport *report, const char *name)
{
  gboolean good = TRUE;
  g_string_append (json, ",\"reasons\":[");
  for (guint i = 0; i < all->len; i++) {
    const char *reason = all->pdata[i];
    const gsize length = strlen (name);
    const gboolean own =
      strncmp (reason, name, length) == 0 && strncmp (reason + length, ": ", 2) == 0;
    if (!own && !g_str_has_prefix (reason, "the supervisor"))
      continue;
    append_comma (json);
    sl_json_append_string (json, own ? reason + length + 2 : reason);
    good = FALSE;
  }
  g_string_append_c (json, ']');
  return good;
}

static void
append_latency (GString *json, const SlFigures *figures)
{
  g_string_append (json, ",\"latency_ms\":");
  if (!figures->timed) {
    g_string_append (json, "null");
    return;
  }
  g_string_append_c (json, '{');
  sl_json_append_number (json, "p50", (double) figures->p50[SL_STAGE_AGE] / 1000, 6);
  sl_json_append_number (json, "p95", (double) figures->p95[SL_STAGE_AGE] / 1000, 6);
  g_string_append_c (json, '}');
}

static void
append_region (GString *json, const GstStructure *region, SlTodayCount today)
{
  const gboolean line = strcmp (gst_structure_get_name (region), "line") == 0;
  guint inside = 0;
  gst_structure_get_uint (region, "inside", &inside);
  append_comma (json);
  g_string_append_c (json, '{');
  sl_json_append_text (json, "kind", gst_structure_get_name (region));
  sl_json_append_text (json, "name", gst_structure_get_string (region, "name"));
  sl_json_append_count (json, line ? "in" : "entered", today.entered);
  sl_json_append_count (json, line ? "out" : "left", today.left);
  if (!line)
    sl_json_append_count (json, "inside", inside);
  g_string_append_c (json, '}');
}

static void
append_today (GString *json, SlWatch *watch, const SlReportPipeline *pipeline, guint index)
{
  g_string_append (json, ",\"today\":[");
  for (guint i = 0; i < pipeline->regions->len; i++) {
    const SlReportRegions *of = &g_array_index (pipeline->regions, SlReportRegions, i);
    for (guint r = 0; r < sl_report_list_length (of->counts, "regions"); r++) {
      const GstStructure *region = sl_report_list_item (of->counts, "regions", r);
      append_region (json, region, sl_watch_today (watch, index, of->name, region));
    }
  }
  g_string_append_c (json, ']');
}

static void
append_cameras (GString *json, const SlReportPipeline *pipeline)
{
  g_string_append (json, ",\"cameras\":[");
  for (guint i = 0; i < pipeline->cameras->len; i++) {
    const SlReportCamera *camera = &g_array_index (pipeline->cameras, SlReportCamera, i);
    append_comma (json);
    g_string_append_c (json, '{');
    sl_json_append_text (json, "name", camera->name);
    sl_json_append_text (json, "state", camera->state);
    g_string_append_c (json, '}');
  }
  g_string_append (json, "],\"models\":[");
  for (guint i = 0; i < pipeline->models->len; i++) {
    const SlReportModel *model = &g_array_index (pipeline->models, SlReportModel, i);
    append_comma (json);
    g_string_append_c (json, '{');
    sl_json_append_text (json, "element", model->name);
    sl_json_append_text (json, "model", model->model);
    sl_text_budget (json, model);
    g_string_append_c (json, '}');
  }
  g_string_append_c (json, ']');
}

static void
append_outputs (GString *json, const SlReportPipeline *pipeline)
{
  g_string_append (json, ",\"outputs\":[");
  for (guint i = 0; i < pipeline->outputs->len; i++) {
    const SlReportOutput *output = &g_array_index (pipeline->outputs, SlReportOutput, i);
    append_comma (json);
    g_string_append_c (json, '{');
    sl_json_append_text (json, "element", output->name);
    sl_json_append_count (json, "published", output->published);
    sl_json_append_count (json, "lost", output->lost);
    sl_json_append_boolean (json, "connected", output->connected);
    g_string_append_c (json, '}');
  }
  g_string_append (json, "],\"recorders\":[");
  for (guint i = 0; i < pipeline->recorders->len; i++) {
    const SlReportRecorder *recorder = &g_array_index (pipeline->recorders, SlReportRecorder, i);
    append_comma (json);
    g_string_append_c (json, '{');
    sl_json_append_text (json, "element", recorder->name);
    sl_json_append_count (json, "clips", recorder->clips);
    sl_json_append_count (json, "failed", recorder->failed);
    g_string_append_c (json, '}');
  }
  g_string_append_c (json, ']');
}

static void
append_pipeline (GString *json, SlApiCall *call, const SlReport *report, guint index,
                 const GPtrArray *reasons)
{
  const SlReportPipeline *pipeline = report->pipelines->pdata[index];
  const gint64 age = sl_report_age (report, pipeline);
  double in, out;
  Level level;
  sl_watch_rates (call->api->watch, index, &in, &out);
  g_autofree char *words = words_of (pipeline, age, call->api->settings->stall, in, out, &level);
  append_comma (json);
  g_string_append_c (json, '{');
  sl_json_append_text (json, "name", pipeline->name);
  sl_json_append_text (json, "state", sl_worker_state_name (pipeline->state));
  sl_json_append_text (json, "words", words);
  sl_json_append_text (json, "level", levels[level]);
  const gboolean healthy = append_reasons (json, reasons, report, pipeline->name);
  sl_json_append_boolean (json, "healthy", healthy);
  sl_json_append_number (json, "frames_per_second", out, 3);
  sl_json_append_key (json, "frame_age_ms");
  if (age >= 0)
    g_string_append_printf (json, "%" G_GINT64_FORMAT, age);
  else
    g_string_append (json, "null");
  append_latency (json, &pipeline->figures);
  sl_text_stages (json, &pipeline->figures);
  sl_json_append_count (json, "restarts", pipeline->restarts);
  sl_json_append_count (json, "recoveries", pipeline->totals.recoveries);
  sl_text_drops (json, "dropped", pipeline);
  append_today (json, call->api->watch, pipeline, index);
  sl_json_append_key (json, "last_event");
  sl_events_append_newest (sl_run_site_events (call->request.site), pipeline->name, json);
  append_cameras (json, pipeline);
  append_outputs (json, pipeline);
  sl_json_append_count (json, "width", pipeline->width);
  sl_json_append_count (json, "height", pipeline->height);
  sl_json_append_boolean (json, "editable", call->request.role >= SL_ROLE_CONFIGURE);
  g_string_append_c (json, '}');
}

static void
answer_pipelines (SlApiRequest *request)
{
  SlApiCall *call = (SlApiCall *) request;
  g_autoptr (SlReport) report = sl_run_site_get_report (request->site);
  g_autoptr (GPtrArray) reasons =
    sl_report_health (report, g_get_monotonic_time (), call->api->settings->stall);
  GString *json = g_string_new ("{\"time\":\"");
  sl_utc_append (json, g_get_real_time ());
  g_string_append (json, "\",\"process\":{");
  sl_text_process (json, report);
  g_string_append (json, "},\"pipelines\":[");
  for (guint i = 0; i < report->pipelines->len; i++)
    append_pipeline (json, call, report, i, reasons);
  g_string_append (json, "]}");
  sl_api_json (request, SOUP_STATUS_OK, json);
}

static void
answer_snapshot (SlApiRequest *request)
{
  guint drawn = 0, width = 0;
  SlChannel *channel = sl_api_channel (request);
  if (channel != NULL && sl_api_number (request, "boxes", 0, 1, &drawn)
      && sl_api_number (request, "width", 16, 8192, &width))
    sl_channel_snapshot (channel, request->message, drawn != 0, width);
}

static void
answer_stream (SlApiRequest *request)
{
  guint drawn = 0;
  SlChannel *channel = sl_api_channel (request);
  if (channel != NULL && sl_api_number (request, "boxes", 0, 1, &drawn))
    sl_run_site_pictures (request->site, request->message, channel, drawn != 0);
}

static void
answer_predictions (SlApiRequest *request)
{
  SlChannel *channel = sl_api_channel (request);
  if (channel != NULL)
    sl_run_site_predictions (request->site, request->message, channel, TRUE);
}

static const char *const snapshot_keys[] = { "boxes", "width", NULL };
static const char *const stream_keys[] = { "boxes", NULL };

const SlApiRoute sl_api_pipelines_routes[] = {
  { "GET", "/api/v1/pipelines", SL_ROLE_LOOK, 0, answer_pipelines },
  { "GET", "/api/v1/pipelines/{name}/snapshot.jpg", SL_ROLE_LOOK, 0, answer_snapshot,
    snapshot_keys },
  { "GET", "/api/v1/pipelines/{name}/stream.mjpg", SL_ROLE_LOOK, 0, answer_stream, stream_keys },
  { "GET", "/api/v1/pipelines/{name}/predictions", SL_ROLE_LOOK, 0, answer_predictions },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};
