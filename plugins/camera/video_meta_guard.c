/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A probe on the pad: it reads the answer to each allocation query, and copies those frames whose
 * GstVideoMeta differs from what caps say when the answer did not have that meta. Decoders may so
 * always write frames with their own borders.
 */
#include "plugins/camera/video_meta_guard.h"

#include "plugins/video/frame.h"

typedef struct
{
  GstElement *element;
  gboolean meta_welcome, warned;
} Guard;

static gboolean
is_plain (const GstVideoMeta *meta, const GstVideoInfo *info)
{
  for (guint i = 0; i < MIN (meta->n_planes, GST_VIDEO_MAX_PLANES); i++)
    if (meta->offset[i] != GST_VIDEO_INFO_PLANE_OFFSET (info, i)
        || meta->stride[i] != GST_VIDEO_INFO_PLANE_STRIDE (info, i))
      return FALSE;
  return TRUE;
}

/* (transfer full) (nullable): NULL with @error set when @buffer is not the frame that it says */
static GstBuffer *
copy_plain (GstBuffer *buffer, const GstVideoInfo *info, GError **error)
{
  GstVideoFrame from, to;
  if (!sl_video_frame_map (&from, info, buffer, GST_MAP_READ, error))
    return NULL;
  GstBuffer *plain = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);
  if (sl_video_frame_map (&to, info, plain, GST_MAP_WRITE, error)) {
    gst_video_frame_copy (&to, &from);
    gst_video_frame_unmap (&to);
    gst_buffer_copy_into (plain, buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  } else {
    gst_clear_buffer (&plain);
  }
  gst_video_frame_unmap (&from);
  return plain;
}

/* A camera goes on after a bad frame. */
static GstPadProbeReturn
drop (Guard *guard, const GError *error)
{
  if (!guard->warned)
    GST_ELEMENT_WARNING (
      guard->element, STREAM, FORMAT,
      ("frame dropped: %s; the camera or its decoder sends something else than its caps say",
       error->message),
      (NULL));
  guard->warned = TRUE;
  return GST_PAD_PROBE_DROP;
}

static GstPadProbeReturn
straighten (Guard *guard, GstPad *pad, GstPadProbeInfo *probe)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (probe);
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  g_autoptr (GstCaps) caps = meta != NULL ? gst_pad_get_current_caps (pad) : NULL;
  g_autoptr (GError) error = NULL;
  GstVideoInfo info;
  if (caps == NULL || !gst_video_info_from_caps (&info, caps) || is_plain (meta, &info))
    return GST_PAD_PROBE_OK;
  GstBuffer *plain = copy_plain (buffer, &info, &error);
  if (plain == NULL)
    return drop (guard, error);
  gst_buffer_unref (buffer);
  GST_PAD_PROBE_INFO_DATA (probe) = plain;
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
guard_probe (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Guard *guard = data;
  if (probe->type & GST_PAD_PROBE_TYPE_BUFFER)
    return guard->meta_welcome ? GST_PAD_PROBE_OK : straighten (guard, pad, probe);
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (probe);
  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION) {
    guard->meta_welcome = (probe->type & GST_PAD_PROBE_TYPE_PULL) != 0
                          && gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
    guard->warned = FALSE;
  }
  return GST_PAD_PROBE_OK;
}

void
sl_video_meta_guard (GstPad *src, GstElement *element)
{
  Guard *guard = g_new0 (Guard, 1);
  guard->element = element;
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
                     guard_probe, guard, g_free);
}
