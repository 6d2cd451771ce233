/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a stream can show: colours and lines that change on a terminal, plain text everywhere else.
 */
#pragma once

#include <glib.h>
#include <stdio.h>

typedef enum
{
  SL_STYLE_PLAIN, /* ends any other style */
  SL_STYLE_HEADING,
  SL_STYLE_GOOD,
  SL_STYLE_WARNING,
  SL_STYLE_BAD
} SlStyle;

/** sl_terminal_moves: whether @stream is a terminal that can write over a line: TERM is not "dumb".
 */
gboolean sl_terminal_moves (FILE *stream);
/** sl_terminal_columns: columns of the terminal @stream, 80 where it does not say. */
guint sl_terminal_columns (FILE *stream);
/** sl_terminal_width: columns that @text takes: some letters take two. */
guint sl_terminal_width (const char *text);
/** sl_terminal_style: (transfer none): the characters that begin @style; "" where @stream is no
 * such terminal, or NO_COLOR is set and not empty. */
const char *sl_terminal_style (FILE *stream, SlStyle style);
