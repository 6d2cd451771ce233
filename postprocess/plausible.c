/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks of numbers. Only a part of a large tensor is looked at, so that the first frames are not
 * late. Limits are wide: what a right model gives passes, and what is read in a wrong way rarely
 * does.
 */
#include "postprocess/plausible.h"

#include <math.h>

/* Numbers of a table that are looked at. */
#define MAX_NUMBERS (1u << 17)
/* Numbers of classes are below this. */
#define LARGEST_WHOLE 1e9f
/* Some fill the rows that have no object with this. */
#define PADDING (-1)
/* Rounding, and quantisation, may lead out of 0..1 by that much. */
#define SLACK 0.05f
/* A box may reach out of the picture by half a side; its middle lies on the picture, or nearly. */
#define BOX_SLACK 0.5f
#define MIDDLE_SLACK 0.1f
/* Of the boxes that are looked at, as many may have no size; of those of sure rows, as many may be
 * impossible. */
#define MAX_FLAT 0.05
#define MAX_BAD 0.25
/* Sizes are larger than places in a few boxes alone. */
#define MANY_BOXES 64
#define ALL_ORDERED 0.99
/* The widest that a box of a picture of 1 x 1 is. */
#define WIDEST 10.0f

static guint
step_of (const SlRows *rows)
{
  const guint64 numbers = (guint64) rows->n * MAX (rows->columns, 1);
  return (guint) (1 + numbers / MAX_NUMBERS);
}

guint
sl_rows_count (const SlRows *rows)
{
  const guint step = step_of (rows);
  return (rows->n + step - 1) / step + rows->n_picked;
}

guint
sl_rows_at (const SlRows *rows, guint i)
{
  return i < rows->n_picked ? rows->picked[i] : (i - rows->n_picked) * step_of (rows);
}

static void
look (SlColumn *found, gfloat number)
{
  if (!isfinite (number))
    return;
  found->low = found->n > 0 ? MIN (found->low, number) : number;
  found->high = found->n > 0 ? MAX (found->high, number) : number;
  found->whole =
    found->whole && fabsf (number) < LARGEST_WHOLE && number == (gfloat) (gint32) number;
  found->n++;
}

void
sl_plausible_column (const SlRows *rows, guint column, SlColumn *found, gfloat *best)
{
  const guint step = step_of (rows);
  guint at = 0;
  *found = (SlColumn){ .whole = TRUE };
  for (guint i = 0; i < rows->n_picked; i++, at++) {
    const gfloat number = sl_rows_get (rows, rows->picked[i], column);
    look (found, number);
    if (best != NULL && number > best[at] && isfinite (number))
      best[at] = number;
  }
  for (guint row = 0; row < rows->n; row += step, at++) {
    const gfloat number = sl_rows_get (rows, row, column);
    look (found, number);
    if (best != NULL && number > best[at] && isfinite (number))
      best[at] = number;
  }
}

gboolean
sl_plausible_scores (const SlColumn *column, const SlRows *rows, guint at, GString *why)
{
  if (column->n == 0)
    return TRUE;
  if (column->whole && !rows->values->quantised && column->low < column->high) {
    if (why != NULL)
      g_string_append_printf (why, "column %u holds whole numbers %g..%g, which are no scores", at,
                              (double) column->low, (double) column->high);
    return FALSE;
  }
  if ((column->low >= -SLACK || column->low == PADDING) && column->high <= 1 + SLACK)
    return TRUE;
  if (why != NULL)
    g_string_append_printf (why, "column %u holds numbers %g..%g, which are no scores of 0..1", at,
                            (double) column->low, (double) column->high);
  return FALSE;
}

gboolean
sl_plausible_classes (const SlColumn *column, guint at, GString *why)
{
  if (column->n == 0 || (column->whole && column->low >= -1 && column->high < 1e6f))
    return TRUE;
  if (why != NULL)
    g_string_append_printf (why, "column %u holds numbers %g..%g, which are no numbers of classes",
                            at, (double) column->low, (double) column->high);
  return FALSE;
}

gboolean
sl_plausible_box_has_size (const gfloat box[4], SlBoxForm form)
{
  return form == SL_BOX_CORNERS ? box[2] > box[0] && box[3] > box[1] : box[2] > 0 && box[3] > 0;
}

gboolean
sl_plausible_box (const gfloat box[4], SlBoxForm form, gfloat width, gfloat height)
{
  const gboolean corners = form == SL_BOX_CORNERS;
  const gfloat x_min = (corners ? box[0] : box[0] - box[2] / 2) / width,
               x_max = (corners ? box[2] : box[0] + box[2] / 2) / width;
  const gfloat y_min = (corners ? box[1] : box[1] - box[3] / 2) / height,
               y_max = (corners ? box[3] : box[1] + box[3] / 2) / height;
  const gfloat x = (x_min + x_max) / 2, y = (y_min + y_max) / 2;
  return sl_plausible_box_has_size (box, form) && x_min >= -BOX_SLACK && y_min >= -BOX_SLACK
         && x_max <= 1 + BOX_SLACK && y_max <= 1 + BOX_SLACK && x >= -MIDDLE_SLACK
         && x <= 1 + MIDDLE_SLACK && y >= -MIDDLE_SLACK && y <= 1 + MIDDLE_SLACK;
}

void
sl_plausible_count_box (SlBoxCount *count, const gfloat box[4], SlBoxForm form, gfloat width,
                        gfloat height, gfloat score)
{
  const gboolean empty = box[0] == box[1] && box[0] == box[2] && box[0] == box[3],
                 is_sure = score >= SL_PLAUSIBLE_SURE;
  if (empty || !isfinite (box[0]) || !isfinite (box[1]) || !isfinite (box[2]) || !isfinite (box[3]))
    return;
  count->boxes++;
  count->flat += !sl_plausible_box_has_size (box, form);
  count->ordered += sl_plausible_box_has_size (box, SL_BOX_CORNERS);
  count->sure += is_sure;
  count->bad += is_sure && !sl_plausible_box (box, form, width, height);
}

gboolean
sl_plausible_boxes (const SlBoxCount *count, SlBoxForm form, gboolean exact)
{
  if (form == SL_BOX_CORNERS && exact && count->flat > count->boxes * MAX_FLAT)
    return FALSE;
  /* No box of many is nearer to the edge than it is wide: they are corners. */
  if (form == SL_BOX_CENTRE && count->boxes >= MANY_BOXES
      && count->ordered > count->boxes * ALL_ORDERED)
    return FALSE;
  return count->bad <= count->sure * MAX_BAD;
}

/* Whether @box is less than a picture away from the picture, and not wider than ten. */
static gboolean
is_near_picture (const SlDetection *box)
{
  return box->x_max >= -1 && box->y_max >= -1 && box->x_min <= 2 && box->y_min <= 2
         && box->x_max - box->x_min <= WIDEST && box->y_max - box->y_min <= WIDEST;
}

gboolean
sl_plausible_result (const SlResult *result, GString *why)
{
  if (result->highest > 1 + SLACK) {
    g_string_append_printf (why, "the highest score is %g, and scores are 0..1",
                            (double) result->highest);
    return FALSE;
  }
  const SlDetection *off = NULL;
  guint sure = 0, bad = 0;
  for (guint i = 0; i < result->n_detections; i++) {
    const SlDetection *box = &result->detections[i];
    const gboolean is_bad = box->confidence >= SL_PLAUSIBLE_SURE && !is_near_picture (box);
    sure += box->confidence >= SL_PLAUSIBLE_SURE;
    bad += is_bad;
    off = off == NULL && is_bad ? box : off;
  }
  if (off == NULL || 2 * bad < sure)
    return TRUE;
  g_string_append_printf (
    why,
    "a box of the score %.2f is x %g..%g, y %g..%g of a picture of 0..1, so it is not on the "
    "picture",
    (double) off->confidence, (double) off->x_min, (double) off->x_max, (double) off->y_min,
    (double) off->y_max);
  return FALSE;
}
