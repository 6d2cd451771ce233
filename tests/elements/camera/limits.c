/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GStreamer's own decoders and depayloaders, given what a hostile camera sends, inside the limits:
 * what is told, and what memory they take.
 */
#include "plugins/camera/limits.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <gst/app/gstappsrc.h>
#include <string.h>

#include "tests/elements/camera/support.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define RTP_HEADER 12
#define PACKET 60000

static const SlCameraLimits limits = { .max_part_bytes = 1000000, .max_pixels = 64 << 20 };

/* A pipeline with an appsrc named source in it, which plays; errors go to @bus. */
typedef struct
{
  GstElement *pipeline, *source;
  GstBus *bus;
} Fed;

static void
fed_init (Fed *fed, const char *launch)
{
  g_autoptr (GError) error = NULL;
  fed->pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  fed->source = gst_bin_get_by_name (GST_BIN (fed->pipeline), "source");
  fed->bus = gst_element_get_bus (fed->pipeline);
}

static void
fed_clear (Fed *fed)
{
  gst_element_set_state (fed->pipeline, GST_STATE_NULL);
  gst_object_unref (fed->bus);
  gst_object_unref (fed->source);
  gst_object_unref (fed->pipeline);
}

static void
expect_error (Fed *fed, const char *fragment)
{
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (fed->bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR);
  g_autoptr (GError) error = NULL;
  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, fragment));
}

static GBytes *
read_picture (const char *launch)
{
  g_autofree char *path = test_text_file ("picture", "");
  g_autofree char *whole = g_strdup_printf ("%s ! filesink location=%s", launch, path);
  g_autoptr (GstElement) pipeline = gst_parse_launch (whole, NULL);
  test_run_to_end (pipeline);
  char *data;
  gsize n;
  g_assert_true (g_file_get_contents (path, &data, &n, NULL));
  test_remove_file (path);
  return g_bytes_new_take (data, n);
}

/* (transfer full): @picture, saying in its frame header that it is of @side x @side. */
static GBytes *
grow_picture (GBytes *picture, guint side)
{
  gsize n, frame = 2;
  const guint8 *data = g_bytes_get_data (picture, &n);
  guint8 *bytes = g_memdup2 (data, n);
  while (frame + 8 < n && bytes[frame + 1] != 0xc0)
    frame += 2u + ((gsize) bytes[frame + 2] << 8 | bytes[frame + 3]);
  for (guint i = 5; i < 9; i++)
    bytes[frame + i] = (guint8) (i % 2 ? side >> 8 : side & 255);
  return g_bytes_new_take (bytes, n);
}

/* No check saw the picture before the decoder: the memory for 1.5 GB of frame is not given. */
static void
test_frames (void)
{
  g_autoptr (GBytes) picture = read_picture (
    "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=64,height=48 ! jpegenc");
  g_autoptr (GBytes) bomb = grow_picture (picture, 32000);
  Fed fed;
  fed_init (&fed,
            "appsrc name=source caps=image/jpeg ! jpegdec ! videoconvert name=convert ! fakesink");
  g_autoptr (GstElement) convert = gst_bin_get_by_name (GST_BIN (fed.pipeline), "convert");
  sl_camera_limit_frames (convert, &limits);
  const guint64 before = test_memory ("VmRSS:");
  test_reset_peak ();
  gst_element_set_state (fed.pipeline, GST_STATE_PLAYING);
  gst_app_src_push_buffer (GST_APP_SRC (fed.source), gst_buffer_new_wrapped_bytes (bomb));
  gst_app_src_end_of_stream (GST_APP_SRC (fed.source));
  expect_error (
    &fed,
    "a picture of 32000x32000 (video/x-raw): expected at most 67108864 pixels (max-pixels), got "
    "1024000000; where the camera has such pictures, raise max-pixels");
  fed_clear (&fed);
  test_assert_grown (before);
}

/* Caps before a decoder, as parsers and depayloaders write them from what the stream says. */
static void
test_caps (void)
{
  Fed fed;
  fed_init (
    &fed,
    "appsrc name=source caps=image/jpeg,width=65500,height=65500,framerate=30/1,parsed=true ! "
    "decodebin ! fakesink");
  sl_camera_limit_decoding (GST_BIN (fed.pipeline), &limits);
  gst_element_set_state (fed.pipeline, GST_STATE_PLAYING);
  g_autoptr (GBytes) picture = read_picture (
    "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=64,height=48 ! jpegenc");
  g_autoptr (GBytes) bomb =
    grow_picture (picture, 65500); /* a parser between here and the decoder believes the picture */
  gst_app_src_push_buffer (GST_APP_SRC (fed.source), gst_buffer_new_wrapped_bytes (bomb));
  expect_error (
    &fed,
    "a picture of 65500x65500 (image/jpeg): expected at most 67108864 pixels (max-pixels), got "
    "4290250000;");
  fed_clear (&fed);
}

/* Fragments of a picture (RFC 6184, FU-A) of which none is the last. */
static GstBuffer *
make_packet (guint16 number)
{
  guint8 *bytes = g_malloc0 (PACKET);
  bytes[0] = 0x80;
  bytes[1] = 96;
  GST_WRITE_UINT16_BE (bytes + 2, number);
  bytes[RTP_HEADER] = 0x7c;                          /* FU-A */
  bytes[RTP_HEADER + 1] = number == 0 ? 0x85 : 0x05; /* start; of a key frame */
  return gst_buffer_new_wrapped (bytes, PACKET);
}

static void
test_fragments (void)
{
  Fed fed;
  fed_init (
    &fed,
    "appsrc name=source block=true max-buffers=10 format=time "
    "caps=application/x-rtp,media=video,encoding-name=H264,clock-rate=90000,payload=96 ! decodebin "
    "! fakesink");
  sl_camera_limit_decoding (GST_BIN (fed.pipeline), &limits);
  const guint64 before = test_memory ("VmRSS:");
  test_reset_peak ();
  gst_element_set_state (fed.pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 5000; i++)
    if (gst_app_src_push_buffer (GST_APP_SRC (fed.source), make_packet ((guint16) i))
        != GST_FLOW_OK)
      break;
  expect_error (
    &fed,
    "a picture of the stream: expected at most 1000000 bytes (max-part-bytes), got 1020000 and no "
    "end; where the camera has such pictures, raise max-part-bytes");
  fed_clear (&fed);
  test_assert_grown (before);
}

/* Files have the limit of pixels, and none of bytes. */
static void
test_file (void)
{
  g_autofree char *path = test_text_file ("picture", "");
  g_autoptr (GBytes) picture = read_picture (
    "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=640,height=480 ! jpegenc");
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (picture, NULL),
                                      (gssize) g_bytes_get_size (picture), NULL));
  g_autoptr (TestCamera) refused = test_camera_new (path, "max-pixels=307199", NULL);
  test_camera_play (refused, GST_STATE_PLAYING);
  test_camera_wait_text (
    refused, GST_MESSAGE_ERROR,
    "a picture of 640x480 (image/jpeg): expected at most 307199 pixels (max-pixels), got 307200;");
  g_autoptr (TestCamera) taken =
    test_camera_new (path, "max-pixels=307200 max-part-bytes=1024", NULL);
  test_camera_play (taken, GST_STATE_PLAYING);
  test_camera_wait_frames (taken, 1);
  test_remove_file (path);
}

/* Libav's decoders, which decodebin makes, have memory of their own. */
static void
test_decoder_memory (void)
{
  GstElement *bin = gst_bin_new (NULL), *decoder = gst_element_factory_make ("avdec_h264", NULL);
  gboolean lent = FALSE;
  if (decoder == NULL) {
    g_test_skip ("needs avdec_h264");
    gst_object_unref (bin);
    return;
  }
  sl_camera_limit_decoding (GST_BIN (bin), &limits);
  gst_bin_add (GST_BIN (bin), decoder);
  g_object_get (decoder, "direct-rendering", &lent, NULL);
  g_assert_false (lent);
  gst_object_unref (bin);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/cameralimits/frames", test_frames);
  g_test_add_func ("/cameralimits/caps", test_caps);
  g_test_add_func ("/cameralimits/fragments", test_fragments);
  g_test_add_func ("/cameralimits/file", test_file);
  g_test_add_func ("/cameralimits/decoder-memory", test_decoder_memory);
  return test_elements_run ();
}
