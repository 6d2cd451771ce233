/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "yolo-raw": the heads of Darknet's YOLO (v2 to v4) as their last convolution leaves them:
 * maps [1,H,W,A*(5+C)], [1,H,W,A,5+C] or [1,A*(5+C),H,W], one a stride. Each cell has A rows of x,
 * y, width, height, objectness and C classes, all logits: the centre is a sigmoid within the cell,
 * the size an exponent times an anchor's.
 *
 * Parameters: "anchors", needed: width and height of each in pixels of the input, as many for each
 * map, in the order of the maps; "activation" of the classes: softmax (v2; unstated, of one map) or
 * sigmoid (v3, v4; unstated, of several); "scale-xy": by how much the centre may leave its cell,
 * for all maps or one a map: 1, of v4 1.05 to 1.2; "iou-threshold", "agnostic": suppression.
 */
#include <math.h>

#include "core/base/fail.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"
#include "postprocess/picture_shape.h"

#define DEFAULT_IOU 0.45
#define MAX_MAPS 8
#define MAX_ANCHORS 64
#define BOX_COLUMNS 5
#define LARGEST_SCALE 2
#define MAX_ROWS (1u << 22)
/* exp() of more than this is a box wider than any picture. What is not a number stays so, and is
 * dropped. */
#define LARGEST_LOG 12

static const char *const activations[] = { "softmax", "sigmoid", NULL };
static const SlDecoderParam params[] = { SL_PARAM_LIST ("anchors", 0.01, 65536, 2 * MAX_ANCHORS),
                                         SL_PARAM_CHOICE ("activation", activations),
                                         SL_PARAM_LIST ("scale-xy", 1, LARGEST_SCALE, MAX_MAPS),
                                         SL_DETECTOR_PARAMS,
                                         { NULL } };

typedef struct
{
  SlPictureShape shape;
  guint first, n; /* rows */
  double scale_xy;
  SlValues values;
} Map;

typedef struct
{
  SlDetector detector;
  guint n_maps, per_cell, channels, classes;
  guint shaped; /* anchors that the shape tells, 0 = none */
  Map maps[MAX_MAPS];
  double anchors[2 * MAX_ANCHORS];
  gboolean softmax, told; /* the activation by the number of maps, since nothing states it */
  gfloat input_width, input_height, threshold;
} State;

/* Never unnamed: nothing but the anchors tells these maps from others. */
static gboolean
matches (const SlDecoderConfig *config)
{
  return FALSE;
}

/* Whether anchors are a dimension of their own, behind a larger height and width. */
static gboolean
has_anchors (const SlTensorInfo *tensor)
{
  const gint32 *dims = tensor->dims;
  return tensor->rank == 5 && dims[3] < dims[1] && dims[3] < dims[2] && dims[4] > BOX_COLUMNS;
}

/* Numbers of 0..1 went through the sigmoid of another YOLO's formulas. */
static const char *
unmatched (const SlDecoderConfig *config)
{
  for (guint t = 0; t < config->n_tensors; t++)
    if (!has_anchors (&config->tensors[t]) || config->tensors[t].values == SL_VALUES_PROBABILITIES)
      return NULL;
  return "cells with rows of 5 numbers and classes may be the heads of YOLO v2 to v4: state decoder=yolo-raw,anchors=WIDTH,HEIGHT,... of "
         "each map's anchors in pixels";
}

/* *@merged: @config with the anchors of each map as channels, in which order they lie. Returns how
 * many anchors the shapes tell, 0 = none. */
static guint
merge_anchors (const SlDecoderConfig *config, SlDecoderConfig *merged)
{
  guint anchors = 0;
  *merged = *config;
  for (guint t = 0; t < merged->n_tensors; t++) {
    SlTensorInfo *tensor = &merged->tensors[t];
    if (!has_anchors (tensor))
      continue;
    anchors = (guint) tensor->dims[3];
    tensor->dims[3] *= tensor->dims[4];
    tensor->rank = 4;
  }
  return anchors;
}

/* Maps whose rows follow one another; their number, 0 = there is something else, or more than fit.
 */
static guint
count_maps (const SlDecoderConfig *config)
{
  guint64 numbers = 0;
  for (guint t = 0; t < config->n_tensors; t++) {
    const SlTensorInfo *tensor = &config->tensors[t];
    if (t == MAX_MAPS || tensor->rank != 4 || tensor->dims[0] != 1
        || !sl_values_readable (tensor->dtype))
      return 0;
    numbers += sl_decoder_elements (tensor);
  }
  return numbers <= (guint64) MAX_ROWS * (BOX_COLUMNS + 1) ? config->n_tensors : 0;
}

/* Whether dimension @at of all maps is the same number of channels that @per_cell anchors have. */
static gboolean
has_channels (const SlDecoderConfig *config, guint at, guint per_cell)
{
  const guint channels = (guint) config->tensors[0].dims[at];
  for (guint t = 0; t < config->n_tensors; t++)
    if ((guint) config->tensors[t].dims[at] != channels)
      return FALSE;
  return channels % per_cell == 0 && channels / per_cell > BOX_COLUMNS;
}

/* Whether cells are as wide as they are high, where dimensions @height and @width of a map are
 * those. */
static gboolean
has_square_cells (const State *state, const SlTensorInfo *map, guint height, guint width)
{
  return (gfloat) map->dims[height] * state->input_width
         == (gfloat) map->dims[width] * state->input_height;
}

static void
fill_maps (const SlDecoderConfig *config, State *state, gboolean planar)
{
  for (guint t = 0; t < state->n_maps; t++) {
    const gint32 *dims = config->tensors[t].dims;
    const guint height = (guint) dims[planar ? 2 : 1], width = (guint) dims[planar ? 3 : 2];
    state->maps[t].shape =
      planar ? (SlPictureShape){ width, height, state->channels, 1, (gsize) width * height }
             : (SlPictureShape){ width, height, state->channels, state->channels, 1 };
    sl_values_init (&state->maps[t].values, &config->tensors[t], SL_SCORES_PLAIN);
  }
}

/* Channels are the dimension, last or first, that the anchors divide; where both are, the one that
 * leaves square cells. */
static gboolean
find_layout (const SlDecoderConfig *config, State *state)
{
  const SlTensorInfo *first = &config->tensors[0];
  const gboolean last = has_channels (config, 3, state->per_cell),
                 planar = has_channels (config, 1, state->per_cell);
  const gboolean is_planar =
    planar
    && (!last || (has_square_cells (state, first, 2, 3) && !has_square_cells (state, first, 1, 2)));
  state->channels = (guint) first->dims[is_planar ? 1 : 3];
  fill_maps (config, state, is_planar);
  return last || planar;
}

/* One number for each map, or one for all. */
static gboolean
read_scales (State *state, const SlDecoderConfig *config, GError **error)
{
  double scales[MAX_MAPS] = { 1 };
  guint n = 1;
  if (!sl_decoder_param_list (config, params, "scale-xy", scales, &n, error))
    return FALSE;
  if (n != 1 && n != state->n_maps)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder parameter scale-xy: expected a number for each of %u maps, or one for all, got %u",
      state->n_maps, n);
  for (guint t = 0; t < state->n_maps; t++)
    state->maps[t].scale_xy = scales[n == 1 ? 0 : t];
  return TRUE;
}

static gboolean
read_anchors (State *state, const SlDecoderConfig *config, GError **error)
{
  guint n = 0;
  if (!sl_decoder_param_list (config, params, "anchors", state->anchors, &n, error))
    return FALSE;
  state->per_cell = n / (2 * state->n_maps);
  if (n == 0 || n % (2 * state->n_maps) != 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder parameter anchors: expected a width and a height in pixels for each anchor of %u map%s, the same number for each, "
      "got %u numbers",
      state->n_maps, state->n_maps == 1 ? "" : "s", n);
  if (state->shaped > 0 && state->shaped != state->per_cell)
    return sl_fail (
      error, SL_ERROR_SHAPE,
      "decoder parameter anchors: the maps have %u anchors a cell, and %u are stated for each map; state all anchors of the model",
      state->shaped, state->per_cell);
  if (find_layout (config, state))
    return TRUE;
  return sl_fail (
    error, SL_ERROR_SHAPE,
    "decoder yolo-raw: neither %d nor %d channels, the same in all maps, are those of %u anchors with 5 numbers and classes each; "
    "state all anchors of the model",
    config->tensors[0].dims[3], config->tensors[0].dims[1], state->per_cell);
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  guint activation;
  gint32 width, height;
  if (!sl_decoder_param_size (config, &width, &height, error))
    return FALSE;
  state->input_width = (gfloat) width;
  state->input_height = (gfloat) height;
  if (!read_anchors (state, config, error)
      || !sl_decoder_param_choice (config, params, "activation", &activation, error)
      || !read_scales (state, config, error))
    return FALSE;
  if (width == 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder yolo-raw: the size of the model's input is not known, which anchors need: state imgsz=HEIGHT,WIDTH");
  state->told = sl_decoder_param (config, "activation") == NULL;
  state->softmax = state->told ? state->n_maps == 1 : activation == 0;
  state->threshold = config->threshold;
  state->channels /= state->per_cell;
  state->classes = state->channels - BOX_COLUMNS;
  return TRUE;
}

static guint
classes (const SlDecoderConfig *config)
{
  State state = { 0 };
  SlDecoderConfig merged;
  state.shaped = merge_anchors (config, &merged);
  state.n_maps = count_maps (&merged);
  return state.n_maps > 0 && read_parameters (&state, &merged, NULL) ? state.classes : 0;
}

static gpointer
open_yolo_raw (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  SlDecoderConfig merged;
  guint rows = 0;
  state->shaped = merge_anchors (config, &merged);
  state->n_maps = count_maps (&merged);
  if (state->n_maps == 0) {
    g_free (state);
    return sl_decoder_refuse (
      config, "yolo-raw",
      "a map [1,H,W,A*(5+classes)], [1,H,W,A,5+classes] or [1,A*(5+classes),H,W] of uint8, int8 or float32 for each stride, of A "
      "anchors, such as float32[1,13,13,425]",
      error);
  }
  if (!read_parameters (state, &merged, error)) {
    sl_detector_close (state);
    return NULL;
  }
  for (guint t = 0; t < state->n_maps; t++) {
    state->maps[t].first = rows;
    state->maps[t].n = state->maps[t].shape.width * state->maps[t].shape.height * state->per_cell;
    rows += state->maps[t].n;
  }
  if (!sl_detector_init (&state->detector, config, rows, NULL, DEFAULT_IOU, error)) {
    sl_detector_close (state);
    return NULL;
  }
  return state;
}

/* Number @k of row @i. */
static gfloat
number_at (const State *state, const Map *map, const void *data, guint i, guint k)
{
  const gsize cell = i / state->per_cell,
              channel = (gsize) (i % state->per_cell) * state->channels + k;
  return sl_values_get (&map->values, data,
                        cell * map->shape.cell_step + channel * map->shape.channel_step);
}

static gfloat
class_at (const State *state, const Map *map, const void *data, guint i, guint c)
{
  return number_at (state, map, data, i, BOX_COLUMNS + c);
}

static guint
best_class (const State *state, const Map *map, const void *data, guint i)
{
  guint best = 0;
  for (guint c = 1; c < state->classes; c++)
    if (class_at (state, map, data, i, c) > class_at (state, map, data, i, best))
      best = c;
  return best;
}

/* Objectness times the best class of row @i; 0 where the objectness alone is too low. */
static gfloat
score_row (const State *state, const Map *map, const void *data, guint i)
{
  const double object = sl_sigmoid (number_at (state, map, data, i, BOX_COLUMNS - 1));
  if (!(object >= (double) state->threshold))
    return 0;
  const double best = class_at (state, map, data, i, best_class (state, map, data, i));
  if (!state->softmax)
    return (gfloat) (object * sl_sigmoid (best));
  double sum = 0;
  for (guint c = 0; c < state->classes; c++)
    sum += exp ((double) class_at (state, map, data, i, c) - best);
  return (gfloat) (object / sum);
}

/* Where in 0..1 of @cells the centre is that @logit states within @cell. */
static gfloat
centre_of (const Map *map, gfloat logit, guint cell, guint cells)
{
  return (gfloat) ((sl_sigmoid (logit) - 0.5) * map->scale_xy + 0.5 + cell) / (gfloat) cells;
}

static void
add_row (State *state, const void *const *data, const SlRanked *ranked)
{
  guint t = state->n_maps - 1;
  while (ranked->index < state->maps[t].first)
    t--;
  const Map *map = &state->maps[t];
  const guint i = ranked->index - map->first, cell = i / state->per_cell;
  const double *anchor = &state->anchors[2 * (t * state->per_cell + i % state->per_cell)];
  gfloat n[4];
  for (guint k = 0; k < 4; k++)
    n[k] = number_at (state, map, data[t], i, k);
  const gfloat x = centre_of (map, n[0], cell % map->shape.width, map->shape.width),
               y = centre_of (map, n[1], cell / map->shape.width, map->shape.height);
  const gfloat w = expf (n[2] > LARGEST_LOG ? LARGEST_LOG : n[2]) * (gfloat) anchor[0]
                   / state->input_width / 2,
               h = expf (n[3] > LARGEST_LOG ? LARGEST_LOG : n[3]) * (gfloat) anchor[1]
                   / state->input_height / 2;
  sl_detector_add (&state->detector, (const gfloat[4]){ x - w, y - h, x + w, y + h }, ranked->key,
                   (gint32) best_class (state, map, data[t], i), ranked->index);
}

static void
decode_yolo_raw (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  SlDetector *detector = &state->detector;
  for (guint t = 0; t < state->n_maps; t++)
    for (guint i = 0; i < state->maps[t].n; i++)
      detector->scores[state->maps[t].first + i] = score_row (state, &state->maps[t], data[t], i);
  sl_detector_select (detector);
  for (guint i = 0; i < detector->top.count; i++)
    add_row (state, data, &detector->top.items[i]);
  sl_detector_finish (detector, TRUE, result);
}

static const char *
note (gconstpointer opened)
{
  const State *state = opened;
  if (!state->told)
    return NULL;
  return state->softmax
           ? "one map is taken for YOLO v2's, whose classes are a softmax (decoder yolo-raw,activation=sigmoid for v3 and v4)"
           : "several maps are taken for YOLO v3's or v4's, whose classes are sigmoids (decoder yolo-raw,activation=softmax for "
             "anything else)";
}

const SlDecoder sl_decoder_yolo_raw = {
  .name = "yolo-raw",
  .description =
    "maps of cells with anchors as YOLO v2 to v4 leave them, such as float32[1,13,13,425], with anchors= stated",
  .params = params,
  .threshold = 0.5f,
  .matches = matches,
  .unmatched = unmatched,
  .open = open_yolo_raw,
  .decode = decode_yolo_raw,
  .close = sl_detector_close,
  .classes = classes,
  .note = note,
};
