/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Peaks of heat maps. Called for each cell whose number is high enough to be an object. */
#include "postprocess/peaks.h"

gboolean
sl_map_is_peak (const SlPictureShape *map, const SlValues *values, const void *data, guint x,
                guint y, guint c)
{
  const guint right = MIN (x + 1, map->width - 1), bottom = MIN (y + 1, map->height - 1);
  const gfloat here = sl_map_number (map, values, data, x, y, c);
  for (guint v = y > 0 ? y - 1 : 0; v <= bottom; v++)
    for (guint u = x > 0 ? x - 1 : 0; u <= right; u++) {
      const gboolean before = v < y || (v == y && u < x);
      const gfloat other = sl_map_number (map, values, data, u, v, c);
      if (before ? other >= here : other > here)
        return FALSE;
    }
  return TRUE;
}
