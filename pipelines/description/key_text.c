/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One pass over the lines of a key file. Everything that is not a comment, a group or a key = value
 * is an error with its line; nothing is dropped in silence.
 */
#include "pipelines/description/key_text.h"

#include <string.h>

#include "core/base/redact.h"
#include "core/base/fail.h"

#define MAX_NAME 128

typedef struct
{
  const char *file;
  char *ref; /* @file as a GRefString */
  const char *at, *end;
  guint line; /* of @at */
  const char *repeated;
  char *group;      /* (nullable) before the first one */
  GHashTable *seen; /* "group\nkey" -> line */
  GArray *entries;
} Reader;

static void
entry_clear (gpointer data)
{
  SlKeyEntry *entry = data;
  g_ref_string_release (entry->file);
  g_free (entry->group);
  g_free (entry->key);
  g_free (entry->value);
}

GArray *
sl_key_entries_new (void)
{
  GArray *entries = g_array_new (FALSE, TRUE, sizeof (SlKeyEntry));
  g_array_set_clear_func (entries, entry_clear);
  return entries;
}

static gboolean G_GNUC_PRINTF (4, 5)
  fail (const Reader *reader, guint line, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  return sl_fail (error, SL_ERROR_FORMAT, "%s:%u: %s", reader->file, line, message);
}

/* (transfer full): the next line without its end and without blanks around it; NULL at the end. */
static char *
next_line (Reader *reader)
{
  if (reader->at >= reader->end)
    return NULL;
  const char *stop = memchr (reader->at, '\n', (gsize) (reader->end - reader->at));
  const gsize length = (gsize) ((stop != NULL ? stop : reader->end) - reader->at);
  char *line = g_strstrip (g_strndup (reader->at, length));
  reader->at += length + (stop != NULL);
  reader->line++;
  return line;
}

gboolean
sl_key_text_continues (const char *line)
{
  gsize n = 0;
  const gsize length = strlen (line);
  while (n < length && line[length - 1 - n] == '\\')
    n++;
  return n % 2 == 1;
}

/* Appends the lines that continue @line; comments between them are skipped. */
static char *
join_lines (Reader *reader, char *line)
{
  if (!sl_key_text_continues (line))
    return line;
  GString *whole = g_string_new (line);
  g_free (line);
  gboolean more = TRUE;
  while (more) {
    g_autofree char *next = next_line (reader);
    if (next != NULL && next[0] == '#')
      continue;
    g_string_truncate (whole, whole->len - 1);
    while (whole->len > 0 && g_ascii_isspace (whole->str[whole->len - 1]))
      g_string_truncate (whole, whole->len - 1);
    if (next != NULL && next[0] != '\0')
      g_string_append_printf (whole, " %s", next);
    more = next != NULL && sl_key_text_continues (next);
  }
  return g_string_free (whole, FALSE);
}

/* A short printable form of what a file says. */
static char *
shown (const char *text)
{
  g_autofree char *safe = sl_redact (text);
  g_autofree char *cut = g_utf8_substring (safe, 0, MIN (g_utf8_strlen (safe, -1), 60));
  return g_strdup_printf ("'%s'%s", cut, strlen (cut) < strlen (safe) ? "..." : "");
}

static void
add_entry (Reader *reader, guint number, const char *key, const char *value)
{
  SlKeyEntry entry = { .file = g_ref_string_acquire (reader->ref),
                       .line = number,
                       .group = g_strdup (reader->group) };
  entry.key = g_strdup (key);
  entry.value = g_strstrip (g_strdup (value));
  g_array_append_val (reader->entries, entry);
}

static gboolean
take_group (Reader *reader, const char *line, guint number, GError **error)
{
  const gsize length = strlen (line);
  g_autofree char *got = shown (line);
  if (line[length - 1] != ']')
    return fail (reader, number, error, "expected [GROUP] with ']' at the end of the line, got %s",
                 got);
  g_autofree char *name = g_strstrip (g_strndup (line + 1, length - 2));
  if (name[0] == '\0' || strlen (name) > MAX_NAME || strpbrk (name, "[]") != NULL)
    return fail (reader, number, error,
                 "expected a group's name of 1 to %d bytes without brackets, got %s", MAX_NAME,
                 got);
  g_free (reader->group);
  reader->group = g_steal_pointer (&name);
  add_entry (reader, number, "", "");
  return TRUE;
}

static gboolean
check_once (Reader *reader, const char *key, guint number, GError **error)
{
  if (g_strcmp0 (key, reader->repeated) == 0)
    return TRUE;
  g_autofree char *both = g_strdup_printf ("%s\n%s", reader->group, key);
  const guint before = GPOINTER_TO_UINT (g_hash_table_lookup (reader->seen, both));
  if (before != 0)
    return fail (reader, number, error, "[%s] %s: stated on line %u already; expected it once",
                 reader->group, key, before);
  g_hash_table_insert (reader->seen, g_steal_pointer (&both), GUINT_TO_POINTER (number));
  return TRUE;
}

static gboolean
take_key (Reader *reader, const char *line, guint number, GError **error)
{
  const char *equals = strchr (line, '=');
  g_autofree char *got = shown (line);
  if (equals == NULL)
    return fail (reader, number, error, "expected KEY=VALUE, [GROUP] or # comment, got %s", got);
  g_autofree char *key = g_strstrip (g_strndup (line, (gsize) (equals - line)));
  if (key[0] == '\0' || strlen (key) > MAX_NAME || strpbrk (key, " \t[]") != NULL)
    return fail (reader, number, error,
                 "expected a key of 1 to %d bytes without blanks before '=', got %s", MAX_NAME,
                 got);
  if (reader->group == NULL)
    return fail (reader, number, error, "%s: expected a [GROUP] before the first key", key);
  if (!check_once (reader, key, number, error))
    return FALSE;
  add_entry (reader, number, key, equals + 1);
  return TRUE;
}

static gboolean
take_lines (Reader *reader, GError **error)
{
  char *line;
  while ((line = next_line (reader)) != NULL) {
    const guint number = reader->line;
    gboolean good = TRUE;
    if (line[0] == '[') {
      good = take_group (reader, line, number, error);
    } else if (line[0] != '\0' && line[0] != '#') {
      line = join_lines (reader, line);
      good = take_key (reader, line, number, error);
    }
    g_free (line);
    if (!good)
      return FALSE;
  }
  return TRUE;
}

static guint
line_of (const char *text, const char *at)
{
  guint line = 1;
  for (; text < at; text++)
    line += *text == '\n';
  return line;
}

/* Control characters have no meaning in any value, and would end up on terminals. */
static gboolean
check_bytes (const Reader *reader, const char *text, gsize length, GError **error)
{
  const char *bad;
  if (!g_utf8_validate_len (text, length, &bad))
    return fail (reader, line_of (text, bad), error,
                 "byte 0x%02x is no UTF-8; expected a text file", (guint8) *bad);
  for (gsize i = 0; i < length; i++)
    if (g_ascii_iscntrl (text[i]) && text[i] != '\n' && text[i] != '\r' && text[i] != '\t')
      return fail (reader, line_of (text, text + i), error,
                   "control character 0x%02x; expected a text file", (guint8) text[i]);
  return TRUE;
}

gboolean
sl_key_text_parse (const char *text, gsize length, const char *file, const char *repeated,
                   GArray *entries, GError **error)
{
  if (length > SL_KEY_TEXT_MAX)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "%s: expected a text file of at most %" G_GSIZE_FORMAT " bytes, got more", file,
                    SL_KEY_TEXT_MAX);
  Reader reader = {
    .file = file, .at = text, .end = text + length, .repeated = repeated, .entries = entries
  };
  if (!check_bytes (&reader, text, length, error))
    return FALSE;
  reader.ref = g_ref_string_new (file);
  reader.seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gboolean good = take_lines (&reader, error);
  g_hash_table_unref (reader.seen);
  g_free (reader.group);
  g_ref_string_release (reader.ref);
  return good;
}
