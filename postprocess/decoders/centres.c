/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "centres": heat maps of classes whose peaks are objects' centres: FOMO's [1,H,W,C], a
 * softmax with the background as class 0, whose objects have the size of a cell; and CenterNet's
 * [1,C,H,W] with sizes [1,2,H,W] and possibly offsets [1,2,H,W] of the centres in their cells, both
 * in cells, x or width first. A peak is a cell that is as high as its eight neighbours.
 *
 * Parameters: "background" yes: class 0 is none, and objects' classes begin at 1; unstated, yes for
 * one tensor that a softmax makes. "activation" none, sigmoid; unstated, sigmoid where the model's
 * last operators leave logits. "units" of sizes: cells, pixels or normalised.
 *
 * Unnamed it is taken for one map of shares, an eighth of the input wide and high.
 */
#include <math.h>

#include "core/base/fail.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"
#include "postprocess/peaks.h"

#define MAX_CLASSES 1024
#define MAX_NUMBERS (1u << 24)
#define FOMO_STRIDE 8

static const char *const activations[] = { "none", "sigmoid", NULL };
static const char *const unit_names[] = { "cells", "pixels", "normalised", NULL };
static const SlDecoderParam params[] = { SL_PARAM_BOOL ("background"),
                                         SL_PARAM_CHOICE ("activation", activations),
                                         SL_PARAM_CHOICE ("units", unit_names),
                                         { NULL } };

typedef enum
{
  UNITS_CELLS,
  UNITS_PIXELS,
  UNITS_NORMALISED
} Units;

typedef struct
{
  SlDetector detector;
  gint sizes_at, offsets_at; /* -1 = none */
  guint heat_at, first_class;
  SlPictureShape heat, pairs; /* @pairs: of sizes and offsets */
  SlValues heat_values, size_values, offset_values;
  gfloat x_scale, y_scale, threshold; /* of sizes to 0..1 */
} State;

/* Two channels for each cell of @heat. */
static gboolean
is_pair (const SlTensorInfo *tensor, const SlPictureShape *heat, SlPictureShape *pairs)
{
  return sl_values_readable (tensor->dtype) && tensor->rank == 4
         && sl_picture_shape_find (pairs, tensor, 2) && pairs->channels == 2
         && pairs->width == heat->width && pairs->height == heat->height;
}

/* The heat maps are tensor @at, the others are pairs: sizes, then offsets. */
static gboolean
try_heat (const SlDecoderConfig *config, guint at, State *state)
{
  const SlTensorInfo *tensor = &config->tensors[at];
  guint pairs = 0;
  state->heat_at = at;
  state->sizes_at = state->offsets_at = -1;
  if (!sl_values_readable (tensor->dtype) || tensor->rank != 4
      || !sl_picture_shape_find (&state->heat, tensor, config->n_labels > 0 ? config->n_labels : 80)
      || state->heat.channels > MAX_CLASSES || sl_decoder_elements (tensor) > MAX_NUMBERS)
    return FALSE;
  for (guint t = 0; t < config->n_tensors; t++) {
    if (t == at)
      continue;
    if (!is_pair (&config->tensors[t], &state->heat, &state->pairs) || pairs == 2)
      return FALSE;
    *(pairs++ == 0 ? &state->sizes_at : &state->offsets_at) = (gint) t;
  }
  return TRUE;
}

/* A map of other than two channels is the heat's; of maps that are all alike the first is. */
static gboolean
find_tensors (const SlDecoderConfig *config, State *state)
{
  for (guint t = 0; t < config->n_tensors; t++)
    if (try_heat (config, t, state) && state->heat.channels != 2)
      return TRUE;
  return try_heat (config, 0, state);
}

static gboolean
matches (const SlDecoderConfig *config)
{
  State state = { 0 };
  return config->n_tensors == 1 && config->tensors[0].values == SL_VALUES_SHARES
         && find_tensors (config, &state) && state.heat.channels > 1
         && (gint64) state.heat.width * FOMO_STRIDE == config->input_width
         && (gint64) state.heat.height * FOMO_STRIDE == config->input_height;
}

static guint
classes (const SlDecoderConfig *config)
{
  State state = { 0 };
  return find_tensors (config, &state) ? state.heat.channels : 0;
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  const SlTensorInfo *tensor = &config->tensors[state->heat_at];
  guint activation, units;
  gboolean background;
  gint32 width, height;
  if (!sl_decoder_param_bool (config, params, "background",
                              config->n_tensors == 1 && tensor->values == SL_VALUES_SHARES
                                && state->heat.channels > 1,
                              &background, error)
      || !sl_decoder_param_choice (config, params, "activation", &activation, error)
      || !sl_decoder_param_choice (config, params, "units", &units, error)
      || !sl_decoder_param_size (config, &width, &height, error))
    return FALSE;
  if (units == UNITS_PIXELS && width == 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder centres: sizes are in pixels of the model's input, whose size is not known: state "
      "imgsz=HEIGHT,WIDTH");
  if (background && state->heat.channels < 2)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "decoder parameter background: the map has one class; expected background=no");
  const gboolean sigmoid = sl_decoder_param (config, "activation") != NULL
                             ? activation == 1
                             : tensor->values == SL_VALUES_LOGITS;
  sl_values_init (&state->heat_values, tensor, sigmoid ? SL_SCORES_SIGMOID : SL_SCORES_PLAIN);
  state->first_class = background ? 1 : 0;
  state->x_scale = units == UNITS_CELLS    ? 1 / (gfloat) state->heat.width
                   : units == UNITS_PIXELS ? 1 / (gfloat) width
                                           : 1;
  state->y_scale = units == UNITS_CELLS    ? 1 / (gfloat) state->heat.height
                   : units == UNITS_PIXELS ? 1 / (gfloat) height
                                           : 1;
  return TRUE;
}

static gpointer
open_centres (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  if (!find_tensors (config, state)) {
    g_free (state);
    return sl_decoder_refuse (
      config, "centres",
      "heat maps [1,H,W,C] or [1,C,H,W] of uint8, int8 or float32, alone or with sizes and offsets "
      "of 2 channels each",
      error);
  }
  const guint candidates = state->heat.width * state->heat.height * state->heat.channels;
  if (!read_parameters (state, config, error)
      || !sl_detector_init (&state->detector, config, candidates, NULL, 1, error)) {
    sl_detector_close (state);
    return NULL;
  }
  if (state->sizes_at >= 0)
    sl_values_init (&state->size_values, &config->tensors[state->sizes_at], SL_SCORES_PLAIN);
  if (state->offsets_at >= 0)
    sl_values_init (&state->offset_values, &config->tensors[state->offsets_at], SL_SCORES_PLAIN);
  state->threshold = config->threshold;
  return state;
}

static void
score_peaks (State *state, const void *data)
{
  guint i = 0;
  for (guint y = 0; y < state->heat.height; y++)
    for (guint x = 0; x < state->heat.width; x++)
      for (guint c = 0; c < state->heat.channels; c++, i++) {
        const gfloat score = sl_map_number (&state->heat, &state->heat_values, data, x, y, c);
        const gboolean counts =
          c >= state->first_class && score >= state->threshold
          && sl_map_is_peak (&state->heat, &state->heat_values, data, x, y, c);
        state->detector.scores[i] = counts ? score : -1;
      }
}

/* Both numbers of @cell in a tensor of pairs. */
static void
read_pair (const State *state, const SlValues *values, const void *data, guint cell, gfloat pair[2])
{
  for (guint k = 0; k < 2; k++)
    pair[k] = sl_values_get (values, data,
                             (gsize) cell * state->pairs.cell_step + k * state->pairs.channel_step);
}

static void
add_peak (State *state, const void *const *data, const SlRanked *ranked)
{
  const guint cell = ranked->index / state->heat.channels,
              label = ranked->index % state->heat.channels;
  gfloat offset[2] = { state->sizes_at < 0 ? 0.5f : 0, state->sizes_at < 0 ? 0.5f : 0 },
         size[2] = { 1, 1 };
  if (state->offsets_at >= 0)
    read_pair (state, &state->offset_values, data[state->offsets_at], cell, offset);
  if (state->sizes_at >= 0)
    read_pair (state, &state->size_values, data[state->sizes_at], cell, size);
  const gfloat x = ((gfloat) (cell % state->heat.width) + offset[0]) / (gfloat) state->heat.width;
  const gfloat y = ((gfloat) (cell / state->heat.width) + offset[1]) / (gfloat) state->heat.height;
  const gfloat w =
    state->sizes_at >= 0 ? size[0] * state->x_scale / 2 : 0.5f / (gfloat) state->heat.width;
  const gfloat h =
    state->sizes_at >= 0 ? size[1] * state->y_scale / 2 : 0.5f / (gfloat) state->heat.height;
  sl_detector_add (&state->detector, (const gfloat[4]){ x - w, y - h, x + w, y + h }, ranked->key,
                   (gint32) label, ranked->index);
}

static void
decode_centres (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  score_peaks (state, data[state->heat_at]);
  sl_detector_select (&state->detector);
  for (guint i = 0; i < state->detector.top.count; i++)
    add_peak (state, data, &state->detector.top.items[i]);
  sl_detector_finish (&state->detector, FALSE, result);
}

const SlDecoder sl_decoder_centres = {
  .name = "centres",
  .description = "heat maps whose peaks are objects: FOMO's float32[1,12,12,3], or CenterNet's "
                 "float32[1,80,128,128] with sizes and offsets",
  .params = params,
  .threshold = 0.5f,
  .matches = matches,
  .open = open_centres,
  .decode = decode_centres,
  .close = sl_detector_close,
  .classes = classes,
};
