/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slcamera's pad encoded: the bytes are those that another client of the same camera, or a demuxer
 * of the same file, gets; each decoded frame's timestamp is there; after a reconnection it goes on
 * with a key frame; and what comes where there is nothing, or nobody takes it.
 */
#include <gst/app/gstappsink.h>

#include "plugins/camera/encoded.h"
#include "tests/elements/camera/support.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define RTSP "SIGHTLINE_RTSP_SERVER"
#define HTTP "SIGHTLINE_MJPEG_SERVER"
#define FAST "reconnect-min=50 reconnect-max=200 stall-timeout=5000"
#define AVC "video/x-h264,stream-format=avc,alignment=au"
#define HVC "video/x-h265,stream-format=hvc1,alignment=au"

/* FALSE, and the test is marked as skipped. */
static gboolean
has (const char *const *elements)
{
  for (; *elements != NULL; elements++) {
    g_autoptr (GstElementFactory) factory = gst_element_factory_find (*elements);
    if (factory == NULL) {
      g_test_skip (*elements);
      return FALSE;
    }
  }
  return TRUE;
}

static GstElement *
element_of (GstElement *pipeline, const char *name)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), name);
  g_assert_nonnull (sink);
  return sink;
}

static GstElement *
launch (const char *line)
{
  g_autoptr (GError) error = NULL;
  test_forgive_gstreamer ();
  GstElement *pipeline = gst_parse_launch (line, &error);
  g_assert_no_error (error);
  return gst_object_ref_sink (pipeline);
}

/* (transfer full): samples of the appsink @name: up to @n, fewer at the end of the stream. */
static GPtrArray *
pull (GstElement *pipeline, const char *name, guint n)
{
  GPtrArray *samples = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_sample_unref);
  g_autoptr (GstElement) sink = element_of (pipeline, name);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  while (samples->len < n) {
    GstSample *sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), GST_SECOND / 5);
    if (sample != NULL)
      g_ptr_array_add (samples, sample);
    else if (gst_app_sink_is_eos (GST_APP_SINK (sink)))
      break;
    else
      test_assert_no_error (bus); /* after which no end comes */
  }
  if (samples->len < n && !gst_app_sink_is_eos (GST_APP_SINK (sink)))
    g_error ("%s: %u frames, and no end", name, samples->len);
  return samples;
}

static GstBuffer *
buffer_at (GPtrArray *samples, guint i)
{
  return gst_sample_get_buffer (samples->pdata[i]);
}

/* (transfer full): @buffer without parameter sets and delimiters of H.264 and H.265, which are in
 * caps, and which parsers repeat. */
static GBytes *
pictures_of (GstSample *sample)
{
  const char *type =
    gst_structure_get_name (gst_caps_get_structure (gst_sample_get_caps (sample), 0));
  const gboolean h264 = g_str_equal (type, "video/x-h264"),
                 h265 = g_str_equal (type, "video/x-h265");
  GByteArray *bytes = g_byte_array_new ();
  GstMapInfo map;
  g_assert_true (gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ));
  if (!h264 && !h265)
    g_byte_array_append (bytes, map.data, (guint) map.size);
  for (gsize at = 0; (h264 || h265) && at + 5 <= map.size;) {
    const gsize n = (gsize) map.data[at] << 24 | (gsize) map.data[at + 1] << 16
                    | (gsize) map.data[at + 2] << 8 | map.data[at + 3];
    const guint kind = h264 ? map.data[at + 4] & 0x1f : map.data[at + 4] >> 1 & 0x3f;
    g_assert_cmpuint (n, <=, map.size - at - 4);
    if (h264 ? kind < 7 || kind > 9 : kind < 32 || kind > 35)
      g_byte_array_append (bytes, map.data + at, (guint) n + 4);
    at += n + 4;
  }
  gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  g_assert_cmpuint (bytes->len, >, 0);
  return g_byte_array_free_to_bytes (bytes);
}

static gboolean
same_picture (GstSample *a, GstSample *b)
{
  g_autoptr (GBytes) one = pictures_of (a), other = pictures_of (b);
  return g_bytes_equal (one, other);
}

/* All of @taken, one after the other, are somewhere in @sent. */
static void
assert_part (GPtrArray *taken, GPtrArray *sent)
{
  guint from = 0;
  while (from < sent->len && !same_picture (taken->pdata[0], sent->pdata[from]))
    from++;
  g_assert_cmpuint (from + taken->len, <=, sent->len);
  for (guint i = 0; i < taken->len; i++)
    g_assert_true (same_picture (taken->pdata[i], sent->pdata[from + i]));
}

/* Each frame has the timestamp of an encoded one, but those that a decoder made before the first
 * key frame. */
static void
assert_times (GPtrArray *frames, GPtrArray *encoded)
{
  guint found = 0;
  for (guint i = 0; i < frames->len; i++) {
    const GstClockTime time = GST_BUFFER_PTS (buffer_at (frames, i));
    guint k = 0;
    while (k < encoded->len
           && ABS (GST_CLOCK_DIFF (GST_BUFFER_PTS (buffer_at (encoded, k)), time))
                >= (GstClockTimeDiff) GST_MSECOND)
      k++;
    found += k < encoded->len ? 1 : 0;
    g_assert_true (k < encoded->len || time < GST_BUFFER_PTS (buffer_at (encoded, 0)));
  }
  g_assert_cmpuint (found, >, 0);
}

/* All have a DTS that muxers can write, or none has. */
static void
assert_decoding_times (GPtrArray *encoded)
{
  const gboolean timed = GST_BUFFER_DTS_IS_VALID (buffer_at (encoded, 0));
  for (guint i = 0; i < encoded->len; i++) {
    GstBuffer *frame = buffer_at (encoded, i);
    g_assert_true (GST_BUFFER_DTS_IS_VALID (frame) == timed);
    g_assert_true (!timed || GST_BUFFER_DTS (frame) <= GST_BUFFER_PTS (frame));
    g_assert_true (!timed || i == 0
                   || GST_BUFFER_DTS (frame) >= GST_BUFFER_DTS (buffer_at (encoded, i - 1)));
  }
}

static void
assert_key_first (GPtrArray *encoded)
{
  g_assert_false (GST_BUFFER_FLAG_IS_SET (buffer_at (encoded, 0), GST_BUFFER_FLAG_DELTA_UNIT));
  g_assert_true (GST_BUFFER_FLAG_IS_SET (buffer_at (encoded, 0), GST_BUFFER_FLAG_DISCONT));
}

typedef struct
{
  const char *name, *elements[6], *make, *read;
  guint frames;
} File;

#define PICTURES(n)                          \
  "videotestsrc pattern=ball num-buffers=" n \
  " ! video/x-raw,format=I420,width=160,height=128,framerate=25/1 ! "

static const File files[] = {
  { "h264",
    { "openh264enc", "h264parse", "mp4mux", "matroskamux" },
    PICTURES ("60") "openh264enc gop-size=10 ! h264parse ! mp4mux",
    "qtdemux ! " AVC,
    60 },
  { "h264-stream",
    { "openh264enc", "h264parse", "mpegtsmux" },
    PICTURES ("60") "openh264enc gop-size=10 ! h264parse ! mpegtsmux",
    "tsdemux ! h264parse ! " AVC,
    60 },
  { "h265-reordered",
    { "x265enc", "h265parse", "matroskamux" },
    PICTURES ("60") "x265enc key-int-max=20 ! h265parse ! matroskamux",
    "matroskademux ! " HVC,
    60 },
  { "h265-reordered-mp4",
    { "x265enc", "h265parse", "mp4mux" },
    PICTURES ("60") "x265enc key-int-max=20 ! h265parse ! mp4mux",
    "qtdemux ! " HVC,
    60 },
  { "jpeg",
    { "jpegenc", "avimux" },
    PICTURES ("60") "jpegenc ! avimux",
    "avidemux ! image/jpeg",
    60 },
  { "vp8", { "vp8enc", "webmmux" }, PICTURES ("20") "vp8enc deadline=1 ! webmmux", NULL, 0 },
};

static void
write_file (const char *path, const char *make)
{
  g_autofree char *line = g_strdup_printf ("%s ! filesink location=\"%s\"", make, path);
  g_autoptr (GstElement) pipeline = launch (line);
  test_run_to_end (pipeline);
}

/* All frames of a file, in its order, with its bytes; the end, also of another kind of file. */
static void
test_file (gconstpointer data)
{
  const File *file = data;
  if (!has (file->elements))
    return;
  g_autofree char *path = test_text_file ("encoded", "");
  write_file (path, file->make);
  g_autofree char *line = g_strdup_printf (
    "slcamera name=c connect-timeout=60000 uri=file://%s c.src ! appsink name=raw sync=false "
    "c.encoded ! appsink "
    "name=encoded sync=false",
    path);
  g_autoptr (GstElement) pipeline = launch (line);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_autoptr (GPtrArray) frames = pull (pipeline, "raw", G_MAXUINT),
                        encoded = pull (pipeline, "encoded", G_MAXUINT);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_assert_cmpuint (frames->len, >, 0);
  g_assert_cmpuint (encoded->len, ==, file->frames);
  if (file->read != NULL) {
    g_autofree char *reference = g_strdup_printf (
      "filesrc location=\"%s\" ! %s ! appsink name=sent sync=false", path, file->read);
    g_autoptr (GstElement) other = launch (reference);
    gst_element_set_state (other, GST_STATE_PLAYING);
    g_autoptr (GPtrArray) sent = pull (other, "sent", G_MAXUINT);
    gst_element_set_state (other, GST_STATE_NULL);
    g_assert_cmpuint (encoded->len, ==, sent->len);
    assert_part (encoded, sent);
    assert_times (frames, encoded);
    assert_decoding_times (encoded);
    assert_key_first (encoded);
  }
  test_remove_file (path);
}

/* Loops: the second pass goes on in time, and begins with a key frame that says so. */
static void
test_loop (void)
{
  const File *file = &files[0];
  if (!has (file->elements))
    return;
  g_autofree char *path = test_text_file ("loop", "");
  write_file (path, file->make);
  g_autofree char *line = g_strdup_printf (
    "slcamera name=c connect-timeout=60000 loop=true uri=file://%s c.src ! fakesink "
    "c.encoded ! appsink name=encoded "
    "sync=false",
    path);
  g_autoptr (GstElement) pipeline = launch (line);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_autoptr (GPtrArray) encoded = pull (pipeline, "encoded", 2 * file->frames + 5);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  for (guint i = 1; i < encoded->len; i++) {
    const gboolean begins = i % file->frames == 0;
    g_assert_cmpuint (GST_BUFFER_PTS (buffer_at (encoded, i)), >,
                      GST_BUFFER_PTS (buffer_at (encoded, i - 1)));
    g_assert_cmpint (GST_BUFFER_FLAG_IS_SET (buffer_at (encoded, i), GST_BUFFER_FLAG_DISCONT), ==,
                     begins);
  }
  test_remove_file (path);
}

typedef struct
{
  const char *name, *elements[4], *server, *arguments, *source, *demuxer;
} Live;

static const Live lives[] = {
  { "rtsp-h264",
    { "openh264enc", "h264parse" },
    RTSP,
    "--size 320x240 --fps 15 --payload h264",
    "rtspsrc latency=100 protocols=tcp",
    "rtph264depay ! h264parse ! " AVC },
  { "rtsp-h265",
    { "x265enc", "h265parse" },
    RTSP,
    "--size 320x240 --fps 15 --payload h265",
    "rtspsrc latency=100 protocols=tcp",
    "rtph265depay ! h265parse ! " HVC },
  { "rtsp-jpeg",
    { "jpegenc" },
    RTSP,
    "--size 320x240 --fps 15",
    "rtspsrc latency=100 protocols=tcp",
    "rtpjpegdepay" },
  { "http", { "multipartdemux" }, HTTP, "--size 320x240", "souphttpsrc", "multipartdemux" },
};

/* Another client of the same server gets the same bytes. */
static void
test_live (gconstpointer data)
{
  const Live *live = data;
  TestServer server;
  if (!has (live->elements) || !test_server_start (&server, live->server, 0, live->arguments))
    return;
  g_autofree char *reference = g_strdup_printf (
    "%s name=source ! %s ! appsink name=sent sync=false", live->source, live->demuxer);
  g_autoptr (GstElement) other = launch (reference), source = element_of (other, "source");
  g_object_set (source, "location", server.uri, NULL);
  gst_element_set_state (other, GST_STATE_PLAYING);
  g_autoptr (GPtrArray) before = pull (other, "sent", 1);
  g_assert_cmpuint (before->len, ==, 1);
  g_autofree char *line = g_strdup_printf (
    "slcamera name=c connect-timeout=60000 " FAST
    " uri=%s c.src ! appsink name=raw sync=false c.encoded ! appsink name=encoded sync=false",
    server.uri);
  g_autoptr (GstElement) pipeline = launch (line);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_autoptr (GPtrArray) encoded = pull (pipeline, "encoded", 40),
                        frames = pull (pipeline, "raw", 10), sent = g_ptr_array_new ();
  g_ptr_array_set_free_func (sent, (GDestroyNotify) gst_sample_unref);
  do
    g_ptr_array_extend_and_steal (sent, pull (other, "sent", 1));
  while (!same_picture (encoded->pdata[encoded->len - 1], sent->pdata[sent->len - 1])
         || sent->len < encoded->len);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_element_set_state (other, GST_STATE_NULL);
  assert_part (encoded, sent);
  assert_times (frames, encoded);
  assert_key_first (encoded);
  test_server_kill (&server);
}

/* The camera comes back with another picture: caps again, time goes on, a key frame first. */
static void
test_reconnect (void)
{
  static const char *const elements[] = { "openh264enc", "h264parse", NULL };
  TestServer server;
  if (!has (elements)
      || !test_server_start (&server, RTSP, test_reserve_port (), "--size 320x240 --payload h264"))
    return;
  g_autofree char *line =
    g_strdup_printf ("slcamera name=c connect-timeout=60000 " FAST
                     " uri=%s c.src ! fakesink c.encoded ! appsink name=encoded sync=false",
                     server.uri);
  g_autoptr (GstElement) pipeline = launch (line);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_autoptr (GPtrArray) encoded = pull (pipeline, "encoded", 10);
  test_server_kill (&server);
  g_assert_true (test_server_start (&server, RTSP, server.port, "--size 160x128 --payload h264"));
  for (gint width = 320; width != 160;) {
    g_ptr_array_extend_and_steal (encoded, pull (pipeline, "encoded", 1));
    GstSample *sample = encoded->pdata[encoded->len - 1];
    gst_structure_get_int (gst_caps_get_structure (gst_sample_get_caps (sample), 0), "width",
                           &width);
    g_assert_cmpuint (GST_BUFFER_PTS (buffer_at (encoded, encoded->len - 1)), >,
                      GST_BUFFER_PTS (buffer_at (encoded, encoded->len - 2)));
  }
  g_ptr_array_remove_range (encoded, 0, encoded->len - 1);
  assert_key_first (encoded);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  test_server_kill (&server);
}

static GstPadProbeReturn
hold (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  return GST_PAD_PROBE_OK;
}

/* Nobody takes them: frames of src come on, a warning says so, and the first one after that is a
 * key frame. */
static void
test_crowded (void)
{
  static const char *const elements[] = { "openh264enc", "h264parse", NULL };
  TestServer server;
  if (!has (elements)
      || !test_server_start (&server, RTSP, 0, "--size 320x240 --fps 30 --payload h264"))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  GstElement *sink = gst_element_factory_make ("appsink", "encoded");
  g_object_set (sink, "sync", FALSE, "async", FALSE, NULL);
  gst_bin_add (GST_BIN (camera->pipeline), sink);
  g_assert_true (gst_element_link_pads (camera->camera, "encoded", sink, "sink"));
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  const gulong held =
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, hold, NULL, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_text (
    camera, GST_MESSAGE_WARNING,
    "rtsp://127.0.0.1:*: encoded: what takes its frames is too slow: they are left out, each time "
    "up to the next key frame");
  test_camera_wait_frames (camera, 10);
  gst_pad_remove_probe (pad, held);
  GstClockTime last = 0;
  for (gboolean first = TRUE, after = FALSE; !after; first = FALSE) {
    g_autoptr (GPtrArray) encoded = pull (camera->pipeline, "encoded", 1);
    GstBuffer *frame = buffer_at (encoded, 0);
    after = !first && GST_BUFFER_FLAG_IS_SET (frame, GST_BUFFER_FLAG_DISCONT);
    g_assert_false (after && GST_BUFFER_FLAG_IS_SET (frame, GST_BUFFER_FLAG_DELTA_UNIT));
    g_assert_cmpuint (GST_BUFFER_PTS (frame), >, last);
    last = GST_BUFFER_PTS (frame);
  }
  test_server_kill (&server);
}

static GstPadProbeReturn
note_none (GstPad *pad, GstPadProbeInfo *info, gpointer told)
{
  if (gst_event_has_name (GST_PAD_PROBE_INFO_EVENT (info), SL_CAMERA_ENCODED_NONE))
    g_atomic_int_inc ((gint *) told);
  return GST_PAD_PROBE_OK;
}

/* A live camera that does not encode, or does: told with its first frame, or not at all. */
static void
test_none (gconstpointer payload)
{
  TestServer server;
  gint told = 0;
  g_autofree char *arguments =
    g_strdup_printf ("--size 64x48 --fps 15 --payload %s", (const char *) payload);
  if (!test_server_start (&server, RTSP, 0, arguments))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, FAST, NULL);
  GstElement *sink = gst_element_factory_make ("fakesink", NULL);
  g_object_set (sink, "sync", FALSE, "async", FALSE, NULL);
  gst_bin_add (GST_BIN (camera->pipeline), sink);
  g_assert_true (gst_element_link_pads (camera->camera, "encoded", sink, "sink"));
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, note_none, &told, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 3);
  g_assert_cmpint (g_atomic_int_get (&told), ==, g_str_equal (payload, "raw") ? 1 : 0);
  test_camera_stop (camera);
  test_server_kill (&server);
}

/* A pad that nothing is linked to changes nothing. The element refuses a request while it
 * runs. */
static void
test_requests (void)
{
  g_autoptr (TestCamera) camera = test_camera_new ("test://?live=false&frames=20", NULL, NULL);
  GstPad *pad = gst_element_request_pad_simple (camera->camera, "encoded");
  g_assert_nonnull (pad);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_eos (camera);
  g_assert_cmpuint (camera->frames, ==, 20);
  gst_element_release_request_pad (camera->camera, pad);
  g_assert_null (gst_element_request_pad_simple (camera->camera, "encoded"));
  test_camera_stop (camera);
  gst_object_unref (pad);
  pad = gst_element_request_pad_simple (camera->camera, "encoded");
  g_assert_nonnull (pad);
  gst_object_unref (pad);
}

/* Who takes no more is not waited for, and not told to be slow. */
static void
test_taken_no_more (gconstpointer data)
{
  const gboolean *live = data;
  SlCameraEncoded encoded;
  g_autoptr (GstElement) pipeline =
    launch ("identity name=last eos-after=1 ! fakesink sync=false async=false");
  g_autoptr (GstElement) last = element_of (pipeline, "last");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstElement *output = sl_camera_encoded_new ();
  g_assert_nonnull (output);
  gst_bin_add (GST_BIN (pipeline), output);
  g_assert_true (gst_element_link (output, last));
  sl_camera_encoded_set_up (GST_APP_SRC (output), *live);
  sl_camera_encoded_begin (&encoded);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 12; i++) {
    sl_camera_encoded_push (&encoded, GST_APP_SRC (output), *live,
                            gst_buffer_new_allocate (NULL, SL_CAMERA_ENCODED_BYTES / 4, NULL));
    if (i != 1)
      continue;
    g_autoptr (GstMessage) message =
      *live ? gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS) : NULL;
    g_assert_true (!*live || message != NULL);
  }
  g_assert_false (encoded.crowded);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

static void
test_move (void)
{
  static const struct
  {
    GstClockTime pts, dts, from, to, new_pts, new_dts;
  } cases[] = {
    { 100, 60, 100, 1000, 1000, 960 },
    { 100, 60, 0, 7, 107, 67 },
    { 100, 60, 100, 20, 20, 0 },
    { 100, 120, 100, 20, 20, GST_CLOCK_TIME_NONE },
    { GST_CLOCK_TIME_NONE, 60, 60, 20, GST_CLOCK_TIME_NONE, 20 },
    { 100, GST_CLOCK_TIME_NONE, 50, 20, 70, GST_CLOCK_TIME_NONE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GstBuffer) frame = gst_buffer_new ();
    GST_BUFFER_PTS (frame) = cases[i].pts;
    GST_BUFFER_DTS (frame) = cases[i].dts;
    sl_camera_encoded_move (frame, cases[i].from, cases[i].to);
    g_assert_cmpuint (GST_BUFFER_PTS (frame), ==, cases[i].new_pts);
    g_assert_cmpuint (GST_BUFFER_DTS (frame), ==, cases[i].new_dts);
  }
}

TEST_MAIN (int argc, char **argv)
{
  static const gboolean no = FALSE, yes = TRUE;
  test_elements_init (&argc, &argv);
  TEST_ADD_CASES ("/slcamera/encoded/file", files, test_file);
  TEST_ADD_CASES ("/slcamera/encoded/live", lives, test_live);
  g_test_add_func ("/slcamera/encoded/loop", test_loop);
  g_test_add_func ("/slcamera/encoded/reconnect", test_reconnect);
  g_test_add_func ("/slcamera/encoded/crowded", test_crowded);
  g_test_add_data_func ("/slcamera/encoded/none/raw", "raw", test_none);
  g_test_add_data_func ("/slcamera/encoded/none/jpeg", "jpeg", test_none);
  g_test_add_func ("/slcamera/encoded/requests", test_requests);
  g_test_add_data_func ("/slcamera/encoded/file-taken-no-more", &no, test_taken_no_more);
  g_test_add_data_func ("/slcamera/encoded/live-taken-no-more", &yes, test_taken_no_more);
  g_test_add_func ("/slcamera/encoded/move", test_move);
  return test_elements_run ();
}
