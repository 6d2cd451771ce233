/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/evaluate/curve.h"

#include <math.h>

/* The sort of GArray keeps the order of equal elements. */
static gint
best_first (gconstpointer a, gconstpointer b)
{
  const SlAnswer *one = a, *two = b;
  return (one->confidence < two->confidence) - (one->confidence > two->confidence);
}

void
sl_answers_sort (GArray *answers)
{
  g_array_sort (answers, best_first);
}

GArray *
sl_curve_new (const GArray *answers, guint truths)
{
  GArray *curve = g_array_new (FALSE, FALSE, sizeof (SlCurvePoint));
  guint right = 0;
  for (guint i = 0; i < answers->len; i++) {
    const SlAnswer *answer = &g_array_index (answers, SlAnswer, i);
    right += answer->right;
    if (i + 1 < answers->len
        && g_array_index (answers, SlAnswer, i + 1).confidence == answer->confidence)
      continue;
    const gdouble precision = (gdouble) right / (i + 1),
                  recall = truths > 0 ? (gdouble) right / truths : 0;
    const SlCurvePoint point = { answer->confidence, precision, recall,
                                 right > 0 ? 2 * precision * recall / (precision + recall) : 0 };
    g_array_append_val (curve, point);
  }
  return curve;
}

const SlCurvePoint *
sl_curve_best (const GArray *curve)
{
  const SlCurvePoint *best = NULL;
  for (guint i = 0; i < curve->len; i++) {
    const SlCurvePoint *point = &g_array_index (curve, SlCurvePoint, i);
    if (best == NULL || point->f1 > best->f1)
      best = point;
  }
  return best;
}

gboolean
sl_calibration (const GArray *answers, SlCalibrationBin bins[SL_CALIBRATION_BINS], gdouble *error)
{
  for (guint i = 0; i < SL_CALIBRATION_BINS; i++)
    bins[i] = (SlCalibrationBin){ 0 };
  for (guint i = 0; i < answers->len; i++) {
    const SlAnswer *answer = &g_array_index (answers, SlAnswer, i);
    if (!(answer->confidence >= 0 && answer->confidence <= 1))
      return FALSE;
    SlCalibrationBin *bin =
      &bins[MIN ((guint) (answer->confidence * SL_CALIBRATION_BINS), SL_CALIBRATION_BINS - 1)];
    bin->n++;
    bin->confidence += answer->confidence;
    bin->right += answer->right;
  }
  *error = 0;
  for (guint i = 0; i < SL_CALIBRATION_BINS; i++) {
    *error += fabs (bins[i].confidence - bins[i].right);
    bins[i].confidence = bins[i].n > 0 ? bins[i].confidence / bins[i].n : NAN;
    bins[i].right = bins[i].n > 0 ? bins[i].right / bins[i].n : NAN;
  }
  *error = answers->len > 0 ? *error / answers->len : NAN;
  return answers->len > 0;
}
