/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A queue in which only predictions are displaced by newer ones, and other news only when an application never looks. */
#include "pipelines/embed/events.h"

/* Changes of state and errors kept for an application that does not iterate its main context. */
#define MOST_NEWS 256

void
sl_events_init (SlEvents *events)
{
  g_queue_init (&events->queue);
  events->n_predictions = 0;
}

void
sl_event_free (SlEvent *event)
{
  g_clear_pointer (&event->predictions, sl_predictions_unref);
  g_clear_error (&event->error);
  g_free (event->element);
  g_free (event);
}

void
sl_events_clear (SlEvents *events)
{
  g_queue_clear_full (&events->queue, (GDestroyNotify) sl_event_free);
  events->n_predictions = 0;
}

/* (transfer full) (nullable): the first of, or but for, predictions. */
static SlEvent *
take_first (SlEvents *events, gboolean predictions)
{
  for (GList *link = events->queue.head; link != NULL; link = link->next) {
    SlEvent *event = link->data;
    if ((event->kind == SL_EVENT_PREDICTIONS) != predictions)
      continue;
    g_queue_delete_link (&events->queue, link);
    events->n_predictions -= predictions;
    return event;
  }
  return NULL;
}

static void
add (SlEvents *events, SlEvent event)
{
  if (event.kind != SL_EVENT_PREDICTIONS && events->queue.length - events->n_predictions >= MOST_NEWS)
    sl_event_free (take_first (events, FALSE));
  events->n_predictions += event.kind == SL_EVENT_PREDICTIONS;
  g_queue_push_tail (&events->queue, g_memdup2 (&event, sizeof event));
}

gboolean
sl_events_add_predictions (SlEvents *events, SlPredictions *predictions, guint most)
{
  const gboolean full = events->n_predictions >= most;
  if (full)
    sl_event_free (take_first (events, TRUE));
  add (events, (SlEvent){ .kind = SL_EVENT_PREDICTIONS, .predictions = sl_predictions_ref (predictions) });
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
  add (events, (SlEvent){ .kind = SL_EVENT_ERROR, .error = g_error_copy (error), .element = g_strdup (element) });
}

SlEvent *
sl_events_take (SlEvents *events, gboolean predictions)
{
  const SlEvent *head = g_queue_peek_head (&events->queue);
  return take_first (events, predictions && head != NULL && head->kind == SL_EVENT_PREDICTIONS);
}

SlPredictions *
sl_events_take_predictions (SlEvents *events)
{
  g_autoptr (SlEvent) event = take_first (events, TRUE);
  return event != NULL ? g_steal_pointer (&event->predictions) : NULL;
}
