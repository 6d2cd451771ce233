/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Resampling of class masks, nearest cell. Without rotation a column of the frame's grid always
 * meets the same column of the model's, so both are looked up in tables.
 */
#include "postprocess/predictions/class_mask_map.h"

#include <math.h>
#include <string.h>

#define OUTSIDE (-1)

struct _SlClassMaskMap
{
  guint width, height; /* of @cells */
  guint8 *cells;
  gint *columns, *rows;
};

SlClassMaskMap *
sl_class_mask_map_new (void)
{
  return g_new0 (SlClassMaskMap, 1);
}

void
sl_class_mask_map_free (SlClassMaskMap *map)
{
  if (map == NULL)
    return;
  g_free (map->cells);
  g_free (map->columns);
  g_free (map->rows);
  g_free (map);
}

/* Cells over @frame pixels when a cell of the model covers @pixels of them. */
static guint
grid_size (gint frame, double pixels)
{
  const double n = frame / MAX (pixels, 1.0);
  return n >= 1 ? (guint) MIN (lrint (n), frame) : 1;
}

static void
resize (SlClassMaskMap *map, guint width, guint height)
{
  if (map->width == width && map->height == height)
    return;
  map->cells = g_realloc_n (map->cells, width, height);
  map->columns = g_renew (gint, map->columns, width);
  map->rows = g_renew (gint, map->rows, height);
  map->width = width;
  map->height = height;
}

static gint
cell_at (double position, guint n)
{
  return position >= 0 && position < n ? (gint) position : OUTSIDE;
}

/* Which of @n cells of the mask lies under the centre of each cell of the grid; position = cell *
 * @step + @start. */
static gboolean
fill_table (gint *table, guint size, double start, double step, guint n)
{
  gboolean same = size == n;
  for (guint i = 0; i < size; i++) {
    table[i] = cell_at (start + step * (i + 0.5), n);
    same = same && table[i] == (gint) i;
  }
  return same;
}

static void
copy_straight (SlClassMaskMap *map, const SlClassMask *mask)
{
  for (guint y = 0; y < map->height; y++) {
    guint8 *to = map->cells + (gsize) y * map->width;
    if (map->rows[y] == OUTSIDE) {
      memset (to, SL_MASK_VOID, map->width);
      continue;
    }
    const guint8 *from = mask->classes + (gsize) map->rows[y] * mask->width;
    for (guint x = 0; x < map->width; x++)
      to[x] = map->columns[x] == OUTSIDE ? SL_MASK_VOID : from[map->columns[x]];
  }
}

/* @back: cells of the frame's grid -> cells of the mask. */
static void
copy_turned (SlClassMaskMap *map, const SlClassMask *mask, const SlAffine *back)
{
  for (guint y = 0; y < map->height; y++)
    for (guint x = 0; x < map->width; x++) {
      double mx, my;
      sl_affine_apply (back, x + 0.5, y + 0.5, &mx, &my);
      const gint column = cell_at (mx, mask->width), row = cell_at (my, mask->height);
      map->cells[(gsize) y * map->width + x] =
        column == OUTSIDE || row == OUTSIDE
          ? SL_MASK_VOID
          : mask->classes[(gsize) row * mask->width + (guint) column];
    }
}

static void
count_cells (const SlClassMask *mask, guint32 cells[256])
{
  const gsize n = (gsize) mask->width * mask->height;
  memset (cells, 0, 256 * sizeof *cells);
  for (gsize i = 0; i < n; i++)
    cells[mask->classes[i]]++;
}

void
sl_class_mask_map_run (SlClassMaskMap *map, const SlClassMask *mask,
                       const SlFrameGeometry *geometry, SlClassMask *out, guint32 cells[256])
{
  SlAffine back;
  *out = (SlClassMask){ 0 };
  if (mask->width == 0 || mask->height == 0 || !sl_affine_invert (&geometry->affine, &back))
    return;
  const double cell_w = (double) geometry->tensor_width / mask->width,
               cell_h = (double) geometry->tensor_height / mask->height;
  resize (map,
          grid_size (geometry->frame_width,
                     hypot (geometry->affine.xx * cell_w, geometry->affine.xy * cell_h)),
          grid_size (geometry->frame_height,
                     hypot (geometry->affine.yx * cell_w, geometry->affine.yy * cell_h)));
  const double px = (double) geometry->frame_width / map->width,
               py = (double) geometry->frame_height / map->height;
  back = (SlAffine){ back.xx * px / cell_w, back.xy * py / cell_w, back.x0 / cell_w,
                     back.yx * px / cell_h, back.yy * py / cell_h, back.y0 / cell_h };
  *out = (SlClassMask){ map->width, map->height, map->cells, mask->background };
  if (back.xy != 0 || back.yx != 0) {
    copy_turned (map, mask, &back);
  } else {
    const gboolean same_columns =
      fill_table (map->columns, map->width, back.x0, back.xx, mask->width);
    const gboolean same_rows = fill_table (map->rows, map->height, back.y0, back.yy, mask->height);
    if (same_columns && same_rows)
      *out = *mask;
    else
      copy_straight (map, mask);
  }
  count_cells (out, cells);
}
