/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/bench/page.h"

#include "core/base/percentile.h"
#include "tools/html_chart.h"
#include "tools/html_page.h"
#include "tools/options.h"

#define BARS 30
/* Slower runs are beyond the charts: one of them would squeeze the others. */
#define SHOWN_PERCENT 98

GString *
sl_bench_page_new (const char *what)
{
  GString *page = sl_html_page_new ("sightline bench", 70);
  sl_html_append (page, "h1", what);
  return page;
}

static void
append_ms (GString *page, double ms)
{
  g_autofree char *text = g_strdup_printf ("%.3f", ms);
  sl_html_append (page, "td class=\"n\"", text);
}

static void
append_table (GString *page, const SlBenchTimes *times, guint n, guint runs)
{
  g_string_append (
    page, "<div class=\"scroll\"><table><tr class=\"head\"><th>ms</th><th class=\"n\">min</th><th "
          "class=\"n\">median</th><th class=\"n\">p95</th><th class=\"n\">max</th></tr>\n");
  for (guint i = 0; i < n; i++) {
    g_string_append (page, "<tr>");
    sl_html_append (page, "td", times[i].name);
    append_ms (page, times[i].ms[0]);
    append_ms (page, times[i].ms[sl_percentile_index (runs, 50)]);
    append_ms (page, times[i].ms[sl_percentile_index (runs, 95)]);
    append_ms (page, times[i].ms[runs - 1]);
    g_string_append (page, "</tr>\n");
  }
  g_string_append (page, "</table></div>\n");
}

/* The axis of times, from the fastest run of all to the slowest that is shown. */
static SlChart
axis_of (const SlBenchTimes *times, guint n, guint runs)
{
  SlChart chart = { .x_name = "ms", .x_min = times[0].ms[0], .x_max = 0 };
  for (guint i = 0; i < n; i++) {
    chart.x_min = MIN (chart.x_min, times[i].ms[0]);
    chart.x_max = MAX (chart.x_max, times[i].ms[sl_percentile_index (runs, SHOWN_PERCENT)]);
  }
  if (chart.x_max - chart.x_min < 1e-3)
    chart.x_max = chart.x_min + 1e-3;
  return chart;
}

static void
append_histogram (GString *page, const SlBenchTimes *times, guint runs)
{
  SlChart chart = axis_of (times, 1, runs);
  guint counts[BARS] = { 0 }, most = 0, beyond = 0;
  const double width = (chart.x_max - chart.x_min) / BARS;
  for (guint i = 0; i < runs; i++) {
    const double bar = (times->ms[i] - chart.x_min) / width;
    if (times->ms[i] <= chart.x_max)
      counts[MIN ((guint) bar, BARS - 1)]++;
    else
      beyond++;
  }
  for (guint i = 0; i < BARS; i++)
    most = MAX (most, counts[i]);
  g_autofree char *title = beyond > 0
                             ? g_strdup_printf ("Runs by time, %u slower ones left out", beyond)
                             : g_strdup ("Runs by time");
  chart.title = title;
  chart.y_name = "runs";
  chart.y_max = sl_chart_top (most);
  sl_chart_begin (page, &chart);
  for (guint i = 0; i < BARS; i++) {
    const double from = chart.x_min + i * width;
    g_autofree char *name =
      g_strdup_printf ("%u runs, %.3f to %.3f ms", counts[i], from, from + width);
    if (counts[i] > 0)
      sl_chart_bar (page, &chart, from, from + width, counts[i], name);
  }
  sl_chart_end (page);
}

static void
append_shares (GString *page, const SlBenchTimes *times, guint n, guint runs)
{
  SlChart chart = axis_of (times, n, runs);
  chart.title = "Share of runs that take no longer";
  chart.y_name = "share";
  chart.y_max = 1;
  sl_chart_begin (page, &chart);
  g_autofree SlChartPoint *points = g_new (SlChartPoint, runs);
  for (guint i = 0; i < n; i++) {
    guint shown = 0;
    for (guint k = 0; k < runs && times[i].ms[k] <= chart.x_max; k++)
      points[shown++] = (SlChartPoint){ times[i].ms[k], (k + 1.0) / runs };
    sl_chart_line (page, &chart, points, shown, i == 0 ? SL_CHART_MAIN : SL_CHART_GUIDE,
                   times[i].name);
  }
  for (guint i = 0; i < n; i++) {
    const double median = times[i].ms[sl_percentile_index (runs, 50)];
    g_autofree char *text = g_strdup_printf ("%s %.3f", times[i].name, median);
    sl_chart_dot (page, &chart, median, 0.5, text);
  }
  sl_chart_end (page);
}

void
sl_bench_page_add (GString *page, const char *title, const SlBenchTimes *times, guint n, guint runs)
{
  sl_html_append (page, "h2", title);
  append_table (page, times, n, runs);
  g_string_append (page, "<div class=\"charts\">\n");
  append_histogram (page, times, runs);
  append_shares (page, times, n, runs);
  g_string_append (page, "</div>\n");
}

gboolean
sl_bench_page_write (GString *page, const char *path, GError **error)
{
  sl_html_page_end (page);
  return sl_options_write_text ("--html", path, page, error);
}
