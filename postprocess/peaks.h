/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers of maps by their place, and the places where a map is highest. */
#pragma once

#include "postprocess/picture_shape.h"
#include "postprocess/values.h"

/** sl_map_number: channel @c of the cell at @x, @y. */
static inline gfloat
sl_map_number (const SlPictureShape *map, const SlValues *values, const void *data, guint x,
               guint y, guint c)
{
  return sl_values_get (values, data,
                        ((gsize) y * map->width + x) * map->cell_step + c * map->channel_step);
}

/** sl_map_is_peak: whether none of its eight neighbours is higher; of equal ones the first is the
 * peak. */
gboolean sl_map_is_peak (const SlPictureShape *map, const SlValues *values, const void *data,
                         guint x, guint y, guint c);
