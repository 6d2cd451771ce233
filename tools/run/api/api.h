/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What handlers of /api/v1 see: a request, and the ways to answer it. A file of handlers has a
 * table of routes, which router.c lists. The router checks the role, the token, the origin, the
 * body's type and its size before a handler is called. All on the server's thread, but for what
 * says otherwise.
 */
#pragma once

#include <libsoup/soup.h>

#include "core/base/json_reader.h"
#include "tools/run/http/roles.h"
#include "tools/run/http/site.h"

/** Who asks without a login: no name of a user. */
#define SL_API_ANYONE "(no login)"
/** Placeholders of a path at most. */
#define SL_API_PARTS 4

/**
 * SlApiRequest: with its whole body, valid until it is answered.
 * @site: of which sl_run_site_*() are
 * @query: (nullable): names and values, unescaped
 * @parts: what stood for {...} of the path: unescaped UTF-8 without control characters
 * @body: (nullable): a NUL is behind it; of the type application/json
 * @user: for the log: a user's name, "password" or SL_API_ANYONE
 */
typedef struct
{
  SoupServerMessage *message;
  SlRunSite *site;
  GHashTable *query;
  char *parts[SL_API_PARTS];
  GBytes *body;
  const char *user;
  SlRole role;
} SlApiRequest;

/**
 * SlApiRoute:
 * @method: GET answers HEAD, too
 * @path: "/api/v1/events/{id}": {...} stands for one segment, and a path's own words come before it
 * @role: the least that is asked for
 * @max_body: bytes; 0 = no body is read
 * @answer: answers, or begins a job that does
 * @keys: (nullable): what the address may state behind "?", up to NULL; SL_API_ANY_KEY = anything
 */
typedef struct
{
  const char *method, *path;
  SlRole role;
  gsize max_body;
  void (*answer) (SlApiRequest *request);
  const char *const *keys;
} SlApiRoute;

#define SL_API_ANY_KEY "*"

/* A table a file; the last one's path is NULL. */
extern const SlApiRoute sl_api_session_routes[], sl_api_pipelines_routes[], sl_api_log_routes[];
extern const SlApiRoute sl_api_events_routes[], sl_api_marks_routes[], sl_api_clips_routes[],
  sl_api_storage_routes[], sl_api_charts_routes[];
extern const SlApiRoute sl_api_regions_routes[], sl_api_settings_routes[], sl_api_push_routes[];

/** SL_API_NO_PIPELINE: the error of a path with a name that no pipeline has; %s: the name */
#define SL_API_NO_PIPELINE "there is no pipeline '%s'; GET /api/v1/pipelines lists them"

/** sl_api_json: @json (transfer full) */
void sl_api_json (SlApiRequest *request, guint status, GString *json);
/** sl_api_error: {"error": a sentence}: what, where, expected, got, what to do. */
void sl_api_error (SlApiRequest *request, guint status, const char *format, ...)
  G_GNUC_PRINTF (3, 4);
/** sl_api_bytes: with status 200. @file_name: (nullable): what a browser saves it as */
void sl_api_bytes (SlApiRequest *request, const char *type, GBytes *bytes, const char *file_name);
/** sl_api_file: sends a file, or the part of it that is asked for, piece by piece. */
void sl_api_file (SlApiRequest *request, const SlSendFile *file);
/** sl_api_query: (transfer none) (nullable): what the address states as ?@name= */
const char *sl_api_query (const SlApiRequest *request, const char *name);

/** sl_api_number: @value: what the address states as ?@name=, a whole number from @low to @high;
 * unchanged without. FALSE, having answered, when it is something else. */
gboolean sl_api_number (SlApiRequest *request, const char *name, guint low, guint high,
                        guint *value);
/** sl_api_channel: (transfer none) (nullable): of the pipeline that the first part names. NULL,
 * having answered, when there is none. */
SlChannel *sl_api_channel (SlApiRequest *request);

/** sl_api_read_body: whether the body of @request, which @reader then reads, begins an object. The
 * caller ends and clears @reader in any case. */
gboolean sl_api_read_body (const SlApiRequest *request, SlJsonReader *reader);

typedef void (*SlApiFunc) (SlApiRequest *request, gpointer data);

/** sl_api_in_thread: runs @work in a thread of a small pool, for files and databases, then @done on
 * the server's thread, which answers. @work may read what @request holds, and answers nothing. The
 * request waits meanwhile; when its client goes away, or the server ends, @done may be left out.
 * @free: (nullable): of @data, in any case */
void sl_api_in_thread (SlApiRequest *request, SlApiFunc work, SlApiFunc done, gpointer data,
                       GDestroyNotify free);
/** sl_api_in_clips: the same in a thread for conversions of clips, which may take long. */
void sl_api_in_clips (SlApiRequest *request, SlApiFunc work, SlApiFunc done, gpointer data,
                      GDestroyNotify free);
/** sl_api_on_main: the same, with @work on the main thread, where workers and pipelines are. */
void sl_api_on_main (SlApiRequest *request, SlApiFunc work, SlApiFunc done, gpointer data,
                     GDestroyNotify free);
/** sl_api_audit: who changed what, as a line of the log (event "changed") and of the audit log. Any
 * thread. */
void sl_api_audit (SlApiRequest *request, const char *format, ...) G_GNUC_PRINTF (2, 3);
