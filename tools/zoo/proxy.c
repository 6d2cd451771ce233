/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passwords are not left in the proxies' addresses: libsoup, up to 3.2 at least, would send the
 * request that follows a proxy's question to the proxy's own address.
 */
#include "tools/zoo/proxy.h"

#include <string.h>

/* (nullable): @upper (nullable): the variable's other spelling. */
static const char *
stated (const char *lower, const char *upper)
{
  const char *text = g_getenv (lower);
  if ((text == NULL || *text == '\0') && upper != NULL)
    text = g_getenv (upper);
  return text != NULL && *text != '\0' ? text : NULL;
}

/* (nullable): the proxy for addresses of @scheme. HTTP_PROXY in capitals is for CGI scripts the
 * header "Proxy" of a request. */
static const char *
stated_for (const char *scheme)
{
  const char *own = strcmp (scheme, "https") == 0 ? stated ("https_proxy", "HTTPS_PROXY")
                                                  : stated ("http_proxy", NULL);
  return own != NULL ? own : stated ("all_proxy", "ALL_PROXY");
}

/* (nullable): "HOST:PORT" is the proxy http://HOST:PORT. */
static GUri *
parse_proxy (const char *text)
{
  g_autofree char *full =
    strstr (text, "://") != NULL ? g_strdup (text) : g_strconcat ("http://", text, NULL);
  return g_uri_parse (full, G_URI_FLAGS_HAS_PASSWORD, NULL);
}

static void
use_for (GSimpleProxyResolver *resolver, const char *scheme)
{
  const char *text = stated_for (scheme);
  g_autoptr (GUri) uri = text != NULL ? parse_proxy (text) : NULL;
  if (uri == NULL)
    return;
  g_autofree char *address =
    g_uri_join (G_URI_FLAGS_NONE, g_uri_get_scheme (uri), NULL, g_uri_get_host (uri),
                g_uri_get_port (uri), "", NULL, NULL);
  g_simple_proxy_resolver_set_uri_proxy (resolver, scheme, address);
}

void
sl_zoo_proxy_use (SoupSession *session)
{
  const char *none = stated ("no_proxy", "NO_PROXY");
  g_auto (GStrv) ignored = g_strsplit_set (none != NULL ? none : "", ", ", -1);
  if (stated_for ("https") == NULL && stated_for ("http") == NULL)
    return;
  g_autoptr (GProxyResolver) resolver = g_simple_proxy_resolver_new (NULL, ignored);
  use_for (G_SIMPLE_PROXY_RESOLVER (resolver), "https");
  use_for (G_SIMPLE_PROXY_RESOLVER (resolver), "http");
  g_object_set (session, "proxy-resolver", resolver, NULL);
}

static gboolean
on_authenticate (SoupMessage *message, SoupAuth *auth, gboolean retrying, gpointer data)
{
  const char *text = stated_for (g_uri_get_scheme (soup_message_get_uri (message)));
  g_autoptr (GUri) uri = text != NULL ? parse_proxy (text) : NULL;
  if (retrying || !soup_auth_is_for_proxy (auth) || uri == NULL || g_uri_get_user (uri) == NULL)
    return FALSE;
  const char *password = g_uri_get_password (uri);
  soup_auth_authenticate (auth, g_uri_get_user (uri), password != NULL ? password : "");
  return TRUE;
}

void
sl_zoo_proxy_watch (SoupMessage *message)
{
  g_signal_connect (message, "authenticate", G_CALLBACK (on_authenticate), NULL);
}
