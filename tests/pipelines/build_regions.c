/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups of zones and lines on their way to slanalyze, and launch lines that they do not fit. */
#include "pipelines/description/build.h"
#include "plugins/elements.h"
#include "tests/support/program.h"

#define ZONE "[zone door]\npoints=0,0 1,0 1,1\n"

static GstElement *
build (const char *text, GError **error)
{
  g_autoptr (SlDescription) d =
    sl_description_new_from_string (text, -1, "t.pipeline", NULL, error);
  return d != NULL ? sl_description_build (d, error) : NULL;
}

static void
test_regions (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *regions = NULL;
  GstElement *pipeline = build (
    "[pipeline]\nlaunch=fakesrc ! slanalyze name=a ! fakesink\n" ZONE "classes=person\n", &error);
  g_assert_no_error (error);
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "a");
  g_object_get (element, "regions", &regions, NULL);
  g_assert_cmpstr (regions, ==, "[zone door] points=0,0 1,0 1,1\n[zone door] classes=person\n");
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
  gst_object_unref (pipeline);
}

/* Motion in masks is none, unless the element says itself what it ignores. */
static void
test_masks (void)
{
  static const struct
  {
    const char *element, *property, *ignore;
  } cases[] = {
    { "slmotion", "ignore", "[zone sky] points=0,0 1,0 1,0.25\n" },
    { "slmotion ignore=\"[zone tree] points=0,0 1,0 1,1\"", "ignore",
      "[zone tree] points=0,0 1,0 1,1" },
    { "videoscale ! fakesink slcamera uri=test://", "quiet-ignore",
      "[zone sky] points=0,0 1,0 1,0.25\n" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *ignore = NULL;
    g_autofree char *text = g_strdup_printf (
      "[pipeline]\nlaunch=fakesrc ! %s name=m ! slanalyze ! fakesink\n" ZONE
      "[mask sky]\npoints=0,0 1,0 1,0.25\n[mask face]\npoints=0,0 1,0 1,1\nclasses=face\n",
      cases[i].element);
    g_autoptr (GstElement) pipeline = build (text, &error);
    g_assert_no_error (error);
    g_autoptr (GstElement) motion = gst_bin_get_by_name (GST_BIN (pipeline), "m");
    g_object_get (motion, cases[i].property, &ignore, NULL);
    g_assert_cmpstr (ignore, ==, cases[i].ignore);
  }
}

static void
test_mistakes (void)
{
  static const struct
  {
    const char *text, *message;
  } cases[] = {
    { "[pipeline]\nlaunch=fakesrc ! fakesink\n" ZONE,
      "t.pipeline:4: [zone NAME], [line NAME] and [mask NAME]: the launch line has no slanalyze; "
      "expected one behind sltrack" },
    { "[pipeline]\nlaunch=fakesrc ! slanalyze ! slanalyze ! fakesink\n" ZONE,
      "t.pipeline:4: [zone NAME], [line NAME] and [mask NAME]: the launch line has several "
      "slanalyze; expected one, or regions= of each in [element NAME]" },
    { "[pipeline]\nlaunch=fakesrc ! slanalyze name=a ! fakesink\n[element a]\n"
      "regions=[line x] points=0,0 1,1\n" ZONE,
      "t.pipeline:6: [zone NAME], [line NAME] and [mask NAME]: slanalyze has regions=, too; "
      "expected one of both" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (build (cases[i].text, &error));
    g_assert_cmpstr (error->message, ==, cases[i].message);
  }
}

TEST_MAIN (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_assert_true (gst_element_register (NULL, "slanalyze", GST_RANK_NONE, sl_analyze_get_type ()));
  g_assert_true (gst_element_register (NULL, "slcamera", GST_RANK_NONE, sl_camera_get_type ()));
  g_assert_true (gst_element_register (NULL, "slmotion", GST_RANK_NONE, sl_motion_get_type ()));
  g_test_add_func ("/build-regions/regions", test_regions);
  g_test_add_func ("/build-regions/masks", test_masks);
  g_test_add_func ("/build-regions/mistakes", test_mistakes);
  return g_test_run ();
}
