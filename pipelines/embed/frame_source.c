/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlFrame -> GstBuffer with a GstVideoMeta, so that strides travel and nothing need be copied.
 * Invariant: pushed = gone on + waiting + displaced, by which the last is counted.
 */
#include "pipelines/embed/frame_source.h"

#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>
#include <string.h>

#include "core/base/picture.h"

#define ROOM 2
/* gst_app_src_leaky_type: what comes first goes first. */
#define LEAKY_DOWNSTREAM "downstream"

struct _SlFrameSource
{
  GstAppSrc *appsrc;
  GMutex lock; /* of caps and info */
  GstVideoInfo info;
  GstCaps *caps; /* (nullable): of the last frame */
  gint pushed, gone;
  GstPad *pad;
  gulong probe; /* on @pad */
};

static GstAppSrc *
find (GstBin *pipeline)
{
  GstElement *named = gst_bin_get_by_name (pipeline, "source");
  if (named != NULL && GST_IS_APP_SRC (named))
    return GST_APP_SRC (named);
  gst_clear_object (&named);
  GstIterator *all = gst_bin_iterate_all_by_element_factory_name (pipeline, "appsrc");
  GValue item = G_VALUE_INIT;
  GstAppSrc *first = NULL;
  while (gst_iterator_next (all, &item) == GST_ITERATOR_OK) { /* the newest comes first */
    gst_clear_object (&first);
    first = g_value_dup_object (&item);
    g_value_reset (&item);
  }
  g_value_unset (&item);
  gst_iterator_free (all);
  return first;
}

/* Frames are bounded by number, not by bytes. */
static void
configure (GstAppSrc *appsrc)
{
  gboolean blocks;
  guint64 buffers;
  g_object_get (appsrc, "block", &blocks, "max-buffers", &buffers, NULL);
  g_object_set (appsrc, "format", GST_FORMAT_TIME, "max-bytes", (guint64) 0, NULL);
  if (buffers == 0)
    g_object_set (appsrc, "max-buffers", (guint64) ROOM, NULL);
  if (!blocks)
    gst_util_set_object_arg (G_OBJECT (appsrc), "leaky-type", LEAKY_DOWNSTREAM);
}

static GstPadProbeReturn
count_gone (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_atomic_int_inc (&((SlFrameSource *) data)->gone);
  return GST_PAD_PROBE_OK;
}

SlFrameSource *
sl_frame_source_new (GstBin *pipeline)
{
  GstAppSrc *appsrc = find (pipeline);
  if (appsrc == NULL)
    return NULL;
  SlFrameSource *source = g_new0 (SlFrameSource, 1);
  source->appsrc = appsrc;
  g_mutex_init (&source->lock);
  configure (appsrc);
  source->pad = gst_element_get_static_pad (GST_ELEMENT (appsrc), "src");
  source->probe =
    gst_pad_add_probe (source->pad, GST_PAD_PROBE_TYPE_BUFFER, count_gone, source, NULL);
  return source;
}

void
sl_frame_source_free (SlFrameSource *source)
{
  if (source == NULL)
    return;
  gst_pad_remove_probe (source->pad, source->probe);
  gst_object_unref (source->pad);
  gst_object_unref (source->appsrc);
  gst_clear_caps (&source->caps);
  g_mutex_clear (&source->lock);
  g_free (source);
}

static void
set_colorimetry (GstVideoInfo *info, const SlFrame *frame)
{
  static const GstVideoColorMatrix stated[] = {
    [SL_FRAME_MATRIX_BT601] = GST_VIDEO_COLOR_MATRIX_BT601,
    [SL_FRAME_MATRIX_BT709] = GST_VIDEO_COLOR_MATRIX_BT709,
    [SL_FRAME_MATRIX_BT2020] = GST_VIDEO_COLOR_MATRIX_BT2020
  };
  static const GstVideoColorMatrix unstated[] = { [SL_MATRIX_BT601] = GST_VIDEO_COLOR_MATRIX_BT601,
                                                  [SL_MATRIX_BT709] =
                                                    GST_VIDEO_COLOR_MATRIX_BT709 };
  const SlFrameMatrix matrix = sl_frame_get_matrix (frame);
  if (!GST_VIDEO_INFO_IS_YUV (info))
    return;
  info->colorimetry.matrix = matrix != SL_FRAME_MATRIX_AUTO
                               ? stated[matrix]
                               : unstated[sl_matrix_of_height (GST_VIDEO_INFO_HEIGHT (info))];
  info->colorimetry.range =
    sl_frame_get_full_range (frame) ? GST_VIDEO_COLOR_RANGE_0_255 : GST_VIDEO_COLOR_RANGE_16_235;
}

/* (transfer full): caps of @frame; the same as those before when it looks the same. */
static GstCaps *
take_caps (SlFrameSource *source, const SlFrame *frame, GstVideoInfo *info)
{
  gst_video_info_set_format (info, gst_video_format_from_string (sl_frame_get_format (frame)),
                             sl_frame_get_width (frame), sl_frame_get_height (frame));
  set_colorimetry (info, frame);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&source->lock);
  if (source->caps == NULL || !gst_video_info_is_equal (info, &source->info)) {
    gst_clear_caps (&source->caps);
    source->caps = gst_video_info_to_caps (info);
    source->info = *info;
  }
  return gst_caps_ref (source->caps);
}

/* Whether GstVideoMeta can say where the planes lie: rows after each other, in memory of the
 * frame's own. */
static gboolean
can_reference (const SlFrame *frame)
{
  if (sl_frame_get_data (frame) == NULL)
    return FALSE;
  for (guint p = 0; p < sl_frame_get_n_planes (frame); p++) {
    gssize stride;
    gsize bytes;
    sl_frame_get_plane (frame, p, &stride, &bytes, NULL);
    if (stride < (gssize) bytes || stride > G_MAXINT)
      return FALSE;
  }
  return TRUE;
}

static GstBuffer *
reference (const SlFrame *frame, gsize *offsets, gint *strides)
{
  const guint8 *start = g_bytes_get_data (sl_frame_get_data (frame), NULL);
  for (guint p = 0; p < sl_frame_get_n_planes (frame); p++) {
    gssize stride;
    offsets[p] = (gsize) (sl_frame_get_plane (frame, p, &stride, NULL, NULL) - start);
    strides[p] = (gint) stride;
  }
  return gst_buffer_new_wrapped_bytes (sl_frame_get_data (frame));
}

static GstBuffer *
copy (const SlFrame *frame, gsize *offsets, gint *strides)
{
  gsize size = 0;
  for (guint p = 0; p < sl_frame_get_n_planes (frame); p++) {
    gsize bytes;
    guint rows;
    sl_frame_get_plane (frame, p, NULL, &bytes, &rows);
    offsets[p] = size;
    strides[p] = (gint) bytes;
    size += bytes * rows;
  }
  guint8 *memory = g_malloc (size);
  for (guint p = 0; p < sl_frame_get_n_planes (frame); p++) {
    gssize stride;
    gsize bytes;
    guint rows;
    const guint8 *from = sl_frame_get_plane (frame, p, &stride, &bytes, &rows);
    for (guint y = 0; y < rows; y++)
      memcpy (memory + offsets[p] + y * bytes, from + (gssize) y * stride, bytes);
  }
  return gst_buffer_new_wrapped (memory, size);
}

/* Time since the pipeline runs; 0 while it does not. */
static GstClockTime
running_time (SlFrameSource *source)
{
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (source->appsrc));
  return GST_CLOCK_TIME_IS_VALID (now) ? now : 0;
}

GstFlowReturn
sl_frame_source_push (SlFrameSource *source, const SlFrame *frame)
{
  GstVideoInfo info;
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 };
  gint strides[GST_VIDEO_MAX_PLANES] = { 0 };
  g_autoptr (GstCaps) caps = take_caps (source, frame, &info);
  GstBuffer *buffer =
    can_reference (frame) ? reference (frame, offsets, strides) : copy (frame, offsets, strides);
  const guint64 timestamp = sl_frame_get_timestamp (frame);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (&info),
                                  sl_frame_get_width (frame), sl_frame_get_height (frame),
                                  sl_frame_get_n_planes (frame), offsets, strides);
  GST_BUFFER_PTS (buffer) = timestamp != G_MAXUINT64 ? timestamp : running_time (source);
  g_autoptr (GstSample) sample = gst_sample_new (buffer, caps, NULL, NULL);
  gst_buffer_unref (buffer);
  const GstFlowReturn flow = gst_app_src_push_sample (source->appsrc, sample);
  if (flow == GST_FLOW_OK)
    g_atomic_int_inc (&source->pushed);
  return flow;
}

void
sl_frame_source_end (SlFrameSource *source)
{
  gst_app_src_end_of_stream (source->appsrc);
}

void
sl_frame_source_counts (SlFrameSource *source, guint64 *pushed, guint64 *displaced)
{
  guint64 waiting;
  g_object_get (source->appsrc, "current-level-buffers", &waiting, NULL);
  const guint in = (guint) g_atomic_int_get (&source->pushed),
              out = (guint) g_atomic_int_get (&source->gone);
  *pushed = in;
  *displaced = in > out + waiting ? in - out - waiting : 0;
}
