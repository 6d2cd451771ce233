/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "dot": the sum of the products of two vectors of the same length, such as the scores of
 * leaves and the mask of the leaf that a picture reached (deep trees against photographs of faces).
 *
 * Parameters: "absolute" (no): the products' magnitudes are added; "scale" 1 and "offset" 0: value
 * = sum * scale + offset; "names", "units".
 *
 * It is never taken unnamed.
 */
#include <math.h>

#include "postprocess/decoders.h"
#include "postprocess/params.h"
#include "postprocess/values.h"

#define MAX_NUMBERS 65536
#define LARGEST_NUMBER 1e12

static const SlDecoderParam params[] = { SL_PARAM_BOOL ("absolute"),
                                         SL_PARAM_TEXT ("names"),
                                         SL_PARAM_TEXT ("units"),
                                         SL_PARAM_NUMBER ("scale", -LARGEST_NUMBER, LARGEST_NUMBER),
                                         SL_PARAM_NUMBER ("offset", -LARGEST_NUMBER,
                                                          LARGEST_NUMBER),
                                         { NULL } };

typedef struct
{
  guint n;
  SlValues values[2];
  gboolean absolute;
  double scale, offset;
  gfloat number;
  char **names, **units; /* (nullable) */
} State;

static gboolean
are_pair (const SlDecoderConfig *config)
{
  const SlTensorInfo *t = config->tensors;
  return config->n_tensors == 2 && sl_values_readable (t[0].dtype)
         && sl_values_readable (t[1].dtype) && sl_decoder_is_vector (&t[0])
         && sl_decoder_is_vector (&t[1]) && sl_decoder_elements (&t[0]) > 1
         && sl_decoder_elements (&t[0]) <= MAX_NUMBERS
         && sl_decoder_elements (&t[0]) == sl_decoder_elements (&t[1]);
}

static const char *
unmatched (const SlDecoderConfig *config)
{
  return are_pair (config) && sl_decoder_elements (&config->tensors[0]) < 16
           ? "two rows of the same length may be two factors of a product or two lists of classes: "
             "state decoder=dot for the sum of their products, dot,absolute=yes for "
             "FaceAntiSpoofing; decoders of classes read one list"
           : NULL;
}

static void
close_dot (gpointer opened)
{
  State *state = opened;
  g_strfreev (state->names);
  g_strfreev (state->units);
  g_free (state);
}

static gpointer
open_dot (const SlDecoderConfig *config, GError **error)
{
  if (!are_pair (config))
    return sl_decoder_refuse (
      config, "dot",
      "two vectors of the same length, such as float32[1,8] and float32[1,8], of uint8, int8 or "
      "float32",
      error);
  State *state = g_new0 (State, 1);
  state->n = sl_decoder_elements (&config->tensors[0]);
  for (guint t = 0; t < 2; t++)
    sl_values_init (&state->values[t], &config->tensors[t], SL_SCORES_PLAIN);
  if (sl_decoder_param_bool (config, params, "absolute", FALSE, &state->absolute, error)
      && sl_decoder_param_words (config, "names", 1, FALSE, &state->names, error)
      && sl_decoder_param_words (config, "units", 1, TRUE, &state->units, error)
      && sl_decoder_param_double (config, params, "scale", 1, &state->scale, error)
      && sl_decoder_param_double (config, params, "offset", 0, &state->offset, error))
    return state;
  close_dot (state);
  return NULL;
}

static void
decode_dot (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  double sum = 0;
  for (guint i = 0; i < state->n; i++) {
    const double product = (double) sl_values_get (&state->values[0], data[0], i)
                           * (double) sl_values_get (&state->values[1], data[1], i);
    sum += state->absolute ? fabs (product) : product;
  }
  state->number = (gfloat) (sum * state->scale + state->offset);
  result->vector = (SlVector){ .n = 1,
                               .values = &state->number,
                               .names = (const char *const *) state->names,
                               .units = (const char *const *) state->units };
}

const SlDecoder sl_decoder_dot = {
  .name = "dot",
  .description = "the sum of the products of two vectors of the same length, such as float32[1,8]",
  .params = params,
  .threshold = 0,
  .unmatched = unmatched,
  .open = open_dot,
  .decode = decode_dot,
  .close = close_dot,
};
