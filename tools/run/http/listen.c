/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options of the server, and whether other machines can reach an address. */
#include "tools/run/http/listen.h"

#include <string.h>

#include "core/base/fail.h"

void
sl_http_options_clear (SlHttpOptions *options)
{
  g_free (options->listen);
  g_free (options->password_file);
  g_free (options->certificate);
  g_free (options->private_key);
}

static gboolean
fail (GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  return sl_fail (error, SL_ERROR_ARGUMENT, "%s", message);
}

static void
override (char **setting, const char *option)
{
  if (option == NULL)
    return;
  g_free (*setting);
  *setting = g_strdup (option);
}

/* One way to say who may. */
static gboolean
check_who (const SlHttpSettings *settings, const char *origin, GError **error)
{
  if (settings->users != NULL && settings->password_file != NULL)
    return fail (error,
                 "%s: got a file of users and a password file: expected one of them, as users have "
                 "passwords of their own",
                 origin);
  if (settings->role != NULL && (settings->users != NULL || settings->password_file != NULL))
    return fail (error, "%s: got role=%s and %s: expected role only where nobody needs a password",
                 origin, settings->role,
                 settings->users != NULL ? "a file of users" : "a password file");
  g_autoptr (GInetAddressMask) mask =
    settings->proxy != NULL ? g_inet_address_mask_new_from_string (settings->proxy, NULL) : NULL;
  return settings->proxy == NULL || mask != NULL
         || fail (error,
                  "%s: proxy: expected an address, or a network such as 10.0.0.0/24, got '%s'",
                  origin, settings->proxy);
}

gboolean
sl_http_options_apply (const SlHttpOptions *options, const char *origin, SlHttpSettings *settings,
                       GError **error)
{
  override (&settings->listen, options->listen);
  override (&settings->password_file, options->password_file);
  override (&settings->certificate, options->certificate);
  override (&settings->private_key, options->private_key);
  if (settings->listen == NULL
      && (options->password_file != NULL || options->certificate != NULL
          || options->private_key != NULL))
    return fail (error, "--http-%s: expected --http ADDR:PORT with it, which says where to serve",
                 options->password_file != NULL ? "password-file"
                 : options->certificate != NULL ? "certificate"
                                                : "key");
  if (!check_who (settings, origin, error))
    return FALSE;
  if ((settings->certificate == NULL) != (settings->private_key == NULL))
    return fail (error, "%s: got a %s without a %s: expected both for HTTPS, or neither", origin,
                 settings->certificate != NULL ? "certificate" : "private key",
                 settings->certificate != NULL ? "private key" : "certificate");
  return TRUE;
}

GSocketAddress *
sl_http_address (const char *text, GError **error)
{
  const char *colon = strrchr (text, ':');
  guint64 port = 0;
  g_autofree char *host = colon != NULL ? g_strndup (text, (gsize) (colon - text)) : NULL;
  const gsize length = host != NULL ? strlen (host) : 0;
  const gboolean bracketed = length > 2 && host[0] == '[' && host[length - 1] == ']';
  if (bracketed) {
    memmove (host, host + 1, length - 2);
    host[length - 2] = '\0';
  }
  g_autoptr (GInetAddress) address = NULL;
  if (host != NULL && g_ascii_string_to_unsigned (colon + 1, 10, 0, 65535, &port, NULL))
    address = strcmp (host, "localhost") == 0 ? g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV4)
                                              : g_inet_address_new_from_string (host);
  if (address == NULL
      || (g_inet_address_get_family (address) == G_SOCKET_FAMILY_IPV6) != bracketed) {
    fail (error, "expected ADDR:PORT, such as 127.0.0.1:8080 or [::1]:8080, got '%s'", text);
    return NULL;
  }
  return g_inet_socket_address_new (address, (guint16) port);
}

gboolean
sl_http_options_check (const SlHttpOptions *options, GError **error)
{
  g_autoptr (GSocketAddress) address =
    options->listen != NULL ? sl_http_address (options->listen, error) : NULL;
  if (options->listen == NULL || address != NULL)
    return TRUE;
  g_prefix_error (error, "--http %s: ", options->listen);
  return FALSE;
}

gboolean
sl_http_check_reach (const SlHttpSettings *settings, GSocketAddress *address, GError **error)
{
  if (g_inet_address_get_is_loopback (
        g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (address)))
      || settings->password_file != NULL || settings->users != NULL
      || settings->certificate != NULL)
    return TRUE;
  return fail (
    error,
    "other machines reach %s: expected 127.0.0.1 or [::1], a password file (--http-password-file) "
    "or TLS (--http-certificate and --http-key); sightline serve also takes a key (--api-key-file)",
    settings->listen);
}
