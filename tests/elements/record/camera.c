/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slcamera and slrecord together: clips of what the camera encoded, whole although the camera goes
 * and comes back, and of cameras that do not encode. */
#include <string.h>

#include "tests/elements/camera/support.h"
#include "tests/elements/record/support.h"
#include "tests/support/program.h"

#define RTSP "SIGHTLINE_RTSP_SERVER"
#define HTTP "SIGHTLINE_MJPEG_SERVER"

typedef struct
{
  TestCamera *camera;
  GstElement *recorder;
  char *folder;
} Line;

static Line
open_line (const char *uri, const char *properties)
{
  Line line = { .folder = record_folder () };
  g_autofree char *recorder = g_strdup_printf (
    "slrecord name=recorder location=\"%s\" min-free=0 max-width=32 encoder=jpegenc on=\"\" %s",
    line.folder, properties);
  line.camera = test_camera_new (uri, "reconnect-min=50 reconnect-max=200", recorder);
  line.recorder = gst_bin_get_by_name (GST_BIN (line.camera->pipeline), "recorder");
  g_assert_true (gst_element_link_pads (line.camera->camera, "encoded", line.recorder, "encoded"));
  test_camera_play (line.camera, GST_STATE_PLAYING);
  return line;
}

static void
close_line (Line *line)
{
  gst_object_unref (line->recorder);
  test_camera_free (line->camera);
  record_remove_folder (line->folder);
}

static void
ask (const Line *line)
{
  g_signal_emit_by_name (line->recorder, "record", "test");
}

/* The next clip: (transfer full): its path; it can be decoded, and its notes have @part. */
static char *
next_clip (const Line *line, const char *part)
{
  for (;;) {
    g_autoptr (GstMessage) message =
      gst_bus_timed_pop_filtered (line->camera->bus, GST_CLOCK_TIME_NONE,
                                  GST_MESSAGE_ELEMENT | GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
    const GstStructure *structure = gst_message_get_structure (message);
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
      g_autoptr (GError) warning = NULL;
      gst_message_parse_warning (message, &warning, NULL);
      g_test_message ("%s", warning->message);
      continue;
    }
    g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_ELEMENT);
    if (!gst_structure_has_name (structure, "slrecord"))
      continue;
    const char *path = gst_structure_get_string (structure, "path");
    g_autofree char *stem = g_strndup (path, strlen (path) - 4),
                    *name = g_strconcat (stem, ".json", NULL), *text = NULL;
    g_assert_true (g_file_get_contents (name, &text, NULL, NULL));
    g_test_message ("%s", text);
    g_assert_nonnull (strstr (text, part));
    g_assert_cmpuint (record_decodes (path), >=, 1);
    return g_strdup (path);
  }
}

static gboolean
start_h264 (TestServer *server, guint port, const char *size)
{
  g_autoptr (GstElementFactory) encoder = gst_element_factory_find ("openh264enc"),
                                parser = gst_element_factory_find ("h264parse");
  g_autofree char *arguments = g_strdup_printf ("--payload h264 --size %s --fps 15", size);
  if (encoder == NULL || parser == NULL) {
    g_test_skip ("no encoder of H.264 is installed");
    return FALSE;
  }
  return test_server_start (server, RTSP, port, arguments);
}

static void
test_rtsp (void)
{
  TestServer server;
  if (!start_h264 (&server, 0, "320x240"))
    return;
  Line line = open_line (server.uri, "pre-roll=1 post-roll=1");
  test_camera_wait_frames (line.camera, 30);
  ask (&line);
  g_autofree char *path =
    next_clip (&line, "\"format\":\"video/x-h264\",\"width\":320,\"height\":240,\"cut\":null");
  g_assert_nonnull (path);
  g_assert_cmpuint (record_count (line.recorder, "dropped"), ==, 0);
  close_line (&line);
  test_server_kill (&server);
}

static void
test_http (void)
{
  TestServer server;
  if (!test_server_start (&server, HTTP, 0, "--size 160x120"))
    return;
  Line line = open_line (server.uri, "pre-roll=1 post-roll=1");
  test_camera_wait_frames (line.camera, 30);
  ask (&line);
  g_autofree char *path =
    next_clip (&line, "\"format\":\"image/jpeg\",\"width\":160,\"height\":120,\"cut\":null");
  g_assert_nonnull (path);
  close_line (&line);
  test_server_kill (&server);
}

/* Frames that a camera sends late come together, and a clip counts milliseconds: two frames may
 * have one time. No frame is there twice. */
static void
assert_order (GPtrArray *frames)
{
  for (guint i = 1; i < frames->len; i++) {
    GstBuffer *before = frames->pdata[i - 1], *frame = frames->pdata[i];
    GstMapInfo map;
    g_assert_cmpuint (GST_BUFFER_PTS (frame), >=, GST_BUFFER_PTS (before));
    g_assert_true (gst_buffer_map (before, &map, GST_MAP_READ));
    g_assert_true (gst_buffer_get_size (frame) != map.size
                   || gst_buffer_memcmp (frame, 0, map.data, map.size) != 0);
    gst_buffer_unmap (before, &map);
  }
}

/* In the midst of a clip the camera goes. It comes back as it was: the clip goes on. With another
 * picture: the clip ends, the next one has it. */
static void
test_back (gconstpointer same)
{
  TestServer server;
  if (!start_h264 (&server, test_reserve_port (), "320x240"))
    return;
  Line line = open_line (server.uri, "pre-roll=0 post-roll=5");
  test_camera_wait_frames (line.camera, 5);
  ask (&line);
  test_camera_wait_frames (line.camera, 10);
  test_server_kill (&server);
  g_assert_true (start_h264 (&server, server.port, same != NULL ? "320x240" : "160x128"));
  test_camera_wait_frames (line.camera, 20);
  ask (&line);
  g_autofree char *first =
    next_clip (&line, "\"format\":\"video/x-h264\",\"width\":320,\"height\":240,\"cut\":null");
  g_autofree char *second =
    same == NULL
      ? next_clip (&line, "\"format\":\"video/x-h264\",\"width\":160,\"height\":128,\"cut\":null")
      : NULL;
  g_assert_true ((second == NULL) == (same != NULL));
  g_autoptr (GPtrArray) frames = record_read (first);
  assert_order (frames);
  close_line (&line);
  test_server_kill (&server);
}

/* A camera that does not encode. */
static void
test_raw (void)
{
  Line line = open_line ("test://?pattern=ball", "pre-roll=0 post-roll=1");
  test_camera_wait_frames (line.camera, 5);
  ask (&line);
  g_autofree char *path =
    next_clip (&line, "\"format\":\"image/jpeg\",\"width\":32,\"height\":24,\"cut\":null");
  g_assert_nonnull (path);
  close_line (&line);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slrecord/camera/rtsp", test_rtsp);
  g_test_add_func ("/slrecord/camera/http", test_http);
  g_test_add_data_func ("/slrecord/camera/back/same", GINT_TO_POINTER (1), test_back);
  g_test_add_data_func ("/slrecord/camera/back/other", NULL, test_back);
  g_test_add_func ("/slrecord/camera/raw", test_raw);
  return test_elements_run ();
}
