/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A region in pixels, and its tests of objects. Edges on the frame's border do not count as edges:
 * an object at the border does not leave the region through them.
 */
#pragma once

#include "postprocess/analyze/regions.h"

typedef struct
{
  guint n;
  SlRegionPoint points[SL_REGION_MAX_POINTS];
  gboolean on_border[SL_REGION_MAX_POINTS]; /* the edge from the point before to this one */
  gdouble left, top, right, bottom;         /* around it, with the margin */
  gdouble margin;        /* pixels beyond an edge where a point is surely outside */
  gdouble inner_margin;  /* where it is surely inside; less in narrow zones */
  gdouble width, height; /* of the frame */
} SlArea;

/** sl_area_init: @region in a frame of @width x @height. @margin: 0..1 of the shorter side */
void sl_area_init (SlArea *area, const SlRegion *region, gint width, gint height, gdouble margin);
/** sl_area_side: of a zone: 1 = @point is surely inside, -1 = surely outside, 0 = near an edge. */
gint sl_area_side (const SlArea *area, SlRegionPoint point);
/** sl_area_passes: of a line: 1 = the way from @from to @to goes through it from its left to its
 * right, -1 = the other way, 0 = it does not. */
gint sl_area_passes (const SlArea *area, SlRegionPoint from, SlRegionPoint to);
/** sl_area_beside: of a line, however long it were: 1 = @point is surely on its right, -1 = surely
 * on its left, 0 = near. */
gint sl_area_beside (const SlArea *area, SlRegionPoint point);
