/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes of feature maps. Called by decoders when they are opened and for each survivor. */
#include "postprocess/grid.h"

gboolean
sl_grid_init (SlGrid *grid, gint32 width, gint32 height, const guint *strides, guint n_strides,
              guint per_cell)
{
  guint64 rows = 0;
  *grid = (SlGrid){ 0 };
  if (width <= 0 || height <= 0 || n_strides > SL_MAX_LEVELS)
    return FALSE;
  for (guint i = 0; i < n_strides; i++) {
    SlLevel *level = &grid->levels[i];
    level->stride = strides[i];
    level->width = ((guint) width + strides[i] - 1) / strides[i];
    level->height = ((guint) height + strides[i] - 1) / strides[i];
    level->first = (guint) rows;
    rows += (guint64) level->width * level->height * per_cell;
    if (rows > G_MAXINT32) {
      *grid = (SlGrid){ 0 };
      return FALSE;
    }
  }
  grid->n_levels = n_strides;
  grid->n_rows = (guint) rows;
  return TRUE;
}

const SlLevel *
sl_grid_level (const SlGrid *grid, guint row)
{
  guint level = grid->n_levels - 1;
  while (level > 0 && row < grid->levels[level].first)
    level--;
  return &grid->levels[level];
}
