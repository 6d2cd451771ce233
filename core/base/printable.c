/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Characters are escaped before they are counted, so a cut never leaves half an escape. Words and
 * messages are cut in the middle: a message begins with the place of the error and ends with what
 * to do.
 */
#include "core/base/printable.h"

#include <string.h>

#include "core/base/redact.h"

#define REPLACEMENT 0xFFFD
#define GAP "..."

gunichar
sl_utf8_next (const char **text)
{
  gunichar c = g_utf8_get_char_validated (*text, -1);
  if (c == (gunichar) -1 || c == (gunichar) -2) {
    (*text)++;
    return REPLACEMENT;
  }
  *text = g_utf8_next_char (*text);
  return c;
}

/* Direction marks that embed or override (UAX #9) make a text read as another one. */
gboolean
sl_is_plain (gunichar c)
{
  return c >= 0x20 && (c < 0x7f || c > 0x9f) && c != 0x2028 && c != 0x2029
         && !(c >= 0x202a && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069);
}

static void
append_escaped (GString *out, gunichar c)
{
  static const char named[] = "\t\n\r", letters[] = "tnr";
  const char *name = c < 0x20 && c != 0 ? strchr (named, (int) c) : NULL;
  if (name != NULL)
    g_string_append_printf (out, "\\%c", letters[name - named]);
  else
    g_string_append_printf (out, c <= 0xff ? "\\x%02x" : "\\u%04x", (guint) c);
}

static char *
escape (const char *text)
{
  GString *out = g_string_new (NULL);
  while (*text != '\0') {
    const char *at = text;
    const gunichar c = sl_utf8_next (&text);
    if (c == REPLACEMENT && text - at == 1)
      append_escaped (out, (guint8) *at);
    else if (!sl_is_plain (c))
      append_escaped (out, c);
    else
      g_string_append_unichar (out, c);
  }
  return g_string_free (out, FALSE);
}

/* Appends @length bytes of valid UTF-8, of more than @most characters the two ends, the first the
 * longer. */
static void
append_ends (GString *out, const char *text, gsize length, gsize most)
{
  const glong n = g_utf8_strlen (text, (gssize) length);
  if ((gsize) n <= most) {
    g_string_append_len (out, text, (gssize) length);
    return;
  }
  const glong shown = (glong) MAX (most, strlen (GAP) + 2) - (glong) strlen (GAP), tail = shown / 3;
  g_string_append_len (out, text, g_utf8_offset_to_pointer (text, shown - tail) - text);
  g_string_append (out, GAP);
  const char *rest = g_utf8_offset_to_pointer (text, n - tail);
  g_string_append_len (out, rest, text + length - rest);
}

char *
sl_printable (const char *text, gsize most)
{
  g_autofree char *escaped = escape (text);
  GString *out = g_string_new (NULL);
  append_ends (out, escaped, strlen (escaped), most);
  return g_string_free (out, FALSE);
}

char *
sl_printable_message (const char *text)
{
  g_autofree char *safe = sl_redact (text);
  g_autofree char *escaped = escape (safe);
  GString *words = g_string_new (NULL);
  for (const char *at = escaped; *at != '\0';) {
    const gsize word = strcspn (at, " ");
    append_ends (words, at, word, SL_PRINTABLE_NAME);
    at += word;
    const gsize blanks = strspn (at, " ");
    g_string_append_len (words, at, (gssize) blanks);
    at += blanks;
  }
  GString *out = g_string_new (NULL);
  append_ends (out, words->str, words->len, SL_PRINTABLE_MESSAGE);
  g_string_free (words, TRUE);
  return g_string_free (out, FALSE);
}

void
sl_printable_error (GError **error)
{
  if (error == NULL || *error == NULL)
    return;
  char *shown = sl_printable_message ((*error)->message);
  g_free ((*error)->message);
  (*error)->message = shown;
}

char *
sl_message_detail (const char *debug)
{
  /* Of souphttpsrc, which says it of every answer. */
  static const char nowhere[] = ", Redirect to: (NULL)";
  const char *rest = debug != NULL ? strchr (debug, '\n') : NULL;
  if (rest == NULL)
    return NULL;
  g_autofree char *line = g_strstrip (g_strdelimit (g_strdup (rest + 1), "\r\n", ' '));
  if (g_str_has_suffix (line, nowhere))
    line[strlen (line) - strlen (nowhere)] = '\0';
  return *line != '\0' ? g_steal_pointer (&line) : NULL;
}
