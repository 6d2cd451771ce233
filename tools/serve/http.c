/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/serve/http.h"

#include "tools/run/http/messages.h"
#include "tools/run/http/page.h"
#include "tools/run/http/server.h"
#include "tools/run/log.h"

struct _SlServeHttp
{
  SlHttpSettings settings;
  SlMessages *messages;
  SlHttpServer *server;
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
  sl_messages_append_json (http->messages, text);
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

static const SlHttpRoute routes[] = {
  { "/", answer_page },
  { "/status", answer_status },
  { "/health", answer_health },
  { "/metrics", answer_metrics },
  { NULL, NULL },
};

static const SlHttpSite site = { .routes = routes };

static void
note_line (SlLogLevel level, const char *model, const char *event, const char *message,
           gpointer data)
{
  sl_messages_add (((SlServeHttp *) data)->messages, level, model, event, message);
}

SlServeHttp *
sl_serve_http_new (const SlHttpOptions *options, GError **error)
{
  SlServeHttp *http = g_new0 (SlServeHttp, 1);
  g_autofree char *warning = NULL;
  g_mutex_init (&http->lock);
  http->messages = sl_messages_new ();
  if (sl_http_options_apply (options, "--http", &http->settings, error)) {
    http->server = sl_http_server_new (&http->settings, &site, http, &warning, error);
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
    sl_run_log (SL_LOG_INFO, NULL, "http", "%s shows the worker",
                sl_http_server_url (http->server));
  }
  g_clear_pointer (&before, sl_serve_report_unref);
}
