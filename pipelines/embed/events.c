/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A bounded queue. Newer predictions and analysis events displace older ones of their kind. Other
 * entries are displaced only when the application never reads the queue. Also SlPipelineState as a
 * GType, and by name.
 */
#include "pipelines/embed/events.h"

/* Changes of state and errors kept for an application that does not iterate its main context, and
 * events of analyses for one that is slow. */
#define MAX_NEWS 256
#define MAX_ANALYSES 256

#define NEWS (1u << SL_EVENT_STATE | 1u << SL_EVENT_ERROR)

void
sl_events_init (SlEvents *events)
{
  *events = (SlEvents){ .queue = G_QUEUE_INIT };
}

void
sl_event_free (SlEvent *event)
{
  g_clear_pointer (&event->predictions, sl_predictions_unref);
  g_clear_pointer (&event->analysis, g_variant_unref);
  g_clear_error (&event->error);
  g_free (event->element);
  g_free (event);
}

void
sl_events_clear (SlEvents *events)
{
  g_queue_clear_full (&events->queue, (GDestroyNotify) sl_event_free);
  sl_events_init (events);
}

/* (transfer full) (nullable): the first whose kind is in @kinds, a bit each. */
static SlEvent *
take_first (SlEvents *events, guint kinds)
{
  for (GList *link = events->queue.head; link != NULL; link = link->next) {
    SlEvent *event = link->data;
    if ((kinds & 1u << event->kind) == 0)
      continue;
    g_queue_delete_link (&events->queue, link);
    events->n_predictions -= event->kind == SL_EVENT_PREDICTIONS;
    events->n_analyses -= event->kind == SL_EVENT_ANALYSIS;
    return event;
  }
  return NULL;
}

static void
add (SlEvents *events, SlEvent event)
{
  const guint news = events->queue.length - events->n_predictions - events->n_analyses;
  if ((NEWS & 1u << event.kind) != 0 && news >= MAX_NEWS)
    sl_event_free (take_first (events, NEWS));
  events->n_predictions += event.kind == SL_EVENT_PREDICTIONS;
  events->n_analyses += event.kind == SL_EVENT_ANALYSIS;
  g_queue_push_tail (&events->queue, g_memdup2 (&event, sizeof event));
}

gboolean
sl_events_add_predictions (SlEvents *events, SlPredictions *predictions, guint most)
{
  const gboolean full = events->n_predictions >= most;
  if (full)
    sl_event_free (take_first (events, 1u << SL_EVENT_PREDICTIONS));
  add (events,
       (SlEvent){ .kind = SL_EVENT_PREDICTIONS, .predictions = sl_predictions_ref (predictions) });
  return full;
}

gboolean
sl_events_add_analysis (SlEvents *events, GVariant *analysis)
{
  const gboolean full = events->n_analyses >= MAX_ANALYSES;
  if (full)
    sl_event_free (take_first (events, 1u << SL_EVENT_ANALYSIS));
  add (events, (SlEvent){ .kind = SL_EVENT_ANALYSIS, .analysis = g_variant_ref (analysis) });
  return full;
}

void
sl_events_add_state (SlEvents *events, SlPipelineState before, SlPipelineState state)
{
  add (events, (SlEvent){ .kind = SL_EVENT_STATE, .before = before, .state = state });
}

void
sl_events_add_error (SlEvents *events, const GError *error, const char *element)
{
  add (events, (SlEvent){ .kind = SL_EVENT_ERROR,
                          .error = g_error_copy (error),
                          .element = g_strdup (element) });
}

SlEvent *
sl_events_take (SlEvents *events, gboolean predictions)
{
  return take_first (events, NEWS | 1u << SL_EVENT_ANALYSIS
                               | (predictions ? 1u << SL_EVENT_PREDICTIONS : 0));
}

SlPredictions *
sl_events_take_predictions (SlEvents *events)
{
  g_autoptr (SlEvent) event = take_first (events, 1u << SL_EVENT_PREDICTIONS);
  return event != NULL ? g_steal_pointer (&event->predictions) : NULL;
}

G_DEFINE_ENUM_TYPE (SlPipelineState, sl_pipeline_state,
                    { SL_PIPELINE_STATE_STOPPED, "SL_PIPELINE_STATE_STOPPED", "stopped" },
                    { SL_PIPELINE_STATE_STARTING, "SL_PIPELINE_STATE_STARTING", "starting" },
                    { SL_PIPELINE_STATE_RUNNING, "SL_PIPELINE_STATE_RUNNING", "running" },
                    { SL_PIPELINE_STATE_PAUSED, "SL_PIPELINE_STATE_PAUSED", "paused" },
                    { SL_PIPELINE_STATE_ENDED, "SL_PIPELINE_STATE_ENDED", "ended" },
                    { SL_PIPELINE_STATE_FAILED, "SL_PIPELINE_STATE_FAILED", "failed" })

const char *
sl_pipeline_state_name (SlPipelineState state)
{
  g_autoptr (GEnumClass) names = g_type_class_ref (SL_TYPE_PIPELINE_STATE);
  return g_enum_get_value (names, (gint) state)->value_nick;
}
