/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "labels": one score a class -> the best classes of the whole picture.
 *
 * Parameters: "activation" none (default: the tensor holds probabilities), softmax or sigmoid (it holds logits);
 * "background-offset" an integer added to every class index, -1 for models whose class 0 is a background that the
 * labels file leaves out; what falls below 0 is not reported.
 *
 * Quantised scores are ranked and thresholded as codes; only those reported become floats. Scores that are NaN, and
 * infinite ones where they stand for probabilities, are never reported.
 */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "postprocess/decoders.h"
#include "postprocess/params.h"
#include "postprocess/topk.h"

typedef enum
{
  ACTIVATION_NONE,
  ACTIVATION_SOFTMAX,
  ACTIVATION_SIGMOID
} Activation;

static const char *const activations[] = { "none", "softmax", "sigmoid", NULL };

/* Output quantisation that the 8-bit specification fixes for probabilities, for tensors that come without one. */
#define PROBABILITY_SCALE (1.0 / 256)

static const char *const params[] = { "activation", "background-offset", NULL };

typedef struct
{
  SlDtype dtype;
  guint n;
  Activation activation;
  gint offset;
  gfloat threshold;
  gint bias;         /* table index = code + bias */
  gint lowest;       /* lowest table index that can pass the threshold, 256 = none */
  gfloat table[256]; /* none, sigmoid: confidence of each code; softmax: exp (-scale * distance to the best code) */
  SlTopK top;
} State;

static gboolean
is_vector (const SlDecoderTensor *tensor)
{
  gint32 longest = 1;
  for (guint i = 0; i < tensor->rank; i++)
    longest = MAX (longest, tensor->dims[i]);
  return tensor->rank >= 1 && sl_decoder_elements (tensor) == (guint) longest;
}

static gboolean
is_score_type (SlDtype dtype)
{
  return dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I8 || dtype == SL_DTYPE_F32;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  return config->n_tensors == 1 && is_score_type (config->tensors[0].dtype) && is_vector (&config->tensors[0]);
}

static guint
classes (const SlDecoderConfig *config)
{
  gint offset = 0;
  if (!matches (config) || !sl_decoder_param_int (config, "background-offset", 0, -1000, 1000, &offset, NULL))
    return 0;
  return (guint) MAX ((gint64) sl_decoder_elements (&config->tensors[0]) + offset, 0);
}

static double
sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

static void
fill_table (State *state, const SlDecoderTensor *tensor)
{
  gboolean is_signed = tensor->dtype == SL_DTYPE_I8;
  double scale = tensor->scale > 0 ? tensor->scale : PROBABILITY_SCALE;
  gint zero_point = tensor->scale > 0 ? tensor->zero_point : is_signed ? -128 : 0;
  state->bias = is_signed ? 128 : 0;
  state->lowest = 256;
  for (gint i = 255; i >= 0; i--) {
    double real = scale * ((double) i - state->bias - zero_point);
    if (state->activation == ACTIVATION_SOFTMAX)
      state->table[i] = (gfloat) exp (-scale * i);
    else
      state->table[i] = (gfloat) (state->activation == ACTIVATION_SIGMOID ? sigmoid (real) : real);
    if (state->activation == ACTIVATION_SOFTMAX || state->table[i] >= state->threshold)
      state->lowest = i;
  }
}

static gpointer
open_labels (const SlDecoderConfig *config, GError **error)
{
  guint activation;
  gint offset;
  if (!matches (config)) {
    g_autofree char *got = sl_decoder_describe (config);
    g_set_error (error, SL_ERROR, SL_ERROR_SHAPE,
                 "decoder labels: expected one tensor of uint8, int8 or float32 with one dimension other than 1, such as "
                 "uint8[1,1001], got %s",
                 got);
    return NULL;
  }
  if (!sl_decoder_param_choice (config, "activation", activations, &activation, error)
      || !sl_decoder_param_int (config, "background-offset", 0, -1000, 1000, &offset, error))
    return NULL;
  State *state = g_new0 (State, 1);
  state->dtype = config->tensors[0].dtype;
  state->n = sl_decoder_elements (&config->tensors[0]);
  state->activation = (Activation) activation;
  state->offset = offset;
  state->threshold = config->threshold;
  state->top.capacity = MIN (config->max_results, state->n);
  state->top.items = g_new (SlRanked, state->top.capacity);
  if (state->dtype != SL_DTYPE_F32)
    fill_table (state, &config->tensors[0]);
  return state;
}

/* Index of the first class that may be reported: those that the offset moves below 0 may not. */
static guint
first_class (const State *state)
{
  return state->offset < 0 ? MIN ((guint) -state->offset, state->n) : 0;
}

static void
report (const State *state, SlResult *result, guint32 index, double confidence)
{
  if (!(confidence >= state->threshold))
    return;
  SlClass *found = &result->classes[result->n_classes++];
  found->label_id = (gint32) MIN ((gint64) index + state->offset, G_MAXINT32);
  found->confidence = (gfloat) confidence;
}

static void
decode_codes (State *state, const guint8 *codes, SlResult *result)
{
  guint8 flip = (guint8) state->bias; /* int8 code + 128 is the byte with its top bit flipped */
  gint best = 0;
  double sum = 1;
  for (guint i = first_class (state); i < state->n; i++) {
    gint at = codes[i] ^ flip;
    if (at >= state->lowest)
      sl_top_k_push (&state->top, (gfloat) at, i);
  }
  if (state->activation == ACTIVATION_SOFTMAX) {
    for (guint i = 0; i < state->n; i++)
      best = MAX (best, codes[i] ^ flip);
    sum = 0;
    for (guint i = 0; i < state->n; i++)
      sum += state->table[best - (codes[i] ^ flip)];
  }
  sl_top_k_sort (&state->top);
  for (guint i = 0; i < state->top.count; i++) {
    gint at = (gint) state->top.items[i].key;
    report (state, result, state->top.items[i].index,
            state->activation == ACTIVATION_SOFTMAX ? state->table[best - at] / sum : state->table[at]);
  }
}

static inline gfloat
load_float (const guint8 *bytes, guint i)
{
  gfloat value;
  memcpy (&value, bytes + (gsize) i * sizeof value, sizeof value);
  return value;
}

/* Weight of a logit in a softmax whose largest logit is @best; an infinite best shares everything among its equals. */
static double
softmax_weight (gfloat logit, gfloat best)
{
  if (isinf (best))
    return logit == best ? 1 : 0;
  return exp ((double) logit - best);
}

static double
softmax_sum (const State *state, const guint8 *bytes, gfloat *best)
{
  double sum = 0;
  *best = -INFINITY;
  for (guint i = 0; i < state->n; i++)
    *best = fmaxf (*best, load_float (bytes, i));
  for (guint i = 0; i < state->n; i++) {
    gfloat logit = load_float (bytes, i);
    if (!isnan (logit))
      sum += softmax_weight (logit, *best);
  }
  return sum;
}

static void
decode_floats (State *state, const guint8 *bytes, SlResult *result)
{
  gfloat best = 0;
  double sum = 1;
  for (guint i = first_class (state); i < state->n; i++) {
    gfloat score = load_float (bytes, i);
    if (isnan (score) || (state->activation == ACTIVATION_NONE && (isinf (score) || score < state->threshold)))
      continue;
    sl_top_k_push (&state->top, score, i);
  }
  if (state->activation == ACTIVATION_SOFTMAX)
    sum = softmax_sum (state, bytes, &best);
  sl_top_k_sort (&state->top);
  for (guint i = 0; i < state->top.count; i++) {
    gfloat score = state->top.items[i].key;
    double confidence = state->activation == ACTIVATION_SOFTMAX   ? softmax_weight (score, best) / sum
                        : state->activation == ACTIVATION_SIGMOID ? sigmoid (score)
                                                                  : score;
    report (state, result, state->top.items[i].index, confidence);
  }
}

static void
decode_labels (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  state->top.count = 0;
  if (state->dtype == SL_DTYPE_F32)
    decode_floats (state, data[0], result);
  else
    decode_codes (state, data[0], result);
}

static void
close_labels (gpointer opened)
{
  State *state = opened;
  g_free (state->top.items);
  g_free (state);
}

const SlDecoder sl_decoder_labels = {
  .name = "labels",
  .description = "one tensor of uint8, int8 or float32 with a score for each class, such as uint8[1,1001]",
  .params = params,
  .threshold = 0,
  .matches = matches,
  .open = open_labels,
  .decode = decode_labels,
  .close = close_labels,
  .classes = classes,
};
