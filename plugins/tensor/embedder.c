/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The model is loaded as slinfer loads one. Its output is decoded as an embedding whatever the
 * model says, since no other decoder makes sense here; its own decoder may be one with a gallery.
 */
#include "plugins/tensor/embedder.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/graph/file_image.h"
#include "models/batch.h"
#include "plugins/tensor/infer_settings.h"
#include "plugins/tensor/maker.h"
#include "predict/contractspec.h"
#include "predict/opendecoding.h"

#define DECODER "vector,kind=embedding"
/* Numbers of an embedding; several of each object are in memory. */
#define LONGEST 4096

struct _SlEmbedder
{
  SlLoadedModel loaded;
  SlNormalizeSpec spec;
  SlTensorMaker maker;
  SlImageInfo image;
  SlDecoding *decoding;
  guint length, batch;
  SlBatchSession *together; /* (nullable) */
  void *inputs[SL_MAX_BATCH], *outputs[SL_MAX_BATCH];
  SlBatchItem items[SL_MAX_BATCH];
};

/* Those that say what the input is, and what runs the model. */
static gboolean
is_open (const SlSetting *setting)
{
  return setting != NULL && (setting->doors & SL_DOOR_ELEMENTS) != 0
         && setting->group != SL_SETTINGS_WORDS && strcmp (setting->name, "model") != 0
         && strcmp (setting->name, "labels") != 0 && strcmp (setting->name, "decoder") != 0;
}

static gboolean
read_setting (const char *word, SlModelSettings *settings, GError **error)
{
  const char *equals = strchr (word, '=');
  g_autofree char *name = g_strndup (word, equals != NULL ? (gsize) (equals - word) : 0);
  const SlSetting *setting = sl_setting_find (name);
  if (!is_open (setting))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "appearance-settings: \"%s\": expected NAME=VALUE with a setting of the input "
                    "or of what runs the model, such as mean=127.5, std=127.5 or threads=2",
                    word);
  sl_setting_set (setting, settings, equals + 1);
  return sl_setting_check (setting, equals + 1, error)
         && sl_setting_check_text (setting, equals + 1, error);
}

static gboolean
read_settings (const char *text, SlModelSettings *settings, GError **error)
{
  g_auto (GStrv) words = NULL;
  g_autoptr (GError) cause = NULL;
  if (text == NULL || *text == '\0')
    return TRUE;
  if (!g_shell_parse_argv (text, NULL, &words, &cause)) {
    if (g_error_matches (cause, G_SHELL_ERROR, G_SHELL_ERROR_EMPTY_STRING))
      return TRUE;
    return sl_fail (error, SL_ERROR_ARGUMENT, "appearance-settings: %s", cause->message);
  }
  for (guint i = 0; words[i] != NULL; i++)
    if (!read_setting (words[i], settings, error))
      return FALSE;
  return TRUE;
}

/* What @error wants to be stated has another place here. Returns FALSE. */
static gboolean
name_settings (GError **error)
{
  if (error == NULL || *error == NULL)
    return FALSE;
  g_autofree char *before = (*error)->message;
  (*error)->message =
    g_strconcat (before, "; of a model of appearance=, state it in appearance-settings", NULL);
  return FALSE;
}

static gboolean
choose_spec (SlEmbedder *self, GError **error)
{
  const SlContract *contract = sl_model_contract (self->loaded.model);
  self->spec.filter = SL_FILTER_AUTO;
  if (!sl_contract_spec (contract, &self->spec)) {
    g_autofree char *summary = sl_contract_summary (contract);
    return sl_fail (error, SL_ERROR_CONTRACT,
                    "%s: expected a model that makes an embedding of a picture, got %s",
                    contract->model, summary);
  }
  return (sl_contract_require_one_input (contract, error)
          && sl_contract_require_range (contract, error))
         || name_settings (error);
}

static gboolean
load (SlEmbedder *self, const SlModelSettings *stated, GError **error)
{
  const SlInferSettings how = { .model = *stated, .batch = 1 };
  g_autoptr (GError) cause = NULL;
  if (sl_infer_settings_load (&how, TRUE, NULL, NULL, NULL, &self->loaded, &cause))
    return TRUE;
  if (cause->code == SL_ERROR_SHAPE)
    name_settings (&cause);
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

static gboolean
open_decoding (SlEmbedder *self, GError **error)
{
  SlContract *contract = sl_model_contract (self->loaded.model);
  const SlDecodingSettings how = { .threshold = -1, .max_results = 1, .decoder = DECODER };
  g_autoptr (SlLabels) labels = NULL;
  self->decoding =
    sl_decoding_open (contract, contract->outputs, contract->n_outputs, &how, &labels, error);
  return self->decoding != NULL || sl_fail_prefix (error, "%s: ", contract->model);
}

static gboolean
allocate (SlEmbedder *self, GError **error)
{
  const SlContract *contract = sl_model_contract (self->loaded.model);
  gboolean complete = TRUE;
  for (guint i = 0; i < self->batch; i++) {
    self->inputs[i] = sl_tensor_buffer_new (contract->inputs[0].bytes);
    self->outputs[i] = sl_tensor_buffer_new (contract->outputs[0].bytes);
    self->items[i] =
      (SlBatchItem){ (const void *const *) &self->inputs[i], (void *const *) &self->outputs[i] };
    complete &= self->inputs[i] != NULL && self->outputs[i] != NULL;
  }
  return complete
         || sl_fail (error, SL_ERROR_LIMIT, "%s: no memory for inputs and outputs of %u boxes",
                     contract->model, self->batch);
}

/* Runs the model once, on black: whether it runs, and how long its vector is. */
static gboolean
try_model (SlEmbedder *self, GError **error)
{
  const SlStatus status =
    sl_session_run (self->loaded.session, self->items[0].inputs, self->items[0].outputs);
  if (status != SL_STATUS_OK)
    return sl_fail (error, SL_ERROR_BACKEND, "%s: %s", sl_model_path (self->loaded.model),
                    sl_session_status_text (self->loaded.session, status));
  self->length =
    sl_decoding_run (self->decoding, (const void *const *) self->items[0].outputs)->vector.n;
  if (self->length == 0 || self->length > LONGEST)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "%s: expected an embedding of at most %d numbers, got %u",
                    sl_model_path (self->loaded.model), LONGEST, self->length);
  if (self->batch > 1)
    self->together =
      sl_batch_session_new (self->loaded.model, self->loaded.session, self->batch, NULL);
  return TRUE;
}

SlEmbedder *
sl_embedder_new (const char *model, const char *settings, guint batch, GError **error)
{
  g_autoptr (SlEmbedder) self = g_new0 (SlEmbedder, 1);
  g_auto (SlModelSettings) stated = { 0 };
  self->batch = CLAMP (batch, 1, SL_MAX_BATCH);
  sl_setting_set (sl_setting_find ("model"), &stated, model);
  if (!read_settings (settings, &stated, error))
    return NULL;
  if (!load (self, &stated, error) || !choose_spec (self, error) || !open_decoding (self, error)
      || !allocate (self, error) || !try_model (self, error))
    return NULL;
  return g_steal_pointer (&self);
}

void
sl_embedder_free (SlEmbedder *self)
{
  if (self == NULL)
    return;
  sl_batch_session_free (self->together);
  sl_decoding_free (self->decoding);
  for (guint i = 0; i < self->batch; i++) {
    sl_tensor_buffer_free (self->inputs[i]);
    sl_tensor_buffer_free (self->outputs[i]);
  }
  sl_tensor_maker_close (&self->maker);
  sl_loaded_model_clear (&self->loaded);
  g_free (self);
}

const char *
sl_embedder_model (const SlEmbedder *self)
{
  return sl_model_path (self->loaded.model);
}

char *
sl_embedder_hash (const SlEmbedder *self, GError **error)
{
  gsize size;
  return sl_file_image_checksum (sl_graph_file (sl_model_graph (self->loaded.model)),
                                 G_CHECKSUM_SHA256, &size, error);
}

guint
sl_embedder_length (const SlEmbedder *self)
{
  return self->length;
}

char *
sl_embedder_take_notice (SlEmbedder *self)
{
  return g_steal_pointer (&self->loaded.notice);
}

gboolean
sl_embedder_set_image (SlEmbedder *self, const SlImageInfo *image, GError **error)
{
  self->image = *image;
  const SlNormalizeStatus status = sl_tensor_maker_open (&self->maker, image, &self->spec, 1);
  return status == SL_NORMALIZE_OK
         || sl_fail (error, SL_ERROR_BACKEND, "%s: frames of %dx%d: %s",
                     sl_model_path (self->loaded.model), image->width, image->height,
                     sl_normalize_status_text (status));
}

/* The whole pixels of @box inside the frame; FALSE when it has none. */
static gboolean
clip (const SlEmbedder *self, const SlTrackBox *box, SlRect *part)
{
  const int x0 = (int) floor (CLAMP (box->corners[0], 0, self->image.width)),
            y0 = (int) floor (CLAMP (box->corners[1], 0, self->image.height)),
            x1 = (int) ceil (CLAMP (box->corners[2], 0, self->image.width)),
            y1 = (int) ceil (CLAMP (box->corners[3], 0, self->image.height));
  *part = (SlRect){ x0, y0, x1 - x0, y1 - y0 };
  return x1 > x0 && y1 > y0;
}

/* The tensor of place @i, of @turned where its width is not 0. */
static gboolean
make_input (SlEmbedder *self, const SlImage *image, const SlTrackBox *box,
            const SlTurnedRect *turned, guint i)
{
  SlRect part;
  if (!clip (self, box, &part)
      || sl_tensor_maker_choose (&self->maker, &part, turned, NULL) != SL_NORMALIZE_OK)
    return FALSE;
  sl_tensor_maker_run (&self->maker, image, self->inputs[i]);
  return TRUE;
}

/* Runs the first @k tensors; the result is in @self's outputs. */
static gboolean
run (SlEmbedder *self, guint k, GError **error)
{
  SlStatus status = SL_STATUS_OK;
  if (self->together != NULL)
    status = sl_batch_session_run (self->together, self->loaded.session, self->items, k);
  else
    for (guint i = 0; i < k && status == SL_STATUS_OK; i++)
      status = sl_session_run (self->loaded.session, self->items[i].inputs, self->items[i].outputs);
  return status == SL_STATUS_OK
         || sl_fail (error, SL_ERROR_BACKEND, "%s: %s", sl_model_path (self->loaded.model),
                     sl_session_status_text (self->loaded.session, status));
}

double
sl_embedder_aspect (const SlEmbedder *self)
{
  return (double) self->spec.width / self->spec.height;
}

gboolean
sl_embedder_run (SlEmbedder *self, const SlImage *image, const SlTrackBox *boxes,
                 const SlTurnedRect *parts, const guint *chosen, guint n, gfloat *embeddings,
                 GError **error)
{
  static const SlTurnedRect upright = { 0 };
  guint places[SL_MAX_BATCH];
  memset (embeddings, 0, (gsize) n * self->length * sizeof *embeddings);
  for (guint next = 0; next < n;) {
    guint k = 0;
    for (; next < n && k < self->batch; next++)
      if (make_input (self, image, &boxes[chosen[next]], parts != NULL ? &parts[next] : &upright,
                      k))
        places[k++] = next;
    if (k > 0 && !run (self, k, error))
      return FALSE;
    for (guint i = 0; i < k; i++)
      memcpy (embeddings + (gsize) places[i] * self->length,
              sl_decoding_run (self->decoding, (const void *const *) self->items[i].outputs)
                ->vector.values,
              self->length * sizeof *embeddings);
  }
  return TRUE;
}
