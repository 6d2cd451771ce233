/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames with strides of their own, before elements that know GstVideoMeta and before elements that do not.
 */
#include "plugins/plainvideo.h"

#include "tests/elements/support.h"

#define WIDTH 6
#define HEIGHT 4
#define STRIDE 32
#define CAPS "video/x-raw, format=(string)GRAY8, width=(int)6, height=(int)4, framerate=(fraction)25/1"

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
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, 1, offset, stride);
  GST_BUFFER_PTS (buffer) = 7;
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  return buffer;
}

/* What leaves identity, which asks downstream for an allocation because a base source does. */
static GstBuffer *
pass (gboolean welcome)
{
  GstHarness *harness = gst_harness_new ("identity");
  gst_harness_set_src_caps_str (harness, CAPS);
  gst_harness_set_sink_caps_str (harness, CAPS);
  g_autoptr (GstPad) src = gst_element_get_static_pad (harness->element, "src");
  sl_plain_video_guard (src);
  if (welcome)
    gst_harness_add_propose_allocation_meta (harness, GST_VIDEO_META_API_TYPE, NULL);
  g_autoptr (GstCaps) caps = gst_caps_from_string (CAPS);
  g_autoptr (GstQuery) query = gst_query_new_allocation (caps, FALSE);
  gst_pad_peer_query (src, query);
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

int
main (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/plainvideo/straightened", test_straightened);
  g_test_add_func ("/plainvideo/untouched", test_untouched);
  return test_elements_run ();
}
