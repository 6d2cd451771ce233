/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/remote/pool.h"

#include <mosquitto.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "plugins/elements.h"

#define PICTURE_BYTES 48

const char *test_sightline;

void
test_pool_init (int *argc, char ***argv)
{
  test_elements_init (argc, argv);
  g_assert_cmpint (*argc, ==, 2);
  test_sightline = (*argv)[1];
  gst_element_register (NULL, "slremote", GST_RANK_NONE, sl_remote_get_type ());
  mosquitto_lib_init ();
}

int
test_pool_run (void)
{
  const int status = test_elements_run ();
  mosquitto_lib_cleanup ();
  return status;
}

static char *
in_folder (const TestPool *pool, const char *name)
{
  return g_build_filename (pool->folder, name, NULL);
}

void
test_start_broker (TestPool *pool)
{
  const char *argv[] = { "mosquitto", "-c", pool->config, NULL };
  pool->broker = test_spawn (argv, NULL);
  test_wait_listening (pool->port);
}

/* Without a broker's program the test is skipped. */
gboolean
test_pool_open (TestPool *pool, const char *more)
{
  g_autofree char *program = g_find_program_in_path ("mosquitto");
  if (program == NULL) {
    g_test_skip ("needs the program mosquitto");
    return FALSE;
  }
  *pool = (TestPool){ .port = test_reserve_port () };
  pool->folder = g_dir_make_tmp ("sl-remote-XXXXXX", NULL);
  pool->config = in_folder (pool, "mosquitto.conf");
  pool->model = test_colour_model (SL_DTYPE_U8);
  g_autofree char *config =
    g_strdup_printf ("listener %u 127.0.0.1\nuser root\n%s\n", pool->port, more);
  g_assert_true (g_file_set_contents (pool->config, config, -1, NULL));
  test_start_broker (pool);
  return TRUE;
}

void
test_pool_close (TestPool *pool)
{
  static const char *const names[] = { "mosquitto.conf", "passwords", "access", "secret" };
  test_kill (&pool->broker, SIGKILL);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *path = in_folder (pool, names[i]);
    remove (path);
  }
  remove (pool->folder);
  test_remove_file (pool->model);
  g_free (pool->folder);
  g_free (pool->config);
  g_free (pool->model);
}

GPid
test_serve_at (const char *location, const char *model, const char *option, const char *value)
{
  g_autofree char *named = g_strconcat ("toy=", model, NULL);
  const char *argv[] = {
    test_sightline, "serve", named, "--location", location, option, value, NULL
  };
  return test_spawn (argv, NULL);
}

GPid
test_serve (const TestPool *pool, const char *option, const char *value)
{
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool->port);
  return test_serve_at (location, pool->model, option, value);
}

/* What `sightline serve` says before it gives up. */
char *
test_serve_in_vain (const char *location, const char *model)
{
  g_autofree char *named = g_strconcat ("toy=", model, NULL);
  const char *argv[] = { test_sightline, "serve", named, "--location", location, NULL };
  char *said = NULL;
  gint status = 0;
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL,
                               NULL, &said, &status, NULL));
  g_assert_cmpint (WEXITSTATUS (status), ==, 1);
  return said;
}

/* Until SIGCONT. */
void
test_stop (GPid process)
{
  int status;
  g_assert_cmpint (kill (process, SIGSTOP), ==, 0);
  g_assert_cmpint (waitpid (process, &status, WUNTRACED), ==, process);
  g_assert_true (WIFSTOPPED (status));
}

/* @ready: the element has to start. */
TestCamera
test_camera_open_at (const char *location, const char *more, gboolean ready)
{
  TestCamera camera = { NULL };
  g_autofree char *launch = g_strdup_printf ("slremote location=%s %s", location, more);
  camera.element = gst_parse_launch (launch, NULL);
  g_assert_nonnull (camera.element);
  gst_object_ref_sink (camera.element);
  camera.bus = test_watch (camera.element);
  g_assert_true (
    (gst_element_set_state (camera.element, GST_STATE_READY) != GST_STATE_CHANGE_FAILURE) == ready);
  if (ready) {
    camera.harness = gst_harness_new_with_element (camera.element, "sink", "src");
    gst_harness_set_live (camera.harness, FALSE);
    gst_harness_set_src_caps_str (camera.harness, TEST_PICTURE_CAPS);
  }
  return camera;
}

TestCamera
test_camera_open (const TestPool *pool, const char *more)
{
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models/toy", pool->port),
                  *all = g_strconcat ("contract-timeout=100000 deadline=60000 ", more, NULL);
  return test_camera_open_at (location, all, TRUE);
}

void
test_camera_close (TestCamera *camera)
{
  gst_element_set_state (camera->element, GST_STATE_NULL);
  if (camera->harness != NULL)
    gst_harness_teardown (camera->harness);
  gst_element_set_bus (camera->element, NULL); /* whose messages hold the element that holds it */
  gst_object_unref (camera->bus);
  gst_object_unref (camera->element);
}

guint64
test_camera_count (const TestCamera *camera, const char *property)
{
  guint64 n;
  g_object_get (camera->element, property, &n, NULL);
  return n;
}

/* The model gives the mean of each channel: all pixels alike, it is that value, wherever it is
 * computed. */
void
test_camera_push (const TestCamera *camera, guint i)
{
  guint8 picture[PICTURE_BYTES];
  for (guint k = 0; k < PICTURE_BYTES; k++)
    picture[k] = (guint8) (i + 3 * (k % 3));
  GstBuffer *buffer = test_tensor_buffer (picture, sizeof picture);
  GST_BUFFER_PTS (buffer) = i * GST_MSECOND;
  g_assert_cmpint (gst_harness_push (camera->harness, buffer), ==, GST_FLOW_OK);
}

void
test_camera_pull (const TestCamera *camera, guint i)
{
  GstMapInfo map;
  g_autoptr (GstBuffer) buffer = gst_harness_pull (camera->harness);
  g_assert_nonnull (buffer);
  g_assert_cmpuint (GST_BUFFER_PTS (buffer), ==, i * GST_MSECOND);
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
  g_assert_cmpuint (map.size, ==, 3);
  for (guint c = 0; c < 3; c++)
    g_assert_cmpuint (map.data[c], ==, (guint8) (i + 3 * c));
  gst_buffer_unmap (buffer, &map);
}

void
test_camera_push_and_pull (const TestCamera *camera, guint from, guint to)
{
  for (guint i = from; i < to; i++) {
    test_camera_push (camera, i);
    test_camera_pull (camera, i);
  }
}

void
test_camera_wait_count (const TestCamera *camera, const char *property, guint64 least)
{
  while (test_camera_count (camera, property) < least) {
    g_usleep (10000);
  }
}

static guint
n_workers (const TestCamera *camera)
{
  guint workers;
  g_object_get (camera->element, "workers", &workers, NULL);
  return workers;
}

void
test_camera_wait_workers (const TestCamera *camera, guint n)
{
  while (n_workers (camera) != n) {
    g_usleep (10000);
  }
}

char *
test_wait_text (GstBus *bus, GstMessageType type, const char *fragment)
{
  for (;;) {
    g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, type);
    g_autoptr (GError) error = NULL;
    g_assert_nonnull (message);
    if (type == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, NULL);
    else
      gst_message_parse_warning (message, &error, NULL);
    if (strstr (error->message, fragment) != NULL)
      return g_strdup (error->message);
  }
}
