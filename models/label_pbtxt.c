/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Class names from a label map of TensorFlow's object detection: item { id: 1 name: 'cat'
 * display_name: 'Cat' } */
#include <string.h>

#include "models/label_list.h"
#include "models/literal.h"

typedef struct
{
  SlLabelList *list;
  const char *text;
  SlLiteral cursor;
  GString *key, *value;
} Reading;

static const char *
behind_space (const char *p)
{
  for (;;) {
    p += strspn (p, " \t\r\n");
    if (*p != '#')
      return p;
    p += strcspn (p, "\n");
  }
}

static gboolean
probe (const char *text, const char *extension)
{
  const char *p = behind_space (text);
  if (!g_str_has_prefix (p, "item"))
    return FALSE;
  p = behind_space (p + strlen ("item"));
  if (*p == ':')
    p = behind_space (p + 1);
  return *p == '{';
}

static gboolean
accept (Reading *r, char c)
{
  r->cursor.p = behind_space (r->cursor.p);
  return sl_literal_accept (&r->cursor, c);
}

static gboolean
unexpected (Reading *r, const char *expected, GError **error)
{
  guint line = 1;
  for (const char *p = r->text; p < r->cursor.p; p++)
    line += *p == '\n';
  return sl_label_list_fail (
    r->list, error, "line %u: expected %s, as in item { id: 1 name: 'cat' }", line, expected);
}

/* The fields of one item, behind its '{'. */
static gboolean
read_item (Reading *r, GError **error)
{
  g_autofree char *name = NULL, *shown = NULL;
  guint64 number = G_MAXUINT64;
  while (!accept (r, '}')) {
    if (!sl_literal_scalar (&r->cursor, r->key))
      return unexpected (r, "the name of a field or '}'", error);
    const gboolean colon = accept (r, ':');
    if (accept (r, '{')) {
      r->cursor.p--;
      if (!sl_literal_skip (&r->cursor, r->value))
        return unexpected (r, "'}'", error);
    } else if (!colon || !sl_literal_scalar (&r->cursor, r->value)) {
      return unexpected (r, "':' and a value", error);
    } else if (strcmp (r->key->str, "id") == 0) {
      if (!sl_label_number (r->value->str, &number))
        return unexpected (r, "a number behind id", error);
    } else if (strcmp (r->key->str, "name") == 0 && name == NULL) {
      name = g_strdup (r->value->str);
    } else if (strcmp (r->key->str, "display_name") == 0 && shown == NULL) {
      shown = g_strdup (r->value->str);
    }
    if (!accept (r, ','))
      accept (r, ';');
  }
  if (number == G_MAXUINT64 || (name == NULL && shown == NULL))
    return unexpected (r, "an id and a name in the item that ends here", error);
  return sl_label_list_set (r->list, number, shown != NULL ? shown : name, 0, error);
}

static gboolean
read_labels (SlLabelList *list, const char *text, GError **error)
{
  g_autoptr (GString) key = g_string_new (NULL), value = g_string_new (NULL);
  Reading reading = { list, text, { text, text + strlen (text) }, key, value };
  while (reading.cursor.p = behind_space (reading.cursor.p),
         reading.cursor.p < reading.cursor.end) {
    if (!sl_literal_scalar (&reading.cursor, key) || strcmp (key->str, "item") != 0)
      return unexpected (&reading, "item", error);
    accept (&reading, ':');
    if (!accept (&reading, '{'))
      return unexpected (&reading, "'{' behind item", error);
    if (!read_item (&reading, error))
      return FALSE;
  }
  return TRUE;
}

const SlLabelFormat sl_label_pbtxt = { "label map", probe, read_labels };
