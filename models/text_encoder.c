/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text model gets a sentence at a time, so its memory is that of one. A causal model computes
 * the same whatever follows the end of a sentence, so most of a long input is wasted: of 77 tokens
 * a sentence has about 10. A model that is proven causal is cut to the length of the longest
 * sentence, also if its file fixes the length. Where the file leaves the length open, another model
 * is loaded for that length, and used if the padding does not change the first embedding.
 */
#include "models/text_encoder.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/runtime/session.h"
#include "models/model.h"

/* Numbers of a text, where neither the tokenizer nor the model states it; CLIP's. */
#define USUAL_LENGTH 77
/* Lengths are multiples of this, which the kernels take rows by. */
#define LENGTH_STEP 8
/* Largest difference of two embeddings of length 1 that are the same. */
#define SAME 1e-6

struct _SlTextEncoder
{
  const SlTokenizer *tokenizer;
  SlModel *model;
  SlSession *session;
  void *inputs[SL_MAX_IO], *outputs[SL_MAX_IO];
  guint output, length;
};

void
sl_text_encoder_free (SlTextEncoder *t)
{
  g_clear_pointer (&t->session, sl_session_free);
  g_clear_pointer (&t->model, sl_model_unref);
  for (guint i = 0; i < SL_MAX_IO; i++) {
    sl_tensor_buffer_free (t->inputs[i]);
    sl_tensor_buffer_free (t->outputs[i]);
  }
  g_free (t);
}

guint
sl_text_encoder_length (const SlTextEncoder *t)
{
  return t->length;
}

guint
sl_text_encoder_tokens (const SlTextEncoder *t)
{
  return (guint) sl_model_contract (t->model)->inputs[0].dims[1];
}

/* (transfer full) (nullable): the model, cut to @tokens if it is causal. Inputs have @length where
 * its file leaves them open: *@open. */
static SlModel *
load_open (const char *path, guint length, guint tokens, gboolean *open, GError **error)
{
  g_autoptr (GString) shape = g_string_new (NULL);
  g_autoptr (GError) first = NULL;
  for (guint n = 0; n <= 3; n++) {
    g_autoptr (GError) problem = NULL;
    if (n > 0)
      g_string_append_printf (shape, "%s1,%u", n > 1 ? ";" : "", length);
    const SlModelLoadOptions options = { .input_shape = n > 0 ? shape->str : NULL,
                                         .tokens = tokens,
                                         .threads = 1 };
    SlModel *model = sl_model_load_with (path, NULL, &options, &problem);
    *open = n > 0;
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
find_output (SlTextEncoder *t, GError **error)
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
check_inputs (const SlTextEncoder *t, GError **error)
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

/* (transfer full) (nullable): an encoder that cannot run yet. */
static SlTextEncoder *
load (const char *path, const SlTokenizer *tokenizer, guint length, guint tokens, gboolean *open,
      GError **error)
{
  g_autoptr (SlTextEncoder) t = g_new0 (SlTextEncoder, 1);
  t->tokenizer = tokenizer;
  t->model = load_open (path, length, tokens, open, error);
  if (t->model == NULL || !check_inputs (t, error) || !find_output (t, error))
    return NULL;
  return g_steal_pointer (&t);
}

static gboolean
start (SlTextEncoder *t, guint threads, GError **error)
{
  const SlContract *contract = sl_model_contract (t->model);
  gboolean memory = TRUE;
  for (guint i = 0; i < contract->n_inputs; i++)
    memory &= (t->inputs[i] = sl_tensor_buffer_new (contract->inputs[i].bytes)) != NULL;
  for (guint i = 0; i < contract->n_outputs; i++)
    memory &= (t->outputs[i] = sl_tensor_buffer_new (contract->outputs[i].bytes)) != NULL;
  if (!memory)
    return sl_fail (error, SL_ERROR_LIMIT, "%s: no memory for inputs and outputs", contract->model);
  t->session = sl_session_new (sl_model_graph (t->model), threads, error);
  return t->session != NULL || sl_fail_prefix (error, "%s: ", contract->model);
}

/* The embedding of @tokens, in the encoder's memory; *@squares: of its length. */
static const gfloat *
run (SlTextEncoder *t, const SlTokens *tokens, double *squares, GError **error)
{
  const SlContract *contract = sl_model_contract (t->model);
  for (guint k = 0; k < contract->n_inputs; k++)
    for (guint i = 0; i < MIN ((guint) contract->inputs[k].dims[1], tokens->ids->len); i++)
      if (contract->inputs[k].dtype == SL_DTYPE_I64)
        ((gint64 *) t->inputs[k])[i] = sl_tokens_value (tokens, contract->inputs[k].name, i);
      else
        ((gint32 *) t->inputs[k])[i] =
          (gint32) sl_tokens_value (tokens, contract->inputs[k].name, i);
  const SlStatus status =
    sl_session_run (t->session, (const void *const *) t->inputs, (void *const *) t->outputs);
  if (status != SL_STATUS_OK)
    return sl_fail_null (error, SL_ERROR_BACKEND, "%s: %s", contract->model,
                         sl_session_status_text (t->session, status));
  const gfloat *vector = t->outputs[t->output];
  *squares = 0;
  for (guint i = 0; i < t->length; i++)
    *squares += (double) vector[i] * (double) vector[i];
  return vector;
}

gboolean
sl_text_encoder_add (SlTextEncoder *t, const char *text, double *sum, GError **error)
{
  g_auto (SlTokens) tokens = { NULL };
  double squares = 0;
  if (!sl_tokenizer_encode (t->tokenizer, text, sl_text_encoder_tokens (t), &tokens, error))
    return sl_fail_prefix (error, "prompts: '%.60s': ", text);
  const gfloat *vector = run (t, &tokens, &squares, error);
  if (vector == NULL)
    return FALSE;
  if (!isfinite (squares) || squares <= 0)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "%s: the embedding of '%.60s' has no direction; expected finite numbers that "
                    "are not all 0",
                    sl_model_contract (t->model)->model, text);
  for (guint i = 0; i < t->length; i++)
    sum[i] += (double) vector[i] / sqrt (squares);
  return TRUE;
}

/* Whether the embedding of @text is the same with its first token in place of all padding. */
static gboolean
ignores_padding (SlTextEncoder *t, const char *text)
{
  g_auto (SlTokens) tokens = { NULL };
  double first, second, largest = 0;
  if (!sl_tokenizer_encode (t->tokenizer, text, sl_text_encoder_tokens (t), &tokens, NULL)
      || tokens.first > 0 || tokens.count == 0 || tokens.count == tokens.ids->len)
    return FALSE;
  const gfloat *vector = run (t, &tokens, &first, NULL);
  g_autofree gfloat *kept = vector != NULL ? g_memdup2 (vector, t->length * sizeof *vector) : NULL;
  for (guint i = tokens.count; i < tokens.ids->len; i++)
    g_array_index (tokens.ids, gint32, i) = g_array_index (tokens.ids, gint32, 0);
  vector = kept != NULL ? run (t, &tokens, &second, NULL) : NULL;
  if (vector == NULL || !isfinite (first) || first <= 0)
    return FALSE;
  for (guint i = 0; i < t->length; i++)
    largest = fmax (largest, fabs ((double) vector[i] - (double) kept[i]));
  return largest <= SAME * sqrt (first);
}

/* The length that the longest of @texts needs, with a place for padding; @full where that is no
 * less, or where padding comes first. */
static guint
needed_length (const SlTokenizer *tokenizer, const GPtrArray *texts, guint full)
{
  guint most = 0;
  for (guint i = 0; i < texts->len; i++) {
    g_auto (SlTokens) tokens = { NULL };
    if (!sl_tokenizer_encode (tokenizer, g_ptr_array_index (texts, i), 0, &tokens, NULL)
        || tokens.first > 0)
      return full;
    most = MAX (most, tokens.count);
  }
  return MIN (full, (most / LENGTH_STEP + 1) * LENGTH_STEP);
}

/* Positions of tokens go on behind the end of a text. */
static gboolean
has_positions (const SlTextEncoder *t)
{
  const SlContract *contract = sl_model_contract (t->model);
  gboolean has = FALSE;
  for (guint i = 0; i < contract->n_inputs; i++)
    has |= strstr (contract->inputs[i].name, "position") != NULL;
  return has;
}

SlTextEncoder *
sl_text_encoder_new (const char *path, const SlTokenizer *tokenizer, const GPtrArray *texts,
                     guint threads, GError **error)
{
  const guint stated = sl_tokenizer_most (tokenizer), full = stated > 0 ? stated : USUAL_LENGTH,
              length = needed_length (tokenizer, texts, full);
  g_autoptr (GError) failed = NULL;
  gboolean open = TRUE, still_open;
  g_autoptr (SlTextEncoder) whole =
    load (path, tokenizer, full, length < full ? length : 0, &open, &failed);
  if (whole != NULL && sl_text_encoder_tokens (whole) == length && has_positions (whole)) {
    sl_text_encoder_free (whole);
    whole = load (path, tokenizer, full, 0, &open, &failed);
  }
  if (open && length < full && (whole == NULL || sl_text_encoder_tokens (whole) != length)) {
    g_autoptr (SlTextEncoder) cut = load (path, tokenizer, length, 0, &still_open, NULL);
    if (cut != NULL && start (cut, threads, NULL)
        && ignores_padding (cut, g_ptr_array_index (texts, 0)))
      return g_steal_pointer (&cut);
  }
  if (whole == NULL) {
    g_propagate_error (error, g_steal_pointer (&failed));
    return NULL;
  }
  return start (whole, threads, error) ? g_steal_pointer (&whole) : NULL;
}
