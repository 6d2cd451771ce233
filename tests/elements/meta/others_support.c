/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/elements/meta/others.h"

#include "plugins/meta/predictions.h"

GstBuffer *
test_others_frame (GstClockTime pts)
{
  static const guint8 colour[3] = { 90, 60, 200 };
  return test_frame (OTHERS_CAPS, colour, pts);
}

char *
test_others_json (GstBuffer *buffer)
{
  SlPredictionView prediction = { .width = OTHERS_WIDTH, .height = OTHERS_HEIGHT, .timestamp = 0 };
  GString *text = g_string_new (NULL);
  SlPredictionReader reader = { 0 };
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, buffer, &prediction);
  for (guint i = 0; i < prediction.n_objects; i++) {
    const SlObjectView *object = &prediction.objects[i];
    g_assert_true (object->x >= 0 && object->y >= 0 && object->x + object->w <= OTHERS_WIDTH
                   && object->y + object->h <= OTHERS_HEIGHT);
    g_assert_true (object->x_min >= 0 && object->x_min <= object->x_max && object->x_max <= 1);
    g_assert_true (object->y_min >= 0 && object->y_min <= object->y_max && object->y_max <= 1);
    g_assert_true (object->confidence >= 0 && object->confidence <= 1);
    g_assert_cmpuint (object->parent, <=, i);
  }
  sl_prediction_append_json (text, &prediction);
  sl_prediction_reader_clear (&reader);
  return g_string_free (text, FALSE);
}

guint
test_others_count (GstBuffer *buffer)
{
  SlPredictionView prediction = { .width = OTHERS_WIDTH, .height = OTHERS_HEIGHT };
  SlPredictionReader reader = { 0 };
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, buffer, &prediction);
  sl_prediction_reader_clear (&reader);
  return prediction.n_objects;
}

void
test_others_add_region (GstBuffer *buffer, guint x, guint y, guint w, guint h,
                        const double edges[4], double confidence)
{
  GstVideoRegionOfInterestMeta *region =
    gst_buffer_add_video_region_of_interest_meta (buffer, "thing", x, y, w, h);
  gst_video_region_of_interest_meta_add_param (
    region,
    gst_structure_new ("detection", "x_min", G_TYPE_DOUBLE, edges[0], "y_min", G_TYPE_DOUBLE,
                       edges[1], "x_max", G_TYPE_DOUBLE, edges[2], "y_max", G_TYPE_DOUBLE, edges[3],
                       "confidence", G_TYPE_DOUBLE, confidence, NULL));
}

void
test_others_through_all (GstBuffer *frame)
{
  static const char line[] =
    "sltrack interpolate=true ! slanalyze regions=\"[zone all] points=0,0 1,0 1,1 0,1\"";
  g_autoptr (GstElementFactory) overlay = gst_element_factory_find ("sloverlay"),
                                resize = gst_element_factory_find ("slresize");
  g_autofree char *launch =
    g_strdup_printf ("%s%s%s", line, overlay != NULL ? " ! sloverlay" : "",
                     resize != NULL ? " ! slresize width=32 height=24" : "");
  TestLine fixture = test_line_open (launch, NULL, OTHERS_CAPS);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *copy = gst_buffer_copy (frame);
    GST_BUFFER_PTS (copy) = i * 40 * GST_MSECOND;
    g_assert_cmpint (gst_harness_push (fixture.harness, copy), ==, GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (fixture.harness));
  }
  test_assert_no_error (fixture.bus);
  test_line_close (fixture.harness, fixture.bus);
}

#ifdef SL_HAVE_ANALYTICS
guint
test_others_relate (GstBuffer *frame, const char *type, gint x, gint y, gint w, gint h,
                    gfloat confidence)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  GstAnalyticsODMtd object;
  if (relations == NULL)
    relations = gst_buffer_add_analytics_relation_meta (frame);
  g_assert_true (gst_analytics_relation_meta_add_od_mtd (
    relations, type != NULL ? g_quark_from_string (type) : 0, x, y, w, h, confidence, &object));
  return object.id;
}

guint
test_others_relate_label (GstBuffer *frame, guint object, GstAnalyticsRelTypes type, gboolean back,
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

void
test_others_relate_id (GstBuffer *frame, guint object, guint64 id)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  GstAnalyticsTrackingMtd tracking;
  g_assert_true (gst_analytics_relation_meta_add_tracking_mtd (relations, id, 0, &tracking));
  g_assert_true (gst_analytics_relation_meta_set_relation (
    relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object, tracking.id));
}
#endif
