/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "scrfd": InsightFace's face detectors: for each stride scores [N,1], which are
 * probabilities, boxes [N,4] (distances from the cell's corner to the left, top, right and bottom,
 * in strides) and, of models with keypoints, points [N,10] (five points, offsets from that corner,
 * in strides). N counts the anchors of a cell, which differ in nothing but their numbers. The
 * tensors may come in any order.
 *
 * Parameters: "strides" 8,16,32 of 6 or 9 tensors, 8,16,32,64,128 of 10 or 15; "iou-threshold",
 * "agnostic": suppression.
 */
#include "core/base/fail.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/grid.h"
#include "postprocess/params.h"

#define DEFAULT_IOU 0.4
#define MAX_ANCHORS 2 /* of a cell */

static const SlDecoderParam params[] = { SL_PARAM_LIST ("strides", 1, 4096, SL_MAX_LEVELS),
                                         SL_DETECTOR_PARAMS,
                                         { NULL } };
static const char *const names[] = { "face", NULL };

/* Tensors of one stride. */
typedef struct
{
  guint scores, boxes, points;
} Part;

typedef struct
{
  SlDetector detector;
  gint32 width, height;
  guint anchors;
  gboolean has_points;
  SlGrid grid;
  Part parts[SL_MAX_LEVELS];
  gfloat threshold;
} State;

static gboolean
find_parts (const SlDecoderConfig *config, State *state)
{
  const guint n = state->grid.n_levels;
  gboolean found = config->n_tensors == (state->has_points ? 3 : 2) * n;
  for (guint l = 0; l < n && found; l++) {
    const guint rows = state->grid.levels[l].width * state->grid.levels[l].height * state->anchors;
    Part *part = &state->parts[l];
    found = sl_decoder_find_rows (config, rows, 1, 0, &part->scores)
            && sl_decoder_find_rows (config, rows, 4, 0, &part->boxes)
            && (!state->has_points
                || sl_decoder_find_rows (config, rows, 2 * SL_FACE_POINTS, 0, &part->points));
  }
  return found;
}

static gboolean
find_shape (const SlDecoderConfig *config, State *state, GError **error)
{
  double numbers[SL_MAX_LEVELS] = { 8, 16, 32, 64, 128 };
  guint strides[SL_MAX_LEVELS], n = config->n_tensors == 10 || config->n_tensors == 15 ? 5 : 3;
  if (!sl_decoder_param_list (config, params, "strides", numbers, &n, error)
      || !sl_decoder_param_size (config, &state->width, &state->height, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    strides[i] = (guint) numbers[i];
  state->has_points = config->n_tensors == 3 * n;
  for (state->anchors = MAX_ANCHORS; state->anchors > 0; state->anchors--) {
    if (!sl_grid_init (&state->grid, state->width, state->height, strides, n, state->anchors))
      return sl_fail (
        error, SL_ERROR_ARGUMENT,
        "decoder scrfd: the size of the model's input is not known, which boxes in strides need: "
        "state imgsz=HEIGHT,WIDTH");
    if (find_parts (config, state))
      return TRUE;
  }
  g_autofree char *expected = g_strdup_printf (
    "for an input of %dx%d and each of %u strides float32 tensors of 1, 4 and possibly 10 columns "
    "and one row or two for each cell",
    state->width, state->height, n);
  return sl_decoder_refuse (config, "scrfd", expected, error) != NULL;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  State state = { 0 };
  return config->n_tensors >= 6 && find_shape (config, &state, NULL);
}

static gpointer
open_scrfd (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  if (!find_shape (config, state, error)
      || !sl_detector_init (&state->detector, config, state->grid.n_rows, NULL, DEFAULT_IOU,
                            error)) {
    sl_detector_close (state);
    return NULL;
  }
  state->threshold = config->threshold;
  return state;
}

static void
score_level (State *state, guint l, const void *const *data)
{
  const SlLevel *level = &state->grid.levels[l];
  const guint n = level->width * level->height * state->anchors;
  gfloat *scores = state->detector.scores + level->first;
  for (guint i = 0; i < n; i++) {
    const gfloat score = sl_values_float (data[state->parts[l].scores], i);
    scores[i] = score >= state->threshold ? MIN (score, 1) : -1;
  }
}

/** A row: its level's tensors, its number in them, its cell's corner in strides, and a stride in
 * parts of the input. */
typedef struct
{
  const Part *part;
  guint row;
  gfloat x, y, sx, sy;
} Place;

static Place
place_of (const State *state, guint row)
{
  const SlLevel *level = sl_grid_level (&state->grid, row);
  const guint within = row - level->first, cell = within / state->anchors;
  return (Place){ .part = &state->parts[level - state->grid.levels],
                  .row = within,
                  .x = (gfloat) (cell % level->width),
                  .y = (gfloat) (cell / level->width),
                  .sx = (gfloat) level->stride / (gfloat) state->width,
                  .sy = (gfloat) level->stride / (gfloat) state->height };
}

static void
box_of (gconstpointer opened, const void *const *data, guint row, gfloat corners[4])
{
  const Place p = place_of (opened, row);
  gfloat box[4];
  for (guint k = 0; k < 4; k++)
    box[k] = sl_values_float (data[p.part->boxes], (gsize) p.row * 4 + k);
  corners[0] = (p.x - box[0]) * p.sx;
  corners[1] = (p.y - box[1]) * p.sy;
  corners[2] = (p.x + box[2]) * p.sx;
  corners[3] = (p.y + box[3]) * p.sy;
}

static void
point_of (gconstpointer opened, const void *const *data, guint row, guint k, gfloat *x, gfloat *y)
{
  const Place p = place_of (opened, row);
  const gsize at = (gsize) p.row * 2 * SL_FACE_POINTS + 2 * k;
  *x = (p.x + sl_values_float (data[p.part->points], at)) * p.sx;
  *y = (p.y + sl_values_float (data[p.part->points], at + 1)) * p.sy;
}

static void
decode_scrfd (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  for (guint l = 0; l < state->grid.n_levels; l++)
    score_level (state, l, data);
  sl_detector_finish_faces (state, data, box_of, state->has_points ? point_of : NULL, result);
}

const SlDecoder sl_decoder_scrfd = {
  .name = "scrfd",
  .description =
    "scores[N,1], boxes[N,4] and possibly points[N,10] of InsightFace's SCRFD for each of its "
    "strides",
  .params = params,
  .names = names,
  .threshold = 0.5f,
  .matches = matches,
  .open = open_scrfd,
  .decode = decode_scrfd,
  .close = sl_detector_close,
  .classes = sl_decoder_one_class,
};
