/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames of the inner pipeline, decoded and encoded, on their way to the element: they get times of
 * the outer pipeline. These functions run in the inner pipeline's streaming threads.
 */
#include "plugins/camera/feed_private.h"

#include "plugins/meta/late_meta.h"

#define TRUST (5 * GST_SECOND)

/* Frames: called by the sink of the inner pipeline. */

/* How far from now a time is that is believed. @held: of a frame that waited for motion */
static GstClockTime
trust_of (const SlCameraFeed *feed, gboolean held)
{
  return TRUST + (GstClockTime) feed->settings.latency * GST_MSECOND
         + (held ? 2 * SL_QUIET_TIME : 0);
}

static GstClockTime
stamp (SlCameraFeed *feed, GstElement *camera, GstClockTime running, GstClockTime inner_base,
       GstClockTime duration, gboolean held)
{
  if (!feed->live)
    return sl_camera_stamper_file (&feed->stamper, running, duration);
  g_autoptr (GstClock) clock = gst_element_get_clock (camera);
  if (clock == NULL)
    return sl_camera_stamper_file (&feed->stamper, running, duration);
  const GstClockTime taken =
    GST_CLOCK_TIME_IS_VALID (running) && GST_CLOCK_TIME_IS_VALID (inner_base) ? running + inner_base
                                                                              : GST_CLOCK_TIME_NONE;
  return sl_camera_stamper_live (&feed->stamper, taken, gst_clock_get_time (clock),
                                 gst_element_get_base_time (camera), trust_of (feed, held));
}

/* Or on its way there. Time stands still in PAUSED, so what comes then could not be stamped. */
static gboolean
is_playing (GstElement *camera)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (camera));
  return GST_STATE_TARGET (camera) == GST_STATE_PLAYING;
}

/* Reports to the consumer of encoded frames that no frame will come. For files and test pictures
 * this is final; for a camera it holds for this connection. */
static void
end_empty (SlCameraFeed *feed)
{
  g_autoptr (GstAppSrc) encoded = !feed->taken.came ? sl_camera_feed_dup_encoded (feed) : NULL;
  if (encoded == NULL)
    return;
  if (sl_camera_may_end (feed->uri))
    gst_app_src_end_of_stream (encoded);
  else
    gst_element_send_event (
      GST_ELEMENT (encoded),
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_OOB,
                            gst_structure_new_empty (SL_CAMERA_ENCODED_NONE)));
}

/* Frames that waited for motion are handed on one by one, also by a live camera: each, and the one
 * behind them, waits until the element downstream has taken the one before. */
static GstFlowReturn
push_late (SlCameraFeed *feed, GstElement *camera, GstAppSrc *output, GstBuffer *frame)
{
  if (!feed->live)
    return gst_app_src_push_buffer (output, frame);
  g_mutex_lock (&feed->lock);
  feed->blocked = TRUE;
  g_mutex_unlock (&feed->lock);
  g_object_set (output, "leaky-type", GST_APP_LEAKY_TYPE_NONE, "block", TRUE, NULL);
  const GstFlowReturn flow = gst_app_src_push_buffer (output, frame);
  g_object_set (output, "leaky-type", GST_APP_LEAKY_TYPE_DOWNSTREAM, "block", FALSE, NULL);
  g_mutex_lock (&feed->lock);
  feed->blocked = FALSE;
  feed->last_frame = g_get_monotonic_time ();
  g_mutex_unlock (&feed->lock);
  return flow == GST_FLOW_FLUSHING && !is_playing (camera) ? GST_FLOW_OK : flow;
}

static GstFlowReturn
take_frame (gpointer data, GstBuffer *buffer, GstClockTime running, GstClockTime base)
{
  SlCameraFeed *feed = data;
  g_autoptr (GstElement) camera = sl_camera_feed_dup_camera (feed);
  g_autoptr (GstAppSrc) output = sl_camera_feed_dup_output (feed);
  if (camera == NULL || output == NULL)
    return GST_FLOW_FLUSHING;
  g_mutex_lock (&feed->lock);
  const gboolean first = feed->frames++ == 0;
  feed->last_frame = g_get_monotonic_time ();
  if (first)
    feed->steady_since = feed->last_frame;
  if (first || feed->waiting)
    g_cond_broadcast (&feed->cond);
  g_mutex_unlock (&feed->lock);
  if (first)
    end_empty (feed);
  if (feed->live && !is_playing (camera))
    return GST_FLOW_OK;
  GstBuffer *frame =
    gst_buffer_is_writable (buffer) ? gst_buffer_ref (buffer) : gst_buffer_copy (buffer);
  const SlIntactMark *mark = sl_intact_get_mark (buffer);
  const gboolean held = mark != NULL && mark->held;
  GST_BUFFER_PTS (frame) = stamp (feed, camera, running, base, GST_BUFFER_DURATION (buffer), held);
  GST_BUFFER_DTS (frame) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_OFFSET (frame) = GST_BUFFER_OFFSET_END (frame) = GST_BUFFER_OFFSET_NONE;
  if (first)
    GST_BUFFER_FLAG_SET (frame, GST_BUFFER_FLAG_DISCONT);
  const gboolean waits = held || feed->late;
  feed->late = held;
  if (held)
    sl_buffer_set_late (frame);
  return waits ? push_late (feed, camera, output, frame) : gst_app_src_push_buffer (output, frame);
}

static void
take_caps (gpointer data, GstCaps *caps)
{
  SlCameraFeed *feed = data;
  g_mutex_lock (&feed->lock);
  gst_caps_replace (&feed->caps, caps);
  g_mutex_unlock (&feed->lock);
  g_autoptr (GstAppSrc) output = sl_camera_feed_dup_output (feed);
  if (output != NULL)
    gst_app_src_set_caps (output, caps);
}

static void
take_tags (gpointer data, GstEvent *event)
{
  SlCameraFeed *feed = data;
  GstTagList *tags;
  gst_event_parse_tag (event, &tags);
  g_autoptr (GstAppSrc) output = sl_camera_feed_dup_output (feed);
  if (output != NULL && gst_tag_list_get_tag_size (tags, GST_TAG_IMAGE_ORIENTATION) > 0)
    gst_element_send_event (GST_ELEMENT (output), gst_event_ref (event));
}

const SlCameraSinkCalls sl_camera_feed_sink_calls = { take_frame, take_caps, take_tags };

/* Encoded frames: called by the tap in front of the decoder. */

/* A live frame's time is when it was taken, like that of what becomes of it. Before the inner
 * pipeline runs, it is about to. */
static void
stamp_encoded (gpointer data, GstBuffer *frame, gboolean reordered)
{
  SlCameraFeed *feed = data;
  const GstClockTime running =
    GST_BUFFER_PTS_IS_VALID (frame) ? GST_BUFFER_PTS (frame) : GST_BUFFER_DTS (frame);
  feed->taken.came = TRUE;
  g_autoptr (GstElement) camera = sl_camera_feed_dup_camera (feed);
  g_autoptr (GstClock) clock = camera != NULL && feed->live ? gst_element_get_clock (camera) : NULL;
  if (clock == NULL) {
    sl_camera_encoded_move (frame, 0, feed->stamper.offset);
    return;
  }
  const GstClockTime now = gst_clock_get_time (clock), base = gst_element_get_base_time (camera);
  const GstClockTime inner_base = gst_element_get_base_time (feed->pipeline);
  const gboolean timed = GST_CLOCK_TIME_IS_VALID (running);
  const GstClockTime taken =
    timed ? running + (inner_base > 0 ? inner_base : now) : GST_CLOCK_TIME_NONE;
  const GstClockTime time = sl_camera_stamper_encoded (&feed->encoded_stamper, reordered, taken,
                                                       now, base, trust_of (feed, FALSE));
  if (timed)
    sl_camera_encoded_move (frame, running, time);
  else
    GST_BUFFER_PTS (frame) = time;
}

static void
take_encoded (gpointer data, GstBuffer *frame)
{
  SlCameraFeed *feed = data;
  g_autoptr (GstElement) camera = sl_camera_feed_dup_camera (feed);
  g_autoptr (GstAppSrc) encoded = sl_camera_feed_dup_encoded (feed);
  const gboolean crowded = feed->taken.crowded;
  if (encoded == NULL || (feed->live && !is_playing (camera))) {
    feed->taken.flows = FALSE;
    gst_buffer_unref (frame);
    return;
  }
  sl_camera_encoded_push (&feed->taken, encoded, feed->live, frame);
  if (!crowded && feed->taken.crowded)
    sl_camera_feed_tell_people (
      feed, GST_MESSAGE_WARNING, NULL,
      "encoded: what takes its frames is too slow: they are left out, each time up to the next key "
      "frame");
}

static void
take_encoded_caps (gpointer data, GstCaps *caps)
{
  g_autoptr (GstAppSrc) encoded = sl_camera_feed_dup_encoded (data);
  if (encoded != NULL)
    gst_app_src_set_caps (encoded, caps);
}

const SlCameraTapCalls sl_camera_feed_tap_calls = { stamp_encoded, take_encoded_caps,
                                                    take_encoded };

/* Quiet times */

void
sl_camera_feed_check_quiet (SlCameraFeed *feed)
{
  SlQuietFigures figures;
  if (!sl_camera_feed_quiet (feed, &figures) || figures.gated
      || !g_atomic_int_compare_and_exchange (&feed->told_quiet, FALSE, TRUE))
    return;
  sl_camera_feed_tell_people (
    feed, GST_MESSAGE_WARNING, NULL,
    "quiet=keyframes: expected H.264 or H.265, this camera sends neither: all frames are decoded");
}

void
sl_camera_feed_tell_quiet (SlCameraFeed *feed, const GstStructure *structure)
{
  g_autoptr (GstElement) camera = sl_camera_feed_dup_camera (feed);
  const char *reason = gst_structure_get_string (structure, "reason");
  const gboolean limit = g_strcmp0 (reason, "limit") == 0;
  if (camera == NULL)
    return;
  gst_element_post_message (
    camera, gst_message_new_element (GST_OBJECT (camera), gst_structure_copy (structure)));
  if ((!limit && g_strcmp0 (reason, "unreadable") != 0)
      || !g_atomic_int_compare_and_exchange (&feed->told_quiet, FALSE, TRUE))
    return;
  sl_camera_feed_tell_people (
    feed, GST_MESSAGE_WARNING, NULL,
    limit ? "quiet=keyframes: no key frame within 30 s or 64 MiB: all frames up to the next one "
            "are decoded; set a shorter key frame interval in the camera"
          : "quiet=keyframes: the decoder's frames cannot be looked at, expected 8 bits in system "
            "memory: all frames are decoded");
}
