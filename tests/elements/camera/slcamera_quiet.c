/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slcamera quiet=keyframes on drawn videos and on a camera of numbered pictures that stand still
 * now and then: no frame of a motion is missing, and few frames of quiet times come.
 */
#include <gst/gst.h>
#include <gst/video/video.h>

#include "pipelines/supervise/elements.h"
#include "plugins/camera/intact.h"
#include "plugins/camera/quiet.h"
#include "plugins/meta/late_meta.h"
#include "tests/elements/camera/quiet_scene.h"
#include "tests/elements/camera/support.h"
#include "tests/elements/support.h"
#include "tests/support/folders.h"
#include "tests/support/numbered.h"
#include "tests/support/program.h"

#define X264 "x264enc key-int-max=30 speed-preset=ultrafast quantizer=20 pass=quant "
#define NO_CUT "option-string=scenecut=0 "

/* Walks are longer than a group, so each is in a key frame. */
static const struct
{
  const char *name;
  QuietScene scene;
} scenes[] = {
  { "h264", { X264 NO_CUT "tune=zerolatency ! h264parse", 320, 176, 15, 30, 2, 32, 2, 60, 40 } },
  { "h264-reordered", { X264 NO_CUT "bframes=2 ! h264parse", 320, 176, 15, 30, 2, 32, 2, 60, 40 } },
  { "h265",
    { "x265enc key-int-max=30 speed-preset=ultrafast qp=24 "
      "option-string=scenecut=0:open-gop=1:bframes=2:b-adapt=0:frame-threads=1:pools=none:log-level"
      "=none ! h265parse",
      320, 176, 15, 30, 2, 32, 2, 60, 40 } },
};
static const QuietScene jpeg = { "jpegenc", 160, 96, 15, 30, 2, 32, 1, 10, 10 };
static const QuietScene endless = { "x264enc key-int-max=2000 speed-preset=ultrafast quantizer=20 "
                                    "pass=quant tune=zerolatency option-string=scenecut=0 ! "
                                    "h264parse",
                                    64,
                                    64,
                                    15,
                                    10,
                                    2,
                                    32,
                                    1,
                                    600,
                                    5 };

static const QuietScene deep = {
  "videoconvert ! video/x-raw,format=I420_10LE ! x264enc speed-preset=ultrafast ! h264parse",
  64,
  64,
  15,
  10,
  2,
  32,
  1,
  10,
  5
};

/* It is quiet up to its end. */
static const QuietScene still = {
  X264 NO_CUT "tune=zerolatency ! h264parse", 320, 176, 15, 30, 2, 32, 1, 50, 0
};

/* Nothing ever moves. */
static const QuietScene calm = {
  X264 NO_CUT "bframes=2 ! h264parse", 320, 176, 15, 30, 2, 32, 1, 240, 0
};

static char *folder;

/* (transfer full) (nullable): NULL where an element is not installed, and the test is skipped */
static char *
write_scene (const QuietScene *scene, const char *name)
{
  char *path = g_strdup_printf ("%s/%s.mkv", folder, name);
  if (g_file_test (path, G_FILE_TEST_EXISTS) || quiet_scene_write (scene, path))
    return path;
  g_test_skip ("an encoder is not installed");
  g_free (path);
  return NULL;
}

static guint64
stat_of (GstElement *camera, const char *name)
{
  g_autoptr (GstStructure) stats = NULL;
  guint64 value = 0;
  g_object_get (camera, "quiet-stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint64 (stats, name, &value));
  return value;
}

static void
watch (TestCamera *camera, const QuietScene *scene, QuietSeen *seen)
{
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (camera->pipeline), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  quiet_seen_watch (seen, scene, pad);
}

static void
check_seen (const QuietSeen *seen)
{
  guint walks;
  g_test_message ("%u of %u frames, %u late", seen->came, seen->n, seen->late);
  g_assert_cmpuint (quiet_seen_missing (seen, &walks), ==, 0);
  g_assert_cmpuint (seen->wrong, ==, 0);
  for (guint n = 0; n < seen->n; n++)
    g_assert_cmpuint (seen->frames[n], <=, 1);
}

/* All frames from the key frame before a walk on, in order; and at the end what still waits. */
static void
test_scene (gconstpointer data)
{
  const gsize row = GPOINTER_TO_SIZE (data);
  const QuietScene *scene = &scenes[row].scene;
  QuietSeen seen;
  g_autofree char *path = write_scene (scene, scenes[row].name);
  if (path == NULL)
    return;
  g_autoptr (TestCamera) camera =
    test_camera_new (path, "quiet=keyframes quiet-after=1000", "video/x-raw,format=I420");
  watch (camera, scene, &seen);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_eos (camera);
  check_seen (&seen);
  g_assert_false (camera->backwards);
  g_assert_cmpuint (seen.late, >, 0);
  g_assert_cmpuint (seen.frames[seen.n - 1], ==, 1);
  g_assert_cmpuint (stat_of (camera->camera, "keys"), >, 0);
  g_assert_cmpuint (stat_of (camera->camera, "by-picture") + stat_of (camera->camera, "by-size"),
                    >=, scene->times);
  g_assert_cmpuint (seen.came + stat_of (camera->camera, "skipped"), ==, seen.n);
  quiet_seen_clear (&seen);
}

/* Nobody looks where the box walks: no picture ends a quiet time, and what a size ended was for
 * nothing. It is quiet while the box walks, and at the end. */
static void
test_ignored (void)
{
  g_autofree char *path = write_scene (&scenes[0].scene, scenes[0].name);
  if (path == NULL)
    return;
  g_autoptr (TestCamera) camera =
    test_camera_new (path,
                     "quiet=keyframes quiet-after=500 quiet-ignore=\"[zone path] points=0,0.3 "
                     "1,0.3 1,0.7 0,0.7\"",
                     "video/x-raw,format=I420");
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_eos (camera);
  g_assert_cmpuint (stat_of (camera->camera, "keys"), >, 0);
  g_assert_cmpuint (stat_of (camera->camera, "by-picture"), ==, 0);
  g_assert_cmpuint (stat_of (camera->camera, "false-alarms"), ==,
                    stat_of (camera->camera, "by-size"));
}

static void
test_no_zone (void)
{
  GstElement *element = gst_element_factory_make ("slcamera", NULL);
  g_autoptr (GstBus) bus = test_watch (element);
  g_object_set (element, "uri", "test://", "quiet-ignore", "[line a] points=0,0 1,1", NULL);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_READY), ==, GST_STATE_CHANGE_FAILURE);
  test_assert_error (bus, "quiet-ignore: expected zones with points alone, got 'a': it is a line",
                     NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL); /* whose messages hold the element */
  gst_object_unref (element);
}

/* At the file's own speed it is a live camera, which drops frames that the elements downstream are
 * too slow for. Those that waited are not dropped. */
static void
test_live (void)
{
  QuietScene scene = scenes[0].scene;
  QuietSeen seen;
  scene.fps = 60;
  scene.times = 1;
  g_autofree char *path = write_scene (&scene, "live");
  if (path == NULL)
    return;
  g_autoptr (TestCamera) camera =
    test_camera_new (path, "realtime=true quiet=keyframes quiet-after=200",
                     "video/x-raw,format=I420 ! identity sleep-time=3000");
  watch (camera, &scene, &seen);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_eos (camera);
  g_test_message ("%u of %u frames, %u late", seen.came, seen.n, seen.late);
  g_assert_cmpuint (seen.late, ==, stat_of (camera->camera, "held"));
  g_assert_cmpuint (seen.wrong, ==, 0);
  g_assert_false (camera->backwards);
  quiet_seen_clear (&seen);
}

/* Cameras that are never quiet say so, and all their frames come. */
static const struct
{
  const char *name;
  const QuietScene *scene;
  const char *warning;
} never[] = {
  { "jpeg", &jpeg,
    "*: quiet=keyframes: expected H.264 or H.265, this camera sends neither: all frames are "
    "decoded" },
  { "deep", &deep,
    "*: quiet=keyframes: the decoder's frames cannot be looked at, expected 8 bits in system "
    "memory: all frames are decoded" },
};

static void
test_never (gconstpointer data)
{
  const gsize row = GPOINTER_TO_SIZE (data);
  g_autofree char *path = write_scene (never[row].scene, never[row].name);
  if (path == NULL)
    return;
  g_autoptr (TestCamera) camera = test_camera_new (path, "quiet=keyframes quiet-after=0", NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_text (camera, GST_MESSAGE_WARNING, never[row].warning);
  test_camera_wait_eos (camera);
  g_assert_cmpuint (camera->frames, ==, quiet_scene_frames (never[row].scene));
}

static void
test_limit (void)
{
  QuietSeen seen;
  g_autofree char *path = write_scene (&endless, "endless");
  if (path == NULL)
    return;
  g_autoptr (TestCamera) camera =
    test_camera_new (path, "quiet=keyframes quiet-after=500", "video/x-raw,format=I420");
  watch (camera, &endless, &seen);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_text (
    camera, GST_MESSAGE_WARNING,
    "*: quiet=keyframes: no key frame within 30 s or 64 MiB: all frames up to the next one are "
    "decoded; set a shorter key frame interval in the camera");
  test_camera_wait_eos (camera);
  g_assert_cmpuint (seen.came, ==, seen.n);
  g_assert_cmpuint (stat_of (camera->camera, "by-limit"), ==, 1);
  quiet_seen_clear (&seen);
}

/* Numbers of pictures from a camera, which stand still or go on by one. @gaps: late frames behind
 * which one is missing; of others a busy machine may miss some, as without quiet times */
typedef struct
{
  GMutex lock;
  guint frames, last, gaps, late;
} Numbers;

static GstPadProbeReturn
read_number (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Numbers *numbers = data;
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  GstVideoInfo video;
  GstVideoFrame frame;
  g_assert_true (gst_video_info_from_caps (&video, caps));
  g_assert_true (
    gst_video_frame_map (&frame, &video, GST_PAD_PROBE_INFO_BUFFER (info), GST_MAP_READ));
  NumberedPicture picture = { .width = video.width, .height = video.height };
  picture.plane[0] = GST_VIDEO_FRAME_PLANE_DATA (&frame, 0);
  picture.stride[0] = GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
  const guint number = numbered_read (&picture);
  gst_video_frame_unmap (&frame);
  const gboolean late = sl_buffer_is_late (GST_PAD_PROBE_INFO_BUFFER (info));
  g_mutex_lock (&numbers->lock);
  numbers->gaps += late && number != numbers->last && number != numbers->last + 1;
  numbers->late += late;
  numbers->last = number;
  numbers->frames++;
  g_mutex_unlock (&numbers->lock);
  return GST_PAD_PROBE_OK;
}

static void
wait_quiet (TestCamera *camera, gboolean quiet)
{
  for (gboolean found = FALSE, now = FALSE; !found || now != quiet;) {
    g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (
      camera->bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR);
    const GstStructure *structure = gst_message_get_structure (message);
    g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_ELEMENT);
    found = gst_structure_has_name (structure, SL_QUIET_MESSAGE)
            && gst_structure_get_boolean (structure, "quiet", &now);
    if (found)
      g_test_message ("quiet %d, %s", now, gst_structure_get_string (structure, "reason"));
  }
}

/* Over RTSP. The camera goes away in a quiet time, and comes back. Then the pictures that its
 * motion begins with have no gap. */
static void
test_camera (void)
{
  static const char arguments[] =
    "--payload h264 --numbered --size 128x96 --fps 60 --gop 30 --still 110 --moving 500";
  TestServer server;
  Numbers numbers = { 0 };
  g_autoptr (GstElementFactory) factory = gst_element_factory_find ("openh264enc");
  if (factory == NULL) {
    g_test_skip ("openh264enc");
    return;
  }
  if (!test_server_start (&server, "SIGHTLINE_RTSP_SERVER", 0, arguments))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (
    server.uri, "quiet=keyframes quiet-after=300 reconnect-min=50", "video/x-raw,format=I420");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (camera->pipeline), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  g_mutex_init (&numbers.lock);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, read_number, &numbers, NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  wait_quiet (camera, TRUE);
  const guint port = server.port;
  test_server_kill (&server);
  g_assert_true (test_server_start (&server, "SIGHTLINE_RTSP_SERVER", port, arguments));
  test_camera_expect (camera, "playing", "");
  wait_quiet (camera, TRUE);
  wait_quiet (camera, FALSE);
  test_camera_wait_frames (camera, 60);
  test_camera_stop (camera);
  test_server_kill (&server);
  g_test_message ("%u frames, %u late, up to number %u", numbers.frames, numbers.late,
                  numbers.last);
  g_assert_cmpuint (numbers.gaps, ==, 0);
  g_assert_cmpuint (numbers.late, >, 0);
  g_assert_false (camera->backwards);
  g_mutex_clear (&numbers.lock);
}

/* While it is quiet, frames are not missed: watchdogs wait. */
static void
test_away (void)
{
  g_autofree char *path = write_scene (&still, "still");
  if (path == NULL)
    return;
  g_autoptr (TestCamera) camera =
    test_camera_new (path, "realtime=true quiet=keyframes quiet-after=200", NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  wait_quiet (camera, TRUE);
  g_assert_true (sl_camera_is_away (camera->pipeline));
  g_autofree char *state = NULL;
  g_object_get (camera->camera, "state", &state, NULL);
  g_test_message ("%s and quiet", state);
}

typedef struct
{
  GMutex lock;
  GCond cond;
  gboolean quiet;
} Quiet;

static GstBusSyncReply
take_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Quiet *quiet = data;
  const GstStructure *structure = gst_message_get_structure (message);
  if (structure == NULL || !gst_structure_has_name (structure, SL_QUIET_MESSAGE))
    return GST_BUS_PASS;
  g_mutex_lock (&quiet->lock);
  gst_structure_get_boolean (structure, "quiet", &quiet->quiet);
  g_cond_broadcast (&quiet->cond);
  g_mutex_unlock (&quiet->lock);
  return GST_BUS_PASS;
}

static void
count (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer frames)
{
  g_atomic_int_inc ((gint *) frames);
}

/* A pipeline whose decoder is watched. */
static GstElement *
watched (SlQuiet *quiet, SlIntact *intact, const char *launch, gint *frames)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  sl_intact_watch (intact, GST_BIN (pipeline));
  sl_quiet_watch (quiet, GST_BIN (pipeline));
  g_autoptr (GError) error = NULL;
  GstElement *bin = gst_parse_bin_from_description (launch, FALSE, &error);
  g_assert_no_error (error);
  gst_bin_add (GST_BIN (pipeline), bin);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (bin), "sink");
  g_signal_connect (sink, "handoff", G_CALLBACK (count), frames);
  return pipeline;
}

static void
play_to_end (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
}

#define DECODE "h264parse ! avdec_h264 name=decoder ! fakesink name=sink signal-handoffs=true"

/* A flushing seek while frames wait: they are gone, and the stream begins anew. */
static void
test_flush (void)
{
  g_autofree char *path = write_scene (&scenes[0].scene, "h264");
  g_autoptr (SlIntact) intact = sl_intact_new ();
  g_autoptr (SlQuiet) quiet = sl_quiet_new (GST_SECOND, FALSE, NULL);
  g_autoptr (GstElementFactory) factory = gst_element_factory_find ("avdec_h264");
  Quiet state = { 0 };
  gint frames = 0;
  if (path == NULL || factory == NULL)
    return;
  g_mutex_init (&state.lock);
  g_cond_init (&state.cond);
  g_autofree char *launch =
    g_strdup_printf ("filesrc location=%s ! matroskademux ! " DECODE " sync=true", path);
  g_autoptr (GstElement) pipeline = watched (quiet, intact, launch, &frames);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_bus_set_sync_handler (bus, take_message, &state, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_mutex_lock (&state.lock);
  while (!state.quiet)
    g_cond_wait (&state.cond, &state.lock);
  g_mutex_unlock (&state.lock);
  g_atomic_int_set (&frames, 0);
  g_assert_true (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
                                          GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_KEY_UNIT, 0));
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_object_set (sink, "sync", FALSE, NULL);
  play_to_end (pipeline);
  SlQuietFigures figures;
  sl_quiet_read (quiet, &figures);
  g_test_message ("%d frames after the seek", frames);
  g_assert_cmpint (frames, >, (gint) scenes[0].scene.walk);
  g_assert_false (figures.quiet);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_mutex_clear (&state.lock);
  g_cond_clear (&state.cond);
}

/* Other caps while frames wait: all frames of the first stream come before those of the next. */
static void
test_caps (void)
{
  g_autofree char *before = write_scene (&still, "still");
  g_autofree char *path = write_scene (&scenes[0].scene, "h264");
  g_autoptr (SlIntact) intact = sl_intact_new ();
  g_autoptr (SlQuiet) quiet = sl_quiet_new (GST_SECOND, FALSE, NULL);
  g_autoptr (GstElementFactory) factory = gst_element_factory_find ("avdec_h264");
  gint frames = 0;
  if (path == NULL || before == NULL || factory == NULL)
    return;
  g_autofree char *launch =
    g_strdup_printf ("concat name=c ! " DECODE " sync=false filesrc location=%s ! matroskademux ! "
                     "queue ! c. filesrc location=%s ! matroskademux ! queue ! c.",
                     before, path);
  g_autoptr (GstElement) pipeline = watched (quiet, intact, launch, &frames);
  play_to_end (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  SlQuietFigures figures;
  sl_quiet_read (quiet, &figures);
  g_assert_cmpint (frames + (gint) figures.skipped, ==,
                   (gint) (quiet_scene_frames (&still) + quiet_scene_frames (&scenes[0].scene)));
}

/* @keys: key frames that passed all probes in front of the decoder; @sums: of the pixels of each
 * frame, by its number; those of a stream that is never quiet, or NULL */
typedef struct
{
  guint keys, frames, other;
  guint64 from, sums[300];
  const guint64 *expected;
} Once;

static GstPadProbeReturn
count_key (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Once *once = data;
  once->keys +=
    !GST_BUFFER_FLAG_IS_SET (GST_PAD_PROBE_INFO_BUFFER (info), GST_BUFFER_FLAG_DELTA_UNIT);
  return GST_PAD_PROBE_OK;
}

static void
sum_up (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  Once *once = data;
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  GstVideoInfo video;
  GstVideoFrame frame;
  guint64 sum = 0;
  g_assert_true (gst_video_info_from_caps (&video, caps)
                 && gst_video_frame_map (&frame, &video, buffer, GST_MAP_READ));
  for (gint y = 0; y < video.height; y++) {
    const guint8 *row = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
                        + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
    for (gint x = 0; x < video.width; x++)
      sum = sum * 31 + row[x];
  }
  gst_video_frame_unmap (&frame);
  once->from = once->frames++ == 0 ? GST_BUFFER_PTS (buffer) : once->from;
  const guint n = (guint) gst_util_uint64_scale_round (GST_BUFFER_PTS (buffer) - once->from,
                                                       (guint64) calm.fps, GST_SECOND);
  g_assert_cmpuint (n, <, G_N_ELEMENTS (once->sums));
  once->sums[n] = sum;
  once->other += once->expected != NULL && once->expected[n] != sum;
}

/* While it is quiet, a key frame is decoded once, to look at it: its picture comes, and is the one
 * of the decoder. Frames that wait at the end are decoded with the last key frame, which does not
 * come again. */
static void
test_once (void)
{
  g_autofree char *path = write_scene (&calm, "calm");
  g_autoptr (GstElementFactory) factory = gst_element_factory_find ("avdec_h264");
  g_autofree Once *all = g_new0 (Once, 1), *once = g_new0 (Once, 1);
  SlQuietFigures figures = { 0 };
  gint frames = 0;
  if (path == NULL || factory == NULL)
    return;
  g_autofree char *launch =
    g_strdup_printf ("filesrc location=%s ! matroskademux ! " DECODE " sync=false", path);
  once->expected = all->sums;
  for (guint run = 0; run < 2; run++) {
    g_autoptr (SlIntact) intact = sl_intact_new ();
    g_autoptr (SlQuiet) quiet =
      sl_quiet_new (run == 0 ? 3600 * GST_SECOND : GST_SECOND, FALSE, NULL);
    g_autoptr (GstElement) pipeline = watched (quiet, intact, launch, &frames);
    g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
    g_autoptr (GstElement) decoder = gst_bin_get_by_name (GST_BIN (pipeline), "decoder");
    g_autoptr (GstPad) pad = gst_element_get_static_pad (decoder, "sink");
    Once *now = run == 0 ? all : once;
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_key, now, NULL);
    g_signal_connect (sink, "handoff", G_CALLBACK (sum_up), now);
    play_to_end (pipeline);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    sl_quiet_read (quiet, &figures);
  }
  g_assert_cmpuint (all->frames, ==, quiet_scene_frames (&calm));
  g_assert_cmpuint (once->frames + figures.skipped, ==, all->frames);
  g_assert_cmpuint (once->frames, <, all->frames / 2);
  g_assert_cmpuint (once->other, ==, 0);
  g_assert_cmpuint (figures.keys, ==, 8);
  g_assert_cmpuint (all->keys, ==, 9);
  g_assert_cmpuint (once->keys, ==, 2); /* the first of all, and the first of the quiet time */
  for (guint n = 0; n < all->frames; n += (guint) calm.gop)
    g_assert_cmpuint (once->sums[n], ==, all->sums[n]);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  folder = sl_test_folder_new ();
  for (gsize i = 0; i < G_N_ELEMENTS (scenes); i++) {
    g_autofree char *path = g_strdup_printf ("/slcamera/quiet/%s", scenes[i].name);
    g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_scene);
  }
  g_test_add_func ("/slcamera/quiet/ignored", test_ignored);
  g_test_add_func ("/slcamera/quiet/no-zone", test_no_zone);
  g_test_add_func ("/slcamera/quiet/live", test_live);
  for (gsize i = 0; i < G_N_ELEMENTS (never); i++) {
    g_autofree char *path = g_strdup_printf ("/slcamera/quiet/never/%s", never[i].name);
    g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_never);
  }
  g_test_add_func ("/slcamera/quiet/limit", test_limit);
  g_test_add_func ("/slcamera/quiet/camera", test_camera);
  g_test_add_func ("/slcamera/quiet/away", test_away);
  g_test_add_func ("/slcamera/quiet/flush", test_flush);
  g_test_add_func ("/slcamera/quiet/caps", test_caps);
  g_test_add_func ("/slcamera/quiet/once", test_once);
  const int failed = test_elements_run ();
  sl_test_folder_remove (folder);
  return failed;
}
