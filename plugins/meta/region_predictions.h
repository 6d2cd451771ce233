/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Predictions on buffers: written as GstVideoRegionOfInterestMeta (and GstAnalyticsRelationMeta where found), and
 * read from both, whoever wrote them, by whoever shows, follows or reports them.
 */
#ifndef SL_PLUGINS_META_REGION_PREDICTIONS_H
#define SL_PLUGINS_META_REGION_PREDICTIONS_H

#include <gst/gst.h>
#include <gst/video/video.h>

#include "plugins/byte_pool.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/meta/keypoints.h"
#include "plugins/meta/related_objects.h"
#include "postprocess/predictions/class_filter.h"
#include "postprocess/predictions/prediction.h"

G_BEGIN_DECLS

/** sl_buffer_add_prediction: attaches objects, labels and the mask to writable @buffer. An object is a region with a structure
 *  "detection" (x_min y_min x_max y_max confidence: double; label: string; label_id: int); a label of the whole
 *  frame is a region over all of it with a structure "classification" (label: string; label_id: int; confidence: double); keypoints
 *  are a structure of keypoints.h on their object's region, an object's mask is one of
 *  object_mask.h, that of the whole frame an SlMaskMeta. Tracked objects have a structure
 *  "object_id" (id: int), those that were read one of object_code.h. What a further model says of an object is one more
 *  structure "classification" on the object's region, with the string model_name; what it finds inside it are regions whose
 *  parent_id is that region's id. @pool: (nullable): where the cells of masks come from */
void sl_buffer_add_prediction (GstBuffer *buffer, const SlPredictionView *prediction, SlBytePool *pool);

/** sl_buffer_has_predictions: whether there is a region, a related object or label, or a mask on the frame @buffer, whoever wrote it. */
gboolean sl_buffer_has_predictions (GstBuffer *buffer);

/** sl_region_type_name: "unknown" of a region that nobody gave a type. */
const char *sl_region_type_name (const GstVideoRegionOfInterestMeta *region);

/** sl_object_set_box: sets x to y_max of @object to what of @corners (x0, y0, x1, y1 in pixels) is inside a frame of @width x @height; FALSE,
 *  with nothing set, when nothing is. */
gboolean sl_object_set_box (SlObjectView *object, const double corners[4], gint width, gint height);

/** sl_region_read_object: fills @object, but for points, mask, labels and parent, with what @region, of a frame of @width x @height, says:
 *  its edges are those of a detection where it has one. FALSE when it is not inside the frame. */
gboolean sl_region_read_object (const GstVideoRegionOfInterestMeta *region, gint width, gint height, SlObjectView *object);

/** sl_region_set_object_id: a structure "object_id" with the field id (int), as DL Streamer's elements write it; and the region's own id
 *  where nobody gave it one. */
void sl_region_set_object_id (GstVideoRegionOfInterestMeta *region, gint32 id);

/** sl_buffer_add_object, sl_region_add_label: one of these objects; one of these labels, of whatever @region is. */
GstVideoRegionOfInterestMeta *sl_buffer_add_object (GstBuffer *buffer, const SlObjectView *object, const SlSkeleton *skeleton);
void sl_region_add_label (GstVideoRegionOfInterestMeta *region, const SlLabelled *label);

typedef struct
{
  gint id, parent_id;
  guint depth;
} SlRegionIds;

/** Most kinds of objects with different keypoints that one frame is read with. */
#define SL_MAX_SKELETONS 8

/** Predictions read from a buffer's metas, whoever wrote them. */
typedef struct
{
  GArray *objects;     /* of SlObjectView; labels are static strings (quarks) */
  GArray *labels;      /* of SlLabelled */
  GStringChunk *texts; /* that labels are, where they are no classes' names */
  GArray *points;      /* of SlPoint, all objects' */
  GArray *mask_classes;
  GByteArray *cells;       /* of all objects' masks */
  GByteArray *frame_cells; /* of the frame's mask, where a segmentation has it */
  GArray *object_labels;   /* of SlLabelled, all objects' */
  GArray *ids;             /* of SlRegionIds, one an object */
  GArray *codes;           /* of SlCodeView, all objects' */
  guint n_regions;         /* objects that are regions; others come behind them */
  SlRelated *related;
  SlReadSkeleton *skeletons[SL_MAX_SKELETONS + 1]; /* of objects' points, @n_skeletons different ones */
  guint n_skeletons;
  SlLatency latency;
} SlPredictionReader;

void sl_prediction_reader_init (SlPredictionReader *reader);
void sl_prediction_reader_clear (SlPredictionReader *reader);
/** sl_prediction_reader_read: fills objects, labels, skeleton, mask and analysis of @prediction; valid until the next
 *  read, and as long as @buffer is as it is.
 *  width and height of @prediction must be set. */
void sl_prediction_reader_read (SlPredictionReader *reader, GstBuffer *buffer, SlPredictionView *prediction);
/** sl_prediction_reader_adopt: gives each object of *@buffer, of a frame of @width x @height, a region that has none, for those who know
 *  objects by their regions; *@buffer is replaced by a writable copy when there is one and it is not. */
void sl_prediction_reader_adopt (SlPredictionReader *reader, GstBuffer **buffer, gint width, gint height);
/** sl_prediction_reader_choose: leaves out objects and labels of @prediction, which was just read, whose class does not pass @filter
 *  (nullable). What is inside an object that goes is then inside what that one was in. */
void sl_prediction_reader_choose (SlPredictionReader *reader, const SlClassFilter *filter, SlPredictionView *prediction);
/** sl_prediction_set_times: sets timestamp, latency and worker of @prediction, of a frame that @buffer of @segment is or holds. @meta: (nullable):
 *  that frame's; @latency: where the latency is kept */
void sl_prediction_set_times (SlPredictionView *prediction, GstBuffer *buffer, const GstSegment *segment, const SlFrameMeta *meta,
                              SlLatency *latency);
/** sl_prediction_reader_read_frame: sl_prediction_reader_read(), and also frame, timestamp and latency of @prediction. @counted: number of
 *  the frame where its meta does not know it */
void sl_prediction_reader_read_frame (SlPredictionReader *reader, GstBuffer *buffer, const GstSegment *segment, guint64 counted,
                                      SlPredictionView *prediction);

G_END_DECLS

#endif
