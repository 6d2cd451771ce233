/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "retinaface": the face detectors of RetinaFace in PyTorch, and of the small ones that
 * follow it (Slim, RFB): boxes[N,4], scores[N,2] (no face, face) and points[N,10], in any order, of
 * all strides together. A prior is a square in the middle of a cell, of each of its stride's sizes.
 * The number of rows tells which sizes those are. Offsets are in sizes of the prior times 0.1,
 * sizes are logarithms times 0.2.
 *
 * Parameters: "activation" of the scores: none, softmax; "iou-threshold", "agnostic": suppression;
 * "imgsz".
 */
#include <math.h>

#include "postprocess/anchors.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"

#define DEFAULT_IOU 0.4
#define MAX_SIZES 3
#define LARGEST_SIDE (1 << 15)
/* Shares that a network rounded. */
#define SLACK 1e-3f

static const char *const activations[] = { "none", "softmax", NULL };
static const SlDecoderParam params[] = { SL_PARAM_CHOICE ("activation", activations),
                                         SL_DETECTOR_PARAMS,
                                         { NULL } };
static const char *const names[] = { "face", NULL };

typedef struct
{
  guint n;
  gfloat sizes[MAX_SIZES];
} Level;

/* Sizes of priors by stride, from 8 on, each twice the one before. */
static const struct
{
  guint n;
  Level levels[4];
} families[] = {
  { 3, { { 2, { 16, 32 } }, { 2, { 64, 128 } }, { 2, { 256, 512 } } } },
  { 4, { { 3, { 10, 16, 24 } }, { 2, { 32, 48 } }, { 2, { 64, 96 } }, { 3, { 128, 192, 256 } } } },
};

/* What offsets and logarithms of sizes are divided by. */
static const gfloat scales[] = { 10, 10, 5, 5 };

typedef struct
{
  SlDetector detector;
  gint32 width, height;
  guint boxes, scores, points, n, family;
  SlAnchor *priors;
  gboolean softmax, told; /* the activation, by the numbers: nothing states it */
  gfloat threshold;
} State;

static guint
cells_along (gint32 pixels, guint level)
{
  return ((guint) pixels + (8u << level) - 1) / (8u << level);
}

static guint
count_priors (const State *state, guint family)
{
  guint n = 0;
  for (guint l = 0; l < families[family].n; l++)
    n +=
      cells_along (state->width, l) * cells_along (state->height, l) * families[family].levels[l].n;
  return n;
}

static gboolean
find_shape (const SlDecoderConfig *config, State *state, GError **error)
{
  guint counts[G_N_ELEMENTS (families)] = { 0 };
  if (!sl_decoder_param_size (config, &state->width, &state->height, error))
    return FALSE;
  const gboolean known = state->width > 0 && state->height > 0 && state->width <= LARGEST_SIDE
                         && state->height <= LARGEST_SIDE;
  for (guint f = 0; f < G_N_ELEMENTS (families) && known; f++) {
    counts[f] = count_priors (state, f);
    if (config->n_tensors == 3 && sl_decoder_find_rows (config, counts[f], 4, 0, &state->boxes)
        && sl_decoder_find_rows (config, counts[f], 2, 0, &state->scores)
        && sl_decoder_find_rows (config, counts[f], 2 * SL_FACE_POINTS, 0, &state->points)) {
      state->n = counts[f];
      state->family = f;
      return TRUE;
    }
  }
  g_autofree char *expected = g_strdup_printf (
    "float32 tensors boxes[N,4], scores[N,2] and points[N,10] with N %u (RetinaFace) or %u (Slim, "
    "RFB) for an input of %dx%d (imgsz= states its size)",
    counts[0], counts[1], state->width, state->height);
  return sl_decoder_refuse (config, "retinaface", expected, error) != NULL;
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
  const gfloat width = (gfloat) state->width, height = (gfloat) state->height;
  SlAnchor *prior = state->priors = state->detector.owned = g_new (SlAnchor, state->n);
  for (guint l = 0; l < families[state->family].n; l++) {
    const Level *level = &families[state->family].levels[l];
    const gfloat stride = (gfloat) (8u << l);
    for (guint y = 0; y < cells_along (state->height, l); y++)
      for (guint x = 0; x < cells_along (state->width, l); x++)
        for (guint s = 0; s < level->n; s++)
          *prior++ =
            (SlAnchor){ ((gfloat) x + 0.5f) * stride / width, ((gfloat) y + 0.5f) * stride / height,
                        level->sizes[s] / width, level->sizes[s] / height };
  }
}

static gpointer
open_retinaface (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  guint activation = 0;
  if (!find_shape (config, state, error)
      || !sl_decoder_param_choice (config, params, "activation", &activation, error)
      || !sl_detector_init (&state->detector, config, state->n, NULL, DEFAULT_IOU, error)) {
    sl_detector_close (state);
    return NULL;
  }
  const gboolean stated = sl_decoder_param (config, "activation") != NULL;
  const SlValueKind kind = config->tensors[state->scores].values;
  state->softmax = stated ? activation == 1 : kind == SL_VALUES_LOGITS;
  state->told = !stated && kind == SL_VALUES_UNKNOWN;
  state->threshold = config->threshold;
  make_priors (state);
  return state;
}

/* A number of the tensor @data, which has @columns of them a row. */
static gfloat
number_at (const void *data, guint row, guint columns, guint column)
{
  return sl_values_float (data, (gsize) row * columns + column);
}

static void
point_of (gconstpointer opened, const void *const *data, guint row, guint k, gfloat *x, gfloat *y)
{
  const State *state = opened;
  const SlAnchor *prior = &state->priors[row];
  const void *points = data[state->points];
  const gfloat u = number_at (points, row, 2 * SL_FACE_POINTS, 2 * k),
               v = number_at (points, row, 2 * SL_FACE_POINTS, 2 * k + 1);
  *x = prior->x + u / scales[0] * prior->w;
  *y = prior->y + v / scales[1] * prior->h;
}

static void
box_of (gconstpointer opened, const void *const *data, guint row, gfloat corners[4])
{
  const State *state = opened;
  gfloat numbers[4];
  for (guint k = 0; k < 4; k++)
    numbers[k] = number_at (data[state->boxes], row, 4, k);
  sl_anchor_decode (&state->priors[row], numbers, scales, corners);
}

/* The share of "face"; a softmax of two is a sigmoid of their difference. */
static gfloat
score_of (const State *state, const void *data, guint row)
{
  const gfloat face = number_at (data, row, 2, 1);
  return state->softmax ? (gfloat) sl_sigmoid (face - number_at (data, row, 2, 0)) : face;
}

static void
decode_retinaface (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  for (guint i = 0; i < state->n; i++) {
    const gfloat score = score_of (state, data[state->scores], i);
    state->detector.scores[i] = score >= state->threshold ? MIN (score, 1) : -1;
  }
  sl_detector_finish_faces (state, data, box_of, point_of, result);
}

/* Shares of two classes lie in 0..1. */
static SlCheck
check (gpointer opened, const void *const *data, GString *why)
{
  State *state = opened;
  gfloat low = 0, high = 1;
  for (guint i = 0; i < 2 * state->n; i++) {
    const gfloat number = sl_values_float (data[state->scores], i);
    low = fminf (low, number);
    high = fmaxf (high, number);
  }
  if (state->softmax || (low >= -SLACK && high <= 1 + SLACK))
    return SL_CHECK_FITS;
  g_string_append_printf (why, "scores are %g..%g, outside of 0..1; ", (double) low, (double) high);
  if (!state->told) {
    g_string_append (why, "state decoder=retinaface,activation=softmax");
    return SL_CHECK_CONTRADICTS;
  }
  state->softmax = TRUE;
  g_string_append (why, "activation=softmax is taken");
  return SL_CHECK_CHANGED;
}

const SlDecoder sl_decoder_retinaface = {
  .name = "retinaface",
  .description =
    "boxes[N,4], scores[N,2] and points[N,10] of RetinaFace and of Slim and RFB, which have priors",
  .params = params,
  .names = names,
  .threshold = 0.6f,
  .matches = matches,
  .open = open_retinaface,
  .decode = decode_retinaface,
  .close = sl_detector_close,
  .classes = sl_decoder_one_class,
  .check = check,
};
