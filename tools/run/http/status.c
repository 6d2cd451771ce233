/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports as JSON: /health and /pipelines. */
#include "core/base/json.h"
#include "config.h"
#include "tools/run/http/texts.h"

/* Behind a value a comma, behind an opening bracket nothing. */
static void
append_comma (GString *out)
{
  if (out->str[out->len - 1] != '[' && out->str[out->len - 1] != '{')
    g_string_append_c (out, ',');
}

/* A member with a list of objects: @append writes the members of each. */
static void
append_list (GString *out, const char *key, const GArray *items,
             void (*append) (GString *out, gconstpointer item))
{
  const gsize size = g_array_get_element_size ((GArray *) items);
  sl_json_append_key (out, key);
  g_string_append_c (out, '[');
  for (guint i = 0; i < items->len; i++) {
    append_comma (out);
    g_string_append_c (out, '{');
    append (out, items->data + i * size);
    g_string_append_c (out, '}');
  }
  g_string_append_c (out, ']');
}

/* -1, unknown, is null. */
static void
append_age (GString *out, const char *key, gint64 ms)
{
  if (ms >= 0) {
    sl_json_append_count (out, key, (guint64) ms);
    return;
  }
  sl_json_append_key (out, key);
  g_string_append (out, "null");
}

/* As members of the object that is open. Returns whether all is well. */
static gboolean
append_health (GString *out, const SlReport *report, guint stall)
{
  g_autoptr (GPtrArray) reasons = sl_report_health (report, g_get_monotonic_time (), stall);
  sl_json_append_boolean (out, "ok", reasons->len == 0);
  g_string_append (out, ",\"reasons\":[");
  for (guint i = 0; i < reasons->len; i++) {
    append_comma (out);
    sl_json_append_string (out, reasons->pdata[i]);
  }
  g_string_append_c (out, ']');
  return reasons->len == 0;
}

gboolean
sl_text_health (GString *out, const SlReport *report, guint stall)
{
  g_string_append_c (out, '{');
  const gboolean good = append_health (out, report, stall);
  g_string_append (out, ",\"pipelines\":[");
  for (guint i = 0; i < report->pipelines->len; i++) {
    const SlReportPipeline *pipeline = report->pipelines->pdata[i];
    append_comma (out);
    g_string_append_c (out, '{');
    sl_json_append_text (out, "name", pipeline->name);
    sl_json_append_text (out, "state", sl_worker_state_name (pipeline->state));
    append_age (out, "last_frame_age_ms", sl_report_age (report, pipeline));
    g_string_append_c (out, '}');
  }
  g_string_append (out, "]}\n");
  return good;
}

void
sl_text_stages (GString *out, const SlFigures *figures)
{
  append_comma (out);
  g_string_append (out, "\"stages\":{");
  for (guint s = 0; figures->timed && s < SL_N_STAGES; s++) {
    append_comma (out);
    g_string_append_printf (out, "\"%s\":{", sl_stage_name ((SlStage) s));
    sl_json_append_number (out, "p50_ms", (double) figures->p50[s] / 1000, 6);
    sl_json_append_number (out, "p95_ms", (double) figures->p95[s] / 1000, 6);
    g_string_append_c (out, '}');
  }
  g_string_append_c (out, '}');
}

static void
append_camera (GString *out, gconstpointer item)
{
  const SlReportCamera *camera = item;
  sl_json_append_text (out, "name", camera->name);
  sl_json_append_text (out, "uri", camera->uri);
  sl_json_append_text (out, "state", camera->state);
  append_age (out, "last_frame_age_ms", camera->age);
}

void
sl_text_budget (GString *out, const SlReportModel *model)
{
  const SlTurnFigures *figures = &model->figures;
  if (!model->budgeted)
    return;
  sl_json_append_number (out, "promised", figures->promised, 4);
  sl_json_append_number (out, "delivered", figures->delivered, 4);
  sl_json_append_number (out, "offered", figures->offered, 4);
  sl_json_append_count (out, "skipped", figures->skipped);
  sl_json_append_number (out, "cost_ms", (double) figures->cost / 1000, 6);
  sl_json_append_number (out, "waited_p50_ms", (double) figures->waited_p50 / 1000, 6);
  sl_json_append_number (out, "waited_p99_ms", (double) figures->waited_p99 / 1000, 6);
}

static void
append_model (GString *out, gconstpointer item)
{
  const SlReportModel *model = item;
  sl_json_append_text (out, "element", model->name);
  sl_json_append_text (out, "model", model->model);
  sl_text_budget (out, model);
}

static void
append_output (GString *out, gconstpointer item)
{
  const SlReportOutput *output = item;
  sl_json_append_text (out, "element", output->name);
  sl_json_append_text (out, "location", output->location);
  sl_json_append_count (out, "published", output->published);
  sl_json_append_count (out, "lost", output->lost);
  sl_json_append_boolean (out, "connected", output->connected);
}

static void
append_remote (GString *out, gconstpointer item)
{
  const SlReportRemote *remote = item;
  sl_json_append_text (out, "element", remote->name);
  sl_json_append_text (out, "location", remote->location);
  sl_json_append_count (out, "answered", remote->answered);
  sl_json_append_count (out, "lost", remote->lost);
  sl_json_append_count (out, "local", remote->local);
  sl_json_append_count (out, "workers", remote->workers);
  sl_json_append_count (out, "silence_ms", remote->silence);
  sl_json_append_boolean (out, "connected", remote->connected);
}

static void
append_region (GString *out, const char *element, const GstStructure *region)
{
  guint inside = 0;
  guint64 entered = 0, left = 0;
  gdouble longest = 0;
  gst_structure_get (region, "inside", G_TYPE_UINT, &inside, "entered", G_TYPE_UINT64, &entered,
                     "left", G_TYPE_UINT64, &left, "longest", G_TYPE_DOUBLE, &longest, NULL);
  append_comma (out);
  g_string_append_c (out, '{');
  sl_json_append_text (out, "element", element);
  sl_json_append_text (out, "kind", gst_structure_get_name (region));
  sl_json_append_text (out, "name", gst_structure_get_string (region, "name"));
  sl_json_append_count (out, "inside", inside);
  sl_json_append_count (out, "entered", entered);
  sl_json_append_count (out, "left", left);
  sl_json_append_number (out, "longest", longest, 6);
  g_string_append_c (out, '}');
}

static void
append_regions (GString *out, const GArray *regions)
{
  g_string_append (out, ",\"regions\":[");
  for (guint i = 0; i < regions->len; i++) {
    const SlReportRegions *of = &g_array_index (regions, SlReportRegions, i);
    for (guint r = 0; r < sl_report_list_length (of->counts, "regions"); r++)
      append_region (out, of->name, sl_report_list_item (of->counts, "regions", r));
  }
  g_string_append_c (out, ']');
}

void
sl_text_drops (GString *out, const char *key, const SlReportPipeline *pipeline)
{
  sl_json_append_key (out, key);
  g_string_append_c (out, '{');
  sl_json_append_count (out, "busy", pipeline->busy);
  sl_json_append_count (out, "damaged", pipeline->damaged);
  for (guint d = 0; d < SL_N_DROPS; d++)
    sl_json_append_count (out, sl_drop_name ((SlDrop) d), pipeline->drops[d]);
  g_string_append_c (out, '}');
}

static void
append_pipeline (GString *out, const SlReport *report, const SlReportPipeline *pipeline)
{
  append_comma (out);
  g_string_append_c (out, '{');
  sl_json_append_text (out, "name", pipeline->name);
  sl_json_append_text (out, "description", pipeline->description);
  sl_json_append_text (out, "state", sl_worker_state_name (pipeline->state));
  append_age (out, "last_frame_age_ms", sl_report_age (report, pipeline));
  sl_json_append_number (out, "fps_in", pipeline->figures.fps_in, 6);
  sl_json_append_number (out, "fps_out", pipeline->figures.fps_out, 6);
  sl_json_append_count (out, "frames_in", pipeline->totals.counts.in);
  sl_json_append_count (out, "frames_out", pipeline->totals.counts.out);
  sl_json_append_count (out, "predictions", pipeline->totals.counts.predictions);
  sl_json_append_count (out, "dropped", pipeline->totals.counts.dropped);
  sl_text_drops (out, "drops", pipeline);
  sl_json_append_count (out, "restarts", pipeline->restarts);
  sl_json_append_count (out, "recoveries", pipeline->totals.recoveries);
  sl_text_stages (out, &pipeline->figures);
  append_list (out, "cameras", pipeline->cameras, append_camera);
  append_list (out, "models", pipeline->models, append_model);
  append_list (out, "outputs", pipeline->outputs, append_output);
  append_list (out, "remotes", pipeline->remotes, append_remote);
  append_regions (out, pipeline->regions);
  g_string_append_c (out, '}');
}

void
sl_text_process (GString *out, const SlReport *report)
{
  sl_json_append_text (out, "version", SL_VERSION);
  sl_json_append_count (out, "uptime_seconds",
                        (guint64) MAX (g_get_real_time () / G_USEC_PER_SEC - report->started, 0));
  sl_json_append_number (out, "cpu_percent", report->cpu_percent, 6);
  sl_json_append_count (out, "rss_bytes", report->process.rss);
  sl_json_append_count (out, "threads", report->process.threads);
}

void
sl_text_pipelines (GString *out, const SlReport *report, guint stall, SlMessages *messages)
{
  g_string_append_c (out, '{');
  sl_text_process (out, report);
  append_comma (out);
  g_string_append (out, "\"health\":{");
  append_health (out, report, stall);
  g_string_append (out, "},\"pipelines\":[");
  for (guint i = 0; i < report->pipelines->len; i++)
    append_pipeline (out, report, report->pipelines->pdata[i]);
  g_string_append (out, "],\"messages\":");
  sl_messages_append_json (messages, SL_MESSAGES_SHOWN, out);
  g_string_append (out, "}\n");
}
