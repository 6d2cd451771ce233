/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sticky events that wait for caps. */
#include "plugins/base/held_events.h"

void
sl_held_events_push (GQueue *held, GstPad *pad)
{
  GstEvent *event;
  while ((event = g_queue_pop_head (held)) != NULL)
    gst_pad_push_event (pad, event);
}

void
sl_held_events_flush (GQueue *held)
{
  for (GList *link = held->head; link != NULL;) {
    GList *next = link->next;
    if (GST_EVENT_TYPE (link->data) == GST_EVENT_SEGMENT) {
      gst_event_unref (link->data);
      g_queue_delete_link (held, link);
    }
    link = next;
  }
}

void
sl_held_events_clear (GQueue *held)
{
  g_queue_clear_full (held, (GDestroyNotify) gst_event_unref);
}
