/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Maps GstAnalyticsRelationMeta with the pixels when one frame is transformed into another, as
 * regions of interest are mapped. Also removes objects from it. Without gstreamer-analytics these
 * functions do nothing.
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include "core/base/affine.h"

/** sl_meta_api_is_relations: whether @api is that of GstAnalyticsRelationMeta. */
gboolean sl_meta_api_is_relations (GType api);
/** sl_buffer_add_mapped_relations: adds the mapped relation meta of @in to writable @out, whose
 * format is @to. @affine: points of @to -> points of @in. Object detections are mapped as
 * sl_region_map() does. Those outside the new frame are left out, and so are entries that relate
 * only to them. Classifications and trackings are copied. Segmentations are mapped unless the
 * picture is turned or mirrored. Other kinds are left out, since they may hold positions. */
void sl_buffer_add_mapped_relations (GstBuffer *out, GstBuffer *in, const SlAffine *affine,
                                     const GstVideoInfo *to);
/** sl_buffer_remove_related: removes the object detections that belong to the @n regions @regions
 * of writable @buffer, a frame of @width x @height. Also removes entries that relate only to them,
 * and entries of kinds other than those above. */
void sl_buffer_remove_related (GstBuffer *buffer, gint width, gint height,
                               GstVideoRegionOfInterestMeta *const *regions, guint n);
