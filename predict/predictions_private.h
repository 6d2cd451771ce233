/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Makes predictions from a decoder's results; not for applications. */
#pragma once

#include "postprocess/predictions/prediction.h"
#include "sightline/predictions.h"

/** sl_predictions_new: (transfer full): a copy of @prediction. */
SlPredictions *sl_predictions_new (const SlPredictionView *prediction);
/** sl_predictions_refill: @predictions, which nobody else has, become a copy of @prediction. As
 * much as they had before needs no memory of the heap. */
void sl_predictions_refill (SlPredictions *predictions, const SlPredictionView *prediction);
/** sl_predictions_view: what they hold, for as long as they live. */
const SlPredictionView *sl_predictions_view (const SlPredictions *predictions);
