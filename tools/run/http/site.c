/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/http/site.h"

#include <string.h>

#include "core/base/printable.h"
#include "tools/run/http/page.h"
#include "tools/run/http/texts.h"

/* Clients of predictions at once. */
#define MAX_LISTENERS 16
/* Where the files of the page are. */
#define PAGE_FOLDER "/page/"

struct _SlRunSite
{
  const SlHttpSettings *settings;
  SlMessages *messages;
  GPtrArray *workers, *channels;
  SlEvents *events; /* (nullable) */
  SlSenders *senders;
  GMutex lock; /* of report */
  SlReport *report;
};

SlReport *
sl_run_site_get_report (SlRunSite *site)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&site->lock);
  return sl_report_ref (site->report);
}

const SlHttpSettings *
sl_run_site_settings (const SlRunSite *site)
{
  return site->settings;
}

SlMessages *
sl_run_site_messages (const SlRunSite *site)
{
  return site->messages;
}

GPtrArray *
sl_run_site_workers (const SlRunSite *site)
{
  return site->workers;
}

SlWorker *
sl_run_site_worker (const SlRunSite *site, const char *name)
{
  for (guint i = 0; i < site->workers->len; i++)
    if (strcmp (sl_worker_name (site->workers->pdata[i]), name) == 0)
      return site->workers->pdata[i];
  return NULL;
}

SlChannel *
sl_run_site_channel (const SlRunSite *site, const char *name, guint *index)
{
  for (guint i = 0; i < site->channels->len; i++)
    if (strcmp (sl_feed_name (sl_channel_feed (site->channels->pdata[i])), name) == 0) {
      if (index != NULL)
        *index = i;
      return site->channels->pdata[i];
    }
  return NULL;
}

/* A file of the console. */
static void
answer_file (SoupServerMessage *message, const char *name)
{
  const char *type;
  g_autoptr (GBytes) file = sl_http_page_file (name, &type);
  if (file == NULL) {
    g_autofree char *shown = sl_printable (name, SL_PRINTABLE_NAME);
    sl_http_answer_text (message, SOUP_STATUS_NOT_FOUND,
                         PAGE_FOLDER "%s: the page has no such file", shown);
    return;
  }
  soup_message_headers_replace (soup_server_message_get_response_headers (message),
                                "Content-Security-Policy", SL_HTTP_CONSOLE_POLICY);
  gsize size;
  const char *bytes = g_bytes_get_data (file, &size);
  sl_http_answer (message, SOUP_STATUS_OK, type, g_string_new_len (bytes, (gssize) size));
}

static void
answer_page (SlRunSite *site, SoupServerMessage *message, SlChannel *channel)
{
  answer_file (message, "index.html");
}

static void
route_file (gpointer data, SoupServerMessage *message, GHashTable *query)
{
  const char *path = g_uri_get_path (soup_server_message_get_uri (message));
  answer_file (message, path + strlen (PAGE_FOLDER));
}

/* At the root, so that it may keep the page itself for times without a connection. */
static void
route_service_worker (gpointer data, SoupServerMessage *message, GHashTable *query)
{
  answer_file (message, "sw.js");
}

static void
answer_pipelines (SlRunSite *site, SoupServerMessage *message, SlChannel *channel)
{
  g_autoptr (SlReport) report = sl_run_site_get_report (site);
  GString *text = g_string_new (NULL);
  sl_text_pipelines (text, report, site->settings->stall, site->messages);
  sl_http_answer (message, SOUP_STATUS_OK, SL_HTTP_JSON, text);
}

static void
answer_health (SlRunSite *site, SoupServerMessage *message, SlChannel *channel)
{
  g_autoptr (SlReport) report = sl_run_site_get_report (site);
  GString *text = g_string_new (NULL);
  const gboolean good = sl_text_health (text, report, site->settings->stall);
  sl_http_answer (message, good ? SOUP_STATUS_OK : SOUP_STATUS_SERVICE_UNAVAILABLE, SL_HTTP_JSON,
                  text);
}

static void
unref_predictions (gpointer predictions)
{
  if (predictions != NULL)
    sl_predictions_unref (predictions);
}

static void
answer_metrics (SlRunSite *site, SoupServerMessage *message, SlChannel *channel)
{
  g_autoptr (SlReport) report = sl_run_site_get_report (site);
  g_autoptr (GPtrArray) newest = g_ptr_array_new_with_free_func (unref_predictions);
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < site->channels->len; i++) {
    guint64 serial;
    g_ptr_array_add (newest, sl_feed_newest (sl_channel_feed (site->channels->pdata[i]),
                                             site->settings->stall, &serial));
  }
  sl_text_metrics (text, report, newest);
  sl_http_answer (message, SOUP_STATUS_OK, SL_HTTP_METRICS, text);
}

/* Streams for up to @most clients; @advice: for the next one. */
static void
begin_stream (SlRunSite *site, SoupServerMessage *message, SlChannel *channel, SlChannelStream what,
              guint most, const char *advice)
{
  const gboolean pictures = what == SL_CHANNEL_DRAWN || what == SL_CHANNEL_CLEAN;
  guint clients = 0;
  for (guint i = 0; i < site->channels->len; i++)
    clients += (pictures ? sl_channel_viewers : sl_channel_listeners) (site->channels->pdata[i]);
  if (clients >= most) {
    soup_message_headers_replace (soup_server_message_get_response_headers (message), "Retry-After",
                                  "10");
    sl_http_answer_text (message, SOUP_STATUS_SERVICE_UNAVAILABLE,
                         "%u clients look already: expected at most %u; %s", clients, most, advice);
  } else if (soup_server_message_get_method (message) == SOUP_METHOD_HEAD) {
    sl_http_answer (message, SOUP_STATUS_OK,
                    pictures ? "multipart/x-mixed-replace; boundary=frame" : "text/event-stream",
                    g_string_new (NULL));
  } else {
    sl_channel_stream (channel, message, what);
  }
}

void
sl_run_site_pictures (SlRunSite *site, SoupServerMessage *message, SlChannel *channel,
                      gboolean drawn)
{
  begin_stream (site, message, channel, drawn ? SL_CHANNEL_DRAWN : SL_CHANNEL_CLEAN,
                site->settings->viewers,
                "more with viewers= in [http], and /snapshot.jpg is for all");
}

static void
answer_pictures (SlRunSite *site, SoupServerMessage *message, SlChannel *channel)
{
  sl_run_site_pictures (site, message, channel, TRUE);
}

static void
answer_snapshot (SlRunSite *site, SoupServerMessage *message, SlChannel *channel)
{
  sl_channel_snapshot (channel, message, TRUE, 0);
}

/* @serial: of the newest that there ever were */
static void
answer_no_predictions (SlRunSite *site, SoupServerMessage *message, SlChannel *channel,
                       guint64 serial)
{
  const char *name = sl_feed_name (sl_channel_feed (channel));
  g_autoptr (SlReport) report = sl_run_site_get_report (site);
  guint index = 0;
  g_ptr_array_find (site->channels, channel, &index);
  const SlWorkerState state = ((SlReportPipeline *) report->pipelines->pdata[index])->state;
  if (state != SL_WORKER_RUNNING)
    sl_http_answer_text (message, SOUP_STATUS_SERVICE_UNAVAILABLE,
                         "/predictions: %s: there are none: the pipeline is %s", name,
                         sl_worker_state_name (state));
  else if (serial == 0)
    sl_http_answer_text (message, SOUP_STATUS_SERVICE_UNAVAILABLE,
                         "/predictions: %s: there are none yet", name);
  else
    sl_http_answer_text (
      message, SOUP_STATUS_SERVICE_UNAVAILABLE,
      "/predictions: %s: there are none of the last %g s; /health says how the pipeline is", name,
      site->settings->stall / 1000.0);
}

void
sl_run_site_predictions (SlRunSite *site, SoupServerMessage *message, SlChannel *channel,
                         gboolean analysed)
{
  const char *accept =
    soup_message_headers_get_list (soup_server_message_get_request_headers (message), "Accept");
  guint64 serial;
  if (accept != NULL && strstr (accept, "text/event-stream") != NULL) {
    begin_stream (site, message, channel, analysed ? SL_CHANNEL_ANALYSED : SL_CHANNEL_PREDICTIONS,
                  MAX_LISTENERS,
                  "the newest predictions alone, without text/event-stream, are for all");
    return;
  }
  g_autoptr (SlPredictions) newest =
    sl_feed_newest (sl_channel_feed (channel), site->settings->stall, &serial);
  if (newest == NULL) {
    answer_no_predictions (site, message, channel, serial);
    return;
  }
  GString *text = sl_channel_json (channel, newest, analysed);
  g_string_append_c (text, '\n');
  sl_http_answer (message, SOUP_STATUS_OK, SL_HTTP_JSON, text);
}

static void
answer_predictions (SlRunSite *site, SoupServerMessage *message, SlChannel *channel)
{
  sl_run_site_predictions (site, message, channel, FALSE);
}

/* (nullable): the one that ?pipeline= names, the first without; NULL, having answered, when there
 * is none of that name. */
static SlChannel *
find_channel (SlRunSite *site, SoupServerMessage *message, GHashTable *query)
{
  const char *name = query != NULL ? g_hash_table_lookup (query, "pipeline") : NULL;
  if (name == NULL)
    return site->channels->pdata[0];
  g_autoptr (GString) names = g_string_new (NULL);
  for (guint i = 0; i < site->channels->len; i++) {
    const char *known = sl_feed_name (sl_channel_feed (site->channels->pdata[i]));
    if (strcmp (known, name) == 0)
      return site->channels->pdata[i];
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", known);
  }
  g_autofree char *shown = sl_printable (name, SL_PRINTABLE_NAME);
  sl_http_answer_text (message, SOUP_STATUS_NOT_FOUND,
                       "?pipeline=%s: there is no such pipeline; expected %s", shown, names->str);
  return NULL;
}

/* The answer for the channel that is asked for. */
#define ROUTE(name)                                                                       \
  static void route_##name (gpointer data, SoupServerMessage *message, GHashTable *query) \
  {                                                                                       \
    SlChannel *channel = find_channel (data, message, query);                             \
    if (channel != NULL)                                                                  \
      answer_##name (data, message, channel);                                             \
  }

ROUTE (page)
ROUTE (snapshot)
ROUTE (pictures)
ROUTE (predictions)
ROUTE (pipelines)
ROUTE (health)
ROUTE (metrics)

static void
on_started (gpointer data, SlConnections *connections)
{
  SlRunSite *site = data;
  for (guint i = 0; i < site->channels->len; i++)
    sl_channel_start (site->channels->pdata[i], connections);
  site->senders = sl_senders_new (connections);
}

static void
on_tick (gpointer data)
{
  SlRunSite *site = data;
  for (guint i = 0; i < site->channels->len; i++)
    sl_channel_tick (site->channels->pdata[i]);
  sl_senders_tick (site->senders);
}

static void
on_stopped (gpointer data)
{
  SlRunSite *site = data;
  sl_senders_free (site->senders);
  for (guint i = 0; i < site->channels->len; i++)
    sl_channel_stop (site->channels->pdata[i]);
}

static const SlHttpRoute routes[] = {
  { "/", route_page, TRUE },
  { "/snapshot.jpg", route_snapshot },
  { "/stream.mjpg", route_pictures },
  { "/predictions", route_predictions },
  { "/pipelines", route_pipelines },
  { "/health", route_health },
  { "/metrics", route_metrics },
  { PAGE_FOLDER "*", route_file, TRUE },
  { "/sw.js", route_service_worker, TRUE },
  { NULL, NULL },
};

const SlHttpSite sl_run_site = {
  .routes = routes, .started = on_started, .tick = on_tick, .stopped = on_stopped
};

SlRunSite *
sl_run_site_new (const SlHttpSettings *settings, SlMessages *messages, GPtrArray *workers,
                 GPtrArray *channels)
{
  SlRunSite *site = g_new0 (SlRunSite, 1);
  site->settings = settings;
  site->messages = messages;
  site->workers = workers;
  site->channels = channels;
  g_mutex_init (&site->lock);
  return site;
}

void
sl_run_site_set_events (SlRunSite *site, SlEvents *events)
{
  site->events = events;
}

SlEvents *
sl_run_site_events (const SlRunSite *site)
{
  return site->events;
}

SlSenders *
sl_run_site_senders (const SlRunSite *site)
{
  return site->senders;
}

void
sl_run_site_free (SlRunSite *site)
{
  g_clear_pointer (&site->report, sl_report_unref);
  g_mutex_clear (&site->lock);
  g_free (site);
}

void
sl_run_site_report (SlRunSite *site, SlReport *report)
{
  g_mutex_lock (&site->lock);
  SlReport *before = site->report;
  site->report = report;
  g_mutex_unlock (&site->lock);
  g_clear_pointer (&before, sl_report_unref);
}
