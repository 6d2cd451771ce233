/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What sltrack, slpredict, slanalyze, sloverlay and slresize make of relations that others wrote,
 * and masks among these.
 */
#include <string.h>

#include "plugins/elements.h"
#include "tests/elements/meta/others.h"
#include "tests/support/program.h"

#define RGB_CAPS "video/x-raw,format=RGB,width=64,height=48,framerate=25/1"

/* The id that is related to the only object detection called @type, 0 = none is; the detection is
 * there. */
static guint64
related_id (GstBuffer *frame, const char *type)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  GstAnalyticsODMtd object;
  gpointer state = NULL, inner = NULL;
  GstAnalyticsTrackingMtd tracking;
  guint64 id = 0;
  GstClockTime first, last;
  gboolean lost;
  do
    g_assert_true (gst_analytics_relation_meta_iterate (
      relations, &state, gst_analytics_od_mtd_get_mtd_type (), &object));
  while (gst_analytics_od_mtd_get_obj_type (&object) != g_quark_from_string (type));
  if (gst_analytics_relation_meta_get_direct_related (
        relations, object.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
        gst_analytics_tracking_mtd_get_mtd_type (), &inner, &tracking))
    g_assert_true (gst_analytics_tracking_mtd_get_info (&tracking, &id, &first, &last, &lost));
  return id;
}

#ifdef SL_HAVE_SEGMENTATION_MTD
/* A segmentation of @width x @height @pixels with rows of @stride bytes, over the place x, y, w, h
 * of the frame; region ids are 0 and 7. */
static guint
relate_mask (GstBuffer *frame, const guint8 *pixels, guint width, guint height, gint stride,
             GstVideoFormat format, const gint place[4])
{
  const gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  const gint strides[GST_VIDEO_MAX_PLANES] = { stride };
  guint ids[] = { 0, 7 };
  GstBuffer *picture = gst_buffer_new_memdup (pixels, 8);
  GstAnalyticsSegmentationMtd entry;
  gst_buffer_add_video_meta_full (picture, GST_VIDEO_FRAME_FLAG_NONE, format, width, height, 1,
                                  offset, strides);
  g_assert_true (gst_analytics_relation_meta_add_segmentation_mtd (
    gst_buffer_get_analytics_relation_meta (frame), picture, GST_SEGMENTATION_TYPE_INSTANCE,
    G_N_ELEMENTS (ids), ids, place[0], place[1], (guint) place[2], (guint) place[3], &entry));
  return entry.id;
}

static const guint8 pixels[] = { 0, 7, 7, 0, 7, 0, 0, 7 };

/* The mask of an object is what its own segmentation says of the pixels inside its box. */
static void
test_object_masks (void)
{
  static const gint place[4] = { 16, 12, 32, 24 }, right[4] = { 32, 12, 32, 24 };
  g_autoptr (GstBuffer) frame = test_others_frame (0);
  const guint ids[] = { test_others_relate (frame, "a", 16, 12, 32, 24, 0.5f),
                        test_others_relate (frame, "b", 16, 12, 32, 24, 0.5f),
                        test_others_relate (frame, "c", 0, 0, 8, 8, 0.5f),
                        test_others_relate (frame, "d", 8, 8, 8, 8, 0.5f) };
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  const guint a = relate_mask (frame, pixels, 4, 2, 4, GST_VIDEO_FORMAT_GRAY8, place);
  const guint b = relate_mask (frame, pixels, 4, 2, 4, GST_VIDEO_FORMAT_GRAY8, right);
  const guint both = relate_mask (frame, pixels, 4, 2, 4, GST_VIDEO_FORMAT_GRAY8, place);
  g_assert_true (gst_analytics_relation_meta_set_relation (
    relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, ids[0], a));
  g_assert_true (gst_analytics_relation_meta_set_relation (
    relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, b, ids[1]));
  g_assert_true (gst_analytics_relation_meta_set_relation (
    relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, ids[2], both));
  g_assert_true (gst_analytics_relation_meta_set_relation (
    relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, ids[3], both));
  g_autofree char *json = test_others_json (frame);
  const char *first = strstr (json, "\"mask\":{\"width\":4,\"height\":2,\"runs\":[1,2,1,1,2,1]}");
  g_assert_true (first != NULL && first < strstr (json, "\"roi_type\":\"b\""));
  /* Half of it is not where the picture lies. */
  const char *second = strstr (json, "\"mask\":{\"width\":4,\"height\":2,\"runs\":[3,1,2,1,1]}");
  g_assert_true (second != NULL && second > strstr (json, "\"roi_type\":\"b\""));
  g_assert_null (strstr (second + 1, "\"mask\""));
  test_others_through_all (frame);
}

/* An object that sticks out of the frame and has a mask is one object, however often it is
 * followed. */
static void
test_mask_outside (void)
{
  static const gint place[4] = { 40, 30, 32, 24 };
  g_autoptr (GstBuffer) frame = test_others_frame (0);
  const guint object =
    test_others_relate (frame, "car", place[0], place[1], place[2], place[3], 0.9f);
  const guint mask = relate_mask (frame, pixels, 4, 2, 4, GST_VIDEO_FORMAT_GRAY8, place);
  g_assert_true (
    gst_analytics_relation_meta_set_relation (gst_buffer_get_analytics_relation_meta (frame),
                                              GST_ANALYTICS_REL_TYPE_RELATE_TO, object, mask));
  g_autoptr (GstBuffer) out =
    test_line_run ("sltrack ! sltrack ! sltrack", NULL, OTHERS_CAPS, gst_buffer_copy (frame));
  g_autofree char *json = test_others_json (out);
  g_assert_cmpuint (test_others_count (out), ==, 1);
  g_assert_cmpuint (gst_buffer_get_n_meta (out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), ==, 1);
  g_assert_cmpuint (related_id (out, "car"), ==, 1);
  g_assert_nonnull (
    strstr (json, "{\"x\":40,\"y\":30,\"w\":24,\"h\":18,\"roi_type\":\"car\",\"id\":1,"));
  g_assert_nonnull (strstr (json, "\"mask\":{"));
}

/* The mask of the frame has the names that a classification gives its regions, which are no labels
 * of the frame. */
static void
test_frame_mask (void)
{
  static const gint left[4] = { 0, 0, 32, 48 }, all[4] = { 0, 0, 64, 48 };
  g_autoptr (GstBuffer) frame = test_others_frame (0), nameless = test_others_frame (0);
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta (frame);
  gfloat levels[] = { -1, -1 };
  GQuark names[] = { g_quark_from_string ("background"), g_quark_from_string ("road") };
  GstAnalyticsClsMtd classes;
  const guint mask = relate_mask (frame, pixels, 4, 2, 4, GST_VIDEO_FORMAT_GRAY8, left);
  g_assert_true (gst_analytics_relation_meta_add_cls_mtd (relations, 2, levels, names, &classes));
  g_assert_true (gst_analytics_relation_meta_set_relation (relations, GST_ANALYTICS_REL_TYPE_N_TO_N,
                                                           mask, classes.id));
  g_autofree char *json = test_others_json (frame);
  g_assert_nonnull (strstr (json, "\"labels\":[],\"mask\":{\"width\":8,\"height\":2,"));
  g_assert_nonnull (strstr (json, "\"runs\":[0,1,1,2,0,1,255,4,1,1,0,2,1,1,255,4]}"));
  g_assert_nonnull (strstr (json, "{\"label\":\"road\",\"label_id\":1,\"fraction\":0.25}"));
  g_autoptr (GstElementFactory) resize = gst_element_factory_find ("slresize");
  if (resize != NULL) {
    /* Turned, a picture is left out, and its names with it. */
    g_autoptr (GstBuffer) turned =
      test_line_run ("slresize video-direction=180", NULL, OTHERS_CAPS, gst_buffer_copy (frame));
    g_autofree char *nothing = test_others_json (turned);
    g_assert_nonnull (strstr (nothing, "\"labels\":[]}"));
  }
  gst_buffer_add_analytics_relation_meta (nameless);
  relate_mask (nameless, pixels, 4, 2, 4, GST_VIDEO_FORMAT_GRAY8, all);
  g_autofree char *numbers = test_others_json (nameless);
  g_assert_nonnull (strstr (numbers, "\"runs\":[0,1,1,2,0,1,1,1,0,2,1,1]}"));
  test_others_through_all (frame);
  test_others_through_all (nameless);
}

/* Pictures without a size, or larger than their memory. */
static void
test_strange_masks (void)
{
  static const struct
  {
    guint width, height;
    gint stride;
    GstVideoFormat format;
    gint place[4];
  } cases[] = {
    { 4, 2, 4, GST_VIDEO_FORMAT_GRAY8, { 0, 0, 0, 0 } },
    { 4, 2, 5000, GST_VIDEO_FORMAT_GRAY8, { 0, 0, 64, 48 } },
    { 400, 200, 400, GST_VIDEO_FORMAT_GRAY8, { 0, 0, 64, 48 } },
    { 2, 2, 4, GST_VIDEO_FORMAT_GRAY16_LE, { 0, 0, 64, 48 } },
    { 4, 2, -4, GST_VIDEO_FORMAT_GRAY8, { 0, 0, 64, 48 } },
    { 4, 2, 4, GST_VIDEO_FORMAT_GRAY8, { G_MININT, G_MININT, -1, -1 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GstBuffer) frame = test_others_frame (0);
    const guint object = test_others_relate (frame, "a", 16, 12, 32, 24, 0.5f);
    GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
    const guint own = relate_mask (frame, pixels, cases[i].width, cases[i].height, cases[i].stride,
                                   cases[i].format, cases[i].place);
    relate_mask (frame, pixels, cases[i].width, cases[i].height, cases[i].stride, cases[i].format,
                 cases[i].place);
    g_assert_true (gst_analytics_relation_meta_set_relation (
      relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object, own));
    g_autofree char *json = test_others_json (frame);
    if (i < 5)
      g_assert_null (strstr (json, "\"mask\""));
    test_others_through_all (frame);
  }
}
#endif

/* Objects that move keep their ids, as regions and as relations; a frame that another element holds
 * does not change. */
static void
test_track (void)
{
  TestLine fixture = test_line_open ("sltrack", NULL, OTHERS_CAPS);
  for (gint i = 0; i < 5; i++) {
    GstBuffer *frame = test_others_frame ((GstClockTime) i * 40 * GST_MSECOND);
    test_others_relate (frame, "cat", -4 + i, 4, 16, 16, 0.9f);
    test_others_relate (frame, "dog", 60 - i, 20, 16, 16, 0.9f);
    test_others_relate (frame, "doubt", 20, 20, 8, 8, 0.2f);
    GstBuffer *held = i % 2 == 0 ? gst_buffer_ref (frame) : NULL;
    g_assert_cmpint (gst_harness_push (fixture.harness, frame), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    g_autofree char *json = test_others_json (out);
    g_assert_nonnull (strstr (json, "\"roi_type\":\"cat\",\"id\":1,"));
    g_assert_nonnull (strstr (json, "\"roi_type\":\"dog\",\"id\":2,"));
    g_assert_null (strstr (json, "doubt"));
    g_assert_cmpuint (test_others_count (out), ==, 2);
    g_assert_cmpuint (related_id (out, "cat"), ==, 1);
    g_assert_cmpuint (related_id (out, "dog"), ==, 2);
    g_assert_cmpuint (gst_buffer_get_n_meta (out, GST_ANALYTICS_RELATION_META_API_TYPE), ==, 1);
    g_assert_cmpuint (gst_buffer_get_n_meta (out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), ==,
                      2);
    if (held == NULL)
      continue;
    g_assert_cmpuint (gst_buffer_get_n_meta (held, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), ==,
                      0);
    g_assert_cmpuint (
      gst_analytics_relation_get_length (gst_buffer_get_analytics_relation_meta (held)), ==, 3);
    gst_buffer_unref (held);
  }
  test_assert_no_error (fixture.bus);
  test_line_close (fixture.harness, fixture.bus);
}

/* Two models in a row: the second looks at objects that are relations alone, of the class that it
 * is to look at. */
static void
test_object_class (void)
{
  g_autofree char *model = test_colour_model (SL_DTYPE_U8),
                  *labels = test_text_file ("labels.txt", "red\ngreen\nblue\n");
  g_autofree char *launch =
    g_strdup_printf ("slpredict model=%s labels=%s object-class=cat top-k=1", model, labels);
  static const guint8 colour[3] = { 90, 60, 200 };
  GstBuffer *frame = test_frame (RGB_CAPS, colour, 0);
  test_others_relate (frame, "dog", 4, 4, 16, 16, 0.9f);
  test_others_relate (frame, "cat", 40, 20, 16, 16, 0.9f);
  g_autoptr (GstBuffer) out = test_line_run (launch, NULL, RGB_CAPS, frame);
  g_autofree char *json = test_others_json (out);
  const char *cat = strstr (json, "\"roi_type\":\"cat\"");
  g_assert_nonnull (cat);
  g_assert_nonnull (strstr (cat, "\"labels\":[{\"label\":\"blue\",\"label_id\":2,"));
  g_assert_cmpuint (test_others_count (out), ==, 2);
  const char *blue = strstr (json, "\"blue\"");
  g_assert_null (strstr (blue + 1, "\"blue\""));
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (out);
  gpointer state = NULL;
  GstAnalyticsClsMtd said;
  g_assert_true (gst_analytics_relation_meta_get_direct_related (
    relations, 1, GST_ANALYTICS_REL_TYPE_RELATE_TO, gst_analytics_cls_mtd_get_mtd_type (), &state,
    &said));
  g_assert_true (gst_analytics_cls_mtd_get_quark (&said, 0) == g_quark_from_string ("blue"));
  test_remove_file (model);
  test_remove_file (labels);
}

/* Zones count objects that others follow. */
static void
test_analyze (void)
{
  TestLine fixture = test_line_open ("slanalyze regions=\"[zone left] points=0,0 0.5,0 0.5,1 0,1\"",
                                     NULL, OTHERS_CAPS);
  for (guint i = 0; i < 50; i++) {
    GstBuffer *frame = test_others_frame (i * 40 * GST_MSECOND);
    test_others_relate_id (frame, test_others_relate (frame, "cat", 4, 4, 16, 16, 0.9f), 5);
    g_assert_cmpint (gst_harness_push (fixture.harness, frame), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    g_autofree char *json = test_others_json (out);
    g_assert_true (i < 49 || strstr (json, "\"name\":\"left\",\"inside\":1,") != NULL);
  }
  test_line_close (fixture.harness, fixture.bus);
}

/* sloverlay draws relations exactly as it draws regions, and slresize keeps them where they are in
 * the picture. */
static void
test_drawn (void)
{
  static const char *const lines[] = { "sloverlay", "slresize width=128 height=96 ! sloverlay" };
  g_autoptr (GstElementFactory) overlay = gst_element_factory_find ("sloverlay"),
                                resize = gst_element_factory_find ("slresize");
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    if (overlay == NULL || (i > 0 && resize == NULL))
      continue;
    GstBuffer *plain = test_others_frame (0), *regions = test_others_frame (0),
              *related = test_others_frame (0);
    static const double edges[4] = { 0.25, 0.25, 0.75, 0.5 };
    GstMapInfo maps[3];
    test_others_add_region (regions, 16, 12, 32, 12, edges, 0.5);
    test_others_relate (related, "thing", 16, 12, 32, 12, 0.5f);
    GstBuffer *out[3] = { test_line_run (lines[i], NULL, OTHERS_CAPS, plain),
                          test_line_run (lines[i], NULL, OTHERS_CAPS, regions),
                          test_line_run (lines[i], NULL, OTHERS_CAPS, related) };
    for (guint k = 0; k < 3; k++)
      g_assert_true (gst_buffer_map (out[k], &maps[k], GST_MAP_READ));
    g_assert_cmpmem (maps[1].data, maps[1].size, maps[2].data, maps[2].size);
    g_assert_cmpint (memcmp (maps[0].data, maps[2].data, maps[0].size), !=, 0);
    for (guint k = 0; k < 3; k++) {
      gst_buffer_unmap (out[k], &maps[k]);
      gst_buffer_unref (out[k]);
    }
  }
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
#ifdef SL_HAVE_OVERLAY
  g_assert_true (gst_element_register (NULL, "sloverlay", GST_RANK_NONE, sl_overlay_get_type ()));
#endif
#ifdef SL_HAVE_SEGMENTATION_MTD
  g_test_add_func ("/others/masks/object", test_object_masks);
  g_test_add_func ("/others/masks/outside", test_mask_outside);
  g_test_add_func ("/others/masks/frame", test_frame_mask);
  g_test_add_func ("/others/masks/strange", test_strange_masks);
#endif
  g_test_add_func ("/others/track", test_track);
  g_test_add_func ("/others/objectclass", test_object_class);
  g_test_add_func ("/others/analyze", test_analyze);
  g_test_add_func ("/others/drawn", test_drawn);
  return test_elements_run ();
}
