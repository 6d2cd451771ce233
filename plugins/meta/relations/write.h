/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Predictions as GstAnalyticsRelationMeta, beside the region metas. Without gstreamer-analytics
 * these functions do nothing.
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include "plugins/base/byte_pool.h"
#include "postprocess/predictions/prediction.h"

/** sl_buffer_relate_prediction: adds to writable @buffer an object detection for each object,
 * related to a tracking where it has an object_id and, from GStreamer 1.26 on, to a segmentation of
 * type instance where it has a mask (pixel 1 = the object); one classification with all labels of
 * the whole frame; and the frame's mask as a segmentation of type semantic (pixel = class), related
 * group to group to a classification with the names of its classes.
 *  @pool: (nullable): where the pixels of masks come from */
void sl_buffer_relate_prediction (GstBuffer *buffer, const SlPredictionView *prediction,
                                  SlBytePool *pool);
/** sl_buffer_relate_track: relates the object detection of writable @buffer, a frame of @width x
 * @height, that has the place and type of @region, when there is one, to a tracking. */
void sl_buffer_relate_track (GstBuffer *buffer, gint width, gint height,
                             const GstVideoRegionOfInterestMeta *region, gint32 id,
                             GstClockTime since, GstClockTime now);
/** sl_buffer_relate_labels: relates the object detection of writable @buffer that has the place and
 * type of @region to a classification with @n labels. One that is not there is added, as it is by
 * sl_buffer_relate_part(). */
void sl_buffer_relate_labels (GstBuffer *buffer, gint width, gint height,
                              const GstVideoRegionOfInterestMeta *region, const SlLabelled *labels,
                              guint n);
/** sl_buffer_relate_part: adds @part as an object detection that the one of @whole contains. */
void sl_buffer_relate_part (GstBuffer *buffer, gint width, gint height,
                            const GstVideoRegionOfInterestMeta *whole, const SlObjectView *part);
