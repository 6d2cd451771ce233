/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "labels": one score a class -> the best classes of the whole picture.
 *
 * Parameters: "activation" none (the tensor holds probabilities), softmax or sigmoid (it holds
 * logits); "background-offset" an integer added to every class index, -1 for models whose class 0
 * is a background that the labels file leaves out; what falls below 0 is not reported;
 * "score-calibration", see calibration.h.
 *
 * Without a stated activation there is none where the model's last operators make probabilities or
 * all codes of the tensor mean some; else softmax, or sigmoid for a single number. A float tensor
 * that nothing is known of holds probabilities until a number outside 0..1 comes, and logits from
 * that frame on.
 *
 * A single number with two names is the share of the second; the first has the rest.
 *
 * Quantised scores are ranked and thresholded as codes; only those reported become floats. Scores
 * that are NaN, and infinite ones where they stand for probabilities, are never reported.
 */
#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "postprocess/calibration.h"
#include "postprocess/decoders.h"
#include "postprocess/params.h"
#include "postprocess/topk.h"
#include "postprocess/values.h"

typedef enum
{
  ACTIVATION_NONE,
  ACTIVATION_SOFTMAX,
  ACTIVATION_SIGMOID
} Activation;

/* Output quantisation that the 8-bit specification fixes for probabilities, for tensors that come
 * without one. */
#define PROBABILITY_SCALE (1.0 / 256)

/* Classifiers of its pictures have these, or one more: a background. */
#define IMAGENET_CLASSES 1000

/* Probabilities in codes may miss 0 and 1 by this much, and in floats by that. */
#define CODE_SLACK 0.1
#define FLOAT_SLACK 1e-3f

static const char *const activations[] = { "none", "softmax", "sigmoid", NULL };
static const SlDecoderParam params[] = { SL_PARAM_CHOICE ("activation", activations),
                                         SL_PARAM_INTEGER ("background-offset", -1000, 1000),
                                         SL_PARAM_TEXT (SL_CALIBRATION_PARAM),
                                         { NULL } };

typedef struct
{
  SlDtype dtype;
  guint n;
  Activation activation;
  gboolean told;    /* by the tensor, since nothing states the activation */
  gboolean assumed; /* that they are scores, since sigmoids make them and nothing names classes */
  gboolean binary;  /* one number for two classes */
  gboolean watch;   /* logits from the first number outside 0..1 on */
  gint offset;
  gfloat threshold;
  SlCalibration *calibration; /* (nullable) */
  gint bias;                  /* table index = code + bias */
  gint lowest;                /* lowest table index that can pass the threshold, 256 = none */
  gfloat table[256]; /* none, sigmoid: confidence of each code; softmax: exp (-scale * distance to
                        the best code) */
  SlTopK top;
} State;

static gboolean
fits (const SlDecoderConfig *config)
{
  const SlDtype dtype = config->tensors[0].dtype;
  return config->n_tensors == 1
         && (dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I8 || dtype == SL_DTYPE_F32)
         && sl_decoder_is_vector (&config->tensors[0]);
}

/* Whether the numbers are scores of classes although no class has a name: a softmax or sigmoids
 * make them, their codes are those of probabilities and no operator says otherwise, or they are as
 * many as ImageNet's classes. */
static gboolean
looks_like_scores (const SlTensorInfo *tensor)
{
  const guint n = sl_decoder_elements (tensor);
  const gboolean of_unit = tensor->dtype != SL_DTYPE_F32 && tensor->scale <= 1.01f / 256
                           && tensor->zero_point == (tensor->dtype == SL_DTYPE_I8 ? -128 : 0);
  return tensor->values == SL_VALUES_SHARES || tensor->values == SL_VALUES_PROBABILITIES
         || (of_unit && tensor->values == SL_VALUES_UNKNOWN) || n == IMAGENET_CLASSES
         || n == IMAGENET_CLASSES + 1;
}

/* Features, single numbers and vectors that nothing is known of are classes only with labels. */
static gboolean
matches (const SlDecoderConfig *config)
{
  const SlTensorInfo *tensor = &config->tensors[0];
  return fits (config)
         && (config->n_labels > 0
             || (sl_decoder_elements (tensor) > 1 && tensor->values != SL_VALUES_FEATURES
                 && looks_like_scores (tensor)));
}

static gboolean
is_binary (const SlDecoderConfig *config, gint offset)
{
  return sl_decoder_elements (&config->tensors[0]) == 1 && config->n_labels == 2 && offset == 0;
}

static guint
classes (const SlDecoderConfig *config)
{
  gint offset = 0;
  if (!fits (config)
      || !sl_decoder_param_int (config, params, "background-offset", 0, &offset, NULL))
    return 0;
  if (is_binary (config, offset))
    return 2;
  return (guint) MAX ((gint64) sl_decoder_elements (&config->tensors[0]) + offset, 0);
}

/* What makes confidences of @n logits. */
static Activation
activation_of_logits (guint n)
{
  return n > 1 ? ACTIVATION_SOFTMAX : ACTIVATION_SIGMOID;
}

/* Whether some codes of @tensor mean no probabilities. */
static gboolean
codes_exceed (const SlTensorInfo *tensor)
{
  const double lowest = tensor->dtype == SL_DTYPE_I8 ? -128 : 0, scale = (double) tensor->scale;
  return tensor->scale > 0
         && ((lowest - tensor->zero_point) * scale < -CODE_SLACK
             || (lowest + 255 - tensor->zero_point) * scale > 1 + CODE_SLACK);
}

/* The activation where nothing states one. */
static void
tell_activation (State *state, const SlTensorInfo *tensor)
{
  const gboolean codes = tensor->dtype != SL_DTYPE_F32;
  state->activation = ACTIVATION_NONE;
  if (state->calibration != NULL || tensor->values == SL_VALUES_PROBABILITIES
      || tensor->values == SL_VALUES_SHARES || (codes && !codes_exceed (tensor)))
    return;
  state->told = TRUE;
  if (codes || tensor->values == SL_VALUES_LOGITS)
    state->activation = activation_of_logits (state->n);
  else
    state->watch = TRUE;
}

static void
fill_table (State *state, const SlTensorInfo *tensor)
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
      state->table[i] =
        (gfloat) (state->activation == ACTIVATION_SIGMOID ? sl_sigmoid (real) : real);
    if (state->activation == ACTIVATION_SOFTMAX || state->table[i] >= state->threshold)
      state->lowest = i;
  }
}

static gpointer
open_labels (const SlDecoderConfig *config, GError **error)
{
  guint activation;
  gint offset;
  if (!fits (config)) {
    g_autofree char *got = sl_decoder_describe (config);
    return sl_fail_null (
      error, SL_ERROR_SHAPE,
      "decoder labels: expected one tensor of uint8, int8 or float32 with one dimension other than "
      "1, such as uint8[1,1001], got %s",
      got);
  }
  if (!sl_decoder_param_choice (config, params, "activation", &activation, error)
      || !sl_decoder_param_int (config, params, "background-offset", 0, &offset, error))
    return NULL;
  g_autoptr (SlCalibration) calibration = NULL;
  if (!sl_calibration_new (config, classes (config), &calibration, error))
    return NULL;
  State *state = g_new0 (State, 1);
  state->dtype = config->tensors[0].dtype;
  state->n = sl_decoder_elements (&config->tensors[0]);
  state->activation = (Activation) activation;
  state->offset = offset;
  state->binary = is_binary (config, offset) && calibration == NULL;
  state->threshold = config->threshold;
  state->calibration = g_steal_pointer (&calibration);
  state->assumed =
    config->n_labels == 0 && state->n > 1 && config->tensors[0].values == SL_VALUES_PROBABILITIES;
  if (sl_decoder_param (config, "activation") == NULL)
    tell_activation (state, &config->tensors[0]);
  state->top.capacity = MIN (config->max_results, state->binary ? 2 : state->n);
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
  found->confidence = (gfloat) fmin (confidence, 1);
  result->highest = MAX (result->highest, (gfloat) confidence);
}

/* Index into the table of the code of class @i. */
static inline gint
table_index (const State *state, const guint8 *codes, guint i)
{
  return codes[i] ^ (guint8) state->bias; /* int8 code + 128 is the byte with its top bit flipped */
}

static double
softmax_sum_of_codes (const State *state, const guint8 *codes, gint *best)
{
  double sum = 0;
  *best = 0;
  for (guint i = 0; i < state->n; i++)
    *best = MAX (*best, table_index (state, codes, i));
  for (guint i = 0; i < state->n; i++)
    sum += state->table[*best - table_index (state, codes, i)];
  return sum;
}

static void
decode_codes (State *state, const guint8 *codes, SlResult *result)
{
  gint best = 0;
  double sum = 1;
  for (guint i = first_class (state); i < state->n; i++) {
    gint at = table_index (state, codes, i);
    if (at >= state->lowest)
      sl_top_k_push (&state->top, (gfloat) at, i);
  }
  if (state->activation == ACTIVATION_SOFTMAX)
    sum = softmax_sum_of_codes (state, codes, &best);
  sl_top_k_sort (&state->top);
  for (guint i = 0; i < state->top.count; i++) {
    gint at = (gint) state->top.items[i].key;
    report (state, result, state->top.items[i].index,
            state->activation == ACTIVATION_SOFTMAX ? state->table[best - at] / sum
                                                    : state->table[at]);
  }
}

static inline gfloat
load_float (const guint8 *bytes, guint i)
{
  gfloat value;
  memcpy (&value, bytes + (gsize) i * sizeof value, sizeof value);
  return value;
}

/* Weight of a logit in a softmax whose largest logit is @best; an infinite best shares everything
 * among its equals. */
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
    if (isnan (score)
        || (state->activation == ACTIVATION_NONE && (isinf (score) || score < state->threshold)))
      continue;
    sl_top_k_push (&state->top, score, i);
  }
  if (state->activation == ACTIVATION_SOFTMAX)
    sum = softmax_sum (state, bytes, &best);
  sl_top_k_sort (&state->top);
  for (guint i = 0; i < state->top.count; i++) {
    gfloat score = state->top.items[i].key;
    double confidence = state->activation == ACTIVATION_SOFTMAX ? softmax_weight (score, best) / sum
                        : state->activation == ACTIVATION_SIGMOID ? sl_sigmoid (score)
                                                                  : score;
    report (state, result, state->top.items[i].index, confidence);
  }
}

/* Each class has a curve of its own, so all of them are worked out before the best are known. */
static void
decode_calibrated (State *state, const void *data, SlResult *result)
{
  const gboolean codes = state->dtype != SL_DTYPE_F32,
                 softmax = state->activation == ACTIVATION_SOFTMAX;
  gint best_code = 0;
  gfloat best = 0;
  const double sum = !softmax ? 1
                     : codes  ? softmax_sum_of_codes (state, data, &best_code)
                              : softmax_sum (state, data, &best);
  for (guint i = first_class (state); i < state->n; i++) {
    double score;
    if (codes) {
      const gint at = table_index (state, data, i);
      score = softmax ? (double) state->table[best_code - at] / sum : (double) state->table[at];
    } else {
      const gfloat number = load_float (data, i);
      score = softmax                                   ? softmax_weight (number, best) / sum
              : state->activation == ACTIVATION_SIGMOID ? sl_sigmoid (number)
                                                        : (double) number;
    }
    score = sl_calibration_apply (state->calibration, (gint32) i + state->offset, score);
    if (score >= (double) state->threshold)
      sl_top_k_push (&state->top, (gfloat) score, i);
  }
  sl_top_k_sort (&state->top);
  for (guint i = 0; i < state->top.count; i++)
    report (state, result, state->top.items[i].index, (double) state->top.items[i].key);
}

static gboolean
exceeds (const State *state, const guint8 *bytes)
{
  for (guint i = 0; i < state->n; i++) {
    const gfloat number = load_float (bytes, i);
    if (isfinite (number) && (number < -FLOAT_SLACK || number > 1 + FLOAT_SLACK))
      return TRUE;
  }
  return FALSE;
}

static void
decode_binary (const State *state, const void *data, SlResult *result)
{
  const gboolean codes = state->dtype != SL_DTYPE_F32;
  const double number = codes ? 0 : (double) load_float (data, 0);
  const double second = codes ? (double) state->table[table_index (state, data, 0)]
                        : state->activation == ACTIVATION_SIGMOID ? sl_sigmoid ((gfloat) number)
                                                                  : number;
  if (isnan (second) || isinf (second))
    return;
  const double share = CLAMP (second, 0, 1);
  const guint32 best = share >= 0.5;
  report (state, result, best, best == 1 ? share : 1 - share);
  if (state->top.capacity > 1)
    report (state, result, 1 - best, best == 1 ? 1 - share : share);
}

static void
decode_labels (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  state->top.count = 0;
  if (state->watch && exceeds (state, data[0])) {
    state->watch = FALSE;
    state->activation = activation_of_logits (state->n);
  }
  if (state->binary)
    decode_binary (state, data[0], result);
  else if (state->calibration != NULL)
    decode_calibrated (state, data[0], result);
  else if (state->dtype == SL_DTYPE_F32)
    decode_floats (state, data[0], result);
  else
    decode_codes (state, data[0], result);
}

static void
close_labels (gpointer opened)
{
  State *state = opened;
  sl_calibration_free (state->calibration);
  g_free (state->top.items);
  g_free (state);
}

static const char *
note (gconstpointer opened)
{
  const State *state = opened;
  if (state->calibration != NULL)
    return "scores are calibrated, as the model's metadata states";
  if (state->binary)
    return "the one number is the share of the second name, and the first name has the rest";
  if (state->assumed)
    return "sigmoids or clamps make the numbers, which are taken for scores of classes without "
           "names (decoder=vector for other numbers)";
  if (!state->told)
    return NULL;
  if (state->activation == ACTIVATION_SOFTMAX)
    return "the tensor holds logits: confidences are their softmax (decoder labels,activation=none "
           "or sigmoid for anything else)";
  if (state->activation == ACTIVATION_SIGMOID)
    return "the tensor holds a logit: the confidence is its sigmoid (decoder "
           "labels,activation=none for anything else)";
  return "nothing says whether the tensor holds probabilities or logits: a number outside 0..1 "
         "will tell (decoder labels,activation=none, softmax or sigmoid states it)";
}

const SlDecoder sl_decoder_labels = {
  .name = "labels",
  .description =
    "one tensor of uint8, int8 or float32 with a score for each class, such as uint8[1,1001]",
  .params = params,
  .threshold = 0,
  .matches = matches,
  .open = open_labels,
  .decode = decode_labels,
  .close = close_labels,
  .classes = classes,
  .note = note,
};
