/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * appsrc ! videoconvert ! videoflip ! videoconvert ! appsink, one frame in flight. The pipeline is
 * made for the first frame that has to be turned, so upright frames are never converted. videoflip
 * supports nearly all formats that the preprocessor reads.
 */
#include "tools/predict/orient.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include "core/base/fail.h"
#include "pipelines/supervise/bus.h"
#include "plugins/video/input.h"
#include "tools/frames.h"

#define POLL_INTERVAL (100 * GST_MSECOND)

struct _SlOrient
{
  GstVideoOrientationMethod method; /* of the pipeline, which has another one when that changes */
  GstElement *pipeline, *source, *sink;
};

SlOrient *
sl_orient_new (void)
{
  return g_new0 (SlOrient, 1);
}

static void
drop_pipeline (SlOrient *turner)
{
  if (turner->pipeline != NULL)
    gst_element_set_state (turner->pipeline, GST_STATE_NULL);
  gst_clear_object (&turner->pipeline);
}

void
sl_orient_free (SlOrient *turner)
{
  if (turner == NULL)
    return;
  drop_pipeline (turner);
  g_free (turner);
}

static GstElement *
make_flip (GstBin *bin, GError **error)
{
  GstElement *flip = gst_element_factory_make ("videoflip", NULL);
  if (flip == NULL)
    sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "its tag says that it is to be turned upright, and GStreamer has no element 'videoflip': install its good plugins "
      "(Debian: gstreamer1.0-plugins-good)");
  else
    gst_bin_add (bin, flip);
  return flip;
}

static gboolean
build (SlOrient *turner, GError **error)
{
  turner->pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  GstBin *bin = GST_BIN (turner->pipeline);
  GstElement *flip = make_flip (bin, error);
  GstElement *before = flip != NULL ? sl_make_element (bin, "videoconvert", error) : NULL;
  GstElement *behind = before != NULL ? sl_make_element (bin, "videoconvert", error) : NULL;
  turner->source = behind != NULL ? sl_make_element (bin, "appsrc", error) : NULL;
  turner->sink = turner->source != NULL ? sl_make_element (bin, "appsink", error) : NULL;
  if (turner->sink == NULL)
    return FALSE;
  g_autoptr (GstCaps) caps = gst_caps_from_string (GST_VIDEO_CAPS_MAKE (SL_VIDEO_INPUT_FORMATS));
  g_object_set (flip, "video-direction", turner->method, NULL);
  g_object_set (turner->source, "format", GST_FORMAT_TIME, NULL);
  g_object_set (turner->sink, "caps", caps, "sync", FALSE, "async", FALSE, "enable-last-sample",
                FALSE, NULL);
  if (gst_element_link_many (turner->source, before, flip, behind, turner->sink, NULL)
      && gst_element_set_state (turner->pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
    return TRUE;
  sl_bus_take_refusal (turner->pipeline, "the pipeline that turns frames", NULL, error);
  return FALSE;
}

GstSample *
sl_orient_run (SlOrient *turner, GstSample *frame, GstVideoOrientationMethod method, GError **error)
{
  if (method == GST_VIDEO_ORIENTATION_IDENTITY || method > GST_VIDEO_ORIENTATION_UR_LL)
    return gst_sample_ref (frame);
  if (method != turner->method)
    drop_pipeline (turner);
  turner->method = method;
  if (turner->pipeline == NULL && !build (turner, error)) {
    drop_pipeline (turner);
    return NULL;
  }
  gst_app_src_push_sample (GST_APP_SRC (turner->source), frame);
  for (;;) {
    GstSample *turned = gst_app_sink_try_pull_sample (GST_APP_SINK (turner->sink), POLL_INTERVAL);
    if (turned != NULL)
      return turned;
    if (sl_bus_take_error (turner->pipeline, 0, NULL, error)) {
      g_prefix_error (error, "cannot be turned upright: ");
      drop_pipeline (turner);
      return NULL;
    }
  }
}
