/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection is known by the object of its remote address, which libsoup gives back with each message, and which goes when libsoup has
 * let go of the connection. It is ended by shutting its socket down: whoever reads or writes there then finds out, and lets it go.
 *
 * A TLS handshake occupies a thread of the few that GLib has for all of a program. So none begins before its client has said something,
 * there are some at once and the others wait for these, and one that takes long is ended. libsoup gets connections that have it behind
 * them.
 */
#include "tools/run/http/connections.h"

#include <sys/socket.h>

/* Bytes that the kernel may hold for a peer that does not read. */
#define SEND_BUFFER (256 * 1024)
/* After the process had no file descriptor left for a connection. */
#define RETRY_MS 500
/* TLS handshakes at once, fewer than GLib has threads, and the microseconds that one may take. */
#define MOST_HANDSHAKES 8
#define HANDSHAKE_PATIENCE (3 * G_USEC_PER_SEC)

typedef struct
{
  SlConnections *connections;
  GSocket *socket;
  GSocketAddress *remote;    /* not owned once libsoup has it */
  GSocketConnection *stream; /* (nullable): until libsoup has it, as all that follows */
  GSource *readable;         /* (nullable): waits for the first byte */
  GIOStream *tls;            /* (nullable): in its handshake */
  gint64 since, shaking;     /* @shaking: since when it is in its handshake */
  gboolean ended;            /* and soon gone */
} Connection;

struct _SlConnections
{
  SoupServer *server;
  GSocketListener *listener;
  GTlsCertificate *certificate;
  GCancellable *cancellable;
  GSource *retry;
  GQueue all;       /* of Connection, the oldest first */
  GQueue spoken;    /* of Connection: that wait for their handshake, in turn */
  guint handshakes; /* that go on */
};

static void listen_on (SlConnections *connections);

static GQuark
connection_quark (void)
{
  return g_quark_from_static_string ("sl-connection");
}

static void
stop_waiting (Connection *connection)
{
  if (connection->readable != NULL)
    g_source_destroy (connection->readable);
  g_clear_pointer (&connection->readable, g_source_unref);
}

/* libsoup has let go of it. */
static void
on_gone (gpointer data, GObject *remote)
{
  Connection *connection = data;
  g_queue_remove (&connection->connections->all, connection);
  g_object_unref (connection->socket);
  g_free (connection);
}

/* One that libsoup has. */
static void
forget (Connection *connection)
{
  g_object_weak_unref (G_OBJECT (connection->remote), on_gone, connection);
  g_object_set_qdata (G_OBJECT (connection->remote), connection_quark (), NULL);
  on_gone (connection, NULL);
}

/* One that libsoup never had. */
static void
drop (Connection *connection)
{
  g_queue_remove (&connection->connections->spoken, connection);
  stop_waiting (connection);
  g_clear_object (&connection->tls);
  g_object_unref (connection->stream);
  g_object_unref (connection->remote);
  on_gone (connection, NULL);
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

/* @outer: @connection's stream, or TLS on it. */
static void
hand_over (Connection *connection, GIOStream *outer)
{
  g_autoptr (GSocketConnection) stream = g_steal_pointer (&connection->stream);
  g_autoptr (GSocketAddress) remote = connection->remote; /* held here until libsoup holds it */
  g_autoptr (GSocketAddress) local = g_socket_connection_get_local_address (stream, NULL);
  g_object_set_qdata (G_OBJECT (remote), connection_quark (), connection);
  g_object_weak_ref (G_OBJECT (remote), on_gone, connection);
  if (local != NULL)
    soup_server_accept_iostream (connection->connections->server, outer, local, remote, NULL);
}

static void begin_handshakes (SlConnections *connections);

static void
on_handshake (GObject *tls, GAsyncResult *result, gpointer data)
{
  Connection *connection = data;
  SlConnections *connections = connection->connections;
  g_autoptr (GIOStream) outer = g_steal_pointer (&connection->tls);
  connections->handshakes--;
  if (g_tls_connection_handshake_finish (G_TLS_CONNECTION (tls), result, NULL) && !connection->ended)
    hand_over (connection, outer);
  else
    drop (connection);
  begin_handshakes (connections);
}

static void
begin_handshakes (SlConnections *connections)
{
  while (connections->handshakes < MOST_HANDSHAKES && connections->spoken.length > 0) {
    Connection *connection = g_queue_pop_head (&connections->spoken);
    connection->tls =
      connection->ended ? NULL : g_tls_server_connection_new (G_IO_STREAM (connection->stream), connections->certificate, NULL);
    if (connection->tls == NULL) {
      drop (connection);
      continue;
    }
    connections->handshakes++;
    connection->shaking = g_get_monotonic_time ();
    g_tls_connection_handshake_async (G_TLS_CONNECTION (connection->tls), G_PRIORITY_DEFAULT, NULL, on_handshake, connection);
  }
}

/* A client that is gone is readable, too. */
static gboolean
has_spoken (Connection *connection)
{
  char byte;
  return recv (g_socket_get_fd (connection->socket), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static gboolean
on_readable (GSocket *socket, GIOCondition condition, gpointer data)
{
  Connection *connection = data;
  SlConnections *connections = connection->connections;
  stop_waiting (connection);
  if (!has_spoken (connection)) {
    drop (connection);
    return G_SOURCE_REMOVE;
  }
  g_queue_push_tail (&connections->spoken, connection);
  begin_handshakes (connections);
  return G_SOURCE_REMOVE;
}

static void
wait_for_words (Connection *connection)
{
  connection->readable = g_socket_create_source (connection->socket, G_IO_IN, NULL);
  g_source_set_callback (connection->readable, G_SOURCE_FUNC (on_readable), connection, NULL);
  g_source_attach (connection->readable, g_main_context_get_thread_default ());
}

static void
take (SlConnections *connections, GSocketConnection *stream)
{
  GSocketAddress *remote = g_socket_connection_get_remote_address (stream, NULL);
  if (remote == NULL || !make_room (connections)) {
    g_clear_object (&remote);
    return;
  }
  Connection *connection = g_new0 (Connection, 1);
  connection->connections = connections;
  connection->socket = g_object_ref (g_socket_connection_get_socket (stream));
  connection->remote = remote;
  connection->stream = g_object_ref (stream);
  connection->since = g_get_monotonic_time ();
  g_socket_set_option (connection->socket, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER, NULL);
  g_queue_push_tail (&connections->all, connection);
  if (connections->certificate != NULL)
    wait_for_words (connection);
  else
    hand_over (connection, G_IO_STREAM (stream));
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
  for (GList *link = connections->all.head; link != NULL; link = link->next)
    end (link->data);
  while (connections->handshakes > 0) /* which end now, with their sockets */
    g_main_context_iteration (g_main_context_get_thread_default (), TRUE);
  for (Connection *connection; (connection = g_queue_peek_head (&connections->all)) != NULL;)
    (connection->stream != NULL ? drop : forget) (connection);
  g_object_unref (connections->cancellable);
  g_clear_object (&connections->certificate);
  g_object_unref (connections->listener);
  g_free (connections);
}

void
sl_connections_expire (SlConnections *connections)
{
  const gint64 now = g_get_monotonic_time ();
  for (GList *link = connections->all.head; link != NULL; link = link->next) {
    Connection *connection = link->data;
    if (now - connection->since > SL_CONNECTION_PATIENCE * G_USEC_PER_SEC
        || (connection->tls != NULL && now - connection->shaking > HANDSHAKE_PATIENCE))
      end (connection);
  }
}

GIOStream *
sl_connections_steal (SlConnections *connections, SoupServerMessage *message, GSocket **socket)
{
  GSocketAddress *remote = soup_server_message_get_remote_address (message);
  Connection *connection = remote != NULL ? g_object_get_qdata (G_OBJECT (remote), connection_quark ()) : NULL;
  if (connection == NULL)
    return NULL;
  *socket = g_object_ref (connection->socket);
  forget (connection);
  GIOStream *stream = soup_server_message_steal_connection (message);
  if (stream == NULL)
    g_clear_object (socket);
  return stream;
}
