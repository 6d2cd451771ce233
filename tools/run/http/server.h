/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread that answers, for whichever command has something to show. */
#pragma once

#include "pipelines/description/description.h"
#include "tools/run/http/connections.h"

#define SL_HTTP_JSON "application/json"
#define SL_HTTP_HTML "text/html; charset=utf-8"
#define SL_HTTP_METRICS "text/plain; version=0.0.4; charset=utf-8"

/** SlHttpRoute: @answer: one that may be answered; @query: (nullable) */
typedef struct
{
  const char *path;
  void (*answer) (gpointer site, SoupServerMessage *message, GHashTable *query);
} SlHttpRoute;

/**
 * SlHttpSite: what is served; all calls from the server's thread.
 * @routes: the last one's path is NULL
 * @started, @stopped: (nullable): before the first answer and behind the last
 * @tick: (nullable): some times a second
 */
typedef struct
{
  const SlHttpRoute *routes;
  void (*started) (gpointer site, SlConnections *connections);
  void (*tick) (gpointer site);
  void (*stopped) (gpointer site);
} SlHttpSite;

typedef struct _SlHttpServer SlHttpServer;

/** sl_http_server_new: listens; answers come once it was started. @settings, @site and its @data
 * must live as long. @warning: (out) (transfer full) (nullable): a sentence about the password's
 * file. NULL with @error set. Main thread, as all that begin so. */
SlHttpServer *sl_http_server_new (const SlHttpSettings *settings, const SlHttpSite *site,
                                  gpointer data, char **warning, GError **error);
void sl_http_server_start (SlHttpServer *server);
/** sl_http_server_free: ends the thread. */
void sl_http_server_free (SlHttpServer *server);
/** sl_http_server_url: (transfer none) */
const char *sl_http_server_url (const SlHttpServer *server);

/** sl_http_answer: with @text (transfer full). sl_http_answer_text: with a sentence. */
void sl_http_answer (SoupServerMessage *message, guint status, const char *type, GString *text);
void sl_http_answer_text (SoupServerMessage *message, guint status, const char *format, ...)
  G_GNUC_PRINTF (3, 4);
