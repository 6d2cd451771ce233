/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions in pixels, with margins. */
#include "postprocess/analyze/area.h"

#include <math.h>

#include "postprocess/analyze/geometry.h"

/* Points of a grid over a zone among which the one farthest from the edges is looked for. */
#define GRID 24
/* As near to the frame's border as this is on it, 0..1. */
#define BORDER 1e-3
/* Points on the border count as this far inside the frame, in pixels. */
#define INWARDS 0.25

static gdouble
edge_distance (const SlArea *area, SlRegionPoint point)
{
  gdouble least = HUGE_VAL;
  for (guint i = 0, k = area->n - 1; i < area->n; k = i++)
    if (!area->on_border[i])
      least = MIN (least, sl_segment_distance (area->points[k], area->points[i], point));
  return least;
}

/* How far a point inside can be from the edges. */
static gdouble
inner_radius (const SlArea *area)
{
  gdouble most = 0;
  for (guint i = 0; i < GRID * GRID; i++) {
    const SlRegionPoint point = { area->left + (area->right - area->left) * (i % GRID + 0.5) / GRID,
                                  area->top
                                    + (area->bottom - area->top) * (i / GRID + 0.5) / GRID };
    if (sl_polygon_has (area->points, area->n, point))
      most = MAX (most, edge_distance (area, point));
  }
  return most;
}

static gboolean
same_border (gdouble a, gdouble b)
{
  return (a <= BORDER && b <= BORDER) || (a >= 1 - BORDER && b >= 1 - BORDER);
}

void
sl_area_init (SlArea *area, const SlRegion *region, gint width, gint height, gdouble margin)
{
  *area = (SlArea){
    .n = region->n_points, .width = width, .height = height, .margin = margin * MIN (width, height)
  };
  area->left = area->top = HUGE_VAL;
  area->right = area->bottom = -HUGE_VAL;
  for (guint i = 0, k = area->n - 1; i < area->n; k = i++) {
    const SlRegionPoint at = region->points[i], before = region->points[k];
    const SlRegionPoint point = { at.x * width, at.y * height };
    area->points[i] = point;
    area->on_border[i] = same_border (at.x, before.x) || same_border (at.y, before.y);
    area->left = MIN (area->left, point.x);
    area->right = MAX (area->right, point.x);
    area->top = MIN (area->top, point.y);
    area->bottom = MAX (area->bottom, point.y);
  }
  area->inner_margin =
    region->kind == SL_REGION_ZONE ? MIN (area->margin, inner_radius (area) / 2) : area->margin;
  area->left -= area->margin;
  area->top -= area->margin;
  area->right += area->margin;
  area->bottom += area->margin;
}

gint
sl_area_side (const SlArea *area, SlRegionPoint point)
{
  point.x = CLAMP (point.x, INWARDS, area->width - INWARDS);
  point.y = CLAMP (point.y, INWARDS, area->height - INWARDS);
  if (point.x < area->left || point.x > area->right || point.y < area->top
      || point.y > area->bottom)
    return -1;
  const gboolean inside = sl_polygon_has (area->points, area->n, point);
  const gdouble distance = edge_distance (area, point);
  if (inside)
    return distance >= area->inner_margin ? 1 : 0;
  return distance >= area->margin ? -1 : 0;
}

gint
sl_area_passes (const SlArea *area, SlRegionPoint from, SlRegionPoint to)
{
  const SlRegionPoint a = area->points[0], b = area->points[1];
  const gdouble before = sl_line_distance (a, b, from), after = sl_line_distance (a, b, to);
  if ((before > 0) == (after > 0))
    return 0;
  const gdouble part = before / (before - after);
  const gdouble x = from.x + part * (to.x - from.x) - a.x,
                y = from.y + part * (to.y - from.y) - a.y;
  const gdouble dx = b.x - a.x, dy = b.y - a.y, along = (x * dx + y * dy) / (dx * dx + dy * dy);
  if (along < 0 || along > 1)
    return 0;
  return after > 0 ? 1 : -1;
}

gint
sl_area_beside (const SlArea *area, SlRegionPoint point)
{
  const gdouble distance = sl_line_distance (area->points[0], area->points[1], point);
  return distance >= area->margin ? 1 : distance <= -area->margin ? -1 : 0;
}
