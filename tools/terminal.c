/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_COLUMNS 80

gboolean
sl_terminal_moves (FILE *stream)
{
  return isatty (fileno (stream)) && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0;
}

guint
sl_terminal_columns (FILE *stream)
{
  struct winsize size;
  return ioctl (fileno (stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                            : DEFAULT_COLUMNS;
}

guint
sl_terminal_width (const char *text)
{
  guint columns = 0;
  for (; *text != '\0'; text = g_utf8_next_char (text))
    columns += g_unichar_iswide (g_utf8_get_char (text)) ? 2 : 1;
  return columns;
}

const char *
sl_terminal_style (FILE *stream, SlStyle style)
{
  static const char *const codes[] = { "\033[0m", "\033[1m", "\033[32m", "\033[33m", "\033[1;31m" };
  const char *no_colour = g_getenv ("NO_COLOR");
  const gboolean plain = (no_colour != NULL && no_colour[0] != '\0') || !sl_terminal_moves (stream);
  return plain ? "" : codes[style];
}
