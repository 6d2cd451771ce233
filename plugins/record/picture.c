/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * appsrc ! videoconvert ! slresize ! SIZE ! sloverlay ! videoconvert ! jpegenc ! appsink, one frame
 * in flight. The picture is made smaller before anything is drawn, so that lines and letters have
 * the size of the picture that is seen. Builds without libyuv scale with videoscale, where
 * sloverlay is not installed nothing is drawn.
 */
#include "plugins/record/picture.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include "config.h"
#include "plugins/meta/regions/keep.h"
#include "plugins/record/make.h"
#include "core/base/fail.h"

/* A picture takes milliseconds, on a machine that does nothing else. */
#define PATIENCE (20 * GST_SECOND)
#define QUALITY 80

#ifdef SL_HAVE_LIBYUV
#define SCALER "slresize"
#else
#define SCALER "videoscale"
#endif

struct _SlPictureMaker
{
  SlPictureLook look;
  GstElement *pipeline, *source, *size, *sink;
  GstCaps *caps; /* (nullable): of the frames before */
};

static gboolean
build (SlPictureMaker *maker, GError **error)
{
  GstElement *last = NULL;
  GstBin *bin = GST_BIN (maker->pipeline);
  maker->source = sl_record_add (bin, "appsrc", &last, error);
  if (maker->source == NULL || sl_record_add (bin, "videoconvert", &last, error) == NULL)
    return FALSE;
  if (sl_record_add (bin, SCALER, &last, error) != NULL)
    maker->size = sl_record_add (bin, "capsfilter", &last, error);
  if (maker->size == NULL
      || (maker->look.draws && sl_record_has ("sloverlay")
          && sl_record_add (bin, "sloverlay", &last, error) == NULL)
      || sl_record_add (bin, "videoconvert", &last, error) == NULL)
    return FALSE;
  GstElement *encoder = sl_record_add (bin, "jpegenc", &last, error);
  maker->sink = encoder != NULL ? sl_record_add (bin, "appsink", &last, error) : NULL;
  if (maker->sink == NULL)
    return FALSE;
  g_object_set (encoder, "quality", QUALITY, NULL);
  g_object_set (maker->source, "format", GST_FORMAT_TIME, NULL);
  g_object_set (maker->sink, "sync", FALSE, "async", FALSE, "enable-last-sample", FALSE, NULL);
  if (gst_element_set_state (maker->pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
    return TRUE;
  return sl_fail (error, SL_ERROR_BACKEND, "the pipeline that makes pictures does not start");
}

SlPictureMaker *
sl_picture_maker_new (SlPictureLook look, GError **error)
{
  g_autoptr (SlPictureMaker) maker = g_new0 (SlPictureMaker, 1);
  maker->look = look;
  maker->pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  return build (maker, error) ? g_steal_pointer (&maker) : NULL;
}

void
sl_picture_maker_free (SlPictureMaker *maker)
{
  gst_element_set_state (maker->pipeline, GST_STATE_NULL);
  gst_clear_object (&maker->pipeline);
  gst_clear_caps (&maker->caps);
  g_free (maker);
}

/* Never larger than the frame, and even, as chroma needs it. */
static gboolean
set_size (SlPictureMaker *maker, GstCaps *caps, GError **error)
{
  GstVideoInfo info;
  if (maker->caps != NULL && gst_caps_is_equal (maker->caps, caps))
    return TRUE;
  if (!sl_record_reads (caps, &info)) {
    g_autofree char *got = gst_caps_to_string (caps);
    return sl_fail (error, SL_ERROR_UNSUPPORTED,
                    "no pictures of %s: expected raw video in system memory", got);
  }
  gint width = info.width, height = info.height;
  if (width > (gint) maker->look.width) {
    height = (gint) MAX (2, (gint64) height * maker->look.width / width) & ~1;
    width = (gint) maker->look.width & ~1;
  }
  g_autoptr (GstCaps) size = gst_caps_new_simple ("video/x-raw", "width", G_TYPE_INT, width,
                                                  "height", G_TYPE_INT, height, NULL);
  g_object_set (maker->size, "caps", size, NULL);
  gst_caps_replace (&maker->caps, caps);
  return TRUE;
}

/* (transfer full) (nullable): takes @sample. */
static GBytes *
read_picture (GstSample *sample)
{
  GstMapInfo map;
  GBytes *bytes = NULL;
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  if (gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    bytes = g_bytes_new (map.data, map.size);
    gst_buffer_unmap (buffer, &map);
  }
  gst_sample_unref (sample);
  return bytes;
}

static void
take_error (SlPictureMaker *maker, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (maker->pipeline);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  if (message != NULL)
    gst_message_parse_error (message, error, NULL);
  else
    sl_fail (error, SL_ERROR_BACKEND, "no picture was made of a frame within %u s",
             (guint) (PATIENCE / GST_SECOND));
}

GBytes *
sl_picture_maker_make (SlPictureMaker *maker, GstBuffer *frame, GstCaps *caps, GError **error)
{
  if (!set_size (maker, caps, error))
    return NULL;
  GstBuffer *buffer = gst_buffer_copy (frame);
  GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  sl_buffer_keep_regions (buffer);
  g_autoptr (GstCaps) plain = sl_record_plain (caps);
  GstSample *sample = gst_sample_new (buffer, plain, NULL, NULL);
  gst_buffer_unref (buffer);
  gst_app_src_push_sample (GST_APP_SRC (maker->source), sample);
  gst_sample_unref (sample);
  sample = gst_app_sink_try_pull_sample (GST_APP_SINK (maker->sink), PATIENCE);
  GBytes *picture = sample != NULL ? read_picture (sample) : NULL;
  if (picture == NULL)
    take_error (maker, error);
  return picture;
}
