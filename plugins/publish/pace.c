/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A count that changes between two lines is published with the next line. */
#include "plugins/publish/pace.h"

void
sl_pace_init (SlPace *pace, gint64 interval, gboolean on_change, gboolean reads)
{
  sl_pace_clear (pace);
  *pace = (SlPace){ .interval = interval,
                    .on_change = on_change,
                    .counts = reads ? sl_label_counts_new () : NULL };
}

void
sl_pace_clear (SlPace *pace)
{
  g_clear_pointer (&pace->counts, sl_label_counts_free);
}

static void
note_change (gpointer user_data, const char *label, guint count)
{
  ((SlPace *) user_data)->changed = TRUE;
}

/* What slanalyze writes of events, which begin with their kind. */
static gboolean
has_event (const char *line, gsize bytes)
{
  static const char begin[] = "\"events\":[{\"event\":\"";
  return g_strstr_len (line, (gssize) bytes, begin) != NULL;
}

gboolean
sl_pace_takes (SlPace *pace, const char *line, gsize bytes, gint64 now)
{
  if (pace->counts != NULL)
    sl_label_counts_update (pace->counts, line, bytes, note_change, pace);
  const gboolean due = pace->last == 0 || now - pace->last >= pace->interval;
  const gboolean news = !pace->on_change || pace->changed || pace->last == 0;
  if (!(due && news) && !((pace->interval > 0 || pace->on_change) && has_event (line, bytes)))
    return FALSE;
  pace->last = now;
  pace->changed = FALSE;
  return TRUE;
}
