/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * What on a frame is an event that clips are about: slanalyze's events, and objects that were not
 * there before. One thread.
 */
#pragma once

#include "plugins/meta/class_names.h"
#include "postprocess/predictions/prediction.h"

/** SlTriggers: zeroed at first. @seen: ids of objects and when they were seen last. */
typedef struct
{
  guint events; /* bits, of SlAnalysisEventKind and one more */
  SlClassChoice choice;
  GHashTable *seen;
  GstClockTime swept;
  GString *line;
} SlTriggers;

/** sl_triggers_open: @on: (nullable): names of events with "," between; NULL = all of slanalyze's,
 * "" = none. FALSE with @error set, and the nearest names in its message, for an unknown one. */
gboolean sl_triggers_open (SlTriggers *triggers, const char *on, GError **error);
/** sl_triggers_clear: also of a zeroed struct. */
void sl_triggers_clear (SlTriggers *triggers);
/** sl_triggers_needs_analysis: whether @on, as sl_triggers_open() takes it, names an event of
 * slanalyze; NULL names none. */
gboolean sl_triggers_needs_analysis (const char *on);
/** sl_triggers_reads_objects: whether objects of a frame matter, and not only its analysis. */
gboolean sl_triggers_reads_objects (const SlTriggers *triggers);
/** sl_triggers_read: calls @found for each event of a frame of running time @time: its word and
 * JSON. @analysis, @prediction: (nullable): of the frame */
void sl_triggers_read (SlTriggers *triggers, const SlAnalysis *analysis,
                       const SlPredictionView *prediction, GstClockTime time,
                       void (*found) (gpointer data, const char *word, const char *json),
                       gpointer data);
