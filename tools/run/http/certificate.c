/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two files change one after the other: they are read once they have been the same for a while.
 * GIO takes a key that belongs to another certificate, and only the handshakes fail. So one is
 * tried over a pair of sockets before a pair of files is used.
 */
#include "tools/run/http/certificate.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"

/* Seconds that an end of the trial waits for the other. */
#define TRIAL_SECONDS 5

/* What tells a file from the one before it. */
typedef struct
{
  guint64 inode;
  gint64 size, seconds, nanoseconds;
} Mark;

struct _SlCertificate
{
  const char *paths[2]; /* certificate, private key */
  Mark loaded[2], seen[2];
  GTlsCertificate *tls;
};

static void
look (const SlCertificate *certificate, Mark marks[2])
{
  memset (marks, 0, 2 * sizeof *marks);
  for (guint i = 0; i < 2; i++) {
    struct stat about;
    if (stat (certificate->paths[i], &about) == 0)
      marks[i] = (Mark){ about.st_ino, about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec };
  }
}

static gboolean
is_same (const Mark one[2], const Mark other[2])
{
  return memcmp (one, other, 2 * sizeof *one) == 0;
}

/* (transfer full) (nullable) */
static GIOStream *
open_end (int socket, GError **error)
{
  g_autoptr (GSocket) end = g_socket_new_from_fd (socket, error);
  if (end == NULL) {
    close (socket);
    return NULL;
  }
  g_socket_set_timeout (end, TRIAL_SECONDS);
  return G_IO_STREAM (g_socket_connection_factory_create_connection (end));
}

static gboolean
accept_any (GTlsConnection *client, GTlsCertificate *certificate, GTlsCertificateFlags flaws,
            gpointer data)
{
  return TRUE;
}

/* The other end waits no longer for one that has failed. */
static gboolean
shake (GTlsConnection *end, GError **error)
{
  g_autoptr (GIOStream) base = NULL;
  if (g_tls_connection_handshake (end, NULL, error))
    return TRUE;
  g_object_get (end, "base-io-stream", &base, NULL);
  g_io_stream_close (base, NULL, NULL);
  return FALSE;
}

/* The thread of the client. (transfer full) (nullable): GError */
static gpointer
shake_client (gpointer client)
{
  GError *error = NULL;
  shake (client, &error);
  return error;
}

/* With no database of certificates, as for the connections of the server. */
static gboolean
shake_hands (GIOStream *one, GIOStream *other, GTlsCertificate *tls, GError **error)
{
  GTlsBackend *backend = g_tls_backend_get_default ();
  g_autoptr (GIOStream) server =
    g_initable_new (g_tls_backend_get_server_connection_type (backend), NULL, error,
                    "base-io-stream", one, "certificate", tls, "database", NULL, NULL);
  g_autoptr (GIOStream) client =
    server == NULL ? NULL
                   : g_initable_new (g_tls_backend_get_client_connection_type (backend), NULL,
                                     error, "base-io-stream", other, "database", NULL, NULL);
  if (client == NULL)
    return FALSE;
  g_signal_connect (client, "accept-certificate", G_CALLBACK (accept_any), NULL);
  GThread *thread = g_thread_new ("sl-trial", shake_client, client);
  const gboolean shaken = shake (G_TLS_CONNECTION (server), error);
  GError *reason = g_thread_join (thread);
  if (reason == NULL)
    return shaken;
  g_clear_error (error);
  g_propagate_error (error, reason);
  return FALSE;
}

/* Whether clients that trust everybody get a connection. */
static gboolean
is_pair (GTlsCertificate *tls, GError **error)
{
  int sockets[2];
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return sl_fail (error, SL_ERROR_OPEN, "no sockets: %s", g_strerror (errno));
  g_autoptr (GIOStream) one = open_end (sockets[0], error);
  g_autoptr (GIOStream) other = open_end (sockets[1], one != NULL ? error : NULL);
  return one != NULL && other != NULL && shake_hands (one, other, tls, error);
}

static gboolean
load (SlCertificate *certificate, GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autoptr (GTlsCertificate) tls =
    g_tls_certificate_new_from_files (certificate->paths[0], certificate->paths[1], &reason);
  if (tls == NULL)
    return sl_fail (error, SL_ERROR_OPEN,
                    "certificate %s with the private key %s: %s; expected PEM files%s",
                    certificate->paths[0], certificate->paths[1], reason->message,
                    g_tls_backend_supports_tls (g_tls_backend_get_default ())
                      ? ""
                      : ", and GIO's TLS (Debian: glib-networking)");
  if (!is_pair (tls, &reason))
    return sl_fail (error, SL_ERROR_OPEN,
                    "certificate %s with the private key %s: the key does not belong to the "
                    "certificate; expected a pair (%s)",
                    certificate->paths[0], certificate->paths[1], reason->message);
  g_set_object (&certificate->tls, tls);
  return TRUE;
}

SlCertificate *
sl_certificate_new (const char *path, const char *private_key, GError **error)
{
  SlCertificate *certificate = g_new0 (SlCertificate, 1);
  certificate->paths[0] = path;
  certificate->paths[1] = private_key;
  look (certificate, certificate->loaded);
  memcpy (certificate->seen, certificate->loaded, sizeof certificate->seen);
  if (load (certificate, error))
    return certificate;
  sl_certificate_free (certificate);
  return NULL;
}

void
sl_certificate_free (SlCertificate *certificate)
{
  g_clear_object (&certificate->tls);
  g_free (certificate);
}

GTlsCertificate *
sl_certificate_tls (const SlCertificate *certificate)
{
  return certificate->tls;
}

gboolean
sl_certificate_refresh (SlCertificate *certificate, GError **error)
{
  Mark now[2];
  look (certificate, now);
  const gboolean settled = is_same (now, certificate->seen);
  memcpy (certificate->seen, now, sizeof now);
  if (!settled || is_same (now, certificate->loaded))
    return FALSE;
  memcpy (certificate->loaded, now, sizeof now);
  return load (certificate, error);
}
