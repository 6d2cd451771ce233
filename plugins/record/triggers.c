/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ids that were not seen for a while are forgotten, so memory does not grow while a stream runs. */
#include "plugins/record/triggers.h"

#include <string.h>

#include "core/base/json.h"
#include "core/base/suggest.h"
#include "postprocess/predictions/analysis.h"
#include "core/base/fail.h"

#define OBJECT "object"
#define N_KINDS (SL_EVENT_EMPTY + 1)
#define FORGOTTEN (60 * GST_SECOND)
#define IDS_MOST 100000

static const char *
word_of (guint event)
{
  return event < N_KINDS ? sl_analysis_event_name ((SlAnalysisEventKind) event) : OBJECT;
}

static gboolean
add_word (SlTriggers *triggers, const char *word, GError **error)
{
  const char *names[N_KINDS + 1];
  for (guint i = 0; i <= N_KINDS; i++) {
    names[i] = word_of (i);
    if (strcmp (word, names[i]) == 0) {
      triggers->events |= 1u << i;
      return TRUE;
    }
  }
  g_autofree char *hint = sl_suggest_text (word, names, G_N_ELEMENTS (names));
  return sl_fail (error, SL_ERROR_ARGUMENT, "on=%s: unknown event%s", word, hint);
}

gboolean
sl_triggers_open (SlTriggers *triggers, const char *on, GError **error)
{
  g_auto (GStrv) words = g_strsplit (on != NULL ? on : "", ",", -1);
  triggers->events = on == NULL ? (1u << N_KINDS) - 1 : 0;
  for (guint i = 0; words[i] != NULL; i++) {
    const char *word = g_strstrip (words[i]);
    if ((*word != '\0' || words[1] != NULL) && !add_word (triggers, word, error))
      return FALSE;
  }
  g_clear_pointer (&triggers->seen, g_hash_table_unref);
  triggers->seen = g_hash_table_new_full (g_direct_hash, g_direct_equal, NULL, g_free);
  triggers->swept = GST_CLOCK_TIME_NONE;
  if (triggers->line == NULL)
    triggers->line = g_string_new (NULL);
  return TRUE;
}

gboolean
sl_triggers_needs_analysis (const char *on)
{
  g_auto (GStrv) words = g_strsplit (on != NULL ? on : "", ",", -1);
  gboolean needs = FALSE;
  for (guint i = 0; words[i] != NULL; i++) {
    const char *word = g_strstrip (words[i]);
    needs = needs || (*word != '\0' && strcmp (word, OBJECT) != 0);
  }
  return needs;
}

void
sl_triggers_clear (SlTriggers *triggers)
{
  sl_class_choice_clear (&triggers->choice);
  g_clear_pointer (&triggers->seen, g_hash_table_unref);
  if (triggers->line != NULL)
    g_string_free (triggers->line, TRUE);
  triggers->line = NULL;
}

gboolean
sl_triggers_reads_objects (const SlTriggers *triggers)
{
  return (triggers->events & 1u << N_KINDS) != 0;
}

static gboolean
is_old (gpointer id, gpointer time, gpointer now)
{
  const GstClockTime last = *(GstClockTime *) time;
  return last + FORGOTTEN < *(GstClockTime *) now || last > *(GstClockTime *) now;
}

static void
sweep (SlTriggers *triggers, GstClockTime now)
{
  if (GST_CLOCK_TIME_IS_VALID (triggers->swept) && now >= triggers->swept
      && now - triggers->swept < FORGOTTEN && g_hash_table_size (triggers->seen) < IDS_MOST)
    return;
  g_hash_table_foreach_remove (triggers->seen, is_old, &now);
  if (g_hash_table_size (triggers->seen) >= IDS_MOST)
    g_hash_table_remove_all (triggers->seen);
  triggers->swept = now;
}

/* Without a tracker every object is new. */
static gboolean
is_new (SlTriggers *triggers, gint32 id, GstClockTime time)
{
  if (id <= 0)
    return TRUE;
  GstClockTime *last = g_hash_table_lookup (triggers->seen, GINT_TO_POINTER (id));
  if (last != NULL) {
    *last = time;
    return FALSE;
  }
  last = g_new (GstClockTime, 1);
  *last = time;
  g_hash_table_insert (triggers->seen, GINT_TO_POINTER (id), last);
  return TRUE;
}

static const char *
object_line (SlTriggers *triggers, const SlObjectView *object)
{
  g_string_assign (triggers->line, "{\"event\":\"" OBJECT "\",\"label\":");
  sl_json_append_string (triggers->line, object->label);
  g_string_append (triggers->line, ",\"id\":");
  if (object->object_id > 0)
    g_string_append_printf (triggers->line, "%d", object->object_id);
  else
    g_string_append (triggers->line, "null");
  g_string_append (triggers->line, ",\"confidence\":");
  sl_json_append_double (triggers->line, object->confidence, 4);
  g_string_append_c (triggers->line, '}');
  return triggers->line->str;
}

void
sl_triggers_read (SlTriggers *triggers, const SlAnalysis *analysis,
                  const SlPredictionView *prediction, GstClockTime time,
                  void (*found) (gpointer data, const char *word, const char *json), gpointer data)
{
  const SlClassFilter *filter = triggers->choice.filter;
  for (guint i = 0; analysis != NULL && i < analysis->n_events; i++) {
    const SlAnalysisEvent *event = &analysis->events[i];
    if ((triggers->events & 1u << event->kind) == 0
        || (event->label != NULL && !sl_class_filter_passes (filter, event->label)))
      continue;
    g_string_truncate (triggers->line, 0);
    sl_analysis_append_event (triggers->line, analysis, event);
    found (data, word_of (event->kind), triggers->line->str);
  }
  if (prediction == NULL || !sl_triggers_reads_objects (triggers))
    return;
  sweep (triggers, time);
  for (guint i = 0; i < prediction->n_objects; i++) {
    const SlObjectView *object = &prediction->objects[i];
    if (sl_class_filter_passes (filter, object->label)
        && is_new (triggers, object->object_id, time))
      found (data, OBJECT, object_line (triggers, object));
  }
}
