/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "efficientdet": EfficientDet and RetinaNet without post-processing: scores of classes and
 * offsets (y, x, height, width) from anchors, in two tensors [1,N,C] and [1,N,4], or a pair of maps
 * a level: [1,H,W,A*C] and [1,H,W,A*4], or channels first. The tensors may come in any order; of
 * two that are alike the first has the scores.
 *
 * Parameters:
 *   preset                automl (default): anchors of ratio 1, 2 and 1/2 and of one area; torch:
 *                         1x1, 1.4x0.7 and 0.7x1.4, as effdet and
 *                         other EfficientDets of PyTorch have them
 *   strides               8,16,32,64,128
 *   anchor-scale          4: side of the smallest anchor, in strides
 *   scales                3: sizes of an anchor
 *   ratios                width / height of anchors, instead of the preset's
 *   order                 yx (default) or xy: offsets are x, y, width, height
 *   activation            sigmoid or none; unstated, none where a LOGISTIC makes the scores
 *   background-offset     an integer added to every class
 *   iou-threshold, agnostic: suppression
 *
 * It is never taken unnamed: RetinaNet's tensors have the same shapes, and mean other boxes.
 */
#include <math.h>

#include "core/base/fail.h"
#include "postprocess/anchors.h"
#include "postprocess/classmax.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"

#define DEFAULT_IOU 0.5
#define MAX_CLASSES 4096

static const char *const presets[] = { "automl", "torch", NULL };
static const char *const orders[] = { "yx", "xy", NULL };
static const char *const activations[] = { "sigmoid", "none", NULL };
static const SlDecoderParam params[] = { SL_PARAM_CHOICE ("preset", presets),
                                         SL_PARAM_LIST ("strides", 1, 1024, SL_MAX_LEVELS),
                                         SL_PARAM_NUMBER ("anchor-scale", 0.1, 100),
                                         SL_PARAM_INTEGER ("scales", 1, SL_MAX_ASPECT_RATIOS),
                                         SL_PARAM_LIST ("ratios", 0.01, 100, SL_MAX_ASPECT_RATIOS),
                                         SL_PARAM_CHOICE ("order", orders),
                                         SL_PARAM_CHOICE ("activation", activations),
                                         SL_PARAM_INTEGER ("background-offset", -1000, 1000),
                                         SL_DETECTOR_PARAMS,
                                         { NULL } };

/* Rows that follow each other: all of them, or those of a level. Row i of a part is anchor i %
 * per_cell of cell i / per_cell; with channels first, where rows of one anchor lie together, cell i
 * % cells of anchor i / cells. */
typedef struct
{
  guint scores_at, boxes_at, first, n, cells;
  gboolean channels_first;
  SlValues score_values, box_values;
  gfloat raw_threshold;
} Part;

typedef struct
{
  guint n_parts, per_cell, classes;
  gint offset;
  gboolean swapped; /* offsets are x, y, width, height */
  Part parts[SL_MAX_LEVELS];
  SlAnchor *anchors;
  guint8 *ranks; /* of the largest part, for tensors of 8 bits */
  SlDetector detector;
} State;

static void
close_efficientdet (gpointer opened)
{
  State *state = opened;
  sl_detector_clear (&state->detector);
  g_free (state->anchors);
  g_free (state->ranks);
  g_free (state);
}

static gboolean
read_shapes (const SlDecoderConfig *config, SlPyramidAnchors *spec, GError **error)
{
  static const double torch[3][2] = { { 1, 1 }, { 1.4, 0.7 }, { 0.7, 1.4 } };
  double ratios[SL_MAX_ASPECT_RATIOS] = { 1, 2, 0.5 };
  guint preset;
  spec->n_shapes = 3;
  if (!sl_decoder_param_choice (config, params, "preset", &preset, error)
      || !sl_decoder_param_list (config, params, "ratios", ratios, &spec->n_shapes, error))
    return FALSE;
  for (guint i = 0; i < spec->n_shapes; i++) {
    spec->shapes[i][0] = sqrt (ratios[i]);
    spec->shapes[i][1] = 1 / sqrt (ratios[i]);
  }
  if (preset == 1 && sl_decoder_param (config, "ratios") == NULL)
    memcpy (spec->shapes, torch, sizeof torch);
  return TRUE;
}

static gboolean
read_spec (const SlDecoderConfig *config, SlPyramidAnchors *spec, gint32 *width, gint32 *height,
           GError **error)
{
  double strides[SL_MAX_LEVELS] = { 8, 16, 32, 64, 128 };
  gint scales;
  spec->n_levels = 5;
  if (!sl_decoder_param_list (config, params, "strides", strides, &spec->n_levels, error)
      || !sl_decoder_param_double (config, params, "anchor-scale", 4, &spec->side, error)
      || !sl_decoder_param_int (config, params, "scales", 3, &scales, error)
      || !read_shapes (config, spec, error)
      || !sl_decoder_param_size (config, width, height, error))
    return FALSE;
  spec->scales = (guint) scales;
  for (guint l = 0; l < spec->n_levels; l++)
    spec->strides[l] = (guint) strides[l];
  if (*width > 0)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "decoder efficientdet: the size of the model's input is not known, which anchors need: state "
    "imgsz=HEIGHT,WIDTH");
}

/* How many numbers each anchor has in @tensor, whose rows are those of @cells cells; 0 = it has
 * another shape. */
static guint
numbers_of (const SlTensorInfo *tensor, const SlLevel *level, guint per_cell,
            gboolean *channels_first)
{
  const gint32 *d = tensor->dims;
  if (!sl_values_readable (tensor->dtype) || tensor->rank != 4 || d[0] != 1)
    return 0;
  *channels_first =
    (guint) d[2] == level->height && (guint) d[3] == level->width && (guint) d[1] % per_cell == 0;
  if (*channels_first)
    return (guint) d[1] / per_cell;
  return (guint) d[1] == level->height && (guint) d[2] == level->width
             && (guint) d[3] % per_cell == 0
           ? (guint) d[3] / per_cell
           : 0;
}

/* One pair of maps for each of @grid's levels. */
static gboolean
find_maps (const SlDecoderConfig *config, State *state, const SlGrid *grid)
{
  gboolean taken[SL_MAX_IO] = { FALSE };
  if (config->n_tensors != 2 * grid->n_levels)
    return FALSE;
  for (guint l = 0; l < grid->n_levels; l++) {
    const SlLevel *level = &grid->levels[l];
    Part *part = &state->parts[l];
    gint scores = -1, boxes = -1;
    gboolean boxes_first = FALSE;
    for (guint t = 0; t < config->n_tensors; t++) {
      const guint numbers =
        taken[t] ? 0
                 : numbers_of (&config->tensors[t], level, state->per_cell, &part->channels_first);
      gint *at = numbers == 4 && (boxes < 0 || scores >= 0) ? &boxes : &scores;
      if (numbers == 0 || *at >= 0)
        continue;
      *at = (gint) t;
      taken[t] = TRUE;
    }
    if (boxes < 0 || scores < 0)
      return FALSE;
    numbers_of (&config->tensors[boxes], level, state->per_cell, &boxes_first);
    const guint classes =
      numbers_of (&config->tensors[scores], level, state->per_cell, &part->channels_first);
    /* Two that are alike: the first has the scores. */
    const gboolean alike = classes == 4 && scores > boxes;
    part->scores_at = (guint) (alike ? boxes : scores);
    part->boxes_at = (guint) (alike ? scores : boxes);
    part->cells = level->width * level->height;
    part->first = level->first;
    part->n = part->cells * state->per_cell;
    if (boxes_first != part->channels_first || (l > 0 && classes != state->classes))
      return FALSE;
    state->classes = classes;
  }
  state->n_parts = grid->n_levels;
  return TRUE;
}

static gboolean
is_rows (const SlTensorInfo *tensor, guint rows)
{
  return sl_values_readable (tensor->dtype) && tensor->rank >= 2 && sl_decoder_columns (tensor) > 0
         && sl_decoder_elements (tensor) / sl_decoder_columns (tensor) == rows;
}

/* All rows in two tensors; others, such as the anchors, may lie behind them. */
static gboolean
find_rows (const SlDecoderConfig *config, State *state, guint rows)
{
  gint scores = -1, boxes = -1;
  for (guint t = 0; t < config->n_tensors; t++) {
    if (!is_rows (&config->tensors[t], rows))
      continue;
    if (boxes < 0 && sl_decoder_columns (&config->tensors[t]) == 4)
      boxes = (gint) t;
    else if (scores < 0)
      scores = (gint) t;
  }
  if (scores < 0 || boxes < 0)
    return FALSE;
  state->classes = sl_decoder_columns (&config->tensors[scores]);
  const gboolean alike = state->classes == 4 && scores > boxes;
  state->parts[0] = (Part){ .scores_at = (guint) (alike ? boxes : scores),
                            .boxes_at = (guint) (alike ? scores : boxes),
                            .n = rows };
  state->n_parts = 1;
  return TRUE;
}

static gboolean
find_tensors (const SlDecoderConfig *config, State *state, GError **error)
{
  SlPyramidAnchors spec = { 0 };
  SlGrid grid;
  gint32 width, height;
  guint rows = 0;
  if (!read_spec (config, &spec, &width, &height, error))
    return FALSE;
  state->per_cell = spec.scales * spec.n_shapes;
  state->anchors = sl_anchors_pyramid (&spec, width, height, &rows);
  if (state->anchors != NULL
      && sl_grid_init (&grid, width, height, spec.strides, spec.n_levels, state->per_cell)
      && (find_maps (config, state, &grid) || find_rows (config, state, rows))
      && state->classes <= MAX_CLASSES)
    return TRUE;
  g_autofree char *got = sl_decoder_describe (config);
  return sl_fail (
    error, SL_ERROR_SHAPE,
    "decoder efficientdet: expected scores [1,%u,classes] and offsets [1,%u,4], or such a pair of "
    "maps for each of %u strides with %u anchors a cell, for an input of %dx%d; got %s; state "
    "strides=, scales= and ratios= of the model",
    rows, rows, spec.n_levels, state->per_cell, width, height, got);
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  guint order, activation;
  if (!sl_decoder_param_choice (config, params, "order", &order, error)
      || !sl_decoder_param_choice (config, params, "activation", &activation, error)
      || !sl_decoder_param_int (config, params, "background-offset", 0, &state->offset, error))
    return FALSE;
  const gboolean stated = sl_decoder_param (config, "activation") != NULL;
  state->swapped = order == 1;
  for (guint p = 0; p < state->n_parts; p++) {
    Part *part = &state->parts[p];
    const SlTensorInfo *scores = &config->tensors[part->scores_at];
    const gboolean plain =
      stated ? activation == 1
             : scores->values == SL_VALUES_PROBABILITIES || scores->values == SL_VALUES_SHARES;
    sl_values_init (&part->score_values, scores, plain ? SL_SCORES_PLAIN : SL_SCORES_SIGMOID);
    sl_values_init (&part->box_values, &config->tensors[part->boxes_at], SL_SCORES_PLAIN);
    part->raw_threshold = sl_values_raw_threshold (&part->score_values, config->threshold);
  }
  return TRUE;
}

static gpointer
open_efficientdet (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  guint rows = 0, most = 0;
  if (!find_tensors (config, state, error) || !read_parameters (state, config, error)) {
    close_efficientdet (state);
    return NULL;
  }
  for (guint p = 0; p < state->n_parts; p++) {
    rows += state->parts[p].n;
    most = MAX (most, state->parts[p].n);
  }
  state->ranks = g_new (guint8, most);
  if (!sl_detector_init (&state->detector, config, rows, NULL, DEFAULT_IOU, error)) {
    close_efficientdet (state);
    return NULL;
  }
  return state;
}

/* The best of @n rows' classes, from number @first of the tensor on. */
static void
score_rows (const State *state, const Part *part, const void *data, gsize first, guint n,
            gfloat *scores)
{
  const gsize class_step = part->channels_first ? part->cells : 1,
              row_step = part->channels_first ? 1 : state->classes;
  if (part->score_values.quantised) {
    sl_class_max_codes ((const guint8 *) data + first, n, state->classes, class_step, row_step,
                        part->score_values.flip, state->ranks);
    for (guint i = 0; i < n; i++)
      scores[i] = part->score_values.table[state->ranks[i]];
    return;
  }
  sl_class_max_floats ((const gfloat *) data + first, n, state->classes, class_step, row_step,
                       scores);
  for (guint i = 0; i < n && part->score_values.sigmoid; i++)
    scores[i] =
      scores[i] >= part->raw_threshold ? sl_values_activate (&part->score_values, scores[i]) : -1;
}

static void
score_part (State *state, const Part *part, const void *data)
{
  gfloat *scores = state->detector.scores + part->first;
  if (!part->channels_first) {
    score_rows (state, part, data, 0, part->n, scores);
    return;
  }
  for (guint a = 0; a < state->per_cell; a++)
    score_rows (state, part, data, (gsize) a * state->classes * part->cells, part->cells,
                scores + (gsize) a * part->cells);
}

static const Part *
part_of (const State *state, guint row)
{
  guint p = 0;
  while (row - state->parts[p].first >= state->parts[p].n)
    p++;
  return &state->parts[p];
}

/* Where number @k of @per_row of row @row of @part lies. */
static gsize
place_of (const Part *part, guint row, guint k, guint per_row)
{
  if (!part->channels_first)
    return (gsize) row * per_row + k;
  return ((gsize) (row / part->cells) * per_row + k) * part->cells + row % part->cells;
}

static guint
best_class (const State *state, const Part *part, const void *data, guint row)
{
  guint best = 0;
  gfloat highest = -INFINITY;
  for (guint c = 0; c < state->classes; c++) {
    const gfloat score =
      sl_values_get (&part->score_values, data, place_of (part, row, c, state->classes));
    if (score > highest) {
      highest = score;
      best = c;
    }
  }
  return best;
}

static void
add_row (State *state, const void *const *data, const SlRanked *ranked)
{
  static const gfloat scales[4] = { 1, 1, 1, 1 };
  const Part *part = part_of (state, ranked->index);
  const guint row = ranked->index - part->first;
  const guint anchor =
    part->channels_first ? row % part->cells * state->per_cell + row / part->cells : row;
  const gint label = (gint) best_class (state, part, data[part->scores_at], row) + state->offset;
  gfloat offsets[4], corners[4];
  for (guint k = 0; k < 4; k++)
    offsets[k] = sl_values_get (&part->box_values, data[part->boxes_at],
                                place_of (part, row, state->swapped ? k : k ^ 1, 4));
  sl_anchor_decode (&state->anchors[part->first + anchor], offsets, scales, corners);
  if (label >= 0)
    sl_detector_add (&state->detector, corners, ranked->key, label, ranked->index);
}

static void
decode_efficientdet (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  for (guint p = 0; p < state->n_parts; p++)
    score_part (state, &state->parts[p], data[state->parts[p].scores_at]);
  sl_detector_select (&state->detector);
  for (guint i = 0; i < state->detector.top.count; i++)
    add_row (state, data, &state->detector.top.items[i]);
  sl_detector_finish (&state->detector, TRUE, result);
}

static guint
classes (const SlDecoderConfig *config)
{
  State state = { 0 };
  const gboolean found = find_tensors (config, &state, NULL);
  g_free (state.anchors);
  return found ? state.classes : 0;
}

static const char *
unmatched (const SlDecoderConfig *config)
{
  return classes (config) > 0
           ? "they may be EfficientDet's or RetinaNet's, whose anchors differ: state "
             "decoder=efficientdet, of PyTorch's efficientdet,preset=torch"
           : NULL;
}

const SlDecoder sl_decoder_efficientdet = {
  .name = "efficientdet",
  .description =
    "scores[1,N,classes] and offsets[1,N,4] of EfficientDet without post-processing, or a pair of "
    "maps a level",
  .params = params,
  .threshold = 0.4f,
  .unmatched = unmatched,
  .open = open_efficientdet,
  .decode = decode_efficientdet,
  .close = close_efficientdet,
  .classes = classes,
};
