/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A meta that stands behind the regions of a buffer. Elements copy metas one by one in their order;
 * when its turn comes, the regions of the copy are there, and get the parameters that they lack.
 * All parameters are relative to the frame or the region.
 */
#include "plugins/meta/regions/keep.h"

#include "plugins/meta/meta_type.h"
#include "plugins/meta/regions/object.h"

static const GstMetaInfo *keeper_info (void);

static gboolean
keeper_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  return TRUE;
}

/* Where a region was left out of the copy, nobody knows which is which. */
static void
restore (GstBuffer *copy, GstBuffer *buffer)
{
  gpointer from = NULL, to = NULL;
  GstVideoRegionOfInterestMeta *region, *copied;
  if (gst_buffer_get_n_meta (copy, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
      != gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
    return;
  while ((region = sl_next_region (buffer, &from)) != NULL
         && (copied = sl_next_region (copy, &to)) != NULL) {
    if (copied->params != NULL || copied->roi_type != region->roi_type)
      continue;
    for (const GList *l = region->params; l != NULL; l = l->next)
      gst_video_region_of_interest_meta_add_param (copied, gst_structure_copy (l->data));
  }
}

static gboolean
keeper_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type, gpointer data)
{
  if (!GST_META_TRANSFORM_IS_COPY (type))
    return FALSE;
  restore (dest, buffer);
  return gst_buffer_add_meta (dest, keeper_info (), NULL) != NULL;
}

static GType
keeper_api_type (void)
{
  static GType type = 0;
  return sl_meta_api_type (&type, "SlRegionKeeperMetaAPI");
}

static const GstMetaInfo *
keeper_info (void)
{
  static const GstMetaInfo *info = NULL;
  return sl_meta_info (&info, keeper_api_type (), "SlRegionKeeperMeta", sizeof (GstMeta),
                       keeper_init, NULL, keeper_transform);
}

void
sl_buffer_keep_regions (GstBuffer *buffer)
{
  g_return_if_fail (gst_buffer_is_writable (buffer));
  GstMeta *old = gst_buffer_get_meta (buffer, keeper_api_type ());
  if (old != NULL)
    gst_buffer_remove_meta (buffer, old);
  if (gst_buffer_get_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) != NULL)
    gst_buffer_add_meta (buffer, keeper_info (), NULL);
}
