/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Charts of the history, as JSON or as a table. */
#include <string.h>

#include "core/base/json.h"
#include "core/base/utc.h"
#include "tools/run/api/job.h"
#include "tools/run/events/charts.h"

/* Buckets of an answer if from is not set. */
#define USUAL 48
#define CSV "text/csv; charset=utf-8"

/* FALSE, having refused. */
static gboolean
read_query (SlApiRequest *request, SlApiJob *job, gint64 smallest, SlChartQuery *query)
{
  if (!sl_api_job_buckets (request, job, smallest))
    return FALSE;
  const gint64 width = job->buckets.width;
  query->pipeline = job->query.pipeline;
  query->buckets = &job->buckets;
  query->to = job->query.to > 0 ? job->query.to : g_get_real_time () + 1;
  query->from = job->query.from > 0
                  ? job->query.from
                  : sl_buckets_find (&job->buckets, query->to - 1 - (USUAL - 1) * width);
  if (query->to / width - query->from / width < SL_QUERY_BUCKETS_MOST)
    return TRUE;
  sl_api_job_refuse (
    job, SOUP_STATUS_BAD_REQUEST,
    "from and to are too far apart: expected at most %d buckets; state a later from, "
    "or bucket=day",
    SL_QUERY_BUCKETS_MOST);
  return FALSE;
}

/* The table is the answer, as a file. */
static void
finish_csv (SlApiJob *job, const char *name)
{
  job->type = CSV;
  job->name = name;
  job->bytes = g_string_free_to_bytes (g_steal_pointer (&job->json));
}

/* A text that a spreadsheet takes for a formula gets a quote before it. */
static void
append_cell (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  if (*text != '\0' && strchr ("=+-@\t\r", *text) != NULL)
    g_string_append_c (out, '\'');
  for (const char *c = text; *c != '\0'; c++) {
    if (*c == '"')
      g_string_append_c (out, '"');
    g_string_append_c (out, *c);
  }
  g_string_append_c (out, '"');
}

static void
append_number (GString *out, gdouble number)
{
  sl_json_append_double (out, number, 6);
}

static void
append_count_csv (GString *out, const SlChartCount *count)
{
  const gboolean zone = strcmp (count->kind, "zone") == 0;
  sl_utc_append (out, count->from);
  g_string_append_c (out, ',');
  append_cell (out, count->pipeline);
  g_string_append_printf (out, ",%s,", count->kind);
  append_cell (out, count->name);
  g_string_append_printf (out,
                          zone ? ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",,,%" G_GINT64_FORMAT
                               : ",,,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",",
                          count->entered, count->left, count->most);
  g_string_append_c (out, ',');
  if (count->dwells > 0)
    append_number (out, count->dwell / (gdouble) count->dwells);
  g_string_append (out, "\r\n");
}

static void
append_count_json (GString *json, const SlChartCount *count)
{
  const gboolean zone = strcmp (count->kind, "zone") == 0;
  g_string_append_c (json, '{');
  sl_json_append_text (json, "pipeline", count->pipeline);
  sl_json_append_text (json, "kind", count->kind);
  sl_json_append_text (json, "name", count->name);
  sl_json_append_count (json, zone ? "entered" : "in", (guint64) count->entered);
  sl_json_append_count (json, zone ? "left" : "out", (guint64) count->left);
  sl_json_append_text (json, zone ? "in" : "entered", NULL);
  sl_json_append_text (json, zone ? "out" : "left", NULL);
  if (zone)
    sl_json_append_count (json, "most", (guint64) count->most);
  else
    sl_json_append_text (json, "most", NULL);
  if (count->dwells > 0)
    sl_json_append_number (json, "mean_dwell", count->dwell / (gdouble) count->dwells, 6);
  else
    sl_json_append_text (json, "mean_dwell", NULL);
  g_string_append_c (json, '}');
}

/* The beginning of a bucket that is another than that of the item before; @before: its time */
static void
begin_bucket (GString *json, guint i, gint64 from, gint64 before, const char *list)
{
  if (i > 0 && from == before) {
    g_string_append_c (json, ',');
    return;
  }
  g_string_append (json, i > 0 ? "]},{" : "{");
  sl_api_append_time (json, "from", from);
  g_string_append_printf (json, ",\"%s\":[", list);
}

static void
counts (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  SlChartQuery query;
  g_autoptr (GError) error = NULL;
  if (!read_query (request, job, SL_BUCKET_MINUTE, &query))
    return;
  g_autoptr (GArray) all = sl_chart_counts (&query, job->stores, &error);
  if (all == NULL) {
    sl_api_job_fail (job, error);
    return;
  }
  GString *out = job->json;
  g_string_append (out, job->csv ? "from,pipeline,kind,name,entered,left,in,out,most,mean_dwell\r\n"
                                 : "{\"buckets\":[");
  for (guint i = 0; i < all->len; i++) {
    const SlChartCount *count = &g_array_index (all, SlChartCount, i);
    if (job->csv) {
      append_count_csv (out, count);
      continue;
    }
    begin_bucket (out, i, count->from, i > 0 ? count[-1].from : 0, "regions");
    append_count_json (out, count);
  }
  if (job->csv)
    finish_csv (job, "counts.csv");
  else
    g_string_append (out, all->len > 0 ? "]}]}" : "]}");
}

static void
append_limits (GString *out)
{
  g_string_append (out, "{\"limits\":[");
  for (guint i = 0; i < SL_HISTORY_DWELLS; i++)
    g_string_append_printf (out, "%s%u", i > 0 ? "," : "", sl_history_dwells[i]);
  g_string_append (out, "],\"regions\":[");
}

static void
append_dwells (GString *out, const SlChartDwells *dwells, gboolean csv)
{
  for (guint i = 0; csv && i <= SL_HISTORY_DWELLS; i++) {
    append_cell (out, dwells->pipeline);
    g_string_append_c (out, ',');
    append_cell (out, dwells->name);
    g_string_append_printf (out, ",%u,", i > 0 ? sl_history_dwells[i - 1] : 0);
    if (i < SL_HISTORY_DWELLS)
      g_string_append_printf (out, "%u", sl_history_dwells[i]);
    g_string_append_printf (out, ",%" G_GINT64_FORMAT "\r\n", dwells->n[i]);
  }
  if (csv)
    return;
  g_string_append_c (out, '{');
  sl_json_append_text (out, "pipeline", dwells->pipeline);
  sl_json_append_text (out, "name", dwells->name);
  sl_json_append_key (out, "counts");
  for (guint i = 0; i <= SL_HISTORY_DWELLS; i++)
    g_string_append_printf (out, "%c%" G_GINT64_FORMAT, i > 0 ? ',' : '[', dwells->n[i]);
  g_string_append (out, "]}");
}

static void
dwell (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  SlChartQuery query;
  g_autoptr (GError) error = NULL;
  if (!read_query (request, job, SL_BUCKET_HOUR, &query))
    return;
  g_autoptr (GArray) all = sl_chart_dwells (&query, job->stores, &error);
  if (all == NULL) {
    sl_api_job_fail (job, error);
    return;
  }
  if (job->csv)
    g_string_append (job->json, "pipeline,zone,from_seconds,to_seconds,objects\r\n");
  else
    append_limits (job->json);
  for (guint i = 0; i < all->len; i++) {
    g_string_append (job->json, !job->csv && i > 0 ? "," : "");
    append_dwells (job->json, &g_array_index (all, SlChartDwells, i), job->csv);
  }
  if (job->csv)
    finish_csv (job, "dwell.csv");
  else
    g_string_append (job->json, "]}");
}

static void
occupancy (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  SlChartQuery query;
  guint64 cells[SL_HISTORY_CELLS] = { 0 }, most = 0;
  g_autoptr (GError) error = NULL;
  if (!read_query (request, job, SL_BUCKET_HOUR, &query))
    return;
  if (!sl_chart_places (&query, job->stores, cells, &error)) {
    sl_api_job_fail (job, error);
    return;
  }
  for (guint i = 0; i < SL_HISTORY_CELLS; i++)
    most = MAX (most, cells[i]);
  if (!job->csv) {
    g_string_append_printf (job->json, "{\"width\":%d,\"height\":%d", SL_HISTORY_WIDTH,
                            SL_HISTORY_HEIGHT);
    sl_json_append_number (job->json, "most", (gdouble) most / 1000, 6);
    sl_json_append_key (job->json, "cells");
    g_string_append_c (job->json, '[');
  }
  for (guint i = 0; i < SL_HISTORY_CELLS; i++) {
    const gboolean row_begins = i % SL_HISTORY_WIDTH == 0;
    g_string_append (job->json, i == 0 ? "" : job->csv && row_begins ? "\r\n" : ",");
    append_number (job->json, (gdouble) cells[i] / 1000);
  }
  if (job->csv)
    finish_csv (job, "occupancy.csv");
  else
    g_string_append (job->json, "]}");
}

static void
append_ms (GString *out, gint64 us, const char *unknown)
{
  if (us > 0)
    append_number (out, (gdouble) us / 1000);
  else
    g_string_append (out, unknown);
}

static void
append_flow (GString *out, const SlChartFlow *flow, gboolean csv)
{
  if (csv) {
    sl_utc_append (out, flow->from);
    g_string_append_c (out, ',');
    append_cell (out, flow->pipeline);
  } else {
    g_string_append_c (out, '{');
    sl_api_append_time (out, "from", flow->from);
    sl_json_append_text (out, "pipeline", flow->pipeline);
  }
  g_string_append_printf (out,
                          csv ? ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT
                              : ",\"frames\":%" G_GINT64_FORMAT ",\"predictions\":%" G_GINT64_FORMAT
                                ",\"dropped\":%" G_GINT64_FORMAT,
                          flow->frames, flow->predictions, flow->dropped);
  g_string_append (out, csv ? "," : ",\"p50\":");
  append_ms (out, flow->p50, csv ? "" : "null");
  g_string_append (out, csv ? "," : ",\"p95\":");
  append_ms (out, flow->p95, csv ? "" : "null");
  g_string_append (out, csv ? "\r\n" : "}");
}

static void
latency (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  SlChartQuery query;
  g_autoptr (GError) error = NULL;
  if (!read_query (request, job, SL_BUCKET_MINUTE, &query))
    return;
  g_autoptr (GArray) all = sl_chart_flow (&query, job->stores, &error);
  if (all == NULL) {
    sl_api_job_fail (job, error);
    return;
  }
  g_string_append (job->json, job->csv
                                ? "from,pipeline,frames,predictions,dropped,p50_ms,p95_ms\r\n"
                                : "{\"buckets\":[");
  for (guint i = 0; i < all->len; i++) {
    g_string_append (job->json, !job->csv && i > 0 ? "," : "");
    append_flow (job->json, &g_array_index (all, SlChartFlow, i), job->csv);
  }
  if (job->csv)
    finish_csv (job, "latency.csv");
  else
    g_string_append (job->json, "]}");
}

static void
answer_counts (SlApiRequest *request)
{
  sl_api_job_answer (request, counts);
}

static void
answer_dwell (SlApiRequest *request)
{
  sl_api_job_answer (request, dwell);
}

static void
answer_occupancy (SlApiRequest *request)
{
  sl_api_job_answer (request, occupancy);
}

static void
answer_latency (SlApiRequest *request)
{
  sl_api_job_answer (request, latency);
}

static const char *const keys[] = { "pipeline", "from", "to", "bucket", "zone", "format", NULL };

const SlApiRoute sl_api_charts_routes[] = {
  { "GET", "/api/v1/charts/counts", SL_ROLE_LOOK, 0, answer_counts, keys },
  { "GET", "/api/v1/charts/dwell", SL_ROLE_LOOK, 0, answer_dwell, keys },
  { "GET", "/api/v1/charts/occupancy", SL_ROLE_LOOK, 0, answer_occupancy, keys },
  { "GET", "/api/v1/charts/latency", SL_ROLE_LOOK, 0, answer_latency, keys },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};
