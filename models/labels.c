/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Class names from text: one name a line, numbered or not, is read here; the other formats have
 * files of their own (label_list.h).
 */
#include "models/labels.h"

#include <string.h>

#include "core/base/printable.h"
#include "core/base/fail.h"
#include "models/file.h"
#include "models/label_list.h"

#define MAX_BYTES ((gsize) 16 << 20)
/* Names are shorter. */
#define LONGEST_LINE 1000

struct _SlLabels
{
  gatomicrefcount refs;
  char *origin;
  GPtrArray *names; /* char *, NULL for a gap */
};

static const SlLabelFormat *const formats[] = { &sl_label_json, &sl_label_pbtxt, &sl_label_yaml,
                                                &sl_label_csv };

/* Splits "17  cat" or "17: cat" into its number and name; FALSE for any other line. */
static gboolean
split_number (const char *line, guint64 *number, const char **name)
{
  const char *p = line + strspn (line, "0123456789");
  const gsize digits = (gsize) (p - line);
  if (digits == 0)
    return FALSE;
  *number = digits > 18 ? G_MAXUINT32 : g_ascii_strtoull (line, NULL, 10);
  p += *p == ':';
  if (!g_ascii_isspace (*p))
    return FALSE;
  *name = p + strspn (p, " \t\f\v");
  return TRUE;
}

static gboolean
is_numbered (const GPtrArray *lines)
{
  guint64 number;
  const char *name;
  for (guint i = 0; i < lines->len; i++) {
    const SlLabelLine *line = lines->pdata[i];
    if (line->text[0] != '\0' && !split_number (line->text, &number, &name))
      return FALSE;
  }
  return lines->len > 0;
}

static gboolean
assign_numbered (SlLabelList *list, const GPtrArray *lines, GError **error)
{
  guint64 number;
  const char *name;
  for (guint i = 0; i < lines->len; i++) {
    const SlLabelLine *line = lines->pdata[i];
    if (line->text[0] != '\0' && split_number (line->text, &number, &name)
        && !sl_label_list_set (list, number, name, line->number, error))
      return FALSE;
  }
  return TRUE;
}

/* Lines that show that a file is something else: @line is one. */
static gboolean
check_line (const SlLabelList *list, const SlLabelLine *line, GError **error)
{
  const char *text = line->text;
  if (strlen (text) > LONGEST_LINE)
    return sl_label_list_fail (list, error,
                               "line %u has %" G_GSIZE_FORMAT
                               " characters, which is no name; expected one class name a line",
                               line->number, strlen (text));
  if (g_str_has_prefix (text, "names") && text[5 + strspn (text + 5, " ")] == '=') {
    g_autofree char *file = sl_printable (text + 5 + strspn (text + 5, " ="), SL_PRINTABLE_NAME);
    return sl_label_list_fail (
      list, error,
      "line %u: a file of Darknet that names the file with the class names; give that one, %s",
      line->number, file);
  }
  return TRUE;
}

static gboolean
assign_plain (SlLabelList *list, const GPtrArray *lines, GError **error)
{
  for (guint i = 0; i < lines->len; i++) {
    const SlLabelLine *line = lines->pdata[i];
    if (!check_line (list, line, error) || !sl_label_list_append (list, line->text, error))
      return FALSE;
  }
  return TRUE;
}

/* Whether each line has the path of a picture or of a text, as lists of training files do. */
static gboolean
is_file_list (const GPtrArray *lines)
{
  static const char *const endings[] = { ".jpg", ".jpeg", ".png", ".bmp", ".webp", ".txt", NULL };
  for (guint i = 0; i < lines->len; i++) {
    const SlLabelLine *line = lines->pdata[i];
    const char *dot = strrchr (line->text, '.');
    g_autofree char *ending = dot != NULL ? g_ascii_strdown (dot, -1) : NULL;
    if (ending == NULL || !g_strv_contains (endings, ending))
      return FALSE;
  }
  return TRUE;
}

/* What the text is that is no list of names; NULL = it may be one. */
static const char *
foreign_kind (const char *text, const char *extension)
{
  static const struct
  {
    const char *begin, *kind;
  } kinds[] = {
    { "<?xml", "XML" },
    { "<!", "HTML" },
    { "<html", "HTML" },
    { "<annotation", "XML" },
    { "#!", "a program" },
    { "version https://git-lfs", "a pointer of Git LFS: fetch the real file with 'git lfs pull'" },
  };
  const char *p = text + strspn (text, " \t\r\n");
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_ascii_strncasecmp (p, kinds[i].begin, strlen (kinds[i].begin)) == 0)
      return kinds[i].kind;
  return g_strcmp0 (extension, "pbtxt") == 0 ? "a .pbtxt file without items"
         : g_strcmp0 (extension, "py") == 0  ? "a program"
                                             : NULL;
}

static gboolean
read_names (SlLabelList *list, const char *text, GError **error)
{
  const char *dot = strrchr (list->origin, '.');
  g_autofree char *extension =
    dot != NULL && strlen (dot) <= 6 ? g_ascii_strdown (dot + 1, -1) : NULL;
  g_autoptr (GPtrArray) lines = sl_label_lines (text);
  if (lines->len == 0)
    return sl_label_list_fail (list, error, "the file is empty; expected one class name a line");
  if (is_numbered (lines))
    return assign_numbered (list, lines, error);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i]->probe (text, extension))
      return formats[i]->read (list, text, error);
  const char *kind =
    is_file_list (lines) ? "a list of other files" : foreign_kind (text, extension);
  if (kind != NULL)
    return sl_label_list_fail (
      list, error,
      "this is %s, and no list of names; expected one class name a line, a label map (.pbtxt), "
      "data.yaml, CSV or JSON",
      kind);
  return assign_plain (list, lines, error);
}

/* (transfer full): @text in UTF-8 without a byte-order mark; Windows' editors also write UTF-16. */
static char *
to_utf8 (const char *text, gsize length, const char *origin, GError **error)
{
  const char *bad = text;
  if (length >= 2 && (memcmp (text, "\xff\xfe", 2) == 0 || memcmp (text, "\xfe\xff", 2) == 0)) {
    gsize written = 0;
    char *utf8 = g_convert (text + 2, (gssize) length - 2, "UTF-8",
                            text[0] == '\xff' ? "UTF-16LE" : "UTF-16BE", NULL, &written, NULL);
    if (utf8 != NULL && strlen (utf8) == written)
      return utf8;
    g_free (utf8);
  } else if (length == 0 || g_utf8_validate_len (text, length, &bad)) {
    const gsize mark = length >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    return g_strndup (length > 0 ? text + mark : "", length - mark);
  }
  return sl_fail_null (error, SL_ERROR_LABELS,
                       "labels %s: not UTF-8 text at byte %" G_GSIZE_FORMAT
                       "; expected one class name a line, saved as UTF-8",
                       origin, (gsize) (bad - text));
}

static SlLabels *
labels_new (const char *origin, GPtrArray *names)
{
  SlLabels *labels = g_new0 (SlLabels, 1);
  g_atomic_ref_count_init (&labels->refs);
  labels->origin = g_strdup (origin);
  labels->names = names;
  return labels;
}

SlLabels *
sl_labels_parse (const char *text, gsize length, const char *origin, GError **error)
{
  if (length > MAX_BYTES)
    return sl_fail_null (error, SL_ERROR_LABELS,
                         "labels %s: %" G_GSIZE_FORMAT
                         " bytes; a labels file has at most %" G_GSIZE_FORMAT,
                         origin, length, MAX_BYTES);
  g_autofree char *utf8 = to_utf8 (text, length, origin, error);
  if (utf8 == NULL)
    return NULL;
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  SlLabelList list = { origin, names };
  if (!read_names (&list, utf8, error))
    return NULL;
  if (names->len == 0) {
    sl_label_list_fail (&list, error, "it names no class; expected one class name a line");
    return NULL;
  }
  return labels_new (origin, g_steal_pointer (&names));
}

SlLabels *
sl_labels_slice (const SlLabels *labels, guint first, guint n)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = first; i < first + n && i < labels->names->len; i++)
    g_ptr_array_add (names, g_strdup (labels->names->pdata[i]));
  return labels_new (labels->origin, names);
}

SlLabels *
sl_labels_load (const char *path, GError **error)
{
  gsize length;
  g_autoptr (GBytes) bytes =
    sl_file_read (path, "a text file with one class name a line", MAX_BYTES, error);
  if (bytes == NULL) {
    g_prefix_error (error, "labels %s: ", path);
    sl_printable_error (error);
    return NULL;
  }
  const char *text = g_bytes_get_data (bytes, &length);
  SlLabels *labels = sl_labels_parse (text, length, path, error);
  if (labels == NULL)
    sl_printable_error (error);
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
