/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every frame that slcamera hands on is one that the camera saw: joined in the middle of a group of
 * pictures, with packets that get lost, with a camera that pauses and catches up, and with a
 * description that tells another encoding's parameter sets. The source's pictures are numbered, so
 * that each frame is compared with its own.
 */
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include "plugins/camera/intact.h"
#include "tests/elements/camera/compare.h"
#include "tests/elements/camera/support.h"
#include "tests/elements/support.h"
#include "tests/support/numbered_frame.h"
#include "tests/support/program.h"

#define SERVER "SIGHTLINE_RTSP_SERVER"
#define PICTURES "--numbered --size 128x96 --fps 100"
/* Of openh264enc and x265enc, of a picture of another size. */
#define OTHER_SETS "Z0LAFIxoCg/lgHhEI1A=,aM48gA=="

static const char slow[] =
  "rtsp://*: this machine decodes slower than the camera sends: frames are left out, each time "
  "up to the next key frame; set a smaller picture or rate in the camera";

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
  /* Without lost packets only a machine that is held up leaves frames out, and it says so. */
  if (damaged > early && !stream->loses)
    test_camera_wait_text (camera, GST_MESSAGE_WARNING, slow);
  test_camera_stop (camera);
  test_camera_stop (before);
  test_server_kill (&server);
  g_test_message ("%u frames, worst %.1f dB; left out %" G_GUINT64_FORMAT
                  " before the first, then %" G_GUINT64_FORMAT,
                  compare.frames, compare.worst, early, damaged - early);
  g_assert_cmpuint (compare.bad, ==, 0);
  g_assert_true (damaged > early || !stream->loses);
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
 * of life. A server that is held up for so long counts as gone before. */
#define NO_KEY_MS 1000
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
  g_object_set (camera->camera, "connect-timeout", NO_KEY_MS, NULL);
  const gint64 start = g_get_monotonic_time ();
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_text (
    camera, GST_MESSAGE_WARNING,
    "rtsp://*: no whole frame for ?.? s: those that came lack data, or have no key frame before "
    "them; set a shorter key frame interval in the camera; trying again in *");
  g_assert_cmpint (g_get_monotonic_time () - start, >=, 4 * NO_KEY_MS * G_GINT64_CONSTANT (1000));
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
  test_camera_wait_text (camera, GST_MESSAGE_WARNING, slow);
  g_assert_cmpuint (damaged_of (camera), >, 0);
  test_server_kill (&server);
}

static GstPadProbeReturn
paint_frame (GstPad *pad, GstPadProbeInfo *info, gpointer number)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  GstBuffer *buffer = GST_PAD_PROBE_INFO_DATA (info) =
    gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  GstVideoInfo video;
  GstVideoFrame frame;
  NumberedPicture picture;
  g_assert_true (gst_video_info_from_caps (&video, caps));
  g_assert_true (gst_video_frame_map (&frame, &video, buffer, GST_MAP_WRITE));
  numbered_of_frame (&picture, &frame);
  numbered_paint (&picture, (*(guint *) number)++);
  gst_video_frame_unmap (&frame);
  return GST_PAD_PROBE_OK;
}

#define OPEN_FRAMES 120
#define OPEN_GROUP 20

/* (transfer full) (nullable) (element-type GstSample): numbered pictures that @encoder encoded, in
 * the order of decoding. NULL where GStreamer lacks one of its elements. */
static GPtrArray *
encode_pictures (const char *encoder)
{
  g_autofree char *launch =
    g_strdup_printf ("videotestsrc name=source num-buffers=%d ! video/x-raw,format=I420,width=128,"
                     "height=96,framerate=100/1 ! %s ! appsink name=sink sync=false",
                     OPEN_FRAMES, encoder);
  g_autoptr (GstElement) pipeline =
    gst_parse_launch_full (launch, NULL, GST_PARSE_FLAG_FATAL_ERRORS, NULL);
  if (pipeline == NULL)
    return NULL;
  GPtrArray *pictures = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_sample_unref);
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstPad) raw = gst_element_get_static_pad (source, "src");
  guint number = 0;
  gst_pad_add_probe (raw, GST_PAD_PROBE_TYPE_BUFFER, paint_frame, &number, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (GstSample *sample; (sample = gst_app_sink_pull_sample (GST_APP_SINK (sink))) != NULL;)
    g_ptr_array_add (pictures, sample);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_assert_cmpuint (pictures->len, ==, OPEN_FRAMES);
  return pictures;
}

/* Decodes @pictures but for number @lost, at times that waver by up to 11 times the time between
 * two. */
static void
decode_pictures (GPtrArray *pictures, const char *decoder, guint lost, Compare *compare)
{
  g_autoptr (SlIntact) intact = sl_intact_new ();
  g_autoptr (GstElement) pipeline = gst_pipeline_new (NULL);
  sl_intact_watch (intact, GST_BIN (pipeline));
  g_autofree char *launch = g_strdup_printf (
    "appsrc name=source format=time ! %s ! fakesink name=sink sync=false", decoder);
  GstElement *bin = gst_parse_bin_from_description (launch, FALSE, NULL);
  gst_bin_add (GST_BIN (pipeline), bin);
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (bin), "source");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (bin), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  compare_watch (compare, pad);
  g_object_set (source, "caps", gst_sample_get_caps (pictures->pdata[0]), NULL);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  for (guint i = 0; i < pictures->len; i++) {
    GstBuffer *copy = gst_buffer_copy (gst_sample_get_buffer (pictures->pdata[i]));
    GST_BUFFER_PTS (copy) += i % 7 % 3 * 55 * GST_MSECOND;
    if (i == lost + 1)
      GST_BUFFER_FLAG_SET (copy, GST_BUFFER_FLAG_DISCONT);
    if (i == lost)
      gst_buffer_unref (copy);
    else
      gst_app_src_push_buffer (GST_APP_SRC (source), copy);
  }
  gst_app_src_end_of_stream (GST_APP_SRC (source));
  test_run_to_end (pipeline);
}

static const struct
{
  const char *name, *encoder, *decoder;
} open_groups[] = {
  { "h264",
    "x264enc key-int-max=20 pass=quant quantizer=12 option-string=open-gop=1:scenecut=0:bframes=3:"
    "b-adapt=0:keyint=20:threads=1 ! h264parse ! video/x-h264,stream-format=byte-stream,"
    "alignment=au",
    "avdec_h264" },
  { "h265",
    "x265enc key-int-max=20 speed-preset=ultrafast qp=24 option-string=scenecut=0:open-gop=1:"
    "bframes=3:b-adapt=0:frame-threads=1:pools=none:rc-lookahead=5:log-level=none ! h265parse",
    "avdec_h265" },
};

/* One picture is lost, whichever it is: what needs it does not come, and the next group does, but
 * for pictures at its beginning that need the one before. Times do not matter. */
static void
test_open_groups (gconstpointer data)
{
  const guint g = GPOINTER_TO_UINT (data);
  g_autoptr (GstElementFactory) decoder = gst_element_factory_find (open_groups[g].decoder);
  g_autoptr (GPtrArray) pictures = encode_pictures (open_groups[g].encoder);
  if (pictures == NULL || decoder == NULL) {
    g_test_skip ("no encoder or decoder");
    return;
  }
  for (guint lost = OPEN_GROUP; lost <= 2 * OPEN_GROUP; lost += 2) {
    Compare compare;
    decode_pictures (pictures, open_groups[g].decoder, lost, &compare);
    g_test_message ("without picture %u: %u frames, worst %.1f dB", lost, compare.frames,
                    compare.worst);
    g_assert_cmpuint (compare.bad, ==, 0);
    g_assert_cmpuint (compare.frames, >=, OPEN_FRAMES - 2 * OPEN_GROUP);
    g_assert_cmpuint (compare.frames, <, OPEN_FRAMES);
  }
}

static void
become_decoder (gpointer type, gpointer data)
{
  gst_element_class_set_static_metadata (type, "Test decoder", "Codec/Decoder/Video", "Copies",
                                         "nobody");
}

/* (transfer floating): hands on what it gets */
static GstElement *
new_decoder (void)
{
  GTypeQuery query;
  g_autoptr (GstElement) parent = gst_object_ref_sink (gst_element_factory_make ("identity", NULL));
  g_type_query (G_OBJECT_TYPE (parent), &query);
  return g_object_new (g_type_register_static_simple (query.type, "TestDecoder", query.class_size,
                                                      become_decoder, query.instance_size, NULL, 0),
                       NULL);
}

/* Pictures that came out of the decoder. */
static void
keep_picture (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer pictures)
{
  g_ptr_array_add (pictures, gst_buffer_ref (buffer));
}

/* Slices by H.264's syntax: fields of a key frame, an I field and a P field, come one by one. B
 * fields between them and the next P field need the group before. */
static void
test_fields (void)
{
#define SETS "\0\0\1\x67\x42\0\x0a\xda\x40\0\0\1\x68\xc8\0\0\1\x06\x06\1\x80\x80"
#define I_5 "\0\0\1\x61\x88\xa8\x80"
#define P_5 "\0\0\1\x61\x9a\xa0\x80"
#define P_6 "\0\0\1\x61\x9a\xc0\x80"
#define B_6 "\0\0\1\1\x9e\xc0\x80"
#define B_7 "\0\0\1\1\x9e\xe0\x80"
  static const struct
  {
    const char *bytes;
    gsize n;
    gboolean whole;
  } fields[] = {
    { SETS I_5, sizeof SETS I_5 - 1, TRUE }, { P_5, sizeof P_5 - 1, TRUE },
    { B_6, sizeof B_6 - 1, FALSE },          { B_6, sizeof B_6 - 1, FALSE },
    { P_6, sizeof P_6 - 1, TRUE },           { P_6, sizeof P_6 - 1, TRUE },
    { B_7, sizeof B_7 - 1, TRUE },
  };
  g_autoptr (SlIntact) intact = sl_intact_new ();
  g_autoptr (GPtrArray) whole = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  g_autoptr (GstElement) pipeline = gst_pipeline_new (NULL);
  g_autoptr (GstCaps) caps =
    gst_caps_from_string ("video/x-h264,stream-format=byte-stream,alignment=au");
  GstElement *source = gst_element_factory_make ("appsrc", NULL), *decoder = new_decoder (),
             *sink = gst_element_factory_make ("fakesink", NULL);
  sl_intact_watch (intact, GST_BIN (pipeline));
  gst_bin_add_many (GST_BIN (pipeline), source, decoder, sink, NULL);
  g_assert_true (gst_element_link_many (source, decoder, sink, NULL));
  g_object_set (source, "caps", caps, NULL);
  g_object_set (sink, "signal-handoffs", TRUE, "sync", FALSE, NULL);
  g_signal_connect (sink, "handoff", G_CALLBACK (keep_picture), whole);
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    gst_app_src_push_buffer (GST_APP_SRC (source),
                             gst_buffer_new_memdup (fields[i].bytes, fields[i].n));
  gst_app_src_end_of_stream (GST_APP_SRC (source));
  test_run_to_end (pipeline);
  guint n = 0;
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (fields[i].whole) {
      g_assert_cmpuint (n, <, whole->len);
      g_assert_cmpint (gst_buffer_memcmp (whole->pdata[n++], 0, fields[i].bytes, fields[i].n), ==,
                       0);
    }
  g_assert_cmpuint (whole->len, ==, n);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (streams); i++) {
    g_autofree char *path = g_strdup_printf ("/slcamera/intact/%s", streams[i].name);
    g_test_add_data_func (path, &streams[i], test_join);
  }
  for (guint i = 0; i < G_N_ELEMENTS (open_groups); i++) {
    g_autofree char *path =
      g_strdup_printf ("/slcamera/intact/open-groups/%s", open_groups[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_open_groups);
  }
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    g_autofree char *path = g_strdup_printf ("/slcamera/intact/others/%s", others[i].name);
    g_test_add_data_func (path, &others[i], test_others);
  }
  g_test_add_func ("/slcamera/intact/fields", test_fields);
  g_test_add_func ("/slcamera/intact/told", test_told);
  g_test_add_func ("/slcamera/intact/no-key", test_no_key);
  g_test_add_func ("/slcamera/intact/slow", test_slow);
  g_test_add_func ("/slcamera/intact/waiting", test_waiting);
  return test_elements_run ();
}
