/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "ultraface": the face detectors of Ultra-Light-Fast-Generic-Face-Detector-1MB (RFB,
 * slim): boxes[1,N,4] and scores[1,N,2] (background, face), in either order.
 *
 * Parameters: "boxes": corners (x_min, y_min, x_max, y_max in 0..1) or offsets (from the anchors of
 * the input's size); unset, the tensor tells: offsets have corners the wrong way round.
 * "iou-threshold", "agnostic": suppression.
 */
#include "core/base/fail.h"
#include "postprocess/anchors.h"
#include "postprocess/classmax.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"

#define DEFAULT_IOU 0.3

typedef enum
{
  BOXES_AUTO,
  BOXES_CORNERS,
  BOXES_OFFSETS
} Boxes;

static const char *const boxes_names[] = { "auto", "corners", "offsets", NULL };
static const SlDecoderParam params[] = { SL_PARAM_CHOICE ("boxes", boxes_names),
                                         SL_DETECTOR_PARAMS,
                                         { NULL } };
static const char *const names[] = { "face", NULL };
/* Variances 0.1 and 0.2 as divisors. */
static const gfloat scales[4] = { 10, 10, 5, 5 };

typedef struct
{
  SlDetector detector;
  guint boxes_at, scores_at;
  guint n;
  Boxes boxes;
  SlValues box_values, score_values;
  SlAnchor *anchors; /* (nullable) */
} State;

/* Index of the tensor [.., N, @last]. */
static gboolean
find_tensor (const SlDecoderConfig *config, gint32 last, guint *at)
{
  for (*at = 0; *at < config->n_tensors; (*at)++) {
    const SlTensorInfo *tensor = &config->tensors[*at];
    if (tensor->rank >= 2 && tensor->dims[tensor->rank - 1] == last
        && sl_values_readable (tensor->dtype))
      return TRUE;
  }
  return FALSE;
}

static gboolean
find_tensors (const SlDecoderConfig *config, guint *boxes, guint *scores)
{
  return config->n_tensors == 2 && find_tensor (config, 4, boxes) && find_tensor (config, 2, scores)
         && sl_decoder_elements (&config->tensors[*boxes]) / 4
              == sl_decoder_elements (&config->tensors[*scores]) / 2;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  guint boxes, scores, n = 0;
  g_autofree SlAnchor *anchors = sl_anchors_faces (config->input_width, config->input_height, &n);
  return find_tensors (config, &boxes, &scores)
         && (anchors == NULL || n == sl_decoder_elements (&config->tensors[boxes]) / 4);
}

static gboolean
make_anchors (State *state, const SlDecoderConfig *config, GError **error)
{
  gint32 width, height;
  guint n = 0;
  if (!sl_decoder_param_size (config, &width, &height, error))
    return FALSE;
  state->anchors = sl_anchors_faces (width, height, &n);
  if (state->anchors != NULL && n != state->n)
    g_clear_pointer (&state->anchors, g_free);
  state->detector.owned = state->anchors;
  if (state->anchors != NULL || state->boxes == BOXES_CORNERS)
    return TRUE;
  if (state->boxes == BOXES_AUTO && n == 0) {
    state->boxes = BOXES_CORNERS;
    return TRUE;
  }
  return sl_fail (
    error, SL_ERROR_SHAPE,
    "decoder ultraface: an input of %dx%d has %u anchors, the tensors have %u rows: is "
    "imgsz=HEIGHT,WIDTH wrong?",
    width, height, n, state->n);
}

static gpointer
open_ultraface (const SlDecoderConfig *config, GError **error)
{
  guint boxes, scores, choice;
  if (!find_tensors (config, &boxes, &scores))
    return sl_decoder_refuse (config, "ultraface",
                              "tensors boxes[1,N,4] and scores[1,N,2] of uint8, int8 or float32",
                              error);
  if (!sl_decoder_param_choice (config, params, "boxes", &choice, error))
    return NULL;
  State *state = g_new0 (State, 1);
  state->boxes_at = boxes;
  state->scores_at = scores;
  state->boxes = (Boxes) choice;
  state->n = sl_decoder_elements (&config->tensors[scores]) / 2;
  sl_values_init (&state->box_values, &config->tensors[boxes], SL_SCORES_PLAIN);
  sl_values_init (&state->score_values, &config->tensors[scores], SL_SCORES_PLAIN);
  if (!make_anchors (state, config, error)
      || !sl_detector_init (&state->detector, config, state->n,
                            state->score_values.quantised ? &state->score_values : NULL,
                            DEFAULT_IOU, error)) {
    sl_detector_close (state);
    return NULL;
  }
  return state;
}

/* Whether the rows are corners: some row of offsets has its second corner before the first. */
static gboolean
are_corners (const State *state, const void *boxes)
{
  if (state->boxes != BOXES_AUTO)
    return state->boxes == BOXES_CORNERS;
  for (guint i = 0; i < state->n; i++) {
    const gsize at = (gsize) i * 4;
    if (sl_values_get (&state->box_values, boxes, at + 2)
          < sl_values_get (&state->box_values, boxes, at)
        || sl_values_get (&state->box_values, boxes, at + 3)
             < sl_values_get (&state->box_values, boxes, at + 1))
      return FALSE;
  }
  return TRUE;
}

static void
decode_ultraface (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  SlDetector *detector = &state->detector;
  const void *boxes = data[state->boxes_at], *scores = data[state->scores_at];
  if (detector->ranks != NULL)
    sl_class_max_codes ((const guint8 *) scores + 1, state->n, 1, 1, 2, state->score_values.flip,
                        detector->ranks);
  else
    sl_class_max_floats ((const gfloat *) scores + 1, state->n, 1, 1, 2, detector->scores);
  sl_detector_select (detector);
  const gboolean corners = detector->top.count == 0 || are_corners (state, boxes);
  for (guint i = 0; i < detector->top.count; i++) {
    const SlRanked *ranked = &detector->top.items[i];
    gfloat row[4], box[4];
    for (guint k = 0; k < 4; k++)
      row[k] = sl_values_get (&state->box_values, boxes, (gsize) ranked->index * 4 + k);
    if (!corners)
      sl_anchor_decode (&state->anchors[ranked->index], row, scales, box);
    sl_detector_add (detector, corners ? row : box,
                     detector->ranks != NULL ? state->score_values.table[(guint) ranked->key]
                                             : ranked->key,
                     0, ranked->index);
  }
  sl_detector_finish (detector, TRUE, result);
}

const SlDecoder sl_decoder_ultraface = {
  .name = "ultraface",
  .description =
    "boxes[1,N,4] and scores[1,N,2] of UltraFace (RFB, slim), such as float32[1,4420,4] and "
    "float32[1,4420,2]",
  .params = params,
  .names = names,
  .threshold = 0.7f,
  .matches = matches,
  .open = open_ultraface,
  .decode = decode_ultraface,
  .close = sl_detector_close,
  .classes = sl_decoder_one_class,
};
