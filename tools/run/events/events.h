/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events, clips and history of all pipelines that run: messages and reports come in on the main
 * thread, a thread of its own writes them into indexes, and the server's threads ask those. A build
 * without SQLite has these functions, too, and keeps nothing.
 */
#pragma once

#include "models/settings.h"
#include "tools/run/events/mp4.h"
#include "tools/run/http/report.h"
#include "tools/run/worker.h"
#include "sightline/predictions.h"

typedef struct _SlEvents SlEvents;
typedef struct _SlSearcher SlSearcher; /* tools/search/searcher.h */

/** SlEventFolder: where a recorder of @pipeline writes clips; limits are 0 = none. */
typedef struct
{
  char *path, *pipeline, *source;
  gdouble keep_days;
  guint64 max_bytes, min_free;
} SlEventFolder;

/** sl_events_new: (nullable): NULL in a build without SQLite; the functions below take that. Main
 * thread, as all that do not say otherwise. */
SlEvents *sl_events_new (void);
/** sl_events_search: embeddings of clips are made from now on, by what @settings state. FALSE with
 * SL_ERROR_UNSUPPORTED in a build without SQLite. */
gboolean sl_events_search (SlEvents *events, const SlModelSettings *settings, GError **error);
/** sl_events_searcher: (transfer none) (nullable): Any thread. */
SlSearcher *sl_events_searcher (SlEvents *events);
/** sl_events_searches: what searches there are: "words", "pictures", or "none". Any thread. */
const char *sl_events_searches (SlEvents *events);
/** sl_events_stop: clips are not converted any more, before the threads that do are waited for. */
void sl_events_stop (SlEvents *events);
/** sl_events_free: writes what is new, and ends the thread. */
void sl_events_free (SlEvents *events);
/** sl_events_adopt: @pipeline is @worker's from now on. */
void sl_events_adopt (SlEvents *events, SlWorker *worker, GstElement *pipeline);
/** sl_events_posted: an element of @worker's pipeline posted @message. */
void sl_events_posted (SlEvents *events, SlWorker *worker, GstMessage *message);
/** sl_events_note: the figures of @pipeline now, and what it sees. @predictions: (nullable): new
 * since the last call, @ms ago */
void sl_events_note (SlEvents *events, const SlReportPipeline *pipeline,
                     const SlPredictions *predictions, guint ms);
/** sl_events_append_newest: the newest event of @pipeline as an object of JSON; null without one.
 * Any thread. */
void sl_events_append_newest (SlEvents *events, const char *pipeline, GString *json);
/** sl_events_stores: (transfer full) (element-type SlStore): Any thread. */
GPtrArray *sl_events_stores (SlEvents *events);
/** sl_events_mp4s: (transfer none): Any thread. */
SlMp4Cache *sl_events_mp4s (SlEvents *events);
/** sl_events_folders: (transfer full) (element-type SlEventFolder): Any thread. */
GPtrArray *sl_events_folders (SlEvents *events);
