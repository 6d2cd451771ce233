/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "mtcnn": the three nets of MTCNN, which find faces. P-Net looks at a whole picture and
 * gives maps of probabilities [1,H,W,2] and of corners' offsets [1,H,W,4], channels last or first:
 * each cell stands for a square of 12 pixels, 2 pixels from its neighbours. R-Net and O-Net look at
 * one square each and give probabilities [1,2], offsets [1,4] and, O-Net, five points [1,10]: x of
 * all, then y of all. Offsets are of the left, upper, right and lower side, in sides of the square;
 * points are in 0..1 of it. P-Net finds a "proposal", R-Net a "candidate", O-Net a "face".
 *
 * Parameters: "order" yx: of nets that were trained on pictures turned about their diagonal, as
 * those for MATLAB and TensorFlow were: their x is the tensor's y. "points" pairs: x, y of each
 * point. "activation" none, softmax; unstated, softmax where the model's last operators leave
 * logits. "iou-threshold", "agnostic": suppression.
 *
 * Unnamed it is taken for an input of 24x24 or 48x48 pixels with these vectors, and for maps of the
 * size that P-Net makes of its input.
 */
#include <math.h>

#include "core/base/fail.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"
#include "postprocess/picture_shape.h"

#define DEFAULT_IOU 0.7
#define CELL_SIDE 12
#define CELL_STEP 2
/* Rows and columns at the picture's edge that no cell begins in: those of four convolutions of 3,
 * one of them after the pooling. */
#define LOST_CELLS 4
#define POINTS 5
#define MAX_CELLS (1u << 24)
#define R_NET_SIDE 24
#define O_NET_SIDE 48

static const char *const orders[] = { "xy", "yx", NULL };
static const char *const layouts[] = { "split", "pairs", NULL };
static const char *const activations[] = { "none", "softmax", NULL };
static const SlDecoderParam params[] = { SL_PARAM_CHOICE ("order", orders),
                                         SL_PARAM_CHOICE ("points", layouts),
                                         SL_PARAM_CHOICE ("activation", activations),
                                         SL_DETECTOR_PARAMS,
                                         { NULL } };
/* What each net finds, by which object-class tells a net's finds from those of the net before. */
static const char *const proposal[] = { "proposal", NULL },
                         *const candidate[] = { "candidate", NULL },
                         *const face[] = { "face", NULL };

typedef struct
{
  SlDetector detector;
  guint scores_at, offsets_at;
  gint points_at; /* -1 = none */
  gboolean is_map, swapped, pairs, softmax;
  SlPictureShape scores, offsets;
  gfloat x_step, y_step, x_side, y_side; /* of cells, in 0..1 of the input */
  SlValues score_values, offset_values, point_values;
} State;

/* A map of @channels, or a vector, which is a map of one cell. */
static gboolean
is_map_of (const SlTensorInfo *tensor, guint channels, SlPictureShape *shape)
{
  if (!sl_values_readable (tensor->dtype))
    return FALSE;
  if (sl_decoder_is_vector (tensor)) {
    *shape = (SlPictureShape){ 1, 1, channels, channels, 1 };
    return sl_decoder_elements (tensor) == channels;
  }
  return tensor->rank == 4 && sl_picture_shape_find (shape, tensor, channels)
         && shape->channels == channels;
}

static gboolean
find_tensors (const SlDecoderConfig *config, State *state)
{
  gint scores_at = -1, offsets_at = -1;
  SlPictureShape points = { 0 };
  state->points_at = -1;
  for (guint t = 0; t < config->n_tensors; t++) {
    const SlTensorInfo *tensor = &config->tensors[t];
    if (scores_at < 0 && is_map_of (tensor, 2, &state->scores))
      scores_at = (gint) t;
    else if (offsets_at < 0 && is_map_of (tensor, 4, &state->offsets))
      offsets_at = (gint) t;
    else if (state->points_at < 0 && is_map_of (tensor, 2 * POINTS, &points))
      state->points_at = (gint) t;
    else
      return FALSE;
  }
  if (scores_at < 0 || offsets_at < 0)
    return FALSE;
  const guint width = state->scores.width, height = state->scores.height;
  state->scores_at = (guint) scores_at;
  state->offsets_at = (guint) offsets_at;
  state->is_map = width * height > 1;
  return state->offsets.width == width && state->offsets.height == height
         && (guint64) width * height <= MAX_CELLS
         && (state->points_at < 0 || (!state->is_map && points.width * points.height == 1));
}

/* Cells of P-Net along a side of @pixels; the pooling rounds up. */
static guint
cells_of (gint32 pixels)
{
  const gint32 pooled = (pixels - 2 + 1) / 2;
  return pooled > LOST_CELLS ? (guint) (pooled - LOST_CELLS) : 0;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  State state = { 0 };
  const gint32 width = config->input_width, height = config->input_height;
  if (!find_tensors (config, &state))
    return FALSE;
  if (state.is_map)
    return state.scores.width == cells_of (width) && state.scores.height == cells_of (height);
  return width == height && width == (state.points_at < 0 ? R_NET_SIDE : O_NET_SIDE);
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  guint order, layout, activation;
  gint32 width, height;
  if (!sl_decoder_param_choice (config, params, "order", &order, error)
      || !sl_decoder_param_choice (config, params, "points", &layout, error)
      || !sl_decoder_param_choice (config, params, "activation", &activation, error)
      || !sl_decoder_param_size (config, &width, &height, error))
    return FALSE;
  if (state->is_map && width == 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder mtcnn: cells are of 12 pixels of the model's input, whose size is not known: state "
      "imgsz=HEIGHT,WIDTH");
  state->swapped = order == 1;
  state->pairs = layout == 1;
  state->softmax = sl_decoder_param (config, "activation") != NULL
                     ? activation == 1
                     : config->tensors[state->scores_at].values == SL_VALUES_LOGITS;
  state->x_step = state->is_map ? CELL_STEP / (gfloat) width : 0;
  state->y_step = state->is_map ? CELL_STEP / (gfloat) height : 0;
  state->x_side = state->is_map ? CELL_SIDE / (gfloat) width : 1;
  state->y_side = state->is_map ? CELL_SIDE / (gfloat) height : 1;
  return TRUE;
}

static gpointer
open_mtcnn (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  if (!find_tensors (config, state)) {
    g_free (state);
    return sl_decoder_refuse (
      config, "mtcnn",
      "P-Net's probabilities [1,H,W,2] and offsets [1,H,W,4], or R-Net's and O-Net's [1,2], [1,4] "
      "and possibly points [1,10], of uint8, int8 or float32",
      error);
  }
  if (!read_parameters (state, config, error)
      || !sl_detector_init (&state->detector, config, state->scores.width * state->scores.height,
                            NULL, DEFAULT_IOU, error)) {
    sl_detector_close (state);
    return NULL;
  }
  sl_values_init (&state->score_values, &config->tensors[state->scores_at], SL_SCORES_PLAIN);
  sl_values_init (&state->offset_values, &config->tensors[state->offsets_at], SL_SCORES_PLAIN);
  if (state->points_at >= 0)
    sl_values_init (&state->point_values, &config->tensors[state->points_at], SL_SCORES_PLAIN);
  return state;
}

static void
score_cells (State *state, const void *data)
{
  for (guint i = 0; i < state->detector.n; i++) {
    const gsize at = i * state->scores.cell_step;
    const gfloat yes = sl_values_get (&state->score_values, data, at + state->scores.channel_step);
    state->detector.scores[i] =
      state->softmax
        ? (gfloat) sl_sigmoid ((double) (yes - sl_values_get (&state->score_values, data, at)))
        : yes;
  }
}

static void
add_cell (State *state, const void *data, const SlRanked *ranked)
{
  const gfloat x = (gfloat) (ranked->index % state->scores.width) * state->x_step,
               y = (gfloat) (ranked->index / state->scores.width) * state->y_step;
  gfloat offsets[4];
  for (guint k = 0; k < 4; k++)
    offsets[k ^ (state->swapped ? 1 : 0)] =
      sl_values_get (&state->offset_values, data,
                     ranked->index * state->offsets.cell_step + k * state->offsets.channel_step);
  const gfloat corners[4] = { x + offsets[0] * state->x_side, y + offsets[1] * state->y_side,
                              x + (1 + offsets[2]) * state->x_side,
                              y + (1 + offsets[3]) * state->y_side };
  sl_detector_add (&state->detector, corners, MIN (ranked->key, 1), 0, ranked->index);
}

static void
add_points (const State *state, const void *data, SlDetection *found, SlResult *result)
{
  SlDetectedPoint *points = sl_result_add_keypoints (result, found, POINTS);
  for (guint k = 0; k < POINTS && points != NULL; k++) {
    const gfloat first = sl_values_get (&state->point_values, data, state->pairs ? 2 * k : k),
                 second = sl_values_get (&state->point_values, data,
                                         state->pairs ? 2 * k + 1 : POINTS + k);
    if (isfinite (first) && isfinite (second))
      points[k] = (SlDetectedPoint){ state->swapped ? second : first,
                                     state->swapped ? first : second, found->confidence };
    else
      points[k] = (SlDetectedPoint){ 0 };
  }
}

static void
decode_mtcnn (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  score_cells (state, data[state->scores_at]);
  sl_detector_select (&state->detector);
  for (guint i = 0; i < state->detector.top.count; i++)
    add_cell (state, data[state->offsets_at], &state->detector.top.items[i]);
  sl_detector_finish (&state->detector, TRUE, result);
  for (guint i = 0; i < result->n_detections && state->points_at >= 0; i++)
    add_points (state, data[state->points_at], &result->detections[i], result);
  result->skeleton = state->points_at >= 0 ? &sl_skeleton_face : NULL;
}

static const char *const *
names_of (gconstpointer opened, gboolean *own)
{
  const State *state = opened;
  return state->is_map ? proposal : state->points_at < 0 ? candidate : face;
}

static const char *
note (gconstpointer opened)
{
  return ((const State *) opened)->swapped
           ? NULL
           : "the net is taken to have seen upright pictures in training; order=yx with "
             "video-direction=ul-lr is for those of MATLAB's and TensorFlow's MTCNN, which have "
             "not";
}

const SlDecoder sl_decoder_mtcnn = {
  .name = "mtcnn",
  .description =
    "MTCNN's P-Net, float32[1,H,W,2] and [1,H,W,4], R-Net, [1,2] and [1,4], and O-Net, [1,2], "
    "[1,4] and [1,10]",
  .params = params,
  .names_of = names_of,
  .threshold = 0.6f,
  .matches = matches,
  .open = open_mtcnn,
  .decode = decode_mtcnn,
  .close = sl_detector_close,
  .classes = sl_decoder_one_class,
  .note = note,
};
