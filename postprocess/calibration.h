/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Score calibration of TFLite Metadata: a sigmoid for each class that turns the model's score into
 * the likelihood that the class is right.
 *
 * As a decoder's parameter "score-calibration" it is text: a first line "TRANSFORMATION,DEFAULT",
 * then a line a class, in the order of the labels, as the metadata's file has them:
 * "scale,slope,offset" or "scale,slope,offset,lowest". A score s becomes scale / (1 + exp (-(slope
 * * t (s) + offset))), where t is the transformation: identity, log (the logarithm of s) or
 * inverse-logistic (the logarithm of s / (1 - s)). A class whose line is empty or missing, and a
 * score below the lowest, get DEFAULT. "none" alone means no calibration.
 */
#pragma once

#include "postprocess/decoder.h"

/** Name of the parameter. */
#define SL_CALIBRATION_PARAM "score-calibration"

typedef struct _SlCalibration SlCalibration;

/** sl_calibration_new: what @config's parameter says, NULL in *@calibration without one; @classes 0
 * = any number. FALSE with @error set when it is malformed. */
gboolean sl_calibration_new (const SlDecoderConfig *config, guint classes,
                             SlCalibration **calibration, GError **error);
void sl_calibration_free (SlCalibration *calibration);
/** sl_calibration_apply: the calibrated score of @label_id, at most 1; may be below 0, which means
 * never. NaN stays NaN. */
double sl_calibration_apply (const SlCalibration *calibration, gint32 label_id, double score);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlCalibration, sl_calibration_free)
