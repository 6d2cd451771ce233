/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages are stored as the JSON that the server answers with. */
#include "tools/run/http/messages.h"

#include "core/base/json.h"

struct _SlMessages
{
  GMutex lock;
  GQueue lines; /* of char * */
};

SlMessages *
sl_messages_new (void)
{
  SlMessages *messages = g_new0 (SlMessages, 1);
  g_mutex_init (&messages->lock);
  g_queue_init (&messages->lines);
  return messages;
}

void
sl_messages_free (SlMessages *messages)
{
  g_queue_clear_full (&messages->lines, g_free);
  g_mutex_clear (&messages->lock);
  g_free (messages);
}

void
sl_messages_add (SlMessages *messages, SlLogLevel level, const char *pipeline, const char *event,
                 const char *message)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *time = g_date_time_format (now, "%Y-%m-%dT%H:%M:%SZ");
  GString *line = g_string_new (NULL);
  g_string_append_printf (line,
                          "{\"time\":\"%s\",\"level\":\"%s\",\"event\":\"%s\",\"pipeline\":", time,
                          sl_run_log_level_name (level), event);
  sl_json_append_string (line, pipeline);
  sl_json_append_text (line, "message", message);
  g_string_append_c (line, '}');
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&messages->lock);
  g_queue_push_tail (&messages->lines, g_string_free (line, FALSE));
  if (messages->lines.length > SL_MESSAGES_MOST)
    g_free (g_queue_pop_head (&messages->lines));
}

void
sl_messages_append_json (SlMessages *messages, guint most, GString *out)
{
  g_string_append_c (out, '[');
  g_mutex_lock (&messages->lock);
  const guint n = messages->lines.length;
  for (GList *link = g_queue_peek_nth_link (&messages->lines, n > most ? n - most : 0);
       link != NULL; link = link->next) {
    g_string_append (out, link->data);
    if (link->next != NULL)
      g_string_append_c (out, ',');
  }
  g_mutex_unlock (&messages->lock);
  g_string_append_c (out, ']');
}
