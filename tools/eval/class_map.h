/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Maps of classes: a PNG of one channel, gray or with a palette, whose values are the numbers of
 * classes, not colours. GStreamer's decoder would make colours of them.
 */
#pragma once

#include <glib.h>

/** SlClassMap: @cells: a number for each pixel, row by row. */
typedef struct
{
  guint width, height;
  guint8 *cells;
} SlClassMap;

/** sl_class_map_read: of up to 8 bits a pixel and 64 million pixels; messages start with @path.
 * Free @map->cells with g_free(). */
gboolean sl_class_map_read (const char *path, SlClassMap *map, GError **error);
