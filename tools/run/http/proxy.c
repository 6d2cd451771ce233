/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each proxy appends the address that it sees to X-Forwarded-For. So the last one that is no proxy
 * of ours is the client; what is before it was the client's to write.
 */
#include "tools/run/http/proxy.h"

#include <string.h>

/* Addresses of a chain that are looked at. */
#define CHAIN_MOST 32

struct _SlProxy
{
  GInetAddressMask *mask; /* (nullable) */
};

typedef struct
{
  GInetAddress *client; /* (nullable) */
  char *host;           /* (nullable): HOST[:PORT] */
  char *scheme;         /* (nullable): "http" or "https" */
} Forwarded;

static GQuark
forwarded_quark (void)
{
  return g_quark_from_static_string ("sl-forwarded");
}

static void
forwarded_free (gpointer data)
{
  Forwarded *forwarded = data;
  g_clear_object (&forwarded->client);
  g_free (forwarded->host);
  g_free (forwarded->scheme);
  g_free (forwarded);
}

static const Forwarded *
forwarded_of (SoupServerMessage *message)
{
  return g_object_get_qdata (G_OBJECT (message), forwarded_quark ());
}

SlProxy *
sl_proxy_new (const char *mask)
{
  SlProxy *proxy = g_new0 (SlProxy, 1);
  proxy->mask = mask != NULL ? g_inet_address_mask_new_from_string (mask, NULL) : NULL;
  return proxy;
}

void
sl_proxy_free (SlProxy *proxy)
{
  g_clear_object (&proxy->mask);
  g_free (proxy);
}

/* (transfer none) (nullable) */
static GInetAddress *
remote_of (SoupServerMessage *message)
{
  GSocketAddress *address = soup_server_message_get_remote_address (message);
  return G_IS_INET_SOCKET_ADDRESS (address)
           ? g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (address))
           : NULL;
}

/* (transfer full) (nullable): the last value of the list in the header @name, which the nearest
 * proxy wrote. */
static char *
last_value (SoupServerMessage *message, const char *name)
{
  const char *list =
    soup_message_headers_get_list (soup_server_message_get_request_headers (message), name);
  const char *comma = list != NULL ? strrchr (list, ',') : NULL;
  return list != NULL ? g_strstrip (g_strdup (comma != NULL ? comma + 1 : list)) : NULL;
}

/* (transfer full) (nullable): the last address of the chain that is no proxy's. */
static GInetAddress *
find_client (const SlProxy *proxy, SoupServerMessage *message)
{
  const char *list = soup_message_headers_get_list (
    soup_server_message_get_request_headers (message), "X-Forwarded-For");
  g_auto (GStrv) chain = g_strsplit (list != NULL ? list : "", ",", -1);
  const guint n = g_strv_length (chain);
  for (guint i = n; i > 0 && n - i < CHAIN_MOST; i--) {
    g_autoptr (GInetAddress) address = g_inet_address_new_from_string (g_strstrip (chain[i - 1]));
    if (address == NULL)
      return NULL;
    if (!g_inet_address_mask_matches (proxy->mask, address))
      return g_steal_pointer (&address);
  }
  return NULL;
}

void
sl_proxy_read (const SlProxy *proxy, SoupServerMessage *message)
{
  GInetAddress *remote = remote_of (message);
  if (proxy->mask == NULL || remote == NULL || !g_inet_address_mask_matches (proxy->mask, remote))
    return;
  Forwarded *forwarded = g_new0 (Forwarded, 1);
  forwarded->client = find_client (proxy, message);
  forwarded->host = last_value (message, "X-Forwarded-Host");
  forwarded->scheme = last_value (message, "X-Forwarded-Proto");
  g_object_set_qdata_full (G_OBJECT (message), forwarded_quark (), forwarded, forwarded_free);
}

GInetAddress *
sl_proxy_client (SoupServerMessage *message)
{
  const Forwarded *forwarded = forwarded_of (message);
  GInetAddress *address =
    forwarded != NULL && forwarded->client != NULL ? forwarded->client : remote_of (message);
  return address != NULL ? g_object_ref (address) : NULL;
}

gboolean
sl_proxy_is_secure (SoupServerMessage *message, gboolean here)
{
  const Forwarded *forwarded = forwarded_of (message);
  return forwarded != NULL && forwarded->scheme != NULL
           ? g_ascii_strcasecmp (forwarded->scheme, "https") == 0
           : here;
}

/* Of a scheme, where an address states none. */
static int
port_of (GUri *uri)
{
  const int port = g_uri_get_port (uri);
  return port > 0 ? port : g_ascii_strcasecmp (g_uri_get_scheme (uri), "https") == 0 ? 443 : 80;
}

gboolean
sl_proxy_is_own (SoupServerMessage *message, const char *origin)
{
  const Forwarded *forwarded = forwarded_of (message);
  g_autoptr (GUri) there = g_uri_parse (origin, G_URI_FLAGS_NONE, NULL), outside = NULL;
  GUri *here = soup_server_message_get_uri (message);
  if (forwarded != NULL && (forwarded->host != NULL || forwarded->scheme != NULL)) {
    const char *host =
      soup_message_headers_get_one (soup_server_message_get_request_headers (message), "Host");
    g_autofree char *text = g_strdup_printf (
      "%s://%s/", forwarded->scheme != NULL ? forwarded->scheme : g_uri_get_scheme (here),
      forwarded->host != NULL ? forwarded->host
      : host != NULL          ? host
                              : "");
    outside = g_uri_parse (text, G_URI_FLAGS_NONE, NULL);
    if (outside == NULL)
      return FALSE;
    here = outside;
  }
  return there != NULL && g_uri_get_host (there) != NULL && g_uri_get_host (here) != NULL
         && g_ascii_strcasecmp (g_uri_get_host (there), g_uri_get_host (here)) == 0
         && port_of (there) == port_of (here);
}
