/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/evaluate/overlap.h"

#include <float.h>
#include <math.h>

/* How far people who labelled the same persons were apart, by point: nose, eyes, ears, shoulders,
 * elbows, wrists, hips, knees, ankles. */
static const gdouble deviations[SL_EVAL_POINTS] = { 0.026, 0.025, 0.025, 0.035, 0.035, 0.079,
                                                    0.079, 0.072, 0.072, 0.062, 0.062, 0.107,
                                                    0.107, 0.087, 0.087, 0.089, 0.089 };

gdouble
sl_eval_box_area (const SlEvalBox *box)
{
  return (box->x_max - box->x_min) * (box->y_max - box->y_min);
}

gdouble
sl_eval_box_overlap (const SlEvalBox *found, const SlEvalBox *truth, gboolean crowd)
{
  const gdouble w = MIN (found->x_max, truth->x_max) - MAX (found->x_min, truth->x_min);
  const gdouble h = MIN (found->y_max, truth->y_max) - MAX (found->y_min, truth->y_min);
  if (w <= 0 || h <= 0)
    return 0;
  return w * h
         / (crowd ? sl_eval_box_area (found)
                  : sl_eval_box_area (found) + sl_eval_box_area (truth) - w * h);
}

/* How far @value is outside @low..@high. */
static gdouble
outside (gdouble value, gdouble low, gdouble high)
{
  return MAX (0, low - value) + MAX (0, value - high);
}

gdouble
sl_eval_point_overlap (const SlEvalPoint *found, const SlEvalPoint *truth, const SlEvalBox *box,
                       gdouble area)
{
  const gdouble w = box->x_max - box->x_min, h = box->y_max - box->y_min;
  guint labelled = 0;
  gdouble sum = 0;
  for (guint i = 0; i < SL_EVAL_POINTS; i++)
    labelled += truth[i].visible != FALSE;
  for (guint i = 0; i < SL_EVAL_POINTS; i++) {
    gdouble dx = found[i].x - truth[i].x, dy = found[i].y - truth[i].y;
    if (labelled > 0 && !truth[i].visible)
      continue;
    if (labelled == 0) {
      dx = outside (found[i].x, box->x_min - w, box->x_max + w);
      dy = outside (found[i].y, box->y_min - h, box->y_max + h);
    }
    const gdouble variance = 4 * deviations[i] * deviations[i];
    sum += exp (-(dx * dx + dy * dy) / variance / (area + DBL_EPSILON) / 2);
  }
  return sum / (labelled > 0 ? labelled : SL_EVAL_POINTS);
}
