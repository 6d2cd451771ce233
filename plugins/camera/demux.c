/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why not multipartdemux: it holds a part of any size, takes lengths of 4 GiB modulo that, and
 * passes empty parts on for ever.
 */
#include "plugins/camera/demux.h"

#include "plugins/base/report.h"
#include "plugins/camera/multipart.h"

/* The default: as slcamera's max-part-bytes. */
#define MAX_PART_BYTES (32 << 20)

struct _SlCameraDemux
{
  GstElement parent;
  GstPad *src;
  guint max_part_bytes;
  SlCameraParts *parts; /* NULL before the first bytes */
  GstFlowReturn flow;   /* of the last picture */
};

G_DEFINE_TYPE (SlCameraDemux, sl_camera_demux, GST_TYPE_ELEMENT)

/* Where it is linked by hand, sources have any caps. */
static GstStaticPadTemplate any_template =
  GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
  "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("multipart/x-mixed-replace"));
static GstStaticPadTemplate src_template =
  GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("image/jpeg"));

static void
push_picture (GBytes *part, guint64 stamp, gpointer data)
{
  SlCameraDemux *self = data;
  GstBuffer *buffer = gst_buffer_new_wrapped_bytes (part);
  GST_BUFFER_PTS (buffer) = stamp;
  if (self->flow == GST_FLOW_OK)
    self->flow = gst_pad_push (self->src, buffer);
  else
    gst_buffer_unref (buffer);
}

static void
begin (SlCameraDemux *self)
{
  GstSegment segment;
  g_autofree char *id = gst_pad_create_stream_id (self->src, GST_ELEMENT (self), NULL);
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple ("image/jpeg");
  self->parts = sl_camera_parts_new (self->max_part_bytes, push_picture, self);
  self->flow = GST_FLOW_OK;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (self->src, gst_event_new_stream_start (id));
  gst_pad_push_event (self->src, gst_event_new_caps (caps));
  gst_pad_push_event (self->src, gst_event_new_segment (&segment));
}

static GstFlowReturn
chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  SlCameraDemux *self = SL_CAMERA_DEMUX (parent);
  g_autoptr (GError) error = NULL;
  GstMapInfo map;
  if (self->parts == NULL)
    begin (self);
  gboolean good = gst_buffer_map (buffer, &map, GST_MAP_READ);
  if (good) {
    good = sl_camera_parts_push (self->parts, map.data, map.size, GST_BUFFER_PTS (buffer), &error);
    gst_buffer_unmap (buffer, &map);
  }
  gst_buffer_unref (buffer);
  if (error != NULL)
    sl_element_report (GST_ELEMENT (self), error);
  return good ? self->flow : GST_FLOW_ERROR;
}

/* Caps and segment are those of bytes; pictures have their own. */
static gboolean
take_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
    case GST_EVENT_CAPS:
    case GST_EVENT_SEGMENT:
      gst_event_unref (event);
      return TRUE;
    default:
      return gst_pad_event_default (pad, parent, event);
  }
}

static GstStateChangeReturn
sl_camera_demux_change_state (GstElement *element, GstStateChange transition)
{
  SlCameraDemux *self = SL_CAMERA_DEMUX (element);
  const GstStateChangeReturn result =
    GST_ELEMENT_CLASS (sl_camera_demux_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    g_clear_pointer (&self->parts, sl_camera_parts_free);
  return result;
}

static void
sl_camera_demux_finalize (GObject *object)
{
  sl_camera_parts_free (SL_CAMERA_DEMUX (object)->parts);
  G_OBJECT_CLASS (sl_camera_demux_parent_class)->finalize (object);
}

static void
sl_camera_demux_class_init (SlCameraDemuxClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  G_OBJECT_CLASS (klass)->finalize = sl_camera_demux_finalize;
  element_class->change_state = sl_camera_demux_change_state;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "MJPEG demuxer", "Codec/Depayloader",
                                         "Parts of a multipart stream, inside slcamera",
                                         "The Sightline authors");
}

static void
sl_camera_demux_init (SlCameraDemux *self)
{
  self->max_part_bytes = MAX_PART_BYTES;
  GstPad *sink = gst_pad_new_from_static_template (&any_template, "sink");
  gst_pad_set_chain_function (sink, chain);
  gst_pad_set_event_function (sink, take_event);
  gst_element_add_pad (GST_ELEMENT (self), sink);
  self->src = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_use_fixed_caps (self->src);
  gst_element_add_pad (GST_ELEMENT (self), self->src);
}

void
sl_camera_demux_register (void)
{
  gst_element_register (NULL, "slcameraparts", GST_RANK_PRIMARY + 1, SL_TYPE_CAMERA_DEMUX);
}

GstElement *
sl_camera_demux_new (guint max_part_bytes)
{
  SlCameraDemux *self = g_object_new (SL_TYPE_CAMERA_DEMUX, NULL);
  self->max_part_bytes = max_part_bytes;
  return GST_ELEMENT (self);
}
