/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "simcc": keypoints of one person, hand or animal as two lists of scores a point, one over
 * the columns and one over the rows of the input, as SimCC and RTMPose have them: [1,K,r*width] and
 * [1,K,r*height], of r cells a pixel. A point lies at the best cell of each list; its confidence is
 * the lower of both scores.
 *
 * The tensor of the columns is the one whose name ends in "x"; unnamed the one that fits the
 * input's width, else the first.
 *
 * Parameters: "point-threshold" 0.3: points that count for the box.
 */
#include <math.h>

#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"
#include "postprocess/tensor_role.h"
#include "postprocess/values.h"

#define PERSON_POINTS 17
#define FEWEST_POINTS 5
#define MAX_CELLS 16384

static const SlDecoderParam params[] = { SL_PARAM_NUMBER ("point-threshold", 0, 1), { NULL } };
static const char *const person[] = { "person", NULL };
static const char *const anything[] = { "points", NULL };

typedef struct
{
  guint at, cells;
  SlValues values;
} Axis;

typedef struct
{
  guint points;
  Axis x, y;
  gfloat threshold;
  double point_threshold;
} State;

static gboolean
ends_in (const SlTensorInfo *tensor, const char *letter)
{
  return tensor->name != NULL && g_str_has_suffix (tensor->name, letter);
}

static gboolean
are_lists (const SlDecoderConfig *config)
{
  const SlTensorInfo *t = config->tensors;
  if (config->n_tensors != 2)
    return FALSE;
  for (guint i = 0; i < 2; i++)
    if (!sl_values_readable (t[i].dtype) || t[i].rank != 3 || t[i].dims[0] != 1
        || t[i].dims[1] != t[0].dims[1] || t[i].dims[2] < 2 || t[i].dims[2] > MAX_CELLS)
      return FALSE;
  return t[0].dims[1] >= FEWEST_POINTS && t[0].dims[1] <= SL_MAX_KEYPOINTS;
}

/* Whether lists @x and @y have as many cells a pixel. */
static gboolean
fit_input (const SlDecoderConfig *config, const SlTensorInfo *x, const SlTensorInfo *y)
{
  return config->input_width > 0 && config->input_height > 0
         && (gint64) x->dims[2] * config->input_height == (gint64) y->dims[2] * config->input_width
         && x->dims[2] >= config->input_width;
}

/* Which of both tensors is that of the columns. */
static guint
find_columns (const SlDecoderConfig *config)
{
  const SlTensorInfo *t = config->tensors;
  if (ends_in (&t[0], "x") != ends_in (&t[1], "x"))
    return ends_in (&t[0], "x") ? 0 : 1;
  return !fit_input (config, &t[0], &t[1]) && fit_input (config, &t[1], &t[0]) ? 1 : 0;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  if (!are_lists (config))
    return FALSE;
  const guint x = find_columns (config);
  const SlTensorInfo *t = config->tensors;
  const gboolean named = sl_tensor_is_named (&t[0], "simcc") && sl_tensor_is_named (&t[1], "simcc");
  return fit_input (config, &t[x], &t[1 - x])
         && (named || (t[0].dims[2] != t[1].dims[2] && t[x].dims[2] > config->input_width));
}

static gpointer
open_simcc (const SlDecoderConfig *config, GError **error)
{
  if (!are_lists (config))
    return sl_decoder_refuse (
      config, "simcc",
      "scores of the columns [1,K,r*width] and of the rows [1,K,r*height] of K points, of uint8, "
      "int8 or float32",
      error);
  State *state = g_new0 (State, 1);
  const guint x = find_columns (config);
  Axis *const axes[] = { &state->x, &state->y };
  for (guint i = 0; i < 2; i++) {
    axes[i]->at = i == 0 ? x : 1 - x;
    axes[i]->cells = (guint) config->tensors[axes[i]->at].dims[2];
    sl_values_init (&axes[i]->values, &config->tensors[axes[i]->at], SL_SCORES_PLAIN);
  }
  state->points = (guint) config->tensors[0].dims[1];
  state->threshold = config->threshold;
  if (sl_decoder_param_double (config, params, "point-threshold", 0.3, &state->point_threshold,
                               error))
    return state;
  g_free (state);
  return NULL;
}

/* The best cell of point @k, in 0..1 of the axis; *@score: its score, -1 where there is none. */
static gfloat
find_best (const Axis *axis, const void *const *data, guint k, gfloat *score)
{
  guint best = 0;
  *score = -1;
  for (guint i = 0; i < axis->cells; i++) {
    const gfloat value = sl_values_get (&axis->values, data[axis->at], (gsize) k * axis->cells + i);
    if (value > *score && isfinite (value)) {
      *score = value;
      best = i;
    }
  }
  return (gfloat) best / (gfloat) axis->cells;
}

static void
decode_simcc (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  SlDetection found = {
    .x_min = INFINITY, .y_min = INFINITY, .x_max = -INFINITY, .y_max = -INFINITY
  };
  SlDetectedPoint *points = sl_result_add_keypoints (result, &found, state->points);
  double sum = 0;
  for (guint k = 0; k < state->points; k++) {
    gfloat of_x, of_y;
    points[k].x = find_best (&state->x, data, k, &of_x);
    points[k].y = find_best (&state->y, data, k, &of_y);
    points[k].confidence = CLAMP (MIN (of_x, of_y), 0, 1);
    sum += (double) points[k].confidence;
    if ((double) points[k].confidence < state->point_threshold)
      continue;
    found.x_min = MIN (found.x_min, points[k].x);
    found.x_max = MAX (found.x_max, points[k].x);
    found.y_min = MIN (found.y_min, points[k].y);
    found.y_max = MAX (found.y_max, points[k].y);
  }
  found.confidence = (gfloat) (sum / state->points);
  if (found.x_max > found.x_min && found.y_max > found.y_min
      && found.confidence >= state->threshold)
    result->detections[result->n_detections++] = found;
  else
    result->n_keypoints = 0;
  result->skeleton = state->points == PERSON_POINTS ? &sl_skeleton_person : NULL;
}

static const char *const *
names_of (gconstpointer opened, gboolean *own)
{
  return ((const State *) opened)->points == PERSON_POINTS ? person : anything;
}

const SlDecoder sl_decoder_simcc = {
  .name = "simcc",
  .description =
    "keypoints of SimCC and RTMPose: scores of the columns [1,17,384] and of the rows [1,17,512] "
    "of an input of 192x256",
  .params = params,
  .names_of = names_of,
  .threshold = 0.3f,
  .matches = matches,
  .open = open_simcc,
  .decode = decode_simcc,
  .close = g_free,
  .classes = sl_decoder_one_class,
};
