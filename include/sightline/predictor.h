/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlPredictor: a model and a frame in memory in, predictions out, in the calling thread and without
 * GStreamer.
 */
#ifndef SL_PREDICTOR_H
#define SL_PREDICTOR_H

#include "sightline/custom_decoder.h"
#include "sightline/frame.h"
#include "sightline/predictions.h"

G_BEGIN_DECLS

#define SL_TYPE_PREDICTOR (sl_predictor_get_type ())

/**
 * SlPredictor:
 *
 * Runs a model on frames in memory. Any thread may use it; calls from several threads wait for each
 * other, so one predictor works on one frame at a time. For several at a time, make one with
 * sl_predictor_new() and the others with sl_predictor_new_shared(): they share the model's memory.
 *
 * The model is loaded by sl_predictor_new(), sl_predictor_load() or the first
 * sl_predictor_predict(). Properties may be set at any time; the next prediction obeys them, and
 * loads the model again where it must.
 *
 * Since: 0.1
 */
G_DECLARE_FINAL_TYPE (SlPredictor, sl_predictor, SL, PREDICTOR, GObject)

SlPredictor *sl_predictor_new (const char *model, GError **error);
SlPredictor *sl_predictor_new_shared (SlPredictor *other, GError **error);
gboolean sl_predictor_load (SlPredictor *self, GError **error);
SlPredictions *sl_predictor_predict (SlPredictor *self, SlFrame *frame, GError **error);
SlPredictions *sl_predictor_predict_bytes (SlPredictor *self, const char *format, guint width,
                                           guint height, GBytes *data, GError **error);
void sl_predictor_reset (SlPredictor *self);
gboolean sl_predictor_get_input_size (SlPredictor *self, guint *width, guint *height);
char *sl_predictor_dup_summary (SlPredictor *self);

G_END_DECLS

#endif
