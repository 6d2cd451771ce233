/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The signal "predictions". */
#include "plugins/predictionsignal.h"

#include "plugins/framemeta.h"
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

void
sl_prediction_signal_emit_buffer (gpointer element, guint signal, SlPredictionReader *reader, GstBuffer *buffer, SlPrediction *prediction)
{
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  SlLatency latency = { -1, -1, -1, -1 };
  if (!g_signal_has_handler_pending (element, signal, 0, FALSE))
    return;
  sl_prediction_reader_read (reader, buffer, prediction);
  if (meta != NULL && meta->captured > 0) {
    latency.age = g_get_monotonic_time () - meta->captured;
    latency.preprocess = meta->preprocessed > 0 ? meta->preprocessed - meta->captured : -1;
    latency.inference = meta->inferred > 0 && meta->preprocessed > 0 ? meta->inferred - meta->preprocessed : -1;
    latency.decode = meta->decoded > 0 && meta->inferred > 0 ? meta->decoded - meta->inferred : -1;
    prediction->latency = &latency;
  }
  sl_prediction_signal_emit (element, signal, prediction);
}
