/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every frame that slcamera hands on is one that the camera saw: joined in the middle of a group of
 * pictures, with packets that get lost, with a camera that pauses and catches up, and with a
 * description that tells another encoding's parameter sets. The source's pictures are numbered, so
 * that each frame is compared with its own.
 */
#include "tests/elements/camera/compare.h"
#include "tests/elements/camera/support.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define SERVER "SIGHTLINE_RTSP_SERVER"
#define PICTURES "--numbered --size 128x96 --fps 100"
/* Of openh264enc and x265enc, of a picture of another size. */
#define OTHER_SETS "Z0LAFIxoCg/lgHhEI1A=,aM48gA=="

typedef struct
{
  const char *name, *encoder, *arguments, *properties;
  guint frames;
  gboolean loses; /* packets */
} Stream;

static const Stream streams[] = {
  { "h264/tcp", "openh264enc", "--payload h264 --gop 40", "protocols=tcp", 40, FALSE },
  { "h264/udp", "openh264enc", "--payload h264 --gop 40", "protocols=udp", 50, FALSE },
  { "h264-refresh/tcp", "x264enc", "--payload h264-refresh --gop 40", "protocols=tcp", 50, FALSE },
  { "h264-refresh/loss", "x264enc", "--payload h264-refresh --gop 20 --loss 3",
    "protocols=udp latency=50", 50, TRUE },
  { "h265/tcp", "x265enc", "--payload h265 --gop 40", "protocols=tcp", 50, FALSE },
  { "h265/udp", "x265enc", "--payload h265 --gop 40", "protocols=udp", 50, FALSE },
  { "h265-open/tcp", "x265enc", "--payload h265-open --gop 40", "protocols=tcp", 50, FALSE },
  { "h264/bursts", "openh264enc", "--payload h264 --gop 40 --burst 300 --every 300",
    "protocols=tcp", 50, FALSE },
  { "h265/bursts", "x265enc", "--payload h265 --gop 40 --burst 300 --every 300", "protocols=tcp",
    50, FALSE },
  { "h264/loss", "openh264enc", "--payload h264 --gop 20 --loss 3", "protocols=udp latency=50", 50,
    TRUE },
  { "h265/loss", "x265enc", "--payload h265 --gop 20 --loss 3", "protocols=udp latency=50", 50,
    TRUE },
  { "h265-open/loss", "x265enc", "--payload h265-open --gop 20 --loss 3",
    "protocols=udp latency=50", 40, TRUE },
  { "jpeg/loss", "jpegenc", "--payload jpeg --loss 3", "protocols=udp latency=50", 40, TRUE },
  { "h264/omitted", "openh264enc", "--payload h264 --gop 20 --omit 17", "protocols=tcp", 40, TRUE },
  { "sets", "openh264enc", "--payload h264 --gop 40 --sets " OTHER_SETS, "protocols=tcp", 50,
    FALSE },
};

/* Of rtspsrc. */
static const Stream others[] = {
  { "h264", "openh264enc", "--payload h264 --gop 20 --loss 3", "protocols=udp", 60, TRUE },
  { "h265", "x265enc", "--payload h265 --gop 20 --loss 3", "protocols=udp", 60, TRUE },
};

static guint64
damaged_of (TestCamera *camera)
{
  guint64 damaged;
  g_object_get (camera->camera, "damaged", &damaged, NULL);
  return damaged;
}

static void
watch (TestCamera *camera, Compare *compare)
{
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (camera->pipeline), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  compare_watch (compare, pad);
}

/* FALSE: the test is skipped, since GStreamer has no @encoder. */
static gboolean
start (TestServer *server, const char *encoder, const char *options)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (encoder);
  g_autofree char *arguments = g_strdup_printf (PICTURES " %s", options);
  if (factory != NULL)
    return test_server_start (server, SERVER, 0, arguments);
  g_test_skip (encoder);
  return FALSE;
}

/* The first camera starts the server's stream, so the next one joins in the middle of a group of
 * pictures. */
static TestCamera *
join_before (const TestServer *server)
{
  TestCamera *before = test_camera_new (server->uri, NULL, NULL);
  test_camera_play (before, GST_STATE_PLAYING);
  test_camera_wait_frames (before, 15);
  return before;
}

static void
test_join (gconstpointer data)
{
  const Stream *stream = data;
  TestServer server;
  Compare compare;
  if (!start (&server, stream->encoder, stream->arguments))
    return;
  g_autoptr (TestCamera) before = join_before (&server);
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, stream->properties, NULL);
  watch (camera, &compare);
  test_camera_play (camera, GST_STATE_PLAYING);
  /* Pictures that lead the first key frame of an open group are left out after it. */
  test_camera_wait_frames (camera, 2);
  const guint64 early = damaged_of (camera);
  test_camera_wait_frames (camera, stream->frames);
  while (stream->loses && damaged_of (camera) == early)
    test_camera_wait_frames (camera, 10);
  const guint64 damaged = damaged_of (camera);
  test_camera_stop (camera);
  test_camera_stop (before);
  test_server_kill (&server);
  g_test_message ("%u frames, worst %.1f dB; left out %" G_GUINT64_FORMAT
                  " before the first, then %" G_GUINT64_FORMAT,
                  compare.frames, compare.worst, early, damaged - early);
  g_assert_cmpuint (compare.bad, ==, 0);
  g_assert_true ((damaged > early) == stream->loses);
}

/* What is left out is said: before the first key frame, and damaged. */
static void
test_told (void)
{
  TestServer server;
  if (!start (&server, "openh264enc", "--payload h264 --gop 50 --loss 8"))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, "protocols=udp latency=50", NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_text (
    camera, GST_MESSAGE_WARNING,
    "rtsp://*: * frames left out: they lack data, or follow one that does, up to the next key "
    "frame; protocols=tcp loses no packets");
  test_camera_stop (camera);
  g_autoptr (TestCamera) before = test_camera_new (server.uri, "protocols=tcp", NULL);
  test_camera_play (before, GST_STATE_PLAYING);
  test_camera_wait_frames (before, 1);
  g_autoptr (TestCamera) late = test_camera_new (server.uri, "protocols=tcp", NULL);
  test_camera_play (late, GST_STATE_PLAYING);
  test_camera_wait_text (late, GST_MESSAGE_INFO,
                         "rtsp://*: * frames left out: they came before the first key frame");
  test_camera_stop (late);
  test_camera_stop (before);
  test_server_kill (&server);
}

static void
link_decoder (GstElement *source, GstPad *pad, gpointer decoder)
{
  g_autoptr (GstPad) sink = gst_element_get_static_pad (decoder, "sink");
  gst_pad_link (pad, sink);
}

/* Behind elements of others slnormalize leaves out what a loss spoiled, which their decoder does
 * not flag. */
static void
test_others (gconstpointer data)
{
  const Stream *stream = data;
  TestServer server;
  Compare compare;
  if (!start (&server, stream->encoder, stream->arguments))
    return;
  g_autoptr (TestCamera) before = join_before (&server);
  g_autofree char *launch = g_strdup_printf (
    "rtspsrc name=source latency=50 location=%s %s decodebin name=decoder ! queue ! slnormalize "
    "name=normalize ! fakesink name=sink sync=false",
    server.uri, stream->properties);
  g_autoptr (GstElement) pipeline = gst_parse_launch (launch, NULL);
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_autoptr (GstElement) decoder = gst_bin_get_by_name (GST_BIN (pipeline), "decoder");
  g_autoptr (GstElement) normalize = gst_bin_get_by_name (GST_BIN (pipeline), "normalize");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (normalize, "src");
  g_signal_connect (source, "pad-added", G_CALLBACK (link_decoder), decoder);
  compare_watch (&compare, pad);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  const gint64 deadline = g_get_monotonic_time () + 100 * G_USEC_PER_SEC;
  guint64 damaged = 0;
  for (guint frames = 0; frames < stream->frames || damaged < 3; g_usleep (20000)) {
    g_mutex_lock (&compare.lock);
    frames = compare.frames;
    g_mutex_unlock (&compare.lock);
    g_object_get (normalize, "damaged", &damaged, NULL);
    g_assert_cmpint (g_get_monotonic_time (), <, deadline);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  test_camera_stop (before);
  test_server_kill (&server);
  g_test_message ("%u frames, worst %.1f dB; %" G_GUINT64_FORMAT " left out", compare.frames,
                  compare.worst, damaged);
  g_assert_cmpuint (compare.bad, ==, 0);
}

/* A camera without a further key frame counts as gone in the end; meanwhile what it sends is a sign
 * of life. */
static void
test_no_key (void)
{
  TestServer server;
  if (!start (&server, "openh264enc", "--payload h264 --gop 30000"))
    return;
  g_autoptr (TestCamera) before = test_camera_new (server.uri, NULL, NULL);
  test_camera_play (before, GST_STATE_PLAYING);
  test_camera_wait_frames (before, 3);
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, NULL, NULL);
  g_object_set (camera->camera, "connect-timeout", 300, NULL);
  const gint64 start = g_get_monotonic_time ();
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_text (
    camera, GST_MESSAGE_WARNING,
    "rtsp://*: no whole frame for ?.? s: those that came lack data, or have no key frame before "
    "them; set a shorter key frame interval in the camera; trying again in *");
  g_assert_cmpint (g_get_monotonic_time () - start, >=, 4 * 300 * 1000);
  g_assert_cmpuint (camera->frames, ==, 0);
  test_server_kill (&server);
}

/* A long group whose rest is damaged: the camera is there, and goes on with the next key frame. */
static void
test_waiting (void)
{
  TestServer server;
  if (!start (&server, "openh264enc", "--payload h264 --gop 150 --omit 40"))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, "stall-timeout=500", NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_expect (camera, "waiting", "frames come that lack data, up to the next key frame");
  test_camera_expect (camera, "playing", "");
  test_server_kill (&server);
}

/* In a burst more comes than may wait: that is told, and what comes is whole. */
static void
test_slow (void)
{
  TestServer server;
  if (!test_server_start (&server, SERVER, 0,
                          "--size 320x240 --fps 60 --payload raw --burst 500 --every 100"))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, "max-part-bytes=170000", NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_text (
    camera, GST_MESSAGE_WARNING,
    "rtsp://*: this machine decodes slower than the camera sends: frames are left out, each time "
    "up to the next key frame; set a smaller picture or rate in the camera");
  g_assert_cmpuint (damaged_of (camera), >, 0);
  test_server_kill (&server);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (streams); i++) {
    g_autofree char *path = g_strdup_printf ("/slcamera/intact/%s", streams[i].name);
    g_test_add_data_func (path, &streams[i], test_join);
  }
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    g_autofree char *path = g_strdup_printf ("/slcamera/intact/others/%s", others[i].name);
    g_test_add_data_func (path, &others[i], test_others);
  }
  g_test_add_func ("/slcamera/intact/told", test_told);
  g_test_add_func ("/slcamera/intact/no-key", test_no_key);
  g_test_add_func ("/slcamera/intact/slow", test_slow);
  g_test_add_func ("/slcamera/intact/waiting", test_waiting);
  return test_elements_run ();
}
