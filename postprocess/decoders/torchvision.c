/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "torchvision": what torchvision's detectors (Faster R-CNN, RetinaNet, FCOS, SSD, Mask
 * R-CNN, Keypoint R-CNN) and those written like them give, in any order and possibly among other
 * tensors: boxes float32[N,4] (x_min, y_min, x_max, y_max in pixels of the input), labels int32 or
 * int64 [N] and scores float32[N]; masks over the boxes float32[N,1,h,w]; keypoints float32[N,K,3]
 * (x and y in pixels, visibility) and what their heat maps had there, keypoints_scores
 * float32[N,K], a point's confidence being the sigmoid of that. Non-maximum suppression is already
 * done.
 *
 * Parameters: "imgsz" ("height,width" or one number): pixels of the input; "background-offset": an
 * integer added to every class, -1 where the class names leave out torchvision's class 0, the
 * background. Rows with a NaN, an infinite corner, no area or an impossible class are never
 * reported; neither are those beyond the objects that a frame has, which are zeros.
 */
#include <math.h>
#include <string.h>

#include "postprocess/box_masks.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"
#include "postprocess/plausible.h"
#include "postprocess/topk.h"
#include "postprocess/values.h"

static const SlDecoderParam params[] = { SL_PARAM_INTEGER ("background-offset", -1000, 1000),
                                         { NULL } };

/* Where boxes may end, in sides of the input. */
#define FARTHEST 1.15f

/** Of a tensor that is not there. */
#define NONE G_MAXUINT

/** Where each tensor is; the last three may be NONE. */
typedef struct
{
  guint boxes, labels, scores, masks, points, point_scores;
  guint n, n_points; /* rows, points of each */
} Roles;

typedef struct
{
  Roles roles;
  gboolean wide; /* labels are int64 */
  gint offset;
  gfloat threshold, width, height;
  gfloat highest; /* score of the frame, before it is limited to 1 */
  SlTopK top;
  guint *rows; /* of the detections */
  SlBoxMasks masks;
} State;

static gboolean
is_integer (SlDtype dtype)
{
  return dtype == SL_DTYPE_I32 || dtype == SL_DTYPE_I64;
}

/* N of [N] and [1,N]; 0 for other shapes. */
static guint
rows_of (const SlTensorInfo *tensor)
{
  const gboolean fits = tensor->rank == 1 || (tensor->rank == 2 && tensor->dims[0] == 1);
  return fits ? sl_decoder_elements (tensor) : 0;
}

/* Columns of [N,columns] and [1,N,columns]; 0 for other shapes. */
static guint
columns_of (const SlTensorInfo *tensor, guint n)
{
  const gboolean fits = tensor->rank == 2 || (tensor->rank == 3 && tensor->dims[0] == 1);
  const guint columns = fits ? (guint) sl_decoder_columns (tensor) : 0;
  return columns > 0 && sl_decoder_elements (tensor) / columns == n ? columns : 0;
}

/* Keypoints, and what lies beside them. */
static void
find_points (const SlDecoderConfig *config, Roles *roles)
{
  for (guint t = 0; t < config->n_tensors && roles->points == NONE; t++) {
    const SlTensorInfo *tensor = &config->tensors[t];
    if (tensor->dtype != SL_DTYPE_F32 || tensor->rank != 3 || (guint) tensor->dims[0] != roles->n
        || tensor->dims[2] != 3 || tensor->dims[1] < 1 || tensor->dims[1] > SL_MAX_KEYPOINTS)
      continue;
    roles->points = t;
    roles->n_points = (guint) tensor->dims[1];
  }
  for (guint t = config->n_tensors;
       t-- > 0 && roles->points != NONE && roles->point_scores == NONE;)
    if (t != roles->boxes && t != roles->scores && config->tensors[t].dtype == SL_DTYPE_F32
        && columns_of (&config->tensors[t], roles->n) == roles->n_points)
      roles->point_scores = t;
}

/* One tensor of each kind; scores of four keypoints look like boxes, and lie behind them. */
static gboolean
find_roles (const SlDecoderConfig *config, Roles *roles)
{
  guint n_labels = 0, n_scores = 0, n_boxes = 0;
  *roles = (Roles){ .boxes = NONE, .masks = NONE, .points = NONE, .point_scores = NONE };
  for (guint t = 0; t < config->n_tensors; t++)
    if (is_integer (config->tensors[t].dtype) && rows_of (&config->tensors[t]) > 0) {
      roles->labels = t;
      roles->n = rows_of (&config->tensors[t]);
      n_labels++;
    }
  for (guint t = 0; n_labels == 1 && t < config->n_tensors; t++) {
    const SlTensorInfo *tensor = &config->tensors[t];
    if (tensor->dtype != SL_DTYPE_F32)
      continue;
    if (rows_of (tensor) == roles->n) {
      roles->scores = t;
      n_scores++;
    } else if (columns_of (tensor, roles->n) == 4) {
      roles->boxes = MIN (roles->boxes, t);
      n_boxes++;
    }
  }
  if (n_labels != 1 || n_scores != 1 || n_boxes == 0)
    return FALSE;
  find_points (config, roles);
  return n_boxes == 1 || (n_boxes == 2 && roles->point_scores != NONE && roles->n_points == 4);
}

/* Masks have a meaning beside the size of the input alone. */
static void
find_masks (const SlDecoderConfig *config, State *state, guint max_results)
{
  Roles *roles = &state->roles;
  for (guint t = 0; t < config->n_tensors && roles->masks == NONE; t++)
    if (sl_box_masks_shape (&config->tensors[t], roles->n, state->width, state->height))
      roles->masks = t;
  if (roles->masks != NONE)
    sl_box_masks_init (&state->masks, &config->tensors[roles->masks], state->width, state->height,
                       max_results);
}

static gboolean
matches (const SlDecoderConfig *config)
{
  Roles roles;
  return find_roles (config, &roles);
}

static guint
classes (const SlDecoderConfig *config)
{
  return 0;
}

static gpointer
open_torchvision (const SlDecoderConfig *config, GError **error)
{
  Roles roles;
  gint32 width, height;
  gint offset;
  if (!find_roles (config, &roles))
    return sl_decoder_refuse (
      config, "torchvision",
      "boxes float32[N,4], labels int32 or int64 [N] and scores float32[N], one of each", error);
  if (!sl_decoder_param_size (config, &width, &height, error)
      || !sl_decoder_param_int (config, params, "background-offset", 0, &offset, error))
    return NULL;
  if (width <= 0 || height <= 0)
    return sl_decoder_refuse (
      config, "torchvision",
      "to know the size of the model's input: set parameter imgsz (\"height,width\")", error);
  State *state = g_new0 (State, 1);
  state->roles = roles;
  state->wide = config->tensors[roles.labels].dtype == SL_DTYPE_I64;
  state->offset = offset;
  state->threshold = config->threshold;
  state->width = (gfloat) width;
  state->height = (gfloat) height;
  state->top.capacity = MIN (config->max_results, roles.n);
  state->top.items = g_new (SlRanked, state->top.capacity);
  state->rows = g_new (guint, MAX (state->top.capacity, 1));
  find_masks (config, state, state->top.capacity);
  return state;
}

/* -1 where it can be none. */
static gint32
read_label (const State *state, const void *labels, guint row)
{
  gint32 narrow = 0;
  gint64 wide = 0;
  if (state->wide)
    memcpy (&wide, (const guint8 *) labels + row * sizeof wide, sizeof wide);
  else
    memcpy (&narrow, (const guint8 *) labels + row * sizeof narrow, sizeof narrow);
  const gint64 label = state->wide ? wide : narrow;
  return label >= 0 && label < 1000000 ? (gint32) label + state->offset : -1;
}

/* FALSE for a row that describes no object. */
static gboolean
read_row (State *state, const void *const *data, guint row, SlDetection *found)
{
  gfloat corners[4], score;
  memcpy (corners, (const guint8 *) data[state->roles.boxes] + row * sizeof corners,
          sizeof corners);
  memcpy (&score, (const guint8 *) data[state->roles.scores] + row * sizeof score, sizeof score);
  if (!isfinite (score) || !(score >= state->threshold))
    return FALSE;
  found->x_min = corners[0] / state->width;
  found->y_min = corners[1] / state->height;
  found->x_max = corners[2] / state->width;
  found->y_max = corners[3] / state->height;
  state->highest = MAX (state->highest, score);
  found->confidence = MIN (score, 1);
  found->label_id = read_label (state, data[state->roles.labels], row);
  return found->label_id >= 0 && isfinite (found->x_min) && isfinite (found->y_min)
         && isfinite (found->x_max) && isfinite (found->y_max) && found->x_max > found->x_min
         && found->y_max > found->y_min;
}

static gfloat
float_at (const void *data, gsize i)
{
  gfloat value;
  memcpy (&value, (const guint8 *) data + i * sizeof value, sizeof value);
  return value;
}

static void
add_points (const State *state, const void *const *data, guint row, SlResult *result,
            SlDetection *detection)
{
  const Roles *roles = &state->roles;
  SlDetectedPoint *points = sl_result_add_keypoints (result, detection, roles->n_points);
  for (guint k = 0; k < roles->n_points && points != NULL; k++) {
    const gsize at = (gsize) row * roles->n_points + k;
    const gfloat x = float_at (data[roles->points], 3 * at) / state->width,
                 y = float_at (data[roles->points], 3 * at + 1) / state->height;
    const gfloat confidence =
      roles->point_scores != NONE
        ? (gfloat) sl_sigmoid ((double) float_at (data[roles->point_scores], at))
        : float_at (data[roles->points], 3 * at + 2);
    const gboolean good = isfinite (x) && isfinite (y) && confidence >= 0;
    points[k] =
      good ? (SlDetectedPoint){ x, y, MIN (confidence, 1) } : (SlDetectedPoint){ 0, 0, 0 };
  }
}

static void
decode_torchvision (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  SlDetection found;
  state->top.count = 0;
  state->highest = 0;
  for (guint row = 0; row < state->roles.n; row++)
    if (read_row (state, data, row, &found))
      sl_top_k_push (&state->top, found.confidence, row);
  sl_top_k_sort (&state->top);
  result->n_detections = state->top.count;
  result->highest = state->highest;
  for (guint i = 0; i < state->top.count; i++) {
    state->rows[i] = state->top.items[i].index;
    result->detections[i] = (SlDetection){ 0 };
    read_row (state, data, state->rows[i], &result->detections[i]);
    if (state->roles.points != NONE)
      add_points (state, data, state->rows[i], result, &result->detections[i]);
  }
  if (state->roles.n_points == sl_skeleton_person.n_points)
    result->skeleton = &sl_skeleton_person;
  if (state->roles.masks == NONE)
    return;
  sl_box_masks_run (&state->masks, data[state->roles.masks], state->rows, result);
  result->masks = state->masks.masks;
}

/* Boxes are corners in pixels: fractions, or middles and sizes, are another decoder's. */
static SlCheck
check (gpointer opened, const void *const *data, GString *why)
{
  State *state = opened;
  gfloat highest = 0, x_max = 0, y_max = 0;
  guint flat = 0;
  for (guint i = 0; i < state->top.count; i++) {
    gfloat box[4];
    memcpy (box, (const guint8 *) data[state->roles.boxes] + state->rows[i] * sizeof box,
            sizeof box);
    x_max = MAX (x_max, box[2]);
    y_max = MAX (y_max, box[3]);
    highest = MAX (x_max, y_max);
  }
  if (x_max > FARTHEST * state->width || y_max > FARTHEST * state->height) {
    g_string_append_printf (
      why,
      "boxes reach to %g,%g in an input of %gx%g pixels, so they are in pixels of another picture: "
      "where the model has an input such as orig_target_sizes, state the size of its picture, "
      "%g,%g; else state imgsz=",
      (double) x_max, (double) y_max, (double) state->width, (double) state->height,
      (double) state->width, (double) state->height);
    return SL_CHECK_CONTRADICTS;
  }
  for (guint row = 0; row < state->roles.n; row++) {
    gfloat box[4], score;
    memcpy (box, (const guint8 *) data[state->roles.boxes] + row * sizeof box, sizeof box);
    memcpy (&score, (const guint8 *) data[state->roles.scores] + row * sizeof score, sizeof score);
    flat += score >= state->threshold && isfinite (box[0] + box[1] + box[2] + box[3])
            && !sl_plausible_box_has_size (box, SL_BOX_CORNERS);
  }
  if ((state->top.count == 0 || highest > SL_LARGEST_FRACTION) && flat <= state->top.count)
    return SL_CHECK_FITS;
  g_string_append (
    why, flat > state->top.count
           ? "boxes have no size as corners: state decoder=detections,box=xywh"
           : "boxes are fractions of 0..1, no pixels: state decoder=detections,units=normalised");
  return SL_CHECK_CONTRADICTS;
}

static void
close_torchvision (gpointer opened)
{
  State *state = opened;
  sl_box_masks_clear (&state->masks);
  g_free (state->rows);
  g_free (state->top.items);
  g_free (state);
}

const SlDecoder sl_decoder_torchvision = {
  .name = "torchvision",
  .description =
    "boxes[N,4] in pixels, labels[N] of whole numbers and scores[N] of torchvision's detectors, "
    "with their masks or keypoints",
  .params = params,
  .threshold = 0.5f,
  .matches = matches,
  .open = open_torchvision,
  .decode = decode_torchvision,
  .close = close_torchvision,
  .classes = classes,
  .check = check,
};
