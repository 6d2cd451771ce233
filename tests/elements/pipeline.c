/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The whole line: slnormalize ! slinfer ! slpostprocess, with a tiny model whose classes are the
 * three primary colours, and with real models and pictures where these are found.
 */
#include <string.h>

#include "plugins/meta/frame_meta.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"

static const guint8 red[3] = { 255, 0, 0 }, green[3] = { 0, 255, 0 };

typedef struct
{
  GstHarness *harness;
  GstBus *bus;
  char *model, *labels;
} Fixture;

/* @normalize, @infer: properties of these elements; "" for none. */
static Fixture
setup (SlDtype dtype, const char *normalize, const char *infer, const char *sink)
{
  Fixture fixture = { .model = test_colour_model (dtype),
                      .labels = test_text_file ("labels.txt", "red\ngreen\nblue\n") };
  g_autofree char *launch =
    g_strdup_printf ("slnormalize %s ! slinfer model=%s labels=%s %s ! slpostprocess", normalize,
                     fixture.model, fixture.labels, infer);
  fixture.harness = gst_harness_new_parse (launch);
  fixture.bus = test_watch (fixture.harness->element);
  gst_harness_set_sink_caps_str (fixture.harness, sink);
  return fixture;
}

static void
teardown (Fixture *fixture)
{
  test_line_close (fixture->harness, fixture->bus);
  test_remove_file (fixture->model);
  test_remove_file (fixture->labels);
  g_free (fixture->model);
  g_free (fixture->labels);
}

#define RGB_CAPS "video/x-raw,format=RGB,width=20,height=12,framerate=25/1"
#define TEXT_CAPS "text/x-raw,format=utf8"

typedef struct
{
  const char *name;
  SlDtype dtype;
  const char *normalize, *infer, *caps;
  guint8 values[3];
  const char *answer;
} ColourCase;

static const ColourCase colour_cases[] = {
  { "uint8", SL_DTYPE_U8, "", "", RGB_CAPS, { 255, 0, 0 }, "red\n" },
  { "uint8-green", SL_DTYPE_U8, "", "", RGB_CAPS, { 10, 200, 30 }, "green\n" },
  { "int8", SL_DTYPE_I8, "", "", RGB_CAPS, { 0, 10, 200 }, "blue\n" },
  { "float32", SL_DTYPE_F32, "", "mean=0 std=255", RGB_CAPS, { 0, 10, 200 }, "blue\n" },
  { "float32-here", SL_DTYPE_F32, "mean=127.5 std=127.5", "", RGB_CAPS, { 0, 200, 20 }, "green\n" },
  { "bgr-model", SL_DTYPE_U8, "", "colour=BGR", RGB_CAPS, { 255, 0, 0 }, "blue\n" },
  { "bgr-both", SL_DTYPE_U8, "colour=BGR", "colour=BGR", RGB_CAPS, { 255, 0, 0 }, "blue\n" },
  { "same-said",
    SL_DTYPE_U8,
    "colour=RGB width=4 height=4 type=uint8 layout=NHWC",
    "threads=2",
    RGB_CAPS,
    { 255, 0, 0 },
    "red\n" },
  { "nv12",
    SL_DTYPE_U8,
    "",
    "",
    "video/x-raw,format=NV12,width=33,height=17,framerate=25/1,colorimetry=bt601",
    { 81, 90, 240 },
    "red\n" },
  { "one-pixel",
    SL_DTYPE_U8,
    "",
    "",
    "video/x-raw,format=I420,width=1,height=1,framerate=25/1,colorimetry=bt601",
    { 145, 54, 34 },
    "green\n" },
};

static void
test_colour (gconstpointer data)
{
  const ColourCase *test = data;
  Fixture fixture = setup (test->dtype, test->normalize, test->infer, TEXT_CAPS);
  gst_harness_set_src_caps_str (fixture.harness, test->caps);
  g_assert_cmpint (gst_harness_push (fixture.harness, test_frame (test->caps, test->values, 0)), ==,
                   GST_FLOW_OK);
  test_assert_no_error (fixture.bus);
  g_autofree char *text = test_take_text (gst_harness_pull (fixture.harness));
  g_assert_cmpstr (text, ==, test->answer);
  teardown (&fixture);
}

typedef struct
{
  const char *name;
  SlDtype dtype;
  const char *normalize, *infer;
  const char *has[4];
} RefusalCase;

static const RefusalCase refusal_cases[] = {
  { "colour",
    SL_DTYPE_U8,
    "colour=BGR",
    "",
    { "wants colour=RGB", "colour=BGR", "colour.tflite" } },
  { "colour-model", SL_DTYPE_U8, "colour=RGB", "colour=BGR", { "wants colour=BGR", "colour=RGB" } },
  { "width", SL_DTYPE_U8, "width=5", "", { "wants width=4", "width=5" } },
  { "height", SL_DTYPE_U8, "height=300", "", { "wants height=4", "height=300" } },
  { "type", SL_DTYPE_I8, "type=uint8", "", { "wants type=int8", "type=uint8" } },
  { "layout", SL_DTYPE_U8, "layout=NCHW", "", { "wants layout=NHWC", "layout=NCHW" } },
  { "mean", SL_DTYPE_F32, "mean=3", "mean=127.5 std=127.5", { "wants mean=127.5", "mean=3" } },
  { "std", SL_DTYPE_F32, "std=3", "mean=0 std=255", { "wants std=255", "std=3" } },
  { "range", SL_DTYPE_F32, "", "", { "mean", "std", "modelinfo" } },
};

static void
test_refusal (gconstpointer data)
{
  const RefusalCase *test = data;
  Fixture fixture = setup (test->dtype, test->normalize, test->infer, TEXT_CAPS);
  gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint (gst_harness_push (fixture.harness, test_frame (RGB_CAPS, red, 0)), !=,
                     GST_FLOW_OK);
  test_assert_error (fixture.bus, test->has[0], test->has[1], test->has[2], test->has[3], NULL);
  teardown (&fixture);
}

/* A capsfilter in between that no model input fits: one error, from the element that sees both
 * sides. */
static void
test_capsfilter (void)
{
  g_autofree char *model = test_colour_model (SL_DTYPE_U8);
  g_autofree char *launch = g_strdup_printf (
    "slnormalize mean=0 std=1 ! other/tensors,format=static,num_tensors=1,dimensions=3:4:4:1,"
    "types=float32 ! slinfer model=%s ! slpostprocess",
    model);
  TestLine line = test_line_open (launch, NULL, RGB_CAPS);
  g_assert_cmpint (gst_harness_push (line.harness, test_frame (RGB_CAPS, red, 0)), !=, GST_FLOW_OK);
  test_assert_error (line.bus, "expected uint8[1,4,4,3]", "got float32[1,4,4,3]", NULL);
  test_line_close (line.harness, line.bus);
  test_remove_file (model);
}

/* Video out: the very buffer that went in, one frame after the other from a pool, with the label on
 * it. */
static void
test_video (void)
{
  Fixture fixture = setup (SL_DTYPE_U8, "", "", "video/x-raw");
  gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
  for (guint i = 0; i < 8; i++) {
    GstBuffer *in = test_frame (RGB_CAPS, i % 2 == 0 ? red : green, i * GST_SECOND);
    g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_OK);
    test_assert_no_error (fixture.bus);
    GstBuffer *out = gst_harness_pull (fixture.harness);
    g_assert_true (out == in);
    g_assert_true (gst_buffer_is_writable (out));
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, i * GST_SECOND);
    GstVideoRegionOfInterestMeta *region = gst_buffer_get_video_region_of_interest_meta_id (out, 0);
    g_assert_nonnull (region);
    g_assert_cmpstr (g_quark_to_string (region->roi_type), ==, i % 2 == 0 ? "red" : "green");
    g_assert_cmpuint (region->w, ==, 20);
    g_assert_cmpuint (region->h, ==, 12);
    GstStructure *classification =
      gst_video_region_of_interest_meta_get_param (region, "classification");
    gdouble confidence = 0;
    g_assert_true (gst_structure_get_double (classification, "confidence", &confidence));
    g_assert_cmpfloat_with_epsilon (confidence, 1.0, 1e-6);
    SlFrameMeta *times = sl_buffer_get_frame_meta (out);
    g_assert_cmpint (times->captured, <=, times->preprocessed);
    g_assert_cmpint (times->preprocessed, <=, times->inferred);
    g_assert_cmpint (times->inferred, <=, times->decoded);
    gst_buffer_unref (out);
  }
  teardown (&fixture);
}

static void
test_caps_change (void)
{
  static const char *const caps[] = { RGB_CAPS,
                                      "video/x-raw,format=BGRx,width=7,height=31,framerate=5/1",
                                      RGB_CAPS };
  Fixture fixture = setup (SL_DTYPE_U8, "", "", "video/x-raw");
  for (guint i = 0; i < G_N_ELEMENTS (caps); i++) {
    gst_harness_set_src_caps_str (fixture.harness, caps[i]);
    g_assert_cmpint (gst_harness_push (fixture.harness, test_frame (caps[i], red, 0)), ==,
                     GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    GstVideoRegionOfInterestMeta *region = gst_buffer_get_video_region_of_interest_meta_id (out, 0);
    g_assert_cmpstr (g_quark_to_string (region->roi_type), ==, "red");
    g_autoptr (GstCaps) expected = gst_caps_from_string (caps[i]);
    g_autoptr (GstCaps) got = gst_pad_get_current_caps (fixture.harness->sinkpad);
    g_assert_true (gst_caps_is_equal (got, expected));
  }
  teardown (&fixture);
}

/* Runs a pipeline to its end; returns its sink's text, or the message of its first error. */
static char *
run (const char *launch, gboolean *failed)
{
  g_autoptr (GError) error = NULL;
  GString *text = g_string_new (NULL);
  GstElement *pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstStateChangeReturn started = gst_element_set_state (pipeline, GST_STATE_PLAYING);
  *failed = started == GST_STATE_CHANGE_FAILURE;
  for (;;) {
    g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS | GST_MESSAGE_ELEMENT);
    g_assert_nonnull (message);
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
      g_autoptr (GError) posted = NULL;
      gst_message_parse_error (message, &posted, NULL);
      g_string_assign (text, posted->message);
      *failed = TRUE;
      break;
    }
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
      break;
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return g_string_free (text, FALSE);
}

/* The same into a file, which is read back. */
static char *
run_to_file (const char *launch)
{
  gboolean failed = FALSE;
  g_autofree char *path = test_text_file ("out.txt", "");
  g_autofree char *whole = g_strdup_printf ("%s ! filesink name=sink location=%s", launch, path);
  g_autofree char *problem = run (whole, &failed);
  char *text = NULL;
  if (failed)
    g_error ("%s: %s", launch, problem);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  test_remove_file (path);
  return text;
}

static void
test_launch (void)
{
  g_autofree char *model = test_colour_model (SL_DTYPE_U8);
  g_autofree char *launch = g_strdup_printf (
    "videotestsrc num-buffers=3 pattern=green ! video/x-raw,format=I420,width=64,height=48,"
    "framerate=5/1 ! slnormalize ! queue ! slinfer model=%s ! queue ! slpostprocess ! text/x-raw",
    model);
  g_autofree char *text = run_to_file (launch);
  g_assert_cmpstr (text, ==, "1\n1\n1\n");
  test_remove_file (model);
}

static void
test_launch_errors (void)
{
  gboolean failed = FALSE;
  g_autofree char *missing =
    run ("videotestsrc num-buffers=1 ! slnormalize ! slinfer model=/nonexistent.tflite ! fakesink "
         "name=sink",
         &failed);
  g_assert_true (failed);
  g_assert_nonnull (strstr (missing, "/nonexistent.tflite"));
  g_autofree char *model = test_colour_model (SL_DTYPE_F32);
  g_autofree char *launch = g_strdup_printf (
    "videotestsrc num-buffers=1 ! slnormalize ! slinfer model=%s ! fakesink name=sink", model);
  g_autofree char *unknown = run (launch, &failed);
  g_assert_true (failed);
  g_assert_nonnull (strstr (unknown, "mean"));
  test_remove_file (model);
}

/* A source of bytes where video is wanted: a decoder was forgotten. */
static void
test_launch_without_caps (void)
{
  static const char *const elements[] = { "slnormalize", "slresize", "sloverlay" };
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    gboolean failed = FALSE;
    g_autoptr (GstElementFactory) factory = gst_element_factory_find (elements[i]);
    if (factory == NULL)
      continue;
    g_autofree char *launch = g_strdup_printf (
      "fakesrc num-buffers=1 sizetype=fixed filltype=zero ! %s ! fakesink name=sink", elements[i]);
    g_autofree char *expected =
      g_strdup_printf ("(no caps), expected raw video: put decodebin before %s", elements[i]);
    g_autofree char *problem = run (launch, &failed);
    g_assert_true (failed);
    g_assert_nonnull (strstr (problem, expected));
  }
}

static void
test_real_label (void)
{
  g_autofree char *model = sl_test_data ("models/mobilenet_v2_1.0_224_quant.tflite");
  g_autofree char *labels = model != NULL ? sl_test_data ("models/imagenet_labels.txt") : NULL;
  g_autofree char *picture = labels != NULL ? sl_test_data ("images/grace_hopper.bmp") : NULL;
  if (picture == NULL)
    return;
  g_autofree char *launch = g_strdup_printf (
    "filesrc location=%s ! decodebin ! videoconvert ! video/x-raw,format=I420 ! slnormalize ! "
    "slinfer model=%s labels=%s ! slpostprocess ! text/x-raw",
    picture, model, labels);
  g_autofree char *text = run_to_file (launch);
  g_assert_cmpstr (text, ==, "military uniform\n");
}

static void
test_real_boxes (void)
{
  g_autofree char *model = sl_test_data ("models/ssd_mobilenet_v1.tflite");
  g_autofree char *labels = model != NULL ? sl_test_data ("models/coco_labels.txt") : NULL;
  g_autofree char *picture = labels != NULL ? sl_test_data ("images/bus.jpg") : NULL;
  if (picture == NULL)
    return;
  g_autofree char *launch = g_strdup_printf (
    "filesrc location=%s ! decodebin ! videoconvert ! slnormalize ! slinfer model=%s ! "
    "slpostprocess labels=%s ! application/x-json",
    picture, model, labels);
  g_autofree char *json = run_to_file (launch);
  g_test_message ("%s", json);
  g_assert_nonnull (strstr (json, "\"resolution\":{\"width\":810,\"height\":1080}"));
  g_assert_nonnull (strstr (json, "\"roi_type\":\"person\""));
  g_assert_true (strstr (json, "\"roi_type\":\"truck\"") != NULL
                 || strstr (json, "\"roi_type\":\"bus\"") != NULL);
}

static void
test_real_person (void)
{
  static const struct
  {
    const char *picture, *answer;
  } cases[] = { { "images/grace_hopper.bmp", "1\n" }, { "images/no_person.bmp", "0\n" } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *model = sl_test_data ("models/person_detect.tflite");
    g_autofree char *picture = model != NULL ? sl_test_data (cases[i].picture) : NULL;
    if (picture == NULL)
      return;
    g_autofree char *launch = g_strdup_printf (
      "filesrc location=%s ! decodebin ! videoconvert ! slnormalize ! slinfer model=%s ! "
      "slpostprocess ! text/x-raw",
      picture, model);
    g_autofree char *text = run_to_file (launch);
    g_assert_cmpstr (text, ==, cases[i].answer);
  }
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  TEST_ADD_CASES ("/pipeline/colour", colour_cases, test_colour);
  TEST_ADD_CASES ("/pipeline/refusal", refusal_cases, test_refusal);
  g_test_add_func ("/pipeline/capsfilter", test_capsfilter);
  g_test_add_func ("/pipeline/video", test_video);
  g_test_add_func ("/pipeline/caps-change", test_caps_change);
  g_test_add_func ("/pipeline/launch", test_launch);
  g_test_add_func ("/pipeline/launch-errors", test_launch_errors);
  g_test_add_func ("/pipeline/launch-without-caps", test_launch_without_caps);
  g_test_add_func ("/pipeline/real/label", test_real_label);
  g_test_add_func ("/pipeline/real/boxes", test_real_boxes);
  g_test_add_func ("/pipeline/real/person", test_real_person);
  return test_elements_run ();
}
