/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/evaluate/cells.h"

#include <math.h>

void
sl_cell_score_add (SlCellScore *score, const guint8 *truth, const guint8 *found, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    if (truth[i] == SL_CELL_VOID)
      continue;
    score->truths[truth[i]]++;
    score->found[found[i]]++;
    score->both[truth[i]] += truth[i] == found[i];
  }
}

GArray *
sl_cell_score_figures (const SlCellScore *score, SlCellFigures *mean, gdouble *right)
{
  GArray *classes = g_array_new (FALSE, FALSE, sizeof (SlCellFigures));
  *mean = (SlCellFigures){ .label = -1 };
  for (gint32 i = 0; i < SL_CELL_VOID; i++) {
    const guint64 all = score->truths[i] + score->found[i] - score->both[i];
    if (all == 0)
      continue;
    const SlCellFigures one = { i, score->truths[i], score->found[i], score->both[i], (gdouble) score->both[i] / (gdouble) all };
    g_array_append_val (classes, one);
    mean->truths += one.truths;
    mean->found += one.found;
    mean->both += one.both;
    mean->iou += one.iou;
  }
  mean->iou = classes->len > 0 ? mean->iou / classes->len : NAN;
  *right = mean->truths > 0 ? (gdouble) mean->both / (gdouble) mean->truths : NAN;
  return classes;
}
