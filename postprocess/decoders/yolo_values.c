/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the numbers of a frame to the meaning of YOLO's columns. A row without a score is filler,
 * whose box means nothing.
 */
#include "postprocess/decoders/yolo_values.h"

#include <math.h>
#include <string.h>

#include "postprocess/params.h"

/* Of the rows of a head that gives one for each cell, most have no object. */
#define MAX_SURE_ROWS 0.5
#define FEWEST_ROWS 64
#define LARGEST_ANGLE 3.2f
/* An objectness that is this high has a class that is not as low as this. */
#define SURE_ALONE 0.5f
#define NO_CLASS 0.05f
/* Of the rows of a head that gives one for each cell, as many may have an object. */
#define MAX_OBJECTS 0.02

/* Orders with a class come first: numbers of a class are whole, which scores are not, so few rows
 * fit them by chance. */
static const char *const of_six[] = { "columns=x1y1x2y2,score,class",
                                      "columns=xywh,score,class",
                                      "columns=class,score,x1y1x2y2",
                                      "columns=score,class,x1y1x2y2",
                                      "columns=x1y1x2y2,class,score",
                                      "objectness=no",
                                      "objectness=yes" };
static const char *const of_seven[] = { "columns=image,x1y1x2y2,class,score",
                                        "columns=image,x1y1x2y2,score,class",
                                        "columns=image,class,score,x1y1x2y2",
                                        "columns=x1y1x2y2,objectness,score,class",
                                        "objectness=no",
                                        "objectness=yes" };

static const char *const of_more[] = { "angle=yes", "box=xyxy", "objectness=no", "objectness=yes" };

static void
add (GPtrArray *readings, const char *const *from, guint n)
{
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (readings, g_strdup (from[i]));
}

/* As many points as fill what @classes classes leave of a row. */
static void
add_keypoints (GPtrArray *readings, guint channels, guint classes)
{
  for (guint size = 3; size >= 2; size--)
    if (channels > 4 + classes + size && (channels - 4 - classes) % size == 0
        && (channels - 4 - classes) / size <= SL_MAX_KEYPOINTS)
      g_ptr_array_add (readings,
                       g_strdup_printf ("keypoints=%u,%u", (channels - 4 - classes) / size, size));
}

GPtrArray *
sl_yolo_readings (const SlDecoderConfig *config, const SlYoloShape *shape)
{
  g_autoptr (GPtrArray) readings = g_ptr_array_new_with_free_func (g_free);
  const gboolean few = !shape->transposed && (shape->channels == 6 || shape->channels == 7);
  if (shape->n_parts != 1 || shape->boxes != SL_YOLO_BOXES_DECODED || shape->n_coefficients > 0
      || shape->sigmoid)
    return g_steal_pointer (&readings);
  if (few && shape->channels == 6)
    add (readings, of_six, G_N_ELEMENTS (of_six));
  if (few && shape->channels == 7)
    add (readings, of_seven, G_N_ELEMENTS (of_seven));
  if (few || sl_decoder_param (config, "task") != NULL)
    return g_steal_pointer (&readings);
  add (readings, of_more, G_N_ELEMENTS (of_more));
  if (config->n_labels > 1)
    add_keypoints (readings, shape->channels, config->n_labels);
  add_keypoints (readings, shape->channels, 1);
  g_ptr_array_add (readings, g_strdup ("activation=sigmoid"));
  return g_steal_pointer (&readings);
}

/* Whether columns of scores and classes are such; @best becomes the score of each row that is
 * looked at. */
static gboolean
class_columns_fit (const SlYoloShape *shape, const SlRows *scores, gfloat *best, GString *why)
{
  const guint n = sl_rows_count (scores);
  gfloat highest = -INFINITY, objectness = 0;
  SlColumn column;
  for (guint c = shape->first_class; c < shape->first_class + shape->classes; c++) {
    sl_plausible_column (scores, c, &column, best);
    if (!sl_plausible_scores (&column, scores, c, why))
      return FALSE;
    highest = column.n > 0 ? fmaxf (highest, column.high) : highest;
  }
  if (!shape->objectness)
    return TRUE;
  sl_plausible_column (scores, 4, &column, NULL);
  if (!sl_plausible_scores (&column, scores, 4, why))
    return FALSE;
  objectness = column.n > 0 ? column.high : 0;
  for (guint i = 0; i < n; i++)
    best[i] *= sl_rows_get (scores, sl_rows_at (scores, i), 4);
  if (shape->transposed || highest != 0 || objectness < SL_PLAUSIBLE_SURE)
    return TRUE;
  if (why != NULL)
    g_string_append_printf (
      why, "column 4 has a score of %.2f, but no class has one: columns from %u on are 0",
      (double) objectness, shape->first_class);
  return FALSE;
}

static gboolean
end_to_end_fits (const SlYoloShape *shape, const SlRows *scores, gfloat *best, GString *why)
{
  const guint n = sl_rows_count (scores);
  SlColumn column;
  sl_plausible_column (scores, shape->score_at, &column, best);
  if (!sl_plausible_scores (&column, scores, shape->score_at, why))
    return FALSE;
  if (shape->objectness_at > 0) {
    sl_plausible_column (scores, shape->objectness_at, &column, NULL);
    if (!sl_plausible_scores (&column, scores, shape->objectness_at, why))
      return FALSE;
    for (guint i = 0; i < n; i++)
      best[i] *= sl_rows_get (scores, sl_rows_at (scores, i), shape->objectness_at);
  }
  sl_plausible_column (scores, shape->class_at, &column, NULL);
  return sl_plausible_classes (&column, shape->class_at, why);
}

/* Points lie on the picture or near it, their third numbers are scores; an angle is one of less
 * than a whole turn. */
static gboolean
extra_columns_fit (const SlYoloShape *shape, const SlRows *rows, GString *why)
{
  SlColumn column, box;
  for (guint k = 0; k < shape->n_keypoints && shape->keypoint_size == 3; k++) {
    const guint at = shape->first_keypoint + 3 * k + 2;
    sl_plausible_column (rows, at, &column, NULL);
    if (!sl_plausible_scores (&column, rows, at, why))
      return FALSE;
  }
  if (shape->n_keypoints > 0 && !shape->end_to_end) {
    sl_plausible_column (rows, 0, &box, NULL);
    sl_plausible_column (rows, shape->first_keypoint, &column, NULL);
    if (box.n > 0 && column.n > 0
        && (box.high > SL_LARGEST_FRACTION) != (column.high > SL_LARGEST_FRACTION)) {
      if (why != NULL)
        g_string_append_printf (
          why, "column 0 reaches to %g and column %u, taken for a keypoint's, to %g",
          (double) box.high, shape->first_keypoint, (double) column.high);
      return FALSE;
    }
  }
  if (!shape->turned)
    return TRUE;
  sl_plausible_column (rows, shape->first_keypoint, &column, NULL);
  /* Scores of one more class look like angles, too, unless some are not in 0..1. */
  if (shape->tried && column.low >= 0 && column.high <= 1)
    return FALSE;
  if (column.n == 0 || (column.low >= -LARGEST_ANGLE && column.high <= LARGEST_ANGLE))
    return TRUE;
  if (why != NULL)
    g_string_append_printf (why, "column %u holds numbers %g..%g, which are no angles in radians",
                            shape->first_keypoint, (double) column.low, (double) column.high);
  return FALSE;
}

/* Whether boxes of @width x @height pictures are possible: those of sure rows lie on the picture,
 * and all have a size. */
static gboolean
boxes_fit (const SlYoloShape *shape, const SlRows *rows, const gfloat *best, GString *why)
{
  const guint n = sl_rows_count (rows);
  const SlBoxForm form = shape->corners ? SL_BOX_CORNERS : SL_BOX_CENTRE;
  SlBoxCount count = { 0 };
  gfloat box[4], width = 1, height = 1;
  for (guint i = 0; i < n && shape->width > 0 && shape->units != SL_YOLO_UNITS_NORMALISED; i++)
    for (guint k = 0; k < 4; k++)
      if (shape->units == SL_YOLO_UNITS_PIXELS
          || fabsf (sl_rows_get (rows, sl_rows_at (rows, i), shape->first_box + k))
               > SL_LARGEST_FRACTION) {
        width = (gfloat) shape->width;
        height = (gfloat) shape->height;
      }
  for (guint i = 0; i < n; i++) {
    for (guint k = 0; k < 4; k++)
      box[k] =
        sl_rows_get (rows, sl_rows_at (rows, i), shape->first_box + (shape->y_first ? k ^ 1 : k));
    sl_plausible_count_box (&count, box, form, width, height, best[i]);
  }
  if (sl_plausible_boxes (&count, form, !rows->values->quantised))
    return TRUE;
  if (why != NULL)
    g_string_append_printf (
      why, "columns %u to %u are no boxes as %s: %s", shape->first_box, shape->first_box + 3,
      shape->corners ? "corners" : "middle and size",
      count.bad > count.sure / 4 ? "those of sure rows are not on the picture"
      : shape->corners           ? "many have no size"
                       : "the first two numbers are always less than the others, as corners are");
  return FALSE;
}

/* Of each class most logits are below 0. */
static gboolean
logits_fit (const SlYoloShape *shape, const SlRows *rows, GString *why)
{
  SlColumn column;
  for (guint c = shape->first_class; c < shape->first_class + shape->classes; c++) {
    sl_plausible_column (rows, c, &column, NULL);
    if (column.n == 0 || column.low < 0)
      continue;
    if (why != NULL)
      g_string_append_printf (why, "column %u holds numbers %g..%g, which are no logits", c,
                              (double) column.low, (double) column.high);
    return FALSE;
  }
  return TRUE;
}

/* Where a head gives a row for each cell, most rows are no objects. */
static gboolean
few_rows_are_sure (const SlRows *scores, const gfloat *best, GString *why)
{
  const guint n = sl_rows_count (scores);
  guint sure = 0;
  for (guint i = scores->n_picked; i < n; i++)
    sure += best[i] >= SL_PLAUSIBLE_SURE;
  if (n - scores->n_picked < FEWEST_ROWS || sure <= (n - scores->n_picked) * MAX_SURE_ROWS)
    return TRUE;
  if (why != NULL)
    g_string_append_printf (
      why, "of %u rows %u have a score of %g and more, as if nearly each cell had an object",
      n - scores->n_picked, sure, (double) SL_PLAUSIBLE_SURE);
  return FALSE;
}

/* Channels first, and one more than there are labels: there is an angle behind the classes, unless
 * a row that has the first number of them has one of the others, too, as objectness has. */
static gboolean
is_objectness (const SlYoloShape *shape, const SlRows *scores, GString *why)
{
  const guint n = sl_rows_count (scores);
  guint objects = 0, alone = 0;
  for (guint i = 0; i < n; i++) {
    const guint row = sl_rows_at (scores, i);
    gfloat best = 0;
    for (guint c = 0; c + 1 < shape->classes; c++)
      best = fmaxf (best, sl_rows_get (scores, row, shape->first_class + c));
    const gboolean object = sl_rows_get (scores, row, 4) >= SL_PLAUSIBLE_SURE;
    objects += object && best >= SL_PLAUSIBLE_SURE;
    alone += object != (best >= SL_PLAUSIBLE_SURE);
  }
  if (alone == 0 || objects > 0)
    return TRUE;
  if (why != NULL)
    g_string_append (why, "column 4 is no objectness: rows with a score have no other one");
  return FALSE;
}

/* Where nothing tells whether column 4 is objectness: whether a few rows have a class, as rows of
 * objects have, and none has objectness. Classes beside an objectness are only trained on objects,
 * so that most rows of an empty picture have one. */
static gboolean
has_class_alone (const SlYoloShape *shape, const SlRows *scores, GString *why)
{
  const guint n = sl_rows_count (scores);
  gfloat objectness = 0, highest = 0;
  guint sure = 0;
  for (guint i = 0; i < n; i++) {
    const guint row = sl_rows_at (scores, i);
    gfloat best = 0;
    for (guint c = 0; c < shape->classes; c++)
      best = fmaxf (best, sl_rows_get (scores, row, shape->first_class + c));
    objectness = fmaxf (objectness, sl_rows_get (scores, row, 4));
    highest = fmaxf (highest, best);
    sure += i >= scores->n_picked && best >= SURE_ALONE;
  }
  if (objectness >= NO_CLASS || highest < SURE_ALONE || sure > (n - scores->n_picked) * MAX_OBJECTS)
    return FALSE;
  if (why != NULL)
    g_string_append_printf (
      why,
      "column 4 holds at most %.2g where a class has a score of %.2f, so it may be a class, and no "
      "objectness: state decoder=yolo,objectness=no or decoder=yolo,objectness=yes, or give the "
      "labels",
      (double) objectness, (double) highest);
  return TRUE;
}

/* Rows without a transposition: where objectness is high a class is, too. Column 4 of a head
 * without objectness is a class, which is high alone. */
static gboolean
objectness_has_class (const SlYoloShape *shape, const SlRows *scores, GString *why)
{
  const guint n = sl_rows_count (scores);
  gboolean alone = FALSE;
  if (shape->n_parts != 1 || !shape->objectness || shape->transposed || shape->stated
      || shape->sigmoid)
    return TRUE;
  for (guint i = 0; i < n; i++) {
    const guint row = sl_rows_at (scores, i);
    const gfloat object = sl_rows_get (scores, row, 4);
    gfloat best = 0;
    for (guint c = 0; c < shape->classes; c++)
      best = fmaxf (best, sl_rows_get (scores, row, shape->first_class + c));
    if (object >= SL_PLAUSIBLE_SURE && best >= SL_PLAUSIBLE_SURE)
      return TRUE;
    alone = alone || (object >= SURE_ALONE && best < NO_CLASS);
  }
  if (!alone)
    return shape->told || !has_class_alone (shape, scores, why);
  if (why != NULL)
    g_string_append (why, "column 4 is no objectness: rows with a score there have no class");
  return FALSE;
}

/* Column 4 is a class where a row has it: that there is no objectness is not told by a frame
 * without one. */
static gboolean
first_class_occurs (const SlYoloShape *shape, const SlRows *scores)
{
  SlColumn column;
  if (!shape->tried || shape->told || shape->objectness || shape->end_to_end || shape->transposed
      || shape->n_keypoints > 0)
    return TRUE;
  sl_plausible_column (scores, 4, &column, NULL);
  return column.n > 0 && column.high >= SL_PLAUSIBLE_SURE;
}

gboolean
sl_yolo_fits (const SlYoloShape *shape, const SlRows *rows, const SlRows *scores, gfloat *best,
              GString *why)
{
  memset (best, 0, sl_rows_count (scores) * sizeof *best);
  if (shape->n_parts != 1 || shape->boxes != SL_YOLO_BOXES_DECODED || shape->by_values)
    return shape->end_to_end
           || ((!shape->tried || !shape->sigmoid || logits_fit (shape, rows, why))
               && class_columns_fit (shape, scores, best, why)
               && objectness_has_class (shape, scores, why));
  if (shape->end_to_end)
    return end_to_end_fits (shape, scores, best, why) && extra_columns_fit (shape, rows, why)
           && boxes_fit (shape, rows, best, why);
  return (!shape->sigmoid || logits_fit (shape, rows, why))
         && class_columns_fit (shape, scores, best, why) && first_class_occurs (shape, scores)
         && objectness_has_class (shape, scores, why) && extra_columns_fit (shape, rows, why)
         && (!shape->objectness || !shape->transposed || shape->stated
             || is_objectness (shape, scores, why))
         && (shape->stated || few_rows_are_sure (scores, best, why))
         && boxes_fit (shape, rows, best, why);
}
