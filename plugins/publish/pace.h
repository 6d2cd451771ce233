/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which lines go out, and which classes are no false alarms: by the lines alone. One thread at a
 * time. */
#pragma once

#include "plugins/publish/topic.h"

/** SlPace: @interval: least microseconds between two lines; @on_change: a line goes out when a
 * count differs; @counts: (nullable) */
typedef struct
{
  gint64 interval;
  gboolean on_change;
  SlLabelCounts *counts;
  gint64 last; /* when a line went out, 0 = none yet */
  gboolean changed;
} SlPace;

/** sl_pace_init: @reads: lines are JSON, of which counts are made. */
void sl_pace_init (SlPace *pace, gint64 interval, gboolean on_change, gboolean reads);
/** sl_pace_clear: also for a zeroed struct. */
void sl_pace_clear (SlPace *pace);
/** sl_pace_takes: whether the line goes out at @now, a monotonic time. One with an event does in
 * any case: it comes once. */
gboolean sl_pace_takes (SlPace *pace, const char *line, gsize bytes, gint64 now);
