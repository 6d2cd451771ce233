/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cameras that share the budget of one core, with a model that takes 20 ms: a runtime, played by
 * tests/support/fake_runtime.c. Counts of the model's runs are compared with shares.
 */
#include <gst/gst.h>

#include "plugins/meta/motion_meta.h"
#include "predict/budget.h"
#include "tests/elements/fake.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

/* Of test_boxes_model(): x 0.4..1, y 0.2..0.4, with a confidence of 0.2. */
#define BOX                                         \
  "pattern=solid-color foreground-color=0xff6633ff" \
  " ! video/x-raw,format=RGB,width=2,height=2,framerate=100/1"

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

/* Runs of each camera while the first one has 40; whether they are as the shares say. */
static gboolean
has_shares (Camera cameras[3])
{
  gint ran[3], all = 0;
  for (guint i = 0; i < 3; i++)
    ran[i] = frames_of (&cameras[i]);
  wait_for (&cameras[0], ran[0] + 40);
  for (guint i = 0; i < 3; i++) {
    ran[i] = frames_of (&cameras[i]) - ran[i];
    all += ran[i];
  }
  g_test_message ("%d %d %d", ran[0], ran[1], ran[2]);
  /* One run may be on its way. */
  return ran[0] * 10 >= ran[1] * 15 && ran[0] * 10 >= ran[2] * 15 && ran[1] + 1 >= 0.95 * all / 6
         && ran[2] + 1 >= 0.95 * all / 6;
}

/* Far more is promised than one core can do: nobody starves, priority has its way, and frames that
 * waited give way to newer ones. A camera whose thread has no processor for a while leaves its
 * turns to others, so a busy machine may need some tries. */
static void
test_shares (void)
{
  Camera cameras[3];
  guint tries = 1;
  open_camera (&cameras[0], "", "promised-rate=200 priority=4");
  open_camera (&cameras[1], "", "promised-rate=200");
  open_camera (&cameras[2], "", "promised-rate=200");
  play (cameras, 3);
  for (guint i = 0; i < 3; i++)
    wait_for (&cameras[i], 1);
  for (; !has_shares (cameras); tries++)
    g_assert_cmpuint (tries, <, 20);
  while (figure (&cameras[1], "skipped") == 0)
    g_usleep (1000);
  const guint64 ran = (guint64) frames_of (&cameras[1]);
  g_assert_cmpuint (figure (&cameras[1], "frames"), >=, ran);
  close_cameras (cameras, 3);
}

/* A camera that ends leaves its part to others, and one that stops while it waits does not wait. */
static void
test_dead_camera (void)
{
  Camera cameras[2];
  open_camera (&cameras[0], "num-buffers=40", "promised-rate=200 priority=10");
  open_camera (&cameras[1], "", "promised-rate=200");
  play (cameras, 2);
  g_autoptr (GstBus) bus = gst_element_get_bus (cameras[0].pipeline);
  g_autoptr (GstMessage) end =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_cmpint (GST_MESSAGE_TYPE (end), ==, GST_MESSAGE_EOS);
  const gint before = frames_of (&cameras[1]);
  wait_for (&cameras[1], before + 10);
  SlBudgetStream *holder = sl_budget_stream_new ();
  sl_budget_stream_set (holder, 1000, 10, 1, NULL);
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
  open_camera (&camera, "", "promised-rate=50");
  play (&camera, 1);
  wait_for (&camera, 5);
  const guint64 before = figure (&camera, "frames");
  g_object_set (camera.infer, "model", other, "promised-rate", 80.0, NULL);
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
  g_assert_cmpfloat (promised, ==, 80);
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
      "videotestsrc is-live=true %s ! slpredict name=p model=%s promised-rate=100 %s ! fakesink "
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
    "promised-rate=100 need=zone:door ! slanalyze name=a confirm=1 regions=\"" HERE
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

/* Waits until the first of two cameras has run 20 times more. TRUE: the other one has run, too, at
 * most half as often. */
static gboolean
has_the_rest (Camera cameras[2])
{
  gint ran[2];
  for (guint i = 0; i < 2; i++)
    ran[i] = frames_of (&cameras[i]);
  wait_for (&cameras[0], ran[0] + 20);
  for (guint i = 0; i < 2; i++)
    ran[i] = frames_of (&cameras[i]) - ran[i];
  g_test_message ("%d %d", ran[0], ran[1]);
  return ran[0] >= 2 * ran[1] && ran[1] > 0;
}

/* Two cameras share one core. What is left goes to the one with objects in its zone, and the other
 * one runs as often as promised. Another model finds the objects, so slanalyze's events pass it. A
 * busy machine may need some tries. */
static void
test_zone_shares (void)
{
  static const char *const zones[] = { HERE, ELSEWHERE };
  Camera cameras[2];
  guint tries = 1;
  g_autofree char *boxes = test_boxes_model ();
  for (guint i = 0; i < 2; i++) {
    g_autofree char *launch = g_strdup_printf (
      "videotestsrc is-live=true %s ! slpredict name=i model=%s backend=onnxruntime "
      "decoder=segmentation promised-rate=5 need=zone:door ! slpredict model=%s %s threshold=0.1 "
      "track=true ! queue ! slanalyze confirm=1 regions=\"%s\" ! fakesink sync=false",
      BOX, model, boxes, TEST_BOXES_DECODER, zones[i]);
    open_line (&cameras[i], launch);
  }
  play (cameras, 2);
  wait_for_need (&cameras[0], TRUE);
  wait_for (&cameras[1], 1);
  for (; !has_the_rest (cameras); tries++)
    g_assert_cmpuint (tries, <, 20);
  g_assert_false (has_need (cameras[1].infer));
  close_cameras (cameras, 2);
  test_remove_file (boxes);
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
  set_fake ("late=20");
  sl_budget_set_cores (1);
  g_test_add_func ("/slinfer-budget/shares", test_shares);
  g_test_add_func ("/slinfer-budget/dead-camera", test_dead_camera);
  g_test_add_func ("/slinfer-budget/other-model", test_other_model);
  g_test_add_func ("/slinfer-budget/need", test_need);
  g_test_add_func ("/slinfer-budget/zone", test_zone);
  g_test_add_func ("/slinfer-budget/zone-shares", test_zone_shares);
  g_test_add_func ("/slinfer-budget/wrong-need", test_wrong_need);
  g_test_add_func ("/slinfer-budget/property", test_property);
  const int result = test_elements_run ();
  test_remove_file (model);
  test_remove_file (other);
  g_free (model);
  g_free (other);
  return result;
}
