/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a worker did with the requests for one model. */
#pragma once

#include "tools/run/process.h"

/** What takes time of a request: from its arrival until it is computed, that, and both with the
 * answer's way out of the worker. */
typedef enum
{
  SL_SERVE_WAIT,
  SL_SERVE_COMPUTE,
  SL_SERVE_AGE,
  SL_SERVE_N_STAGES
} SlServeStage;

/** Ages that are remembered for percentiles. */
#define SL_SERVE_AGES 256
/** Seconds after its last request for which a client counts. */
#define SL_SERVE_CLIENT_S 60

/**
 * SlServeFigures:
 * @answered: requests that were computed and answered; @refused: that cannot be; @stale: whose
 * client had given them up before they were computed
 * @waiting: that wait now
 * @batches: runs of more than one request; @batched: requests in them
 * @clients: topics of answers, and when each asked last
 */
typedef struct
{
  guint64 answered, refused, stale, batches, batched;
  guint waiting;
  SlHistogram histograms[SL_SERVE_N_STAGES];
  gint64 ages[SL_SERVE_AGES];
  guint64 n_ages;
  GHashTable *clients;
} SlServeFigures;

void sl_serve_figures_init (SlServeFigures *figures);
void sl_serve_figures_clear (SlServeFigures *figures);
/** sl_serve_figures_asked: @client asked at @now, monotonic microseconds. */
void sl_serve_figures_asked (SlServeFigures *figures, const char *client, gint64 now);
/** sl_serve_figures_answered: a request that came at @arrived and was computed from @start to @end
 * is answered at @now. */
void sl_serve_figures_answered (SlServeFigures *figures, gint64 arrived, gint64 start, gint64 end,
                                gint64 now);
/** sl_serve_figures_clients: how many asked lately. */
guint sl_serve_figures_clients (SlServeFigures *figures, gint64 now);
/** sl_serve_figures_age: microseconds, the percentile @percent of the last ages; -1 before the
 * first. */
gint64 sl_serve_figures_age (const SlServeFigures *figures, guint percent);
/** sl_serve_stage_name: "wait", "compute" or "age". */
const char *sl_serve_stage_name (SlServeStage stage);
