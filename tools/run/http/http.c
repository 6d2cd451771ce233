/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The supervisor's side of the server: a channel for each worker, in the workers' order, and a
 * report twice a second. */
#include "tools/run/http/http.h"

#include "core/base/fail.h"
#include "core/base/secretfile.h"
#include "tools/run/api/audit.h"
#include "tools/run/api/router.h"
#include "tools/run/http/certificate.h"
#include "tools/run/http/site.h"
#include "tools/run/http/users.h"
#include "tools/run/log.h"

#define INTERVAL (G_USEC_PER_SEC / 2)

struct _SlRunHttp
{
  SlHttpSettings settings;
  GPtrArray *workers;
  GPtrArray *channels; /* of SlChannel */
  SlMessages *messages;
  SlReporter *reporter;
  SlRunSite *site;
  SlApi *api;
  SlHttpBranch branch; /* the API */
  SlHttpSite served;   /* the site, and the branch */
  SlHttpServer *server;
  SlEvents *events; /* (nullable) */
  guint64 *serials; /* of the predictions that it has, one a worker */
  gint64 reported;
};

static void
note_line (SlLogLevel level, const char *pipeline, const char *event, const char *message,
           gpointer data)
{
  sl_messages_add (((SlRunHttp *) data)->messages, level, pipeline, event, message);
}

static SlFeed *
feed_of (SlRunHttp *http, SlWorker *worker)
{
  guint index = 0;
  g_ptr_array_find (http->workers, worker, &index);
  return sl_channel_feed (http->channels->pdata[index]);
}

void
sl_run_http_adopt (SlRunHttp *http, SlWorker *worker, GstElement *pipeline)
{
  sl_feed_attach (feed_of (http, worker), pipeline);
  sl_events_adopt (http->events, worker, pipeline);
}

void
sl_run_http_posted (SlRunHttp *http, SlWorker *worker, GstMessage *message)
{
  sl_events_posted (http->events, worker, message);
}

SlRunHttp *
sl_run_http_new (const SlHttpSettings *settings, const char *origin, GPtrArray *workers,
                 GError **error)
{
  SlRunHttp *http = g_new0 (SlRunHttp, 1);
  g_autofree char *warning = NULL;
  sl_http_settings_copy (&http->settings, settings);
  http->workers = workers;
  http->messages = sl_messages_new ();
  http->reporter = sl_reporter_new (workers);
  http->channels = g_ptr_array_new_with_free_func ((GDestroyNotify) sl_channel_free);
  for (guint i = 0; i < workers->len; i++)
    g_ptr_array_add (http->channels, sl_channel_new (sl_worker_name (workers->pdata[i]),
                                                     &http->settings, http->messages));
  http->site = sl_run_site_new (&http->settings, http->messages, workers, http->channels);
  http->events = sl_events_new ();
  http->serials = g_new0 (guint64, workers->len);
  sl_run_site_set_events (http->site, http->events);
  http->api = sl_api_new (http->site, &http->settings, error);
  if (http->api != NULL) {
    http->branch = sl_api_branch (http->api);
    http->served = sl_run_site;
    http->served.branch = &http->branch;
    http->server = sl_http_server_new (&http->settings, &http->served, http->site, &warning, error);
  }
  if (http->server == NULL) {
    g_prefix_error (error, "%s %s: ", origin, settings->listen);
    sl_run_http_free (http);
    return NULL;
  }
  sl_run_log_set_listener (note_line, http);
  if (warning != NULL)
    sl_run_log (SL_LOG_WARNING, NULL, "http", "password file: %s", warning);
  for (guint i = 0; i < workers->len; i++)
    sl_run_http_adopt (http, workers->pdata[i], sl_worker_pipeline (workers->pdata[i]));
  return http;
}

gboolean
sl_run_http_check (const SlHttpSettings *settings, GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autofree char *password = NULL, *warning = NULL;
  SlUsers *users = settings->users != NULL ? sl_users_new (settings->users, error) : NULL;
  if (settings->users != NULL && users == NULL)
    return FALSE;
  g_clear_pointer (&users, sl_users_free);
  if (settings->password_file != NULL
      && (password = sl_secret_file_read (settings->password_file, &warning, &reason)) == NULL)
    return sl_fail (error, SL_ERROR_OPEN, "password file: %s", reason->message);
  SlCertificate *certificate =
    settings->certificate != NULL
      ? sl_certificate_new (settings->certificate, settings->private_key, error)
      : NULL;
  if (settings->certificate != NULL && certificate == NULL)
    return FALSE;
  g_clear_pointer (&certificate, sl_certificate_free);
  return settings->audit == NULL || sl_audit_check (settings->audit, error);
}

gboolean
sl_run_http_search (SlRunHttp *http, const SlModelSettings *settings, GError **error)
{
  return sl_events_search (http->events, settings, error);
}

void
sl_run_http_start (SlRunHttp *http)
{
  http->reported = g_get_monotonic_time ();
  sl_run_site_report (http->site, sl_reporter_make (http->reporter));
  sl_http_server_start (http->server);
  sl_run_log (SL_LOG_INFO, NULL, "http", "%s shows the pipelines",
              sl_http_server_url (http->server));
}

void
sl_run_http_free (SlRunHttp *http)
{
  if (http == NULL)
    return;
  sl_events_stop (http->events);
  g_clear_pointer (&http->server, sl_http_server_free);
  g_clear_pointer (&http->api, sl_api_free);
  g_clear_pointer (&http->site, sl_run_site_free);
  sl_events_free (http->events);
  sl_run_log_set_listener (NULL, NULL); /* the threads that logged are gone */
  g_free (http->serials);
  for (guint i = 0; i < http->channels->len; i++)
    sl_feed_detach (sl_channel_feed (http->channels->pdata[i]));
  g_ptr_array_unref (http->channels);
  sl_reporter_free (http->reporter);
  sl_messages_free (http->messages);
  sl_http_settings_clear (&http->settings);
  g_free (http);
}

static void
take_events (SlRunHttp *http, const SlReport *report, guint ms)
{
  for (guint i = 0; i < report->pipelines->len; i++) {
    guint64 serial;
    g_autoptr (SlPredictions) newest =
      sl_feed_newest (sl_channel_feed (http->channels->pdata[i]), http->settings.stall, &serial);
    const gboolean fresh = newest != NULL && serial != http->serials[i];
    http->serials[i] = serial;
    sl_events_note (http->events, report->pipelines->pdata[i], fresh ? newest : NULL, ms);
  }
}

void
sl_run_http_tick (SlRunHttp *http)
{
  const gint64 now = g_get_monotonic_time ();
  if (now - http->reported < INTERVAL)
    return;
  SlReport *report = sl_reporter_make (http->reporter);
  take_events (http, report, (guint) ((now - http->reported) / 1000));
  http->reported = now;
  sl_run_site_report (http->site, report);
}

void
sl_run_http_drop (SlRunHttp *http, SlWorker *worker)
{
  sl_feed_detach (feed_of (http, worker));
}

void
sl_run_http_audit (SlRunHttp *http, const char *user, const char *address, const char *message)
{
  g_autoptr (GError) error = NULL;
  if (http != NULL && !sl_api_audit_line (http->api, user, address, message, &error))
    sl_run_log (SL_LOG_ERROR, NULL, "http", "%s", error->message);
}
