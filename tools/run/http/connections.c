/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection is identified by the object of its remote address. libsoup gives this object with
 * each message, and frees it after the connection. A connection is ended by shutting its socket
 * down: its reader or writer then gets an error, and closes it.
 *
 * A TLS handshake occupies one of the few threads that GLib has for the whole program. So no
 * handshake begins before its client has sent data. Only some handshakes run at once; the others
 * wait. A handshake that takes long is ended, earlier while others wait. The client with the fewest
 * handshakes is next, with its newest connection, which is the likeliest to succeed. libsoup gets
 * connections after their handshake.
 *
 * libsoup keeps the name of each method that it ever read, of any length. So the method is looked
 * at first: one that is long, and after many strange ones each strange one, ends its connection.
 */
#include "tools/run/http/connections.h"

#include <string.h>
#include <sys/socket.h>

#include "tools/run/http/pushback.h"

/* Bytes that the kernel may hold for a peer that does not read. */
#define SEND_BUFFER (256 * 1024)
/* After the process had no file descriptor left for a connection. */
#define RETRY_MS 500
/* TLS handshakes at once, fewer than GLib has threads, and the microseconds that one may take:
 * alone, and while others wait. */
#define MAX_HANDSHAKES 8
#define HANDSHAKE_PATIENCE (3 * G_USEC_PER_SEC)
#define HANDSHAKE_IMPATIENCE (G_USEC_PER_SEC / 2)
/* Bytes of a method, and requests with unknown ones that libsoup may see. */
#define METHOD_MOST 16
#define STRANGE_MOST 100

static const char *const methods[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS" };

typedef struct
{
  SlConnections *connections;
  GSocket *socket;
  char *client;              /* of sl_connections_client() */
  GSocketAddress *remote;    /* not owned once libsoup has it */
  GSocketConnection *stream; /* (nullable): until libsoup has it, as all that follows */
  GSource *readable;         /* (nullable): waits for the first byte */
  GIOStream *tls;            /* (nullable): in its handshake */
  GIOStream *outer;          /* (nullable): the stream, or TLS on it, whose method is awaited */
  char head[METHOD_MOST + 1];
  gsize heard;           /* bytes of @head */
  gint64 since, shaking; /* @shaking: since when it is in its handshake */
  gboolean ended;        /* and soon gone */
} Connection;

struct _SlConnections
{
  SoupServer *server;
  GSocketListener *listener;
  GTlsCertificate *certificate;
  GCancellable *cancellable;
  GSource *retry;
  guint most;       /* at once */
  gboolean waits;   /* until some are gone, to take more */
  GQueue all;       /* of Connection, the oldest first */
  GQueue spoken;    /* of Connection: that wait for their handshake, the newest first */
  guint handshakes; /* that go on */
  guint strange;    /* methods that nobody knows */
};

static void listen_on (SlConnections *connections);

static GQuark
connection_quark (void)
{
  return g_quark_from_static_string ("sl-connection");
}

char *
sl_connections_client (GSocketAddress *address)
{
  if (!G_IS_INET_SOCKET_ADDRESS (address))
    return g_strdup ("");
  GInetAddress *host = g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (address));
  const guint8 *bytes = g_inet_address_to_bytes (host);
  static const guint8 mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
  const gboolean six = g_inet_address_get_family (host) == G_SOCKET_FAMILY_IPV6;
  if (six && memcmp (bytes, mapped, sizeof mapped) != 0)
    return g_strdup_printf ("%02x%02x:%02x%02x:%02x%02x:%02x%02x::/64", bytes[0], bytes[1],
                            bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]);
  bytes += six ? sizeof mapped : 0;
  return g_strdup_printf ("%u.%u.%u.%u", bytes[0], bytes[1], bytes[2], bytes[3]);
}

static void
stop_waiting (Connection *connection)
{
  if (connection->readable != NULL)
    g_source_destroy (connection->readable);
  g_clear_pointer (&connection->readable, g_source_unref);
}

/* Those that have given way and are not gone yet count, too: others wait in the kernel until some
 * are gone. */
static gboolean
is_full (const SlConnections *connections)
{
  return connections->all.length >= 2 * connections->most;
}

/* libsoup has released it. */
static void
on_gone (gpointer data, GObject *remote)
{
  Connection *connection = data;
  SlConnections *connections = connection->connections;
  g_queue_remove (&connections->all, connection);
  g_object_unref (connection->socket);
  g_free (connection->client);
  g_free (connection);
  if (connections->waits && !is_full (connections)) {
    connections->waits = FALSE;
    listen_on (connections);
  }
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
  g_clear_object (&connection->outer);
  g_object_unref (connection->stream);
  g_object_unref (connection->remote);
  on_gone (connection, NULL);
}

/* One that waits for its handshake is gone at once; others notice the end of their socket. */
static void
end (Connection *connection)
{
  if (connection->stream != NULL && connection->tls == NULL) {
    drop (connection);
    return;
  }
  connection->ended = TRUE;
  g_socket_shutdown (connection->socket, TRUE, TRUE, NULL);
}

/* How many connections of @client have not been ended, or of these are in their handshake. */
static guint
count (const SlConnections *connections, const char *client, gboolean shaking)
{
  guint n = 0;
  for (const GList *link = connections->all.head; link != NULL; link = link->next) {
    const Connection *other = link->data;
    n += !other->ended && (!shaking || other->tls != NULL) && strcmp (other->client, client) == 0;
  }
  return n;
}

/* The oldest of the client that has most gives way to a new one. */
static void
make_room (SlConnections *connections)
{
  Connection *chosen = NULL;
  guint most = 0, all = 0;
  for (GList *link = connections->all.head; link != NULL; link = link->next) {
    Connection *connection = link->data;
    const guint n = connection->ended ? 0 : count (connections, connection->client, FALSE);
    chosen = n > most ? connection : chosen;
    most = MAX (n, most);
    all += connection->ended ? 0 : 1;
  }
  if (all >= connections->most)
    end (chosen);
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

static gboolean
is_welcome (SlConnections *connections, const char *method, gsize length)
{
  for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
    if (strlen (methods[i]) == length && memcmp (methods[i], method, length) == 0)
      return TRUE;
  return connections->strange++ < STRANGE_MOST;
}

/* A connection is libsoup's once its method is known. */
static gboolean
on_words (GObject *input, gpointer data)
{
  Connection *connection = data;
  g_autoptr (GError) error = NULL;
  const gssize n = g_pollable_input_stream_read_nonblocking (
    G_POLLABLE_INPUT_STREAM (input), connection->head + connection->heard,
    sizeof connection->head - connection->heard, NULL, &error);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
    return G_SOURCE_CONTINUE;
  connection->heard += n > 0 ? (gsize) n : 0;
  const char *blank = n > 0 ? memchr (connection->head, ' ', connection->heard) : NULL;
  if (n > 0 && blank == NULL && connection->heard < sizeof connection->head)
    return G_SOURCE_CONTINUE;
  if (blank != NULL
      && is_welcome (connection->connections, connection->head,
                     (gsize) (blank - connection->head))) {
    g_autoptr (GIOStream) outer = g_steal_pointer (&connection->outer);
    g_autoptr (GIOStream) again = sl_pushback_new (outer, connection->head, connection->heard);
    stop_waiting (connection);
    hand_over (connection, again);
  } else {
    drop (connection); /* its client is gone, too, or says no more */
  }
  return G_SOURCE_REMOVE;
}

/* @outer: (transfer full) */
static void
wait_for_method (Connection *connection, GIOStream *outer)
{
  GPollableInputStream *input = G_POLLABLE_INPUT_STREAM (g_io_stream_get_input_stream (outer));
  connection->outer = outer;
  connection->readable = g_pollable_input_stream_create_source (input, NULL);
  g_source_set_callback (connection->readable, G_SOURCE_FUNC (on_words), connection, NULL);
  g_source_attach (connection->readable, g_main_context_get_thread_default ());
}

static void begin_handshakes (SlConnections *connections);

static void
on_handshake (GObject *tls, GAsyncResult *result, gpointer data)
{
  Connection *connection = data;
  SlConnections *connections = connection->connections;
  g_autoptr (GIOStream) outer = g_steal_pointer (&connection->tls);
  connections->handshakes--;
  if (g_tls_connection_handshake_finish (G_TLS_CONNECTION (tls), result, NULL)
      && !connection->ended)
    wait_for_method (connection, g_steal_pointer (&outer));
  else
    drop (connection);
  begin_handshakes (connections);
}

/* The one whose handshake is next: it waits no more. */
static Connection *
next_handshake (SlConnections *connections)
{
  Connection *chosen = NULL;
  guint fewest = G_MAXUINT;
  for (GList *link = connections->spoken.head; link != NULL; link = link->next) {
    Connection *connection = link->data;
    const guint n = count (connections, connection->client, TRUE);
    chosen = n < fewest ? connection : chosen;
    fewest = MIN (n, fewest);
  }
  g_queue_remove (&connections->spoken, chosen);
  return chosen;
}

/* (nullable): with no database of certificates, since no client has to show one. By default GLib
 * reads all of the system's for each connection: 4 MB and 20 ms. */
static GIOStream *
new_tls (const Connection *connection)
{
  const GType type = g_tls_backend_get_server_connection_type (g_tls_backend_get_default ());
  return g_initable_new (type, NULL, NULL, "base-io-stream", connection->stream, "certificate",
                         connection->connections->certificate, "database", NULL, NULL);
}

static void
begin_handshakes (SlConnections *connections)
{
  while (connections->handshakes < MAX_HANDSHAKES && connections->spoken.length > 0) {
    Connection *connection = next_handshake (connections);
    connection->tls = new_tls (connection);
    if (connection->tls == NULL) {
      drop (connection);
      continue;
    }
    connections->handshakes++;
    connection->shaking = g_get_monotonic_time ();
    g_tls_connection_handshake_async (G_TLS_CONNECTION (connection->tls), G_PRIORITY_DEFAULT, NULL,
                                      on_handshake, connection);
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
  g_queue_push_head (&connections->spoken, connection);
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
  if (remote == NULL)
    return;
  make_room (connections);
  Connection *connection = g_new0 (Connection, 1);
  connection->connections = connections;
  connection->socket = g_object_ref (g_socket_connection_get_socket (stream));
  connection->remote = remote;
  connection->client = sl_connections_client (remote);
  connection->stream = g_object_ref (stream);
  connection->since = g_get_monotonic_time ();
  g_socket_set_option (connection->socket, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER, NULL);
  g_queue_push_tail (&connections->all, connection);
  if (connections->certificate != NULL)
    wait_for_words (connection);
  else
    wait_for_method (connection, g_object_ref (G_IO_STREAM (stream)));
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
  g_autoptr (GSocketConnection) stream =
    g_socket_listener_accept_finish (G_SOCKET_LISTENER (listener), result, NULL, &error);
  SlConnections *connections = data;
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* @connections may be gone */
  if (stream != NULL) {
    take (connections, stream);
    connections->waits = is_full (connections);
    if (!connections->waits)
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
  g_socket_listener_accept_async (connections->listener, connections->cancellable, on_arrival,
                                  connections);
}

SlConnections *
sl_connections_new (SoupServer *server, GSocketListener *listener, GTlsCertificate *certificate,
                    guint most)
{
  SlConnections *connections = g_new0 (SlConnections, 1);
  connections->server = server;
  connections->most = most > 0 ? most : SL_CONNECTIONS_MOST;
  connections->listener = g_object_ref (listener);
  connections->certificate = certificate != NULL ? g_object_ref (certificate) : NULL;
  connections->cancellable = g_cancellable_new ();
  g_queue_init (&connections->all);
  listen_on (connections);
  return connections;
}

void
sl_connections_set_certificate (SlConnections *connections, GTlsCertificate *certificate)
{
  g_set_object (&connections->certificate, certificate);
}

void
sl_connections_free (SlConnections *connections)
{
  connections->waits = FALSE;
  g_cancellable_cancel (connections->cancellable);
  g_socket_listener_close (connections->listener);
  if (connections->retry != NULL)
    g_source_destroy (connections->retry);
  g_clear_pointer (&connections->retry, g_source_unref);
  soup_server_disconnect (connections->server);
  for (GList *next, *link = connections->all.head; link != NULL; link = next) {
    next = link->next;
    end (link->data);
  }
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
  const gint64 handshake =
    connections->spoken.length > 0 ? HANDSHAKE_IMPATIENCE : HANDSHAKE_PATIENCE;
  for (GList *next, *link = connections->all.head; link != NULL; link = next) {
    Connection *connection = link->data;
    next = link->next;
    if (now - connection->since > SL_CONNECTION_PATIENCE * G_USEC_PER_SEC
        || (connection->tls != NULL && now - connection->shaking > handshake))
      end (connection);
  }
}

GSocket *
sl_connections_socket (SoupServerMessage *message)
{
  GSocketAddress *remote = soup_server_message_get_remote_address (message);
  const Connection *connection =
    remote != NULL ? g_object_get_qdata (G_OBJECT (remote), connection_quark ()) : NULL;
  return connection != NULL ? connection->socket : NULL;
}

GIOStream *
sl_connections_steal (SlConnections *connections, SoupServerMessage *message, GSocket **socket)
{
  GSocketAddress *remote = soup_server_message_get_remote_address (message);
  Connection *connection =
    remote != NULL ? g_object_get_qdata (G_OBJECT (remote), connection_quark ()) : NULL;
  if (connection == NULL)
    return NULL;
  *socket = g_object_ref (connection->socket);
  forget (connection);
  GIOStream *stream = soup_server_message_steal_connection (message);
  if (stream == NULL)
    g_clear_object (socket);
  return stream;
}
