/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Polygons and masks as blocks. A block is touched by a polygon where an edge passes through it or
 * its centre is inside.
 */
#include "plugins/redact/areas.h"

#include <math.h>
#include <string.h>

#include "plugins/redact/hide.h"
#include "postprocess/analyze/geometry.h"

void
sl_areas_clear (SlAreas *areas)
{
  g_clear_pointer (&areas->blocks, g_free);
  areas->bytes = 0;
}

void
sl_areas_begin (SlAreas *areas, gint width, gint height, guint8 value)
{
  areas->columns = (width + SL_HIDE_BLOCK - 1) / SL_HIDE_BLOCK;
  areas->rows = (height + SL_HIDE_BLOCK - 1) / SL_HIDE_BLOCK;
  const gsize bytes = (gsize) areas->columns * (gsize) areas->rows;
  if (bytes > areas->bytes) {
    g_free (areas->blocks);
    areas->blocks = g_malloc (bytes);
    areas->bytes = bytes;
  }
  memset (areas->blocks, value, bytes);
}

/* Numbers of any size as a block's index 0..@most. */
static gint
index_of (gdouble at, gint most)
{
  return at > 0 ? (gint) MIN (at, most) : 0;
}

void
sl_areas_set_rect (SlAreas *areas, const gdouble box[4], gboolean whole, guint8 value)
{
  gdouble edge[4];
  for (guint i = 0; i < 4; i++)
    edge[i] = whole == (i < 2) ? ceil (box[i] / SL_HIDE_BLOCK) : floor (box[i] / SL_HIDE_BLOCK);
  const gint left = index_of (edge[0], areas->columns), right = index_of (edge[2], areas->columns);
  for (gint y = index_of (edge[1], areas->rows); y < index_of (edge[3], areas->rows); y++)
    if (right > left)
      memset (areas->blocks + (gsize) y * (gsize) areas->columns + left, value,
              (gsize) (right - left));
}

/* Whether the block is touched by an edge of the polygon, in units of blocks. */
static gboolean
is_on_edge (const SlRegionPoint *points, guint n, SlRegionPoint centre)
{
  for (guint i = 0; i < n; i++)
    if (sl_segment_distance (points[i], points[(i + 1) % n], centre) <= G_SQRT2 / 2)
      return TRUE;
  return FALSE;
}

void
sl_areas_set_polygon (SlAreas *areas, const SlRegionPoint *points, guint n, gint width, gint height,
                      gboolean whole, guint8 value)
{
  SlRegionPoint scaled[SL_REGION_MAX_POINTS];
  for (guint i = 0; i < n; i++)
    scaled[i] =
      (SlRegionPoint){ points[i].x * width / SL_HIDE_BLOCK, points[i].y * height / SL_HIDE_BLOCK };
  for (gint y = 0; y < areas->rows; y++)
    for (gint x = 0; x < areas->columns; x++) {
      const SlRegionPoint centre = { x + 0.5, y + 0.5 };
      const gboolean edge = is_on_edge (scaled, n, centre);
      if (edge ? !whole : sl_polygon_has (scaled, n, centre))
        areas->blocks[(gsize) y * (gsize) areas->columns + (gsize) x] = value;
    }
}

void
sl_areas_add_mask (SlAreas *areas, const SlObjectView *object, gdouble more)
{
  const SlObjectMask *mask = &object->mask;
  const gdouble cell_width = (gdouble) object->w / mask->width,
                cell_height = (gdouble) object->h / mask->height;
  for (guint y = 0; y < mask->height; y++)
    for (guint x = 0; x < mask->width; x++) {
      if (mask->cells[(gsize) y * mask->width + x] < SL_OBJECT_CELL)
        continue;
      const gdouble left = object->x + x * cell_width, top = object->y + y * cell_height;
      const gdouble box[4] = { left - more, top - more, left + cell_width + more,
                               top + cell_height + more };
      sl_areas_set_rect (areas, box, FALSE, TRUE);
    }
}

SlRect
sl_areas_bounds (const SlRegionPoint *points, guint n, gint width, gint height)
{
  gdouble left = 1, top = 1, right = 0, bottom = 0;
  for (guint i = 0; i < n; i++) {
    left = MIN (left, points[i].x);
    top = MIN (top, points[i].y);
    right = MAX (right, points[i].x);
    bottom = MAX (bottom, points[i].y);
  }
  const gint x = (gint) (left * width) / SL_HIDE_BLOCK * SL_HIDE_BLOCK,
             y = (gint) (top * height) / SL_HIDE_BLOCK * SL_HIDE_BLOCK;
  return (SlRect){ x, y, (gint) ceil (right * width) - x + SL_HIDE_BLOCK,
                   (gint) ceil (bottom * height) - y + SL_HIDE_BLOCK };
}
