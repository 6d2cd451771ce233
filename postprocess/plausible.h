/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks whether values fit the way in which a decoder reads them. Scores are in 0..1 and not all
 * integers, classes are integers, boxes have a size and are on the picture. Decoders check the
 * first frames; sl_decoding_run() checks every result.
 */
#pragma once

#include "postprocess/result.h"
#include "postprocess/values.h"

/** Frames with results that are looked at, and frames after which nobody looks any more. */
#define SL_PLAUSIBLE_FRAMES 30
#define SL_PLAUSIBLE_MAX_FRAMES 300
/** A box of a score of at least this counts as one that the model is sure of. */
#define SL_PLAUSIBLE_SURE 0.25f
/** Coordinates beyond this are no fractions of the input. */
#define SL_LARGEST_FRACTION 2

/**
 * SlRows: a table in a tensor; number (row, column) is @values of place row * @row_step + column *
 * @column_step.
 * @picked: (nullable): @n_picked rows that are looked at beside those that are taken evenly
 */
typedef struct
{
  const SlValues *values;
  const void *data;
  guint n, columns;
  gsize row_step, column_step;
  const guint32 *picked;
  guint n_picked;
} SlRows;

/** SlColumn: of the numbers of a column that were looked at: @n finite ones, @low to @high. */
typedef struct
{
  guint n;
  gfloat low, high;
  gboolean whole;
} SlColumn;

typedef enum
{
  SL_BOX_CORNERS, /* x_min, y_min, x_max, y_max */
  SL_BOX_CENTRE,  /* x, y of the middle, width, height */
} SlBoxForm;

static inline gfloat
sl_rows_get (const SlRows *rows, guint row, guint column)
{
  return sl_values_get (rows->values, rows->data,
                        row * rows->row_step + column * rows->column_step);
}

/** sl_rows_count: how many rows are looked at; sl_rows_at: the @i-th of them. */
guint sl_rows_count (const SlRows *rows);
guint sl_rows_at (const SlRows *rows, guint i);
/** sl_plausible_column: @best: (nullable): sl_rows_count() numbers, each of which becomes the
 * highest of itself and the row's number. */
void sl_plausible_column (const SlRows *rows, guint column, SlColumn *found, gfloat *best);
/** sl_plausible_scores: whether a column can be scores. FALSE with the reason appended to @why
 * (nullable): "column 5 holds ...". */
gboolean sl_plausible_scores (const SlColumn *column, const SlRows *rows, guint at, GString *why);
/** sl_plausible_classes: whether a column can be numbers of classes, likewise. */
gboolean sl_plausible_classes (const SlColumn *column, guint at, GString *why);
/** SlBoxCount: of @boxes that were looked at: how many have no size, how many have the order of
 * corners, how many the model is sure of, and how many of those cannot be. */
typedef struct
{
  guint boxes, flat, ordered, sure, bad;
} SlBoxCount;

/** sl_plausible_box: whether @box, of a picture of @width x @height, has a size, and lies on the
 * picture or near it. */
gboolean sl_plausible_box (const gfloat box[4], SlBoxForm form, gfloat width, gfloat height);
/** sl_plausible_box_has_size: whether @box has a size. */
gboolean sl_plausible_box_has_size (const gfloat box[4], SlBoxForm form);
/** sl_plausible_count_box: adds @box of a picture of @width x @height, of score @score; one of four
 * equal numbers, as filler is, or not finite does not count. */
void sl_plausible_count_box (SlBoxCount *count, const gfloat box[4], SlBoxForm form, gfloat width,
                             gfloat height, gfloat score);
/** sl_plausible_boxes: whether boxes that were counted can be boxes of @form. @exact: they are not
 * of 8 bits, which make small boxes flat. */
gboolean sl_plausible_boxes (const SlBoxCount *count, SlBoxForm form, gboolean exact);
/** sl_plausible_result: whether what a decoder found can be. FALSE with a sentence in @why. */
gboolean sl_plausible_result (const SlResult *result, GString *why);
