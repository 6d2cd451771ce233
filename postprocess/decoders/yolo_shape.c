/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From parameters, shapes and labels to the meaning of YOLO's tensors. Called when a decoder is
 * opened or looked for.
 */
#include "postprocess/decoders/yolo_shape.h"

#include <string.h>

#include "core/base/fail.h"
#include "postprocess/detector.h"
#include "postprocess/params.h"
#include "postprocess/prototypes.h"

#define END_TO_END_CHANNELS 6
#define SEVEN_COLUMNS 7
#define FEWEST_KEYPOINTS 4
#define MAX_END_TO_END_ROWS 1000
/* A head that has a row for each cell has more. */
#define FEWEST_CELLS 84
/* Rows of a row's channels for the 80 classes of COCO, without and with objectness. */
#define COCO_CLASSES 80
/* Coefficients of masks of every model of the family so far. */
#define LIKELY_COEFFICIENTS 32
/* A quantised coordinate that reaches beyond this is in pixels. */
#define LARGEST_FRACTION 4

/* Numbers of a row that "columns" can name. */
#define MAX_COLUMNS 64

static const char *const preset_names[] = { "v3",  "v5",  "v7",  "v6", "v8", "v9",
                                            "v11", "v10", "v26", "x",  NULL };
static const char *const unit_names[] = { "auto", "normalised", "pixels", NULL };
static const char *const box_names[] = { "xywh", "xyxy", NULL };
static const char *const activations[] = { "none", "sigmoid", NULL };
static const char *const boxes_names[] = { "decoded", "grid", "anchors", NULL };
static const char *const column_words[] = { "x1y1x2y2",   "y1x1y2x2", "xywh", "score", "class",
                                            "objectness", "image",    "-",    NULL };
const SlDecoderParam sl_yolo_params[] = {
  SL_PARAM_CHOICE ("preset", preset_names),
  SL_PARAM_BOOL ("transposed"),
  SL_PARAM_BOOL ("objectness"),
  SL_PARAM_BOOL ("end-to-end"),
  SL_PARAM_WORDS ("columns", column_words),
  SL_PARAM_CHOICE ("box", box_names),
  SL_PARAM_CHOICE ("boxes", boxes_names),
  SL_PARAM_LIST ("anchors", 1, 65536, G_N_ELEMENTS (((SlYoloShape *) NULL)->anchors)),
  SL_PARAM_LIST ("strides", 1, 4096, SL_MAX_LEVELS),
  SL_PARAM_CHOICE ("units", unit_names),
  SL_PARAM_CHOICE ("activation", activations),
  SL_PARAM_LIST ("keypoints", 1, SL_MAX_KEYPOINTS, 2),
  SL_PARAM_LIST ("kpt_shape", 1, SL_MAX_KEYPOINTS, 2),
  SL_PARAM_BOOL ("masks"),
  SL_PARAM_BOOL ("angle"),
  SL_DETECTOR_PARAMS,
  { NULL }
};

/* Parameters that say which columns a row has. */
static const char *const column_params[] = { "preset",    "transposed", "objectness", "end-to-end",
                                             "columns",   "box",        "boxes",      "keypoints",
                                             "kpt_shape", "angle" };

typedef enum
{
  UNKNOWN = -1,
  NO,
  YES
} Answer;

/* What a model generation fixes, in the order of preset_names. */
static const struct
{
  Answer transposed, objectness, end_to_end;
  SlYoloBoxes boxes;
} presets[] = {
  { NO, YES, NO, SL_YOLO_BOXES_DECODED },     /* v3 */
  { NO, YES, NO, SL_YOLO_BOXES_DECODED },     /* v5 */
  { NO, YES, NO, SL_YOLO_BOXES_DECODED },     /* v7 */
  { UNKNOWN, NO, NO, SL_YOLO_BOXES_DECODED }, /* v6 */
  { YES, NO, NO, SL_YOLO_BOXES_DECODED },     /* v8 */
  { YES, NO, NO, SL_YOLO_BOXES_DECODED },     /* v9 */
  { YES, NO, NO, SL_YOLO_BOXES_DECODED },     /* v11 */
  { NO, NO, YES, SL_YOLO_BOXES_DECODED },     /* v10 */
  { NO, NO, YES, SL_YOLO_BOXES_DECODED },     /* v26 */
  { NO, YES, NO, SL_YOLO_BOXES_GRID },        /* x */
};
G_STATIC_ASSERT (G_N_ELEMENTS (presets) + 1 == G_N_ELEMENTS (preset_names));

/* Answers so far. */
typedef struct
{
  Answer transposed, objectness, end_to_end;
  guint extra; /* channels behind the classes */
} Facts;

static gboolean
read_answer (const SlDecoderConfig *config, const char *key, Answer *answer, GError **error)
{
  gboolean value;
  if (sl_decoder_param (config, key) == NULL)
    return TRUE;
  if (!sl_decoder_param_bool (config, sl_yolo_params, key, FALSE, &value, error))
    return FALSE;
  *answer = value ? YES : NO;
  return TRUE;
}

static gboolean
read_preset (const SlDecoderConfig *config, SlYoloShape *shape, Facts *facts, GError **error)
{
  guint i;
  if (!sl_decoder_param_choice (config, sl_yolo_params, "preset", &i, error))
    return FALSE;
  if (sl_decoder_param (config, "preset") == NULL)
    return TRUE;
  facts->transposed = presets[i].transposed;
  facts->objectness = presets[i].objectness;
  facts->end_to_end = presets[i].end_to_end;
  shape->boxes = presets[i].boxes;
  shape->certain = TRUE;
  return TRUE;
}

static gboolean
read_keypoints (const SlDecoderConfig *config, SlYoloShape *shape, Facts *facts, GError **error)
{
  const char *key = sl_decoder_param (config, "keypoints") != NULL ? "keypoints" : "kpt_shape";
  double size[2];
  guint n = 0;
  if (!sl_decoder_param_list (config, sl_yolo_params, key, size, &n, error))
    return FALSE;
  if (n == 0)
    return TRUE;
  shape->n_keypoints = (guint) size[0];
  shape->keypoint_size = n == 2 ? (guint) size[1] : 3;
  facts->extra = shape->n_keypoints * shape->keypoint_size;
  if (shape->keypoint_size == 2 || shape->keypoint_size == 3)
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "decoder parameter %s: expected a count and 2 or 3, such as 17,3, got '%s'", key,
                  sl_decoder_param (config, key));
}

/* A number behind the classes is the angle of a box that is turned. */
static gboolean
read_angle (const SlDecoderConfig *config, SlYoloShape *shape, Facts *facts, GError **error)
{
  const char *task = sl_decoder_param (config, "task");
  if (!sl_decoder_param_bool (config, sl_yolo_params, "angle",
                              task != NULL && g_ascii_strcasecmp (task, "obb") == 0, &shape->turned,
                              error))
    return FALSE;
  if (shape->turned && (shape->n_keypoints > 0 || shape->boxes != SL_YOLO_BOXES_DECODED))
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder parameter angle: boxes that are turned are decoded ones without keypoints; leave "
      "out keypoints= and boxes=");
  facts->extra += shape->turned ? 1 : 0;
  return TRUE;
}

/* Which of two tensors are prototypes, if one is. */
static gboolean
find_prototypes (const SlDecoderConfig *config, SlYoloShape *shape, Facts *facts, GError **error)
{
  const char *task = sl_decoder_param (config, "task");
  SlPictureShape picture;
  gboolean wanted;
  if (!sl_decoder_param_bool (config, sl_yolo_params, "masks", TRUE, &wanted, error))
    return FALSE;
  if (shape->n_keypoints > 0 || shape->turned || shape->boxes != SL_YOLO_BOXES_DECODED)
    return TRUE;
  if (task != NULL && g_ascii_strcasecmp (task, "segment") == 0)
    facts->extra = LIKELY_COEFFICIENTS;
  for (guint t = 0; t < 2 && config->n_tensors == 2; t++)
    if (config->tensors[1 - t].rank <= 3 && sl_prototypes_shape (&config->tensors[t], &picture)) {
      shape->prototypes = t;
      shape->first_part = 1 - t;
      shape->n_parts = 1;
      shape->n_coefficients = wanted ? picture.channels : 0;
      facts->extra = picture.channels;
      return TRUE;
    }
  if (sl_decoder_param (config, "masks") == NULL || !wanted)
    return TRUE;
  return sl_decoder_refuse (
           config, "yolo",
           "for masks=yes two tensors, boxes [1,channels,rows] or [1,rows,channels] and prototypes "
           "[1,H,W,K] or [1,K,H,W] with K in 4..64",
           error)
         != NULL;
}

/* The words of "columns". A box is one word for four numbers. */
static gboolean
read_columns (const SlDecoderConfig *config, SlYoloShape *shape, Facts *facts, GError **error)
{
  const char *text = sl_decoder_param (config, "columns");
  g_auto (GStrv) words = g_strsplit (text != NULL ? text : "", ",", MAX_COLUMNS + 1);
  guint at = 0, boxes = 0, scores = 0, classes = 0, objectness = 0;
  gboolean good = TRUE;
  if (text == NULL)
    return TRUE;
  for (guint i = 0; words[i] != NULL; i++) {
    const char *word = g_strstrip (words[i]);
    const gboolean centre = g_str_equal (word, "xywh"), y_first = g_str_equal (word, "y1x1y2x2");
    if (centre || y_first || g_str_equal (word, "x1y1x2y2")) {
      shape->first_box = at;
      shape->corners = !centre;
      shape->y_first = y_first;
      boxes++;
      at += 4;
      continue;
    }
    if (g_str_equal (word, "score")) {
      shape->score_at = at;
      scores++;
    } else if (g_str_equal (word, "class")) {
      shape->class_at = at;
      classes++;
    } else if (g_str_equal (word, "objectness")) {
      shape->objectness_at = at;
      objectness++;
    } else {
      good = good && (g_str_equal (word, "image") || g_str_equal (word, "-"));
    }
    at++;
  }
  shape->channels = at;
  facts->end_to_end = YES;
  facts->transposed = facts->transposed == UNKNOWN ? NO : facts->transposed;
  if (good && boxes == 1 && scores == 1 && classes == 1 && objectness <= 1
      && (objectness == 0 || shape->objectness_at > 0))
    return TRUE;
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "decoder parameter columns: expected one of x1y1x2y2, y1x1y2x2 and xywh, one score, one class, "
    "and possibly objectness, image and -, got '%s'",
    text);
}

static gboolean
read_parameters (const SlDecoderConfig *config, SlYoloShape *shape, Facts *facts, GError **error)
{
  const char *task = sl_decoder_param (config, "task");
  guint choice;
  if (!read_preset (config, shape, facts, error)
      || !read_answer (config, "transposed", &facts->transposed, error)
      || !read_answer (config, "objectness", &facts->objectness, error)
      || !read_answer (config, "end-to-end", &facts->end_to_end, error)
      || !read_keypoints (config, shape, facts, error)
      || !read_columns (config, shape, facts, error)
      || !sl_decoder_param_choice (config, sl_yolo_params, "units", &choice, error))
    return FALSE;
  shape->units = (SlYoloUnits) choice;
  if (!sl_decoder_param_choice (config, sl_yolo_params, "box", &choice, error))
    return FALSE;
  shape->corners = shape->corners || choice == 1;
  if (!sl_decoder_param_choice (config, sl_yolo_params, "activation", &choice, error))
    return FALSE;
  shape->sigmoid = choice == 1;
  if (!sl_decoder_param_choice (config, sl_yolo_params, "boxes", &choice, error))
    return FALSE;
  if (sl_decoder_param (config, "boxes") != NULL)
    shape->boxes = (SlYoloBoxes) choice;
  if (!read_angle (config, shape, facts, error) || !find_prototypes (config, shape, facts, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (column_params); i++)
    shape->stated = shape->stated || sl_decoder_param (config, column_params[i]) != NULL;
  if (task != NULL)
    shape->certain = strcmp (task, "detect") == 0 || strcmp (task, "pose") == 0
                     || strcmp (task, "segment") == 0 || strcmp (task, "obb") == 0;
  return sl_decoder_param_size (config, &shape->width, &shape->height, error);
}

/* The two dimensions of a tensor [1,a,b] or [a,b]. */
static gboolean
two_dims (const SlTensorInfo *tensor, guint *a, guint *b)
{
  guint dims[2], n = 0;
  for (guint i = 0; i < tensor->rank; i++)
    if (i + 2 >= tensor->rank)
      dims[n++] = (guint) tensor->dims[i];
    else if (tensor->dims[i] != 1)
      return FALSE;
  if (n < 2)
    return FALSE;
  *a = dims[0];
  *b = dims[1];
  return TRUE;
}

static gboolean
labels_fit (const SlDecoderConfig *config, guint channels, const Facts *facts)
{
  const guint boxes = channels - MIN (channels, 4 + facts->extra);
  return config->n_labels > 0
         && ((facts->objectness != YES && boxes == config->n_labels)
             || (facts->objectness != NO && boxes == config->n_labels + 1));
}

/* Whether @rows are those of a cell each of an input with the usual strides. */
static gboolean
are_cells (const SlYoloShape *shape, guint rows)
{
  static const guint strides[] = { 8, 16, 32 };
  SlGrid grid;
  return sl_grid_init (&grid, shape->width, shape->height, strides, G_N_ELEMENTS (strides), 1)
         && grid.n_rows == rows;
}

/* Seven columns that begin with the number of the picture: those of DetectionOutput [1,1,N,7], and
 * of YOLOv7 with its suppression [N,7]. */
static gboolean
settle_seven (const SlDecoderConfig *config, SlYoloShape *shape, Facts *facts, guint b)
{
  const SlTensorInfo *tensor = &config->tensors[shape->first_part];
  const guint rows = sl_decoder_elements (tensor) / b;
  const gboolean output = tensor->rank == 4, few = rows < FEWEST_CELLS || rows % 100 == 0;
  if (b != SEVEN_COLUMNS || shape->stated || config->n_tensors > 1 || rows > MAX_END_TO_END_ROWS
      || (tensor->rank == 3 && (!few || labels_fit (config, b, facts))))
    return FALSE;
  facts->end_to_end = YES;
  shape->first_box = output ? 3 : 1;
  shape->class_at = output ? 1 : 5;
  shape->score_at = output ? 2 : 6;
  shape->corners = TRUE;
  return TRUE;
}

/* Channels first that are many more than there are labels: keypoints of three numbers each fill the
 * rest, as those of a pose do. */
static void
settle_keypoints (const SlDecoderConfig *config, SlYoloShape *shape, Facts *facts)
{
  const guint known = 4 + config->n_labels;
  if (shape->stated || !shape->transposed || config->n_labels == 0 || facts->extra > 0
      || shape->n_parts > 1 || sl_decoder_param (config, "task") != NULL
      || shape->channels < known + 3 * FEWEST_KEYPOINTS || (shape->channels - known) % 3 != 0
      || (shape->channels - known) / 3 > SL_MAX_KEYPOINTS)
    return;
  shape->keypoint_size = 3;
  shape->n_keypoints = (shape->channels - known) / 3;
  facts->extra = shape->channels - known;
}

/* Decides what is left open about rows of @a x @b numbers. */
static void
settle (const SlDecoderConfig *config, SlYoloShape *shape, Facts *facts, guint a, guint b)
{
  /* What a preset says holds for its exporter; a converter may have turned the rows, as their
   * number shows. */
  if (facts->transposed == YES && sl_decoder_param (config, "transposed") == NULL
      && are_cells (shape, a) && !are_cells (shape, b))
    facts->transposed = NO;
  if (facts->end_to_end == UNKNOWN && !settle_seven (config, shape, facts, b))
    facts->end_to_end = b == END_TO_END_CHANNELS + facts->extra && a <= MAX_END_TO_END_ROWS && a > b
                            && facts->objectness == UNKNOWN && facts->transposed != YES
                            && shape->boxes == SL_YOLO_BOXES_DECODED && !are_cells (shape, a)
                          ? YES
                          : NO;
  if (facts->end_to_end == YES)
    facts->transposed = facts->transposed == UNKNOWN ? NO : facts->transposed;
  if (facts->transposed == UNKNOWN)
    facts->transposed = labels_fit (config, a, facts) == labels_fit (config, b, facts)
                          ? a < b
                          : labels_fit (config, a, facts);
  shape->transposed = facts->transposed == YES;
  shape->stated_columns = shape->channels;
  shape->channels = shape->transposed ? a : b;
  shape->rows = shape->transposed ? b : a;
  settle_keypoints (config, shape, facts);
  if (facts->objectness == UNKNOWN) {
    const guint boxes = shape->channels - MIN (shape->channels, 4 + facts->extra);
    facts->objectness = boxes == 1 || (config->n_labels > 0 && boxes == config->n_labels) ? NO
                        : config->n_labels > 0 && boxes == config->n_labels + 1           ? YES
                        : boxes == COCO_CLASSES                                           ? NO
                        : boxes == COCO_CLASSES + 1 || !shape->transposed                 ? YES
                                                                                          : NO;
  }
}

/* Whole hundreds of rows with scores of classes, as no head has cells, are the queries of RT-DETR,
 * of which none is there twice. */
static gboolean
are_queries (const SlYoloShape *shape, const Facts *facts)
{
  return !shape->stated && !shape->transposed && facts->objectness == NO && shape->n_parts == 1
         && shape->rows <= MAX_END_TO_END_ROWS && shape->rows % 100 == 0
         && !are_cells (shape, shape->rows);
}

/* Where the numbers of a row that is end to end are. */
static gboolean
place_columns (const SlDecoderConfig *config, SlYoloShape *shape, GError **error)
{
  if (shape->score_at == 0 && shape->class_at == 0) {
    shape->score_at = 4;
    shape->class_at = 5;
  }
  shape->suppress = shape->stated_columns > 0
                    && (shape->rows > MAX_END_TO_END_ROWS || are_cells (shape, shape->rows));
  if (shape->stated_columns == 0 || shape->stated_columns == shape->channels)
    return TRUE;
  return sl_fail (error, SL_ERROR_SHAPE,
                  "decoder yolo: columns=%s are %u numbers a row; the tensor has %u",
                  sl_decoder_param (config, "columns"), shape->stated_columns, shape->channels);
}

static gboolean
count_channels (const SlDecoderConfig *config, SlYoloShape *shape, const Facts *facts,
                GError **error)
{
  shape->end_to_end = facts->end_to_end == YES;
  if (shape->end_to_end && !place_columns (config, shape, error))
    return FALSE;
  shape->suppress = shape->suppress || (!shape->end_to_end && !are_queries (shape, facts));
  shape->objectness = facts->objectness == YES && !shape->end_to_end;
  shape->first_class = 4 + (shape->objectness ? 1 : 0);
  shape->corners =
    shape->corners || (shape->end_to_end && !shape->turned && shape->stated_columns == 0);
  const guint extra = shape->end_to_end && facts->extra == 0
                        ? shape->channels - MIN (shape->channels, 6)
                        : facts->extra;
  const guint fixed = (shape->end_to_end ? END_TO_END_CHANNELS : shape->first_class) + extra;
  if (shape->channels < fixed + (shape->end_to_end ? 0 : 1))
    return sl_fail (
      error, SL_ERROR_SHAPE,
      "decoder yolo: %u channels are too few for 4 of a box%s, %u behind the classes and %s; state "
      "transposed=, objectness=, keypoints= or masks=",
      shape->channels, shape->objectness ? ", objectness" : "", extra,
      shape->end_to_end ? "score and class" : "a class");
  shape->classes = shape->end_to_end ? 0 : shape->channels - fixed;
  shape->first_keypoint =
    shape->end_to_end ? END_TO_END_CHANNELS : shape->first_class + shape->classes;
  shape->first_coefficient = shape->first_keypoint;
  return TRUE;
}

static gboolean
read_grid (const SlDecoderConfig *config, SlYoloShape *shape, GError **error)
{
  double numbers[SL_MAX_LEVELS] = { 8, 16, 32 };
  guint strides[SL_MAX_LEVELS], n = 3, n_anchors = 0;
  if (!sl_decoder_param_list (config, sl_yolo_params, "strides", numbers, &n, error)
      || !sl_decoder_param_list (config, sl_yolo_params, "anchors", shape->anchors, &n_anchors,
                                 error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    strides[i] = (guint) numbers[i];
  const gboolean anchored = shape->boxes == SL_YOLO_BOXES_ANCHORS;
  if (anchored && (n_anchors == 0 || n_anchors % (2 * n) != 0))
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder parameter anchors: boxes=anchors needs a width and a height for each anchor of %u "
      "strides, the same number for each, got %u numbers",
      n, n_anchors);
  shape->per_cell = anchored ? n_anchors / (2 * n) : 1;
  if (!sl_grid_init (&shape->grid, shape->width, shape->height, strides, n, shape->per_cell))
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder yolo: the size of the model's input is not known, which boxes in cells need: state "
      "imgsz=HEIGHT,WIDTH");
  if (shape->grid.n_rows == shape->rows)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_SHAPE,
    "decoder yolo: an input of %dx%d and %u strides makes %u rows, the tensors have %u",
    shape->width, shape->height, n, shape->grid.n_rows, shape->rows);
}

static gboolean
settle_units (const SlDecoderConfig *config, SlYoloShape *shape, GError **error)
{
  const SlTensorInfo *tensor = &config->tensors[shape->first_part];
  if (shape->boxes != SL_YOLO_BOXES_DECODED)
    shape->units = SL_YOLO_UNITS_PIXELS;
  if (shape->units == SL_YOLO_UNITS_AUTO && tensor->dtype != SL_DTYPE_F32 && tensor->scale > 0)
    shape->units =
      tensor->scale * 255 > LARGEST_FRACTION ? SL_YOLO_UNITS_PIXELS : SL_YOLO_UNITS_NORMALISED;
  if (shape->units == SL_YOLO_UNITS_NORMALISED || (shape->width > 0 && shape->height > 0))
    return TRUE;
  if (shape->units == SL_YOLO_UNITS_AUTO && shape->width == 0) {
    shape->units = SL_YOLO_UNITS_NORMALISED;
    return TRUE;
  }
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "decoder yolo: boxes are in pixels of the model's input, whose size is not known: state "
    "imgsz=HEIGHT,WIDTH");
}

/* Whether shapes alone are reason enough to take the tensors for YOLO's. */
static gboolean
looks_certain (const SlDecoderConfig *config, const SlYoloShape *shape, const Facts *facts)
{
  static const guint strides[] = { 8, 16, 32 };
  SlGrid grid;
  if (shape->certain)
    return TRUE;
  if (shape->end_to_end)
    return (shape->channels == END_TO_END_CHANNELS && shape->rows % 100 == 0)
           || shape->first_box > 0;
  if (labels_fit (config, shape->channels, facts) || shape->classes == COCO_CLASSES)
    return shape->rows > 1;
  return sl_grid_init (&grid, shape->width, shape->height, strides, 3, 1)
         && (shape->rows == grid.n_rows || shape->rows == 3 * grid.n_rows);
}

/* Whether rows may be YOLOX's as well as decoded ones. */
static gboolean
may_be_offsets (const SlDecoderConfig *config, SlYoloShape *shape)
{
  static const guint strides[] = { 8, 16, 32 };
  return sl_decoder_param (config, "boxes") == NULL && sl_decoder_param (config, "preset") == NULL
         && sl_decoder_param (config, "task") == NULL && shape->objectness && !shape->transposed
         && !shape->corners && shape->n_parts == 1 && shape->units != SL_YOLO_UNITS_NORMALISED
         && sl_grid_init (&shape->grid, shape->width, shape->height, strides,
                          G_N_ELEMENTS (strides), 1)
         && shape->grid.n_rows == shape->rows;
}

static gboolean
find_rows (const SlDecoderConfig *config, SlYoloShape *shape, Facts *facts, GError **error)
{
  static const char expected[] =
    "boxes and scores as one tensor of uint8, int8 or float32, [1,channels,rows] or "
    "[1,rows,channels], or one tensor [1,anchors,height,width,channels] for each stride";
  guint a = 0, b = 0;
  const SlTensorInfo *parts = &config->tensors[shape->first_part];
  if (shape->n_parts == 0)
    shape->n_parts = config->n_tensors;
  for (guint t = 0; t < shape->n_parts; t++)
    if (!sl_values_readable (parts[t].dtype) || parts[t].dtype != parts[0].dtype
        || parts[t].rank < 2)
      return sl_decoder_refuse (config, "yolo", expected, error) != NULL;
  if (shape->n_parts == 1 && two_dims (&parts[0], &a, &b)) {
    settle (config, shape, facts, a, b);
    return TRUE;
  }
  if (shape->boxes == SL_YOLO_BOXES_DECODED)
    return sl_decoder_refuse (config, "yolo", expected, error) != NULL;
  facts->transposed = NO;
  b = (guint) parts[0].dims[parts[0].rank - 1];
  guint64 rows = 0;
  for (guint t = 0; t < shape->n_parts; t++) {
    const SlTensorInfo *tensor = &parts[t];
    if ((guint) tensor->dims[tensor->rank - 1] != b)
      return sl_decoder_refuse (config, "yolo", expected, error) != NULL;
    rows += sl_decoder_elements (tensor) / b;
  }
  if (rows > G_MAXINT32)
    return sl_decoder_refuse (config, "yolo", "fewer than 2^31 rows", error) != NULL;
  settle (config, shape, facts, (guint) rows, b);
  return TRUE;
}

gboolean
sl_yolo_shape_find (SlYoloShape *shape, const SlDecoderConfig *config, GError **error)
{
  Facts facts = { UNKNOWN, UNKNOWN, UNKNOWN, 0 };
  memset (shape, 0, sizeof *shape);
  if (!read_parameters (config, shape, &facts, error) || !find_rows (config, shape, &facts, error)
      || !count_channels (config, shape, &facts, error))
    return FALSE;
  if (shape->boxes != SL_YOLO_BOXES_DECODED && !read_grid (config, shape, error))
    return FALSE;
  shape->told = config->n_labels > 0 || sl_decoder_param (config, "task") != NULL
                || shape->classes == COCO_CLASSES;
  shape->by_values = may_be_offsets (config, shape);
  shape->certain = looks_certain (config, shape, &facts);
  return settle_units (config, shape, error);
}
