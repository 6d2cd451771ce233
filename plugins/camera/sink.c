/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why not appsink: appsink keeps a reference to the frame it handed out last, so the frame could
 * not be stamped without a copy and one buffer of a camera's few would always be held. Here a frame
 * has one owner when it is stamped.
 */
#include "plugins/camera/sink.h"

#include <gst/video/video.h>

struct _SlCameraSink
{
  GstBaseSink parent;
  GstCaps *wanted;
  const SlCameraSinkCalls *calls;
  gpointer data;
  GDestroyNotify free_data;
};

G_DEFINE_TYPE (SlCameraSink, sl_camera_sink, GST_TYPE_BASE_SINK)

static GstStaticPadTemplate sink_template =
  GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw"));

static GstCaps *
sl_camera_sink_get_caps (GstBaseSink *sink, GstCaps *filter)
{
  SlCameraSink *self = SL_CAMERA_SINK (sink);
  return filter != NULL ? gst_caps_intersect_full (filter, self->wanted, GST_CAPS_INTERSECT_FIRST)
                        : gst_caps_ref (self->wanted);
}

static gboolean
sl_camera_sink_set_caps (GstBaseSink *sink, GstCaps *caps)
{
  SlCameraSink *self = SL_CAMERA_SINK (sink);
  self->calls->caps (self->data, caps);
  return TRUE;
}

/* Any strides will do: slcamera straightens them out for elements that cannot. */
static gboolean
sl_camera_sink_propose_allocation (GstBaseSink *sink, GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static gboolean
sl_camera_sink_event (GstBaseSink *sink, GstEvent *event)
{
  SlCameraSink *self = SL_CAMERA_SINK (sink);
  if (GST_EVENT_TYPE (event) == GST_EVENT_TAG)
    self->calls->tags (self->data, event);
  return GST_BASE_SINK_CLASS (sl_camera_sink_parent_class)->event (sink, event);
}

static GstFlowReturn
sl_camera_sink_render (GstBaseSink *sink, GstBuffer *buffer)
{
  SlCameraSink *self = SL_CAMERA_SINK (sink);
  GstClockTime running = GST_CLOCK_TIME_NONE;
  if (sink->segment.format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID (buffer))
    running =
      gst_segment_to_running_time (&sink->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
  return self->calls->frame (self->data, buffer, running,
                             gst_element_get_base_time (GST_ELEMENT (sink)));
}

static void
sl_camera_sink_finalize (GObject *object)
{
  SlCameraSink *self = SL_CAMERA_SINK (object);
  gst_clear_caps (&self->wanted);
  if (self->free_data != NULL)
    self->free_data (self->data);
  G_OBJECT_CLASS (sl_camera_sink_parent_class)->finalize (object);
}

static void
sl_camera_sink_class_init (SlCameraSinkClass *klass)
{
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);
  G_OBJECT_CLASS (klass)->finalize = sl_camera_sink_finalize;
  sink_class->get_caps = sl_camera_sink_get_caps;
  sink_class->set_caps = sl_camera_sink_set_caps;
  sink_class->propose_allocation = sl_camera_sink_propose_allocation;
  sink_class->event = sl_camera_sink_event;
  sink_class->render = sl_camera_sink_render;
  gst_element_class_add_static_pad_template (GST_ELEMENT_CLASS (klass), &sink_template);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass), "Camera sink", "Sink/Video",
                                         "Ends the pipeline inside slcamera",
                                         "The Sightline authors");
}

static void
sl_camera_sink_init (SlCameraSink *self)
{
  GstBaseSink *sink = GST_BASE_SINK (self);
  gst_base_sink_set_sync (sink, FALSE);
  gst_base_sink_set_async_enabled (sink, FALSE);
  gst_base_sink_set_last_sample_enabled (sink, FALSE);
  gst_base_sink_set_qos_enabled (sink, FALSE);
}

GstElement *
sl_camera_sink_new (const GstCaps *wanted, const SlCameraSinkCalls *calls, gpointer data,
                    GDestroyNotify free_data)
{
  SlCameraSink *self = g_object_new (SL_TYPE_CAMERA_SINK, NULL);
  self->wanted = gst_caps_copy (wanted);
  self->calls = calls;
  self->data = data;
  self->free_data = free_data;
  return GST_ELEMENT (self);
}
