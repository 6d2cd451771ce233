/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For each client that said a wrong password lately: a queue of paused messages, and a timer for
 * the first of them. There are no more messages than there are connections, and a client is
 * forgotten when its timer ends and none of its messages waits.
 */
#include "tools/run/http/auth_throttle.h"

#include <sys/socket.h>

#include "tools/run/http/connections.h"
#include "tools/run/http/proxy.h"

typedef struct
{
  SlAuthThrottle *throttle;
  char *name;     /* of sl_connections_client() */
  GQueue waiters; /* of Waiter */
  GSource *timer; /* (nullable): after a wrong password */
} Client;

typedef struct
{
  Client *client;
  SoupServerMessage *message;
  char *path;
  GHashTable *query; /* (nullable) */
  SlAuthThrottleFunc answer;
  gpointer data;
  gulong finished;
} Waiter;

struct _SlAuthThrottle
{
  SlAuthThrottleFunc answer;
  gpointer data;
  GHashTable *clients; /* name -> Client: those whose next password waits */
};

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
stop_timer (Client *client)
{
  if (client->timer != NULL)
    g_source_destroy (client->timer);
  g_clear_pointer (&client->timer, g_source_unref);
}

static void
client_free (gpointer data)
{
  Client *client = data;
  stop_timer (client);
  g_queue_clear_full (&client->waiters, (GDestroyNotify) waiter_free);
  g_free (client->name);
  g_free (client);
}

SlAuthThrottle *
sl_auth_throttle_new (SlAuthThrottleFunc answer, gpointer data)
{
  SlAuthThrottle *throttle = g_new0 (SlAuthThrottle, 1);
  throttle->answer = answer;
  throttle->data = data;
  throttle->clients = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, client_free);
  return throttle;
}

void
sl_auth_throttle_free (SlAuthThrottle *throttle)
{
  g_hash_table_unref (throttle->clients);
  g_free (throttle);
}

static gboolean
on_time (gpointer data)
{
  Client *client = data;
  SlAuthThrottle *throttle = client->throttle;
  Waiter *waiter;
  g_clear_pointer (&client->timer, g_source_unref);
  while (client->timer == NULL && (waiter = g_queue_pop_head (&client->waiters)) != NULL) {
    g_clear_signal_handler (&waiter->finished, waiter->message); /* a stream is finished at once */
    soup_server_message_unpause (waiter->message);
    waiter->answer (waiter->message, waiter->path, waiter->query, waiter->data);
    waiter_free (waiter);
  }
  if (client->timer == NULL)
    g_hash_table_remove (throttle->clients, client->name);
  return G_SOURCE_REMOVE;
}

static void
on_finished (SoupServerMessage *message, gpointer data)
{
  Waiter *waiter = data;
  g_queue_remove (&waiter->client->waiters, waiter);
  waiter_free (waiter);
}

/* (transfer full) */
static char *
name_of (SoupServerMessage *message)
{
  g_autoptr (GInetAddress) address = sl_proxy_client (message);
  g_autoptr (GSocketAddress) client =
    address != NULL ? g_inet_socket_address_new (address, 0) : NULL;
  return sl_connections_client (client);
}

/* (nullable): the client of @message, if it waits. */
static Client *
find (SlAuthThrottle *throttle, SoupServerMessage *message)
{
  g_autofree char *name = name_of (message);
  return g_hash_table_lookup (throttle->clients, name);
}

gboolean
sl_auth_throttle_take (SlAuthThrottle *throttle, SoupServerMessage *message, const char *path,
                       GHashTable *query)
{
  return sl_auth_throttle_take_for (throttle, message, path, query, throttle->answer,
                                    throttle->data);
}

gboolean
sl_auth_throttle_take_for (SlAuthThrottle *throttle, SoupServerMessage *message, const char *path,
                           GHashTable *query, SlAuthThrottleFunc answer, gpointer data)
{
  Client *client = find (throttle, message);
  if (client == NULL) {
    answer (message, path, query, data);
    return TRUE;
  }
  if (client->waiters.length >= SL_AUTH_MAX_WAITING)
    return FALSE;
  Waiter *waiter = g_new0 (Waiter, 1);
  waiter->client = client;
  waiter->message = g_object_ref (message);
  waiter->path = g_strdup (path);
  waiter->answer = answer;
  waiter->data = data;
  waiter->query = query != NULL ? g_hash_table_ref (query) : NULL;
  waiter->finished = g_signal_connect (message, "finished", G_CALLBACK (on_finished), waiter);
  g_queue_push_tail (&client->waiters, waiter);
  soup_server_message_pause (message);
  return TRUE;
}

/* Whether nothing more comes there. libsoup does not look while a message is paused. */
static gboolean
has_ended (SoupServerMessage *message)
{
  char byte;
  GSocket *socket = soup_server_message_get_socket (message);
  return socket != NULL && recv (g_socket_get_fd (socket), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void
sl_auth_throttle_expire (SlAuthThrottle *throttle)
{
  GHashTableIter iter;
  Client *client;
  g_hash_table_iter_init (&iter, throttle->clients);
  while (g_hash_table_iter_next (&iter, NULL, (gpointer *) &client))
    for (GList *link = client->waiters.head, *next; link != NULL; link = next) {
      g_autoptr (SoupServerMessage) message = g_object_ref (((Waiter *) link->data)->message);
      next = link->next;
      if (!has_ended (message))
        continue;
      waiter_free (link->data);
      g_queue_delete_link (&client->waiters, link);
      soup_server_message_set_status (message, SOUP_STATUS_UNAUTHORIZED, NULL);
      soup_server_message_unpause (message);
    }
}

void
sl_auth_throttle_delay (SlAuthThrottle *throttle, SoupServerMessage *message)
{
  Client *client = find (throttle, message);
  if (client == NULL) {
    client = g_new0 (Client, 1);
    client->throttle = throttle;
    client->name = name_of (message);
    g_queue_init (&client->waiters);
    g_hash_table_insert (throttle->clients, client->name, client);
  }
  stop_timer (client);
  client->timer = g_timeout_source_new (SL_AUTH_DELAY_MS);
  g_source_set_callback (client->timer, on_time, client, NULL);
  g_source_attach (client->timer, g_main_context_get_thread_default ());
}
