/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kafka locations, topics and keys. A location names several brokers, which no URI does, so its
 * parts are found here: user and password end at the last '@' before the first '/'.
 */
#include "plugins/publish/kafka_location.h"

#include <string.h>

#include "core/base/redact.h"
#include "core/base/printable.h"
#include "plugins/publish/topic.h"
#include "core/base/fail.h"

#define KAFKA_PORT 9092
/* What brokers take as a name. */
#define MAX_TOPIC 249
#define FORM "kafka[s]://[user[:password]@]host[:port][,host[:port]...]/topic"

static gboolean
fits_topic (gunichar c)
{
  return c < 128 && (g_ascii_isalnum ((char) c) || c == '.' || c == '_' || c == '-');
}

static gboolean
fits_key (gunichar c)
{
  return sl_is_plain (c);
}

/* "host:port" of one broker, brackets around an address of IPv6. */
static gboolean
append_broker (GString *brokers, const char *text)
{
  g_autoptr (GSocketConnectable) address =
    *text != '\0' ? g_network_address_parse (text, KAFKA_PORT, NULL) : NULL;
  if (address == NULL)
    return FALSE;
  const char *host = g_network_address_get_hostname (G_NETWORK_ADDRESS (address));
  const guint port = g_network_address_get_port (G_NETWORK_ADDRESS (address));
  const gboolean v6 = strchr (host, ':') != NULL;
  if (*host == '\0' || port == 0 || strpbrk (host, " \t{}") != NULL)
    return FALSE;
  g_string_append_printf (brokers, "%s%s%s%s:%u", brokers->len > 0 ? "," : "", v6 ? "[" : "", host,
                          v6 ? "]" : "", port);
  return TRUE;
}

static gboolean
set_brokers (SlKafkaLocation *self, const char *list)
{
  g_auto (GStrv) each = g_strsplit (list, ",", -1);
  g_autoptr (GString) brokers = g_string_new (NULL);
  for (guint i = 0; each[i] != NULL; i++)
    if (!append_broker (brokers, each[i]))
      return FALSE;
  self->brokers = g_string_free (g_steal_pointer (&brokers), FALSE);
  return *self->brokers != '\0';
}

/* @text: user[:password]. FALSE: a '%' that is no escape. */
static gboolean
set_user (SlKafkaLocation *self, const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", 2);
  self->user = parts[0] != NULL ? g_uri_unescape_string (parts[0], NULL) : NULL;
  const gboolean has_password = parts[0] != NULL && parts[1] != NULL;
  self->password = has_password ? g_uri_unescape_string (parts[1], NULL) : NULL;
  return self->user != NULL && (!has_password || self->password != NULL);
}

/* @rest: what is behind the scheme. */
static gboolean
split (SlKafkaLocation *self, const char *rest, char **topic)
{
  const char *slash = strchr (rest, '/');
  if (slash == NULL || slash[1] == '\0')
    return FALSE;
  g_autofree char *authority = g_strndup (rest, (gsize) (slash - rest));
  char *at = strrchr (authority, '@');
  if (at != NULL)
    *at = '\0';
  *topic = g_strdup (slash + 1);
  return (at == NULL || set_user (self, authority))
         && set_brokers (self, at != NULL ? at + 1 : authority);
}

static gboolean
set_topic (SlKafkaLocation *self, const char *template, const char *shown,
           const SlPublishSettings *settings, GError **error)
{
  const char *bad = NULL;
  self->topic = sl_template_expand (template, settings, fits_topic, "}", &bad);
  for (const char *c = self->topic; bad == NULL && *c != '\0'; c++)
    if (!fits_topic ((guchar) *c))
      bad = c;
  if (bad == NULL && strlen (self->topic) <= MAX_TOPIC && strcmp (self->topic, ".") != 0
      && strcmp (self->topic, "..") != 0)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "location=%s: expected a topic of 1 to %d letters, digits, '.', '_' and '-', with {host}, "
    "{element} or {source} in it",
    shown, MAX_TOPIC);
}

static gboolean
set_key (SlKafkaLocation *self, const SlPublishSettings *settings, GError **error)
{
  const char *template = settings->message_key;
  const char *bad = NULL;
  if (template == NULL)
    template = settings->source != NULL ? "{source}" : "{host}/{element}";
  self->key = sl_template_expand (template, settings, fits_key, "", &bad);
  if (self->key != NULL)
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "message-key=%s: expected {host}, {element} or {source}, got \"%s\"", template,
                  bad);
}

gboolean
sl_kafka_location_parse (SlKafkaLocation *self, const SlPublishSettings *settings, GError **error)
{
  const char *location = settings->location;
  const char *rest = strstr (location, "://") + strlen ("://");
  g_autoptr (GPtrArray) secrets = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *shown = sl_redact_uri (location, secrets), *topic = NULL;
  if (strpbrk (rest, "#?") != NULL || !split (self, rest, &topic) || strchr (topic, '@') != NULL)
    return sl_fail (
      error, SL_ERROR_ARGUMENT, "location=%s: expected " FORM "%s", shown,
      secrets->len > 0
        ? ", with %23 for '#', %2F for '/', %3A for ':', %3F for '?', %40 for '@' and %25 for '%' "
          "in user and password; or take password= or password-file= for it"
        : ", such as kafka://localhost/predictions");
  self->tls = g_str_has_prefix (location, "kafkas://");
  if (settings->username != NULL) {
    g_free (self->user);
    self->user = g_strdup (settings->username);
  }
  if (settings->password != NULL) {
    g_free (self->password);
    self->password = g_strdup (settings->password);
  }
  return set_topic (self, topic, shown, settings, error) && set_key (self, settings, error);
}

void
sl_kafka_location_clear (SlKafkaLocation *self)
{
  g_clear_pointer (&self->brokers, g_free);
  g_clear_pointer (&self->user, g_free);
  g_clear_pointer (&self->password, g_free);
  g_clear_pointer (&self->topic, g_free);
  g_clear_pointer (&self->key, g_free);
}
