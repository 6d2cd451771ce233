/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks of single objects over the frame, between the nearest four cells of the model's. */
#include "postprocess/predictions/object_mask_map.h"

#include <math.h>

void
sl_object_mask_map_clear (SlObjectMaskMap *map)
{
  g_clear_pointer (&map->cells, g_free);
}

/* Cells over @pixels when one of the model's covers @cell of them. */
static guint
grid_size (gint pixels, double cell)
{
  return (guint) CLAMP (lrint (pixels / MAX (cell, 1.0)), 1, pixels);
}

/* The share between the four cells around (@u, @v), which count from the middle of the first cell.
 */
static guint8
between (const SlInstanceMask *mask, gfloat u, gfloat v)
{
  const gfloat x = CLAMP (u, 0, (gfloat) (mask->width - 1)),
               y = CLAMP (v, 0, (gfloat) (mask->height - 1));
  const guint left = (guint) x, top = (guint) y;
  const gfloat fx = x - (gfloat) left, fy = y - (gfloat) top;
  const guint8 *row = mask->cells + (gsize) top * mask->width + left;
  const guint8 *below = top + 1 < mask->height ? row + mask->width : row;
  const guint right = left + 1 < mask->width;
  const gfloat upper = (gfloat) row[0] + fx * (gfloat) (row[right] - row[0]);
  const gfloat lower = (gfloat) below[0] + fx * (gfloat) (below[right] - below[0]);
  return (guint8) (upper + fy * (lower - upper) + 0.5f);
}

guint8
sl_object_mask_share (const SlInstanceMask *mask, const SlDetection *box, double x, double y)
{
  const double across = mask->width / ((double) mask->x_max - mask->x_min),
               down = mask->height / ((double) mask->y_max - mask->y_min);
  const gboolean inside =
    mask->is_cut ? x >= mask->x_min && x <= mask->x_max && y >= mask->y_min && y <= mask->y_max
                 : x >= box->x_min && x <= box->x_max && y >= box->y_min && y <= box->y_max;
  return inside ? between (mask, (gfloat) ((x - mask->x_min) * across - 0.5),
                           (gfloat) ((y - mask->y_min) * down - 0.5))
                : 0;
}

/* From cells of the region's grid to 0..1 of the model's input. */
static SlAffine
grid_to_input (const SlAffine *back, const SlFrameGeometry *geometry, const SlObjectView *object,
               guint width, guint height)
{
  const double px = (double) object->w / width, py = (double) object->h / height;
  const double tw = geometry->tensor_width, th = geometry->tensor_height;
  double x0, y0;
  sl_affine_apply (back, object->x, object->y, &x0, &y0);
  return (SlAffine){ back->xx * px / tw, back->xy * py / tw, x0 / tw,
                     back->yx * px / th, back->yy * py / th, y0 / th };
}

static void
resample (const SlInstanceMask *mask, const SlDetection *box, const SlAffine *input, guint width,
          guint height, guint8 *cells)
{
  for (guint row = 0; row < height; row++) {
    double x, y;
    sl_affine_apply (input, 0.5, row + 0.5, &x, &y);
    for (guint column = 0; column < width; column++, x += input->xx, y += input->yx)
      *cells++ = sl_object_mask_share (mask, box, x, y);
  }
}

void
sl_object_mask_map_run (SlObjectMaskMap *map, const SlInstanceMask *mask, const SlDetection *box,
                        const SlFrameGeometry *geometry, const SlObjectView *object,
                        SlObjectMask *out)
{
  SlAffine back;
  *out = (SlObjectMask){ 0 };
  if (mask->width == 0 || mask->height == 0 || object->w <= 0 || object->h <= 0
      || !sl_affine_invert (&geometry->affine, &back))
    return;
  const double cell_w = ((double) mask->x_max - mask->x_min) * geometry->tensor_width / mask->width;
  const double cell_h =
    ((double) mask->y_max - mask->y_min) * geometry->tensor_height / mask->height;
  const guint width =
    grid_size (object->w, hypot (geometry->affine.xx * cell_w, geometry->affine.xy * cell_h));
  const guint height =
    grid_size (object->h, hypot (geometry->affine.yx * cell_w, geometry->affine.yy * cell_h));
  if ((guint64) width * height > SL_MAX_OBJECT_CELLS - map->used)
    return;
  if (map->cells == NULL)
    map->cells = g_new (guint8, SL_MAX_OBJECT_CELLS);
  const SlAffine input = grid_to_input (&back, geometry, object, width, height);
  resample (mask, box, &input, width, height, map->cells + map->used);
  *out = (SlObjectMask){ width, height, map->cells + map->used };
  map->used += width * height;
}
