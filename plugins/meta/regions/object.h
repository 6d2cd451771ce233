/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One object, or one label of the whole frame, as a region of interest with structures that DL
 * Streamer's elements write, too.
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include "core/base/text_pool.h"
#include "postprocess/predictions/prediction.h"

/** sl_next_region: (nullable): the region of @buffer that follows *@state, which is NULL before the
 * first one. */
GstVideoRegionOfInterestMeta *sl_next_region (GstBuffer *buffer, gpointer *state);

/** sl_region_is_label: whether a region stands for a label of the whole frame of @width x @height,
 * and not for an object. */
gboolean sl_region_is_label (GstVideoRegionOfInterestMeta *region, gint width, gint height);

/** sl_region_type_name: the name of the region's type; "unknown" without a type. */
const char *sl_region_type_name (const GstVideoRegionOfInterestMeta *region);

/** sl_object_set_box: sets the fields x to y_max of @object from @corners (x0, y0, x1, y1 in
 * pixels), clipped to a frame of @width x
 *  @height. FALSE, with no field set, when the box is outside the frame. */
gboolean sl_object_set_box (SlObjectView *object, const double corners[4], gint width, gint height);

/** sl_region_read_object: fills @object from @region of a frame of @width x @height, except points,
 * mask, labels and parent. The edges come from the structure "detection" where @region has one.
 * FALSE when the region is outside the frame. */
gboolean sl_region_read_object (const GstVideoRegionOfInterestMeta *region, gint width, gint height,
                                SlObjectView *object);

/** sl_region_set_object_id: adds a structure "object_id" with the field id (int), as DL Streamer's
 * elements write it. Also sets the region's own id where it has none. */
void sl_region_set_object_id (GstVideoRegionOfInterestMeta *region, gint32 id);

/** sl_region_set_identity: the fields identity... of @object, as a structure "identity" with id
 * (int64), confidence (double) and cameras (string). */
void sl_region_set_identity (GstVideoRegionOfInterestMeta *region, const SlObjectView *object);

/** sl_buffer_add_object, sl_region_add_label: adds one object to @buffer; adds one label to
 * @region, a region of an object or of the frame. */
GstVideoRegionOfInterestMeta *sl_buffer_add_object (GstBuffer *buffer, const SlObjectView *object,
                                                    const SlSkeleton *skeleton);
void sl_region_add_label (GstVideoRegionOfInterestMeta *region, const SlLabelled *label);

/** sl_region_read_labels: appends the labels that elements gave to the object of @region to @labels
 * (of SlLabelled). Class names are static strings. Texts are copied into @texts. */
void sl_region_read_labels (const GstVideoRegionOfInterestMeta *region, SlTextPool *texts,
                            GArray *labels);
/** sl_region_read_frame_label: appends the label that @region stands for; sl_region_is_label() is
 * TRUE of it. */
void sl_region_read_frame_label (GstVideoRegionOfInterestMeta *region, SlTextPool *texts,
                                 GArray *labels);
