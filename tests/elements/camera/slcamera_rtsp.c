/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slcamera against gst-rtsp-server in another process: killed, restarted with another picture,
 * stalled, slow, silent, talking noise; and what it leaves behind after many reconnections.
 */
#include <glib/gstdio.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/elements/camera/support.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#include <signal.h>

#define SERVER "SIGHTLINE_RTSP_SERVER"
#define FAST "reconnect-min=50 reconnect-max=200 stall-timeout=800"
/* For servers that never get as far as a frame. */
#define HASTY "reconnect-min=50 reconnect-max=200 stall-timeout=800 connect-timeout=500"
/* The longer the server's lease of frames, the fewer fit into a test's time. */
#define RECONNECTIONS 50
#define RECONNECTIONS_RTSP 20
#define RECONNECTIONS_SLOW 5

static void
test_restart (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, test_reserve_port (), "--size 320x240 --fps 30"))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 10);
  g_assert_cmpint (camera->width, ==, 320);
  test_server_kill (&server);
  gst_structure_free (test_camera_wait (camera, "reconnecting"));
  test_camera_expect (camera, "reconnecting", "Could not connect to 127.0.0.1: Connection refused");
  g_assert_true (
    test_server_start (&server, SERVER, server.port, "--size 160x120 --fps 30 --payload raw"));
  gst_structure_free (test_camera_wait (camera, "playing"));
  test_camera_wait_frames (camera, 10);
  g_assert_cmpint (camera->width, ==, 160);
  g_assert_cmpuint (camera->disconts, >=, 2);
  g_assert_false (camera->backwards);
  test_server_kill (&server);
}

/* Between two frames of a camera of 30 frames a second: timestamps are its own, not those of a
 * scheduler. */
static void
test_timestamps (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, "--size 160x120 --fps 30"))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 30);
  test_camera_stop (camera);
  test_server_kill (&server);
  g_assert_false (camera->backwards);
  const gdouble seconds = (gdouble) (camera->last - camera->first) / GST_SECOND,
                expected = (camera->frames - 1) / 30.0;
  g_test_message ("%u frames in %.3f s", camera->frames, seconds);
  g_assert_cmpfloat (seconds, >, expected * 0.5);
}

static GstStateChangeReturn
refuse_state (GstElement *element, GstStateChange change)
{
  return GST_STATE_CHANGE_FAILURE;
}

/* Sets how the decoders of @caps change their state, or restores it. */
static void
set_decoders (const char *caps, gboolean refuse)
{
  static GHashTable *usual; /* by class */
  g_autoptr (GstCaps) encoded = gst_caps_from_string (caps);
  GList *all =
    gst_element_factory_list_get_elements (GST_ELEMENT_FACTORY_TYPE_DECODER, GST_RANK_MARGINAL);
  GList *decoders = gst_element_factory_list_filter (all, encoded, GST_PAD_SINK, FALSE);
  if (usual == NULL)
    usual = g_hash_table_new (NULL, NULL);
  g_assert_nonnull (decoders);
  for (GList *at = decoders; at != NULL; at = at->next) {
    g_autoptr (GstElement) decoder =
      gst_object_ref_sink (gst_element_factory_create (at->data, NULL));
    GstElementClass *klass = GST_ELEMENT_GET_CLASS (decoder);
    if (refuse)
      g_hash_table_insert (usual, klass, (gpointer) klass->change_state);
    klass->change_state =
      refuse ? refuse_state
             : (GstStateChangeReturn (*) (GstElement *, GstStateChange)) g_hash_table_lookup (
               usual, klass);
    gst_element_set_state (decoder, GST_STATE_NULL);
  }
  gst_plugin_feature_list_free (decoders);
  gst_plugin_feature_list_free (all);
}

/* decodebin says of decoders that cannot start that none is installed. */
static void
test_decoder_fails (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, "--size 160x120 --payload jpeg"))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  set_decoders ("image/jpeg", TRUE);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_text (camera, GST_MESSAGE_WARNING,
                         "no element for JPEG decoder could start; tried: jpegdec");
  set_decoders ("image/jpeg", FALSE);
  test_camera_wait_frames (camera, 3);
  test_camera_stop (camera);
  test_server_kill (&server);
}

static void
test_stall (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, "--size 160x120 --mode stall --after 600"))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  for (guint i = 0; i < 2; i++) {
    gst_structure_free (test_camera_wait (camera, "playing"));
    test_camera_expect (camera, "stalled", "no frame for 0.8 s");
  }
  test_server_kill (&server);
}

static void
test_frozen (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, "--size 160x120"))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 3);
  test_server_signal (&server, SIGSTOP);
  test_camera_expect (camera, "stalled", "no frame for 0.8 s");
  test_camera_stop (camera);
  test_server_kill (&server);
}

static void
test_slow (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, "--size 160x120 --mode slow --after 1000"))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  g_autoptr (GstStructure) playing = test_camera_wait (camera, "playing");
  guint attempt = 0;
  g_assert_true (gst_structure_get_uint (playing, "attempt", &attempt));
  g_assert_cmpuint (attempt, ==, 1);
  test_server_kill (&server);
}

static const struct
{
  const char *name, *arguments, *path, *properties, *reason;
} faults[] = {
  { "silent", "--mode silent", "/stream", HASTY, "connected, but no frame within 0.5 s" },
  { "garbage", "--mode garbage", "/stream", HASTY, "" },
  { "sound", "--mode sound", "/stream", FAST, "the server offers no video stream" },
  { "no-such-path", "", "/other", FAST, "Not found (Not Found (404))" },
  { "login", "--user joe --password right", "/stream", FAST " user=joe password=wrong",
    "the camera refuses user name and password: set user= and password=" },
};

static void
test_fault (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, faults[i].arguments))
    return;
  g_autofree char *uri = g_strdup_printf ("rtsp://127.0.0.1:%u%s", server.port, faults[i].path);
  g_autoptr (TestCamera) camera = test_camera_new (uri, faults[i].properties, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_text (camera, GST_MESSAGE_WARNING, faults[i].reason);
  test_camera_expect (camera, "reconnecting", faults[i].reason);
  test_camera_expect (camera, "reconnecting", faults[i].reason);
  test_server_kill (&server);
}

static void
test_login (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, "--size 160x120 --user joe --password h@sh"))
    return;
  g_autofree char *uri = g_strdup_printf ("rtsp://joe:h@sh@127.0.0.1:%u/stream", server.port);
  g_autoptr (TestCamera) camera = test_camera_new (uri, FAST, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 3);
  test_server_kill (&server);
}

/* The password is the file's one line; others may read it, which is warned of. */
static void
test_password_file (void)
{
  TestServer server;
  g_autofree char *file = test_text_file ("password", "h@sh\n");
  g_assert_cmpint (g_chmod (file, 0644), ==, 0);
  if (test_server_start (&server, SERVER, 0, "--size 160x120 --user joe --password h@sh")) {
    g_autofree char *properties = g_strdup_printf (FAST " user=joe password-file=%s", file);
    g_autoptr (TestCamera) camera = test_camera_new (server.uri, properties, NULL);
    test_camera_play (camera, GST_STATE_PLAYING);
    test_camera_wait_text (camera, GST_MESSAGE_WARNING,
                           "other users may read or change this secret (mode 0644): chmod 600");
    test_camera_wait_frames (camera, 3);
    test_server_kill (&server);
  }
  test_remove_file (file);
}

static void
test_udp (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, "--size 160x120"))
    return;
  g_autoptr (TestCamera) camera =
    test_camera_new (server.uri, FAST " protocols=udp latency=50", NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 5);
  g_assert_false (camera->backwards);
  test_server_kill (&server);
}

/* Whatever it is doing, it stops at once; test_camera_stop() measures. */
static void
stop_when (const char *arguments, const char *state)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, arguments))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  gst_structure_free (test_camera_wait (camera, state));
  g_usleep (200000);
  test_camera_stop (camera);
  test_server_kill (&server);
}

static void
test_stop (void)
{
  stop_when ("--mode silent", "connecting");
  stop_when ("--mode garbage", "connecting");
  stop_when ("--size 160x120 --mode slow --after 3000", "connecting");
  stop_when ("--size 160x120", "playing");
  stop_when ("--size 160x120 --mode stall --after 400", "stalled");
  stop_when ("--size 160x120 --mode stall --after 400", "reconnecting");
}

static guint
count_entries (const char *path)
{
  guint n = 0;
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  while (dir != NULL && g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

/* GStreamer's threads may outlive their work a little; those that stay are a leak. */
static void
wait_for_entries (const char *path, guint most)
{
  while (count_entries (path) > most)
    g_usleep (5000);
}

/* A server that ends each connection soon; descriptors and threads after the first ones are those
 * after the last. */
static void
test_leaks (void)
{
  TestServer server;
  if (!test_server_start (&server, "SIGHTLINE_MJPEG_SERVER", 0,
                          "--mode close --frames 2 --fps 100 --size 64x48"))
    return;
  TestServer rtsp;
  if (!test_server_start (&rtsp, SERVER, 0, "--size 64x48 --fps 30 --mode stall --after 300"))
    return;
  const char *uris[] = { server.uri, rtsp.uri };
  const guint counts[] = { RECONNECTIONS, RECONNECTIONS_RTSP };
  for (guint u = 0; u < G_N_ELEMENTS (uris); u++) {
    g_autoptr (TestCamera) camera =
      test_camera_new (uris[u], "reconnect-min=10 reconnect-max=10 stall-timeout=60", NULL);
    test_camera_play (camera, GST_STATE_PLAYING);
    const guint n = test_is_slow () ? RECONNECTIONS_SLOW : counts[u];
    guint files = 0, threads = 0;
    for (guint i = 0; i < n; i++) {
      gst_structure_free (test_camera_wait (camera, "playing"));
      gst_structure_free (test_camera_wait (camera, "reconnecting"));
      if (i == 2) {
        files = count_entries ("/proc/self/fd");
        threads = count_entries ("/proc/self/task");
      }
    }
    g_test_message ("%s: descriptors %u then %u, threads %u then %u", uris[u], files,
                    count_entries ("/proc/self/fd"), threads, count_entries ("/proc/self/task"));
    wait_for_entries ("/proc/self/fd", files + 2);
    wait_for_entries ("/proc/self/task", threads + 2);
    g_assert_false (camera->backwards);
  }
  test_server_kill (&rtsp);
  test_server_kill (&server);
}

static const struct
{
  const char *name, *mode, *properties, *reason;
} limits[] = {
  { "bytes", "--size 320x240 --payload jpeg", FAST " max-part-bytes=1024",
    "a picture of the stream: expected at most 1024 bytes (max-part-bytes), got * and no end; "
    "where the camera has such pictures, raise max-part-bytes" },
  { "pixels", "--size 320x240 --payload jpeg", FAST " max-pixels=76799",
    "a picture of 320x240 (image/jpeg): expected at most 76799 pixels (max-pixels), got 76800; "
    "where the camera has such pictures, raise max-pixels" },
  { "raw", "--size 320x240 --payload raw", FAST " max-pixels=76799",
    "a picture of 320x240 (video/x-raw): expected at most 76799 pixels (max-pixels), got 76800; "
    "where the camera has such pictures, raise max-pixels" },
};

/* What is above a limit is told, and another attempt follows. */
static void
test_limit (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  TestServer server;
  if (!test_server_start (&server, SERVER, 0, limits[i].mode))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, limits[i].properties, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  g_autofree char *warning = g_strdup_printf (
    "rtsp://127.0.0.1:*: %s; trying again in 0.? s, and so on until it works", limits[i].reason);
  test_camera_wait_text (camera, GST_MESSAGE_WARNING, warning);
  gst_structure_free (test_camera_wait (camera, "connecting"));
  gst_structure_free (test_camera_wait (camera, "connecting"));
  g_assert_cmpuint (camera->frames, ==, 0);
  test_server_kill (&server);
}

static const char *const attacks[] = { "rtsp-body", "rtsp-header" };

/* Whether the kernel tells how many bytes a connection received; qemu-user has other answers for
 * it. */
static gboolean
has_counts (void)
{
  struct tcp_info info;
  socklen_t size = sizeof info;
  const int descriptor = socket (AF_INET, SOCK_STREAM, 0);
  g_assert_cmpint (descriptor, >=, 0);
  const gboolean whole =
    getsockopt (descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && size >= sizeof (guint64);
  close (descriptor);
  return whole;
}

/* Answers without end: the connection is cut, another attempt follows, memory stays bounded, and
 * stopping does not wait. */
static void
test_attack (gconstpointer mode)
{
  g_autofree char *arguments = g_strdup_printf ("--mode %s", (const char *) mode);
  TestServer server;
  if (!has_counts ()) {
    g_test_skip ("the kernel does not tell the bytes of a connection");
    return;
  }
  if (!test_server_start (&server, "SIGHTLINE_MJPEG_SERVER", 0, arguments))
    return;
  g_autofree char *uri = g_strdup_printf ("rtsp://127.0.0.1:%u/video", server.port);
  const guint64 before = test_memory ("VmRSS:");
  test_reset_peak ();
  g_autoptr (TestCamera) camera = test_camera_new (uri, FAST " max-part-bytes=200000", NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_text (
    camera, GST_MESSAGE_WARNING,
    "rtsp://127.0.0.1:*: the RTSP connection: expected a packet within 265536 bytes "
    "(max-part-bytes and 65536), got * without one; where the camera has such pictures, raise "
    "max-part-bytes; trying again in 0.? s, and so on until it works");
  for (guint n = 0; n < 3; n++)
    gst_structure_free (test_camera_wait (camera, "connecting"));
  test_camera_stop (camera);
  test_assert_grown (before);
  test_server_kill (&server);
}

/* While the flood goes on, neither a time limit nor a stop waits for its end. */
static void
test_attack_times_out (void)
{
  TestServer server;
  if (!test_server_start (&server, "SIGHTLINE_MJPEG_SERVER", 0, "--mode rtsp-header"))
    return;
  g_autofree char *uri = g_strdup_printf ("rtsp://127.0.0.1:%u/video", server.port);
  g_autoptr (TestCamera) camera = test_camera_new (
    uri, "reconnect-min=50 reconnect-max=200 max-part-bytes=1073741824 connect-timeout=100", NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  for (guint n = 0; n < 3; n++)
    gst_structure_free (test_camera_wait (camera, "connecting"));
  test_camera_stop (camera);
  test_server_kill (&server);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slcamera/rtsp/restart", test_restart);
  g_test_add_func ("/slcamera/rtsp/timestamps", test_timestamps);
  g_test_add_func ("/slcamera/rtsp/decoder-fails", test_decoder_fails);
  g_test_add_func ("/slcamera/rtsp/stall", test_stall);
  g_test_add_func ("/slcamera/rtsp/frozen", test_frozen);
  g_test_add_func ("/slcamera/rtsp/slow", test_slow);
  for (guint i = 0; i < G_N_ELEMENTS (faults); i++) {
    g_autofree char *path = g_strdup_printf ("/slcamera/rtsp/fault/%s", faults[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_fault);
  }
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++) {
    g_autofree char *path = g_strdup_printf ("/slcamera/rtsp/limit/%s", limits[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_limit);
  }
  for (guint i = 0; i < G_N_ELEMENTS (attacks); i++) {
    g_autofree char *path = g_strdup_printf ("/slcamera/rtsp/attack/%s", attacks[i]);
    g_test_add_data_func (path, attacks[i], test_attack);
  }
  g_test_add_func ("/slcamera/rtsp/attack/times-out", test_attack_times_out);
  g_test_add_func ("/slcamera/rtsp/login", test_login);
  g_test_add_func ("/slcamera/rtsp/password-file", test_password_file);
  g_test_add_func ("/slcamera/rtsp/udp", test_udp);
  g_test_add_func ("/slcamera/rtsp/stop", test_stop);
  g_test_add_func ("/slcamera/rtsp/leaks", test_leaks);
  return test_elements_run ();
}
