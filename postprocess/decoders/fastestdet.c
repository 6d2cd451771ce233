/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "fastestdet": one map [1,5+C,H,W] of an input of 16H x 16W pixels. Each cell has a score
 * that there is an object, offsets of its centre (hyperbolic tangents, in cells), its size
 * (sigmoids, in fractions of the input) and scores of C classes; both scores are probabilities. A
 * confidence is object^0.6 * class^0.4, as the model was trained with.
 *
 * Parameters: "iou-threshold", "agnostic".
 */
#include <math.h>

#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"

#define STRIDE 16
#define BEFORE_CLASSES 5
#define DEFAULT_IOU 0.45
#define COCO_CLASSES 80
#define OBJECT_POWER 0.6f
#define CLASS_POWER 0.4f

static const SlDecoderParam params[] = { SL_DETECTOR_PARAMS, { NULL } };

typedef struct
{
  SlDetector detector;
  guint width, height, classes;
  SlValues values;
  gfloat threshold;
} State;

static gboolean
find_shape (const SlDecoderConfig *config, State *state)
{
  const SlTensorInfo *tensor = &config->tensors[0];
  if (config->n_tensors != 1 || tensor->rank != 4 || tensor->dims[0] != 1
      || tensor->dims[1] <= BEFORE_CLASSES || !sl_values_readable (tensor->dtype))
    return FALSE;
  state->classes = (guint) tensor->dims[1] - BEFORE_CLASSES;
  state->height = (guint) tensor->dims[2];
  state->width = (guint) tensor->dims[3];
  return TRUE;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  State state = { 0 };
  return find_shape (config, &state)
         && state.classes == (config->n_labels > 0 ? config->n_labels : COCO_CLASSES)
         && (gint64) state.width * STRIDE == config->input_width
         && (gint64) state.height * STRIDE == config->input_height;
}

static guint
classes (const SlDecoderConfig *config)
{
  State state = { 0 };
  return find_shape (config, &state) ? state.classes : 0;
}

static gpointer
open_fastestdet (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  if (!find_shape (config, state)) {
    sl_decoder_refuse (config, "fastestdet", "one map [1,5+classes,H,W] of uint8, int8 or float32",
                       error);
  } else if (sl_detector_init (&state->detector, config, state->width * state->height, NULL,
                               DEFAULT_IOU, error)) {
    sl_values_init (&state->values, &config->tensors[0], SL_SCORES_PLAIN);
    state->threshold = config->threshold;
    return state;
  }
  sl_detector_close (state);
  return NULL;
}

static gfloat
get (const State *state, const void *data, guint channel, guint cell)
{
  return sl_values_get (&state->values, data,
                        (gsize) channel * state->width * state->height + cell);
}

static gfloat
best_class (const State *state, const void *data, guint cell, guint *label)
{
  gfloat best = -INFINITY;
  for (guint c = 0; c < state->classes; c++) {
    const gfloat score = get (state, data, BEFORE_CLASSES + c, cell);
    if (score > best) {
      best = score;
      *label = c;
    }
  }
  return best;
}

/* Classes are looked through where the object's score alone could reach the threshold. */
static void
score_cells (State *state, const void *data)
{
  guint label = 0;
  for (guint cell = 0; cell < state->detector.n; cell++) {
    const gfloat object = powf (fmaxf (get (state, data, 0, cell), 0), OBJECT_POWER);
    state->detector.scores[cell] =
      object >= state->threshold
        ? fminf (object * powf (fmaxf (best_class (state, data, cell, &label), 0), CLASS_POWER), 1)
        : -INFINITY;
  }
}

static void
add_object (State *state, const void *data, const SlRanked *ranked)
{
  const guint cell = ranked->index;
  guint label = 0;
  best_class (state, data, cell, &label);
  const gfloat x =
    ((gfloat) (cell % state->width) + tanhf (get (state, data, 1, cell))) / (gfloat) state->width;
  const gfloat y =
    ((gfloat) (cell / state->width) + tanhf (get (state, data, 2, cell))) / (gfloat) state->height;
  const gfloat w = (gfloat) sl_sigmoid ((double) get (state, data, 3, cell)),
               h = (gfloat) sl_sigmoid ((double) get (state, data, 4, cell));
  const gfloat corners[4] = { x - w / 2, y - h / 2, x + w / 2, y + h / 2 };
  sl_detector_add (&state->detector, corners, ranked->key, (gint32) label, cell);
}

static void
decode_fastestdet (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  score_cells (state, data[0]);
  sl_detector_select (&state->detector);
  for (guint i = 0; i < state->detector.top.count; i++)
    add_object (state, data[0], &state->detector.top.items[i]);
  sl_detector_finish (&state->detector, TRUE, result);
}

const SlDecoder sl_decoder_fastestdet = {
  .name = "fastestdet",
  .description = "one map of FastestDet, such as float32[1,85,22,22] of an input of 352x352",
  .params = params,
  .threshold = 0.5f,
  .matches = matches,
  .open = open_fastestdet,
  .decode = decode_fastestdet,
  .close = sl_detector_close,
  .classes = classes,
};
