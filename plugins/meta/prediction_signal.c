/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The signal "predictions". */
#include "plugins/meta/prediction_signal.h"

#include "predict/predictions_private.h"

#define NAME "predictions"

static GQuark
outer_quark (void)
{
  return g_quark_from_static_string ("sl-predictions-outer");
}

guint
sl_prediction_signal_add (GObjectClass *klass)
{
  return g_signal_new (NAME, G_OBJECT_CLASS_TYPE (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                       G_TYPE_NONE, 1, SL_TYPE_PREDICTIONS);
}

void
sl_prediction_signal_forward (gpointer inner, gpointer outer)
{
  g_object_set_qdata (inner, outer_quark (), outer);
}

static gboolean
somebody_listens (gpointer element, guint signal)
{
  return element != NULL && g_signal_has_handler_pending (element, signal, 0, FALSE);
}

/* (transfer none) (nullable): the bin that emits what @element does, and its signal. */
static gpointer
outer_of (gpointer element, guint *signal)
{
  gpointer outer = g_object_get_qdata (element, outer_quark ());
  *signal = outer != NULL ? g_signal_lookup (NAME, G_OBJECT_TYPE (outer)) : 0;
  return outer;
}

void
sl_prediction_signal_emit (gpointer element, guint signal, const SlPredictionView *prediction)
{
  guint outer_signal;
  gpointer outer = outer_of (element, &outer_signal);
  const gboolean inside = somebody_listens (element, signal),
                 outside = somebody_listens (outer, outer_signal);
  if (!inside && !outside)
    return;
  g_autoptr (SlPredictions) predictions = sl_predictions_new (prediction);
  if (inside)
    g_signal_emit (element, signal, 0, predictions);
  if (outside)
    g_signal_emit (outer, outer_signal, 0, predictions);
}

void
sl_prediction_signal_emit_buffer (gpointer element, guint signal, SlPredictionReader *reader,
                                  GstBuffer *buffer, const GstSegment *segment, guint64 counted,
                                  SlPredictionView *prediction)
{
  guint outer_signal;
  gpointer outer = outer_of (element, &outer_signal);
  if (!somebody_listens (element, signal) && !somebody_listens (outer, outer_signal))
    return;
  sl_prediction_reader_read_frame (reader, buffer, segment, counted, prediction);
  sl_prediction_signal_emit (element, signal, prediction);
}
