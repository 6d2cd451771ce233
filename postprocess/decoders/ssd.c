/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "ssd": what TFLite_Detection_PostProcess leaves, four float32 tensors: boxes[1,N,4]
 * (y_min, x_min, y_max, x_max in 0..1 of the input), classes[1,N], scores[1,N] and count[1].
 * Non-maximum suppression is already done.
 *
 * Converters write them in one of two orders, told apart by where the boxes are: boxes, classes,
 * scores, count (TensorFlow 1) or scores, boxes, count, classes (TensorFlow 2). Names of tensors
 * ("detection_scores") tell any order; else numbers tell scores from classes. Parameter "order"
 * states it; "background-offset" is an integer added to every class, -1 where class 0 is a
 * background; "score-calibration": see calibration.h. Rows with a NaN, an infinite corner, no area
 * or an impossible class are never reported.
 */
#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "postprocess/calibration.h"
#include "postprocess/decoders.h"
#include "postprocess/params.h"
#include "postprocess/plausible.h"
#include "postprocess/tensor_role.h"
#include "postprocess/topk.h"

/* Coordinates beyond this cannot be fractions of the input. */
#define LARGEST_FRACTION 4

typedef enum
{
  ROLE_BOXES,
  ROLE_CLASSES,
  ROLE_SCORES,
  ROLE_COUNT,
  N_ROLES
} Role;

static const char *const role_names[] = { "boxes", "classes", "scores", "count", NULL };

/* GStreamer's ssdobjectdetector finds them by these. */
static const char *const role_ids[N_ROLES] = { "ssd-mobilenet-v1-variant-1-out-boxes",
                                               "ssd-mobilenet-v1-variant-1-out-classes",
                                               "ssd-mobilenet-v1-variant-1-out-scores",
                                               "generic-variant-1-out-count" };

/* Tensor index of each role. */
static const guint known_orders[][N_ROLES] = {
  { 0, 1, 2, 3 },
  { 1, 3, 0, 2 },
};

static const SlDecoderParam params[] = { SL_PARAM_WORDS ("order", role_names),
                                         SL_PARAM_INTEGER ("background-offset", -1000, 1000),
                                         SL_PARAM_TEXT (SL_CALIBRATION_PARAM),
                                         { NULL } };

typedef struct
{
  guint tensor[N_ROLES];
  guint n; /* rows */
  gint offset;
  gfloat threshold;
  SlTopK top;
  SlCalibration *calibration; /* (nullable) */
  gfloat highest;             /* score of the frame, before it is limited to 1 */
  gboolean stated;            /* a parameter or names say which tensor is which */
} State;

static gboolean
order_fits (const SlDecoderConfig *config, const guint order[N_ROLES])
{
  const SlTensorInfo *boxes = &config->tensors[order[ROLE_BOXES]];
  guint n = sl_decoder_elements (&config->tensors[order[ROLE_SCORES]]);
  return boxes->rank >= 2 && boxes->dims[boxes->rank - 1] == 4
         && sl_decoder_elements (boxes) / 4 == n
         && sl_decoder_elements (&config->tensors[order[ROLE_CLASSES]]) == n
         && sl_decoder_elements (&config->tensors[order[ROLE_COUNT]]) == 1;
}

static gboolean
parse_order (const char *text, guint order[N_ROLES])
{
  g_auto (GStrv) words = g_strsplit (text, ",", N_ROLES + 1);
  guint seen = 0;
  if (g_strv_length (words) != N_ROLES)
    return FALSE;
  for (guint w = 0; w < N_ROLES; w++)
    for (guint role = 0; role < N_ROLES; role++)
      if (g_ascii_strcasecmp (g_strstrip (words[w]), role_names[role]) == 0) {
        order[role] = w;
        seen |= 1u << role;
      }
  return seen == (1u << N_ROLES) - 1;
}

static gboolean
all_floats (const SlDecoderConfig *config)
{
  for (guint t = 0; t < config->n_tensors; t++)
    if (config->tensors[t].dtype != SL_DTYPE_F32)
      return FALSE;
  return config->n_tensors == N_ROLES;
}

/* The order that names tell. */
static gboolean
read_names (const SlDecoderConfig *config, guint order[N_ROLES])
{
  static const SlTensorRole roles[N_ROLES] = { SL_TENSOR_BOXES, SL_TENSOR_CLASSES, SL_TENSOR_SCORES,
                                               SL_TENSOR_COUNT };
  guint seen = 0;
  for (guint t = 0; t < N_ROLES; t++)
    for (guint role = 0; role < N_ROLES; role++)
      if (sl_tensor_role (&config->tensors[t]) == roles[role]) {
        order[role] = t;
        seen |= 1u << role;
      }
  return seen == (1u << N_ROLES) - 1;
}

/* Any order: boxes and count have shapes of their own. Which of the others are scores the numbers
 * tell. */
static gboolean
search_order (const SlDecoderConfig *config, guint order[N_ROLES])
{
  for (guint boxes = 0; boxes < N_ROLES; boxes++)
    for (guint count = 0; count < N_ROLES; count++) {
      guint others[N_ROLES], n = 0;
      for (guint t = 0; t < N_ROLES && boxes != count; t++)
        if (t != boxes && t != count)
          others[n++] = t;
      const guint found[N_ROLES] = { boxes, others[0], others[1], count };
      if (boxes != count && order_fits (config, found)) {
        memcpy (order, found, sizeof found);
        return TRUE;
      }
    }
  return FALSE;
}

static gboolean
find_order (const SlDecoderConfig *config, guint order[N_ROLES])
{
  const char *text = sl_decoder_param (config, "order");
  if (!all_floats (config))
    return FALSE;
  if (text != NULL)
    return parse_order (text, order) && order_fits (config, order);
  if (read_names (config, order) && order_fits (config, order))
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (known_orders); i++)
    if (order_fits (config, known_orders[i])) {
      memcpy (order, known_orders[i], sizeof known_orders[i]);
      return TRUE;
    }
  return search_order (config, order);
}

static gboolean
matches (const SlDecoderConfig *config)
{
  guint order[N_ROLES];
  return find_order (config, order);
}

static guint
classes (const SlDecoderConfig *config)
{
  guint order[N_ROLES];
  gint offset = 0;
  if (!find_order (config, order)
      || !sl_decoder_param_int (config, params, "background-offset", 0, &offset, NULL)
      || config->tensors[order[ROLE_CLASSES]].classes == 0)
    return 0;
  return (guint) MAX ((gint64) config->tensors[order[ROLE_CLASSES]].classes + offset, 0);
}

static gpointer
open_ssd (const SlDecoderConfig *config, GError **error)
{
  guint order[N_ROLES];
  gint offset;
  if (!find_order (config, order)) {
    g_autofree char *got = sl_decoder_describe (config);
    const char *text = sl_decoder_param (config, "order");
    return sl_fail_null (
      error, SL_ERROR_SHAPE,
      "decoder ssd: expected float32 tensors boxes[1,N,4], classes[1,N], scores[1,N], count[1] in "
      "any order, or in that of the parameter \"order\" (%s), got %s",
      text != NULL ? text : "not set", got);
  }
  if (!sl_decoder_param_int (config, params, "background-offset", 0, &offset, error))
    return NULL;
  SlCalibration *calibration = NULL;
  if (!sl_calibration_new (config, 0, &calibration, error))
    return NULL;
  State *state = g_new0 (State, 1);
  state->calibration = calibration;
  memcpy (state->tensor, order, sizeof order);
  state->n = sl_decoder_elements (&config->tensors[order[ROLE_SCORES]]);
  state->offset = offset;
  guint named[N_ROLES];
  state->stated = sl_decoder_param (config, "order") != NULL || read_names (config, named);
  state->threshold = config->threshold;
  state->top.capacity = MIN (config->max_results, state->n);
  state->top.items = g_new (SlRanked, state->top.capacity);
  return state;
}

static inline gfloat
load_float (const guint8 *bytes, gsize i)
{
  gfloat value;
  memcpy (&value, bytes + i * sizeof value, sizeof value);
  return value;
}

/* Rows that the count tensor declares, within those that exist. */
static guint
row_count (const State *state, const void *const *data)
{
  gfloat count = load_float (data[state->tensor[ROLE_COUNT]], 0);
  if (!(count > 0))
    return 0;
  return count >= (gfloat) state->n ? state->n : (guint) count;
}

/* FALSE for a row that describes no object. */
static gboolean
read_row (State *state, const void *const *data, guint row, SlDetection *found)
{
  const guint8 *boxes = data[state->tensor[ROLE_BOXES]];
  gfloat class_id = load_float (data[state->tensor[ROLE_CLASSES]], row);
  gfloat score = load_float (data[state->tensor[ROLE_SCORES]], row);
  found->y_min = load_float (boxes, (gsize) row * 4);
  found->x_min = load_float (boxes, (gsize) row * 4 + 1);
  found->y_max = load_float (boxes, (gsize) row * 4 + 2);
  found->x_max = load_float (boxes, (gsize) row * 4 + 3);
  if (!(class_id > -0.5f && class_id < 1e6f) || !isfinite (score))
    return FALSE;
  found->label_id = (gint32) lrintf (class_id) + state->offset;
  if (state->calibration != NULL)
    score = (gfloat) sl_calibration_apply (state->calibration, found->label_id, (double) score);
  if (!(score >= state->threshold))
    return FALSE;
  state->highest = MAX (state->highest, score);
  found->confidence = MIN (score, 1);
  return found->label_id >= 0 && isfinite (found->x_min) && isfinite (found->y_min)
         && isfinite (found->x_max) && isfinite (found->y_max) && found->x_max > found->x_min
         && found->y_max > found->y_min;
}

static void
decode_ssd (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  guint rows = row_count (state, data);
  SlDetection found;
  state->top.count = 0;
  state->highest = 0;
  for (guint row = 0; row < rows; row++)
    if (read_row (state, data, row, &found))
      sl_top_k_push (&state->top, found.confidence, row);
  sl_top_k_sort (&state->top);
  for (guint i = 0; i < state->top.count; i++)
    read_row (state, data, state->top.items[i].index, &result->detections[i]);
  result->n_detections = state->top.count;
  result->highest = state->highest;
}

static void
close_ssd (gpointer opened)
{
  State *state = opened;
  sl_calibration_free (state->calibration);
  g_free (state->top.items);
  g_free (state);
}

static void
ids (gconstpointer opened, const char *found[SL_MAX_IO])
{
  const State *state = opened;
  for (guint role = 0; role < N_ROLES; role++)
    found[state->tensor[role]] = role_ids[role];
}

static gboolean
roles_fit (const State *state, guint scores, guint classes_at, const void *const *data,
           GString *why)
{
  static const SlValues plain = { 0 };
  const guint n = row_count (state, data);
  const SlRows score_rows = { &plain, data[scores], n, 1, 1, 1, NULL, 0 },
               class_rows = { &plain, data[classes_at], n, 1, 1, 1, NULL, 0 };
  SlColumn column;
  sl_plausible_column (&score_rows, 0, &column, NULL);
  const gboolean are_scores = sl_plausible_scores (&column, &score_rows, scores, NULL);
  if (are_scores)
    sl_plausible_column (&class_rows, 0, &column, NULL);
  if (are_scores && sl_plausible_classes (&column, classes_at, NULL))
    return TRUE;
  if (why != NULL)
    g_string_append_printf (why, "tensor %u, taken for %s, holds numbers %g..%g",
                            are_scores ? classes_at : scores, are_scores ? "classes" : "scores",
                            (double) column.low, (double) column.high);
  return FALSE;
}

static SlCheck
check (gpointer opened, const void *const *data, GString *why)
{
  State *state = opened;
  const guint scores = state->tensor[ROLE_SCORES], labels = state->tensor[ROLE_CLASSES];
  SlColumn column;
  const SlValues plain = { 0 };
  const SlRows boxes = {
    &plain, data[state->tensor[ROLE_BOXES]], row_count (state, data), 4, 4, 1, NULL, 0
  };
  for (guint k = 0; k < 4; k++) {
    sl_plausible_column (&boxes, k, &column, NULL);
    if (column.n == 0 || column.high <= LARGEST_FRACTION)
      continue;
    g_string_append_printf (
      why, "boxes reach to %g, so they are no fractions of 0..1: state decoder=detections",
      (double) column.high);
    return SL_CHECK_CONTRADICTS;
  }
  if (roles_fit (state, scores, labels, data, why))
    return SL_CHECK_FITS;
  if (!roles_fit (state, labels, scores, data, NULL)) {
    g_string_append (why, "; expected another order= of decoder=ssd, or another decoder");
    return SL_CHECK_CONTRADICTS;
  }
  g_string_append_printf (
    why,
    state->stated
      ? ": state order= of decoder=ssd with tensor %u as scores and tensor %u as classes"
      : ": tensor %u is taken for scores and tensor %u for classes (order= of decoder=ssd states "
        "it)",
    labels, scores);
  if (state->stated)
    return SL_CHECK_CONTRADICTS;
  state->tensor[ROLE_SCORES] = labels;
  state->tensor[ROLE_CLASSES] = scores;
  return SL_CHECK_CHANGED;
}

static const char *
note (gconstpointer opened)
{
  const State *state = opened;
  return state->calibration != NULL ? "scores are calibrated, as the model's metadata states"
                                    : NULL;
}

const SlDecoder sl_decoder_ssd = {
  .name = "ssd",
  .description = "float32 tensors boxes[1,N,4], classes[1,N], scores[1,N], count[1] of "
                 "TFLite_Detection_PostProcess",
  .params = params,
  .threshold = 0.5f,
  .matches = matches,
  .open = open_ssd,
  .decode = decode_ssd,
  .close = close_ssd,
  .classes = classes,
  .ids = ids,
  .note = note,
  .check = check,
};
