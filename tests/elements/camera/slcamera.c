/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slcamera without a camera: test:// and file://, properties, refusals, states. What needs a
 * network peer is in slcamera_http.c and slcamera_rtsp.c, devices in slcamera_v4l2.c.
 */
#include <glib/gstdio.h>
#include <gst/video/gstvideodecoder.h>

#include "tests/elements/camera/support.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define FILE_FRAMES 10

/* (transfer full): a video of 10 frames of 64x48 at 25 a second, by elements of others. */
static char *
make_video (void)
{
  g_autofree char *dir = g_dir_make_tmp ("sightline-XXXXXX", NULL);
  char *path = g_build_filename (dir, "video.mkv", NULL);
  g_autofree char *launch = g_strdup_printf (
    "videotestsrc num-buffers=%d ! video/x-raw,format=I420,width=64,height=48,framerate=25/1 ! "
    "jpegenc ! matroskamux ! filesink location=%s",
    FILE_FRAMES, path);
  g_autoptr (GstElement) pipeline = gst_parse_launch (launch, NULL);
  test_run_to_end (pipeline);
  return path;
}

#define TOP_FIELD 150
#define BOTTOM_FIELD 90

/* Rows of the two fields, as a thing that moves fast leaves them. */
static GstPadProbeReturn
paint_fields (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_DATA (info) =
    gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  for (gint row = 0; row < 48; row++)
    gst_buffer_memset (buffer, (gsize) row * 64, row % 2 == 0 ? TOP_FIELD : BOTTOM_FIELD, 64);
  return GST_PAD_PROBE_OK;
}

/* Every row is that of one moment. */
static GstPadProbeReturn
check_rows (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstMapInfo map;
  g_assert_true (gst_buffer_map (GST_PAD_PROBE_INFO_BUFFER (info), &map, GST_MAP_READ));
  for (gsize i = 0; i < 64 * 48; i++)
    g_assert_cmpint (map.data[i], ==, TOP_FIELD);
  gst_buffer_unmap (GST_PAD_PROBE_INFO_BUFFER (info), &map);
  ++*(guint *) data;
  return GST_PAD_PROBE_OK;
}

static void
probe (GstElement *bin, const char *name, const char *pad_name, GstPadProbeCallback callback,
       gpointer data)
{
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (bin), name);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, pad_name);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, callback, data, NULL);
}

/* Video of fields: slcamera gives whole frames, as many. */
static void
test_interlaced (void)
{
  g_autoptr (GstElementFactory) setter = gst_element_factory_find ("capssetter"),
                                deinterlace = gst_element_factory_find ("deinterlace");
  if (setter == NULL || deinterlace == NULL) {
    g_test_skip ("there is no capssetter or deinterlace");
    return;
  }
  g_autofree char *dir = g_dir_make_tmp ("sightline-XXXXXX", NULL),
                  *path = g_build_filename (dir, "fields.mkv", NULL);
  g_autofree char *launch = g_strdup_printf (
    "videotestsrc name=source num-buffers=%d ! video/x-raw,format=I420,width=64,height=48,"
    "framerate=25/1 ! capssetter caps=\"video/x-raw,interlace-mode=(string)interleaved,"
    "field-order=(string)top-field-first\" ! matroskamux ! filesink location=%s",
    FILE_FRAMES, path);
  g_autoptr (GstElement) pipeline = gst_parse_launch (launch, NULL);
  probe (pipeline, "source", "src", paint_fields, NULL);
  test_run_to_end (pipeline);
  guint frames = 0;
  g_autofree char *uri = g_strconcat ("file://", path, NULL);
  g_autoptr (TestCamera) camera = test_camera_new (uri, NULL, NULL);
  probe (camera->pipeline, "sink", "sink", check_rows, &frames);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_eos (camera);
  g_assert_cmpuint (frames, ==, FILE_FRAMES);
  test_remove_file (path);
  g_rmdir (dir);
}

static void
test_frames (void)
{
  g_autoptr (TestCamera) camera = test_camera_new ("test://?pattern=ball&live=false&frames=12",
                                                   "width=48 height=32 framerate=10", NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  gst_structure_free (test_camera_wait (camera, "playing"));
  gst_structure_free (test_camera_wait (camera, "ended"));
  test_camera_wait_eos (camera);
  g_assert_cmpuint (camera->frames, ==, 12);
  g_assert_cmpint (camera->width, ==, 48);
  g_assert_cmpint (camera->height, ==, 32);
  g_assert_false (camera->backwards);
  g_assert_cmpuint (camera->disconts, ==, 1);
  g_assert_cmpuint (camera->last, ==, 11 * GST_SECOND / 10);
}

static void
test_live (void)
{
  g_autoptr (TestCamera) camera =
    test_camera_new ("test://?pattern=ball", "width=48 height=32", NULL);
  g_autofree char *before = NULL, *after = NULL;
  gint64 age = 0;
  g_object_get (camera->camera, "state", &before, "last-frame-age", &age, NULL);
  g_assert_cmpstr (before, ==, "stopped");
  g_assert_cmpint (age, ==, -1);
  test_camera_play (camera, GST_STATE_PLAYING);
  gst_structure_free (test_camera_wait (camera, "connecting"));
  g_autoptr (GstStructure) playing = test_camera_wait (camera, "playing");
  g_assert_cmpstr (gst_structure_get_string (playing, "uri"), ==, "test://?pattern=ball");
  guint attempt = 0;
  GstCaps *caps = NULL;
  g_assert_true (gst_structure_get (playing, "attempt", G_TYPE_UINT, &attempt, "caps",
                                    GST_TYPE_CAPS, &caps, NULL));
  g_assert_cmpuint (attempt, ==, 1);
  g_assert_cmpuint (gst_caps_get_size (caps), ==, 1);
  gst_caps_unref (caps);
  test_camera_wait_frames (camera, 3);
  g_object_get (camera->camera, "state", &after, "last-frame-age", &age, NULL);
  g_assert_cmpstr (after, ==, "playing");
  g_assert_cmpint (age, >=, 0);
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  gboolean live = FALSE;
  g_autoptr (GstPad) pad = gst_element_get_static_pad (camera->camera, "src");
  g_assert_true (gst_pad_query (pad, query));
  gst_query_parse_latency (query, &live, NULL, NULL);
  g_assert_true (live);
}

/* Nothing flows while paused; timestamps go on growing after it. */
static void
test_states (void)
{
  g_autoptr (TestCamera) camera = test_camera_new ("test://", "width=48 height=32", NULL);
  g_assert_cmpint (gst_element_set_state (camera->pipeline, GST_STATE_PAUSED), ==,
                   GST_STATE_CHANGE_NO_PREROLL);
  for (guint i = 0; i < 3; i++) {
    test_camera_play (camera, GST_STATE_PLAYING);
    test_camera_wait_frames (camera, 3);
    gst_element_set_state (camera->pipeline, GST_STATE_PAUSED);
  }
  g_assert_false (camera->backwards);
  gst_element_set_state (camera->pipeline, GST_STATE_READY);
  g_autofree char *state = NULL;
  g_object_get (camera->camera, "state", &state, NULL);
  g_assert_cmpstr (state, ==, "stopped");
  camera->frames = 0;
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 3);
  g_assert_false (camera->backwards);
  test_camera_stop (camera);
  test_camera_stop (camera);
}

static const struct
{
  const char *name, *uri, *message, *properties;
} refusals[] = {
  { "unset", NULL, "slcamera's uri property is not set: expected v4l2:///dev/video0" },
  { "scheme", "ftp://cam/1",
    "uri=ftp://cam/1: slcamera has no scheme 'ftp': expected v4l2:///dev/video0, rtsp://HOST/PATH, "
    "http://HOST/PATH, file:///PATH, libcamera://NAME, pipewire://NODE, csi://0 or test://" },
  { "pattern", "test://?pattern=bal",
    "uri=test://?pattern=bal: 'bal' is no pattern: expected one of smpte, snow, black" },
  { "password", "joe:hush@cam/1",
    "uri=joe:***@cam/1: an address without a scheme: expected v4l2:///dev/video0" },
  { "passwords", "rtsp://cam/1", "password and password-file are both set: expected one of them",
    "password=a password-file=/b" },
  { "password-file", "rtsp://cam/1", "password-file=/nonexistent/pw: No such file or directory",
    "password-file=/nonexistent/pw" },
};

static void
test_refusal (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autoptr (TestCamera) camera = test_camera_new (refusals[i].uri, refusals[i].properties, NULL);
  g_assert_cmpint (gst_element_set_state (camera->pipeline, GST_STATE_PLAYING), ==,
                   GST_STATE_CHANGE_FAILURE);
  test_assert_error (camera->bus, refusals[i].message, NULL);
}

static const struct
{
  const char *element, *uri, *message;
} missing[] = {
  { "v4l2src", "/dev/video0",
    "element 'v4l2src' is missing, which slcamera needs for v4l2://: install "
    "gstreamer1.0-plugins-good" },
  { "rtspsrc", "rtsp://127.0.0.1/",
    "element 'rtspsrc' is missing, which slcamera needs for rtsp://: install "
    "gstreamer1.0-plugins-good" },
  { "souphttpsrc", "http://127.0.0.1/",
    "element 'souphttpsrc' is missing, which slcamera needs for http://: install "
    "gstreamer1.0-plugins-good" },
  { "decodebin", "file:///a.mp4",
    "element 'decodebin' is missing, which slcamera needs for file://: install "
    "gstreamer1.0-plugins-base" },
  { "videoconvert", "test://",
    "element 'videoconvert' is missing, which slcamera needs for test://: install "
    "gstreamer1.0-plugins-base" },
  { "appsrc", "test://",
    "element 'appsrc' is missing, which slcamera needs: install gstreamer1.0-plugins-base" },
};

static void
test_missing (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  GstRegistry *registry = gst_registry_get ();
  g_autoptr (GstPluginFeature) feature = gst_registry_lookup_feature (registry, missing[i].element);
  if (feature == NULL) {
    g_test_skip ("not installed, so it cannot be taken away");
    return;
  }
  gst_registry_remove_feature (registry, feature);
  g_autoptr (GstElement) camera = gst_object_ref_sink (gst_element_factory_make ("slcamera", NULL));
  g_autoptr (GstBus) bus = test_watch (camera);
  g_object_set (camera, "uri", missing[i].uri, NULL);
  g_assert_cmpint (gst_element_set_state (camera, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  test_assert_error (bus, missing[i].message, NULL);
  gst_element_set_bus (camera, NULL);
  gst_element_set_state (camera, GST_STATE_NULL);
  gst_registry_add_feature (registry, feature);
}

static void
test_impossible (void)
{
  g_autoptr (TestCamera) camera =
    test_camera_new ("test://", "width=64 height=48", "video/x-raw,width=32");
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_text (
    camera, GST_MESSAGE_ERROR,
    "test://: no format, size and rate are common to the source, slcamera's width, height and "
    "framerate, and the caps after it");
}

static void
test_secrets (void)
{
  g_autoptr (TestCamera) camera =
    test_camera_new ("rtsp://joe:hush@127.0.0.1:9/1?token=hush", "password=hush2", NULL);
  g_autofree char *uri = NULL, *password = NULL;
  g_object_get (camera->camera, "uri", &uri, "password", &password, NULL);
  g_assert_cmpstr (uri, ==, "rtsp://joe:***@127.0.0.1:9/1?token=***");
  g_assert_null (password);
  test_camera_play (camera, GST_STATE_PLAYING);
  g_autoptr (GstStructure) structure = test_camera_wait (camera, "reconnecting");
  g_autofree char *text = gst_structure_to_string (structure);
  g_autofree char *dot = gst_debug_bin_to_dot_data (
    GST_BIN (camera->pipeline), GST_DEBUG_GRAPH_SHOW_ALL | GST_DEBUG_GRAPH_SHOW_FULL_PARAMS);
  g_assert_null (strstr (text, "hush"));
  g_assert_null (strstr (dot, "hush"));
}

static void
test_file_once (void)
{
  g_autofree char *path = make_video ();
  g_autoptr (TestCamera) camera = test_camera_new (path, NULL, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_eos (camera);
  g_assert_cmpuint (camera->frames, ==, FILE_FRAMES);
  g_assert_cmpint (camera->width, ==, 64);
  g_assert_false (camera->backwards);
  test_camera_stop (camera);
  test_remove_file (path);
}

/* Paused, a file waits with its first frame; a second round needs no new pipeline. */
static void
test_file_preroll (void)
{
  g_autofree char *path = make_video ();
  g_autofree char *uri = gst_filename_to_uri (path, NULL);
  g_autoptr (TestCamera) camera = test_camera_new (uri, NULL, NULL);
  for (guint i = 0; i < 2; i++) {
    camera->frames = 0;
    test_camera_play (camera, GST_STATE_PAUSED);
    g_assert_cmpint (gst_element_get_state (camera->pipeline, NULL, NULL, GST_CLOCK_TIME_NONE), ==,
                     GST_STATE_CHANGE_SUCCESS);
    g_assert_cmpuint (camera->frames, ==, 1);
    test_camera_play (camera, GST_STATE_PLAYING);
    test_camera_wait_eos (camera);
    g_assert_cmpuint (camera->frames, ==, FILE_FRAMES);
    test_camera_stop (camera);
  }
  test_remove_file (path);
}

static void
test_file_loop (void)
{
  g_autofree char *path = make_video ();
  g_autoptr (TestCamera) camera = test_camera_new (path, "loop=true", NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 5 * FILE_FRAMES / 2);
  gst_structure_free (test_camera_wait (camera, "connecting"));
  test_camera_stop (camera);
  g_assert_false (camera->backwards);
  g_assert_cmpuint (camera->last, >=, (5 * FILE_FRAMES / 2 - 1) * GST_SECOND / 25);
  test_remove_file (path);
}

static void
test_file_realtime (void)
{
  g_autofree char *path = make_video ();
  g_autoptr (TestCamera) camera = test_camera_new (path, "realtime=true", NULL);
  g_autoptr (GTimer) timer = g_timer_new ();
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_eos (camera);
  g_assert_cmpfloat (g_timer_elapsed (timer, NULL), >=, (FILE_FRAMES - 1) / 25.0);
  g_assert_false (camera->backwards);
  test_camera_stop (camera);
  test_remove_file (path);
}

static void
expect_file_error (const char *uri, const char *downstream, const char *message)
{
  g_autoptr (TestCamera) camera = test_camera_new (uri, NULL, downstream);
  test_camera_play (camera, GST_STATE_PAUSED);
  test_camera_wait_text (camera, GST_MESSAGE_ERROR, message);
}

#define UNWANTED_SIZE                                                                          \
  "video.mkv: the picture's format or size is not what the elements after slcamera take: put " \
  "videoscale behind it, or take the size out of the caps there"

static void
test_file_errors (void)
{
  expect_file_error ("file:///nonexistent/a.mp4", NULL,
                     "file:///nonexistent/a.mp4: there is no file /nonexistent/a.mp4");
  expect_file_error ("file:///usr", NULL,
                     "file:///usr: /usr is a folder, expected a video or a picture");
  g_autofree char *text = test_text_file (
    "text.mp4", "These are words, not pictures. They are quite enough of them to tell, too.\n");
  expect_file_error (text, NULL,
                     "text.mp4: is no picture or video that GStreamer knows, or is "
                     "damaged at its start");
  test_remove_file (text);
  g_autofree char *empty = test_text_file ("empty.mp4", "");
  expect_file_error (empty, NULL, "empty.mp4: ");
  test_remove_file (empty);
  g_autofree char *video = make_video ();
  expect_file_error (video, "video/x-raw,width=32", UNWANTED_SIZE);
  test_remove_file (video);
}

static GstFlowReturn (*decode) (GstVideoDecoder *decoder, GstVideoCodecFrame *frame);

static GstFlowReturn
decode_silently (GstVideoDecoder *decoder, GstVideoCodecFrame *frame)
{
  decode (decoder, frame);
  return GST_FLOW_OK;
}

/* The demuxer's error may get lost: decodebin drops those of elements that it has not done
 * connecting yet. Here there is none at all. */
static void
test_file_silent_decoder (void)
{
  g_autoptr (GstElement) decoder = gst_element_factory_make ("jpegdec", NULL);
  if (decoder == NULL) {
    g_test_skip ("needs the element jpegdec");
    return;
  }
  gst_object_ref_sink (decoder);
  g_autofree char *video = make_video ();
  GstVideoDecoderClass *klass = GST_VIDEO_DECODER_GET_CLASS (decoder);
  decode = klass->handle_frame;
  klass->handle_frame = decode_silently;
  expect_file_error (video, "video/x-raw,width=32", UNWANTED_SIZE);
  klass->handle_frame = decode;
  test_remove_file (video);
}

/* A file of JPEG pictures where nothing decodes JPEG. */
static void
test_file_decoder (void)
{
  g_autofree char *video = make_video ();
  g_autoptr (GstCaps) jpeg = gst_caps_from_string ("image/jpeg");
  GstRegistry *registry = gst_registry_get ();
  GList *all =
    gst_element_factory_list_get_elements (GST_ELEMENT_FACTORY_TYPE_DECODER, GST_RANK_NONE);
  GList *decoders = gst_element_factory_list_filter (all, jpeg, GST_PAD_SINK, FALSE), *next;
  for (GList *at = decoders; at != NULL; at = next) {
    next = at->next;
    if (gst_element_factory_can_sink_all_caps (at->data,
                                               GST_CAPS_ANY)) { /* decodebin is one of them */
      gst_object_unref (at->data);
      decoders = g_list_delete_link (decoders, at);
    } else {
      gst_registry_remove_feature (registry, at->data);
    }
  }
  expect_file_error (
    video, NULL,
    "video.mkv: no element is installed for JPEG decoder: install gstreamer1.0-libav (decoders) or "
    "gstreamer1.0-plugins-good (RTP), by Debian's names");
  for (GList *at = decoders; at != NULL; at = at->next)
    gst_registry_add_feature (registry, at->data);
  gst_plugin_feature_list_free (decoders);
  gst_plugin_feature_list_free (all);
  test_remove_file (video);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slcamera/interlaced", test_interlaced);
  g_test_add_func ("/slcamera/frames", test_frames);
  g_test_add_func ("/slcamera/live", test_live);
  g_test_add_func ("/slcamera/states", test_states);
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++) {
    g_autofree char *path = g_strdup_printf ("/slcamera/refusal/%s", refusals[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_refusal);
  }
  for (guint i = 0; i < G_N_ELEMENTS (missing); i++) {
    g_autofree char *path = g_strdup_printf ("/slcamera/missing/%s", missing[i].element);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_missing);
  }
  g_test_add_func ("/slcamera/impossible", test_impossible);
  g_test_add_func ("/slcamera/secrets", test_secrets);
  g_test_add_func ("/slcamera/file/once", test_file_once);
  g_test_add_func ("/slcamera/file/preroll", test_file_preroll);
  g_test_add_func ("/slcamera/file/loop", test_file_loop);
  g_test_add_func ("/slcamera/file/realtime", test_file_realtime);
  g_test_add_func ("/slcamera/file/errors", test_file_errors);
  g_test_add_func ("/slcamera/file/silent-decoder", test_file_silent_decoder);
  g_test_add_func ("/slcamera/file/decoder", test_file_decoder);
  return test_elements_run ();
}
