/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slcamera against an HTTP server in another process: it serves, stops serving, breaks off, sends
 * nonsense, says no.
 */
#include <signal.h>

#include "tests/elements/camera/support.h"
#include "tests/elements/process.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define SERVER "SIGHTLINE_MJPEG_SERVER"
#define FAST "reconnect-min=50 reconnect-max=200 stall-timeout=600"
/* For servers that never get as far as a frame. */
#define HASTY "reconnect-min=50 reconnect-max=200 stall-timeout=600 connect-timeout=400"

static void
test_restart (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, test_reserve_port (), "--size 320x240"))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  gst_structure_free (test_camera_wait (camera, "playing"));
  test_camera_wait_frames (camera, 5);
  g_assert_cmpint (camera->width, ==, 320);
  test_server_kill (&server);
  gst_structure_free (test_camera_wait (camera, "reconnecting"));
  test_camera_expect (camera, "reconnecting", "Connection refused");
  g_assert_true (test_server_start (&server, SERVER, server.port, "--size 160x120"));
  gst_structure_free (test_camera_wait (camera, "playing"));
  test_camera_wait_frames (camera, 5);
  g_assert_cmpint (camera->width, ==, 160);
  g_assert_cmpuint (camera->caps_changes, ==, 2);
  g_assert_cmpuint (camera->disconts, >=, 2);
  g_assert_false (camera->backwards);
  test_camera_wait_text (camera, GST_MESSAGE_INFO, "back after ");
  test_server_kill (&server);
}

/* Connected, and then nothing: by the server's choice, and by stopping its process. */
static void
test_stall (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, "--mode stall --frames 5"))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  for (guint i = 0; i < 2; i++) {
    gst_structure_free (test_camera_wait (camera, "playing"));
    g_autoptr (GstStructure) stalled = test_camera_wait (camera, "stalled");
    gint64 age = 0;
    g_assert_true (gst_structure_get_int64 (stalled, "last-frame-age-ms", &age));
    g_assert_cmpint (age, >=, 600);
    g_assert_cmpstr (gst_structure_get_string (stalled, "reason"), ==, "no frame for 0.6 s");
  }
  g_assert_false (camera->backwards);
  test_server_kill (&server);
}

static void
test_frozen (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, ""))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 3);
  test_server_signal (&server, SIGSTOP);
  test_camera_expect (camera, "stalled", "no frame for 0.6 s");
  test_server_signal (&server, SIGCONT);
  test_camera_wait_frames (camera, 3);
  test_server_kill (&server);
}

static const struct
{
  const char *name, *mode, *properties, *reason;
} faults[] = {
  { "close", "--mode close --frames 3", FAST, "the camera ended the stream" },
  { "corrupt", "--mode corrupt", HASTY, "connected, but no frame within 0.4 s" },
  { "snapshot", "--mode snapshot", FAST,
    "the server answers image/jpeg, expected multipart/x-mixed-replace (MJPEG): use the camera's "
    "MJPEG address" },
  { "page", "--mode close --type text/html", FAST,
    "the server answers text/html, expected multipart/x-mixed-replace (MJPEG): use the camera's "
    "MJPEG address" },
  { "silent", "--mode silent", HASTY, "connected, but no frame within 0.4 s" },
  { "garbage", "--mode garbage", FAST,
    "the server's answer is not HTTP, or its header is larger than 100 KiB, which no property "
    "raises" },
  { "login", "--login joe:right", FAST,
    "the camera refuses user name and password: set user= and password=" },
};

/* Every fault is told, and is followed by further attempts. */
static void
test_fault (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, faults[i].mode))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, faults[i].properties, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  g_autofree char *warning = g_strdup_printf (
    "http://127.0.0.1:*: %s; trying again in 0.? s, and so on until it works", faults[i].reason);
  test_camera_wait_text (camera, GST_MESSAGE_WARNING, warning);
  test_camera_expect (camera, "reconnecting", faults[i].reason);
  test_camera_expect (camera, "reconnecting", faults[i].reason);
  g_autoptr (GstStructure) again = test_camera_wait (camera, "connecting");
  guint attempt = 0;
  g_assert_true (gst_structure_get_uint (again, "attempt", &attempt));
  g_assert_cmpuint (attempt, >=, 3);
  test_server_kill (&server);
}

/* A server that says nothing of what it sends, or something of its own: the bytes say what they
 * are. */
static void
test_type (gconstpointer type)
{
  TestServer server;
  g_autofree char *arguments = g_strdup_printf ("--size 64x48 --type %s", (const char *) type);
  if (!test_server_start (&server, SERVER, 0, arguments))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 3);
  g_assert_cmpint (camera->width, ==, 64);
  test_server_kill (&server);
}

/* What an answer is called, without what the element puts there for redirections. */
static void
test_missing (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, "--mode missing"))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_text (
    camera, GST_MESSAGE_WARNING,
    "http://127.0.0.1:*: Not Found (Not Found (404), URL: http://127.0.0.1:*/video); trying again "
    "in 0.? s, and so on until it works");
  test_server_kill (&server);
}

/* What is sent without end, or claims to be huge, with what slcamera says of it: the bound, what
 * came, the property. */
static const struct
{
  const char *mode, *properties, *reason;
} attacks[] = {
  { "endless", FAST,
    "a part of the MJPEG stream: expected at most 33554432 bytes (max-part-bytes), got 33554441 "
    "and no end; where the camera has such pictures, raise max-part-bytes" },
  { "length", FAST,
    "a part of the MJPEG stream: expected at most 33554432 bytes (max-part-bytes), its "
    "Content-Length is 4294967306; where the camera has such pictures, raise max-part-bytes" },
  { "negative", FAST " max-part-bytes=2000000",
    "a part of the MJPEG stream: expected at most 2000000 bytes (max-part-bytes), got 2000009 and "
    "no end; where the camera has such pictures, raise max-part-bytes" },
  { "overflow", FAST " max-part-bytes=2000000",
    "a part of the MJPEG stream: expected at most 2000000 bytes (max-part-bytes), got 2000009 and "
    "no end; where the camera has such pictures, raise max-part-bytes" },
  { "header", FAST,
    "a part of the MJPEG stream: expected a header of at most 65536 bytes, got * and no end; no "
    "property raises this, no camera sends so much" },
  { "line", FAST,
    "a part of the MJPEG stream: expected a header of at most 65536 bytes, got * and no end; no "
    "property raises this, no camera sends so much" },
  { "unbounded", FAST,
    "the MJPEG stream: expected a boundary, a line that begins with --, got * bytes without one; "
    "is this the camera's MJPEG address?" },
  { "empty", FAST,
    "the MJPEG stream: expected JPEG pictures, got 101 parts in a row without one; is this the "
    "camera's MJPEG address?" },
  { "text", FAST,
    "the MJPEG stream: expected JPEG pictures, got 101 parts in a row without one; is this the "
    "camera's MJPEG address?" },
  { "answer", FAST,
    "the server's answer is not HTTP, or its header is larger than 100 KiB, which no property "
    "raises" },
  { "answer-line", FAST,
    "the server's answer is not HTTP, or its header is larger than 100 KiB, which no property "
    "raises" },
  { "pixels", FAST,
    "a JPEG picture of 65500x65500: expected at most 67108864 pixels (max-pixels), got 4290250000; "
    "where the camera has such pictures, raise max-pixels" },
  { "scans", FAST,
    "a JPEG picture: expected at most 100 scans, got 201; no property raises this, no camera makes "
    "so many" },
  { "ok --size 640x480", FAST " max-pixels=300000",
    "a JPEG picture of 640x480: expected at most 300000 pixels (max-pixels), got 307200; where the "
    "camera has such pictures, raise max-pixels" },
  { "ok --size 640x480", FAST " max-part-bytes=1024",
    "a part of the MJPEG stream: expected at most 1024 bytes (max-part-bytes), its Content-Length "
    "is *; where the camera has such pictures, raise max-part-bytes" },
};

/* The connection is given up and made again, and memory stays within twice the bound of a part and
 * what GStreamer needs. */
static void
test_attack (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autofree char *mode = g_strdup_printf ("--mode %s", attacks[i].mode);
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, mode))
    return;
  const guint64 before = test_memory ("VmRSS:");
  test_reset_peak ();
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, attacks[i].properties, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  g_autofree char *warning = g_strdup_printf (
    "http://127.0.0.1:*: %s; trying again in 0.? s, and so on until it works", attacks[i].reason);
  test_camera_wait_text (camera, GST_MESSAGE_WARNING, warning);
  for (guint n = 2; n <= 4; n++) {
    g_autoptr (GstStructure) again = test_camera_wait (camera, "connecting");
    guint attempt = 0;
    g_assert_true (gst_structure_get_uint (again, "attempt", &attempt));
    g_assert_cmpuint (attempt, <=, n);
  }
  g_assert_cmpuint (camera->frames, ==, 0);
  test_camera_stop (camera);
  test_assert_grown (before);
  test_server_kill (&server);
}

/* A Content-Length that is too large, or of another type, does not matter while the boundary comes.
 */
static void
test_liar (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, "--mode liar"))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 5);
  test_server_kill (&server);
}

static void
test_boundary (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, "--mode boundary"))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 5);
  test_server_kill (&server);
}

static void
test_login (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, "--login joe:h@sh#1"))
    return;
  g_autofree char *uri = g_strdup_printf ("http://joe:h@sh#1@127.0.0.1:%u/video", server.port);
  g_autoptr (TestCamera) camera = test_camera_new (uri, FAST, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 3);
  g_autoptr (TestCamera) other =
    test_camera_new (server.uri, FAST " user=joe password=h@sh#1", NULL);
  test_camera_play (other, GST_STATE_PLAYING);
  test_camera_wait_frames (other, 3);
  test_server_kill (&server);
}

static void
test_nobody (void)
{
  g_autofree char *uri = g_strdup_printf ("http://127.0.0.1:%u/video", test_reserve_port ());
  g_autoptr (TestCamera) closed = test_camera_new (uri, FAST, NULL);
  test_camera_play (closed, GST_STATE_PLAYING);
  test_camera_expect (closed, "reconnecting", "Could not connect to 127.0.0.1: Connection refused");
  g_autoptr (TestCamera) unknown = test_camera_new ("http://nobody.invalid/", FAST, NULL);
  test_camera_play (unknown, GST_STATE_PLAYING);
  test_camera_expect (unknown, "reconnecting", "Error resolving ");
}

/* A server that signed its own certificate and then says nothing: refused, and with
 * tls-verify=false as silent as it is. */
static void
test_certificates (void)
{
  g_autofree char *certificate = NULL, *key = NULL;
  if (!test_certificate (&certificate, &key))
    return;
  g_autofree char *port = g_strdup_printf ("%u", test_reserve_port ());
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_SILENCE
                               | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_subprocess_launcher_set_child_setup (launcher, test_die_with_parent, NULL, NULL);
  g_autoptr (GSubprocess) server =
    g_subprocess_launcher_spawn (launcher, &error, "openssl", "s_server", "-quiet", "-accept", port,
                                 "-cert", certificate, "-key", key, NULL);
  g_assert_no_error (error);
  static const char *const schemes[] = { "https", "rtsps" };
  for (guint i = 0; i < G_N_ELEMENTS (schemes); i++) {
    g_autofree char *uri = g_strdup_printf ("%s://127.0.0.1:%s/video", schemes[i], port);
    g_autoptr (TestCamera) strict = test_camera_new (uri, FAST, NULL);
    test_camera_play (strict, GST_STATE_PLAYING);
    test_camera_expect (
      strict, "reconnecting",
      "this machine does not trust the camera's certificate: install the authority that signed it, "
      "use the name it is made for, or set tls-verify=false for a camera that signed its own");
    test_camera_stop (strict);
    g_autoptr (TestCamera) lenient = test_camera_new (uri, HASTY " tls-verify=false", NULL);
    test_camera_play (lenient, GST_STATE_PLAYING);
    test_camera_expect (lenient, "reconnecting", "connected, but no frame within 0.4 s");
  }
  g_subprocess_force_exit (server);
  g_subprocess_wait (server, NULL, NULL);
  test_remove_file (certificate);
  test_remove_file (key);
}

/* Delays grow to the longest; up to a quarter is taken off. */
static void
test_delays (void)
{
  static const guint expected[] = { 20, 40, 80, 160, 200, 200 };
  g_autofree char *uri = g_strdup_printf ("http://127.0.0.1:%u/video", test_reserve_port ());
  g_autoptr (TestCamera) camera = test_camera_new (uri, "reconnect-min=20 reconnect-max=200", NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    g_autoptr (GstStructure) structure = test_camera_wait (camera, "reconnecting");
    guint delay = 0;
    g_assert_true (gst_structure_get_uint (structure, "next-delay-ms", &delay));
    g_assert_cmpuint (delay + 1, >=, expected[i] * 3 / 4);
    g_assert_cmpuint (delay, <=, expected[i]);
  }
}

static void
test_attempts (void)
{
  g_autofree char *uri = g_strdup_printf ("http://127.0.0.1:%u/video", test_reserve_port ());
  g_autoptr (TestCamera) camera = test_camera_new (uri, FAST " max-attempts=2", NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_text (camera, GST_MESSAGE_ERROR,
                         "Connection refused; gave up after 2 attempts (max-attempts)");
}

TEST_MAIN (int argc, char **argv)
{
  g_unsetenv ("http_proxy");
  g_unsetenv ("https_proxy");
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slcamera/http/missing", test_missing);
  g_test_add_data_func ("/slcamera/http/type/octet-stream", "application/octet-stream", test_type);
  g_test_add_data_func ("/slcamera/http/type/none", "none", test_type);
  g_test_add_data_func ("/slcamera/http/type/own", "video/x-motion-jpeg", test_type);
  g_test_add_func ("/slcamera/http/restart", test_restart);
  g_test_add_func ("/slcamera/http/stall", test_stall);
  g_test_add_func ("/slcamera/http/frozen", test_frozen);
  for (guint i = 0; i < G_N_ELEMENTS (faults); i++) {
    g_autofree char *path = g_strdup_printf ("/slcamera/http/fault/%s", faults[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_fault);
  }
  for (guint i = 0; i < G_N_ELEMENTS (attacks); i++) {
    g_autofree char *path = g_strdup_printf ("/slcamera/http/attack/%u-%s", i, attacks[i].mode);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_attack);
  }
  g_test_add_func ("/slcamera/http/liar", test_liar);
  g_test_add_func ("/slcamera/http/boundary", test_boundary);
  g_test_add_func ("/slcamera/http/login", test_login);
  g_test_add_func ("/slcamera/http/nobody", test_nobody);
  g_test_add_func ("/slcamera/http/certificates", test_certificates);
  g_test_add_func ("/slcamera/http/delays", test_delays);
  g_test_add_func ("/slcamera/http/attempts", test_attempts);
  return test_elements_run ();
}
