/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "yunet": the face detector of OpenCV's zoo: for each stride class and objectness scores
 * [1,N,1] (their geometric mean counts), boxes[1,N,4] (offset from the cell, logarithms of sizes;
 * in cells) and points[1,N,10] (five points, offsets from the cell). The tensors may come in any
 * order.
 *
 * Parameters: "strides" 8,16,32; "iou-threshold", "agnostic": suppression.
 */
#include <math.h>

#include "core/base/fail.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/grid.h"
#include "postprocess/params.h"

#define DEFAULT_IOU 0.3
#define PARTS 4 /* tensors of a stride */
#define LARGEST_LOG 12

static const SlDecoderParam params[] = { SL_PARAM_LIST ("strides", 1, 4096, SL_MAX_LEVELS),
                                         SL_DETECTOR_PARAMS,
                                         { NULL } };
static const char *const names[] = { "face", NULL };

/* Tensors of one stride: two scores, which may change places, boxes and points. */
typedef struct
{
  guint scores[2], boxes, points;
} Part;

typedef struct
{
  SlDetector detector;
  gint32 width, height;
  SlGrid grid;
  Part parts[SL_MAX_LEVELS];
  gfloat threshold_squared;
} State;

static gboolean
find_shape (const SlDecoderConfig *config, State *state, GError **error)
{
  double numbers[SL_MAX_LEVELS] = { 8, 16, 32 };
  guint strides[SL_MAX_LEVELS], n = 3;
  if (!sl_decoder_param_list (config, params, "strides", numbers, &n, error)
      || !sl_decoder_param_size (config, &state->width, &state->height, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    strides[i] = (guint) numbers[i];
  if (!sl_grid_init (&state->grid, state->width, state->height, strides, n, 1))
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder yunet: the size of the model's input is not known, which boxes in cells need: state "
      "imgsz=HEIGHT,WIDTH");
  gboolean found = config->n_tensors == PARTS * n;
  for (guint l = 0; l < n && found; l++) {
    const guint rows = state->grid.levels[l].width * state->grid.levels[l].height;
    Part *part = &state->parts[l];
    found = sl_decoder_find_rows (config, rows, 1, 0, &part->scores[0])
            && sl_decoder_find_rows (config, rows, 1, 1, &part->scores[1])
            && sl_decoder_find_rows (config, rows, 4, 0, &part->boxes)
            && sl_decoder_find_rows (config, rows, 2 * SL_FACE_POINTS, 0, &part->points);
  }
  if (found)
    return TRUE;
  g_autofree char *expected = g_strdup_printf (
    "for an input of %dx%d and each of %u strides float32 tensors of 1, 1, 4 and 10 columns and a "
    "row for each cell",
    state->width, state->height, n);
  return sl_decoder_refuse (config, "yunet", expected, error) != NULL;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  State state = { 0 };
  return config->n_tensors >= PARTS && find_shape (config, &state, NULL);
}

static gpointer
open_yunet (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  if (!find_shape (config, state, error)
      || !sl_detector_init (&state->detector, config, state->grid.n_rows, NULL, DEFAULT_IOU,
                            error)) {
    sl_detector_close (state);
    return NULL;
  }
  state->threshold_squared = config->threshold * config->threshold;
  return state;
}

static inline gfloat
unit (gfloat x)
{
  return x > 0 ? (x < 1 ? x : 1) : 0;
}

static void
score_level (State *state, guint l, const void *const *data)
{
  const SlLevel *level = &state->grid.levels[l];
  const guint n = level->width * level->height;
  gfloat *scores = state->detector.scores + level->first;
  for (guint i = 0; i < n; i++) {
    const gfloat product = unit (sl_values_float (data[state->parts[l].scores[0]], i))
                           * unit (sl_values_float (data[state->parts[l].scores[1]], i));
    scores[i] = product >= state->threshold_squared ? sqrtf (product) : -1;
  }
}

static void
point_of (gconstpointer opened, const void *const *data, guint row, guint k, gfloat *x, gfloat *y)
{
  const State *state = opened;
  const SlLevel *level = sl_grid_level (&state->grid, row);
  const guint cell = row - level->first;
  const void *points = data[state->parts[level - state->grid.levels].points];
  const gfloat dx = sl_values_float (points, (gsize) cell * 2 * SL_FACE_POINTS + 2 * k);
  const gfloat dy = sl_values_float (points, (gsize) cell * 2 * SL_FACE_POINTS + 2 * k + 1);
  *x = ((gfloat) (cell % level->width) + dx) * (gfloat) level->stride / (gfloat) state->width;
  *y = ((gfloat) (cell / level->width) + dy) * (gfloat) level->stride / (gfloat) state->height;
}

static void
box_of (gconstpointer opened, const void *const *data, guint row, gfloat corners[4])
{
  const State *state = opened;
  const SlLevel *level = sl_grid_level (&state->grid, row);
  const guint cell = row - level->first;
  const void *boxes = data[state->parts[level - state->grid.levels].boxes];
  gfloat box[4];
  for (guint k = 0; k < 4; k++)
    box[k] = sl_values_float (boxes, (gsize) cell * 4 + k);
  const gfloat x = (gfloat) (cell % level->width) + box[0],
               y = (gfloat) (cell / level->width) + box[1];
  const gfloat w = expf (fminf (box[2], LARGEST_LOG)), h = expf (fminf (box[3], LARGEST_LOG));
  const gfloat sx = (gfloat) level->stride / (gfloat) state->width,
               sy = (gfloat) level->stride / (gfloat) state->height;
  corners[0] = (x - w / 2) * sx;
  corners[1] = (y - h / 2) * sy;
  corners[2] = (x + w / 2) * sx;
  corners[3] = (y + h / 2) * sy;
}

static void
decode_yunet (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  for (guint l = 0; l < state->grid.n_levels; l++)
    score_level (state, l, data);
  sl_detector_finish_faces (state, data, box_of, point_of, result);
}

const SlDecoder sl_decoder_yunet = {
  .name = "yunet",
  .description =
    "scores[1,N,1] twice, boxes[1,N,4] and points[1,N,10] of YuNet for each of its strides",
  .params = params,
  .names = names,
  .threshold = 0.7f,
  .matches = matches,
  .open = open_yunet,
  .decode = decode_yunet,
  .close = sl_detector_close,
  .classes = sl_decoder_one_class,
};
