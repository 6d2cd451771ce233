/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "nanodet": class scores [1,N,C] and distances [1,N,4*B] for each stride, or both side by
 * side in one tensor [1,N,C+4*B] over all strides. Each distance from a cell's centre to an edge is
 * a distribution over B bins (distribution focal loss): its mean, in cells, counts.
 *
 * Parameters: "strides" 8,16,32 (one tensor: also 8,16,32,64); "bins" 8; "centre" 0.5, position of
 * a cell's centre in it (0 for NanoDet-Plus, which has one tensor); "activation" none or sigmoid,
 * of scores; "iou-threshold", "agnostic".
 */
#include <math.h>

#include "postprocess/classmax.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/grid.h"
#include "postprocess/params.h"

#define DEFAULT_IOU 0.6
#define MAX_BINS 64
#define COCO_CLASSES 80

static const char *const activations[] = { "none", "sigmoid", NULL };
static const SlDecoderParam params[] = { SL_PARAM_LIST ("strides", 1, 4096, SL_MAX_LEVELS),
                                         SL_PARAM_INTEGER ("bins", 2, MAX_BINS),
                                         SL_PARAM_NUMBER ("centre", -10, 10),
                                         SL_PARAM_CHOICE ("activation", activations),
                                         SL_DETECTOR_PARAMS,
                                         { NULL } };

/* Where rows of one stride are: tensor, columns of a row, first column. */
typedef struct
{
  guint tensor, columns, first;
} Place;

typedef struct
{
  SlDetector detector;
  gint32 width, height;
  guint bins, classes;
  double centre;
  SlGrid grid;
  gboolean joined; /* one tensor over all strides */
  Place scores[SL_MAX_LEVELS], distances[SL_MAX_LEVELS];
  SlValues score_values[SL_MAX_LEVELS], distance_values[SL_MAX_LEVELS];
  gfloat raw_threshold;
} State;

static guint
columns_of (const SlTensorInfo *tensor)
{
  return tensor->rank >= 2 && sl_values_readable (tensor->dtype)
           ? (guint) tensor->dims[tensor->rank - 1]
           : 0;
}

static guint
rows_of (const SlTensorInfo *tensor)
{
  return columns_of (tensor) > 0 ? sl_decoder_elements (tensor) / columns_of (tensor) : 0;
}

static gboolean
find_joined (const SlDecoderConfig *config, State *state)
{
  const guint columns = columns_of (&config->tensors[0]), rows = rows_of (&config->tensors[0]);
  if (config->n_tensors != 1 || rows != state->grid.n_rows || columns <= 4 * state->bins)
    return FALSE;
  state->joined = TRUE;
  state->classes = columns - 4 * state->bins;
  for (guint l = 0; l < state->grid.n_levels; l++) {
    state->scores[l] = (Place){ 0, columns, 0 };
    state->distances[l] = (Place){ 0, columns, state->classes };
  }
  return TRUE;
}

/* The two tensors of one stride: distances are those with 4 * bins columns, the second ones when
 * both have. */
static gboolean
find_pair (const SlDecoderConfig *config, State *state, guint l)
{
  const guint rows = state->grid.levels[l].width * state->grid.levels[l].height;
  guint found[2], n = 0;
  for (guint t = 0; t < config->n_tensors; t++)
    if (rows_of (&config->tensors[t]) == rows) {
      if (n == 2)
        return FALSE;
      found[n++] = t;
    }
  if (n != 2)
    return FALSE;
  const guint scores = columns_of (&config->tensors[found[1]]) == 4 * state->bins ? 0 : 1;
  const guint columns = columns_of (&config->tensors[found[scores]]);
  if (columns_of (&config->tensors[found[1 - scores]]) != 4 * state->bins
      || (l > 0 && columns != state->classes))
    return FALSE;
  state->classes = columns;
  state->scores[l] = (Place){ found[scores], columns, 0 };
  state->distances[l] = (Place){ found[1 - scores], 4 * state->bins, 0 };
  return TRUE;
}

static gboolean
find_tensors (const SlDecoderConfig *config, State *state, const guint *strides, guint n)
{
  if (!sl_grid_init (&state->grid, state->width, state->height, strides, n, 1))
    return FALSE;
  if (find_joined (config, state))
    return TRUE;
  if (config->n_tensors != 2 * n)
    return FALSE;
  for (guint l = 0; l < n; l++)
    if (!find_pair (config, state, l))
      return FALSE;
  return TRUE;
}

static gboolean
find_shape (const SlDecoderConfig *config, State *state, GError **error)
{
  double numbers[SL_MAX_LEVELS] = { 8, 16, 32, 64 };
  guint strides[SL_MAX_LEVELS], n = 0;
  gint bins;
  if (!sl_decoder_param_list (config, params, "strides", numbers, &n, error)
      || !sl_decoder_param_int (config, params, "bins", 8, &bins, error)
      || !sl_decoder_param_size (config, &state->width, &state->height, error))
    return FALSE;
  state->bins = (guint) bins;
  for (guint i = 0; i < SL_MAX_LEVELS; i++)
    strides[i] = (guint) numbers[i];
  if (n > 0 ? find_tensors (config, state, strides, n)
            : find_tensors (config, state, strides, 3) || find_tensors (config, state, strides, 4))
    return sl_decoder_param_double (config, params, "centre", state->joined ? 0 : 0.5,
                                    &state->centre, error);
  g_autofree char *expected = g_strdup_printf (
    "for an input of %dx%d a row for each cell of strides 8,16,32 or of parameter strides=, with "
    "class scores and %d columns of distances (4 times parameter bins=)",
    state->width, state->height, 4 * bins);
  return sl_decoder_refuse (config, "nanodet", expected, error) != NULL;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  State state = { 0 };
  return find_shape (config, &state, NULL)
         && (!state.joined
             || state.classes == (config->n_labels > 0 ? config->n_labels : COCO_CLASSES));
}

static guint
classes (const SlDecoderConfig *config)
{
  State state = { 0 };
  return find_shape (config, &state, NULL) ? state.classes : 0;
}

static gpointer
open_nanodet (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  guint sigmoid;
  if (!find_shape (config, state, error)
      || !sl_decoder_param_choice (config, params, "activation", &sigmoid, error)
      || !sl_detector_init (&state->detector, config, state->grid.n_rows, NULL, DEFAULT_IOU,
                            error)) {
    sl_detector_close (state);
    return NULL;
  }
  for (guint l = 0; l < state->grid.n_levels; l++) {
    sl_values_init (&state->score_values[l], &config->tensors[state->scores[l].tensor],
                    sigmoid == 1 ? SL_SCORES_SIGMOID : SL_SCORES_PLAIN);
    sl_values_init (&state->distance_values[l], &config->tensors[state->distances[l].tensor],
                    SL_SCORES_PLAIN);
  }
  state->raw_threshold = sl_values_raw_threshold (&state->score_values[0], config->threshold);
  return state;
}

/* Offset of @column in the row of @cell of level @l. */
static gsize
offset_of (const State *state, const Place *place, guint l, guint cell, guint column)
{
  const gsize row = state->joined ? (gsize) state->grid.levels[l].first + cell : cell;
  return row * place->columns + place->first + column;
}

static void
score_level (State *state, guint l, const void *data)
{
  const SlLevel *level = &state->grid.levels[l];
  const SlValues *values = &state->score_values[l];
  const Place *place = &state->scores[l];
  const guint n = level->width * level->height;
  gfloat *scores = state->detector.scores + level->first;
  if (values->quantised) {
    for (guint i = 0; i < n; i++) {
      guint8 best;
      sl_class_max_codes ((const guint8 *) data + offset_of (state, place, l, i, 0), 1,
                          state->classes, 1, place->columns, values->flip, &best);
      scores[i] = values->table[best];
    }
    return;
  }
  sl_class_max_floats ((const gfloat *) data + offset_of (state, place, l, 0, 0), n, state->classes,
                       1, place->columns, scores);
  for (guint i = 0; i < n && values->sigmoid; i++)
    scores[i] = scores[i] >= state->raw_threshold ? sl_values_activate (values, scores[i]) : -1;
}

static guint
best_class (const State *state, guint l, const void *data, guint cell)
{
  guint best = 0;
  gfloat highest = -INFINITY;
  for (guint c = 0; c < state->classes; c++) {
    const gfloat score = sl_values_get (&state->score_values[l], data,
                                        offset_of (state, &state->scores[l], l, cell, c));
    if (score > highest) {
      highest = score;
      best = c;
    }
  }
  return best;
}

/* Mean of the distribution that the logits of one edge describe; NaN when one of them is. */
static gfloat
mean_distance (const State *state, guint l, const void *data, guint cell, guint edge)
{
  gfloat logits[MAX_BINS], highest = -INFINITY;
  double sum = 0, mean = 0;
  for (guint b = 0; b < state->bins; b++) {
    logits[b] =
      sl_values_get (&state->distance_values[l], data,
                     offset_of (state, &state->distances[l], l, cell, edge * state->bins + b));
    highest = fmaxf (highest, logits[b]);
  }
  for (guint b = 0; b < state->bins; b++) {
    const double weight = exp ((double) logits[b] - highest);
    sum += weight;
    mean += weight * b;
  }
  return (gfloat) (mean / sum);
}

static void
add_object (State *state, const void *const *data, const SlRanked *ranked)
{
  const SlLevel *level = sl_grid_level (&state->grid, ranked->index);
  const guint l = (guint) (level - state->grid.levels), cell = ranked->index - level->first;
  const void *distances = data[state->distances[l].tensor];
  const double x = cell % level->width + state->centre, y = cell / level->width + state->centre;
  const double sx = (double) level->stride / state->width,
               sy = (double) level->stride / state->height;
  const gfloat corners[4] = { (gfloat) ((x - mean_distance (state, l, distances, cell, 0)) * sx),
                              (gfloat) ((y - mean_distance (state, l, distances, cell, 1)) * sy),
                              (gfloat) ((x + mean_distance (state, l, distances, cell, 2)) * sx),
                              (gfloat) ((y + mean_distance (state, l, distances, cell, 3)) * sy) };
  sl_detector_add (&state->detector, corners, ranked->key,
                   (gint32) best_class (state, l, data[state->scores[l].tensor], cell),
                   ranked->index);
}

static void
decode_nanodet (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  for (guint l = 0; l < state->grid.n_levels; l++)
    score_level (state, l, data[state->scores[l].tensor]);
  sl_detector_select (&state->detector);
  for (guint i = 0; i < state->detector.top.count; i++)
    add_object (state, data, &state->detector.top.items[i]);
  sl_detector_finish (&state->detector, TRUE, result);
}

const SlDecoder sl_decoder_nanodet = {
  .name = "nanodet",
  .description =
    "scores[1,N,classes] and distances[1,N,32] of NanoDet for each stride, or both in one tensor "
    "[1,N,classes+32]",
  .params = params,
  .threshold = 0.5f,
  .matches = matches,
  .open = open_nanodet,
  .decode = decode_nanodet,
  .close = sl_detector_close,
  .classes = classes,
};
