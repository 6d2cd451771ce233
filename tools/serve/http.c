/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/serve/http.h"

#include "tools/run/http/messages.h"
#include "tools/run/http/page.h"
#include "tools/run/http/server.h"
#include "tools/run/log.h"
#include "tools/serve/http_posts.h"

/* At once, where pictures are posted. */
#define PICTURE_CONNECTIONS 256

struct _SlServeHttp
{
  SlHttpSettings settings;
  SlMessages *messages;
  SlHttpServer *server;
  SlHttpSite site;
  SlHttpDoor *door; /* (nullable) */
  GMutex lock;
  SlServeReport *report; /* under the lock */
};

static SlServeReport *
get_report (SlServeHttp *http)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&http->lock);
  return sl_serve_report_ref (http->report);
}

static void
answer_page (gpointer site, SoupServerMessage *message, GHashTable *query)
{
  soup_message_headers_replace (soup_server_message_get_response_headers (message),
                                "Content-Security-Policy", SL_HTTP_PAGE_POLICY);
  g_autoptr (GBytes) page =
    g_resources_lookup_data ("/sightline/serve/page.html", G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  sl_http_answer (
    message, SOUP_STATUS_OK, SL_HTTP_HTML,
    g_string_new_len (g_bytes_get_data (page, NULL), (gssize) g_bytes_get_size (page)));
}

static void
answer_status (gpointer site, SoupServerMessage *message, GHashTable *query)
{
  SlServeHttp *http = site;
  g_autoptr (SlServeReport) report = get_report (http);
  GString *text = g_string_new ("{");
  sl_serve_text_status (text, report);
  g_string_append (text, ",\"messages\":");
  sl_messages_append_json (http->messages, SL_MESSAGES_SHOWN, text);
  g_string_append (text, "}\n");
  sl_http_answer (message, SOUP_STATUS_OK, SL_HTTP_JSON, text);
}

static void
answer_health (gpointer site, SoupServerMessage *message, GHashTable *query)
{
  g_autoptr (SlServeReport) report = get_report (site);
  GString *text = g_string_new (NULL);
  const gboolean good = sl_serve_text_health (text, report);
  sl_http_answer (message, good ? SOUP_STATUS_OK : SOUP_STATUS_SERVICE_UNAVAILABLE, SL_HTTP_JSON,
                  text);
}

static void
answer_metrics (gpointer site, SoupServerMessage *message, GHashTable *query)
{
  g_autoptr (SlServeReport) report = get_report (site);
  GString *text = g_string_new (NULL);
  sl_serve_text_metrics (text, report);
  sl_http_answer (message, SOUP_STATUS_OK, SL_HTTP_METRICS, text);
}

static void
answer_get (gpointer site, SoupServerMessage *message, GHashTable *query)
{
  sl_http_door_get (((SlServeHttp *) site)->door, message,
                    g_uri_get_path (soup_server_message_get_uri (message)));
}

static void
begin_post (gpointer site, SoupServerMessage *message, const char *path, GHashTable *query,
            gboolean known)
{
  sl_http_door_begin (((SlServeHttp *) site)->door, message, path, query, known);
}

static void
take_post (gpointer site, SoupServerMessage *message)
{
  sl_http_door_received (((SlServeHttp *) site)->door, message);
}

static void
on_started (gpointer site, SlConnections *connections)
{
  SlServeHttp *http = site;
  sl_http_door_started (http->door, sl_http_server_auth (http->server));
}

static void
on_tick (gpointer site)
{
  sl_http_door_tick (((SlServeHttp *) site)->door);
}

static void
on_stopped (gpointer site)
{
  sl_http_door_stopped (((SlServeHttp *) site)->door);
}

static const SlHttpRoute routes[] = {
  { "/", answer_page },
  { "/status", answer_status },
  { "/health", answer_health },
  { "/metrics", answer_metrics },
  { NULL, NULL },
};
static const SlHttpRoute picture_routes[] = {
  { "/", answer_page },
  { "/status", answer_status },
  { "/health", answer_health },
  { "/metrics", answer_metrics },
  { "/predict", answer_get },
  { "/v1/*", answer_get },
  { NULL, NULL },
};
static const SlHttpPosts posts = { begin_post, take_post, sl_http_door_refuse };

static void
set_up_site (SlServeHttp *http, const SlServePictures *pictures)
{
  http->site = (SlHttpSite){ .routes = routes };
  if (pictures == NULL)
    return;
  http->door = sl_http_door_new (pictures->body_most, pictures->keyed);
  http->site = (SlHttpSite){ .routes = picture_routes,
                             .posts = &posts,
                             .keyed = pictures->keyed,
                             .connections = PICTURE_CONNECTIONS,
                             .started = on_started,
                             .tick = on_tick,
                             .stopped = on_stopped };
}

SlHttpDoor *
sl_serve_http_pictures (const SlServeHttp *http)
{
  return http->door;
}

static void
note_line (SlLogLevel level, const char *model, const char *event, const char *message,
           gpointer data)
{
  sl_messages_add (((SlServeHttp *) data)->messages, level, model, event, message);
}

SlServeHttp *
sl_serve_http_new (const SlHttpOptions *options, const SlServePictures *pictures, GError **error)
{
  SlServeHttp *http = g_new0 (SlServeHttp, 1);
  g_autofree char *warning = NULL;
  g_mutex_init (&http->lock);
  http->messages = sl_messages_new ();
  set_up_site (http, pictures);
  if (sl_http_options_apply (options, "--http", &http->settings, error)) {
    http->server = sl_http_server_new (&http->settings, &http->site, http, &warning, error);
    if (http->server == NULL)
      g_prefix_error (error, "--http %s: ", options->listen);
  }
  if (http->server == NULL) {
    sl_serve_http_free (http);
    return NULL;
  }
  sl_run_log_set_listener (note_line, http);
  if (warning != NULL)
    sl_run_log (SL_LOG_WARNING, NULL, "http", "password file: %s", warning);
  return http;
}

void
sl_serve_http_free (SlServeHttp *http)
{
  if (http == NULL)
    return;
  sl_run_log_set_listener (NULL, NULL);
  g_clear_pointer (&http->server, sl_http_server_free);
  g_clear_pointer (&http->door, sl_http_door_unref);
  g_clear_pointer (&http->report, sl_serve_report_unref);
  sl_messages_free (http->messages);
  sl_http_settings_clear (&http->settings);
  g_mutex_clear (&http->lock);
  g_free (http);
}

void
sl_serve_http_report (SlServeHttp *http, SlServeReport *report)
{
  g_mutex_lock (&http->lock);
  SlServeReport *before = http->report;
  http->report = sl_serve_report_ref (report);
  g_mutex_unlock (&http->lock);
  if (before == NULL) {
    sl_http_server_start (http->server);
    sl_run_log (SL_LOG_INFO, NULL, "http", "%s shows the worker%s",
                sl_http_server_url (http->server),
                http->door != NULL ? ", and takes pictures" : "");
  }
  g_clear_pointer (&before, sl_serve_report_unref);
}
