/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The signals of SlPipeline with their documentation, and how they are emitted. */
#include "pipelines/embed/signals.h"

enum
{
  SIGNAL_PREDICTIONS,
  SIGNAL_ANALYSIS_EVENT,
  SIGNAL_ERROR,
  SIGNAL_STATE_CHANGED,
  SIGNAL_STATS,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static void
weak_free (gpointer data)
{
  g_weak_ref_clear (data);
  g_free (data);
}

GSource *
sl_weak_source_attach (GSource *source, GMainContext *context, gpointer object,
                       GSourceFunc callback)
{
  GWeakRef *weak = g_new0 (GWeakRef, 1);
  g_weak_ref_init (weak, object);
  g_source_set_callback (source, callback, weak, weak_free);
  g_source_attach (source, context);
  return source;
}

void
sl_weak_source_detach (GSource **source)
{
  if (*source == NULL)
    return;
  g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}

void
sl_pipeline_signals_add (GObjectClass *klass)
{
  const GType type = G_OBJECT_CLASS_TYPE (klass);
  /**
   * SlPipeline::predictions:
   * @self: the pipeline
   * @predictions: what was found in one frame
   *
   * A frame has been looked at. When handlers are slower than frames come, the newest predictions
   * are told.
   *
   * Since: 0.1
   */
  signals[SIGNAL_PREDICTIONS] = g_signal_new ("predictions", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                              NULL, G_TYPE_NONE, 1, SL_TYPE_PREDICTIONS);
  /**
   * SlPipeline::analysis-event:
   * @self: the pipeline
   * @event: what happened, the signal's detail, too: "entered" or "left" (a zone), "in" or "out"
   * (over a line), "dwell", "left-behind", "empty", or "interval"
   * @region: (nullable): name of the zone or line; %NULL = of all, which "interval" is
   * @details: a dictionary of type a{sv} with what is known of "label" (s) and "id" (i) of the
   * object, "seconds" (d), "timestamp" (t) of the frame in nanoseconds of the stream, "json" (s):
   * the event, and "element" (s): name of the slanalyze
   *
   * An slanalyze of the pipeline says what became of an object, in a zone or at a line. A handler
   * of "analysis-event::entered" hears of that event alone. Connect before sl_pipeline_start():
   * events that nobody listens to are not kept. Of events that wait for slow handlers the newest
   * 256 are told. An slanalyze with post-messages=false says nothing.
   *
   * Since: 0.1
   */
  signals[SIGNAL_ANALYSIS_EVENT] =
    g_signal_new ("analysis-event", type, G_SIGNAL_RUN_LAST | G_SIGNAL_DETAILED, 0, NULL, NULL,
                  NULL, G_TYPE_NONE, 3, G_TYPE_STRING, G_TYPE_STRING, G_TYPE_VARIANT);
  /**
   * SlPipeline::error:
   * @self: the pipeline
   * @error: what went wrong, beginning with the element's name
   * @element: (nullable): name of the element that says so
   *
   * The pipeline has failed while it ran, and its state is %SL_PIPELINE_STATE_FAILED.
   *
   * Since: 0.1
   */
  signals[SIGNAL_ERROR] = g_signal_new ("error", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                        G_TYPE_NONE, 2, G_TYPE_ERROR, G_TYPE_STRING);
  /**
   * SlPipeline::state-changed:
   * @self: the pipeline
   * @before: its state before
   * @state: its state now
   *
   * The pipeline is doing something else than before.
   *
   * Since: 0.1
   */
  signals[SIGNAL_STATE_CHANGED] =
    g_signal_new ("state-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2,
                  SL_TYPE_PIPELINE_STATE, SL_TYPE_PIPELINE_STATE);
  /**
   * SlPipeline::stats:
   * @self: the pipeline
   * @stats: as sl_pipeline_get_stats() has it
   *
   * Every #SlPipeline:stats-interval milliseconds while the pipeline runs.
   *
   * Since: 0.1
   */
  signals[SIGNAL_STATS] = g_signal_new ("stats", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                        G_TYPE_NONE, 1, G_TYPE_VARIANT);
}

static void
emit_analysis (gpointer pipeline, GVariant *analysis)
{
  const char *event = "", *region = NULL;
  g_variant_lookup (analysis, "event", "&s", &event);
  g_variant_lookup (analysis, "region", "&s", &region);
  g_signal_emit (pipeline, signals[SIGNAL_ANALYSIS_EVENT], g_quark_try_string (event), event,
                 region, analysis);
}

void
sl_pipeline_signals_emit (gpointer pipeline, const SlEvent *event)
{
  switch (event->kind) {
    case SL_EVENT_PREDICTIONS:
      g_signal_emit (pipeline, signals[SIGNAL_PREDICTIONS], 0, event->predictions);
      break;
    case SL_EVENT_ANALYSIS:
      emit_analysis (pipeline, event->analysis);
      break;
    case SL_EVENT_ERROR:
      g_signal_emit (pipeline, signals[SIGNAL_ERROR], 0, event->error, event->element);
      break;
    case SL_EVENT_STATE:
      g_signal_emit (pipeline, signals[SIGNAL_STATE_CHANGED], 0, event->before, event->state);
      g_object_notify (pipeline, "state");
      break;
  }
}

gboolean
sl_pipeline_signals_hears_predictions (gpointer pipeline)
{
  return g_signal_has_handler_pending (pipeline, signals[SIGNAL_PREDICTIONS], 0, FALSE);
}

void
sl_pipeline_signals_emit_stats (gpointer pipeline, GVariant *stats)
{
  g_signal_emit (pipeline, signals[SIGNAL_STATS], 0, stats);
}

gboolean
sl_pipeline_signals_hears (gpointer pipeline, const char *event)
{
  const guint signal = signals[SIGNAL_ANALYSIS_EVENT];
  const GQuark detail = g_quark_try_string (event);
  return g_signal_has_handler_pending (pipeline, signal, 0, FALSE)
         || (detail != 0 && g_signal_has_handler_pending (pipeline, signal, detail, FALSE));
}
