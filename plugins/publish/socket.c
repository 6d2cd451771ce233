/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Transport to a stream socket, UNIX or TCP: connects as a client and writes lines.
 *
 * TCP says nothing of what the peer's program read: a line counts as published when the system took
 * all of it. A line cut short by the end of a connection is sent whole on the next, so a reader
 * sees whole lines once and may see, at the end of a broken connection, part of one without its
 * newline.
 */
#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <poll.h>
#include <sys/un.h>
#include <string.h>

#include "core/base/redact.h"
#include "core/base/fail.h"
#include "plugins/publish/publisher.h"

#define DEFAULT_PORT 0
/* A peer that takes nothing for this long is taken for gone. */
#define STALL_SECONDS 10

typedef struct
{
  char *location; /* as it is shown */
  GSocketConnectable *address;
  GSocketClient *client;
  GSocketConnection *connection;
} Socket;

static void
socket_disconnect (gpointer state)
{
  Socket *self = state;
  g_clear_object (&self->connection);
}

static void
socket_close (gpointer state)
{
  Socket *self = state;
  socket_disconnect (self);
  g_clear_object (&self->address);
  g_clear_object (&self->client);
  g_free (self->location);
  g_free (self);
}

static GSocketConnectable *
parse_address (const char *location, GError **error)
{
  g_autofree char *shown = sl_redact_uri (location, NULL);
  if (g_str_has_prefix (location, "unix:")) {
    const char *path = location + strlen ("unix:");
    if (g_str_has_prefix (path, "//"))
      path += 2;
    if (*path == '/' && strlen (path) < sizeof (((struct sockaddr_un *) NULL)->sun_path))
      return G_SOCKET_CONNECTABLE (g_unix_socket_address_new (path));
    return sl_fail_null (
      error, SL_ERROR_ARGUMENT,
      "location=%s: expected unix:/path with an absolute path of at most 107 bytes", shown);
  }
  const char *host = location + strlen ("tcp://");
  GSocketConnectable *address = g_network_address_parse (host, DEFAULT_PORT, NULL);
  if (address != NULL && g_network_address_get_port (G_NETWORK_ADDRESS (address)) != DEFAULT_PORT
      && *g_network_address_get_hostname (G_NETWORK_ADDRESS (address)) != '\0')
    return address;
  g_clear_object (&address);
  return sl_fail_null (
    error, SL_ERROR_ARGUMENT,
    "location=%s: expected tcp://host:port with a port of 1 to 65535, such as tcp://localhost:9000",
    shown);
}

static gpointer
socket_open (const SlPublishSettings *settings, GError **error)
{
  GSocketConnectable *address = parse_address (settings->location, error);
  if (address == NULL)
    return NULL;
  Socket *self = g_new0 (Socket, 1);
  self->location = sl_redact_uri (settings->location, NULL);
  self->address = address;
  self->client = g_socket_client_new ();
  g_socket_client_set_timeout (self->client, STALL_SECONDS);
  g_socket_client_set_enable_proxy (self->client, FALSE);
  return self;
}

static gboolean
socket_connect (gpointer state, GCancellable *cancellable, GError **error)
{
  Socket *self = state;
  self->connection = g_socket_client_connect (self->client, self->address, cancellable, error);
  if (self->connection == NULL)
    return sl_fail_prefix (error, "%s: ", self->location);
  g_socket_set_keepalive (g_socket_connection_get_socket (self->connection), TRUE);
  return TRUE;
}

static gboolean
socket_send (gpointer state, const char *line, gsize bytes, GCancellable *cancellable,
             GError **error)
{
  Socket *self = state;
  GOutputStream *stream = g_io_stream_get_output_stream (G_IO_STREAM (self->connection));
  if (g_output_stream_write_all (stream, line, bytes, NULL, cancellable, error))
    return TRUE;
  return sl_fail_prefix (error, "%s: ", self->location);
}

/* What a peer says is read and thrown away; that it ended is the news. */
static gboolean
socket_idle (gpointer state, gint wake_fd, gint timeout_ms, GError **error)
{
  Socket *self = state;
  GSocket *plain = g_socket_connection_get_socket (self->connection);
  struct pollfd pollers[] = { { .fd = wake_fd, .events = POLLIN },
                              { .fd = g_socket_get_fd (plain), .events = POLLIN } };
  char ignored[512];
  if (poll (pollers, G_N_ELEMENTS (pollers), timeout_ms) <= 0 || pollers[1].revents == 0)
    return TRUE;
  const gssize got =
    g_socket_receive_with_blocking (plain, ignored, sizeof ignored, FALSE, NULL, error);
  if (got > 0)
    return TRUE;
  if (got == 0)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED,
                 "%s: the peer closed the connection", self->location);
  else
    g_prefix_error (error, "%s: ", self->location);
  return FALSE;
}

static const char *const socket_schemes[] = { "unix:", "tcp://", NULL };

const SlTransport sl_transport_socket = {
  .schemes = socket_schemes,
  .open = socket_open,
  .connect = socket_connect,
  .send = socket_send,
  .idle = socket_idle,
  .disconnect = socket_disconnect,
  .close = socket_close,
};
