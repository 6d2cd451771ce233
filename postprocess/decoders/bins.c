/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "bins": numbers that a model spreads over bins, such as the angles of a head or of a
 * gaze, or an age: one vector of scores a number, which is the mean of the bins' places, 0, 1, 2,
 * ..., by their shares.
 *
 * Parameters: "scale" and "offset", one for all or one a number: value = mean * scale + offset;
 * "names", one a number, and
 * "units", one for all or one a number; "activation" none, softmax; unstated, none where a SOFTMAX
 * makes the scores.
 *
 * It is never taken unnamed.
 */
#include <math.h>

#include "core/base/fail.h"
#include "postprocess/decoders.h"
#include "postprocess/params.h"
#include "postprocess/values.h"

#define FEWEST_BINS 2
#define MAX_BINS 65536
#define LARGEST_NUMBER 1e12
/* Several vectors of this length or more are suspected to be bins. */
#define USUAL_BINS 16

static const char *const activations[] = { "none", "softmax", NULL };
static const SlDecoderParam params[] = {
  SL_PARAM_TEXT ("names"),
  SL_PARAM_TEXT ("units"),
  SL_PARAM_LIST ("scale", -LARGEST_NUMBER, LARGEST_NUMBER, SL_MAX_IO),
  SL_PARAM_LIST ("offset", -LARGEST_NUMBER, LARGEST_NUMBER, SL_MAX_IO),
  SL_PARAM_CHOICE ("activation", activations),
  { NULL }
};

typedef struct
{
  guint n; /* vectors */
  guint bins[SL_MAX_IO];
  SlValues values[SL_MAX_IO];
  gboolean softmax[SL_MAX_IO];
  double scale[SL_MAX_IO], offset[SL_MAX_IO];
  gfloat numbers[SL_MAX_IO];
  char **names, **units; /* (nullable): of each number */
} State;

static gboolean
are_bins (const SlDecoderConfig *config, guint fewest)
{
  for (guint t = 0; t < config->n_tensors; t++) {
    const SlTensorInfo *tensor = &config->tensors[t];
    const guint n = sl_decoder_elements (tensor);
    if (!sl_values_readable (tensor->dtype) || !sl_decoder_is_vector (tensor) || n < fewest
        || n > MAX_BINS)
      return FALSE;
  }
  return TRUE;
}

static const char *
unmatched (const SlDecoderConfig *config)
{
  gboolean same = TRUE;
  for (guint t = 1; t < config->n_tensors; t++)
    same =
      same
      && sl_decoder_elements (&config->tensors[t]) == sl_decoder_elements (&config->tensors[0]);
  if (config->n_tensors < 2 || !are_bins (config, USUAL_BINS))
    return NULL;
  return same
           ? "they may be bins that a number each is spread over, such as the angles of a head: "
             "state decoder=bins, of Hopenet bins,scale=3,offset=-99,names=yaw,pitch,roll"
           : "they may be bins that a number each is spread over, such as the angles of a head: "
             "state decoder=bins, of WHENet bins,scale=3,offset=-180,-99,-99,names=yaw,pitch,roll";
}

static void
close_bins (gpointer opened)
{
  State *state = opened;
  g_strfreev (state->names);
  g_strfreev (state->units);
  g_free (state);
}

/* Parameter @key, one for all vectors or one a vector. */
static gboolean
read_numbers (const State *state, const SlDecoderConfig *config, const char *key, double fallback,
              double numbers[SL_MAX_IO], GError **error)
{
  guint n = 1;
  numbers[0] = fallback;
  if (!sl_decoder_param_list (config, params, key, numbers, &n, error))
    return FALSE;
  if (n != 1 && n != state->n)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "decoder bins: %s: expected one number, or %u for as many vectors, got %u", key,
                    state->n, n);
  for (guint t = 1; t < state->n && n == 1; t++)
    numbers[t] = numbers[0];
  return TRUE;
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  guint activation;
  if (!sl_decoder_param_words (config, "names", state->n, FALSE, &state->names, error)
      || !sl_decoder_param_words (config, "units", state->n, TRUE, &state->units, error)
      || !read_numbers (state, config, "scale", 1, state->scale, error)
      || !read_numbers (state, config, "offset", 0, state->offset, error)
      || !sl_decoder_param_choice (config, params, "activation", &activation, error))
    return FALSE;
  for (guint t = 0; t < state->n; t++)
    state->softmax[t] = sl_decoder_param (config, "activation") != NULL
                          ? activation == 1
                          : config->tensors[t].values != SL_VALUES_SHARES;
  return TRUE;
}

static gpointer
open_bins (const SlDecoderConfig *config, GError **error)
{
  if (!are_bins (config, FEWEST_BINS))
    return sl_decoder_refuse (
      config, "bins",
      "vectors of 2 to 65536 bins, one a number, such as float32[1,66], of uint8, int8 or float32",
      error);
  State *state = g_new0 (State, 1);
  state->n = config->n_tensors;
  for (guint t = 0; t < state->n; t++) {
    state->bins[t] = sl_decoder_elements (&config->tensors[t]);
    sl_values_init (&state->values[t], &config->tensors[t], SL_SCORES_PLAIN);
  }
  if (read_parameters (state, config, error))
    return state;
  close_bins (state);
  return NULL;
}

/* The mean place of the bins of vector @t; NaN where their scores have none. */
static double
find_mean (const State *state, guint t, const void *data)
{
  double highest = -INFINITY, sum = 0, places = 0;
  for (guint i = 0; i < state->bins[t] && state->softmax[t]; i++)
    highest = fmax (highest, (double) sl_values_get (&state->values[t], data, i));
  for (guint i = 0; i < state->bins[t]; i++) {
    const double score = (double) sl_values_get (&state->values[t], data, i);
    const double share = state->softmax[t] ? exp (score - highest) : score;
    sum += share;
    places += share * i;
  }
  return places / sum;
}

static void
decode_bins (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  for (guint t = 0; t < state->n; t++)
    state->numbers[t] =
      (gfloat) (find_mean (state, t, data[t]) * state->scale[t] + state->offset[t]);
  result->vector = (SlVector){ .n = state->n,
                               .values = state->numbers,
                               .names = (const char *const *) state->names,
                               .units = (const char *const *) state->units };
}

const SlDecoder sl_decoder_bins = {
  .name = "bins",
  .description =
    "vectors of bins that a number each is spread over, such as three of float32[1,66]: the angles "
    "of a head",
  .params = params,
  .threshold = 0,
  .unmatched = unmatched,
  .open = open_bins,
  .decode = decode_bins,
  .close = close_bins,
};
