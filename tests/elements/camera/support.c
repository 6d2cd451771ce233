/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Servers and pipelines for the tests of slcamera. Every wait has an end, and says what it got
 * instead.
 */
#include "tests/elements/camera/support.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/elements/process.h"
#include "tests/support/sanitized.h"

/* It takes 2 s at most; whatever a camera may be waiting for lasts 20 s and more. Between them,
 * since other processes run, too; under valgrind, what is being parsed meanwhile takes seconds by
 * itself. */
#define STOP_S 10.0
#define SLOW_STOP_S 19.0

#ifdef TEST_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#define SANITIZED TRUE

/*
 * LeakSanitizer's own tracer crashes now and then, at exit, in programs that had encrypted
 * connections. Leaks of these programs are valgrind's to find.
 */
int
__lsan_is_turned_off (void)
{
  return 1;
}
#else
#define SANITIZED FALSE
#endif

gboolean
test_is_slow (void)
{
  const char *preload = g_getenv ("LD_PRELOAD");
  return SANITIZED || (preload != NULL && strstr (preload, "vgpreload") != NULL);
}

guint64
test_memory (const char *field)
{
  g_autofree char *text = NULL;
  g_assert_true (g_file_get_contents ("/proc/self/status", &text, NULL, NULL));
  const char *line = strstr (text, field);
  g_assert_nonnull (line);
  return g_ascii_strtoull (line + strlen (field), NULL, 10);
}

void
test_reset_peak (void)
{
  FILE *file = fopen ("/proc/self/clear_refs", "w");
  if (file == NULL || fputs ("5", file) < 0)
    g_test_message ("the peak is that of the whole process");
  if (file != NULL)
    fclose (file);
}

void
test_assert_grown (guint64 before)
{
  const guint64 peak = test_memory ("VmHWM:"), grown = peak - MIN (peak, before);
  g_test_message ("grew by %" G_GUINT64_FORMAT " KiB at most", grown);
  g_assert_cmpuint (
    grown, <, (test_is_slow () ? 1200 : 300) * 1024); /* sanitizers keep freed memory for a while */
}

/* GStreamer 1.22 complains of these, and goes on: the task inside rtspsrc of the first, when it is
 * stopped before the server has answered; a bin of the second, when its decoder is linked while its
 * state changes; the funnel of an RTP bin of the third, when two streams begin at once. */
static gboolean
is_fatal (const char *domain, GLogLevelFlags level, const char *text, gpointer data)
{
  return strstr (text, "seqnum != GST_SEQNUM_INVALID") == NULL
         && strstr (text, "loop detected in the graph of bin") == NULL
         && (strstr (text, "Sticky event misordering") == NULL || strstr (text, "<funnel") == NULL);
}

static void
log_gstreamer (const char *domain, GLogLevelFlags level, const char *text, gpointer data)
{
  if (is_fatal (domain, level, text, data))
    g_log_default_handler (domain, level, text, data);
}

void
test_forgive_gstreamer (void)
{
  g_test_log_set_fatal_handler (is_fatal, NULL);
  g_log_set_handler ("GStreamer", G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_FLAG_FATAL,
                     log_gstreamer, NULL);
}

gboolean
test_server_start (TestServer *server, const char *program, guint port, const char *arguments)
{
  const char *path = g_getenv (program);
  if (path == NULL || *path == '\0') {
    g_test_skip ("this test's server was not built");
    return FALSE;
  }
  test_forgive_gstreamer ();
  g_autofree char *command = g_strdup_printf ("%s --port %u %s", path, port, arguments);
  g_auto (GStrv) argv = g_strsplit (command, " ", -1);
  g_autoptr (GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_subprocess_launcher_set_child_setup (launcher, test_die_with_parent, NULL, NULL);
  g_subprocess_launcher_unsetenv (launcher, "LD_PRELOAD");
  g_autoptr (GError) error = NULL;
  server->process = g_subprocess_launcher_spawnv (launcher, (const gchar *const *) argv, &error);
  g_assert_no_error (error);
  g_autoptr (GDataInputStream) out =
    g_data_input_stream_new (g_subprocess_get_stdout_pipe (server->process));
  server->uri = g_data_input_stream_read_line_utf8 (out, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (server->uri);
  g_autoptr (GUri) uri = g_uri_parse (server->uri, G_URI_FLAGS_NONE, NULL);
  server->port = (guint) g_uri_get_port (uri);
  return TRUE;
}

void
test_server_kill (TestServer *server)
{
  g_subprocess_force_exit (server->process);
  g_subprocess_wait (server->process, NULL, NULL);
  g_clear_object (&server->process);
  g_clear_pointer (&server->uri, g_free);
}

void
test_server_signal (TestServer *server, gint signal)
{
  g_subprocess_send_signal (server->process, signal);
}

static GstPadProbeReturn
record (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  TestCamera *camera = data;
  g_mutex_lock (&camera->lock);
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    const GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
    const GstClockTime pts = GST_BUFFER_PTS (buffer);
    camera->backwards |=
      !GST_CLOCK_TIME_IS_VALID (pts) || (camera->frames > 0 && pts <= camera->last);
    camera->first = camera->frames == 0 ? pts : camera->first;
    camera->last = pts;
    camera->disconts += GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT) ? 1 : 0;
    camera->frames++;
    g_cond_broadcast (&camera->cond);
  } else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_CAPS) {
    GstCaps *caps;
    gst_event_parse_caps (GST_PAD_PROBE_INFO_EVENT (info), &caps);
    gst_structure_get (gst_caps_get_structure (caps, 0), "width", G_TYPE_INT, &camera->width,
                       "height", G_TYPE_INT, &camera->height, NULL);
    camera->caps_changes++;
  }
  g_mutex_unlock (&camera->lock);
  return GST_PAD_PROBE_OK;
}

/* Called by the thread that posts. */
static GstBusSyncReply
note_error (GstBus *bus, GstMessage *message, gpointer data)
{
  TestCamera *camera = data;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    g_autoptr (GError) error = NULL;
    gst_message_parse_error (message, &error, NULL);
    g_mutex_lock (&camera->lock);
    if (camera->error == NULL)
      camera->error = g_strdup (error->message);
    g_cond_broadcast (&camera->cond);
    g_mutex_unlock (&camera->lock);
  }
  return GST_BUS_PASS;
}

TestCamera *
test_camera_new (const char *uri, const char *properties, const char *downstream)
{
  TestCamera *camera = g_new0 (TestCamera, 1);
  g_mutex_init (&camera->lock);
  g_cond_init (&camera->cond);
  g_autofree char *launch = g_strdup_printf (
    "slcamera name=camera connect-timeout=60000 %s ! %s ! fakesink name=sink",
    properties != NULL ? properties : "", downstream != NULL ? downstream : "identity");
  g_autoptr (GError) error = NULL;
  camera->pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  camera->camera = gst_bin_get_by_name (GST_BIN (camera->pipeline), "camera");
  g_object_set (camera->camera, "uri", uri, NULL);
  camera->bus = gst_element_get_bus (camera->pipeline);
  gst_bus_set_sync_handler (camera->bus, note_error, camera, NULL);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (camera->pipeline), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, record,
                     camera, NULL);
  return camera;
}

void
test_camera_play (TestCamera *camera, GstState state)
{
  g_assert_cmpint (gst_element_set_state (camera->pipeline, state), !=, GST_STATE_CHANGE_FAILURE);
}

static GstStructure *
wait_for (TestCamera *camera, const char *state, const char *reason)
{
  for (;;) {
    g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (
      camera->bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
    const GstStructure *structure = gst_message_get_structure (message);
    g_autofree char *text = structure != NULL ? gst_structure_to_string (structure) : NULL;
    g_test_message ("%s", text != NULL ? text : "end of stream");
    if (structure != NULL && gst_structure_has_name (structure, "slcamera")
        && g_str_equal (gst_structure_get_string (structure, "state"), state)
        && strstr (gst_structure_get_string (structure, "reason"), reason) != NULL)
      return gst_structure_copy (structure);
  }
}

GstStructure *
test_camera_wait (TestCamera *camera, const char *state)
{
  return wait_for (camera, state, "");
}

void
test_camera_expect (TestCamera *camera, const char *state, const char *fragment)
{
  g_autoptr (GstStructure) structure = wait_for (camera, state, fragment);
  g_test_message ("%s: %s", state, gst_structure_get_string (structure, "reason"));
}

void
test_camera_wait_frames (TestCamera *camera, guint n)
{
  g_mutex_lock (&camera->lock);
  const guint goal = camera->frames + n;
  while (camera->frames < goal && camera->error == NULL)
    g_cond_wait (&camera->cond, &camera->lock);
  if (camera->frames < goal)
    g_error ("%u of %u frames came, then: %s", camera->frames, goal, camera->error);
  g_mutex_unlock (&camera->lock);
}

void
test_camera_wait_text (TestCamera *camera, GstMessageType type, const char *fragment)
{
  for (;;) {
    g_autoptr (GstMessage) message =
      gst_bus_timed_pop_filtered (camera->bus, GST_CLOCK_TIME_NONE, type);
    g_autoptr (GError) error = NULL;
    if (type == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, NULL);
    else if (type == GST_MESSAGE_WARNING)
      gst_message_parse_warning (message, &error, NULL);
    else
      gst_message_parse_info (message, &error, NULL);
    g_test_message ("%s", error->message);
    if (strstr (error->message, fragment) != NULL
        || g_pattern_match_simple (fragment, error->message))
      return;
    if (type == GST_MESSAGE_ERROR)
      g_error ("\"%s\" is not in the message \"%s\"", fragment, error->message);
  }
}

void
test_camera_wait_eos (TestCamera *camera)
{
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (camera->bus, GST_CLOCK_TIME_NONE,
                                                               GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
}

void
test_camera_stop (TestCamera *camera)
{
  g_autoptr (GTimer) timer = g_timer_new ();
  gst_element_set_state (camera->pipeline, GST_STATE_NULL);
  const gdouble seconds = g_timer_elapsed (timer, NULL);
  g_test_message ("stopped in %.3f s", seconds);
  g_assert_cmpfloat (seconds, <, test_is_slow () ? SLOW_STOP_S : STOP_S);
}

void
test_camera_free (TestCamera *camera)
{
  test_camera_stop (camera);
  gst_bus_set_sync_handler (camera->bus, NULL, NULL, NULL);
  gst_object_unref (camera->bus);
  gst_object_unref (camera->camera);
  gst_object_unref (camera->pipeline);
  g_mutex_clear (&camera->lock);
  g_cond_clear (&camera->cond);
  g_free (camera->error);
  g_free (camera);
}
