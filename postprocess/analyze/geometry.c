/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plane geometry in doubles. */
#include "postprocess/analyze/geometry.h"

#include <math.h>

static gdouble
cross (SlRegionPoint a, SlRegionPoint b, SlRegionPoint c)
{
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

gboolean
sl_polygon_has (const SlRegionPoint *points, guint n, SlRegionPoint point)
{
  gboolean inside = FALSE;
  for (guint i = 0, k = n - 1; i < n; k = i++) {
    const SlRegionPoint a = points[i], b = points[k];
    if ((a.y > point.y) != (b.y > point.y)
        && point.x < (b.x - a.x) * (point.y - a.y) / (b.y - a.y) + a.x)
      inside = !inside;
  }
  return inside;
}

gdouble
sl_segment_distance (SlRegionPoint a, SlRegionPoint b, SlRegionPoint point)
{
  const gdouble dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
  const gdouble along =
    square > 0 ? CLAMP (((point.x - a.x) * dx + (point.y - a.y) * dy) / square, 0, 1) : 0;
  const gdouble x = a.x + along * dx - point.x, y = a.y + along * dy - point.y;
  return sqrt (x * x + y * y);
}

gdouble
sl_line_distance (SlRegionPoint a, SlRegionPoint b, SlRegionPoint point)
{
  const gdouble dx = b.x - a.x, dy = b.y - a.y;
  return cross (a, b, point) / sqrt (dx * dx + dy * dy);
}

/* @point, which is on the straight line through @a and @b, lies between them. */
static gboolean
is_between (SlRegionPoint a, SlRegionPoint b, SlRegionPoint point)
{
  return point.x >= MIN (a.x, b.x) && point.x <= MAX (a.x, b.x) && point.y >= MIN (a.y, b.y)
         && point.y <= MAX (a.y, b.y);
}

gboolean
sl_segments_cross (SlRegionPoint a, SlRegionPoint b, SlRegionPoint c, SlRegionPoint d)
{
  const gdouble c_side = cross (a, b, c), d_side = cross (a, b, d), a_side = cross (c, d, a),
                b_side = cross (c, d, b);
  if (((c_side > 0) != (d_side > 0)) && ((a_side > 0) != (b_side > 0)) && c_side != 0 && d_side != 0
      && a_side != 0 && b_side != 0)
    return TRUE;
  return (c_side == 0 && is_between (a, b, c)) || (d_side == 0 && is_between (a, b, d))
         || (a_side == 0 && is_between (c, d, a)) || (b_side == 0 && is_between (c, d, b));
}

gdouble
sl_polygon_area (const SlRegionPoint *points, guint n)
{
  gdouble twice = 0;
  for (guint i = 0, k = n - 1; i < n; k = i++)
    twice += points[k].x * points[i].y - points[i].x * points[k].y;
  return fabs (twice) / 2;
}
