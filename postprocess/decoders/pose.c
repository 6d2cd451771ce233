/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "pose": persons as keypoints. Takes one of
 *   a list      [1,1,K,3] or [1,K,3]: y, x, confidence of each point of one person (MoveNet);
 *   persons     [1,P,3*K+5]: the same and y_min, x_min, y_max, x_max, confidence of each person
 *               (MoveNet multi-pose);
 *   heat maps   [1,H,W,K], alone or followed by offsets [1,H,W,2*K] in pixels, all y before all x
 *               (PoseNet);
 *   points      [1,P,K,2]: y, x in pixels of each point of P persons, their confidences [1,P,K],
 *               those of the persons [1,P], and how many
 *               persons there are [1] (PoseNet behind PosenetDecoderOp).
 *
 * Parameters: "order" yx or xy; "units" normalised or pixels (lists and persons); "activation" none
 * or sigmoid, of heat maps; "point-threshold" 0.2: points that count for a person's box. A person
 * without a confidence of its own has the mean of its points'.
 */
#include <math.h>

#include "core/base/fail.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"
#include "postprocess/picture_shape.h"
#include "postprocess/values.h"

#define PERSON_POINTS 17
#define FEWEST_POINTS 5
#define BOX_COLUMNS 5
/* MoveNet gives six persons; more rows are the cells of YOLO's pose. */
#define MAX_PERSONS 50

typedef enum
{
  POSE_LIST,
  POSE_PERSONS,
  POSE_HEAT_MAPS,
  POSE_POINTS
} Kind;

/* Tensors of POSE_POINTS. */
enum
{
  POINTS,
  POINT_CONFIDENCES,
  CONFIDENCES,
  COUNT,
  N_TENSORS
};

static const char *const orders[] = { "yx", "xy", NULL };
static const char *const unit_names[] = { "normalised", "pixels", NULL };
static const char *const activations[] = { "none", "sigmoid", NULL };
static const SlDecoderParam params[] = { SL_PARAM_CHOICE ("order", orders),
                                         SL_PARAM_CHOICE ("units", unit_names),
                                         SL_PARAM_CHOICE ("activation", activations),
                                         SL_PARAM_NUMBER ("point-threshold", 0, 1),
                                         { NULL } };
static const char *const names[] = { "person", NULL };

typedef struct
{
  Kind kind;
  guint points, persons;
  gboolean x_first;
  gfloat scale_x, scale_y; /* of coordinates to 0..1 */
  gfloat threshold;
  guint max_results;
  double point_threshold;
  SlPictureShape heat;
  gboolean has_offsets;
  SlValues values, offset_values;
  SlValues more[N_TENSORS]; /* of POSE_POINTS, from POINT_CONFIDENCES on */
} State;

static gboolean
find_list (const SlDecoderConfig *config, State *state)
{
  const SlTensorInfo *tensor = &config->tensors[0];
  if (config->n_tensors != 1 || tensor->rank < 3 || tensor->dims[tensor->rank - 1] != 3)
    return FALSE;
  state->points = (guint) tensor->dims[tensor->rank - 2];
  state->persons = 1;
  return state->points >= FEWEST_POINTS && state->points <= SL_MAX_KEYPOINTS
         && sl_decoder_elements (tensor) == state->points * 3;
}

static gboolean
find_persons (const SlDecoderConfig *config, State *state)
{
  const SlTensorInfo *tensor = &config->tensors[0];
  if (config->n_tensors != 1 || tensor->rank < 2
      || tensor->dims[tensor->rank - 1] != 3 * PERSON_POINTS + BOX_COLUMNS)
    return FALSE;
  state->points = PERSON_POINTS;
  state->persons = sl_decoder_elements (tensor) / (3 * PERSON_POINTS + BOX_COLUMNS);
  return TRUE;
}

static gboolean
find_heat_maps (const SlDecoderConfig *config, State *state)
{
  SlPictureShape offsets;
  const SlTensorInfo *tensor = &config->tensors[0];
  if (tensor->rank != 4 || !sl_picture_shape_find (&state->heat, tensor, PERSON_POINTS)
      || state->heat.channels < FEWEST_POINTS || state->heat.channels > SL_MAX_KEYPOINTS)
    return FALSE;
  state->points = state->heat.channels;
  state->persons = 1;
  state->has_offsets = config->n_tensors > 1 && sl_values_readable (config->tensors[1].dtype)
                       && sl_picture_shape_find (&offsets, &config->tensors[1], 2 * state->points)
                       && offsets.channels == 2 * state->points
                       && offsets.width == state->heat.width
                       && offsets.height == state->heat.height;
  return config->n_tensors == 1 || state->has_offsets;
}

static gboolean
find_points (const SlDecoderConfig *config, State *state)
{
  const SlTensorInfo *points = &config->tensors[POINTS];
  if (config->n_tensors != N_TENSORS || points->rank != 4 || points->dims[0] != 1
      || points->dims[3] != 2)
    return FALSE;
  state->persons = (guint) points->dims[1];
  state->points = (guint) points->dims[2];
  for (guint i = 0; i < N_TENSORS; i++)
    if (!sl_values_readable (config->tensors[i].dtype))
      return FALSE;
  return state->points >= FEWEST_POINTS && state->points <= SL_MAX_KEYPOINTS
         && sl_decoder_elements (&config->tensors[POINT_CONFIDENCES])
              == (gsize) state->persons * state->points
         && sl_decoder_elements (&config->tensors[CONFIDENCES]) == state->persons
         && sl_decoder_elements (&config->tensors[COUNT]) == 1;
}

static gboolean
find_kind (const SlDecoderConfig *config, State *state)
{
  if (!sl_values_readable (config->tensors[0].dtype))
    return FALSE;
  if (find_list (config, state))
    state->kind = POSE_LIST;
  else if (find_persons (config, state))
    state->kind = POSE_PERSONS;
  else if (find_points (config, state))
    state->kind = POSE_POINTS;
  else if (find_heat_maps (config, state))
    state->kind = POSE_HEAT_MAPS;
  else
    return FALSE;
  return TRUE;
}

/* OpenPose's heat maps, of 18 or 25 points and the background, are beside as many fields of limbs
 * as offsets would be. */
static gboolean
may_be_limbs (guint points)
{
  return points == 19 || points == 26;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  State state = { 0 };
  if (!find_kind (config, &state))
    return FALSE;
  if (state.kind == POSE_LIST) /* other numbers of points are those of hands and faces, whose third
                                  number is a depth */
    return state.points == PERSON_POINTS;
  if (state.kind == POSE_PERSONS)
    return state.persons <= MAX_PERSONS;
  return state.kind == POSE_POINTS || (state.has_offsets && !may_be_limbs (state.points))
         || (state.points == PERSON_POINTS && config->n_labels != PERSON_POINTS);
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  guint order, units, activation;
  gint32 width, height;
  if (!sl_decoder_param_choice (config, params, "order", &order, error)
      || !sl_decoder_param_choice (config, params, "units", &units, error)
      || !sl_decoder_param_choice (config, params, "activation", &activation, error)
      || !sl_decoder_param_double (config, params, "point-threshold", 0.2, &state->point_threshold,
                                   error)
      || !sl_decoder_param_size (config, &width, &height, error))
    return FALSE;
  const gboolean pixels = units == 1 || state->has_offsets || state->kind == POSE_POINTS;
  if (pixels && width == 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder pose: points are in pixels of the model's input, whose size is not known: state "
      "imgsz=HEIGHT,WIDTH");
  state->x_first = order == 1;
  state->scale_x = pixels ? 1.0f / (gfloat) width : 1;
  state->scale_y = pixels ? 1.0f / (gfloat) height : 1;
  sl_values_init (&state->values, &config->tensors[0],
                  activation == 1 && state->kind == POSE_HEAT_MAPS ? SL_SCORES_SIGMOID
                                                                   : SL_SCORES_PLAIN);
  if (state->has_offsets)
    sl_values_init (&state->offset_values, &config->tensors[1], SL_SCORES_PLAIN);
  for (guint i = POINT_CONFIDENCES; state->kind == POSE_POINTS && i < N_TENSORS; i++)
    sl_values_init (&state->more[i], &config->tensors[i], SL_SCORES_PLAIN);
  return TRUE;
}

static gpointer
open_pose (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  if (!find_kind (config, state)) {
    g_free (state);
    return sl_decoder_refuse (
      config, "pose",
      "uint8, int8 or float32 points[1,1,K,3], persons[1,P,56], heat maps[1,H,W,K] with or without "
      "offsets[1,H,W,2*K], or points[1,P,K,2], confidences[1,P,K], [1,P] and count[1]",
      error);
  }
  if (!read_parameters (state, config, error)) {
    g_free (state);
    return NULL;
  }
  state->threshold = config->threshold;
  state->max_results = config->max_results;
  return state;
}

static SlDetectedPoint
make_point (gfloat x, gfloat y, gfloat confidence)
{
  if (!isfinite (x) || !isfinite (y) || !(confidence >= 0))
    return (SlDetectedPoint){ 0, 0, 0 };
  return (SlDetectedPoint){ x, y, MIN (confidence, 1) };
}

static void
read_list (const State *state, const void *data, gsize first, SlDetectedPoint *points)
{
  for (guint k = 0; k < state->points; k++) {
    const gfloat a = sl_values_get (&state->values, data, first + 3 * k),
                 b = sl_values_get (&state->values, data, first + 3 * k + 1);
    points[k] = make_point ((state->x_first ? a : b) * state->scale_x,
                            (state->x_first ? b : a) * state->scale_y,
                            sl_values_get (&state->values, data, first + 3 * k + 2));
  }
}

/* Of person @p. */
static void
read_points (const State *state, const void *const *data, guint p, SlDetectedPoint *points)
{
  for (guint k = 0; k < state->points; k++) {
    const gsize i = (gsize) p * state->points + k;
    const gfloat a = sl_values_get (&state->values, data[POINTS], 2 * i),
                 b = sl_values_get (&state->values, data[POINTS], 2 * i + 1);
    points[k] = make_point (
      (state->x_first ? a : b) * state->scale_x, (state->x_first ? b : a) * state->scale_y,
      sl_values_get (&state->more[POINT_CONFIDENCES], data[POINT_CONFIDENCES], i));
  }
}

static gfloat
heat_at (const State *state, const void *data, gsize cell, guint point)
{
  return sl_values_get (&state->values, data,
                        cell * state->heat.cell_step + point * state->heat.channel_step);
}

/* Hottest cell of each point. PoseNet's cell (x, y) stands at x / (width - 1) of the input, plain
 * maps' at their centres. */
static void
read_heat_maps (const State *state, const void *const *data, SlDetectedPoint *points)
{
  const SlPictureShape *heat = &state->heat;
  const gsize cells = (gsize) heat->width * heat->height;
  for (guint k = 0; k < state->points; k++) {
    gsize best = 0;
    gfloat highest = heat_at (state, data[0], 0, k);
    for (gsize i = 1; i < cells; i++) {
      const gfloat value = heat_at (state, data[0], i, k);
      if (value > highest || isnan (highest)) {
        highest = value;
        best = i;
      }
    }
    const guint column = (guint) (best % heat->width), row = (guint) (best / heat->width);
    gfloat x = ((gfloat) column + 0.5f) / (gfloat) heat->width,
           y = ((gfloat) row + 0.5f) / (gfloat) heat->height;
    if (state->has_offsets) {
      const gsize at = best * (heat->channel_step == 1 ? 2 * state->points : 1);
      y = (gfloat) row / (gfloat) MAX (heat->height - 1, 1)
          + sl_values_get (&state->offset_values, data[1], at + k * heat->channel_step)
              * state->scale_y;
      x = (gfloat) column / (gfloat) MAX (heat->width - 1, 1)
          + sl_values_get (&state->offset_values, data[1],
                           at + (k + state->points) * heat->channel_step)
              * state->scale_x;
    }
    points[k] = make_point (x, y, highest);
  }
}

/* Box around the points that count, confidence their mean; FALSE when they span nothing. */
static gboolean
surround (const State *state, const SlDetectedPoint *points, SlDetection *person)
{
  double sum = 0;
  person->x_min = person->y_min = INFINITY;
  person->x_max = person->y_max = -INFINITY;
  for (guint k = 0; k < state->points; k++) {
    sum += points[k].confidence;
    if (points[k].confidence < state->point_threshold)
      continue;
    person->x_min = MIN (person->x_min, points[k].x);
    person->x_max = MAX (person->x_max, points[k].x);
    person->y_min = MIN (person->y_min, points[k].y);
    person->y_max = MAX (person->y_max, points[k].y);
  }
  person->confidence = (gfloat) (sum / state->points);
  return person->x_max > person->x_min && person->y_max > person->y_min;
}

static gboolean
read_box (const State *state, const void *data, gsize first, SlDetection *person)
{
  gfloat n[BOX_COLUMNS];
  for (guint k = 0; k < BOX_COLUMNS; k++)
    n[k] = sl_values_get (&state->values, data, first + 3 * state->points + k);
  const guint x = state->x_first ? 0 : 1, y = 1 - x;
  person->x_min = n[x] * state->scale_x;
  person->y_min = n[y] * state->scale_y;
  person->x_max = n[2 + x] * state->scale_x;
  person->y_max = n[2 + y] * state->scale_y;
  person->confidence = MIN (n[4], 1);
  return isfinite (person->x_min) && isfinite (person->y_min) && isfinite (person->x_max)
         && isfinite (person->y_max) && isfinite (person->confidence)
         && person->x_max > person->x_min && person->y_max > person->y_min;
}

/* Persons that the tensors hold. */
static guint
count_persons (const State *state, const void *const *data)
{
  const gfloat count = state->kind == POSE_POINTS
                         ? sl_values_get (&state->more[COUNT], data[COUNT], 0)
                         : (gfloat) state->persons;
  return !(count > 0) ? 0 : count < (gfloat) state->persons ? (guint) count : state->persons;
}

static void
decode_pose (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  const guint persons = count_persons (state, data);
  for (guint p = 0; p < persons && result->n_detections < state->max_results; p++) {
    SlDetection person = { 0 };
    const guint before = result->n_keypoints;
    SlDetectedPoint *points = sl_result_add_keypoints (result, &person, state->points);
    if (points == NULL)
      break;
    const gsize first = (gsize) p * (3 * state->points + BOX_COLUMNS);
    if (state->kind == POSE_HEAT_MAPS)
      read_heat_maps (state, data, points);
    else if (state->kind == POSE_POINTS)
      read_points (state, data, p, points);
    else
      read_list (state, data[0], first, points);
    const gboolean found = state->kind == POSE_PERSONS ? read_box (state, data[0], first, &person)
                                                       : surround (state, points, &person);
    if (state->kind == POSE_POINTS) {
      const gfloat confidence = sl_values_get (&state->more[CONFIDENCES], data[CONFIDENCES], p);
      person.confidence = confidence > 1 ? 1 : confidence; /* NaN stays NaN, and is left out */
    }
    if (found && person.confidence >= state->threshold)
      result->detections[result->n_detections++] = person;
    else
      result->n_keypoints = before;
  }
  result->skeleton = state->points == PERSON_POINTS ? &sl_skeleton_person : NULL;
}

const SlDecoder sl_decoder_pose = {
  .name = "pose",
  .description =
    "keypoints of persons: points[1,1,17,3], persons[1,6,56], heat maps[1,H,W,17] with or without "
    "offsets, or points[1,P,17,2] and confidences",
  .params = params,
  .names = names,
  .threshold = 0.3f,
  .matches = matches,
  .open = open_pose,
  .decode = decode_pose,
  .close = g_free,
  .classes = sl_decoder_one_class,
};
