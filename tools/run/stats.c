/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline run --stats`. Rates are those since the figures were shown last. */
#include "tools/run/stats.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/json.h"
#include "core/base/printable.h"
#include "tools/run/figures.h"
#include "tools/run/log.h"

#define TERMINAL_INTERVAL G_USEC_PER_SEC
#define LINES_INTERVAL (10 * G_USEC_PER_SEC)

struct _SlStats
{
  GPtrArray *workers;
  SlFiguresBefore *before; /* one a worker */
  gint64 started, shown;
  double cpu;
  gboolean terminal;
  guint lines; /* of the table on the terminal */
};

/* Takes the table off the terminal, so that a log line or the next table can take its place. */
static void
erase (gpointer data)
{
  SlStats *stats = data;
  if (stats->lines > 0)
    fprintf (stderr, "\033[%uA\033[J", stats->lines);
  stats->lines = 0;
}

SlStats *
sl_stats_new (GPtrArray *workers)
{
  SlStats *stats = g_new0 (SlStats, 1);
  SlProcessFigures process;
  stats->workers = workers;
  stats->before = g_new0 (SlFiguresBefore, workers->len);
  stats->started = stats->shown = g_get_monotonic_time ();
  stats->terminal = !sl_run_log_json () && isatty (STDERR_FILENO);
  sl_process_figures_read (&process);
  stats->cpu = process.cpu;
  if (stats->terminal)
    sl_run_log_set_before (erase, stats);
  return stats;
}

void
sl_stats_free (SlStats *stats)
{
  if (stats == NULL)
    return;
  sl_run_log_set_before (NULL, NULL);
  g_free (stats->before);
  g_free (stats);
}

static void
append_json_stages (GString *out, const gint64 *p50, const gint64 *p95)
{
  for (guint s = 0; s < SL_N_STAGES; s++)
    g_string_append_printf (
      out, ",\"%s_us\":{\"p50\":%" G_GINT64_FORMAT ",\"p95\":%" G_GINT64_FORMAT "}",
      sl_stage_name ((SlStage) s), p50[s], p95[s]);
}

static void
append_json (GString *out, SlWorker *worker, const SlFigures *figures)
{
  g_string_append (out, out->str[out->len - 1] == '[' ? "{\"name\":" : ",{\"name\":");
  sl_json_append_string (out, sl_worker_name (worker));
  g_string_append_printf (out,
                          ",\"state\":\"%s\",\"restarts\":%u,\"fps_in\":%.2f,\"fps_out\":%.2f,"
                          "\"dropped\":%" G_GUINT64_FORMAT,
                          sl_worker_state_name (sl_worker_state (worker)),
                          sl_worker_restarts (worker), figures->fps_in, figures->fps_out,
                          figures->dropped);
  if (figures->timed)
    append_json_stages (out, figures->p50, figures->p95);
  g_string_append_c (out, '}');
}

static void
append_row (GString *out, SlWorker *worker, const SlFigures *figures)
{
  g_autofree char *name = sl_printable (sl_worker_name (worker), 16);
  g_string_append_printf (out, "%-16s %-8s %7.1f %7.1f %8" G_GUINT64_FORMAT, name,
                          sl_worker_state_name (sl_worker_state (worker)), figures->fps_in,
                          figures->fps_out, figures->dropped);
  for (guint s = 0; s < SL_N_STAGES; s++)
    if (figures->timed)
      g_string_append_printf (out, "  %5.1f %5.1f", (double) figures->p50[s] / 1000,
                              (double) figures->p95[s] / 1000);
    else
      g_string_append (out, "      -     -");
  g_string_append_printf (out, " %8u\n", sl_worker_restarts (worker));
}

static void
append_heading (GString *out)
{
  g_string_append_printf (out, "%-16s %-8s %7s %7s %8s", "pipeline", "state", "fps in", "fps out",
                          "dropped");
  for (guint s = 0; s < SL_N_STAGES; s++)
    g_string_append_printf (out, "  %11s", sl_stage_name ((SlStage) s));
  g_string_append (out, " restarts\n");
  g_string_append_printf (out, "%-50s", "");
  for (guint s = 0; s < SL_N_STAGES; s++)
    g_string_append (out, "  p50   p95 ms");
  g_string_append_c (out, '\n');
}

static void
show (SlStats *stats, double seconds)
{
  const gboolean json = sl_run_log_json ();
  g_autoptr (GString) out = g_string_new (json ? "{\"event\":\"stats\",\"pipelines\":[" : NULL);
  SlProcessFigures process;
  guint lines = 0;
  if (!json)
    append_heading (out);
  for (guint i = 0; i < stats->workers->len; i++) {
    SlFigures figures;
    sl_figures_read (stats->workers->pdata[i], &stats->before[i], seconds, &figures);
    if (json)
      append_json (out, stats->workers->pdata[i], &figures);
    else
      append_row (out, stats->workers->pdata[i], &figures);
  }
  sl_process_figures_read (&process);
  const double percent = 100 * (process.cpu - stats->cpu) / seconds;
  stats->cpu = process.cpu;
  g_string_append_printf (out,
                          json ? "],\"cpu_percent\":%.1f,\"rss_mib\":%.1f,\"threads\":%u}\n"
                               : "CPU %.1f %%, memory %.1f MiB, %u threads\n",
                          percent, (double) process.rss / (1 << 20), process.threads);
  sl_run_log_raw (out->str);
  for (const char *c = out->str; *c != '\0'; c++)
    lines += *c == '\n';
  stats->lines = stats->terminal ? lines : 0;
}

void
sl_stats_tick (SlStats *stats)
{
  const gint64 now = g_get_monotonic_time ();
  const gint64 interval =
    stats->terminal || sl_run_log_json () ? TERMINAL_INTERVAL : LINES_INTERVAL;
  if (now - stats->shown < interval)
    return;
  show (stats, (double) (now - stats->shown) / G_USEC_PER_SEC);
  stats->shown = now;
}

/* Frames a second between a worker's first and last frames. */
static double
mean_rate (const SlWorkerTotals *totals)
{
  return totals->running > 0
           ? (double) totals->counts.out * G_USEC_PER_SEC / (double) totals->running
           : 0;
}

static void
append_summary_json (GString *out, SlWorker *worker, const SlWorkerTotals *totals)
{
  g_string_append (out, out->str[out->len - 1] == '[' ? "{\"name\":" : ",{\"name\":");
  sl_json_append_string (out, sl_worker_name (worker));
  g_string_append_printf (
    out,
    ",\"state\":\"%s\",\"restarts\":%u,\"recoveries\":%u,\"running_seconds\":%.1f,"
    "\"frames_in\":%" G_GUINT64_FORMAT ",\"frames_out\":%" G_GUINT64_FORMAT
    ",\"predictions\":%" G_GUINT64_FORMAT ",\"dropped\":%" G_GUINT64_FORMAT ",\"fps_out\":%.2f",
    sl_worker_state_name (sl_worker_state (worker)), sl_worker_restarts (worker),
    totals->recoveries, (double) totals->running / G_USEC_PER_SEC, totals->counts.in,
    totals->counts.out, totals->counts.predictions, totals->counts.dropped, mean_rate (totals));
  if (totals->timed)
    append_json_stages (out, totals->p50, totals->p95);
  g_string_append_c (out, '}');
}

static void
append_summary_row (GString *out, SlWorker *worker, const SlWorkerTotals *totals)
{
  g_string_append_printf (out,
                          "%-16.16s %-8s %9.1f %10" G_GUINT64_FORMAT " %10" G_GUINT64_FORMAT
                          " %11" G_GUINT64_FORMAT " %8" G_GUINT64_FORMAT " %7.1f",
                          sl_worker_name (worker), sl_worker_state_name (sl_worker_state (worker)),
                          (double) totals->running / G_USEC_PER_SEC, totals->counts.in,
                          totals->counts.out, totals->counts.predictions, totals->counts.dropped,
                          mean_rate (totals));
  if (totals->timed)
    g_string_append_printf (out, "  %5.1f %5.1f", (double) totals->p50[SL_STAGE_AGE] / 1000,
                            (double) totals->p95[SL_STAGE_AGE] / 1000);
  else
    g_string_append (out, "      -     -");
  g_string_append_printf (out, " %8u %6u\n", sl_worker_restarts (worker), totals->recoveries);
}

void
sl_stats_summary (SlStats *stats)
{
  const gboolean json = sl_run_log_json ();
  const double seconds = (double) (g_get_monotonic_time () - stats->started) / G_USEC_PER_SEC;
  g_autoptr (GString) out = g_string_new (NULL);
  struct rusage usage = { 0 };
  SlProcessFigures process;
  if (json)
    g_string_append_printf (out, "{\"event\":\"summary\",\"seconds\":%.1f,\"pipelines\":[",
                            seconds);
  else
    g_string_append_printf (out, "%-16s %-8s %9s %10s %10s %11s %8s %7s  %11s %8s %6s\n", "summary",
                            "state", "seconds", "frames in", "frames out", "predictions", "dropped",
                            "fps out", "age p50 p95", "restarts", "back");
  for (guint i = 0; i < stats->workers->len; i++) {
    SlWorkerTotals totals;
    sl_worker_totals (stats->workers->pdata[i], &totals);
    if (json)
      append_summary_json (out, stats->workers->pdata[i], &totals);
    else
      append_summary_row (out, stats->workers->pdata[i], &totals);
  }
  sl_process_figures_read (&process);
  getrusage (RUSAGE_SELF, &usage);
  const double peak = (double) usage.ru_maxrss / 1024;
  if (json)
    g_string_append_printf (out, "],\"cpu_seconds\":%.3f,\"rss_peak_mib\":%.1f}\n", process.cpu,
                            peak);
  else
    g_string_append_printf (out, "%.1f s, CPU %.1f s, memory %.1f MiB at most\n", seconds,
                            process.cpu, peak);
  sl_run_log_raw (out->str);
  stats->lines = 0;
}
