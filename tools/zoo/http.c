/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Downloads by libsoup. A part file is continued by a request for a range; whether its first bytes
 * still are those of the server is for the caller's hash to say.
 */
#include "tools/zoo/http.h"

#include <errno.h>
#include <fcntl.h>
#include <libsoup/soup.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "core/base/fail.h"
#include "tools/interrupt.h"
#include "tools/progress.h"
#include "tools/zoo/proxy.h"
#include "tools/zoo/source.h"

#define TIMEOUT_S 30 /* without a byte */
#define MAX_HOPS 5
#define MAX_ATTEMPTS 4
#define PIECE 65536

/* One attempt. @at: bytes in the part file; @stays: the same request may be made again. */
typedef struct
{
  const SlZooDownload *download;
  SoupSession *session;
  int fd;
  guint64 at;
  gboolean stays;
} Attempt;

static SoupSession *
open_session (GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autofree char *authorities = sl_zoo_npm_setting ("cafile");
  g_autoptr (GTlsDatabase) database =
    authorities != NULL ? g_tls_file_database_new (authorities, &cause) : NULL;
  if (cause != NULL)
    return sl_fail_null (error, SL_ERROR_OPEN, "npm's setting cafile: %s: %s", authorities,
                         cause->message);
  SoupSession *session = soup_session_new_with_options ("timeout", TIMEOUT_S, "user-agent",
                                                        "sightline/" SL_VERSION, NULL);
  soup_session_remove_feature_by_type (session, SOUP_TYPE_CONTENT_DECODER);
  if (database != NULL)
    g_object_set (session, "tls-database", database, NULL);
  sl_zoo_proxy_use (session);
  return session;
}

/* What stopped a request, as one sentence. */
static gboolean
refuse_connection (const char *uri, const GError *cause, GError **error)
{
  if (g_error_matches (cause, G_TLS_ERROR, G_TLS_ERROR_UNAVAILABLE))
    return sl_fail (error, SL_ERROR_UNSUPPORTED,
                    "%s: no library for https is here: install glib-networking and ca-certificates",
                    uri);
  if (cause->domain == G_TLS_ERROR)
    return sl_fail (error, SL_ERROR_OPEN,
                    "%s: the server's certificate is not trusted: %s; state the certificates of a "
                    "proxy or mirror by npm_config_cafile",
                    uri, cause->message);
  if (cause->domain == G_IO_ERROR && cause->code >= G_IO_ERROR_PROXY_FAILED
      && cause->code <= G_IO_ERROR_PROXY_NOT_ALLOWED)
    return sl_fail (error, SL_ERROR_OPEN,
                    "%s: the proxy refused the connection: %s; correct https_proxy, or name the "
                    "host in no_proxy",
                    uri, cause->message);
  return sl_fail (error, SL_ERROR_OPEN,
                  "%s: no connection: %s; check the network and https_proxy, or set "
                  "SIGHTLINE_ZOO_MIRROR to a mirror or a folder",
                  uri, cause->message);
}

/* An answer without the file. One to https without a certificate is the proxy's. */
static gboolean
refuse_status (const char *uri, SoupMessage *message, GError **error)
{
  const guint status = soup_message_get_status (message);
  const char *reason = soup_message_get_reason_phrase (message);
  const gboolean by_proxy = status == SOUP_STATUS_PROXY_AUTHENTICATION_REQUIRED
                            || (g_str_has_prefix (uri, "https://")
                                && soup_message_get_tls_peer_certificate (message) == NULL);
  const char *what = status == SOUP_STATUS_PROXY_AUTHENTICATION_REQUIRED
                       ? "the proxy asks for a password; state it in https_proxy"
                     : by_proxy
                       ? "the proxy refused the connection; correct https_proxy, or name the host "
                         "in no_proxy"
                     : status == SOUP_STATUS_NOT_FOUND
                       ? "the server does not have this file; set SIGHTLINE_ZOO_MIRROR to one that "
                         "has it, or npm_config_registry"
                       : "try again later, or set SIGHTLINE_ZOO_MIRROR to another server";
  return sl_fail (error, SL_ERROR_OPEN, "%s: expected the file, got the status %u%s%s: %s", uri,
                  status, reason != NULL ? " " : "", reason != NULL ? reason : "", what);
}

/* (transfer full) (nullable): where @message sends on to; never from https to http. */
static char *
next_hop (SoupMessage *message, const char *uri, GError **error)
{
  const char *location =
    soup_message_headers_get_one (soup_message_get_response_headers (message), "Location");
  char *next =
    location != NULL ? g_uri_resolve_relative (uri, location, SOUP_HTTP_URI_FLAGS, NULL) : NULL;
  const gboolean is_secure = g_str_has_prefix (uri, "https://");
  if (next != NULL
      && (g_str_has_prefix (next, "https://")
          || (!is_secure && g_str_has_prefix (next, "http://"))))
    return next;
  sl_fail (error, SL_ERROR_OPEN, "%s: the server sends on to '%s': expected an https address", uri,
           next != NULL ? next : "nowhere");
  g_free (next);
  return NULL;
}

/* (transfer full) (nullable): the answer to a request for the bytes from @attempt->at on, behind
 * all redirections. */
static GInputStream *
request (const Attempt *attempt, SoupMessage **message, GError **error)
{
  g_autofree char *uri = g_strdup (attempt->download->uri);
  for (guint hop = 0; hop <= MAX_HOPS; hop++) {
    g_autoptr (GError) cause = NULL;
    g_autoptr (SoupMessage) asked = soup_message_new (SOUP_METHOD_GET, uri);
    if (asked == NULL)
      return sl_fail_null (error, SL_ERROR_ARGUMENT, "%s: not an address of a file", uri);
    soup_message_add_flags (asked, SOUP_MESSAGE_NO_REDIRECT);
    sl_zoo_proxy_watch (asked);
    if (attempt->at > 0)
      soup_message_headers_set_range (soup_message_get_request_headers (asked),
                                      (goffset) attempt->at, -1);
    g_autoptr (GInputStream) stream = soup_session_send (attempt->session, asked, NULL, &cause);
    if (stream == NULL) {
      refuse_connection (uri, cause, error);
      return NULL;
    }
    if (!SOUP_STATUS_IS_REDIRECTION (soup_message_get_status (asked))) {
      *message = g_steal_pointer (&asked);
      return g_steal_pointer (&stream);
    }
    char *next = next_hop (asked, uri, error);
    if (next == NULL)
      return NULL;
    g_free (uri);
    uri = next;
  }
  return sl_fail_null (error, SL_ERROR_OPEN, "%s: the servers send on more than %d times", uri,
                       MAX_HOPS);
}

static gboolean
restart (Attempt *attempt, GError **error)
{
  attempt->at = 0;
  if (ftruncate (attempt->fd, 0) == 0 && lseek (attempt->fd, 0, SEEK_SET) == 0)
    return TRUE;
  return sl_fail (error, SL_ERROR_OPEN, "%s: %s", attempt->download->part, g_strerror (errno));
}

static gboolean
refuse_size (Attempt *attempt, guint64 size, GError **error)
{
  const SlZooDownload *download = attempt->download;
  restart (attempt, NULL);
  return sl_fail (error, SL_ERROR_LIMIT,
                  "%s: the server sends %" G_GUINT64_FORMAT " bytes or more: expected at most "
                  "%" G_GUINT64_FORMAT "; it is another file than the table's",
                  download->uri, size, download->most);
}

static gboolean
write_bytes (Attempt *attempt, const char *bytes, gsize n, GError **error)
{
  const SlZooDownload *download = attempt->download;
  while (n > 0) {
    const gssize written = write (attempt->fd, bytes, n);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return sl_fail (error, SL_ERROR_OPEN,
                      "%s: cannot be written after %" G_GUINT64_FORMAT
                      " of up to %" G_GUINT64_FORMAT
                      " bytes: %s; make room and run the command again, it continues",
                      download->part, attempt->at, download->most, g_strerror (errno));
    bytes += written;
    n -= (gsize) written;
    attempt->at += (guint64) written;
  }
  return TRUE;
}

static gboolean
refuse_end (Attempt *attempt, const char *why, GError **error)
{
  attempt->stays = TRUE;
  return sl_fail (error, SL_ERROR_OPEN,
                  "%s: the download ended after %" G_GUINT64_FORMAT
                  " bytes: %s; run the command again, it continues",
                  attempt->download->uri, attempt->at, why);
}

/* The body into the part file. @all: bytes that it will have; 0 = the server does not say. */
static gboolean
receive (Attempt *attempt, GInputStream *stream, guint64 all, GError **error)
{
  const SlZooDownload *download = attempt->download;
  SlProgress progress;
  g_autofree char *piece = g_malloc (PIECE);
  sl_progress_start (&progress, download->name, "kB", all / 1000);
  gboolean good = TRUE;
  for (gssize n = 1; good && n != 0;) {
    g_autoptr (GError) cause = NULL;
    n = g_input_stream_read (stream, piece, PIECE, NULL, &cause);
    if (n < 0)
      good = refuse_end (attempt, cause->message, error);
    else if (sl_interrupted ())
      good = sl_fail (error, SL_ERROR_OPEN, "interrupted; run the command again, it continues");
    else if ((guint64) n > download->most - attempt->at)
      good = refuse_size (attempt, attempt->at + (guint64) n, error);
    else
      good = write_bytes (attempt, piece, (gsize) n, error);
    sl_progress_show (&progress, attempt->at / 1000);
  }
  sl_progress_hide ();
  if (good && all > 0 && attempt->at < all)
    return refuse_end (attempt, "the server closed the connection", error);
  return good;
}

/* By the answer's status: the file from the start, or the rest of it. */
static gboolean
run_attempt (Attempt *attempt, GError **error)
{
  const SlZooDownload *download = attempt->download;
  g_autoptr (SoupMessage) message = NULL;
  g_autoptr (GInputStream) stream = request (attempt, &message, error);
  goffset first = 0, last = 0, total = 0;
  attempt->stays = FALSE;
  if (stream == NULL)
    return FALSE;
  const guint status = soup_message_get_status (message);
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  const gboolean goes_on =
    status == SOUP_STATUS_PARTIAL_CONTENT
    && soup_message_headers_get_content_range (headers, &first, &last, &total)
    && (guint64) first == attempt->at;
  if (attempt->at > 0
      && (status == SOUP_STATUS_REQUESTED_RANGE_NOT_SATISFIABLE
          || (status == SOUP_STATUS_PARTIAL_CONTENT && !goes_on))) {
    attempt->stays = restart (attempt, error);
    return attempt->stays
           && sl_fail (error, SL_ERROR_OPEN, "%s: the server does not continue a download",
                       download->uri);
  }
  if (status != SOUP_STATUS_OK && !goes_on)
    return refuse_status (download->uri, message, error);
  if (!goes_on && !restart (attempt, error))
    return FALSE;
  const goffset length = soup_message_headers_get_content_length (headers);
  const guint64 all = length > 0 ? attempt->at + (guint64) length : 0;
  return all > download->most ? refuse_size (attempt, all, error)
                              : receive (attempt, stream, all, error);
}

gboolean
sl_zoo_download (const SlZooDownload *download, GError **error)
{
  g_autoptr (SoupSession) session = open_session (error);
  if (session == NULL)
    return FALSE;
  Attempt attempt = { .download = download, .session = session };
  attempt.fd = open (download->part, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  const off_t there = attempt.fd >= 0 ? lseek (attempt.fd, 0, SEEK_END) : -1;
  gboolean good = there >= 0
                  || sl_fail (error, SL_ERROR_OPEN, "%s: cannot be written: %s", download->part,
                              g_strerror (errno));
  attempt.at = good ? (guint64) there : 0;
  if (attempt.at > download->most) /* the row states fewer bytes than before */
    good = restart (&attempt, error);
  for (guint i = 0; good && i < MAX_ATTEMPTS; i++) {
    g_autoptr (GError) cause = NULL;
    const guint64 before = attempt.at;
    if (run_attempt (&attempt, &cause))
      break;
    /* Again while it gets on, or once from the start. */
    if (!attempt.stays || i + 1 == MAX_ATTEMPTS || attempt.at == before) {
      g_propagate_error (error, g_steal_pointer (&cause));
      good = FALSE;
    }
  }
  if (attempt.fd >= 0)
    close (attempt.fd);
  if (!good && attempt.at == 0)
    unlink (download->part);
  return good;
}
