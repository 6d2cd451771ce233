/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports as JSON, and in Prometheus's text format. */
#include "core/base/json.h"
#include "config.h"
#include "tools/run/http/exposition.h"
#include "tools/serve/report.h"

/* Milliseconds; -1, unknown, is null. */
static void
append_age (GString *out, const char *key, gint64 us)
{
  sl_json_append_key (out, key);
  if (us < 0)
    g_string_append (out, "null");
  else
    sl_json_append_double (out, (gdouble) us / 1000, 6);
}

static gboolean
append_health (GString *out, const SlServeReport *report)
{
  g_autoptr (GPtrArray) reasons = sl_serve_report_health (report, g_get_monotonic_time ());
  g_string_append_c (out, '{');
  sl_json_append_boolean (out, "ok", reasons->len == 0);
  g_string_append (out, ",\"reasons\":[");
  for (guint i = 0; i < reasons->len; i++) {
    if (i > 0)
      g_string_append_c (out, ',');
    sl_json_append_string (out, reasons->pdata[i]);
  }
  g_string_append (out, "]}");
  return reasons->len == 0;
}

gboolean
sl_serve_text_health (GString *out, const SlServeReport *report)
{
  const gboolean good = append_health (out, report);
  g_string_append_c (out, '\n');
  return good;
}

static void
append_model (GString *out, const SlServeModel *model)
{
  g_string_append_c (out, '{');
  sl_json_append_text (out, "name", model->name);
  sl_json_append_text (out, "file", model->file);
  sl_json_append_text (out, "hash", model->hash);
  sl_json_append_number (out, "rate", model->rate, 6);
  sl_json_append_count (out, "clients", model->clients);
  sl_json_append_count (out, "waiting", model->figures.waiting);
  sl_json_append_count (out, "answered", model->figures.answered);
  sl_json_append_count (out, "refused", model->figures.refused);
  sl_json_append_count (out, "stale", model->figures.stale);
  sl_json_append_count (out, "batch", model->batch);
  sl_json_append_count (out, "batches", model->figures.batches);
  sl_json_append_count (out, "batched", model->figures.batched);
  append_age (out, "age_p50_ms", model->p50);
  append_age (out, "age_p95_ms", model->p95);
  g_string_append_c (out, '}');
}

void
sl_serve_text_status (GString *out, const SlServeReport *report)
{
  sl_json_append_text (out, "version", SL_VERSION);
  sl_json_append_text (out, "worker", report->name);
  sl_json_append_text (out, "broker", report->broker);
  sl_json_append_text (out, "state", sl_serve_state_name (report->state));
  sl_json_append_count (out, "uptime_seconds",
                        (guint64) MAX (g_get_real_time () / G_USEC_PER_SEC - report->started, 0));
  sl_json_append_number (out, "cpu_percent", report->cpu_percent, 6);
  sl_json_append_count (out, "rss_bytes", report->process.rss);
  sl_json_append_count (out, "threads", report->process.threads);
  sl_json_append_count (out, "waiting", report->waiting);
  sl_json_append_count (out, "jobs", report->jobs);
  sl_json_append_number (out, "busy", report->busy, 6);
  sl_json_append_key (out, "health");
  append_health (out, report);
  sl_json_append_key (out, "models");
  g_string_append_c (out, '[');
  for (guint i = 0; i < report->models->len; i++) {
    if (i > 0)
      g_string_append_c (out, ',');
    append_model (out, report->models->pdata[i]);
  }
  g_string_append_c (out, ']');
}

/* Metrics of a model: a number at a place in SlServeModel. */
static const struct
{
  const char *name, *type, *help;
  enum
  {
    COUNT,
    SMALL,
    NUMBER
  } kind;
  gsize offset;
} metrics[] = {
  { "sightline_serve_answered_total", "counter", "Requests that were computed and answered.", COUNT,
    G_STRUCT_OFFSET (SlServeModel, figures.answered) },
  { "sightline_serve_refused_total", "counter", "Requests that cannot be answered.", COUNT,
    G_STRUCT_OFFSET (SlServeModel, figures.refused) },
  { "sightline_serve_stale_total", "counter",
    "Requests that were given up before they were computed.", COUNT,
    G_STRUCT_OFFSET (SlServeModel, figures.stale) },
  { "sightline_serve_batches_total", "counter", "Runs of more than one request at once.", COUNT,
    G_STRUCT_OFFSET (SlServeModel, figures.batches) },
  { "sightline_serve_batched_total", "counter", "Requests in such runs.", COUNT,
    G_STRUCT_OFFSET (SlServeModel, figures.batched) },
  { "sightline_serve_waiting", "gauge", "Requests that wait.", SMALL,
    G_STRUCT_OFFSET (SlServeModel, figures.waiting) },
  { "sightline_serve_clients", "gauge", "Cameras that asked in the last minute.", SMALL,
    G_STRUCT_OFFSET (SlServeModel, clients) },
  { "sightline_serve_answers_per_second", "gauge", "Answers a second.", NUMBER,
    G_STRUCT_OFFSET (SlServeModel, rate) },
};

static void
begin (GString *out, const char *metric, const char *name, const char *value, ...)
{
  va_list none;
  va_start (none, value);
  sl_exposition_begin (out, metric, "", name, value, none);
  va_end (none);
}

static void
append_metric (GString *out, guint m, const SlServeModel *model)
{
  begin (out, metrics[m].name, "model", model->name, NULL);
  if (metrics[m].kind == COUNT)
    g_string_append_printf (out, "%" G_GUINT64_FORMAT,
                            G_STRUCT_MEMBER (guint64, model, metrics[m].offset));
  else if (metrics[m].kind == SMALL)
    g_string_append_printf (out, "%u", G_STRUCT_MEMBER (guint, model, metrics[m].offset));
  else
    sl_json_append_double (out, G_STRUCT_MEMBER (gdouble, model, metrics[m].offset), 9);
  g_string_append_c (out, '\n');
}

static void
append_stages (GString *out, const SlServeReport *report)
{
  static const char metric[] = "sightline_serve_seconds";
  sl_exposition_head (
    out, metric, "histogram",
    "Time of a request: until it was computed, that, and from its arrival to its answer.");
  for (guint i = 0; i < report->models->len; i++) {
    const SlServeModel *model = report->models->pdata[i];
    for (guint s = 0; s < SL_SERVE_N_STAGES; s++)
      sl_exposition_histogram (out, metric, "model", model->name,
                               sl_serve_stage_name ((SlServeStage) s),
                               &model->figures.histograms[s]);
  }
}

void
sl_serve_text_metrics (GString *out, const SlServeReport *report)
{
  sl_exposition_head (out, "sightline_serve_state", "gauge",
                      "1 for the state that the worker is in.");
  for (guint s = SL_SERVE_AWAY; s <= SL_SERVE_LEFT; s++) {
    begin (out, "sightline_serve_state", "state", sl_serve_state_name ((SlServeState) s), NULL);
    g_string_append_printf (out, "%d\n", report->state == (SlServeState) s);
  }
  sl_exposition_head (out, "sightline_serve_busy_ratio", "gauge",
                      "Share of the worker's threads that compute.");
  g_string_append (out, "sightline_serve_busy_ratio ");
  sl_json_append_double (out, report->busy, 6);
  g_string_append_c (out, '\n');
  for (guint m = 0; m < G_N_ELEMENTS (metrics); m++) {
    sl_exposition_head (out, metrics[m].name, metrics[m].type, metrics[m].help);
    for (guint i = 0; i < report->models->len; i++)
      append_metric (out, m, report->models->pdata[i]);
  }
  append_stages (out, report);
  sl_exposition_process (out, &report->process, report->started);
}
