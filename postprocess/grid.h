/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cells that a detector's rows stand for: one feature map a stride, row by row, and in each
 * cell one or more rows.
 */
#pragma once

#include "postprocess/decoder.h"

#define SL_MAX_LEVELS 8

/** One feature map: @width x @height cells of @stride pixels; its rows start at @first. */
typedef struct
{
  guint stride, width, height, first;
} SlLevel;

typedef struct
{
  guint n_levels, n_rows;
  SlLevel levels[SL_MAX_LEVELS];
} SlGrid;

/** sl_grid_init: maps of an input of @width x @height pixels, sizes rounded up, with @per_cell rows
 * a cell. FALSE, with @grid empty, when the size is unknown or there would be more than 2^31 - 1
 * rows. */
gboolean sl_grid_init (SlGrid *grid, gint32 width, gint32 height, const guint *strides,
                       guint n_strides, guint per_cell);
/** sl_grid_level: (not nullable): the map that @row < n_rows belongs to. */
const SlLevel *sl_grid_level (const SlGrid *grid, guint row);
