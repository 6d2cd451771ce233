/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline run --stats`. Rates are those since the figures were shown last.
 */
#include "tools/run/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/show.h"
#include "base/json.h"
#include "tools/run/log.h"

#define TERMINAL_INTERVAL G_USEC_PER_SEC
#define LINES_INTERVAL (10 * G_USEC_PER_SEC)

typedef struct
{
  SlFlow *flow; /* (transfer none): that the counts are of, never followed */
  SlFlowCounts counts;
} Before;

struct _SlStats
{
  GPtrArray *workers;
  Before *before; /* one a worker */
  gint64 started, shown;
  double cpu;
  gboolean terminal;
  guint lines; /* of the table on the terminal */
};

static const char *const stage_names[SL_N_STAGES] = { "preprocess", "inference", "decode", "age" };

typedef struct
{
  double fps_in, fps_out;
  guint64 dropped;
  gboolean timed;
  gint64 p50[SL_N_STAGES], p95[SL_N_STAGES];
} Figures;

/* Processor time and memory of this process. @cpu: seconds so far; @rss: bytes; FALSE where /proc does not tell. */
static gboolean
read_process (double *cpu, guint64 *rss, guint *threads)
{
  struct rusage usage;
  g_autofree char *text = NULL;
  *cpu = 0;
  if (getrusage (RUSAGE_SELF, &usage) == 0)
    *cpu = (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  if (!g_file_get_contents ("/proc/self/status", &text, NULL, NULL))
    return FALSE;
  const char *memory = strstr (text, "\nVmRSS:"), *count = strstr (text, "\nThreads:");
  if (memory == NULL || count == NULL)
    return FALSE;
  *rss = g_ascii_strtoull (memory + strlen ("\nVmRSS:"), NULL, 10) * 1024;
  *threads = (guint) g_ascii_strtoull (count + strlen ("\nThreads:"), NULL, 10);
  return TRUE;
}

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
  guint64 rss;
  guint threads;
  stats->workers = workers;
  stats->before = g_new0 (Before, workers->len);
  stats->started = stats->shown = g_get_monotonic_time ();
  stats->terminal = !sl_run_log_json () && isatty (STDERR_FILENO);
  read_process (&stats->cpu, &rss, &threads);
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
measure (SlWorker *worker, Before *before, double seconds, Figures *figures)
{
  SlFlow *flow = sl_worker_flow (worker);
  memset (figures, 0, sizeof *figures);
  if (flow == NULL || flow != before->flow)
    memset (before, 0, sizeof *before);
  if (flow == NULL)
    return;
  SlFlowCounts now;
  sl_flow_counts (flow, &now);
  figures->fps_in = (double) (now.in - before->counts.in) / seconds;
  figures->fps_out = (double) (now.out - before->counts.out) / seconds;
  figures->dropped = now.dropped;
  *before = (Before){ flow, now };
  for (guint s = 0; s < SL_N_STAGES; s++)
    figures->timed = sl_flow_latency (flow, (SlStage) s, &figures->p50[s], &figures->p95[s]);
}

static void
append_json_stages (GString *out, const gint64 *p50, const gint64 *p95)
{
  for (guint s = 0; s < SL_N_STAGES; s++)
    g_string_append_printf (out, ",\"%s_us\":{\"p50\":%" G_GINT64_FORMAT ",\"p95\":%" G_GINT64_FORMAT "}", stage_names[s], p50[s], p95[s]);
}

static void
append_json (GString *out, SlWorker *worker, const Figures *figures)
{
  g_string_append (out, out->str[out->len - 1] == '[' ? "{\"name\":" : ",{\"name\":");
  sl_json_append_string (out, sl_worker_name (worker));
  g_string_append_printf (out, ",\"state\":\"%s\",\"restarts\":%u,\"fps_in\":%.2f,\"fps_out\":%.2f,\"dropped\":%" G_GUINT64_FORMAT,
                          sl_worker_state_name (sl_worker_state (worker)), sl_worker_restarts (worker), figures->fps_in, figures->fps_out,
                          figures->dropped);
  if (figures->timed)
    append_json_stages (out, figures->p50, figures->p95);
  g_string_append_c (out, '}');
}

static void
append_row (GString *out, SlWorker *worker, const Figures *figures)
{
  g_autofree char *name = sl_show (sl_worker_name (worker), 16);
  g_string_append_printf (out, "%-16s %-8s %7.1f %7.1f %8" G_GUINT64_FORMAT, name, sl_worker_state_name (sl_worker_state (worker)),
                          figures->fps_in, figures->fps_out, figures->dropped);
  for (guint s = 0; s < SL_N_STAGES; s++)
    if (figures->timed)
      g_string_append_printf (out, "  %5.1f %5.1f", (double) figures->p50[s] / 1000, (double) figures->p95[s] / 1000);
    else
      g_string_append (out, "      -     -");
  g_string_append_printf (out, " %8u\n", sl_worker_restarts (worker));
}

static void
append_heading (GString *out)
{
  g_string_append_printf (out, "%-16s %-8s %7s %7s %8s", "pipeline", "state", "fps in", "fps out", "dropped");
  for (guint s = 0; s < SL_N_STAGES; s++)
    g_string_append_printf (out, "  %11s", stage_names[s]);
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
  double cpu = 0;
  guint64 rss = 0;
  guint threads = 0, lines = 0;
  if (!json)
    append_heading (out);
  for (guint i = 0; i < stats->workers->len; i++) {
    Figures figures;
    measure (stats->workers->pdata[i], &stats->before[i], seconds, &figures);
    if (json)
      append_json (out, stats->workers->pdata[i], &figures);
    else
      append_row (out, stats->workers->pdata[i], &figures);
  }
  read_process (&cpu, &rss, &threads);
  const double percent = 100 * (cpu - stats->cpu) / seconds;
  stats->cpu = cpu;
  g_string_append_printf (out,
                          json ? "],\"cpu_percent\":%.1f,\"rss_mib\":%.1f,\"threads\":%u}\n" : "CPU %.1f %%, memory %.1f MiB, %u threads\n",
                          percent, (double) rss / (1 << 20), threads);
  sl_run_log_raw (out->str);
  for (const char *c = out->str; *c != '\0'; c++)
    lines += *c == '\n';
  stats->lines = stats->terminal ? lines : 0;
}

void
sl_stats_tick (SlStats *stats)
{
  const gint64 now = g_get_monotonic_time ();
  const gint64 interval = stats->terminal || sl_run_log_json () ? TERMINAL_INTERVAL : LINES_INTERVAL;
  if (now - stats->shown < interval)
    return;
  show (stats, (double) (now - stats->shown) / G_USEC_PER_SEC);
  stats->shown = now;
}

/* Frames a second between a worker's first and last frames. */
static double
mean_rate (const SlWorkerTotals *totals)
{
  return totals->running > 0 ? (double) totals->counts.out * G_USEC_PER_SEC / (double) totals->running : 0;
}

static void
append_summary_json (GString *out, SlWorker *worker, const SlWorkerTotals *totals)
{
  g_string_append (out, out->str[out->len - 1] == '[' ? "{\"name\":" : ",{\"name\":");
  sl_json_append_string (out, sl_worker_name (worker));
  g_string_append_printf (out,
                          ",\"state\":\"%s\",\"restarts\":%u,\"recoveries\":%u,\"running_seconds\":%.1f,\"frames_in\":%" G_GUINT64_FORMAT
                          ",\"frames_out\":%" G_GUINT64_FORMAT ",\"predictions\":%" G_GUINT64_FORMAT ",\"dropped\":%" G_GUINT64_FORMAT
                          ",\"fps_out\":%.2f",
                          sl_worker_state_name (sl_worker_state (worker)), sl_worker_restarts (worker), totals->recoveries,
                          (double) totals->running / G_USEC_PER_SEC, totals->counts.in, totals->counts.out, totals->counts.predictions,
                          totals->counts.dropped, mean_rate (totals));
  if (totals->timed)
    append_json_stages (out, totals->p50, totals->p95);
  g_string_append_c (out, '}');
}

static void
append_summary_row (GString *out, SlWorker *worker, const SlWorkerTotals *totals)
{
  g_string_append_printf (
    out, "%-16.16s %-8s %9.1f %10" G_GUINT64_FORMAT " %10" G_GUINT64_FORMAT " %11" G_GUINT64_FORMAT " %8" G_GUINT64_FORMAT " %7.1f",
    sl_worker_name (worker), sl_worker_state_name (sl_worker_state (worker)), (double) totals->running / G_USEC_PER_SEC, totals->counts.in,
    totals->counts.out, totals->counts.predictions, totals->counts.dropped, mean_rate (totals));
  if (totals->timed)
    g_string_append_printf (out, "  %5.1f %5.1f", (double) totals->p50[SL_STAGE_AGE] / 1000, (double) totals->p95[SL_STAGE_AGE] / 1000);
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
  double cpu;
  guint64 rss;
  guint threads;
  if (json)
    g_string_append_printf (out, "{\"event\":\"summary\",\"seconds\":%.1f,\"pipelines\":[", seconds);
  else
    g_string_append_printf (out, "%-16s %-8s %9s %10s %10s %11s %8s %7s  %11s %8s %6s\n", "summary", "state", "seconds", "frames in",
                            "frames out", "predictions", "dropped", "fps out", "age p50 p95", "restarts", "back");
  for (guint i = 0; i < stats->workers->len; i++) {
    SlWorkerTotals totals;
    sl_worker_totals (stats->workers->pdata[i], &totals);
    if (json)
      append_summary_json (out, stats->workers->pdata[i], &totals);
    else
      append_summary_row (out, stats->workers->pdata[i], &totals);
  }
  read_process (&cpu, &rss, &threads);
  getrusage (RUSAGE_SELF, &usage);
  const double peak = (double) usage.ru_maxrss / 1024;
  if (json)
    g_string_append_printf (out, "],\"cpu_seconds\":%.3f,\"rss_peak_mib\":%.1f}\n", cpu, peak);
  else
    g_string_append_printf (out, "%.1f s, CPU %.1f s, memory %.1f MiB at most\n", seconds, cpu, peak);
  sl_run_log_raw (out->str);
  stats->lines = 0;
}
