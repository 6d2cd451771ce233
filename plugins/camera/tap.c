/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A probe on the decoder's sink pad. Frames are copied there, because cameras have few buffers, and
 * a small frame may be a part of a large block of memory. A parser in between, which belongs to no
 * pipeline and runs in the thread that pushes, makes other forms of H.264 and H.265 what files
 * hold.
 */
#include "plugins/camera/tap.h"

#include <string.h>

#include "plugins/base/report.h"
#include "plugins/camera/coded.h"
#include "plugins/camera/jpeg.h"
#include "plugins/camera/lone.h"

typedef struct _Inlet Inlet;

struct _SlCameraTap
{
  gatomicrefcount refs;
  const SlCameraTapCalls *calls;
  gpointer data;
  GDestroyNotify free_data;
  Inlet *open; /* atomic (nullable): the one whose frames are given */
};

/* Of one sink pad; its streaming thread's. */
struct _Inlet
{
  SlCameraTap *tap;
  GstSegment segment;
  SlCodedFormat format;
  gboolean takes;     /* frames of the caps that came */
  GstCaps *jpeg;      /* (nullable): caps of JPEG that do not say a size */
  gint width, height; /* of the last such frame */
  SlLone parser;      /* may be empty */
};

static GstStaticPadTemplate parsed_template = GST_STATIC_PAD_TEMPLATE (
  "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (SL_CAMERA_ENCODED_CAPS));

SlCameraTap *
sl_camera_tap_new (const SlCameraTapCalls *calls, gpointer data, GDestroyNotify free_data)
{
  SlCameraTap *tap = g_new0 (SlCameraTap, 1);
  g_atomic_ref_count_init (&tap->refs);
  tap->calls = calls;
  tap->data = data;
  tap->free_data = free_data;
  return tap;
}

static SlCameraTap *
tap_ref (SlCameraTap *tap)
{
  g_atomic_ref_count_inc (&tap->refs);
  return tap;
}

void
sl_camera_tap_unref (SlCameraTap *tap)
{
  if (!g_atomic_ref_count_dec (&tap->refs))
    return;
  if (tap->free_data != NULL)
    tap->free_data (tap->data);
  g_free (tap);
}

static void
inlet_free (gpointer data)
{
  Inlet *inlet = data;
  g_atomic_pointer_compare_and_exchange (&inlet->tap->open, inlet, NULL);
  sl_lone_clear (&inlet->parser);
  gst_clear_caps (&inlet->jpeg);
  sl_camera_tap_unref (inlet->tap);
  g_free (inlet);
}

/* Behind the parser */

static GstFlowReturn
take_parsed (GstPad *pad, GstObject *parent, GstBuffer *frame)
{
  const Inlet *inlet = gst_pad_get_element_private (pad);
  inlet->tap->calls->frame (inlet->tap->data, frame);
  return GST_FLOW_OK;
}

static gboolean
take_parsed_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  const Inlet *inlet = gst_pad_get_element_private (pad);
  GstCaps *caps;
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    gst_event_parse_caps (event, &caps);
    inlet->tap->calls->caps (inlet->tap->data, caps);
  }
  gst_event_unref (event);
  return TRUE;
}

/* FALSE: it cannot be had. Decoders cannot do without it then, either. */
static gboolean
make_parser (Inlet *inlet, const char *name)
{
  GstElement *parser = gst_element_factory_make (name, NULL);
  if (parser == NULL)
    return FALSE;
  GstSegment segment;
  sl_lone_start (&inlet->parser, parser,
                 gst_pad_new_from_static_template (&parsed_template, "sink"), take_parsed,
                 take_parsed_event, inlet);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (inlet->parser.in, gst_event_new_segment (&segment));
  return TRUE;
}

/* Caps */

/* Whether @inlet is the one whose frames are given, from now on at least. */
static gboolean
is_open (Inlet *inlet)
{
  return g_atomic_pointer_get (&inlet->tap->open) == inlet
         || g_atomic_pointer_compare_and_exchange (&inlet->tap->open, NULL, inlet);
}

/* Those of a parser come before its caps. */
static gboolean
take_parsed_caps (Inlet *inlet, GstCaps *caps, const char *parser)
{
  const char *there = inlet->parser.element != NULL
                        ? GST_OBJECT_NAME (gst_element_get_factory (inlet->parser.element))
                        : NULL;
  if (g_strcmp0 (there, parser) != 0) {
    sl_lone_clear (&inlet->parser);
    if (!make_parser (inlet, parser))
      return FALSE;
  }
  return gst_pad_push_event (inlet->parser.in, gst_event_new_caps (caps));
}

static void
take_caps (Inlet *inlet, GstCaps *caps)
{
  static GstStaticCaps given = GST_STATIC_CAPS (SL_CAMERA_ENCODED_CAPS);
  g_autoptr (GstCaps) whole = gst_static_caps_get (&given);
  const char *type = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  const gboolean jpeg = strcmp (type, "image/jpeg") == 0;
  const char *parser = strcmp (type, "video/x-h264") == 0   ? "h264parse"
                       : strcmp (type, "video/x-h265") == 0 ? "h265parse"
                                                            : NULL;
  gst_clear_caps (&inlet->jpeg);
  sl_coded_format_read (caps, &inlet->format);
  inlet->takes = FALSE;
  if ((!jpeg && parser == NULL) || !is_open (inlet))
    return;
  if (gst_caps_is_subset (caps, whole)) {
    sl_lone_clear (&inlet->parser);
    inlet->tap->calls->caps (inlet->tap->data, caps);
    inlet->takes = TRUE;
  } else if (jpeg) {
    sl_lone_clear (&inlet->parser);
    inlet->jpeg = gst_caps_ref (caps);
    inlet->width = inlet->height = 0;
    inlet->takes = TRUE;
  } else {
    inlet->takes = take_parsed_caps (inlet, caps, parser);
  }
}

/* FALSE: @frame has no size that it says. */
static gboolean
take_jpeg_size (Inlet *inlet, GstBuffer *frame)
{
  GstMapInfo map;
  guint width, height;
  if (!gst_buffer_map (frame, &map, GST_MAP_READ))
    return FALSE;
  const gboolean found = sl_camera_jpeg_size (map.data, map.size, &width, &height);
  gst_buffer_unmap (frame, &map);
  if (!found || ((gint) width == inlet->width && (gint) height == inlet->height))
    return found;
  inlet->width = (gint) width;
  inlet->height = (gint) height;
  g_autoptr (GstCaps) caps = gst_caps_copy (inlet->jpeg);
  gst_caps_set_simple (caps, "width", G_TYPE_INT, inlet->width, "height", G_TYPE_INT, inlet->height,
                       NULL);
  inlet->tap->calls->caps (inlet->tap->data, caps);
  return TRUE;
}

/* Frames */

static GstClockTime
running_time (const GstSegment *segment, GstClockTime time)
{
  return segment->format == GST_FORMAT_TIME && GST_CLOCK_TIME_IS_VALID (time)
           ? gst_segment_to_running_time (segment, GST_FORMAT_TIME, time)
           : GST_CLOCK_TIME_NONE;
}

/* Of streams with reordered frames the first ones are decoded before the stream's time begins,
 * which timestamps cannot say: as it begins, then. Without it they would have none, which muxers
 * take for their PTS, and the next ones would go back. */
static GstClockTime
decoding_time (const GstSegment *segment, const GstBuffer *frame)
{
  const gboolean early =
    segment->format == GST_FORMAT_TIME && GST_BUFFER_DTS_IS_VALID (frame)
    && GST_BUFFER_DTS (frame) < segment->start
    && GST_CLOCK_TIME_IS_VALID (running_time (segment, GST_BUFFER_PTS (frame)));
  return running_time (segment, early ? segment->start : GST_BUFFER_DTS (frame));
}

static gboolean
is_reordered (Inlet *inlet, GstBuffer *frame)
{
  SlCodedPicture picture;
  GstMapInfo map;
  if (!gst_buffer_map (frame, &map, GST_MAP_READ))
    return FALSE;
  sl_coded_picture_read (&inlet->format, map.data, map.size, &picture);
  gst_buffer_unmap (frame, &map);
  return picture.reordered;
}

static void
take_frame (Inlet *inlet, GstBuffer *buffer)
{
  const GstBufferCopyFlags flags = GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS
                                   | GST_BUFFER_COPY_MEMORY | GST_BUFFER_COPY_MERGE
                                   | GST_BUFFER_COPY_DEEP;
  GstBuffer *frame = inlet->takes && gst_buffer_get_size (buffer) > 0
                       ? gst_buffer_copy_region (buffer, flags, 0, -1)
                       : NULL;
  if (frame == NULL)
    return;
  GST_BUFFER_PTS (frame) = running_time (&inlet->segment, GST_BUFFER_PTS (buffer));
  GST_BUFFER_DTS (frame) = decoding_time (&inlet->segment, buffer);
  inlet->tap->calls->stamp (inlet->tap->data, frame, is_reordered (inlet, frame));
  if (inlet->parser.element != NULL)
    gst_pad_push (inlet->parser.in, frame);
  else if (inlet->jpeg == NULL || take_jpeg_size (inlet, frame))
    inlet->tap->calls->frame (inlet->tap->data, frame);
  else
    gst_buffer_unref (frame);
}

static void
take_event (Inlet *inlet, GstEvent *event)
{
  GstCaps *caps;
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      take_caps (inlet, caps);
      break;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &inlet->segment);
      break;
    case GST_EVENT_EOS:
      if (inlet->parser.element != NULL)
        gst_pad_push_event (inlet->parser.in, gst_event_new_eos ());
      break;
    default:
      break;
  }
}

static GstPadProbeReturn
take (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    take_frame (data, GST_PAD_PROBE_INFO_BUFFER (info));
  else
    take_event (data, GST_PAD_PROBE_INFO_EVENT (info));
  return GST_PAD_PROBE_OK;
}

void
sl_camera_tap_decoder (SlCameraTap *tap, GstElement *decoder)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (decoder, "sink");
  if (pad == NULL)
    return;
  Inlet *inlet = g_new0 (Inlet, 1);
  inlet->tap = tap_ref (tap);
  gst_segment_init (&inlet->segment, GST_FORMAT_UNDEFINED);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, take,
                     inlet, inlet_free);
}

static void
on_element_added (GstBin *bin, GstBin *sub, GstElement *element, gpointer tap)
{
  if (sl_element_has_class (element, "Decoder") && !GST_IS_BIN (element))
    sl_camera_tap_decoder (tap, element);
}

static void
unref_tap (gpointer tap, GClosure *closure)
{
  sl_camera_tap_unref (tap);
}

void
sl_camera_tap_decoders (SlCameraTap *tap, GstBin *bin)
{
  g_signal_connect_data (bin, "deep-element-added", G_CALLBACK (on_element_added), tap_ref (tap),
                         unref_tap, 0);
}
