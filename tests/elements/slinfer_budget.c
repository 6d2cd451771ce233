/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cameras that share the budget of one core, with a model that takes 20 ms: a runtime, played by
 * tests/support/fake_runtime.c. Counts of the model's runs are compared with shares, on a clock
 * that only the runs advance. Promised rates and priorities of tests before those are powers of
 * two, so that no rounding decides which of two streams is next.
 */
#include <gst/gst.h>

#include "plugins/meta/motion_meta.h"
#include "plugins/meta/seen_event.h"
#include "predict/budget.h"
#include "tests/elements/fake.h"
#include "tests/elements/support.h"
#include "tests/support/clock.h"
#include "tests/support/program.h"

/* Of test_boxes_model(): x 0.4..1, y 0.2..0.4, with a confidence of 0.2. */
#define BOX                                         \
  "pattern=solid-color foreground-color=0xff6633ff" \
  " ! video/x-raw,format=RGB,width=2,height=2,framerate=100/1"

/* Of the model, where the clock runs. */
#define LATE "late=20"

static char *model, *other;

typedef struct
{
  GstElement *pipeline, *infer;
  gint frames;
} Camera;

static GstPadProbeReturn
count_frame (GstPad *pad, GstPadProbeInfo *info, gpointer frames)
{
  g_atomic_int_inc ((gint *) frames);
  return GST_PAD_PROBE_OK;
}

/* @source: properties of the camera, which sends 200 frames a second. */
static void
open_camera (Camera *camera, const char *source, const char *infer)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *launch = g_strdup_printf (
    "videotestsrc is-live=true %s ! video/x-raw,format=RGB,width=4,height=4,framerate=200/1 ! "
    "slnormalize ! queue "
    "leaky=downstream max-size-buffers=1 ! slinfer name=i model=%s backend=onnxruntime %s ! "
    "fakesink name=s sync=false",
    source, model, infer);
  camera->pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  camera->frames = 0;
  camera->infer = gst_bin_get_by_name (GST_BIN (camera->pipeline), "i");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (camera->pipeline), "s");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, &camera->frames, NULL);
}

static void
play (Camera *cameras, guint n)
{
  for (guint i = 0; i < n; i++)
    gst_element_set_state (cameras[i].pipeline, GST_STATE_PLAYING);
}

static void
close_cameras (Camera *cameras, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autoptr (GstBus) bus = gst_element_get_bus (cameras[i].pipeline);
    test_assert_no_error (bus);
    gst_element_set_state (cameras[i].pipeline, GST_STATE_NULL);
    gst_object_unref (cameras[i].infer);
    gst_object_unref (cameras[i].pipeline);
  }
}

static gint
frames_of (Camera *camera)
{
  return g_atomic_int_get (&camera->frames);
}

static void
wait_for (Camera *camera, gint frames)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (camera->pipeline);
  while (frames_of (camera) < frames) {
    test_assert_no_error (bus);
    g_usleep (1000);
  }
}

static GstStructure *
figures_of (Camera *camera)
{
  GstStructure *figures = NULL;
  g_object_get (camera->infer, "budget", &figures, NULL);
  return figures;
}

static guint64
figure (Camera *camera, const char *name)
{
  g_autoptr (GstStructure) figures = figures_of (camera);
  guint64 value = 0;
  g_assert_true (gst_structure_get_uint64 (figures, name, &value));
  return value;
}

#define CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=4:4:3:1,types=float32,framerate=25/1"
#define MOST 3
#define RUN_US 20000
/* Runs that are not counted: at first all streams are due. */
#define SETTLE 12

/* A stream with frames in a queue. @runs: of those that are counted */
typedef struct
{
  TestLine line;
  GstElement *infer;
  guint runs;
} Feed;

/* The runs of all feeds, of which there is one at a time. */
static struct
{
  GMutex lock;
  GCond over;
  Feed feeds[MOST];
  guint n, runs, most;
  gint64 start;
} course;

static GPrivate feed_here; /* of the thread that runs its model */

static GstPadProbeReturn
know_feed (GstPad *pad, GstPadProbeInfo *info, gpointer feed)
{
  g_private_set (&feed_here, feed);
  return GST_PAD_PROBE_OK;
}

/* Whether a frame of it waits for its turn: one came more than the model ran on. Frames that came
 * are a rate over the time since the start, a second at least. */
static gboolean
waits (Feed *feed)
{
  g_autoptr (GstStructure) figures = NULL;
  gdouble offered = 0;
  guint64 ran = 0;
  const gint64 since = MAX (g_get_monotonic_time () - course.start, G_USEC_PER_SEC);
  g_object_get (feed->infer, "budget", &figures, NULL);
  g_assert_true (gst_structure_get (figures, "offered", G_TYPE_DOUBLE, &offered, "frames",
                                    G_TYPE_UINT64, &ran, NULL));
  return (guint64) (offered * (gdouble) since / G_USEC_PER_SEC + 0.5) == ran + 1;
}

static void
wait_until_waits (Feed *feed)
{
  while (!waits (feed)) {
    test_assert_no_error (feed->line.bus);
    g_usleep (100);
  }
}

/* A run of the model. All other feeds wait before time passes, however busy the machine is. */
static void
take_time (void)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&course.lock);
  Feed *feed = g_private_get (&feed_here);
  g_assert_nonnull (feed);
  if (course.runs == course.most)
    return;
  for (guint i = 0; i < course.n; i++)
    if (&course.feeds[i] != feed)
      wait_until_waits (&course.feeds[i]);
  sl_clock_pass (RUN_US);
  feed->runs += course.runs >= SETTLE;
  if (++course.runs == course.most)
    g_cond_signal (&course.over);
}

static void
set_on_run (void (*on_run) (void))
{
  *(void (**) (void)) fake ("fake_on_run") = on_run;
}

static void
open_feed (const char *infer)
{
  Feed *feed = &course.feeds[course.n++];
  g_autofree char *launch =
    g_strdup_printf ("queue max-size-buffers=0 max-size-bytes=0 max-size-time=0 ! slinfer model=%s "
                     "backend=onnxruntime %s",
                     model, infer);
  *feed = (Feed){ .line = test_line_open (launch, NULL, CAPS) };
  feed->infer = gst_harness_find_element (feed->line.harness, "slinfer");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (feed->infer, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, know_feed, feed, NULL);
}

/* @most runs are counted. All feeds wait before the first one, and none runs out of frames. */
static void
run_feeds (guint most)
{
  const gfloat x[4 * 4 * 3] = { 0 };
  SlBudgetStream *holder = sl_budget_stream_new ();
  course.runs = 0;
  course.most = SETTLE + most;
  set_fake ("");
  set_on_run (take_time);
  sl_clock_set (SL_CLOCK_STANDS);
  course.start = g_get_monotonic_time ();
  sl_budget_stream_set (holder, 1024, 1, 1, NULL);
  g_assert_true (sl_budget_stream_enter (holder, 1, FALSE));
  for (guint i = 0; i < course.n; i++) {
    for (guint k = 0; k < course.most + 2; k++)
      g_assert_cmpint (
        gst_harness_push (course.feeds[i].line.harness, test_tensor_buffer (x, sizeof x)), ==,
        GST_FLOW_OK);
    wait_until_waits (&course.feeds[i]);
  }
  sl_budget_stream_leave (holder, FALSE, FALSE);
  sl_budget_stream_free (holder);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&course.lock);
  while (course.runs < course.most)
    g_cond_wait (&course.over, &course.lock);
}

static void
close_feeds (void)
{
  for (guint i = 0; i < course.n; i++)
    gst_element_set_state (course.feeds[i].infer, GST_STATE_NULL);
  sl_clock_set (SL_CLOCK_RUNS);
  for (; course.n > 0; course.n--) {
    Feed *feed = &course.feeds[course.n - 1];
    test_assert_no_error (feed->line.bus);
    gst_object_unref (feed->infer);
    test_line_close (feed->line.harness, feed->line.bus);
  }
  set_on_run (NULL);
  set_fake (LATE);
}

/* Far more is promised than one core can do: nobody starves, and priority has its way. */
static void
test_shares (void)
{
  open_feed ("promised-rate=128 priority=4");
  open_feed ("promised-rate=128");
  open_feed ("promised-rate=128");
  run_feeds (60);
  g_assert_cmpuint (course.feeds[0].runs, ==, 40);
  g_assert_cmpuint (course.feeds[1].runs, ==, 10);
  g_assert_cmpuint (course.feeds[2].runs, ==, 10);
  close_feeds ();
}

/* A frame that waited gives way to a newer one, which has its turn. */
static void
test_gives_way (void)
{
  gfloat x[4 * 4 * 3] = { 0 }, y[4 * 4 * 3];
  g_autofree char *launch = g_strdup_printf (
    "queue leaky=downstream max-size-buffers=1 ! slinfer model=%s backend=onnxruntime "
    "promised-rate=128",
    model);
  TestLine line = test_line_open (launch, NULL, CAPS);
  Camera camera = { .infer = gst_harness_find_element (line.harness, "slinfer") };
  g_autoptr (GstPad) pad = gst_element_get_static_pad (camera.infer, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, &camera.frames, NULL);
  SlBudgetStream *holder = sl_budget_stream_new ();
  sl_budget_stream_set (holder, 1024, 1, 1, NULL);
  g_assert_true (sl_budget_stream_enter (holder, 1, FALSE));
  for (guint i = 1; i <= 3; i++) {
    x[0] = (gfloat) i;
    g_assert_cmpint (gst_harness_push (line.harness, test_tensor_buffer (x, sizeof x)), ==,
                     GST_FLOW_OK);
    while (frames_of (&camera) < 1)
      g_usleep (1000);
  }
  sl_budget_stream_leave (holder, FALSE, FALSE);
  sl_budget_stream_free (holder);
  g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
  g_assert_cmpuint (gst_buffer_extract (out, 0, y, sizeof y), ==, sizeof y);
  g_assert_cmpfloat (y[0], ==, -3);
  g_assert_cmpuint (figure (&camera, "skipped"), ==, 1);
  g_assert_cmpuint (figure (&camera, "frames"), ==, 1);
  test_assert_no_error (line.bus);
  gst_object_unref (camera.infer);
  test_line_close (line.harness, line.bus);
}

/* A camera that ends leaves its part to others, and one that stops while it waits does not wait. */
static void
test_dead_camera (void)
{
  Camera cameras[2];
  open_camera (&cameras[0], "num-buffers=40", "promised-rate=256 priority=8");
  open_camera (&cameras[1], "", "promised-rate=256");
  play (cameras, 2);
  g_autoptr (GstBus) bus = gst_element_get_bus (cameras[0].pipeline);
  g_autoptr (GstMessage) end =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_cmpint (GST_MESSAGE_TYPE (end), ==, GST_MESSAGE_EOS);
  const gint before = frames_of (&cameras[1]);
  wait_for (&cameras[1], before + 10);
  SlBudgetStream *holder = sl_budget_stream_new ();
  sl_budget_stream_set (holder, 1024, 8, 1, NULL);
  g_assert_true (sl_budget_stream_enter (holder, 1, FALSE));
  gst_element_set_state (cameras[1].pipeline, GST_STATE_READY);
  sl_budget_stream_leave (holder, FALSE, FALSE);
  sl_budget_stream_free (holder);
  gst_element_set_state (cameras[1].pipeline, GST_STATE_PLAYING);
  const gint again = frames_of (&cameras[1]);
  wait_for (&cameras[1], again + 5);
  close_cameras (cameras, 2);
}

/* Another model, and another promise, while frames flow; the counts go on. */
static void
test_other_model (void)
{
  Camera camera;
  gdouble promised = 0;
  open_camera (&camera, "", "promised-rate=64");
  play (&camera, 1);
  wait_for (&camera, 5);
  const guint64 before = figure (&camera, "frames");
  g_object_set (camera.infer, "model", other, "promised-rate", 32.0, NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (camera.pipeline);
  for (gboolean changed = FALSE; !changed;) {
    g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR);
    g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_ELEMENT);
    changed = gst_message_has_name (message, "model-changed");
  }
  const gint at = frames_of (&camera);
  wait_for (&camera, at + 5);
  g_autoptr (GstStructure) figures = figures_of (&camera);
  gst_structure_get_double (figures, "promised", &promised);
  g_assert_cmpfloat (promised, ==, 32);
  g_assert_cmpuint (figure (&camera, "frames"), >, before);
  close_cameras (&camera, 1);
}

static gboolean
has_need (GstElement *predict)
{
  g_autoptr (GstStructure) figures = NULL;
  gboolean need = FALSE;
  g_object_get (predict, "budget", &figures, NULL);
  gst_structure_get_boolean (figures, "need", &need);
  return need;
}

/* As slmotion does where something moves. */
static GstPadProbeReturn
add_motion (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  static const SlMotionBox box = { 0, 0, 1, 1 };
  info->data = gst_buffer_make_writable (info->data);
  sl_buffer_set_motion (info->data, &box, 1);
  return GST_PAD_PROBE_OK;
}

/* A camera whose last frame has objects, or where something moves, has a need, if need= does not
 * say otherwise. */
static void
test_need (void)
{
  static const struct
  {
    const char *source, *predict;
    gboolean need;
  } cases[] = {
    { BOX, TEST_BOXES_DECODER " threshold=0.1", TRUE },
    { BOX, TEST_BOXES_DECODER " threshold=0.9", FALSE },
    { BOX, NULL, TRUE },
    { BOX, TEST_BOXES_DECODER " threshold=0.1 need=any", TRUE },
    { BOX, TEST_BOXES_DECODER " threshold=0.1 need=objects", TRUE },
    { BOX, TEST_BOXES_DECODER " threshold=0.1 need=motion", FALSE },
    { BOX, TEST_BOXES_DECODER " threshold=0.1 need=zone:door", FALSE },
  };
  g_autofree char *boxes = test_boxes_model (), *colours = test_colour_model (SL_DTYPE_U8);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *launch = g_strdup_printf (
      "videotestsrc is-live=true %s ! slpredict name=p model=%s promised-rate=128 %s ! fakesink "
      "name=s sync=false",
      cases[i].source, cases[i].predict != NULL ? boxes : colours,
      cases[i].predict != NULL ? cases[i].predict : "");
    Camera camera = { .pipeline = gst_parse_launch (launch, &error) };
    g_assert_no_error (error);
    camera.infer = gst_bin_get_by_name (GST_BIN (camera.pipeline), "p");
    g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (camera.pipeline), "s");
    g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, &camera.frames, NULL);
    g_autoptr (GstPad) in = gst_element_get_static_pad (camera.infer, "sink");
    if (cases[i].predict == NULL)
      gst_pad_add_probe (in, GST_PAD_PROBE_TYPE_BUFFER, add_motion, NULL, NULL);
    play (&camera, 1);
    wait_for (&camera, 5);
    while (cases[i].need && !has_need (camera.infer))
      g_usleep (1000);
    g_assert_cmpint (has_need (camera.infer), ==, cases[i].need);
    close_cameras (&camera, 1);
  }
  test_remove_file (boxes);
  test_remove_file (colours);
}

#define HERE "[zone door] points=0.5,0.2 0.9,0.2 0.9,0.6 0.5,0.6"
#define ELSEWHERE "[zone door] points=0,0.6 0.2,0.6 0.2,0.9 0,0.9"

static void
open_line (Camera *camera, const char *launch)
{
  g_autoptr (GError) error = NULL;
  camera->frames = 0;
  camera->pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  camera->infer = gst_bin_get_by_name (GST_BIN (camera->pipeline), "i");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (camera->infer, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, &camera->frames, NULL);
}

static void
wait_for_need (Camera *camera, gboolean need)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (camera->pipeline);
  while (has_need (camera->infer) != need) {
    test_assert_no_error (bus);
    g_usleep (1000);
  }
  const gint at = frames_of (camera);
  wait_for (camera, at + 2);
  g_assert_cmpint (has_need (camera->infer), ==, need);
}

/* A camera has a need while its zone is occupied: also of a zone that is moved, after another need
 * was stated meanwhile, and when the stream begins again. */
static void
test_zone (void)
{
  g_autofree char *boxes = test_boxes_model ();
  g_autofree char *launch = g_strdup_printf (
    "videotestsrc is-live=true %s ! slpredict name=i model=%s %s threshold=0.1 track=true "
    "promised-rate=128 need=zone:door ! slanalyze name=a confirm=1 regions=\"" HERE
    "; [zone yard] points=0,0 1,0 1,1 0,1\" ! fakesink sync=false",
    BOX, boxes, TEST_BOXES_DECODER);
  Camera camera;
  open_line (&camera, launch);
  g_autoptr (GstElement) analyzer = gst_bin_get_by_name (GST_BIN (camera.pipeline), "a");
  play (&camera, 1);
  wait_for_need (&camera, TRUE);
  g_object_set (analyzer, "regions", ELSEWHERE, NULL);
  wait_for_need (&camera, FALSE);
  g_object_set (analyzer, "regions", HERE, NULL);
  wait_for_need (&camera, TRUE);
  g_object_set (camera.infer, "need", "motion", NULL);
  wait_for_need (&camera, FALSE);
  g_object_set (camera.infer, "need", "zone:door", NULL);
  wait_for_need (&camera, TRUE);
  g_object_set (analyzer, "regions", "[zone yard] points=0,0 1,0 1,1 0,1", NULL);
  wait_for_need (&camera, FALSE);
  g_object_set (camera.infer, "need", "zone:yard", NULL);
  wait_for_need (&camera, TRUE);
  gst_element_set_state (camera.pipeline, GST_STATE_READY);
  gst_element_set_state (camera.pipeline, GST_STATE_PLAYING);
  wait_for_need (&camera, TRUE);
  close_cameras (&camera, 1);
  test_remove_file (boxes);
}

/* Another model finds the objects, so slanalyze's events pass it. */
static void
test_zone_passes (void)
{
  static const char *const zones[] = { HERE, ELSEWHERE };
  Camera cameras[2];
  g_autofree char *boxes = test_boxes_model ();
  for (guint i = 0; i < 2; i++) {
    g_autofree char *launch = g_strdup_printf (
      "videotestsrc is-live=true %s ! slpredict name=i model=%s backend=onnxruntime "
      "decoder=segmentation promised-rate=4 need=zone:door ! slpredict model=%s %s threshold=0.1 "
      "track=true ! queue ! slanalyze confirm=1 regions=\"%s\" ! fakesink sync=false",
      BOX, model, boxes, TEST_BOXES_DECODER, zones[i]);
    open_line (&cameras[i], launch);
  }
  play (cameras, 2);
  wait_for_need (&cameras[0], TRUE);
  wait_for (&cameras[1], 5);
  g_assert_false (has_need (cameras[1].infer));
  close_cameras (cameras, 2);
  test_remove_file (boxes);
}

/* Two cameras share one core. What is left goes to the one with objects in its zone, eight times as
 * much as to the other one, which runs every 180 ms: more often than promised. */
static void
test_zone_shares (void)
{
  const SlRegionView door = { .kind = SL_REGION_ZONE,
                              .name = g_intern_string ("door"),
                              .inside = 1 };
  const SlAnalysis analysis = { .n_regions = 1, .regions = &door };
  g_autoptr (GPtrArray) told = g_ptr_array_new ();
  open_feed ("promised-rate=5 need=zone:door");
  open_feed ("promised-rate=5 need=zone:door");
  sl_zones_send (course.feeds[0].line.harness->sinkpad, told, &analysis);
  run_feeds (90);
  g_assert_cmpuint (course.feeds[0].runs, ==, 80);
  g_assert_cmpuint (course.feeds[1].runs, ==, 10);
  close_feeds ();
}

static void
test_wrong_need (void)
{
  g_autofree char *colours = test_colour_model (SL_DTYPE_U8);
  g_autoptr (GstElement) infer = gst_object_ref_sink (gst_element_factory_make ("slinfer", NULL));
  g_autoptr (GstBus) bus = gst_bus_new ();
  gst_element_set_bus (infer, bus);
  g_object_set (infer, "model", colours, "promised-rate", 5.0, "need", "zones", NULL);
  g_assert_cmpint (gst_element_set_state (infer, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  g_autoptr (GError) error = NULL;
  gst_message_parse_error (message, &error, NULL);
  g_assert_cmpstr (error->message, ==, "need=zones: expected any, motion, objects or zone:NAME");
  gst_element_set_bus (infer, NULL);
  gst_element_set_state (infer, GST_STATE_NULL);
  test_remove_file (colours);
}

/* Without a promise there are no figures, also of slpredict, which has them of its slinfer. */
static void
test_property (void)
{
  g_autoptr (GstElement) predict =
    gst_object_ref_sink (gst_element_factory_make ("slpredict", NULL));
  g_autoptr (GstStructure) none = NULL, figures = NULL;
  gdouble promised = 0;
  g_autofree char *colours = test_colour_model (SL_DTYPE_U8);
  g_object_set (predict, "promised-rate", 5.0, "model", colours, NULL);
  g_object_get (predict, "budget", &none, NULL);
  g_assert_null (none);
  g_assert_cmpint (gst_element_set_state (predict, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
  g_object_get (predict, "budget", &figures, NULL);
  gst_structure_get_double (figures, "promised", &promised);
  g_assert_cmpfloat (promised, ==, 5);
  gst_element_set_state (predict, GST_STATE_NULL);
  test_remove_file (colours);
}

TEST_MAIN (int argc, char **argv)
{
  g_setenv ("SIGHTLINE_ONNXRUNTIME", FAKE_RUNTIME_LIBRARY, TRUE);
  test_elements_init (&argc, &argv);
  model = fake_model ("neg.onnx", "Neg");
  other = fake_model ("other.onnx", "Neg");
  set_fake (LATE);
  sl_budget_set_cores (1);
  g_test_add_func ("/slinfer-budget/gives-way", test_gives_way);
  g_test_add_func ("/slinfer-budget/dead-camera", test_dead_camera);
  g_test_add_func ("/slinfer-budget/other-model", test_other_model);
  g_test_add_func ("/slinfer-budget/need", test_need);
  g_test_add_func ("/slinfer-budget/zone", test_zone);
  g_test_add_func ("/slinfer-budget/zone-passes", test_zone_passes);
  g_test_add_func ("/slinfer-budget/wrong-need", test_wrong_need);
  g_test_add_func ("/slinfer-budget/property", test_property);
  /* Last: the clock is ahead of that of GStreamer from then on. */
  g_test_add_func ("/slinfer-budget/shares", test_shares);
  g_test_add_func ("/slinfer-budget/zone-shares", test_zone_shares);
  const int result = test_elements_run ();
  test_remove_file (model);
  test_remove_file (other);
  g_free (model);
  g_free (other);
  return result;
}
