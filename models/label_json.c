/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Class names from JSON, or from the literals of Python: a list of names or of objects with a name,
 * a map of numbers to names or of names to numbers, and a file of more, such as Hugging Face's
 * config.json or COCO's annotations, with one of these in it.
 */
#include <string.h>

#include "models/label_list.h"
#include "models/literal.h"

/* Files for text, one character a line, may begin with a bracket. */
#define SHORT_LINE 2

typedef struct
{
  SlLabelList *list;
  const char *text;
  SlLiteral cursor;
  GString *scratch;
  gboolean found; /* a list of names */
} Reading;

static gboolean
probe (const char *text, const char *extension)
{
  const char *p = text + strspn (text, " \t\r\n");
  if (*p != '{' && *p != '[')
    return FALSE;
  const gsize first = strcspn (p, "\r\n");
  const char *second = p + first + strspn (p + first, "\r\n");
  const gsize length = strcspn (second, "\r\n");
  /* "{" above "|", or "[PAD]" above "[UNK]", is a list of lines. */
  const gboolean characters =
    first == 1 && length > 0 && length <= SHORT_LINE && strchr ("{}[]\"' ", *second) == NULL;
  const gboolean token = first > 2 && memchr (p, '"', first) == NULL
                         && memchr (p, '\'', first) == NULL && memchr (p, ',', first) == NULL
                         && p[first - 1] == (*p == '[' ? ']' : '}') && length > 0;
  return g_strcmp0 (extension, "json") == 0 || (!characters && !token);
}

static guint
line_of (const Reading *r)
{
  guint line = 1;
  for (const char *p = r->text; p < r->cursor.p; p++)
    line += *p == '\n';
  return line;
}

static gboolean
unexpected (Reading *r, const char *expected, GError **error)
{
  return sl_label_list_fail (r->list, error, "line %u: expected JSON with %s", line_of (r),
                             expected);
}

static gboolean
next_is (Reading *r, char c)
{
  SlLiteral peek = r->cursor;
  return sl_literal_accept (&peek, c);
}

/* A ',' or the end of a list or an object that @closing ends. */
static gboolean
separated (Reading *r, char closing)
{
  return sl_literal_accept (&r->cursor, ',') || next_is (r, closing);
}

/* {"id": 1, "name": "cat"}: @number stays as it is where the object has none. */
static gboolean
read_object_name (Reading *r, GString *name, guint64 *number)
{
  guint best = G_MAXUINT;
  g_autoptr (GString) key = g_string_new (NULL);
  if (!sl_literal_accept (&r->cursor, '{'))
    return FALSE;
  while (!sl_literal_accept (&r->cursor, '}')) {
    if (!sl_literal_scalar (&r->cursor, key) || !sl_literal_accept (&r->cursor, ':'))
      return FALSE;
    const gboolean scalar = !next_is (r, '{') && !next_is (r, '[');
    const guint rank = sl_label_key_rank (key->str);
    if (!(scalar ? sl_literal_scalar (&r->cursor, r->scratch)
                 : sl_literal_skip (&r->cursor, r->scratch))
        || !separated (r, '}'))
      return FALSE;
    if (scalar && rank > 0 && rank < best) {
      best = rank;
      g_string_assign (name, r->scratch->str);
    } else if (scalar && sl_label_key_is_number (key->str)) {
      sl_label_number (r->scratch->str, number);
    }
  }
  return best != G_MAXUINT;
}

/* A name: "cat", null, ["n02123045", "tabby"], of which the last counts, or an object. */
static gboolean
read_name (Reading *r, GString *name, guint64 *number)
{
  g_string_truncate (name, 0);
  if (next_is (r, '{'))
    return read_object_name (r, name, number);
  const gboolean quoted = next_is (r, '"') || next_is (r, '\'');
  if (!sl_literal_accept (&r->cursor, '[')) {
    if (!sl_literal_scalar (&r->cursor, name))
      return FALSE;
    if (!quoted && (strcmp (name->str, "null") == 0 || strcmp (name->str, "None") == 0))
      g_string_truncate (name, 0);
    return TRUE;
  }
  while (!sl_literal_accept (&r->cursor, ']'))
    if (!sl_literal_scalar (&r->cursor, name) || !separated (r, ']'))
      return FALSE;
  return TRUE;
}

static gboolean
read_list (Reading *r, GError **error)
{
  g_autoptr (GString) name = g_string_new (NULL);
  sl_literal_accept (&r->cursor, '[');
  while (!sl_literal_accept (&r->cursor, ']')) {
    guint64 number = r->list->names->len;
    if (!read_name (r, name, &number) || !separated (r, ']'))
      return unexpected (r, "a list of names", error);
    if (!sl_label_list_set (r->list, number, name->str, 0, error))
      return FALSE;
  }
  r->found = TRUE;
  return TRUE;
}

/* An object: @nested, one that is class names and nothing else; else it may also be a file with
 * these in it. */
static gboolean
read_object (Reading *r, gboolean nested, GError **error)
{
  g_autoptr (GPtrArray) pairs = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) key = g_string_new (NULL), value = g_string_new (NULL);
  const guint line = line_of (r);
  guint64 number = 0;
  sl_literal_accept (&r->cursor, '{');
  while (!sl_literal_accept (&r->cursor, '}')) {
    if (!sl_literal_scalar (&r->cursor, key) || !sl_literal_accept (&r->cursor, ':'))
      return unexpected (r, "names of classes", error);
    const gboolean object = next_is (r, '{'), list = next_is (r, '[');
    if (!nested && (object || list) && !r->found && sl_label_key_is_list (key->str)) {
      if (!(object ? read_object (r, TRUE, error) : read_list (r, error)))
        return FALSE;
    } else if ((object || list) && !sl_label_number (key->str, &number)) {
      if (!sl_literal_skip (&r->cursor, r->scratch))
        return unexpected (r, "names of classes", error);
    } else {
      if (!read_name (r, value, &number))
        return unexpected (r, "a name or a number of a class", error);
      g_ptr_array_add (pairs, g_strdup (key->str));
      g_ptr_array_add (pairs, g_strdup (value->str));
    }
    if (!separated (r, '}'))
      return unexpected (r, "',' or '}'", error);
  }
  if (r->found)
    return TRUE;
  r->found = nested || pairs->len > 0;
  if (!r->found)
    return sl_label_list_fail (
      r->list, error,
      "a JSON file without class names; expected a list of names or a map such as {\"0\": "
      "\"cat\"}");
  return sl_label_list_set_pairs (r->list, pairs, line, error);
}

static gboolean
read_labels (SlLabelList *list, const char *text, GError **error)
{
  g_autoptr (GString) scratch = g_string_new (NULL);
  Reading reading = { list, text, { text, text + strlen (text) }, scratch, FALSE };
  if (!(next_is (&reading, '[') ? read_list (&reading, error)
                                : read_object (&reading, FALSE, error)))
    return FALSE;
  if (reading.cursor.p + strspn (reading.cursor.p, " \t\r\n") != reading.cursor.end)
    return unexpected (&reading, "nothing behind it", error);
  return TRUE;
}

const SlLabelFormat sl_label_json = { "JSON", probe, read_labels };
