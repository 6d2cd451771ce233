/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths are those that need no escape in a URI and no quotes in a configuration of a recorder. */
#include "plugins/restream/place.h"

#include <gio/gio.h>

#include <string.h>

#include "core/base/fail.h"

#define PATH_MOST 128
#define EVERY "0.0.0.0"

/* (transfer full) (nullable) */
static char *
parse_address (char *host)
{
  const gsize length = strlen (host);
  const gboolean bracketed = length > 2 && host[0] == '[' && host[length - 1] == ']';
  if (length == 0)
    return g_strdup (EVERY);
  if (strcmp (host, "localhost") == 0)
    return g_strdup ("127.0.0.1");
  if (bracketed) {
    host[length - 1] = '\0';
    host++;
  }
  g_autoptr (GInetAddress) address = g_inet_address_new_from_string (host);
  return address != NULL
             && (g_inet_address_get_family (address) == G_SOCKET_FAMILY_IPV6) == bracketed
           ? g_inet_address_to_string (address)
           : NULL;
}

static gboolean
is_path (const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path + 1, "/", -1);
  for (guint i = 0; parts[i] != NULL; i++)
    if (parts[i][0] == '\0' || parts[i][0] == '.'
        || parts[i][strspn (parts[i], G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-")] != '\0')
      return FALSE;
  return parts[0] != NULL && strlen (path) <= PATH_MOST;
}

gboolean
sl_restream_place_parse (SlRestreamPlace *place, const char *text, GError **error)
{
  const char *slash = strchr (text, '/');
  g_autofree char *before =
    slash != NULL ? g_strndup (text, (gsize) (slash - text)) : g_strdup (text);
  char *colon = strrchr (before, ':');
  guint64 port = 0;
  if (colon != NULL && g_ascii_string_to_unsigned (colon + 1, 10, 0, 65535, &port, NULL)) {
    *colon = '\0';
    place->address = parse_address (before);
  }
  if (place->address == NULL || slash == NULL)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "rtsp=%s: expected ADDR:PORT/NAME with an address in numbers, such as :8554/door, "
      "127.0.0.1:8554/door or [::1]:8554/door",
      text);
  if (!is_path (slash))
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "rtsp=%s: expected a path of at most %d letters, digits, '.', '_' and '-', whose parts do "
      "not begin with '.', got '%s'",
      text, PATH_MOST, slash);
  place->port = (guint) port;
  place->path = g_strdup (slash);
  return TRUE;
}

gboolean
sl_restream_place_is_open (const SlRestreamPlace *place)
{
  g_autoptr (GInetAddress) address = g_inet_address_new_from_string (place->address);
  return place->user == NULL && !g_inet_address_get_is_loopback (address);
}

gboolean
sl_restream_place_check_user (const SlRestreamPlace *place, const char *user, const char *password,
                              guint port, GError **error)
{
  if (g_strcmp0 (user, place->user) == 0 && g_strcmp0 (password, place->password) == 0)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "rtsp: port %u has streams with another user or password; expected the same for all streams "
    "of a port",
    port);
}

gboolean
sl_restream_fail_taken (const char *path, guint port, GError **error)
{
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "rtsp: path %s of port %u belongs to another slrestream; expected another path",
                  path, port);
}

/* Whether @place has @path with @suffix behind it. */
static gboolean
has_path (const SlRestreamPlace *place, const char *path, const char *suffix)
{
  const gsize length = strlen (place->path);
  g_autofree char *whole = g_strconcat (path, suffix, NULL);
  return strcmp (whole, place->path) == 0
         || (place->camera && strncmp (whole, place->path, length) == 0
             && strcmp (whole + length, SL_RESTREAM_CAMERA) == 0);
}

/* Whether who listens on @address does so on @other, too: "::" has those of IPv4. */
static gboolean
covers (const char *address, const char *other)
{
  g_autoptr (GInetAddress) one = g_inet_address_new_from_string (address),
                           two = g_inet_address_new_from_string (other);
  return g_inet_address_get_is_any (one)
         && (g_inet_address_get_family (one) == G_SOCKET_FAMILY_IPV6
             || g_inet_address_get_family (two) == G_SOCKET_FAMILY_IPV4);
}

gboolean
sl_restream_place_meets (const SlRestreamPlace *place, const SlRestreamPlace *other, GError **error)
{
  if (place->port != other->port)
    return TRUE;
  if (strcmp (place->address, other->address) != 0)
    return place->port == 0
           || !(covers (place->address, other->address) || covers (other->address, place->address))
           || sl_fail (error, SL_ERROR_ARGUMENT,
                       "rtsp: nothing can listen on %s, port %u beside another slrestream on %s; "
                       "expected one address for all streams of a port",
                       place->address, place->port, other->address);
  if (!sl_restream_place_check_user (place, other->user, other->password, other->port, error))
    return FALSE;
  if (has_path (other, place->path, ""))
    return sl_restream_fail_taken (place->path, other->port, error);
  if (!place->camera || !has_path (other, place->path, SL_RESTREAM_CAMERA))
    return TRUE;
  g_autofree char *camera = g_strconcat (place->path, SL_RESTREAM_CAMERA, NULL);
  return sl_restream_fail_taken (camera, other->port, error);
}

void
sl_restream_place_clear (SlRestreamPlace *place)
{
  g_clear_pointer (&place->address, g_free);
  g_clear_pointer (&place->path, g_free);
  g_clear_pointer (&place->user, g_free);
  g_clear_pointer (&place->password, g_free);
}
