/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Predictions on frames that GStreamer's own elements convert and scale: what they say of objects
 * is still there. */
#include <gst/check/gstharness.h>
#include <string.h>

#include "plugins/meta/map/downstream.h"
#include "plugins/meta/predictions.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define CAPS "video/x-raw,format=RGB,width=64,height=48,framerate=25/1"

static GstBuffer *
frame_with (guint n_objects)
{
  static const SlPoint points[] = { { 8, 12, 0.75 }, { 16, 24, 0.5 } };
  SlObjectView objects[] = {
    { .x = 4,
      .y = 6,
      .w = 16,
      .h = 24,
      .x_min = 4,
      .y_min = 6,
      .x_max = 20,
      .y_max = 30,
      .confidence = 0.625,
      .label = "cup",
      .label_id = 3,
      .object_id = 7,
      .n_points = 2,
      .points = points },
    { .x = 40,
      .y = 20,
      .w = 8,
      .h = 8,
      .x_min = 40,
      .y_min = 20,
      .x_max = 48,
      .y_max = 28,
      .confidence = 0.25,
      .label = "cat" },
  };
  const SlLabelled label = { .label = "indoors", .label_id = 1, .confidence = 0.875 };
  const SlPredictionView prediction = { .width = 64,
                                        .height = 48,
                                        .n_objects = n_objects,
                                        .objects = objects,
                                        .n_labels = 1,
                                        .labels = &label };
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 64 * 48 * 3, NULL);
  gst_buffer_memset (frame, 0, 0x80, 64 * 48 * 3);
  sl_buffer_add_prediction (frame, &prediction, NULL);
  return frame;
}

/* Frames of @scale times the size. */
static void
expect_predictions (GstBuffer *frame, guint n_objects, double scale)
{
  SlPredictionReader reader;
  SlPredictionView seen = { .width = (gint) (64 * scale), .height = (gint) (48 * scale) };
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, frame, &seen);
  g_assert_cmpuint (seen.n_objects, ==, n_objects);
  g_assert_cmpuint (seen.n_labels, ==, 1);
  g_assert_cmpstr (seen.labels[0].label, ==, "indoors");
  g_assert_cmpfloat (seen.labels[0].confidence, ==, 0.875);
  g_assert_cmpstr (seen.objects[0].label, ==, "cup");
  g_assert_cmpfloat (seen.objects[0].confidence, ==, 0.625);
  g_assert_cmpint (seen.objects[0].label_id, ==, 3);
  g_assert_cmpint (seen.objects[0].object_id, ==, 7);
  g_assert_cmpuint (seen.objects[0].n_points, ==, 2);
  g_assert_cmpfloat (seen.objects[0].points[0].confidence, ==, 0.75);
  if (n_objects > 1)
    g_assert_cmpfloat (seen.objects[1].confidence, ==, 0.25);
  sl_prediction_reader_clear (&reader);
}

static const struct
{
  const char *name, *launch;
  double scale;
} lines[] = {
  { "format", "videoconvert ! video/x-raw,format=NV12 ! identity", 1 },
  { "smaller", "videoscale ! video/x-raw,width=32,height=24 ! identity", 0.5 },
  { "twice",
    "videoconvert ! video/x-raw,format=I420 ! videoscale ! video/x-raw,width=128,height=96 ! "
    "videoconvert ! video/x-raw,format=BGRx ! identity",
    2 },
  { "copied", "tee ! queue ! identity", 1 },
};

static void
test_line (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  for (guint n = 1; n <= 2; n++) {
    g_autoptr (GstBuffer) out =
      test_line_run (lines[i].launch, "video/x-raw", CAPS, frame_with (n));
    expect_predictions (out, n, lines[i].scale);
  }
}

/* Objects that come later are kept, too, and those of before not twice. */
static void
test_more (void)
{
  GstBuffer *frame = frame_with (1);
  const SlObjectView object = { .x = 1,
                                .y = 1,
                                .w = 5,
                                .h = 5,
                                .x_min = 1,
                                .y_min = 1,
                                .x_max = 6,
                                .y_max = 6,
                                .confidence = 0.125,
                                .label = "dog" };
  const SlPredictionView more = { .width = 64, .height = 48, .n_objects = 1, .objects = &object };
  SlPredictionReader reader;
  SlPredictionView seen = { .width = 64, .height = 48 };
  sl_buffer_add_prediction (frame, &more, NULL);
  g_autoptr (GstBuffer) out = test_line_run ("videoconvert ! video/x-raw,format=GRAY8 ! identity",
                                             "video/x-raw", CAPS, frame);
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, out, &seen);
  g_assert_cmpuint (seen.n_objects, ==, 2);
  g_assert_cmpfloat (seen.objects[0].confidence, ==, 0.625);
  g_assert_cmpfloat (seen.objects[1].confidence, ==, 0.125);
  sl_prediction_reader_clear (&reader);
}

/* A frame of 64x48 with a cup at 8,12 of 16x24, whose point lies at 12,30 and whose code's first
 * corner at 8,12; and the name of the frame. */
static GstBuffer *
frame_with_parts (void)
{
  static const SlPoint point = { 12. / 64, 30. / 48, 0.75 };
  const SlCodeView code = { .symbology = "ean-8",
                            .text = "4",
                            .bytes = (const guint8 *) "4",
                            .n_bytes = 1,
                            .quality = 1,
                            .corners = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } } };
  const SlObjectView cup = { .x = 8,
                             .y = 12,
                             .w = 16,
                             .h = 24,
                             .x_min = 8. / 64,
                             .y_min = 12. / 48,
                             .x_max = 24. / 64,
                             .y_max = 36. / 48,
                             .confidence = 0.625,
                             .label = "cup",
                             .n_points = 1,
                             .points = &point,
                             .code = &code };
  const SlLabelled label = { .label = "indoors", .label_id = 1, .confidence = 0.875 };
  const SlPredictionView prediction = {
    .width = 64, .height = 48, .n_objects = 1, .objects = &cup, .n_labels = 1, .labels = &label
  };
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 64 * 48 * 3, NULL);
  gst_buffer_memset (frame, 0, 0x80, 64 * 48 * 3);
  GST_BUFFER_PTS (frame) = 0;
  sl_buffer_add_prediction (frame, &prediction, NULL);
  return frame;
}

/* Where the cup (x, y, w, h), its point and the code's first corner are then; a width of 0: it is
 * gone. */
static const struct
{
  const char *name, *launch;
  gint width, height, box[4];
  double point[2], corner[2];
} moves[] = {
  { "crop", "videocrop left=4 top=2 right=6", 54, 46, { 4, 10, 16, 24 }, { 8, 28 }, { 4, 10 } },
  { "crop-object",
    "videocrop left=10 bottom=18",
    54,
    30,
    { 0, 12, 14, 18 },
    { 2, 30 },
    { -2, 12 } },
  { "crop-all", "videocrop left=40", 24, 48, { 0 } },
  { "crop-auto",
    "videocrop left=-1 right=-1 ! video/x-raw,width=60 ! identity",
    60,
    48,
    { 6, 12, 16, 24 },
    { 10, 30 },
    { 6, 12 } },
  { "box", "videobox left=-8 top=4", 72, 44, { 16, 8, 16, 24 }, { 20, 26 }, { 16, 8 } },
  { "box-auto",
    "videobox autocrop=true ! video/x-raw,width=72,height=40 ! identity",
    72,
    40,
    { 12, 8, 16, 24 },
    { 16, 26 },
    { 12, 8 } },
  { "mirror",
    "videoflip video-direction=horiz",
    64,
    48,
    { 40, 12, 16, 24 },
    { 52, 30 },
    { 56, 12 } },
  { "upside", "videoflip video-direction=vert", 64, 48, { 8, 12, 16, 24 }, { 12, 18 }, { 8, 36 } },
  { "half", "videoflip video-direction=180", 64, 48, { 40, 12, 16, 24 }, { 52, 18 }, { 56, 36 } },
  { "right", "videoflip video-direction=90r", 48, 64, { 12, 8, 24, 16 }, { 18, 12 }, { 36, 8 } },
  { "left", "videoflip video-direction=90l", 48, 64, { 12, 40, 24, 16 }, { 30, 52 }, { 12, 56 } },
  { "diagonal",
    "videoflip video-direction=ul-lr",
    48,
    64,
    { 12, 8, 24, 16 },
    { 30, 12 },
    { 12, 8 } },
  { "other-diagonal",
    "videoflip video-direction=ur-ll",
    48,
    64,
    { 12, 40, 24, 16 },
    { 18, 52 },
    { 36, 56 } },
  { "borders",
    "videoscale ! video/x-raw,width=128,height=128,pixel-aspect-ratio=1/1 ! identity",
    128,
    128,
    { 16, 40, 32, 48 },
    { 24, 76 },
    { 16, 40 } },
  { "sides",
    "videoscale ! video/x-raw,width=100,height=48,pixel-aspect-ratio=1/1 ! identity",
    100,
    48,
    { 26, 12, 16, 24 },
    { 30, 30 },
    { 26, 12 } },
  { "stretched",
    "videoscale add-borders=false ! video/x-raw,width=128,height=48 ! identity",
    128,
    48,
    { 16, 12, 32, 24 },
    { 24, 30 },
    { 16, 12 } },
  { "both",
    "videoflip video-direction=180 ! queue ! videocrop top=10 ! videoscale ! "
    "video/x-raw,width=32,height=19 ! identity",
    32,
    19,
    { 20, 1, 8, 12 },
    { 26, 4 },
    { 28, 13 } },
};

static void
test_move (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  GstHarness *harness = gst_harness_new_parse (moves[i].launch);
  SlPredictionReader reader;
  SlPredictionView seen = { .width = moves[i].width, .height = moves[i].height };
  gst_harness_set_src_caps_str (harness, CAPS ",pixel-aspect-ratio=1/1");
  sl_results_follow (harness->srcpad);
  sl_results_follow (harness->srcpad);
  g_assert_cmpint (gst_harness_push (harness, frame_with_parts ()), ==, GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (harness);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (harness->sinkpad);
  GstVideoInfo info;
  g_assert_true (gst_video_info_from_caps (&info, caps));
  g_assert_cmpint (info.width, ==, moves[i].width);
  g_assert_cmpint (info.height, ==, moves[i].height);
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, out, &seen);
  g_assert_cmpuint (seen.n_labels, ==, 1);
  g_assert_cmpstr (seen.labels[0].label, ==, "indoors");
  g_assert_cmpuint (seen.n_objects, ==, moves[i].box[2] > 0);
  if (seen.n_objects > 0) {
    const SlObjectView *cup = &seen.objects[0];
    const gint *box = moves[i].box;
    const double left = cup->x_min * seen.width, top = cup->y_min * seen.height;
    const double width = (cup->x_max - cup->x_min) * seen.width,
                 height = (cup->y_max - cup->y_min) * seen.height;
    g_assert_cmpint (cup->x, ==, box[0]);
    g_assert_cmpint (cup->y, ==, box[1]);
    g_assert_cmpint (cup->w, ==, box[2]);
    g_assert_cmpint (cup->h, ==, box[3]);
    g_assert_cmpfloat (cup->confidence, ==, 0.625);
    g_assert_cmpuint (cup->n_points, ==, 1);
    g_assert_cmpfloat_with_epsilon (cup->points[0].x * seen.width, moves[i].point[0], 1e-4);
    g_assert_cmpfloat_with_epsilon (cup->points[0].y * seen.height, moves[i].point[1], 1e-4);
    g_assert_cmpfloat_with_epsilon (left + cup->code->corners[0][0] * width, moves[i].corner[0],
                                    1e-4);
    g_assert_cmpfloat_with_epsilon (top + cup->code->corners[0][1] * height, moves[i].corner[1],
                                    1e-4);
  }
  sl_prediction_reader_clear (&reader);
  gst_harness_teardown (harness);
}

/* Links without questions about caps, which GStreamer itself asks along every way. */
static void
join (GstElement *from, const char *source, GstElement *to, const char *sink)
{
  g_assert_true (gst_element_link_pads_full (from, source, to, sink, GST_PAD_LINK_CHECK_NOTHING));
}

/* Branches that split and meet many times are followed once each, to their very end: 2 to the power
 * of 60 ways lead to a mirror. */
static void
test_diamonds (void)
{
  g_autoptr (GstElement) bin = gst_object_ref_sink (gst_bin_new (NULL));
  GstElement *first = gst_element_factory_make ("identity", NULL),
             *last = gst_element_factory_make ("videoflip", NULL), *before = first;
  g_autoptr (GstPad) source = gst_element_get_static_pad (first, "src");
  SlPredictionReader reader;
  SlPredictionView seen = { .width = 64, .height = 48 };
  gst_bin_add_many (GST_BIN (bin), first, last, NULL);
  for (guint i = 0; i < 60; i++) {
    GstElement *tee = gst_element_factory_make ("tee", NULL),
               *funnel = gst_element_factory_make ("funnel", NULL);
    gst_bin_add_many (GST_BIN (bin), tee, funnel, NULL);
    join (before, "src", tee, "sink");
    join (tee, "src_%u", funnel, "sink_%u");
    join (tee, "src_%u", funnel, "sink_%u");
    before = funnel;
  }
  join (before, "src", last, "sink");
  sl_results_follow (source);
  gst_element_unlink (before, last);
  gst_object_ref (last);
  gst_bin_remove (GST_BIN (bin), last);
  gst_util_set_object_arg (G_OBJECT (last), "video-direction", "horiz");
  GstHarness *harness = gst_harness_new_with_element (last, "sink", "src");
  gst_harness_set_src_caps_str (harness, CAPS);
  g_assert_cmpint (gst_harness_push (harness, frame_with_parts ()), ==, GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (harness);
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, out, &seen);
  g_assert_cmpuint (seen.n_objects, ==, 1);
  g_assert_cmpint (seen.objects[0].x, ==, 40);
  sl_prediction_reader_clear (&reader);
  gst_harness_teardown (harness);
  gst_object_unref (last);
}

/* A picture that is bent has nothing in it, and the element says why, once. */
static void
test_bent (void)
{
  g_autoptr (GstElementFactory) rotate = gst_element_factory_find ("rotate");
  if (rotate == NULL) {
    g_test_skip ("GStreamer has no element rotate");
    return;
  }
  GstHarness *harness = gst_harness_new_parse ("videoconvert ! rotate angle=0.3 ! videoconvert");
  g_autoptr (GstBus) bus = gst_bus_new ();
  gst_element_set_bus (harness->element, bus);
  gst_harness_set_src_caps_str (harness, CAPS);
  sl_results_follow (harness->srcpad);
  for (guint i = 0; i < 2; i++) {
    g_assert_cmpint (gst_harness_push (harness, frame_with_parts ()), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (harness);
    g_assert_false (sl_buffer_has_predictions (out));
  }
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  g_autoptr (GError) warning = NULL;
  g_assert_nonnull (message);
  gst_message_parse_warning (message, &warning, NULL);
  g_assert_nonnull (strstr (
    warning->message,
    "does not fit the pictures of rotate0, which bends them: it is left out; put the model behind "
    "it"));
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
  gst_element_set_bus (harness->element, NULL);
  gst_harness_teardown (harness);
}

TEST_MAIN (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_autofree char *name = g_strdup_printf ("/converted/%s", lines[i].name);
    g_test_add_data_func (name, GUINT_TO_POINTER (i), test_line);
  }
  g_test_add_func ("/converted/more", test_more);
  for (guint i = 0; i < G_N_ELEMENTS (moves); i++) {
    g_autofree char *name = g_strdup_printf ("/converted/moved/%s", moves[i].name);
    g_test_add_data_func (name, GUINT_TO_POINTER (i), test_move);
  }
  g_test_add_func ("/converted/diamonds", test_diamonds);
  g_test_add_func ("/converted/bent", test_bent);
  return g_test_run ();
}
