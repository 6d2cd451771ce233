/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slremote and `sightline serve` through a mosquitto of the test's own: what comes out is compared
 * with slinfer's to the bit while workers and the broker are killed. argv: the program sightline.
 */
#include <signal.h>
#include <string.h>

#include "plugins/elements.h"
#include "plugins/meta/frame_meta.h"
#include "tests/remote/pool.h"
#include "tests/support/program.h"

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
  TestPool pool;
  GstMapInfo here, there;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid worker = test_serve (&pool, "--name", "w1");
  g_autofree char
    *local = g_strdup_printf ("slinfer model=%s", pool.model),
    *remote = g_strdup_printf (
      "slremote location=mqtt://127.0.0.1:%u/models/toy contract-timeout=100000 deadline=60000",
      pool.port);
  g_autoptr (GstBuffer) expected = run_line (local), got = run_line (remote);
  g_assert_true (gst_buffer_map (expected, &here, GST_MAP_READ)
                 && gst_buffer_map (got, &there, GST_MAP_READ));
  g_assert_cmpmem (here.data, here.size, there.data, there.size);
  gst_buffer_unmap (expected, &here);
  gst_buffer_unmap (got, &there);
  TestCamera camera = test_camera_open (&pool, "window=8");
  for (guint i = 0; i < 40; i++)
    test_camera_push (&camera, i);
  g_autoptr (GstQuery) drain = gst_query_new_drain (); /* which is answered behind the frames */
  gst_pad_peer_query (camera.harness->srcpad, drain);
  g_assert_cmpuint (gst_harness_buffers_in_queue (camera.harness), ==, 40);
  for (guint i = 0; i < 40; i++)
    test_camera_pull (&camera, i);
  g_autofree char *name = NULL;
  g_object_get (camera.element, "worker", &name, NULL);
  g_assert_cmpstr (name, ==, "w1");
  g_assert_cmpuint (test_camera_count (&camera, "answered"), ==, 40);
  g_assert_cmpuint (test_camera_count (&camera, "lost"), ==, 0);
  test_camera_close (&camera);
  test_kill (&worker, SIGKILL);
  test_pool_close (&pool);
}

static void
go_live (const TestCamera *camera)
{
  gst_harness_set_live (camera->harness, TRUE);
  gst_harness_push_event (camera->harness, gst_event_new_stream_start ("live"));
  gst_harness_set_src_caps_str (camera->harness, TEST_PICTURE_CAPS);
}

/* Frames that come at their own pace, of which one is on its way at a time: the newest is sent, and
 * none waits. */
static void
test_live (void)
{
  TestPool pool;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid worker = test_serve (&pool, NULL, NULL);
  TestCamera camera = test_camera_open (&pool, "window=1");
  test_camera_push_and_pull (&camera, 0, 1);
  go_live (&camera);
  test_stop (worker);
  for (guint i = 1; i < 20; i++)
    test_camera_push (&camera, i);
  g_assert_cmpuint (test_camera_count (&camera, "dropped"), ==, 17);
  kill (worker, SIGCONT);
  test_camera_pull (&camera, 1);
  test_camera_pull (&camera, 19);
  test_camera_close (&camera);
  test_kill (&worker, SIGKILL);
  test_pool_close (&pool);
}

/* Live frames without a broker: each that a newer one displaces passes, without predictions. */
static void
test_live_offline (void)
{
  TestPool pool;
  gboolean connected = TRUE;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid worker = test_serve (&pool, NULL, NULL);
  TestCamera camera = test_camera_open (&pool, "");
  test_camera_push_and_pull (&camera, 0, 1);
  go_live (&camera);
  test_kill (&pool.broker, SIGKILL);
  for (; connected; g_usleep (1000)) {
    g_object_get (camera.element, "connected", &connected, NULL);
  }
  for (guint i = 1; i <= 10; i++)
    test_camera_push (&camera, i);
  g_assert_cmpuint (test_camera_count (&camera, "lost"), ==, 9);
  g_assert_cmpuint (test_camera_count (&camera, "dropped"), ==, 0);
  test_camera_close (&camera);
  test_kill (&worker, SIGKILL);
  test_pool_close (&pool);
}

/* A connection that takes nothing: what is queued there is neither sent again nor added to, and
 * frames are given up. */
static void
test_stuck_connection (void)
{
  TestPool pool;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid worker = test_serve (&pool, NULL, NULL);
  TestCamera camera = test_camera_open (&pool, "window=2 deadline=100");
  test_stop (pool.broker);
  for (guint i = 0; i < 3; i++) {
    test_camera_push (&camera, 2 * i);
    test_camera_push (&camera, 2 * i + 1);
    test_camera_wait_count (&camera, "lost", 2 * i + 2);
  }
  g_assert_cmpuint (test_camera_count (&camera, "resent"), ==, 0);
  g_assert_cmpuint (test_camera_count (&camera, "dropped"), ==, 0);
  kill (pool.broker, SIGCONT);
  test_camera_close (&camera);
  test_kill (&worker, SIGKILL);
  test_pool_close (&pool);
}

static GstPadProbeReturn
hold_pad (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  return GST_PAD_PROBE_OK;
}

typedef struct
{
  const TestCamera *camera;
  gint pushed; /* atomic */
} Pusher;

#define HELD_FRAMES 40

static gpointer
push_all (gpointer data)
{
  Pusher *pusher = data;
  for (guint i = 0; i < HELD_FRAMES; i++) {
    test_camera_push (pusher->camera, i);
    g_atomic_int_inc (&pusher->pushed);
  }
  return NULL;
}

/* Nobody takes frames off the element: of files upstream waits, of live input frames are dropped,
 * and none piles up. With a window of 2 there are 12 inside and one in the pad's hand. */
static void
test_held_downstream (void)
{
  TestPool pool;
  const gint most = 13;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid worker = test_serve (&pool, NULL, NULL);
  TestCamera camera = test_camera_open (&pool, "window=2");
  Pusher pusher = { .camera = &camera };
  g_autoptr (GstPad) pad = gst_element_get_static_pad (camera.element, "src");
  gulong probe = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER,
                                    hold_pad, NULL, NULL);
  GThread *thread = g_thread_new ("pusher", push_all, &pusher);
  while (g_atomic_int_get (&pusher.pushed) < most)
    g_usleep (1000);
  g_usleep (50000); /* one more would come by then */
  g_assert_cmpint (g_atomic_int_get (&pusher.pushed), ==, most);
  gst_pad_remove_probe (pad, probe);
  g_thread_join (thread);
  for (guint i = 0; i < HELD_FRAMES; i++)
    test_camera_pull (&camera, i);
  g_assert_cmpuint (test_camera_count (&camera, "dropped"), ==, 0);
  go_live (&camera);
  probe = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, hold_pad,
                             NULL, NULL);
  push_all (&pusher);
  g_assert_cmpuint (test_camera_count (&camera, "dropped"), >=, (guint) (HELD_FRAMES - most));
  gst_pad_remove_probe (pad, probe);
  test_camera_close (&camera);
  test_kill (&worker, SIGKILL);
  test_pool_close (&pool);
}

/* Two cameras with different pictures never get each other's answers. */
static void
test_two_cameras (void)
{
  TestPool pool;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid worker = test_serve (&pool, "--jobs", "2");
  TestCamera one = test_camera_open (&pool, "window=8"), two = test_camera_open (&pool, "window=8");
  for (guint i = 0; i < 60; i++) {
    test_camera_push (&one, i);
    test_camera_push (&two, i + 100);
  }
  for (guint i = 0; i < 60; i++) {
    test_camera_pull (&one, i);
    test_camera_pull (&two, i + 100);
  }
  test_camera_close (&one);
  test_camera_close (&two);
  test_kill (&worker, SIGKILL);
  test_pool_close (&pool);
}

/* A worker dies with frames, another has the rest; one that ends by SIGTERM leaves none behind. */
static void
test_worker_killed (void)
{
  TestPool pool;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid first = test_serve (&pool, NULL, NULL), second = test_serve (&pool, NULL, NULL);
  TestCamera camera = test_camera_open (&pool, "window=16");
  test_camera_wait_workers (&camera, 2);
  test_camera_push_and_pull (&camera, 0, 5);
  test_stop (first); /* what it is given now it never answers */
  for (guint i = 5; i < 15; i++)
    test_camera_push (&camera, i);
  test_kill (&first, SIGKILL);
  for (guint i = 5; i < 15; i++)
    test_camera_pull (&camera, i);
  test_camera_wait_workers (&camera, 1);
  g_assert_cmpuint (test_camera_count (&camera, "answered"), ==, 15);
  g_assert_cmpuint (test_camera_count (&camera, "lost"), ==, 0);
  for (guint i = 15; i < 25; i++)
    test_camera_push (&camera, i);
  g_assert_cmpint (test_kill (&second, SIGTERM), ==, 0);
  GPid third = test_serve (&pool, NULL, NULL);
  for (guint i = 15; i < 25; i++)
    test_camera_pull (&camera, i);
  test_camera_close (&camera);
  test_kill (&third, SIGKILL);
  test_pool_close (&pool);
}

/* A broker that comes back has forgotten all; both sides come back to it. */
static void
test_broker_restarts (void)
{
  TestPool pool;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid worker = test_serve (&pool, NULL, NULL);
  TestCamera camera = test_camera_open (&pool, "");
  test_camera_push_and_pull (&camera, 0, 5);
  test_kill (&pool.broker, SIGKILL);
  test_camera_push (&camera, 5); /* it waits for the broker; a second one would wait for room */
  test_start_broker (&pool);
  test_camera_pull (&camera, 5);
  test_camera_push_and_pull (&camera, 6, 10);
  g_assert_cmpuint (test_camera_count (&camera, "lost"), ==, 0);
  test_camera_close (&camera);
  test_kill (&worker, SIGKILL);
  test_pool_close (&pool);
}

/* Nobody works: the model is loaded here, where there is a file; a file of another model is refused
 * with expected and got. */
static void
test_fallback (void)
{
  TestPool pool;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid worker = test_serve (&pool, NULL, NULL);
  g_autofree char *other = test_pair_model (), *own = g_strdup_printf ("fallback=%s", pool.model),
                  *wrong = g_strdup_printf ("fallback=%s", other);
  TestCamera camera = test_camera_open (&pool, own);
  test_camera_push_and_pull (&camera, 0, 3);
  g_assert_cmpuint (test_camera_count (&camera, "local"), ==, 0);
  test_kill (&worker, SIGKILL);
  test_camera_wait_workers (&camera, 0);
  test_camera_push_and_pull (&camera, 3, 6);
  g_assert_cmpuint (test_camera_count (&camera, "local"), ==, 3);
  g_autofree char *told = test_wait_text (camera.bus, GST_MESSAGE_WARNING, "no worker answers for");
  g_assert_nonnull (strstr (told, "frames are computed here from now on, and are counted in lost"));
  worker = test_serve (&pool, NULL, NULL);
  test_camera_wait_workers (&camera, 1);
  for (guint i = 6; test_camera_count (&camera, "answered") < 6; i++)
    test_camera_push_and_pull (&camera, i, i + 1);
  test_camera_close (&camera);
  camera = test_camera_open (&pool, wrong);
  test_kill (&worker, SIGKILL);
  test_camera_wait_workers (&camera, 0);
  test_camera_push (&camera, 0);
  g_autofree char *text = test_wait_text (camera.bus, GST_MESSAGE_WARNING, "fallback: ");
  g_assert_nonnull (strstr (text, "expected the model that the workers serve, uint8[1,4,4,3]"));
  g_assert_nonnull (strstr (text, ", got uint8[1,4,4,3]"));
  test_camera_close (&camera);
  test_kill (&pool.broker, SIGKILL);
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models/toy", pool.port),
                  *late = g_strconcat (own, " contract-timeout=1", NULL);
  camera = test_camera_open_at (location, late, TRUE); /* not even a broker */
  test_camera_push_and_pull (&camera, 0, 3);
  g_assert_cmpuint (test_camera_count (&camera, "local"), ==, 3);
  test_camera_close (&camera);
  test_remove_file (other);
  test_pool_close (&pool);
}

/* Without a fallback a frame passes once, however many tensors are made of it, and a message says
 * so. */
static void
test_lost (gconstpointer tiles)
{
  TestPool pool;
  const guint8 colour[3] = { 200, 60, 20 };
  const char *caps = "video/x-raw,format=RGB,width=4,height=4,framerate=25/1";
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid worker = test_serve (&pool, NULL, NULL);
  g_autofree char *launch = g_strdup_printf (
    "slnormalize tiles=%s ! slremote name=r location=mqtt://127.0.0.1:%u/models/toy "
    "contract-timeout=100000 deadline=300 ! slpostprocess decoder=labels",
    (const char *) tiles, pool.port);
  TestLine line = test_line_open (launch, "video/x-raw", caps);
  test_kill (&worker, SIGKILL);
  for (guint i = 0; i < 2; i++) {
    g_assert_cmpint (gst_harness_push (line.harness, test_frame (caps, colour, i)), ==,
                     GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
    g_assert_nonnull (out);
    g_assert_cmpuint (gst_buffer_get_size (out), ==, 48);
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, i);
    g_assert_cmpint (sl_buffer_get_frame_meta (out)->content, ==, SL_FRAME_SKIPPED);
  }
  g_autofree char *text = test_wait_text (line.bus, GST_MESSAGE_WARNING, "no worker answers for");
  g_assert_nonnull (
    strstr (text, "frames pass without predictions from now on, and are counted in lost"));
  test_line_close (line.harness, line.bus);
  test_pool_close (&pool);
}

/* A flush takes frames away, and no sticky events behind them. */
static void
test_flush (void)
{
  TestPool pool;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid worker = test_serve (&pool, NULL, NULL);
  TestCamera camera = test_camera_open (&pool, "window=2");
  test_camera_push_and_pull (&camera, 0, 1);
  test_stop (worker);
  test_camera_push (&camera, 1);
  gst_harness_push_event (camera.harness, gst_event_new_stream_start ("second"));
  gst_harness_set_src_caps_str (camera.harness, TEST_PICTURE_CAPS);
  gst_harness_push_event (camera.harness,
                          gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "kept", NULL)));
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
  test_camera_push_and_pull (&camera, 2, 4);
  test_camera_close (&camera);
  test_kill (&worker, SIGKILL);
  test_pool_close (&pool);
}

/* A stream after the end of another, without a flush between them, also where the end has yet to go
 * out. */
static void
test_second_stream (void)
{
  TestPool pool;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid worker = test_serve (&pool, NULL, NULL);
  TestCamera camera = test_camera_open (&pool, "window=2");
  test_camera_push_and_pull (&camera, 0, 1);
  for (guint i = 1; i < 4; i++) {
    test_stop (worker);
    test_camera_push (&camera, i);
    gst_harness_push_event (camera.harness, gst_event_new_eos ());
    gst_harness_push_event (camera.harness, gst_event_new_stream_start ("second"));
    gst_harness_set_src_caps_str (camera.harness, TEST_PICTURE_CAPS);
    kill (worker, SIGCONT);
    test_camera_pull (&camera, i);
    while (gst_harness_events_in_queue (camera.harness) < 3 + 4 * i)
      g_usleep (1000);
    test_camera_push_and_pull (&camera, 10, 11);
  }
  test_camera_close (&camera);
  test_kill (&worker, SIGKILL);
  test_pool_close (&pool);
}

/* Another model takes the name: frames go on, made as it wants them, and none is lost. */
static void
test_replace (void)
{
  TestPool pool;
  const guint8 colour[3] = { 200, 60, 20 };
  const char *caps = "video/x-raw,format=RGB,width=12,height=12,framerate=25/1";
  gsize size = 3;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid first = test_serve (&pool, NULL, NULL);
  g_autofree char *other = test_pair_model (),
                  *prefix = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool.port),
                  *launch = g_strdup_printf (
                    "slnormalize ! slremote location=%s/toy contract-timeout=100000 deadline=60000",
                    prefix);
  TestLine line = test_line_open (launch, NULL, caps);
  GPid second = 0;
  for (guint i = 0; size == 3; i++) {
    g_assert_cmpint (gst_harness_push (line.harness, test_frame (caps, colour, i * GST_MSECOND)),
                     ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, i * GST_MSECOND);
    size = gst_buffer_get_size (out);
    if (second == 0)
      second = test_serve_at (prefix, other, "--replace", NULL);
    g_usleep (5000);
  }
  g_assert_cmpuint (size, ==, 6); /* means and largest values */
  test_assert_no_error (line.bus);
  test_line_close (line.harness, line.bus);
  test_kill (&first, SIGKILL);
  test_kill (&second, SIGKILL);
  test_remove_file (other);
  test_pool_close (&pool);
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
  const gboolean holds =
    structure != NULL && gst_structure_has_name (structure, "slremote")
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
  TestPool pool;
  Held held = { .busy = FALSE };
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  g_mutex_init (&held.lock);
  g_cond_init (&held.changed);
  GPid worker = test_serve (&pool, NULL, NULL);
  TestCamera camera = test_camera_open (&pool, "");
  gst_bus_set_flushing (camera.bus,
                        TRUE); /* messages there hold the element, which holds the bus */
  gst_bus_set_flushing (camera.bus, FALSE);
  gst_bus_set_sync_handler (camera.bus, hold, &held, NULL);
  g_object_weak_ref (G_OBJECT (camera.element), note_gone, &held);
  test_kill (&pool.broker, SIGKILL);
  g_mutex_lock (&held.lock);
  while (!held.busy)
    g_cond_wait (&held.changed, &held.lock);
  g_mutex_unlock (&held.lock);
  test_camera_close (&camera);
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
  test_pool_close (&pool);
}

static void
test_unset (void)
{
  g_autoptr (GstElement) element =
    gst_object_ref_sink (gst_element_factory_make ("slremote", NULL));
  g_autoptr (GstBus) bus = test_watch (element);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  test_assert_error (bus, "location is not set: expected one such as mqtt://localhost/models/ssd",
                     NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
}

TEST_MAIN (int argc, char **argv)
{
  test_pool_init (&argc, &argv);
  g_test_add_func ("/slremote/same-as-slinfer", test_same_as_slinfer);
  g_test_add_func ("/slremote/unset", test_unset);
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
  g_test_add_func ("/slremote/flush", test_flush);
  g_test_add_func ("/slremote/second-stream", test_second_stream);
  g_test_add_func ("/slremote/replace", test_replace);
  g_test_add_func ("/slremote/busy-handler", test_busy_handler);
  return test_pool_run ();
}
