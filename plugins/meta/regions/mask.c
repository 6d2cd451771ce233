/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Masks to and from GstStructure. What is read may be anyone's: types, sizes and numbers are
 * checked.
 */
#include "plugins/meta/regions/mask.h"

#include <string.h>

#define FORMAT "segmentation_mask"
#define PRECISION_F32 10
#define MAX_SIDE 8192

void
sl_region_add_mask (GstVideoRegionOfInterestMeta *region, const SlObjectView *object)
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
  GVariant *data = g_variant_new_from_data (G_VARIANT_TYPE_BYTESTRING, shares, n * sizeof *shares,
                                            TRUE, g_free, shares);
  GstStructure *structure =
    gst_structure_new ("mask", "format", G_TYPE_STRING, FORMAT, "precision", G_TYPE_INT,
                       PRECISION_F32, "data_buffer", G_TYPE_VARIANT, data, NULL);
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
  return size > 0 && size <= MAX_SIDE ? (guint) size : 0;
}

void
sl_region_read_mask (GstVideoRegionOfInterestMeta *region, GByteArray *cells, SlObjectMask *mask)
{
  const GstStructure *structure = find_mask (region);
  const GValue *value =
    structure != NULL ? gst_structure_get_value (structure, "data_buffer") : NULL;
  GVariant *data =
    value != NULL && G_VALUE_HOLDS_VARIANT (value) ? g_value_get_variant (value) : NULL;
  gsize bytes = 0;
  if (data == NULL || !g_variant_is_of_type (data, G_VARIANT_TYPE_BYTESTRING))
    return;
  const guint width = read_size (structure, 0), height = read_size (structure, 1);
  const guint8 *shares = g_variant_get_fixed_array (data, &bytes, 1);
  const gsize n = (gsize) width * height, first = cells->len;
  if (n == 0 || bytes != n * sizeof (gfloat) || n > SL_MAX_OBJECT_CELLS
      || first + n > SL_MAX_OBJECT_CELLS)
    return;
  g_byte_array_set_size (cells, (guint) (first + n));
  for (gsize i = 0; i < n; i++) {
    gfloat share;
    memcpy (&share, shares + i * sizeof share, sizeof share);
    cells->data[first + i] = share > 0 ? (guint8) (MIN (share, 1) * 255 + 0.5f) : 0;
  }
  *mask = (SlObjectMask){ width, height, NULL };
}
