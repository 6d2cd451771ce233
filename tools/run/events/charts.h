/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the history says of a time, over all indexes. Any thread; each waits for the disk. */
#pragma once

#include "tools/run/events/buckets.h"
#include "tools/run/events/history.h"

/** SlChartQuery: @pipeline: (nullable): NULL = all; @from, @to: microseconds since 1970 */
typedef struct
{
  const char *pipeline;
  gint64 from, to;
  SlBuckets *buckets;
} SlChartQuery;

/** SlChartCount: of one region in one bucket. @dwell: seconds of @dwells objects that left */
typedef struct
{
  gint64 from;
  char *pipeline, *kind, *name;
  gint64 entered, left, most, dwells;
  gdouble dwell;
} SlChartCount;

/** sl_chart_counts: (transfer full) (element-type SlChartCount): by time, pipeline, kind and name.
 * NULL with @error set, as all below. */
GArray *sl_chart_counts (const SlChartQuery *query, GPtrArray *stores, GError **error);

/** SlChartDwells: how many objects left the zone after how long, by sl_history_dwells. */
typedef struct
{
  char *pipeline, *name;
  gint64 n[SL_HISTORY_DWELLS + 1];
} SlChartDwells;

/** sl_chart_dwells: (transfer full) (element-type SlChartDwells): by pipeline and name. */
GArray *sl_chart_dwells (const SlChartQuery *query, GPtrArray *stores, GError **error);

/** SlChartFlow: @p50, @p95: microseconds, 0 = unknown */
typedef struct
{
  gint64 from;
  char *pipeline;
  gint64 frames, predictions, dropped, p50, p95;
} SlChartFlow;

/** sl_chart_flow: (transfer full) (element-type SlChartFlow): by time and pipeline. */
GArray *sl_chart_flow (const SlChartQuery *query, GPtrArray *stores, GError **error);
/** sl_chart_places: adds milliseconds that objects were in each of SL_HISTORY_CELLS. */
gboolean sl_chart_places (const SlChartQuery *query, GPtrArray *stores, guint64 *cells,
                          GError **error);
