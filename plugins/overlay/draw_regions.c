/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All regions have one colour, so they differ from objects. Regions with an event in this frame
 * have another colour. */
#include "plugins/overlay/draw_regions.h"

#include <math.h>

#define QUIET 0xf2f2f2
#define BUSY 0xffd400
/* An arrow's length, and that of its head, in thicknesses of lines. */
#define ARROW 8
#define HEAD 4

static SlRegionPoint
in_pixels (const SlPen *pen, SlRegionPoint point)
{
  return (SlRegionPoint){ point.x * pen->canvas->width, point.y * pen->canvas->height };
}

static void
draw_line (const SlPen *pen, SlRegionPoint a, SlRegionPoint b, SlInk ink)
{
  sl_canvas_line (pen->canvas, a.x, a.y, b.x, b.y, pen->thickness, ink);
}

/* From the middle of the line to its right, where objects go that come in. */
static void
draw_arrow (const SlPen *pen, SlRegionPoint a, SlRegionPoint b, SlInk ink)
{
  const gdouble length = MAX (hypot (b.x - a.x, b.y - a.y), 1), x = (a.y - b.y) / length,
                y = (b.x - a.x) / length;
  const gdouble shaft = ARROW * pen->thickness, head = HEAD * pen->thickness;
  const SlRegionPoint middle = { (a.x + b.x) / 2, (a.y + b.y) / 2 };
  const SlRegionPoint tip = { middle.x + shaft * x, middle.y + shaft * y };
  draw_line (pen, middle, tip, ink);
  draw_line (pen, tip, (SlRegionPoint){ tip.x - head * (x + y), tip.y - head * (y - x) }, ink);
  draw_line (pen, tip, (SlRegionPoint){ tip.x - head * (x - y), tip.y - head * (y + x) }, ink);
}

static gboolean
is_busy (const SlAnalysis *analysis, guint region)
{
  for (guint i = 0; i < analysis->n_events; i++)
    if (analysis->events[i].region == region)
      return TRUE;
  return analysis->regions[region].inside > 0;
}

/* Beside the first point, inside the frame. */
static void
draw_name (const SlPen *pen, const SlRegionView *region, SlRegionPoint at, guint32 colour)
{
  char number[96];
  gint height;
  if (region->kind == SL_REGION_ZONE)
    g_snprintf (number, sizeof number, " %u (+%" G_GUINT64_FORMAT " -%" G_GUINT64_FORMAT ")",
                region->inside, region->entered, region->left);
  else
    g_snprintf (number, sizeof number, " in %" G_GUINT64_FORMAT " out %" G_GUINT64_FORMAT,
                region->entered, region->left);
  const gint width =
    sl_text_cache_measure (pen->text, region->name, number, &height) + 2 * pen->padding;
  const gint x = CLAMP ((gint) at.x, 0, MAX (pen->canvas->width - width, 0));
  const gint y = CLAMP ((gint) at.y, 0, MAX (pen->canvas->height - height, 0));
  sl_pen_tag (pen, x, y, region->name, number, colour);
}

void
sl_draw_regions (const SlPen *pen, const SlAnalysis *analysis)
{
  for (guint i = 0; i < analysis->n_regions; i++) {
    const SlRegionView *region = &analysis->regions[i];
    const guint32 colour = is_busy (analysis, i) ? BUSY : QUIET;
    const SlInk ink = sl_canvas_ink (pen->canvas, colour);
    if (region->n_points < 2)
      continue;
    for (guint k = region->kind == SL_REGION_LINE ? 1 : 0; k < region->n_points; k++)
      draw_line (pen,
                 in_pixels (pen, region->points[(k + region->n_points - 1) % region->n_points]),
                 in_pixels (pen, region->points[k]), ink);
    if (region->kind == SL_REGION_LINE)
      draw_arrow (pen, in_pixels (pen, region->points[0]), in_pixels (pen, region->points[1]), ink);
    if (pen->style->labels)
      draw_name (pen, region, in_pixels (pen, region->points[0]), colour);
  }
}

/* Blue, green, yellow, red. */
static guint32
heat_colour (guint heat)
{
  const guint part = heat * 3 % 256;
  if (heat < 86)
    return part << 8 | (255 - part);
  if (heat < 171)
    return part << 16 | 0xff00;
  return 0xff0000 | (255 - part) << 8;
}

void
sl_draw_heat (const SlPen *pen, const SlHeatMap *heat)
{
  const gdouble opacity = CLAMP (pen->style->opacity, 0, 1);
  for (guint row = 0; row < heat->height; row++) {
    const gint top = (gint) ((guint64) row * (guint) pen->canvas->height / heat->height);
    const gint bottom = (gint) ((guint64) (row + 1) * (guint) pen->canvas->height / heat->height);
    for (guint column = 0; column < heat->width; column++) {
      const guint8 value = heat->cells[(gsize) row * heat->width + column];
      const gint left = (gint) ((guint64) column * (guint) pen->canvas->width / heat->width);
      const gint right = (gint) ((guint64) (column + 1) * (guint) pen->canvas->width / heat->width);
      if (value > 0)
        sl_canvas_blend (pen->canvas, left, top, right - left, bottom - top,
                         sl_canvas_ink (pen->canvas, heat_colour (value)),
                         (guint) lrint (opacity * (64 + value * 192 / 255)));
    }
  }
}
