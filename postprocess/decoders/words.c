/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "words": the embedding of a picture, beside those of sentences -> the classes of the
 * whole picture. logit = cosine * scale + bias.
 *
 * Parameters: "activation" softmax or sigmoid; "scale" 100, CLIP's, and "bias" 0, which models
 * learn; "none-below": where no class has that confidence, the class is "none of these".
 *
 * Negative classes take part in the softmax, and are not reported.
 *
 * It takes the first vector that is as long as those of the sentences. An embedding that is not
 * finite, or all 0, gives nothing.
 */
#include <math.h>

#include "postprocess/decoders.h"
#include "postprocess/params.h"
#include "postprocess/topk.h"
#include "postprocess/values.h"

#define CLIP_SCALE 100
#define LARGEST 1e6
#define NONE_NAME "none of these"

static const char *const activations[] = { "softmax", "sigmoid", NULL };
static const SlDecoderParam params[] = { SL_PARAM_CHOICE ("activation", activations),
                                         SL_PARAM_NUMBER ("scale", 0, LARGEST),
                                         SL_PARAM_NUMBER ("bias", -LARGEST, LARGEST),
                                         SL_PARAM_NUMBER ("none-below", 0, 1),
                                         { NULL } };

typedef struct
{
  SlValues values;
  SlWordVectors words;
  guint tensor, activation;
  double scale, bias, none_below;
  gfloat threshold;
  gboolean told;
  double *confidences;
  const char **names; /* (nullable): with none-below */
  SlTopK top;
} State;

/* The tensor that is a vector of the right length, the number of tensors where there is none. */
static guint
find_tensor (const SlDecoderConfig *config)
{
  guint i = 0;
  while (i < config->n_tensors
         && (!sl_values_readable (config->tensors[i].dtype)
             || !sl_decoder_is_vector (&config->tensors[i])
             || sl_decoder_elements (&config->tensors[i]) != config->words->length))
    i++;
  return i;
}

static guint
classes (const SlDecoderConfig *config)
{
  return config->words != NULL ? config->words->n : 0;
}

static void
close_words (gpointer opened)
{
  State *state = opened;
  g_free (state->words.numbers);
  g_free (state->confidences);
  g_free (state->names);
  g_free (state->top.items);
  g_free (state);
}

/* The names of the classes, and the one that stands for none of them. */
static void
make_names (State *state, const SlDecoderConfig *config)
{
  state->names = g_new0 (const char *, state->words.n + 2);
  for (guint i = 0; i < state->words.n; i++) {
    const char *name = i < config->n_labels ? config->label_names[i] : NULL;
    state->names[i] = g_intern_string (name != NULL ? name : "");
  }
  state->names[state->words.n] = NONE_NAME;
}

static gpointer
open_words (const SlDecoderConfig *config, GError **error)
{
  if (config->words == NULL || config->words->numbers == NULL)
    return sl_decoder_refuse (
      config, "words", "classes as sentences: state text-model, tokenizer and prompts", error);
  const guint tensor = find_tensor (config);
  if (tensor == config->n_tensors) {
    g_autofree char *expected =
      g_strdup_printf ("a vector of %u numbers, as many as the embeddings of the text model have",
                       config->words->length);
    return sl_decoder_refuse (config, "words", expected, error);
  }
  State *state = g_new0 (State, 1);
  const SlWordVectors *words = config->words;
  state->tensor = tensor;
  state->words = *words;
  state->words.numbers =
    g_memdup2 (words->numbers, (gsize) words->n * words->length * sizeof (gfloat));
  state->confidences = g_new (double, words->n);
  state->threshold = config->threshold;
  state->top.capacity = MIN (config->max_results, words->shown);
  state->top.items = g_new (SlRanked, state->top.capacity);
  state->told = sl_decoder_param (config, "scale") == NULL;
  sl_values_init (&state->values, &config->tensors[tensor], SL_SCORES_PLAIN);
  if (sl_decoder_param_choice (config, params, "activation", &state->activation, error)
      && sl_decoder_param_double (config, params, "scale", CLIP_SCALE, &state->scale, error)
      && sl_decoder_param_double (config, params, "bias", 0, &state->bias, error)
      && sl_decoder_param_double (config, params, "none-below", 0, &state->none_below, error)) {
    if (state->none_below > 0)
      make_names (state, config);
    return state;
  }
  close_words (state);
  return NULL;
}

/* Logits in place of confidences; FALSE for an embedding without a direction. */
static gboolean
fill_logits (const State *state, const void *data)
{
  const guint n = state->words.length;
  double squares = 0;
  for (guint c = 0; c < state->words.n; c++)
    state->confidences[c] = 0;
  for (guint i = 0; i < n; i++) {
    const double number = sl_values_get (&state->values, data, i);
    squares += number * number;
    for (guint c = 0; c < state->words.n; c++)
      state->confidences[c] += number * (double) state->words.numbers[(gsize) c * n + i];
  }
  for (guint c = 0; c < state->words.n; c++)
    state->confidences[c] = state->confidences[c] / sqrt (squares) * state->scale + state->bias;
  return isfinite (squares) && squares > 0;
}

static void
activate (const State *state)
{
  double best = -INFINITY, sum = 0;
  for (guint c = 0; c < state->words.n; c++)
    best = fmax (best, state->confidences[c]);
  for (guint c = 0; c < state->words.n; c++) {
    double *value = &state->confidences[c];
    *value = state->activation == 1 ? 1 / (1 + exp (-*value)) : exp (*value - best);
    sum += *value;
  }
  for (guint c = 0; c < state->words.n && state->activation == 0; c++)
    state->confidences[c] /= sum;
}

static void
decode_words (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  state->top.count = 0;
  if (!fill_logits (state, data[state->tensor]))
    return;
  activate (state);
  for (guint c = 0; c < state->words.shown; c++)
    sl_top_k_push (&state->top, (gfloat) state->confidences[c], c);
  sl_top_k_sort (&state->top);
  const gfloat best = state->top.count > 0 ? state->top.items[0].key : 0;
  result->highest = best;
  if ((double) best < state->none_below) {
    result->classes[result->n_classes++] = (SlClass){ (gint32) state->words.n, 1 - best };
    return;
  }
  for (guint i = 0; i < state->top.count && state->top.items[i].key >= state->threshold; i++)
    result->classes[result->n_classes++] =
      (SlClass){ (gint32) state->top.items[i].index, state->top.items[i].key };
}

static const char *const *
names_of (gconstpointer opened, gboolean *own)
{
  const State *state = opened;
  *own = state->names != NULL;
  return state->names;
}

static const char *
note (gconstpointer opened)
{
  const State *state = opened;
  return state->told
           ? "nothing states the scale of cosines, so it is CLIP's: state decoder=words,scale=N, and for SigLIP activation=sigmoid and bias=N"
           : NULL;
}

const SlDecoder sl_decoder_words = {
  .name = "words",
  .description =
    "the embedding of a picture, as long as those of the sentences that prompts states, such as float32[1,512]",
  .params = params,
  .threshold = 0,
  .classes = classes,
  .open = open_words,
  .decode = decode_words,
  .close = close_words,
  .names_of = names_of,
  .note = note,
};
