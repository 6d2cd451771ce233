/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "detr": the queries of DETR and of what came after it (Conditional and Deformable DETR,
 * RT-DETR, D-FINE, RF-DETR): class logits[1,N,C] and boxes[1,N,4] (centre x, centre y, width,
 * height in 0..1 of the input), in either order. There is no suppression: the network itself leaves
 * one query an object. Each query of OWL-ViT is a patch of the picture, and those of one object
 * find it together, so there boxes are suppressed.
 *
 * Parameters:
 *   iou-threshold 1, which suppresses nothing; 0.5 where sentences are classes one by one
 * (OWL-ViT);
 *                agnostic
 *   activation   softmax: a query has one class, and the last of C is "no object"; sigmoid: each
 *                class of each query counts by itself;
 *                none: likewise, and the numbers are probabilities. Told by the number of labels,
 *                by C = 92 (COCO's ids and "no object"),
 *                by the names that RF-DETR's exporter writes, by the operators that make the
 *                numbers, and by the numbers; else sigmoid, as all
 *                but the first DETR have it. Where sigmoids are one more than there are labels, the
 *                last is of no class (RF-DETR).
 */
#include <math.h>

#include "core/base/fail.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"
#include "postprocess/plausible.h"
#include "postprocess/tensor_role.h"

/* Published networks have 100 to 900 queries, in whole hundreds, as no SSD has anchors. */
#define QUERIES_STEP 100
#define QUERIES_MAX 1000
#define COCO_IDS 91
/* Overlap above which boxes of neighbouring patches are of one object. */
#define PATCHES_IOU 0.5
/* Queries that are looked at. */
#define MAX_QUERIES 64

static const char *const activations[] = { "told", "softmax", "sigmoid", "none", NULL };
static const SlDecoderParam params[] = { SL_PARAM_CHOICE ("activation", activations),
                                         SL_DETECTOR_PARAMS,
                                         { NULL } };

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
  gint32 *class_of; /* (nullable): the class of each number, -1 = of none; NULL = its own */
  guint classes;    /* of a query that are candidates */
  guint competing;  /* of these; those from the detector's @shown on are negative */
  Activation activation;
  SlValues boxes, logits;
  gfloat raw_threshold;
  SlDetector detector;
} State;

/* @states: the first is what parameters, names and labels say, the others what the numbers may say.
 */
typedef struct
{
  State *states[3];
  guint n, chosen;
  gboolean stated, named; /* the activation; the tensors, as the first DETR's are */
  gboolean words;         /* classes are sentences, so none is "no object" */
} Readings;

/* Among others, such as OWL-ViT's embeddings, both are found by name. */
static gboolean
find_named (const SlDecoderConfig *config, guint *boxes, guint *logits)
{
  guint found = 0;
  for (guint i = 0; i < config->n_tensors; i++) {
    const gboolean is_boxes = sl_tensor_is_named (&config->tensors[i], "pred_boxes"),
                   is_logits = sl_tensor_is_named (&config->tensors[i], "logits");
    *boxes = is_boxes ? i : *boxes;
    *logits = is_logits ? i : *logits;
    found += (guint) (is_boxes + is_logits);
  }
  return found == 2;
}

/* Of two tensors of 4 columns boxes are the one that is named so, else the second. */
static gboolean
choose_tensors (const SlDecoderConfig *config, guint *boxes, guint *logits)
{
  if (config->n_tensors != 2)
    return find_named (config, boxes, logits);
  const gboolean first_named = sl_decoder_columns (&config->tensors[0]) == 4
                               && sl_tensor_role (&config->tensors[0]) == SL_TENSOR_BOXES
                               && sl_tensor_role (&config->tensors[1]) != SL_TENSOR_BOXES;
  *boxes = sl_decoder_columns (&config->tensors[1]) == 4 && !first_named ? 1 : 0;
  *logits = 1 - *boxes;
  return TRUE;
}

static gboolean
find_tensors (const SlDecoderConfig *config, guint *boxes, guint *logits)
{
  if (!choose_tensors (config, boxes, logits))
    return FALSE;
  const SlTensorInfo *b = &config->tensors[*boxes], *l = &config->tensors[*logits];
  return sl_decoder_columns (b) == 4 && sl_decoder_elements (b) > 0 && sl_decoder_columns (l) >= 1
         && sl_values_readable (b->dtype) && sl_values_readable (l->dtype)
         && sl_decoder_elements (b) / 4 == sl_decoder_elements (l) / sl_decoder_columns (l);
}

/* RF-DETR's exporter calls boxes "dets" and logits "labels". */
static gboolean
are_rf_detr (const SlTensorInfo *boxes, const SlTensorInfo *logits)
{
  return g_strcmp0 (boxes->name, "dets") == 0 && g_strcmp0 (logits->name, "labels") == 0;
}

static gboolean
are_named (const SlTensorInfo *boxes, const SlTensorInfo *logits)
{
  return sl_tensor_is_named (boxes, "pred_boxes") && sl_tensor_is_named (logits, "logits");
}

static gboolean
matches (const SlDecoderConfig *config)
{
  guint boxes = 0, logits = 0;
  if (!find_tensors (config, &boxes, &logits))
    return FALSE;
  if (are_named (&config->tensors[boxes], &config->tensors[logits])
      || are_rf_detr (&config->tensors[boxes], &config->tensors[logits]))
    return TRUE;
  const guint queries = sl_decoder_elements (&config->tensors[boxes]) / 4;
  return queries % QUERIES_STEP == 0 && queries <= QUERIES_MAX;
}

/* No more queries are published. */
static gboolean
likely (const SlDecoderConfig *config)
{
  guint boxes = 0, logits = 0;
  return find_tensors (config, &boxes, &logits)
         && sl_decoder_elements (&config->tensors[boxes]) / 4 <= QUERIES_MAX;
}

static gboolean
find_activation (const SlDecoderConfig *config, const SlTensorInfo *boxes,
                 const SlTensorInfo *logits, Activation *activation, GError **error)
{
  guint stated;
  if (!sl_decoder_param_choice (config, params, "activation", &stated, error))
    return FALSE;
  const guint columns = sl_decoder_columns (logits);
  if (stated == SOFTMAX && config->words != NULL)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder parameter activation: each class of prompts counts by itself; expected "
      "sigmoid or none");
  if (stated != TOLD)
    *activation = (Activation) stated;
  else if (logits->values == SL_VALUES_PROBABILITIES || logits->values == SL_VALUES_SHARES)
    *activation = NONE;
  else if (are_rf_detr (boxes, logits) || config->words != NULL)
    *activation = SIGMOID;
  else if (config->n_labels > 0 ? columns == config->n_labels + 1 : columns == COCO_IDS + 1)
    *activation = SOFTMAX;
  else
    *activation = SIGMOID;
  if (*activation != SOFTMAX || columns > 1)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "decoder parameter activation: softmax needs a number for \"no object\" beside the classes; "
    "the tensor has 1 a query: expected sigmoid or none");
}

/* How many of @columns numbers a query are of classes. */
static guint
count_classes (const SlDecoderConfig *config, guint columns, Activation activation)
{
  if (config->words != NULL && config->words->columns != NULL)
    return config->words->n;
  const gboolean spare = config->n_labels > 0 && columns == config->n_labels + 1;
  return columns - (activation == SOFTMAX || spare);
}

static guint
classes (const SlDecoderConfig *config)
{
  guint boxes = 0, logits = 0;
  Activation activation;
  if (!find_tensors (config, &boxes, &logits)
      || !find_activation (config, &config->tensors[boxes], &config->tensors[logits], &activation,
                           NULL))
    return 0;
  return count_classes (config, sl_decoder_columns (&config->tensors[logits]), activation);
}

static void
state_free (State *state)
{
  sl_detector_clear (&state->detector);
  g_free (state->class_of);
  g_free (state);
}

static void
close_detr (gpointer opened)
{
  Readings *readings = opened;
  for (guint i = 0; i < readings->n; i++)
    state_free (readings->states[i]);
  g_free (readings);
}

/* (transfer full): the class of each of @n numbers of a query. */
static gint32 *
copy_columns (const SlWordVectors *words, guint n)
{
  gint32 *columns = g_new (gint32, n);
  for (guint i = 0; i < n; i++)
    columns[i] = i < words->n_columns ? words->columns[i] : -1;
  return columns;
}

/* Whether queries are patches of the picture, as OWL-ViT has them. Numbers of tokens in a caption,
 * the first of which is of no class, are Grounding DINO's. */
static gboolean
are_patches (const SlDecoderConfig *config)
{
  const SlWordVectors *words = config->words;
  return words != NULL && (words->columns == NULL || words->columns[0] >= 0);
}

static State *
state_new (const SlDecoderConfig *config, guint boxes, guint logits, Activation activation,
           GError **error)
{
  State *state = g_new0 (State, 1);
  state->boxes_at = boxes;
  state->logits_at = logits;
  state->columns = sl_decoder_columns (&config->tensors[logits]);
  state->n = sl_decoder_elements (&config->tensors[boxes]) / 4;
  state->activation = activation;
  state->classes = count_classes (config, state->columns, activation);
  state->competing =
    config->words != NULL ? MIN (config->words->n, state->classes) : state->classes;
  if (config->words != NULL && config->words->columns != NULL)
    state->class_of = copy_columns (config->words, state->columns);
  sl_values_init (&state->boxes, &config->tensors[boxes], SL_SCORES_PLAIN);
  sl_values_init (&state->logits, &config->tensors[logits],
                  activation == SIGMOID ? SL_SCORES_SIGMOID : SL_SCORES_PLAIN);
  state->raw_threshold = sl_values_raw_threshold (&state->logits, config->threshold);
  const guint candidates = activation == SOFTMAX ? state->n : state->n * state->classes;
  if (sl_detector_init (&state->detector, config, candidates, NULL,
                        are_patches (config) ? PATCHES_IOU : 1, error))
    return state;
  state_free (state);
  return NULL;
}

static gpointer
open_detr (const SlDecoderConfig *config, GError **error)
{
  guint boxes = 0, logits = 0;
  Activation activation;
  if (!find_tensors (config, &boxes, &logits))
    return sl_decoder_refuse (
      config, "detr", "tensors logits[1,N,classes] and boxes[1,N,4] of uint8, int8 or float32",
      error);
  if (!find_activation (config, &config->tensors[boxes], &config->tensors[logits], &activation,
                        error))
    return NULL;
  State *state = state_new (config, boxes, logits, activation, error);
  if (state == NULL)
    return NULL;
  Readings *readings = g_new0 (Readings, 1);
  readings->states[readings->n++] = state;
  readings->stated = g_strcmp0 (sl_decoder_param (config, "activation"), "told") != 0
                     && sl_decoder_param (config, "activation") != NULL;
  readings->words = config->words != NULL;
  readings->named = are_named (&config->tensors[boxes], &config->tensors[logits]);
  for (Activation other = SOFTMAX; other <= NONE; other++) {
    const gboolean fits = other != SOFTMAX
                          || (config->words == NULL && state->columns > 1
                              && (config->n_labels == 0 || state->columns == config->n_labels + 1));
    if (other != activation && fits && config->tensors[logits].dtype == SL_DTYPE_F32)
      readings->states[readings->n++] = state_new (config, boxes, logits, other, NULL);
  }
  return readings;
}

/* The best class of query @row, "no object" left out; @sum becomes that of all exponentials,
 * relative to the largest logit @top. */
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
    const gfloat value =
      sl_values_get (&state->logits, logits, (gsize) row * state->columns + best);
    state->detector.scores[row] = expf (value - top) / sum;
  }
}

/* Of @scores of a query, those of classes that are reported count above those of negative ones. */
static void
leave_out_beaten (const State *state, gfloat *scores)
{
  gfloat most = -1;
  for (guint c = state->detector.shown; c < state->competing; c++) {
    most = fmaxf (most, scores[c]);
    scores[c] = -1;
  }
  for (guint c = 0; c < state->classes && most >= 0; c++)
    scores[c] = scores[c] > most ? scores[c] : -1;
}

/* Most numbers of a frame are below the threshold, and need no activation. */
static void
score_classes (State *state, const void *logits)
{
  const guint numbers = state->class_of != NULL ? state->columns : state->competing;
  gfloat *score = state->detector.scores;
  for (guint row = 0; row < state->n; row++) {
    for (guint c = 0; c < state->classes; c++)
      score[c] = -1;
    for (guint k = 0; k < numbers; k++) {
      const gint32 c = state->class_of != NULL ? state->class_of[k] : (gint32) k;
      const gsize i = (gsize) row * state->columns + k;
      if (c >= 0
          && (state->logits.quantised || sl_values_float (logits, i) >= state->raw_threshold))
        score[c] = fmaxf (score[c], sl_values_get (&state->logits, logits, i));
    }
    leave_out_beaten (state, score);
    score += state->classes;
  }
}

static void
decode_detr (gpointer opened, const void *const *data, SlResult *result)
{
  const Readings *readings = opened;
  State *state = readings->states[readings->chosen];
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
    const guint label = state->activation == SOFTMAX ? best_class (state, logits, row, &top, &sum)
                                                     : ranked->index % state->classes;
    for (guint k = 0; k < 4; k++)
      box[k] = sl_values_get (&state->boxes, data[state->boxes_at], (gsize) row * 4 + k);
    const gfloat corners[4] = { box[0] - box[2] / 2, box[1] - box[3] / 2, box[0] + box[2] / 2,
                                box[1] + box[3] / 2 };
    sl_detector_add (detector, corners, ranked->key, (gint32) label, ranked->index);
  }
  sl_detector_finish (detector, detector->nms.iou < 1, result);
}

/* Whether boxes are middles and sizes of 0..1: those of the queries that were found lie on the
 * picture. */
static gboolean
boxes_fit (const State *state, const void *const *data, GString *why)
{
  const guint n = MIN (state->detector.top.count, MAX_QUERIES);
  const SlRows rows = { &state->boxes, data[state->boxes_at], state->n, 4, 4, 1, NULL, 0 };
  SlBoxCount all = { 0 };
  SlColumn column;
  guint bad = 0;
  for (guint i = 0; i < n; i++) {
    const guint row = state->activation == SOFTMAX
                        ? state->detector.top.items[i].index
                        : state->detector.top.items[i].index / state->classes;
    gfloat box[4];
    for (guint k = 0; k < 4; k++)
      box[k] = sl_rows_get (&rows, row, k);
    bad +=
      isfinite (box[0] + box[1] + box[2] + box[3]) && !sl_plausible_box (box, SL_BOX_CENTRE, 1, 1);
  }
  for (guint row = 0; row < state->n; row++) {
    gfloat box[4];
    for (guint k = 0; k < 4; k++)
      box[k] = sl_rows_get (&rows, row, k);
    sl_plausible_count_box (&all, box, SL_BOX_CENTRE, 1, 1, 0);
  }
  sl_plausible_column (&rows, 0, &column, NULL);
  if (2 * bad <= n && sl_plausible_boxes (&all, SL_BOX_CENTRE, TRUE)
      && !(column.n > 0 && column.high > SL_LARGEST_FRACTION))
    return TRUE;
  g_string_append_printf (
    why,
    "boxes are no middles and sizes of 0..1 (their first numbers are %g..%g): state "
    "decoder=detections for corners or pixels",
    (double) column.low, (double) column.high);
  return FALSE;
}

/* Whether the numbers of classes can be what @state takes them for. */
static gboolean
scores_fit (const Readings *readings, const State *state, const void *logits, GString *why)
{
  const SlValues plain = { 0 };
  const SlRows rows = { state->activation == SIGMOID && !state->logits.quantised ? &plain
                                                                                 : &state->logits,
                        logits,
                        state->n,
                        state->columns,
                        state->columns,
                        1,
                        NULL,
                        0 };
  const guint n = sl_rows_count (&rows);
  guint last = 0, sure = 0;
  gfloat low = INFINITY, high = -INFINITY;
  if (state->logits.quantised)
    return TRUE;
  for (guint i = 0; i < n; i++) {
    const guint row = sl_rows_at (&rows, i);
    const gfloat none = sl_rows_get (&rows, row, state->columns - 1);
    gfloat best = -INFINITY;
    for (guint c = 0; c < state->columns; c++) {
      const gfloat number = sl_rows_get (&rows, row, c);
      low = fminf (low, number);
      high = fmaxf (high, number);
      best = c + 1 < state->columns ? fmaxf (best, number) : best;
    }
    last += none > best && none > 0;
    sure += fmaxf (none, best) > 0;
  }
  const gboolean shares = low >= 0 && high <= 1 && low < high;
  const gboolean fits = state->activation == NONE ? low >= -0.05f && high <= 1.05f
                        : state->activation == SIGMOID
                          ? !shares && (readings->words || state->columns < 2 || 2 * last <= n)
                          : !shares && (readings->named || 2 * last >= n || 2 * sure > n);
  if (!fits && why != NULL && (shares || state->activation == NONE))
    g_string_append_printf (why, "numbers of classes are %g..%g", (double) low, (double) high);
  else if (!fits && why != NULL)
    g_string_append_printf (
      why,
      "in %u of %u queries the last number is the highest, as \"no object\" is with softmax alone",
      last, n);
  return fits;
}

static SlCheck
check (gpointer opened, const void *const *data, GString *why)
{
  Readings *readings = opened;
  const State *state = readings->states[readings->chosen];
  if (!boxes_fit (state, data, why))
    return SL_CHECK_CONTRADICTS;
  if (scores_fit (readings, state, data[state->logits_at], why))
    return SL_CHECK_FITS;
  for (guint i = 0; i < readings->n; i++) {
    const State *other = readings->states[i];
    if (other == state || !scores_fit (readings, other, data[state->logits_at], NULL))
      continue;
    g_string_append_printf (why, "%s decoder=detr,activation=%s",
                            readings->stated ? ": state" : ": taken for",
                            activations[other->activation]);
    if (readings->stated)
      return SL_CHECK_CONTRADICTS;
    readings->chosen = i;
    return SL_CHECK_CHANGED;
  }
  g_string_append (why, "; expected another activation= of decoder=detr, or another decoder");
  return SL_CHECK_CONTRADICTS;
}

const SlDecoder sl_decoder_detr = {
  .name = "detr",
  .description =
    "logits[1,N,classes] and boxes[1,N,4] of the N queries of DETR, RT-DETR and their like",
  .params = params,
  .threshold = 0.5f,
  .matches = matches,
  .likely = likely,
  .open = open_detr,
  .decode = decode_detr,
  .close = close_detr,
  .classes = classes,
  .check = check,
};
