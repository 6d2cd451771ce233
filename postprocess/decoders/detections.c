/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "detections": boxes, scores and classes as tensors of their own, in any order:
 * boxes[1,N,4] with scores[1,N], classes[1,N] and possibly count[1], as suppression inside a
 * network leaves them (EfficientNMS, combined non-maximum suppression); dets[1,N,5], whose fifth
 * number is the score, with labels[1,N] (mmdeploy); or boxes[1,N,4] with scores of all classes,
 * [1,N,C] or [1,C,N] (YOLO-NAS, PP-YOLOE). Classes and count are whole numbers of any type. Names
 * of tensors tell them, then types and shapes, then values.
 *
 * Parameters: "order": what the tensors are, in their order: boxes, scores, classes, count, and -
 * for one that does not count; "box" xyxy, yxyx or xywh (middle and size); "units" normalised or
 * pixels; "activation" of scores, none or sigmoid; "background-offset": an integer added to every
 * class; "iou-threshold", "agnostic": suppression, where a row for each cell shows that there was
 * none; "imgsz".
 */
#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "postprocess/classmax.h"
#include "postprocess/decoders.h"
#include "postprocess/detector.h"
#include "postprocess/grid.h"
#include "postprocess/params.h"
#include "postprocess/plausible.h"
#include "postprocess/tensor_role.h"

#define DEFAULT_IOU 0.45
/* Suppression leaves no more rows than that. */
#define MAX_LEFT 1000
/* Rounding leads corners out of the picture by less. */
#define EDGE_SLACK 0.02f

/** Of a tensor that is not there. */
#define NONE G_MAXUINT

typedef enum
{
  UNITS_TOLD,
  UNITS_NORMALISED,
  UNITS_PIXELS
} Units;

typedef enum
{
  ACTIVATION_TOLD,
  ACTIVATION_NONE,
  ACTIVATION_SIGMOID
} Activation;

/** Where each tensor is, or NONE; NONE for @scores where they are the fifth column of @boxes, for
 * @classes where @scores have a column a class. */
typedef struct
{
  guint boxes, scores, classes, count;
  guint n, columns; /* rows, numbers of a row of boxes */
  guint n_classes;  /* columns of scores, 0 = one score a row */
  gboolean across;  /* scores are [1,C,N] */
  gboolean named;   /* names tell boxes and scores, or whole numbers the classes */
  gboolean guessed; /* neither names nor types tell scores from classes */
} Roles;

/* How the numbers are read; values may choose what no parameter states. */
typedef struct
{
  gboolean centre, sigmoid, swapped;
} Reading;

typedef struct
{
  SlDetector detector;
  SlTensorInfo tensors[SL_MAX_IO];
  Roles roles;
  Reading reading;
  gboolean y_first, suppress;
  gboolean box_stated, activation_stated;
  Units units;
  gint offset;
  gfloat width, height; /* 0 = unknown */
} State;

static const char *const box_names[] = { "told", "xyxy", "yxyx", "xywh", NULL };
static const char *const unit_names[] = { "auto", "normalised", "pixels", NULL };
static const char *const activation_names[] = { "told", "none", "sigmoid", NULL };
static const char *const words_known[] = { "-", "boxes", "scores", "classes", "count", NULL };
static const SlDecoderParam params[] = { SL_PARAM_WORDS ("order", words_known),
                                         SL_PARAM_CHOICE ("box", box_names),
                                         SL_PARAM_CHOICE ("units", unit_names),
                                         SL_PARAM_CHOICE ("activation", activation_names),
                                         SL_PARAM_INTEGER ("background-offset", -1000, 1000),
                                         SL_DETECTOR_PARAMS,
                                         { NULL } };

static gboolean
is_whole (SlDtype dtype)
{
  return dtype == SL_DTYPE_I32 || dtype == SL_DTYPE_I64;
}

/* The roles that "order" states. */
static gboolean
read_order (const SlDecoderConfig *config, const char *text, SlTensorRole roles[SL_MAX_IO])
{
  static const SlTensorRole known[] = { SL_TENSOR_OTHER, SL_TENSOR_BOXES, SL_TENSOR_SCORES,
                                        SL_TENSOR_CLASSES, SL_TENSOR_COUNT };
  g_auto (GStrv) words = g_strsplit (text, ",", SL_MAX_IO + 1);
  if (g_strv_length (words) != config->n_tensors)
    return FALSE;
  for (guint t = 0; t < config->n_tensors; t++) {
    roles[t] = SL_TENSOR_UNNAMED;
    for (guint k = 0; k < G_N_ELEMENTS (known); k++)
      if (g_ascii_strcasecmp (g_strstrip (words[t]), words_known[k]) == 0)
        roles[t] = known[k];
    if (roles[t] == SL_TENSOR_UNNAMED)
      return FALSE;
  }
  return TRUE;
}

/* The tensor of @columns numbers a row that is named boxes, else the first that no name gives
 * another meaning. */
static gboolean
find_boxes (const SlDecoderConfig *config, const SlTensorRole named[SL_MAX_IO], guint columns,
            Roles *roles)
{
  roles->boxes = NONE;
  for (guint t = config->n_tensors; t-- > 0;) {
    const SlTensorInfo *tensor = &config->tensors[t];
    if (sl_decoder_columns (tensor) != columns || !sl_values_readable (tensor->dtype)
        || (named[t] != SL_TENSOR_BOXES && named[t] != SL_TENSOR_UNNAMED))
      continue;
    if (roles->boxes == NONE || named[t] == SL_TENSOR_BOXES
        || named[roles->boxes] != SL_TENSOR_BOXES)
      roles->boxes = t;
  }
  if (roles->boxes == NONE)
    return FALSE;
  roles->columns = columns;
  roles->n = sl_decoder_elements (&config->tensors[roles->boxes]) / columns;
  return TRUE;
}

/* One score, one class a row, and how many rows there are. */
static void
find_vectors (const SlDecoderConfig *config, const SlTensorRole named[SL_MAX_IO], Roles *roles)
{
  guint open[2], n_open = 0;
  for (guint t = 0; t < config->n_tensors; t++) {
    const SlTensorInfo *tensor = &config->tensors[t];
    const gboolean readable = sl_values_readable (tensor->dtype) || is_whole (tensor->dtype);
    if (t == roles->boxes || !readable || named[t] == SL_TENSOR_OTHER)
      continue;
    if (sl_decoder_elements (tensor) == 1 && (roles->n > 1 || named[t] == SL_TENSOR_COUNT)) {
      roles->count = t;
    } else if (sl_decoder_is_vector (tensor) && sl_decoder_elements (tensor) == roles->n) {
      const gboolean whole = is_whole (tensor->dtype);
      if (roles->scores == NONE && !whole && named[t] == SL_TENSOR_SCORES)
        roles->scores = t;
      else if (roles->classes == NONE && (whole || named[t] == SL_TENSOR_CLASSES))
        roles->classes = t;
      else if (!whole && n_open < 2)
        open[n_open++] = t;
    }
  }
  roles->guessed = n_open == 2;
  for (guint i = 0; i < n_open; i++)
    if (roles->scores == NONE && roles->columns == 4)
      roles->scores = open[i];
    else if (roles->classes == NONE)
      roles->classes = open[i];
}

/* A score for each class: the last tensor whose rows or whose columns are those of the boxes. */
static gboolean
find_matrix (const SlDecoderConfig *config, const SlTensorRole named[SL_MAX_IO], Roles *roles)
{
  for (guint t = config->n_tensors; t-- > 0;) {
    const SlTensorInfo *tensor = &config->tensors[t];
    const guint columns = sl_decoder_columns (tensor), n = sl_decoder_elements (tensor);
    const gboolean named_so = named[t] == SL_TENSOR_SCORES || named[t] == SL_TENSOR_CLASSES;
    if (t == roles->boxes || !sl_values_readable (tensor->dtype) || columns == 0
        || (named[t] != SL_TENSOR_UNNAMED && !named_so) || n % roles->n != 0
        || (columns != roles->n && n / columns != roles->n))
      continue;
    roles->scores = t;
    roles->n_classes = n / roles->n;
    roles->across = n / columns != roles->n;
    if (named_so)
      return TRUE;
  }
  return roles->scores != NONE;
}

static gboolean
find_roles (const SlDecoderConfig *config, Roles *roles)
{
  const char *order = sl_decoder_param (config, "order");
  SlTensorRole named[SL_MAX_IO];
  *roles = (Roles){ .boxes = NONE, .scores = NONE, .classes = NONE, .count = NONE };
  if (order != NULL && !read_order (config, order, named))
    return FALSE;
  for (guint t = 0; t < config->n_tensors && order == NULL; t++)
    named[t] = sl_tensor_role (&config->tensors[t]);
  if (config->n_tensors < 2
      || (!find_boxes (config, named, 4, roles) && !find_boxes (config, named, 5, roles)))
    return FALSE;
  find_vectors (config, named, roles);
  /* Without another tensor, one score a row is that of the only class. */
  if (config->n_tensors == 2 && roles->columns == 4 && roles->classes == NONE)
    roles->scores = NONE;
  if (roles->scores == NONE && roles->columns == 4
      && (roles->classes != NONE || !find_matrix (config, named, roles)))
    return FALSE;
  if (roles->n_classes == 0 && roles->classes == NONE)
    return FALSE;
  const gboolean named_scores = roles->scores != NONE && named[roles->scores] != SL_TENSOR_UNNAMED;
  roles->named = (named[roles->boxes] == SL_TENSOR_BOXES && (named_scores || roles->columns == 5))
                 || (roles->classes != NONE && is_whole (config->tensors[roles->classes].dtype));
  return TRUE;
}

/* Whether @n rows are one for each cell of an input with the usual strides. */
static gboolean
are_cells (const SlDecoderConfig *config, guint n)
{
  static const guint strides[] = { 8, 16, 32, 64 };
  SlGrid grid;
  for (guint levels = 3; levels <= 4; levels++)
    if (sl_grid_init (&grid, config->input_width, config->input_height, strides, levels, 1)
        && grid.n_rows == n)
      return TRUE;
  return FALSE;
}

/* Whether the numbers are a map's, of height and width, which detectors give before they decode. */
static gboolean
is_map (const SlTensorInfo *tensor)
{
  return tensor->rank == 4 && tensor->dims[1] > 1 && tensor->dims[2] > 1;
}

/* Whether each tensor has a role, and boxes are rows. */
static gboolean
likely (const SlDecoderConfig *config)
{
  Roles roles;
  return find_roles (config, &roles) && !is_map (&config->tensors[roles.boxes])
         && 1u + (roles.scores != NONE) + (roles.classes != NONE) + (roles.count != NONE)
              == config->n_tensors;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  Roles roles;
  return find_roles (config, &roles)
         && (roles.named
             || (likely (config) && (roles.n_classes == 0 || are_cells (config, roles.n))));
}

static guint
classes (const SlDecoderConfig *config)
{
  Roles roles;
  gint offset = 0;
  if (!find_roles (config, &roles) || roles.n_classes == 0
      || !sl_decoder_param_int (config, params, "background-offset", 0, &offset, NULL))
    return 0;
  return (guint) MAX ((gint64) roles.n_classes + offset, 0);
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  guint box, units, activation;
  gint32 width, height;
  if (!sl_decoder_param_choice (config, params, "box", &box, error)
      || !sl_decoder_param_choice (config, params, "units", &units, error)
      || !sl_decoder_param_choice (config, params, "activation", &activation, error)
      || !sl_decoder_param_int (config, params, "background-offset", 0, &state->offset, error)
      || !sl_decoder_param_size (config, &width, &height, error))
    return FALSE;
  state->width = (gfloat) width;
  state->height = (gfloat) height;
  state->units = (Units) units;
  state->box_stated = box > 0;
  /* TensorFlow's own detectors, which use this name, write y before x. */
  state->y_first =
    box == 2
    || (box == 0 && sl_tensor_is_named (&config->tensors[state->roles.boxes], "detection_boxes"));
  state->reading.centre = box == 3;
  state->activation_stated = activation > 0 || state->roles.n_classes == 0;
  state->reading.sigmoid = activation == 2;
  if (state->units != UNITS_PIXELS || width > 0)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "decoder detections: boxes are in pixels of the model's input, whose size is not known: state "
    "imgsz=HEIGHT,WIDTH");
}

static gpointer
open_detections (const SlDecoderConfig *config, GError **error)
{
  Roles roles;
  if (!find_roles (config, &roles))
    return sl_decoder_refuse (
      config, "detections",
      "boxes [1,N,4] with scores [1,N], classes [1,N] and possibly count [1]; dets [1,N,5] with "
      "labels [1,N]; or boxes [1,N,4] with scores [1,N,classes] or [1,classes,N]; order= states "
      "which is which",
      error);
  State *state = g_new0 (State, 1);
  memcpy (state->tensors, config->tensors, sizeof state->tensors);
  state->roles = roles;
  state->suppress = roles.n > MAX_LEFT || are_cells (config, roles.n);
  if (!read_parameters (state, config, error)
      || !sl_detector_init (&state->detector, config, roles.n, NULL, DEFAULT_IOU, error)) {
    sl_detector_close (state);
    return NULL;
  }
  return state;
}

/* The @i-th number of a tensor of any type that is read here. */
static gfloat
number_at (const SlTensorInfo *tensor, const void *data, gsize i)
{
  const guint8 *bytes = data;
  gint32 narrow;
  gint64 wide;
  if (tensor->dtype == SL_DTYPE_F32)
    return sl_values_float (data, i);
  if (tensor->dtype == SL_DTYPE_I32) {
    memcpy (&narrow, bytes + i * sizeof narrow, sizeof narrow);
    return (gfloat) narrow;
  }
  if (tensor->dtype == SL_DTYPE_I64) {
    memcpy (&wide, bytes + i * sizeof wide, sizeof wide);
    return (gfloat) wide;
  }
  const gfloat code =
    tensor->dtype == SL_DTYPE_I8 ? (gfloat) ((const gint8 *) data)[i] : (gfloat) bytes[i];
  return tensor->scale > 0 ? tensor->scale * (code - (gfloat) tensor->zero_point) : code;
}

static gfloat
box_number (const State *state, const void *const *data, guint row, guint k)
{
  return number_at (&state->tensors[state->roles.boxes], data[state->roles.boxes],
                    (gsize) row * state->roles.columns + k);
}

static guint
scores_at (const State *state, const Reading *reading)
{
  return reading->swapped ? state->roles.classes : state->roles.scores;
}

/* The best score of @row, and its class. */
static gfloat
score_of (const State *state, const Reading *reading, const void *const *data, guint row,
          gfloat *label)
{
  const Roles *roles = &state->roles;
  const guint scores = scores_at (state, reading),
              labels = reading->swapped ? roles->scores : roles->classes;
  gfloat best = -INFINITY;
  *label = 0;
  for (guint c = 0; c < roles->n_classes; c++) {
    const gfloat score =
      number_at (&state->tensors[scores], data[scores],
                 roles->across ? (gsize) c * roles->n + row : (gsize) row * roles->n_classes + c);
    if (score > best) {
      best = score;
      *label = (gfloat) c;
    }
  }
  if (roles->n_classes == 0) {
    *label = number_at (&state->tensors[labels], data[labels], row);
    best = scores == NONE ? box_number (state, data, row, 4)
                          : number_at (&state->tensors[scores], data[scores], row);
  }
  return reading->sigmoid ? (gfloat) sl_sigmoid ((double) best) : best;
}

/* Rows that the count declares, within those that exist. */
static guint
row_count (const State *state, const void *const *data)
{
  if (state->roles.count == NONE)
    return state->roles.n;
  const gfloat count = number_at (&state->tensors[state->roles.count], data[state->roles.count], 0);
  return count > 0 ? (count < (gfloat) state->roles.n ? (guint) count : state->roles.n) : 0;
}

static void
score_rows (State *state, const void *const *data)
{
  const Roles *roles = &state->roles;
  const Reading *reading = &state->reading;
  const guint rows = row_count (state, data);
  gfloat label;
  if (roles->n_classes > 0 && state->tensors[roles->scores].dtype == SL_DTYPE_F32)
    sl_class_max_floats (data[roles->scores], roles->n, roles->n_classes,
                         roles->across ? roles->n : 1, roles->across ? 1 : roles->n_classes,
                         state->detector.scores);
  else
    for (guint row = 0; row < rows; row++)
      state->detector.scores[row] = score_of (state, reading, data, row, &label);
  if (roles->n_classes > 0 && state->tensors[roles->scores].dtype == SL_DTYPE_F32
      && reading->sigmoid)
    for (guint row = 0; row < rows; row++)
      state->detector.scores[row] = (gfloat) sl_sigmoid ((double) state->detector.scores[row]);
  for (guint row = rows; row < roles->n; row++)
    state->detector.scores[row] = -INFINITY;
}

static gboolean
in_pixels (const State *state)
{
  if (state->units != UNITS_TOLD || state->width <= 0)
    return state->units == UNITS_PIXELS;
  for (guint i = 0; i < state->detector.n_candidates; i++)
    if (state->detector.candidates[i].x_max > SL_LARGEST_FRACTION
        || state->detector.candidates[i].y_max > SL_LARGEST_FRACTION)
      return TRUE;
  return FALSE;
}

static void
decode_detections (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  SlDetector *detector = &state->detector;
  score_rows (state, data);
  sl_detector_select (detector);
  for (guint i = 0; i < detector->top.count; i++) {
    const SlRanked *ranked = &detector->top.items[i];
    gfloat box[4], label;
    for (guint k = 0; k < 4; k++)
      box[k] = box_number (state, data, ranked->index, state->y_first ? k ^ 1 : k);
    const gfloat middle[4] = { box[0] - box[2] / 2, box[1] - box[3] / 2, box[0] + box[2] / 2,
                               box[1] + box[3] / 2 };
    score_of (state, &state->reading, data, ranked->index, &label);
    if (!(label > -0.5f && label < 1e6f))
      continue;
    const gint32 id = (gint32) lrintf (label) + state->offset;
    if (id >= 0)
      sl_detector_add (detector, state->reading.centre ? middle : box, ranked->key, id,
                       ranked->index);
  }
  if (in_pixels (state))
    sl_detector_scale (detector, 1 / state->width, 1 / state->height);
  sl_detector_finish (detector, state->suppress, result);
}

/* The scores or classes of a tensor as a table of one column. */
static gboolean
column_fits (const State *state, const void *const *data, guint at, gboolean scores,
             const char *role, GString *why)
{
  const SlTensorInfo *tensor = &state->tensors[at];
  if (is_whole (tensor->dtype))
    return !scores;
  SlValues values;
  SlColumn column;
  sl_values_init (&values, tensor, SL_SCORES_PLAIN);
  const SlRows rows = { &values, data[at], sl_decoder_elements (tensor), 1, 1, 1, NULL, 0 };
  sl_plausible_column (&rows, 0, &column, NULL);
  const gsize before = why != NULL ? why->len : 0;
  if (scores ? sl_plausible_scores (&column, &rows, 0, why)
             : sl_plausible_classes (&column, 0, why))
    return TRUE;
  if (why != NULL) {
    g_string_erase (why, (gssize) before, (gssize) strlen ("column 0 holds"));
    g_autofree char *named = g_strdup_printf ("tensor %u, taken for %s, holds", at, role);
    g_string_insert (why, (gssize) before, named);
  }
  return FALSE;
}

static gboolean
boxes_fit (const State *state, const Reading *reading, const void *const *data, GString *why)
{
  const SlBoxForm form = reading->centre ? SL_BOX_CENTRE : SL_BOX_CORNERS;
  const guint n = row_count (state, data), step = 1 + n / 4096;
  SlBoxCount count = { 0 };
  gfloat label, width = 1, height = 1;
  for (guint row = 0; row < n && state->units != UNITS_NORMALISED && state->width > 0; row += step)
    for (guint k = 0; k < 4; k++)
      if (state->units == UNITS_PIXELS
          || fabsf (box_number (state, data, row, k)) > SL_LARGEST_FRACTION) {
        width = state->width;
        height = state->height;
      }
  for (guint row = 0; row < n; row += step) {
    gfloat box[4];
    const gfloat score = score_of (state, reading, data, row, &label);
    for (guint k = 0; k < 4; k++)
      box[k] = box_number (state, data, row, state->y_first ? k ^ 1 : k);
    if (score > 0)
      sl_plausible_count_box (&count, box, form, width, height, score);
  }
  if (sl_plausible_boxes (&count, form, state->tensors[state->roles.boxes].dtype == SL_DTYPE_F32))
    return TRUE;
  if (why != NULL)
    g_string_append_printf (
      why, "boxes are none as %s: %s", reading->centre ? "xywh" : "xyxy",
      count.bad > count.sure / 4 ? "those of sure rows are not on the picture"
      : reading->centre ? "the first two numbers are always less than the others, as corners are"
                        : "many have no size");
  return FALSE;
}

static gboolean
fits (const State *state, const Reading *reading, const void *const *data, GString *why)
{
  const Roles *roles = &state->roles;
  const guint scores = scores_at (state, reading);
  if (scores != NONE && !reading->sigmoid
      && !column_fits (state, data, scores, TRUE, "scores", why))
    return FALSE;
  if (roles->n_classes == 0
      && !column_fits (state, data, reading->swapped ? roles->scores : roles->classes, FALSE,
                       "classes", why))
    return FALSE;
  return boxes_fit (state, reading, data, why);
}

/* Whether corners that are y before x for their name alone leave the picture so, and lie on it as x
 * before y. */
static gboolean
name_misleads (const State *state, const void *const *data)
{
  const gfloat right = state->width * (1 + EDGE_SLACK), bottom = state->height * (1 + EDGE_SLACK);
  const guint n = row_count (state, data);
  guint out = 0;
  gfloat label;
  if (!state->y_first || state->box_stated || state->units == UNITS_NORMALISED || state->width <= 0)
    return FALSE;
  for (guint row = 0; row < n; row++) {
    if (!(score_of (state, &state->reading, data, row, &label) >= SL_PLAUSIBLE_SURE))
      continue;
    const gfloat first = fmaxf (box_number (state, data, row, 0), box_number (state, data, row, 2));
    const gfloat second =
      fmaxf (box_number (state, data, row, 1), box_number (state, data, row, 3));
    if (first > right || second > bottom)
      return FALSE;
    out += first > bottom || second > right;
  }
  return out > 0;
}

static SlCheck
check (gpointer opened, const void *const *data, GString *why)
{
  State *state = opened;
  if (name_misleads (state, data)) {
    state->y_first = FALSE;
    g_string_append (
      why, "corners as y before x leave the picture: taken for decoder=detections,box=xyxy");
    return SL_CHECK_CHANGED;
  }
  if (fits (state, &state->reading, data, why))
    return SL_CHECK_FITS;
  for (guint bits = 1; bits < 8; bits++) {
    Reading other = state->reading;
    const gboolean swap = bits & 1, box = bits & 2, sigmoid = bits & 4;
    other.swapped = other.swapped != swap;
    other.centre = other.centre != box;
    other.sigmoid = other.sigmoid != sigmoid;
    if ((swap && !state->roles.guessed) || (sigmoid && state->roles.n_classes == 0)
        || !fits (state, &other, data, NULL))
      continue;
    const gboolean may = !(box && state->box_stated) && !(sigmoid && state->activation_stated);
    g_string_append_printf (why, "%s decoder=detections,box=%s", may ? ": taken for" : ": state",
                            other.centre ? "xywh" : "xyxy");
    if (sigmoid)
      g_string_append_printf (why, ",activation=%s", other.sigmoid ? "sigmoid" : "none");
    if (swap)
      g_string_append (why, " and classes before scores in order=");
    if (!may)
      return SL_CHECK_CONTRADICTS;
    state->reading = other;
    return SL_CHECK_CHANGED;
  }
  g_string_append (
    why,
    "; expected other parameters of decoder=detections (order=, box=, units=, activation=), or "
    "another decoder");
  return SL_CHECK_CONTRADICTS;
}

static const char *
note (gconstpointer opened)
{
  const State *state = opened;
  return state->y_first && !state->box_stated
           ? "corners are taken as y before x, as TensorFlow's detectors write them (decoder "
             "detections,box=xyxy states it)"
           : NULL;
}

const SlDecoder sl_decoder_detections = {
  .name = "detections",
  .description =
    "boxes[1,N,4] with scores[1,N], classes[1,N] and count[1], dets[1,N,5] with labels[1,N], or "
    "boxes with scores[1,N,classes]",
  .params = params,
  .threshold = 0.5f,
  .matches = matches,
  .likely = likely,
  .open = open_detections,
  .decode = decode_detections,
  .close = sl_detector_close,
  .classes = classes,
  .note = note,
  .check = check,
};
