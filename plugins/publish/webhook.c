/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Transports by HTTP: a line is the body of a POST to a webhook, or a notice becomes a message of
 * ntfy. A status of 2xx takes the line. 408, 429 and 5xx, and whatever breaks, are tried again; any
 * other status refuses the line, a redirection among them, so that nothing goes to another host.
 * No sentence has the address behind the host, which often is a secret.
 */
#include <gio/gio.h>
#include <libsoup/soup.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/json_reader.h"
#include "core/base/secretfile.h"
#include "plugins/publish/exchange.h"
#include "plugins/publish/publisher.h"

#define SIGNATURE "X-Sightline-Signature"

typedef struct
{
  char *uri, *shown, *key, *title, *priority, *tags, *authorization;
  GTlsDatabase *database; /* (nullable) */
  GMainContext *context;
  SoupSession *session; /* (nullable): of the publisher's thread */
  guint timeout_s;
  gboolean is_ntfy;
  guint refused;
  char *reason; /* (nullable) */
} Webhook;

static void
webhook_close (gpointer state)
{
  Webhook *self = state;
  g_clear_object (&self->database);
  g_clear_pointer (&self->context, g_main_context_unref);
  g_free (self->uri);
  g_free (self->shown);
  g_free (self->key);
  g_free (self->title);
  g_free (self->priority);
  g_free (self->tags);
  g_free (self->authorization);
  g_free (self->reason);
  g_free (self);
}

/* (transfer full) (nullable): the header's value for @user (nullable) and @password. */
static char *
authorize (const char *user, const char *password)
{
  if (password == NULL)
    return NULL;
  if (user == NULL)
    return g_strconcat ("Bearer ", password, NULL);
  g_autofree char *both = g_strconcat (user, ":", password, NULL),
                  *coded = g_base64_encode ((const guchar *) both, strlen (both));
  return g_strconcat ("Basic ", coded, NULL);
}

/* (transfer full): a header's value; other characters than ASCII's as RFC 2047 has them. */
static char *
header_text (const char *text)
{
  if (text == NULL || g_str_is_ascii (text))
    return g_strdup (text);
  g_autofree char *coded = g_base64_encode ((const guchar *) text, strlen (text));
  return g_strconcat ("=?UTF-8?B?", coded, "?=", NULL);
}

/* FALSE with @error set unless the location is an address without user and password. */
static gboolean
read_address (Webhook *self, const char *location, GError **error)
{
  self->is_ntfy = g_str_has_prefix (location, "ntfy");
  const char *rest = strstr (location, "://");
  const gboolean secure =
    g_str_has_prefix (location, "https") || g_str_has_prefix (location, "ntfys");
  self->uri = g_strconcat (secure ? "https" : "http", rest, NULL);
  self->shown = sl_publisher_shown_location (location);
  g_autoptr (GUri) uri = g_uri_parse (self->uri, SOUP_HTTP_URI_FLAGS, NULL);
  if (uri == NULL || g_uri_get_host (uri) == NULL || *g_uri_get_host (uri) == '\0'
      || g_uri_get_userinfo (uri) != NULL || (self->is_ntfy && strlen (g_uri_get_path (uri)) < 2))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "location=%s: expected a host and a path, such as https://example.org/hook or "
                    "ntfys://ntfy.sh/topic; user and password are username and password-file",
                    self->shown);
  return TRUE;
}

static gboolean
read_files (Webhook *self, const SlPublishSettings *settings, GError **error)
{
  g_autofree char *warning = NULL;
  g_autoptr (GError) cause = NULL;
  if (settings->signing_key != NULL && *settings->signing_key != '\0') {
    self->key = sl_secret_file_read (settings->signing_key, &warning, &cause);
    if (self->key == NULL)
      return sl_fail (error, SL_ERROR_OPEN, "signing-key-file=%s", cause->message);
    if (warning != NULL)
      return sl_fail (error, SL_ERROR_ARGUMENT, "signing-key-file=%s", warning);
  }
  if (settings->ca_file == NULL || *settings->ca_file == '\0')
    return TRUE;
  self->database = g_tls_file_database_new (settings->ca_file, &cause);
  return self->database != NULL
         || sl_fail (error, SL_ERROR_OPEN, "ca-file=%s: %s", settings->ca_file, cause->message);
}

static gpointer
webhook_open (const SlPublishSettings *settings, GError **error)
{
  Webhook *self = g_new0 (Webhook, 1);
  self->context = g_main_context_new ();
  self->timeout_s = settings->timeout_s;
  self->title = header_text (settings->title);
  self->priority = header_text (settings->priority);
  self->tags = header_text (settings->tags);
  self->authorization = authorize (settings->username, settings->password);
  if (read_address (self, settings->location, error) && read_files (self, settings, error))
    return self;
  webhook_close (self);
  return NULL;
}

/* Nothing is connected yet: each message has a request of its own. */
static gboolean
webhook_connect (gpointer state, GCancellable *cancellable, GError **error)
{
  Webhook *self = state;
  self->session = sl_exchange_session_new (self->context, self->timeout_s);
  if (self->database != NULL)
    g_object_set (self->session, "tls-database", self->database, NULL);
  return TRUE;
}

static void
webhook_disconnect (gpointer state)
{
  Webhook *self = state;
  sl_exchange_session_free (self->context, &self->session);
}

static SoupMessage *
make_post (const Webhook *self, const char *line, gsize bytes)
{
  SoupMessage *message = soup_message_new (SOUP_METHOD_POST, self->uri);
  g_autoptr (GBytes) body = g_bytes_new (line, bytes);
  soup_message_set_request_body_from_bytes (message, "application/json", body);
  if (self->key != NULL) {
    g_autofree char *sum =
      g_compute_hmac_for_data (G_CHECKSUM_SHA256, (const guchar *) self->key, strlen (self->key),
                               (const guchar *) line, bytes);
    g_autofree char *value = g_strconcat ("sha256=", sum, NULL);
    sl_exchange_set_header (message, SIGNATURE, value);
  }
  return message;
}

/* (transfer full): the members "text" and "picture" (nullable) of a notice; the whole line as text
 * where it is none. */
static void
read_notice (const char *line, gsize bytes, char **text, char **picture)
{
  g_autofree char *whole = g_strndup (line, bytes);
  SlJsonReader reader;
  *text = *picture = NULL;
  sl_json_reader_init (&reader, whole, bytes);
  if (sl_json_reader_enter (&reader, SL_JSON_OBJECT))
    while (sl_json_reader_next (&reader)) {
      char **into = strcmp (reader.key->str, "text") == 0      ? text
                    : strcmp (reader.key->str, "picture") == 0 ? picture
                                                               : NULL;
      if (into == NULL || *into != NULL)
        sl_json_reader_skip (&reader);
      else if (sl_json_reader_string (&reader))
        *into = g_strdup (reader.text->str);
    }
  sl_json_reader_clear (&reader);
  if (*text == NULL)
    *text = g_steal_pointer (&whole);
}

/* A picture is an attachment, and the text is a header then. */
static SoupMessage *
make_ntfy (const Webhook *self, const char *line, gsize bytes)
{
  g_autofree char *text = NULL, *picture = NULL;
  SoupMessage *message = soup_message_new (SOUP_METHOD_PUT, self->uri);
  read_notice (line, bytes, &text, &picture);
  gsize size = strlen (text);
  g_autoptr (GBytes) body = g_bytes_new (text, size);
  if (picture != NULL) {
    g_autofree char *value = header_text (text);
    guchar *jpeg = g_base64_decode (picture, &size);
    g_bytes_unref (body);
    body = g_bytes_new_take (jpeg, size);
    sl_exchange_set_header (message, "Message", value);
    sl_exchange_set_header (message, "Filename", "event.jpg");
  }
  soup_message_set_request_body_from_bytes (message, picture != NULL ? "image/jpeg" : "text/plain",
                                            body);
  sl_exchange_set_header (message, "Title", self->title);
  sl_exchange_set_header (message, "Priority", self->priority);
  sl_exchange_set_header (message, "Tags", self->tags);
  return message;
}

/* What the peer answered. FALSE with @error set: try again. */
static gboolean
judge (Webhook *self, guint status, GError **error)
{
  if (SOUP_STATUS_IS_SUCCESSFUL (status))
    return TRUE;
  if (sl_exchange_is_passing (status)) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_BUSY, "%s: the status %u", self->shown, status);
    return FALSE;
  }
  self->refused++;
  g_free (self->reason);
  self->reason = g_strdup_printf (
    "%s: the status %u%s", self->shown, status,
    SOUP_STATUS_IS_REDIRECTION (status) ? ", a redirection, which is not followed" : "");
  return TRUE;
}

static gboolean
webhook_send (gpointer state, const char *line, gsize bytes, GCancellable *cancellable,
              GError **error)
{
  Webhook *self = state;
  const gsize length = bytes > 0 && line[bytes - 1] == '\n' ? bytes - 1 : bytes;
  g_autoptr (GError) cause = NULL;
  g_main_context_push_thread_default (self->context);
  SoupMessage *message = (self->is_ntfy ? make_ntfy : make_post) (self, line, length);
  soup_message_add_flags (message, SOUP_MESSAGE_NO_REDIRECT | SOUP_MESSAGE_NEW_CONNECTION);
  sl_exchange_set_header (message, "Authorization", self->authorization);
  GInputStream *stream = sl_exchange (self->session, message, self->timeout_s, cancellable, &cause);
  const gboolean sent = stream != NULL && judge (self, soup_message_get_status (message), error);
  if (stream == NULL)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", self->shown, cause->message);
  else
    g_input_stream_close (stream, cancellable, NULL); /* the answer's body is not read */
  g_clear_object (&stream);
  g_object_unref (message);
  g_main_context_pop_thread_default (self->context);
  return sent;
}

static guint
webhook_refused (gpointer state, const char **reason)
{
  Webhook *self = state;
  const guint refused = self->refused;
  *reason = self->reason;
  self->refused = 0;
  return refused;
}

static const char *const schemes[] = { "http://", "https://", "ntfy://", "ntfys://", NULL };

const SlTransport sl_transport_webhook = {
  .schemes = schemes,
  .open = webhook_open,
  .connect = webhook_connect,
  .send = webhook_send,
  .idle = sl_exchange_idle,
  .refused = webhook_refused,
  .disconnect = webhook_disconnect,
  .close = webhook_close,
};
