/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slremote and `sightline serve` through a mosquitto of the test's own: what comes out is compared with slinfer's to the bit while workers and the broker are
 * killed, and strangers send what they like. argv: the program sightline.
 */
#include "config.h"

#include <gio/gio.h>
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "plugins/elements.h"
#include "plugins/meta/frame_meta.h"
#include "remote/message.h"
#include "tests/elements/process.h"
#include "tests/elements/support.h"

#define PATIENCE (100 * G_USEC_PER_SEC)
#define PICTURE_BYTES 48
#define PICTURE_CAPS "other/tensors,format=static,num_tensors=1,dimensions=3:4:4:1,types=uint8,framerate=25/1"

static const char *sightline;

typedef struct
{
  char *folder, *config, *model;
  guint port;
  GPid broker;
} Pool;

static char *
in_folder (const Pool *pool, const char *name)
{
  return g_build_filename (pool->folder, name, NULL);
}

static void
start_broker (Pool *pool)
{
  const char *argv[] = { "mosquitto", "-c", pool->config, NULL };
  pool->broker = test_spawn (argv, NULL);
  test_wait_listening (pool->port);
}

/* Without a broker's program the test is skipped. */
static gboolean
open_pool (Pool *pool, const char *more)
{
  g_autofree char *program = g_find_program_in_path ("mosquitto");
  if (program == NULL) {
    g_test_skip ("needs the program mosquitto");
    return FALSE;
  }
  *pool = (Pool){ .port = test_reserve_port () };
  pool->folder = g_dir_make_tmp ("sl-remote-XXXXXX", NULL);
  pool->config = in_folder (pool, "mosquitto.conf");
  pool->model = test_colour_model (SL_DTYPE_U8);
  g_autofree char *config = g_strdup_printf ("listener %u 127.0.0.1\nuser root\n%s\n", pool->port, more);
  g_assert_true (g_file_set_contents (pool->config, config, -1, NULL));
  start_broker (pool);
  return TRUE;
}

static void
close_pool (Pool *pool)
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

static GPid
serve_at (const char *location, const char *model, const char *option, const char *value)
{
  g_autofree char *named = g_strconcat ("toy=", model, NULL);
  const char *argv[] = { sightline, "serve", named, "--location", location, option, value, NULL };
  return test_spawn (argv, NULL);
}

static GPid
serve (const Pool *pool, const char *option, const char *value)
{
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool->port);
  return serve_at (location, pool->model, option, value);
}

/* What `sightline serve` says before it gives up. */
static char *
serve_in_vain (const char *location, const char *model)
{
  g_autofree char *named = g_strconcat ("toy=", model, NULL);
  const char *argv[] = { sightline, "serve", named, "--location", location, NULL };
  char *said = NULL;
  gint status = 0;
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &said, &status, NULL));
  g_assert_cmpint (WEXITSTATUS (status), ==, 1);
  return said;
}

/* Until SIGCONT. */
static void
stop (GPid process)
{
  int status;
  g_assert_cmpint (kill (process, SIGSTOP), ==, 0);
  g_assert_cmpint (waitpid (process, &status, WUNTRACED), ==, process);
  g_assert_true (WIFSTOPPED (status));
}

/* A camera: slremote in a harness. */
typedef struct
{
  GstHarness *harness;
  GstBus *bus;
  GstElement *element;
} Camera;

/* @ready: the element has to start. */
static Camera
open_camera_at (const char *location, const char *more, gboolean ready)
{
  Camera camera = { NULL };
  g_autofree char *launch = g_strdup_printf ("slremote location=%s %s", location, more);
  camera.element = gst_parse_launch (launch, NULL);
  g_assert_nonnull (camera.element);
  gst_object_ref_sink (camera.element);
  camera.bus = test_watch (camera.element);
  g_assert_true ((gst_element_set_state (camera.element, GST_STATE_READY) != GST_STATE_CHANGE_FAILURE) == ready);
  if (ready) {
    camera.harness = gst_harness_new_with_element (camera.element, "sink", "src");
    gst_harness_set_live (camera.harness, FALSE);
    gst_harness_set_src_caps_str (camera.harness, PICTURE_CAPS);
  }
  return camera;
}

static Camera
open_camera (const Pool *pool, const char *more)
{
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models/toy", pool->port),
                  *all = g_strconcat ("contract-timeout=100000 deadline=60000 ", more, NULL);
  return open_camera_at (location, all, TRUE);
}

static void
close_camera (Camera *camera)
{
  gst_element_set_state (camera->element, GST_STATE_NULL);
  if (camera->harness != NULL)
    gst_harness_teardown (camera->harness);
  gst_element_set_bus (camera->element, NULL); /* whose messages hold the element that holds it */
  gst_object_unref (camera->bus);
  gst_object_unref (camera->element);
}

static guint64
count (const Camera *camera, const char *property)
{
  guint64 n;
  g_object_get (camera->element, property, &n, NULL);
  return n;
}

/* The model gives the mean of each channel: all pixels alike, it is that value, whoever computes it. */
static void
push (const Camera *camera, guint i)
{
  guint8 picture[PICTURE_BYTES];
  for (guint k = 0; k < PICTURE_BYTES; k++)
    picture[k] = (guint8) (i + 3 * (k % 3));
  GstBuffer *buffer = test_tensor_buffer (picture, sizeof picture);
  GST_BUFFER_PTS (buffer) = i * GST_MSECOND;
  g_assert_cmpint (gst_harness_push (camera->harness, buffer), ==, GST_FLOW_OK);
}

static void
pull (const Camera *camera, guint i)
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

static void
push_and_pull (const Camera *camera, guint from, guint to)
{
  for (guint i = from; i < to; i++) {
    push (camera, i);
    pull (camera, i);
  }
}

static void
wait_for_count (const Camera *camera, const char *property, guint64 least)
{
  const gint64 until = g_get_monotonic_time () + PATIENCE;
  while (count (camera, property) < least) {
    g_assert_cmpint (g_get_monotonic_time (), <, until);
    g_usleep (10000);
  }
}

static guint
n_workers (const Camera *camera)
{
  guint workers;
  g_object_get (camera->element, "workers", &workers, NULL);
  return workers;
}

static void
wait_for_workers (const Camera *camera, guint n)
{
  const gint64 until = g_get_monotonic_time () + PATIENCE;
  while (n_workers (camera) != n) {
    g_assert_cmpint (g_get_monotonic_time (), <, until);
    g_usleep (10000);
  }
}

/* Real pixels through a real model, in slinfer and in slremote: the same bytes. */
static GstBuffer *
run_line (const char *element)
{
  const guint8 colour[3] = { 200, 60, 20 };
  const char *caps = "video/x-raw,format=RGB,width=12,height=10,framerate=25/1";
  g_autofree char *launch = g_strdup_printf ("slnormalize ! %s", element);
  return test_line_run (launch, NULL, caps, test_frame (caps, colour, 0));
}

static void
test_same_as_slinfer (void)
{
  Pool pool;
  GstMapInfo here, there;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  GPid worker = serve (&pool, "--name", "w1");
  g_autofree char *local = g_strdup_printf ("slinfer model=%s", pool.model),
                  *remote =
                    g_strdup_printf ("slremote location=mqtt://127.0.0.1:%u/models/toy contract-timeout=100000 deadline=60000", pool.port);
  g_autoptr (GstBuffer) expected = run_line (local), got = run_line (remote);
  g_assert_true (gst_buffer_map (expected, &here, GST_MAP_READ) && gst_buffer_map (got, &there, GST_MAP_READ));
  g_assert_cmpmem (here.data, here.size, there.data, there.size);
  gst_buffer_unmap (expected, &here);
  gst_buffer_unmap (got, &there);
  Camera camera = open_camera (&pool, "window=8");
  for (guint i = 0; i < 40; i++)
    push (&camera, i);
  g_autoptr (GstQuery) drain = gst_query_new_drain (); /* which is answered behind the frames */
  gst_pad_peer_query (camera.harness->srcpad, drain);
  g_assert_cmpuint (gst_harness_buffers_in_queue (camera.harness), ==, 40);
  for (guint i = 0; i < 40; i++)
    pull (&camera, i);
  g_autofree char *name = NULL;
  g_object_get (camera.element, "worker", &name, NULL);
  g_assert_cmpstr (name, ==, "w1");
  g_assert_cmpuint (count (&camera, "answered"), ==, 40);
  g_assert_cmpuint (count (&camera, "lost"), ==, 0);
  close_camera (&camera);
  test_kill (&worker, SIGKILL);
  close_pool (&pool);
}

static void
go_live (const Camera *camera)
{
  gst_harness_set_live (camera->harness, TRUE);
  gst_harness_push_event (camera->harness, gst_event_new_stream_start ("live"));
  gst_harness_set_src_caps_str (camera->harness, PICTURE_CAPS);
}

/* Frames that come at their own pace, of which one is on its way at a time: the newest is sent, and none waits. */
static void
test_live (void)
{
  Pool pool;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  GPid worker = serve (&pool, NULL, NULL);
  Camera camera = open_camera (&pool, "window=1");
  push_and_pull (&camera, 0, 1);
  go_live (&camera);
  stop (worker);
  for (guint i = 1; i < 20; i++)
    push (&camera, i);
  g_assert_cmpuint (count (&camera, "dropped"), ==, 17);
  kill (worker, SIGCONT);
  pull (&camera, 1);
  pull (&camera, 19);
  close_camera (&camera);
  test_kill (&worker, SIGKILL);
  close_pool (&pool);
}

/* Live frames without a broker: each that a newer one displaces passes, without predictions. */
static void
test_live_offline (void)
{
  Pool pool;
  gboolean connected = TRUE;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  GPid worker = serve (&pool, NULL, NULL);
  Camera camera = open_camera (&pool, "");
  push_and_pull (&camera, 0, 1);
  go_live (&camera);
  test_kill (&pool.broker, SIGKILL);
  for (const gint64 until = g_get_monotonic_time () + PATIENCE; connected; g_usleep (1000)) {
    g_assert_cmpint (g_get_monotonic_time (), <, until);
    g_object_get (camera.element, "connected", &connected, NULL);
  }
  for (guint i = 1; i <= 10; i++)
    push (&camera, i);
  g_assert_cmpuint (count (&camera, "lost"), ==, 9);
  g_assert_cmpuint (count (&camera, "dropped"), ==, 0);
  close_camera (&camera);
  test_kill (&worker, SIGKILL);
  close_pool (&pool);
}

/* A connection that takes nothing: what is queued there is neither sent again nor added to, and frames are given up. */
static void
test_stuck_connection (void)
{
  Pool pool;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  GPid worker = serve (&pool, NULL, NULL);
  Camera camera = open_camera (&pool, "window=2 deadline=100");
  stop (pool.broker);
  for (guint i = 0; i < 3; i++) {
    push (&camera, 2 * i);
    push (&camera, 2 * i + 1);
    wait_for_count (&camera, "lost", 2 * i + 2);
  }
  g_assert_cmpuint (count (&camera, "resent"), ==, 0);
  g_assert_cmpuint (count (&camera, "dropped"), ==, 0);
  kill (pool.broker, SIGCONT);
  close_camera (&camera);
  test_kill (&worker, SIGKILL);
  close_pool (&pool);
}

static GstPadProbeReturn
hold_pad (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  return GST_PAD_PROBE_OK;
}

typedef struct
{
  const Camera *camera;
  gint pushed; /* atomic */
} Pusher;

#define HELD_FRAMES 40

static gpointer
push_all (gpointer data)
{
  Pusher *pusher = data;
  for (guint i = 0; i < HELD_FRAMES; i++) {
    push (pusher->camera, i);
    g_atomic_int_inc (&pusher->pushed);
  }
  return NULL;
}

/* Nobody takes frames off the element: of files upstream waits, of live input frames are dropped, and none piles up. With a window of 2 there are 12
 * inside and one in the pad's hand. */
static void
test_held_downstream (void)
{
  Pool pool;
  const gint most = 13;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  GPid worker = serve (&pool, NULL, NULL);
  Camera camera = open_camera (&pool, "window=2");
  Pusher pusher = { .camera = &camera };
  g_autoptr (GstPad) pad = gst_element_get_static_pad (camera.element, "src");
  gulong probe = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, hold_pad, NULL, NULL);
  GThread *thread = g_thread_new ("pusher", push_all, &pusher);
  for (const gint64 until = g_get_monotonic_time () + PATIENCE; g_atomic_int_get (&pusher.pushed) < most; g_usleep (1000))
    g_assert_cmpint (g_get_monotonic_time (), <, until);
  g_usleep (50000);
  g_assert_cmpint (g_atomic_int_get (&pusher.pushed), ==, most);
  gst_pad_remove_probe (pad, probe);
  g_thread_join (thread);
  for (guint i = 0; i < HELD_FRAMES; i++)
    pull (&camera, i);
  g_assert_cmpuint (count (&camera, "dropped"), ==, 0);
  go_live (&camera);
  probe = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, hold_pad, NULL, NULL);
  push_all (&pusher);
  g_assert_cmpuint (count (&camera, "dropped"), >=, (guint) (HELD_FRAMES - most));
  gst_pad_remove_probe (pad, probe);
  close_camera (&camera);
  test_kill (&worker, SIGKILL);
  close_pool (&pool);
}

/* Two cameras with different pictures never get each other's answers. */
static void
test_two_cameras (void)
{
  Pool pool;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  GPid worker = serve (&pool, "--jobs", "2");
  Camera one = open_camera (&pool, "window=8"), two = open_camera (&pool, "window=8");
  for (guint i = 0; i < 60; i++) {
    push (&one, i);
    push (&two, i + 100);
  }
  for (guint i = 0; i < 60; i++) {
    pull (&one, i);
    pull (&two, i + 100);
  }
  close_camera (&one);
  close_camera (&two);
  test_kill (&worker, SIGKILL);
  close_pool (&pool);
}

/* A worker dies with frames, another has the rest; one that ends by SIGTERM leaves none behind. */
static void
test_worker_killed (void)
{
  Pool pool;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  GPid first = serve (&pool, NULL, NULL), second = serve (&pool, NULL, NULL);
  Camera camera = open_camera (&pool, "window=16");
  wait_for_workers (&camera, 2);
  push_and_pull (&camera, 0, 5);
  stop (first); /* what it is given now it never answers */
  for (guint i = 5; i < 15; i++)
    push (&camera, i);
  test_kill (&first, SIGKILL);
  for (guint i = 5; i < 15; i++)
    pull (&camera, i);
  wait_for_workers (&camera, 1);
  g_assert_cmpuint (count (&camera, "answered"), ==, 15);
  g_assert_cmpuint (count (&camera, "lost"), ==, 0);
  for (guint i = 15; i < 25; i++)
    push (&camera, i);
  g_assert_cmpint (test_kill (&second, SIGTERM), ==, 0);
  GPid third = serve (&pool, NULL, NULL);
  for (guint i = 15; i < 25; i++)
    pull (&camera, i);
  close_camera (&camera);
  test_kill (&third, SIGKILL);
  close_pool (&pool);
}

/* A broker that comes back has forgotten all; both sides come back to it. */
static void
test_broker_restarts (void)
{
  Pool pool;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  GPid worker = serve (&pool, NULL, NULL);
  Camera camera = open_camera (&pool, "");
  push_and_pull (&camera, 0, 5);
  test_kill (&pool.broker, SIGKILL);
  push (&camera, 5); /* it waits for the broker; a second one would wait for room */
  start_broker (&pool);
  pull (&camera, 5);
  push_and_pull (&camera, 6, 10);
  g_assert_cmpuint (count (&camera, "lost"), ==, 0);
  close_camera (&camera);
  test_kill (&worker, SIGKILL);
  close_pool (&pool);
}

static char *
wait_for_text (GstBus *bus, GstMessageType type, const char *fragment)
{
  for (;;) {
    g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (bus, PATIENCE * GST_USECOND, type);
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

/* Nobody works: the model is loaded here, where there is a file; a file of another model is refused with expected and got. */
static void
test_fallback (void)
{
  Pool pool;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  GPid worker = serve (&pool, NULL, NULL);
  g_autofree char *other = test_pair_model (), *own = g_strdup_printf ("fallback=%s", pool.model),
                  *wrong = g_strdup_printf ("fallback=%s", other);
  Camera camera = open_camera (&pool, own);
  push_and_pull (&camera, 0, 3);
  g_assert_cmpuint (count (&camera, "local"), ==, 0);
  test_kill (&worker, SIGKILL);
  wait_for_workers (&camera, 0);
  push_and_pull (&camera, 3, 6);
  g_assert_cmpuint (count (&camera, "local"), ==, 3);
  g_autofree char *told = wait_for_text (camera.bus, GST_MESSAGE_WARNING, "no worker answers for");
  g_assert_nonnull (strstr (told, "frames are computed here from now on, and are counted in lost"));
  worker = serve (&pool, NULL, NULL);
  wait_for_workers (&camera, 1);
  for (guint i = 6; count (&camera, "answered") < 6; i++)
    push_and_pull (&camera, i, i + 1);
  close_camera (&camera);
  camera = open_camera (&pool, wrong);
  test_kill (&worker, SIGKILL);
  wait_for_workers (&camera, 0);
  push (&camera, 0);
  g_autofree char *text = wait_for_text (camera.bus, GST_MESSAGE_WARNING, "fallback: ");
  g_assert_nonnull (strstr (text, "expected the model that the workers serve, uint8[1,4,4,3]"));
  g_assert_nonnull (strstr (text, ", got uint8[1,4,4,3]"));
  close_camera (&camera);
  test_kill (&pool.broker, SIGKILL);
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models/toy", pool.port),
                  *late = g_strconcat (own, " contract-timeout=1", NULL);
  camera = open_camera_at (location, late, TRUE); /* not even a broker */
  push_and_pull (&camera, 0, 3);
  g_assert_cmpuint (count (&camera, "local"), ==, 3);
  close_camera (&camera);
  test_remove_file (other);
  close_pool (&pool);
}

/* Without a fallback a frame passes once, however many tensors are made of it, and a message says so. */
static void
test_lost (gconstpointer tiles)
{
  Pool pool;
  const guint8 colour[3] = { 200, 60, 20 };
  const char *caps = "video/x-raw,format=RGB,width=4,height=4,framerate=25/1";
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  GPid worker = serve (&pool, NULL, NULL);
  g_autofree char *launch = g_strdup_printf (
    "slnormalize tiles=%s ! slremote name=r location=mqtt://127.0.0.1:%u/models/toy contract-timeout=100000 deadline=300 ! "
    "slpostprocess decoder=labels",
    (const char *) tiles, pool.port);
  TestLine line = test_line_open (launch, "video/x-raw", caps);
  test_kill (&worker, SIGKILL);
  for (guint i = 0; i < 2; i++) {
    g_assert_cmpint (gst_harness_push (line.harness, test_frame (caps, colour, i)), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
    g_assert_nonnull (out);
    g_assert_cmpuint (gst_buffer_get_size (out), ==, 48);
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, i);
    g_assert_cmpint (sl_buffer_get_frame_meta (out)->content, ==, SL_FRAME_SKIPPED);
  }
  g_autofree char *text = wait_for_text (line.bus, GST_MESSAGE_WARNING, "no worker answers for");
  g_assert_nonnull (strstr (text, "frames pass without predictions from now on, and are counted in lost"));
  test_line_close (line.harness, line.bus);
  close_pool (&pool);
}

/* What cannot start says why. */
static void
test_start_refused (void)
{
  Pool pool;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  g_autofree char *here = g_strdup_printf ("mqtt://127.0.0.1:%u/models/toy", pool.port),
                  *spaced = g_strdup_printf ("mqtt://127.0.0.1:%u/models/my%%20toy", pool.port),
                  *flat = g_strdup_printf ("mqtt://127.0.0.1:%u/toy", pool.port);
  g_autoptr (GSocketListener) listener = g_socket_listener_new (); /* which says nothing */
  const guint silent_port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  g_autofree char *silent = g_strdup_printf ("mqtt://127.0.0.1:%u/models/toy", silent_port),
                  *silence = g_strdup_printf (
                    "models/toy: the broker at 127.0.0.1:%u does not answer: correct the location, or raise contract-timeout", silent_port);
  const struct
  {
    const char *location, *more, *expected;
  } rows[] = {
    { silent, "contract-timeout=300", silence },
    { here, "username=a+b", "user name \"a+b\": expected one without +, # and /, because it is a level of the topic that answers come to" },
    { spaced, "contract-timeout=2000",
      "models/my toy: the broker has no contract of this model: start a worker, sightline serve my_toy=FILE" },
    { flat, "", "topic \"toy\": expected the prefix that the workers serve under and a model's name" },
    { "ftp://a/b", "", "location=ftp://a/b: expected mqtt://[user[:password]@]host[:port]/topic, such as mqtt://localhost/models/ssd" },
    { here, "password=a password-file=b", "password and password-file are both set" },
    { here, "ca-file=/none", "ca-file, certificate and private-key are for mqtts://" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Camera camera = open_camera_at (rows[i].location, rows[i].more, FALSE);
    g_autofree char *text = wait_for_text (camera.bus, GST_MESSAGE_ERROR, rows[i].expected);
    g_assert_nonnull (text);
    close_camera (&camera);
  }
  close_pool (&pool);
}

/* A flush takes frames away, and no sticky events behind them. */
static void
test_flush (void)
{
  Pool pool;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  GPid worker = serve (&pool, NULL, NULL);
  Camera camera = open_camera (&pool, "window=2");
  push_and_pull (&camera, 0, 1);
  stop (worker);
  push (&camera, 1);
  gst_harness_push_event (camera.harness, gst_event_new_stream_start ("second"));
  gst_harness_set_src_caps_str (camera.harness, PICTURE_CAPS);
  gst_harness_push_event (camera.harness, gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "kept", NULL)));
  gst_harness_push_event (camera.harness, gst_event_new_flush_start ());
  gst_harness_push_event (camera.harness, gst_event_new_flush_stop (TRUE));
  g_autoptr (GstPad) pad = gst_element_get_static_pad (camera.element, "src");
  g_autoptr (GstEvent) start = gst_pad_get_sticky_event (pad, GST_EVENT_STREAM_START, 0),
                       tag = gst_pad_get_sticky_event (pad, GST_EVENT_TAG, 0);
  const char *id = NULL;
  g_assert_nonnull (start);
  gst_event_parse_stream_start (start, &id);
  g_assert_cmpstr (id, ==, "second");
  g_assert_nonnull (tag);
  kill (worker, SIGCONT);
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (camera.harness, gst_event_new_segment (&segment));
  push_and_pull (&camera, 2, 4);
  close_camera (&camera);
  test_kill (&worker, SIGKILL);
  close_pool (&pool);
}

/* A stream after the end of another, without a flush between them, also where the end has yet to go out. */
static void
test_second_stream (void)
{
  Pool pool;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  GPid worker = serve (&pool, NULL, NULL);
  Camera camera = open_camera (&pool, "window=2");
  push_and_pull (&camera, 0, 1);
  for (guint i = 1; i < 4; i++) {
    stop (worker);
    push (&camera, i);
    gst_harness_push_event (camera.harness, gst_event_new_eos ());
    gst_harness_push_event (camera.harness, gst_event_new_stream_start ("second"));
    gst_harness_set_src_caps_str (camera.harness, PICTURE_CAPS);
    kill (worker, SIGCONT);
    pull (&camera, i);
    while (gst_harness_events_in_queue (camera.harness) < 3 + 4 * i)
      g_usleep (1000);
    push_and_pull (&camera, 10, 11);
  }
  close_camera (&camera);
  test_kill (&worker, SIGKILL);
  close_pool (&pool);
}

/* Tensors that the workers' model does not take. */
static void
test_contradiction (void)
{
  Pool pool;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  GPid worker = serve (&pool, NULL, NULL);
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models/toy", pool.port);
  Camera camera = open_camera_at (location, "contract-timeout=100000", TRUE);
  gst_harness_set_src_caps_str (camera.harness, "other/tensors,format=static,num_tensors=1,dimensions=3:5:5:1,types=uint8,framerate=25/1");
  g_autofree char *text = wait_for_text (camera.bus, GST_MESSAGE_ERROR, "expected uint8[1,4,4,3]");
  g_assert_nonnull (strstr (text, "got uint8[1,5,5,3]: let slnormalize make the tensor, or correct the caps before slremote"));
  close_camera (&camera);
  /* And a worker whose model is another than that which is served under the name. */
  g_autofree char *other = test_pair_model (), *prefix = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool.port),
                  *said = serve_in_vain (prefix, other);
  g_assert_nonnull (strstr (said, "models/toy/contract: another contract is there: expected uint8[1,4,4,3]"));
  g_assert_nonnull (strstr (said, "or take --replace where all workers get the new model"));
  test_kill (&worker, SIGKILL);
  test_remove_file (other);
  close_pool (&pool);
}

/* Another model takes the name: frames go on, made as it wants them, and none is lost. */
static void
test_replace (void)
{
  Pool pool;
  const guint8 colour[3] = { 200, 60, 20 };
  const char *caps = "video/x-raw,format=RGB,width=12,height=12,framerate=25/1";
  gsize size = 3;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  GPid first = serve (&pool, NULL, NULL);
  g_autofree char *other = test_pair_model (), *prefix = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool.port),
                  *launch = g_strdup_printf ("slnormalize ! slremote location=%s/toy contract-timeout=100000 deadline=60000", prefix);
  TestLine line = test_line_open (launch, NULL, caps);
  GPid second = 0;
  for (guint i = 0; size == 3; i++) {
    g_assert_cmpint (gst_harness_push (line.harness, test_frame (caps, colour, i * GST_MSECOND)), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, i * GST_MSECOND);
    size = gst_buffer_get_size (out);
    if (second == 0)
      second = serve_at (prefix, other, "--replace", NULL);
    g_usleep (5000);
  }
  g_assert_cmpuint (size, ==, 6); /* means and largest values */
  test_assert_no_error (line.bus);
  test_line_close (line.harness, line.bus);
  test_kill (&first, SIGKILL);
  test_kill (&second, SIGKILL);
  test_remove_file (other);
  close_pool (&pool);
}

/* Users and topics as docs/remote.md has them: a camera's user may ask and not announce, a worker's the other way round. */
static void
test_access (void)
{
  Pool pool;
  g_autofree char *tool = g_find_program_in_path ("mosquitto_passwd");
  if (tool == NULL) {
    g_test_skip ("needs the program mosquitto_passwd");
    return;
  }
  g_autofree char *folder = g_dir_make_tmp ("sl-access-XXXXXX", NULL), *passwords = g_build_filename (folder, "passwords", NULL),
                  *root = g_strdup (g_getenv ("SIGHTLINE_SOURCE_ROOT")), *access = g_build_filename (root, "data", "mosquitto.acl", NULL);
  const char *const users[] = { "worker", "camera" };
  for (guint i = 0; i < G_N_ELEMENTS (users); i++) {
    const char *argv[] = { tool, "-b", passwords, users[i], "secret", NULL };
    if (i == 0)
      g_assert_true (g_file_set_contents (passwords, "", 0, NULL));
    g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  }
  g_autofree char *more = g_strdup_printf ("allow_anonymous false\npassword_file %s\nacl_file %s\n", passwords, access);
  if (open_pool (&pool, more)) {
    g_autofree char *to_serve = g_strdup_printf ("mqtt://worker:secret@127.0.0.1:%u/models", pool.port),
                    *right = g_strdup_printf ("mqtt://camera:secret@127.0.0.1:%u/models/toy", pool.port),
                    *wrong = g_strdup_printf ("mqtt://camera:wrong@127.0.0.1:%u/models/toy", pool.port),
                    *as_camera = g_strdup_printf ("mqtt://camera:secret@127.0.0.1:%u/models", pool.port);
    GPid worker = serve_at (to_serve, pool.model, NULL, NULL);
    Camera camera = open_camera_at (right, "contract-timeout=100000 deadline=60000", TRUE);
    push_and_pull (&camera, 0, 5);
    close_camera (&camera);
    camera = open_camera_at (wrong, "contract-timeout=100000", FALSE);
    g_autofree char *text = wait_for_text (camera.bus, GST_MESSAGE_ERROR, "check username and password");
    g_assert_null (strstr (text, "wrong"));
    close_camera (&camera);
    g_autofree char *said = serve_in_vain (as_camera, pool.model);
    g_assert_nonnull (strstr (said, "the broker does not let this user announce: "));
    test_kill (&worker, SIGKILL);
    close_pool (&pool);
  }
  remove (passwords);
  remove (folder);
}

static void
test_tls (void)
{
  Pool pool;
  g_autofree char *certificate = NULL, *key = NULL;
  if (!test_certificate (&certificate, &key))
    return;
  g_autofree char *more = g_strdup_printf ("allow_anonymous true\ncertfile %s\nkeyfile %s", certificate, key);
  if (open_pool (&pool, more)) {
    g_autofree char *prefix = g_strdup_printf ("mqtts://localhost:%u/models", pool.port), *location = g_strconcat (prefix, "/toy", NULL),
                    *with = g_strdup_printf ("ca-file=%s contract-timeout=100000 deadline=60000", certificate);
    GPid worker = serve_at (prefix, pool.model, "--ca-file", certificate);
    Camera camera = open_camera_at (location, with, TRUE);
    push_and_pull (&camera, 0, 5);
    close_camera (&camera);
    camera = open_camera_at (location, "contract-timeout=100000", FALSE);
    g_autofree char *text = wait_for_text (camera.bus, GST_MESSAGE_ERROR, "A TLS error occurred");
    g_assert_nonnull (text);
    close_camera (&camera);
    test_kill (&worker, SIGKILL);
    close_pool (&pool);
  }
  test_remove_file (certificate);
  test_remove_file (key);
}

/* A stranger at the broker. */
static struct mosquitto *
open_stranger (const Pool *pool)
{
  struct mosquitto *client = mosquitto_new (NULL, true, NULL);
  mosquitto_int_option (client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
  g_assert_cmpint (mosquitto_connect (client, "127.0.0.1", (int) pool->port, 60), ==, MOSQ_ERR_SUCCESS);
  g_assert_cmpint (mosquitto_loop_start (client), ==, MOSQ_ERR_SUCCESS);
  return client;
}

static void
send_stranger (struct mosquitto *client, const char *topic, const void *data, gsize size, const char *response, const void *correlation,
               gsize correlation_size)
{
  mosquitto_property *properties = NULL;
  if (response != NULL)
    mosquitto_property_add_string (&properties, MQTT_PROP_RESPONSE_TOPIC, response);
  if (correlation != NULL)
    mosquitto_property_add_binary (&properties, MQTT_PROP_CORRELATION_DATA, correlation, (uint16_t) correlation_size);
  mosquitto_publish_v5 (client, NULL, topic, (int) size, data, 1, false, properties);
  mosquitto_property_free_all (&properties);
}

static void
note_topic (struct mosquitto *client, void *data, const struct mosquitto_message *message)
{
  GAsyncQueue *heard = data;
  g_async_queue_push (heard, g_strdup (message->topic));
}

/* Requests that are none are refused or ignored, the worker publishes nowhere but below answers/, and cameras' frames go on. */
static void
test_hostile (void)
{
  Pool pool;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  g_autoptr (GAsyncQueue) heard = g_async_queue_new_full (g_free);
  g_autoptr (GRand) chance = g_rand_new_with_seed (2026);
  GPid worker = serve (&pool, NULL, NULL);
  Camera camera = open_camera (&pool, "");
  struct mosquitto *stranger = open_stranger (&pool), *listener = open_stranger (&pool);
  mosquitto_user_data_set (listener, heard);
  mosquitto_message_callback_set (listener, note_topic);
  mosquitto_subscribe (listener, NULL, "home/#", 1);
  mosquitto_subscribe (listener, NULL, "models/toy/answers/#", 1);
  mosquitto_subscribe (listener, NULL, "models/toy/work/+", 1);
  guint n = 0;
  char *asked = NULL; /* models/toy/work/HASH, once the listener's subscriptions are there */
  while (asked == NULL || !g_str_has_prefix (asked, "models/toy/work/")) {
    g_free (asked);
    push_and_pull (&camera, n, n + 1);
    n++;
    asked = g_async_queue_timeout_pop (heard, G_USEC_PER_SEC / 10);
  }
  const char *const responses[] = { "home/door/open", "models/toy/contract", "models/toy/answers/stranger/x", NULL };
  for (guint i = 0; i < 60; i++) {
    guint8 bytes[200];
    for (guint k = 0; k < sizeof bytes; k++)
      bytes[k] = (guint8) g_rand_int_range (chance, 0, 256);
    memcpy (bytes, "SLRQ\1\0\1\0", i % 3 == 0 ? 8 : 0);
    send_stranger (stranger, asked, bytes, i % 5 == 0 ? 0 : sizeof bytes, responses[i % 4], i % 2 == 0 ? bytes : NULL, i % 40);
  }
  push_and_pull (&camera, n, n + 4);
  /* What the camera hears at its own topic of strangers: it knows the topic of its answers only from the broker. */
  gboolean told = FALSE;
  for (char *topic; !told && (topic = g_async_queue_timeout_pop (heard, PATIENCE)) != NULL; g_free (topic)) {
    g_assert_false (g_str_has_prefix (topic, "home/"));
    told = strcmp (topic, "models/toy/answers/stranger/x") == 0;
    if (g_str_has_prefix (topic, "models/toy/answers/anyone/"))
      for (guint i = 0; i < 3; i++)
        send_stranger (stranger, topic, "SLAN", 4, NULL, "0123456789abcdef", i * 8);
  }
  g_assert_true (told); /* the refusal */
  wait_for_count (&camera, "refused", 3);
  push_and_pull (&camera, n + 4, n + 8);
  g_assert_cmpuint (count (&camera, "answered"), ==, n + 8);
  g_free (asked);
  mosquitto_disconnect (stranger);
  mosquitto_disconnect (listener);
  mosquitto_loop_stop (stranger, false);
  mosquitto_loop_stop (listener, false);
  mosquitto_destroy (stranger);
  mosquitto_destroy (listener);
  close_camera (&camera);
  g_assert_cmpint (test_kill (&worker, SIGTERM), ==, 0);
  close_pool (&pool);
}

/* A frame of @bytes zeros, as which the harness' caps have been set. */
static void
push_zeros (const Camera *camera, gsize bytes)
{
  g_autofree guint8 *zeros = g_malloc0 (bytes);
  g_assert_cmpint (gst_harness_push (camera->harness, test_tensor_buffer (zeros, bytes)), ==, GST_FLOW_OK);
}

#define LARGE_SIDE 32
#define LARGE_BYTES (LARGE_SIDE * LARGE_SIDE * 3 * 4)
#define LARGE_CAPS "other/tensors,format=static,num_tensors=1,dimensions=3:32:32:1,types=float32,framerate=25/1"

static void
check_too_large (const char *limit, const char *expected)
{
  Pool pool;
  g_autofree char *more = g_strdup_printf ("allow_anonymous true\nmax_packet_size %s", limit);
  if (!open_pool (&pool, more))
    return;
  const gint32 shape[] = { 1, LARGE_BYTES / 4 };
  g_autofree char *model = test_reshape_model (LARGE_SIDE, shape, 2), *name = g_strnfill (200, 'n'),
                  *prefix = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool.port), *location = g_strconcat (prefix, "/toy", NULL);
  g_autofree char *named = g_strconcat ("toy=", model, NULL);
  const char *argv[] = { sightline, "serve", named, "--location", prefix, "--name", name, "--mean", "0", "--std", "1", NULL };
  GPid worker = test_spawn (argv, NULL);
  Camera camera = open_camera_at (location, "contract-timeout=100000 deadline=1000", TRUE);
  gst_harness_set_src_caps_str (camera.harness, LARGE_CAPS);
  push_zeros (&camera, LARGE_BYTES);
  g_autofree char *text = wait_for_text (camera.bus, GST_MESSAGE_WARNING, expected);
  g_assert_nonnull (strstr (text, "bytes: the broker's limit is smaller: raise its max_packet_size"));
  wait_for_count (&camera, "lost", 1);
  g_assert_cmpuint (count (&camera, "refused"), >=, 1);
  close_camera (&camera);
  test_kill (&worker, SIGKILL);
  test_remove_file (model);
  close_pool (&pool);
}

/* A broker that takes no messages of a size: the frame is lost and a sentence says why, whether its request or the answer is too large (the
 * worker's name makes it larger than the request). A worker that cannot announce ends. */
static void
test_too_large (void)
{
  Pool pool;
  check_too_large ("12000", "a request of 12316 bytes");
  check_too_large ("12500", "a worker refused a frame: an answer of 12512 bytes");
  if (!open_pool (&pool, "allow_anonymous true\nmax_packet_size 450"))
    return;
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool.port), *said = serve_in_vain (location, pool.model);
  g_assert_nonnull (strstr (said, "an announcement of "));
  g_assert_nonnull (strstr (said, "bytes: the broker's limit is smaller: raise its max_packet_size"));
  close_pool (&pool);
}

/* A worker that may report and not announce. */
static void
test_announcement_denied (void)
{
  Pool pool;
  g_autofree char *access = test_text_file ("access", "topic readwrite models/workers/#\ntopic read models/#\n"),
                  *more = g_strdup_printf ("allow_anonymous true\nacl_file %s", access);
  if (open_pool (&pool, more)) {
    g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool.port), *said = serve_in_vain (location, pool.model);
    g_assert_nonnull (strstr (said, "the broker does not let this user announce: "));
    close_pool (&pool);
  }
  test_remove_file (access);
}

/* A worker whose broker dies while it ends says so, and nothing of time. */
static void
test_broker_dies_last (void)
{
  Pool pool;
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool.port), *named = g_strconcat ("toy=", pool.model, NULL),
                  *said = NULL;
  g_autoptr (GSubprocess) worker =
    g_subprocess_new (G_SUBPROCESS_FLAGS_STDERR_PIPE, NULL, sightline, "serve", named, "--location", location, NULL);
  Camera camera = open_camera (&pool, "");
  wait_for_workers (&camera, 1);
  stop (pool.broker);
  g_subprocess_send_signal (worker, SIGTERM);
  g_usleep (300000);
  test_kill (&pool.broker, SIGKILL);
  g_assert_true (g_subprocess_communicate_utf8 (worker, NULL, NULL, NULL, &said, NULL));
  g_assert_null (strstr (said, "took longer than"));
  /* Where the machine was so slow that the broker died before the worker began to end, it has nothing to say. */
  g_assert_true (g_subprocess_get_exit_status (worker) == 0
                 || strstr (said, "the connection broke before all that was taken was answered"));
  close_camera (&camera);
  close_pool (&pool);
}

/* A handler that is busy with a message while the element goes. */
typedef struct
{
  GMutex lock;
  GCond changed;
  gboolean busy, may_go, gone;
} Held;

static GstBusSyncReply
hold (GstBus *bus, GstMessage *message, gpointer data)
{
  Held *held = data;
  const GstStructure *structure = gst_message_get_structure (message);
  const gboolean holds = structure != NULL && gst_structure_has_name (structure, "slremote")
                         && g_str_equal (gst_structure_get_string (structure, "state"), "disconnected");
  gst_message_unref (message); /* which held the element */
  g_mutex_lock (&held->lock);
  held->busy |= holds;
  g_cond_broadcast (&held->changed);
  while (holds && !held->may_go)
    g_cond_wait (&held->changed, &held->lock);
  g_mutex_unlock (&held->lock);
  return GST_BUS_DROP;
}

static void
note_gone (gpointer data, GObject *object)
{
  Held *held = data;
  g_mutex_lock (&held->lock);
  held->gone = TRUE;
  g_cond_broadcast (&held->changed);
  g_mutex_unlock (&held->lock);
}

/* The element lives until the call that its connection's thread is in has returned. */
static void
test_busy_handler (void)
{
  Pool pool;
  Held held = { .busy = FALSE };
  if (!open_pool (&pool, "allow_anonymous true"))
    return;
  g_mutex_init (&held.lock);
  g_cond_init (&held.changed);
  GPid worker = serve (&pool, NULL, NULL);
  Camera camera = open_camera (&pool, "");
  gst_bus_set_flushing (camera.bus, TRUE); /* messages there hold the element, which holds the bus */
  gst_bus_set_flushing (camera.bus, FALSE);
  gst_bus_set_sync_handler (camera.bus, hold, &held, NULL);
  g_object_weak_ref (G_OBJECT (camera.element), note_gone, &held);
  test_kill (&pool.broker, SIGKILL);
  g_mutex_lock (&held.lock);
  while (!held.busy)
    g_cond_wait (&held.changed, &held.lock);
  g_mutex_unlock (&held.lock);
  close_camera (&camera);
  g_mutex_lock (&held.lock);
  g_assert_false (held.gone);
  held.may_go = TRUE;
  g_cond_broadcast (&held.changed);
  while (!held.gone)
    g_cond_wait (&held.changed, &held.lock);
  g_mutex_unlock (&held.lock);
  g_mutex_clear (&held.lock);
  g_cond_clear (&held.changed);
  test_kill (&worker, SIGKILL);
  close_pool (&pool);
}

int
main (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_assert_cmpint (argc, ==, 2);
  sightline = argv[1];
  gst_element_register (NULL, "slremote", GST_RANK_NONE, sl_remote_get_type ());
  mosquitto_lib_init ();
  g_test_add_func ("/slremote/same-as-slinfer", test_same_as_slinfer);
  g_test_add_func ("/slremote/live", test_live);
  g_test_add_func ("/slremote/live-offline", test_live_offline);
  g_test_add_func ("/slremote/stuck-connection", test_stuck_connection);
  g_test_add_func ("/slremote/held-downstream", test_held_downstream);
  g_test_add_func ("/slremote/two-cameras", test_two_cameras);
  g_test_add_func ("/slremote/worker-killed", test_worker_killed);
  g_test_add_func ("/slremote/broker-restarts", test_broker_restarts);
  g_test_add_func ("/slremote/fallback", test_fallback);
  g_test_add_data_func ("/slremote/lost", "1x1", test_lost);
  g_test_add_data_func ("/slremote/lost/tiles", "2x1", test_lost);
  g_test_add_func ("/slremote/start-refused", test_start_refused);
  g_test_add_func ("/slremote/flush", test_flush);
  g_test_add_func ("/slremote/second-stream", test_second_stream);
  g_test_add_func ("/slremote/contradiction", test_contradiction);
  g_test_add_func ("/slremote/replace", test_replace);
  g_test_add_func ("/slremote/access", test_access);
  g_test_add_func ("/slremote/tls", test_tls);
  g_test_add_func ("/slremote/hostile", test_hostile);
  g_test_add_func ("/slremote/too-large", test_too_large);
  g_test_add_func ("/slremote/announcement-denied", test_announcement_denied);
  g_test_add_func ("/slremote/broker-dies-last", test_broker_dies_last);
  g_test_add_func ("/slremote/busy-handler", test_busy_handler);
  const int status = test_elements_run ();
  mosquitto_lib_cleanup ();
  return status;
}
