/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A queue of paused messages, and a timer for the first of them. There are no more of them than there are connections. */
#include "tools/run/http/turns.h"

typedef struct
{
  SlTurns *turns;
  SoupServerMessage *message;
  char *path;
  GHashTable *query; /* (nullable) */
  gulong finished;
} Waiter;

struct _SlTurns
{
  SlTurn turn;
  gpointer data;
  GQueue waiters; /* of Waiter */
  GSource *timer; /* (nullable): after a wrong password */
};

SlTurns *
sl_turns_new (SlTurn turn, gpointer data)
{
  SlTurns *turns = g_new0 (SlTurns, 1);
  turns->turn = turn;
  turns->data = data;
  g_queue_init (&turns->waiters);
  return turns;
}

static void
waiter_free (Waiter *waiter)
{
  g_clear_signal_handler (&waiter->finished, waiter->message);
  g_object_unref (waiter->message);
  g_clear_pointer (&waiter->query, g_hash_table_unref);
  g_free (waiter->path);
  g_free (waiter);
}

static void
stop_timer (SlTurns *turns)
{
  if (turns->timer != NULL)
    g_source_destroy (turns->timer);
  g_clear_pointer (&turns->timer, g_source_unref);
}

void
sl_turns_free (SlTurns *turns)
{
  stop_timer (turns);
  g_queue_clear_full (&turns->waiters, (GDestroyNotify) waiter_free);
  g_free (turns);
}

static gboolean
on_time (gpointer data)
{
  SlTurns *turns = data;
  Waiter *waiter;
  g_clear_pointer (&turns->timer, g_source_unref);
  while (turns->timer == NULL && (waiter = g_queue_pop_head (&turns->waiters)) != NULL) {
    g_clear_signal_handler (&waiter->finished, waiter->message); /* a stream is finished at once */
    soup_server_message_unpause (waiter->message);
    turns->turn (waiter->message, waiter->path, waiter->query, turns->data);
    waiter_free (waiter);
  }
  return G_SOURCE_REMOVE;
}

static void
on_finished (SoupServerMessage *message, gpointer data)
{
  Waiter *waiter = data;
  g_queue_remove (&waiter->turns->waiters, waiter);
  waiter_free (waiter);
}

void
sl_turns_take (SlTurns *turns, SoupServerMessage *message, const char *path, GHashTable *query)
{
  if (turns->timer == NULL) {
    turns->turn (message, path, query, turns->data);
    return;
  }
  Waiter *waiter = g_new0 (Waiter, 1);
  waiter->turns = turns;
  waiter->message = g_object_ref (message);
  waiter->path = g_strdup (path);
  waiter->query = query != NULL ? g_hash_table_ref (query) : NULL;
  waiter->finished = g_signal_connect (message, "finished", G_CALLBACK (on_finished), waiter);
  g_queue_push_tail (&turns->waiters, waiter);
  soup_server_message_pause (message);
}

void
sl_turns_delay (SlTurns *turns)
{
  stop_timer (turns);
  turns->timer = g_timeout_source_new (SL_TURN_MS);
  g_source_set_callback (turns->timer, on_time, turns, NULL);
  g_source_attach (turns->timer, g_main_context_get_thread_default ());
}
