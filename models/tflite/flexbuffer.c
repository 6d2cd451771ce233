/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * FlexBuffers are read from their end: last byte the root's width, before it the root's type,
 * before that the root. Offsets point backwards. A map has, before its values: offset to the vector
 * of keys, that vector's width, the number of values; behind its values one type byte each.
 */
#include "models/tflite/flexbuffer.h"

#include <string.h>

#include "core/base/fail.h"

/* Types, stored in the upper six bits of a type byte; the lower two are the logarithm of the width.
 */
enum
{
  FLEX_INT = 1,
  FLEX_UINT = 2,
  FLEX_FLOAT = 3,
  FLEX_INDIRECT_INT = 6,
  FLEX_INDIRECT_UINT = 7,
  FLEX_INDIRECT_FLOAT = 8,
  FLEX_MAP = 9,
  FLEX_BOOL = 26,
};

#define MAX_ENTRIES 1024

static gboolean
inside (const SlFlexMap *map, guint64 at, guint64 bytes)
{
  return at <= map->size && bytes <= map->size - at;
}

static gboolean
valid_width (guint64 width)
{
  return width == 1 || width == 2 || width == 4 || width == 8;
}

static guint64
load_uint (const SlFlexMap *map, gsize at, guint width)
{
  guint64 value = 0;
  for (guint i = width; i > 0; i--)
    value = value << 8 | map->data[at + i - 1];
  return value;
}

static gdouble
load_int (const SlFlexMap *map, gsize at, guint width)
{
  const guint64 raw = load_uint (map, at, width);
  const guint shift = 64 - 8 * width;
  return (gdouble) ((gint64) (raw << shift) >> shift);
}

static gboolean
load_float (const SlFlexMap *map, gsize at, guint width, gdouble *value)
{
  const guint64 raw = load_uint (map, at, width);
  if (width == 4) {
    const guint32 bits = (guint32) raw;
    gfloat single;
    memcpy (&single, &bits, sizeof single);
    *value = (gdouble) single;
    return TRUE;
  }
  memcpy (value, &raw, sizeof *value);
  return width == 8;
}

/* Follows the offset of @width bytes at @at backwards; FALSE when it leaves the buffer. */
static gboolean
follow (const SlFlexMap *map, gsize at, guint width, gsize *target)
{
  const guint64 offset = load_uint (map, at, width);
  if (offset == 0 || offset > at)
    return FALSE;
  *target = at - (gsize) offset;
  return TRUE;
}

static gboolean
open_map (SlFlexMap *map)
{
  gsize keys;
  if (map->size < 3)
    return FALSE;
  const guint root_width = map->data[map->size - 1];
  const guint8 root_type = map->data[map->size - 2];
  if (!valid_width (root_width) || map->size < 2 + root_width || root_type >> 2 != FLEX_MAP)
    return FALSE;
  if (!follow (map, map->size - 2 - root_width, root_width, &map->values))
    return FALSE;
  map->width = (guint8) (1u << (root_type & 3));
  if (map->values < 3u * map->width)
    return FALSE;
  const guint64 key_width = load_uint (map, map->values - 2u * map->width, map->width);
  const guint64 count = load_uint (map, map->values - map->width, map->width);
  if (!valid_width (key_width) || count > MAX_ENTRIES
      || !follow (map, map->values - 3u * map->width, map->width, &keys))
    return FALSE;
  map->key_width = (guint8) key_width;
  map->count = (guint32) count;
  map->keys = keys;
  map->types = map->values + (gsize) map->count * map->width;
  return inside (map, map->values, (guint64) map->count * (map->width + 1u))
         && inside (map, keys, (guint64) map->count * key_width);
}

static gboolean
key_matches (const SlFlexMap *map, guint32 index, const char *key)
{
  gsize at;
  const gsize length = strlen (key) + 1;
  if (!follow (map, map->keys + (gsize) index * map->key_width, map->key_width, &at))
    return FALSE;
  return inside (map, at, length) && memcmp (map->data + at, key, length) == 0;
}

gboolean
sl_flex_map_open (SlFlexMap *map, const void *data, gsize size, GError **error)
{
  *map = (SlFlexMap){ .data = data, .size = size };
  if (open_map (map))
    return TRUE;
  return sl_fail (error, SL_ERROR_FORMAT,
                  "the %" G_GSIZE_FORMAT " bytes of custom options are not a FlexBuffer map", size);
}

gboolean
sl_flex_map_number (const SlFlexMap *map, const char *key, gdouble *value)
{
  for (guint32 i = 0; i < map->count; i++) {
    if (!key_matches (map, i, key))
      continue;
    guint type = map->data[map->types + i] >> 2;
    guint width = map->width;
    gsize at = map->values + (gsize) i * map->width;
    if (type >= FLEX_INDIRECT_INT && type <= FLEX_INDIRECT_FLOAT) {
      width = 1u << (map->data[map->types + i] & 3);
      if (!follow (map, at, map->width, &at) || !inside (map, at, width))
        return FALSE;
      type = type - FLEX_INDIRECT_INT + FLEX_INT;
    }
    if (type == FLEX_FLOAT)
      return load_float (map, at, width, value);
    if (type != FLEX_INT && type != FLEX_UINT && type != FLEX_BOOL)
      return FALSE;
    *value = type == FLEX_INT ? load_int (map, at, width) : (gdouble) load_uint (map, at, width);
    return TRUE;
  }
  return FALSE;
}
