/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Metas that others wrote, by hand as DL Streamer's and GStreamer's elements write them, and metas
 * that nobody should: what is read from them, and what sltrack, slpredict, slanalyze, sloverlay and
 * slresize make of them.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "plugins/elements.h"
#include "plugins/meta/predictions.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"
#ifdef SL_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#define WIDTH 64
#define HEIGHT 48
#define RGB_CAPS "video/x-raw,format=RGB,width=64,height=48,framerate=25/1"
#define CAPS "video/x-raw,format=I420,width=64,height=48,framerate=25/1"
#define PREFIX \
  "{\"source\":null,\"frame\":0,\"timestamp\":0,\"resolution\":{\"width\":64,\"height\":48},"
/* An object's JSON up to its detection's end. */
#define OBJECT(place, type, id, edges, sure, label_id)                                 \
  "{" place ",\"roi_type\":\"" type "\"," id "\"detection\":{\"bounding_box\":{" edges \
  "},\"confidence\":" sure ",\"label\":\"" type "\",\"label_id\":" label_id "}"

static const guint8 colour[3] = { 90, 60, 200 };

static char *
json_of (GstBuffer *buffer)
{
  SlPredictionView prediction = { .width = WIDTH, .height = HEIGHT, .timestamp = 0 };
  GString *text = g_string_new (NULL);
  SlPredictionReader reader = { 0 };
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, buffer, &prediction);
  for (guint i = 0; i < prediction.n_objects; i++) {
    const SlObjectView *object = &prediction.objects[i];
    g_assert_true (object->x >= 0 && object->y >= 0 && object->x + object->w <= WIDTH
                   && object->y + object->h <= HEIGHT);
    g_assert_true (object->x_min >= 0 && object->x_min <= object->x_max && object->x_max <= 1);
    g_assert_true (object->y_min >= 0 && object->y_min <= object->y_max && object->y_max <= 1);
    g_assert_true (object->confidence >= 0 && object->confidence <= 1);
    g_assert_cmpuint (object->parent, <=, i);
  }
  sl_prediction_append_json (text, &prediction);
  sl_prediction_reader_clear (&reader);
  return g_string_free (text, FALSE);
}

static guint
count_objects (GstBuffer *buffer)
{
  SlPredictionView prediction = { .width = WIDTH, .height = HEIGHT };
  SlPredictionReader reader = { 0 };
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, buffer, &prediction);
  sl_prediction_reader_clear (&reader);
  return prediction.n_objects;
}

/* What gvadetect, gvatrack and two gvaclassify leave: a classification is named by its layer or its
 * attribute. */
static void
test_dlstreamer (void)
{
  g_autoptr (GstBuffer) frame = test_frame (CAPS, colour, 0);
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
  g_autofree char *json = json_of (frame);
  g_assert_cmpstr (
    json, ==,
    PREFIX "\"objects\":[" OBJECT (
      "\"x\":16,\"y\":12,\"w\":32,\"h\":24", "face", "\"id\":9,",
      "\"x_min\":0.25,\"x_max\":0.75,\"y_min\":0.25,\"y_max\":0.75", "0.5",
      "3") ",\"labels\":[{\"label\":\"happy\",\"label_id\":5,\"confidence\":0.75,"
           "\"model\":\"emotions\"},{\"label\":\"31\",\"label_id\":-1,\"confidence\":1,"
           "\"model\":\"ages\"}]}],\"labels\":[]}");
}

static void
add_region (GstBuffer *buffer, guint x, guint y, guint w, guint h, const double edges[4],
            double confidence)
{
  GstVideoRegionOfInterestMeta *region =
    gst_buffer_add_video_region_of_interest_meta (buffer, "thing", x, y, w, h);
  gst_video_region_of_interest_meta_add_param (
    region,
    gst_structure_new ("detection", "x_min", G_TYPE_DOUBLE, edges[0], "y_min", G_TYPE_DOUBLE,
                       edges[1], "x_max", G_TYPE_DOUBLE, edges[2], "y_max", G_TYPE_DOUBLE, edges[3],
                       "confidence", G_TYPE_DOUBLE, confidence, NULL));
}

/* Every element that reads metas, in a row. */
static void
through_all (GstBuffer *frame)
{
  static const char line[] =
    "sltrack interpolate=true ! slanalyze regions=\"[zone all] points=0,0 1,0 1,1 0,1\"";
  g_autoptr (GstElementFactory) overlay = gst_element_factory_find ("sloverlay"),
                                resize = gst_element_factory_find ("slresize");
  g_autofree char *launch =
    g_strdup_printf ("%s%s%s", line, overlay != NULL ? " ! sloverlay" : "",
                     resize != NULL ? " ! slresize width=32 height=24" : "");
  TestLine fixture = test_line_open (launch, NULL, CAPS);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *copy = gst_buffer_copy (frame);
    GST_BUFFER_PTS (copy) = i * 40 * GST_MSECOND;
    g_assert_cmpint (gst_harness_push (fixture.harness, copy), ==, GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (fixture.harness));
  }
  test_assert_no_error (fixture.bus);
  test_line_close (fixture.harness, fixture.bus);
}

/* Boxes of no numbers are their regions' pixels; what is outside of the frame is not there. */
static void
test_strange_regions (void)
{
  static const double nothing[4] = { NAN, NAN, NAN, NAN }, turned[4] = { 0.75, 0.75, 0.25, 0.25 },
                      beyond[4] = { -5, -INFINITY, 5, INFINITY };
  g_autoptr (GstBuffer) frame = test_frame (CAPS, colour, 0);
  add_region (frame, 16, 12, 16, 12, nothing, NAN);
  add_region (frame, 16, 12, 16, 12, turned, -1);
  add_region (frame, 16, 12, 16, 12, beyond, INFINITY);
  add_region (frame, 48, 36, G_MAXUINT, G_MAXUINT, nothing, 0.5);
  add_region (frame, 64, 0, 5, 5, nothing, 0.5);
  add_region (frame, 5, 5, 0, 5, nothing, 0.5);
  add_region (frame, G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT, nothing, 0.5);
  g_autofree char *json = json_of (frame);
  static const char *const boxes[] = {
    "\"x_min\":0.25,\"x_max\":0.5,\"y_min\":0.25,\"y_max\":0.5},\"confidence\":0,",
    "\"x_min\":0,\"x_max\":1,\"y_min\":0,\"y_max\":1},\"confidence\":1,",
    "\"x_min\":0.75,\"x_max\":1,\"y_min\":0.75,\"y_max\":1},\"confidence\":0.5,"
  };
  g_assert_cmpuint (count_objects (frame), ==, 4);
  for (guint i = 0; i < G_N_ELEMENTS (boxes); i++)
    g_assert_nonnull (strstr (json, boxes[i]));
  through_all (frame);
}

/* Regions that are inside each other, and more of them than anybody can look at. */
static void
test_many_regions (void)
{
  static const double nothing[4] = { NAN, NAN, NAN, NAN };
  g_autoptr (GstBuffer) frame = test_frame (CAPS, colour, 0);
  gpointer state = NULL;
  GstMeta *meta;
  gint id = 0;
  for (guint i = 0; i < 10000; i++)
    add_region (frame, i % 60, i % 45, 4, 3, nothing, 0.9);
  while ((meta = gst_buffer_iterate_meta_filtered (frame, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
         != NULL) {
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) meta;
    region->id = 1 + id % 3;
    region->parent_id = 1 + (id + 1) % 3;
    id++;
  }
  g_assert_cmpuint (count_objects (frame), ==, 4096);
  g_autofree char *json = json_of (frame);
  g_assert_nonnull (json);
  through_all (frame);
}

#ifdef SL_HAVE_ANALYTICS
static guint
relate (GstBuffer *frame, const char *type, gint x, gint y, gint w, gint h, gfloat confidence)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  GstAnalyticsODMtd object;
  if (relations == NULL)
    relations = gst_buffer_add_analytics_relation_meta (frame);
  g_assert_true (gst_analytics_relation_meta_add_od_mtd (
    relations, type != NULL ? g_quark_from_string (type) : 0, x, y, w, h, confidence, &object));
  return object.id;
}

static guint
relate_label (GstBuffer *frame, guint object, GstAnalyticsRelTypes type, gboolean back,
              const char *label, gfloat confidence)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  GstAnalyticsClsMtd entry;
  g_assert_true (gst_analytics_relation_meta_add_one_cls_mtd (
    relations, confidence, label != NULL ? g_quark_from_string (label) : 0, &entry));
  if (type != GST_ANALYTICS_REL_TYPE_NONE)
    g_assert_true (gst_analytics_relation_meta_set_relation (
      relations, type, back ? entry.id : object, back ? object : entry.id));
  return entry.id;
}

static void
relate_id (GstBuffer *frame, guint object, guint64 id)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  GstAnalyticsTrackingMtd tracking;
  g_assert_true (gst_analytics_relation_meta_add_tracking_mtd (relations, id, 0, &tracking));
  g_assert_true (gst_analytics_relation_meta_set_relation (
    relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object, tracking.id));
}

#define CAR                                                          \
  OBJECT ("\"x\":16,\"y\":12,\"w\":32,\"h\":24", "car", "\"id\":7,", \
          "\"x_min\":0.25,\"x_max\":0.75,\"y_min\":0.25,\"y_max\":0.75", "0.5", "-1")
#define PLATE                                               \
  OBJECT ("\"x\":24,\"y\":24,\"w\":8,\"h\":6", "plate", "", \
          "\"x_min\":0.375,\"x_max\":0.5,\"y_min\":0.5,\"y_max\":0.625", "0.75", "-1")
#define LABEL(label, confidence) \
  "{\"label\":\"" label "\",\"label_id\":-1,\"confidence\":" confidence "}"
/* Relations alone: objects with an id, labels related either way, an object inside another, a label
 * of the whole frame. */
static void
test_related (void)
{
  g_autoptr (GstBuffer) frame = test_frame (CAPS, colour, 0);
  const guint car = relate (frame, "car", 16, 12, 32, 24, 0.5f),
              plate = relate (frame, "plate", 24, 24, 8, 6, 0.75f);
  relate_id (frame, car, 7);
  relate_id (frame, plate, G_MAXUINT64);
  relate_label (frame, car, GST_ANALYTICS_REL_TYPE_RELATE_TO, FALSE, "red", 0.25f);
  relate_label (frame, plate, GST_ANALYTICS_REL_TYPE_IS_PART_OF, TRUE, "AB 12", 0.5f);
  relate_label (frame, 0, GST_ANALYTICS_REL_TYPE_NONE, FALSE, "street", 0.75f);
  g_assert_true (gst_analytics_relation_meta_set_relation (
    gst_buffer_get_analytics_relation_meta (frame), GST_ANALYTICS_REL_TYPE_CONTAIN, car, plate));
  g_autofree char *json = json_of (frame);
  g_assert_cmpstr (
    json, ==,
    PREFIX "\"objects\":[" CAR
           ",\"labels\":[" LABEL ("red", "0.25") "],\"objects\":[" PLATE ",\"labels\":[" LABEL (
             "AB 12", "0.5") "]}]}],\"labels\":[" LABEL ("street", "0.75") "]}");
  through_all (frame);
}

/* Regions and relations of the same objects, apart by rounding: each object is there once, with
 * what either says of it. */
static void
test_both (void)
{
  static const double edges[4] = { 0.25, 0.25, 0.75, 0.75 };
  g_autoptr (GstBuffer) frame = test_frame (CAPS, colour, 0);
  add_region (frame, 16, 12, 32, 24, edges, 0.5);
  add_region (frame, 16, 13, 32, 24, edges, 0.5);
  const guint first = relate (frame, "thing", 16, 12, 32, 24, 0.5f),
              second = relate (frame, "thing", 17, 13, 31, 25, 0.5f);
  relate (frame, "other", 16, 12, 32, 24, 0.5f);
  relate_id (frame, second, 8);
  relate_label (frame, first, GST_ANALYTICS_REL_TYPE_RELATE_TO, FALSE, "red", 0.25f);
  g_autofree char *json = json_of (frame);
  g_assert_cmpuint (count_objects (frame), ==, 3);
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
  g_autoptr (GstBuffer) frame = test_frame (CAPS, colour, 0);
  const guint a = relate (frame, NULL, -10, -10, 20, 20, NAN),
              b = relate (frame, "b", G_MININT, G_MININT, G_MAXINT, G_MAXINT, 0.5f);
  const guint c = relate (frame, "c", G_MAXINT, 0, G_MAXINT, G_MAXINT, 0.5f),
              d = relate (frame, "d", 10, 10, -5, 5, 0.5f);
  const guint e = relate (frame, "e", -5, 20, G_MAXINT, 5, INFINITY);
  const guint all[] = { a, b, c, d, e };
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    for (guint k = 0; k < G_N_ELEMENTS (all); k++)
      gst_analytics_relation_meta_set_relation (
        relations, GST_ANALYTICS_REL_TYPE_CONTAIN | GST_ANALYTICS_REL_TYPE_IS_PART_OF, all[i],
        all[k]);
  relate_label (frame, a, GST_ANALYTICS_REL_TYPE_RELATE_TO, FALSE, NULL, NAN);
  relate_label (frame, a, GST_ANALYTICS_REL_TYPE_RELATE_TO, TRUE, "far too sure", INFINITY);
  g_autofree char *json = json_of (frame);
  g_assert_cmpuint (count_objects (frame), ==, 2);
  g_assert_nonnull (strstr (json, "{\"x\":0,\"y\":0,\"w\":10,\"h\":10,\"roi_type\":\"unknown\","));
  g_assert_nonnull (strstr (json, "{\"x\":0,\"y\":20,\"w\":64,\"h\":5,\"roi_type\":\"e\","));
  g_assert_nonnull (strstr (json, "{\"label\":\"unknown\",\"label_id\":-1,\"confidence\":0}"));
  g_assert_nonnull (strstr (json, "{\"label\":\"far too sure\",\"label_id\":-1,\"confidence\":1}"));
  through_all (frame);
}

static void
test_many_relations (void)
{
  GstAnalyticsRelationMetaInitParams room = { 6000, 1 << 20 };
  g_autoptr (GstBuffer) frame = test_frame (CAPS, colour, 0);
  gst_buffer_add_analytics_relation_meta_full (frame, &room);
  for (gint i = 0; i < 3000; i++)
    relate (frame, "thing", i % 60, i % 45, 4, 3, 0.9f);
  for (guint i = 0; i < 2000; i++)
    relate_label (frame, i, GST_ANALYTICS_REL_TYPE_RELATE_TO, FALSE, "label", 0.5f);
  g_assert_cmpuint (count_objects (frame), ==, 1024);
  through_all (frame);
}

/* Every object is related to every classification: labels of each are bounded. */
static void
test_many_labels (void)
{
  GstAnalyticsRelationMetaInitParams room = { 400, 1 << 20 };
  SlPredictionView prediction = { .width = WIDTH, .height = HEIGHT };
  SlPredictionReader reader = { 0 };
  g_autoptr (GstBuffer) frame = test_frame (CAPS, colour, 0);
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta_full (frame, &room);
  for (gint i = 0; i < 50; i++)
    relate (frame, "thing", i, i % 45, 4, 3, 0.9f);
  for (guint i = 0; i < 300; i++) {
    g_autofree char *label = g_strdup_printf ("label %u", i);
    const guint entry = relate_label (frame, 0, GST_ANALYTICS_REL_TYPE_NONE, FALSE, label, 0.5f);
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
  through_all (frame);
}

/* Anything related to anything: what is read is inside the frame, and nothing goes round in
 * circles. */
static void
test_random_relations (void)
{
  static const char *const names[] = { NULL, "a", "b", "" };
  for (guint round = 0; round < 100; round++) {
    g_autoptr (GstBuffer) frame = test_frame (CAPS, colour, 0);
    const guint n = (guint) g_test_rand_int_range (1, 30);
    GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta (frame);
    for (guint i = 0; i < n; i++) {
      const gint kind = g_test_rand_int_range (0, 3), size = 1 << g_test_rand_int_range (2, 30);
      const char *name = names[g_test_rand_int_range (0, G_N_ELEMENTS (names))];
      GstAnalyticsTrackingMtd tracking;
      if (kind == 0)
        relate (frame, name, g_test_rand_int_range (-size, size),
                g_test_rand_int_range (-size, size), g_test_rand_int_range (-size, size),
                g_test_rand_int_range (-size, size), (gfloat) g_test_rand_double_range (-1, 2));
      else if (kind == 1)
        relate_label (frame, 0, GST_ANALYTICS_REL_TYPE_NONE, FALSE, name,
                      (gfloat) g_test_rand_double_range (-1, 2));
      else
        g_assert_true (gst_analytics_relation_meta_add_tracking_mtd (
          relations, (guint64) g_test_rand_int () << 8, 0, &tracking));
    }
    for (guint i = 0; i < 2 * n; i++)
      gst_analytics_relation_meta_set_relation (
        relations, (GstAnalyticsRelTypes) (g_test_rand_int_range (0, 8) << 1),
        (guint) g_test_rand_int_range (0, (gint) n), (guint) g_test_rand_int_range (0, (gint) n));
    g_autofree char *json = json_of (frame);
    if (round % 10 == 0)
      through_all (frame);
  }
}

#ifdef SL_HAVE_ORIENTED_OD_MTD
/* The corners of the second object of test_oriented(): half a diagonal from its middle. */
static void
check_corners (GstBuffer *frame)
{
  static const double far[][2] = { { 0, -1 }, { 1, 0 }, { 0, 1 }, { -1, 0 } };
  SlPredictionView prediction = { .width = WIDTH, .height = HEIGHT };
  SlPredictionReader reader = { 0 };
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, frame, &prediction);
  g_assert_cmpuint (prediction.objects[1].n_points, ==, 4);
  g_assert_true (prediction.objects[1].skeleton == &sl_skeleton_corners);
  g_assert_cmpuint (prediction.objects[2].n_points, ==, 0);
  for (guint i = 0; i < 4; i++) {
    const SlPoint *point = &prediction.objects[1].points[i];
    g_assert_cmpfloat_with_epsilon (point->x * WIDTH, 32 + far[i][0] * sqrt (200), 1e-4);
    g_assert_cmpfloat_with_epsilon (point->y * HEIGHT, 24 + far[i][1] * sqrt (200), 1e-4);
  }
  sl_prediction_reader_clear (&reader);
}

/* A box that is turned is as large as what is around it: 20 x 10 turned by 90 degrees, and a square
 * of 20 turned by 45. */
static void
test_oriented (void)
{
  g_autoptr (GstBuffer) frame = test_frame (CAPS, colour, 0);
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta (frame);
  GstAnalyticsODMtd object;
  gst_analytics_relation_meta_add_oriented_od_mtd (relations, g_quark_from_string ("a"), 10, 10, 20,
                                                   10, (gfloat) G_PI_2, 0.5f, &object);
  gst_analytics_relation_meta_add_oriented_od_mtd (relations, g_quark_from_string ("b"), 22, 14, 20,
                                                   20, (gfloat) G_PI_4, 0.5f, &object);
  gst_analytics_relation_meta_add_oriented_od_mtd (relations, g_quark_from_string ("c"), 1, 2, 3, 4,
                                                   NAN, 0.5f, &object);
  g_autofree char *json = json_of (frame);
  /* Cosines are not exact: an edge in the middle of nothing may take the next pixel along. */
  g_assert_true (strstr (json, "{\"x\":15,\"y\":5,\"w\":10,\"h\":20,") != NULL
                 || strstr (json, "{\"x\":14,\"y\":4,\"w\":12,\"h\":22,") != NULL
                 || strstr (json, "{\"x\":14,\"y\":5,\"w\":12,\"h\":20,") != NULL);
  g_assert_nonnull (strstr (json, "{\"x\":17,\"y\":9,\"w\":30,\"h\":30,\"roi_type\":\"b\""));
  g_assert_nonnull (strstr (json, "{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"roi_type\":\"c\""));
  check_corners (frame);
  through_all (frame);
}

/* A prediction's box with four corners is written as a turned one, and is read as one object. */
static void
test_oriented_written (void)
{
  g_autoptr (GstBuffer) frame = test_frame (CAPS, colour, 0);
  const double middle[2] = { 0.5 * WIDTH, 0.5 * HEIGHT }, angle = G_PI / 6;
  const double c = cos (angle), s = sin (angle);
  static const double sides[4][2] = { { -6, -3 }, { 6, -3 }, { 6, 3 }, { -6, 3 } };
  SlPoint points[4] = { { 0 } };
  for (guint i = 0; i < G_N_ELEMENTS (points); i++)
    points[i] = (SlPoint){ (middle[0] + sides[i][0] * c - sides[i][1] * s) / WIDTH,
                           (middle[1] + sides[i][0] * s + sides[i][1] * c) / HEIGHT, 1 };
  const double across = 6 * c + 3 * s, down = 6 * s + 3 * c;
  const SlObjectView object = { .x = (gint) floor (middle[0] - across),
                                .y = (gint) floor (middle[1] - down),
                                .w = (gint) ceil (2 * across),
                                .h = (gint) ceil (2 * down),
                                .x_min = (middle[0] - across) / WIDTH,
                                .y_min = (middle[1] - down) / HEIGHT,
                                .x_max = (middle[0] + across) / WIDTH,
                                .y_max = (middle[1] + down) / HEIGHT,
                                .confidence = 0.75,
                                .label = "ship",
                                .points = points,
                                .n_points = 4,
                                .skeleton = &sl_skeleton_corners };
  const SlPredictionView prediction = {
    .width = WIDTH, .height = HEIGHT, .n_objects = 1, .objects = &object
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
  g_autofree char *json = json_of (frame);
  g_assert_true (g_strrstr (json, "\"roi_type\"") == strstr (json, "\"roi_type\":\"ship\""));
}
#endif

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
  g_autoptr (GstBuffer) frame = test_frame (CAPS, colour, 0);
  const guint ids[] = { relate (frame, "a", 16, 12, 32, 24, 0.5f),
                        relate (frame, "b", 16, 12, 32, 24, 0.5f),
                        relate (frame, "c", 0, 0, 8, 8, 0.5f),
                        relate (frame, "d", 8, 8, 8, 8, 0.5f) };
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
  g_autofree char *json = json_of (frame);
  const char *first = strstr (json, "\"mask\":{\"width\":4,\"height\":2,\"runs\":[1,2,1,1,2,1]}");
  g_assert_true (first != NULL && first < strstr (json, "\"roi_type\":\"b\""));
  /* Half of it is not where the picture lies. */
  const char *second = strstr (json, "\"mask\":{\"width\":4,\"height\":2,\"runs\":[3,1,2,1,1]}");
  g_assert_true (second != NULL && second > strstr (json, "\"roi_type\":\"b\""));
  g_assert_null (strstr (second + 1, "\"mask\""));
  through_all (frame);
}

/* An object that sticks out of the frame and has a mask is one object, however often it is
 * followed. */
static void
test_mask_outside (void)
{
  static const gint place[4] = { 40, 30, 32, 24 };
  g_autoptr (GstBuffer) frame = test_frame (CAPS, colour, 0);
  const guint object = relate (frame, "car", place[0], place[1], place[2], place[3], 0.9f);
  const guint mask = relate_mask (frame, pixels, 4, 2, 4, GST_VIDEO_FORMAT_GRAY8, place);
  g_assert_true (
    gst_analytics_relation_meta_set_relation (gst_buffer_get_analytics_relation_meta (frame),
                                              GST_ANALYTICS_REL_TYPE_RELATE_TO, object, mask));
  g_autoptr (GstBuffer) out =
    test_line_run ("sltrack ! sltrack ! sltrack", NULL, CAPS, gst_buffer_copy (frame));
  g_autofree char *json = json_of (out);
  g_assert_cmpuint (count_objects (out), ==, 1);
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
  g_autoptr (GstBuffer) frame = test_frame (CAPS, colour, 0),
                        nameless = test_frame (CAPS, colour, 0);
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta (frame);
  gfloat levels[] = { -1, -1 };
  GQuark names[] = { g_quark_from_string ("background"), g_quark_from_string ("road") };
  GstAnalyticsClsMtd classes;
  const guint mask = relate_mask (frame, pixels, 4, 2, 4, GST_VIDEO_FORMAT_GRAY8, left);
  g_assert_true (gst_analytics_relation_meta_add_cls_mtd (relations, 2, levels, names, &classes));
  g_assert_true (gst_analytics_relation_meta_set_relation (relations, GST_ANALYTICS_REL_TYPE_N_TO_N,
                                                           mask, classes.id));
  g_autofree char *json = json_of (frame);
  g_assert_nonnull (strstr (json, "\"labels\":[],\"mask\":{\"width\":8,\"height\":2,"));
  g_assert_nonnull (strstr (json, "\"runs\":[0,1,1,2,0,1,255,4,1,1,0,2,1,1,255,4]}"));
  g_assert_nonnull (strstr (json, "{\"label\":\"road\",\"label_id\":1,\"fraction\":0.25}"));
  g_autoptr (GstElementFactory) resize = gst_element_factory_find ("slresize");
  if (resize != NULL) {
    /* Turned, a picture is left out, and its names with it. */
    g_autoptr (GstBuffer) turned =
      test_line_run ("slresize video-direction=180", NULL, CAPS, gst_buffer_copy (frame));
    g_autofree char *nothing = json_of (turned);
    g_assert_nonnull (strstr (nothing, "\"labels\":[]}"));
  }
  gst_buffer_add_analytics_relation_meta (nameless);
  relate_mask (nameless, pixels, 4, 2, 4, GST_VIDEO_FORMAT_GRAY8, all);
  g_autofree char *numbers = json_of (nameless);
  g_assert_nonnull (strstr (numbers, "\"runs\":[0,1,1,2,0,1,1,1,0,2,1,1]}"));
  through_all (frame);
  through_all (nameless);
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
    g_autoptr (GstBuffer) frame = test_frame (CAPS, colour, 0);
    const guint object = relate (frame, "a", 16, 12, 32, 24, 0.5f);
    GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
    const guint own = relate_mask (frame, pixels, cases[i].width, cases[i].height, cases[i].stride,
                                   cases[i].format, cases[i].place);
    relate_mask (frame, pixels, cases[i].width, cases[i].height, cases[i].stride, cases[i].format,
                 cases[i].place);
    g_assert_true (gst_analytics_relation_meta_set_relation (
      relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object, own));
    g_autofree char *json = json_of (frame);
    if (i < 5)
      g_assert_null (strstr (json, "\"mask\""));
    through_all (frame);
  }
}
#endif

/* Objects that move keep their ids, as regions and as relations; a frame that another element holds
 * does not change. */
static void
test_track (void)
{
  TestLine fixture = test_line_open ("sltrack", NULL, CAPS);
  for (gint i = 0; i < 5; i++) {
    GstBuffer *frame = test_frame (CAPS, colour, (GstClockTime) i * 40 * GST_MSECOND);
    relate (frame, "cat", -4 + i, 4, 16, 16, 0.9f);
    relate (frame, "dog", 60 - i, 20, 16, 16, 0.9f);
    relate (frame, "doubt", 20, 20, 8, 8, 0.2f);
    GstBuffer *held = i % 2 == 0 ? gst_buffer_ref (frame) : NULL;
    g_assert_cmpint (gst_harness_push (fixture.harness, frame), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    g_autofree char *json = json_of (out);
    g_assert_nonnull (strstr (json, "\"roi_type\":\"cat\",\"id\":1,"));
    g_assert_nonnull (strstr (json, "\"roi_type\":\"dog\",\"id\":2,"));
    g_assert_null (strstr (json, "doubt"));
    g_assert_cmpuint (count_objects (out), ==, 2);
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
  GstBuffer *frame = test_frame (RGB_CAPS, colour, 0);
  relate (frame, "dog", 4, 4, 16, 16, 0.9f);
  relate (frame, "cat", 40, 20, 16, 16, 0.9f);
  g_autoptr (GstBuffer) out = test_line_run (launch, NULL, RGB_CAPS, frame);
  g_autofree char *json = json_of (out);
  const char *cat = strstr (json, "\"roi_type\":\"cat\"");
  g_assert_nonnull (cat);
  g_assert_nonnull (strstr (cat, "\"labels\":[{\"label\":\"blue\",\"label_id\":2,"));
  g_assert_cmpuint (count_objects (out), ==, 2);
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
  TestLine fixture =
    test_line_open ("slanalyze regions=\"[zone left] points=0,0 0.5,0 0.5,1 0,1\"", NULL, CAPS);
  for (guint i = 0; i < 50; i++) {
    GstBuffer *frame = test_frame (CAPS, colour, i * 40 * GST_MSECOND);
    relate_id (frame, relate (frame, "cat", 4, 4, 16, 16, 0.9f), 5);
    g_assert_cmpint (gst_harness_push (fixture.harness, frame), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    g_autofree char *json = json_of (out);
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
    GstBuffer *plain = test_frame (CAPS, colour, 0), *regions = test_frame (CAPS, colour, 0),
              *related = test_frame (CAPS, colour, 0);
    static const double edges[4] = { 0.25, 0.25, 0.75, 0.5 };
    GstMapInfo maps[3];
    add_region (regions, 16, 12, 32, 12, edges, 0.5);
    relate (related, "thing", 16, 12, 32, 12, 0.5f);
    GstBuffer *out[3] = { test_line_run (lines[i], NULL, CAPS, plain),
                          test_line_run (lines[i], NULL, CAPS, regions),
                          test_line_run (lines[i], NULL, CAPS, related) };
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
#endif

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
#ifdef SL_HAVE_OVERLAY
  g_assert_true (gst_element_register (NULL, "sloverlay", GST_RANK_NONE, sl_overlay_get_type ()));
#endif
  g_test_add_func ("/others/dlstreamer", test_dlstreamer);
  g_test_add_func ("/others/regions/strange", test_strange_regions);
  g_test_add_func ("/others/regions/many", test_many_regions);
#ifdef SL_HAVE_ANALYTICS
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
#endif
  return test_elements_run ();
}
