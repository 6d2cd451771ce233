/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Grids between the nearest four cells, and masks to and from GstStructure. What is read may be anyone's: types, sizes and
 * numbers are checked.
 */
#include "plugins/objectmask.h"

#include <math.h>
#include <string.h>

#define FORMAT "segmentation_mask"
#define PRECISION_F32 10
#define MOST_SIDE 8192

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

/* The share between the four cells around (@u, @v), which count from the middle of the first cell. */
static guint8
between (const SlInstanceMask *mask, gfloat u, gfloat v)
{
  const gfloat x = CLAMP (u, 0, (gfloat) (mask->width - 1)), y = CLAMP (v, 0, (gfloat) (mask->height - 1));
  const guint left = (guint) x, top = (guint) y;
  const gfloat fx = x - (gfloat) left, fy = y - (gfloat) top;
  const guint8 *row = mask->cells + (gsize) top * mask->width + left;
  const guint8 *below = top + 1 < mask->height ? row + mask->width : row;
  const guint right = left + 1 < mask->width;
  const gfloat upper = (gfloat) row[0] + fx * (gfloat) (row[right] - row[0]);
  const gfloat lower = (gfloat) below[0] + fx * (gfloat) (below[right] - below[0]);
  return (guint8) (upper + fy * (lower - upper) + 0.5f);
}

/* From cells of the region's grid to 0..1 of the model's input. */
static SlAffine
grid_to_input (const SlAffine *back, const SlFrameGeometry *geometry, const SlObject *object, guint width, guint height)
{
  const double px = (double) object->w / width, py = (double) object->h / height;
  const double tw = geometry->tensor_width, th = geometry->tensor_height;
  double x0, y0;
  sl_affine_apply (back, object->x, object->y, &x0, &y0);
  return (SlAffine){ back->xx * px / tw, back->xy * py / tw, x0 / tw, back->yx * px / th, back->yy * py / th, y0 / th };
}

static void
resample (const SlInstanceMask *mask, const SlDetection *box, const SlAffine *input, guint width, guint height, guint8 *cells)
{
  const double across = mask->width / ((double) mask->x_max - mask->x_min), down = mask->height / ((double) mask->y_max - mask->y_min);
  for (guint row = 0; row < height; row++) {
    double x, y;
    sl_affine_apply (input, 0.5, row + 0.5, &x, &y);
    for (guint column = 0; column < width; column++, x += input->xx, y += input->yx) {
      const gboolean inside = x >= box->x_min && x <= box->x_max && y >= box->y_min && y <= box->y_max;
      *cells++ = inside ? between (mask, (gfloat) ((x - mask->x_min) * across - 0.5), (gfloat) ((y - mask->y_min) * down - 0.5)) : 0;
    }
  }
}

void
sl_object_mask_map_run (SlObjectMaskMap *map, const SlInstanceMask *mask, const SlDetection *box, const SlFrameGeometry *geometry,
                        const SlObject *object, SlObjectMask *out)
{
  SlAffine back;
  *out = (SlObjectMask){ 0 };
  if (mask->width == 0 || mask->height == 0 || object->w <= 0 || object->h <= 0 || !sl_affine_invert (&geometry->map, &back))
    return;
  const double cell_w = ((double) mask->x_max - mask->x_min) * geometry->tensor_width / mask->width;
  const double cell_h = ((double) mask->y_max - mask->y_min) * geometry->tensor_height / mask->height;
  const guint width = grid_size (object->w, hypot (geometry->map.xx * cell_w, geometry->map.xy * cell_h));
  const guint height = grid_size (object->h, hypot (geometry->map.yx * cell_w, geometry->map.yy * cell_h));
  if ((guint64) width * height > SL_MAX_OBJECT_CELLS - map->used)
    return;
  if (map->cells == NULL)
    map->cells = g_new (guint8, SL_MAX_OBJECT_CELLS);
  const SlAffine input = grid_to_input (&back, geometry, object, width, height);
  resample (mask, box, &input, width, height, map->cells + map->used);
  *out = (SlObjectMask){ width, height, map->cells + map->used };
  map->used += width * height;
}

void
sl_region_add_mask (GstVideoRegionOfInterestMeta *region, const SlObject *object)
{
  const SlObjectMask *mask = &object->mask;
  const guint sizes[2] = { mask->width, mask->height };
  const gsize n = (gsize) mask->width * mask->height;
  GValue dims = G_VALUE_INIT;
  if (n == 0)
    return;
  gfloat *shares = g_new (gfloat, n);
  for (gsize i = 0; i < n; i++)
    shares[i] = (gfloat) mask->cells[i] / 255;
  GVariant *data = g_variant_new_from_data (G_VARIANT_TYPE_BYTESTRING, shares, n * sizeof *shares, TRUE, g_free, shares);
  GstStructure *structure = gst_structure_new ("mask", "format", G_TYPE_STRING, FORMAT, "precision", G_TYPE_INT, PRECISION_F32,
                                               "data_buffer", G_TYPE_VARIANT, data, NULL);
  g_value_init (&dims, GST_TYPE_ARRAY);
  for (guint i = 0; i < 2; i++) {
    GValue size = G_VALUE_INIT;
    g_value_init (&size, G_TYPE_UINT);
    g_value_set_uint (&size, sizes[i]);
    gst_value_array_append_and_take_value (&dims, &size);
  }
  gst_structure_take_value (structure, "dims", &dims);
  gst_video_region_of_interest_meta_add_param (region, structure);
}

static const GstStructure *
find_mask (const GstVideoRegionOfInterestMeta *region)
{
  for (GList *l = region->params; l != NULL; l = l->next)
    if (g_strcmp0 (gst_structure_get_string (l->data, "format"), FORMAT) == 0)
      return l->data;
  return NULL;
}

/* The @i-th of two sizes; 0 when it is none. */
static guint
read_size (const GstStructure *structure, guint i)
{
  const GValue *dims = gst_structure_get_value (structure, "dims");
  if (dims == NULL || !GST_VALUE_HOLDS_ARRAY (dims) || gst_value_array_get_size (dims) != 2)
    return 0;
  const GValue *value = gst_value_array_get_value (dims, i);
  const gint64 size = G_VALUE_HOLDS_UINT (value)  ? (gint64) g_value_get_uint (value)
                      : G_VALUE_HOLDS_INT (value) ? g_value_get_int (value)
                                                  : 0;
  return size > 0 && size <= MOST_SIDE ? (guint) size : 0;
}

void
sl_region_read_mask (GstVideoRegionOfInterestMeta *region, GByteArray *cells, SlObjectMask *mask)
{
  const GstStructure *structure = find_mask (region);
  const GValue *value = structure != NULL ? gst_structure_get_value (structure, "data_buffer") : NULL;
  GVariant *data = value != NULL && G_VALUE_HOLDS_VARIANT (value) ? g_value_get_variant (value) : NULL;
  gsize bytes = 0;
  if (data == NULL || !g_variant_is_of_type (data, G_VARIANT_TYPE_BYTESTRING))
    return;
  const guint width = read_size (structure, 0), height = read_size (structure, 1);
  const guint8 *shares = g_variant_get_fixed_array (data, &bytes, 1);
  const gsize n = (gsize) width * height, first = cells->len;
  if (n == 0 || bytes != n * sizeof (gfloat) || n > SL_MAX_OBJECT_CELLS || first + n > SL_MAX_OBJECT_CELLS)
    return;
  g_byte_array_set_size (cells, (guint) (first + n));
  for (gsize i = 0; i < n; i++) {
    gfloat share;
    memcpy (&share, shares + i * sizeof share, sizeof share);
    cells->data[first + i] = share > 0 ? (guint8) (MIN (share, 1) * 255 + 0.5f) : 0;
  }
  *mask = (SlObjectMask){ width, height, NULL };
}
