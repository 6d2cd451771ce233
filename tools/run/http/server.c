/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libsoup on a main context of its own. A connection is for one request: so one limit of time bounds requests, answers and idle clients
 * alike (connections.h). Bodies of requests are thrown away as they come.
 */
#include "tools/run/http/server.h"

#include <string.h>

#include "base/secretfile.h"
#include "base/show.h"
#include "sightline/error.h"
#include "tools/run/http/choose.h"
#include "tools/run/http/gate.h"
#include "tools/run/http/page.h"
#include "tools/run/http/texts.h"
#include "tools/run/http/turns.h"

#define TICK_MS 250
/* Clients of predictions at once. */
#define MOST_LISTENERS 16
#define TEXT "text/plain; charset=utf-8"
#define JSON "application/json"

struct _SlHttpServer
{
  const SlHttpSettings *settings;
  SlMessages *messages;
  GPtrArray *channels;
  GSocketListener *listener;
  GTlsCertificate *certificate;
  SlGate *gate;
  char *url;
  GMainContext *context;
  GMainLoop *loop;
  GThread *thread;
  SoupServer *soup;
  SlConnections *connections;
  SlTurns *turns; /* of requests that say a password */
  GMutex lock;    /* of report */
  SlReport *report;
};

/* Takes @text. */
static void
answer (SoupServerMessage *message, guint status, const char *type, GString *text)
{
  const gsize length = text->len;
  soup_server_message_set_status (message, status, NULL);
  soup_server_message_set_response (message, type, SOUP_MEMORY_TAKE, g_string_free (text, FALSE), length);
}

static void G_GNUC_PRINTF (3, 4) answer_text (SoupServerMessage *message, guint status, const char *format, ...)
{
  GString *text = g_string_new (NULL);
  va_list args;
  va_start (args, format);
  g_string_append_vprintf (text, format, args);
  va_end (args);
  g_string_append_c (text, '\n');
  answer (message, status, TEXT, text);
}

static SlReport *
get_report (SlHttpServer *server)
{
  g_mutex_lock (&server->lock);
  SlReport *report = sl_report_ref (server->report);
  g_mutex_unlock (&server->lock);
  return report;
}

static void
answer_page (SlHttpServer *server, SoupServerMessage *message, SlChannel *channel)
{
  soup_message_headers_replace (soup_server_message_get_response_headers (message), "Content-Security-Policy", SL_HTTP_PAGE_POLICY);
  answer (message, SOUP_STATUS_OK, "text/html; charset=utf-8", g_string_new (sl_http_page ()));
}

static void
answer_pipelines (SlHttpServer *server, SoupServerMessage *message, SlChannel *channel)
{
  g_autoptr (SlReport) report = get_report (server);
  GString *text = g_string_new (NULL);
  sl_text_pipelines (text, report, server->settings->stall, server->messages);
  answer (message, SOUP_STATUS_OK, JSON, text);
}

static void
answer_health (SlHttpServer *server, SoupServerMessage *message, SlChannel *channel)
{
  g_autoptr (SlReport) report = get_report (server);
  GString *text = g_string_new (NULL);
  const gboolean good = sl_text_health (text, report, server->settings->stall);
  answer (message, good ? SOUP_STATUS_OK : SOUP_STATUS_SERVICE_UNAVAILABLE, JSON, text);
}

static void
unref_predictions (gpointer predictions)
{
  if (predictions != NULL)
    sl_predictions_unref (predictions);
}

static void
answer_metrics (SlHttpServer *server, SoupServerMessage *message, SlChannel *channel)
{
  g_autoptr (SlReport) report = get_report (server);
  g_autoptr (GPtrArray) newest = g_ptr_array_new_with_free_func (unref_predictions);
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < server->channels->len; i++) {
    guint64 serial;
    g_ptr_array_add (newest, sl_feed_newest (sl_channel_feed (server->channels->pdata[i]), server->settings->stall, &serial));
  }
  sl_text_metrics (text, report, newest);
  answer (message, SOUP_STATUS_OK, "text/plain; version=0.0.4; charset=utf-8", text);
}

static gboolean
is_head (SoupServerMessage *message)
{
  return soup_server_message_get_method (message) == SOUP_METHOD_HEAD;
}

/* Streams for up to @most clients; @advice: for the next one. */
static void
begin_stream (SlHttpServer *server, SoupServerMessage *message, SlChannel *channel, gboolean pictures, guint most, const char *advice)
{
  guint clients = 0;
  for (guint i = 0; i < server->channels->len; i++)
    clients += (pictures ? sl_channel_viewers : sl_channel_listeners) (server->channels->pdata[i]);
  if (clients >= most) {
    soup_message_headers_replace (soup_server_message_get_response_headers (message), "Retry-After", "10");
    answer_text (message, SOUP_STATUS_SERVICE_UNAVAILABLE, "%u clients look already: expected at most %u; %s", clients, most, advice);
  } else if (is_head (message)) {
    answer (message, SOUP_STATUS_OK, pictures ? "multipart/x-mixed-replace; boundary=frame" : "text/event-stream", g_string_new (NULL));
  } else {
    sl_channel_stream (channel, message, pictures);
  }
}

static void
answer_pictures (SlHttpServer *server, SoupServerMessage *message, SlChannel *channel)
{
  begin_stream (server, message, channel, TRUE, server->settings->viewers, "more with viewers= in [http], and /snapshot.jpg is for all");
}

static void
answer_snapshot (SlHttpServer *server, SoupServerMessage *message, SlChannel *channel)
{
  sl_channel_snapshot (channel, message);
}

/* @serial: of the newest that there ever were */
static void
answer_no_predictions (SlHttpServer *server, SoupServerMessage *message, SlChannel *channel, guint64 serial)
{
  const char *name = sl_feed_name (sl_channel_feed (channel));
  g_autoptr (SlReport) report = get_report (server);
  guint index = 0;
  g_ptr_array_find (server->channels, channel, &index);
  const SlWorkerState state = ((SlReportPipeline *) report->pipelines->pdata[index])->state;
  if (state != SL_WORKER_RUNNING)
    answer_text (message, SOUP_STATUS_SERVICE_UNAVAILABLE, "/predictions: %s: there are none: the pipeline is %s", name,
                 sl_worker_state_name (state));
  else if (serial == 0)
    answer_text (message, SOUP_STATUS_SERVICE_UNAVAILABLE, "/predictions: %s: there are none yet", name);
  else
    answer_text (message, SOUP_STATUS_SERVICE_UNAVAILABLE,
                 "/predictions: %s: there are none of the last %g s; /health says how the pipeline is", name,
                 server->settings->stall / 1000.0);
}

/* Events for who asks for them, else the newest alone. */
static void
answer_predictions (SlHttpServer *server, SoupServerMessage *message, SlChannel *channel)
{
  const char *accept = soup_message_headers_get_list (soup_server_message_get_request_headers (message), "Accept");
  guint64 serial;
  if (accept != NULL && strstr (accept, "text/event-stream") != NULL) {
    begin_stream (server, message, channel, FALSE, MOST_LISTENERS, "the newest predictions alone, without text/event-stream, are for all");
    return;
  }
  g_autoptr (SlPredictions) newest = sl_feed_newest (sl_channel_feed (channel), server->settings->stall, &serial);
  if (newest == NULL) {
    answer_no_predictions (server, message, channel, serial);
    return;
  }
  g_autofree char *json = sl_predictions_to_json (newest);
  GString *text = g_string_new (g_strchomp (json));
  g_string_append_c (text, '\n');
  answer (message, SOUP_STATUS_OK, JSON, text);
}

static const struct
{
  const char *path;
  void (*answer) (SlHttpServer *, SoupServerMessage *, SlChannel *);
} routes[] = {
  { "/", answer_page },
  { "/snapshot.jpg", answer_snapshot },
  { "/stream.mjpg", answer_pictures },
  { "/predictions", answer_predictions },
  { "/pipelines", answer_pipelines },
  { "/health", answer_health },
  { "/metrics", answer_metrics },
};

/* (nullable): the one that ?pipeline= names, the first without; NULL, having answered, when there is none of that name. */
static SlChannel *
find_channel (SlHttpServer *server, SoupServerMessage *message, GHashTable *query)
{
  const char *name = query != NULL ? g_hash_table_lookup (query, "pipeline") : NULL;
  if (name == NULL)
    return server->channels->pdata[0];
  g_autoptr (GString) names = g_string_new (NULL);
  for (guint i = 0; i < server->channels->len; i++) {
    const char *known = sl_feed_name (sl_channel_feed (server->channels->pdata[i]));
    if (strcmp (known, name) == 0)
      return server->channels->pdata[i];
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", known);
  }
  g_autofree char *shown = sl_show (name, SL_SHOW_NAME);
  answer_text (message, SOUP_STATUS_NOT_FOUND, "?pipeline=%s: there is no such pipeline; expected %s", shown, names->str);
  return NULL;
}

static void
answer_request (SoupServerMessage *message, const char *path, GHashTable *query, gpointer data)
{
  SlHttpServer *server = data;
  const char *why = sl_gate_check (server->gate, message);
  if (why != NULL) {
    const guint status = soup_server_message_get_status (message);
    if (status == SOUP_STATUS_UNAUTHORIZED && sl_gate_is_told (server->gate, message))
      sl_turns_delay (server->turns);
    answer_text (message, status, "%s", why);
    return;
  }
  g_autoptr (GString) known = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (routes); i++) {
    g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", routes[i].path);
    if (strcmp (path, routes[i].path) != 0)
      continue;
    SlChannel *channel = find_channel (server, message, query);
    if (channel != NULL)
      routes[i].answer (server, message, channel);
    return;
  }
  g_autofree char *shown = sl_show (path, SL_SHOW_NAME);
  answer_text (message, SOUP_STATUS_NOT_FOUND, "%s: there is nothing here; expected one of %s", shown, known->str);
}

static void
on_request (SoupServer *soup, SoupServerMessage *message, const char *path, GHashTable *query, gpointer data)
{
  SlHttpServer *server = data;
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);
  soup_message_headers_replace (headers, "Connection", "close");
  soup_message_headers_replace (headers, "Cache-Control", "no-store");
  soup_message_headers_replace (headers, "X-Content-Type-Options", "nosniff");
  soup_message_headers_replace (headers, "Cross-Origin-Resource-Policy", "same-origin");
  if (sl_gate_is_told (server->gate, message))
    sl_turns_take (server->turns, message, path, query);
  else
    answer_request (message, path, query, server);
}

static void
on_headers (SoupServer *soup, SoupServerMessage *message, const char *path, GHashTable *query, gpointer data)
{
  soup_message_body_set_accumulate (soup_server_message_get_request_body (message), FALSE);
}

static gboolean
on_tick (gpointer data)
{
  SlHttpServer *server = data;
  sl_connections_expire (server->connections);
  for (guint i = 0; i < server->channels->len; i++)
    sl_channel_tick (server->channels->pdata[i]);
  return G_SOURCE_CONTINUE;
}

static gpointer
run (gpointer data)
{
  SlHttpServer *server = data;
  g_main_context_push_thread_default (server->context);
  server->soup = soup_server_new (NULL, NULL);
  soup_server_add_early_handler (server->soup, NULL, on_headers, server, NULL);
  soup_server_add_handler (server->soup, NULL, on_request, server, NULL);
  server->turns = sl_turns_new (answer_request, server);
  server->connections = sl_connections_new (server->soup, server->listener, server->certificate);
  for (guint i = 0; i < server->channels->len; i++)
    sl_channel_start (server->channels->pdata[i], server->connections);
  GSource *tick = g_timeout_source_new (TICK_MS);
  g_source_set_callback (tick, on_tick, server, NULL);
  g_source_attach (tick, server->context);
  g_main_loop_run (server->loop);
  g_source_destroy (tick);
  g_source_unref (tick);
  soup_server_remove_handler (server->soup, "/"); /* nothing is answered any more */
  sl_turns_free (server->turns);
  for (guint i = 0; i < server->channels->len; i++)
    sl_channel_stop (server->channels->pdata[i]);
  sl_connections_free (server->connections);
  g_object_unref (server->soup);
  while (g_main_context_iteration (server->context, FALSE))
    ; /* operations that were cancelled end */
  g_main_context_pop_thread_default (server->context);
  return NULL;
}

static gboolean
read_password (SlHttpServer *server, gboolean local, char **warning, GError **error)
{
  g_autofree char *password = NULL;
  g_autoptr (GError) reason = NULL;
  if (server->settings->password_file != NULL) {
    password = sl_secret_file_read (server->settings->password_file, warning, &reason);
    if (password == NULL) {
      g_set_error (error, SL_ERROR, SL_ERROR_OPEN, "password file: %s", reason->message);
      return FALSE;
    }
  }
  server->gate = sl_gate_new (password, local);
  return TRUE;
}

static gboolean
read_certificate (SlHttpServer *server, GError **error)
{
  g_autoptr (GError) reason = NULL;
  const SlHttpSettings *settings = server->settings;
  if (settings->certificate == NULL)
    return TRUE;
  server->certificate = g_tls_certificate_new_from_files (settings->certificate, settings->private_key, &reason);
  if (server->certificate == NULL)
    g_set_error (error, SL_ERROR, SL_ERROR_OPEN, "certificate %s with the private key %s: %s; expected PEM files%s", settings->certificate,
                 settings->private_key, reason->message,
                 g_tls_backend_supports_tls (g_tls_backend_get_default ()) ? "" : ", and GIO's TLS (Debian: glib-networking)");
  return server->certificate != NULL;
}

/* @text: ADDR:PORT, where port 0 becomes one that is free. */
static gboolean
listen_at (SlHttpServer *server, GSocketAddress *address, GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autoptr (GSocketAddress) bound = NULL;
  server->listener = g_socket_listener_new ();
  if (!g_socket_listener_add_address (server->listener, address, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL, &bound, &reason)) {
    g_set_error (error, SL_ERROR, SL_ERROR_OPEN, "%s; expected an address of this machine and a port that nothing else listens at",
                 reason->message);
    return FALSE;
  }
  GInetAddress *host = g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (bound));
  g_autofree char *text = g_inet_address_to_string (host);
  const gboolean six = g_inet_address_get_family (host) == G_SOCKET_FAMILY_IPV6;
  server->url = g_strdup_printf ("%s://%s%s%s:%u/", server->certificate != NULL ? "https" : "http", six ? "[" : "", text, six ? "]" : "",
                                 g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (bound)));
  return TRUE;
}

static gboolean
set_up (SlHttpServer *server, char **warning, GError **error)
{
  g_autoptr (GSocketAddress) address = sl_http_address (server->settings->listen, error);
  if (address == NULL || !sl_http_check_reach (server->settings, address, error))
    return FALSE;
  const gboolean local = g_inet_address_get_is_loopback (g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (address)));
  return read_password (server, local, warning, error) && read_certificate (server, error) && listen_at (server, address, error);
}

SlHttpServer *
sl_http_server_new (const SlHttpSettings *settings, SlMessages *messages, GPtrArray *channels, char **warning, GError **error)
{
  SlHttpServer *server = g_new0 (SlHttpServer, 1);
  server->settings = settings;
  server->messages = messages;
  server->channels = channels;
  server->context = g_main_context_new ();
  server->loop = g_main_loop_new (server->context, FALSE);
  g_mutex_init (&server->lock);
  if (set_up (server, warning, error))
    return server;
  sl_http_server_free (server);
  return NULL;
}

void
sl_http_server_start (SlHttpServer *server, SlReport *report)
{
  server->report = report;
  server->thread = g_thread_new ("http", run, server);
}

static gboolean
on_quit (gpointer loop)
{
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

void
sl_http_server_free (SlHttpServer *server)
{
  if (server->thread != NULL) {
    /* Within the loop, which need not run yet. */
    GSource *quit = g_idle_source_new ();
    g_source_set_priority (quit, G_PRIORITY_HIGH); /* however many clients there are */
    g_source_set_callback (quit, on_quit, server->loop, NULL);
    g_source_attach (quit, server->context);
    g_source_unref (quit);
    g_thread_join (server->thread);
  }
  g_clear_pointer (&server->report, sl_report_unref);
  g_clear_pointer (&server->gate, sl_gate_free);
  g_clear_object (&server->listener);
  g_clear_object (&server->certificate);
  g_main_loop_unref (server->loop);
  g_main_context_unref (server->context);
  g_mutex_clear (&server->lock);
  g_free (server->url);
  g_free (server);
}

const char *
sl_http_server_url (const SlHttpServer *server)
{
  return server->url;
}

void
sl_http_server_report (SlHttpServer *server, SlReport *report)
{
  g_mutex_lock (&server->lock);
  SlReport *before = server->report;
  server->report = report;
  g_mutex_unlock (&server->lock);
  sl_report_unref (before);
}
