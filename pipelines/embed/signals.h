/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The signals of SlPipeline, and sources in its maker's main context, in which they are emitted. No
 * lock is held meanwhile.
 */
#pragma once

#include "pipelines/embed/events.h"

/** sl_pipeline_signals_add: for class_init of SlPipeline. */
void sl_pipeline_signals_add (GObjectClass *klass);
/** sl_pipeline_signals_emit: tells @event to the handlers of @pipeline. */
void sl_pipeline_signals_emit (gpointer pipeline, const SlEvent *event);
/** sl_pipeline_signals_emit_stats: @stats: as sl_pipeline_get_stats() has it */
void sl_pipeline_signals_emit_stats (gpointer pipeline, GVariant *stats);
/** sl_pipeline_signals_hears_predictions: whether a handler waits for predictions. */
gboolean sl_pipeline_signals_hears_predictions (gpointer pipeline);
/** sl_pipeline_signals_hears: whether a handler waits for the analysis event @event, or for all of
 * them. */
gboolean sl_pipeline_signals_hears (gpointer pipeline, const char *event);

/** sl_weak_source_attach: (transfer full): attaches @source (transfer full) to @context. @callback
 * gets a GWeakRef to @object, so the source does not keep @object alive. */
GSource *sl_weak_source_attach (GSource *source, GMainContext *context, gpointer object,
                                GSourceFunc callback);
/** sl_weak_source_detach: destroys *@source (nullable) and sets it to NULL. */
void sl_weak_source_detach (GSource **source);
