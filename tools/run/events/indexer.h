/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thread that writes indexes: one a folder, opened when it can be. Between jobs it looks which
 * clips are gone or new, and which colours objects have. Putting a job in never blocks.
 */
#pragma once

#include "tools/run/events/history.h"
#include "tools/run/events/mp4.h"
#include "tools/run/events/query.h"
#include "tools/run/events/scan.h"

typedef struct _SlIndexer SlIndexer;

/** Jobs that wait at most; more are dropped, and a line of the log says so. */
#define SL_INDEXER_JOBS_MOST 10000

/** sl_indexer_new: @mp4s: from which clips go that are not there any more */
SlIndexer *sl_indexer_new (SlMp4Cache *mp4s);
/** sl_indexer_free: does what waits. */
void sl_indexer_free (SlIndexer *indexer);
/** sl_indexer_add_folder: @folder: of clips or of states; NULL = in memory. @clips: it may have
 * clips. Any thread, as all of the rest. */
void sl_indexer_add_folder (SlIndexer *indexer, const char *folder, gboolean clips);
/** sl_indexer_set_pipelines: @names: (transfer full) (element-type utf8): of all pipelines;
 * @sources: (transfer full) (element-type utf8 utf8): names by the sources of clips. Neither
 * changes. */
void sl_indexer_set_pipelines (SlIndexer *indexer, GPtrArray *names, GHashTable *sources);
/** sl_indexer_clip: a clip of @folder is whole. */
void sl_indexer_clip (SlIndexer *indexer, const char *folder, const char *stem);
/** sl_indexer_event: one of @pipeline, which may have no clip. @notes (transfer full) */
void sl_indexer_event (SlIndexer *indexer, const char *folder, const char *pipeline,
                       SlNotes *notes);
/** sl_indexer_history: @rows (transfer full) */
void sl_indexer_history (SlIndexer *indexer, const char *folder, SlHistoryRows *rows);
/** sl_indexer_newest: what the newest event of @pipeline was: FALSE: there is none. @append: called
 * with it, under a lock */
gboolean sl_indexer_newest (SlIndexer *indexer, const char *pipeline,
                            void (*append) (gpointer data, const SlEventRow *row), gpointer data);
/** sl_indexer_stores: (transfer full) (element-type SlStore): those that are open. */
GPtrArray *sl_indexer_stores (SlIndexer *indexer);
