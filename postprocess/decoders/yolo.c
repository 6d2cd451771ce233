/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "yolo": every detector of that family, told apart by parameters. A row is
 *
 *   box (4) [objectness] class scores [keypoints, mask coefficients or angle]   or, end to end,
 *   corners (4) score class
 *
 * The best class of a row is its candidate; candidates of 8 bits without objectness are ranked as
 * codes, and only survivors become floats. What shapes and labels leave open is stated by a preset
 * or parameter by parameter; see yolo_shape.h for them.
 */
#include <math.h>
#include <string.h>

#include "postprocess/classmax.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"
#include "postprocess/prototypes.h"
#include "postprocess/rotated.h"
#include "postprocess/decoders/yolo_shape.h"
#include "postprocess/decoders/yolo_values.h"

#define DEFAULT_IOU 0.45
/* exp() of more than this is a box wider than any picture. */
#define LARGEST_LOG 12
/* Rows of the best scores whose numbers are looked at, beside those that are taken evenly. */
#define MAX_PICKED 64

/* One tensor's rows. */
typedef struct
{
  SlValues values, scores; /* how boxes and how scores read */
  guint first, n;
} Part;

typedef struct
{
  SlYoloShape shape;
  Part parts[SL_MAX_IO];
  SlDetector detector;
  SlPrototypes prototypes;
  SlRotated *turned; /* (nullable): of each candidate */
  gfloat threshold, raw_threshold;
  SlYoloBoxes boxes; /* of this frame */
} State;

/* One reading of the tensors. @text: (nullable): the parameter that states it; NULL = the first,
 * which parameters, labels and shapes tell */
typedef struct
{
  State *state;
  char *text;
} Reading;

/* @all: of Reading: the first, and those that values may tell. @best: room for a score of each row
 * that is looked at */
typedef struct
{
  GArray *all;
  guint chosen, n_labels;
  gfloat *best;
} Readings;

static State *
state_of (const Readings *readings, guint i)
{
  return g_array_index (readings->all, Reading, i).state;
}

/* Number of @channel in row @i, as stored at that place of the part. */
static gsize
place (const State *state, const Part *part, guint i, guint channel)
{
  return state->shape.transposed ? (gsize) channel * part->n + i
                                 : (gsize) i * state->shape.channels + channel;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  SlYoloShape shape;
  return sl_yolo_shape_find (&shape, config, NULL) && shape.certain;
}

/* There are more rows than numbers of a row, but of the few that suppression leaves. */
static gboolean
likely (const SlDecoderConfig *config)
{
  SlYoloShape shape;
  return sl_yolo_shape_find (&shape, config, NULL)
         && (shape.end_to_end || shape.rows >= 2 * shape.channels);
}

static guint
classes (const SlDecoderConfig *config)
{
  SlYoloShape shape;
  return sl_yolo_shape_find (&shape, config, NULL) ? shape.classes : 0;
}

static void
state_free (State *state)
{
  sl_detector_clear (&state->detector);
  sl_prototypes_clear (&state->prototypes);
  g_free (state->turned);
  g_free (state);
}

static void
close_yolo (gpointer opened)
{
  Readings *readings = opened;
  for (guint i = 0; i < readings->all->len; i++) {
    state_free (state_of (readings, i));
    g_free (g_array_index (readings->all, Reading, i).text);
  }
  g_array_unref (readings->all);
  g_free (readings->best);
  g_free (readings);
}

static State *
state_new (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  if (!sl_yolo_shape_find (&state->shape, config, error)) {
    g_free (state);
    return NULL;
  }
  const SlYoloShape *shape = &state->shape;
  guint first = 0;
  for (guint t = 0; t < shape->n_parts; t++) {
    const SlTensorInfo *tensor = &config->tensors[shape->first_part + t];
    Part *part = &state->parts[t];
    part->first = first;
    part->n = sl_decoder_elements (tensor) / shape->channels;
    first += part->n;
    sl_values_init (&part->values, tensor, SL_SCORES_PLAIN);
    sl_values_init (&part->scores, tensor, shape->sigmoid ? SL_SCORES_SIGMOID : SL_SCORES_PLAIN);
  }
  state->threshold = config->threshold;
  state->raw_threshold = sl_values_raw_threshold (&state->parts[0].scores, config->threshold);
  const gboolean ranked = state->parts[0].scores.quantised && shape->n_parts == 1
                          && !shape->objectness && !shape->end_to_end;
  if (!sl_detector_init (&state->detector, config, first, ranked ? &state->parts[0].scores : NULL,
                         DEFAULT_IOU, error)) {
    state_free (state);
    return NULL;
  }
  if (shape->turned) {
    sl_detector_limit (&state->detector, SL_MAX_ROTATED);
    state->turned = g_new (SlRotated, state->detector.top.capacity);
  }
  if (shape->n_coefficients > 0)
    sl_prototypes_init (&state->prototypes, &config->tensors[shape->prototypes],
                        config->max_results);
  return state;
}

/* Adds the reading that @text, "KEY=VALUE", states, where tensors and labels allow it. */
static void
add_reading (Readings *readings, const SlDecoderConfig *config, const char *text)
{
  SlDecoderConfig stated = *config;
  g_autoptr (GHashTable) params = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  const char *equals = strchr (text, '=');
  GHashTableIter iter;
  gpointer key, value;
  if (config->params != NULL)
    for (g_hash_table_iter_init (&iter, config->params);
         g_hash_table_iter_next (&iter, &key, &value);)
      g_hash_table_insert (params, g_strdup (key), g_strdup (value));
  g_hash_table_insert (params, g_strndup (text, (gsize) (equals - text)), g_strdup (equals + 1));
  stated.params = params;
  State *state = state_new (&stated, NULL);
  if (state == NULL)
    return;
  const SlYoloShape *first = &state_of (readings, 0)->shape, *shape = &state->shape;
  if ((!shape->end_to_end && config->n_labels > 0 && shape->classes != config->n_labels)
      || shape->transposed != first->transposed || shape->rows != first->rows
      || shape->channels != first->channels) {
    state_free (state);
    return;
  }
  state->shape.stated = first->stated;
  state->shape.tried = TRUE;
  g_array_append_val (readings->all, ((Reading){ state, g_strdup (text) }));
}

static gpointer
open_yolo (const SlDecoderConfig *config, GError **error)
{
  State *state = state_new (config, error);
  if (state == NULL)
    return NULL;
  Readings *readings = g_new0 (Readings, 1);
  readings->n_labels = config->n_labels;
  readings->all = g_array_new (FALSE, FALSE, sizeof (Reading));
  g_array_append_val (readings->all, ((Reading){ state, NULL }));
  readings->best = g_new (gfloat, state->parts[0].n + MAX_PICKED);
  g_autoptr (GPtrArray) texts = sl_yolo_readings (config, &state->shape);
  for (guint i = 0; i < texts->len; i++)
    add_reading (readings, config, texts->pdata[i]);
  return readings;
}

/* Highest class score of one row; -infinity when it is not a number. */
static gfloat
row_best (const State *state, const Part *part, const void *data, guint i, guint *label)
{
  const SlYoloShape *shape = &state->shape;
  gfloat best = -INFINITY;
  guint best_rank = 0;
  *label = 0;
  for (guint c = 0; c < shape->classes; c++) {
    const gsize at = place (state, part, i, shape->first_class + c);
    if (part->scores.quantised) {
      const guint rank = sl_values_rank (&part->scores, data, at);
      if (c == 0 || rank > best_rank) {
        best_rank = rank;
        *label = c;
      }
    } else {
      const gfloat raw = sl_values_float (data, at);
      if (raw > best) {
        best = raw;
        *label = c;
      }
    }
  }
  return part->scores.quantised ? part->scores.table[best_rank]
                                : sl_values_activate (&part->scores, best);
}

/* Highest class score of one row, without asking which class. */
static gfloat
row_highest (const State *state, const Part *part, const void *data, guint i)
{
  const gsize first = place (state, part, i, state->shape.first_class);
  gfloat best;
  if (part->scores.quantised) {
    guint8 rank;
    sl_class_max_codes ((const guint8 *) data + first, 1, state->shape.classes, 1,
                        state->shape.channels, part->scores.flip, &rank);
    return part->scores.table[rank];
  }
  sl_class_max_floats ((const gfloat *) data + first, 1, state->shape.classes, 1,
                       state->shape.channels, &best);
  return sl_values_activate (&part->scores, best);
}

/* Score of each row with objectness: rows whose objectness alone is too low are not looked into. */
static void
score_objects (State *state, const Part *part, const void *data, gfloat *scores)
{
  const guint lowest =
    part->scores.quantised ? sl_values_lowest (&part->scores, state->threshold) : 0;
  guint label;
  if (!part->scores.quantised && !part->scores.sigmoid && !state->shape.transposed) {
    sl_class_max_objects ((const gfloat *) data + 4, part->n, state->shape.classes,
                          state->shape.channels, state->threshold, scores);
    return;
  }
  for (guint i = 0; i < part->n; i++) {
    const gsize at = place (state, part, i, 4);
    const gboolean passes = part->scores.quantised
                              ? sl_values_rank (&part->scores, data, at) >= lowest
                              : sl_values_float (data, at) >= state->raw_threshold;
    if (!passes)
      scores[i] = -INFINITY;
    else
      scores[i] = sl_values_get (&part->scores, data, at)
                  * (state->shape.transposed ? row_best (state, part, data, i, &label)
                                             : row_highest (state, part, data, i));
  }
}

static void
score_classes (State *state, const Part *part, const void *data, gfloat *scores)
{
  guint label;
  const SlYoloShape *shape = &state->shape;
  if (part->scores.quantised) {
    for (guint i = 0; i < part->n; i++)
      scores[i] = row_best (state, part, data, i, &label);
    return;
  }
  const gsize class_step = shape->transposed ? part->n : 1,
              row_step = shape->transposed ? 1 : shape->channels;
  sl_class_max_floats ((const gfloat *) data + place (state, part, 0, shape->first_class), part->n,
                       shape->classes, class_step, row_step, scores);
  for (guint i = 0; i < part->n && part->scores.sigmoid; i++)
    scores[i] =
      scores[i] >= state->raw_threshold ? sl_values_activate (&part->scores, scores[i]) : -INFINITY;
}

static void
score_rows (State *state, const void *const *data)
{
  const SlYoloShape *shape = &state->shape;
  if (state->detector.ranks != NULL) {
    /* There is one part, and there are no scores. */
    const Part *part = &state->parts[0];
    sl_class_max_codes ((const guint8 *) data[0] + place (state, part, 0, shape->first_class),
                        part->n, shape->classes, shape->transposed ? part->n : 1,
                        shape->transposed ? 1 : shape->channels, part->scores.flip,
                        state->detector.ranks);
    return;
  }
  for (guint t = 0; t < shape->n_parts; t++) {
    const Part *part = &state->parts[t];
    gfloat *scores = state->detector.scores + part->first;
    if (shape->end_to_end)
      for (guint i = 0; i < part->n; i++)
        scores[i] = sl_values_get (&part->scores, data[t], place (state, part, i, shape->score_at))
                    * (shape->objectness_at > 0 ? sl_values_get (
                         &part->scores, data[t], place (state, part, i, shape->objectness_at))
                                                : 1);
    else if (shape->objectness)
      score_objects (state, part, data[t], scores);
    else
      score_classes (state, part, data[t], scores);
  }
}

/* A box of a cell in pixels: offsets from the cell, sizes as exponents (YOLOX) or squares of
 * sigmoids over anchors (v5). */
static void
place_in_cell (const State *state, guint row, gfloat box[4])
{
  const SlYoloShape *shape = &state->shape;
  const SlLevel *level = sl_grid_level (&shape->grid, row);
  const guint cells = level->width * level->height, local = row - level->first;
  const guint cell = local % cells, anchor = local / cells;
  const gfloat x = (gfloat) (cell % level->width), y = (gfloat) (cell / level->width),
               stride = (gfloat) level->stride;
  if (state->boxes == SL_YOLO_BOXES_GRID) {
    box[0] = (box[0] + x) * stride;
    box[1] = (box[1] + y) * stride;
    box[2] = expf (MIN (box[2], LARGEST_LOG)) * stride;
    box[3] = expf (MIN (box[3], LARGEST_LOG)) * stride;
    return;
  }
  const guint at = ((guint) (level - shape->grid.levels) * shape->per_cell + anchor) * 2;
  gfloat s[4];
  for (guint k = 0; k < 4; k++)
    s[k] = 1 / (1 + expf (-box[k]));
  box[0] = (2 * s[0] - 0.5f + x) * stride;
  box[1] = (2 * s[1] - 0.5f + y) * stride;
  box[2] = 4 * s[2] * s[2] * (gfloat) shape->anchors[at];
  box[3] = 4 * s[3] * s[3] * (gfloat) shape->anchors[at + 1];
}

static void
read_box (const State *state, const Part *part, const void *data, guint i, gfloat corners[4])
{
  gfloat box[4];
  for (guint k = 0; k < 4; k++)
    box[k] = sl_values_get (
      &part->values, data,
      place (state, part, i, state->shape.first_box + (state->shape.y_first ? k ^ 1 : k)));
  if (state->boxes != SL_YOLO_BOXES_DECODED)
    place_in_cell (state, part->first + i, box);
  const gboolean xyxy = state->shape.corners;
  corners[0] = xyxy ? box[0] : box[0] - box[2] / 2;
  corners[1] = xyxy ? box[1] : box[1] - box[3] / 2;
  corners[2] = xyxy ? box[2] : box[0] + box[2] / 2;
  corners[3] = xyxy ? box[3] : box[1] + box[3] / 2;
}

static const Part *
find_part (const State *state, guint row)
{
  guint t = state->shape.n_parts - 1;
  while (t > 0 && row < state->parts[t].first)
    t--;
  return &state->parts[t];
}

static void
add_candidate (State *state, const void *const *data, const SlRanked *ranked)
{
  const Part *part = find_part (state, ranked->index);
  const void *tensor = data[part - state->parts];
  const guint i = ranked->index - part->first;
  gfloat corners[4], confidence = ranked->key;
  guint label = 0;
  if (state->shape.turned
      && !isfinite (
        sl_values_get (&part->values, tensor, place (state, part, i, state->shape.first_keypoint))))
    return;
  read_box (state, part, tensor, i, corners);
  if (state->shape.end_to_end) {
    const gfloat id =
      sl_values_get (&part->values, tensor, place (state, part, i, state->shape.class_at));
    if (!(id > -0.5f && id < 1e6f))
      return;
    label = (guint) lrintf (fmaxf (id, 0));
  } else {
    gfloat best = row_best (state, part, tensor, i, &label);
    confidence = state->detector.ranks != NULL ? best : confidence;
  }
  sl_detector_add (&state->detector, corners, confidence, (gint32) label, ranked->index);
}

/* How the frame's boxes are written: a decoded size is never below 0, a logarithm is where anything
 * is smaller than a cell. */
static SlYoloBoxes
find_boxes (const State *state, const void *const *data)
{
  const Part *part = &state->parts[0];
  for (guint i = 0; i < part->n && state->shape.by_values; i++)
    for (guint k = 2; k < 4; k++)
      if (sl_values_get (&part->values, data[0], place (state, part, i, k)) < 0)
        return SL_YOLO_BOXES_GRID;
  return state->shape.boxes;
}

/* Whether boxes are in pixels; where nothing says so, a coordinate that is no fraction does. */
static gboolean
in_pixels (const State *state)
{
  if (state->boxes != SL_YOLO_BOXES_DECODED)
    return TRUE;
  if (state->shape.units != SL_YOLO_UNITS_AUTO)
    return state->shape.units == SL_YOLO_UNITS_PIXELS;
  for (guint i = 0; i < state->detector.n_candidates; i++) {
    const SlDetection *box = &state->detector.candidates[i];
    if (box->x_max > SL_LARGEST_FRACTION || box->y_max > SL_LARGEST_FRACTION)
      return TRUE;
  }
  return FALSE;
}

/* Each candidate becomes the upright box around itself, turned. */
static void
turn_candidates (State *state, const void *const *data, gboolean pixels)
{
  SlDetector *detector = &state->detector;
  const gfloat x_scale = pixels ? 1 : (gfloat) MAX (state->shape.width, 1),
               y_scale = pixels ? 1 : (gfloat) MAX (state->shape.height, 1);
  for (guint i = 0; i < detector->n_candidates; i++) {
    SlDetection *box = &detector->candidates[i];
    const Part *part = find_part (state, detector->origins[i]);
    const gfloat angle = sl_values_get (
      &part->values, data[part - state->parts],
      place (state, part, detector->origins[i] - part->first, state->shape.first_keypoint));
    double corners[4][2];
    state->turned[i] =
      (SlRotated){ (box->x_min + box->x_max) / 2 * x_scale, (box->y_min + box->y_max) / 2 * y_scale,
                   (box->x_max - box->x_min) * x_scale, (box->y_max - box->y_min) * y_scale,
                   angle };
    sl_rotated_corners (&state->turned[i], corners);
    box->x_min =
      (gfloat) fmin (fmin (corners[0][0], corners[1][0]), fmin (corners[2][0], corners[3][0]));
    box->x_max =
      (gfloat) fmax (fmax (corners[0][0], corners[1][0]), fmax (corners[2][0], corners[3][0]));
    box->y_min =
      (gfloat) fmin (fmin (corners[0][1], corners[1][1]), fmin (corners[2][1], corners[3][1]));
    box->y_max =
      (gfloat) fmax (fmax (corners[0][1], corners[1][1]), fmax (corners[2][1], corners[3][1]));
  }
  sl_detector_scale (detector, 1.0f / (gfloat) MAX (state->shape.width, 1),
                     1.0f / (gfloat) MAX (state->shape.height, 1));
}

/* Suppresses turned boxes, and gives those that stay their corners. */
static void
finish_turned (State *state, SlResult *result)
{
  if (!state->shape.suppress)
    sl_detector_finish (&state->detector, FALSE, result);
  else
    sl_rotated_suppress (&state->detector, state->turned, result);
  for (guint d = 0; d < result->n_detections; d++) {
    double corners[4][2];
    SlDetectedPoint *points = sl_result_add_keypoints (result, &result->detections[d], 4);
    sl_rotated_corners (&state->turned[state->detector.kept[d]], corners);
    for (guint k = 0; k < 4 && points != NULL; k++)
      points[k] = (SlDetectedPoint){ (gfloat) (corners[k][0] / MAX (state->shape.width, 1)),
                                     (gfloat) (corners[k][1] / MAX (state->shape.height, 1)),
                                     result->detections[d].confidence };
  }
  result->skeleton = &sl_skeleton_corners;
}

static void
add_keypoints (State *state, const void *const *data, gfloat x_scale, gfloat y_scale,
               SlResult *result)
{
  const SlYoloShape *shape = &state->shape;
  for (guint d = 0; d < result->n_detections; d++) {
    SlDetectedPoint *points =
      sl_result_add_keypoints (result, &result->detections[d], shape->n_keypoints);
    const guint row = state->detector.origins[state->detector.kept[d]];
    const Part *part = find_part (state, row);
    const void *tensor = data[part - state->parts];
    for (guint k = 0; k < shape->n_keypoints && points != NULL; k++) {
      const guint channel = shape->first_keypoint + k * shape->keypoint_size;
      const gfloat x =
        sl_values_get (&part->values, tensor, place (state, part, row - part->first, channel))
        * x_scale;
      const gfloat y =
        sl_values_get (&part->values, tensor, place (state, part, row - part->first, channel + 1))
        * y_scale;
      gfloat confidence = 1;
      if (shape->keypoint_size == 3)
        confidence = sl_values_get (&part->values, tensor,
                                    place (state, part, row - part->first, channel + 2));
      const gboolean good = isfinite (x) && isfinite (y) && confidence >= 0;
      points[k] =
        good ? (SlDetectedPoint){ x, y, MIN (confidence, 1) } : (SlDetectedPoint){ 0, 0, 0 };
    }
  }
  result->skeleton = shape->n_keypoints == sl_skeleton_person.n_points ? &sl_skeleton_person : NULL;
}

/* Of what was kept; @prototypes: that tensor. */
static void
add_masks (State *state, const void *const *data, const void *prototypes, SlResult *result)
{
  const SlYoloShape *shape = &state->shape;
  sl_prototypes_begin (&state->prototypes);
  for (guint d = 0; d < result->n_detections; d++) {
    const guint row = state->detector.origins[state->detector.kept[d]];
    const Part *part = find_part (state, row);
    gfloat coefficients[SL_MAX_PROTOTYPES];
    for (guint k = 0; k < shape->n_coefficients; k++)
      coefficients[k] =
        sl_values_get (&part->values, data[part - state->parts],
                       place (state, part, row - part->first, shape->first_coefficient + k));
    sl_prototypes_cut (&state->prototypes, coefficients, &result->detections[d], d);
  }
  sl_prototypes_run (&state->prototypes, prototypes);
  result->masks = state->prototypes.masks;
}

static void
decode_yolo (gpointer opened, const void *const *tensors, SlResult *result)
{
  const Readings *readings = opened;
  State *state = state_of (readings, readings->chosen);
  const void *const *data = tensors + state->shape.first_part;
  SlDetector *detector = &state->detector;
  gfloat x_scale = 1, y_scale = 1;
  state->boxes = find_boxes (state, data);
  score_rows (state, data);
  sl_detector_select (detector);
  for (guint i = 0; i < detector->top.count; i++)
    add_candidate (state, data, &detector->top.items[i]);
  if (state->shape.turned) {
    turn_candidates (state, data, in_pixels (state));
    finish_turned (state, result);
    return;
  }
  if (in_pixels (state)) {
    x_scale = 1.0f / (gfloat) state->shape.width;
    y_scale = 1.0f / (gfloat) state->shape.height;
    sl_detector_scale (detector, x_scale, y_scale);
  }
  sl_detector_finish (detector, state->shape.suppress, result);
  if (state->shape.n_keypoints > 0)
    add_keypoints (state, data, x_scale, y_scale, result);
  if (state->shape.n_coefficients > 0)
    add_masks (state, data, tensors[state->shape.prototypes], result);
}

static gboolean
fits (const Readings *readings, guint reading, const void *const *tensors, const guint32 *picked,
      guint n_picked, GString *why)
{
  const State *state = state_of (readings, reading);
  const Part *part = &state->parts[0];
  const SlYoloShape *shape = &state->shape;
  const SlRows rows = { &part->values,
                        tensors[shape->first_part],
                        part->n,
                        shape->channels,
                        shape->transposed ? 1 : shape->channels,
                        shape->transposed ? part->n : 1,
                        picked,
                        n_picked };
  SlRows scores = rows;
  scores.values = &part->scores;
  return sl_yolo_fits (shape, &rows, &scores, readings->best, why);
}

/* Whether what was taken for objectness may be one more class than the labels name. */
static gboolean
has_one_more (const Readings *readings)
{
  const SlYoloShape *shape = &state_of (readings, 0)->shape;
  return shape->objectness && !shape->stated && shape->n_parts == 1 && shape->n_keypoints == 0
         && readings->n_labels > 0 && shape->classes == readings->n_labels;
}

/* What the numbers of a frame contradict is given up for the one reading that fits, unless a
 * parameter states it. */
static SlCheck
check (gpointer opened, const void *const *tensors, GString *why)
{
  Readings *readings = opened;
  const State *state = state_of (readings, readings->chosen);
  guint32 picked[MAX_PICKED];
  const guint n_picked =
    state->shape.n_parts == 1 ? MIN (state->detector.top.count, MAX_PICKED) : 0;
  guint better = 0;
  for (guint i = 0; i < n_picked; i++)
    picked[i] = state->detector.top.items[i].index;
  if (fits (readings, readings->chosen, tensors, picked, n_picked, why))
    return SL_CHECK_FITS;
  for (guint i = 1; i < readings->all->len && better == 0; i++)
    if (i != readings->chosen && fits (readings, i, tensors, picked, n_picked, NULL))
      better = i;
  if (better == 0 && readings->chosen == 0 && has_one_more (readings)) {
    g_string_append_printf (
      why,
      "; the labels name %u classes, and there may be %u: give the labels file that belongs to the "
      "model, or state decoder=yolo,angle=yes or decoder=yolo,objectness=yes",
      readings->n_labels, readings->n_labels + 1);
    return SL_CHECK_CONTRADICTS;
  }
  if (better == 0) {
    g_string_append (
      why, "; expected other parameters of decoder=yolo (columns=, objectness=, transposed=, "
           "keypoints=, box=), or another decoder");
    return SL_CHECK_CONTRADICTS;
  }
  g_string_append_printf (why, "%s decoder=yolo,%s",
                          state->shape.stated || readings->chosen > 0 ? ": state" : ": taken for",
                          g_array_index (readings->all, Reading, better).text);
  if (state->shape.stated || readings->chosen > 0)
    return SL_CHECK_CONTRADICTS;
  readings->chosen = better;
  return SL_CHECK_CHANGED;
}

static const char *
note (gconstpointer opened)
{
  const Readings *readings = opened;
  const State *state = state_of (readings, readings->chosen);
  return state->shape.by_values
           ? "boxes are taken for offsets from cells, as YOLOX writes them, where a size is "
             "negative, else as decoded (decoder yolo,boxes=grid or decoded states it)"
           : NULL;
}

const SlDecoder sl_decoder_yolo = {
  .name = "yolo",
  .description =
    "boxes and class scores of the YOLO family, such as int8[1,84,3549], float32[1,25200,85] or "
    "float32[1,300,6]",
  .params = sl_yolo_params,
  .threshold = 0.5f,
  .matches = matches,
  .likely = likely,
  .open = open_yolo,
  .decode = decode_yolo,
  .close = close_yolo,
  .classes = classes,
  .note = note,
  .check = check,
};
