/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * FlexBuffer layout, front to back: keys (NUL-terminated), vector of offsets to the keys, the map's
 * own header and values, one type byte a value, then the root: offset to the map, its type, its
 * width.
 */
#include "tests/support/flexbuffer_writer.h"

#include <string.h>

enum
{
  TYPE_INT = 1,
  TYPE_FLOAT = 3,
  TYPE_MAP = 9,
  TYPE_BOOL = 26,
};

static int
by_key (const void *a, const void *b)
{
  return strcmp (((const FlexEntry *) a)->key, ((const FlexEntry *) b)->key);
}

static void
put_uint (GByteArray *out, guint64 value, guint width)
{
  guint64 le = GUINT64_TO_LE (value);
  g_byte_array_append (out, (const guint8 *) &le, width);
}

static void
put_value (GByteArray *out, const FlexEntry *entry, guint width)
{
  gfloat f = (gfloat) entry->value;
  if (entry->kind != FLEX_FLOAT)
    put_uint (out, (guint64) (gint64) entry->value, width);
  else if (width == 8)
    g_byte_array_append (out, (const guint8 *) &entry->value, 8);
  else
    g_byte_array_append (out, (const guint8 *) &f, 4);
}

GBytes *
flex_map (const FlexEntry *entries, guint n, guint width)
{
  static const guint8 types[] = {
    [FLEX_INT] = TYPE_INT, [FLEX_FLOAT] = TYPE_FLOAT, [FLEX_BOOL] = TYPE_BOOL
  };
  guint8 log2_width = width == 8 ? 3 : 2;
  g_autofree FlexEntry *sorted = g_memdup2 (entries, n * sizeof *entries);
  g_autofree guint *key_at = g_new (guint, n + 1);
  GByteArray *out = g_byte_array_new ();

  qsort (sorted, n, sizeof *sorted, by_key);
  for (guint i = 0; i < n; i++) {
    key_at[i] = out->len;
    g_byte_array_append (out, (const guint8 *) sorted[i].key, (guint) strlen (sorted[i].key) + 1);
  }
  while (out->len % width != 0)
    put_uint (out, 0, 1);
  put_uint (out, n, width);
  guint keys = out->len;
  for (guint i = 0; i < n; i++)
    put_uint (out, out->len - key_at[i], width);

  put_uint (out, out->len - keys, width);
  put_uint (out, width, width);
  put_uint (out, n, width);
  guint map = out->len;
  for (guint i = 0; i < n; i++)
    put_value (out, &sorted[i], width);
  for (guint i = 0; i < n; i++)
    put_uint (out, (guint) (types[sorted[i].kind] << 2 | log2_width), 1);

  while (out->len % width != 0)
    put_uint (out, 0, 1);
  put_uint (out, out->len - map, width);
  put_uint (out, (guint) (TYPE_MAP << 2 | log2_width), 1);
  put_uint (out, width, 1);
  return g_byte_array_free_to_bytes (out);
}
