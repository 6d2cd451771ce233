/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames with strides of their own, before elements that know GstVideoMeta and before elements that
 * do not.
 */
#include "plugins/camera/video_meta_guard.h"

#include <string.h>

#include "tests/elements/support.h"
#include "tests/support/program.h"

#define WIDTH 6
#define HEIGHT 4
#define STRIDE 32
#define CAPS \
  "video/x-raw, format=(string)GRAY8, width=(int)6, height=(int)4, framerate=(fraction)25/1"

/* Pixel (x, y) is 10 y + x; everything beside the picture is 255. */
static GstBuffer *
padded_frame (void)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, STRIDE * HEIGHT, NULL);
  gst_buffer_memset (buffer, 0, 255, -1);
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++)
      gst_buffer_memset (buffer, (gsize) (y * STRIDE + x), (guint8) (10 * y + x), 1);
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  gint stride[GST_VIDEO_MAX_PLANES] = { STRIDE };
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, WIDTH,
                                  HEIGHT, 1, offset, stride);
  GST_BUFFER_PTS (buffer) = 7;
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  return buffer;
}

/* identity with the guard on its source pad, where @welcome with GstVideoMeta in the answer to its
 * allocation query. */
static GstHarness *
guarded (gboolean welcome)
{
  GstHarness *harness = gst_harness_new ("identity");
  gst_harness_set_src_caps_str (harness, CAPS);
  gst_harness_set_sink_caps_str (harness, CAPS);
  g_autoptr (GstPad) src = gst_element_get_static_pad (harness->element, "src");
  sl_video_meta_guard (src, harness->element);
  if (welcome)
    gst_harness_add_propose_allocation_meta (harness, GST_VIDEO_META_API_TYPE, NULL);
  g_autoptr (GstCaps) caps = gst_caps_from_string (CAPS);
  g_autoptr (GstQuery) query = gst_query_new_allocation (caps, FALSE);
  gst_pad_peer_query (src, query);
  return harness;
}

/* What leaves it. */
static GstBuffer *
pass (gboolean welcome)
{
  GstHarness *harness = guarded (welcome);
  GstBuffer *passed = gst_harness_push_and_pull (harness, padded_frame ());
  gst_harness_teardown (harness);
  return passed;
}

static void
test_straightened (void)
{
  g_autoptr (GstBuffer) buffer = pass (FALSE);
  GstVideoInfo info;
  g_autoptr (GstCaps) caps = gst_caps_from_string (CAPS);
  g_assert_true (gst_video_info_from_caps (&info, caps));
  g_assert_cmpuint (gst_buffer_get_size (buffer), ==, GST_VIDEO_INFO_SIZE (&info));
  g_assert_null (gst_buffer_get_video_meta (buffer));
  g_assert_cmpuint (GST_BUFFER_PTS (buffer), ==, 7);
  g_assert_true (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT));
  guint8 bytes[8 * HEIGHT];
  gst_buffer_extract (buffer, 0, bytes, sizeof bytes);
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++)
      g_assert_cmpuint (bytes[y * GST_VIDEO_INFO_PLANE_STRIDE (&info, 0) + x], ==, 10 * y + x);
}

static void
test_untouched (void)
{
  g_autoptr (GstBuffer) buffer = pass (TRUE);
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  g_assert_nonnull (meta);
  g_assert_cmpint (meta->stride[0], ==, STRIDE);
}

/* A frame that is shorter than its meta says is dropped, which is said once, and the next good one
 * passes. */
static void
test_dropped (void)
{
  GstHarness *harness = guarded (FALSE);
  g_autoptr (GstBus) bus = test_watch (harness->element);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *frame = padded_frame ();
    gst_buffer_resize (frame, 0, STRIDE * (HEIGHT - 1) + WIDTH - 1);
    g_assert_cmpint (gst_harness_push (harness, frame), ==, GST_FLOW_OK);
  }
  g_assert_cmpuint (gst_harness_buffers_in_queue (harness), ==, 0);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  g_autoptr (GError) warning = NULL;
  gst_message_parse_warning (message, &warning, NULL);
  g_test_message ("%s", warning->message);
  g_assert_nonnull (strstr (
    warning->message,
    "frame dropped: expected 32 bytes (GRAY8 6x4), got 101 with a GstVideoMeta of GRAY8 6x4, 1 "
    "plane, strides 32, offsets 0: plane 0, 4 rows of 6 bytes with stride 32, is not inside its "
    "memory of 101 bytes; the camera or its decoder sends something else than its caps say"));
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
  GstBuffer *passed = gst_harness_push_and_pull (harness, padded_frame ());
  g_assert_cmpuint (gst_buffer_get_size (passed), ==, 8 * HEIGHT);
  gst_buffer_unref (passed);
  gst_element_set_bus (harness->element, NULL);
  gst_harness_teardown (harness);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/video-meta-guard/straightened", test_straightened);
  g_test_add_func ("/video-meta-guard/untouched", test_untouched);
  g_test_add_func ("/video-meta-guard/dropped", test_dropped);
  return test_elements_run ();
}
