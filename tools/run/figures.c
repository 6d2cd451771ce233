/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Figures of the process from getrusage() and /proc, figures of pipelines from their flow. */
#include "tools/run/figures.h"

#include <string.h>
#include <sys/resource.h>

static const char *const stage_names[SL_N_STAGES] = { "preprocess", "inference", "decode", "age" };

const char *
sl_stage_name (SlStage stage)
{
  return stage_names[stage];
}

static guint64
status_number (const char *text, const char *key)
{
  const char *line = strstr (text, key);
  return line != NULL ? g_ascii_strtoull (line + strlen (key), NULL, 10) : 0;
}

void
sl_process_figures_read (SlProcessFigures *figures)
{
  struct rusage usage;
  g_autofree char *text = NULL;
  *figures = (SlProcessFigures){ 0 };
  if (getrusage (RUSAGE_SELF, &usage) == 0)
    figures->cpu =
      (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  if (!g_file_get_contents ("/proc/self/status", &text, NULL, NULL))
    return;
  figures->rss = status_number (text, "\nVmRSS:") * 1024;
  figures->threads = (guint) status_number (text, "\nThreads:");
}

static double
rate (guint64 now, guint64 before, double seconds)
{
  return now > before ? (double) (now - before) / seconds : 0;
}

void
sl_figures_read (SlWorker *worker, SlFiguresBefore *before, double seconds, SlFigures *figures)
{
  SlFlow *flow = sl_worker_flow (worker);
  memset (figures, 0, sizeof *figures);
  if (flow == NULL || sl_flow_serial (flow) != before->serial)
    memset (before, 0, sizeof *before);
  if (flow == NULL)
    return;
  SlFlowCounts now;
  sl_flow_counts (flow, &now);
  figures->fps_in = rate (now.in, before->counts.in, seconds);
  figures->fps_out = rate (now.out, before->counts.out, seconds);
  figures->dropped = now.dropped;
  *before = (SlFiguresBefore){ sl_flow_serial (flow), now };
  for (guint s = 0; s < SL_N_STAGES; s++)
    figures->timed = sl_flow_latency (flow, (SlStage) s, &figures->p50[s], &figures->p95[s]);
}
