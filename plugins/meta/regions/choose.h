/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which regions of interest of a frame a second model looks at. */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include "plugins/meta/regions/keypoints.h"
#include "postprocess/predictions/alignment.h"

/** A region: its place among the frame's region metas, from 0, and its pixels, inside the frame. */
typedef struct
{
  guint index;
  SlRect part;
  SlTurnedRect turned; /* what shows the object upright; width 0 = @part does */
  gboolean is_flat;    /* the part between @corners does */
  SlCorners corners;
} SlObjectRegion;

/** What regions' points are read into. */
typedef struct
{
  GArray *points; /* of SlPoint */
  SlReadSkeleton skeleton;
} SlRegionPoints;

/** sl_object_regions_choose: fills @chosen (of SlObjectRegion) with at most @most regions, in their
 * order on @frame, a frame of
 *  @video. @classes (nullable), NULL-terminated: labels that count, spaces around them do not.
 * Regions of no area inside the frame are left out, and so are labels of the whole frame. */
void sl_object_regions_choose (GstBuffer *frame, const GstVideoInfo *video,
                               const char *const *classes, guint most, GArray *chosen);
/** sl_object_regions_align: sets what of @chosen shows each object upright, for a tensor of
 * @aspect; those without a size go. */
void sl_object_regions_align (GstBuffer *frame, const GstVideoInfo *video,
                              const SlAlignment *alignment, double aspect, SlRegionPoints *points,
                              GArray *chosen);
/** sl_object_region_find: the pixels, inside a frame of @video, of the region meta @index of
 * @frame; FALSE when it has none there. */
gboolean sl_object_region_find (GstBuffer *frame, const GstVideoInfo *video, guint index,
                                SlRect *part);
/** sl_buffer_has_objects: whether a detector has looked for objects in the frame @buffer of @width
 * x @height. TRUE when the frame has objects, as regions or as related objects of any element, or
 * the mark that a model found no object. */
gboolean sl_buffer_has_objects (GstBuffer *buffer, gint width, gint height);
