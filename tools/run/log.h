/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines about what happens to pipelines, on standard error: for people, or one JSON object each. */
#pragma once

#include <glib.h>

typedef enum
{
  SL_LOG_ERROR,
  SL_LOG_WARNING,
  SL_LOG_INFO
} SlLogLevel;

/** sl_run_log_init: @json: one object a line. Else lines begin with the local time as ISO 8601 has
 * it; where standard error is systemd's journal
 *  ($JOURNAL_STREAM), which adds the time, with their level. */
void sl_run_log_init (gboolean json);
/** sl_run_log_json: whether lines are JSON. */
gboolean sl_run_log_json (void);
/** sl_run_log: @pipeline: (nullable): its name; @event: a word for machines, such as "running".
 * Main thread; any thread where nothing is called before lines. */
void sl_run_log (SlLogLevel level, const char *pipeline, const char *event, const char *format, ...)
  G_GNUC_PRINTF (4, 5);
/** sl_run_log_later: the same from any thread: at once, or by the main thread where something is
 * called before lines. */
void sl_run_log_later (SlLogLevel level, const char *pipeline, const char *event,
                       const char *format, ...) G_GNUC_PRINTF (4, 5);
/** sl_run_log_raw: finished lines. Main thread. */
void sl_run_log_raw (const char *text);
/** sl_run_log_set_listener: called with each line, as it is shown; NULL for none. Lines of tables
 * are not told. */
void sl_run_log_set_listener (void (*listener) (SlLogLevel, const char *pipeline, const char *event,
                                                const char *message, gpointer),
                              gpointer data);
/** sl_run_log_level_name: "error", "warning" or "info". */
const char *sl_run_log_level_name (SlLogLevel level);
/** sl_run_log_set_before: called before each line, to take a table off the terminal; NULL for none.
 */
void sl_run_log_set_before (void (*before) (gpointer), gpointer data);
