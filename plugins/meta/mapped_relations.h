/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * GstAnalyticsRelationMeta that moves with the pixels when a frame is made into another one, as regions of interest do, or loses some of
 * its objects. Without gstreamer-analytics these functions do nothing.
 */
#ifndef SL_PLUGINS_META_MAPPED_RELATIONS_H
#define SL_PLUGINS_META_MAPPED_RELATIONS_H

#include <gst/gst.h>
#include <gst/video/video.h>

#include "core/base/affine.h"

G_BEGIN_DECLS

/** sl_meta_api_is_relations: whether @api is that of GstAnalyticsRelationMeta. */
gboolean sl_meta_api_is_relations (GType api);
/** sl_buffer_add_mapped_relations: what is related on @in, on writable @out, whose picture is @to; @affine: points of @to -> points of @in.
 *  Object detections are mapped as sl_region_map() does, and left out when they are outside, with what is related to them alone;
 *  classifications and trackings are copied; segmentations are mapped unless the picture is turned or mirrored. Other kinds are left
 *  out: nobody can tell whether they hold positions. */
void sl_buffer_add_mapped_relations (GstBuffer *out, GstBuffer *in, const SlAffine *affine, const GstVideoInfo *to);
/** sl_buffer_remove_related: leaves out the object detections of writable @buffer, a frame of @width x @height, that the @n regions @regions stand for, too, with what is
 *  related to them alone; and kinds other than the above. */
void sl_buffer_remove_related (GstBuffer *buffer, gint width, gint height, GstVideoRegionOfInterestMeta *const *regions, guint n);

G_END_DECLS

#endif
