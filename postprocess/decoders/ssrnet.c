/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "ssrnet": one number, such as an age, that SSR-Net sums up over stages. Each stage has
 * the shares of its bins, a shift of each bin, and one number that widens them. A stage divides the
 * bins of the stage before:
 *
 *   number = range * sum over stages k of
 *            sum over bins i of share (k, i) * (i + shift (k, i)) / product over j <= k of
 *            bins (j) * (1 + width (j))
 *
 * Takes three tensors a stage: of the rows, those named "prob" are shares, those named "offset" or
 * "local" shifts; unnamed the first half are shares. Those of a kind are in the order of the
 * stages.
 *
 * Parameters: "range" (needed): the largest number, 101 of ages, 1 of a gender; "names", "units".
 *
 * It is never taken unnamed.
 */
#include <math.h>

#include "core/base/fail.h"
#include "postprocess/decoders.h"
#include "postprocess/params.h"
#include "postprocess/tensor_role.h"
#include "postprocess/values.h"

#define MOST_STAGES (SL_MAX_IO / 3)
#define MAX_BINS 1000
#define LARGEST_NUMBER 1e12
/* The sum of a network that was trained for 0..1 leaves it by less. */
#define SLACK 0.5

static const SlDecoderParam params[] = { SL_PARAM_NUMBER ("range", -LARGEST_NUMBER, LARGEST_NUMBER),
                                         SL_PARAM_TEXT ("names"),
                                         SL_PARAM_TEXT ("units"),
                                         { NULL } };

typedef struct
{
  guint at, bins;
  SlValues values;
} Part;

typedef struct
{
  guint stages;
  Part shares[MOST_STAGES], shifts[MOST_STAGES], widths[MOST_STAGES];
  double range;
  gfloat number;
  char **names, **units; /* (nullable) */
} State;

/* Whether the names tell all rows apart. */
static gboolean
are_named (const SlDecoderConfig *config)
{
  for (guint t = 0; t < config->n_tensors; t++) {
    const SlTensorInfo *tensor = &config->tensors[t];
    if (sl_decoder_elements (tensor) > 1
        && sl_tensor_is_named (tensor, "prob")
             == (sl_tensor_is_named (tensor, "offset") || sl_tensor_is_named (tensor, "local")))
      return FALSE;
  }
  return TRUE;
}

static gboolean
find_stages (const SlDecoderConfig *config, State *state)
{
  guint rows = 0, shares = 0, shifts = 0, widths = 0;
  const gboolean named = are_named (config);
  state->stages = config->n_tensors / 3;
  if (config->n_tensors % 3 != 0 || state->stages == 0 || state->stages > MOST_STAGES)
    return FALSE;
  for (guint t = 0; t < config->n_tensors; t++) {
    const SlTensorInfo *tensor = &config->tensors[t];
    const guint n = sl_decoder_elements (tensor);
    if (!sl_values_readable (tensor->dtype) || !sl_decoder_is_vector (tensor) || n == 0
        || n > MAX_BINS)
      return FALSE;
    const gboolean is_share =
      n > 1 && (named ? sl_tensor_is_named (tensor, "prob") : rows < state->stages);
    guint *count = n == 1 ? &widths : is_share ? &shares : &shifts;
    Part *parts = n == 1 ? state->widths : is_share ? state->shares : state->shifts;
    rows += n > 1;
    if (*count == state->stages)
      return FALSE;
    parts[*count] = (Part){ .at = t, .bins = n };
    sl_values_init (&parts[(*count)++].values, tensor, SL_SCORES_PLAIN);
  }
  for (guint k = 0; k < state->stages; k++)
    if (state->shares[k].bins != state->shifts[k].bins)
      return FALSE;
  return widths == state->stages;
}

static const char *
unmatched (const SlDecoderConfig *config)
{
  State state = { 0 };
  return config->n_tensors > 3 && find_stages (config, &state)
           ? "rows and single numbers, three tensors a stage, may be SSR-Net: state "
             "decoder=ssrnet,range=101 of an age, ssrnet,range=1 of a gender"
           : NULL;
}

static void
close_ssrnet (gpointer opened)
{
  State *state = opened;
  g_strfreev (state->names);
  g_strfreev (state->units);
  g_free (state);
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  if (sl_decoder_param (config, "range") == NULL)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder ssrnet: nothing says how large its number is: state range=101 of an age, range=1 of "
      "a gender");
  return sl_decoder_param_double (config, params, "range", 1, &state->range, error)
         && sl_decoder_param_words (config, "names", 1, FALSE, &state->names, error)
         && sl_decoder_param_words (config, "units", 1, TRUE, &state->units, error);
}

static gpointer
open_ssrnet (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  if (!find_stages (config, state)) {
    g_free (state);
    return sl_decoder_refuse (
      config, "ssrnet",
      "three tensors a stage: shares [1,bins], shifts [1,bins] and one number [1,1], of uint8, "
      "int8 or float32",
      error);
  }
  if (read_parameters (state, config, error))
    return state;
  close_ssrnet (state);
  return NULL;
}

/* In shares of the range. */
static double
sum_stages (const State *state, const void *const *data)
{
  double sum = 0, width = 1;
  for (guint k = 0; k < state->stages; k++) {
    const Part *shares = &state->shares[k], *shifts = &state->shifts[k],
               *widths = &state->widths[k];
    double places = 0;
    for (guint i = 0; i < shares->bins; i++)
      places += (double) sl_values_get (&shares->values, data[shares->at], i)
                * (i + (double) sl_values_get (&shifts->values, data[shifts->at], i));
    width *= shares->bins * (1 + (double) sl_values_get (&widths->values, data[widths->at], 0));
    sum += places / width;
  }
  return sum;
}

static void
decode_ssrnet (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  state->number = (gfloat) (sum_stages (state, data) * state->range);
  result->vector = (SlVector){ .n = 1,
                               .values = &state->number,
                               .names = (const char *const *) state->names,
                               .units = (const char *const *) state->units };
}

static SlCheck
check (gpointer opened, const void *const *data, GString *why)
{
  const double sum = sum_stages (opened, data);
  if (!isfinite (sum) || (sum >= -SLACK && sum <= 1 + SLACK))
    return SL_CHECK_FITS;
  g_string_append_printf (
    why,
    "the stages add up to %g of the range, and SSR-Net's to 0..1, so the tensors are others or in "
    "another order; expected another decoder (docs/predictions.md lists them; sightline infer "
    "gives the numbers)",
    sum);
  return SL_CHECK_CONTRADICTS;
}

const SlDecoder sl_decoder_ssrnet = {
  .name = "ssrnet",
  .description =
    "one number of SSR-Net: shares [1,3], shifts [1,3] and a width [1,1] of each stage",
  .params = params,
  .threshold = 0,
  .unmatched = unmatched,
  .open = open_ssrnet,
  .decode = decode_ssrnet,
  .close = close_ssrnet,
  .check = check,
};
