/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/search/searcher.h"

#include <string.h>
#include <sys/resource.h>

#include "core/base/fail.h"
#include "tools/run/log.h"
#include "tools/search/index.h"
#include "tools/search/models.h"
#include "tools/search/question.h"

#define POLL_US G_USEC_PER_SEC
/* Clips at once of a folder, so that each folder has its turn; and places that are wiped. */
#define BATCH 8
#define WIPES 1000
/* An index is looked through from its beginning so often: rows may get numbers of deleted ones. */
#define WHOLE_US (60 * (gint64) G_USEC_PER_SEC)
/* Words whose embeddings are remembered: a page asks for the same again and again. */
#define REMEMBERED 32
#define LOWEST_PRIORITY 19

/* A folder. */
typedef struct
{
  SlStore *store;
  SlVectorModel model; /* its id is 0 until it was begun */
  gint64 after, looked;
  gboolean told;
} Place;

struct _SlSearcher
{
  SlModelSettings settings;
  GPtrArray *(*stores) (gpointer data);
  gpointer data;
  GThread *thread;
  gint stop;   /* atomic */
  GMutex lock; /* of all below */
  GCond changed;
  GHashTable *users;
  GHashTable *words; /* of Embedding, by texts */
  GMutex encoding;   /* one text model at a time is in memory */
  /* The thread's: */
  SlSearchEncoder *encoder;
  GPtrArray *places; /* of Place */
};

typedef struct
{
  gfloat *numbers;
  guint length;
} Embedding;

static void
embedding_free (gpointer data)
{
  g_free (((Embedding *) data)->numbers);
  g_free (data);
}

static void
place_free (gpointer data)
{
  Place *place = data;
  sl_store_unref (place->store);
  sl_vector_model_clear (&place->model);
  g_free (place);
}

/* Once, until it is well again. */
static void
note (Place *place, const GError *error)
{
  if (error != NULL && !place->told)
    sl_run_log_later (SL_LOG_WARNING, NULL, "search",
                      "%s; clips of this folder get no embeddings until that is over",
                      error->message);
  place->told = error != NULL;
}

static Place *
place_of (SlSearcher *searcher, SlStore *store)
{
  for (guint i = 0; i < searcher->places->len; i++)
    if (((Place *) searcher->places->pdata[i])->store == store)
      return searcher->places->pdata[i];
  Place *place = g_new0 (Place, 1);
  place->store = sl_store_ref (store);
  g_ptr_array_add (searcher->places, place);
  return place;
}

static gboolean
begin (SlSearcher *searcher, Place *place, GError **error)
{
  gboolean lost;
  g_auto (SlModelSettings) settings = { NULL };
  if (place->model.id != 0)
    return TRUE;
  sl_vector_model_clear (&place->model);
  place->model.hash = g_strdup (sl_search_encoder_hash (searcher->encoder));
  place->model.length = sl_search_encoder_length (searcher->encoder);
  sl_model_settings_copy (&searcher->settings, &settings);
  sl_search_models_keep (place->store, place->model.hash, &settings);
  place->model.settings = sl_search_settings_write (&settings);
  if (!sl_vectors_begin (place->store, &place->model, &lost, error)) {
    place->model.id = 0;
    return FALSE;
  }
  if (lost)
    sl_run_log_later (SL_LOG_WARNING, NULL, "search",
                      "%s: the file of its embeddings is gone or damaged; all are made again",
                      place->store->folder);
  return TRUE;
}

static void
index_clip (SlSearcher *searcher, const Place *place, const char *stem, GError **error)
{
  guint parts = 0;
  g_autofree char *why = NULL;
  sl_search_index_clip (searcher->encoder, place->store, &place->model, stem, &searcher->stop,
                        &parts, &why, error);
  if (why != NULL)
    sl_run_log_later (SL_LOG_WARNING, NULL, "search",
                      "%s/%s: its picture, or an object in it, has no embedding: %s",
                      place->store->folder, stem, why);
}

/* Whether there is more to do. */
static gboolean
look_after (SlSearcher *searcher, Place *place)
{
  g_autoptr (GError) error = NULL;
  const gint64 now = g_get_monotonic_time ();
  if (now - place->looked > WHOLE_US) {
    place->looked = now;
    place->after = 0;
  }
  if (!sl_vector_file_exists (place->store->folder))
    place->model.id = 0;
  if (place->model.id == 0)
    place->after = 0;
  const gboolean begun =
    begin (searcher, place, &error) && sl_vectors_wipe (place->store, &place->model, WIPES, &error);
  g_autoptr (GPtrArray) stems =
    begun ? sl_vectors_pending (place->store, &place->model, BATCH, &place->after, &error) : NULL;
  for (guint i = 0; error == NULL && i < stems->len && !g_atomic_int_get (&searcher->stop); i++)
    index_clip (searcher, place, stems->pdata[i], &error);
  note (place, error);
  if (g_error_matches (error, SL_ERROR, SL_ERROR_FORMAT)) /* of the file of numbers */
    place->model.id = 0;
  return error == NULL && stems->len == BATCH;
}

/* Stores that are not open any more are let go. */
static void
forget (SlSearcher *searcher, GPtrArray *stores)
{
  for (guint i = searcher->places->len; i-- > 0;) {
    const Place *place = searcher->places->pdata[i];
    if (!g_ptr_array_find (stores, place->store, NULL))
      g_ptr_array_remove_index (searcher->places, i);
  }
}

static gpointer
run (gpointer data)
{
  SlSearcher *searcher = data;
  g_autoptr (GError) error = NULL;
  setpriority (PRIO_PROCESS, 0, LOWEST_PRIORITY); /* of this thread */
  searcher->encoder = sl_search_encoder_new (&searcher->settings, &error);
  if (searcher->encoder == NULL) {
    sl_run_log_later (SL_LOG_ERROR, NULL, "search", "[search]: %s; clips get no embeddings",
                      error->message);
    return NULL;
  }
  while (!g_atomic_int_get (&searcher->stop)) {
    gboolean more = FALSE;
    g_autoptr (GPtrArray) stores = searcher->stores (searcher->data);
    forget (searcher, stores);
    for (guint i = 0; i < stores->len; i++) {
      SlStore *store = stores->pdata[i];
      if (store->has_clips && store->folder != NULL)
        more = look_after (searcher, place_of (searcher, store)) || more;
    }
    g_mutex_lock (&searcher->lock);
    if (!g_atomic_int_get (&searcher->stop) && !more)
      g_cond_wait_until (&searcher->changed, &searcher->lock, g_get_monotonic_time () + POLL_US);
    g_mutex_unlock (&searcher->lock);
  }
  return NULL;
}

SlSearcher *
sl_searcher_new (const SlModelSettings *settings, GPtrArray *(*stores) (gpointer data),
                 gpointer data)
{
  SlSearcher *searcher = g_new0 (SlSearcher, 1);
  sl_model_settings_copy (settings, &searcher->settings);
  searcher->stores = stores;
  searcher->data = data;
  g_mutex_init (&searcher->lock);
  g_mutex_init (&searcher->encoding);
  g_cond_init (&searcher->changed);
  searcher->users = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  searcher->words = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, embedding_free);
  searcher->places = g_ptr_array_new_with_free_func (place_free);
  searcher->thread = g_thread_new ("sl-search", run, searcher);
  return searcher;
}

void
sl_searcher_stop (SlSearcher *searcher)
{
  g_mutex_lock (&searcher->lock);
  g_atomic_int_set (&searcher->stop, 1);
  g_cond_signal (&searcher->changed);
  g_mutex_unlock (&searcher->lock);
}

void
sl_searcher_free (SlSearcher *searcher)
{
  sl_searcher_stop (searcher);
  g_thread_join (searcher->thread);
  g_clear_pointer (&searcher->encoder, sl_search_encoder_free);
  g_ptr_array_unref (searcher->places);
  g_hash_table_unref (searcher->users);
  g_hash_table_unref (searcher->words);
  g_mutex_clear (&searcher->lock);
  g_mutex_clear (&searcher->encoding);
  g_cond_clear (&searcher->changed);
  sl_model_settings_clear (&searcher->settings);
  g_free (searcher);
}

gboolean
sl_searcher_knows_words (const SlSearcher *searcher)
{
  return searcher->settings.text_model != NULL && searcher->settings.tokenizer != NULL;
}

gboolean
sl_searcher_enter (SlSearcher *searcher, const char *user)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&searcher->lock);
  return g_hash_table_add (searcher->users, g_strdup (user));
}

void
sl_searcher_leave (SlSearcher *searcher, const char *user)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&searcher->lock);
  g_hash_table_remove (searcher->users, user);
}

/* (transfer full) (nullable) */
static gfloat *
find_words (SlSearcher *searcher, const char *text, guint *length)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&searcher->lock);
  const Embedding *known = g_hash_table_lookup (searcher->words, text);
  if (known == NULL)
    return NULL;
  *length = known->length;
  return g_memdup2 (known->numbers, known->length * sizeof *known->numbers);
}

/* (transfer full) (nullable) */
static gfloat *
encode (SlSearcher *searcher, const char *text, guint *length, GError **error)
{
  gfloat *numbers = find_words (searcher, text, length);
  if (numbers != NULL)
    return numbers;
  g_autoptr (GMutexLocker) one G_GNUC_UNUSED = g_mutex_locker_new (&searcher->encoding);
  numbers = sl_search_words (&searcher->settings, text, length, error);
  if (numbers == NULL)
    return NULL;
  Embedding *made = g_new (Embedding, 1);
  *made = (Embedding){ g_memdup2 (numbers, *length * sizeof *numbers), *length };
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&searcher->lock);
  if (g_hash_table_size (searcher->words) >= REMEMBERED)
    g_hash_table_remove_all (searcher->words);
  g_hash_table_replace (searcher->words, g_strdup (text), made);
  return numbers;
}

/* The best of all @stores that have embeddings of @hash, NULL = of any. */
static GPtrArray *
search_all (GPtrArray *stores, const SlEventQuery *query, const char *hash, const gfloat *numbers,
            guint length, GError **error)
{
  g_autoptr (GPtrArray) hits = g_ptr_array_new_with_free_func (sl_vector_hit_free);
  for (guint i = 0; i < stores->len; i++) {
    g_auto (SlVectorModel) model = { 0 };
    SlStore *store = stores->pdata[i];
    if (!store->has_clips || store->folder == NULL || !sl_vectors_get_model (store, &model, NULL)
        || (hash != NULL && strcmp (hash, model.hash) != 0))
      continue;
    if (model.length != length)
      return sl_fail_null (
        error, SL_ERROR_SHAPE,
        "the text model makes embeddings of %u numbers, and the picture model of "
        "%u; expected models that belong to each other in [search]",
        length, model.length);
    g_autoptr (GPtrArray) found = sl_vectors_search (store, &model, query, numbers, error);
    if (found == NULL)
      return NULL;
    g_ptr_array_extend_and_steal (hits, g_steal_pointer (&found));
  }
  sl_search_rank (hits, query->limit);
  return g_steal_pointer (&hits);
}

GPtrArray *
sl_searcher_words (SlSearcher *searcher, GPtrArray *stores, const SlEventQuery *query,
                   const char *text, GError **error)
{
  guint length = 0;
  g_autofree gfloat *numbers = encode (searcher, text, &length, error);
  return numbers != NULL ? search_all (stores, query, NULL, numbers, length, error) : NULL;
}

GPtrArray *
sl_searcher_similar (SlSearcher *searcher, GPtrArray *stores, const SlEventQuery *query,
                     const char *stem, GError **error)
{
  g_autoptr (GError) reason = NULL;
  SlEventQuery more = *query;
  more.limit++; /* it is found itself */
  for (guint i = 0; i < stores->len; i++) {
    g_auto (SlVectorModel) model = { 0 };
    SlStore *store = stores->pdata[i];
    if (!store->has_clips || store->folder == NULL || !sl_vectors_get_model (store, &model, NULL))
      continue;
    g_clear_error (&reason);
    g_autofree gfloat *numbers = sl_vectors_of_event (store, &model, stem, &reason);
    if (numbers == NULL)
      continue;
    GPtrArray *hits = search_all (stores, &more, model.hash, numbers, model.length, error);
    for (guint k = hits != NULL ? hits->len : 0; k-- > 0;)
      if (strcmp (((SlVectorHit *) hits->pdata[k])->row->stem, stem) == 0)
        g_ptr_array_remove_index (hits, k);
    if (hits != NULL)
      sl_search_rank (hits, query->limit);
    return hits;
  }
  if (reason != NULL)
    g_propagate_error (error, g_steal_pointer (&reason));
  else
    sl_fail (error, SL_ERROR_OPEN, "%s: no folder of clips has embeddings yet", stem);
  return NULL;
}
