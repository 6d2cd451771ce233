/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Clients of slrestream over time: many one after another, one that does not read, and those that
 * stay while the pipeline is replaced or the camera goes. */
#include <gio/gio.h>

#include <string.h>

#include "plugins/elements.h"
#include "tests/elements/camera/support.h"
#include "tests/elements/restream/support.h"
#include "tests/support/program.h"

static guint
count_files (const char *folder)
{
  guint n = 0;
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

/* Until there are at most @most of them. */
static void
wait_for_files (const char *folder, guint most)
{
  const gint64 end = g_get_monotonic_time () + 200 * G_USEC_PER_SEC;
  while (count_files (folder) > most) {
    g_assert_cmpint (g_get_monotonic_time (), <, end);
    g_usleep (20000);
  }
}

static void
visit (const TestStream *stream, const char *path)
{
  TestClient client = test_client_watch (stream, path, FALSE);
  test_client_pictures (&client, 1);
  test_client_free (&client);
  test_stream_wait_clients (stream, 0);
}

/* They leave no descriptor, no thread and no memory behind. */
static void
test_many (void)
{
  const guint n = test_is_slow () ? 10 : 100;
  TestStream stream = test_stream_open (0, "encoder=jpegenc", "jpegenc");
  for (guint i = 0; i < 6; i++)
    visit (&stream, i % 2 == 0 ? "/door" : "/door/camera");
  const guint files = count_files ("/proc/self/fd"), threads = count_files ("/proc/self/task");
  const guint64 memory = test_memory ("VmRSS:");
  for (guint i = 0; i < n; i++)
    visit (&stream, i % 2 == 0 ? "/door" : "/door/camera");
  wait_for_files ("/proc/self/fd", files + 8);
  wait_for_files ("/proc/self/task", threads + 8);
  if (!test_is_slow ())
    g_assert_cmpuint (test_memory ("VmRSS:"), <, memory + 24 * 1024);
  test_stream_close (&stream);
}

/* (transfer full): the answer to @request, up to its empty line. */
static char *
ask (GSocketConnection *connection, const char *request)
{
  GString *answer = g_string_new (NULL);
  GInputStream *in = g_io_stream_get_input_stream (G_IO_STREAM (connection));
  g_assert_true (
    g_output_stream_write_all (g_io_stream_get_output_stream (G_IO_STREAM (connection)), request,
                               strlen (request), NULL, NULL, NULL));
  while (!g_str_has_suffix (answer->str, "\r\n\r\n")) {
    char byte;
    g_assert_cmpint (g_input_stream_read (in, &byte, 1, NULL, NULL), ==, 1);
    g_string_append_c (answer, byte);
  }
  g_assert_true (g_str_has_prefix (answer->str, "RTSP/1.0 200 OK"));
  return g_string_free (answer, FALSE);
}

/* A client that asks for frames in its connection, and then reads nothing. */
static GSocketConnection *
play_and_sleep (guint port)
{
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  GSocketConnection *connection =
    g_socket_client_connect_to_host (client, "127.0.0.1", (guint16) port, NULL, NULL);
  g_assert_nonnull (connection);
  g_autofree char *setup =
    g_strdup_printf ("SETUP rtsp://127.0.0.1:%u/door/stream=0 RTSP/1.0\r\nCSeq: 1\r\n"
                     "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n",
                     port);
  g_autofree char *answer = ask (connection, setup);
  const char *session = strstr (answer, "Session: ");
  g_assert_nonnull (session);
  session += strlen ("Session: ");
  g_autofree char *play =
    g_strdup_printf ("PLAY rtsp://127.0.0.1:%u/door RTSP/1.0\r\nCSeq: 2\r\nSession: %.*s\r\n\r\n",
                     port, (int) strcspn (session, ";\r"), session);
  g_autofree char *playing G_GNUC_UNUSED = ask (connection, play);
  return connection;
}

/* Its connection is full long before the other client has its pictures. */
static void
test_slow (void)
{
  TestStream stream = test_stream_open (0, "encoder=jpegenc draw=false", NULL);
  g_autoptr (GSocketConnection) slow G_GNUC_UNUSED = play_and_sleep (stream.port);
  TestClient client = test_client_watch (&stream, "/door", FALSE);
  test_client_pictures (&client, 60);
  g_assert_cmpuint (test_stream_count (&stream, "clients"), >=, 1);
  test_client_free (&client);
  test_stream_close (&stream);
}

/* The next pipeline takes the path, and the client goes on. */
static void
test_replaced (void)
{
  const guint port = test_reserve_port ();
  TestStream first = test_stream_open (port, "encoder=jpegenc", "jpegenc");
  TestClient drawn = test_client_watch (&first, "/door", FALSE),
             camera = test_client_watch (&first, "/door/camera", TRUE);
  test_client_pictures (&drawn, 2);
  test_client_pictures (&camera, 2);
  test_stream_close (&first);
  TestStream second = test_stream_open (port, "encoder=jpegenc max-width=80", "jpegenc");
  for (gint width = 160; width == 160;) {
    g_autoptr (GstSample) sample = test_client_picture (&drawn);
    gst_structure_get_int (gst_caps_get_structure (gst_sample_get_caps (sample), 0), "width",
                           &width);
  }
  test_client_pictures (&camera, 30);
  test_client_pictures (&drawn, 5);
  test_client_free (&drawn);
  test_client_free (&camera);
  test_stream_close (&second);
}

/* With another codec they cannot: they are told to connect again. */
static void
test_other_codec (void)
{
  const guint port = test_reserve_port ();
  g_autoptr (GstElementFactory) vp8 = gst_element_factory_find ("vp8enc");
  if (vp8 == NULL) {
    g_test_skip ("vp8enc is not installed");
    return;
  }
  TestStream first = test_stream_open (port, "encoder=jpegenc", NULL);
  TestClient client = test_client_watch (&first, "/door", FALSE);
  test_client_pictures (&client, 2);
  test_stream_close (&first);
  TestStream second = test_stream_open (port, "encoder=vp8enc", NULL);
  g_autofree char *error = test_client_error (&client);
  g_test_message ("%s", error);
  test_client_free (&client);
  test_stream_close (&second);
}

/* A camera that goes and comes back: the client stays connected. */
static void
test_camera_gone (void)
{
  TestServer server;
  if (!test_server_start (&server, "SIGHTLINE_RTSP_SERVER", 0,
                          "--payload jpeg --size 160x120 --fps 15"))
    return;
  TestCamera *camera =
    test_camera_new (server.uri, "reconnect-min=50 reconnect-max=200",
                     "slrestream name=out encoder=jpegenc rtsp=127.0.0.1:0/door");
  TestStream stream = { .pipeline = camera->pipeline };
  stream.element = gst_bin_get_by_name (GST_BIN (camera->pipeline), "out");
  g_assert_true (gst_element_link_pads (camera->camera, "encoded", stream.element, "encoded"));
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 5);
  stream.port = (guint) test_stream_count (&stream, "port");
  TestClient client = test_client_watch (&stream, "/door/camera", TRUE);
  test_client_pictures (&client, 5);
  test_server_kill (&server);
  gst_structure_free (test_camera_wait (camera, "reconnecting"));
  g_assert_true (test_server_start (&server, "SIGHTLINE_RTSP_SERVER", server.port,
                                    "--payload jpeg --size 160x120 --fps 15"));
  test_camera_wait_frames (camera, 5);
  test_client_pictures (&client, 60);
  g_assert_cmpuint (test_stream_count (&stream, "clients"), ==, 1);
  test_client_free (&client);
  gst_object_unref (stream.element);
  test_camera_free (camera);
  test_server_kill (&server);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  sl_plugin_register_element (NULL, "slrestream", "SlRestream", GST_RANK_NONE,
                              sl_restream_get_type);
  g_test_add_func ("/slrestream/many", test_many);
  g_test_add_func ("/slrestream/slow", test_slow);
  g_test_add_func ("/slrestream/replaced", test_replaced);
  g_test_add_func ("/slrestream/other-codec", test_other_codec);
  g_test_add_func ("/slrestream/camera-gone", test_camera_gone);
  return test_elements_run ();
}
