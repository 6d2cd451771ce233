/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The look of predictions. Sizes follow the shorter side of the frame, so that a picture of 320x240
 * and one of 4K show the same.
 */
#include "plugins/overlay/draw.h"

#include <math.h>

#include "postprocess/predictions/analysis.h"

#define BLACK 0x000000
#define WHITE 0xffffff
/* Lines of labels and mask classes in the corner. */
#define MAX_NOTES 12
/* All regions have one colour, so they differ from objects. Regions with an event in this frame
 * have another colour. */
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

/* Outlines of zones, lines with an arrow to the side that is in, names and counts of both. */
static void
draw_regions (const SlPen *pen, const SlAnalysis *analysis)
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

/* Cells from @start to before @end of the row @row of a grid over the frame. */
static void
blend_cells (const SlPen *pen, guint columns, guint rows, guint row, guint start, guint end,
             SlInk ink, guint alpha)
{
  const guint64 width = (guint64) pen->canvas->width, height = (guint64) pen->canvas->height;
  const gint left = (gint) (start * width / columns), right = (gint) (end * width / columns),
             top = (gint) (row * height / rows), bottom = (gint) ((row + 1) * height / rows);
  sl_canvas_blend (pen->canvas, left, top, right - left, bottom - top, ink, alpha);
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

/* Cells in colours from blue to red, the emptier the clearer; without a map nothing. */
static void
draw_heat (const SlPen *pen, const SlHeatMap *heat)
{
  const gdouble opacity = CLAMP (pen->style->opacity, 0, 1);
  for (guint row = 0; row < heat->height; row++)
    for (guint column = 0; column < heat->width; column++) {
      const guint8 value = heat->cells[(gsize) row * heat->width + column];
      if (value > 0)
        blend_cells (pen, heat->width, heat->height, row, column, column + 1,
                     sl_canvas_ink (pen->canvas, heat_colour (value)),
                     (guint) lrint (opacity * (64 + value * 192 / 255)));
    }
}

static void
tag_label (const SlPen *pen, gint x, gint y, const SlLabelled *label)
{
  char number[16];
  g_snprintf (number, sizeof number, " %.2f",
              isfinite (label->confidence) ? CLAMP (label->confidence, -9, 9) : 0);
  sl_pen_tag (pen, x, y, label->label, pen->style->scores ? number : NULL,
              sl_draw_colour (label->label_id, label->label));
}

static guint32
object_colour (const SlPen *pen, const SlObjectView *object)
{
  return pen->style->by_id && object->object_id > 0
           ? sl_draw_colour (object->object_id, NULL)
           : sl_draw_colour (object->label_id, object->label);
}

/* What all readings of @object say. */
static void
tag_text (const SlPen *pen, gint x, gint y, const SlObjectView *object)
{
  char number[16];
  g_snprintf (number, sizeof number, " %.2f", object->text->confidence);
  sl_pen_tag (pen, x, y, object->text->text, pen->style->scores ? number : NULL,
              object_colour (pen, object));
}

static SlInk
object_ink (const SlPen *pen, const SlObjectView *object)
{
  return sl_canvas_ink (pen->canvas, object_colour (pen, object));
}

static void
draw_label (const SlPen *pen, const SlObjectView *object)
{
  char number[32] = "", score[16] = "";
  gint height;
  const char *word = pen->style->labels ? object->label : NULL;
  const gboolean named = pen->style->ids && object->object_id > 0;
  if (pen->style->scores && isfinite (object->confidence))
    g_snprintf (score, sizeof score, "%s%.2f", word != NULL || named ? " " : "",
                CLAMP (object->confidence, -9, 9));
  if (named)
    g_snprintf (number, sizeof number, "%s#%d%s", word != NULL ? " " : "", object->object_id,
                score);
  else
    g_strlcpy (number, score, sizeof number);
  const gint width = sl_text_cache_measure (pen->text, word, number, &height) + 2 * pen->padding;
  gint x = MIN (object->x, pen->canvas->width - width), y = object->y - height;
  if (y < 0)
    y = object->y;
  sl_pen_tag (pen, MAX (x, 0), y, word, number, object_colour (pen, object));
  if (object->code != NULL && object->code->text != NULL && pen->style->labels) {
    y += height;
    sl_pen_tag (pen, MAX (x, 0), y, object->code->text, NULL, object_colour (pen, object));
  }
  if (object->text != NULL && pen->style->labels) {
    y += height;
    tag_text (pen, MAX (x, 0), y, object);
  }
  for (guint i = 0; i < object->n_labels && i < MAX_NOTES && pen->style->labels; i++) {
    if (object->text != NULL && object->labels[i].label_id == SL_TEXT_ID)
      continue; /* it is one of the readings */
    y += height;
    tag_label (pen, MAX (x, 0), y, &object->labels[i]);
  }
}

/* A confidence of NaN is unknown. */
static gboolean
is_shown (const SlPen *pen, const SlObjectView *object)
{
  return !(object->confidence < pen->style->threshold);
}

/* Whether @object is the line between its two points, which a box and a label would hide. */
static gboolean
is_segment (const SlPen *pen, const SlObjectView *object, const SlSkeleton *common)
{
  const SlSkeleton *skeleton = sl_object_skeleton (object, common);
  return pen->style->keypoints && object->n_points == 2 && skeleton != NULL
         && skeleton->n_bones == 1;
}

static void
draw_skeleton (const SlPen *pen, const SlObjectView *object, const SlSkeleton *common)
{
  const SlSkeleton *skeleton = sl_object_skeleton (object, common);
  const double width = pen->canvas->width, height = pen->canvas->height;
  const SlInk bone = object_ink (pen, object);
  const SlInk joint = sl_canvas_ink (pen->canvas, WHITE);
  for (guint i = 0; skeleton != NULL && i < skeleton->n_bones; i++) {
    const guint a = skeleton->bones[i][0], b = skeleton->bones[i][1];
    if (a >= object->n_points || b >= object->n_points
        || object->points[a].confidence < pen->style->point_threshold
        || object->points[b].confidence < pen->style->point_threshold)
      continue;
    sl_canvas_line (pen->canvas, object->points[a].x * width, object->points[a].y * height,
                    object->points[b].x * width, object->points[b].y * height, pen->thickness,
                    bone);
  }
  for (guint i = 0; i < object->n_points; i++) {
    const SlPoint *point = &object->points[i];
    if (point->confidence < pen->style->point_threshold)
      continue;
    sl_canvas_disc (pen->canvas, point->x * width, point->y * height, pen->thickness * 1.5 + 1,
                    joint);
    sl_canvas_disc (pen->canvas, point->x * width, point->y * height, pen->thickness * 1.5, bone);
  }
}

/* Cells of one row of the mask that are alike become one rectangle of the frame. */
static void
draw_mask (const SlPen *pen, const SlClassMask *mask)
{
  const guint alpha = (guint) lrint (CLAMP (pen->style->opacity, 0, 1) * 256);
  SlInk inks[256];
  for (guint i = 0; i < 256; i++)
    inks[i] = sl_canvas_ink (pen->canvas, sl_draw_colour ((gint32) i, NULL));
  for (guint row = 0; row < mask->height; row++) {
    const guint8 *cells = mask->classes + (gsize) row * mask->width;
    for (guint start = 0, end; start < mask->width; start = end) {
      for (end = start + 1; end < mask->width && cells[end] == cells[start];)
        end++;
      if (cells[start] != mask->background && cells[start] != SL_MASK_VOID)
        blend_cells (pen, mask->width, mask->height, row, start, end, inks[cells[start]], alpha);
    }
  }
}

/* A row of an object's mask, between the rows above and below; the first and last cell count beyond
 * their middles. */
static void
mix_rows (const SlObjectMask *mask, double row, guint8 *shares)
{
  const double at = CLAMP (row, 0, mask->height - 1);
  const guint top = (guint) at;
  const guint part = (guint) lrint ((at - top) * 256);
  const guint8 *upper = mask->cells + (gsize) top * mask->width;
  const guint8 *lower = top + 1 < mask->height ? upper + mask->width : upper;
  for (guint i = 0; i < mask->width; i++)
    shares[i] = (guint8) ((upper[i] * (256 - part) + lower[i] * part + 128) >> 8);
}

/* The object's shape between its cells, row by row of the frame. */
static void
draw_object_mask (const SlPen *pen, const SlObjectView *object, guint8 *shares)
{
  const SlObjectMask *mask = &object->mask;
  const guint alpha = (guint) lrint (CLAMP (pen->style->opacity, 0, 1) * 256);
  const SlInk ink = object_ink (pen, object);
  const double pixels = (double) object->w / mask->width;
  const gint top = MAX (object->y, 0),
             bottom = (gint) MIN ((gint64) object->y + object->h, pen->canvas->height);
  for (gint y = top; y < bottom; y++) {
    mix_rows (mask, ((double) y - object->y + 0.5) * mask->height / object->h - 0.5, shares);
    double start = 0;
    for (guint i = 0; i < mask->width; i++) {
      const gboolean inside = shares[i] >= SL_OBJECT_CELL, last = i + 1 == mask->width;
      if (!last && inside == (shares[i + 1] >= SL_OBJECT_CELL))
        continue;
      const double end =
        last ? mask->width
             : i + 0.5 + (SL_OBJECT_CELL - 0.5 - shares[i]) / (double) (shares[i + 1] - shares[i]);
      const gint left = (gint) lrint (CLAMP (object->x + start * pixels, 0, pen->canvas->width));
      const gint right = (gint) lrint (CLAMP (object->x + end * pixels, 0, pen->canvas->width));
      if (inside)
        sl_canvas_blend (pen->canvas, left, y, right - left, 1, ink, alpha);
      start = end;
    }
  }
}

static void
draw_object_masks (const SlPen *pen, const SlPredictionView *prediction)
{
  guint widest = 0;
  for (guint i = 0; i < prediction->n_objects; i++)
    widest = MAX (widest, prediction->objects[i].mask.width);
  if (widest == 0)
    return;
  g_autofree guint8 *shares = g_malloc (widest);
  for (guint i = prediction->n_objects; i > 0; i--)
    if (prediction->objects[i - 1].mask.width > 0 && prediction->objects[i - 1].w > 0
        && prediction->objects[i - 1].h > 0 && is_shown (pen, &prediction->objects[i - 1]))
      draw_object_mask (pen, &prediction->objects[i - 1], shares);
}

/* Labels of the whole picture, and classes of its mask, in the top left corner. */
static void
draw_notes (const SlPen *pen, const SlPredictionView *prediction)
{
  gint y = 0, height;
  char number[16];
  guint lines = 0;
  for (guint i = 0; i < prediction->n_labels && lines < MAX_NOTES && pen->style->labels;
       i++, lines++) {
    const SlLabelled *label = &prediction->labels[i];
    tag_label (pen, 0, y, label);
    sl_text_cache_measure (pen->text, label->label, NULL, &height);
    y += height;
  }
  for (guint i = 0; i < prediction->n_mask_classes && lines < MAX_NOTES && pen->style->labels
                    && pen->style->masks;
       i++) {
    const SlMaskClass *found = &prediction->mask_classes[i];
    if (found->label_id == prediction->mask.background)
      continue;
    g_snprintf (number, sizeof number, " %.0f%%", CLAMP (found->fraction, 0, 1) * 100);
    sl_pen_tag (pen, 0, y, found->label, pen->style->scores ? number : NULL,
                sl_draw_colour (found->label_id, found->label));
    sl_text_cache_measure (pen->text, found->label, NULL, &height);
    y += height;
    lines++;
  }
}

void
sl_draw_prediction (SlCanvas *canvas, SlTextCache *text, const SlDrawStyle *style,
                    const SlPredictionView *prediction)
{
  const SlPen pen = sl_pen_make (canvas, text, style);
  if (style->heat && prediction->analysis != NULL)
    draw_heat (&pen, &prediction->analysis->heat);
  if (style->masks && prediction->mask.width > 0)
    draw_mask (&pen, &prediction->mask);
  if (style->masks)
    draw_object_masks (&pen, prediction);
  if (style->regions && prediction->analysis != NULL)
    draw_regions (&pen, prediction->analysis);
  for (guint i = 0; i < prediction->n_objects && style->boxes; i++) {
    const SlObjectView *object = &prediction->objects[i];
    if (is_shown (&pen, object) && !is_segment (&pen, object, prediction->skeleton))
      sl_canvas_outline (canvas, object->x, object->y, object->w, object->h, pen.thickness,
                         object_ink (&pen, object));
  }
  for (guint i = 0; i < prediction->n_objects && style->keypoints; i++)
    if (is_shown (&pen, &prediction->objects[i]))
      draw_skeleton (&pen, &prediction->objects[i], prediction->skeleton);
  for (guint i = prediction->n_objects; i > 0 && (style->labels || style->scores || style->ids);
       i--)
    if (is_shown (&pen, &prediction->objects[i - 1])
        && !is_segment (&pen, &prediction->objects[i - 1], prediction->skeleton))
      draw_label (&pen, &prediction->objects[i - 1]);
  draw_notes (&pen, prediction);
}

void
sl_draw_note (SlCanvas *canvas, SlTextCache *text, const SlDrawStyle *style, const char *note)
{
  const SlPen pen = sl_pen_make (canvas, text, style);
  gint height;
  const gint width = sl_text_cache_measure (text, NULL, note, &height) + 2 * pen.padding;
  sl_pen_tag (&pen, MAX (canvas->width - width, 0), 0, NULL, note, BLACK);
}
