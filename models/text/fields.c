/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/text/fields.h"

#include <string.h>

/* (transfer full) (nullable): the value at hand as a text; NULL for null, lists and objects, which
 * are skipped. */
static char *
read_scalar (SlJsonReader *r)
{
  const SlJsonKind kind = sl_json_reader_kind (r);
  gdouble number = 0;
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  if (kind == SL_JSON_STRING)
    return sl_json_reader_string (r) ? g_strdup (r->text->str) : NULL;
  if (kind == SL_JSON_NUMBER)
    return sl_json_reader_number (r, &number)
             ? g_strdup (g_ascii_dtostr (digits, sizeof digits, number))
             : NULL;
  sl_json_reader_skip (r);
  return kind == SL_JSON_TRUE    ? g_strdup ("true")
         : kind == SL_JSON_FALSE ? g_strdup ("false")
                                 : NULL;
}

static void
read_member (SlJsonReader *r, GHashTable *fields, const char *outer)
{
  char *key = outer != NULL ? g_strconcat (outer, ".", r->key->str, NULL) : g_strdup (r->key->str);
  char *value = read_scalar (r);
  if (value != NULL)
    g_hash_table_replace (fields, key, value);
  else
    g_free (key);
}

GHashTable *
sl_fields_read (SlJsonReader *r, const char *list, SlFieldsEach each, gpointer data)
{
  g_autoptr (GHashTable) fields = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (!sl_json_reader_enter (r, SL_JSON_OBJECT))
    return NULL;
  while (sl_json_reader_next (r)) {
    const SlJsonKind kind = sl_json_reader_kind (r);
    g_autofree char *key = g_strdup (r->key->str);
    if (kind == SL_JSON_OBJECT) {
      if (!sl_json_reader_enter (r, SL_JSON_OBJECT))
        return NULL;
      while (sl_json_reader_next (r))
        read_member (r, fields, key);
    } else if (kind == SL_JSON_LIST && g_strcmp0 (key, list) == 0) {
      if (!sl_json_reader_enter (r, SL_JSON_LIST))
        return NULL;
      while (sl_json_reader_next (r))
        if (!each (r, data))
          return NULL;
    } else {
      read_member (r, fields, NULL);
    }
  }
  return r->error == NULL ? g_steal_pointer (&fields) : NULL;
}

const char *
sl_fields_get (GHashTable *fields, const char *key)
{
  return g_hash_table_lookup (fields, key);
}

gboolean
sl_fields_bool (GHashTable *fields, const char *key, gboolean otherwise)
{
  const char *text = sl_fields_get (fields, key);
  return text != NULL ? strcmp (text, "true") == 0 : otherwise;
}

guint
sl_fields_number (GHashTable *fields, const char *key, guint most, guint otherwise)
{
  const char *text = sl_fields_get (fields, key);
  guint64 number = 0;
  return text != NULL && g_ascii_string_to_unsigned (text, 10, 0, most, &number, NULL)
           ? (guint) number
           : otherwise;
}
