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

#ifdef SL_HAVE_SEGMENTATION_MTD
/* A mask as a gray picture whose pixels are indices of regions; the index of a region is its id. Takes @pixels. */
static gboolean
add_segmentation (GstAnalyticsRelationMeta *relations, GstSegmentationType type, guint8 *pixels, guint width, guint height, guint n_regions,
                  const gint place[4], GstAnalyticsSegmentationMtd *entry)
{
  const gsize bytes = (gsize) width * height;
  const gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  const gint stride[GST_VIDEO_MAX_PLANES] = { (gint) width };
  guint ids[256];
  GstBuffer *picture = gst_buffer_new_wrapped (pixels, bytes);
  gst_buffer_add_video_meta_full (picture, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, width, height, 1, offset, stride);
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    ids[i] = i;
  return gst_analytics_relation_meta_add_segmentation_mtd (relations, picture, type, n_regions, ids, place[0], place[1], (guint) place[2],
                                                           (guint) place[3], entry);
}

static void
add_object_mask (GstAnalyticsRelationMeta *relations, const SlObject *object, guint detection)
{
  const gsize n = (gsize) object->mask.width * object->mask.height;
  const gint place[4] = { object->x, object->y, object->w, object->h };
  GstAnalyticsSegmentationMtd entry;
  if (n == 0)
    return;
  guint8 *pixels = g_malloc (n);
  for (gsize i = 0; i < n; i++)
    pixels[i] = object->mask.cells[i] >= SL_OBJECT_CELL;
  if (add_segmentation (relations, GST_SEGMENTATION_TYPE_INSTANCE, pixels, object->mask.width, object->mask.height, 2, place, &entry))
    gst_analytics_relation_meta_set_relation (relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, detection, entry.id);
}

static void
add_mask (GstAnalyticsRelationMeta *relations, const SlPrediction *prediction)
{
  const SlMask *mask = &prediction->mask;
  const gint place[4] = { 0, 0, prediction->width, prediction->height };
  GstAnalyticsSegmentationMtd entry;
  if (mask->width > 0)
    add_segmentation (relations, GST_SEGMENTATION_TYPE_SEMANTIC, g_memdup2 (mask->classes, (gsize) mask->width * mask->height), mask->width,
                      mask->height, 256, place, &entry);
}
#else
static void
add_object_mask (GstAnalyticsRelationMeta *relations, const SlObject *object, guint detection)
{
}

static void
add_mask (GstAnalyticsRelationMeta *relations, const SlPrediction *prediction)
{
}
#endif

static void
add_object (GstAnalyticsRelationMeta *relations, const SlObject *object, GstClockTime now)
{
  GstAnalyticsODMtd entry;
  if (!gst_analytics_relation_meta_add_od_mtd (relations, g_quark_from_string (object->label), object->x, object->y, object->w, object->h,
                                               (gfloat) object->confidence, &entry))
    return;
  if (object->object_id > 0)
    add_tracking (relations, entry.id, object->object_id, object->tracked_since, now);
  add_object_mask (relations, object, entry.id);
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
  if (prediction->n_objects + prediction->n_labels + prediction->mask.width == 0)
    return;
  if (relations == NULL)
    relations = gst_buffer_add_analytics_relation_meta (buffer);
  if (relations == NULL)
    return;
  for (guint i = 0; i < prediction->n_objects; i++)
    add_object (relations, &prediction->objects[i], GST_BUFFER_PTS (buffer));
  if (prediction->n_labels > 0)
    add_labels (relations, prediction);
  add_mask (relations, prediction);
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
