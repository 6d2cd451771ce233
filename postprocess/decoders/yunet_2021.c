/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "yunet-2021": the face detector of OpenCV's zoo of 2021 and 2022, with priors: conf[N,2]
 * (no face, face), iou[N,1] and loc[N,14] (box and five points), in any order, of all strides
 * together. A face's score is the geometric mean of its share and of the iou, which is limited to
 * 0..1. A prior is a square of a cell, of each of its stride's sizes; offsets are in sizes of the
 * prior times 0.1, sizes are logarithms times 0.2.
 *
 * Parameters: "iou-threshold", "agnostic": suppression; "imgsz".
 */
#include <math.h>

#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"

#define DEFAULT_IOU 0.3
#define N_LEVELS 4
#define MAX_SIZES 3
#define COLUMNS (4 + 2 * SL_FACE_POINTS)
#define OFFSET_VARIANCE 0.1f
#define SIZE_VARIANCE 0.2f
#define LARGEST_LOG 12

static const SlDecoderParam params[] = { SL_DETECTOR_PARAMS, { NULL } };
static const char *const names[] = { "face", NULL };

static const struct
{
  guint stride, n;
  gfloat sizes[MAX_SIZES];
} levels[N_LEVELS] = { { 8, 3, { 10, 16, 24 } },
                       { 16, 2, { 32, 48 } },
                       { 32, 2, { 64, 96 } },
                       { 64, 3, { 128, 192, 256 } } };

/* Middle and side of a prior, in pixels of the input. */
typedef struct
{
  gfloat x, y, side;
} Prior;

typedef struct
{
  SlDetector detector;
  gint32 width, height;
  guint conf, iou, loc, n;
  Prior *priors;
  gfloat threshold_squared;
} State;

/* Cells of level @level along a side of @pixels: the network halves it, each time rounded down but
 * the first. */
static guint
cells_along (gint32 pixels, guint level)
{
  guint cells = (guint) (pixels + 1) / 2;
  for (guint i = 0; i < level + 2; i++)
    cells /= 2;
  return cells;
}

static gboolean
find_shape (const SlDecoderConfig *config, State *state, GError **error)
{
  if (!sl_decoder_param_size (config, &state->width, &state->height, error))
    return FALSE;
  for (guint l = 0; l < N_LEVELS && state->width <= 1 << 15 && state->height <= 1 << 15; l++)
    state->n += cells_along (state->width, l) * cells_along (state->height, l) * levels[l].n;
  if (config->n_tensors == 3 && state->n > 0
      && sl_decoder_find_rows (config, state->n, 2, 0, &state->conf)
      && sl_decoder_find_rows (config, state->n, 1, 0, &state->iou)
      && sl_decoder_find_rows (config, state->n, COLUMNS, 0, &state->loc))
    return TRUE;
  g_autofree char *expected = g_strdup_printf (
    "float32 tensors conf[%u,2], iou[%u,1] and loc[%u,14] for an input of %dx%d (imgsz= states its "
    "size)",
    state->n, state->n, state->n, state->width, state->height);
  return sl_decoder_refuse (config, "yunet-2021", expected, error) != NULL;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  State state = { 0 };
  return find_shape (config, &state, NULL);
}

static void
make_priors (State *state)
{
  Prior *prior = state->priors = state->detector.owned = g_new (Prior, state->n);
  for (guint l = 0; l < N_LEVELS; l++)
    for (guint y = 0; y < cells_along (state->height, l); y++)
      for (guint x = 0; x < cells_along (state->width, l); x++)
        for (guint s = 0; s < levels[l].n; s++)
          *prior++ = (Prior){ ((gfloat) x + 0.5f) * (gfloat) levels[l].stride,
                              ((gfloat) y + 0.5f) * (gfloat) levels[l].stride, levels[l].sizes[s] };
}

static gpointer
open_yunet (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  if (!find_shape (config, state, error)
      || !sl_detector_init (&state->detector, config, state->n, NULL, DEFAULT_IOU, error)) {
    sl_detector_close (state);
    return NULL;
  }
  make_priors (state);
  state->threshold_squared = config->threshold * config->threshold;
  return state;
}

static void
point_of (gconstpointer opened, const void *const *data, guint row, guint k, gfloat *x, gfloat *y)
{
  const State *state = opened;
  const Prior *prior = &state->priors[row];
  const void *loc = data[state->loc];
  const gsize at = (gsize) row * COLUMNS + 4 + 2 * k;
  *x =
    (prior->x + sl_values_float (loc, at) * OFFSET_VARIANCE * prior->side) / (gfloat) state->width;
  *y = (prior->y + sl_values_float (loc, at + 1) * OFFSET_VARIANCE * prior->side)
       / (gfloat) state->height;
}

static void
box_of (gconstpointer opened, const void *const *data, guint row, gfloat corners[4])
{
  const State *state = opened;
  const void *loc = data[state->loc];
  const Prior *prior = &state->priors[row];
  const gsize at = (gsize) row * COLUMNS;
  const gfloat x = prior->x + sl_values_float (loc, at) * OFFSET_VARIANCE * prior->side;
  const gfloat y = prior->y + sl_values_float (loc, at + 1) * OFFSET_VARIANCE * prior->side;
  const gfloat w =
    prior->side * expf (fminf (sl_values_float (loc, at + 2) * SIZE_VARIANCE, LARGEST_LOG));
  const gfloat h =
    prior->side * expf (fminf (sl_values_float (loc, at + 3) * SIZE_VARIANCE, LARGEST_LOG));
  const gfloat width = (gfloat) state->width, height = (gfloat) state->height;
  corners[0] = (x - w / 2) / width;
  corners[1] = (y - h / 2) / height;
  corners[2] = (x + w / 2) / width;
  corners[3] = (y + h / 2) / height;
}

static void
decode_yunet (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  for (guint i = 0; i < state->n; i++) {
    const gfloat iou = sl_values_float (data[state->iou], i);
    const gfloat product =
      sl_values_float (data[state->conf], (gsize) 2 * i + 1) * (iou > 0 ? fminf (iou, 1) : 0);
    state->detector.scores[i] = product >= state->threshold_squared ? sqrtf (product) : -1;
  }
  sl_detector_finish_faces (state, data, box_of, point_of, result);
}

const SlDecoder sl_decoder_yunet_2021 = {
  .name = "yunet-2021",
  .description = "conf[N,2], iou[N,1] and loc[N,14] of YuNet of 2021 and 2022, which has priors",
  .params = params,
  .names = names,
  .threshold = 0.7f,
  .matches = matches,
  .open = open_yunet,
  .decode = decode_yunet,
  .close = sl_detector_close,
  .classes = sl_decoder_one_class,
};
