/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sltrack appearance=MODEL on drawn frames: people in two colours who come back, and a model that
 * gives the mean colours of a grid. Then models and settings that cannot be.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "plugins/tensor/embedder.h"
#include "tests/elements/people.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"

#define SETTINGS "appearance-settings=\"mean=127.5 std=127.5\""

static const TestClothes red_over_blue = { { 220, 30, 30 }, { 20, 20, 210 } },
                         green_over_yellow = { { 20, 200, 40 }, { 230, 220, 30 } },
                         standing = { { 240, 240, 240 }, { 40, 40, 40 } };

/* One stands at 200 all the time; another one, at 40, is away for @gone frames. What is at 90 then,
 * in @clothes? Returns its id. */
static gint
come_back (TestLine *line, guint gone, const TestClothes clothes)
{
  gint id = 0;
  for (guint i = 0; i < 10 + gone + 3; i++) {
    GstBuffer *in = test_people_frame (i);
    test_people_add (in, 200, 100, standing);
    if (i < 10)
      test_people_add (in, 40, 100, red_over_blue);
    else if (i >= 10 + gone)
      test_people_add (in, 90, 110, clothes);
    g_assert_cmpint (gst_harness_push (line->harness, in), ==, GST_FLOW_OK);
    GstBuffer *out = gst_harness_pull (line->harness);
    g_assert_cmpint (test_id_at (out, 200), ==, 1);
    if (i < 10)
      g_assert_cmpint (test_id_at (out, 40), ==, 2);
    id = test_id_at (out, 90);
    gst_buffer_unref (out);
  }
  return id;
}

typedef struct
{
  const char *name, *format, *properties;
  guint gone;
  gboolean other, found; /* other clothes; the id is the same */
} Return;

static const Return returns[] = {
  { "rgb", "RGB", "", 60, FALSE, TRUE },
  { "i420", "I420", "", 60, FALSE, TRUE },
  { "nv12", "NV12", "", 60, FALSE, TRUE },
  { "bgrx", "BGRx", "", 60, FALSE, TRUE },
  { "batch", "RGB", "appearance-batch=2", 60, FALSE, TRUE },
  { "one-by-one", "RGB", "appearance-batch=1", 60, FALSE, TRUE },
  { "soon", "RGB", "", 12, FALSE, TRUE },
  { "others-clothes", "RGB", "", 60, TRUE, FALSE },
  { "others-clothes-soon", "RGB", "", 12, TRUE, FALSE },
  { "short-memory", "RGB", "appearance-memory=40", 60, FALSE, FALSE },
  { "strict", "RGB", "appearance-threshold=1", 60, FALSE, FALSE },
  { "oc-sort", "RGB", "observation-centred=true", 60, FALSE, TRUE },
};

static void
test_return (gconstpointer data)
{
  const Return *how = data;
  g_autofree char *model = test_looks_file (1);
  g_autofree char *launch =
    g_strdup_printf ("videoconvert ! video/x-raw,format=%s ! sltrack appearance=%s " SETTINGS " %s",
                     how->format, model, how->properties);
  TestLine line = test_line_open (launch, NULL, TEST_PEOPLE_CAPS);
  const gint id = come_back (&line, how->gone, how->other ? green_over_yellow : red_over_blue);
  g_assert_cmpint (id, ==, how->found ? 2 : 3);
  test_assert_no_error (line.bus);
  test_line_close (line.harness, line.bus);
  test_remove_file (model);
}

/* A quantised TensorFlow Lite model: the mean colour alone, whose cosines are high for all. */
static void
test_quantised (void)
{
  g_autofree char *model = test_sized_colour_model (SL_DTYPE_U8, 8);
  g_autofree char *launch = g_strdup_printf ("sltrack appearance=%s appearance-batch=1", model);
  TestLine line = test_line_open (launch, NULL, TEST_PEOPLE_CAPS);
  g_assert_cmpint (come_back (&line, 60, red_over_blue), ==, 2);
  test_assert_no_error (line.bus);
  test_line_close (line.harness, line.bus);
  line = test_line_open (launch, NULL, TEST_PEOPLE_CAPS);
  g_assert_cmpint (come_back (&line, 60, green_over_yellow), ==, 3);
  test_line_close (line.harness, line.bus);
  test_remove_file (model);
}

/* The model's time is part of a live pipeline's latency: here that of a model of many pixels. */
static void
test_latency (void)
{
  g_autofree char *model = test_sized_colour_model (SL_DTYPE_U8, 1600);
  g_autofree char *launch = g_strdup_printf ("sltrack appearance=%s appearance-batch=1", model);
  for (guint with = 0; with < 2; with++) {
    TestLine line = test_line_open (with ? launch : "sltrack", NULL, TEST_PEOPLE_CAPS);
    gst_harness_set_live (line.harness, TRUE);
    g_assert_cmpuint (gst_harness_query_latency (line.harness), ==, 0);
    for (guint i = 0; i < 20; i++) {
      GstBuffer *in = test_people_frame (i);
      test_people_add (in, 100, 100, standing);
      test_people_add (in, 110, 100, red_over_blue);
      g_assert_cmpint (gst_harness_push (line.harness, in), ==, GST_FLOW_OK);
      gst_buffer_unref (gst_harness_pull (line.harness));
    }
    g_assert_true ((gst_harness_query_latency (line.harness) > 0) == with);
    test_assert_no_error (line.bus);
    test_line_close (line.harness, line.bus);
  }
  test_remove_file (model);
}

/* Without a model, a person who comes back that late is a new object. */
static void
test_without (void)
{
  TestLine line = test_line_open ("sltrack", NULL, TEST_PEOPLE_CAPS);
  g_assert_cmpint (come_back (&line, 60, red_over_blue), ==, 3);
  test_assert_no_error (line.bus);
  test_line_close (line.harness, line.bus);
}

static guint
count_warnings (GstBus *bus, char **text)
{
  GstMessage *message;
  guint n = 0;
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING)) != NULL) {
    g_autoptr (GError) warning = NULL;
    gst_message_parse_warning (message, &warning, NULL);
    g_free (*text);
    *text = g_strdup (warning->message);
    gst_message_unref (message);
    n++;
  }
  return n;
}

/* A model that gives NaN or zeros: said once, and ids are those of motion. */
static void
test_blank (gconstpointer data)
{
  const gfloat factor = GPOINTER_TO_INT (data) ? NAN : 0;
  g_autofree char *model = test_looks_file (factor), *text = NULL;
  g_autofree char *launch =
    g_strdup_printf ("sltrack appearance=%s appearance-batch=1 " SETTINGS, model);
  TestLine line = test_line_open (launch, NULL, TEST_PEOPLE_CAPS);
  g_assert_cmpint (come_back (&line, 60, red_over_blue), ==, 3);
  g_assert_cmpuint (count_warnings (line.bus, &text), ==, 1);
  g_autofree char *expected = g_strdup_printf (
    "appearance=%s: 2 of 2 embeddings are zeros or not finite; such objects are tracked by motion "
    "alone. Expected a model for pictures of this kind; mean and std of its input may be wrong",
    model);
  g_assert_cmpstr (text, ==, expected);
  test_assert_no_error (line.bus);
  test_line_close (line.harness, line.bus);
  test_remove_file (model);
}

/* A second run loads the model again, and knows nobody of the first. */
static void
test_again (void)
{
  g_autofree char *model = test_looks_file (1);
  g_autofree char *launch =
    g_strdup_printf ("sltrack appearance=%s appearance-batch=1 " SETTINGS, model);
  TestLine line = test_line_open (launch, NULL, TEST_PEOPLE_CAPS);
  GstElement *element = gst_harness_find_element (line.harness, "sltrack");
  g_assert_cmpint (come_back (&line, 60, red_over_blue), ==, 2);
  gst_element_set_state (element, GST_STATE_READY);
  g_object_set (element, "appearance", NULL, "next-id", 1, NULL);
  gst_element_set_state (element, GST_STATE_PLAYING);
  gst_harness_push_event (line.harness, gst_event_new_flush_stop (TRUE));
  gst_harness_set_src_caps_str (line.harness, TEST_PEOPLE_CAPS);
  g_assert_cmpint (come_back (&line, 60, red_over_blue), ==, 3);
  gst_object_unref (element);
  test_assert_no_error (line.bus);
  test_line_close (line.harness, line.bus);
  test_remove_file (model);
}

/* %s is the model's file. */
static const struct
{
  const char *name, *properties, *message;
} refusals[] = {
  { "no-file", "appearance=/nowhere/looks.onnx", "appearance: /nowhere/looks.onnx: " },
  { "no-range", "appearance=%s", "; of a model of appearance=, state it in appearance-settings" },
  { "unknown-setting", "appearance=%s appearance-settings=\"size=3\"",
    "appearance: appearance-settings: \"size=3\": expected NAME=VALUE with a setting of the input "
    "or of what runs the model, such as mean=127.5, std=127.5 or threads=2" },
  { "no-value", "appearance=%s appearance-settings=mean",
    "appearance-settings: \"mean\": expected NAME=VALUE" },
  { "decoder", "appearance=%s appearance-settings=decoder=labels",
    "appearance-settings: \"decoder=labels\": expected NAME=VALUE" },
  { "bad-value", "appearance=%s appearance-settings=layout=up",
    "layout=up: expected NHWC or NCHW" },
  { "bad-text", "appearance=%s appearance-settings=\"mean=1 std=0\"",
    "std: expected 1 or 3 finite numbers above 0" },
  { "bad-threads", "appearance=%s appearance-settings=threads=many",
    "threads=many: expected 1..64 or auto" },
  { "quote", "appearance=%s appearance-settings=\"mean='1\"", "appearance: appearance-settings: " },
};

static void
refuse (const char *properties, const char *model, const char *message)
{
  g_autoptr (GString) text = g_string_new (properties);
  g_string_replace (text, "%s", model, 0);
  g_autofree char *launch = g_strdup_printf ("sltrack appearance-batch=1 %s", text->str);
  g_autoptr (GError) error = NULL;
  GstElement *element = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  GstBus *bus = test_watch (element);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  test_assert_error (bus, "appearance", message, NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL); /* its messages hold the element */
  gst_object_unref (bus);
  gst_object_unref (element);
}

static void
test_refusals (void)
{
  g_autofree char *model = test_looks_file (1);
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    refuse (refusals[i].properties, model, refusals[i].message);
  test_remove_file (model);
}

/* Models that make no embedding. */
static void
test_other_models (void)
{
  const gint32 long_vector[] = { 1, 48 * 48 * 3 };
  g_autofree char *pair = test_pair_model (), *sum = test_sum_model (),
                  *longest = test_reshape_model (48, long_vector, 2);
  refuse ("appearance=%s " SETTINGS, longest,
          "expected an embedding of at most 4096 numbers, got 6912");
  refuse (
    "appearance=%s", pair,
    "decoder vector: expected one tensor of uint8, int8 or float32 with one dimension other than "
    "1 ");
  refuse ("appearance=%s", sum, "expected a model that makes an embedding of a picture, got ");
  test_remove_file (longest);
  test_remove_file (pair);
  test_remove_file (sum);
}

/* A format that no model of ours reads: only with a model. */
static void
test_format (void)
{
  const char *caps = "video/x-raw,format=v210,width=320,height=240,framerate=25/1";
  g_autofree char *model = test_looks_file (1);
  g_autofree char *launch =
    g_strdup_printf ("sltrack appearance=%s appearance-batch=1 " SETTINGS, model);
  for (guint with = 0; with < 2; with++) {
    TestLine line = test_line_open (with ? launch : "sltrack", NULL, caps);
    GstBuffer *in = gst_buffer_new_allocate (NULL, 864 * TEST_PEOPLE_HEIGHT, NULL);
    gst_buffer_memset (in, 0, 0, 864 * TEST_PEOPLE_HEIGHT);
    const GstFlowReturn flow = gst_harness_push (line.harness, in);
    g_assert_true ((flow == GST_FLOW_OK) == !with);
    if (with)
      test_assert_error (line.bus, "pixel format v210 is not supported; expected one of ",
                         ": put videoconvert before sltrack with appearance=", NULL);
    test_line_close (line.harness, line.bus);
  }
  test_remove_file (model);
}

/* A picture of the test data with a face at @x, @y of @side pixels. */
static const struct
{
  const char *file;
  guint width, height, x, y, side;
} faces[] = { { "face.jpg", 512, 355, 254, 69, 100 },
              { "grace_hopper.bmp", 512, 600, 168, 146, 198 } };

/* (transfer full) (nullable): the pixels of face @i, FACE x FACE. */
#define FACE 96
static GstBuffer *
read_face (guint i)
{
  g_autofree char *name = g_build_filename ("images", faces[i].file, NULL);
  g_autofree char *path = sl_test_data (name);
  if (path == NULL)
    return NULL;
  g_autofree char *launch = g_strdup_printf (
    "filesrc location=%s ! decodebin ! videoconvert ! videocrop left=%u top=%u right=%u bottom=%u "
    "! videoscale ! "
    "capsfilter caps=video/x-raw,format=RGB,width=%d,height=%d ! "
    "appsink name=sink",
    path, faces[i].x, faces[i].y, faces[i].width - faces[i].x - faces[i].side,
    faces[i].height - faces[i].y - faces[i].side, FACE, FACE);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstSample *sample = NULL;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (sink, "pull-sample", &sample);
  g_assert_nonnull (sample);
  GstBuffer *picture = gst_buffer_ref (gst_sample_get_buffer (sample));
  gst_sample_unref (sample);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return picture;
}

static void
add_face (GstBuffer *buffer, guint x, GstBuffer *face)
{
  GstMapInfo to, from;
  g_assert_true (gst_buffer_map (buffer, &to, GST_MAP_WRITE));
  g_assert_true (gst_buffer_map (face, &from, GST_MAP_READ));
  for (guint row = 0; row < FACE; row++)
    memcpy (to.data + ((60 + row) * TEST_PEOPLE_WIDTH + x) * 3, from.data + (gsize) row * FACE * 3,
            FACE * 3);
  gst_buffer_unmap (buffer, &to);
  gst_buffer_unmap (face, &from);
  test_people_add_region (buffer, x, 60, FACE, FACE);
}

/* Two people leave, and come back in each other's place: a model of faces that others trained knows
 * them again. */
static void
test_faces (void)
{
  g_autoptr (SlEmbedder) cached = sl_embedder_new ("zoo:mobilefacenet", NULL, 1, NULL);
  if (cached == NULL) {
    g_test_skip ("needs sightline get mobilefacenet");
    return;
  }
  g_autoptr (GstBuffer) first = read_face (0), second = read_face (1);
  if (first == NULL || second == NULL)
    return;
  TestLine line = test_line_open ("sltrack appearance=zoo:mobilefacenet appearance-batch=1", NULL,
                                  TEST_PEOPLE_CAPS);
  for (guint i = 0; i < 15; i++) {
    const gboolean back = i >= 10;
    GstBuffer *in = test_people_frame (back ? 60 + i : i);
    add_face (in, back ? 200 : 20, first);
    add_face (in, back ? 20 : 200, second);
    g_assert_cmpint (gst_harness_push (line.harness, in), ==, GST_FLOW_OK);
    GstBuffer *out = gst_harness_pull (line.harness);
    g_assert_cmpint (test_id_at (out, 20), ==, back ? 2 : 1);
    g_assert_cmpint (test_id_at (out, 200), ==, back ? 1 : 2);
    gst_buffer_unref (out);
  }
  test_assert_no_error (line.bus);
  test_line_close (line.harness, line.bus);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  TEST_ADD_CASES ("/sltrack-appearance/return", returns, test_return);
  g_test_add_func ("/sltrack-appearance/quantised", test_quantised);
  g_test_add_func ("/sltrack-appearance/latency", test_latency);
  g_test_add_func ("/sltrack-appearance/without", test_without);
  g_test_add_data_func ("/sltrack-appearance/zeros", GINT_TO_POINTER (0), test_blank);
  g_test_add_data_func ("/sltrack-appearance/nan", GINT_TO_POINTER (1), test_blank);
  g_test_add_func ("/sltrack-appearance/again", test_again);
  g_test_add_func ("/sltrack-appearance/refusals", test_refusals);
  g_test_add_func ("/sltrack-appearance/other-models", test_other_models);
  g_test_add_func ("/sltrack-appearance/format", test_format);
  g_test_add_func ("/sltrack-appearance/faces", test_faces);
  return test_elements_run ();
}
