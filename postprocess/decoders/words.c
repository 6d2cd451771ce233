/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "words": the embedding of a picture, beside those of sentences -> the classes of the
 * whole picture. logit = cosine * scale + bias.
 *
 * A model with its text model inside gives the logits of all sentences itself, as
 * "logits_per_image"; or "image_embeds", one vector, and "text_embeds", one a sentence, whose means
 * are those of classes.
 *
 * Parameters: "activation" softmax or sigmoid; "scale" 100, CLIP's, and "bias" 0, which models
 * learn; of logits 1 and 0; "none-below": where no class has that confidence, the class is "none of
 * these".
 *
 * Negative classes take part in the softmax, and are not reported.
 *
 * It takes the first vector that is as long as those of the sentences. An embedding that is not
 * finite, or all 0, gives nothing.
 */
#include <math.h>
#include <string.h>

#include "postprocess/decoders.h"
#include "postprocess/params.h"
#include "postprocess/tensor_role.h"
#include "postprocess/topk.h"
#include "postprocess/values.h"

#define CLIP_SCALE 100
#define LOGITS "logits_per_image"
#define OF_PICTURE "image_embeds"
#define OF_TEXTS "text_embeds"
#define LARGEST 1e6
#define NONE_NAME "none of these"

static const char *const activations[] = { "softmax", "sigmoid", NULL };
static const SlDecoderParam params[] = { SL_PARAM_CHOICE ("activation", activations),
                                         SL_PARAM_NUMBER ("scale", 0, LARGEST),
                                         SL_PARAM_NUMBER ("bias", -LARGEST, LARGEST),
                                         SL_PARAM_NUMBER ("none-below", 0, 1),
                                         { NULL } };

/* @tensor: the embedding, or logits; @texts: those of sentences, the number of tensors = none */
typedef struct
{
  SlValues values, text_values;
  SlWordVectors words;
  guint tensor, texts, n_tensors, activation;
  gboolean logits;
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

/* The tensor @name, or the number of tensors. */
static guint
find_named (const SlDecoderConfig *config, const char *name)
{
  guint i = 0;
  while (i < config->n_tensors && !sl_tensor_is_named (&config->tensors[i], name))
    i++;
  return i;
}

static gboolean
is_readable (const SlDecoderConfig *config, guint tensor, gsize elements)
{
  return tensor < config->n_tensors && sl_values_readable (config->tensors[tensor].dtype)
         && sl_decoder_elements (&config->tensors[tensor]) == elements;
}

/* What a model with its text model inside gives: logits, or two tensors of embeddings. */
static gboolean
find_inside (const SlDecoderConfig *config, State *state)
{
  const SlWordVectors *words = config->words;
  if (words == NULL || words->columns == NULL)
    return FALSE;
  state->n_tensors = state->texts = config->n_tensors;
  state->tensor = find_named (config, LOGITS);
  state->logits = is_readable (config, state->tensor, words->n_columns);
  if (state->logits)
    return TRUE;
  state->tensor = find_named (config, OF_PICTURE);
  state->texts = find_named (config, OF_TEXTS);
  if (state->tensor == config->n_tensors)
    return FALSE;
  state->words.length = sl_decoder_elements (&config->tensors[state->tensor]);
  return is_readable (config, state->tensor, state->words.length)
         && is_readable (config, state->texts, (gsize) words->n_columns * state->words.length);
}

static gboolean
matches (const SlDecoderConfig *config)
{
  State state = { .logits = FALSE };
  return find_inside (config, &state);
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
  g_free (state->words.columns);
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
  State found = { .logits = FALSE };
  const gboolean inside = find_inside (config, &found);
  if (!inside && config->words != NULL && config->words->columns != NULL) {
    g_autofree char *expected =
      g_strdup_printf (LOGITS " with a number for each of %u sentences, or " OF_PICTURE
                              " and " OF_TEXTS " with a vector for each",
                       config->words->n_columns);
    return sl_decoder_refuse (config, "words", expected, error);
  }
  if (!inside && (config->words == NULL || config->words->numbers == NULL))
    return sl_decoder_refuse (
      config, "words", "classes as sentences: state text-model, tokenizer and prompts", error);
  const guint tensor = inside ? found.tensor : find_tensor (config);
  if (tensor == config->n_tensors) {
    g_autofree char *expected =
      g_strdup_printf ("a vector of %u numbers, as many as the embeddings of the text model have",
                       config->words->length);
    return sl_decoder_refuse (config, "words", expected, error);
  }
  const SlWordVectors *words = config->words;
  State *state = g_memdup2 (&found, sizeof found);
  const guint length = inside ? found.words.length : words->length;
  state->tensor = tensor;
  state->words = *words;
  state->words.length = length;
  state->words.numbers =
    inside ? g_new0 (gfloat, (gsize) words->n * length)
           : g_memdup2 (words->numbers, (gsize) words->n * length * sizeof (gfloat));
  state->words.columns = g_memdup2 (words->columns, words->n_columns * sizeof (gint32));
  state->confidences = g_new (double, words->n);
  state->threshold = config->threshold;
  state->top.capacity = MIN (config->max_results, words->shown);
  state->top.items = g_new (SlRanked, state->top.capacity);
  state->told = sl_decoder_param (config, "scale") == NULL && !state->logits;
  sl_values_init (&state->values, &config->tensors[tensor], SL_SCORES_PLAIN);
  if (inside && !state->logits)
    sl_values_init (&state->text_values, &config->tensors[state->texts], SL_SCORES_PLAIN);
  if (sl_decoder_param_choice (config, params, "activation", &state->activation, error)
      && sl_decoder_param_double (config, params, "scale", state->logits ? 1 : CLIP_SCALE,
                                  &state->scale, error)
      && sl_decoder_param_double (config, params, "bias", 0, &state->bias, error)
      && sl_decoder_param_double (config, params, "none-below", 0, &state->none_below, error)) {
    if (state->none_below > 0)
      make_names (state, config);
    return state;
  }
  close_words (state);
  return NULL;
}

/* A class has the highest logit of its sentences; FALSE where one is not finite. */
static gboolean
take_logits (const State *state, const void *data)
{
  double all = 0;
  for (guint c = 0; c < state->words.n; c++)
    state->confidences[c] = -INFINITY;
  for (guint k = 0; k < state->words.n_columns; k++) {
    const gint32 c = state->words.columns[k];
    const double logit =
      (double) sl_values_get (&state->values, data, k) * state->scale + state->bias;
    if (c < 0)
      continue;
    all += logit;
    state->confidences[c] = fmax (state->confidences[c], logit);
  }
  return isfinite (all);
}

/* Embeddings of sentences become those of classes: the mean of their directions. */
static void
take_texts (State *state, const void *data)
{
  const guint n = state->words.length;
  memset (state->words.numbers, 0, (gsize) state->words.n * n * sizeof (gfloat));
  for (guint k = 0; k < state->words.n_columns; k++) {
    const gint32 c = state->words.columns[k];
    gfloat *sum = state->words.numbers + (gsize) MAX (c, 0) * n;
    double squares = 0;
    for (guint i = 0; i < n && c >= 0; i++) {
      const double number = (double) sl_values_get (&state->text_values, data, (gsize) k * n + i);
      squares += number * number;
    }
    for (guint i = 0; i < n && squares > 0; i++)
      sum[i] +=
        sl_values_get (&state->text_values, data, (gsize) k * n + i) / (gfloat) sqrt (squares);
  }
  for (guint c = 0; c < state->words.n; c++) {
    gfloat *row = state->words.numbers + (gsize) c * n;
    double squares = 0;
    for (guint i = 0; i < n; i++)
      squares += (double) row[i] * (double) row[i];
    for (guint i = 0; i < n && squares > 0; i++)
      row[i] /= (gfloat) sqrt (squares);
  }
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
  if (state->texts < state->n_tensors)
    take_texts (state, data[state->texts]);
  if (!(state->logits ? take_logits : fill_logits) (state, data[state->tensor]))
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
           ? "nothing states the scale of cosines, so it is CLIP's: state decoder=words,scale=N, "
             "and for SigLIP activation=sigmoid and bias=N"
           : NULL;
}

const SlDecoder sl_decoder_words = {
  .name = "words",
  .description =
    "the embedding of a picture, as long as those of the sentences that prompts states, such as "
    "float32[1,512]; or logits_per_image[1,sentences]",
  .params = params,
  .threshold = 0,
  .matches = matches,
  .classes = classes,
  .open = open_words,
  .decode = decode_words,
  .close = close_words,
  .names_of = names_of,
  .note = note,
};
