/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Another model while frames flow: tiny models of several sizes and types, told apart by the
 * language of their labels. Each frame in gives one answer out; answers change once, between two
 * frames, and only when the new model is good.
 */
#include <stdio.h>
#include <string.h>

#include "tests/elements/support.h"
#include "tests/support/program.h"

#define CAPS "video/x-raw,format=RGB,width=40,height=30,framerate=25/1"

typedef struct
{
  TestLine line;
  GstElement *infer;                  /* slpredict or slinfer */
  char *english, *french, *models[3]; /* uint8 of 4x4, uint8 of 8x8, float32 of 6x6 */
} Fixture;

/* @launch: with one %s for the properties of the element whose name is "it". */
static Fixture
setup (const char *launch)
{
  Fixture fixture = {
    .english = test_text_file ("english.txt", "red\ngreen\nblue\n"),
    .french = test_text_file ("french.txt", "rouge\nvert\nbleu\n"),
    .models = { test_sized_colour_model (SL_DTYPE_U8, 4), test_sized_colour_model (SL_DTYPE_U8, 8),
                test_sized_colour_model (SL_DTYPE_F32, 6) },
  };
  g_autofree char *first =
    g_strdup_printf ("name=it model=%s labels=%s", fixture.models[0], fixture.english);
  g_autofree char *launch_line = g_strdup_printf (launch, first);
  fixture.line = test_line_open (launch_line, "text/x-raw,format=utf8", CAPS);
  fixture.infer = gst_bin_get_by_name (GST_BIN (fixture.line.harness->element), "it");
  return fixture;
}

static void
teardown (Fixture *fixture)
{
  gst_object_unref (fixture->infer);
  test_line_close (fixture->line.harness, fixture->line.bus);
  char *files[] = { fixture->english, fixture->french, fixture->models[0], fixture->models[1],
                    fixture->models[2] };
  test_remove_files (files, G_N_ELEMENTS (files));
}

static void
assert_green (Fixture *fixture, const char *expected)
{
  char word[16];
  test_see_green (fixture->line.harness, CAPS, word);
  g_assert_cmpstr (word, ==, expected);
}

/* The message of the change from model @before to @after. */
static void
assert_changed (Fixture *fixture, const char *before, const char *after)
{
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (
    fixture->line.bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ELEMENT | GST_MESSAGE_WARNING);
  g_assert_nonnull (message);
  const GstStructure *structure = gst_message_get_structure (message);
  g_assert_true (gst_structure_has_name (structure, "model-changed"));
  g_assert_cmpstr (gst_structure_get_string (structure, "model"), ==, after);
  g_assert_cmpstr (gst_structure_get_string (structure, "before"), ==, before);
}

static const char *const chains[] = {
  "slpredict %s",
  "slnormalize ! slinfer %s ! slpostprocess",
  "slnormalize ! queue ! slinfer %s ! queue ! slpostprocess",
};

/* To another size, to another type, and back. */
static void
test_switch (gconstpointer chain)
{
  Fixture fixture = setup (chain);
  assert_green (&fixture, "green");
  g_object_set (fixture.infer, "model", fixture.models[1], "labels", fixture.french, NULL);
  test_see_switch (fixture.line.harness, CAPS, "green", "vert");
  assert_changed (&fixture, fixture.models[0], fixture.models[1]);
  g_object_set (fixture.infer, "labels", fixture.english, "mean", "0", "std", "255", "model",
                fixture.models[2], NULL);
  test_see_switch (fixture.line.harness, CAPS, "vert", "green");
  assert_changed (&fixture, fixture.models[1], fixture.models[2]);
  g_object_set (fixture.infer, "model", fixture.models[0], "mean", NULL, "std", NULL, "labels",
                fixture.french, NULL);
  test_see_switch (fixture.line.harness, CAPS, "green", "vert");
  teardown (&fixture);
}

/* The file was written anew: read again, though its name and all it wants are the same. */
static void
test_same_file (void)
{
  Fixture fixture = setup (chains[0]);
  assert_green (&fixture, "green");
  g_object_set (fixture.infer, "model", fixture.models[0], NULL);
  g_autoptr (GstMessage) message = NULL;
  while (message == NULL) {
    assert_green (&fixture, "green");
    message = gst_bus_timed_pop_filtered (fixture.line.bus, GST_MSECOND, GST_MESSAGE_ELEMENT);
  }
  g_assert_nonnull (message);
  teardown (&fixture);
}

typedef struct
{
  const char *name, *chain, *property, *value, *has[3]; /* @value NULL: the model of 8x8 */
} BadCase;

static const BadCase bad_cases[] = {
  { "missing",
    "slpredict %s",
    "model",
    "/nowhere/a.tflite",
    { "the model was not changed, ",
      " goes on: /nowhere/a.tflite: no such file, check the path; expected a TensorFlow Lite, "
      "ONNX, PyTorch (.pt2) or TorchScript model" } },
  { "broken", "slpredict %s", "model", "broken.tflite", { "broken.tflite" } },
  { "labels", "slpredict %s", "labels", "/nowhere/labels.txt", { "/nowhere/labels.txt" } },
  { "few-labels", "slpredict %s", "labels", "few.txt", { "few.txt", "2 names for the 3 classes" } },
  { "decoder", "slpredict %s", "decoder", "ssd", { "ssd" } },
  { "threads", "slpredict %s", "threads", "-1", { "threads=-1" } },
  { "before",
    "slnormalize width=4 height=4 ! slinfer %s ! slpostprocess",
    "model",
    NULL,
    { "wants width=8", "width=4" } },
  { "caps",
    "slnormalize ! other/tensors,format=static,num_tensors=1,dimensions=(string)3:4:4:1,"
    "types=uint8 ! slinfer %s ! slpostprocess",
    "model",
    NULL,
    { "uint8[1,8,8,3]", "the elements before slinfer" } },
};

/* The warning that tells why, and what goes on. */
static void
assert_warning (Fixture *fixture, const char *const has[3])
{
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (
    fixture->line.bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_WARNING | GST_MESSAGE_ELEMENT);
  g_autoptr (GError) error = NULL;
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_WARNING);
  gst_message_parse_warning (message, &error, NULL);
  g_test_message ("%s", error->message);
  g_assert_true (g_str_has_prefix (error->message, "the model was not changed, "));
  g_assert_nonnull (strstr (error->message, fixture->models[0]));
  for (guint i = 0; i < 3 && has[i] != NULL; i++)
    g_assert_nonnull (strstr (error->message, has[i]));
}

/* What cannot run is not switched to: the old model goes on, and so do the properties that say what
 * runs. */
static void
test_bad (gconstpointer data)
{
  const BadCase *test = data;
  Fixture fixture = setup (test->chain);
  const gboolean named =
    test->value != NULL && strchr (test->value, '.') != NULL && test->value[0] != '/';
  g_autofree char *file = named ? test_text_file (test->value, "TFL3\nnot a model") : NULL;
  for (guint round = 0; round < 2; round++) {
    g_autofree char *model = NULL, *labels = NULL;
    assert_green (&fixture, "green");
    gst_util_set_object_arg (G_OBJECT (fixture.infer), test->property,
                             file != NULL          ? file
                             : test->value != NULL ? test->value
                                                   : fixture.models[1]);
    assert_warning (&fixture, test->has);
    for (guint i = 0; i < 5; i++)
      assert_green (&fixture, "green");
    g_object_get (fixture.infer, "model", &model, "labels", &labels, NULL);
    g_assert_cmpstr (model, ==, fixture.models[0]);
    g_assert_cmpstr (labels, ==, fixture.english);
  }
  test_assert_no_error (fixture.line.bus);
  if (file != NULL)
    test_remove_file (file);
  teardown (&fixture);
}

/* A model that wants a float picture of a range that nothing states. */
static void
test_range (void)
{
  static const char *const has[3] = { "mean", "std" };
  Fixture fixture = setup (chains[0]);
  assert_green (&fixture, "green");
  g_object_set (fixture.infer, "model", fixture.models[2], NULL);
  assert_warning (&fixture, has);
  assert_green (&fixture, "green");
  teardown (&fixture);
}

/* Before the first frame, of a source whose caps a filter states: it has the new model alone to
 * choose. */
static void
test_before_first (void)
{
  Fixture fixture = setup (chains[0]);
  g_autofree char *launch = g_strdup_printf (
    "appsrc name=source ! other/tensors,format=static,num_tensors=1,types=uint8,"
    "dimensions=(string)3:4:4:1,framerate=(fraction)0/1 ! slinfer name=other model=%s labels=%s ! "
    "fakesink async=false",
    fixture.models[0], fixture.english);
  g_autoptr (GstElement) pipeline = gst_parse_launch (launch, NULL);
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_autoptr (GstElement) infer = gst_bin_get_by_name (GST_BIN (pipeline), "other");
  g_autoptr (GstPad) sink = gst_element_get_static_pad (infer, "sink");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_autoptr (GstCaps) before = gst_pad_query_caps (sink, NULL);
  g_object_set (infer, "decoder", "vector", NULL);
  gboolean offered = FALSE;
  while (!offered) {
    g_autoptr (GstCaps) now = gst_pad_query_caps (sink, NULL);
    offered = !gst_caps_is_equal (now, before);
    g_usleep (1000);
  }
  GstFlowReturn flow = GST_FLOW_ERROR;
  const guint8 picture[48] = { 0 };
  g_autoptr (GstBuffer) buffer = test_tensor_buffer (picture, sizeof picture);
  g_signal_emit_by_name (source, "push-buffer", buffer, &flow);
  g_assert_cmpint (flow, ==, GST_FLOW_OK);
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR);
  g_assert_true (message != NULL && gst_message_has_name (message, "model-changed"));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  test_assert_no_error (bus);
  teardown (&fixture);
}

/* Many changes at once: the last one counts, and nothing is lost. */
static void
test_many (void)
{
  Fixture fixture = setup (chains[0]);
  char word[16];
  for (guint i = 0; i < 200; i++) {
    g_object_set (fixture.infer, "model", fixture.models[i % 2], "labels",
                  i % 2 != 0 ? fixture.french : fixture.english, NULL);
    test_see_green (fixture.line.harness, CAPS, word);
    g_assert_true (strcmp (word, "green") == 0 || strcmp (word, "vert") == 0);
  }
  while (strcmp (word, "vert") != 0)
    test_see_green (fixture.line.harness, CAPS, word);
  g_assert_cmpstr (word, ==, "vert");
  test_assert_no_error (fixture.line.bus);
  teardown (&fixture);
}

static void
copy_file (const char *from, const char *to, gboolean in_place)
{
  g_autofree char *content = NULL;
  gsize size = 0;
  g_assert_true (g_file_get_contents (from, &content, &size, NULL));
  if (!in_place) {
    g_assert_true (g_file_set_contents (to, content, (gssize) size, NULL));
    return;
  }
  FILE *file = fopen (to, "w");
  g_assert_cmpuint (fwrite (content, 1, size, file), ==, size);
  g_assert_cmpint (fclose (file), ==, 0);
}

/* The file is cut short and written anew while its model runs: that is said once, and harms nothing
 * until the model is set again. */
static void
test_overwritten (gconstpointer data)
{
  const gboolean in_place = GPOINTER_TO_INT (data) != 0;
  Fixture fixture = setup (chains[0]);
  g_autofree char *before = g_strdup (fixture.models[0]);
  assert_green (&fixture, "green");
  if (in_place)
    copy_file ("/dev/null", fixture.models[0], TRUE);
  assert_green (&fixture, "green");
  copy_file (fixture.models[1], fixture.models[0], in_place);
  for (guint i = 0; i < 5; i++)
    assert_green (&fixture, "green");
  g_autoptr (GError) error = NULL;
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (
    fixture.line.bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_WARNING | GST_MESSAGE_ELEMENT);
  g_assert_nonnull (message);
  gst_message_parse_warning (message, &error, NULL);
  g_assert_true (g_str_has_prefix (error->message, before));
  g_assert_nonnull (strstr (
    error->message,
    ": the file has changed since the model was loaded; the model goes on as it was: set model "
    "again"));
  assert_green (&fixture, "green");
  g_object_set (fixture.infer, "model", before, "labels", fixture.french, NULL);
  test_see_switch (fixture.line.harness, CAPS, "green", "vert");
  assert_changed (&fixture, before, before);
  test_assert_no_error (fixture.line.bus);
  teardown (&fixture);
}

/* From READY, where nothing is loaded beside: the file that is there then. */
static void
test_overwritten_at_rest (void)
{
  Fixture fixture = setup (chains[0]);
  assert_green (&fixture, "green");
  gst_element_set_state (fixture.line.harness->element, GST_STATE_READY);
  copy_file ("/dev/null", fixture.models[0], TRUE);
  g_assert_cmpint (gst_element_set_state (fixture.line.harness->element, GST_STATE_PAUSED), ==,
                   GST_STATE_CHANGE_FAILURE);
  test_assert_error (fixture.line.bus, fixture.models[0], "the file is empty", NULL);
  copy_file (fixture.models[1], fixture.models[0], FALSE);
  gst_harness_play (fixture.line.harness);
  gst_harness_set_src_caps_str (fixture.line.harness, CAPS);
  assert_green (&fixture, "green");
  teardown (&fixture);
}

/* Stops the streaming thread between taking a model and using it, until the next one has been
 * loaded, to no avail. */
typedef struct
{
  Fixture *fixture;
  GThread *streaming;
  gboolean armed, waited;
} Between;

static void
wait_between (GstDebugCategory *category, GstDebugLevel level, const char *file,
              const char *function, gint line, GObject *object, GstDebugMessage *message,
              gpointer data)
{
  Between *between = data;
  if (!between->armed || g_thread_self () != between->streaming
      || strcmp (function, "use_model") != 0)
    return;
  static const char *const has[3] = { "/nowhere/b.tflite" };
  between->armed = FALSE;
  g_object_set (between->fixture->infer, "model", "/nowhere/b.tflite", NULL);
  between->waited = TRUE;
  g_autoptr (GstMessage) warning = gst_bus_timed_pop_filtered (
    between->fixture->line.bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_WARNING);
  g_autoptr (GError) error = NULL;
  g_assert_nonnull (warning);
  gst_message_parse_warning (warning, &error, NULL);
  g_assert_nonnull (strstr (error->message, has[0]));
  g_assert_nonnull (strstr (error->message, between->fixture->models[1]));
}

/* Two changes, the second of which is loaded while the first one is being taken: properties tell
 * what runs, not what failed. */
static void
test_twice (void)
{
  Fixture fixture = setup (chains[1]);
  Between between = { .fixture = &fixture, .streaming = g_thread_self (), .armed = TRUE };
  g_autofree char *model = NULL, *labels = NULL, *after = NULL;
  static const char *const has[3] = { "/nowhere/labels.txt" };
  gst_debug_set_threshold_for_name ("slinfer", GST_LEVEL_INFO);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (wait_between, &between, NULL);
  assert_green (&fixture, "green");
  g_object_set (fixture.infer, "model", fixture.models[1], "labels", fixture.french, NULL);
  test_see_switch (fixture.line.harness, CAPS, "green", "vert");
  gst_debug_remove_log_function (wait_between);
  gst_debug_add_log_function (gst_debug_log_default, NULL, NULL);
  gst_debug_set_threshold_for_name ("slinfer", GST_LEVEL_NONE);
  g_assert_true (between.waited);
  assert_changed (&fixture, fixture.models[0], fixture.models[1]);
  g_object_get (fixture.infer, "model", &model, "labels", &labels, NULL);
  g_assert_cmpstr (model, ==, fixture.models[1]);
  g_assert_cmpstr (labels, ==, fixture.french);
  g_object_set (fixture.infer, "labels", has[0], NULL);
  g_autoptr (GstMessage) warning =
    gst_bus_timed_pop_filtered (fixture.line.bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_WARNING);
  g_assert_nonnull (warning);
  g_object_get (fixture.infer, "model", &after, NULL);
  g_assert_cmpstr (after, ==, fixture.models[1]);
  teardown (&fixture);
}

/* Stopping while a model is being loaded, or waits to be taken; the next start has it. */
static void
test_stop (void)
{
  Fixture fixture = setup (chains[0]);
  for (guint i = 0; i < 30; i++) {
    const gboolean french = i % 2 == 0;
    assert_green (&fixture, french ? "green" : "vert");
    g_object_set (fixture.infer, "model", fixture.models[french ? 1 : 0], "labels",
                  french ? fixture.french : fixture.english, NULL);
    g_usleep (i % 3 * 1000);
    gst_element_set_state (fixture.line.harness->element,
                           i % 4 < 2 ? GST_STATE_READY : GST_STATE_NULL);
    gst_harness_play (fixture.line.harness);
    gst_harness_set_src_caps_str (fixture.line.harness, CAPS);
  }
  test_assert_no_error (fixture.line.bus);
  teardown (&fixture);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (chains); i++) {
    g_autofree char *name = g_strdup_printf ("/modelswap/switch/%u", i);
    g_test_add_data_func (name, chains[i], test_switch);
  }
  g_test_add_func ("/modelswap/same-file", test_same_file);
  TEST_ADD_CASES ("/modelswap/bad", bad_cases, test_bad);
  g_test_add_func ("/modelswap/range", test_range);
  g_test_add_func ("/modelswap/before-first", test_before_first);
  g_test_add_func ("/modelswap/many", test_many);
  g_test_add_data_func ("/modelswap/overwritten", GINT_TO_POINTER (1), test_overwritten);
  g_test_add_data_func ("/modelswap/renamed-over", GINT_TO_POINTER (0), test_overwritten);
  g_test_add_func ("/modelswap/overwritten-at-rest", test_overwritten_at_rest);
  g_test_add_func ("/modelswap/twice", test_twice);
  g_test_add_func ("/modelswap/stop", test_stop);
  return test_elements_run ();
}
