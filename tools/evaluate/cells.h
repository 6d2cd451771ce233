/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * How far two maps of classes are the same: intersection over union of each class, over all pictures.
 */
#ifndef SL_EVALUATE_CELLS_H
#define SL_EVALUATE_CELLS_H

#include <glib.h>

G_BEGIN_DECLS

/** What a pixel is where nothing is known: of the truth, it does not count; of what was found, it is wrong. */
#define SL_CELL_VOID 255

/** SlCellFigures: of a class: pixels that are it, that were taken for it, and both; @iou: 0..1, not a number without any of them. */
typedef struct
{
  gint32 label;
  guint64 truths, found, both;
  gdouble iou;
} SlCellFigures;

/** SlCellScore: pixels, by class. Zeroed at first. */
typedef struct
{
  guint64 truths[256], found[256], both[256];
} SlCellScore;

void sl_cell_score_add (SlCellScore *score, const guint8 *truth, const guint8 *found, gsize n);
/** sl_cell_score_figures: (transfer full) (element-type SlCellFigures): of each class that is true or was found, by number; @mean: over them,
 *  with all their pixels, its label -1; @right: share of the pixels that are right, not a number without any. */
GArray *sl_cell_score_figures (const SlCellScore *score, SlCellFigures *mean, gdouble *right);

G_END_DECLS

#endif
