/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Object detections, trackings and classifications as gstreamer-analytics has them. Called by whoever writes predictions
 * on buffers.
 */
#include "config.h"
#include "plugins/relations.h"

#ifdef SL_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>

#include "postprocess/result.h"

static void
add_tracking (GstAnalyticsRelationMeta *relations, guint object, gint32 id, GstClockTime since, GstClockTime now)
{
  GstAnalyticsTrackingMtd tracking;
  if (!gst_analytics_relation_meta_add_tracking_mtd (relations, (guint64) id, since, &tracking))
    return;
  if (GST_CLOCK_TIME_IS_VALID (now))
    gst_analytics_tracking_mtd_update_last_seen (&tracking, now);
  gst_analytics_relation_meta_set_relation (relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object, tracking.id);
}

static void
add_object (GstAnalyticsRelationMeta *relations, const SlObject *object, GstClockTime now)
{
  GstAnalyticsODMtd entry;
  if (gst_analytics_relation_meta_add_od_mtd (relations, g_quark_from_string (object->label), object->x, object->y, object->w, object->h,
                                              (gfloat) object->confidence, &entry)
      && object->object_id > 0)
    add_tracking (relations, entry.id, object->object_id, object->tracked_since, now);
}

static void
add_labels (GstAnalyticsRelationMeta *relations, const SlPrediction *prediction)
{
  const guint n = MIN (prediction->n_labels, SL_MAX_RESULTS);
  gfloat confidences[SL_MAX_RESULTS];
  GQuark names[SL_MAX_RESULTS];
  GstAnalyticsClsMtd entry;
  for (guint i = 0; i < n; i++) {
    confidences[i] = (gfloat) prediction->labels[i].confidence;
    names[i] = g_quark_from_string (prediction->labels[i].label);
  }
  gst_analytics_relation_meta_add_cls_mtd (relations, n, confidences, names, &entry);
}

void
sl_buffer_relate_prediction (GstBuffer *buffer, const SlPrediction *prediction)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  if (prediction->n_objects + prediction->n_labels == 0)
    return;
  if (relations == NULL)
    relations = gst_buffer_add_analytics_relation_meta (buffer);
  if (relations == NULL)
    return;
  for (guint i = 0; i < prediction->n_objects; i++)
    add_object (relations, &prediction->objects[i], GST_BUFFER_PTS (buffer));
  if (prediction->n_labels > 0)
    add_labels (relations, prediction);
}

void
sl_buffer_relate_track (GstBuffer *buffer, const GstVideoRegionOfInterestMeta *region, gint32 id, GstClockTime since, GstClockTime now)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  gpointer state = NULL;
  GstAnalyticsODMtd object;
  while (relations != NULL
         && gst_analytics_relation_meta_iterate (relations, &state, gst_analytics_od_mtd_get_mtd_type (), (GstAnalyticsMtd *) &object)) {
    gint x, y, w, h;
    gfloat confidence;
    if (gst_analytics_od_mtd_get_obj_type (&object) != region->roi_type
        || !gst_analytics_od_mtd_get_location (&object, &x, &y, &w, &h, &confidence) || x != (gint) region->x || y != (gint) region->y
        || w != (gint) region->w || h != (gint) region->h)
      continue;
    add_tracking (relations, object.id, id, since, now);
    return;
  }
}

#else

void
sl_buffer_relate_prediction (GstBuffer *buffer, const SlPrediction *prediction)
{
}

void
sl_buffer_relate_track (GstBuffer *buffer, const GstVideoRegionOfInterestMeta *region, gint32 id, GstClockTime since, GstClockTime now)
{
}

#endif
