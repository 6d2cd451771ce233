/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "mediapipe": the detectors of MediaPipe, which find a face (BlazeFace), a palm or a
 * person (BlazePose) with a few points: boxes[1,N,4+2K] and logits[1,N,1] in either order, once for
 * all strides or once for each. A row has the centre, the size and the K points of a box in pixels,
 * all but the size from the centre of its anchor. BlazePose's boxes are heads, which suppression is
 * by; a person is the square around the circle that two of the points state.
 *
 * Parameters: "strides": of each layer, such as 8,16,16,16, which has two anchors a cell, or one;
 * unstated, those of MediaPipe's models that give as many anchors as there are rows.
 * "iou-threshold", "agnostic": suppression.
 */
#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"

#define DEFAULT_IOU 0.3
#define BOX_COLUMNS 4
#define MAX_LAYERS 8
#define MAX_ANCHORS (1u << 20)

static const SlDecoderParam params[] = { SL_PARAM_LIST ("strides", 1, 1024, MAX_LAYERS),
                                         SL_DETECTOR_PARAMS,
                                         { NULL } };
/* What a detector with that many points finds: the name of its one class, names of the points. */
typedef struct
{
  guint points;
  const char *names[2];
  const SlSkeleton *skeleton;
  gboolean circled; /* the object lies in the circle around the first point that the second one is
                       on; its row's box is its head's */
} Kind;

static const Kind kinds[] = { { 6, { "face" }, &sl_skeleton_face_and_ears, FALSE },
                              { 7, { "palm" }, &sl_skeleton_palm, FALSE },
                              { 4, { "person" }, &sl_skeleton_alignment, TRUE } };

/* Neighbouring layers of one stride. */
typedef struct
{
  guint stride, columns, rows, per_cell;
  guint64 n;
} Level;

typedef struct
{
  guint n_levels;
  guint64 n;
  Level levels[MAX_LAYERS];
} Layout;

/* Rows that follow each other, and where their numbers are. */
typedef struct
{
  guint boxes_at, scores_at, n, first;
  SlValues box_values, score_values;
} Part;

typedef struct
{
  SlDetector detector;
  const Kind *kind;
  gfloat width, height;
  Layout layout;
  guint n_parts;
  Part parts[MAX_LAYERS];
} State;

static void
make_layout (Layout *layout, gint32 width, gint32 height, const double *strides, guint n,
             guint per_layer)
{
  *layout = (Layout){ 0 };
  for (guint i = 0; i < n; i++) {
    Level *level = layout->n_levels > 0 ? &layout->levels[layout->n_levels - 1] : NULL;
    const guint stride = (guint) strides[i];
    if (level == NULL || level->stride != stride) {
      level = &layout->levels[layout->n_levels++];
      *level = (Level){ stride, ((guint) width + stride - 1) / stride,
                        ((guint) height + stride - 1) / stride, 0, 0 };
    }
    level->per_cell += per_layer;
    level->n += (guint64) per_layer * level->columns * level->rows;
    layout->n += (guint64) per_layer * level->columns * level->rows;
  }
}

static const Kind *
find_boxes (const SlTensorInfo *tensor)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (sl_values_readable (tensor->dtype)
        && sl_decoder_columns (tensor) == BOX_COLUMNS + 2 * kinds[i].points)
      return &kinds[i];
  return NULL;
}

static gboolean
is_taken (const State *state, guint scores)
{
  for (guint p = 0; p < state->n_parts; p++)
    if (state->parts[p].scores_at == scores)
      return TRUE;
  return FALSE;
}

/* The tensor of as many logits as tensor @boxes has rows that no other boxes have. */
static gboolean
find_scores (const SlDecoderConfig *config, const State *state, guint boxes, guint *at)
{
  const guint rows =
    sl_decoder_elements (&config->tensors[boxes]) / sl_decoder_columns (&config->tensors[boxes]);
  for (*at = 0; *at < config->n_tensors; (*at)++) {
    const SlTensorInfo *tensor = &config->tensors[*at];
    if (sl_values_readable (tensor->dtype) && sl_decoder_columns (tensor) == 1
        && sl_decoder_elements (tensor) == rows && !is_taken (state, *at))
      return TRUE;
  }
  return FALSE;
}

/* Boxes with their logits, in the order of the tensors; the number of rows, 0 = they are something
 * else. */
static guint
find_parts (const SlDecoderConfig *config, State *state)
{
  guint rows = 0;
  for (guint t = 0; t < config->n_tensors; t++) {
    const Kind *kind = find_boxes (&config->tensors[t]);
    guint scores;
    if (kind == NULL)
      continue;
    if (state->n_parts == MAX_LAYERS || (state->kind != NULL && state->kind != kind)
        || !find_scores (config, state, t, &scores))
      return 0;
    const guint n =
      sl_decoder_elements (&config->tensors[t]) / sl_decoder_columns (&config->tensors[t]);
    state->kind = kind;
    state->parts[state->n_parts++] = (Part){ .boxes_at = t, .scores_at = scores, .n = n };
    rows += n;
  }
  return config->n_tensors == 2 * state->n_parts && rows <= MAX_ANCHORS ? rows : 0;
}

/* Which rows of the layout each part has: all of them, or those of the one level with as many.
 * FALSE when they do not fit. */
static gboolean
place_parts (State *state)
{
  gboolean taken[MAX_LAYERS] = { FALSE };
  for (guint p = 0; p < state->n_parts && state->n_parts > 1; p++) {
    guint64 first = 0;
    guint k = 0;
    while (k < state->layout.n_levels
           && (taken[k] || state->layout.levels[k].n != state->parts[p].n))
      first += state->layout.levels[k++].n;
    if (k == state->layout.n_levels)
      return FALSE;
    taken[k] = TRUE;
    state->parts[p].first = (guint) first;
  }
  return state->n_parts > 1 ? state->n_parts == state->layout.n_levels
                            : state->layout.n == state->parts[0].n;
}

/* The layout whose anchors are as many as @rows. */
static gboolean
find_layout (State *state, gint32 width, gint32 height, const double *strides, guint n)
{
  for (guint per_layer = 2; per_layer >= 1; per_layer--) {
    make_layout (&state->layout, width, height, strides, n, per_layer);
    if (place_parts (state))
      return TRUE;
  }
  return FALSE;
}

static gboolean
find_usual_layout (State *state, gint32 width, gint32 height)
{
  static const struct
  {
    guint n;
    double strides[5];
  } usual[] = {
    { 4, { 8, 16, 16, 16 } }, { 4, { 16, 32, 32, 32 } }, { 5, { 8, 16, 32, 32, 32 } }, { 1, { 4 } }
  };
  for (guint i = 0; i < G_N_ELEMENTS (usual); i++)
    if (find_layout (state, width, height, usual[i].strides, usual[i].n))
      return TRUE;
  return FALSE;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  State state = { 0 };
  return config->input_width > 0 && config->input_height > 0 && find_parts (config, &state) > 0
         && (sl_decoder_param (config, "strides") != NULL
             || find_usual_layout (&state, config->input_width, config->input_height));
}

static guint
classes (const SlDecoderConfig *config)
{
  State state = { 0 };
  return find_parts (config, &state) > 0 ? 1 : 0;
}

static gboolean
read_layout (State *state, const SlDecoderConfig *config, guint rows, GError **error)
{
  gint32 width, height;
  double strides[MAX_LAYERS];
  guint n = 0;
  if (!sl_decoder_param_size (config, &width, &height, error)
      || !sl_decoder_param_list (config, params, "strides", strides, &n, error))
    return FALSE;
  if (width == 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder mediapipe: the size of the model's input is not known, which anchors need: state "
      "imgsz=HEIGHT,WIDTH");
  for (guint i = 0; i < n; i++)
    if (strides[i] != floor (strides[i]))
      return sl_fail (error, SL_ERROR_ARGUMENT,
                      "decoder parameter strides: expected whole numbers of pixels, got %g",
                      strides[i]);
  state->width = (gfloat) width;
  state->height = (gfloat) height;
  if (n > 0 ? find_layout (state, width, height, strides, n)
            : find_usual_layout (state, width, height))
    return TRUE;
  return sl_fail (
    error, SL_ERROR_SHAPE,
    "decoder mediapipe: %s do not give the %u rows of the tensors for an input of %dx%d; state "
    "strides= of the model's layers",
    n > 0 ? "these strides" : "the strides of MediaPipe's models", rows, width, height);
}

static gpointer
open_mediapipe (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  const guint rows = find_parts (config, state);
  if (rows == 0) {
    g_free (state);
    return sl_decoder_refuse (
      config, "mediapipe",
      "boxes[1,N,16] (face), [1,N,18] (palm) or [1,N,12] (person) and logits[1,N,1] of uint8, int8 "
      "or float32, once or for each stride",
      error);
  }
  if (!read_layout (state, config, rows, error)
      || !sl_detector_init (&state->detector, config, rows, NULL, DEFAULT_IOU, error)) {
    sl_detector_close (state);
    return NULL;
  }
  for (guint p = 0; p < state->n_parts; p++) {
    sl_values_init (&state->parts[p].box_values, &config->tensors[state->parts[p].boxes_at],
                    SL_SCORES_PLAIN);
    sl_values_init (&state->parts[p].score_values, &config->tensors[state->parts[p].scores_at],
                    SL_SCORES_SIGMOID);
  }
  return state;
}

/* Centre of anchor @at, in 0..1 of the input. */
static void
find_anchor (const Layout *layout, guint at, gfloat centre[2])
{
  const Level *level = layout->levels;
  while (at >= level->n)
    at -= (guint) level++->n;
  const guint cell = at / level->per_cell;
  centre[0] = ((gfloat) (cell % level->columns) + 0.5f) / (gfloat) level->columns;
  centre[1] = ((gfloat) (cell / level->columns) + 0.5f) / (gfloat) level->rows;
}

static const Part *
part_of (const State *state, guint row)
{
  guint p = 0;
  while (row < state->parts[p].first || row - state->parts[p].first >= state->parts[p].n)
    p++;
  return &state->parts[p];
}

/* Number @column of anchor @row, in 0..1 of the input: even ones along x. */
static gfloat
number_at (const State *state, const void *const *data, guint row, guint column)
{
  const Part *part = part_of (state, row);
  const gsize at = (gsize) (row - part->first) * (BOX_COLUMNS + 2 * state->kind->points) + column;
  return sl_values_get (&part->box_values, data[part->boxes_at], at)
         / (column % 2 == 0 ? state->width : state->height);
}

static void
add_points (const State *state, const void *const *data, guint row, SlDetection *found,
            SlResult *result)
{
  gfloat centre[2];
  find_anchor (&state->layout, row, centre);
  SlDetectedPoint *points = sl_result_add_keypoints (result, found, state->kind->points);
  for (guint k = 0; k < state->kind->points && points != NULL; k++) {
    const gfloat x = centre[0] + number_at (state, data, row, BOX_COLUMNS + 2 * k),
                 y = centre[1] + number_at (state, data, row, BOX_COLUMNS + 2 * k + 1);
    points[k] = isfinite (x) && isfinite (y) ? (SlDetectedPoint){ x, y, found->confidence }
                                             : (SlDetectedPoint){ 0 };
  }
}

/* Makes each box the square around its object's circle; objects whose circle is not known go. */
static void
surround_circles (const State *state, SlResult *result)
{
  guint n = 0;
  for (guint i = 0; i < result->n_detections; i++) {
    SlDetection found = result->detections[i];
    const SlDetectedPoint *middle = &result->keypoints[found.first_keypoint], *on_it = middle + 1;
    if (found.n_keypoints < 2 || !(middle->confidence > 0 && on_it->confidence > 0))
      continue;
    const gfloat radius =
      hypotf ((on_it->x - middle->x) * state->width, (on_it->y - middle->y) * state->height);
    const gfloat w = radius / state->width, h = radius / state->height;
    found.x_min = middle->x - w;
    found.x_max = middle->x + w;
    found.y_min = middle->y - h;
    found.y_max = middle->y + h;
    if (isfinite (radius) && found.x_max > found.x_min && found.y_max > found.y_min)
      result->detections[n++] = found;
  }
  result->n_detections = n;
}

static const char *const *
names_of (gconstpointer opened, gboolean *own)
{
  return ((const State *) opened)->kind->names;
}

static void
decode_mediapipe (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  SlDetector *detector = &state->detector;
  for (guint p = 0; p < state->n_parts; p++)
    for (guint i = 0; i < state->parts[p].n; i++)
      detector->scores[state->parts[p].first + i] =
        sl_values_get (&state->parts[p].score_values, data[state->parts[p].scores_at], i);
  sl_detector_select (detector);
  for (guint i = 0; i < detector->top.count; i++) {
    const guint row = detector->top.items[i].index;
    gfloat centre[2];
    find_anchor (&state->layout, row, centre);
    const gfloat x = centre[0] + number_at (state, data, row, 0),
                 y = centre[1] + number_at (state, data, row, 1);
    const gfloat w = number_at (state, data, row, 2) / 2, h = number_at (state, data, row, 3) / 2;
    sl_detector_add (detector, (const gfloat[4]){ x - w, y - h, x + w, y + h },
                     detector->top.items[i].key, 0, row);
  }
  sl_detector_finish (detector, TRUE, result);
  for (guint i = 0; i < result->n_detections; i++)
    add_points (state, data, detector->origins[detector->kept[i]], &result->detections[i], result);
  if (state->kind->circled)
    surround_circles (state, result);
  result->skeleton = state->kind->skeleton;
}

/* The whole picture between black borders, as in MediaPipe's own graphs: ImageToTensorCalculator
 * with keep_aspect_ratio and BORDER_ZERO. */
static const SlDecoderPictures pictures = { SL_FIT_LETTERBOX, 0 };

const SlDecoder sl_decoder_mediapipe = {
  .name = "mediapipe",
  .description =
    "boxes with points[1,N,16] and logits[1,N,1] of MediaPipe's detectors of faces, palms and "
    "persons",
  .params = params,
  .names_of = names_of,
  .threshold = 0.5f,
  .matches = matches,
  .open = open_mediapipe,
  .decode = decode_mediapipe,
  .close = sl_detector_close,
  .classes = classes,
  .pictures = &pictures,
};
