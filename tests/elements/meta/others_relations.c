/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Relations that others wrote, by hand as GStreamer's elements write them, and relations that
 * nobody should: what is read from them, and that elements which read metas live with them.
 */
#include <math.h>
#include <string.h>

#include "plugins/elements.h"
#include "plugins/meta/predictions.h"
#include "tests/elements/meta/others.h"
#include "tests/support/program.h"

#define CAR                                                                 \
  OTHERS_OBJECT ("\"x\":16,\"y\":12,\"w\":32,\"h\":24", "car", "\"id\":7,", \
                 "\"x_min\":0.25,\"x_max\":0.75,\"y_min\":0.25,\"y_max\":0.75", "0.5", "-1")
#define PLATE                                                      \
  OTHERS_OBJECT ("\"x\":24,\"y\":24,\"w\":8,\"h\":6", "plate", "", \
                 "\"x_min\":0.375,\"x_max\":0.5,\"y_min\":0.5,\"y_max\":0.625", "0.75", "-1")
#define LABEL(label, confidence) \
  "{\"label\":\"" label "\",\"label_id\":-1,\"confidence\":" confidence "}"
/* Relations alone: objects with an id, labels related either way, an object inside another, a label
 * of the whole frame. */
static void
test_related (void)
{
  g_autoptr (GstBuffer) frame = test_others_frame (0);
  const guint car = test_others_relate (frame, "car", 16, 12, 32, 24, 0.5f),
              plate = test_others_relate (frame, "plate", 24, 24, 8, 6, 0.75f);
  test_others_relate_id (frame, car, 7);
  test_others_relate_id (frame, plate, G_MAXUINT64);
  test_others_relate_label (frame, car, GST_ANALYTICS_REL_TYPE_RELATE_TO, FALSE, "red", 0.25f);
  test_others_relate_label (frame, plate, GST_ANALYTICS_REL_TYPE_IS_PART_OF, TRUE, "AB 12", 0.5f);
  test_others_relate_label (frame, 0, GST_ANALYTICS_REL_TYPE_NONE, FALSE, "street", 0.75f);
  g_assert_true (gst_analytics_relation_meta_set_relation (
    gst_buffer_get_analytics_relation_meta (frame), GST_ANALYTICS_REL_TYPE_CONTAIN, car, plate));
  g_autofree char *json = test_others_json (frame);
  g_assert_cmpstr (
    json, ==,
    OTHERS_PREFIX
    "\"objects\":[" CAR
    ",\"labels\":[" LABEL ("red", "0.25") "],\"objects\":[" PLATE ",\"labels\":[" LABEL (
      "AB 12", "0.5") "]}]}],\"labels\":[" LABEL ("street", "0.75") "]}");
  test_others_through_all (frame);
}

/* Regions and relations of the same objects, apart by rounding: each object is there once, with
 * what either says of it. */
static void
test_both (void)
{
  static const double edges[4] = { 0.25, 0.25, 0.75, 0.75 };
  g_autoptr (GstBuffer) frame = test_others_frame (0);
  test_others_add_region (frame, 16, 12, 32, 24, edges, 0.5);
  test_others_add_region (frame, 16, 13, 32, 24, edges, 0.5);
  const guint first = test_others_relate (frame, "thing", 16, 12, 32, 24, 0.5f),
              second = test_others_relate (frame, "thing", 17, 13, 31, 25, 0.5f);
  test_others_relate (frame, "other", 16, 12, 32, 24, 0.5f);
  test_others_relate_id (frame, second, 8);
  test_others_relate_label (frame, first, GST_ANALYTICS_REL_TYPE_RELATE_TO, FALSE, "red", 0.25f);
  g_autofree char *json = test_others_json (frame);
  g_assert_cmpuint (test_others_count (frame), ==, 3);
  const char *label = strstr (json, "\"labels\":[{\"label\":\"red\""),
             *id = strstr (json, "\"id\":8");
  g_assert_true (label != NULL && id != NULL);
  g_assert_null (strstr (strstr (label, "\"red\"") + 1, "\"red\""));
  g_assert_nonnull (strstr (json, "\"roi_type\":\"other\""));
}

/* What no element would write: nothing of it is outside of the frame or goes round in circles, and
 * it takes bounded time. */
static void
test_strange_relations (void)
{
  g_autoptr (GstBuffer) frame = test_others_frame (0);
  const guint a = test_others_relate (frame, NULL, -10, -10, 20, 20, NAN),
              b = test_others_relate (frame, "b", G_MININT, G_MININT, G_MAXINT, G_MAXINT, 0.5f);
  const guint c = test_others_relate (frame, "c", G_MAXINT, 0, G_MAXINT, G_MAXINT, 0.5f),
              d = test_others_relate (frame, "d", 10, 10, -5, 5, 0.5f);
  const guint e = test_others_relate (frame, "e", -5, 20, G_MAXINT, 5, INFINITY);
  const guint all[] = { a, b, c, d, e };
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    for (guint k = 0; k < G_N_ELEMENTS (all); k++)
      gst_analytics_relation_meta_set_relation (
        relations, GST_ANALYTICS_REL_TYPE_CONTAIN | GST_ANALYTICS_REL_TYPE_IS_PART_OF, all[i],
        all[k]);
  test_others_relate_label (frame, a, GST_ANALYTICS_REL_TYPE_RELATE_TO, FALSE, NULL, NAN);
  test_others_relate_label (frame, a, GST_ANALYTICS_REL_TYPE_RELATE_TO, TRUE, "far too sure",
                            INFINITY);
  g_autofree char *json = test_others_json (frame);
  g_assert_cmpuint (test_others_count (frame), ==, 2);
  g_assert_nonnull (strstr (json, "{\"x\":0,\"y\":0,\"w\":10,\"h\":10,\"roi_type\":\"unknown\","));
  g_assert_nonnull (strstr (json, "{\"x\":0,\"y\":20,\"w\":64,\"h\":5,\"roi_type\":\"e\","));
  g_assert_nonnull (strstr (json, "{\"label\":\"unknown\",\"label_id\":-1,\"confidence\":0}"));
  g_assert_nonnull (strstr (json, "{\"label\":\"far too sure\",\"label_id\":-1,\"confidence\":1}"));
  test_others_through_all (frame);
}

static void
test_many_relations (void)
{
  GstAnalyticsRelationMetaInitParams room = { 6000, 1 << 20 };
  g_autoptr (GstBuffer) frame = test_others_frame (0);
  gst_buffer_add_analytics_relation_meta_full (frame, &room);
  for (gint i = 0; i < 3000; i++)
    test_others_relate (frame, "thing", i % 60, i % 45, 4, 3, 0.9f);
  for (guint i = 0; i < 2000; i++)
    test_others_relate_label (frame, i, GST_ANALYTICS_REL_TYPE_RELATE_TO, FALSE, "label", 0.5f);
  g_assert_cmpuint (test_others_count (frame), ==, 1024);
  test_others_through_all (frame);
}

/* Every object is related to every classification: labels of each are bounded. */
static void
test_many_labels (void)
{
  GstAnalyticsRelationMetaInitParams room = { 400, 1 << 20 };
  SlPredictionView prediction = { .width = OTHERS_WIDTH, .height = OTHERS_HEIGHT };
  SlPredictionReader reader = { 0 };
  g_autoptr (GstBuffer) frame = test_others_frame (0);
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta_full (frame, &room);
  for (gint i = 0; i < 50; i++)
    test_others_relate (frame, "thing", i, i % 45, 4, 3, 0.9f);
  for (guint i = 0; i < 300; i++) {
    g_autofree char *label = g_strdup_printf ("label %u", i);
    const guint entry =
      test_others_relate_label (frame, 0, GST_ANALYTICS_REL_TYPE_NONE, FALSE, label, 0.5f);
    for (guint k = 0; k < 50 && i < 200; k++)
      g_assert_true (gst_analytics_relation_meta_set_relation (
        relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, k, entry));
  }
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, frame, &prediction);
  g_assert_cmpuint (prediction.n_objects, ==, 50);
  for (guint i = 0; i < prediction.n_objects; i++)
    g_assert_cmpuint (prediction.objects[i].n_labels, ==, SL_MAX_RELATED_LABELS);
  g_assert_cmpuint (prediction.n_labels, ==, SL_MAX_RELATED_LABELS);
  sl_prediction_reader_clear (&reader);
  test_others_through_all (frame);
}

/* Anything related to anything: what is read is inside the frame, and nothing goes round in
 * circles. */
static void
test_random_relations (void)
{
  static const char *const names[] = { NULL, "a", "b", "" };
  for (guint round = 0; round < 100; round++) {
    g_autoptr (GstBuffer) frame = test_others_frame (0);
    const guint n = (guint) g_test_rand_int_range (1, 30);
    GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta (frame);
    for (guint i = 0; i < n; i++) {
      const gint kind = g_test_rand_int_range (0, 3), size = 1 << g_test_rand_int_range (2, 30);
      const char *name = names[g_test_rand_int_range (0, G_N_ELEMENTS (names))];
      GstAnalyticsTrackingMtd tracking;
      if (kind == 0)
        test_others_relate (
          frame, name, g_test_rand_int_range (-size, size), g_test_rand_int_range (-size, size),
          g_test_rand_int_range (-size, size), g_test_rand_int_range (-size, size),
          (gfloat) g_test_rand_double_range (-1, 2));
      else if (kind == 1)
        test_others_relate_label (frame, 0, GST_ANALYTICS_REL_TYPE_NONE, FALSE, name,
                                  (gfloat) g_test_rand_double_range (-1, 2));
      else
        g_assert_true (gst_analytics_relation_meta_add_tracking_mtd (
          relations, (guint64) g_test_rand_int () << 8, 0, &tracking));
    }
    for (guint i = 0; i < 2 * n; i++)
      gst_analytics_relation_meta_set_relation (
        relations, (GstAnalyticsRelTypes) (g_test_rand_int_range (0, 8) << 1),
        (guint) g_test_rand_int_range (0, (gint) n), (guint) g_test_rand_int_range (0, (gint) n));
    g_autofree char *json = test_others_json (frame);
    if (round % 10 == 0)
      test_others_through_all (frame);
  }
}

#ifdef SL_HAVE_ORIENTED_OD_MTD
/* The corners of the second object of test_oriented(): half a diagonal from its middle. */
static void
check_corners (GstBuffer *frame)
{
  static const double far[][2] = { { 0, -1 }, { 1, 0 }, { 0, 1 }, { -1, 0 } };
  SlPredictionView prediction = { .width = OTHERS_WIDTH, .height = OTHERS_HEIGHT };
  SlPredictionReader reader = { 0 };
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, frame, &prediction);
  g_assert_cmpuint (prediction.objects[1].n_points, ==, 4);
  g_assert_true (prediction.objects[1].skeleton == &sl_skeleton_corners);
  g_assert_cmpuint (prediction.objects[2].n_points, ==, 0);
  for (guint i = 0; i < 4; i++) {
    const SlPoint *point = &prediction.objects[1].points[i];
    g_assert_cmpfloat_with_epsilon (point->x * OTHERS_WIDTH, 32 + far[i][0] * sqrt (200), 1e-4);
    g_assert_cmpfloat_with_epsilon (point->y * OTHERS_HEIGHT, 24 + far[i][1] * sqrt (200), 1e-4);
  }
  sl_prediction_reader_clear (&reader);
}

/* A box that is turned is as large as what is around it: 20 x 10 turned by 90 degrees, and a square
 * of 20 turned by 45. */
static void
test_oriented (void)
{
  g_autoptr (GstBuffer) frame = test_others_frame (0);
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta (frame);
  GstAnalyticsODMtd object;
  gst_analytics_relation_meta_add_oriented_od_mtd (relations, g_quark_from_string ("a"), 10, 10, 20,
                                                   10, (gfloat) G_PI_2, 0.5f, &object);
  gst_analytics_relation_meta_add_oriented_od_mtd (relations, g_quark_from_string ("b"), 22, 14, 20,
                                                   20, (gfloat) G_PI_4, 0.5f, &object);
  gst_analytics_relation_meta_add_oriented_od_mtd (relations, g_quark_from_string ("c"), 1, 2, 3, 4,
                                                   NAN, 0.5f, &object);
  g_autofree char *json = test_others_json (frame);
  /* Cosines are not exact: an edge in the middle of nothing may take the next pixel along. */
  g_assert_true (strstr (json, "{\"x\":15,\"y\":5,\"w\":10,\"h\":20,") != NULL
                 || strstr (json, "{\"x\":14,\"y\":4,\"w\":12,\"h\":22,") != NULL
                 || strstr (json, "{\"x\":14,\"y\":5,\"w\":12,\"h\":20,") != NULL);
  g_assert_nonnull (strstr (json, "{\"x\":17,\"y\":9,\"w\":30,\"h\":30,\"roi_type\":\"b\""));
  g_assert_nonnull (strstr (json, "{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"roi_type\":\"c\""));
  check_corners (frame);
  test_others_through_all (frame);
}

/* A prediction's box with four corners is written as a turned one, and is read as one object. */
static void
test_oriented_written (void)
{
  g_autoptr (GstBuffer) frame = test_others_frame (0);
  const double middle[2] = { 0.5 * OTHERS_WIDTH, 0.5 * OTHERS_HEIGHT }, angle = G_PI / 6;
  const double c = cos (angle), s = sin (angle);
  static const double sides[4][2] = { { -6, -3 }, { 6, -3 }, { 6, 3 }, { -6, 3 } };
  SlPoint points[4] = { { 0 } };
  for (guint i = 0; i < G_N_ELEMENTS (points); i++)
    points[i] = (SlPoint){ (middle[0] + sides[i][0] * c - sides[i][1] * s) / OTHERS_WIDTH,
                           (middle[1] + sides[i][0] * s + sides[i][1] * c) / OTHERS_HEIGHT, 1 };
  const double across = 6 * c + 3 * s, down = 6 * s + 3 * c;
  const SlObjectView object = { .x = (gint) floor (middle[0] - across),
                                .y = (gint) floor (middle[1] - down),
                                .w = (gint) ceil (2 * across),
                                .h = (gint) ceil (2 * down),
                                .x_min = (middle[0] - across) / OTHERS_WIDTH,
                                .y_min = (middle[1] - down) / OTHERS_HEIGHT,
                                .x_max = (middle[0] + across) / OTHERS_WIDTH,
                                .y_max = (middle[1] + down) / OTHERS_HEIGHT,
                                .confidence = 0.75,
                                .label = "ship",
                                .points = points,
                                .n_points = 4,
                                .skeleton = &sl_skeleton_corners };
  const SlPredictionView prediction = {
    .width = OTHERS_WIDTH, .height = OTHERS_HEIGHT, .n_objects = 1, .objects = &object
  };
  GstAnalyticsODMtd entry;
  gint x, y, w, h;
  gfloat turned, sure;
  sl_buffer_add_prediction (frame, &prediction, NULL);
  g_assert_true (gst_analytics_relation_meta_get_od_mtd (
    gst_buffer_get_analytics_relation_meta (frame), 0, &entry));
  g_assert_true (
    gst_analytics_od_mtd_get_oriented_location (&entry, &x, &y, &w, &h, &turned, &sure));
  g_assert_cmpint (w, ==, 12);
  g_assert_cmpint (h, ==, 6);
  g_assert_cmpfloat_with_epsilon (turned, angle, 1e-5);
  g_assert_cmpfloat_with_epsilon (x + w / 2.0, middle[0], 0.5);
  g_assert_cmpfloat_with_epsilon (y + h / 2.0, middle[1], 0.5);
  g_assert_cmpfloat_with_epsilon (sure, 0.75, 1e-6);
  g_autofree char *json = test_others_json (frame);
  g_assert_true (g_strrstr (json, "\"roi_type\"") == strstr (json, "\"roi_type\":\"ship\""));
}
#endif

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
#ifdef SL_HAVE_OVERLAY
  g_assert_true (gst_element_register (NULL, "sloverlay", GST_RANK_NONE, sl_overlay_get_type ()));
#endif
  g_test_add_func ("/others/related", test_related);
  g_test_add_func ("/others/both", test_both);
  g_test_add_func ("/others/relations/strange", test_strange_relations);
  g_test_add_func ("/others/relations/many", test_many_relations);
  g_test_add_func ("/others/relations/labels", test_many_labels);
  g_test_add_func ("/others/relations/random", test_random_relations);
#ifdef SL_HAVE_ORIENTED_OD_MTD
  g_test_add_func ("/others/relations/oriented", test_oriented);
  g_test_add_func ("/others/relations/oriented-written", test_oriented_written);
#endif
  return test_elements_run ();
}
