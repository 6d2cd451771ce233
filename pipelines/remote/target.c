/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MQTT locations. */
#include <string.h>

#include <gio/gio.h>

#include "core/base/redact.h"
#include "pipelines/remote/mqtt.h"
#include "core/base/fail.h"

#define MQTT_PORT 1883
#define MQTTS_PORT 8883

gboolean
sl_mqtt_target_parse (SlMqttTarget *target, const SlMqttAccess *access, const char *example,
                      GError **error)
{
  const char *location = access->location;
  g_autoptr (GPtrArray) secrets = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *shown = sl_redact_uri (location, secrets);
  /* Braces are no part of URIs; they are what placeholders are written with. */
  g_autoptr (GUri) uri = g_uri_parse (
    location, G_URI_FLAGS_HAS_PASSWORD | G_URI_FLAGS_PARSE_RELAXED | G_URI_FLAGS_NON_DNS, NULL);
  const char *path = uri != NULL ? g_uri_get_path (uri) : "";
  const char *scheme = uri != NULL ? g_uri_get_scheme (uri) : "";
  /* What the parser has to say of a location quotes it. */
  if (secrets->len > 0
      && (uri == NULL || g_uri_get_fragment (uri) != NULL || g_uri_get_query (uri) != NULL))
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "location=%s: expected mqtt://[user[:password]@]host[:port]/topic, with %%23 for '#', %%2F "
      "for '/', %%3A for ':', %%3F for '?', %%40 for '@' and %%25 for '%%' in user and password; "
      "or take password= or password-file= for it",
      shown);
  if (uri == NULL || g_uri_get_host (uri) == NULL || *g_uri_get_host (uri) == '\0' || path[0] != '/'
      || path[1] == '\0' || (strcmp (scheme, "mqtt") != 0 && strcmp (scheme, "mqtts") != 0))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "location=%s: expected mqtt://[user[:password]@]host[:port]/topic, such as %s",
                    shown, example);
  if (g_uri_get_fragment (uri) != NULL || g_uri_get_query (uri) != NULL)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "location=%s: a topic to publish to has no \"#\" or \"?\" in it", shown);
  target->topic = g_strdup (path + 1);
  target->tls = strcmp (scheme, "mqtts") == 0;
  target->host = g_strdup (g_uri_get_host (uri));
  target->port = g_uri_get_port (uri) > 0 ? (guint) g_uri_get_port (uri)
                 : target->tls            ? MQTTS_PORT
                                          : MQTT_PORT;
  target->user = g_strdup (access->username != NULL ? access->username : g_uri_get_user (uri));
  target->password =
    g_strdup (access->password != NULL ? access->password : g_uri_get_password (uri));
  return TRUE;
}

void
sl_mqtt_target_clear (SlMqttTarget *target)
{
  g_clear_pointer (&target->host, g_free);
  g_clear_pointer (&target->user, g_free);
  g_clear_pointer (&target->password, g_free);
  g_clear_pointer (&target->topic, g_free);
}
