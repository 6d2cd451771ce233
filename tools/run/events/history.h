/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What pipelines counted and how they did, minute by minute: taken from reports on the main thread,
 * written by another one. Hours, and days of the map of places, are written at the same time, so
 * nothing is to be summed up later.
 */
#pragma once

#include "sightline/predictions.h"
#include "tools/run/events/store.h"
#include "tools/run/http/report.h"

/** Cells of the map of places. */
#define SL_HISTORY_WIDTH 48
#define SL_HISTORY_HEIGHT 27
#define SL_HISTORY_CELLS (SL_HISTORY_WIDTH * SL_HISTORY_HEIGHT)
/** Seconds between two writes: what a killed process loses. */
#define SL_HISTORY_SECONDS 5

/** Where the classes of times inside end, in seconds; one more is above the last. */
#define SL_HISTORY_DWELLS 12
extern const guint sl_history_dwells[SL_HISTORY_DWELLS];

/** SlHistory: of one pipeline. */
typedef struct _SlHistory SlHistory;
/** SlHistoryRows: what is to be written of one pipeline. */
typedef struct _SlHistoryRows SlHistoryRows;

/** sl_history_new: @started: microseconds since 1970: counts that began later begin at 0. */
SlHistory *sl_history_new (const char *pipeline, gint64 started);
void sl_history_free (SlHistory *history);
/** sl_history_take: the figures of now. */
void sl_history_take (SlHistory *history, const SlReportPipeline *report);
/** sl_history_dwell: an object left the zone @name after @seconds. */
void sl_history_dwell (SlHistory *history, const char *name, gdouble seconds);
/** sl_history_places: its objects were there for @ms. */
void sl_history_places (SlHistory *history, const SlPredictions *predictions, guint ms);
/** sl_history_flush: (transfer full) (nullable): what is new since the last time, if it is time to
 * write, or @force. @now: microseconds since 1970 */
SlHistoryRows *sl_history_flush (SlHistory *history, gint64 now, gboolean force);
void sl_history_rows_free (SlHistoryRows *rows);
/** sl_history_write: under the lock of the store's @write. */
gboolean sl_history_write (SlStore *store, const SlHistoryRows *rows, GError **error);
