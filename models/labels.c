/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Class names from text. The text is kept as one copy in which line ends became NULs; names point into it.
 */
#include "models/labels.h"

#include <string.h>

#include "base/show.h"
#include "sightline/error.h"
#include "models/file.h"

#define MAX_BYTES ((gsize) 16 << 20)
#define MAX_CLASSES 1000000

struct _SlLabels
{
  gatomicrefcount refs;
  char *origin;
  char *text;
  GPtrArray *names; /* const char *, NULL for a gap */
};

static gboolean
is_blank (char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static char *
trim (char *line)
{
  while (is_blank (*line))
    line++;
  char *end = line + strlen (line);
  while (end > line && is_blank (end[-1]))
    *--end = '\0';
  return line;
}

/* Splits "17  cat" or "17: cat" into its number and name; FALSE for any other line. */
static gboolean
split_number (char *line, guint *number, char **name)
{
  char *p = line;
  guint64 value = 0;
  while (g_ascii_isdigit (*p)) {
    value = MIN (value * 10 + (guint) (*p - '0'), (guint64) G_MAXUINT32);
    p++;
  }
  if (p == line)
    return FALSE;
  if (*p == ':')
    p++;
  if (!is_blank (*p))
    return FALSE;
  *number = (guint) value;
  *name = trim (p);
  return TRUE;
}

static gboolean
is_numbered (GPtrArray *lines)
{
  gboolean any = FALSE;
  for (guint i = 0; i < lines->len; i++) {
    guint number;
    char *name, *line = g_ptr_array_index (lines, i);
    if (line[0] == '\0')
      continue;
    if (!split_number (line, &number, &name))
      return FALSE;
    any = TRUE;
  }
  return any;
}

static const char *
name_or_gap (const char *name)
{
  return name[0] == '\0' || strcmp (name, "???") == 0 ? NULL : name;
}

static gboolean
over_limit (const char *origin, guint64 count, GError **error)
{
  g_set_error (error, SL_ERROR, SL_ERROR_LABELS, "labels %s: class %" G_GUINT64_FORMAT " is over the limit of %d classes", origin, count,
               MAX_CLASSES);
  return FALSE;
}

static gboolean
assign_numbered (SlLabels *labels, GPtrArray *lines, GError **error)
{
  for (guint i = 0; i < lines->len; i++) {
    guint number;
    char *name, *line = g_ptr_array_index (lines, i);
    if (line[0] == '\0' || !split_number (line, &number, &name))
      continue;
    if (number >= MAX_CLASSES)
      return over_limit (labels->origin, number, error);
    if (number >= labels->names->len)
      g_ptr_array_set_size (labels->names, (gint) number + 1);
    if (labels->names->pdata[number] != NULL) {
      g_set_error (error, SL_ERROR, SL_ERROR_LABELS, "labels %s: line %u names class %u again; it is '%s' already", labels->origin, i + 1,
                   number, (const char *) labels->names->pdata[number]);
      return FALSE;
    }
    labels->names->pdata[number] = (gpointer) name_or_gap (name);
  }
  return TRUE;
}

static gboolean
assign_plain (SlLabels *labels, GPtrArray *lines, GError **error)
{
  if (lines->len > MAX_CLASSES)
    return over_limit (labels->origin, lines->len, error);
  for (guint i = 0; i < lines->len; i++)
    g_ptr_array_add (labels->names, (gpointer) name_or_gap (g_ptr_array_index (lines, i)));
  return TRUE;
}

/* The lines of @text, trimmed, without trailing empty ones. Writes NULs into @text. */
static GPtrArray *
split_lines (char *text)
{
  GPtrArray *lines = g_ptr_array_new ();
  for (char *line = text; line != NULL;) {
    char *end = strchr (line, '\n');
    if (end != NULL)
      *end++ = '\0';
    g_ptr_array_add (lines, trim (line));
    line = end;
  }
  while (lines->len > 0 && ((const char *) g_ptr_array_index (lines, lines->len - 1))[0] == '\0')
    g_ptr_array_set_size (lines, (gint) lines->len - 1);
  return lines;
}

SlLabels *
sl_labels_parse (const char *text, gsize length, const char *origin, GError **error)
{
  const char *bad;
  if (length > MAX_BYTES) {
    g_set_error (error, SL_ERROR, SL_ERROR_LABELS, "labels %s: %" G_GSIZE_FORMAT " bytes; a labels file has at most %" G_GSIZE_FORMAT,
                 origin, length, MAX_BYTES);
    return NULL;
  }
  if (length > 0 && !g_utf8_validate_len (text, length, &bad)) {
    g_set_error (error, SL_ERROR, SL_ERROR_LABELS,
                 "labels %s: not UTF-8 text at byte %" G_GSIZE_FORMAT "; expected one class name a line, saved as UTF-8", origin,
                 (gsize) (bad - text));
    return NULL;
  }
  if (length >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0) {
    text += 3;
    length -= 3;
  }
  g_autoptr (SlLabels) labels = g_new0 (SlLabels, 1);
  g_atomic_ref_count_init (&labels->refs);
  labels->origin = g_strdup (origin);
  labels->text = g_strndup (length > 0 ? text : "", length);
  labels->names = g_ptr_array_new ();
  g_autoptr (GPtrArray) lines = split_lines (labels->text);
  if (lines->len == 0) {
    g_set_error (error, SL_ERROR, SL_ERROR_LABELS, "labels %s: the file is empty; expected one class name a line", origin);
    return NULL;
  }
  if (is_numbered (lines) ? !assign_numbered (labels, lines, error) : !assign_plain (labels, lines, error))
    return NULL;
  return g_steal_pointer (&labels);
}

SlLabels *
sl_labels_load (const char *path, GError **error)
{
  gsize length;
  g_autoptr (GBytes) bytes = sl_file_read (path, "a text file with one class name a line", MAX_BYTES, error);
  if (bytes == NULL) {
    g_prefix_error (error, "labels %s: ", path);
    sl_show_error (error);
    return NULL;
  }
  const char *text = g_bytes_get_data (bytes, &length);
  SlLabels *labels = sl_labels_parse (text, length, path, error);
  if (labels == NULL)
    sl_show_error (error);
  return labels;
}

SlLabels *
sl_labels_ref (SlLabels *labels)
{
  g_atomic_ref_count_inc (&labels->refs);
  return labels;
}

void
sl_labels_unref (SlLabels *labels)
{
  if (labels == NULL || !g_atomic_ref_count_dec (&labels->refs))
    return;
  g_ptr_array_unref (labels->names);
  g_free (labels->text);
  g_free (labels->origin);
  g_free (labels);
}

guint
sl_labels_count (const SlLabels *labels)
{
  return labels->names->len;
}

const char *
sl_labels_get (const SlLabels *labels, guint index)
{
  return index < labels->names->len ? g_ptr_array_index (labels->names, index) : NULL;
}

const char *
sl_labels_origin (const SlLabels *labels)
{
  return labels->origin;
}
