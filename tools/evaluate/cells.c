/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/evaluate/cells.h"

#include <math.h>

void
sl_cell_score_add (SlCellScore *score, const guint8 *truth, const guint8 *found, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    if (truth[i] == SL_CELL_VOID)
      continue;
    score->pairs[truth[i]][found[i]]++;
    score->pixels++;
    score->right += truth[i] == found[i];
  }
}

static SlCellFigures
figures_of (const SlCellScore *score, gint32 label)
{
  SlCellFigures one = { .label = label, .both = score->pairs[label][label] };
  for (guint i = 0; i < G_N_ELEMENTS (score->pairs); i++) {
    one.truths += score->pairs[label][i];
    one.found += score->pairs[i][label];
  }
  one.iou = (gdouble) one.both / (gdouble) (one.truths + one.found - one.both);
  return one;
}

GArray *
sl_cell_score_figures (const SlCellScore *score, SlCellFigures *mean, gdouble *right)
{
  GArray *classes = g_array_new (FALSE, FALSE, sizeof (SlCellFigures));
  *mean = (SlCellFigures){ .label = -1 };
  for (gint32 i = 0; i < SL_CELL_VOID; i++) {
    const SlCellFigures one = figures_of (score, i);
    if (isnan (one.iou))
      continue;
    g_array_append_val (classes, one);
    mean->truths += one.truths;
    mean->found += one.found;
    mean->both += one.both;
    mean->iou += one.iou;
  }
  mean->iou = classes->len > 0 ? mean->iou / classes->len : NAN;
  *right = score->pixels > 0 ? (gdouble) score->right / (gdouble) score->pixels : NAN;
  return classes;
}
