/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection is known by the object of its remote address, which libsoup gives back with each message. It is ended by shutting its
 * socket down: whoever reads or writes there then finds out, and lets it go.
 */
#include "tools/run/http/connections.h"

#include <sys/socket.h>

/* Bytes that the kernel may hold for a peer that does not read. */
#define SEND_BUFFER (256 * 1024)
/* After the process had no file descriptor left for a connection. */
#define RETRY_MS 500

typedef struct
{
  SlConnections *connections;
  GSocketConnection *stream; /* not owned */
  GSocket *socket;
  GSocketAddress *remote;
  gint64 since;
  gboolean ended; /* and soon gone */
} Connection;

struct _SlConnections
{
  SoupServer *server;
  GSocketListener *listener;
  GTlsCertificate *certificate;
  GCancellable *cancellable;
  GSource *retry;
  GQueue all; /* of Connection, the oldest first */
};

static void listen_on (SlConnections *connections);

static GQuark
connection_quark (void)
{
  return g_quark_from_static_string ("sl-connection");
}

static void
forget (Connection *connection)
{
  g_object_set_qdata (G_OBJECT (connection->remote), connection_quark (), NULL);
  g_object_unref (connection->remote);
  g_object_unref (connection->socket);
  g_free (connection);
}

static void
on_gone (gpointer data, GObject *stream)
{
  Connection *connection = data;
  g_queue_remove (&connection->connections->all, connection);
  forget (connection);
}

static void
end (Connection *connection)
{
  connection->ended = TRUE;
  g_socket_shutdown (connection->socket, TRUE, TRUE, NULL);
}

/* The oldest gives way to a new one. FALSE when too many have given way and are not gone yet. */
static gboolean
make_room (SlConnections *connections)
{
  if (connections->all.length < SL_CONNECTIONS_MOST)
    return TRUE;
  for (GList *link = connections->all.head; link != NULL; link = link->next)
    if (!((Connection *) link->data)->ended) {
      end (link->data);
      break;
    }
  return connections->all.length < 2 * SL_CONNECTIONS_MOST;
}

static GIOStream *
with_tls (SlConnections *connections, GSocketConnection *stream)
{
  if (connections->certificate == NULL)
    return g_object_ref (G_IO_STREAM (stream));
  return g_tls_server_connection_new (G_IO_STREAM (stream), connections->certificate, NULL);
}

static void
take (SlConnections *connections, GSocketConnection *stream)
{
  g_autoptr (GSocketAddress) local = g_socket_connection_get_local_address (stream, NULL);
  g_autoptr (GSocketAddress) remote = g_socket_connection_get_remote_address (stream, NULL);
  g_autoptr (GIOStream) outer = local != NULL && remote != NULL ? with_tls (connections, stream) : NULL;
  if (outer == NULL || !make_room (connections))
    return;
  Connection *connection = g_new0 (Connection, 1);
  connection->connections = connections;
  connection->stream = stream;
  connection->socket = g_object_ref (g_socket_connection_get_socket (stream));
  connection->remote = g_object_ref (remote);
  connection->since = g_get_monotonic_time ();
  g_socket_set_option (connection->socket, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER, NULL);
  g_queue_push_tail (&connections->all, connection);
  g_object_weak_ref (G_OBJECT (stream), on_gone, connection);
  g_object_set_qdata (G_OBJECT (remote), connection_quark (), connection);
  soup_server_accept_iostream (connections->server, outer, local, remote, NULL);
}

static gboolean
on_retry (gpointer data)
{
  SlConnections *connections = data;
  g_clear_pointer (&connections->retry, g_source_unref);
  listen_on (connections);
  return G_SOURCE_REMOVE;
}

static void
on_arrival (GObject *listener, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSocketConnection) stream = g_socket_listener_accept_finish (G_SOCKET_LISTENER (listener), result, NULL, &error);
  SlConnections *connections = data;
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* @connections may be gone */
  if (stream != NULL) {
    take (connections, stream);
    listen_on (connections);
    return;
  }
  connections->retry = g_timeout_source_new (RETRY_MS);
  g_source_set_callback (connections->retry, on_retry, connections, NULL);
  g_source_attach (connections->retry, g_main_context_get_thread_default ());
}

static void
listen_on (SlConnections *connections)
{
  g_socket_listener_accept_async (connections->listener, connections->cancellable, on_arrival, connections);
}

SlConnections *
sl_connections_new (SoupServer *server, GSocketListener *listener, GTlsCertificate *certificate)
{
  SlConnections *connections = g_new0 (SlConnections, 1);
  connections->server = server;
  connections->listener = g_object_ref (listener);
  connections->certificate = certificate != NULL ? g_object_ref (certificate) : NULL;
  connections->cancellable = g_cancellable_new ();
  g_queue_init (&connections->all);
  listen_on (connections);
  return connections;
}

void
sl_connections_free (SlConnections *connections)
{
  g_cancellable_cancel (connections->cancellable);
  g_socket_listener_close (connections->listener);
  if (connections->retry != NULL)
    g_source_destroy (connections->retry);
  g_clear_pointer (&connections->retry, g_source_unref);
  soup_server_disconnect (connections->server);
  for (Connection *connection; (connection = g_queue_pop_head (&connections->all)) != NULL;) {
    g_object_weak_unref (G_OBJECT (connection->stream), on_gone, connection);
    end (connection);
    forget (connection);
  }
  g_object_unref (connections->cancellable);
  g_clear_object (&connections->certificate);
  g_object_unref (connections->listener);
  g_free (connections);
}

void
sl_connections_expire (SlConnections *connections)
{
  const gint64 limit = g_get_monotonic_time () - SL_CONNECTION_PATIENCE * G_USEC_PER_SEC;
  for (GList *link = connections->all.head; link != NULL && ((Connection *) link->data)->since < limit; link = link->next)
    end (link->data);
}

GIOStream *
sl_connections_steal (SlConnections *connections, SoupServerMessage *message, GSocket **socket)
{
  GSocketAddress *remote = soup_server_message_get_remote_address (message);
  Connection *connection = remote != NULL ? g_object_get_qdata (G_OBJECT (remote), connection_quark ()) : NULL;
  if (connection == NULL)
    return NULL;
  *socket = g_object_ref (connection->socket);
  g_object_weak_unref (G_OBJECT (connection->stream), on_gone, connection);
  on_gone (connection, NULL);
  GIOStream *stream = soup_server_message_steal_connection (message);
  if (stream == NULL)
    g_clear_object (socket);
  return stream;
}
