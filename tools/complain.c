/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How commands say that something is wrong. */
#include <stdarg.h>
#include <stdio.h>

#include "core/base/printable.h"
#include "tools/command.h"
#include "tools/progress.h"
#include "tools/terminal.h"

int
sl_complain (const char *command, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *shown = sl_printable_message (message);
  sl_progress_hide ();
  fprintf (stderr, "%ssightline%s%s:%s %s\n", sl_terminal_style (stderr, SL_STYLE_HEADING),
           command != NULL ? " " : "", command != NULL ? command : "",
           sl_terminal_style (stderr, SL_STYLE_PLAIN), shown);
  return SL_EXIT_FAILED;
}
