/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Log lines of `sightline run`. Messages, which may come from the network, reach terminal and
 * journal as sl_printable_message() makes them. */
#include "tools/run/log.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/printable.h"
#include "core/base/json.h"

static gboolean json, journal;
static void (*before_line) (gpointer);
static gpointer before_data;
static void (*listen_line) (SlLogLevel, const char *, const char *, const char *, gpointer);
static gpointer listener_data;

/* As words, and as sd-daemon(3)'s prefixes. */
static const struct
{
  const char *name, *prefix;
} levels[] = { { "error", "<3>" }, { "warning", "<4>" }, { "info", "<6>" } };

/* systemd.exec(5): $JOURNAL_STREAM is device and inode of the journal's end, which standard error
 * may not be any more. */
static gboolean
goes_to_journal (void)
{
  const char *stream = g_getenv ("JOURNAL_STREAM");
  struct stat status;
  if (stream == NULL || fstat (STDERR_FILENO, &status) != 0)
    return FALSE;
  g_autofree char *own = g_strdup_printf ("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT,
                                          (guint64) status.st_dev, (guint64) status.st_ino);
  return g_str_equal (stream, own);
}

void
sl_run_log_init (gboolean as_json)
{
  json = as_json;
  journal = goes_to_journal ();
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
sl_run_log_set_listener (void (*listener) (SlLogLevel, const char *, const char *, const char *,
                                           gpointer),
                         gpointer data)
{
  listen_line = listener;
  listener_data = data;
}

const char *
sl_run_log_level_name (SlLogLevel level)
{
  return levels[level].name;
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
  g_string_append_printf (line,
                          "{\"time\":\"%s\",\"level\":\"%s\",\"event\":\"%s\",\"pipeline\":", time,
                          levels[level].name, event);
  sl_json_append_string (line, pipeline);
  sl_json_append_text (line, "message", message);
  g_string_append (line, "}\n");
  return g_string_free (line, FALSE);
}

static char *
text_line (SlLogLevel level, const char *pipeline, const char *message)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *time = g_date_time_format (now, "%Y-%m-%dT%H:%M:%S");
  g_autofree char *offset = g_date_time_format (now, "%:z");
  GString *line = g_string_new (journal ? levels[level].prefix : time);
  if (!journal)
    g_string_append_printf (line, ".%03d%s ", g_date_time_get_microsecond (now) / 1000, offset);
  if (pipeline != NULL)
    g_string_append_printf (line, "%s: ", pipeline);
  if (level != SL_LOG_INFO)
    g_string_append_printf (line, "%s: ", levels[level].name);
  g_string_append (line, message);
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
  g_autofree char *shown = sl_printable_message (message);
  g_autofree char *line =
    json ? json_line (level, pipeline, event, shown) : text_line (level, pipeline, shown);
  sl_run_log_raw (line);
  if (listen_line != NULL)
    listen_line (level, pipeline, event, shown, listener_data);
}

typedef struct
{
  SlLogLevel level;
  char *pipeline, *event, *message;
} Line;

static void
line_free (gpointer data)
{
  Line *line = data;
  g_free (line->pipeline);
  g_free (line->event);
  g_free (line->message);
  g_free (line);
}

static gboolean
log_line (gpointer data)
{
  const Line *line = data;
  sl_run_log (line->level, line->pipeline, line->event, "%s", line->message);
  return G_SOURCE_REMOVE;
}

void
sl_run_log_later (SlLogLevel level, const char *pipeline, const char *event, const char *format,
                  ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  if (before_line == NULL) {
    sl_run_log (level, pipeline, event, "%s", message);
    return;
  }
  Line *line = g_new0 (Line, 1);
  line->level = level;
  line->pipeline = g_strdup (pipeline);
  line->event = g_strdup (event);
  line->message = g_steal_pointer (&message);
  g_idle_add_full (G_PRIORITY_DEFAULT, log_line, line, line_free);
}
