/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "yolo-raw": the heads of YOLO v2 to v5 and v7 as their last convolution leaves them: maps
 * [1,H,W,A*(5+C)], [1,H,W,A,5+C], [1,A,H,W,5+C] or [1,A*(5+C),H,W], one a stride. Each cell has A
 * rows of x, y, width, height, objectness and C classes, all logits: the centre is a sigmoid within
 * the cell. The size is an anchor's times an exponent, of v5 and v7 times the square of twice a
 * sigmoid.
 *
 * Parameters: "preset" v3, v4, v5, v7: the formulas, and the anchors of three maps of strides 8,
 * 16 and 32; unstated, v5's formulas where the anchors come first or the numbers are 0..1, else
 * v3's. "anchors", needed where there is no preset: width and height of each in pixels of the
 * input, as many for each map, in the order of the maps; "activation" of the classes: softmax (v2;
 * unstated, of one map), sigmoid (unstated, of several) or none: all numbers are past the sigmoid
 * (told by the tensor); "scale-xy": by how much the centre may leave its cell, for all maps or one
 * a map: 1, of v4 1.05 to 1.2, of v5 and v7 2; "iou-threshold", "agnostic": suppression.
 */
#include <math.h>
#include <string.h>

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

static const char *const activations[] = { "softmax", "sigmoid", "none", NULL };
static const char *const preset_names[] = { "v3", "v4", "v5", "v7", NULL };
static const SlDecoderParam params[] = { SL_PARAM_CHOICE ("preset", preset_names),
                                         SL_PARAM_LIST ("anchors", 0.01, 65536, 2 * MAX_ANCHORS),
                                         SL_PARAM_CHOICE ("activation", activations),
                                         SL_PARAM_LIST ("scale-xy", 1, LARGEST_SCALE, MAX_MAPS),
                                         SL_DETECTOR_PARAMS,
                                         { NULL } };

/* Anchors of three maps, from stride 8 on. */
#define USUAL_MAPS 3
#define USUAL_ANCHORS 3
#define SMALLEST_STRIDE 8
static const double darknet_anchors[] = { 10, 13, 16,  30,  33, 23,  30,  61,  62,
                                          45, 59, 119, 116, 90, 156, 198, 373, 326 };
static const double scaled_anchors[] = { 12, 16, 19,  36,  40,  28,  36,  75,  76,
                                         55, 72, 146, 142, 110, 192, 243, 459, 401 };

/* In the order of preset_names. @squares: the size is the square of twice a sigmoid; @scales: of
 * the centre, by stride. */
static const struct
{
  const double *anchors;
  gboolean squares;
  double scales[USUAL_MAPS];
} presets[] = { { darknet_anchors, FALSE, { 1, 1, 1 } },
                { scaled_anchors, FALSE, { 1.2, 1.1, 1.05 } },
                { darknet_anchors, TRUE, { 2, 2, 2 } },
                { scaled_anchors, TRUE, { 2, 2, 2 } } };
G_STATIC_ASSERT (G_N_ELEMENTS (presets) + 1 == G_N_ELEMENTS (preset_names));
#define PRESET_V3 0
#define PRESET_V5 2

/* @anchor_step: from a number of an anchor to that of the next one */
typedef struct
{
  SlPictureShape shape;
  gsize anchor_step;
  guint first, n; /* rows */
  double scale_xy;
  SlValues values;
} Map;

typedef struct
{
  SlDetector detector;
  guint n_maps, per_cell, channels, classes;
  guint shaped;                           /* anchors that the shape tells, 0 = none */
  gboolean anchors_first, squares, plain; /* @plain: the numbers are past the sigmoid */
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

/* Whether anchors are a dimension of their own, before a larger height and width. */
static gboolean
begins_with_anchors (const SlTensorInfo *tensor)
{
  const gint32 *dims = tensor->dims;
  return tensor->rank == 5 && dims[0] == 1 && dims[1] < dims[2] && dims[1] < dims[3]
         && dims[4] > BOX_COLUMNS;
}

/* The same behind them. */
static gboolean
has_anchors (const SlTensorInfo *tensor)
{
  const gint32 *dims = tensor->dims;
  return tensor->rank == 5 && dims[3] < dims[1] && dims[3] < dims[2] && dims[4] > BOX_COLUMNS;
}

/* 0 for a map of stride 8, 1 for 16, 2 for 32; USUAL_MAPS for another. */
static guint
level_of (gint32 cells, gfloat pixels)
{
  guint level = 0;
  while (level < USUAL_MAPS && (gfloat) (cells * (SMALLEST_STRIDE << level)) != pixels)
    level++;
  return level;
}

/* Whether the tensors are maps [1,A*(5+C),H,W] of the three strides and one number of channels. */
static gboolean
are_usual_maps (const SlDecoderConfig *config)
{
  const gint32 channels = config->tensors[0].dims[1];
  guint levels = 0;
  for (guint t = 0; t < config->n_tensors; t++) {
    const SlTensorInfo *map = &config->tensors[t];
    const guint level =
      map->rank == 4 ? level_of (map->dims[3], (gfloat) config->input_width) : USUAL_MAPS;
    if (level == USUAL_MAPS || map->dims[1] != channels
        || level_of (map->dims[2], (gfloat) config->input_height) != level)
      return FALSE;
    levels |= 1u << level;
  }
  return config->n_tensors == USUAL_MAPS && levels == (1u << USUAL_MAPS) - 1
         && channels % USUAL_ANCHORS == 0 && channels / USUAL_ANCHORS > BOX_COLUMNS;
}

static const char *
unmatched (const SlDecoderConfig *config)
{
  guint first = 0, behind = 0;
  for (guint t = 0; t < config->n_tensors; t++) {
    first += begins_with_anchors (&config->tensors[t]);
    behind +=
      has_anchors (&config->tensors[t]) && config->tensors[t].values != SL_VALUES_PROBABILITIES;
  }
  if (first == config->n_tensors)
    return "anchors of cells with rows of 5 numbers and classes may be the heads of YOLO v5 or v7: "
           "state decoder=yolo-raw,preset=v5 or preset=v7, and anchors=WIDTH,HEIGHT,... in pixels "
           "beside it where the model was trained with others";
  if (behind == config->n_tensors)
    return "cells with rows of 5 numbers and classes may be the heads of YOLO v2 to v4: state "
           "decoder=yolo-raw,anchors=WIDTH,HEIGHT,... of each map's anchors in pixels";
  return are_usual_maps (config)
           ? "three maps of strides 8, 16 and 32 may be the heads of YOLO v3 to v7: state "
             "decoder=yolo-raw,preset=v3, v4, v5 or v7, and anchors=WIDTH,HEIGHT,... in pixels "
             "beside it where the model was trained with others"
           : NULL;
}

/* *@merged: @config with the anchors of each map as channels of its cells. */
static void
merge_anchors (const SlDecoderConfig *config, SlDecoderConfig *merged, State *state)
{
  *merged = *config;
  for (guint t = 0; t < merged->n_tensors; t++) {
    SlTensorInfo *tensor = &merged->tensors[t];
    gint32 *dims = tensor->dims;
    const gboolean first = begins_with_anchors (tensor);
    if (!first && !has_anchors (tensor))
      continue;
    state->shaped = (guint) dims[first ? 1 : 3];
    state->anchors_first = first;
    if (first)
      memmove (&dims[1], &dims[2], 2 * sizeof *dims);
    dims[3] = (gint32) state->shaped * dims[4];
    tensor->rank = 4;
  }
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
    const gsize row = state->channels / state->per_cell;
    state->maps[t].anchor_step = row * state->maps[t].shape.channel_step;
    if (state->anchors_first) {
      state->maps[t].shape.cell_step = row;
      state->maps[t].anchor_step = row * width * height;
    }
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
  double scales[MAX_MAPS];
  guint n = 0;
  if (!sl_decoder_param_list (config, params, "scale-xy", scales, &n, error))
    return FALSE;
  if (n > 1 && n != state->n_maps)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder parameter scale-xy: expected a number for each of %u maps, or one for all, got %u",
      state->n_maps, n);
  for (guint t = 0; t < state->n_maps && n > 0; t++)
    state->maps[t].scale_xy = scales[n == 1 ? 0 : t];
  return TRUE;
}

/* Which of the dimensions of a map is its width: the channels of all maps are equal. */
static guint
width_of (const SlDecoderConfig *config)
{
  const SlTensorInfo *maps = config->tensors;
  return config->n_tensors > 1 && maps[0].dims[1] == maps[1].dims[1] ? 3 : 2;
}

/* The anchors of @preset, in the order of the maps. */
static gboolean
take_anchors (State *state, const SlDecoderConfig *config, guint preset, GError **error)
{
  const guint numbers = 2 * USUAL_ANCHORS;
  for (guint t = 0; t < state->n_maps; t++) {
    const guint level = level_of (config->tensors[t].dims[width_of (config)], state->input_width);
    if (state->n_maps != USUAL_MAPS || level == USUAL_MAPS)
      return sl_fail (
        error, SL_ERROR_SHAPE,
        "decoder parameter preset: the anchors of %s are those of three maps of strides 8, 16 and "
        "32, which these %u are not; state anchors=WIDTH,HEIGHT,... of the model beside it",
        preset_names[preset], state->n_maps);
    memcpy (&state->anchors[t * numbers], &presets[preset].anchors[level * numbers],
            numbers * sizeof *state->anchors);
  }
  state->per_cell = USUAL_ANCHORS;
  return TRUE;
}

/* The formulas, and where none are stated the anchors. */
static gboolean
read_preset (State *state, const SlDecoderConfig *config, GError **error)
{
  const gboolean stated = sl_decoder_param (config, "preset") != NULL;
  guint preset;
  if (!sl_decoder_param_choice (config, params, "preset", &preset, error))
    return FALSE;
  if (!stated)
    preset = state->anchors_first || state->plain ? PRESET_V5 : PRESET_V3;
  state->squares = presets[preset].squares;
  for (guint t = 0; t < state->n_maps; t++) {
    const guint level = level_of (config->tensors[t].dims[width_of (config)], state->input_width);
    state->maps[t].scale_xy = presets[preset].scales[MIN (level, USUAL_MAPS - 1)];
  }
  if (state->plain && !state->squares)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder yolo-raw: numbers of 0..1 are no logarithms of sizes, as YOLO %s has them; expected "
      "preset=v5 or v7, or activation=sigmoid for logits",
      preset_names[preset]);
  return !stated || sl_decoder_param (config, "anchors") != NULL
         || take_anchors (state, config, preset, error);
}

static gboolean
read_activation (State *state, const SlDecoderConfig *config, GError **error)
{
  guint activation;
  if (!sl_decoder_param_choice (config, params, "activation", &activation, error))
    return FALSE;
  state->told = sl_decoder_param (config, "activation") == NULL;
  state->plain =
    state->told ? config->tensors[0].values == SL_VALUES_PROBABILITIES : activation == 2;
  state->softmax = state->told ? state->n_maps == 1 && !state->plain : activation == 0;
  return TRUE;
}

static gboolean
read_anchors (State *state, const SlDecoderConfig *config, GError **error)
{
  guint n = 2 * state->per_cell * state->n_maps; /* those of a preset */
  if (n == 0 && !sl_decoder_param_list (config, params, "anchors", state->anchors, &n, error))
    return FALSE;
  state->per_cell = n / (2 * state->n_maps);
  if (n == 0 || n % (2 * state->n_maps) != 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder parameter anchors: expected a width and a height in pixels for each anchor of %u "
      "map%s, the same number for each, got %u numbers; preset=v3, v4, v5 or v7 has those that "
      "these are trained with",
      state->n_maps, state->n_maps == 1 ? "" : "s", n);
  if (state->shaped > 0 && state->shaped != state->per_cell)
    return sl_fail (
      error, SL_ERROR_SHAPE,
      "decoder parameter anchors: the maps have %u anchors a cell, and %u are stated for each map; "
      "state all anchors of the model",
      state->shaped, state->per_cell);
  if (find_layout (config, state))
    return TRUE;
  return sl_fail (
    error, SL_ERROR_SHAPE,
    "decoder yolo-raw: neither %d nor %d channels, the same in all maps, are those of %u anchors "
    "with 5 numbers and classes each; state all anchors of the model",
    config->tensors[0].dims[3], config->tensors[0].dims[1], state->per_cell);
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  gint32 width, height;
  if (!sl_decoder_param_size (config, &width, &height, error))
    return FALSE;
  if (width == 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder yolo-raw: the size of the model's input is not known, which anchors need: state "
      "imgsz=HEIGHT,WIDTH");
  state->input_width = (gfloat) width;
  state->input_height = (gfloat) height;
  if (!read_activation (state, config, error) || !read_preset (state, config, error)
      || !read_anchors (state, config, error) || !read_scales (state, config, error))
    return FALSE;
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
  merge_anchors (config, &merged, &state);
  state.n_maps = count_maps (&merged);
  return state.n_maps > 0 && read_parameters (&state, &merged, NULL) ? state.classes : 0;
}

static gpointer
open_yolo_raw (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  SlDecoderConfig merged;
  guint rows = 0;
  merge_anchors (config, &merged, state);
  state->n_maps = count_maps (&merged);
  if (state->n_maps == 0) {
    g_free (state);
    return sl_decoder_refuse (
      config, "yolo-raw",
      "a map [1,H,W,A*(5+classes)], [1,H,W,A,5+classes], [1,A,H,W,5+classes] or "
      "[1,A*(5+classes),H,W] of uint8, int8 or float32 for each stride, of A anchors, such as "
      "float32[1,13,13,425]",
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
  const gsize cell = i / state->per_cell, anchor = i % state->per_cell;
  return sl_values_get (&map->values, data,
                        cell * map->shape.cell_step + anchor * map->anchor_step
                          + k * map->shape.channel_step);
}

static double
share_of (const State *state, gfloat number)
{
  return state->plain ? (double) number : sl_sigmoid (number);
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
  const double object = share_of (state, number_at (state, map, data, i, BOX_COLUMNS - 1));
  if (!(object >= (double) state->threshold))
    return 0;
  const gfloat best = class_at (state, map, data, i, best_class (state, map, data, i));
  if (!state->softmax)
    return (gfloat) (object * share_of (state, best));
  double sum = 0;
  for (guint c = 0; c < state->classes; c++)
    sum += exp ((double) class_at (state, map, data, i, c) - (double) best);
  return (gfloat) (object / sum);
}

/* Half of the share of @pixels that the size of an anchor is by @number. */
static gfloat
half_of (const State *state, gfloat number, double anchor, gfloat pixels)
{
  const gfloat twice = state->squares ? (gfloat) (2 * share_of (state, number)) : 0,
               times = state->squares ? twice * twice
                                      : expf (number > LARGEST_LOG ? LARGEST_LOG : number);
  return times * (gfloat) anchor / pixels / 2;
}

/* Where in 0..1 of @cells the centre is that @number states within @cell. */
static gfloat
centre_of (const State *state, const Map *map, gfloat number, guint cell, guint cells)
{
  return (gfloat) ((share_of (state, number) - 0.5) * map->scale_xy + 0.5 + cell) / (gfloat) cells;
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
  const gfloat x = centre_of (state, map, n[0], cell % map->shape.width, map->shape.width),
               y = centre_of (state, map, n[1], cell / map->shape.width, map->shape.height);
  const gfloat w = half_of (state, n[2], anchor[0], state->input_width),
               h = half_of (state, n[3], anchor[1], state->input_height);
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
  if (!state->told || state->plain || state->squares)
    return NULL;
  return state->softmax
           ? "one map is taken for YOLO v2's, whose classes are a softmax (decoder "
             "yolo-raw,activation=sigmoid for v3 and v4)"
           : "several maps are taken for YOLO v3's or v4's, whose classes are sigmoids (decoder "
             "yolo-raw,activation=softmax for anything else)";
}

const SlDecoder sl_decoder_yolo_raw = {
  .name = "yolo-raw",
  .description =
    "maps of cells with anchors as YOLO v2 to v5 and v7 leave them, such as float32[1,13,13,425], "
    "with preset= or anchors= stated",
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
