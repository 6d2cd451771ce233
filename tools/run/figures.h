/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the frame counts and the costs of running pipelines, for the table of --stats and for
 * HTTP clients.
 */
#pragma once

#include "tools/run/worker.h"

/**
 * SlFigures: of a worker's pipeline that runs; all 0 while none does.
 * @fps_in, @fps_out: frames a second since the figures before
 * @timed: whether @p50 and @p95 are known: microseconds, of the last 512 frames
 */
typedef struct
{
  double fps_in, fps_out;
  guint64 dropped;
  gboolean timed;
  gint64 p50[SL_N_STAGES], p95[SL_N_STAGES];
} SlFigures;

/** SlFiguresBefore: what the rates of the next figures are since. All 0 at first. @serial: of the
 * flow that was counted, whose address another may have by now. */
typedef struct
{
  guint64 serial;
  SlFlowCounts counts;
} SlFiguresBefore;

/** sl_figures_read: @seconds: since @before was filled. */
void sl_figures_read (SlWorker *worker, SlFiguresBefore *before, double seconds,
                      SlFigures *figures);
/** sl_stage_name: "preprocess", "inference", "decode" or "age". */
const char *sl_stage_name (SlStage stage);
