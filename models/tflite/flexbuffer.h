/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads one FlexBuffer map of scalars: how TensorFlow Lite stores the options of custom operators.
 * Bounds-checked, without recursion; values that are not numbers count as absent.
 */
#pragma once

#include <glib.h>

/** A map inside a buffer, on the caller's stack; points into the buffer. */
typedef struct
{
  const guint8 *data;
  gsize size;
  gsize values, types; /* positions of the first value and the first type byte */
  gsize keys;          /* position of the first key offset */
  guint32 count;
  guint8 width, key_width; /* bytes of a value, of a key offset: 1, 2, 4 or 8 */
} SlFlexMap;

/** sl_flex_map_open: FALSE with SL_ERROR_FORMAT when @data is not a FlexBuffer whose root is a map.
 */
gboolean sl_flex_map_open (SlFlexMap *map, const void *data, gsize size, GError **error);
/** sl_flex_map_number: the number at @key, booleans as 0 and 1. FALSE when there is none. */
gboolean sl_flex_map_number (const SlFlexMap *map, const char *key, gdouble *value);
