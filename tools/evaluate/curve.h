/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * How often answers of a confidence are right: precision, recall and F1 over the confidence, and
 * the calibration of the confidences.
 */
#pragma once

#include <glib.h>

/** Bins of equal width in which confidences are compared with the share that is right. */
#define SL_CALIBRATION_BINS 10

/** SlAnswer: a found object, or the first class of a picture. @label: its class; @picture: number
 * of its picture, from 0 on. */
typedef struct
{
  gdouble confidence;
  gint32 label;
  guint picture;
  gboolean right;
} SlAnswer;

/** SlCurvePoint: the figures of all answers with at least @confidence. 0..1. */
typedef struct
{
  gdouble confidence, precision, recall, f1;
} SlCurvePoint;

/** SlCalibrationBin: @n answers; @confidence: their mean confidence; @right: the share of them that
 * is right. NaN without answers. */
typedef struct
{
  guint n;
  gdouble confidence, right;
} SlCalibrationBin;

/** sl_answers_sort: the most confident first; equal confidences stay in their order. */
void sl_answers_sort (GArray *answers);
/** sl_curve_new: (transfer full) (element-type SlCurvePoint): a point for each confidence in
 * @answers (sorted, of SlAnswer), the highest first.
 *  @truths: the number of answers that should be right. */
GArray *sl_curve_new (const GArray *answers, guint truths);
/** sl_curve_best: (transfer none) (nullable): the point with the highest F1, of equal ones the most
 * confident; NULL without points. */
const SlCurvePoint *sl_curve_best (const GArray *curve);
/** sl_calibration: fills @bins of @answers; a confidence of 1 is in the last bin. @error: expected
 * calibration error: the mean distance of confidence and share, weighted by the number of answers.
 * FALSE without answers, or where a confidence is outside 0..1. */
gboolean sl_calibration (const GArray *answers, SlCalibrationBin bins[SL_CALIBRATION_BINS],
                         gdouble *error);
