/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "vector": one tensor of numbers that are no scores: an embedding, or numbers that a
 * regression estimates.
 *
 * Parameters: "kind" values or embedding, which is divided by its length (L2); unstated, 16
 * features or more are an embedding, and all other numbers values, as are those of which a
 * parameter is stated. Of values: "names", one a number; "units", one for all or one a number;
 * "scale" and "offset": value = number * scale + offset. Of embeddings: "gallery", a file of names
 * and embeddings (gallery.h); the most similar names are labels then, those of at least "threshold"
 * (0..1; unstated, the user's if there is one, else 0.5).
 *
 * Taken for tensors of one dimension that "labels" leaves. Numbers that are not finite stay what
 * they are; a vector that has one, or no length, is not divided.
 */
#include <math.h>
#include <string.h>

#include "postprocess/decoders.h"
#include "postprocess/gallery.h"
#include "postprocess/params.h"
#include "postprocess/values.h"

#define MAX_NUMBERS 65536
#define LARGEST_NUMBER 1e12
/* Fewer features are estimates that cannot be negative, such as counts, as often. */
#define SHORTEST_EMBEDDING 16
/* The default threshold: the cosine from which two embeddings count as alike. */
#define ALIKE 0.5

static const char *const kinds[] = { "values", "embedding", NULL };
static const SlDecoderParam params[] = { SL_PARAM_CHOICE ("kind", kinds),
                                         SL_PARAM_TEXT ("names"),
                                         SL_PARAM_TEXT ("units"),
                                         SL_PARAM_NUMBER ("scale", -LARGEST_NUMBER, LARGEST_NUMBER),
                                         SL_PARAM_NUMBER ("offset", -LARGEST_NUMBER,
                                                          LARGEST_NUMBER),
                                         SL_PARAM_TEXT ("gallery"),
                                         SL_PARAM_NUMBER ("threshold", 0, 1),
                                         { NULL } };

typedef struct
{
  SlValues values;
  guint n;
  gboolean is_embedding, told;
  double scale, offset;
  gfloat *numbers;
  char **names, **units; /* (nullable): of each number */
  SlGallery *gallery;    /* (nullable) */
  gfloat threshold;
  SlTopK top;
} State;

static gboolean
fits (const SlDecoderConfig *config)
{
  const SlTensorInfo *tensor = &config->tensors[0];
  return config->n_tensors == 1 && sl_values_readable (tensor->dtype)
         && sl_decoder_is_vector (tensor) && sl_decoder_elements (tensor) <= MAX_NUMBERS;
}

static void
close_vector (gpointer opened)
{
  State *state = opened;
  g_strfreev (state->names);
  g_strfreev (state->units);
  g_free (state->numbers);
  sl_gallery_free (state->gallery);
  g_free (state->top.items);
  g_free (state);
}

static gboolean
read_gallery (State *state, const SlDecoderConfig *config, GError **error)
{
  const char *path = sl_decoder_param (config, "gallery");
  double threshold;
  if (!sl_decoder_param_double (config, params, "threshold",
                                config->threshold > 0 ? config->threshold : ALIKE, &threshold,
                                error))
    return FALSE;
  state->threshold = (gfloat) threshold;
  if (path == NULL)
    return TRUE;
  state->is_embedding = TRUE;
  state->top.capacity = config->max_results;
  state->top.items = g_new (SlRanked, config->max_results);
  state->gallery = sl_gallery_load (path, state->n, error);
  return state->gallery != NULL;
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  guint kind;
  if (!sl_decoder_param_choice (config, params, "kind", &kind, error)
      || !sl_decoder_param_words (config, "names", state->n, FALSE, &state->names, error)
      || !sl_decoder_param_words (config, "units", state->n, TRUE, &state->units, error)
      || !sl_decoder_param_double (config, params, "scale", 1, &state->scale, error)
      || !sl_decoder_param_double (config, params, "offset", 0, &state->offset, error))
    return FALSE;
  state->told = TRUE;
  for (guint i = 0; params[i].name != NULL; i++)
    state->told = state->told && sl_decoder_param (config, params[i].name) == NULL;
  const gboolean looks_like_one =
    config->tensors[0].values == SL_VALUES_FEATURES && state->n >= SHORTEST_EMBEDDING;
  state->is_embedding = state->told ? looks_like_one : kind == 1;
  return read_gallery (state, config, error);
}

static gpointer
open_vector (const SlDecoderConfig *config, GError **error)
{
  if (!fits (config))
    return sl_decoder_refuse (
      config, "vector",
      "one tensor of uint8, int8 or float32 with one dimension other than 1 and at most 65536 "
      "numbers, such as float32[1,512]",
      error);
  State *state = g_new0 (State, 1);
  state->n = sl_decoder_elements (&config->tensors[0]);
  if (!read_parameters (state, config, error)) {
    close_vector (state);
    return NULL;
  }
  sl_values_init (&state->values, &config->tensors[0], SL_SCORES_PLAIN);
  state->numbers = g_new (gfloat, state->n);
  return state;
}

static void
decode_vector (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  double squares = 0;
  for (guint i = 0; i < state->n; i++) {
    const double number = sl_values_get (&state->values, data[0], i);
    state->numbers[i] = (gfloat) (number * state->scale + state->offset);
    squares += (double) state->numbers[i] * state->numbers[i];
  }
  const gboolean has_length = isfinite (squares) && squares > 0;
  if (state->is_embedding && has_length)
    for (guint i = 0; i < state->n; i++)
      state->numbers[i] = (gfloat) (state->numbers[i] / sqrt (squares));
  if (state->gallery != NULL) {
    if (!has_length)
      return;
    sl_gallery_search (state->gallery, state->numbers, state->threshold, &state->top);
    for (guint i = 0; i < state->top.count; i++)
      result->classes[i] = (SlClass){ (gint32) state->top.items[i].index, state->top.items[i].key };
    result->n_classes = state->top.count;
    return;
  }
  result->vector = (SlVector){ .n = state->n,
                               .values = state->numbers,
                               .is_embedding = state->is_embedding,
                               .names = (const char *const *) state->names,
                               .units = (const char *const *) state->units };
}

static const char *const *
names_of (gconstpointer opened, gboolean *own)
{
  const State *state = opened;
  *own = state->gallery != NULL;
  return state->gallery != NULL ? sl_gallery_names (state->gallery) : NULL;
}

static const char *
note (gconstpointer opened)
{
  const State *state = opened;
  if (!state->told)
    return NULL;
  return state->is_embedding
           ? "features are an embedding, given with length 1 (decoder=labels for scores of "
             "classes, vector,kind=values for the numbers)"
           : "nothing says what the numbers mean, so they are given as they are (decoder=labels "
             "for scores of classes, vector,kind=embedding, or vector,names=NAME,... to name them)";
}

const SlDecoder sl_decoder_vector = {
  .name = "vector",
  .description =
    "one tensor of numbers that are no scores, an embedding or estimated values, such as "
    "float32[1,512]",
  .params = params,
  .threshold = 0,
  .matches = fits,
  .open = open_vector,
  .decode = decode_vector,
  .close = close_vector,
  .names_of = names_of,
  .note = note,
};
