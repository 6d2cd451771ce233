/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Points, polygons and segments of a plane whose y grows downwards, in any one unit. */
#pragma once

#include "postprocess/predictions/analysis.h"

/** sl_polygon_has: whether the point is inside the polygon of @n points, by the even-odd rule. */
gboolean sl_polygon_has (const SlRegionPoint *points, guint n, SlRegionPoint point);
/** sl_segment_distance: from @point to the nearest of the segment from @a to @b. */
gdouble sl_segment_distance (SlRegionPoint a, SlRegionPoint b, SlRegionPoint point);
/** sl_line_distance: from @point to the straight line through @a and @b, which differ: above 0 on
 * its right, seen from @a to @b. */
gdouble sl_line_distance (SlRegionPoint a, SlRegionPoint b, SlRegionPoint point);
/** sl_segments_cross: whether the segments have a point in common. */
gboolean sl_segments_cross (SlRegionPoint a, SlRegionPoint b, SlRegionPoint c, SlRegionPoint d);
/** sl_polygon_area: 0 or above. */
gdouble sl_polygon_area (const SlRegionPoint *points, guint n);
