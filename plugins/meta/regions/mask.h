/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Masks of single objects as a structure on the object's region, with the fields that DL Streamer's
 * elements give theirs:
 *
 *   mask, format="segmentation_mask", precision=10 (float32), dims=<width,height>,
 * data_buffer=(variant of bytes: float32 0..1
 *   row by row over the region)
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include "postprocess/predictions/prediction.h"

/** sl_region_add_mask: attaches the mask of @object, when it has one. */
void sl_region_add_mask (GstVideoRegionOfInterestMeta *region, const SlObjectView *object);
/** sl_region_read_mask: appends the cells of @region's mask to @cells and sets the size of @mask,
 * not its cells, whose address may yet change; leaves both where there is none or it makes no
 * sense. */
void sl_region_read_mask (GstVideoRegionOfInterestMeta *region, GByteArray *cells,
                          SlObjectMask *mask);
