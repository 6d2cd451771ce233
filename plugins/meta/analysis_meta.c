/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlAnalysisMeta: registration, and the three things a GstMeta does. Pointers of an analysis point
 * into its own block, which is written once and then shared by all copies of the meta.
 */
#include "plugins/meta/analysis_meta.h"

#include "plugins/meta/meta_type.h"

static void
analysis_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  SlAnalysisMeta *self = (SlAnalysisMeta *) meta;
  if (self->buffer != NULL)
    gst_buffer_unmap (self->buffer, &self->map);
  gst_clear_buffer (&self->buffer);
}

/* @block holds @analysis. */
static gboolean
add_meta (GstBuffer *buffer, const SlAnalysis *analysis, GstBuffer *block)
{
  GstMapInfo map;
  if (!gst_buffer_map (block, &map, GST_MAP_READ))
    return FALSE;
  SlAnalysisMeta *self =
    (SlAnalysisMeta *) gst_buffer_add_meta (buffer, sl_analysis_meta_get_info (), NULL);
  if (self == NULL) {
    gst_buffer_unmap (block, &map);
    return FALSE;
  }
  self->analysis = analysis;
  self->buffer = gst_buffer_ref (block);
  self->map = map;
  return TRUE;
}

static gboolean
analysis_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type,
                         gpointer data)
{
  const SlAnalysisMeta *self = (const SlAnalysisMeta *) meta;
  return GST_META_TRANSFORM_IS_COPY (type) && add_meta (dest, self->analysis, self->buffer);
}

SL_DEFINE_META (SlAnalysisMeta, sl_analysis_meta, analysis_meta_free, analysis_meta_transform)

static SlAnalysisMeta *
find_meta (GstBuffer *buffer)
{
  return (SlAnalysisMeta *) gst_buffer_get_meta (buffer, sl_analysis_meta_api_get_type ());
}

void
sl_buffer_set_analysis (GstBuffer *buffer, const SlAnalysis *analysis, gboolean events,
                        SlBytePool *pool)
{
  g_return_if_fail (gst_buffer_is_writable (buffer));
  SlAnalysisMeta *old = find_meta (buffer);
  GstBuffer *block = sl_byte_pool_get (pool, sl_analysis_size (analysis));
  GstMapInfo map;
  if (old != NULL)
    gst_buffer_remove_meta (buffer, &old->meta);
  if (gst_buffer_map (block, &map, GST_MAP_WRITE)) {
    const SlAnalysis *copy = sl_analysis_copy (analysis, map.data, events);
    gst_buffer_unmap (block, &map);
    add_meta (buffer, copy, block);
  }
  gst_buffer_unref (block);
}

const SlAnalysis *
sl_buffer_get_analysis (GstBuffer *buffer)
{
  const SlAnalysisMeta *meta = find_meta (buffer);
  return meta != NULL ? meta->analysis : NULL;
}
