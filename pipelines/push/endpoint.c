/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The special-purpose networks are those of IANA's registries (RFC 6890). */
#include "pipelines/push/endpoint.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/printable.h"

#define HTTPS_PORT 443
#define HTTP_PORT 80

/* All that is not the internet's: of IPv6 only 2000::/3 is, less some of it. */
static const char *const closed_networks[] = {
  "0.0.0.0/8",     "10.0.0.0/8",      "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16",
  "172.16.0.0/12", "192.0.0.0/24",    "192.0.2.0/24",   "192.88.99.0/24", "192.168.0.0/16",
  "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",    "2001::/23",
  "2001:db8::/32", "2002::/16",       "3fff::/20",
};

static gboolean
is_within (GInetAddress *address, const char *network)
{
  g_autoptr (GInetAddressMask) mask = g_inet_address_mask_new_from_string (network, NULL);
  return g_inet_address_mask_get_family (mask) == g_inet_address_get_family (address)
         && g_inet_address_mask_matches (mask, address);
}

gboolean
sl_push_address_is_public (GInetAddress *address)
{
  if (g_inet_address_get_family (address) == G_SOCKET_FAMILY_IPV6
      && !is_within (address, "2000::/3"))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (closed_networks); i++)
    if (is_within (address, closed_networks[i]))
      return FALSE;
  return TRUE;
}

static GUri *
parse (const char *endpoint)
{
  GUri *uri = g_uri_parse (endpoint, G_URI_FLAGS_ENCODED, NULL);
  if (uri != NULL && g_uri_get_host (uri) != NULL && *g_uri_get_host (uri) != '\0')
    return uri;
  g_clear_pointer (&uri, g_uri_unref);
  return NULL;
}

static gboolean
is_https (GUri *uri)
{
  return g_ascii_strcasecmp (g_uri_get_scheme (uri), "https") == 0;
}

static gint
port_of (GUri *uri)
{
  return g_uri_get_port (uri) > 0 ? g_uri_get_port (uri) : is_https (uri) ? HTTPS_PORT : HTTP_PORT;
}

static gboolean
is_listed (GUri *uri, const char *hosts)
{
  g_auto (GStrv) list = g_strsplit (hosts != NULL ? hosts : "", ",", -1);
  g_autofree char *with_port = g_strdup_printf ("%s:%d", g_uri_get_host (uri), port_of (uri));
  const char *plain = port_of (uri) == HTTPS_PORT ? g_uri_get_host (uri) : "";
  for (guint i = 0; list[i] != NULL; i++) {
    const char *host = g_strstrip (list[i]);
    if (*host != '\0'
        && (g_ascii_strcasecmp (host, with_port) == 0 || g_ascii_strcasecmp (host, plain) == 0))
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_plain (const char *text)
{
  for (; *text != '\0'; text++)
    if (!g_ascii_isgraph (*text))
      return FALSE;
  return TRUE;
}

/* HOST, HOST:PORT or an address of IPv6. */
static gboolean
is_host (const char *text)
{
  const char *colon = g_hostname_is_ip_address (text) ? NULL : strrchr (text, ':');
  const gsize length = colon != NULL ? (gsize) (colon - text) : strlen (text);
  guint64 port;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isalnum (text[i]) && strchr (".-_:", text[i]) == NULL)
      return FALSE;
  return length > 0
         && (colon == NULL || g_ascii_string_to_unsigned (colon + 1, 10, 1, 65535, &port, NULL));
}

static gboolean
check_hosts (const char *hosts, GError **error)
{
  g_auto (GStrv) list = g_strsplit (hosts, ",", -1);
  for (guint i = 0; list[i] != NULL; i++) {
    const char *host = g_strstrip (list[i]);
    if (is_host (host))
      continue;
    g_autofree char *shown = sl_printable (host, SL_PRINTABLE_LABEL);
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "hosts of [push]: expected HOST or HOST:PORT with ',' between, got '%s'",
                    shown);
  }
  return TRUE;
}

static gboolean
is_subject (const char *text)
{
  const char *at = strchr (text, '@');
  if (!is_plain (text))
    return FALSE;
  if (g_str_has_prefix (text, "mailto:"))
    return at != NULL && at > text + strlen ("mailto:") && at[1] != '\0';
  return g_str_has_prefix (text, "https://") && text[strlen ("https://")] != '\0';
}

gboolean
sl_push_settings_check (const char *key, const char *subject, const char *hosts, GError **error)
{
  const char *address = subject != NULL ? subject : "";
  if (key == NULL || *key == '\0')
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "key of [push] is not set: expected a PEM file with a key of the curve P-256");
  g_autofree char *shown = sl_printable (address, SL_PRINTABLE_LABEL);
  if (!is_subject (address))
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "subject of [push]: expected mailto: with an address, or https://HOST, got '%s'", shown);
  return hosts == NULL || *hosts == '\0' || check_hosts (hosts, error);
}

static gboolean
is_this_machine (const char *host)
{
  g_autoptr (GInetAddress) address = g_inet_address_new_from_string (host);
  return strcmp (host, "localhost") == 0
         || (address != NULL && g_inet_address_get_is_loopback (address));
}

gboolean
sl_push_endpoint_is_listed (const char *endpoint, const char *hosts)
{
  g_autoptr (GUri) uri = parse (endpoint);
  return uri != NULL && is_listed (uri, hosts);
}

char *
sl_push_endpoint_origin (const char *endpoint)
{
  g_autoptr (GUri) uri = parse (endpoint);
  if (uri == NULL)
    return NULL;
  const gint usual = is_https (uri) ? HTTPS_PORT : HTTP_PORT;
  return g_uri_join (G_URI_FLAGS_NONE, is_https (uri) ? "https" : "http", NULL,
                     g_uri_get_host (uri), port_of (uri) == usual ? -1 : port_of (uri), "", NULL,
                     NULL);
}

gboolean
sl_push_endpoint_check (const char *endpoint, const char *hosts, GError **error)
{
  const gsize length = strlen (endpoint);
  if (length > SL_PUSH_ENDPOINT_MOST)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "endpoint: expected at most %d bytes, got %" G_GSIZE_FORMAT,
                    SL_PUSH_ENDPOINT_MOST, length);
  g_autoptr (GUri) uri = is_plain (endpoint) ? parse (endpoint) : NULL;
  if (uri == NULL || g_uri_get_userinfo (uri) != NULL || g_uri_get_fragment (uri) != NULL)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "endpoint: expected https://HOST/PATH of a push service");
  const char *host = g_uri_get_host (uri);
  g_autofree char *shown = sl_printable (host, SL_PRINTABLE_LABEL);
  const gboolean listed = is_listed (uri, hosts);
  if (listed
      && (is_https (uri)
          || (g_ascii_strcasecmp (g_uri_get_scheme (uri), "http") == 0 && is_this_machine (host))))
    return TRUE;
  if (!is_https (uri))
    return sl_fail (error, SL_ERROR_ARGUMENT, "endpoint at %s: expected https", shown);
  if (port_of (uri) != HTTPS_PORT || strchr (host, '.') == NULL || g_hostname_is_ip_address (host))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "endpoint at %s: expected the name of a public host and port 443; hosts= of "
                    "[push] allows others",
                    shown);
  return TRUE;
}
