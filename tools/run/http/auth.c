/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passwords are compared by their SHA-256, in the same time whatever they are. Without a password a
 * server that only this machine reaches answers to addresses and to localhost alone: a page from
 * elsewhere whose name is made to lead here has another name.
 */
#include "tools/run/http/auth.h"

#include <string.h>

#include "tools/run/http/proxy.h"

#define DIGEST 32

struct _SlAuth
{
  gboolean guarded, local;
  guint8 digest[DIGEST];
};

static void
digest (const char *text, gsize length, guint8 result[DIGEST])
{
  gsize size = DIGEST;
  GChecksum *checksum = g_checksum_new (G_CHECKSUM_SHA256);
  g_checksum_update (checksum, (const guchar *) text, (gssize) length);
  g_checksum_get_digest (checksum, result, &size);
  g_checksum_free (checksum);
}

SlAuth *
sl_auth_new (const char *password, gboolean local)
{
  SlAuth *auth = g_new0 (SlAuth, 1);
  auth->guarded = password != NULL;
  auth->local = local;
  if (password != NULL)
    digest (password, strlen (password), auth->digest);
  return auth;
}

void
sl_auth_free (SlAuth *auth)
{
  g_free (auth);
}

gboolean
sl_auth_is_key (const SlAuth *auth, const char *text, gsize length)
{
  guint8 got[DIGEST];
  guint8 difference = 0;
  digest (text, length, got);
  for (guint i = 0; i < DIGEST; i++)
    difference |= got[i] ^ auth->digest[i];
  return difference == 0;
}

/* RFC 7617's "Basic" with any user name, and RFC 6750's "Bearer". */
static gboolean
knows_password (const SlAuth *auth, const char *authorization)
{
  gsize length;
  if (authorization == NULL)
    return FALSE;
  if (g_ascii_strncasecmp (authorization, "Bearer ", 7) == 0)
    return sl_auth_is_key (auth, authorization + 7, strlen (authorization + 7));
  if (g_ascii_strncasecmp (authorization, "Basic ", 6) != 0)
    return FALSE;
  g_autofree guchar *decoded = g_base64_decode (authorization + 6, &length);
  const guchar *colon = decoded != NULL ? memchr (decoded, ':', length) : NULL;
  return colon != NULL
         && sl_auth_is_key (auth, (const char *) colon + 1, length - (gsize) (colon + 1 - decoded));
}

static gboolean
is_local_name (const char *host)
{
  return host != NULL
         && (g_ascii_strcasecmp (host, "localhost") == 0 || g_hostname_is_ip_address (host));
}

gboolean
sl_auth_is_guarded (const SlAuth *auth)
{
  return auth->guarded;
}

gboolean
sl_auth_is_told (const SlAuth *auth, SoupServerMessage *message)
{
  return auth->guarded
         && soup_message_headers_get_one (soup_server_message_get_request_headers (message),
                                          "Authorization")
              != NULL;
}

/* Browsers state the origin of each POST. A page from elsewhere may send one here without asking,
 * though it cannot read the answer. */
static gboolean
is_foreign (SoupServerMessage *message)
{
  const char *origin =
    soup_message_headers_get_one (soup_server_message_get_request_headers (message), "Origin");
  return origin != NULL && !sl_proxy_is_own (message, origin);
}

/* (nullable): why @method is not answered. */
static const char *
check_method (SoupServerMessage *message, guint allows)
{
  const char *method = soup_server_message_get_method (message);
  if (method == SOUP_METHOD_GET || method == SOUP_METHOD_HEAD)
    return NULL;
  if ((allows & SL_AUTH_METHODS) == 0
      && ((allows & SL_AUTH_POSTS) == 0 || method != SOUP_METHOD_POST)) {
    soup_message_headers_replace (soup_server_message_get_response_headers (message), "Allow",
                                  "GET, HEAD");
    soup_server_message_set_status (message, SOUP_STATUS_METHOD_NOT_ALLOWED, NULL);
    return "expected GET or HEAD: nothing can be changed here";
  }
  if (!is_foreign (message))
    return NULL;
  soup_server_message_set_status (message, SOUP_STATUS_FORBIDDEN, NULL);
  return "a page of another origin sends this: expected a program, or a page of this server";
}

void
sl_auth_challenge (SoupServerMessage *message)
{
  soup_message_headers_replace (soup_server_message_get_response_headers (message),
                                "WWW-Authenticate", "Basic realm=\"sightline\", charset=\"UTF-8\"");
}

gboolean
sl_auth_knows (const SlAuth *auth, SoupServerMessage *message)
{
  return auth->guarded
         && knows_password (
           auth, soup_message_headers_get_one (soup_server_message_get_request_headers (message),
                                               "Authorization"));
}

const char *
sl_auth_check (const SlAuth *auth, SoupServerMessage *message, guint allows)
{
  const char *why = check_method (message, allows);
  if (why != NULL)
    return why;
  if (auth->guarded && (allows & SL_AUTH_STRANGERS) == 0 && !sl_auth_knows (auth, message)) {
    sl_auth_challenge (message);
    soup_server_message_set_status (message, SOUP_STATUS_UNAUTHORIZED, NULL);
    return "expected the password, with any user name, or as a bearer token";
  }
  if (!auth->guarded && auth->local
      && !is_local_name (g_uri_get_host (soup_server_message_get_uri (message)))) {
    soup_server_message_set_status (message, SOUP_STATUS_FORBIDDEN, NULL);
    return "expected an address in numbers or localhost as the host: without a password other "
           "names are not answered to";
  }
  return NULL;
}
