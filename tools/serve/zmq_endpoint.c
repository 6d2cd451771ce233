/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/serve/zmq_endpoint.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "core/base/fail.h"
#include "core/base/prefix.h"

/* Connections that wait until they are accepted. */
#define BACKLOG 128

typedef union
{
  struct sockaddr any;
  struct sockaddr_un file;
  struct sockaddr_storage storage;
} Address;

const char *
sl_zmq_endpoint_path (const char *endpoint)
{
  return sl_has_prefix (endpoint, "ipc:///") ? endpoint + strlen ("ipc://") : NULL;
}

gboolean
sl_zmq_endpoint_check (const char *endpoint, GError **error)
{
  const char *colon = strrchr (endpoint, ':');
  guint64 port;
  if (sl_zmq_endpoint_path (endpoint) != NULL
      || (sl_has_prefix (endpoint, "tcp://") && colon > endpoint + strlen ("tcp:")
          && g_ascii_string_to_unsigned (colon + 1, 10, 1, G_MAXUINT16, &port, NULL)))
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "--zmq %s: expected ipc:///PATH or tcp://ADDRESS:PORT with a port of 1..65535, "
                  "such as ipc:///run/sightline/detector",
                  endpoint);
}

/* FALSE where a program may use the socket @address, or the file is something else, which must not
 * be deleted. */
static gboolean
check_path (const char *endpoint, const char *path, const Address *address, GError **error)
{
  struct stat info;
  g_autofree char *folder = g_path_get_dirname (path);
  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    return sl_fail (error, SL_ERROR_OPEN, "--zmq %s: no such folder %s: make it first", endpoint,
                    folder);
  if (lstat (path, &info) != 0)
    return TRUE;
  if (!S_ISSOCK (info.st_mode))
    return sl_fail (error, SL_ERROR_OPEN,
                    "--zmq %s: expected a socket or nothing there, got a %s: take another path",
                    endpoint, S_ISDIR (info.st_mode) ? "folder" : "file");
  const int client = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int failure =
    client < 0 || connect (client, &address->any, sizeof address->file) != 0 ? errno : 0;
  if (client >= 0)
    close (client);
  if (failure == ECONNREFUSED)
    return TRUE;
  if (failure == 0 || failure == EAGAIN) /* EAGAIN: others wait for it */
    return sl_fail (error, SL_ERROR_OPEN,
                    "--zmq %s: another program listens there already: stop it, or take another "
                    "address",
                    endpoint);
  return sl_fail (error, SL_ERROR_OPEN,
                  "--zmq %s: a socket is there, and whether a program uses it is unknown: %s: take "
                  "another path, or delete it",
                  endpoint, g_strerror (failure));
}

static gboolean
file_address (const char *endpoint, const char *path, Address *address, socklen_t *length,
              GError **error)
{
  address->file = (struct sockaddr_un){ .sun_family = AF_UNIX };
  *length = sizeof address->file;
  if (strlen (path) >= sizeof address->file.sun_path)
    return sl_fail (error, SL_ERROR_ARGUMENT, "--zmq %s: expected a path of at most %d bytes",
                    endpoint, (int) sizeof address->file.sun_path - 1);
  memcpy (address->file.sun_path, path, strlen (path));
  if (!check_path (endpoint, path, address, error))
    return FALSE;
  g_unlink (path);
  return TRUE;
}

/* The address of the interface @name, of IPv4 if it has one, with @port. */
static gboolean
interface_address (const char *name, const char *port, struct addrinfo *hints,
                   struct addrinfo **found)
{
  char host[NI_MAXHOST];
  struct ifaddrs *interfaces = NULL;
  gboolean good = FALSE;
  if (getifaddrs (&interfaces) != 0)
    return FALSE;
  for (guint i = 0; i < 2 && !good; i++)
    for (const struct ifaddrs *at = interfaces; at != NULL && !good; at = at->ifa_next)
      good = strcmp (at->ifa_name, name) == 0 && at->ifa_addr != NULL
             && at->ifa_addr->sa_family == (i == 0 ? AF_INET : AF_INET6)
             && getnameinfo (at->ifa_addr,
                             i == 0 ? sizeof (struct sockaddr_in) : sizeof (struct sockaddr_in6),
                             host, sizeof host, NULL, 0, NI_NUMERICHOST)
                  == 0
             && getaddrinfo (host, port, hints, found) == 0;
  freeifaddrs (interfaces);
  return good;
}

static gboolean
tcp_address (const char *endpoint, Address *address, socklen_t *length, GError **error)
{
  const char *text = endpoint + strlen ("tcp://"), *colon = strrchr (text, ':');
  g_autofree char *host = g_strndup (text, (gsize) (colon - text));
  const gsize n = strlen (host);
  struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                            .ai_socktype = SOCK_STREAM },
                  *found = NULL;
  if (host[0] == '[' && host[n - 1] == ']') {
    hints.ai_family = AF_INET6;
    memmove (host, host + 1, n - 2);
    host[n - 2] = '\0';
  }
  const char *name = strcmp (host, "*") == 0 ? "0.0.0.0" : host;
  if (getaddrinfo (name, colon + 1, &hints, &found) != 0
      && !interface_address (name, colon + 1, &hints, &found))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "--zmq %s: expected an address in numbers, with [] around one of IPv6, the "
                    "name of a network interface, or *, got %s",
                    endpoint, host);
  memcpy (address, found->ai_addr, found->ai_addrlen);
  *length = found->ai_addrlen;
  freeaddrinfo (found);
  return TRUE;
}

int
sl_zmq_endpoint_listen (const char *endpoint, GError **error)
{
  Address address;
  socklen_t length = 0;
  const int yes = 1;
  const char *path = sl_zmq_endpoint_path (endpoint);
  if (path != NULL ? !file_address (endpoint, path, &address, &length, error)
                   : !tcp_address (endpoint, &address, &length, error))
    return -1;
  const int listener =
    socket (address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener >= 0 && setsockopt (listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0
      && bind (listener, &address.any, length) == 0 && listen (listener, BACKLOG) == 0)
    return listener;
  sl_fail (error, SL_ERROR_OPEN, "--zmq %s: %s%s", endpoint, g_strerror (errno),
           errno == EADDRNOTAVAIL ? ": take an address of this machine"
           : errno == EADDRINUSE  ? ": stop the other program, or take another port"
                                  : "");
  if (listener >= 0)
    close (listener);
  return -1;
}
