/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Notices: an event of slanalyze as a message of its own, for people and programs that are told
 * about it. Which events count, and how often one is told. One thread at a time.
 */
#pragma once

#include "postprocess/predictions/class_filter.h"
#include "postprocess/predictions/prediction.h"

/** SlNotices: @kinds: bit by bit the kinds of events that count; @zones: (nullable): names of zones
 * and lines that count; @last: when an event of a kind and a place was told, by both names;
 * @prefix: of the ids of this start; @n: notices so far */
typedef struct
{
  guint kinds;
  char **zones;
  gint64 interval;
  GHashTable *last;
  guint32 prefix;
  guint64 n;
} SlNotices;

/** sl_notices_open: @events: kinds with ',' between, or all; @zones: (nullable): names with ','
 * between; @interval: least microseconds between two notices of one kind and place. FALSE with
 * @error set. */
gboolean sl_notices_open (SlNotices *notices, const char *events, const char *zones,
                          gint64 interval, GError **error);
/** sl_notices_clear: also for a zeroed struct. */
void sl_notices_clear (SlNotices *notices);
/** sl_notices_take: whether event number @i of @prediction is told at @now, a monotonic time.
 * @classes: (nullable): of objects whose events count */
gboolean sl_notices_take (SlNotices *notices, const SlPredictionView *prediction, guint i,
                          const SlClassFilter *classes, gint64 now);
/** sl_notices_write: (transfer full): the message: a JSON object, and @picture (nullable), a JPEG,
 * in it. */
GString *sl_notices_write (SlNotices *notices, const SlPredictionView *prediction, guint i,
                           GBytes *picture);
