/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A frame is sent again once, at half of its deadline. So a dead worker costs half of the deadline,
 * and a slow worker does not get all its work twice. A frame that no worker took is sent again
 * after pauses, which grow.
 */
#include "pipelines/remote/window.h"

/* Until a frame that nobody took is sent again, at first. */
#define FIRST_PAUSE_US 50000

void
sl_remote_window_init (SlRemoteWindow *window, guint most_sent, gint64 deadline_us,
                       GDestroyNotify free_data)
{
  *window = (SlRemoteWindow){
    .most_sent = most_sent, .deadline_us = deadline_us, .free_data = free_data, .next_id = 1
  };
  g_queue_init (&window->entries);
}

void
sl_remote_entry_free (SlRemoteWindow *window, SlRemoteEntry *entry)
{
  if (entry == NULL)
    return;
  if (entry->data != NULL)
    window->free_data (entry->data);
  g_clear_pointer (&entry->contract, sl_contract_unref);
  g_free (entry->request);
  g_free (entry->answer);
  g_free (entry);
}

void
sl_remote_window_clear (SlRemoteWindow *window)
{
  SlRemoteEntry *entry;
  while ((entry = sl_remote_window_take (window)) != NULL)
    sl_remote_entry_free (window, entry);
}

void
sl_remote_window_push (SlRemoteWindow *window, SlRemoteEntry *entry)
{
  entry->id = window->next_id++;
  window->n_waiting += entry->state == SL_REMOTE_WAITING;
  window->n_frames += entry->frame;
  g_queue_push_tail (&window->entries, entry);
}

/* As many as are on their way may be done, and as many again may wait for those that take them. */
gboolean
sl_remote_window_has_room (const SlRemoteWindow *window)
{
  return window->n_frames < 2 * window->most_sent + 8;
}

static void
drop (SlRemoteWindow *window, GList *at)
{
  SlRemoteEntry *entry = at->data;
  window->n_waiting -= entry->state == SL_REMOTE_WAITING;
  window->n_frames -= entry->frame;
  window->counts.dropped++;
  g_queue_delete_link (&window->entries, at);
  sl_remote_entry_free (window, entry);
}

void
sl_remote_window_displace (SlRemoteWindow *window, gboolean stuck)
{
  for (GList *at = window->entries.head, *next; at != NULL && window->n_waiting > 0; at = next) {
    SlRemoteEntry *entry = at->data;
    next = at->next;
    if (entry->state != SL_REMOTE_WAITING || !entry->droppable)
      continue;
    if (stuck)
      sl_remote_window_lose (window, entry);
    else
      drop (window, at);
    stuck = FALSE;
  }
  for (GList *at = window->entries.head; at != NULL && !sl_remote_window_has_room (window);
       at = at->next) {
    const SlRemoteEntry *entry = at->data;
    if (entry->state == SL_REMOTE_LOST && entry->droppable) {
      drop (window, at);
      return;
    }
  }
}

/* Of an entry on its way; @oldest: there is none before it. */
static gboolean
may_go_again (const SlRemoteWindow *window, const SlRemoteEntry *entry, gboolean oldest)
{
  return entry->again > 0 && entry->message == 0 && (oldest || !window->unheard);
}

SlRemoteEntry *
sl_remote_window_next (SlRemoteWindow *window, gint64 now)
{
  const gboolean room = window->n_sent < window->most_sent;
  gboolean oldest = TRUE;
  for (GList *at = window->entries.head; at != NULL; at = at->next) {
    SlRemoteEntry *entry = at->data;
    if (entry->state == SL_REMOTE_WAITING && room)
      return entry;
    if (entry->state != SL_REMOTE_SENT)
      continue;
    if (may_go_again (window, entry, oldest) && entry->again <= now)
      return entry;
    oldest = FALSE;
  }
  return NULL;
}

void
sl_remote_window_sent (SlRemoteWindow *window, SlRemoteEntry *entry, gint message, gint64 now)
{
  if (entry->state == SL_REMOTE_WAITING) {
    window->n_waiting--;
    window->n_sent++;
    entry->state = SL_REMOTE_SENT;
    entry->begun = now;
  } else {
    window->counts.resent++;
  }
  entry->again = entry->sends == 0 ? now + window->deadline_us / 2 : 0;
  entry->sends++;
  entry->message = message;
}

void
sl_remote_window_again (SlRemoteWindow *window, gint64 at)
{
  for (GList *link = window->entries.head; link != NULL; link = link->next) {
    SlRemoteEntry *entry = link->data;
    if (entry->state == SL_REMOTE_SENT)
      entry->again = at;
  }
}

void
sl_remote_window_reconnected (SlRemoteWindow *window)
{
  for (GList *link = window->entries.head; link != NULL; link = link->next)
    ((SlRemoteEntry *) link->data)->message = 0;
  window->unheard = FALSE;
  sl_remote_window_again (window, 1);
}

SlRemoteEntry *
sl_remote_window_confirmed (SlRemoteWindow *window, gint message, gboolean heard)
{
  window->unheard = !heard;
  for (GList *at = window->entries.head; at != NULL; at = at->next) {
    SlRemoteEntry *entry = at->data;
    if (entry->state == SL_REMOTE_SENT && entry->message == message) {
      entry->message = 0;
      return entry;
    }
  }
  return NULL;
}

void
sl_remote_window_put_off (SlRemoteWindow *window, SlRemoteEntry *entry, gint64 now)
{
  const gint64 longest = MAX (window->deadline_us / 4, FIRST_PAUSE_US);
  entry->pause = entry->pause == 0 ? FIRST_PAUSE_US : MIN (2 * entry->pause, longest);
  entry->again = now + entry->pause;
}

SlRemoteEntry *
sl_remote_window_by_id (SlRemoteWindow *window, guint64 id)
{
  for (GList *at = window->entries.head; at != NULL; at = at->next) {
    SlRemoteEntry *entry = at->data;
    if (entry->id == id && entry->state == SL_REMOTE_SENT)
      return entry;
  }
  const gboolean lost = id > 0 && window->lost_ids[id % SL_REMOTE_REMEMBERED] == id;
  window->counts.late += lost;
  window->counts.repeated += !lost;
  return NULL;
}

void
sl_remote_window_answered (SlRemoteWindow *window, SlRemoteEntry *entry, guint8 *answer,
                           const SlRemoteAnswer *result)
{
  entry->state = SL_REMOTE_ANSWERED;
  entry->answer = answer;
  entry->result = *result;
  entry->result.worker = entry->result.text;
  window->n_sent--;
  window->counts.answered++;
}

void
sl_remote_window_lose (SlRemoteWindow *window, SlRemoteEntry *entry)
{
  window->n_sent -= entry->state == SL_REMOTE_SENT;
  window->n_waiting -= entry->state == SL_REMOTE_WAITING;
  entry->state = SL_REMOTE_LOST;
  window->lost_ids[entry->id % SL_REMOTE_REMEMBERED] = entry->id;
  window->counts.lost++;
}

void
sl_remote_window_expire (SlRemoteWindow *window, gint64 now, gboolean stuck, gboolean hopeless)
{
  for (GList *at = window->entries.head; at != NULL; at = at->next) {
    SlRemoteEntry *entry = at->data;
    const gboolean old = now - entry->begun >= window->deadline_us;
    if ((entry->state == SL_REMOTE_SENT && (old || hopeless))
        || (entry->state == SL_REMOTE_WAITING && ((old && stuck) || hopeless)))
      sl_remote_window_lose (window, entry);
  }
}

SlRemoteEntry *
sl_remote_window_take (SlRemoteWindow *window)
{
  SlRemoteEntry *entry = g_queue_pop_head (&window->entries);
  if (entry != NULL) {
    window->n_sent -= entry->state == SL_REMOTE_SENT;
    window->n_waiting -= entry->state == SL_REMOTE_WAITING;
    window->n_frames -= entry->frame;
  }
  return entry;
}

SlRemoteEntry *
sl_remote_window_pop (SlRemoteWindow *window)
{
  const SlRemoteEntry *entry = g_queue_peek_head (&window->entries);
  if (entry == NULL || entry->state == SL_REMOTE_WAITING || entry->state == SL_REMOTE_SENT)
    return NULL;
  return sl_remote_window_take (window);
}

gint64
sl_remote_window_due (const SlRemoteWindow *window, gboolean stuck)
{
  gint64 due = G_MAXINT64;
  gboolean oldest = TRUE;
  for (const GList *at = window->entries.head; at != NULL; at = at->next) {
    const SlRemoteEntry *entry = at->data;
    if (entry->state == SL_REMOTE_SENT || (entry->state == SL_REMOTE_WAITING && stuck))
      due = MIN (due, entry->begun + window->deadline_us);
    if (entry->state != SL_REMOTE_SENT)
      continue;
    if (may_go_again (window, entry, oldest))
      due = MIN (due, entry->again);
    oldest = FALSE;
  }
  return due;
}
