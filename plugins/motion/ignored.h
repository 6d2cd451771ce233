/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Zones whose motion does not count, such as a tree or a road, as cells of a background. Used by
 * slmotion and slcamera.
 */
#pragma once

#include "plugins/motion/background.h"
#include "plugins/redact/areas.h"

/** SlIgnored: zeroed = none. */
typedef struct
{
  /*< private >*/
  SlRegions *zones; /* (nullable) */
  SlAreas cells;
  gint width, height; /* of the background that @cells are for */
} SlIgnored;

void sl_ignored_clear (SlIgnored *ignored);
/** sl_ignored_set: @text: (nullable): zones with points alone, as sl_regions_parse_zones() takes
 * them. FALSE with @error set: the message begins with @property. */
gboolean sl_ignored_set (SlIgnored *ignored, const char *text, const char *property,
                         GError **error);
/** sl_ignored_cells: (transfer none) (nullable): for sl_moving_find(): which cells of @background
 * lie in a zone. No memory is allocated unless its size changes. */
const guint8 *sl_ignored_cells (SlIgnored *ignored, const SlBackground *background);
