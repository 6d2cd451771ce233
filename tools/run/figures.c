/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Figures of pipelines from their flow. */
#include "tools/run/figures.h"

#include <string.h>

static const char *const stage_names[SL_N_STAGES] = { "preprocess", "inference", "decode", "age" };

const char *
sl_stage_name (SlStage stage)
{
  return stage_names[stage];
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
