/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions that others wrote, by hand as DL Streamer's elements write them, and regions that nobody
 * should: what is read from them, and that elements which read metas live with them.
 */
#include <math.h>
#include <string.h>

#include "plugins/elements.h"
#include "tests/elements/meta/others.h"
#include "tests/support/program.h"

/* What gvadetect, gvatrack and two gvaclassify leave: a classification is named by its layer or its
 * attribute. */
static void
test_dlstreamer (void)
{
  g_autoptr (GstBuffer) frame = test_others_frame (0);
  GstVideoRegionOfInterestMeta *region =
    gst_buffer_add_video_region_of_interest_meta (frame, "face", 16, 12, 32, 24);
  region->id = 17;
  gst_video_region_of_interest_meta_add_param (
    region, gst_structure_new ("detection", "x_min", G_TYPE_DOUBLE, 0.25, "x_max", G_TYPE_DOUBLE,
                               0.75, "y_min", G_TYPE_DOUBLE, 0.25, "y_max", G_TYPE_DOUBLE, 0.75,
                               "confidence", G_TYPE_DOUBLE, 0.5, "label_id", G_TYPE_INT, 3,
                               "precision", G_TYPE_INT, 10, "model_name", G_TYPE_STRING, "detector",
                               "layer_name", G_TYPE_STRING, "detection_out", NULL));
  gst_video_region_of_interest_meta_add_param (
    region,
    gst_structure_new ("classification_layer_name:prob", "label", G_TYPE_STRING, "happy",
                       "label_id", G_TYPE_INT, 5, "confidence", G_TYPE_DOUBLE, 0.75, "model_name",
                       G_TYPE_STRING, "emotions", "layer_name", G_TYPE_STRING, "prob", NULL));
  gst_video_region_of_interest_meta_add_param (
    region, gst_structure_new ("age", "label", G_TYPE_STRING, "31", "model_name", G_TYPE_STRING,
                               "ages", NULL));
  gst_video_region_of_interest_meta_add_param (
    region, gst_structure_new ("object_id", "id", G_TYPE_INT, 9, NULL));
  g_autofree char *json = test_others_json (frame);
  g_assert_cmpstr (
    json, ==,
    OTHERS_PREFIX "\"objects\":[" OTHERS_OBJECT (
      "\"x\":16,\"y\":12,\"w\":32,\"h\":24", "face", "\"id\":9,",
      "\"x_min\":0.25,\"x_max\":0.75,\"y_min\":0.25,\"y_max\":0.75", "0.5",
      "3") ",\"labels\":[{\"label\":\"happy\",\"label_id\":5,\"confidence\":0.75,"
           "\"model\":\"emotions\"},{\"label\":\"31\",\"label_id\":-1,\"confidence\":1,"
           "\"model\":\"ages\"}]}],\"labels\":[]}");
}

/* Boxes of no numbers are their regions' pixels; what is outside of the frame is not there. */
static void
test_strange_regions (void)
{
  static const double nothing[4] = { NAN, NAN, NAN, NAN }, turned[4] = { 0.75, 0.75, 0.25, 0.25 },
                      beyond[4] = { -5, -INFINITY, 5, INFINITY };
  g_autoptr (GstBuffer) frame = test_others_frame (0);
  test_others_add_region (frame, 16, 12, 16, 12, nothing, NAN);
  test_others_add_region (frame, 16, 12, 16, 12, turned, -1);
  test_others_add_region (frame, 16, 12, 16, 12, beyond, INFINITY);
  test_others_add_region (frame, 48, 36, G_MAXUINT, G_MAXUINT, nothing, 0.5);
  test_others_add_region (frame, 64, 0, 5, 5, nothing, 0.5);
  test_others_add_region (frame, 5, 5, 0, 5, nothing, 0.5);
  test_others_add_region (frame, G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT, nothing, 0.5);
  g_autofree char *json = test_others_json (frame);
  static const char *const boxes[] = {
    "\"x_min\":0.25,\"x_max\":0.5,\"y_min\":0.25,\"y_max\":0.5},\"confidence\":0,",
    "\"x_min\":0,\"x_max\":1,\"y_min\":0,\"y_max\":1},\"confidence\":1,",
    "\"x_min\":0.75,\"x_max\":1,\"y_min\":0.75,\"y_max\":1},\"confidence\":0.5,"
  };
  g_assert_cmpuint (test_others_count (frame), ==, 4);
  for (guint i = 0; i < G_N_ELEMENTS (boxes); i++)
    g_assert_nonnull (strstr (json, boxes[i]));
  test_others_through_all (frame);
}

/* Regions that are inside each other, and more of them than anybody can look at. */
static void
test_many_regions (void)
{
  static const double nothing[4] = { NAN, NAN, NAN, NAN };
  g_autoptr (GstBuffer) frame = test_others_frame (0);
  gpointer state = NULL;
  GstMeta *meta;
  gint id = 0;
  for (guint i = 0; i < 10000; i++)
    test_others_add_region (frame, i % 60, i % 45, 4, 3, nothing, 0.9);
  while ((meta = gst_buffer_iterate_meta_filtered (frame, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
         != NULL) {
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) meta;
    region->id = 1 + id % 3;
    region->parent_id = 1 + (id + 1) % 3;
    id++;
  }
  g_assert_cmpuint (test_others_count (frame), ==, 4096);
  g_autofree char *json = test_others_json (frame);
  g_assert_nonnull (json);
  test_others_through_all (frame);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
#ifdef SL_HAVE_OVERLAY
  g_assert_true (gst_element_register (NULL, "sloverlay", GST_RANK_NONE, sl_overlay_get_type ()));
#endif
  g_test_add_func ("/others/dlstreamer", test_dlstreamer);
  g_test_add_func ("/others/regions/strange", test_strange_regions);
  g_test_add_func ("/others/regions/many", test_many_regions);
  return test_elements_run ();
}
