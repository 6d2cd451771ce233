/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the formats of labels files share. */
#include "models/label_list.h"

#include <stdarg.h>
#include <string.h>

#include "core/base/fail.h"

/* Members and columns by what they hold, names in the order of preference. */
static const char *const name_keys[] = { "displayname", "name",      "label", "classname",
                                         "class",       "labelname", "title", NULL };
static const char *const number_keys[] = { "id",      "index",      "idx",        "classid",
                                           "labelid", "categoryid", "classindex", "number",
                                           "",        NULL };
static const char *const list_keys[] = { "names",      "id2label",   "labels",     "classes",
                                         "classnames", "labelnames", "categories", "labelmap",
                                         "classmap",   "label2id",   "classtoidx", NULL };

gboolean
sl_label_list_fail (const SlLabelList *list, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  return sl_fail (error, SL_ERROR_LABELS, "labels %s: %s", list->origin, text);
}

gboolean
sl_label_list_set (SlLabelList *list, guint64 number, const char *name, guint line, GError **error)
{
  if (number >= SL_MAX_CLASSES)
    return sl_label_list_fail (list, error,
                               "class %" G_GUINT64_FORMAT " is over the limit of %d classes",
                               number, SL_MAX_CLASSES);
  if (number >= list->names->len)
    g_ptr_array_set_size (list->names, (gint) number + 1);
  const char *before = list->names->pdata[number];
  if (before != NULL && line > 0)
    return sl_label_list_fail (list, error, "line %u names class %u again; it is '%s' already",
                               line, (guint) number, before);
  if (before != NULL)
    return sl_label_list_fail (list, error, "class %u is named twice: '%s' and '%s'",
                               (guint) number, before, name);
  if (name != NULL && name[0] != '\0' && strcmp (name, "???") != 0)
    list->names->pdata[number] = g_strdelimit (g_strdup (name), "\r\n", ' ');
  return TRUE;
}

gboolean
sl_label_list_append (SlLabelList *list, const char *name, GError **error)
{
  return sl_label_list_set (list, list->names->len, name, 0, error);
}

gboolean
sl_label_number (const char *text, guint64 *number)
{
  const gsize length = strlen (text);
  if (length == 0 || length > 18 || strspn (text, "0123456789") != length)
    return FALSE;
  *number = g_ascii_strtoull (text, NULL, 10);
  return TRUE;
}

gboolean
sl_label_list_set_pairs (SlLabelList *list, GPtrArray *pairs, guint line, GError **error)
{
  gboolean numbers[2] = { TRUE, TRUE };
  guint64 number = 0;
  for (guint i = 0; i < pairs->len; i++)
    numbers[i % 2] = numbers[i % 2] && sl_label_number (pairs->pdata[i], &number);
  if (pairs->len == 0 || (!numbers[0] && !numbers[1]))
    return sl_label_list_fail (
      list, error, "line %u: expected a number and a name for each class, such as 0: cat", line);
  for (guint i = 0; i < pairs->len; i += 2) {
    const guint key = numbers[0] ? i : i + 1, value = numbers[0] ? i + 1 : i;
    if (!sl_label_number (pairs->pdata[key], &number)
        || !sl_label_list_set (list, number, pairs->pdata[value], 0, error))
      return FALSE;
  }
  return TRUE;
}

/* One more than the place of @key, whose words may have blanks, '-' or '_' between; 0 = none. */
static guint
place_in (const char *const *keys, const char *key)
{
  g_autoptr (GString) bare = g_string_new (NULL);
  for (const char *p = key; *p != '\0' && bare->len < 32; p++)
    if (strchr ("_- ", *p) == NULL)
      g_string_append_c (bare, g_ascii_tolower (*p));
  for (guint i = 0; keys[i] != NULL; i++)
    if (strcmp (keys[i], bare->str) == 0)
      return i + 1;
  return 0;
}

guint
sl_label_key_rank (const char *key)
{
  return place_in (name_keys, key);
}

gboolean
sl_label_key_is_number (const char *key)
{
  return place_in (number_keys, key) > 0;
}

gboolean
sl_label_key_is_list (const char *key)
{
  return place_in (list_keys, key) > 0;
}

static gboolean
is_comment (const char *line)
{
  return (line[0] == '#' && line[1] != '\0')
         || (line[0] == '/' && line[1] == '/' && line[2] != '\0');
}

static SlLabelLine *
line_new (const char *text, gsize length, guint number)
{
  while (length > 0 && g_ascii_isspace (text[0]))
    text++, length--;
  while (length > 0 && g_ascii_isspace (text[length - 1]))
    length--;
  SlLabelLine *line = g_malloc0 (sizeof *line + length + 1);
  line->number = number;
  memcpy (line->text, text, length);
  return line;
}

GPtrArray *
sl_label_lines (const char *text)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);
  gboolean commented = FALSE;
  guint number = 0;
  for (const char *at = text;
       at != NULL && lines->len <= SL_MAX_CLASSES + 1;) { /* one may be titles */
    const char *end = strpbrk (at, "\r\n"); /* Windows has both, old Macs the first alone */
    g_autofree SlLabelLine *line =
      line_new (at, end != NULL ? (gsize) (end - at) : strlen (at), ++number);
    at = end == NULL ? NULL : end[0] == '\r' && end[1] == '\n' ? end + 2 : end + 1;
    const gboolean comment = is_comment (line->text);
    commented |= comment && lines->len == 0;
    if (!comment && (line->text[0] != '\0' || lines->len > 0 || !commented))
      g_ptr_array_add (lines, g_steal_pointer (&line));
  }
  while (lines->len > 0 && ((const SlLabelLine *) lines->pdata[lines->len - 1])->text[0] == '\0')
    g_ptr_array_set_size (lines, (gint) lines->len - 1);
  return lines;
}
