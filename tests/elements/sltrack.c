/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sltrack on frames whose regions are written here, as others' elements would, and slpostprocess
 * track=true: ids that stay, frames that are not touched, frames without inference, and what begins
 * anew.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "plugins/meta/frame_meta.h"
#include "plugins/meta/predictions.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"
#ifdef SL_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#define CAPS "video/x-raw,format=I420,width=640,height=480,framerate=25/1"
#define TENSOR_CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=(string)6:2:1,types=float32,framerate=25/1"
#define FRAME (40 * GST_MSECOND)

static void
teardown (TestLine *fixture)
{
  test_assert_no_error (fixture->bus);
  test_line_close (fixture->harness, fixture->bus);
}

static GstBuffer *
new_frame (GstClockTime pts)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 640 * 480 * 3 / 2, NULL);
  gst_buffer_memset (buffer, 0, 7, gst_buffer_get_size (buffer));
  GST_BUFFER_PTS (buffer) = pts;
  return buffer;
}

/* @confidence < 0: a region without a detection. */
static void
add_region (GstBuffer *buffer, const char *type, guint x, guint y, double confidence)
{
  GstVideoRegionOfInterestMeta *region =
    gst_buffer_add_video_region_of_interest_meta (buffer, type, x, y, 60, 100);
  if (confidence >= 0)
    gst_video_region_of_interest_meta_add_param (
      region, gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, confidence, NULL));
}

static GstBuffer *
push_pull (TestLine *fixture, GstBuffer *buffer)
{
  g_assert_cmpint (gst_harness_push (fixture->harness, buffer), ==, GST_FLOW_OK);
  return gst_harness_pull (fixture->harness);
}

static guint
count_regions (GstBuffer *buffer)
{
  return gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

static void
test_crossing (void)
{
  TestLine fixture = test_line_open ("sltrack", NULL, CAPS);
  for (guint i = 0; i < 60; i++) {
    GstBuffer *in = new_frame (i * FRAME);
    const GstMemory *memory = gst_buffer_peek_memory (in, 0);
    add_region (in, "person", 50 + 7 * i, 100, i % 2 ? -1 : 0.8);
    add_region (in, "person", 500 - 7 * i, 130, 0.9);
    GstVideoRegionOfInterestMeta *whole =
      gst_buffer_add_video_region_of_interest_meta (in, "street", 0, 0, 640, 480);
    gst_video_region_of_interest_meta_add_param (
      whole, gst_structure_new ("classification", "label", G_TYPE_STRING, "street", NULL));
    GstBuffer *out = push_pull (&fixture, in);
    g_assert_true (out == in && gst_buffer_peek_memory (out, 0) == memory);
    if (50 + 7 * i != 500 - 7 * i) {
      g_assert_cmpint (test_id_at (out, 50 + 7 * i), ==, 1);
      g_assert_cmpint (test_id_at (out, 500 - 7 * i), ==, 2);
    }
    g_assert_cmpint (test_id_at (out, 0), ==, 0);
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (
      out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
    g_assert_cmpint (region->id, >, 0);
    gst_buffer_unref (out);
  }
  teardown (&fixture);
}

/* Pixels that somebody else holds are not copied, only the buffer around them. */
static void
test_shared (void)
{
  TestLine fixture = test_line_open ("sltrack", NULL, CAPS);
  GstBuffer *in = new_frame (0);
  add_region (in, "cat", 10, 10, 0.9);
  GstBuffer *out = push_pull (&fixture, gst_buffer_ref (in));
  g_assert_true (out != in);
  g_assert_true (gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (in, 0));
  g_assert_cmpint (test_id_at (out, 10), ==, 1);
  g_assert_cmpint (test_id_at (in, 10), ==, 0);
  gst_buffer_unref (out);
  gst_buffer_unref (in);
  in = new_frame (FRAME);
  out = push_pull (&fixture, gst_buffer_ref (in));
  g_assert_true (out == in);
  gst_buffer_unref (out);
  gst_buffer_unref (in);
  teardown (&fixture);
}

static void
test_unsure (void)
{
  TestLine fixture = test_line_open ("sltrack", NULL, CAPS);
  g_autoptr (GstElement) element = gst_harness_find_element (fixture.harness, "sltrack");
  for (guint i = 0; i < 4; i++) {
    GstBuffer *in = new_frame (i * FRAME);
    if (i == 3)
      g_object_set (element, "drop-unsure", FALSE, NULL);
    add_region (in, "cat", 100, 100, i == 0 ? 0.9 : 0.2);
    add_region (in, "cat", 300, 100, 0.2);
    GstBuffer *out = push_pull (&fixture, in);
    g_assert_cmpint (test_id_at (out, 100), ==, 1);
    g_assert_cmpint (test_id_at (out, 300), ==, i == 3 ? 0 : -1);
    gst_buffer_unref (out);
  }
  teardown (&fixture);
}

/* A region that nobody gave a type is "unknown" to a list of classes. */
static void
test_classes_without_type (void)
{
  static const struct
  {
    const char *classes;
    gint cat, none;
  } rows[] = { { "cat", 1, 0 }, { "!cat", 0, 1 }, { "unknown", 0, 1 }, { "!unknown", 1, 0 } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *launch = g_strdup_printf ("sltrack classes=%s", rows[i].classes);
    TestLine fixture = test_line_open (launch, NULL, CAPS);
    GstBuffer *in = new_frame (0);
    add_region (in, "cat", 100, 100, 0.9);
    add_region (in, NULL, 300, 100, 0.9);
    GstBuffer *out = push_pull (&fixture, in);
    g_assert_cmpint (test_id_at (out, 100), ==, rows[i].cat);
    g_assert_cmpint (test_id_at (out, 300), ==, rows[i].none);
    gst_buffer_unref (out);
    teardown (&fixture);
  }
}

/* Every third frame went through a model; its mark is an SlFrameMeta. The last such frame found
 * nothing. */
static void
test_interpolate (void)
{
  TestLine fixture = test_line_open ("sltrack interpolate=true", NULL, CAPS);
  for (guint i = 0; i < 40; i++) {
    GstBuffer *in = new_frame (i * FRAME);
    const gboolean looked = i % 3 == 0, found = looked && i < 36;
    if (looked)
      sl_buffer_add_frame_meta (in, NULL, NULL, NULL)->decoded = 1;
    if (found)
      add_region (in, "dog", 40 + 6 * i, 200, 0.9);
    GstBuffer *out = push_pull (&fixture, in);
    if (i < 36) {
      gboolean predicted = FALSE;
      GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (
        out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
      g_assert_cmpuint (count_regions (out), ==, 1);
      g_assert_cmpstr (g_quark_to_string (region->roi_type), ==, "dog");
      g_assert_cmpint (test_id_at (out, region->x), ==, 1);
      gst_structure_get_boolean (gst_video_region_of_interest_meta_get_param (region, "detection"),
                                 "predicted", &predicted);
      g_assert_true (predicted == !looked);
      if (i > 15)
        g_assert_cmpint (ABS ((gint) region->x - (gint) (40 + 6 * i)), <=, 2);
    } else {
      g_assert_cmpuint (count_regions (out), ==, 0);
    }
    gst_buffer_unref (out);
  }
  teardown (&fixture);
}

static gint
id_of_one (TestLine *fixture, GstClockTime pts)
{
  GstBuffer *in = new_frame (pts);
  add_region (in, "cat", 100, 100, 0.9);
  GstBuffer *out = push_pull (fixture, in);
  const gint id = test_id_at (out, 100);
  gst_buffer_unref (out);
  return id;
}

/* A flush, time that runs backwards, another size, and a gap longer than max-age begin anew; ids
 * are not used again. */
static void
test_anew (void)
{
  TestLine fixture = test_line_open ("sltrack max-age=10", NULL, CAPS);
  g_assert_cmpint (id_of_one (&fixture, 0), ==, 1);
  g_assert_cmpint (id_of_one (&fixture, 10 * FRAME), ==, 1);
  g_assert_cmpint (id_of_one (&fixture, 5 * FRAME), ==, 2);
  g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_flush_start ()));
  g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_flush_stop (TRUE)));
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_segment (&segment)));
  g_assert_cmpint (id_of_one (&fixture, 6 * FRAME), ==, 3);
  g_assert_cmpint (id_of_one (&fixture, GST_CLOCK_TIME_NONE), ==, 3);
  g_assert_cmpint (id_of_one (&fixture, 40 * FRAME), ==,
                   0); /* forgotten: a new one, which waits for its second frame */
  g_assert_cmpint (id_of_one (&fixture, 41 * FRAME), ==, 4);
  gst_harness_set_src_caps_str (fixture.harness,
                                "video/x-raw,format=I420,width=320,height=960,framerate=25/1");
  g_assert_cmpint (id_of_one (&fixture, 42 * FRAME), ==, 5);
  teardown (&fixture);
}

static void
test_hostile (void)
{
  static const double odd[] = { NAN, INFINITY, -INFINITY, -1, 0.5, 1e300 };
  TestLine fixture =
    test_line_open ("sltrack interpolate=true low-threshold=0 high-threshold=0", NULL, CAPS);
  for (guint i = 0; i < 200; i++) {
    GstBuffer *in = new_frame (i % 50 == 0 ? GST_CLOCK_TIME_NONE : i * FRAME);
    for (guint k = 0; k < 20 && i % 3 > 0; k++) {
      const guint big = k % 3 == 0 ? G_MAXUINT : k % 3 == 1 ? 0 : 50;
      GstVideoRegionOfInterestMeta *region =
        gst_buffer_add_video_region_of_interest_meta (in, "x", big, big, big, k);
      gst_video_region_of_interest_meta_add_param (
        region, gst_structure_new (
                  "detection", "x_min", G_TYPE_DOUBLE,
                  odd[g_test_rand_int_range (0, G_N_ELEMENTS (odd))], "x_max", G_TYPE_DOUBLE,
                  odd[g_test_rand_int_range (0, G_N_ELEMENTS (odd))], "y_min", G_TYPE_DOUBLE, 0.1,
                  "y_max", G_TYPE_DOUBLE, odd[g_test_rand_int_range (0, G_N_ELEMENTS (odd))],
                  "confidence", G_TYPE_DOUBLE, odd[g_test_rand_int_range (0, G_N_ELEMENTS (odd))],
                  "label_id", G_TYPE_STRING, "no number", NULL));
      if (k % 4 == 0)
        gst_video_region_of_interest_meta_add_param (
          region, gst_structure_new ("object_id", "id", G_TYPE_STRING, "x", NULL));
    }
    gst_buffer_unref (push_pull (&fixture, in));
  }
  teardown (&fixture);
}

/* Rows of YOLO, end to end, on a frame: one object that moves and grows unsure, and one that is
 * never sure. */
static GstBuffer *
tensor (guint i)
{
  const gfloat x = 0.1f + 0.01f * (gfloat) i;
  const gfloat rows[12] = { x,    0.2f, x + 0.2f, 0.6f, i > 10 && i < 15 ? 0.2f : 0.9f,
                            3,    0.7f, 0.7f,     0.9f, 0.9f,
                            0.3f, 1 };
  GstBuffer *buffer = test_tensor_buffer (rows, sizeof rows);
  g_autoptr (GstCaps) caps = gst_caps_from_string (CAPS);
  GstVideoInfo info;
  g_assert_true (gst_video_info_from_caps (&info, caps));
  GstBuffer *frame = new_frame (i * FRAME);
  SlFrameMeta *meta = sl_buffer_add_frame_meta (buffer, frame, caps, &info);
  sl_affine_fit (&meta->affine, SL_FIT_STRETCH, 640, 480, 320, 320);
  meta->tensor_width = meta->tensor_height = 320;
  gst_buffer_unref (frame);
  GST_BUFFER_PTS (buffer) = i * FRAME;
  return buffer;
}

#define YOLO "slpostprocess decoder=yolo,end-to-end=yes,transposed=no,units=normalised "

static void
test_lines (gconstpointer data)
{
  const gboolean json = strcmp (data, "application/x-json") == 0;
  TestLine fixture = test_line_open (YOLO "track=true", data, TENSOR_CAPS);
  for (guint i = 0; i < 30; i++) {
    g_autofree char *line = test_take_text (push_pull (&fixture, tensor (i)));
    /* Nothing but the one object, also where it is below the threshold. */
    if (json)
      g_assert_true (strstr (line, "\"roi_type\":\"3\",\"id\":1,\"detection\"") != NULL
                     && strstr (line, "\"roi_type\":\"1\"") == NULL);
    else
      g_assert_true (g_str_has_prefix (line, "3 ") && g_str_has_suffix (line, " 1\n")
                     && strchr (line, '\n') == line + strlen (line) - 1);
  }
  teardown (&fixture);
}

static void
test_metas (void)
{
  TestLine fixture = test_line_open (YOLO "track=true", CAPS, TENSOR_CAPS);
  for (guint i = 0; i < 20; i++) {
    GstBuffer *out = push_pull (&fixture, tensor (i));
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (
      out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
    SlPredictionReader reader = { 0 };
    SlPredictionView prediction = { .width = 640, .height = 480 };
    g_assert_cmpuint (count_regions (out), ==, 1);
    g_assert_cmpint (test_id_at (out, region->x), ==, 1);
    sl_prediction_reader_init (&reader);
    sl_prediction_reader_read (&reader, out, &prediction);
    g_assert_cmpint (prediction.objects[0].object_id, ==, 1);
    sl_prediction_reader_clear (&reader);
    gst_buffer_unref (out);
  }
  teardown (&fixture);
}

#ifdef SL_HAVE_ANALYTICS
/* The one tracking of @buffer: its id and first and last times; and that it belongs to the object
 * detection at @x. */
static void
assert_tracking (GstBuffer *buffer, gint x, guint64 id, GstClockTime first, GstClockTime last)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsTrackingMtd tracking;
  GstAnalyticsODMtd object;
  gpointer state = NULL;
  guint64 got;
  GstClockTime seen_first, seen_last;
  gboolean lost, found = FALSE;
  gint ox, oy, ow, oh;
  gfloat confidence;
  g_assert_nonnull (relations);
  while (gst_analytics_relation_meta_iterate (
    relations, &state, gst_analytics_od_mtd_get_mtd_type (), (GstAnalyticsMtd *) &object)) {
    gpointer inner = NULL;
    g_assert_true (gst_analytics_od_mtd_get_location (&object, &ox, &oy, &ow, &oh, &confidence));
    if (ox != x)
      continue;
    g_assert_true (gst_analytics_relation_meta_get_direct_related (
      relations, object.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
      gst_analytics_tracking_mtd_get_mtd_type (), &inner, (GstAnalyticsMtd *) &tracking));
    g_assert_true (
      gst_analytics_tracking_mtd_get_info (&tracking, &got, &seen_first, &seen_last, &lost));
    g_assert_cmpuint (got, ==, id);
    g_assert_cmpuint (seen_first, ==, first);
    g_assert_cmpuint (seen_last, ==, last);
    found = TRUE;
  }
  g_assert_true (found);
}

static void
test_relations (void)
{
  TestLine fixture = test_line_open (YOLO "track=true", CAPS, TENSOR_CAPS);
  for (guint i = 0; i < 5; i++) {
    GstBuffer *out = push_pull (&fixture, tensor (i));
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (
      out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
    assert_tracking (out, (gint) region->x, 1, 0, i * FRAME);
    gst_buffer_unref (out);
  }
  teardown (&fixture);
  fixture = test_line_open (YOLO "! sltrack", CAPS, TENSOR_CAPS);
  for (guint i = 0; i < 5; i++) {
    GstBuffer *out = push_pull (&fixture, tensor (i));
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (
      out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
    assert_tracking (out, (gint) region->x, 1, 0, i * FRAME);
    gst_buffer_unref (out);
  }
  teardown (&fixture);
}
#endif

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/sltrack/crossing", test_crossing);
  g_test_add_func ("/sltrack/shared", test_shared);
  g_test_add_func ("/sltrack/unsure", test_unsure);
  g_test_add_func ("/sltrack/classes-without-type", test_classes_without_type);
  g_test_add_func ("/sltrack/interpolate", test_interpolate);
  g_test_add_func ("/sltrack/anew", test_anew);
  g_test_add_func ("/sltrack/hostile", test_hostile);
  g_test_add_data_func ("/sltrack/json", "application/x-json", test_lines);
  g_test_add_data_func ("/sltrack/text", "text/x-raw,format=utf8", test_lines);
  g_test_add_func ("/sltrack/metas", test_metas);
#ifdef SL_HAVE_ANALYTICS
  g_test_add_func ("/sltrack/relations", test_relations);
#endif
  return test_elements_run ();
}
