/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Compares two maps of classes: intersection over union of each class, over all pictures. */
#pragma once

#include <glib.h>

/** The class of an unknown pixel. In the labels, such a pixel does not count; in the prediction, it
 * counts as wrong. */
#define SL_CELL_VOID 255

/** SlCellFigures: figures of a class. @truths: pixels with this class in the labels; @found: pixels
 * with this class in the prediction;
 *  @both: pixels with this class in both; @iou: 0..1, NaN without such pixels. */
typedef struct
{
  gint32 label;
  guint64 truths, found, both;
  gdouble iou;
} SlCellFigures;

/** SlCellScore: @pairs: numbers of pixels by class in the labels and class in the prediction;
 * @pixels: their sum; @right: those of which both are the same. The caller zeroes it first. */
typedef struct
{
  guint64 pairs[256][256], pixels, right;
} SlCellScore;

void sl_cell_score_add (SlCellScore *score, const guint8 *truth, const guint8 *found, gsize n);
/** sl_cell_score_figures: (transfer full) (element-type SlCellFigures): figures of each class in
 * the labels or in the prediction, sorted by class number. @mean: their mean, with the sums of
 * their pixels, label -1; @right: share of correct pixels, NaN without pixels. */
GArray *sl_cell_score_figures (const SlCellScore *score, SlCellFigures *mean, gdouble *right);
