/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "landmarks": the points of the one face, hand or body that the picture shows, such as
 * MediaPipe's face mesh, hands and BlazePose: a vector of K points, each x, y and perhaps more
 * numbers, and possibly a tensor of one number: whether there is something at all. Of several such
 * tensors the first counts.
 *
 * Parameters: "point-size": numbers of each point, 2, 3 or 5, of which the fourth is a logit of
 * whether it is visible; unstated, that of models known by how many numbers they have, else 2.
 * "units" pixels of the input, normalised: 0..1 of it, or centred: -1..1 of it; unstated, pixels
 * from the first point on that lies more than 2 from 0; until then centred where the points' mean
 * is near 0, else normalised. "activation" of the one number: none or sigmoid; unstated, the
 * model's last operators and the number tell.
 *
 * Unnamed it is taken for the vectors of MediaPipe's models beside a tensor of one number.
 */
#include <math.h>

#include "core/base/fail.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"
#include "postprocess/values.h"

#define FEWEST_POINTS 2
#define MANY_POINTS 8

static const char *const unit_names[] = { "pixels", "normalised", "centred", NULL };
static const char *const activations[] = { "none", "sigmoid", NULL };
static const SlDecoderParam params[] = { SL_PARAM_INTEGER ("point-size", 2, 5),
                                         SL_PARAM_CHOICE ("units", unit_names),
                                         SL_PARAM_CHOICE ("activation", activations),
                                         { NULL } };
/* Models known by how many numbers they have. */
static const struct
{
  guint n, point_size;
  const char *names[2]; /* of the one class */
  const SlSkeleton *skeleton;
} known[] = {
  { 1404, 3, { "face" }, NULL },
  { 1434, 3, { "face" }, NULL },
  { 63, 3, { "hand" }, &sl_skeleton_hand },
  { 195, 5, { "person" }, NULL },
  { 18, 2, { "object" }, &sl_skeleton_cuboid },
};

/* No point in pixels: a face, a hand or a body within 2 of them. */
#define FARTHEST_SHARE 2
/* Mean of points that are -1..1; of those that are 0..1 it is about a half. */
#define CENTRED_MEAN 0.2

typedef enum
{
  UNITS_PIXELS,
  UNITS_NORMALISED,
  UNITS_CENTRED,
  UNITS_TOLD, /* by the numbers of each frame */
} Units;

static const char *const unknown_names[] = { "points", NULL };

typedef struct
{
  guint points_at, n, point_size;
  gint presence_at; /* -1 = none */
  gboolean sigmoid, watch;
  const char *const *names; /* of the one class */
  const SlSkeleton *skeleton;
  Units units;
  gfloat width, height; /* of the input in pixels, 0 = unknown */
  gfloat threshold;
  SlValues values, presence_values;
} State;

static gint
find_known (guint n)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (known[i].n == n)
      return (gint) i;
  return -1;
}

static gboolean
is_of (const SlTensorInfo *tensor, guint fewest, guint most)
{
  const guint n = sl_decoder_elements (tensor);
  return sl_values_readable (tensor->dtype) && sl_decoder_is_vector (tensor) && n >= fewest
         && n <= most;
}

static gboolean
find_tensors (const SlDecoderConfig *config, State *state)
{
  state->presence_at = -1;
  for (guint t = config->n_tensors; t-- > 0;) {
    if (is_of (&config->tensors[t], 1, 1)) {
      state->presence_at = (gint) t;
    } else if (is_of (&config->tensors[t], 2 * FEWEST_POINTS, 5 * SL_MAX_KEYPOINTS)) {
      state->points_at = t;
      state->n = sl_decoder_elements (&config->tensors[t]);
    }
  }
  return state->n > 0;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  State state = { 0 };
  return find_tensors (config, &state) && state.presence_at >= 0 && find_known (state.n) >= 0;
}

static gboolean
read_size (State *state, const SlDecoderConfig *config, GError **error)
{
  const gint found = find_known (state->n);
  gint size;
  if (!sl_decoder_param_int (config, params, "point-size",
                             found >= 0 ? (gint) known[found].point_size : 2, &size, error))
    return FALSE;
  if (size == 4 || state->n % (guint) size != 0 || state->n / (guint) size > SL_MAX_KEYPOINTS)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder landmarks: %u numbers are no points of %d; state point-size=2, 3 or 5, for at most "
      "%d points",
      state->n, size, SL_MAX_KEYPOINTS);
  const gboolean is_known = found >= 0 && known[found].point_size == (guint) size;
  state->point_size = (guint) size;
  state->names = is_known ? known[found].names : unknown_names;
  state->skeleton = is_known ? known[found].skeleton : NULL;
  return TRUE;
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  guint units, activation;
  gint32 width, height;
  if (!read_size (state, config, error)
      || !sl_decoder_param_choice (config, params, "units", &units, error)
      || !sl_decoder_param_choice (config, params, "activation", &activation, error)
      || !sl_decoder_param_size (config, &width, &height, error))
    return FALSE;
  state->units = sl_decoder_param (config, "units") != NULL ? (Units) units : UNITS_TOLD;
  if ((state->units == UNITS_PIXELS || state->units == UNITS_TOLD) && width == 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder landmarks: points are in pixels of the model's input, whose size is not known: "
      "state imgsz=HEIGHT,WIDTH");
  state->width = (gfloat) width;
  state->height = (gfloat) height;
  const SlValueKind kind =
    state->presence_at >= 0 ? config->tensors[state->presence_at].values : SL_VALUES_UNKNOWN;
  const gboolean stated = sl_decoder_param (config, "activation") != NULL;
  state->sigmoid = stated ? activation == 1 : kind == SL_VALUES_LOGITS;
  state->watch = !stated && kind == SL_VALUES_UNKNOWN;
  return TRUE;
}

/* Points are the largest tensor, nothing is counted, and no other vector is as long as points. */
static gboolean
likely (const SlDecoderConfig *config)
{
  State state = { 0 };
  if (!find_tensors (config, &state))
    return FALSE;
  for (guint t = 0; t < config->n_tensors; t++) {
    const SlTensorInfo *tensor = &config->tensors[t];
    const guint n = sl_decoder_elements (tensor);
    if (n > state.n || tensor->dtype == SL_DTYPE_I32 || tensor->dtype == SL_DTYPE_I64
        || (t != state.points_at
            && is_of (tensor, 2 * FEWEST_POINTS, state.n)
            /* points in metres have three numbers each, beside three or five each */
            && (n % 3 != 0 || (n != state.n && n / 3 * 5 != state.n))))
      return FALSE;
  }
  return TRUE;
}

static gpointer
open_landmarks (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  if (!find_tensors (config, state)) {
    g_free (state);
    return sl_decoder_refuse (
      config, "landmarks",
      "a vector of points such as float32[1,1404] or float32[1,136], of uint8, int8 or float32, "
      "and possibly one number [1,1]",
      error);
  }
  if (!read_parameters (state, config, error)) {
    g_free (state);
    return NULL;
  }
  state->threshold = config->threshold;
  sl_values_init (&state->values, &config->tensors[state->points_at], SL_SCORES_PLAIN);
  if (state->presence_at >= 0)
    sl_values_init (&state->presence_values, &config->tensors[state->presence_at], SL_SCORES_PLAIN);
  return state;
}

/* How sure it is that there is something, 0..1; NaN where the model does not know. */
static gfloat
find_presence (State *state, const void *const *data)
{
  if (state->presence_at < 0)
    return 1;
  const gfloat number = sl_values_get (&state->presence_values, data[state->presence_at], 0);
  if (state->watch && isfinite (number) && (number < 0 || number > 1)) {
    state->watch = FALSE;
    state->sigmoid = TRUE;
  }
  return state->sigmoid ? (gfloat) sl_sigmoid (number) : number;
}

/* The kind of a frame's numbers if it is not stated. */
static Units
tell_units (State *state, const void *data)
{
  double sum = 0, farthest = 0;
  guint n = 0;
  for (gsize at = 0; at < state->n; at++) {
    const gfloat number = sl_values_get (&state->values, data, at);
    if (at % state->point_size > 1 || !isfinite (number))
      continue;
    sum += (double) number;
    farthest = MAX (farthest, fabs ((double) number));
    n++;
  }
  if (farthest > FARTHEST_SHARE)
    state->units = UNITS_PIXELS;
  return farthest > FARTHEST_SHARE                ? UNITS_PIXELS
         : n > 0 && fabs (sum / n) < CENTRED_MEAN ? UNITS_CENTRED
                                                  : UNITS_NORMALISED;
}

/* Of the input, 0..1. */
static gfloat
share_of (gfloat number, Units units, gfloat side)
{
  return units == UNITS_PIXELS ? number / side : units == UNITS_CENTRED ? (number + 1) / 2 : number;
}

static gboolean
read_point (const State *state, const void *data, guint k, Units units, gfloat presence,
            SlDetectedPoint *point)
{
  const gsize at = (gsize) k * state->point_size;
  point->x = share_of (sl_values_get (&state->values, data, at), units, state->width);
  point->y = share_of (sl_values_get (&state->values, data, at + 1), units, state->height);
  point->confidence = state->point_size == 5
                        ? (gfloat) sl_sigmoid (sl_values_get (&state->values, data, at + 3))
                        : presence;
  if (isfinite (point->x) && isfinite (point->y) && point->confidence >= 0)
    return TRUE;
  *point = (SlDetectedPoint){ 0 };
  return FALSE;
}

static void
decode_landmarks (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  SlDetection found = {
    .x_min = INFINITY, .y_min = INFINITY, .x_max = -INFINITY, .y_max = -INFINITY
  };
  const gfloat presence = find_presence (state, data);
  if (!(presence >= state->threshold))
    return;
  found.confidence = MIN (presence, 1);
  const guint n = state->n / state->point_size;
  const void *numbers = data[state->points_at];
  const Units units = state->units == UNITS_TOLD ? tell_units (state, numbers) : state->units;
  SlDetectedPoint *points = sl_result_add_keypoints (result, &found, n);
  for (guint k = 0; k < n; k++) {
    if (!read_point (state, numbers, k, units, found.confidence, &points[k]))
      continue;
    found.x_min = MIN (found.x_min, points[k].x);
    found.x_max = MAX (found.x_max, points[k].x);
    found.y_min = MIN (found.y_min, points[k].y);
    found.y_max = MAX (found.y_max, points[k].y);
  }
  if (found.x_max > found.x_min && found.y_max > found.y_min)
    result->detections[result->n_detections++] = found;
  else
    result->n_keypoints = 0;
  result->skeleton = state->skeleton;
}

static const char *const *
names_of (gconstpointer opened, gboolean *own)
{
  return ((const State *) opened)->names;
}

/* Points of anything are at places of their own. */
static SlCheck
check (gpointer opened, const void *const *data, GString *why)
{
  State *state = opened;
  const guint n = state->n / state->point_size;
  guint same = 0;
  for (guint k = 1; k < n; k++) {
    const gsize at = (gsize) k * state->point_size, before = at - state->point_size;
    same += sl_values_get (&state->values, data[state->points_at], at)
              == sl_values_get (&state->values, data[state->points_at], before)
            && sl_values_get (&state->values, data[state->points_at], at + 1)
                 == sl_values_get (&state->values, data[state->points_at], before + 1);
  }
  if (n < MANY_POINTS || 2 * same < n || state->values.quantised
      || !(find_presence (state, data) >= state->threshold))
    return SL_CHECK_FITS;
  g_string_append_printf (
    why,
    "%u of %u points are where the one before is, so they are no points; expected another decoder",
    same, n);
  return SL_CHECK_CONTRADICTS;
}

const SlDecoder sl_decoder_landmarks = {
  .name = "landmarks",
  .description =
    "a vector of points of one face, hand or body, such as float32[1,1404], and possibly whether "
    "there is one, float32[1,1]",
  .params = params,
  .names_of = names_of,
  .threshold = 0.5f,
  .matches = matches,
  .likely = likely,
  .open = open_landmarks,
  .decode = decode_landmarks,
  .close = g_free,
  .classes = sl_decoder_one_class,
  .check = check,
};
