/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The signal "predictions". */
#include "plugins/predictionsignal.h"

#include "predict/predictions.h"

guint
sl_prediction_signal_add (GObjectClass *klass)
{
  return g_signal_new ("predictions", G_OBJECT_CLASS_TYPE (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                       SL_TYPE_PREDICTIONS);
}

void
sl_prediction_signal_emit (gpointer element, guint signal, const SlPrediction *prediction)
{
  if (!g_signal_has_handler_pending (element, signal, 0, FALSE))
    return;
  g_autoptr (SlPredictions) predictions = sl_predictions_new (prediction);
  g_signal_emit (element, signal, 0, predictions);
}
