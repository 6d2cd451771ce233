/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The signal "predictions" of elements that make or change predictions, for applications and for
 * SlPipeline, which takes those of the last such element of a chain. Costs nothing while nobody
 * listens.
 */
#pragma once

#include <gst/gst.h>

#include "plugins/meta/predictions.h"

/** sl_prediction_signal_add: for class_init; the signal has one argument, an SlPredictions. Returns
 * its id. */
guint sl_prediction_signal_add (GObjectClass *klass);
/** sl_prediction_signal_forward: from now on @inner, which is in the bin @outer, emits on @outer,
 * too. Both have the signal. */
void sl_prediction_signal_forward (gpointer inner, gpointer outer);
/** sl_prediction_signal_emit: in the streaming thread, before the frame is pushed. Copies
 * @prediction if anybody listens. */
void sl_prediction_signal_emit (gpointer element, guint signal, const SlPredictionView *prediction);
/** sl_prediction_signal_emit_buffer: the same of what sl_prediction_reader_read_frame() reads.
 * Width and height of @prediction must be set; nothing is read if nobody listens. */
void sl_prediction_signal_emit_buffer (gpointer element, guint signal, SlPredictionReader *reader,
                                       GstBuffer *buffer, const GstSegment *segment,
                                       guint64 counted, SlPredictionView *prediction);
