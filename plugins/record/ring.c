/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A queue of a few hundred frames. A search begins at the nearer end. */
#include "plugins/record/ring.h"

void
sl_ring_init (SlRing *ring)
{
  *ring = (SlRing){ .frames = G_QUEUE_INIT, .serial = ring->serial };
}

static void
drop_oldest (SlRing *ring)
{
  SlRingFrame *frame = g_queue_pop_head (&ring->frames);
  ring->bytes -= gst_buffer_get_size (frame->buffer);
  gst_buffer_unref (frame->buffer);
  g_free (frame);
}

void
sl_ring_clear (SlRing *ring)
{
  while (!g_queue_is_empty (&ring->frames))
    drop_oldest (ring);
}

void
sl_ring_put (SlRing *ring, GstBuffer *buffer, GstClockTime time, gboolean key)
{
  ring->serial++;
  if (!key && g_queue_is_empty (&ring->frames)) {
    gst_buffer_unref (buffer);
    return;
  }
  SlRingFrame *frame = g_new (SlRingFrame, 1);
  *frame = (SlRingFrame){ buffer, time, ring->serial, key };
  g_queue_push_tail (&ring->frames, frame);
  ring->bytes += gst_buffer_get_size (buffer);
}

/* (nullable): the second key frame. */
static GList *
next_key (SlRing *ring)
{
  for (GList *link = ring->frames.head != NULL ? ring->frames.head->next : NULL; link != NULL;
       link = link->next)
    if (((SlRingFrame *) link->data)->key)
      return link;
  return NULL;
}

void
sl_ring_trim (SlRing *ring, GstClockTime since, gsize bytes)
{
  while (!g_queue_is_empty (&ring->frames)) {
    const GList *next = next_key (ring);
    const SlRingFrame *frame = next != NULL ? next->data : NULL;
    if (ring->bytes <= bytes && (frame == NULL || frame->time > since))
      return;
    do
      drop_oldest (ring);
    while (!g_queue_is_empty (&ring->frames) && ring->frames.head != next);
  }
}

GList *
sl_ring_start (SlRing *ring, GstClockTime since)
{
  for (GList *link = ring->frames.tail; link != NULL; link = link->prev) {
    const SlRingFrame *frame = link->data;
    if (frame->key && (frame->time <= since || link->prev == NULL))
      return link;
  }
  return NULL;
}

GList *
sl_ring_after (SlRing *ring, guint64 serial)
{
  GList *found = NULL;
  for (GList *link = ring->frames.tail;
       link != NULL && ((SlRingFrame *) link->data)->serial > serial; link = link->prev)
    found = link;
  return found;
}
