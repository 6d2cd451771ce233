/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/publish/notice.h"

#include "core/base/json.h"
#include "core/base/utc.h"

gboolean
sl_notices_open (SlNotices *self, const char *events, const char *zones, gint64 interval,
                 GError **error)
{
  sl_notices_clear (self);
  if (!sl_analysis_event_kinds (events, &self->kinds, error))
    return FALSE;
  self->zones = zones != NULL && *zones != '\0' ? g_strsplit (zones, ",", -1) : NULL;
  for (guint i = 0; self->zones != NULL && self->zones[i] != NULL; i++)
    g_strstrip (self->zones[i]);
  self->interval = interval;
  self->last = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->prefix = g_random_int ();
  return TRUE;
}

void
sl_notices_clear (SlNotices *self)
{
  g_strfreev (self->zones);
  g_clear_pointer (&self->last, g_hash_table_unref);
  *self = (SlNotices){ .kinds = 0 };
}

static const char *
place_of (const SlAnalysis *analysis, const SlAnalysisEvent *event)
{
  return event->region < analysis->n_regions ? analysis->regions[event->region].name : "";
}

/* Whether an event of this kind and place may be told now, which then counts. There are as many
 * keys as kinds and places. */
static gboolean
is_due (SlNotices *self, const SlAnalysisEvent *event, const char *place, gint64 now)
{
  if (self->interval == 0)
    return TRUE;
  g_autofree char *key = g_strdup_printf ("%d %s", (int) event->kind, place);
  const gint64 *last = g_hash_table_lookup (self->last, key);
  if (last != NULL && now - *last < self->interval)
    return FALSE;
  g_hash_table_replace (self->last, g_steal_pointer (&key), g_memdup2 (&now, sizeof now));
  return TRUE;
}

gboolean
sl_notices_take (SlNotices *self, const SlPredictionView *prediction, guint i,
                 const SlClassFilter *classes, gint64 now)
{
  const SlAnalysisEvent *event = &prediction->analysis->events[i];
  const char *place = place_of (prediction->analysis, event);
  return (self->kinds >> event->kind & 1) != 0
         && (self->zones == NULL || g_strv_contains ((const char *const *) self->zones, place))
         && (event->label == NULL || sl_class_filter_passes (classes, event->label))
         && is_due (self, event, place, now);
}

GString *
sl_notices_write (SlNotices *self, const SlPredictionView *prediction, guint i, GBytes *picture)
{
  const SlAnalysis *analysis = prediction->analysis;
  const SlAnalysisEvent *event = &analysis->events[i];
  g_autofree char *id = g_strdup_printf ("%08x-%" G_GUINT64_FORMAT, self->prefix, ++self->n);
  g_autofree char *text = g_strdup_printf (
    "%s%s%s %s", event->label != NULL ? event->label : "", event->label != NULL ? " " : "",
    sl_analysis_event_name (event->kind), place_of (analysis, event));
  GString *json = g_string_new ("{");
  sl_json_append_text (json, "notice", id);
  sl_json_append_text (json, "source", prediction->source);
  sl_json_append_key (json, "utc");
  g_string_append_c (json, '"');
  sl_utc_append (json, prediction->utc > 0 ? prediction->utc : g_get_real_time ());
  g_string_append_c (json, '"');
  sl_json_append_text (json, "text", text);
  sl_json_append_key (json, "event");
  sl_analysis_append_event (json, analysis, event);
  if (picture != NULL) {
    gsize size;
    const guint8 *bytes = g_bytes_get_data (picture, &size);
    g_autofree char *coded = g_base64_encode (bytes, size);
    sl_json_append_text (json, "picture", coded);
  }
  g_string_append_c (json, '}');
  return json;
}
