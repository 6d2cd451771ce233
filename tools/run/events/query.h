/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions to indexes: which events, how many when. Any thread; each waits for the disk. */
#pragma once

#include "tools/run/events/buckets.h"
#include "tools/run/events/store.h"

#define SL_QUERY_LIMIT_MOST 500
#define SL_QUERY_BUCKETS_MOST 2000

/**
 * SlEventQuery: strings are the caller's; NULL = any
 * @kept, @reviewed: 1, 0, or below 0 = any
 * @from, @to: microseconds since 1970; @to is not in it, 0 = no end
 * @before_us, @before: the last event of the page before; @before NULL = the first page
 */
typedef struct
{
  const char *pipeline, *region, *event, *label, *color, *text, *before;
  gint kept, reviewed;
  gint64 from, to, before_us;
  guint limit;
} SlEventQuery;

/** SlEventRow: of one event, as in SlStoreClip and SlNotes; @object, @bytes: 0 = none; @confidence,
 * @seconds: below 0 = unknown; @reviewer: (nullable): who has looked at it, at @reviewed */
typedef struct
{
  SlStore *store;
  char *stem, *pipeline, *event, *region, *label, *format, *color, *reviewer;
  gint64 us, object, reviewed;
  gdouble confidence, seconds;
  gboolean clip, picture, kept;
  guint64 bytes;
} SlEventRow;

/** The columns that sl_event_row_read() reads, and how many they are. */
#define SL_EVENT_COLUMNS                                                           \
  "stem, pipeline, time, event, region, label, object, coalesce(confidence, -1), " \
  "coalesce(seconds, -1), format, clip, picture, kept, bytes, color, "             \
  "(SELECT user FROM review WHERE review.stem = event.stem), "                     \
  "(SELECT time FROM review WHERE review.stem = event.stem)"
#define SL_EVENT_N_COLUMNS 17

void sl_event_row_free (gpointer row);
/** sl_event_row_read: (transfer full): the row at which @rows is. */
SlEventRow *sl_event_row_read (SlStore *store, sqlite3_stmt *rows);
/** sl_event_query_prepare: (transfer full) (nullable): @select, the conditions of @query, and one
 * more. @next: (out): its first argument. NULL with @error set */
sqlite3_stmt *sl_event_query_prepare (SlSql *sql, const SlEventQuery *query, const char *select,
                                      const char *condition, gint *next, GError **error);
/** sl_event_query_list: (transfer full) (element-type SlEventRow): newest first. @stores:
 * (element-type SlStore); @total: (out): of all pages. NULL with @error set. */
GPtrArray *sl_event_query_list (const SlEventQuery *query, GPtrArray *stores, guint64 *total,
                                GError **error);
/** sl_event_query_newest: (transfer full) (nullable): of @pipeline in @store, but for those that a
 * wrong clock has put into the future. */
SlEventRow *sl_event_query_newest (SlStore *store, const char *pipeline);
/** sl_event_query_one: (transfer full) (nullable): the event @stem, or the clip that took its
 * place; NULL without @error: there is none. */
SlEventRow *sl_event_query_one (GPtrArray *stores, const char *stem, GError **error);

typedef struct
{
  gint64 from;
  guint64 count;
} SlEventBucket;

/** sl_event_query_timeline: (transfer full) (element-type SlEventBucket): buckets with events,
 * oldest first; of more than SL_QUERY_BUCKETS_MOST the newest. */
GArray *sl_event_query_timeline (const SlEventQuery *query, GPtrArray *stores, SlBuckets *buckets,
                                 GError **error);

/** SlEventTotals: of clips. @oldest: microseconds since 1970, 0 = there is none */
typedef struct
{
  guint64 clips, bytes, kept, kept_bytes;
  gint64 oldest;
} SlEventTotals;

gboolean sl_event_query_totals (SlStore *store, SlEventTotals *totals, GError **error);
