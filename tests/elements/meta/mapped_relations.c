/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Relations on frames that slresize makes into others: objects by hand and beside GStreamer's
 * videoscale, with all that belongs to them.
 */
#include "config.h"
#include "plugins/meta/map/relations.h"

#include <gst/analytics/analytics.h>
#include <math.h>

#include "tests/elements/support.h"
#include "tests/support/program.h"

#define SMALL "video/x-raw,format=I420,width=64,height=48,framerate=25/1"

static const guint8 colour[3] = { 90, 60, 200 };

/* A frame with an object detection for each of @boxes (x, y, w, h), which has a label and a track
 * of its own. */
static GstBuffer *
related_frame (const gint (*boxes)[4], guint n)
{
  GstBuffer *buffer = test_frame (SMALL, colour, 0);
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta (buffer);
  for (guint i = 0; i < n; i++) {
    GstAnalyticsODMtd object;
    GstAnalyticsClsMtd label;
    GstAnalyticsTrackingMtd tracking;
    g_autofree char *name = g_strdup_printf ("object %u", i);
    const gint *box = boxes[i];
    g_assert_true (gst_analytics_relation_meta_add_od_mtd (relations, g_quark_from_string (name),
                                                           box[0], box[1], box[2], box[3],
                                                           0.5f + 0.1f * (gfloat) i, &object));
    g_assert_true (gst_analytics_relation_meta_add_one_cls_mtd (
      relations, 0.25f * (gfloat) i, g_quark_from_string ("kind"), &label));
    g_assert_true (
      gst_analytics_relation_meta_add_tracking_mtd (relations, i + 7, 3 * GST_SECOND, &tracking));
    g_assert_true (gst_analytics_tracking_mtd_update_last_seen (&tracking, 4 * GST_SECOND));
    g_assert_true (gst_analytics_relation_meta_set_relation (
      relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object.id, label.id));
    g_assert_true (gst_analytics_relation_meta_set_relation (
      relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object.id, tracking.id));
    g_assert_true (gst_analytics_relation_meta_set_relation (
      relations, GST_ANALYTICS_REL_TYPE_IS_PART_OF, label.id, object.id));
  }
  return buffer;
}

static GstBuffer *
through (const char *element, const char *sink, GstBuffer *in)
{
  TestLine fixture = test_line_open (element, sink, SMALL);
  g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_OK);
  GstBuffer *out = gst_harness_pull (fixture.harness);
  test_line_close (fixture.harness, fixture.bus);
  return out;
}

/* The object detection of @buffer that is called "object @i", FALSE when there is none; with all
 * that belongs to it. */
static gboolean
find_related (GstBuffer *buffer, guint i, gint box[4])
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  g_autofree char *name = g_strdup_printf ("object %u", i);
  gpointer state = NULL, inner = NULL, again = NULL;
  GstAnalyticsODMtd object;
  GstAnalyticsClsMtd label;
  GstAnalyticsTrackingMtd tracking;
  gfloat confidence;
  guint64 number;
  GstClockTime first, last;
  gboolean lost;
  g_assert_nonnull (relations);
  do {
    if (!gst_analytics_relation_meta_iterate (relations, &state,
                                              gst_analytics_od_mtd_get_mtd_type (), &object))
      return FALSE;
  } while (gst_analytics_od_mtd_get_obj_type (&object) != g_quark_from_string (name));
  g_assert_true (
    gst_analytics_od_mtd_get_location (&object, &box[0], &box[1], &box[2], &box[3], &confidence));
  g_assert_cmpfloat (confidence, ==, 0.5f + 0.1f * (gfloat) i);
  g_assert_true (gst_analytics_relation_meta_get_direct_related (
    relations, object.id, GST_ANALYTICS_REL_TYPE_RELATE_TO, gst_analytics_cls_mtd_get_mtd_type (),
    &inner, &label));
  g_assert_cmpfloat (gst_analytics_cls_mtd_get_level (&label, 0), ==, 0.25f * (gfloat) i);
  g_assert_true (gst_analytics_cls_mtd_get_quark (&label, 0) == g_quark_from_string ("kind"));
  g_assert_cmpint (gst_analytics_relation_meta_get_relation (relations, label.id, object.id), ==,
                   GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  g_assert_true (gst_analytics_relation_meta_get_direct_related (
    relations, object.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
    gst_analytics_tracking_mtd_get_mtd_type (), &again, &tracking));
  g_assert_true (gst_analytics_tracking_mtd_get_info (&tracking, &number, &first, &last, &lost));
  g_assert_cmpuint (number, ==, i + 7);
  g_assert_cmpuint (first, ==, 3 * GST_SECOND);
  g_assert_cmpuint (last, ==, 4 * GST_SECOND);
  return TRUE;
}

/* Where the box goes when the frame is turned and halved, by hand. */
typedef struct
{
  const char *direction;
  gint width, height; /* of the result */
  gint box[4];
} TurnCase;

static const TurnCase turn_cases[] = {
  { "identity", 32, 24, { 4, 2, 8, 4 } }, { "90r", 24, 32, { 18, 4, 4, 8 } },
  { "180", 32, 24, { 20, 18, 8, 4 } },    { "90l", 24, 32, { 2, 20, 4, 8 } },
  { "horiz", 32, 24, { 20, 2, 8, 4 } },   { "vert", 32, 24, { 4, 18, 8, 4 } },
  { "ul-lr", 24, 32, { 2, 4, 4, 8 } },    { "ur-ll", 24, 32, { 18, 20, 4, 8 } },
};

static void
test_turned (gconstpointer data)
{
  static const gint boxes[][4] = { { 8, 4, 16, 8 } };
  const TurnCase *test = data;
  g_autofree char *element = g_strdup_printf ("slresize width=%d height=%d video-direction=%s",
                                              test->width, test->height, test->direction);
  g_autoptr (GstBuffer) out = through (element, NULL, related_frame (boxes, 1));
  gint box[4];
  g_assert_true (find_related (out, 0, box));
  for (guint k = 0; k < 4; k++)
    g_assert_cmpint (box[k], ==, test->box[k]);
}

/* Scaled as videoscale does, to the pixel, which rounds in its own way. */
static void
test_scaled (void)
{
  static const gint boxes[][4] = {
    { 0, 0, 64, 48 }, { 5, 7, 31, 22 }, { 1, 1, 3, 3 }, { 60, 40, 4, 8 }
  };
  static const char size[] = "video/x-raw,format=I420,width=40,height=30,framerate=25/1";
  g_autoptr (GstBuffer) ours =
    through ("slresize", size, related_frame (boxes, G_N_ELEMENTS (boxes)));
  g_autoptr (GstBuffer) theirs =
    through ("videoscale", size, related_frame (boxes, G_N_ELEMENTS (boxes)));
  for (guint i = 0; i < G_N_ELEMENTS (boxes); i++) {
    gint box[4], reference[4];
    g_assert_true (find_related (ours, i, box));
    g_assert_true (find_related (theirs, i, reference));
    for (guint k = 0; k < 4; k++)
      g_assert_cmpint (ABS (box[k] - reference[k]), <=, 1);
  }
}

/* A crop cuts objects off, and those outside go with what belongs to them. A label of the whole
 * picture stays. */
static void
test_cropped (void)
{
  static const gint boxes[][4] = {
    { 0, 0, 16, 48 }, { 8, 8, 16, 16 }, { -10, -10, 1000, 1000 }, { 50, 0, 4, 4 }
  };
  GstBuffer *in = related_frame (boxes, G_N_ELEMENTS (boxes));
  GstAnalyticsClsMtd whole;
  g_assert_true (gst_analytics_relation_meta_add_one_cls_mtd (
    gst_buffer_get_analytics_relation_meta (in), 0.75f, g_quark_from_string ("street"), &whole));
  g_autoptr (GstBuffer) out =
    through ("slresize crop-x=16 crop-y=16 crop-width=32 crop-height=16", NULL, in);
  gint box[4];
  g_assert_false (find_related (out, 0, box));
  g_assert_true (find_related (out, 1, box));
  g_assert_true (box[0] == 0 && box[1] == 0 && box[2] == 8 && box[3] == 8);
  g_assert_true (find_related (out, 2, box));
  g_assert_true (box[0] == 0 && box[1] == 0 && box[2] == 32 && box[3] == 16);
  g_assert_false (find_related (out, 3, box));
  g_assert_cmpuint (
    gst_analytics_relation_get_length (gst_buffer_get_analytics_relation_meta (out)), ==, 7);
}

#ifdef SL_HAVE_SEGMENTATION_MTD
/* The mask stays as it is, and lies where its object lies. */
static void
test_mask (void)
{
  static const gint boxes[][4] = { { 8, 4, 16, 8 } };
  GstBuffer *in = related_frame (boxes, 1), *mask = gst_buffer_new_allocate (NULL, 4, NULL);
  guint ids[2] = { 0, 1 };
  gint x, y;
  guint w, h;
  GstAnalyticsSegmentationMtd segmentation;
  GstAnalyticsODMtd object;
  gpointer state = NULL, inner = NULL;
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (in);
  gst_buffer_memset (mask, 0, 1, 4);
  gst_buffer_add_video_meta (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 2, 2)
    ->stride[0] = 2;
  g_assert_true (gst_analytics_relation_meta_add_segmentation_mtd (
    relations, gst_buffer_ref (mask), GST_SEGMENTATION_TYPE_INSTANCE, 2, ids, 8, 4, 16, 8,
    &segmentation));
  g_assert_true (gst_analytics_relation_meta_set_relation (
    relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, 0, segmentation.id));
  g_autoptr (GstBuffer) turned =
    through ("slresize video-direction=180", NULL, gst_buffer_copy (in));
  relations = gst_buffer_get_analytics_relation_meta (turned);
  g_assert_false (gst_analytics_relation_meta_iterate (
    relations, &state, gst_analytics_segmentation_mtd_get_mtd_type (), &segmentation));
  g_autoptr (GstBuffer) out = through (
    "slresize crop-x=4 crop-y=2 crop-width=56 crop-height=44 width=28 height=22", NULL, in);
  relations = gst_buffer_get_analytics_relation_meta (out);
  state = NULL;
  g_assert_true (gst_analytics_relation_meta_iterate (
    relations, &state, gst_analytics_od_mtd_get_mtd_type (), &object));
  g_assert_true (gst_analytics_relation_meta_get_direct_related (
    relations, object.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
    gst_analytics_segmentation_mtd_get_mtd_type (), &inner, &segmentation));
  g_autoptr (GstBuffer) kept =
    gst_analytics_segmentation_mtd_get_mask (&segmentation, &x, &y, &w, &h);
  g_assert_true (kept == mask);
  g_assert_true (x == 2 && y == 1 && w == 8 && h == 4);
  g_assert_cmpuint (gst_analytics_segmentation_mtd_get_region_count (&segmentation), ==, 2);
  gst_buffer_unref (mask);
}
#endif

#ifdef SL_HAVE_ORIENTED_OD_MTD
/* A box turned by 30 degrees, mirrored, halved, and turned by 90 degrees. */
static void
test_oriented (void)
{
  static const struct
  {
    const char *element;
    gint x, y, w, h;
    double degrees;
  } cases[] = {
    { "slresize width=32 height=24", 4, 2, 8, 4, 30 },
    /* Mirrored, its right edge points left: the same box as one turned the other way round. */
    { "slresize width=32 height=24 video-direction=horiz", 20, 2, 8, 4, 150 },
    { "slresize width=24 height=32 video-direction=90r", 16, 6, 8, 4, 120 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *in = test_frame (SMALL, colour, 0);
    GstAnalyticsODMtd object;
    gpointer state = NULL;
    gint x, y, w, h;
    gfloat angle, confidence;
    gst_analytics_relation_meta_add_oriented_od_mtd (gst_buffer_add_analytics_relation_meta (in), 1,
                                                     8, 4, 16, 8, (gfloat) (G_PI / 6), 0.5f,
                                                     &object);
    g_autoptr (GstBuffer) out = through (cases[i].element, NULL, in);
    g_assert_true (
      gst_analytics_relation_meta_iterate (gst_buffer_get_analytics_relation_meta (out), &state,
                                           gst_analytics_od_mtd_get_mtd_type (), &object));
    g_assert_true (
      gst_analytics_od_mtd_get_oriented_location (&object, &x, &y, &w, &h, &angle, &confidence));
    g_test_message ("%d %d %d %d %f", x, y, w, h, angle);
    g_assert_true (x == cases[i].x && y == cases[i].y && w == cases[i].w && h == cases[i].h);
    g_assert_cmpfloat (fabs (angle - cases[i].degrees * G_PI / 180), <, 1e-5);
  }
}
#endif

#ifdef SL_HAVE_ORIENTED_OD_MTD
/* Where one side is scaled more than the other a turned box is none any more: it becomes the box
 * around it, which its region becomes, too. */
static void
test_skewed (void)
{
  GstBuffer *in = test_frame (SMALL, colour, 0);
  GstAnalyticsODMtd object;
  gpointer state = NULL;
  gint box[4];
  gfloat angle, confidence;
  g_assert_true (gst_analytics_relation_meta_add_oriented_od_mtd (
    gst_buffer_add_analytics_relation_meta (in), g_quark_from_string ("car"), 20, 16, 20, 12,
    (gfloat) (G_PI / 4), 0.5f, &object));
  gst_buffer_add_video_region_of_interest_meta (in, "car", 19, 11, 22, 22);
  g_autoptr (GstBuffer) out = through ("slresize width=64 height=24", NULL, in);
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (out);
  g_assert_true (gst_analytics_relation_meta_iterate (
    relations, &state, gst_analytics_od_mtd_get_mtd_type (), &object));
  g_assert_true (gst_analytics_od_mtd_get_oriented_location (&object, &box[0], &box[1], &box[2],
                                                             &box[3], &angle, &confidence));
  g_assert_cmpfloat (angle, ==, 0);
  const GstVideoRegionOfInterestMeta *region =
    gst_buffer_get_video_region_of_interest_meta_id (out, 0);
  const gint expected[4] = { (gint) region->x, (gint) region->y, (gint) region->w,
                             (gint) region->h };
  for (guint k = 0; k < 4; k++)
    g_assert_cmpint (ABS (box[k] - expected[k]), <=, 1);
}
#endif

/* As many entries as are read, all related to one object: as many come out, and soon. */
static void
test_many (void)
{
  GstBuffer *in = test_frame (SMALL, colour, 0);
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta (in);
  const guint n = 4000;
  GstAnalyticsODMtd object;
  g_assert_true (gst_analytics_relation_meta_add_od_mtd (relations, g_quark_from_string ("car"), 2,
                                                         2, 8, 8, 0.5f, &object));
  for (guint i = 0; i < n; i++) {
    GstAnalyticsClsMtd label;
    g_assert_true (gst_analytics_relation_meta_add_one_cls_mtd (
      relations, 0.5f, g_quark_from_string ("red"), &label));
    g_assert_true (gst_analytics_relation_meta_set_relation (
      relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object.id, label.id));
  }
  g_autoptr (GstBuffer) out = through ("slresize width=32 height=24", NULL, in);
  relations = gst_buffer_get_analytics_relation_meta (out);
  g_assert_cmpuint (gst_analytics_relation_get_length (relations), ==, n + 1);
  for (guint i = 1; i <= n; i++)
    g_assert_cmpint (gst_analytics_relation_meta_get_relation (relations, 0, i), ==,
                     GST_ANALYTICS_REL_TYPE_RELATE_TO);
}

/* Of two equal objects each region has its own: both go. */
static void
test_twins (void)
{
  g_autoptr (GstBuffer) buffer = test_frame (SMALL, colour, 0);
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta (buffer);
  GstVideoRegionOfInterestMeta *regions[2];
  for (guint i = 0; i < G_N_ELEMENTS (regions); i++) {
    GstAnalyticsODMtd object;
    g_assert_true (gst_analytics_relation_meta_add_od_mtd (relations, g_quark_from_string ("car"),
                                                           2, 2, 8, 8, 0.5f, &object));
    regions[i] = gst_buffer_add_video_region_of_interest_meta (buffer, "car", 2, 2, 8, 8);
  }
  sl_buffer_remove_related (buffer, 64, 48, regions, 2);
  g_assert_cmpuint (
    gst_analytics_relation_get_length (gst_buffer_get_analytics_relation_meta (buffer)), ==, 0);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  TEST_ADD_CASES ("/mappedrelations/turned", turn_cases, test_turned);
  g_test_add_func ("/mappedrelations/scaled", test_scaled);
  g_test_add_func ("/mappedrelations/cropped", test_cropped);
  g_test_add_func ("/mappedrelations/many", test_many);
  g_test_add_func ("/mappedrelations/twins", test_twins);
#ifdef SL_HAVE_SEGMENTATION_MTD
  g_test_add_func ("/mappedrelations/mask", test_mask);
#endif
#ifdef SL_HAVE_ORIENTED_OD_MTD
  g_test_add_func ("/mappedrelations/oriented", test_oriented);
  g_test_add_func ("/mappedrelations/skewed", test_skewed);
#endif
  return test_elements_run ();
}
