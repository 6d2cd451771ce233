/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * appsrc ! videoconvert ! videoscale ! SIZE ! sloverlay ! videoconvert ! jpegenc ! appsink, made for one frame: moments are rare. The frame keeps
 * its size where it is not too wide, because metas do not move with the pixels of every scaler.
 */
#include "plugins/record/picture.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include "config.h"
#include "plugins/record/make.h"
#include "sightline/error.h"

#define PATIENCE (5 * GST_SECOND)
#define QUALITY 85

#ifdef SL_HAVE_LIBYUV
#define SCALER "slresize"
#else
#define SCALER "videoscale"
#endif

/* FALSE with @error set. */
static gboolean
add (GstBin *bin, const char *const *factories, GstElement **elements, GError **error)
{
  GstElement *last = NULL;
  for (guint i = 0; factories[i] != NULL; i++) {
    if (!sl_record_has (factories[i]) && g_str_equal (factories[i], "sloverlay"))
      continue;
    elements[i] = sl_record_add (bin, factories[i], &last, error);
    if (elements[i] == NULL)
      return FALSE;
  }
  return TRUE;
}

/* (transfer full): never larger than the frame, and even, as chroma needs it. */
static GstCaps *
size_caps (const GstVideoInfo *info, gint most)
{
  gint width = info->width, height = info->height;
  if (width > most) {
    height = (gint) MAX (2, (gint64) height * most / width) & ~1;
    width = most & ~1;
  }
  return gst_caps_new_simple ("video/x-raw", "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, NULL);
}

static GBytes *
read_bytes (GstSample *sample)
{
  GstMapInfo map;
  GBytes *bytes = NULL;
  if (gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ)) {
    bytes = g_bytes_new (map.data, map.size);
    gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  }
  return bytes;
}

static gboolean
remove_region (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
    *meta = NULL;
  return TRUE;
}

/* videoconvert of GStreamer 1.22 loses what regions say of their objects: they are taken from the frame once more. */
static GstPadProbeReturn
restore_regions (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *frame = data;
  GstMetaTransformCopy whole = { FALSE, 0, (gsize) -1 };
  gpointer state = NULL;
  GstMeta *meta;
  if (gst_buffer_peek_memory (GST_PAD_PROBE_INFO_BUFFER (info), 0) == gst_buffer_peek_memory (frame, 0))
    return GST_PAD_PROBE_OK;
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  gst_buffer_foreach_meta (buffer, remove_region, NULL);
  while ((meta = gst_buffer_iterate_meta_filtered (frame, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) != NULL)
    meta->info->transform_func (buffer, meta, frame, _gst_meta_transform_copy, &whole);
  return GST_PAD_PROBE_OK;
}

/* (transfer full) (nullable) */
static GBytes *
run (GstElement *pipeline, GstElement *source, GstElement *sink, GstSample *frame)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_copy (gst_sample_get_buffer (frame));
  GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  g_autoptr (GstSample) sample = gst_sample_new (buffer, gst_sample_get_caps (frame), NULL, NULL);
  if (gst_element_set_state (pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    return NULL;
  gst_app_src_push_sample (GST_APP_SRC (source), sample);
  gst_app_src_end_of_stream (GST_APP_SRC (source));
  g_autoptr (GstSample) made = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), PATIENCE);
  return made != NULL ? read_bytes (made) : NULL;
}

GBytes *
sl_record_picture (GstSample *frame, gint width, GError **error)
{
  static const char *const factories[] = { "appsrc",       "videoconvert", SCALER,    "capsfilter", "sloverlay",
                                           "videoconvert", "jpegenc",      "appsink", NULL };
  GstElement *elements[G_N_ELEMENTS (factories)] = { 0 };
  GstVideoInfo info;
  if (!gst_video_info_from_caps (&info, gst_sample_get_caps (frame))) {
    g_autofree char *got = gst_caps_to_string (gst_sample_get_caps (frame));
    g_set_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED, "no pictures of %s: expected raw video in system memory", got);
    return NULL;
  }
  g_autoptr (GstElement) pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  if (!add (GST_BIN (pipeline), factories, elements, error))
    return NULL;
  g_autoptr (GstCaps) size = size_caps (&info, width);
  g_autoptr (GstPad) converted = gst_element_get_static_pad (elements[2], "sink");
  gst_pad_add_probe (converted, GST_PAD_PROBE_TYPE_BUFFER, restore_regions, gst_sample_get_buffer (frame), NULL);
  g_object_set (elements[0], "format", GST_FORMAT_TIME, NULL);
  g_object_set (elements[3], "caps", size, NULL);
  g_object_set (elements[6], "quality", QUALITY, NULL);
  g_object_set (elements[7], "sync", FALSE, "async", FALSE, "enable-last-sample", FALSE, NULL);
  GBytes *picture = run (pipeline, elements[0], elements[7], frame);
  if (picture == NULL) {
    g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
    g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    if (message != NULL)
      gst_message_parse_error (message, error, NULL);
    else
      g_set_error (error, SL_ERROR, SL_ERROR_BACKEND, "no picture was made of a frame within %u s", (guint) (PATIENCE / GST_SECOND));
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return picture;
}
