/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators: their types, parameters, and the table row that describes each (arity, check, shape inference,
 * own kernel). Adding one is a file in core/ops/ and a line in core/ops/table.c.
 *
 * Operand order and layouts are TensorFlow Lite's: activations NHWC, convolution weights OHWI, depthwise
 * weights 1HWC, bias last and optional (index -1).
 */
#ifndef SL_CORE_GRAPH_OP_H
#define SL_CORE_GRAPH_OP_H

#include <glib.h>

#include "core/graph/tensor.h"

G_BEGIN_DECLS

typedef enum
{
  SL_OP_INVALID = 0,
  SL_OP_ADD,
  SL_OP_SUB,
  SL_OP_MUL,
  SL_OP_DIV,
  SL_OP_MAXIMUM,
  SL_OP_MINIMUM,
  SL_OP_SQUARED_DIFFERENCE,
  SL_OP_POW,
  SL_OP_FLOOR_DIV,
  SL_OP_FLOOR_MOD,
  SL_OP_EQUAL,
  SL_OP_NOT_EQUAL,
  SL_OP_LESS,
  SL_OP_LESS_EQUAL,
  SL_OP_GREATER,
  SL_OP_GREATER_EQUAL,
  SL_OP_LOGICAL_AND,
  SL_OP_LOGICAL_OR,
  SL_OP_LOGICAL_NOT,
  SL_OP_SELECT,
  SL_OP_WHERE,
  SL_OP_AVERAGE_POOL_2D,
  SL_OP_MAX_POOL_2D,
  SL_OP_L2_POOL_2D,
  SL_OP_CONCATENATION,
  SL_OP_CONV_2D,
  SL_OP_DEPTHWISE_CONV_2D,
  SL_OP_TRANSPOSE_CONV,
  SL_OP_FULLY_CONNECTED,
  SL_OP_BATCH_MATMUL,
  SL_OP_DEQUANTIZE,
  SL_OP_QUANTIZE,
  SL_OP_CAST,
  SL_OP_LOGISTIC,
  SL_OP_RELU,
  SL_OP_RELU6,
  SL_OP_RELU_N1_TO_1,
  SL_OP_RELU_0_TO_1,
  SL_OP_LEAKY_RELU,
  SL_OP_PRELU,
  SL_OP_ELU,
  SL_OP_GELU,
  SL_OP_HARD_SWISH,
  SL_OP_TANH,
  SL_OP_ABS,
  SL_OP_NEG,
  SL_OP_SIGN,
  SL_OP_FLOOR,
  SL_OP_CEIL,
  SL_OP_ROUND,
  SL_OP_EXP,
  SL_OP_LOG,
  SL_OP_SQRT,
  SL_OP_RSQRT,
  SL_OP_SQUARE,
  SL_OP_SIN,
  SL_OP_COS,
  SL_OP_MEAN,
  SL_OP_SUM,
  SL_OP_REDUCE_MAX,
  SL_OP_REDUCE_MIN,
  SL_OP_REDUCE_PROD,
  SL_OP_ARG_MAX,
  SL_OP_ARG_MIN,
  SL_OP_TOPK_V2,
  SL_OP_PAD,
  SL_OP_PADV2,
  SL_OP_MIRROR_PAD,
  SL_OP_RESHAPE,
  SL_OP_SQUEEZE,
  SL_OP_EXPAND_DIMS,
  SL_OP_SHAPE,
  SL_OP_RANK,
  SL_OP_FILL,
  SL_OP_RANGE,
  SL_OP_ZEROS_LIKE,
  SL_OP_SLICE,
  SL_OP_STRIDED_SLICE,
  SL_OP_SPLIT,
  SL_OP_SPLIT_V,
  SL_OP_PACK,
  SL_OP_UNPACK,
  SL_OP_TRANSPOSE,
  SL_OP_TILE,
  SL_OP_BROADCAST_TO,
  SL_OP_GATHER,
  SL_OP_GATHER_ND,
  SL_OP_RESIZE_BILINEAR,
  SL_OP_RESIZE_NEAREST_NEIGHBOR,
  SL_OP_SPACE_TO_DEPTH,
  SL_OP_DEPTH_TO_SPACE,
  SL_OP_SPACE_TO_BATCH_ND,
  SL_OP_BATCH_TO_SPACE_ND,
  SL_OP_SOFTMAX,
  SL_OP_LOG_SOFTMAX,
  SL_OP_L2_NORMALIZATION,
  SL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM,
  SL_OP_NON_MAX_SUPPRESSION_V4,
  SL_OP_NON_MAX_SUPPRESSION_V5,
  SL_OP_DETECTION_POSTPROCESS,
  SL_OP_RESIZE_ARG_MAX, /* made by passes only: RESIZE_BILINEAR of 8-bit codes, then ARG_MAX of its channels */
  SL_OP_LOOKUP,         /* made by passes only: 8-bit codes through a constant table of 256 bytes */
  SL_OP_COUNT
} SlOpType;

typedef enum
{
  SL_PADDING_VALID,
  SL_PADDING_SAME,
  SL_PADDING_EXPLICIT
} SlPadding;

typedef enum
{
  SL_ACTIVATION_NONE,
  SL_ACTIVATION_RELU,
  SL_ACTIVATION_RELU_N1_TO_1,
  SL_ACTIVATION_RELU6,
  SL_ACTIVATION_RELU_0_TO_1
} SlActivation;

/** Window geometry shared by convolutions and pooling. Paddings count pixels; filled in by shape inference
 *  for SL_PADDING_SAME and SL_PADDING_VALID, given for SL_PADDING_EXPLICIT. */
typedef struct
{
  SlPadding padding;
  gint32 stride_h, stride_w;
  gint32 dilation_h, dilation_w;
  gint32 filter_h, filter_w; /* pooling only; convolutions read it from their weights */
  gint32 pad_top, pad_bottom, pad_left, pad_right;
  gint32 depth_multiplier; /* depthwise only */
  SlActivation activation;
} SlWindow;

/** Parameters of TFLite_Detection_PostProcess (custom op of TensorFlow's object detection API). */
typedef struct
{
  gint32 max_detections;
  gint32 max_classes_per_detection;
  gint32 detections_per_class;
  gboolean use_regular_nms;
  gint32 num_classes; /* without background */
  gfloat nms_score_threshold;
  gfloat nms_iou_threshold;
  gfloat scale_y, scale_x, scale_h, scale_w;
} SlDetectionParams;

typedef union
{
  SlWindow window;
  struct
  {
    SlActivation activation;
  } binary; /* ADD, SUB, MUL, DIV */
  struct
  {
    gint32 axis;
    SlActivation activation;
  } concat;
  struct
  {
    SlActivation activation;
    gboolean keep_dims;
  } fully_connected;
  struct
  {
    gboolean keep_dims;
  } reduce; /* MEAN, SUM, REDUCE_*: axes are the second input, a constant */
  struct
  {
    gfloat beta;
  } softmax;
  struct
  {
    guint count; /* dimensions of the new shape as written, -1 allowed once; 0 when it is the second input */
    gint32 dims[SL_MAX_RANK];
  } reshape;
  struct
  {
    guint count; /* axes to drop; 0 = every dimension of 1 */
    gint32 axes[SL_MAX_RANK];
  } squeeze;
  struct
  {
    gint32 axis;
    gint32 count;      /* SPLIT, SPLIT_V: outputs; PACK: inputs; UNPACK: outputs */
    gint32 batch_dims; /* GATHER */
  } axis;
  struct
  {
    guint32 begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask; /* bit i = entry i */
    gboolean end_is_size;                                                         /* ends count from the begins */
  } slice;                                                                        /* STRIDED_SLICE */
  struct
  {
    gboolean align_corners, half_pixel_centers;
  } resize;
  struct
  {
    gint32 size;
  } block; /* SPACE_TO_DEPTH, DEPTH_TO_SPACE */
  struct
  {
    gfloat alpha;
  } leaky_relu;
  struct
  {
    gboolean approximate;
  } gelu;
  struct
  {
    gboolean symmetric; /* the edge itself is repeated; otherwise it is the mirror's axis */
  } mirror;
  struct
  {
    gboolean transpose_a, transpose_b;
  } matmul;
  struct
  {
    SlActivation activation;
    gboolean activation_is_tanh;
    gfloat cell_clip, projection_clip; /* 0 = none */
    gboolean time_major;
  } lstm;
  SlDetectionParams detection;
} SlOpParams;

G_END_DECLS

#endif
