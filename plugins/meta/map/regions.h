/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions of interest that move with the pixels when a frame is made into another one. */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include "core/base/affine.h"

/** sl_region_map: @box (x0, y0, x1, y1 in pixels of a frame) in whole pixels of the picture @to;
 * @affine: points of @to -> points of the frame. What sticks out is cut off, at least a pixel is
 * left; FALSE when all of it lies outside. */
gboolean sl_region_map (const SlAffine *affine, const double box[4], const GstVideoInfo *to,
                        SlRect *mapped);
/** sl_buffer_add_mapped_region: @region of a frame of @from, on writable @out of @to; @affine:
 * points of @to -> points of @from. Nothing is added when the region lies outside the picture; what
 * sticks out is cut off. Parameters are copied, of those with x_min x_max y_min y_max (0..1 of the
 * frame) these four are mapped and cut off, too. Keypoints and the corners of codes move; a mask
 * whose object is cut, turned or mirrored is left out. */
void sl_buffer_add_mapped_region (GstBuffer *out, const GstVideoRegionOfInterestMeta *region,
                                  const SlAffine *affine, const GstVideoInfo *from,
                                  const GstVideoInfo *to);
/** sl_meta_api_has_positions: whether metas of this API are about positions or memory of a frame,
 * and so wrong on another. */
gboolean sl_meta_api_has_positions (GType api);
