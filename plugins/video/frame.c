/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mapping frames: the meta is compared with the caps first, then every row of every plane with the
 * memory that was mapped for it.
 */
#include "plugins/video/frame.h"

#include "core/base/fail.h"
#include "plugins/base/report.h"
#include "preprocess/image.h"

/* 256 colours of four bytes. */
#define PALETTE_BYTES 1024

/* Samples that are packed across bytes have no pixel stride: their rows are as long as GStreamer
 * makes them. */
void
sl_video_plane_extent (const GstVideoInfo *video, guint plane, gint *rows, gsize *row_bytes)
{
  const gboolean palette =
    GST_VIDEO_FORMAT_INFO_HAS_PALETTE (video->finfo) && plane == GST_VIDEO_COMP_PALETTE;
  *rows = palette ? 1 : 0;
  *row_bytes = palette ? PALETTE_BYTES : 0;
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (video) && !palette; c++) {
    if ((guint) GST_VIDEO_INFO_COMP_PLANE (video, c) != plane)
      continue;
    const gint pixel_stride = GST_VIDEO_INFO_COMP_PSTRIDE (video, c);
    const gsize bytes = pixel_stride > 0
                          ? (gsize) GST_VIDEO_INFO_COMP_WIDTH (video, c) * (gsize) pixel_stride
                          : (gsize) GST_VIDEO_INFO_PLANE_STRIDE (video, plane);
    *rows = MAX (*rows, GST_VIDEO_INFO_COMP_HEIGHT (video, c));
    *row_bytes = MAX (*row_bytes, bytes);
  }
}

static void
append_numbers (GString *text, const char *name, const GstVideoMeta *meta, gboolean offsets)
{
  g_string_append (text, name);
  for (guint p = 0; p < MIN (meta->n_planes, GST_VIDEO_MAX_PLANES); p++) {
    if (offsets)
      g_string_append_printf (text, " %" G_GSIZE_FORMAT, meta->offset[p]);
    else
      g_string_append_printf (text, " %d", meta->stride[p]);
  }
}

/* What was expected, what @buffer is instead, and @reason. Returns FALSE. */
static gboolean
refuse (GError **error, const GstVideoInfo *video, GstBuffer *buffer, const char *reason)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  const guint memories = gst_buffer_n_memory (buffer);
  g_autoptr (GString) text = g_string_new (NULL);
  g_string_append_printf (
    text, "expected %" G_GSIZE_FORMAT " bytes (%s %dx%d), got %" G_GSIZE_FORMAT,
    GST_VIDEO_INFO_SIZE (video), gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (video)),
    GST_VIDEO_INFO_WIDTH (video), GST_VIDEO_INFO_HEIGHT (video), gst_buffer_get_size (buffer));
  if (memories > 1)
    g_string_append_printf (text, " in %u memories", memories);
  if (meta != NULL) {
    g_string_append_printf (text, " with a GstVideoMeta of %s %ux%u, %u plane%s,",
                            gst_video_format_to_string (meta->format), meta->width, meta->height,
                            meta->n_planes, meta->n_planes == 1 ? "" : "s");
    append_numbers (text, " strides", meta, FALSE);
    append_numbers (text, ", offsets", meta, TRUE);
  }
  return sl_fail (error, SL_ERROR_SHAPE, "%s: %s", text->str, reason);
}

/* Returns FALSE. */
static gboolean
refuse_memory (GError **error, const GstVideoInfo *video, GstBuffer *buffer)
{
  const GstMemory *memory =
    gst_buffer_n_memory (buffer) > 0 ? gst_buffer_peek_memory (buffer, 0) : NULL;
  const char *kind =
    memory != NULL && memory->allocator != NULL ? memory->allocator->mem_type : NULL;
  if (kind == NULL || g_str_equal (kind, GST_ALLOCATOR_SYSMEM))
    return refuse (error, video, buffer, "the memory of a plane cannot be mapped");
  g_autofree char *reason = g_strdup_printf ("the memory of a plane, %s, cannot be mapped", kind);
  return refuse (error, video, buffer, reason);
}

/* Checked before GStreamer does, to whom a difference is a programming error. */
static gboolean
meta_agrees (const GstVideoMeta *meta, const GstVideoInfo *video)
{
  return meta == NULL
         || (meta->format == GST_VIDEO_INFO_FORMAT (video)
             && meta->n_planes == GST_VIDEO_INFO_N_PLANES (video)
             && meta->width >= (guint) GST_VIDEO_INFO_WIDTH (video)
             && meta->height >= (guint) GST_VIDEO_INFO_HEIGHT (video));
}

/* (transfer full) (nullable): what is wrong with @plane of the mapped @frame. */
static char *
check_plane (const GstVideoFrame *frame, const GstVideoInfo *video, guint plane)
{
  const GstMapInfo *map = frame->meta != NULL ? &frame->map[plane] : &frame->map[0];
  const gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane);
  gint rows;
  gsize row_bytes;
  sl_video_plane_extent (video, plane, &rows, &row_bytes);
  if (rows > 1 && (gsize) ABS ((gint64) stride) < row_bytes)
    return g_strdup_printf ("rows of plane %u overlap: they have %" G_GSIZE_FORMAT
                            " bytes, and the stride is %d",
                            plane, row_bytes, stride);
  if (sl_image_check_plane (rows, row_bytes, GST_VIDEO_FRAME_PLANE_DATA (frame, plane), stride,
                            (SlMemory){ map->data, map->size })
      == SL_IMAGE_OK)
    return NULL;
  return g_strdup_printf ("plane %u, %d rows of %" G_GSIZE_FORMAT
                          " bytes with stride %d, is not inside its memory of %" G_GSIZE_FORMAT
                          " bytes",
                          plane, rows, row_bytes, stride, map->size);
}

gboolean
sl_video_frame_map (GstVideoFrame *frame, const GstVideoInfo *video, GstBuffer *buffer,
                    GstMapFlags flags, GError **error)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  if (GST_VIDEO_FORMAT_INFO_IS_TILED (video->finfo))
    return refuse (error, video, buffer, "tiles are not supported, only rows");
  if (!meta_agrees (meta, video))
    return refuse (error, video, buffer, "the meta is not of such a frame");
  if (meta == NULL ? gst_buffer_get_size (buffer) < GST_VIDEO_INFO_SIZE (video)
                   : gst_buffer_get_size (buffer) == 0)
    return refuse (error, video, buffer, "the buffer is too small");
  if (!gst_video_frame_map (frame, video, buffer, flags))
    return refuse_memory (error, video, buffer);
  frame->info.width = GST_VIDEO_INFO_WIDTH (video);
  frame->info.height = GST_VIDEO_INFO_HEIGHT (video);
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (video); p++) {
    g_autofree char *wrong = check_plane (frame, video, p);
    if (wrong == NULL)
      continue;
    gst_video_frame_unmap (frame);
    return refuse (error, video, buffer, wrong);
  }
  return TRUE;
}

GstFlowReturn
sl_element_refuse_frame (GstElement *element, GError *error)
{
  g_autoptr (GError) told =
    g_error_new (error->domain, error->code,
                 "frame buffer: %s; the element upstream sends something else than its caps say",
                 error->message);
  sl_element_report (element, told);
  g_error_free (error);
  return GST_FLOW_ERROR;
}
