/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the process costs, and how often something took how long. */
#pragma once

#include <glib.h>

/**
 * SlProcessFigures: of this process.
 * @cpu: seconds of processor time so far
 * @rss: bytes of memory; 0 where /proc does not tell
 */
typedef struct
{
  double cpu;
  guint64 rss;
  guint threads;
} SlProcessFigures;

void sl_process_figures_read (SlProcessFigures *figures);

/** Upper ends of a histogram's buckets, microseconds; what takes longer is in one more. */
#define SL_FLOW_BUCKETS 13
extern const gint64 sl_flow_buckets[SL_FLOW_BUCKETS];

/** SlHistogram: how often a stage took how long: @counts of each bucket alone; @sum: microseconds.
 */
typedef struct
{
  guint64 counts[SL_FLOW_BUCKETS + 1], sum;
} SlHistogram;

/** sl_histogram_add: one more that took @time microseconds. */
void sl_histogram_add (SlHistogram *histogram, gint64 time);
