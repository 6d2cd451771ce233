/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A cell that a zone touches is ignored. */
#include "plugins/motion/ignored.h"

#include "plugins/motion/moving.h"
#include "plugins/redact/hide.h"

G_STATIC_ASSERT (SL_CELL == SL_HIDE_BLOCK);

void
sl_ignored_clear (SlIgnored *ignored)
{
  sl_regions_free (ignored->zones);
  sl_areas_clear (&ignored->cells);
  *ignored = (SlIgnored){ 0 };
}

gboolean
sl_ignored_set (SlIgnored *ignored, const char *text, const char *property, GError **error)
{
  sl_ignored_clear (ignored);
  return sl_regions_parse_zones (text, property, &ignored->zones, error);
}

const guint8 *
sl_ignored_cells (SlIgnored *ignored, const SlBackground *background)
{
  const gint width = background->width, height = background->height;
  if (ignored->zones == NULL)
    return NULL;
  if (width == ignored->width && height == ignored->height)
    return ignored->cells.blocks;
  ignored->width = width;
  ignored->height = height;
  sl_areas_begin (&ignored->cells, width, height, FALSE);
  for (guint i = 0; i < ignored->zones->list->len; i++) {
    const SlRegion *zone = &g_array_index (ignored->zones->list, SlRegion, i);
    sl_areas_set_polygon (&ignored->cells, zone->points, zone->n_points, width, height, FALSE,
                          TRUE);
  }
  return ignored->cells.blocks;
}
