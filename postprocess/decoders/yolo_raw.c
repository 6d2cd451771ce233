/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "yolo-raw": the heads of Darknet's YOLO (v2 to v4) as their last convolution leaves them: maps [1,H,W,A*(5+C)], one a stride.
 * Each cell has A rows of x, y, width, height, objectness and C classes, all logits: the centre is a sigmoid within the cell, the size an
 * exponent times an anchor's.
 *
 * Parameters: "anchors", needed: width and height of each in pixels of the input, as many for each map, in the order of the maps;
 * "activation" of the classes: softmax (v2) or sigmoid (v3, v4); "iou-threshold", "agnostic": suppression.
 */
#include <math.h>

#include "sightline/error.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"

#define DEFAULT_IOU 0.45
#define MOST_MAPS 8
#define MOST_ANCHORS 64
#define BOX_COLUMNS 5
#define MOST_ROWS (1u << 22)
/* exp() of more than this is a box wider than any picture. What is not a number stays so, and is dropped. */
#define LARGEST_LOG 12

static const char *const params[] = { "anchors", "activation", SL_DETECTOR_PARAMS, NULL };

typedef struct
{
  guint width, height, first, n;
  SlValues values;
} Map;

typedef struct
{
  guint n_maps, per_cell, channels, classes;
  Map maps[MOST_MAPS];
  double anchors[2 * MOST_ANCHORS];
  gboolean softmax;
  gfloat input_width, input_height, threshold;
  SlDetector detector;
} State;

/* Never unnamed: nothing but the anchors tells these maps from others. */
static gboolean
matches (const SlDecoderConfig *config)
{
  return FALSE;
}

/* Maps with as many channels each, whose rows follow one another; their number, 0 = there is something else, or more than fit. */
static guint
find_maps (const SlDecoderConfig *config, State *state)
{
  guint64 cells = 0;
  for (guint t = 0; t < config->n_tensors; t++) {
    const SlTensorInfo *tensor = &config->tensors[t];
    if (t == MOST_MAPS || tensor->rank != 4 || tensor->dims[0] != 1 || !sl_values_readable (tensor->dtype)
        || tensor->dims[3] != config->tensors[0].dims[3])
      return 0;
    state->maps[t] = (Map){ (guint) tensor->dims[2], (guint) tensor->dims[1], 0, 0, { 0 } };
    sl_values_init (&state->maps[t].values, tensor, SL_SCORES_PLAIN);
    cells += (guint64) tensor->dims[1] * (guint64) tensor->dims[2];
  }
  state->channels = (guint) config->tensors[0].dims[3];
  return cells <= MOST_ROWS / MOST_ANCHORS ? config->n_tensors : 0;
}

static gboolean
read_anchors (State *state, const SlDecoderConfig *config, GError **error)
{
  guint n = 0;
  if (!sl_decoder_param_list (config, "anchors", 0.01, 65536, state->anchors, G_N_ELEMENTS (state->anchors), &n, error))
    return FALSE;
  state->per_cell = n / (2 * state->n_maps);
  if (n == 0 || n % (2 * state->n_maps) != 0) {
    g_set_error (
      error, SL_ERROR, SL_ERROR_ARGUMENT,
      "decoder parameter anchors: expected a width and a height in pixels for each anchor of %u map%s, the same number for each, "
      "got %u numbers",
      state->n_maps, state->n_maps == 1 ? "" : "s", n);
    return FALSE;
  }
  if (state->channels % state->per_cell == 0 && state->channels / state->per_cell > BOX_COLUMNS)
    return TRUE;
  g_set_error (error, SL_ERROR, SL_ERROR_SHAPE,
               "decoder yolo-raw: %u channels are not those of %u anchors with 5 numbers and classes each; state all anchors of the model",
               state->channels, state->per_cell);
  return FALSE;
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  static const char *const activations[] = { "softmax", "sigmoid", NULL };
  guint activation;
  gint32 width, height;
  if (!read_anchors (state, config, error) || !sl_decoder_param_choice (config, "activation", activations, &activation, error)
      || !sl_decoder_param_size (config, &width, &height, error))
    return FALSE;
  if (width == 0) {
    g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT,
                 "decoder yolo-raw: the size of the model's input is not known, which anchors need: state imgsz=HEIGHT,WIDTH");
    return FALSE;
  }
  state->softmax = activation == 0;
  state->input_width = (gfloat) width;
  state->input_height = (gfloat) height;
  state->threshold = config->threshold;
  state->channels /= state->per_cell;
  state->classes = state->channels - BOX_COLUMNS;
  return TRUE;
}

static guint
classes (const SlDecoderConfig *config)
{
  State state = { 0 };
  state.n_maps = find_maps (config, &state);
  return state.n_maps > 0 && read_parameters (&state, config, NULL) ? state.classes : 0;
}

static void
close_yolo_raw (gpointer opened)
{
  State *state = opened;
  sl_detector_clear (&state->detector);
  g_free (state);
}

static gpointer
open_yolo_raw (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  guint rows = 0;
  state->n_maps = find_maps (config, state);
  if (state->n_maps == 0) {
    g_free (state);
    return sl_decoder_refuse (config, "yolo-raw",
                              "a map [1,H,W,A*(5+classes)] of uint8, int8 or float32 for each stride, of A anchors, such as "
                              "float32[1,13,13,425]",
                              error);
  }
  if (!read_parameters (state, config, error)) {
    close_yolo_raw (state);
    return NULL;
  }
  for (guint t = 0; t < state->n_maps; t++) {
    state->maps[t].first = rows;
    state->maps[t].n = state->maps[t].width * state->maps[t].height * state->per_cell;
    rows += state->maps[t].n;
  }
  if (!sl_detector_init (&state->detector, config, rows, NULL, DEFAULT_IOU, error)) {
    close_yolo_raw (state);
    return NULL;
  }
  return state;
}

static guint
best_class (const State *state, const Map *map, const void *data, gsize first)
{
  guint best = 0;
  for (guint c = 1; c < state->classes; c++)
    if (sl_values_get (&map->values, data, first + c) > sl_values_get (&map->values, data, first + best))
      best = c;
  return best;
}

/* Objectness times the best class of row @i; 0 where the objectness alone is too low. */
static gfloat
score_row (const State *state, const Map *map, const void *data, guint i)
{
  const gsize first = (gsize) i * state->channels + BOX_COLUMNS;
  const double object = sl_sigmoid (sl_values_get (&map->values, data, first - 1));
  if (!(object >= (double) state->threshold))
    return 0;
  const double best = sl_values_get (&map->values, data, first + best_class (state, map, data, first));
  if (!state->softmax)
    return (gfloat) (object * sl_sigmoid (best));
  double sum = 0;
  for (guint c = 0; c < state->classes; c++)
    sum += exp ((double) sl_values_get (&map->values, data, first + c) - best);
  return (gfloat) (object / sum);
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
  const gsize at = (gsize) i * state->channels;
  gfloat n[4];
  for (guint k = 0; k < 4; k++)
    n[k] = sl_values_get (&map->values, data[t], at + k);
  const gfloat x = ((gfloat) sl_sigmoid (n[0]) + (gfloat) (cell % map->width)) / (gfloat) map->width,
               y = ((gfloat) sl_sigmoid (n[1]) + (gfloat) (cell / map->width)) / (gfloat) map->height;
  const gfloat w = expf (n[2] > LARGEST_LOG ? LARGEST_LOG : n[2]) * (gfloat) anchor[0] / state->input_width / 2,
               h = expf (n[3] > LARGEST_LOG ? LARGEST_LOG : n[3]) * (gfloat) anchor[1] / state->input_height / 2;
  sl_detector_add (&state->detector, (const gfloat[4]){ x - w, y - h, x + w, y + h }, ranked->key,
                   (gint32) best_class (state, map, data[t], at + BOX_COLUMNS), ranked->index);
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

const SlDecoder sl_decoder_yolo_raw = {
  .name = "yolo-raw",
  .description = "maps of cells with anchors as YOLO v2 to v4 leave them, such as float32[1,13,13,425], with anchors= stated",
  .params = params,
  .threshold = 0.5f,
  .matches = matches,
  .open = open_yolo_raw,
  .decode = decode_yolo_raw,
  .close = close_yolo_raw,
  .classes = classes,
};
