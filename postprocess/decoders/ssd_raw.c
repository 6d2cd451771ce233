/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "ssd-raw": an SSD cut off before its post-processing: offsets[1,N,4] (y, x, height,
 * width) from N anchors, and scores[1,N,C] with the background as class 0, in either order.
 *
 * Parameters:
 *   activation            sigmoid (default: scores are logits) or none
 *   background-offset     an integer added to every class, -1 where labels leave the background out
 *   scales                10,10,5,5: divisors of y, x, height and width
 *   anchors-file          box priors as text; else anchors are generated:
 *   layers, min-scale, max-scale, aspect-ratios, reduce-lowest, interpolated-ratio: 6, 0.2, 0.95,
 * "1,2,0.5,3,0.3333", yes, 1
 *   feature-maps          sizes of the square feature maps; else the input's size over 16, halved
 *                         from map to map
 *   iou-threshold, agnostic: suppression
 */
#include "core/base/fail.h"
#include "postprocess/anchors.h"
#include "postprocess/classmax.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"

#define DEFAULT_IOU 0.6
#define FIRST_STRIDE 16

static const char *const activations[] = { "sigmoid", "none", NULL };
static const SlDecoderParam params[] = { SL_PARAM_CHOICE ("activation", activations),
                                         SL_PARAM_INTEGER ("background-offset", -1000, 1000),
                                         SL_PARAM_LIST ("scales", 0.001, 1000, 4),
                                         SL_PARAM_TEXT ("anchors-file"),
                                         SL_PARAM_INTEGER ("layers", 1, SL_MAX_LEVELS),
                                         SL_PARAM_NUMBER ("min-scale", 0.001, 10),
                                         SL_PARAM_NUMBER ("max-scale", 0.001, 10),
                                         SL_PARAM_LIST ("aspect-ratios", 0.01, 100,
                                                        SL_MAX_ASPECT_RATIOS),
                                         SL_PARAM_BOOL ("reduce-lowest"),
                                         SL_PARAM_LIST ("feature-maps", 1, 4096, SL_MAX_LEVELS),
                                         SL_PARAM_NUMBER ("interpolated-ratio", 0, 100),
                                         SL_DETECTOR_PARAMS,
                                         { NULL } };

typedef struct
{
  SlDetector detector;
  guint boxes_at, scores_at;
  guint n, classes; /* with the background */
  gint offset;
  gfloat scales[4]; /* x, y, w, h */
  gfloat raw_threshold;
  SlValues box_values, score_values;
  SlAnchor *anchors;
} State;

static gboolean
find_tensors (const SlDecoderConfig *config, guint *boxes, guint *scores)
{
  for (*boxes = 0; *boxes < 2 && config->n_tensors == 2; (*boxes)++) {
    *scores = 1 - *boxes;
    const SlTensorInfo *b = &config->tensors[*boxes], *s = &config->tensors[*scores];
    if (sl_decoder_columns (b) == 4 && sl_decoder_columns (s) >= 2 && sl_values_readable (b->dtype)
        && sl_values_readable (s->dtype)
        && sl_decoder_elements (b) / 4 == sl_decoder_elements (s) / sl_decoder_columns (s))
      return TRUE;
  }
  return FALSE;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  guint boxes, scores;
  return find_tensors (config, &boxes, &scores)
         && sl_decoder_columns (&config->tensors[scores]) > 2;
}

static guint
classes (const SlDecoderConfig *config)
{
  guint boxes, scores;
  gint offset = 0;
  if (!find_tensors (config, &boxes, &scores)
      || !sl_decoder_param_int (config, params, "background-offset", 0, &offset, NULL))
    return 0;
  return (guint) MAX ((gint64) sl_decoder_columns (&config->tensors[scores]) + offset, 0);
}

static gboolean
read_maps (const SlDecoderConfig *config, SlSsdAnchors *spec, GError **error)
{
  gint32 width, height;
  double sizes[SL_MAX_LEVELS];
  guint n = 0;
  if (!sl_decoder_param_size (config, &width, &height, error)
      || !sl_decoder_param_list (config, params, "feature-maps", sizes, &n, error))
    return FALSE;
  if (n == 0 && width == 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder ssd-raw: the size of the model's input is not known, which anchors need: state "
      "imgsz=HEIGHT,WIDTH or feature-maps=");
  spec->n_maps = n > 0 ? n : spec->n_maps;
  for (guint m = 0; m < spec->n_maps; m++) {
    const guint w = m > 0 ? spec->map_width[m - 1] : 0, h = m > 0 ? spec->map_height[m - 1] : 0;
    spec->map_width[m] = n > 0   ? (guint) sizes[m]
                         : m > 0 ? (w + 1) / 2
                                 : ((guint) width + FIRST_STRIDE - 1) / FIRST_STRIDE;
    spec->map_height[m] = n > 0   ? (guint) sizes[m]
                          : m > 0 ? (h + 1) / 2
                                  : ((guint) height + FIRST_STRIDE - 1) / FIRST_STRIDE;
  }
  return TRUE;
}

static SlAnchor *
make_anchors (const SlDecoderConfig *config, guint *n, GError **error)
{
  const char *path = sl_decoder_param (config, "anchors-file");
  SlSsdAnchors spec = { .n_ratios = 5, .ratios = { 1, 2, 0.5, 3, 0.3333 } };
  gint layers;
  if (path != NULL)
    return sl_anchors_load (path, n, error);
  if (!sl_decoder_param_int (config, params, "layers", 6, &layers, error)
      || !sl_decoder_param_double (config, params, "min-scale", 0.2, &spec.scale_min, error)
      || !sl_decoder_param_double (config, params, "max-scale", 0.95, &spec.scale_max, error)
      || !sl_decoder_param_list (config, params, "aspect-ratios", spec.ratios, &spec.n_ratios,
                                 error)
      || !sl_decoder_param_bool (config, params, "reduce-lowest", TRUE, &spec.reduce_lowest, error)
      || !sl_decoder_param_double (config, params, "interpolated-ratio", 1, &spec.interpolated,
                                   error))
    return NULL;
  spec.n_maps = (guint) layers;
  if (!read_maps (config, &spec, error))
    return NULL;
  SlAnchor *anchors = sl_anchors_ssd (&spec, n);
  if (anchors == NULL)
    sl_fail (
      error, SL_ERROR_LIMIT,
      "decoder ssd-raw: over 10 million anchors; expected smaller feature-maps or fewer layers");
  return anchors;
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  double scales[4] = { 10, 10, 5, 5 };
  guint activation, n_scales = 4, n = 0;
  if (!sl_decoder_param_choice (config, params, "activation", &activation, error)
      || !sl_decoder_param_int (config, params, "background-offset", 0, &state->offset, error)
      || !sl_decoder_param_list (config, params, "scales", scales, &n_scales, error))
    return FALSE;
  if (n_scales != 4)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder parameter scales: expected 4 numbers, those of y, x, height and width, got %u",
      n_scales);
  for (guint k = 0; k < 4; k++)
    state->scales[k] = (gfloat) scales[k ^ 1];
  sl_values_init (&state->score_values, &config->tensors[state->scores_at],
                  activation == 0 ? SL_SCORES_SIGMOID : SL_SCORES_PLAIN);
  state->raw_threshold = sl_values_raw_threshold (&state->score_values, config->threshold);
  state->anchors = state->detector.owned = make_anchors (config, &n, error);
  if (state->anchors == NULL || n == state->n)
    return state->anchors != NULL;
  return sl_fail (error, SL_ERROR_SHAPE,
                  "decoder ssd-raw: %u anchors for tensors of %u rows; expected as many: state %s",
                  n, state->n,
                  "anchors-file=, or layers= and feature-maps= of the model; EfficientDet's are "
                  "decoder=efficientdet, queries without anchors decoder=detr");
}

static gpointer
open_ssd_raw (const SlDecoderConfig *config, GError **error)
{
  guint boxes, scores;
  if (!find_tensors (config, &boxes, &scores))
    return sl_decoder_refuse (
      config, "ssd-raw", "tensors offsets[1,N,4] and scores[1,N,classes] of uint8, int8 or float32",
      error);
  State *state = g_new0 (State, 1);
  state->boxes_at = boxes;
  state->scores_at = scores;
  state->classes = sl_decoder_columns (&config->tensors[scores]);
  state->n = sl_decoder_elements (&config->tensors[scores]) / state->classes;
  sl_values_init (&state->box_values, &config->tensors[boxes], SL_SCORES_PLAIN);
  if (!read_parameters (state, config, error)
      || !sl_detector_init (&state->detector, config, state->n,
                            state->score_values.quantised ? &state->score_values : NULL,
                            DEFAULT_IOU, error)) {
    sl_detector_close (state);
    return NULL;
  }
  return state;
}

static guint
best_class (const State *state, const void *scores, guint row)
{
  const gsize first = (gsize) row * state->classes;
  guint best = 1;
  for (guint c = 2; c < state->classes; c++)
    if (state->score_values.quantised
          ? sl_values_rank (&state->score_values, scores, first + c)
              > sl_values_rank (&state->score_values, scores, first + best)
          : sl_values_float (scores, first + c) > sl_values_float (scores, first + best))
      best = c;
  return best;
}

static void
score_rows (State *state, const void *scores)
{
  SlDetector *detector = &state->detector;
  if (detector->ranks != NULL) {
    sl_class_max_codes ((const guint8 *) scores + 1, state->n, state->classes - 1, 1,
                        state->classes, state->score_values.flip, detector->ranks);
    return;
  }
  sl_class_max_floats ((const gfloat *) scores + 1, state->n, state->classes - 1, 1, state->classes,
                       detector->scores);
  for (guint i = 0; i < state->n && state->score_values.sigmoid; i++)
    detector->scores[i] = detector->scores[i] >= state->raw_threshold
                            ? sl_values_activate (&state->score_values, detector->scores[i])
                            : -1;
}

static void
decode_ssd_raw (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  SlDetector *detector = &state->detector;
  score_rows (state, data[state->scores_at]);
  sl_detector_select (detector);
  for (guint i = 0; i < detector->top.count; i++) {
    const SlRanked *ranked = &detector->top.items[i];
    const gint label =
      (gint) best_class (state, data[state->scores_at], ranked->index) + state->offset;
    gfloat offsets[4], corners[4];
    for (guint k = 0; k < 4; k++)
      offsets[k] = sl_values_get (&state->box_values, data[state->boxes_at],
                                  (gsize) ranked->index * 4 + (k ^ 1));
    sl_anchor_decode (&state->anchors[ranked->index], offsets, state->scales, corners);
    if (label >= 0)
      sl_detector_add (detector, corners,
                       detector->ranks != NULL ? state->score_values.table[(guint) ranked->key]
                                               : ranked->key,
                       label, ranked->index);
  }
  sl_detector_finish (detector, TRUE, result);
}

const SlDecoder sl_decoder_ssd_raw = {
  .name = "ssd-raw",
  .description =
    "offsets[1,N,4] from anchors and scores[1,N,classes] of an SSD without post-processing",
  .params = params,
  .threshold = 0.5f,
  .matches = matches,
  .open = open_ssd_raw,
  .decode = decode_ssd_raw,
  .close = sl_detector_close,
  .classes = classes,
};
