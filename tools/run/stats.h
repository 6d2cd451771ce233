/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What running pipelines do and cost: a table that is redrawn on a terminal, lines elsewhere. */
#pragma once

#include "tools/run/worker.h"

typedef struct _SlStats SlStats;

/** sl_stats_new: @workers: of SlWorker; must live as long. */
SlStats *sl_stats_new (GPtrArray *workers);
void sl_stats_free (SlStats *stats);
/** sl_stats_tick: shows when it is time: every second on a terminal and as JSON, every ten as
 * lines. */
void sl_stats_tick (SlStats *stats);
/** sl_stats_summary: shows what the run came to: frames in all, restarts, processor time, most
 * memory. */
void sl_stats_summary (SlStats *stats);
