/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread that answers, for whichever command has something to show. */
#pragma once

#include "pipelines/description/description.h"
#include "tools/run/http/auth.h"
#include "tools/run/http/auth_throttle.h"
#include "tools/run/http/connections.h"

#define SL_HTTP_JSON "application/json"
#define SL_HTTP_HTML "text/html; charset=utf-8"
#define SL_HTTP_METRICS "text/plain; version=0.0.4; charset=utf-8"
/** What every answer may load that is not a page, as a Content-Security-Policy has it: nothing. */
#define SL_HTTP_DATA_POLICY "default-src 'none'; frame-ancestors 'none'; sandbox"

/** SlHttpRoute: @path: one that ends in "*" stands for all that begin so; @answer: a GET or HEAD
 * that may be answered; @query: (nullable); @open: a part of the page, which shows nothing by
 * itself: where users log in, it is for all */
typedef struct
{
  const char *path;
  void (*answer) (gpointer site, SoupServerMessage *message, GHashTable *query);
  gboolean open;
} SlHttpRoute;

/**
 * SlHttpPosts: how a site takes requests with a body; all calls from the server's thread.
 * @begin: the headers of a POST have come, and its body has not: sets a status as the answer, or
 * takes the body's parts by the signal "got-chunk". @known: the client stated the password
 * @received: the body of one that @begin took has come
 * @refuse: answers with a status and a sentence
 */
typedef struct
{
  void (*begin) (gpointer site, SoupServerMessage *message, const char *path, GHashTable *query,
                 gboolean known);
  void (*received) (gpointer site, SoupServerMessage *message);
  void (*refuse) (SoupServerMessage *message, guint status, const char *sentence);
} SlHttpPosts;

/**
 * SlHttpGuard: what the server decides by, valid while it runs.
 * @throttle: of requests that state a password
 * @secure: whether it speaks TLS
 */
typedef struct
{
  const SlAuth *auth;
  SlAuthThrottle *throttle;
  gboolean secure;
} SlHttpGuard;

/**
 * SlHttpBranch: addresses that decide themselves who may ask what, of every method; all calls from
 * the server's thread, with @data.
 * @takes: whether @path, as the address has it, escaped, is one of them
 * @begin: the headers have come, and no body: sets a status as the answer, or takes the body's
 * parts by the signal "got-chunk"
 * @received: the whole request has come, and is not answered yet
 * @started, @tick, @stopped: as those of the site
 */
typedef struct
{
  gpointer data;
  gboolean (*takes) (gpointer data, const char *path);
  void (*begin) (gpointer data, SoupServerMessage *message, const char *path, GHashTable *query);
  void (*received) (gpointer data, SoupServerMessage *message);
  void (*started) (gpointer data, const SlHttpGuard *guard);
  void (*tick) (gpointer data);
  void (*stopped) (gpointer data);
} SlHttpBranch;

/**
 * SlHttpSite: what is served; all calls from the server's thread.
 * @routes: the last one's path is NULL
 * @posts: (nullable): NULL = only GET and HEAD are answered
 * @branch: (nullable): addresses that it answers to itself
 * @keyed: who posts need not state the password: the site asks for a key itself
 * @connections: at once, 0 = SL_CONNECTIONS_MOST
 * @started, @stopped: (nullable): before the first answer and behind the last
 * @tick: (nullable): some times a second
 */
typedef struct
{
  const SlHttpRoute *routes;
  const SlHttpPosts *posts;
  const SlHttpBranch *branch;
  gboolean keyed;
  guint connections;
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
/** sl_http_server_auth: (transfer none): who may send requests. */
const SlAuth *sl_http_server_auth (const SlHttpServer *server);
/** sl_http_server_url: (transfer none) */
const char *sl_http_server_url (const SlHttpServer *server);

/** sl_http_range: (transfer none) (nullable): the part that the client asked for, the value of the
 * header Range; libsoup does not see it. */
const char *sl_http_range (SoupServerMessage *message);
/** sl_http_is_route: whether @route, of an SlHttpRoute, stands for @path. */
gboolean sl_http_is_route (const char *route, const char *path);
/** sl_http_answer: with @text (transfer full). sl_http_answer_text: with a sentence. */
void sl_http_answer (SoupServerMessage *message, guint status, const char *type, GString *text);
void sl_http_answer_text (SoupServerMessage *message, guint status, const char *format, ...)
  G_GNUC_PRINTF (3, 4);
