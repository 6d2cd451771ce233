/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/base/json_reader.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* The part of an invalid text that a message shows. */
#define SHOWN 20

static const char *const kinds[] = { "nothing",  "an object", "a list", "a string",
                                     "a number", "true",      "false",  "null" };

void
sl_json_reader_init (SlJsonReader *reader, const char *text, gsize length)
{
  *reader = (SlJsonReader){ .start = text, .at = text, .end = text + length };
  reader->key = g_string_new (NULL);
  reader->text = g_string_new (NULL);
}

void
sl_json_reader_clear (SlJsonReader *reader)
{
  g_string_free (reader->key, TRUE);
  g_string_free (reader->text, TRUE);
  g_clear_error (&reader->error);
}

gboolean
sl_json_reader_fail (SlJsonReader *reader, const char *format, ...)
{
  va_list arguments;
  guint line = 1;
  if (reader->error != NULL)
    return FALSE;
  for (const char *at = reader->start; (at = memchr (at, '\n', (gsize) (reader->at - at))) != NULL;
       at++)
    line++;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (&reader->error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "line %u: %s", line, text);
  return FALSE;
}

static char
peek (SlJsonReader *reader)
{
  while (reader->at < reader->end && strchr (" \t\r\n", *reader->at) != NULL && *reader->at != '\0')
    reader->at++;
  return reader->at < reader->end ? *reader->at : '\0';
}

static gboolean
is_word (const SlJsonReader *reader, const char *word)
{
  const gsize length = strlen (word);
  return (gsize) (reader->end - reader->at) >= length && memcmp (reader->at, word, length) == 0;
}

/* (nullable): the word for a number that JSON does not have. */
static const char *
python_word (const SlJsonReader *reader)
{
  static const char *const words[] = { "NaN", "Infinity", "-Infinity" };
  for (guint i = 0; i < G_N_ELEMENTS (words) && reader->python; i++)
    if (is_word (reader, words[i]))
      return words[i];
  return NULL;
}

SlJsonKind
sl_json_reader_kind (SlJsonReader *reader)
{
  const char c = peek (reader);
  if (c == '{')
    return SL_JSON_OBJECT;
  if (c == '[')
    return SL_JSON_LIST;
  if (c == '"')
    return SL_JSON_STRING;
  if (c == '-' || g_ascii_isdigit (c) || python_word (reader) != NULL)
    return SL_JSON_NUMBER;
  return is_word (reader, "true")    ? SL_JSON_TRUE
         : is_word (reader, "false") ? SL_JSON_FALSE
         : is_word (reader, "null")  ? SL_JSON_NULL
                                     : SL_JSON_NOTHING;
}

/* Whether a value of @kind comes next. */
static gboolean
expect (SlJsonReader *reader, SlJsonKind kind)
{
  const SlJsonKind got = sl_json_reader_kind (reader);
  if (reader->error != NULL || got == kind)
    return reader->error == NULL;
  if (got != SL_JSON_NOTHING)
    return sl_json_reader_fail (reader, "expected %s, got %s", kinds[kind], kinds[got]);
  if (reader->at == reader->end)
    return sl_json_reader_fail (reader, "expected %s, but the file ends", kinds[kind]);
  return sl_json_reader_fail (reader, "expected %s, got '%.*s'", kinds[kind],
                              (int) MIN (SHOWN, reader->end - reader->at), reader->at);
}

gboolean
sl_json_reader_enter (SlJsonReader *reader, SlJsonKind kind)
{
  if (!expect (reader, kind))
    return FALSE;
  if (reader->depth == SL_JSON_MAX_DEPTH)
    return sl_json_reader_fail (reader, "more than %d objects and lists within each other",
                                SL_JSON_MAX_DEPTH);
  const guint64 bit = G_GUINT64_CONSTANT (1) << reader->depth++;
  reader->objects = kind == SL_JSON_OBJECT ? reader->objects | bit : reader->objects & ~bit;
  reader->begun &= ~bit;
  reader->at++;
  return TRUE;
}

static gboolean
read_key (SlJsonReader *reader)
{
  if (!sl_json_reader_string (reader))
    return FALSE;
  g_string_assign (reader->key, reader->text->str);
  if (peek (reader) != ':')
    return sl_json_reader_fail (reader, "expected ':' behind \"%s\"", reader->key->str);
  reader->at++;
  return TRUE;
}

gboolean
sl_json_reader_next (SlJsonReader *reader)
{
  if (reader->error != NULL || reader->depth == 0)
    return FALSE;
  const guint64 bit = G_GUINT64_CONSTANT (1) << (reader->depth - 1);
  const gboolean is_object = (reader->objects & bit) != 0, begun = (reader->begun & bit) != 0;
  const char c = peek (reader), end = is_object ? '}' : ']';
  if (c == end) {
    reader->at++;
    reader->depth--;
    return FALSE;
  }
  if (begun && c != ',')
    return sl_json_reader_fail (
      reader, c == '\0' ? "expected ',' or '%c', but the file ends" : "expected ',' or '%c'", end);
  reader->at += begun;
  reader->begun |= bit;
  return !is_object || read_key (reader);
}

gboolean
sl_json_reader_number (SlJsonReader *reader, gdouble *number)
{
  char *end = NULL;
  if (!expect (reader, SL_JSON_NUMBER))
    return FALSE;
  const char *word = python_word (reader);
  if (word != NULL) {
    *number = g_ascii_strtod (word, NULL);
    reader->at += strlen (word);
    return TRUE;
  }
  const gsize length = strspn (reader->at, "+-.0123456789eE");
  *number = g_ascii_strtod (reader->at, &end);
  if (end != reader->at + length || !isfinite (*number))
    return sl_json_reader_fail (reader, "expected a number, got '%.*s'",
                                (int) MIN (length + 1, SHOWN), reader->at);
  reader->at = end;
  return TRUE;
}

gboolean
sl_json_reader_integer (SlJsonReader *reader, gint64 low, gint64 high, gint64 *number)
{
  gdouble value = 0;
  char *end = NULL;
  if (!expect (reader, SL_JSON_NUMBER))
    return FALSE;
  /* Digits alone are read without a rounding; 1e3 and 1.0 are whole numbers, too. */
  errno = 0;
  *number = g_ascii_strtoll (reader->at, &end, 10);
  const gboolean exact = errno == 0 && strchr (".eE", *end) == NULL;
  const char *text = reader->at;
  if (!sl_json_reader_number (reader, &value))
    return FALSE;
  const gboolean whole = exact || (value == floor (value) && fabs (value) < 9e18);
  if (!exact && whole)
    *number = (gint64) value;
  if (!whole || *number < low || *number > high)
    return sl_json_reader_fail (
      reader, "expected a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT ", got %.*s",
      low, high, (int) MIN (SHOWN, reader->at - text), text);
  return TRUE;
}

/* Four hexadecimal digits. */
static gboolean
read_unit (SlJsonReader *reader, guint *unit)
{
  *unit = 0;
  for (guint i = 0; i < 4; i++, reader->at++) {
    const gint digit = reader->at < reader->end ? g_ascii_xdigit_value (*reader->at) : -1;
    if (digit < 0)
      return sl_json_reader_fail (reader, "expected four hexadecimal digits behind '\\u'");
    *unit = *unit << 4 | (guint) digit;
  }
  return TRUE;
}

static gboolean
read_escape (SlJsonReader *reader)
{
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  const char c = reader->at < reader->end ? *reader->at++ : '\0';
  const char *known = c != '\0' ? strchr (from, c) : NULL;
  guint unit = 0, low = 0;
  if (known != NULL) {
    g_string_append_c (reader->text, to[known - from]);
    return TRUE;
  }
  if (c != 'u')
    return sl_json_reader_fail (reader, "a string with an unknown escape");
  if (!read_unit (reader, &unit))
    return FALSE;
  if (unit >= 0xd800 && unit < 0xdc00 && is_word (reader, "\\u")) {
    reader->at += 2;
    if (!read_unit (reader, &low))
      return FALSE;
    unit =
      low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
  }
  if (unit == 0)
    return sl_json_reader_fail (reader, "a string with a zero character");
  g_string_append_unichar (reader->text, unit >= 0xd800 && unit < 0xe000 ? 0xfffd : unit);
  return TRUE;
}

gboolean
sl_json_reader_string (SlJsonReader *reader)
{
  if (!expect (reader, SL_JSON_STRING))
    return FALSE;
  g_string_truncate (reader->text, 0);
  reader->at++;
  while (reader->at < reader->end && *reader->at != '"') {
    const gsize plain = strcspn (reader->at, "\"\\");
    g_string_append_len (reader->text, reader->at, (gssize) plain);
    reader->at += plain;
    if (*reader->at == '\0')
      break;
    if (*reader->at == '\\' && (reader->at++, !read_escape (reader)))
      return FALSE;
  }
  if (reader->at >= reader->end || *reader->at != '"')
    return sl_json_reader_fail (reader, reader->at < reader->end ? "a string with a zero character"
                                                                 : "a string without end");
  reader->at++;
  return g_utf8_validate (reader->text->str, (gssize) reader->text->len, NULL)
         || sl_json_reader_fail (reader, "a string that is no UTF-8");
}

/* A value that holds no others. */
static gboolean
skip_one (SlJsonReader *reader)
{
  gdouble number;
  const SlJsonKind kind = sl_json_reader_kind (reader);
  if (kind == SL_JSON_STRING)
    return sl_json_reader_string (reader);
  if (kind == SL_JSON_NUMBER)
    return sl_json_reader_number (reader, &number);
  if (kind == SL_JSON_NOTHING)
    return sl_json_reader_fail (reader, "expected a value");
  reader->at += strlen (kinds[kind]);
  return TRUE;
}

gboolean
sl_json_reader_skip (SlJsonReader *reader)
{
  const guint depth = reader->depth;
  do {
    const SlJsonKind kind = sl_json_reader_kind (reader);
    const gboolean holds = kind == SL_JSON_OBJECT || kind == SL_JSON_LIST;
    if (reader->error != NULL || !(holds ? sl_json_reader_enter (reader, kind) : skip_one (reader)))
      return FALSE;
    while (reader->depth > depth && !sl_json_reader_next (reader))
      if (reader->error != NULL)
        return FALSE;
  } while (reader->depth > depth);
  return TRUE;
}

gboolean
sl_json_reader_end (SlJsonReader *reader)
{
  if (reader->error == NULL && (peek (reader) != '\0' || reader->at < reader->end))
    return sl_json_reader_fail (reader, "more behind the end of the value");
  return reader->error == NULL;
}

gboolean
sl_json_reader_enter_if (SlJsonReader *reader, SlJsonKind kind)
{
  if (sl_json_reader_kind (reader) == kind)
    return sl_json_reader_enter (reader, kind);
  sl_json_reader_skip (reader);
  return FALSE;
}
