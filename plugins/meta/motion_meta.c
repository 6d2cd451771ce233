/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SlMotionMeta: registration, and copies. */
#include "plugins/meta/motion_meta.h"

#include <string.h>

#include "plugins/meta/meta_type.h"

static gboolean
motion_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type,
                       gpointer data)
{
  const SlMotionMeta *self = (const SlMotionMeta *) meta;
  if (!GST_META_TRANSFORM_IS_COPY (type))
    return FALSE;
  sl_buffer_set_motion (dest, self->boxes, self->n);
  return TRUE;
}

SL_DEFINE_META (SlMotionMeta, sl_motion_meta, NULL, motion_meta_transform)

void
sl_buffer_set_motion (GstBuffer *buffer, const SlMotionBox *boxes, guint n)
{
  g_return_if_fail (n <= SL_MOTION_MOST);
  SlMotionMeta *self =
    (SlMotionMeta *) gst_buffer_get_meta (buffer, sl_motion_meta_api_get_type ());
  if (self == NULL)
    self = (SlMotionMeta *) gst_buffer_add_meta (buffer, sl_motion_meta_get_info (), NULL);
  self->n = n;
  memcpy (self->boxes, boxes, n * sizeof *boxes);
}

const SlMotionMeta *
sl_buffer_get_motion (GstBuffer *buffer)
{
  return (const SlMotionMeta *) gst_buffer_get_meta (buffer, sl_motion_meta_api_get_type ());
}
