/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layout: the size of the trie in bytes, 32 bits; a double-array trie as the library Darts-clone
 * writes it; the replacements, each with a zero behind it. A unit of the trie has a label, an
 * offset to its children, and a bit that says whether a value follows. Every index is checked at
 * its use. https://github.com/s-yata/darts-clone
 */
#include "models/text/charsmap.h"

#include <string.h>

#include "core/base/fail.h"

/* Longest replacement; a longer one ends the search, as damage does. */
#define MAX_TEXT 256

struct _SlCharsmap
{
  guint32 *units;
  gsize n_units, n_texts;
  char *texts; /* with a zero at the end */
};

SlCharsmap *
sl_charsmap_new (const guint8 *data, gsize size, GError **error)
{
  guint32 trie = 0;
  if (size >= sizeof trie)
    memcpy (&trie, data, sizeof trie);
  trie = GUINT32_FROM_LE (trie);
  if (trie < sizeof (guint32) || trie % sizeof (guint32) != 0 || size < sizeof trie
      || trie > size - sizeof trie)
    return sl_fail_null (error, SL_ERROR_FORMAT,
                         "a precompiled character map of %" G_GSIZE_FORMAT " bytes says that its "
                         "trie has %u; the file is damaged or truncated",
                         size, trie);
  SlCharsmap *map = g_new0 (SlCharsmap, 1);
  map->n_units = trie / sizeof (guint32);
  map->units = g_new (guint32, map->n_units);
  memcpy (map->units, data + sizeof trie, trie);
  for (gsize i = 0; i < map->n_units; i++)
    map->units[i] = GUINT32_FROM_LE (map->units[i]);
  map->n_texts = size - sizeof trie - trie;
  map->texts = g_malloc0 (map->n_texts + 1);
  memcpy (map->texts, data + sizeof trie + trie, map->n_texts);
  return map;
}

void
sl_charsmap_free (SlCharsmap *map)
{
  if (map == NULL)
    return;
  g_free (map->units);
  g_free (map->texts);
  g_free (map);
}

static guint32
offset_of (guint32 unit)
{
  return (unit >> 10) << ((unit & (1u << 9)) >> 6);
}

const char *
sl_charsmap_find (const SlCharsmap *map, const char *text, gsize length, gboolean longest,
                  gsize *matched)
{
  const char *found = NULL;
  gsize node = offset_of (map->units[0]);
  for (gsize i = 0; i < length && (found == NULL || longest); i++) {
    const guint8 byte = (guint8) text[i];
    node ^= byte;
    if (byte == 0 || node >= map->n_units)
      break;
    const guint32 unit = map->units[node];
    if ((unit & ((1u << 31) | 0xff)) != byte)
      break;
    node ^= offset_of (unit);
    if ((unit >> 8 & 1) == 0)
      continue;
    if (node >= map->n_units)
      break;
    const guint32 value = map->units[node] & ((1u << 31) - 1);
    if (value >= map->n_texts || strnlen (map->texts + value, MAX_TEXT + 1) > MAX_TEXT
        || !g_utf8_validate (map->texts + value, -1, NULL))
      break;
    found = map->texts + value;
    *matched = i + 1;
  }
  return found;
}
