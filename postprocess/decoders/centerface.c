/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "centerface": CenterFace's map of faces' middles [1,1,H,W], logarithms of sizes [1,2,H,W]
 * and offsets of the middles [1,2,H,W], height or y first, both in cells, and five points
 * [1,10,H,W], y and x of each in turn, in shares of the box from its upper left corner. Of the two
 * maps of one shape, the sizes come first. Channels may be last. The middle of a cell's face is its
 * offset from the cell's own middle.
 *
 * Parameters: "activation" none, sigmoid; unstated, sigmoid where the model's last operators leave
 * logits. "iou-threshold", "agnostic": suppression.
 *
 * Unnamed it is taken for maps of a quarter of the input's size.
 */
#include <math.h>

#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"
#include "postprocess/peaks.h"

#define DEFAULT_IOU 0.3
#define STRIDE 4
#define MAX_CELLS (1u << 24)

static const char *const activations[] = { "none", "sigmoid", NULL };
static const SlDecoderParam params[] = { SL_PARAM_CHOICE ("activation", activations),
                                         SL_DETECTOR_PARAMS,
                                         { NULL } };
static const char *const names[] = { "face", NULL };

enum
{
  HEAT,
  SIZES,
  OFFSETS,
  LANDMARKS,
  N_MAPS
};

typedef struct
{
  SlDetector detector;
  guint at[N_MAPS];
  SlPictureShape maps[N_MAPS];
  SlValues values[N_MAPS];
} State;

/* Map @m: from tensor @first on the first of its shape. */
static gboolean
find_map (const SlDecoderConfig *config, State *state, guint m, guint first)
{
  static const guint channels[N_MAPS] = { 1, 2, 2, 2 * SL_FACE_POINTS };
  SlPictureShape *map = &state->maps[m];
  for (guint t = first; t < config->n_tensors; t++) {
    const SlTensorInfo *tensor = &config->tensors[t];
    state->at[m] = t;
    if (tensor->rank == 4 && sl_values_readable (tensor->dtype)
        && sl_picture_shape_find (map, tensor, channels[m]) && map->channels == channels[m]
        && map->width == state->maps[HEAT].width && map->height == state->maps[HEAT].height)
      return TRUE;
  }
  return FALSE;
}

static gboolean
find_tensors (const SlDecoderConfig *config, State *state)
{
  return config->n_tensors == N_MAPS && find_map (config, state, HEAT, 0)
         && find_map (config, state, SIZES, 0)
         && find_map (config, state, OFFSETS, state->at[SIZES] + 1)
         && find_map (config, state, LANDMARKS, 0)
         && (guint64) state->maps[HEAT].width * state->maps[HEAT].height <= MAX_CELLS;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  State state = { 0 };
  return find_tensors (config, &state)
         && (gint64) state.maps[HEAT].width * STRIDE == config->input_width
         && (gint64) state.maps[HEAT].height * STRIDE == config->input_height;
}

static gpointer
open_centerface (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  guint activation;
  if (!find_tensors (config, state)) {
    g_free (state);
    return sl_decoder_refuse (
      config, "centerface",
      "maps of middles [1,1,H,W], sizes [1,2,H,W], offsets [1,2,H,W] and points [1,10,H,W], or "
      "channels last, of uint8, int8 or float32",
      error);
  }
  if (!sl_decoder_param_choice (config, params, "activation", &activation, error)
      || !sl_detector_init (&state->detector, config,
                            state->maps[HEAT].width * state->maps[HEAT].height, NULL, DEFAULT_IOU,
                            error)) {
    sl_detector_close (state);
    return NULL;
  }
  const SlTensorInfo *heat = &config->tensors[state->at[HEAT]];
  const gboolean sigmoid = sl_decoder_param (config, "activation") != NULL
                             ? activation == 1
                             : heat->values == SL_VALUES_LOGITS;
  for (guint m = 0; m < N_MAPS; m++)
    sl_values_init (&state->values[m], &config->tensors[state->at[m]],
                    m == HEAT && sigmoid ? SL_SCORES_SIGMOID : SL_SCORES_PLAIN);
  return state;
}

/* Channel @c of map @m at cell @cell. */
static gfloat
number_at (const State *state, const void *const *data, guint m, guint cell, guint c)
{
  const guint width = state->maps[HEAT].width;
  return sl_map_number (&state->maps[m], &state->values[m], data[state->at[m]], cell % width,
                        cell / width, c);
}

static void
box_of (gconstpointer opened, const void *const *data, guint row, gfloat corners[4])
{
  const State *state = opened;
  const guint cells[2] = { state->maps[HEAT].width, state->maps[HEAT].height };
  const guint place[2] = { row % cells[0], row / cells[0] };
  for (guint k = 0; k < 2; k++) {
    const gfloat middle = (gfloat) place[k] + 0.5f + number_at (state, data, OFFSETS, row, 1 - k),
                 half = expf (number_at (state, data, SIZES, row, 1 - k)) / 2;
    corners[k] = (middle - half) / (gfloat) cells[k];
    corners[2 + k] = (middle + half) / (gfloat) cells[k];
  }
}

static void
point_of (gconstpointer opened, const void *const *data, guint row, guint k, gfloat *x, gfloat *y)
{
  gfloat corners[4];
  box_of (opened, data, row, corners);
  *x = corners[0] + number_at (opened, data, LANDMARKS, row, 2 * k + 1) * (corners[2] - corners[0]);
  *y = corners[1] + number_at (opened, data, LANDMARKS, row, 2 * k) * (corners[3] - corners[1]);
}

static void
decode_centerface (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  for (guint i = 0; i < state->detector.n; i++)
    state->detector.scores[i] = number_at (state, data, HEAT, i, 0);
  sl_detector_finish_faces (state, data, box_of, point_of, result);
}

const SlDecoder sl_decoder_centerface = {
  .name = "centerface",
  .description = "maps of faces' middles [1,1,H,W], sizes [1,2,H,W], offsets [1,2,H,W] and points "
                 "[1,10,H,W] of CenterFace",
  .params = params,
  .names = names,
  .threshold = 0.5f,
  .matches = matches,
  .open = open_centerface,
  .decode = decode_centerface,
  .close = sl_detector_close,
  .classes = sl_decoder_one_class,
};
