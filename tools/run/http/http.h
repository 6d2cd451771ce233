/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline run --http`: what the pipelines see and how they are, for browsers and for programs
 * that watch machines. A build without libsoup has these functions, too, and refuses to serve.
 */
#pragma once

#include "models/settings.h"
#include "pipelines/description/description.h"
#include "tools/run/worker.h"

typedef struct _SlRunHttp SlRunHttp;

/**
 * sl_run_http_new:
 * @settings: with an address to listen on
 * @origin: what states that address, for messages
 * @workers: of SlWorker, which must live as long
 *
 * Listens, and takes up the lines of the log; answers only once started, when there is something to
 * tell. Returns NULL with @error set (SL_ERROR_ARGUMENT, SL_ERROR_OPEN, SL_ERROR_UNSUPPORTED).
 */
SlRunHttp *sl_run_http_new (const SlHttpSettings *settings, const char *origin, GPtrArray *workers,
                            GError **error);
/** sl_run_http_check: opens the files that @settings name, as sl_run_http_new() does, and changes
 * nothing. FALSE with @error set. */
gboolean sl_run_http_check (const SlHttpSettings *settings, GError **error);
/** sl_run_http_search: pictures of events get embeddings, by what @settings state. FALSE with
 * @error set (SL_ERROR_UNSUPPORTED). */
gboolean sl_run_http_search (SlRunHttp *http, const SlModelSettings *settings, GError **error);
/** sl_run_http_start: serves from now on, on a thread of its own, and logs where; the workers are
 * started. */
void sl_run_http_start (SlRunHttp *http);
/** sl_run_http_free: ends the thread and all connections. */
void sl_run_http_free (SlRunHttp *http);
/** sl_run_http_tick: reports how the workers are, when it is time; to be called some times a
 * second. */
void sl_run_http_tick (SlRunHttp *http);
/** sl_run_http_adopt: @pipeline is @worker's from now on, and does not play yet. */
void sl_run_http_adopt (SlRunHttp *http, SlWorker *worker, GstElement *pipeline);
/** sl_run_http_posted: an element of @worker's pipeline posted @message. */
void sl_run_http_posted (SlRunHttp *http, SlWorker *worker, GstMessage *message);
/** sl_run_http_audit: adds a line to the audit log, where @http (nullable) has one. @address: where
 * @user's wish came from */
void sl_run_http_audit (SlRunHttp *http, const char *user, const char *address,
                        const char *message);
/** sl_run_http_drop: @worker's pipeline is let go; it is in NULL. */
void sl_run_http_drop (SlRunHttp *http, SlWorker *worker);
