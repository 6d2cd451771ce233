/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The events of a running pipeline for the application, in order. Their number is bounded, and the
 * newest predictions are kept. The owner holds a lock.
 */
#pragma once

#include "sightline/pipeline.h"

typedef enum
{
  SL_EVENT_PREDICTIONS,
  SL_EVENT_ANALYSIS,
  SL_EVENT_STATE,
  SL_EVENT_ERROR
} SlEventKind;

/** One of them; the members of other kinds are zero. */
typedef struct
{
  SlEventKind kind;
  SlPredictions *predictions;
  SlPipelineState state, before;
  GError *error;
  char *element;      /* name of the element that failed */
  GVariant *analysis; /* a{sv}, as SlPipeline::analysis-event has its details, with "event" and
                         "region" besides */
} SlEvent;

typedef struct
{
  GQueue queue; /* of SlEvent */
  guint n_predictions, n_analyses;
} SlEvents;

void sl_events_init (SlEvents *events);
void sl_events_clear (SlEvents *events);
/** sl_events_add_predictions: at most @most are kept; TRUE when the oldest had to go. */
gboolean sl_events_add_predictions (SlEvents *events, SlPredictions *predictions, guint most);
/** sl_events_add_analysis: @analysis (transfer none), not floating; the newest are kept; TRUE when
 * the oldest had to go. */
gboolean sl_events_add_analysis (SlEvents *events, GVariant *analysis);
void sl_events_add_state (SlEvents *events, SlPipelineState before, SlPipelineState state);
void sl_events_add_error (SlEvents *events, const GError *error, const char *element);
/** sl_events_take: (transfer full) (nullable): the first; predictions only if @predictions. */
SlEvent *sl_events_take (SlEvents *events, gboolean predictions);
/** sl_events_take_predictions: (transfer full) (nullable): the first ones. */
SlPredictions *sl_events_take_predictions (SlEvents *events);
void sl_event_free (SlEvent *event);
/** sl_pipeline_state_name: (transfer none): "stopped", ... */
const char *sl_pipeline_state_name (SlPipelineState state);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlEvent, sl_event_free)
