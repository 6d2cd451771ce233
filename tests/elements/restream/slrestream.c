/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slrestream with clients of GStreamer's rtspsrc: pictures, metadata, passwords, limits, and
 * streams that cannot be offered. */
#include "config.h"

#include <gio/gio.h>

#include <string.h>

#include "plugins/camera/encoded.h"
#include "plugins/elements.h"
#include "tests/elements/restream/support.h"
#include "tests/support/program.h"

/* Whether @sample, a gray frame, has anything else in it. */
static gboolean
is_drawn_on (GstSample *sample)
{
  GstVideoFrame frame;
  GstVideoInfo info;
  gboolean drawn = FALSE;
  g_assert_true (gst_video_info_from_caps (&info, gst_sample_get_caps (sample)));
  g_assert_cmpint (info.width, ==, 160);
  g_assert_cmpint (info.height, ==, 120);
  g_assert_true (gst_video_frame_map (&frame, &info, gst_sample_get_buffer (sample), GST_MAP_READ));
  const guint8 *pixels = GST_VIDEO_FRAME_PLANE_DATA (&frame, 0);
  for (gint y = 0; y < info.height; y++)
    for (gint x = 0; x < info.width; x++)
      drawn =
        drawn || ABS (pixels[y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0) + x] - pixels[0]) > 24;
  gst_video_frame_unmap (&frame);
  return drawn;
}

/* With and without drawings; without a client nothing is encoded. */
static void
test_picture (gconstpointer draw)
{
  g_autofree char *properties =
    g_strdup_printf ("encoder=jpegenc draw=%s", draw != NULL ? "true" : "false");
  TestStream stream = test_stream_open (test_reserve_port (), properties, NULL);
  g_assert_cmpuint (test_stream_count (&stream, "frames"), ==, 0);
  TestClient client = test_client_watch (&stream, "/door", FALSE);
  test_client_pictures (&client, 3);
  g_autoptr (GstSample) sample = test_client_picture (&client);
#ifdef SL_HAVE_OVERLAY
  g_assert_cmpint (is_drawn_on (sample), ==, draw != NULL);
#else
  g_assert_false (is_drawn_on (sample));
#endif
  g_assert_cmpuint (test_stream_count (&stream, "frames"), >=, 4);
  test_client_free (&client);
  test_stream_wait_clients (&stream, 0);
  test_stream_close (&stream);
}

/* Two clients, one over UDP: frames are encoded once. */
static void
test_shared (void)
{
  TestStream stream = test_stream_open (0, "encoder=jpegenc max-framerate=0", NULL);
  g_autofree char *location = g_strdup_printf ("127.0.0.1:%u/door", stream.port);
  TestClient one = test_client_watch (&stream, "/door", FALSE);
  test_client_pictures (&one, 1);
  TestClient two = test_client_new (location, "protocols=udp", FALSE);
  test_client_pictures (&two, 1);
  const guint64 before = test_stream_count (&stream, "frames");
  const GstClockTime began = gst_util_get_timestamp ();
  test_client_pictures (&one, 15);
  test_client_pictures (&two, 15);
  const guint64 most = (gst_util_get_timestamp () - began) * 15 / GST_SECOND + 5;
  g_assert_cmpuint (test_stream_count (&stream, "frames") - before, <=, most);
  g_assert_cmpuint (test_stream_count (&stream, "clients"), ==, 2);
  test_client_free (&one);
  test_client_free (&two);
  test_stream_close (&stream);
}

/* On a port of its own, since clients of the test before may still be leaving the shared one. The
 * camera's stream is passed on as it is, and has documents about its frames. */
static void
test_camera (void)
{
  TestStream stream = test_stream_open (test_reserve_port (), "encoder=jpegenc", "jpegenc");
  TestClient client = test_client_watch (&stream, "/door/camera", TRUE);
  test_client_pictures (&client, 3);
  g_autoptr (GstSample) sample = test_client_picture (&client);
  g_assert_false (is_drawn_on (sample));
  g_autofree char *document = NULL;
  for (guint i = 0; document == NULL || strstr (document, "tt:Object ") == NULL; i++) {
    g_assert_cmpuint (i, <, 20);
    g_free (document);
    document = test_client_document (&client);
  }
  g_assert_nonnull (strstr (document, "<tt:Object ObjectId=\"7\">"));
  g_assert_nonnull (strstr (document, "<tt:Type Likelihood=\"0.875\">Human</tt:Type>"));
  g_assert_nonnull (strstr (document, "left=\"-0.50000\" top=\"0.50000\" right=\"0.00000\" "
                                      "bottom=\"0.00000\""));
  g_assert_cmpuint (test_stream_count (&stream, "frames"), ==, 0);
  test_client_free (&client);
  test_stream_close (&stream);
}

static void
expect_refusal (const TestStream *stream, const char *user, const char *path, const char *fragment)
{
  g_autofree char *location = g_strdup_printf ("127.0.0.1:%u%s", stream->port, path);
  g_autofree char *properties = g_strdup_printf ("protocols=tcp %s", user);
  TestClient client = test_client_new (location, properties, FALSE);
  g_autofree char *error = test_client_error (&client);
  g_test_message ("%s", error);
  g_assert_nonnull (strstr (error, fragment));
  test_client_free (&client);
}

static void
test_password (void)
{
  g_autofree char *file = test_text_file ("password", "correct horse\n");
  g_autofree char *properties = g_strdup_printf ("encoder=jpegenc user=nvr password-file=%s", file);
  TestStream stream = test_stream_open (0, properties, "jpegenc");
  expect_refusal (&stream, "", "/door", "nauthorized");
  expect_refusal (&stream, "user-id=nvr user-pw=wrong", "/door", "nauthorized");
  expect_refusal (&stream, "user-id=nvr user-pw=wrong", "/door/camera", "nauthorized");
  g_autofree char *location = g_strdup_printf ("127.0.0.1:%u/door", stream.port);
  TestClient client =
    test_client_new (location, "protocols=tcp user-id=nvr user-pw=\"correct horse\"", FALSE);
  test_client_pictures (&client, 2);
  test_client_free (&client);
  test_stream_close (&stream);
  test_remove_file (file);
}

static void
test_unknown_path (void)
{
  TestStream stream = test_stream_open (0, "encoder=jpegenc", NULL);
  expect_refusal (&stream, "", "/door/camera", "ot found");
  expect_refusal (&stream, "", "/window", "ot found");
  test_stream_close (&stream);
}

/* Clients of the camera's own stream are told why there is none. */
static void
test_no_camera_stream (void)
{
  TestStream stream = test_stream_new (0, "encoder=jpegenc", NULL);
  g_autoptr (GstPad) pad = gst_element_request_pad_simple (stream.element, "encoded");
  g_autoptr (GstCaps) caps = gst_caps_from_string ("video/x-h265,stream-format=hvc1,alignment=au");
  g_autoptr (GstPluginFeature) payloader =
    gst_registry_lookup_feature (gst_registry_get (), "rtph265pay");
  gst_element_set_state (stream.pipeline, GST_STATE_PLAYING);
  stream.port = (guint) test_stream_count (&stream, "port");
  expect_refusal (&stream, "", "/door/camera",
                  "Service Unavailable: no frame has come; try again later (503)");
  gst_pad_send_event (pad, gst_event_new_stream_start ("camera"));
  gst_pad_send_event (pad, gst_event_new_caps (caps));
  if (payloader != NULL)
    gst_registry_remove_feature (gst_registry_get (), payloader);
  expect_refusal (&stream, "", "/door/camera",
                  "Service Unavailable: no payloader for video/x-h265 is here (503)");
  gst_pad_send_event (pad, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_OOB,
                                                 gst_structure_new_empty (SL_CAMERA_ENCODED_NONE)));
  expect_refusal (
    &stream, "", "/door/camera",
    "Not Found: the camera sends raw frames; the path without /camera has the encoded "
    "picture (404)");
  test_stream_close (&stream);
}

/* The third of two is told so, and served when one of them has gone. */
static void
test_limit (void)
{
  TestStream stream = test_stream_open (0, "encoder=jpegenc clients=2", NULL);
  TestClient one = test_client_watch (&stream, "/door", FALSE);
  test_client_pictures (&one, 1);
  TestClient two = test_client_watch (&stream, "/door", FALSE);
  test_client_pictures (&two, 1);
  expect_refusal (&stream, "", "/door", "Service Unavailable");
  test_client_free (&one);
  test_stream_wait_clients (&stream, 1);
  TestClient three = test_client_watch (&stream, "/door", FALSE);
  test_client_pictures (&three, 2);
  test_client_pictures (&two, 2);
  test_client_free (&two);
  test_client_free (&three);
  test_stream_close (&stream);
}

/* Starting fails with a text that has @fragment. */
static void
expect_failure (guint port, const char *properties, const char *fragment)
{
  TestStream stream = test_stream_new (port, properties, NULL);
  gst_element_set_state (stream.pipeline, GST_STATE_PLAYING);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (stream.bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, fragment));
  test_stream_close (&stream);
}

static void
test_mistakes (void)
{
  expect_failure (0, "rtsp=\"\"",
                  "rtsp is not set: expected [ADDR]:PORT/NAME, such as rtsp=:8554/door");
  expect_failure (0, "rtsp=8554", "rtsp=8554: expected ADDR:PORT/NAME");
  expect_failure (
    0, "user=nvr",
    "user is set and password-file is not: expected both, or neither for clients without a "
    "password");
  expect_failure (0, "password-file=/none", "password-file is set and user is not: expected both");
  expect_failure (0, "user=nvr password-file=/none", "password-file=");
  expect_failure (0, "encoder=jpgenc", "encoder=jpgenc: unknown; did you mean 'jpegenc'?");
}

/* Ports that another program has, paths that another element has, users of one port. */
static void
test_taken (void)
{
  g_autoptr (GSocketListener) other = g_socket_listener_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GSocketAddress) address = g_inet_socket_address_new_from_string ("127.0.0.1", 0),
                             got = NULL;
  g_autofree char *file = test_text_file ("password", "correct horse\n");
  g_autofree char *user = g_strdup_printf ("user=nvr password-file=%s", file);
  g_assert_true (g_socket_listener_add_address (other, address, G_SOCKET_TYPE_STREAM,
                                                G_SOCKET_PROTOCOL_TCP, NULL, &got, &error));
  const guint port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (got));
  g_autofree char *sentence =
    g_strdup_printf ("rtsp: nothing can listen on 127.0.0.1, port %u: ", port);
  static const char *const advice = "; choose another port, or end the program that has it";
  expect_failure (port, "", sentence);
  expect_failure (port, "", advice);
  TestStream stream = test_stream_open (test_reserve_port (), "encoder=jpegenc", NULL);
  g_autofree char *path = g_strdup_printf (
    "rtsp: path /door of port %u belongs to another slrestream; expected another path",
    stream.port);
  g_autofree char *users = g_strdup_printf (
    "rtsp: port %u has streams with another user or password; expected the same for all streams of "
    "a port",
    stream.port);
  expect_failure (stream.port, "", path);
  expect_failure (stream.port, user, users);
  test_stream_close (&stream);
  test_remove_file (file);
}

/* A server that ends before its thread has begun. */
static void
test_ends_at_once (void)
{
  g_autoptr (GstElement) element =
    gst_object_ref_sink (gst_element_factory_make ("slrestream", NULL));
  g_object_set (element, "rtsp", "127.0.0.1:0/door", NULL);
  for (guint i = 0; i < 200; i++) {
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), !=,
                     GST_STATE_CHANGE_FAILURE);
    gst_element_set_state (element, GST_STATE_NULL);
  }
}

/* Frames that no encoder takes: a sentence, once, for the first client. */
static void
test_not_encoded (void)
{
  GstElement *element = gst_element_factory_make ("slrestream", NULL);
  g_object_set (element, "rtsp", "127.0.0.1:0/door", "encoder", "jpegenc", NULL);
  GstBus *bus = test_watch (element);
  GstHarness *harness = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_set_src_caps_str (
    harness, "video/x-raw(memory:DMABuf),format=I420,width=4,height=4,framerate=15/1");
  const TestStream stream = { .element = element };
  g_autofree char *location =
    g_strdup_printf ("127.0.0.1:%u/door", (guint) test_stream_count (&stream, "port"));
  TestClient client = test_client_new (location, "protocols=tcp", FALSE);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) warning = NULL;
  for (guint i = 0; message == NULL; i++) {
    GstBuffer *frame = gst_buffer_new_allocate (NULL, 24, NULL);
    GST_BUFFER_PTS (frame) = i * GST_MSECOND;
    g_assert_cmpint (gst_harness_push (harness, frame), ==, GST_FLOW_OK);
    message = gst_bus_timed_pop_filtered (bus, 10 * GST_MSECOND, GST_MESSAGE_WARNING);
  }
  gst_message_parse_warning (message, &warning, NULL);
  g_test_message ("%s", warning->message);
  g_assert_nonnull (strstr (warning->message, " cannot be encoded by jpegenc: expected raw video"));
  g_assert_nonnull (strstr (warning->message, "; clients of the annotated picture get none"));
  g_autofree char *error = test_client_error (&client);
  g_test_message ("%s", error);
  g_assert_cmpstr (error, !=, "");
  test_client_free (&client);
  gst_object_unref (element);
  test_line_close (harness, bus);
}

/* An address that other machines reach, though not on this one. */
static void
test_open_address (void)
{
  TestStream stream = test_stream_new (0, "rtsp=192.0.2.1:0/door", NULL);
  g_autoptr (GError) warning = NULL, error = NULL;
  gst_element_set_state (stream.pipeline, GST_STATE_PLAYING);
  g_autoptr (GstMessage) first =
    gst_bus_timed_pop_filtered (stream.bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_WARNING);
  g_autoptr (GstMessage) second =
    gst_bus_timed_pop_filtered (stream.bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR);
  gst_message_parse_warning (first, &warning, NULL);
  gst_message_parse_error (second, &error, NULL);
  g_assert_cmpstr (
    warning->message, ==,
    "rtsp: other machines can watch /door without a password: set user and password-file, or an "
    "address such as 127.0.0.1");
  g_assert_true (
    g_str_has_prefix (error->message, "rtsp: nothing can listen on 192.0.2.1, port 0: "));
  test_stream_close (&stream);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  sl_plugin_register_element (NULL, "slrestream", "SlRestream", GST_RANK_NONE,
                              sl_restream_get_type);
#ifdef SL_HAVE_OVERLAY
  g_type_ensure (sl_overlay_get_type ());
#endif
  g_test_add_data_func ("/slrestream/picture/drawn", "", test_picture);
  g_test_add_data_func ("/slrestream/picture/plain", NULL, test_picture);
  g_test_add_func ("/slrestream/shared", test_shared);
  g_test_add_func ("/slrestream/camera", test_camera);
  g_test_add_func ("/slrestream/password", test_password);
  g_test_add_func ("/slrestream/unknown-path", test_unknown_path);
  g_test_add_func ("/slrestream/no-camera-stream", test_no_camera_stream);
  g_test_add_func ("/slrestream/ends-at-once", test_ends_at_once);
  g_test_add_func ("/slrestream/limit", test_limit);
  g_test_add_func ("/slrestream/mistakes", test_mistakes);
  g_test_add_func ("/slrestream/taken", test_taken);
  g_test_add_func ("/slrestream/not-encoded", test_not_encoded);
  g_test_add_func ("/slrestream/open-address", test_open_address);
  return test_elements_run ();
}
