/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text model gets a sentence at a time, so its memory is that of one. Where its file leaves the
 * size of the inputs open, it is loaded for the length that the tokenizer states.
 */
#include "models/prompts.h"

#include <malloc.h>
#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/runtime/session.h"
#include "models/model.h"
#include "models/prompt_list.h"
#include "models/text/tokenizer.h"

/* Numbers of a text, where neither the tokenizer nor the model states it; CLIP's. */
#define USUAL_LENGTH 77

typedef struct
{
  SlModel *model;
  SlSession *session;
  void *inputs[SL_MAX_IO], *outputs[SL_MAX_IO];
  guint output, length;
} TextModel;

static void
text_model_clear (TextModel *t)
{
  g_clear_pointer (&t->session, sl_session_free);
  g_clear_pointer (&t->model, sl_model_unref);
  for (guint i = 0; i < SL_MAX_IO; i++) {
    sl_tensor_buffer_free (t->inputs[i]);
    sl_tensor_buffer_free (t->outputs[i]);
  }
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TextModel, text_model_clear)

static gboolean
is_stated (const char *text)
{
  return text != NULL && text[0] != '\0';
}

/* (transfer full) (nullable): the model, with inputs of @length where its file leaves them open. */
static SlModel *
load_open (const char *path, guint length, GError **error)
{
  g_autoptr (GString) shape = g_string_new (NULL);
  g_autoptr (GError) first = NULL;
  for (guint n = 0; n <= 3; n++) {
    g_autoptr (GError) problem = NULL;
    if (n > 0)
      g_string_append_printf (shape, "%s1,%u", n > 1 ? ";" : "", length);
    const SlModelLoadOptions options = { .input_shape = n > 0 ? shape->str : NULL, .threads = 1 };
    SlModel *model = sl_model_load_with (path, NULL, &options, &problem);
    if (model != NULL)
      return model;
    if (first == NULL)
      first = g_steal_pointer (&problem);
  }
  g_propagate_error (error, g_steal_pointer (&first));
  return NULL;
}

/* The output with one vector: by its usual names, else the only one. */
static gboolean
find_output (TextModel *t, GError **error)
{
  const SlContract *contract = sl_model_contract (t->model);
  guint found = 0;
  for (guint i = 0; i < contract->n_outputs; i++) {
    const SlTensorInfo *output = &contract->outputs[i];
    gsize longest = 0, all = 1;
    for (guint d = 0; d < output->rank; d++) {
      longest = MAX (longest, (gsize) output->dims[d]);
      all *= (gsize) output->dims[d];
    }
    if (output->dtype != SL_DTYPE_F32 || all != longest || longest < 2)
      continue;
    const gboolean named = output->name != NULL && strstr (output->name, "embed") != NULL;
    if (found++ == 0 || named) {
      t->output = i;
      t->length = (guint) longest;
    }
    if (named)
      return TRUE;
  }
  if (found > 0)
    return TRUE;
  g_autofree char *got = sl_tensor_infos_describe (contract->outputs, contract->n_outputs);
  return sl_fail (error, SL_ERROR_SHAPE,
                  "%s: expected a text model with an output of one vector of floats, such as "
                  "float32[1,512], got %s",
                  contract->model, got);
}

static gboolean
check_inputs (const TextModel *t, GError **error)
{
  const SlContract *contract = sl_model_contract (t->model);
  for (guint i = 0; i < contract->n_inputs; i++) {
    const SlTensorInfo *input = &contract->inputs[i];
    const gboolean whole = input->dtype == SL_DTYPE_I64 || input->dtype == SL_DTYPE_I32;
    if (whole && input->rank == 2 && input->dims[0] == 1 && input->dims[1] <= SL_TOKENS_MAX)
      continue;
    g_autofree char *got = sl_tensor_info_describe (input);
    return sl_fail (error, SL_ERROR_SHAPE,
                    "%s: expected a text model whose inputs are int64 or int32 [1,N], got '%s' %s",
                    contract->model, input->name, got);
  }
  return TRUE;
}

static gboolean
open_text_model (TextModel *t, const char *path, guint length, GError **error)
{
  t->model = load_open (path, length, error);
  if (t->model == NULL || !check_inputs (t, error) || !find_output (t, error))
    return FALSE;
  const SlContract *contract = sl_model_contract (t->model);
  gboolean memory = TRUE;
  for (guint i = 0; i < contract->n_inputs; i++)
    memory &= (t->inputs[i] = sl_tensor_buffer_new (contract->inputs[i].bytes)) != NULL;
  for (guint i = 0; i < contract->n_outputs; i++)
    memory &= (t->outputs[i] = sl_tensor_buffer_new (contract->outputs[i].bytes)) != NULL;
  if (!memory)
    return sl_fail (error, SL_ERROR_LIMIT, "%s: no memory for inputs and outputs", contract->model);
  t->session = sl_session_new (sl_model_graph (t->model), 1, error);
  return t->session != NULL || sl_fail_prefix (error, "%s: ", contract->model);
}

/* What input @input wants at place @i: the token, whether it is one, its place, or its part. */
static gint64
value_at (const SlTensorInfo *input, const SlTokens *tokens, guint i)
{
  const char *name = input->name != NULL ? input->name : "";
  if (strstr (name, "mask") != NULL)
    return i >= tokens->first && i < tokens->first + tokens->count;
  if (strstr (name, "position") != NULL)
    return i;
  if (strstr (name, "type") != NULL)
    return 0;
  return g_array_index (tokens->ids, gint32, i);
}

/* Adds the direction of the embedding of @text to @sum. */
static gboolean
add_sentence (const TextModel *t, const SlTokenizer *tokenizer, const char *text, double *sum,
              GError **error)
{
  const SlContract *contract = sl_model_contract (t->model);
  g_auto (SlTokens) tokens = { NULL };
  if (!sl_tokenizer_encode (tokenizer, text, (guint) contract->inputs[0].dims[1], &tokens, error))
    return sl_fail_prefix (error, "prompts: '%.60s': ", text);
  for (guint k = 0; k < contract->n_inputs; k++)
    for (guint i = 0; i < MIN ((guint) contract->inputs[k].dims[1], tokens.ids->len); i++)
      if (contract->inputs[k].dtype == SL_DTYPE_I64)
        ((gint64 *) t->inputs[k])[i] = value_at (&contract->inputs[k], &tokens, i);
      else
        ((gint32 *) t->inputs[k])[i] = (gint32) value_at (&contract->inputs[k], &tokens, i);
  const SlStatus status =
    sl_session_run (t->session, (const void *const *) t->inputs, (void *const *) t->outputs);
  if (status != SL_STATUS_OK)
    return sl_fail (error, SL_ERROR_BACKEND, "%s: %s", contract->model,
                    sl_session_status_text (t->session, status));
  const gfloat *vector = t->outputs[t->output];
  double squares = 0;
  for (guint i = 0; i < t->length; i++)
    squares += (double) vector[i] * (double) vector[i];
  if (!isfinite (squares) || squares <= 0)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "%s: the embedding of '%.60s' has no direction; expected finite numbers that "
                    "are not all 0",
                    contract->model, text);
  for (guint i = 0; i < t->length; i++)
    sum[i] += (double) vector[i] / sqrt (squares);
  return TRUE;
}

/* The class of @sentences becomes a vector of length 1. */
static gboolean
encode_class (const TextModel *t, const SlTokenizer *tokenizer, char **sentences, char **templates,
              gfloat *out, GError **error)
{
  g_autofree double *sum = g_new0 (double, t->length);
  double squares = 0;
  for (guint s = 0; sentences[s] != NULL; s++)
    for (guint k = 0; templates[k] != NULL; k++) {
      g_auto (GStrv) parts = g_strsplit (templates[k], SL_PROMPT_PLACE, 0);
      g_autofree char *text = g_strjoinv (sentences[s], parts);
      if (!add_sentence (t, tokenizer, g_strstrip (text), sum, error))
        return FALSE;
    }
  for (guint i = 0; i < t->length; i++)
    squares += sum[i] * sum[i];
  for (guint i = 0; i < t->length; i++)
    out[i] = (gfloat) (squares > 0 ? sum[i] / sqrt (squares) : 0);
  return TRUE;
}

static gboolean
encode_all (const TextModel *t, const SlTokenizer *tokenizer, const SlModelSettings *settings,
            SlWordVectors *words, SlLabels **labels, GError **error)
{
  g_auto (GStrv) items = g_strsplit (settings->prompts, ";", 0),
                 templates = g_strsplit (
                   is_stated (settings->templates) ? settings->templates : SL_PROMPT_PLACE, ";", 0);
  g_autoptr (GString) names = g_string_new (NULL);
  const guint n = g_strv_length (items);
  g_autofree gfloat *numbers = g_new0 (gfloat, (gsize) n * t->length);
  for (guint i = 0; i < n; i++) {
    g_autofree char *name = NULL;
    g_auto (GStrv) sentences = sl_prompts_split (g_strstrip (items[i]), &name);
    if (!encode_class (t, tokenizer, sentences, templates, numbers + (gsize) i * t->length, error))
      return FALSE;
    g_string_append_printf (names, "%u %s\n", i, name);
  }
  *labels = sl_labels_parse (names->str, names->len, "prompts", error);
  if (*labels == NULL)
    return FALSE;
  *words = (SlWordVectors){ n, t->length, g_steal_pointer (&numbers) };
  return TRUE;
}

static gboolean
run_text_model (const SlModelSettings *settings, SlWordVectors *words, SlLabels **labels,
                GError **error)
{
  g_auto (TextModel) t = { NULL };
  g_autoptr (SlTokenizer) tokenizer = sl_tokenizer_load (settings->tokenizer, error);
  if (tokenizer == NULL)
    return sl_fail_prefix (error, "tokenizer: ");
  const guint most = sl_tokenizer_most (tokenizer);
  return open_text_model (&t, settings->text_model, most > 0 ? most : USUAL_LENGTH, error)
           ? encode_all (&t, tokenizer, settings, words, labels, error)
           : sl_fail_prefix (error, "text-model: ");
}

gboolean
sl_prompts_encode (const SlModelSettings *settings, SlWordVectors *words, SlLabels **labels,
                   GError **error)
{
  const gboolean any = settings != NULL
                       && (is_stated (settings->prompts) || is_stated (settings->text_model)
                           || is_stated (settings->tokenizer) || is_stated (settings->templates));
  if (!any)
    return TRUE;
  if (!is_stated (settings->prompts) || !is_stated (settings->text_model)
      || !is_stated (settings->tokenizer))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "%s is not stated; expected text-model=FILE, tokenizer=FILE and "
                    "prompts=SENTENCE;SENTENCE together",
                    !is_stated (settings->prompts)      ? "prompts"
                    : !is_stated (settings->text_model) ? "text-model"
                                                        : "tokenizer");
  if (!sl_prompts_check (settings->prompts, error)
      || (is_stated (settings->templates) && !sl_templates_check (settings->templates, error)))
    return FALSE;
  const gboolean good = run_text_model (settings, words, labels, error);
#ifdef __GLIBC__
  malloc_trim (0); /* what the text model took */
#endif
  return good;
}
