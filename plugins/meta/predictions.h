/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Writes and reads predictions on buffers. They are written as GstVideoRegionOfInterestMeta, and as
 * GstAnalyticsRelationMeta where GStreamer has it. Both are read, also those that other elements
 * wrote.
 */
#pragma once

#include <gst/gst.h>

#include "core/base/text_pool.h"
#include "plugins/base/byte_pool.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/meta/regions/keypoints.h"
#include "plugins/meta/relations/read.h"
#include "postprocess/predictions/class_filter.h"
#include "postprocess/predictions/prediction.h"

/** sl_buffer_add_prediction: attaches the objects, labels and the mask of @prediction to writable
 * @buffer.
 *  - An object is a region with a structure "detection" (x_min y_min x_max y_max confidence:
 * double; label: string; label_id: int).
 *  - A label of the whole frame is a region over the frame with a structure "classification"
 * (label: string; label_id: int; confidence:
 *    double).
 *  - Keypoints are a structure of regions/keypoints.h on the region of their object, an object's
 * mask is a structure of regions/mask.h.
 *  - The mask of the whole frame is an SlMaskMeta.
 *  - A tracked object has a structure "object_id" (id: int), an object whose code was read has a
 * structure of regions/code.h, one with a text that was voted on a structure of regions/text.h.
 *  - A label that a further model gives to an object is one more structure "classification" on the
 * object's region, with the string
 *    model_name. An object that a further model finds inside it is a region whose parent_id is the
 *    id of the outer region.
 *  @pool: (nullable): the pool for the cells of masks */
void sl_buffer_add_prediction (GstBuffer *buffer, const SlPredictionView *prediction,
                               SlBytePool *pool);

/** sl_buffer_has_predictions: whether the frame @buffer has a region, a related object or label, or
 * a mask, written by any element. */
gboolean sl_buffer_has_predictions (GstBuffer *buffer);

typedef struct
{
  gint id, parent_id;
  guint depth;
} SlRegionIds;

/** Most kinds of objects with different keypoints that one frame is read with. */
#define SL_MAX_SKELETONS 8

/** Predictions read from the metas of a buffer, written by any element. */
typedef struct
{
  GArray *objects;   /* of SlObjectView; labels are static strings (quarks) */
  GArray *labels;    /* of SlLabelled */
  SlTextPool *texts; /* labels that are texts and not names of classes */
  GArray *points;    /* of SlPoint, all objects' */
  GArray *mask_classes;
  GByteArray *cells;       /* of all objects' masks */
  GByteArray *frame_cells; /* of the frame's mask, where a segmentation has it */
  GArray *object_labels;   /* of SlLabelled, all objects' */
  GArray *ids;             /* of SlRegionIds, one an object */
  GArray *codes;           /* of SlCodeView, all objects' */
  GArray *object_texts;    /* of SlTextView, all objects' */
  guint n_regions;         /* objects that are regions; others come behind them */
  SlRelated *related;
  SlReadSkeleton
    *skeletons[SL_MAX_SKELETONS + 1]; /* of objects' points, @n_skeletons different ones */
  guint n_skeletons;
  SlLatency latency;
} SlPredictionReader;

void sl_prediction_reader_init (SlPredictionReader *reader);
void sl_prediction_reader_clear (SlPredictionReader *reader);
/** sl_prediction_reader_read: fills objects, labels, skeleton, mask and analysis of @prediction.
 * They are valid until the next read, while
 *  @buffer does not change. The caller sets width and height of @prediction before. */
void sl_prediction_reader_read (SlPredictionReader *reader, GstBuffer *buffer,
                                SlPredictionView *prediction);
/** sl_prediction_reader_adopt: adds a region for each object of *@buffer that has none, for
 * elements that find objects by their regions. The frame has @width x @height pixels. When a region
 * is added and *@buffer is not writable, a writable copy replaces it. */
void sl_prediction_reader_adopt (SlPredictionReader *reader, GstBuffer **buffer, gint width,
                                 gint height);
/** sl_prediction_reader_choose: removes the objects and labels of @prediction, which was just read,
 * whose class does not pass @filter (nullable). The children of a removed object get its parent as
 * their parent. */
void sl_prediction_reader_choose (SlPredictionReader *reader, const SlClassFilter *filter,
                                  SlPredictionView *prediction);
/** sl_prediction_set_times: sets timestamp, latency and worker of @prediction. Its frame is @buffer
 * of @segment, or is held by it. @meta: (nullable): the frame's meta; @latency: memory for the
 * latency */
void sl_prediction_set_times (SlPredictionView *prediction, GstBuffer *buffer,
                              const GstSegment *segment, const SlFrameMeta *meta,
                              SlLatency *latency);
/** sl_prediction_reader_read_frame: as sl_prediction_reader_read(), and also sets frame, timestamp
 * and latency of @prediction. @counted: the number of the frame, used where its meta has no number
 */
void sl_prediction_reader_read_frame (SlPredictionReader *reader, GstBuffer *buffer,
                                      const GstSegment *segment, guint64 counted,
                                      SlPredictionView *prediction);
