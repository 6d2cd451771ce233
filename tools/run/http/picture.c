/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * appsrc ! videoconvert ! slresize ! SIZE ! sloverlay ! videoconvert ! jpegenc ! appsink, one frame in flight. The picture is made smaller
 * before anything is drawn, so that lines and letters have the size of the picture that is seen. Builds without libyuv scale with
 * videoscale, builds without Pango draw nothing.
 */
#include "tools/run/http/picture.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include "config.h"
#include "pipelines/supervise/bus.h"
#include "plugins/meta/mask_meta.h"
#include "plugins/meta/region_predictions.h"
#include "predict/predictions_private.h"
#include "sightline/error.h"
#include "tools/frames.h"
#include "tools/predict/overlay.h"

/* A picture takes milliseconds, on a machine that does nothing else. */
#define PATIENCE (2 * GST_SECOND)
#define QUALITY 80

struct _SlPictureMaker
{
  guint width;
  GstElement *pipeline, *source, *size, *sink;
  GstCaps *caps; /* (nullable): of the frames before */
};

/* FALSE with @error set. @last: (inout): what @element is linked behind. */
static gboolean
add (GstElement *element, GstElement **last, GError **error)
{
  if (element == NULL)
    return FALSE;
  if (*last != NULL && !gst_element_link (*last, element)) {
    g_set_error (error, SL_ERROR, SL_ERROR_BACKEND, "%s cannot be linked behind %s", GST_OBJECT_NAME (element), GST_OBJECT_NAME (*last));
    return FALSE;
  }
  *last = element;
  return TRUE;
}

static GstElement *
make_scaler (GstBin *bin, GError **error)
{
#ifdef SL_HAVE_LIBYUV
  GstElement *scaler = gst_element_factory_make ("slresize", NULL);
  if (scaler != NULL) {
    gst_bin_add (bin, scaler);
    return scaler;
  }
#endif
  return sl_make_element (bin, "videoscale", error);
}

static gboolean
build (SlPictureMaker *maker, GError **error)
{
  GstElement *last = NULL, *encoder = NULL;
  maker->pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  GstBin *bin = GST_BIN (maker->pipeline);
  if (!add (maker->source = sl_make_element (bin, "appsrc", error), &last, error)
      || !add (sl_make_element (bin, "videoconvert", error), &last, error) || !add (make_scaler (bin, error), &last, error)
      || !add (maker->size = sl_make_element (bin, "capsfilter", error), &last, error))
    return FALSE;
#ifdef SL_HAVE_OVERLAY
  if (!add (sl_make_overlay (bin, error), &last, error))
    return FALSE;
#endif
  if (!add (sl_make_element (bin, "videoconvert", error), &last, error)
      || !add (encoder = sl_make_element (bin, "jpegenc", error), &last, error)
      || !add (maker->sink = sl_make_element (bin, "appsink", error), &last, error))
    return FALSE;
  g_object_set (encoder, "quality", QUALITY, NULL);
  g_object_set (maker->source, "format", GST_FORMAT_TIME, NULL);
  g_object_set (maker->sink, "sync", FALSE, "async", FALSE, "enable-last-sample", FALSE, NULL);
  if (gst_element_set_state (maker->pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
    return TRUE;
  sl_bus_take_refusal (maker->pipeline, "the pipeline that makes pictures", NULL, error);
  return FALSE;
}

SlPictureMaker *
sl_picture_maker_new (guint width, GError **error)
{
  g_autoptr (SlPictureMaker) maker = g_new0 (SlPictureMaker, 1);
  maker->width = width;
  return build (maker, error) ? g_steal_pointer (&maker) : NULL;
}

void
sl_picture_maker_free (SlPictureMaker *maker)
{
  if (maker->pipeline != NULL)
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
  if (!gst_video_info_from_caps (&info, caps)) {
    g_autofree char *got = gst_caps_to_string (caps);
    g_set_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED, "no pictures of %s: expected raw video in system memory", got);
    return FALSE;
  }
  gint width = info.width, height = info.height;
  if (width > (gint) maker->width) {
    height = (gint) MAX (2, (gint64) height * maker->width / width) & ~1;
    width = (gint) maker->width & ~1;
  }
  g_autoptr (GstCaps) size = gst_caps_new_simple ("video/x-raw", "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, NULL);
  g_object_set (maker->size, "caps", size, NULL);
  gst_caps_replace (&maker->caps, caps);
  return TRUE;
}

static gboolean
is_no_prediction (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  const GType api = (*meta)->info->api;
  if (api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE || api == sl_mask_meta_api_get_type ())
    *meta = NULL;
  return TRUE;
}

/* (transfer full): the frame's memory with its predictions, and no others: those on the frame may be only a part of them. */
static GstBuffer *
mark (const SlFeedFrame *frame)
{
  GstBuffer *buffer = gst_buffer_copy (frame->buffer);
  GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  if (frame->predictions == NULL)
    return buffer;
  gst_buffer_foreach_meta (buffer, is_no_prediction, NULL);
  sl_buffer_add_prediction (buffer, sl_predictions_view (frame->predictions), NULL);
  return buffer;
}

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

GBytes *
sl_picture_make (SlPictureMaker *maker, const SlFeedFrame *frame, GError **error)
{
  if (!set_size (maker, frame->caps, error))
    return NULL;
  GstBuffer *buffer = mark (frame);
  GstSample *sample = gst_sample_new (buffer, frame->caps, NULL, NULL);
  gst_buffer_unref (buffer);
  gst_app_src_push_sample (GST_APP_SRC (maker->source), sample);
  gst_sample_unref (sample);
  sample = gst_app_sink_try_pull_sample (GST_APP_SINK (maker->sink), PATIENCE);
  GBytes *picture = sample != NULL ? read_picture (sample) : NULL;
  if (picture == NULL && !sl_bus_take_error (maker->pipeline, 0, NULL, error))
    g_set_error (error, SL_ERROR, SL_ERROR_BACKEND, "no picture was made of a frame within %u s", (guint) (PATIENCE / GST_SECOND));
  return picture;
}
