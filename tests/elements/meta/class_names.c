/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The property classes behind a model: what sltrack follows, what is left of read predictions, and
 * names that no model before has.
 */
#include "plugins/meta/class_names.h"

#include <string.h>

#include "plugins/meta/predictions.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define CAPS "video/x-raw,format=I420,width=640,height=480,framerate=25/1"
#define LABEL_CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=(string)3:1,types=uint8,framerate=25/1"

static GstBuffer *
new_frame (void)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 640 * 480 * 3 / 2, NULL);
  gst_buffer_memset (buffer, 0, 7, gst_buffer_get_size (buffer));
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

/* @id of the region itself, and of the region it is in. */
static void
add_region (GstBuffer *buffer, const char *type, guint x, gint id, gint parent_id)
{
  GstVideoRegionOfInterestMeta *region =
    gst_buffer_add_video_region_of_interest_meta (buffer, type, x, 50, 40, 40);
  region->id = id;
  region->parent_id = parent_id;
}

/* "cat 1;dog 0;": each region's type and object id. */
static char *
ids_of (GstBuffer *buffer)
{
  GString *text = g_string_new (NULL);
  gpointer state = NULL;
  GstMeta *meta;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
         != NULL) {
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) meta;
    const GstStructure *object_id =
      gst_video_region_of_interest_meta_get_param (region, "object_id");
    gint id = 0;
    if (object_id != NULL)
      gst_structure_get_int (object_id, "id", &id);
    g_string_append_printf (text, "%s %d;", g_quark_to_string (region->roi_type), id);
  }
  return g_string_free (text, FALSE);
}

/* Others keep their regions, without an id; the list may change while frames come. */
static void
test_track (void)
{
  static const struct
  {
    const char *classes, *ids;
  } steps[] = { { "cat", "cat 1;dog 0;" }, { "!cat", "cat 0;dog 2;" }, { NULL, "cat 1;dog 2;" } };
  TestLine fixture = test_line_open ("sltrack min-hits=1", NULL, CAPS);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    GstBuffer *in = new_frame ();
    add_region (in, "cat", 10, 0, -1);
    add_region (in, "dog", 400, 0, -1);
    gst_harness_set (fixture.harness, "sltrack", "classes", steps[i].classes, NULL);
    g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    g_autofree char *ids = ids_of (out);
    g_assert_cmpstr (ids, ==, steps[i].ids);
  }
  gst_harness_set (fixture.harness, "sltrack", "classes", "cat,", NULL);
  g_assert_cmpint (gst_harness_push (fixture.harness, new_frame ()), ==, GST_FLOW_ERROR);
  test_assert_error (fixture.bus, "classes=cat,: a name is empty", NULL);
  test_line_close (fixture.harness, fixture.bus);
}

/* What is inside an object that goes is then inside what that one was in. */
static void
test_choose (void)
{
  static const struct
  {
    const char *classes, *objects; /* type and parent */
  } cases[] = {
    { NULL, "car 0;plate 1;screw 2;cat 0;" },
    { "!plate", "car 0;screw 1;cat 0;" },
    { "!car", "plate 0;screw 1;cat 0;" },
    { "screw,cat", "screw 0;cat 0;" },
    { "dog", "" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    SlPredictionView prediction = { .width = 640, .height = 480 };
    SlPredictionReader reader = { 0 };
    g_autoptr (SlClassFilter) filter = NULL;
    g_autoptr (GString) text = g_string_new (NULL);
    g_autoptr (GstBuffer) frame = new_frame ();
    add_region (frame, "car", 10, 1, -1);
    add_region (frame, "plate", 20, 2, 1);
    add_region (frame, "screw", 30, 3, 2);
    add_region (frame, "cat", 300, 4, -1);
    sl_prediction_reader_init (&reader);
    sl_prediction_reader_read (&reader, frame, &prediction);
    g_assert_true (sl_class_filter_parse (cases[i].classes, &filter, NULL));
    sl_prediction_reader_choose (&reader, filter, &prediction);
    for (guint k = 0; k < prediction.n_objects; k++)
      g_string_append_printf (text, "%s %u;", prediction.objects[k].label,
                              prediction.objects[k].parent);
    g_assert_cmpstr (text->str, ==, cases[i].objects);
    sl_prediction_reader_clear (&reader);
  }
}

/* A pad that offers names in front of another: a query behind both gets the names of both. */
static void
test_query (void)
{
  static const struct
  {
    const char *first[3], *second[3]; /* what they have; first[0] NULL = that pad knows nothing */
    const char *classes, *message;
  } cases[] = {
    { { "cat", "dog" }, { "red" }, "cat,!red", NULL },
    { { "cat", "dog" },
      { "red" },
      "cta",
      "classes: the model before has no class 'cta'; did you mean 'cat'?" },
    { { "cat", "dog" },
      { "red" },
      "x",
      "classes: the model before has no class 'x'; expected one of red, cat, dog" },
    { { NULL }, { "red" }, "cta", NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstPad *source = gst_pad_new ("source", GST_PAD_SRC),
           *sink = gst_pad_new ("sink", GST_PAD_SINK);
    GstElement *middle = gst_object_ref_sink (gst_bin_new (NULL));
    GstPad *in = gst_pad_new ("in", GST_PAD_SINK), *out = gst_pad_new ("out", GST_PAD_SRC);
    g_autoptr (GPtrArray) first = g_ptr_array_new (), second = g_ptr_array_new ();
    g_autoptr (GError) error = NULL;
    SlClassChoice choice = { 0 };
    for (guint k = 0; k < 3 && cases[i].first[k] != NULL; k++)
      g_ptr_array_add (first, (gpointer) cases[i].first[k]);
    for (guint k = 0; k < 3 && cases[i].second[k] != NULL; k++)
      g_ptr_array_add (second, (gpointer) cases[i].second[k]);
    gst_element_add_pad (middle, in);
    gst_element_add_pad (middle, out);
    sl_class_names_install (source);
    sl_class_names_install (out);
    sl_class_names_offer (source, first);
    sl_class_names_offer (out, second);
    g_assert_cmpint (gst_pad_link (source, in), ==, GST_PAD_LINK_OK);
    g_assert_cmpint (gst_pad_link (out, sink), ==, GST_PAD_LINK_OK);
    g_assert_cmpint (sl_class_choice_set (&choice, cases[i].classes, sink, &error), ==,
                     cases[i].message == NULL);
    g_assert_cmpstr (error != NULL ? error->message : NULL, ==, cases[i].message);
    g_assert_cmpint (sl_class_choice_is (&choice, cases[i].classes), ==, cases[i].message == NULL);
    sl_class_choice_clear (&choice);
    gst_pad_unlink (source, in);
    gst_pad_unlink (out, sink);
    gst_object_unref (source);
    gst_object_unref (sink);
    gst_object_unref (middle);
  }
}

/* slpostprocess offers the labels that it opened; classes that have none are called by their
 * numbers. */
static void
test_postprocess (void)
{
  static const struct
  {
    const char *labels, *classes, *message;
  } cases[] = {
    { "red\ngreen\nblue\n", "red,!blue", NULL },
    { "red\ngreen\nblue\n", "gren",
      "classes: the model before has no class 'gren'; did you mean 'green'?" },
    { NULL, "2", NULL },
    { NULL, "999", "classes: the model before has no class '999'; expected one of 0, 1, 2" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    static const guint8 scores[3] = { 10, 30, 20 };
    g_autofree char *labels =
      cases[i].labels != NULL ? test_text_file ("labels.txt", cases[i].labels) : NULL;
    g_autofree char *launch = g_strdup_printf (
      "slpostprocess%s%s", labels != NULL ? " labels=" : "", labels != NULL ? labels : "");
    g_autoptr (GError) error = NULL;
    SlClassChoice choice = { 0 };
    TestLine fixture = test_line_open (launch, "text/x-raw,format=utf8", LABEL_CAPS);
    gst_harness_push (fixture.harness, test_tensor_buffer (scores, sizeof scores));
    test_assert_no_error (fixture.bus);
    g_assert_cmpint (
      sl_class_choice_set (&choice, cases[i].classes, fixture.harness->sinkpad, &error), ==,
      cases[i].message == NULL);
    g_assert_cmpstr (error != NULL ? error->message : NULL, ==, cases[i].message);
    sl_class_choice_clear (&choice);
    test_line_close (fixture.harness, fixture.bus);
    if (labels != NULL)
      test_remove_file (labels);
  }
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/class-names/track", test_track);
  g_test_add_func ("/class-names/choose", test_choose);
  g_test_add_func ("/class-names/query", test_query);
  g_test_add_func ("/class-names/postprocess", test_postprocess);
  return test_elements_run ();
}
