/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One line on the terminal that says how far long work is: a bar, the number done, the rate and the
 * time left. There is no line where stderr is no terminal. Main thread.
 */
#pragma once

#include <glib.h>

/** SlProgress: @what: shown first; @unit: (nullable): what is counted, with its rate; @all: the
 * number at the end, 0 = unknown; @started: us of g_get_monotonic_time(). */
typedef struct
{
  const char *what, *unit;
  guint64 all;
  gint64 started;
} SlProgress;

/** sl_progress_start: work begins. Texts must outlive @progress. */
void sl_progress_start (SlProgress *progress, const char *what, const char *unit, guint64 all);
/** sl_progress_show: @done units are done. Draws the line a few times a second, and the first time
 * after a moment. */
void sl_progress_show (const SlProgress *progress, guint64 done);
/** sl_progress_show_share: the same where time tells the share that is done, @share 0..1, below 0 =
 * unknown. */
void sl_progress_show_share (const SlProgress *progress, guint64 done, gdouble share);
/** sl_progress_share: @position of @duration as 0..1, -1 where @duration is 0: unknown. */
gdouble sl_progress_share (guint64 position, guint64 duration);
/** sl_progress_hide: removes the line: before anything else is printed, and at the end. */
void sl_progress_hide (void);
/** sl_progress_erase: the same in a signal handler. */
void sl_progress_erase (void);
