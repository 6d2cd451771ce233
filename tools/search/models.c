/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/search/models.h"

#include <string.h>

#include "core/base/fail.h"
#include "models/prompts.h"
#include "tools/search/settings.h"

static gboolean
states_words (const SlModelSettings *settings)
{
  return settings->text_model != NULL || settings->tokenizer != NULL;
}

static gboolean
is_same_model (const SlModelSettings *a, const SlModelSettings *b)
{
  const SlModelSettings one = { .model = a->model }, other = { .model = b->model };
  g_autofree char *first = sl_search_settings_write (&one),
                  *second = sl_search_settings_write (&other);
  return strcmp (first, second) == 0;
}

gboolean
sl_search_models_take (const char *folder, const SlModelSettings *stated, SlModelSettings *settings,
                       char **lost, GError **error)
{
  g_autoptr (SlStore) store = sl_store_open (folder, NULL);
  g_auto (SlVectorModel) model = { 0 };
  g_auto (SlModelSettings) known = { NULL };
  if (store != NULL && sl_vectors_get_model (store, &model, NULL))
    sl_search_settings_read (model.settings, &known);
  sl_model_settings_copy (stated, settings);
  *lost = NULL;
  if (stated->model == NULL || is_same_model (stated, &known))
    sl_search_settings_read (model.settings != NULL ? model.settings : "", settings);
  else if (known.text_model != NULL && !states_words (stated))
    *lost = g_strdup (known.text_model);
  return settings->model != NULL
         || sl_fail (error, SL_ERROR_ARGUMENT,
                     "%s: no index here knows a model; expected --model FILE, a picture model",
                     folder);
}

gboolean
sl_search_models_check (const SlModelSettings *settings, guint length, GError **error)
{
  guint made = 0;
  if (!states_words (settings))
    return TRUE;
  if (settings->text_model == NULL || settings->tokenizer == NULL)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "%s is not stated; expected text-model=FILE and tokenizer=FILE together",
                    settings->text_model == NULL ? "text-model" : "tokenizer");
  if (!sl_prompts_open (settings, &made, error))
    return FALSE;
  return made == length
         || sl_fail (error, SL_ERROR_SHAPE,
                     "%s: it makes embeddings of %u numbers, and %s of %u; expected the text model "
                     "that belongs to it",
                     settings->text_model, made, settings->model, length);
}

void
sl_search_models_keep (SlStore *store, const char *hash, SlModelSettings *settings)
{
  g_auto (SlVectorModel) model = { 0 };
  if (!states_words (settings) && sl_vectors_get_model (store, &model, NULL)
      && strcmp (model.hash, hash) == 0)
    sl_search_settings_read (model.settings, settings);
}
