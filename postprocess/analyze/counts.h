/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counts of one region: by class, over time, and over intervals. */
#pragma once

#include "postprocess/analyze/area.h"

/** Most classes that are counted separately; the last of them is the sum of all others. */
#define SL_COUNTS_MAX_CLASSES 32

typedef struct
{
  SlClassCount classes[SL_COUNTS_MAX_CLASSES];
  guint n_classes, inside;
  guint64 entered, left;
  gdouble dwell;                 /* seconds of all that left */
  gdouble integral;              /* of the interval: objects inside times seconds */
  guint most;                    /* of the interval */
  guint64 had_entered, had_left; /* when the interval began */
  SlOccupancy occupancy;
} SlCounts;

/** sl_counts_class: the place of @label among the classes, which is interned. */
guint sl_counts_class (SlCounts *counts, const char *label);
/** sl_counts_enter, sl_counts_leave: one object of the class at @class. @seconds: it was inside;
 * @ago: seconds of the interval since then, before it was known */
void sl_counts_enter (SlCounts *counts, guint class, gdouble ago);
void sl_counts_leave (SlCounts *counts, guint class, gdouble seconds, gdouble ago);
/** sl_counts_cross: of lines, which have no inside. */
void sl_counts_cross (SlCounts *counts, guint class, gboolean in);
/** sl_counts_pass: @seconds went by with as many inside as there are now. */
void sl_counts_pass (SlCounts *counts, gdouble seconds);
/** sl_counts_end_interval: the interval, of @seconds, is over. */
void sl_counts_end_interval (SlCounts *counts, gdouble seconds);
