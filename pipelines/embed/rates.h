/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rate and the age of the last predictions of a running pipeline. The owner holds a lock. */
#pragma once

#include <glib.h>

/** Predictions looked back at. */
#define SL_PIPELINE_STATS_WINDOW 512

/**
 * SlPipelineStats:
 * @total: predictions since the start
 * @times: monotonic us at which the last ones came
 * @ages: us from their frames' arrival, -1 = unknown
 */
typedef struct
{
  gint64 started;
  guint64 total;
  gint64 times[SL_PIPELINE_STATS_WINDOW];
  gint64 ages[SL_PIPELINE_STATS_WINDOW];
} SlPipelineStats;

void sl_pipeline_stats_reset (SlPipelineStats *stats, gint64 now);
void sl_pipeline_stats_add (SlPipelineStats *stats, gint64 now, gint64 age);
/** sl_pipeline_stats_write: seconds, predictions, rate, age-p50 and age-p95 as entries {sv}. */
void sl_pipeline_stats_write (const SlPipelineStats *stats, gint64 now, GVariantBuilder *builder);
