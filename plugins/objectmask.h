/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Masks of single objects: from the model's grid to one over the object's region of the frame, and as a structure on the region,
 * with the fields that DL Streamer's elements give theirs:
 *
 *   mask, format="segmentation_mask", precision=10 (float32), dims=<width,height>, data_buffer=(variant of bytes: float32 0..1
 *   row by row over the region)
 */
#ifndef SL_PLUGINS_OBJECTMASK_H
#define SL_PLUGINS_OBJECTMASK_H

#include <gst/gst.h>
#include <gst/video/video.h>

#include "plugins/geometry.h"
#include "postprocess/prediction.h"

G_BEGIN_DECLS

/** Cells of the masks of one frame: memory for SL_MAX_OBJECT_CELLS, taken when there is a first one. */
typedef struct
{
  guint8 *cells;
  guint used;
} SlObjectMaskMap;

/** sl_object_mask_map_clear: also for a zeroed struct. */
void sl_object_mask_map_clear (SlObjectMaskMap *map);
/** sl_object_mask_map_run: @mask of @box as a grid over the pixels x, y, w, h of @object, its cells about as large as the model's;
 *  what lies outside @box is 0. @out has no cells where @mask has none, or there is no room. Set used = 0 for a new frame. */
void sl_object_mask_map_run (SlObjectMaskMap *map, const SlInstanceMask *mask, const SlDetection *box, const SlFrameGeometry *geometry,
                             const SlObject *object, SlObjectMask *out);

/** sl_region_add_mask: attaches the mask of @object, when it has one. */
void sl_region_add_mask (GstVideoRegionOfInterestMeta *region, const SlObject *object);
/** sl_region_read_mask: appends the cells of @region's mask to @cells and sets the size of @mask, not its cells, whose address
 *  may yet change; leaves both where there is none or it makes no sense. */
void sl_region_read_mask (GstVideoRegionOfInterestMeta *region, GByteArray *cells, SlObjectMask *mask);

G_END_DECLS

#endif
