/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads masks of segmentations in a GstAnalyticsRelationMeta, written by any element. GStreamer has
 * such masks since 1.26.
 */
#pragma once

#include <gst/gst.h>

#include "postprocess/predictions/prediction.h"

/** sl_segmentation_read_object: appends to @cells the mask of @object, whose box is set, and sets
 * the size of @mask, not its cells, whose address may yet change: pixels of entry @id of @relations
 * that are not 0 are the object. FALSE, with both as they were, when the entry is no segmentation
 * or makes no sense, or cells would be more than SL_MAX_OBJECT_CELLS. */
gboolean sl_segmentation_read_object (gpointer relations, guint id, const SlObjectView *object,
                                      GByteArray *cells, SlObjectMask *mask);
/** sl_segmentation_read_frame: the same of a frame of @width x @height: fills @cells, @mask (all of
 * it, classes in @cells) and @names (of 256, NULL = none): a class is the index of a region, its
 * name that of a classification which the segmentation is related to, the background what is called
 * so or, without names, region 0. */
gboolean sl_segmentation_read_frame (gpointer relations, guint id, gint width, gint height,
                                     GByteArray *cells, SlClassMask *mask, const char **names);
