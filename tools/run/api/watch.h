/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the API remembers from one report to the next: rates over some seconds, and the counts at
 * local midnight, for "today". The latter are in FOLDER/NAME.today where counts go on over the end
 * of the program, too. The server's thread, but for sl_watch_new() and sl_watch_free().
 */
#pragma once

#include "tools/run/http/report.h"

typedef struct _SlWatch SlWatch;

/** SlTodayCount: since local midnight. @entered, @left: of a line: in and out */
typedef struct
{
  guint64 entered, left;
} SlTodayCount;

/** sl_watch_new: @workers: (element-type SlWorker): of all reports. Main thread, before they start.
 */
SlWatch *sl_watch_new (GPtrArray *workers);
void sl_watch_free (SlWatch *watch);
/** sl_watch_take: @report, to be called about once a second. @now: real microseconds */
void sl_watch_take (SlWatch *watch, const SlReport *report, gint64 now);
/** sl_watch_rates: frames a second of the pipeline @index over the last ten seconds: that came, and
 * that were looked at. */
void sl_watch_rates (const SlWatch *watch, guint index, double *in, double *out);
/** sl_watch_today: what the region @region of @element of the pipeline @index counted today. */
SlTodayCount sl_watch_today (SlWatch *watch, guint index, const char *element,
                             const GstStructure *region);
