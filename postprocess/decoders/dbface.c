/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "dbface": DBFace's map of faces' middles [1,H,W,1], distances [1,H,W,4] of the box's
 * left, upper, right and lower side from its cell's corner in cells, and five points [1,H,W,10], x
 * of all, then y of all; channels last or first. A face is a cell that is as high as its eight
 * neighbours. A point's number n is e * n cells from the corner within -1..1 of 4n, and beyond it
 * grows like e^|4n|.
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

#define DEFAULT_IOU 0.5
#define STRIDE 4
#define MAX_CELLS (1u << 24)
/* What numbers of points are multiplied by; from LINEAR on they are exponents, and never above
 * LARGEST_LOG. */
#define POINT_SCALE 4
#define LINEAR 1
#define LARGEST_LOG 12

static const char *const activations[] = { "none", "sigmoid", NULL };
static const SlDecoderParam params[] = { SL_PARAM_CHOICE ("activation", activations),
                                         SL_DETECTOR_PARAMS,
                                         { NULL } };
static const char *const names[] = { "face", NULL };

/* The three maps. */
enum
{
  HEAT,
  BOX,
  LANDMARKS,
  N_MAPS
};

typedef struct
{
  SlDetector detector;
  guint at[N_MAPS];
  SlPictureShape maps[N_MAPS];
  SlValues values[N_MAPS];
  gfloat threshold;
} State;

static gboolean
find_map (const SlDecoderConfig *config, State *state, guint m)
{
  static const guint channels[N_MAPS] = { 1, 4, 2 * SL_FACE_POINTS };
  SlPictureShape *map = &state->maps[m];
  for (guint t = 0; t < config->n_tensors; t++) {
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
  if (config->n_tensors != N_MAPS)
    return FALSE;
  for (guint m = 0; m < N_MAPS; m++)
    if (!find_map (config, state, m))
      return FALSE;
  return (guint64) state->maps[HEAT].width * state->maps[HEAT].height <= MAX_CELLS;
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
open_dbface (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  guint activation;
  if (!find_tensors (config, state)) {
    g_free (state);
    return sl_decoder_refuse (
      config, "dbface",
      "maps of middles [1,H,W,1], boxes [1,H,W,4] and points [1,H,W,10], or channels first, of "
      "uint8, int8 or float32",
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
  state->threshold = config->threshold;
  return state;
}

static void
score_peaks (State *state, const void *data)
{
  const SlPictureShape *heat = &state->maps[HEAT];
  guint i = 0;
  for (guint y = 0; y < heat->height; y++)
    for (guint x = 0; x < heat->width; x++, i++) {
      const gfloat score = sl_map_number (heat, &state->values[HEAT], data, x, y, 0);
      const gboolean counts =
        score >= state->threshold && sl_map_is_peak (heat, &state->values[HEAT], data, x, y, 0);
      state->detector.scores[i] = counts ? MIN (score, 1) : -1;
    }
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
  const gfloat width = (gfloat) state->maps[HEAT].width, height = (gfloat) state->maps[HEAT].height;
  const gfloat x = (gfloat) (row % state->maps[HEAT].width),
               y = (gfloat) (row / state->maps[HEAT].width);
  gfloat sides[4];
  for (guint k = 0; k < 4; k++)
    sides[k] = number_at (state, data, BOX, row, k);
  corners[0] = (x - sides[0]) / width;
  corners[1] = (y - sides[1]) / height;
  corners[2] = (x + sides[2]) / width;
  corners[3] = (y + sides[3]) / height;
}

/* Cells from a cell's corner to a point along one axis. */
static gfloat
find_distance (gfloat number)
{
  const gfloat n = number * POINT_SCALE;
  if (!isfinite (n))
    return NAN;
  return fabsf (n) < LINEAR ? n * (gfloat) G_E
                            : copysignf (expf (fminf (fabsf (n), LARGEST_LOG)), n);
}

static void
point_of (gconstpointer opened, const void *const *data, guint row, guint k, gfloat *x, gfloat *y)
{
  const State *state = opened;
  const guint width = state->maps[HEAT].width;
  const gfloat dx = find_distance (number_at (state, data, LANDMARKS, row, k)),
               dy = find_distance (number_at (state, data, LANDMARKS, row, SL_FACE_POINTS + k));
  *x = ((gfloat) (row % width) + dx) / (gfloat) width;
  *y = ((gfloat) (row / width) + dy) / (gfloat) state->maps[HEAT].height;
}

static void
decode_dbface (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  score_peaks (state, data[state->at[HEAT]]);
  sl_detector_finish_faces (state, data, box_of, point_of, result);
}

const SlDecoder sl_decoder_dbface = {
  .name = "dbface",
  .description =
    "maps of faces' middles [1,H,W,1], boxes [1,H,W,4] and points [1,H,W,10] of DBFace",
  .params = params,
  .names = names,
  .threshold = 0.4f,
  .matches = matches,
  .open = open_dbface,
  .decode = decode_dbface,
  .close = sl_detector_close,
  .classes = sl_decoder_one_class,
};
