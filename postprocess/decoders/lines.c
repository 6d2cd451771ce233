/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "lines": line segments of M-LSD. A cell of a map is the middle of a segment, and four
 * numbers lead from there to both ends: x, y of the start, x, y of the end, in cells. Takes one of
 *   maps     scores [1,H,W,1] and displacements [1,H,W,4], in any order; other cells than middles
 *            have a score of 0;
 *   best     rows and columns of the best middles [1,N,2], their scores [N] and displacements
 *            [1,H,W,4];
 *   one map  [1,C,H,W] of at least five channels: a logit of the middle, then the displacements;
 *            only by name.
 *
 * A segment is an object with two keypoints. Its box surrounds both, and is at least a pixel of the
 * input wide and high.
 *
 * Parameters: "shortest" 0: segments that are not longer, in cells, are left out; "activation" none
 * or sigmoid, unstated sigmoid of one map.
 */
#include <math.h>
#include <string.h>

#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"
#include "postprocess/peaks.h"

#define ENDS 4 /* numbers of a displacement */
#define FEWEST_CHANNELS 5
#define MOST_CHANNELS 64
#define MAX_SIDE 4096
#define LONGEST 8192.0

static const char *const activations[] = { "none", "sigmoid", NULL };
static const SlDecoderParam params[] = { SL_PARAM_NUMBER ("shortest", 0, LONGEST),
                                         SL_PARAM_CHOICE ("activation", activations),
                                         { NULL } };
static const char *const names[] = { "line", NULL };

typedef struct
{
  guint scores_at, ends_at;
  gint best_at; /* -1 = none: every cell may be a middle */
  guint n;      /* scores */
  gboolean is_one_map, best_wide;
  SlPictureShape scores, ends;
  SlValues score_values, end_values;
  guint first_end; /* channel */
  gfloat threshold;
  double shortest;
  gfloat smallest_x, smallest_y; /* sides of a box */
  SlRanked *ranked;
  SlTopK top;
} State;

/* @shape does not change where @tensor is no map of @channels. */
static gboolean
find_map (const SlTensorInfo *tensor, guint channels, SlPictureShape *shape)
{
  SlPictureShape found;
  if (tensor->rank != 4 || !sl_values_readable (tensor->dtype)
      || !sl_picture_shape_find (&found, tensor, channels) || found.channels != channels
      || found.width > MAX_SIDE || found.height > MAX_SIDE)
    return FALSE;
  *shape = found;
  return TRUE;
}

/* [1,N,2] of whole numbers. */
static gboolean
are_places (const SlTensorInfo *tensor)
{
  return (tensor->dtype == SL_DTYPE_I32 || tensor->dtype == SL_DTYPE_I64)
         && sl_decoder_columns (tensor) == 2 && sl_decoder_elements (tensor) >= 2;
}

static gboolean
find_one_map (const SlDecoderConfig *config, State *state)
{
  const SlTensorInfo *tensor = &config->tensors[0];
  state->is_one_map =
    config->n_tensors == 1 && tensor->rank == 4 && sl_values_readable (tensor->dtype)
    && sl_picture_shape_find (&state->scores, tensor, 0)
    && state->scores.channels >= FEWEST_CHANNELS && state->scores.channels <= MOST_CHANNELS
    && state->scores.width <= MAX_SIDE && state->scores.height <= MAX_SIDE;
  state->ends = state->scores;
  state->first_end = 1;
  state->n = state->scores.width * state->scores.height;
  return state->is_one_map;
}

static gboolean
find_tensors (const SlDecoderConfig *config, State *state)
{
  gint scores = -1, ends = -1;
  state->best_at = -1;
  if (config->n_tensors == 1)
    return find_one_map (config, state);
  for (guint t = 0; t < config->n_tensors; t++) {
    const SlTensorInfo *tensor = &config->tensors[t];
    if (find_map (tensor, ENDS, &state->ends))
      ends = (gint) t;
    else if (are_places (tensor))
      state->best_at = (gint) t;
    else
      scores = (gint) t;
  }
  if (scores < 0 || ends < 0 || !sl_values_readable (config->tensors[scores].dtype))
    return FALSE;
  state->scores_at = (guint) scores;
  state->ends_at = (guint) ends;
  state->n = sl_decoder_elements (&config->tensors[scores]);
  if (state->best_at >= 0) {
    state->best_wide = config->tensors[state->best_at].dtype == SL_DTYPE_I64;
    return config->n_tensors == 3
           && sl_decoder_elements (&config->tensors[state->best_at]) == 2 * state->n;
  }
  return config->n_tensors == 2 && find_map (&config->tensors[scores], 1, &state->scores)
         && state->scores.width == state->ends.width && state->scores.height == state->ends.height;
}

/* Maps of half the input's size. */
static gboolean
matches (const SlDecoderConfig *config)
{
  State state = { 0 };
  return find_tensors (config, &state) && !state.is_one_map
         && (gint32) (2 * state.ends.width) == config->input_width
         && (gint32) (2 * state.ends.height) == config->input_height;
}

static void
close_lines (gpointer opened)
{
  State *state = opened;
  g_free (state->ranked);
  g_free (state);
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  guint activation;
  if (!sl_decoder_param_double (config, params, "shortest", 0, &state->shortest, error)
      || !sl_decoder_param_choice (config, params, "activation", &activation, error))
    return FALSE;
  const gboolean sigmoid =
    sl_decoder_param (config, "activation") != NULL ? activation == 1 : state->is_one_map;
  sl_values_init (&state->score_values, &config->tensors[state->scores_at],
                  sigmoid ? SL_SCORES_SIGMOID : SL_SCORES_PLAIN);
  sl_values_init (&state->end_values, &config->tensors[state->ends_at], SL_SCORES_PLAIN);
  return TRUE;
}

static gpointer
open_lines (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  if (!find_tensors (config, state)) {
    g_free (state);
    return sl_decoder_refuse (
      config, "lines",
      "scores[1,H,W,1] and displacements[1,H,W,4], the best places int32[1,N,2], scores[N] and "
      "displacements[1,H,W,4], or one map [1,C,H,W] of 5 channels or more, of uint8, int8 or "
      "float32",
      error);
  }
  if (!read_parameters (state, config, error)) {
    close_lines (state);
    return NULL;
  }
  state->threshold = config->threshold;
  state->smallest_x = 1.0f / (2 * (gfloat) state->ends.width);
  state->smallest_y = 1.0f / (2 * (gfloat) state->ends.height);
  state->top.capacity = MIN (config->max_results, MIN (state->n, SL_MAX_RESULTS));
  state->ranked = g_new (SlRanked, state->top.capacity);
  state->top.items = state->ranked;
  return state;
}

static gfloat
score_at (const State *state, const void *data, guint i)
{
  return state->best_at >= 0 ? sl_values_get (&state->score_values, data, i)
                             : sl_map_number (&state->scores, &state->score_values, data,
                                              i % state->scores.width, i / state->scores.width, 0);
}

/* Number @i of the best places. */
static gint64
place_at (const State *state, const void *data, gsize i)
{
  if (state->best_wide) {
    gint64 wide;
    memcpy (&wide, (const guint8 *) data + i * sizeof wide, sizeof wide);
    return wide;
  }
  gint32 narrow;
  memcpy (&narrow, (const guint8 *) data + i * sizeof narrow, sizeof narrow);
  return narrow;
}

/* The cell of middle @i; FALSE where it is outside of the map. */
static gboolean
find_cell (const State *state, const void *const *data, guint i, guint *x, guint *y)
{
  const gint64 row = state->best_at >= 0 ? place_at (state, data[state->best_at], 2 * (gsize) i)
                                         : i / state->ends.width;
  const gint64 column = state->best_at >= 0
                          ? place_at (state, data[state->best_at], 2 * (gsize) i + 1)
                          : i % state->ends.width;
  *x = (guint) column;
  *y = (guint) row;
  return row >= 0 && column >= 0 && row < state->ends.height && column < state->ends.width;
}

/* From middle @i to both ends; FALSE where there is no segment. */
static gboolean
find_ends (const State *state, const void *const *data, guint i, guint *x, guint *y,
           gfloat ends[ENDS])
{
  if (!find_cell (state, data, i, x, y))
    return FALSE;
  for (guint k = 0; k < ENDS; k++)
    ends[k] = sl_map_number (&state->ends, &state->end_values, data[state->ends_at], *x, *y,
                             state->first_end + k);
  const double length = hypot ((double) (ends[0] - ends[2]), (double) (ends[1] - ends[3]));
  return isfinite (length) && length > state->shortest;
}

/* The best middles, best first. */
static void
rank_middles (State *state, const void *const *data)
{
  const void *scores = data[state->scores_at];
  state->top.count = 0;
  for (guint i = 0; i < state->n; i++) {
    const gfloat score = score_at (state, scores, i);
    if (score > 0 && score >= state->threshold && isfinite (score)
        && (!state->is_one_map
            || sl_map_is_peak (&state->scores, &state->score_values, scores,
                               i % state->scores.width, i / state->scores.width, 0)))
      sl_top_k_push (&state->top, score, i);
  }
  sl_top_k_sort (&state->top);
}

/* At least @smallest, about the same middle. */
static void
widen (gfloat *low, gfloat *high, gfloat smallest)
{
  const gfloat missing = MAX (smallest - (*high - *low), 0);
  *low -= missing / 2;
  *high += missing / 2;
}

static void
decode_lines (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  const gfloat width = (gfloat) state->ends.width, height = (gfloat) state->ends.height;
  rank_middles (state, data);
  for (guint i = 0; i < state->top.count; i++) {
    guint x, y;
    gfloat ends[ENDS];
    const SlRanked *ranked = &state->top.items[i];
    SlDetection line = { .confidence = MIN (ranked->key, 1) };
    SlDetectedPoint *points;
    if (!find_ends (state, data, ranked->index, &x, &y, ends)
        || (points = sl_result_add_keypoints (result, &line, 2)) == NULL)
      continue;
    for (guint p = 0; p < 2; p++)
      points[p] = (SlDetectedPoint){ ((gfloat) x + ends[2 * p]) / width,
                                     ((gfloat) y + ends[2 * p + 1]) / height, line.confidence };
    line.x_min = MIN (points[0].x, points[1].x);
    line.x_max = MAX (points[0].x, points[1].x);
    line.y_min = MIN (points[0].y, points[1].y);
    line.y_max = MAX (points[0].y, points[1].y);
    widen (&line.x_min, &line.x_max, state->smallest_x);
    widen (&line.y_min, &line.y_max, state->smallest_y);
    result->highest = MAX (result->highest, ranked->key);
    result->detections[result->n_detections++] = line;
  }
  result->skeleton = &sl_skeleton_line;
}

/* The ends of a segment are on both sides of its middle. */
static SlCheck
check (gpointer opened, const void *const *data, GString *why)
{
  State *state = opened;
  guint n = 0, aside = 0;
  rank_middles (state, data);
  for (guint i = 0; i < state->top.count; i++) {
    guint x, y;
    gfloat e[ENDS];
    if (!find_ends (state, data, state->top.items[i].index, &x, &y, e))
      continue;
    n++;
    aside += hypot ((double) (e[0] + e[2]), (double) (e[1] + e[3]))
             > hypot ((double) (e[0] - e[2]), (double) (e[1] - e[3]));
  }
  if (n < 2 || 2 * aside < n)
    return SL_CHECK_FITS;
  g_string_append_printf (
    why,
    "of %u segments %u have both ends on one side of the middle, so the four numbers are no "
    "displacements of ends; expected another decoder (docs/predictions.md lists them; sightline "
    "infer gives the numbers)",
    n, aside);
  return SL_CHECK_CONTRADICTS;
}

const SlDecoder sl_decoder_lines = {
  .name = "lines",
  .description =
    "line segments of M-LSD: scores[1,H,W,1] and displacements of both ends [1,H,W,4] at half the "
    "input's size",
  .params = params,
  .names = names,
  .threshold = 0.1f,
  .matches = matches,
  .open = open_lines,
  .decode = decode_lines,
  .close = close_lines,
  .classes = sl_decoder_one_class,
  .check = check,
};
