/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One line on the terminal that says how far a long source is. Silent where stderr is no terminal.
 */
#ifndef SL_TOOLS_PREDICT_PROGRESS_H
#define SL_TOOLS_PREDICT_PROGRESS_H

#include <glib.h>

/** Times in us of g_get_monotonic_time(). */
typedef struct
{
  gboolean terminal, visible;
  gint64 started, shown;
  guint64 frames;
} SlProgress;

/** sl_progress_start: a new source begins. */
void sl_progress_start (SlProgress *progress);
/** sl_progress_due: counts a frame; whether it is time to show the line: after the first second, then some times a second. */
gboolean sl_progress_due (SlProgress *progress);
/** sl_progress_show: @position and @duration in ns, 0 = unknown. */
void sl_progress_show (SlProgress *progress, const char *name, guint64 position, guint64 duration);
/** sl_progress_hide: removes the line before something else is printed. */
void sl_progress_hide (SlProgress *progress);

#endif
