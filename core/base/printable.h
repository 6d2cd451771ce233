/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Untrusted text for people: names in models, labels, file names, responses of servers. It may have
 * any length and any bytes, including terminal control sequences.
 */
#pragma once

#include <glib.h>

/** Characters that are shown of a name, of a label, and of a whole message at most. */
#define SL_PRINTABLE_NAME 160
#define SL_PRINTABLE_LABEL 80
#define SL_PRINTABLE_MESSAGE 2000

/** sl_utf8_next: the character at *@text, which is not the end, and moves past it; U+FFFD for a
 * byte that is not UTF-8. */
gunichar sl_utf8_next (const char **text);
/** sl_is_plain: whether a character only shows a glyph: not a control character, a line separator,
 * or a bidirectional formatting character.
 *  */
gboolean sl_is_plain (gunichar c);

/** sl_printable: (transfer full): @text in one line of valid UTF-8. Bytes that are not UTF-8 and
 * characters that are not plain become \xHH, \uHHHH, \n, \t and \r; of more than @most characters
 * the middle is left out, "..." in its place. */
char *sl_printable (const char *text, gsize most);

/** sl_printable_message: (transfer full): a sentence as sl_printable() makes it, without secrets
 * (sl_redact()), long names in it shortened to SL_PRINTABLE_NAME, all of it to
 * SL_PRINTABLE_MESSAGE. Showing twice changes nothing. */
char *sl_printable_message (const char *text);

/** sl_printable_error: @error's message as sl_printable_message() makes it. NULL and what points to
 * NULL are left alone. */
void sl_printable_error (GError **error);

/** sl_message_detail: (transfer full) (nullable): what @debug (nullable), the debug text of an
 * element's message, says behind its line with file and function: on one line, less what says
 * nothing to people. */
char *sl_message_detail (const char *debug);
