/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Log lines of `sightline run`. Control characters in messages, which may come from the network, never reach a terminal. */
#include "tools/run_log.h"

#include <stdio.h>
#include <string.h>

#include "postprocess/json.h"

static gboolean json, journal;
static void (*before_line) (gpointer);
static gpointer before_data;

/* As words, and as sd-daemon(3)'s prefixes. */
static const struct
{
  const char *name, *prefix;
} levels[] = { { "error", "<3>" }, { "warning", "<4>" }, { "info", "<6>" } };

void
sl_run_log_init (gboolean as_json)
{
  json = as_json;
  journal = g_getenv ("JOURNAL_STREAM") != NULL;
}

gboolean
sl_run_log_json (void)
{
  return json;
}

void
sl_run_log_set_before (void (*before) (gpointer), gpointer data)
{
  before_line = before;
  before_data = data;
}

void
sl_run_log_raw (const char *text)
{
  if (before_line != NULL)
    before_line (before_data);
  fputs (text, stderr);
  fflush (stderr);
}

static char *
json_line (SlLogLevel level, const char *pipeline, const char *event, const char *message)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *time = g_date_time_format (now, "%Y-%m-%dT%H:%M:%S.%fZ");
  GString *line = g_string_new (NULL);
  g_string_append_printf (line, "{\"time\":\"%s\",\"level\":\"%s\",\"event\":\"%s\",\"pipeline\":", time, levels[level].name, event);
  sl_json_append_string (line, pipeline);
  g_string_append (line, ",\"message\":");
  sl_json_append_string (line, message);
  g_string_append (line, "}\n");
  return g_string_free (line, FALSE);
}

static char *
text_line (SlLogLevel level, const char *pipeline, const char *message)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *time = g_date_time_format (now, "%H:%M:%S");
  GString *line = g_string_new (journal ? levels[level].prefix : time);
  if (!journal)
    g_string_append_printf (line, ".%03d ", g_date_time_get_microsecond (now) / 1000);
  if (pipeline != NULL)
    g_string_append_printf (line, "%s: ", pipeline);
  if (level != SL_LOG_INFO)
    g_string_append_printf (line, "%s: ", levels[level].name);
  g_string_append (line, message);
  for (gsize i = 0; i < line->len; i++)
    if (g_ascii_iscntrl (line->str[i]))
      line->str[i] = ' ';
  g_string_append_c (line, '\n');
  return g_string_free (line, FALSE);
}

void
sl_run_log (SlLogLevel level, const char *pipeline, const char *event, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *line = json ? json_line (level, pipeline, event, message) : text_line (level, pipeline, message);
  sl_run_log_raw (line);
}
