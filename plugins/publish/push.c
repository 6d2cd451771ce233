/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Transport to browsers of phones by Web Push (RFC 8030): a notice goes to each browser of a file,
 * encrypted for it. Browsers that no longer exist (404, 410) leave the file.
 *
 * A notice is sent again, as the publisher sends lines again, to those that have not had it. Once
 * one has it, the others are given up after some attempts: a service that is away delays nobody
 * else for long, because its browsers are not asked for a while. No sentence has an endpoint's
 * path, which is a secret.
 */
#include <libsoup/soup.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/base/json_reader.h"
#include "pipelines/push/crypt.h"
#include "pipelines/push/endpoint.h"
#include "pipelines/push/phones.h"
#include "plugins/publish/exchange.h"
#include "plugins/publish/publisher.h"

#define SCHEME "push:"
/* Seconds that a push service keeps a message for a phone that is off. */
#define KEPT "3600"
/* Seconds that a signature holds, and before its end that it is made again. */
#define SIGNED (12 * 60 * 60)
#define SIGNED_REST (60 * 60)
#define SIGNATURES_MOST 16
/* For those behind the first that has a notice. */
#define ATTEMPTS 4
/* Seconds. */
#define PAUSE 60
#define PAUSE_MOST (60 * PAUSE)
/* Bytes of each text of a message at most. */
#define TEXT_MOST 256

typedef enum
{
  TAKEN,
  LATER,
  REFUSED,
  GONE
} Outcome;

/* @failures: in a row; @until: monotonic time before which it is not asked */
typedef struct
{
  guint failures;
  gint64 until;
} Health;

typedef struct
{
  char *value;
  gint64 until; /* seconds since 1970 */
} Signature;

typedef struct
{
  char *path, *subject, *hosts;
  SlPushKey *key;
  GMainContext *context;
  SoupSession *session; /* (nullable): of the publisher's thread */
  guint timeout_s;
  GHashTable *health;     /* of Health, by ids of phones */
  GHashTable *signatures; /* of Signature, by origins */
  GBytes *line;           /* (nullable): the one under way */
  char *text;             /* of its message */
  GPtrArray *waiting;     /* of SlPhone: those that have not had it */
  guint attempts, reached, refusals;
  guint refused;
  char *reason; /* (nullable): of a refusal */
} Push;

static void
signature_free (gpointer data)
{
  g_free (((Signature *) data)->value);
  g_free (data);
}

static void
end_line (Push *self)
{
  g_clear_pointer (&self->line, g_bytes_unref);
  g_clear_pointer (&self->text, g_free);
  g_clear_pointer (&self->waiting, g_ptr_array_unref);
  self->attempts = self->reached = self->refusals = 0;
}

static void
push_close (gpointer state)
{
  Push *self = state;
  end_line (self);
  g_clear_pointer (&self->key, sl_push_key_free);
  g_clear_pointer (&self->context, g_main_context_unref);
  g_hash_table_unref (self->health);
  g_hash_table_unref (self->signatures);
  g_free (self->path);
  g_free (self->subject);
  g_free (self->hosts);
  g_free (self->reason);
  g_free (self);
}

static gboolean
check (const Push *self, const SlPublishSettings *settings, GError **error)
{
  if (!g_path_is_absolute (self->path))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "location=" SCHEME "%s: expected the whole path of the file of subscriptions",
                    self->path);
  return sl_push_settings_check (settings->push_key, self->subject, self->hosts, error);
}

static gpointer
push_open (const SlPublishSettings *settings, GError **error)
{
  Push *self = g_new0 (Push, 1);
  self->context = g_main_context_new ();
  self->health = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->signatures = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, signature_free);
  self->path = g_strdup (settings->location + strlen (SCHEME));
  self->subject = g_strdup (settings->push_subject);
  self->hosts = g_strdup (settings->push_hosts);
  self->timeout_s = settings->timeout_s;
  g_autoptr (GPtrArray) phones = NULL;
  if (check (self, settings, error)
      && (self->key = sl_push_key_load (settings->push_key, error)) != NULL
      && (phones = sl_phones_read (self->path, error)) != NULL)
    return self;
  push_close (self);
  return NULL;
}

/* Without a proxy, whose address would be the one that is checked. */
static gboolean
push_connect (gpointer state, GCancellable *cancellable, GError **error)
{
  Push *self = state;
  self->session = sl_exchange_session_new (self->context, self->timeout_s);
  soup_session_set_proxy_resolver (self->session, NULL);
  return TRUE;
}

static void
push_disconnect (gpointer state)
{
  Push *self = state;
  sl_exchange_session_free (self->context, &self->session);
}

/* A name may lead anywhere, and elsewhere the next time: what counts is the address that is about
 * to be connected to. @data: takes that it was refused */
static void
on_network_event (SoupMessage *message, GSocketClientEvent event, GIOStream *stream, gpointer data)
{
  if (event != G_SOCKET_CLIENT_CONNECTING)
    return;
  GSocketConnection *connection = G_SOCKET_CONNECTION (stream);
  g_autoptr (GSocketAddress) remote = g_socket_connection_get_remote_address (connection, NULL);
  if (G_IS_INET_SOCKET_ADDRESS (remote)
      && sl_push_address_is_public (
        g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (remote))))
    return;
  *(gboolean *) data = TRUE;
  g_socket_close (g_socket_connection_get_socket (connection), NULL);
}

/* (transfer none) (nullable) */
static const char *
signature_for (Push *self, const char *endpoint, GError **error)
{
  g_autofree char *origin = sl_push_endpoint_origin (endpoint);
  const gint64 now = g_get_real_time () / G_USEC_PER_SEC;
  const Signature *known = g_hash_table_lookup (self->signatures, origin);
  if (known != NULL && known->until - SIGNED_REST > now)
    return known->value;
  Signature *signature = g_new0 (Signature, 1);
  signature->until = now + SIGNED;
  signature->value = sl_push_key_sign (self->key, origin, self->subject, signature->until, error);
  if (signature->value == NULL) {
    signature_free (signature);
    return NULL;
  }
  if (g_hash_table_size (self->signatures) >= SIGNATURES_MOST)
    g_hash_table_remove_all (self->signatures);
  g_hash_table_replace (self->signatures, g_steal_pointer (&origin), signature);
  return signature->value;
}

/* (transfer full) (nullable) */
static SoupMessage *
make_message (Push *self, const SlPhone *phone, GError **error)
{
  if (!sl_push_endpoint_check (phone->endpoint, self->hosts, error))
    return NULL;
  const char *signature = signature_for (self, phone->endpoint, error);
  g_autoptr (GBytes) body =
    signature != NULL
      ? sl_push_encrypt (phone->p256dh, phone->auth, self->text, strlen (self->text), NULL, error)
      : NULL;
  if (body == NULL)
    return NULL;
  SoupMessage *message = soup_message_new (SOUP_METHOD_POST, phone->endpoint);
  if (message == NULL)
    return sl_fail_null (error, SL_ERROR_ARGUMENT, "endpoint: expected https://HOST/PATH");
  soup_message_set_request_body_from_bytes (message, "application/octet-stream", body);
  sl_exchange_set_header (message, "Content-Encoding", "aes128gcm");
  sl_exchange_set_header (message, "TTL", KEPT);
  sl_exchange_set_header (message, "Urgency", "high");
  sl_exchange_set_header (message, "Authorization", signature);
  soup_message_add_flags (message, SOUP_MESSAGE_NO_REDIRECT | SOUP_MESSAGE_NEW_CONNECTION);
  return message;
}

static Health *
health_of (Push *self, const SlPhone *phone)
{
  Health *health = g_hash_table_lookup (self->health, phone->id);
  if (health == NULL) {
    health = g_new0 (Health, 1);
    g_hash_table_insert (self->health, g_strdup (phone->id), health);
  }
  return health;
}

static void G_GNUC_PRINTF (2, 3) refuse (Push *self, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_free (self->reason);
  self->reason = g_strdup_vprintf (format, args);
  va_end (args);
  self->refusals++;
}

/* Seconds of Retry-After; a date is none. */
static void
note_pause (SoupMessage *message, Health *health)
{
  const char *text =
    soup_message_headers_get_one (soup_message_get_response_headers (message), "Retry-After");
  guint64 seconds;
  if (text != NULL && g_ascii_string_to_unsigned (text, 10, 1, PAUSE_MOST, &seconds, NULL))
    health->until = g_get_monotonic_time () + (gint64) seconds * G_USEC_PER_SEC;
}

/* What a push service answered (RFC 8030, 5 and 7.3). @error: set with LATER */
static Outcome
judge (Push *self, SoupMessage *message, const SlPhone *phone, const char *shown, GError **error)
{
  const guint status = soup_message_get_status (message);
  if (SOUP_STATUS_IS_SUCCESSFUL (status))
    return TAKEN;
  if (status == SOUP_STATUS_NOT_FOUND || status == SOUP_STATUS_GONE)
    return GONE;
  if (sl_exchange_is_passing (status)) {
    note_pause (message, health_of (self, phone));
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_BUSY, "%s: the status %u", shown, status);
    return LATER;
  }
  refuse (self, "%s: the status %u%s", shown, status,
          SOUP_STATUS_IS_REDIRECTION (status) ? ", a redirection, which is not followed" : "");
  return REFUSED;
}

static Outcome
send_to (Push *self, const SlPhone *phone, GCancellable *cancellable, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autofree char *origin = sl_push_endpoint_origin (phone->endpoint);
  g_autofree char *shown = g_strconcat (origin != NULL ? origin : "push", "/***", NULL);
  gboolean closed = FALSE;
  g_autoptr (SoupMessage) message = make_message (self, phone, &cause);
  if (message == NULL) {
    refuse (self, "%s: %s", shown, cause->message);
    return REFUSED;
  }
  if (!sl_push_endpoint_is_listed (phone->endpoint, self->hosts))
    g_signal_connect (message, "network-event", G_CALLBACK (on_network_event), &closed);
  g_autoptr (GInputStream) stream =
    sl_exchange (self->session, message, self->timeout_s, cancellable, &cause);
  if (stream != NULL) {
    const Outcome outcome = judge (self, message, phone, shown, error);
    g_input_stream_close (stream, cancellable, NULL); /* the answer's body is not read */
    return outcome;
  }
  if (closed) {
    refuse (self, "%s: the host has a private address; hosts= of [push] allows it", shown);
    return REFUSED;
  }
  g_set_error (error, G_IO_ERROR, cause->domain == G_IO_ERROR ? cause->code : G_IO_ERROR_FAILED,
               "%s: %s", shown, cause->message);
  return LATER;
}

static void
append_text (GString *json, const char *key, const char *text)
{
  if (text == NULL)
    return;
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  if (strlen (valid) > TEXT_MOST) {
    const char *end = g_utf8_find_prev_char (valid, valid + TEXT_MOST + 1);
    valid[end - valid] = '\0';
  }
  sl_json_append_text (json, key, valid);
}

/* What a phone shows. */
typedef struct
{
  const char *key, *shown;
  char *text;
} Part;

static void
read_parts (SlJsonReader *reader, Part *parts, guint n)
{
  while (sl_json_reader_next (reader)) {
    Part *part = NULL;
    for (guint i = 0; i < n; i++)
      if (strcmp (reader->key->str, parts[i].key) == 0 && parts[i].text == NULL)
        part = &parts[i];
    const SlJsonKind kind = sl_json_reader_kind (reader);
    if (kind == SL_JSON_OBJECT && strcmp (reader->key->str, "event") == 0) {
      sl_json_reader_enter (reader, SL_JSON_OBJECT);
      read_parts (reader, parts, n);
    } else if (part == NULL || kind != SL_JSON_STRING)
      sl_json_reader_skip (reader);
    else if (sl_json_reader_string (reader))
      part->text = g_strdup (reader->text->str);
  }
}

/* (transfer full) (nullable): NULL where the line is no notice. Pictures stay here. */
static char *
make_text (const char *line, gsize bytes)
{
  Part parts[] = { { "text", "text", NULL },   { "source", "camera", NULL },
                   { "utc", "utc", NULL },     { "event", "event", NULL },
                   { "zone", "zone", NULL },   { "line", "zone", NULL },
                   { "label", "label", NULL }, { "notice", "notice", NULL } };
  g_autofree char *whole = g_strndup (line, bytes);
  SlJsonReader reader;
  GString *json = g_string_new ("{");
  sl_json_reader_init (&reader, whole, strlen (whole));
  if (sl_json_reader_enter (&reader, SL_JSON_OBJECT))
    read_parts (&reader, parts, G_N_ELEMENTS (parts));
  const gboolean good = sl_json_reader_end (&reader) && parts[0].text != NULL;
  sl_json_reader_clear (&reader);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    append_text (json, parts[i].shown, parts[i].text);
    g_free (parts[i].text);
  }
  g_string_append_c (json, '}');
  return g_string_free (json, !good);
}

static void
begin_line (Push *self, const char *line, gsize bytes)
{
  g_autoptr (GError) error = NULL;
  end_line (self);
  if (g_hash_table_size (self->health) > 2 * SL_PHONES_MOST)
    g_hash_table_remove_all (self->health); /* of those that left the file, too */
  self->line = g_bytes_new (line, bytes);
  self->text = make_text (line, bytes);
  self->waiting = self->text != NULL ? sl_phones_read (self->path, &error) : NULL;
  if (self->waiting != NULL)
    return;
  self->waiting = g_ptr_array_new_with_free_func ((GDestroyNotify) sl_phone_free);
  refuse (self, "%s",
          error != NULL ? error->message : "a line that is no message about an event: set events");
}

/* Those that work come first, so that the others delay only each other. */
static gint
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const guint x = health_of (data, *(SlPhone **) a)->failures,
              y = health_of (data, *(SlPhone **) b)->failures;
  return (x > y) - (x < y);
}

static void
forget (Push *self, const SlPhone *phone)
{
  g_autoptr (GError) error = NULL;
  guint removed;
  g_hash_table_remove (self->health, phone->id);
  if (!sl_phones_remove (self->path, phone->id, NULL, &removed, &error))
    refuse (self, "%s", error->message);
}

/* Asks those whose time has come. @error: (inout): of the last that did not take it */
static void
attempt (Push *self, GCancellable *cancellable, GError **error)
{
  g_ptr_array_sort_with_data (self->waiting, compare, self);
  for (guint i = 0; i < self->waiting->len && !g_cancellable_is_cancelled (cancellable);) {
    SlPhone *phone = self->waiting->pdata[i];
    Health *health = health_of (self, phone);
    g_autoptr (GError) cause = NULL;
    if (health->until > g_get_monotonic_time ()) {
      i++;
      continue;
    }
    const Outcome outcome = send_to (self, phone, cancellable, &cause);
    if (outcome == LATER) {
      health->failures++;
      g_clear_error (error);
      g_propagate_error (error, g_steal_pointer (&cause));
      i++;
      continue;
    }
    health->failures = 0;
    self->reached += outcome == TAKEN;
    if (outcome == GONE)
      forget (self, phone);
    g_ptr_array_remove_index (self->waiting, i);
  }
  self->attempts++;
}

/* The rest miss this notice, and those that come in the next minutes. */
static void
give_up (Push *self)
{
  const gint64 now = g_get_monotonic_time ();
  for (guint i = 0; i < self->waiting->len; i++) {
    Health *health = health_of (self, self->waiting->pdata[i]);
    if (health->until <= now)
      health->until = now + MIN (health->failures, PAUSE_MOST / PAUSE) * PAUSE * G_TIME_SPAN_SECOND;
  }
  g_ptr_array_set_size (self->waiting, 0);
}

static gboolean
push_send (gpointer state, const char *line, gsize bytes, GCancellable *cancellable, GError **error)
{
  Push *self = state;
  g_autoptr (GBytes) given = g_bytes_new (line, bytes);
  g_autoptr (GError) cause = NULL;
  if (self->line == NULL || !g_bytes_equal (self->line, given))
    begin_line (self, line, bytes);
  g_main_context_push_thread_default (self->context);
  attempt (self, cancellable, &cause);
  g_main_context_pop_thread_default (self->context);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (self->waiting->len > 0 && self->reached > 0
      && (cause == NULL || self->attempts >= ATTEMPTS
          || g_error_matches (cause, G_IO_ERROR, G_IO_ERROR_TIMED_OUT)))
    give_up (self);
  if (self->waiting->len > 0) {
    if (cause == NULL)
      g_set_error (&cause, G_IO_ERROR, G_IO_ERROR_BUSY, "the push services asked for a pause");
    g_propagate_error (error, g_steal_pointer (&cause));
    return FALSE;
  }
  self->refused += self->reached == 0 && self->refusals > 0;
  end_line (self);
  return TRUE;
}

static guint
push_refused (gpointer state, const char **reason)
{
  Push *self = state;
  const guint refused = self->refused;
  *reason = self->reason;
  self->refused = 0;
  return refused;
}

static const char *const schemes[] = { SCHEME, NULL };

const SlTransport sl_transport_push = {
  .schemes = schemes,
  .open = push_open,
  .connect = push_connect,
  .send = push_send,
  .idle = sl_exchange_idle,
  .refused = push_refused,
  .disconnect = push_disconnect,
  .close = push_close,
};
