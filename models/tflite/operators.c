/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The operator table of the TFLite reader and the writer, made of SL_TFLITE_OPERATORS. Options are
 * rows of SL_TFLITE_OPTIONS; a parser reads what these cannot say. Parsers refuse values outside
 * the schema; what fits an operator's tensors is checked later, by its row in core/ops.
 */
#include "models/tflite/operators.h"

#include <math.h>

#include "core/base/byte_order.h"
#include "core/base/fail.h"
#include "models/tflite/flexbuffer.h"

gboolean
tfl_bad_option (GError **error, SlError code, const char *name, gint value, const char *expected)
{
  return sl_fail (error, code, "option %s is %d; expected %s", name, value, expected);
}

/* By number in the schema. */
static const SlActivation activations[] = { SL_ACTIVATION_NONE, SL_ACTIVATION_RELU,
                                            SL_ACTIVATION_RELU_N1_TO_1, SL_ACTIVATION_RELU6 };

gboolean
tfl_read_activation (guint8 number, SlActivation *activation, GError **error)
{
  if (number >= G_N_ELEMENTS (activations))
    return tfl_bad_option (error, SL_ERROR_UNSUPPORTED, "fused_activation_function", number,
                           "0 NONE, 1 RELU, 2 RELU_N1_TO_1 or 3 RELU6");
  *activation = activations[number];
  return TRUE;
}

static gboolean
parse_fully_connected (const TflOptions *o, SlOpParams *params, GError **error)
{
  const guint8 format = sl_fb_u8 (&o->options, 1, 0);
  return format == 0
         || tfl_bad_option (error, SL_ERROR_UNSUPPORTED, "weights_format", format, "0 DEFAULT");
}

static gboolean
parse_softmax (const TflOptions *o, SlOpParams *params, GError **error)
{
  return isfinite (params->softmax.beta)
         || sl_fail (error, SL_ERROR_FORMAT, "option beta is not finite");
}

static gboolean
read_dims (const SlFbTable *options, const char *name, guint *count, gint32 dims[SL_MAX_RANK],
           GError **error)
{
  const SlFbVector vector = sl_fb_vector (options, 0, 4);
  if (vector.count > SL_MAX_RANK)
    return sl_fail (error, SL_ERROR_LIMIT, "option %s has %u entries; at most %d are supported",
                    name, vector.count, SL_MAX_RANK);
  *count = vector.count;
  for (guint i = 0; i < vector.count; i++)
    dims[i] = sl_fb_vector_i32 (&vector, i);
  return TRUE;
}

/* A shape given as a tensor wins over the one in the options. */
static gboolean
parse_reshape (const TflOptions *o, SlOpParams *params, GError **error)
{
  if (o->n_inputs >= 2)
    return TRUE;
  return read_dims (&o->options, "new_shape", &params->reshape.count, params->reshape.dims, error);
}

static gboolean
parse_squeeze (const TflOptions *o, SlOpParams *params, GError **error)
{
  return read_dims (&o->options, "squeeze_dims", &params->squeeze.count, params->squeeze.axes,
                    error);
}

static gboolean
flex_int (const SlFlexMap *map, const char *key, gint32 lowest, gboolean required, gint32 *value,
          GError **error)
{
  gdouble number;
  if (!sl_flex_map_number (map, key, &number)) {
    if (!required)
      return TRUE;
    return sl_fail (error, SL_ERROR_FORMAT, "custom option %s is missing", key);
  }
  if (number >= lowest && number <= 1000000 && number == floor (number)) {
    *value = (gint32) number;
    return TRUE;
  }
  return sl_fail (error, SL_ERROR_FORMAT,
                  "custom option %s is %g; expected a whole number from %d to 1000000", key, number,
                  lowest);
}

static gboolean
flex_float (const SlFlexMap *map, const char *key, gboolean positive, gfloat *value, GError **error)
{
  gdouble number;
  if (!sl_flex_map_number (map, key, &number))
    return sl_fail (error, SL_ERROR_FORMAT, "custom option %s is missing", key);
  if (isfinite (number) && fabs (number) <= (gdouble) G_MAXFLOAT
      && (!positive || (gfloat) number > 0.0f)) {
    *value = (gfloat) number;
    return TRUE;
  }
  return sl_fail (error, SL_ERROR_FORMAT, "custom option %s is %g; expected a %s number", key,
                  number, positive ? "positive" : "finite");
}

static gboolean
parse_detection (const TflOptions *o, SlOpParams *params, GError **error)
{
  SlDetectionParams *d = &params->detection;
  SlFlexMap map;
  gdouble regular = 0;
  d->detections_per_class = 100;
  if (!sl_flex_map_open (&map, o->custom, o->custom_size, error))
    return FALSE;
  sl_flex_map_number (&map, "use_regular_nms", &regular);
  d->use_regular_nms = regular != 0;
  return flex_int (&map, "max_detections", 1, TRUE, &d->max_detections, error)
         && flex_int (&map, "max_classes_per_detection", 1, TRUE, &d->max_classes_per_detection,
                      error)
         && flex_int (&map, "detections_per_class", 1, FALSE, &d->detections_per_class, error)
         && flex_int (&map, "num_classes", 1, TRUE, &d->num_classes, error)
         && flex_float (&map, "nms_score_threshold", FALSE, &d->nms_score_threshold, error)
         && flex_float (&map, "nms_iou_threshold", TRUE, &d->nms_iou_threshold, error)
         && flex_float (&map, "y_scale", TRUE, &d->scale_y, error)
         && flex_float (&map, "x_scale", TRUE, &d->scale_x, error)
         && flex_float (&map, "h_scale", TRUE, &d->scale_h, error)
         && flex_float (&map, "w_scale", TRUE, &d->scale_w, error);
}

static gboolean
parse_mirror (const TflOptions *o, SlOpParams *params, GError **error)
{
  const guint8 mode = sl_fb_u8 (&o->options, 0, 0);
  return mode <= 1
         || tfl_bad_option (error, SL_ERROR_FORMAT, "mode", mode, "0 REFLECT or 1 SYMMETRIC");
}

/* MediaPipe's: padding, and strides across and down, as three numbers of 32 bits. */
static gboolean
parse_transpose_bias (const TflOptions *o, SlOpParams *params, GError **error)
{
  static const SlPadding paddings[] = { [1] = SL_PADDING_SAME, [2] = SL_PADDING_VALID };
  SlWindow *w = &params->window;
  if (o->custom == NULL || o->custom_size < 3 * sizeof (guint32))
    return sl_fail (error, SL_ERROR_FORMAT,
                    "its custom options have %" G_GSIZE_FORMAT
                    " bytes; expected padding and two strides, 12",
                    o->custom_size);
  const guint32 padding = sl_le32 (o->custom), across = sl_le32 (o->custom + 4),
                down = sl_le32 (o->custom + 8);
  if (padding < 1 || padding > 2 || across < 1 || across > G_MAXINT16 || down < 1
      || down > G_MAXINT16)
    return sl_fail (
      error, SL_ERROR_FORMAT,
      "its custom options state padding %u and strides %u and %u; expected 1 (SAME) or 2 (VALID), "
      "and strides from 1 to 32767",
      padding, across, down);
  *w = (SlWindow){ .padding = paddings[padding],
                   .stride_h = (gint32) down,
                   .stride_w = (gint32) across,
                   .dilation_h = 1,
                   .dilation_w = 1 };
  return TRUE;
}

/* TfLitePoolParams as the C compiler lays them out: padding, strides across and down, the window's
 * width and height, activation. */
static gboolean
parse_custom_pool (const TflOptions *o, SlOpParams *params, GError **error)
{
  enum
  {
    PADDING,
    STRIDE_W,
    STRIDE_H,
    FILTER_W,
    FILTER_H,
    ACTIVATION,
    N_FIELDS
  };
  guint32 fields[N_FIELDS];
  if (o->custom == NULL || o->custom_size < sizeof fields)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "its custom options have %" G_GSIZE_FORMAT
                    " bytes; expected padding, strides, window and activation, %" G_GSIZE_FORMAT,
                    o->custom_size, sizeof fields);
  for (guint i = 0; i < N_FIELDS; i++)
    fields[i] = sl_le32 (o->custom + 4 * i);
  if (fields[PADDING] < 1 || fields[PADDING] > 2
      || fields[ACTIVATION] >= G_N_ELEMENTS (activations))
    return sl_fail (
      error, SL_ERROR_FORMAT,
      "its custom options state padding %u and activation %u; expected 1 (SAME) or 2 (VALID), and "
      "0 to 3",
      fields[PADDING], fields[ACTIVATION]);
  for (guint i = STRIDE_W; i <= FILTER_H; i++)
    if (fields[i] < 1 || fields[i] > G_MAXINT16)
      return sl_fail (error, SL_ERROR_FORMAT,
                      "its custom options state a stride or window of %u; expected 1 to %d",
                      fields[i], G_MAXINT16);
  params->window = (SlWindow){ .padding = fields[PADDING] == 1 ? SL_PADDING_SAME : SL_PADDING_VALID,
                               .stride_h = (gint32) fields[STRIDE_H],
                               .stride_w = (gint32) fields[STRIDE_W],
                               .filter_h = (gint32) fields[FILTER_H],
                               .filter_w = (gint32) fields[FILTER_W],
                               .dilation_h = 1,
                               .dilation_w = 1,
                               .activation = activations[fields[ACTIVATION]] };
  return TRUE;
}

static gboolean
parse_posenet (const TflOptions *o, SlOpParams *params, GError **error)
{
  SlPosenetParams *p = &params->posenet;
  SlFlexMap map;
  return sl_flex_map_open (&map, o->custom, o->custom_size, error)
         && flex_int (&map, "max_detections", 1, TRUE, &p->max_detections, error)
         && flex_int (&map, "stride", 1, TRUE, &p->stride, error)
         && flex_float (&map, "score_threshold", FALSE, &p->score_threshold, error)
         && flex_float (&map, "nms_radius", FALSE, &p->nms_radius, error);
}

/* TANH, number 4, is an activation of LSTMs only. */
static gboolean
parse_lstm (const TflOptions *o, SlOpParams *params, GError **error)
{
  params->lstm.activation_is_tanh = sl_fb_u8 (&o->options, 0, 0) == 4;
  params->lstm.cell_clip = sl_fb_f32 (&o->options, 1, 0.0f);
  params->lstm.projection_clip = sl_fb_f32 (&o->options, 2, 0.0f);
  params->lstm.time_major = sl_fb_u8 (&o->options, 3, 0) != 0;
  return params->lstm.activation_is_tanh
         || tfl_read_activation (sl_fb_u8 (&o->options, 0, 0), &params->lstm.activation, error);
}

static gboolean
parse_local_response (const TflOptions *o, SlOpParams *params, GError **error)
{
  params->local_response.after = params->local_response.before;
  return TRUE;
}

#define BUILTIN(type, row, number, options) { number, NULL, SL_OP_##type, options, NULL },

static const TflOp builtins[] = { SL_TFLITE_OPERATORS (BUILTIN) };

/* Further names of operators, and custom operators. */
static const TflOp others[] = {
  { 91, NULL, SL_OP_REDUCE_MAX, 27, NULL }, /* REDUCE_ANY */
  { 123, NULL, SL_OP_SELECT, 0, NULL },     /* SELECT_V2 */
  { TFL_BUILTIN_DENSIFY, NULL, SL_OP_RESHAPE, 0, NULL },
  { 140, NULL, SL_OP_REDUCE_MIN, 27, NULL }, /* REDUCE_ALL */
  { TFL_BUILTIN_CUSTOM, "Convolution2DTransposeBias", SL_OP_TRANSPOSE_CONV, 0,
    parse_transpose_bias },
  { TFL_BUILTIN_CUSTOM, "MaxPoolingWithArgmax2D", SL_OP_MAX_POOL_WITH_ARGMAX, 0,
    parse_custom_pool },
  { TFL_BUILTIN_CUSTOM, "MaxUnpooling2D", SL_OP_MAX_UNPOOL, 0, parse_custom_pool },
  { TFL_BUILTIN_CUSTOM, "PosenetDecoderOp", SL_OP_POSENET_DECODER, 0, parse_posenet },
  { TFL_BUILTIN_CUSTOM, "TFLite_Detection_PostProcess", SL_OP_DETECTION_POSTPROCESS, 0,
    parse_detection },
};

/* What fields alone do not say of builtin options. */
static const struct
{
  guint8 options;
  TflParse parse;
} parsers[] = {
  { 8, parse_fully_connected }, { 9, parse_softmax },  { 13, parse_local_response },
  { 17, parse_reshape },        { 30, parse_squeeze }, { 71, parse_lstm },
  { 77, parse_mirror },
};

gboolean
tfl_op_is_state (const TflOp *op, guint i)
{
  return op != NULL && op->op == SL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM
         && (i == TFL_LSTM_OUTPUT_STATE || i == TFL_LSTM_CELL_STATE);
}

const TflOp *
tfl_op_find (gint32 builtin, const char *custom)
{
  for (guint i = 0; i < G_N_ELEMENTS (builtins) && builtin >= 0 && custom == NULL; i++)
    if (builtins[i].builtin == builtin)
      return &builtins[i];
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (others[i].builtin == builtin && g_strcmp0 (others[i].custom, custom) == 0)
      return &others[i];
  return NULL;
}

const TflOp *
tfl_op_row (SlOpType op)
{
  for (guint i = 0; i < G_N_ELEMENTS (builtins); i++)
    if (builtins[i].op == op && builtins[i].builtin >= 0)
      return &builtins[i];
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (others[i].op == op)
      return &others[i];
  return NULL;
}

TflParse
tfl_op_parse (const TflOp *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (parsers); i++)
    if (parsers[i].options == op->options_type)
      return parsers[i].parse;
  return op->parse;
}

gint
tfl_activation_number (SlActivation activation)
{
  for (guint i = 0; i < G_N_ELEMENTS (activations); i++)
    if (activations[i] == activation)
      return (gint) i;
  return -1;
}
