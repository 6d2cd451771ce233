/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Areas that are no rectangles, as blocks of a frame (SL_HIDE_BLOCK pixels a side). What is hidden
 * is rounded outwards to whole blocks, what stays visible inwards.
 */
#pragma once

#include <gst/video/video.h>

#include "core/base/affine.h"
#include "postprocess/analyze/regions.h"
#include "postprocess/predictions/prediction.h"

/** One byte a block, row by row; zeroed at first. */
typedef struct
{
  gint columns, rows;
  gsize bytes;
  guint8 *blocks;
} SlAreas;

void sl_areas_clear (SlAreas *areas);
/** sl_areas_begin: blocks for a frame of @width x @height, all @value. */
void sl_areas_begin (SlAreas *areas, gint width, gint height, guint8 value);
/** sl_areas_set_rect: sets the blocks of the rectangle @box (left, top, right, bottom in pixels) to
 * @value: those that it touches, or with @whole only those that lie inside it. */
void sl_areas_set_rect (SlAreas *areas, const gdouble box[4], gboolean whole, guint8 value);
/** sl_areas_set_polygon: the same for a polygon of points in 0..1 of the frame, by the even-odd
 * rule. */
void sl_areas_set_polygon (SlAreas *areas, const SlRegionPoint *points, guint n, gint width,
                           gint height, gboolean whole, guint8 value);
/** sl_areas_add_mask: sets the blocks that a cell of @object's mask touches, and those within
 * @more pixels of them. */
void sl_areas_add_mask (SlAreas *areas, const SlObjectView *object, gdouble more);
/** sl_areas_bounds: around the polygon, in pixels of a frame of @width x @height. */
SlRect sl_areas_bounds (const SlRegionPoint *points, guint n, gint width, gint height);
