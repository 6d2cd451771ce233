/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Class names from YAML: a data.yaml of Ultralytics with names as a list or a map, in flow or block
 * style, and a plain list of "- NAME". No more of YAML than such files have.
 */
#include <string.h>

#include "core/base/prefix.h"
#include "models/label_list.h"
#include "models/literal.h"

/* Memory for the words of a map is taken by so many bytes. */
#define CHUNK 65536

typedef struct
{
  SlLabelList *list;
  char **lines;
  guint at; /* line */
} Reading;

static guint
indent_of (const char *line)
{
  return (guint) strspn (line, " ");
}

/* Whether nothing but blanks and a comment stands on @line. */
static gboolean
is_empty (const char *line)
{
  const char *p = line + strspn (line, " \t\r");
  return *p == '\0' || *p == '\n' || *p == '#' || sl_has_prefix (p, "---")
         || sl_has_prefix (p, "%YAML");
}

static gboolean
is_item (const char *text)
{
  return text[0] == '-' && (text[1] == ' ' || text[1] == '\0' || text[1] == '\n');
}

static gboolean
probe (const char *text, const char *extension)
{
  static const char *const keys[] = { "names:", "nc:", "train:" };
  gboolean items = TRUE, any = FALSE;
  if (g_strcmp0 (extension, "yaml") == 0 || g_strcmp0 (extension, "yml") == 0
      || g_str_has_prefix (text, "---"))
    return TRUE;
  for (const char *line = text; line != NULL;) {
    for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
      if (sl_has_prefix (line, keys[k]))
        return TRUE;
    if (!is_empty (line)) {
      any = TRUE;
      items = items && is_item (line);
    }
    line = strchr (line, '\n');
    line = line != NULL ? line + 1 : NULL;
  }
  return any && items;
}

/* Where the text of a scalar ends: at @stops outside of quotes, at " #", or at the end of the line.
 */
static const char *
scalar_end (const char *p, const char *stops)
{
  if (*p == '\'' || *p == '"') {
    const char quote = *p++;
    /* In single quotes '' is one quote. */
    while (*p != '\0' && (*p != quote || (quote == '\'' && p[1] == quote)))
      p += p[1] != '\0' && (*p == quote || (*p == '\\' && quote == '"')) ? 2 : 1;
    return *p == quote ? p + 1 : p;
  }
  const char *start = p;
  while (*p != '\0' && *p != '\n' && strchr (stops, *p) == NULL
         && !(*p == '#' && p > start && g_ascii_isspace (p[-1])))
    p++;
  return p;
}

/* (transfer full): the scalar between @from and @to, without quotes. */
static char *
scalar_text (const char *from, const char *to)
{
  g_autoptr (GString) text = g_string_new (NULL);
  SlLiteral cursor = { from, to };
  if (*from == '"' && sl_literal_scalar (&cursor, text))
    return g_string_free (g_steal_pointer (&text), FALSE);
  g_autofree char *raw = g_strstrip (g_strndup (from, (gsize) (to - from)));
  const gsize length = strlen (raw);
  if (length < 2 || raw[0] != '\'' || raw[length - 1] != '\'')
    return g_steal_pointer (&raw);
  for (gsize i = 1; i < length - 1; i++) {
    g_string_append_c (text, raw[i]);
    i += raw[i] == '\'' && raw[i + 1] == '\''; /* '' is one quote */
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gboolean
unexpected (const Reading *r, const char *expected, GError **error)
{
  return sl_label_list_fail (r->list, error, "line %u: expected %s", r->at + 1, expected);
}

/* [cat, dog] or {0: cat, 1: dog}, which may go over several lines. */
static gboolean
read_flow (Reading *r, const char *start, GError **error)
{
  g_autofree char *rest = g_strjoinv ("\n", r->lines + r->at + 1);
  g_autofree char *text = g_strconcat (start, "\n", rest, NULL);
  g_autoptr (GStringChunk) words = g_string_chunk_new (CHUNK);
  g_autoptr (GPtrArray) pairs = g_ptr_array_new ();
  const gboolean map = text[0] == '{';
  const char closing = map ? '}' : ']';
  const char *p = text + 1;
  for (;;) {
    p += strspn (p, " \t\r\n,");
    if (*p == '#') {
      p += strcspn (p, "\n");
      continue;
    }
    if (*p == closing || *p == '\0')
      break;
    for (guint i = 0; i < (map ? 2u : 1u); i++) {
      p += strspn (p, " \t\r\n");
      const char *end = scalar_end (p, map ? (i == 0 ? ":,}" : ",}") : ",]");
      g_autofree char *word = scalar_text (p, end);
      if (!map && !sl_label_list_append (r->list, word, error))
        return FALSE;
      if (map)
        g_ptr_array_add (pairs, g_string_chunk_insert (words, word));
      p = end + strspn (end, " \t\r");
      if (map && i == 0 && *p++ != ':')
        return unexpected (r, "{0: cat, 1: dog} behind names", error);
    }
    if (pairs->len > 2 * SL_MAX_CLASSES)
      return sl_label_list_fail (r->list, error, "names has more than %d classes, the limit",
                                 SL_MAX_CLASSES);
    if (*p != ',' && *p != closing && *p != '\n' && *p != '#')
      return unexpected (r, "a list such as [cat, dog] behind names", error);
  }
  if (*p != closing)
    return unexpected (r, map ? "a '}' at the end of names" : "a ']' at the end of names", error);
  return !map || sl_label_list_set_pairs (r->list, pairs, r->at + 1, error);
}

/* Lines "- cat" or "0: cat" from line r->at on, those of a key that is indented by @indent; -1 = of
 * none. */
static gboolean
read_block (Reading *r, gint indent, GError **error)
{
  g_autoptr (GPtrArray) pairs = g_ptr_array_new_with_free_func (g_free);
  const guint first = r->at;
  gint of_block = -1;
  gboolean items = FALSE;
  for (; r->lines[r->at] != NULL; r->at++) {
    const char *line = r->lines[r->at];
    if (is_empty (line))
      continue;
    const gint of_line = (gint) indent_of (line);
    const char *p = line + of_line;
    if (of_block < 0) {
      of_block = of_line;
      items = is_item (p);
    }
    if (of_line < of_block || of_line < indent || (of_line == indent && !items)
        || (of_line == of_block && items != is_item (p)))
      break;
    if (of_line > of_block)
      return unexpected (r, "one name a line", error);
    if (items)
      p += 1 + strspn (p + 1, " ");
    const char *end = scalar_end (p, items ? "" : ":");
    if (!items) {
      g_ptr_array_add (pairs, scalar_text (p, end));
      end += strspn (end, " ");
      if (*end != ':')
        return unexpected (r, "a number, ':' and a name, such as 0: cat", error);
      p = end + 1 + strspn (end + 1, " ");
      end = scalar_end (p, "");
    }
    g_autofree char *value = scalar_text (p, end);
    if (!items)
      g_ptr_array_add (pairs, g_steal_pointer (&value));
    else if (!sl_label_list_append (r->list, value, error))
      return FALSE;
  }
  return items || sl_label_list_set_pairs (r->list, pairs, first + 1, error);
}

/* What stands behind "KEY:" in @line, where KEY is one of class names; NULL = another line. */
static const char *
names_of (const char *line)
{
  const char *p = line + indent_of (line), *colon = strchr (p, ':');
  g_autofree char *key = colon != NULL ? g_strstrip (g_strndup (p, (gsize) (colon - p))) : NULL;
  return key != NULL && sl_label_key_is_list (key) ? colon + 1 + strspn (colon + 1, " \t\r") : NULL;
}

/* A stated number of classes, nc, that is not the number of names. */
static gboolean
check_number (const Reading *r, GError **error)
{
  guint64 nc;
  for (guint i = 0; r->lines[i] != NULL; i++) {
    if (!g_str_has_prefix (r->lines[i], "nc:"))
      continue;
    const char *p = r->lines[i] + 3 + strspn (r->lines[i] + 3, " ");
    g_autofree char *text = scalar_text (p, scalar_end (p, ""));
    if (sl_label_number (text, &nc) && nc != r->list->names->len)
      return sl_label_list_fail (r->list, error,
                                 "line %u: nc is %s, but there are %u names; expected as many",
                                 i + 1, text, r->list->names->len);
  }
  return TRUE;
}

static gboolean
read_lines (Reading *r, GError **error)
{
  while (r->lines[r->at] != NULL && is_empty (r->lines[r->at]))
    r->at++;
  if (r->lines[r->at] != NULL
      && (is_item (r->lines[r->at]) || g_ascii_isdigit (r->lines[r->at][0])))
    return read_block (r, -1, error);
  for (; r->lines[r->at] != NULL; r->at++) {
    const char *value = names_of (r->lines[r->at]);
    if (value == NULL || is_empty (r->lines[r->at]))
      continue;
    if (*value == '[' || *value == '{')
      return read_flow (r, value, error);
    if (*value != '\0' && *value != '#')
      return unexpected (
        r, "a list of names here; if this is another file with names, give that one", error);
    const gint indent = (gint) indent_of (r->lines[r->at++]);
    return read_block (r, indent, error);
  }
  return sl_label_list_fail (
    r->list, error,
    "a YAML file without class names; expected a line 'names:' with a list or a map of them");
}

static gboolean
read_labels (SlLabelList *list, const char *text, GError **error)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", 2 * SL_MAX_CLASSES);
  Reading reading = { list, lines, 0 };
  for (guint i = 0; lines[i] != NULL; i++)
    g_strchomp (lines[i]);
  return read_lines (&reading, error) && check_number (&reading, error);
}

const SlLabelFormat sl_label_yaml = { "YAML", probe, read_labels };
