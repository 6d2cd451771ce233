/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SlMaskMeta: registration, and the three things a GstMeta does. */
#include "plugins/meta/mask_meta.h"

#include <string.h>

#include "plugins/meta/meta_type.h"

static void
mask_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  SlMaskMeta *self = (SlMaskMeta *) meta;
  if (self->buffer != NULL)
    gst_buffer_unmap (self->buffer, &self->map);
  gst_clear_buffer (&self->buffer);
}

static gboolean
mask_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type, gpointer data)
{
  const SlMaskMeta *self = (const SlMaskMeta *) meta;
  if (!GST_META_TRANSFORM_IS_COPY (type))
    return FALSE;
  SlMaskMeta *copy = sl_buffer_add_mask_meta (dest, self->width, self->height, self->buffer);
  if (copy == NULL)
    return FALSE;
  copy->background = self->background;
  memcpy (copy->names, self->names, sizeof copy->names);
  return TRUE;
}

SL_DEFINE_META (SlMaskMeta, sl_mask_meta, mask_meta_free, mask_meta_transform)

SlMaskMeta *
sl_buffer_add_mask_meta (GstBuffer *buffer, guint width, guint height, GstBuffer *cells)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (
    GST_IS_BUFFER (cells) && gst_buffer_get_size (cells) == (gsize) width * height, NULL);
  GstMapInfo map;
  if (!gst_buffer_map (cells, &map, GST_MAP_READ))
    return NULL;
  SlMaskMeta *self = (SlMaskMeta *) gst_buffer_add_meta (buffer, sl_mask_meta_get_info (), NULL);
  if (self == NULL) {
    gst_buffer_unmap (cells, &map);
    return NULL;
  }
  self->width = width;
  self->height = height;
  self->cells = map.data;
  self->buffer = gst_buffer_ref (cells);
  self->map = map;
  return self;
}

SlMaskMeta *
sl_buffer_get_mask_meta (GstBuffer *buffer)
{
  return (SlMaskMeta *) gst_buffer_get_meta (buffer, sl_mask_meta_api_get_type ());
}
