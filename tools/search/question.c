/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/search/question.h"

#include <string.h>

#include "core/base/fail.h"
#include "tools/search/encoder.h"

/* A folder with its embeddings. */
typedef struct
{
  SlStore *store;
  SlVectorModel model;
} Index;

static void
index_free (gpointer data)
{
  Index *index = data;
  sl_store_unref (index->store);
  sl_vector_model_clear (&index->model);
  g_free (index);
}

/* Puts what to do behind the sentence of @error. Returns NULL. */
static gpointer advise (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gpointer
advise (GError **error, const char *format, ...)
{
  va_list args;
  if (error == NULL || *error == NULL)
    return NULL;
  va_start (args, format);
  g_autofree char *advice = g_strdup_vprintf (format, args), *before = (*error)->message;
  va_end (args);
  (*error)->message = g_strconcat (before, "; ", advice, NULL);
  return NULL;
}

/* (transfer full) (nullable) */
static Index *
open_folder (const char *folder, GError **error)
{
  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    return sl_fail_null (error, SL_ERROR_OPEN, "%s: expected a folder of clips", folder);
  g_autoptr (SlStore) store = sl_store_open (folder, error);
  SlVectorModel model = { 0 };
  if (store != NULL && sl_vectors_get_model (store, &model, error)) {
    Index *index = g_new (Index, 1);
    *index = (Index){ g_steal_pointer (&store), model };
    return index;
  }
  return advise (error, "make embeddings of its pictures: sightline search --index %s --model FILE",
                 folder);
}

/* (transfer full) (nullable): of one model. */
static GPtrArray *
open_all (const GPtrArray *folders, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (index_free);
  for (guint i = 0; i < folders->len; i++) {
    Index *index = open_folder (folders->pdata[i], error);
    if (index == NULL)
      return NULL;
    g_ptr_array_add (all, index);
    const Index *first = all->pdata[0];
    if (strcmp (first->model.hash, index->model.hash) != 0)
      return sl_fail_null (error, SL_ERROR_ARGUMENT,
                           "%s: its embeddings are of another model than those of %s; expected "
                           "folders of one model: sightline search --index %s makes them again",
                           index->store->folder, first->store->folder, index->store->folder);
  }
  return g_steal_pointer (&all);
}

/* Whether something of the picture model is stated. */
static gboolean
states_pictures (const SlModelSettings *stated)
{
  const SlSetting *setting;
  gboolean pictures;
  for (guint i = 0; (setting = sl_search_setting (i, &pictures)) != NULL; i++)
    if (pictures && sl_setting_get (setting, stated) != NULL)
      return TRUE;
  return FALSE;
}

/* (transfer full) (nullable): the picture model that made the embeddings of @index. */
static SlSearchEncoder *
open_encoder (const Index *index, const SlModelSettings *settings, GError **error)
{
  g_autoptr (SlSearchEncoder) encoder = sl_search_encoder_new (settings, error);
  if (encoder == NULL)
    return NULL;
  if (strcmp (sl_search_encoder_hash (encoder), index->model.hash) == 0)
    return g_steal_pointer (&encoder);
  return sl_fail_null (
    error, SL_ERROR_ARGUMENT,
    "%s: the embeddings of %s are of another model, of another version of it, or "
    "of other settings; expected the same: sightline search --index %s makes "
    "them again",
    settings->model, index->store->folder, index->store->folder);
}

/* (transfer full) (nullable) */
static gfloat *
encode_picture (const Index *index, const SlModelSettings *settings, const char *path,
                GError **error)
{
  g_autoptr (SlSearchPicture) picture = sl_search_picture_load (path, error);
  g_autoptr (SlSearchEncoder) encoder =
    picture != NULL ? open_encoder (index, settings, error) : NULL;
  return encoder != NULL ? sl_search_encoder_run (encoder, picture, NULL, error) : NULL;
}

/* (transfer full) (nullable) */
static gfloat *
encode_words (const Index *index, const SlModelSettings *settings, const char *text, GError **error)
{
  guint length = 0;
  g_autofree gfloat *numbers = sl_search_words (settings, text, &length, error);
  if (numbers == NULL || length == index->model.length)
    return g_steal_pointer (&numbers);
  return sl_fail_null (error, SL_ERROR_SHAPE,
                       "%s: it makes embeddings of %u numbers, and those of %s have %u; expected "
                       "the text model that belongs to %s",
                       settings->text_model, length, index->store->folder, index->model.length,
                       settings->model != NULL ? settings->model : "their picture model");
}

static gint
best_first (gconstpointer a, gconstpointer b)
{
  const SlVectorHit *first = *(SlVectorHit *const *) a, *second = *(SlVectorHit *const *) b;
  if (first->score != second->score)
    return first->score < second->score ? 1 : -1;
  return strcmp (second->row->stem, first->row->stem);
}

void
sl_search_rank (GPtrArray *hits, guint most)
{
  g_ptr_array_sort (hits, best_first);
  if (hits->len > most)
    g_ptr_array_set_size (hits, (gint) most);
}

GPtrArray *
sl_search_ask (const GPtrArray *folders, const SlModelSettings *stated, const char *text,
               const char *picture, const SlEventQuery *query, GError **error)
{
  g_autoptr (GPtrArray) all = open_all (folders, error);
  if (all == NULL)
    return NULL;
  const Index *first = all->pdata[0];
  g_auto (SlModelSettings) settings = { NULL };
  sl_model_settings_copy (stated, &settings);
  sl_search_settings_read (first->model.settings, &settings);
  if (picture == NULL && states_pictures (stated)) { /* is it the model that made them? */
    g_autoptr (SlSearchEncoder) encoder = open_encoder (first, &settings, error);
    if (encoder == NULL)
      return NULL;
  }
  g_autofree gfloat *numbers = picture != NULL ? encode_picture (first, &settings, picture, error)
                                               : encode_words (first, &settings, text, error);
  g_autoptr (GPtrArray) hits = g_ptr_array_new_with_free_func (sl_vector_hit_free);
  if (numbers == NULL)
    return NULL;
  for (guint i = 0; i < all->len; i++) {
    const Index *index = all->pdata[i];
    g_autoptr (GPtrArray) found =
      sl_vectors_search (index->store, &index->model, query, numbers, error);
    if (found == NULL)
      return advise (error, "sightline search --index %s makes embeddings again",
                     index->store->folder);
    g_ptr_array_extend_and_steal (hits, g_steal_pointer (&found));
  }
  sl_search_rank (hits, query->limit);
  return g_steal_pointer (&hits);
}
