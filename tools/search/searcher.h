/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Searches in what `sightline run` records: a thread of low priority makes embeddings of clips that
 * have none, whenever there are some, and words become embeddings for the API. What waits is in the
 * index, so no memory holds it, and no frame waits for a model.
 */
#pragma once

#include "models/settings.h"
#include "tools/run/events/vectors.h"

typedef struct _SlSearcher SlSearcher;

/** Bytes of words. */
#define SL_SEARCH_TEXT 1000

/** sl_searcher_new: @stores: (transfer full) (element-type SlStore): gives the stores that are
 * open, in any thread */
SlSearcher *sl_searcher_new (const SlModelSettings *settings, GPtrArray *(*stores) (gpointer data),
                             gpointer data);
/** sl_searcher_stop: no more embeddings are made. */
void sl_searcher_stop (SlSearcher *searcher);
/** sl_searcher_free: waits for the embedding that is at hand. */
void sl_searcher_free (SlSearcher *searcher);
/** sl_searcher_knows_words: whether there is a text model. Any thread, as all below. */
gboolean sl_searcher_knows_words (const SlSearcher *searcher);
/** sl_searcher_enter: FALSE while a search of @user goes on; sl_searcher_leave() ends it. */
gboolean sl_searcher_enter (SlSearcher *searcher, const char *user);
void sl_searcher_leave (SlSearcher *searcher, const char *user);
/** sl_searcher_words: (transfer full): events of @stores (element-type SlStore) that are like
 * @text, best first. NULL with @error set. */
GPtrArray *sl_searcher_words (SlSearcher *searcher, GPtrArray *stores, const SlEventQuery *query,
                              const char *text, GError **error);
/** sl_searcher_similar: (transfer full): the same of the event @stem, which is not among them. */
GPtrArray *sl_searcher_similar (SlSearcher *searcher, GPtrArray *stores, const SlEventQuery *query,
                                const char *stem, GError **error);
