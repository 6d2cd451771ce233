/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frames are dropped here and not by appsrc: appsrc would drop inside a group of pictures, and
 * so damage the rest of the group. */
#include "plugins/camera/encoded.h"

/* When downstream returns EOS, appsrc sends EOS but still accepts frames, or blocks for room. So
 * its end of stream is set here. */
static GstPadProbeReturn
at_end (GstPad *pad, GstPadProbeInfo *info, gpointer output)
{
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_EOS)
    gst_app_src_end_of_stream (output);
  return GST_PAD_PROBE_OK;
}

GstElement *
sl_camera_encoded_new (void)
{
  GstElement *output = gst_element_factory_make ("appsrc", SL_CAMERA_ENCODED_OUTPUT);
  if (output != NULL)
    gst_pad_add_probe (GST_BASE_SRC_PAD (output), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, at_end,
                       output, NULL);
  return output;
}

void
sl_camera_encoded_set_up (GstAppSrc *output, gboolean live)
{
  g_object_set (output, "is-live", live, "format", GST_FORMAT_TIME, "block", !live, "max-buffers",
                G_GUINT64_CONSTANT (0), "max-bytes", (guint64) (live ? 0 : SL_CAMERA_ENCODED_BYTES),
                NULL);
}

void
sl_camera_encoded_begin (SlCameraEncoded *encoded)
{
  *encoded = (SlCameraEncoded){ 0 };
}

static GstClockTime
moved (GstClockTime time, GstClockTime from, GstClockTime to)
{
  if (!GST_CLOCK_TIME_IS_VALID (time))
    return GST_CLOCK_TIME_NONE;
  return time < from ? to - MIN (to, from - time) : to + (time - from);
}

void
sl_camera_encoded_move (GstBuffer *frame, GstClockTime from, GstClockTime to)
{
  GST_BUFFER_PTS (frame) = moved (GST_BUFFER_PTS (frame), from, to);
  GST_BUFFER_DTS (frame) = moved (GST_BUFFER_DTS (frame), from, to);
  if (GST_BUFFER_PTS_IS_VALID (frame) && GST_BUFFER_DTS_IS_VALID (frame)
      && GST_BUFFER_DTS (frame) > GST_BUFFER_PTS (frame))
    GST_BUFFER_DTS (frame) = GST_CLOCK_TIME_NONE;
}

static gboolean
has_room (GstAppSrc *output, gsize bytes)
{
  const guint64 waiting = gst_app_src_get_current_level_bytes (output);
  return waiting == 0
         || (waiting + bytes <= SL_CAMERA_ENCODED_BYTES
             && gst_app_src_get_current_level_time (output) <= SL_CAMERA_ENCODED_TIME);
}

void
sl_camera_encoded_push (SlCameraEncoded *encoded, GstAppSrc *output, gboolean live,
                        GstBuffer *frame)
{
  const gboolean ended = GST_PAD_IS_EOS (GST_BASE_SRC_PAD (output));
  const gboolean fits = !live || ended || has_room (output, gst_buffer_get_size (frame));
  const gboolean begins =
    !encoded->flows && !GST_BUFFER_FLAG_IS_SET (frame, GST_BUFFER_FLAG_DELTA_UNIT);
  encoded->crowded |= !fits;
  encoded->flows = fits && !ended && (encoded->flows || begins);
  if (!encoded->flows) {
    gst_buffer_unref (frame);
    return;
  }
  if (begins)
    GST_BUFFER_FLAG_SET (frame, GST_BUFFER_FLAG_DISCONT);
  gst_app_src_push_buffer (output, frame);
}
