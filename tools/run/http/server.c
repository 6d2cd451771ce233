/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libsoup on a main context of its own. A connection is for one request: so one limit of time
 * bounds requests, answers and idle clients alike (connections.h). Bodies of requests are thrown
 * away as they come, unless the site takes them (SlHttpPosts): then passwords are checked before a
 * body is read. Requests with long headers are refused, and what asks for parts of an answer
 * is not looked at: libsoup would make a copy for each part.
 */
#include "tools/run/http/server.h"

#include <string.h>

#include "core/base/secretfile.h"
#include "core/base/printable.h"
#include "core/base/fail.h"
#include "tools/run/http/auth.h"
#include "tools/run/http/certificate.h"
#include "tools/run/http/listen.h"
#include "tools/run/http/proxy.h"
#include "tools/run/log.h"
#include "tools/run/http/auth_throttle.h"

#define TICK_MS 250
/* Microseconds from one look at the certificate's files to the next. */
#define LOOK_INTERVAL G_USEC_PER_SEC
/* Bytes of a request's line and headers together, and of an answer. libsoup alone would take 64 KiB
 * of the former. */
#define HEADERS_MOST 8192
#define ANSWER_MOST (16 << 20)
/* Connections that the kernel holds until they are taken. One that it cannot hold comes a second
 * later. */
#define BACKLOG 256
/* RFC 6585's, which libsoup has no names for. */
#define STATUS_TOO_MANY_REQUESTS 429
#define STATUS_HEADERS_TOO_LARGE 431
#define TEXT "text/plain; charset=utf-8"

struct _SlHttpServer
{
  const SlHttpSettings *settings;
  const SlHttpSite *site;
  gpointer data;
  GSocketListener *listener;
  SlCertificate *certificate; /* (nullable): with TLS */
  SlAuth *auth;
  char *url;
  GMainContext *context;
  GMainLoop *loop;
  GThread *thread;
  SoupServer *soup;
  SlConnections *connections;
  SlProxy *proxy;
  gint64 looked;            /* at the certificate */
  SlAuthThrottle *throttle; /* of requests that say a password */
  SlHttpGuard guard;        /* for the branch */
};

static GQuark
range_quark (void)
{
  return g_quark_from_static_string ("sl-http-range");
}

const char *
sl_http_range (SoupServerMessage *message)
{
  return g_object_get_qdata (G_OBJECT (message), range_quark ());
}

void
sl_http_answer (SoupServerMessage *message, guint status, const char *type, GString *text)
{
  if (text->len > ANSWER_MOST) {
    g_string_printf (text, "the answer has %" G_GSIZE_FORMAT " bytes, expected at most %d\n",
                     text->len, ANSWER_MOST);
    status = SOUP_STATUS_INTERNAL_SERVER_ERROR;
    type = TEXT;
  }
  const gsize length = text->len;
  soup_server_message_set_status (message, status, NULL);
  soup_server_message_set_response (message, type, SOUP_MEMORY_TAKE, g_string_free (text, FALSE),
                                    length);
}

void
sl_http_answer_text (SoupServerMessage *message, guint status, const char *format, ...)
{
  GString *text = g_string_new (NULL);
  va_list args;
  va_start (args, format);
  g_string_append_vprintf (text, format, args);
  va_end (args);
  g_string_append_c (text, '\n');
  sl_http_answer (message, status, TEXT, text);
}

static gboolean
is_post (const SlHttpServer *server, SoupServerMessage *message)
{
  return server->site->posts != NULL
         && soup_server_message_get_method (message) == SOUP_METHOD_POST;
}

/* A POST is answered as its site answers. */
static void
refuse (SlHttpServer *server, SoupServerMessage *message, guint status, const char *sentence)
{
  if (is_post (server, message))
    server->site->posts->refuse (message, status, sentence);
  else
    sl_http_answer_text (message, status, "%s", sentence);
}

gboolean
sl_http_is_route (const char *route, const char *path)
{
  const gsize length = strlen (route);
  return route[length - 1] == '*' ? strncmp (route, path, length - 1) == 0
                                  : strcmp (route, path) == 0;
}

static void
answer_get (SlHttpServer *server, SoupServerMessage *message, const char *path, GHashTable *query)
{
  g_autoptr (GString) known = g_string_new (NULL);
  for (const SlHttpRoute *route = server->site->routes; route->path != NULL; route++) {
    g_string_append_printf (known, "%s%s", known->len > 0 ? ", " : "", route->path);
    if (!sl_http_is_route (route->path, path))
      continue;
    route->answer (server->data, message, query);
    return;
  }
  g_autofree char *shown = sl_printable (path, SL_PRINTABLE_NAME);
  sl_http_answer_text (message, SOUP_STATUS_NOT_FOUND,
                       "%s: there is nothing here; expected one of %s", shown, known->str);
}

/* A GET, or a POST whose body has not come. */
static void
answer_request (SoupServerMessage *message, const char *path, GHashTable *query, gpointer data)
{
  SlHttpServer *server = data;
  const gboolean post = is_post (server, message), told = sl_auth_is_told (server->auth, message);
  const guint allows =
    (post ? SL_AUTH_POSTS : 0) | (post && server->site->keyed && !told ? SL_AUTH_STRANGERS : 0);
  const char *why = sl_auth_check (server->auth, message, allows);
  if (why != NULL) {
    const guint status = soup_server_message_get_status (message);
    if (status == SOUP_STATUS_UNAUTHORIZED && told)
      sl_auth_throttle_delay (server->throttle, message);
    refuse (server, message, status, why);
  } else if (post)
    server->site->posts->begin (server->data, message, path, query, told);
  else
    answer_get (server, message, path, query);
}

/* At once, or when it is the turn of the password that it states. */
static void
take_request (SlHttpServer *server, SoupServerMessage *message, const char *path, GHashTable *query)
{
  if (!sl_auth_is_told (server->auth, message))
    answer_request (message, path, query, server);
  else if (!sl_auth_throttle_take (server->throttle, message, path, query)) {
    g_autofree char *busy = g_strdup_printf (
      "%d passwords of this client wait already, as one was wrong: try again later",
      SL_AUTH_MAX_WAITING);
    refuse (server, message, STATUS_TOO_MANY_REQUESTS, busy);
  }
}

static gboolean
is_branch (const SlHttpServer *server, const char *path)
{
  const SlHttpBranch *branch = server->site->branch;
  return branch != NULL && branch->takes (branch->data, path);
}

/* (transfer full) (nullable): @path unescaped; NULL, having answered, when it leads upwards. */
static char *
plain_path (SoupServerMessage *message, const char *path)
{
  g_autofree char *plain = g_uri_unescape_string (path, NULL);
  if (plain != NULL && strstr (plain, "/../") == NULL && !g_str_has_suffix (plain, "/.."))
    return g_steal_pointer (&plain);
  g_autofree char *shown = sl_printable (path, SL_PRINTABLE_NAME);
  sl_http_answer_text (message, SOUP_STATUS_BAD_REQUEST,
                       "%s: expected an address without %%00 and without ..", shown);
  return NULL;
}

/* The whole request has come, and is not answered yet. */
static void
on_request (SoupServer *soup, SoupServerMessage *message, const char *path, GHashTable *query,
            gpointer data)
{
  SlHttpServer *server = data;
  g_autofree char *plain = NULL;
  if (is_branch (server, path))
    server->site->branch->received (server->site->branch->data, message);
  else if (is_post (server, message))
    server->site->posts->received (server->data, message);
  else if ((plain = plain_path (message, path)) != NULL)
    take_request (server, message, plain, query);
}

/* Bytes of the request's headers, and of its address. */
static gsize
measure (SoupServerMessage *message)
{
  SoupMessageHeadersIter iter;
  const char *name, *value;
  g_autofree char *uri = g_uri_to_string (soup_server_message_get_uri (message));
  gsize bytes = strlen (uri);
  soup_message_headers_iter_init (&iter, soup_server_message_get_request_headers (message));
  while (soup_message_headers_iter_next (&iter, &name, &value))
    bytes += strlen (name) + strlen (value) + strlen (": \r\n");
  return bytes;
}

/* Before a body comes. A status that is set here is the answer. */
static void
on_headers (SoupServer *soup, SoupServerMessage *message, const char *path, GHashTable *query,
            gpointer data)
{
  SlHttpServer *server = data;
  g_autofree char *plain = NULL;
  SoupMessageHeaders *asked = soup_server_message_get_request_headers (message);
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);
  soup_message_headers_replace (headers, "Connection", "close");
  soup_message_headers_replace (headers, "Cache-Control", "no-store");
  soup_message_headers_replace (headers, "X-Content-Type-Options", "nosniff");
  soup_message_headers_replace (headers, "Cross-Origin-Resource-Policy", "same-origin");
  soup_message_headers_replace (headers, "Content-Security-Policy", SL_HTTP_DATA_POLICY);
  sl_proxy_read (server->proxy, message);
  soup_message_body_set_accumulate (soup_server_message_get_request_body (message), FALSE);
  const gsize bytes = measure (message);
  if (is_branch (server, path))
    g_object_set_qdata_full (G_OBJECT (message), range_quark (),
                             g_strdup (soup_message_headers_get_one (asked, "Range")), g_free);
  soup_message_headers_remove (asked, "Range");
  soup_message_headers_remove (asked, "If-Range");
  if (bytes > HEADERS_MOST)
    sl_http_answer_text (message, STATUS_HEADERS_TOO_LARGE,
                         "the request's address and headers have %" G_GSIZE_FORMAT
                         " bytes, expected at most %d",
                         bytes, HEADERS_MOST);
  else if (is_branch (server, path))
    server->site->branch->begin (server->site->branch->data, message, path, query);
  else if (is_post (server, message) && (plain = plain_path (message, path)) != NULL)
    take_request (server, message, plain, query);
}

/* New connections get a certificate that has changed. */
static void
renew_certificate (SlHttpServer *server)
{
  g_autoptr (GError) error = NULL;
  const gint64 now = g_get_monotonic_time ();
  if (server->certificate == NULL || now - server->looked < LOOK_INTERVAL)
    return;
  server->looked = now;
  if (sl_certificate_refresh (server->certificate, &error)) {
    sl_connections_set_certificate (server->connections, sl_certificate_tls (server->certificate));
    sl_run_log_later (SL_LOG_INFO, NULL, "http", "certificate %s was read again",
                      server->settings->certificate);
  } else if (error != NULL)
    sl_run_log_later (SL_LOG_WARNING, NULL, "http", "the certificate stays as it was: %s",
                      error->message);
}

static gboolean
on_tick (gpointer data)
{
  SlHttpServer *server = data;
  renew_certificate (server);
  sl_connections_expire (server->connections);
  sl_auth_throttle_expire (server->throttle);
  if (server->site->tick != NULL)
    server->site->tick (server->data);
  if (server->site->branch != NULL)
    server->site->branch->tick (server->site->branch->data);
  return G_SOURCE_CONTINUE;
}

static gpointer
run (gpointer data)
{
  SlHttpServer *server = data;
  g_main_context_push_thread_default (server->context);
  server->soup = soup_server_new ("raw-paths", TRUE, NULL);
  soup_server_add_early_handler (server->soup, NULL, on_headers, server, NULL);
  soup_server_add_handler (server->soup, NULL, on_request, server, NULL);
  server->throttle = sl_auth_throttle_new (answer_request, server);
  server->connections = sl_connections_new (
    server->soup, server->listener,
    server->certificate != NULL ? sl_certificate_tls (server->certificate) : NULL,
    server->site->connections);
  if (server->site->started != NULL)
    server->site->started (server->data, server->connections);
  server->guard = (SlHttpGuard){ server->auth, server->throttle, server->certificate != NULL };
  if (server->site->branch != NULL)
    server->site->branch->started (server->site->branch->data, &server->guard);
  GSource *tick = g_timeout_source_new (TICK_MS);
  g_source_set_callback (tick, on_tick, server, NULL);
  g_source_attach (tick, server->context);
  g_main_loop_run (server->loop);
  g_source_destroy (tick);
  g_source_unref (tick);
  soup_server_remove_handler (server->soup, "/"); /* nothing is answered any more */
  if (server->site->branch != NULL)
    server->site->branch->stopped (server->site->branch->data);
  sl_auth_throttle_free (server->throttle);
  if (server->site->stopped != NULL)
    server->site->stopped (server->data);
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
    if (password == NULL)
      return sl_fail (error, SL_ERROR_OPEN, "password file: %s", reason->message);
  }
  /* Where users log in, a proxy may call this machine by any name. */
  server->auth = sl_auth_new (password, local && server->settings->users == NULL);
  return TRUE;
}

static gboolean
read_certificate (SlHttpServer *server, GError **error)
{
  const SlHttpSettings *settings = server->settings;
  if (settings->certificate != NULL)
    server->certificate = sl_certificate_new (settings->certificate, settings->private_key, error);
  return settings->certificate == NULL || server->certificate != NULL;
}

/* @text: ADDR:PORT, where port 0 becomes one that is free. */
static gboolean
listen_at (SlHttpServer *server, GSocketAddress *address, GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autoptr (GSocketAddress) bound = NULL;
  server->listener = g_socket_listener_new ();
  g_socket_listener_set_backlog (server->listener, BACKLOG);
  if (!g_socket_listener_add_address (server->listener, address, G_SOCKET_TYPE_STREAM,
                                      G_SOCKET_PROTOCOL_TCP, NULL, &bound, &reason))
    return sl_fail (
      error, SL_ERROR_OPEN,
      "%s; expected an address of this machine and a port that nothing else listens at",
      reason->message);
  GInetAddress *host = g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (bound));
  g_autofree char *text = g_inet_address_to_string (host);
  const gboolean six = g_inet_address_get_family (host) == G_SOCKET_FAMILY_IPV6;
  server->url = g_strdup_printf ("%s://%s%s%s:%u/", server->certificate != NULL ? "https" : "http",
                                 six ? "[" : "", text, six ? "]" : "",
                                 g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (bound)));
  return TRUE;
}

static gboolean
set_up (SlHttpServer *server, char **warning, GError **error)
{
  g_autoptr (GSocketAddress) address = sl_http_address (server->settings->listen, error);
  if (address == NULL || !sl_http_check_reach (server->settings, address, error))
    return FALSE;
  const gboolean local = g_inet_address_get_is_loopback (
    g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (address)));
  return read_password (server, local, warning, error) && read_certificate (server, error)
         && listen_at (server, address, error);
}

SlHttpServer *
sl_http_server_new (const SlHttpSettings *settings, const SlHttpSite *site, gpointer data,
                    char **warning, GError **error)
{
  SlHttpServer *server = g_new0 (SlHttpServer, 1);
  server->settings = settings;
  server->site = site;
  server->data = data;
  server->proxy = sl_proxy_new (settings->proxy);
  server->context = g_main_context_new ();
  server->loop = g_main_loop_new (server->context, FALSE);
  if (set_up (server, warning, error))
    return server;
  sl_http_server_free (server);
  return NULL;
}

void
sl_http_server_start (SlHttpServer *server)
{
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
  g_clear_pointer (&server->auth, sl_auth_free);
  sl_proxy_free (server->proxy);
  g_clear_object (&server->listener);
  g_clear_pointer (&server->certificate, sl_certificate_free);
  g_main_loop_unref (server->loop);
  g_main_context_unref (server->context);
  g_free (server->url);
  g_free (server);
}

const SlAuth *
sl_http_server_auth (const SlHttpServer *server)
{
  return server->auth;
}

const char *
sl_http_server_url (const SlHttpServer *server)
{
  return server->url;
}
