/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SlLateMeta: registration, and copies. */
#include "plugins/meta/late_meta.h"

#include "plugins/meta/meta_type.h"

static gboolean
late_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type, gpointer data)
{
  if (!GST_META_TRANSFORM_IS_COPY (type))
    return FALSE;
  sl_buffer_set_late (dest);
  return TRUE;
}

SL_DEFINE_META (SlLateMeta, sl_late_meta, NULL, late_meta_transform)

void
sl_buffer_set_late (GstBuffer *buffer)
{
  if (!sl_buffer_is_late (buffer))
    gst_buffer_add_meta (buffer, sl_late_meta_get_info (), NULL);
}

gboolean
sl_buffer_is_late (GstBuffer *buffer)
{
  return gst_buffer_get_meta (buffer, sl_late_meta_api_get_type ()) != NULL;
}
