/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The group [record] on its way to slrecord: where one is put, the one that is there, and launch
 * lines and properties that do not fit. */
#include "pipelines/description/build.h"
#include "plugins/elements.h"
#include "tests/support/program.h"

#include <string.h>

#define RECORD "[record]\nlocation=/srv/clips\npost-roll=2\n"

static GstElement *
build (const char *text, GError **error)
{
  g_autoptr (SlDescription) d =
    sl_description_new_from_string (text, -1, "gate.pipeline", NULL, error);
  return d != NULL ? sl_description_build (d, error) : NULL;
}

typedef struct
{
  const char *launch, *before; /* name of the element that comes before the recorder */
} Place;

static const Place places[] = {
  { "fakesrc ! slpredict name=p ! sltrack name=t ! slanalyze name=a ! fakesink", "a" },
  { "fakesrc ! slpredict name=p ! sltrack name=t ! videoconvert ! fakesink", "t" },
  { "fakesrc ! slpredict name=p ! fakesink", "p" },
  { "fakesrc ! sltrack name=t ! queue name=q ! slrecord ! fakesink", "q" },
  { "fakesrc ! sltrack ! slanalyze ! tee ! slanalyze name=last ! fakesink", "last" },
};

static GstElement *
find_recorder (GstElement *pipeline)
{
  GstIterator *elements =
    gst_bin_iterate_all_by_element_factory_name (GST_BIN (pipeline), "slrecord");
  GValue item = G_VALUE_INIT;
  g_assert_cmpint (gst_iterator_next (elements, &item), ==, GST_ITERATOR_OK);
  GstElement *recorder = g_value_dup_object (&item);
  g_value_unset (&item);
  g_assert_cmpint (gst_iterator_next (elements, &item), ==, GST_ITERATOR_DONE);
  gst_iterator_free (elements);
  return recorder;
}

static void
test_place (gconstpointer data)
{
  const Place *place = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strdup_printf ("[pipeline]\nlaunch=%s\n" RECORD, place->launch);
  g_autofree char *location = NULL, *source = NULL;
  gdouble post_roll;
  g_autoptr (GstElement) pipeline = build (text, &error);
  g_assert_no_error (error);
  g_autoptr (GstElement) recorder = find_recorder (pipeline);
  g_autoptr (GstPad) sink = gst_element_get_static_pad (recorder, "sink"),
                     src = gst_element_get_static_pad (recorder, "src");
  g_autoptr (GstPad) before = gst_pad_get_peer (sink);
  g_autoptr (GstElement) element = gst_pad_get_parent_element (before);
  g_assert_cmpstr (GST_OBJECT_NAME (element), ==, place->before);
  g_assert_true (gst_pad_is_linked (src));
  g_object_get (recorder, "location", &location, "source", &source, "post-roll", &post_roll, NULL);
  g_assert_cmpstr (location, ==, "/srv/clips");
  g_assert_cmpstr (source, ==, "gate");
  g_assert_cmpfloat (post_roll, ==, 2);
}

static void
test_mistakes (void)
{
  static const struct
  {
    const char *text, *message;
  } cases[] = {
    { "[pipeline]\nlaunch=fakesrc ! fakesink\n" RECORD,
      "gate.pipeline:3: [record]: the launch line has no slrecord, and no slanalyze, "
      "sltext, sltrack, slread or slpredict with something behind that one could stand in "
      "between" },
    { "[pipeline]\nlaunch=fakesrc ! slrecord ! slrecord ! fakesink\n" RECORD,
      "gate.pipeline:3: [record]: the launch line has several slrecord; expected one, or "
      "properties of each in [element NAME]" },
    { "[pipeline]\nlaunch=fakesrc ! sltrack ! fakesink\n[record]\nlocatoin=/srv\n",
      "gate.pipeline:4: [record] locatoin: slrecord has no such property; did you mean "
      "'location'?" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (build (cases[i].text, &error));
    g_assert_cmpstr (error->message, ==, cases[i].message);
  }
}

typedef struct
{
  const char *name, *launch, *more; /* lines of [record] */
  gboolean linked;
} Link;

static const Link links[] = {
  { "predictions", "slcamera uri=test:// ! slpredict ! sltrack ! slanalyze ! fakesink", "", TRUE },
  { "motion", "slcamera uri=test:// ! slmotion ! slpredict ! sltrack ! sltext ! fakesink", "",
    TRUE },
  { "stated", "slcamera uri=test:// ! queue ! tee ! sltrack ! video/x-raw ! slrecord ! fakesink",
    "", TRUE },
  { "encoder", "slcamera uri=test:// ! sltrack ! fakesink", "encoder=jpegenc\n", FALSE },
  { "covered", "slcamera uri=test:// ! videobox ! sltrack ! fakesink", "", FALSE },
  { "other-source", "videotestsrc ! sltrack ! fakesink slcamera uri=test:// ! fakesink", "",
    FALSE },
  { "camera-in-use", "slcamera name=c uri=test:// c.src ! sltrack ! fakesink c.encoded ! fakesink",
    "", FALSE },
  { "bin", "( slcamera uri=test:// ! sltrack ) ! sltrack ! fakesink", "", FALSE },
};

/* What the camera encoded goes to the recorder, where clips then show what the launch line lets
 * through. */
static void
test_link (gconstpointer data)
{
  const Link *link = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *text =
    g_strdup_printf ("[pipeline]\nlaunch=%s\n" RECORD "%s", link->launch, link->more);
  g_autoptr (GstElement) pipeline = build (text, &error);
  g_assert_no_error (error);
  g_autoptr (GstElement) recorder = find_recorder (pipeline);
  g_autoptr (GstPad) encoded = gst_element_get_static_pad (recorder, "encoded");
  g_autoptr (GstPad) peer = encoded != NULL ? gst_pad_get_peer (encoded) : NULL;
  g_autoptr (GstElement) camera = peer != NULL ? gst_pad_get_parent_element (peer) : NULL;
  g_assert_cmpint (camera != NULL, ==, link->linked);
  g_assert_true (camera == NULL
                 || strcmp (GST_OBJECT_NAME (gst_element_get_factory (camera)), "slcamera") == 0);
}

/* The group alone is a recorder, too, which says what it lacks when it starts. */
static void
test_empty (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline =
    build ("[pipeline]\nlaunch=fakesrc ! sltrack ! fakesink\n[record]\n", &error);
  g_assert_no_error (error);
  g_autoptr (GstElement) recorder = find_recorder (pipeline);
  g_assert_nonnull (recorder);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_assert_cmpint (gst_element_set_state (pipeline, GST_STATE_PAUSED), ==,
                   GST_STATE_CHANGE_FAILURE);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  g_assert_nonnull (strstr (
    error->message, "location is not set: expected the folder that clips are written into"));
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

TEST_MAIN (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_assert_true (gst_element_register (NULL, "slanalyze", GST_RANK_NONE, sl_analyze_get_type ()));
  g_assert_true (gst_element_register (NULL, "slmotion", GST_RANK_NONE, sl_motion_get_type ()));
  g_assert_true (gst_element_register (NULL, "sltext", GST_RANK_NONE, sl_text_get_type ()));
  g_assert_true (gst_element_register (NULL, "sltrack", GST_RANK_NONE, sl_track_get_type ()));
  g_assert_true (gst_element_register (NULL, "slpredict", GST_RANK_NONE, sl_predict_get_type ()));
  g_assert_true (gst_element_register (NULL, "slcamera", GST_RANK_NONE, sl_camera_get_type ()));
  g_assert_true (gst_element_register (NULL, "slrecord", GST_RANK_NONE, sl_record_get_type ()));
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    g_autofree char *name = g_strdup_printf ("/build-record/place/%s", places[i].before);
    g_test_add_data_func (name, &places[i], test_place);
  }
  for (guint i = 0; i < G_N_ELEMENTS (links); i++) {
    g_autofree char *name = g_strdup_printf ("/build-record/link/%s", links[i].name);
    g_test_add_data_func (name, &links[i], test_link);
  }
  g_test_add_func ("/build-record/mistakes", test_mistakes);
  g_test_add_func ("/build-record/empty", test_empty);
  return g_test_run ();
}
