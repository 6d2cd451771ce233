/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes object detections, trackings and classifications as entries of gstreamer-analytics. The
 * code that writes predictions on buffers calls it.
 */
#include "config.h"
#include "plugins/meta/relations/write.h"

#ifdef SL_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#include <math.h>
#include <string.h>

#include "plugins/meta/relations/read.h"
#include "postprocess/result.h"

static void
add_tracking (GstAnalyticsRelationMeta *relations, guint object, gint32 id, GstClockTime since,
              GstClockTime now)
{
  GstAnalyticsTrackingMtd tracking;
  if (!gst_analytics_relation_meta_add_tracking_mtd (relations, (guint64) id, since, &tracking))
    return;
  if (GST_CLOCK_TIME_IS_VALID (now))
    gst_analytics_tracking_mtd_update_last_seen (&tracking, now);
  gst_analytics_relation_meta_set_relation (relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object,
                                            tracking.id);
}

#ifdef SL_HAVE_SEGMENTATION_MTD
#define N_CLASSES 256
/* That a classification names something, and is not about how sure it is. */
#define UNDEFINED_LEVEL (-1)

/* A mask as a gray picture whose pixels are indices of regions; the index of a region is its id.
 * Takes @picture. */
static gboolean
add_segmentation (GstAnalyticsRelationMeta *relations, GstSegmentationType type, GstBuffer *picture,
                  guint width, guint height, guint n_regions, const gint place[4],
                  GstAnalyticsSegmentationMtd *entry)
{
  const gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  const gint stride[GST_VIDEO_MAX_PLANES] = { (gint) width };
  guint ids[N_CLASSES];
  gst_buffer_add_video_meta_full (picture, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, width,
                                  height, 1, offset, stride);
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    ids[i] = i;
  return gst_analytics_relation_meta_add_segmentation_mtd (relations, picture, type, n_regions, ids,
                                                           place[0], place[1], (guint) place[2],
                                                           (guint) place[3], entry);
}

static void
add_object_mask (GstAnalyticsRelationMeta *relations, const SlObjectView *object, guint detection,
                 SlBytePool *pool)
{
  const gsize n = (gsize) object->mask.width * object->mask.height;
  const gint place[4] = { object->x, object->y, object->w, object->h };
  GstAnalyticsSegmentationMtd entry;
  GstMapInfo map;
  if (n == 0)
    return;
  GstBuffer *picture = sl_byte_pool_take (pool, object->mask.cells, n);
  if (gst_buffer_map (picture, &map, GST_MAP_READWRITE)) {
    for (gsize i = 0; i < n; i++)
      map.data[i] = map.data[i] >= SL_OBJECT_CELL;
    gst_buffer_unmap (picture, &map);
  }
  if (add_segmentation (relations, GST_SEGMENTATION_TYPE_INSTANCE, picture, object->mask.width,
                        object->mask.height, 2, place, &entry))
    gst_analytics_relation_meta_set_relation (relations, GST_ANALYTICS_REL_TYPE_RELATE_TO,
                                              detection, entry.id);
}

/* What the classes are called that are there: region by region. */
static void
name_classes (GstAnalyticsRelationMeta *relations, const SlPredictionView *prediction,
              guint segmentation)
{
  gfloat levels[N_CLASSES];
  GQuark names[N_CLASSES] = { 0 };
  GstAnalyticsClsMtd entry;
  for (guint i = 0; i < N_CLASSES; i++)
    levels[i] = UNDEFINED_LEVEL;
  for (guint i = 0; i < prediction->n_mask_classes; i++)
    names[prediction->mask_classes[i].label_id & 0xff] =
      g_quark_from_string (prediction->mask_classes[i].label);
  if (gst_analytics_relation_meta_add_cls_mtd (relations, N_CLASSES, levels, names, &entry))
    gst_analytics_relation_meta_set_relation (
      relations, GST_ANALYTICS_REL_TYPE_RELATE_TO | GST_ANALYTICS_REL_TYPE_N_TO_N, segmentation,
      entry.id);
}

static void
add_mask (GstAnalyticsRelationMeta *relations, const SlPredictionView *prediction, SlBytePool *pool)
{
  const SlClassMask *mask = &prediction->mask;
  const gint place[4] = { 0, 0, prediction->width, prediction->height };
  GstAnalyticsSegmentationMtd entry;
  if (mask->width > 0
      && add_segmentation (
        relations, GST_SEGMENTATION_TYPE_SEMANTIC,
        sl_byte_pool_take (pool, mask->classes, (gsize) mask->width * mask->height), mask->width,
        mask->height, N_CLASSES, place, &entry)
      && prediction->n_mask_classes > 0)
    name_classes (relations, prediction, entry.id);
}
#else
static void
add_object_mask (GstAnalyticsRelationMeta *relations, const SlObjectView *object, guint detection,
                 SlBytePool *pool)
{
}

static void
add_mask (GstAnalyticsRelationMeta *relations, const SlPredictionView *prediction, SlBytePool *pool)
{
}
#endif

/* The frame that objects are in, and the names of their points where they have none of their own
 * (nullable). */
typedef struct
{
  gint width, height;
  const SlSkeleton *skeleton;
} Frame;

#ifdef SL_HAVE_ORIENTED_OD_MTD
static gboolean
is_near (double middle, double half, gint start, gint length, gint end)
{
  const double from = middle - half, to = middle + half, last = (double) start + length;
  return fabs (MAX (from, 0) - start) <= SL_RELATED_SLACK
         && MIN (fabs (to - last), fabs (MIN (to, end) - last)) <= SL_RELATED_SLACK;
}

/* Readers find the region of a turned box by what is around it, so that must be the object's box.
 * Corners of a plate that is seen from the side are those of no turned box. */
static gboolean
is_around (const SlObjectView *object, const Frame *frame, const double middle[2], double w,
           double h, double angle)
{
  const double c = fabs (cos (angle)), s = fabs (sin (angle));
  return is_near (middle[0], (w * c + h * s) / 2, object->x, object->w, frame->width)
         && is_near (middle[1], (w * s + h * c) / 2, object->y, object->h, frame->height);
}

/* A box that a decoder gave as four corners, in their order around it. FALSE for others. */
static gboolean
add_turned (GstAnalyticsRelationMeta *relations, const SlObjectView *object, const Frame *frame,
            GstAnalyticsODMtd *entry)
{
  const SlSkeleton *skeleton = sl_object_skeleton (object, frame->skeleton);
  if (skeleton == NULL || skeleton->n_points != sl_skeleton_corners.n_points
      || strcmp (skeleton->names[0], sl_skeleton_corners.names[0]) != 0)
    return FALSE;
  double x[4], y[4], middle[2] = { 0, 0 };
  for (guint i = 0; i < G_N_ELEMENTS (x); i++) {
    x[i] = object->points[i].x * frame->width;
    y[i] = object->points[i].y * frame->height;
    middle[0] += x[i] / G_N_ELEMENTS (x);
    middle[1] += y[i] / G_N_ELEMENTS (y);
  }
  const double across[2] = { x[1] - x[0], y[1] - y[0] }, down[2] = { x[3] - x[0], y[3] - y[0] };
  const double w = hypot (across[0], across[1]), h = hypot (down[0], down[1]);
  const double farthest = MAX (fabs (middle[0]), fabs (middle[1])) + w + h;
  const double angle = atan2 (across[1], across[0]);
  if (!(w > 0 && h > 0 && farthest < G_MAXINT / 2)
      || !is_around (object, frame, middle, w, h, angle))
    return FALSE;
  return gst_analytics_relation_meta_add_oriented_od_mtd (
    relations, g_quark_from_string (object->label), (gint) floor (middle[0] - w / 2 + 0.5),
    (gint) floor (middle[1] - h / 2 + 0.5), (gint) floor (w + 0.5), (gint) floor (h + 0.5),
    (gfloat) angle, (gfloat) object->confidence, entry);
}
#else
static gboolean
add_turned (GstAnalyticsRelationMeta *relations, const SlObjectView *object, const Frame *frame,
            GstAnalyticsODMtd *entry)
{
  return FALSE;
}
#endif

static gboolean
add_object (GstAnalyticsRelationMeta *relations, const SlObjectView *object, const Frame *frame,
            GstClockTime now, SlBytePool *pool, GstAnalyticsODMtd *entry)
{
  if (!add_turned (relations, object, frame, entry)
      && !gst_analytics_relation_meta_add_od_mtd (relations, g_quark_from_string (object->label),
                                                  object->x, object->y, object->w, object->h,
                                                  (gfloat) object->confidence, entry))
    return FALSE;
  if (object->object_id > 0)
    add_tracking (relations, entry->id, object->object_id, object->tracked_since, now);
  add_object_mask (relations, object, entry->id, pool);
  return TRUE;
}

/* One classification with those of @n labels that are classes' names: its labels are quarks, and
 * there is no end of texts. */
static gboolean
add_labels (GstAnalyticsRelationMeta *relations, const SlLabelled *labels, guint n,
            GstAnalyticsClsMtd *entry)
{
  gfloat confidences[SL_MAX_RESULTS];
  GQuark names[SL_MAX_RESULTS];
  guint named = 0;
  n = MIN (n, SL_MAX_RESULTS);
  for (guint i = 0; i < n; i++) {
    if (labels[i].label_id == SL_TEXT_ID)
      continue;
    confidences[named] = (gfloat) labels[i].confidence;
    names[named++] = g_quark_from_string (labels[i].label);
  }
  return named > 0
         && gst_analytics_relation_meta_add_cls_mtd (relations, named, confidences, names, entry);
}

static GstAnalyticsRelationMeta *
ensure_relations (GstBuffer *buffer)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  return relations != NULL ? relations : gst_buffer_add_analytics_relation_meta (buffer);
}

void
sl_buffer_relate_prediction (GstBuffer *buffer, const SlPredictionView *prediction,
                             SlBytePool *pool)
{
  const Frame frame = { prediction->width, prediction->height, prediction->skeleton };
  GstAnalyticsODMtd object;
  GstAnalyticsClsMtd labels;
  if (prediction->n_objects + prediction->n_labels + prediction->mask.width == 0)
    return;
  GstAnalyticsRelationMeta *relations = ensure_relations (buffer);
  if (relations == NULL)
    return;
  for (guint i = 0; i < prediction->n_objects; i++)
    add_object (relations, &prediction->objects[i], &frame, GST_BUFFER_PTS (buffer), pool, &object);
  if (prediction->n_labels > 0)
    add_labels (relations, prediction->labels, prediction->n_labels, &labels);
  add_mask (relations, prediction, pool);
}

/* Gives the id of the object detection that belongs to @region. A detection is added when the
 * element that wrote the region added none. */
static gboolean
ensure_object (GstBuffer *buffer, gint width, gint height, GstAnalyticsRelationMeta *relations,
               const GstVideoRegionOfInterestMeta *region, guint *id)
{
  GstAnalyticsODMtd object;
  if (sl_buffer_find_related (buffer, width, height, region, id))
    return TRUE;
  if (!gst_analytics_relation_meta_add_od_mtd (relations, region->roi_type, (gint) region->x,
                                               (gint) region->y, (gint) region->w, (gint) region->h,
                                               1, &object))
    return FALSE;
  *id = object.id;
  return TRUE;
}

void
sl_buffer_relate_track (GstBuffer *buffer, gint width, gint height,
                        const GstVideoRegionOfInterestMeta *region, gint32 id, GstClockTime since,
                        GstClockTime now)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  guint object;
  if (relations != NULL && sl_buffer_find_related (buffer, width, height, region, &object))
    add_tracking (relations, object, id, since, now);
}

void
sl_buffer_relate_labels (GstBuffer *buffer, gint width, gint height,
                         const GstVideoRegionOfInterestMeta *region, const SlLabelled *labels,
                         guint n)
{
  GstAnalyticsRelationMeta *relations = ensure_relations (buffer);
  GstAnalyticsClsMtd entry;
  guint object;
  if (relations != NULL && ensure_object (buffer, width, height, relations, region, &object)
      && add_labels (relations, labels, n, &entry))
    gst_analytics_relation_meta_set_relation (relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object,
                                              entry.id);
}

void
sl_buffer_relate_part (GstBuffer *buffer, gint width, gint height,
                       const GstVideoRegionOfInterestMeta *whole, const SlObjectView *part)
{
  GstAnalyticsRelationMeta *relations = ensure_relations (buffer);
  const Frame frame = { width, height, NULL };
  GstAnalyticsODMtd entry;
  guint object;
  if (relations == NULL || !ensure_object (buffer, width, height, relations, whole, &object)
      || !add_object (relations, part, &frame, GST_BUFFER_PTS (buffer), NULL, &entry))
    return;
  gst_analytics_relation_meta_set_relation (relations, GST_ANALYTICS_REL_TYPE_CONTAIN, object,
                                            entry.id);
  gst_analytics_relation_meta_set_relation (relations, GST_ANALYTICS_REL_TYPE_IS_PART_OF, entry.id,
                                            object);
}

#else

void
sl_buffer_relate_prediction (GstBuffer *buffer, const SlPredictionView *prediction,
                             SlBytePool *pool)
{
}

void
sl_buffer_relate_track (GstBuffer *buffer, gint width, gint height,
                        const GstVideoRegionOfInterestMeta *region, gint32 id, GstClockTime since,
                        GstClockTime now)
{
}

void
sl_buffer_relate_labels (GstBuffer *buffer, gint width, gint height,
                         const GstVideoRegionOfInterestMeta *region, const SlLabelled *labels,
                         guint n)
{
}

void
sl_buffer_relate_part (GstBuffer *buffer, gint width, gint height,
                       const GstVideoRegionOfInterestMeta *whole, const SlObjectView *part)
{
}

#endif
