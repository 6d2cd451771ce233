/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "detr": the queries of DETR and of what came after it (Conditional and Deformable DETR, RT-DETR, D-FINE, RF-DETR): class
 * logits[1,N,C] and boxes[1,N,4] (centre x, centre y, width, height in 0..1 of the input), in either order. There is no suppression: the
 * network itself leaves one query an object.
 *
 * Parameters:
 *   activation   softmax: a query has one class, and the last of C is "no object"; sigmoid: each class of each query counts by itself;
 *                none: likewise, and the numbers are probabilities. Told by the number of labels, by C = 92 (COCO's ids and "no object")
 *                and by the operators that make the numbers; else sigmoid, as all but the first DETR have it.
 */
#include <math.h>

#include "sightline/error.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"

/* Published networks have 100 to 900 queries, in whole hundreds, as no SSD has anchors. */
#define QUERIES_STEP 100
#define QUERIES_MAX 1000
#define COCO_IDS 91

static const char *const params[] = { "activation", NULL };
static const char *const activations[] = { "told", "softmax", "sigmoid", "none", NULL };

typedef enum
{
  TOLD,
  SOFTMAX,
  SIGMOID,
  NONE
} Activation;

typedef struct
{
  guint boxes_at, logits_at;
  guint n, columns; /* queries, numbers of each */
  guint classes;    /* of a query that are candidates */
  Activation activation;
  SlValues boxes, logits;
  gfloat raw_threshold;
  SlDetector detector;
} State;

/* Boxes are the second of two tensors of 4 columns. */
static gboolean
find_tensors (const SlDecoderConfig *config, guint *boxes, guint *logits)
{
  if (config->n_tensors != 2)
    return FALSE;
  *boxes = sl_decoder_columns (&config->tensors[1]) == 4 ? 1 : 0;
  *logits = 1 - *boxes;
  const SlTensorInfo *b = &config->tensors[*boxes], *l = &config->tensors[*logits];
  return sl_decoder_columns (b) == 4 && sl_decoder_elements (b) > 0 && sl_decoder_columns (l) >= 1 && sl_values_readable (b->dtype)
         && sl_values_readable (l->dtype) && sl_decoder_elements (b) / 4 == sl_decoder_elements (l) / sl_decoder_columns (l);
}

static gboolean
matches (const SlDecoderConfig *config)
{
  guint boxes, logits;
  if (!find_tensors (config, &boxes, &logits))
    return FALSE;
  const guint queries = sl_decoder_elements (&config->tensors[boxes]) / 4;
  return queries % QUERIES_STEP == 0 && queries <= QUERIES_MAX;
}

static gboolean
find_activation (const SlDecoderConfig *config, const SlTensorInfo *logits, Activation *activation, GError **error)
{
  guint stated;
  if (!sl_decoder_param_choice (config, "activation", activations, &stated, error))
    return FALSE;
  const guint columns = sl_decoder_columns (logits);
  if (stated != TOLD)
    *activation = (Activation) stated;
  else if (logits->values == SL_VALUES_PROBABILITIES || logits->values == SL_VALUES_SHARES)
    *activation = NONE;
  else if (config->n_labels > 0 ? columns == config->n_labels + 1 : columns == COCO_IDS + 1)
    *activation = SOFTMAX;
  else
    *activation = SIGMOID;
  if (*activation != SOFTMAX || columns > 1)
    return TRUE;
  g_set_error (
    error, SL_ERROR, SL_ERROR_ARGUMENT,
    "decoder parameter activation: softmax needs a number for \"no object\" beside the classes; the tensor has 1 a query: expected "
    "sigmoid or none");
  return FALSE;
}

static guint
classes (const SlDecoderConfig *config)
{
  guint boxes, logits;
  Activation activation;
  if (!find_tensors (config, &boxes, &logits) || !find_activation (config, &config->tensors[logits], &activation, NULL))
    return 0;
  return sl_decoder_columns (&config->tensors[logits]) - (activation == SOFTMAX);
}

static void
close_detr (gpointer opened)
{
  State *state = opened;
  sl_detector_clear (&state->detector);
  g_free (state);
}

static gpointer
open_detr (const SlDecoderConfig *config, GError **error)
{
  guint boxes, logits;
  if (!find_tensors (config, &boxes, &logits))
    return sl_decoder_refuse (config, "detr", "tensors logits[1,N,classes] and boxes[1,N,4] of uint8, int8 or float32", error);
  State *state = g_new0 (State, 1);
  state->boxes_at = boxes;
  state->logits_at = logits;
  state->columns = sl_decoder_columns (&config->tensors[logits]);
  state->n = sl_decoder_elements (&config->tensors[boxes]) / 4;
  if (!find_activation (config, &config->tensors[logits], &state->activation, error)) {
    close_detr (state);
    return NULL;
  }
  state->classes = state->columns - (state->activation == SOFTMAX);
  sl_values_init (&state->boxes, &config->tensors[boxes], SL_SCORES_PLAIN);
  sl_values_init (&state->logits, &config->tensors[logits], state->activation == SIGMOID ? SL_SCORES_SIGMOID : SL_SCORES_PLAIN);
  state->raw_threshold = sl_values_raw_threshold (&state->logits, config->threshold);
  const guint candidates = state->activation == SOFTMAX ? state->n : state->n * state->classes;
  if (!sl_detector_init (&state->detector, config, candidates, NULL, 1, error)) {
    close_detr (state);
    return NULL;
  }
  return state;
}

/* The best class of query @row, "no object" left out; @sum becomes that of all exponentials, relative to the largest logit @top. */
static guint
best_class (const State *state, const void *logits, guint row, gfloat *top, gfloat *sum)
{
  const gsize first = (gsize) row * state->columns;
  guint best = 0;
  gfloat highest = sl_values_get (&state->logits, logits, first);
  for (guint c = 1; c < state->classes; c++) {
    const gfloat value = sl_values_get (&state->logits, logits, first + c);
    if (value > highest) {
      highest = value;
      best = c;
    }
  }
  const gfloat none = sl_values_get (&state->logits, logits, first + state->classes);
  *top = MAX (highest, none);
  *sum = 0;
  for (guint c = 0; c < state->columns; c++)
    *sum += expf (sl_values_get (&state->logits, logits, first + c) - *top);
  return best;
}

static void
score_queries (State *state, const void *logits)
{
  for (guint row = 0; row < state->n; row++) {
    gfloat top, sum;
    const guint best = best_class (state, logits, row, &top, &sum);
    const gfloat value = sl_values_get (&state->logits, logits, (gsize) row * state->columns + best);
    state->detector.scores[row] = expf (value - top) / sum;
  }
}

/* Most numbers of a frame are below the threshold, and need no activation. */
static void
score_classes (State *state, const void *logits)
{
  const gsize n = (gsize) state->n * state->classes;
  for (gsize i = 0; i < n; i++) {
    const gboolean may_count = state->logits.quantised || sl_values_float (logits, i) >= state->raw_threshold;
    state->detector.scores[i] = may_count ? sl_values_get (&state->logits, logits, i) : -1;
  }
}

static void
decode_detr (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  SlDetector *detector = &state->detector;
  const void *logits = data[state->logits_at];
  if (state->activation == SOFTMAX)
    score_queries (state, logits);
  else
    score_classes (state, logits);
  sl_detector_select (detector);
  for (guint i = 0; i < detector->top.count; i++) {
    const SlRanked *ranked = &detector->top.items[i];
    gfloat box[4], top, sum;
    const guint row = state->activation == SOFTMAX ? ranked->index : ranked->index / state->classes;
    const guint label = state->activation == SOFTMAX ? best_class (state, logits, row, &top, &sum) : ranked->index % state->classes;
    for (guint k = 0; k < 4; k++)
      box[k] = sl_values_get (&state->boxes, data[state->boxes_at], (gsize) row * 4 + k);
    const gfloat corners[4] = { box[0] - box[2] / 2, box[1] - box[3] / 2, box[0] + box[2] / 2, box[1] + box[3] / 2 };
    sl_detector_add (detector, corners, ranked->key, (gint32) label, ranked->index);
  }
  sl_detector_finish (detector, FALSE, result);
}

const SlDecoder sl_decoder_detr = {
  .name = "detr",
  .description = "logits[1,N,classes] and boxes[1,N,4] of the N queries of DETR, RT-DETR and their like",
  .params = params,
  .threshold = 0.5f,
  .matches = matches,
  .open = open_detr,
  .decode = decode_detr,
  .close = close_detr,
  .classes = classes,
};
