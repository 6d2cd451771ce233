/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Operators: their types, parameters, and the table row that describes each (arity, check, shape
 * inference, plain kernel). Adding one is a line in the list below and a row in core/ops/.
 *
 * Operand order and layouts are TensorFlow Lite's: activations NHWC, convolution weights OHWI,
 * depthwise weights 1HWC, bias last and optional (index -1).
 */
#pragma once

#include <glib.h>

#include "core/graph/arena.h"
#include "core/graph/tensor.h"

/* Operators of TensorFlow Lite's files: SL_OP_NAME; sl_op_name, its row in core/ops/; its number in
 * the schema, -1 for a custom operator; the union member of its options, 0 = nobody needs them. */
#define SL_TFLITE_OPERATORS(X)                                           \
  X (ADD, add, 0, 11)                                                    \
  X (SUB, sub, 41, 28)                                                   \
  X (MUL, mul, 18, 21)                                                   \
  X (DIV, div, 42, 29)                                                   \
  X (MAXIMUM, maximum, 55, 0)                                            \
  X (MINIMUM, minimum, 57, 0)                                            \
  X (SQUARED_DIFFERENCE, squared_difference, 99, 0)                      \
  X (POW, pow, 78, 0)                                                    \
  X (FLOOR_DIV, floor_div, 90, 0)                                        \
  X (FLOOR_MOD, floor_mod, 95, 0)                                        \
  X (ATAN2, atan2, 156, 0)                                               \
  X (EQUAL, equal, 71, 0)                                                \
  X (NOT_EQUAL, not_equal, 72, 0)                                        \
  X (LESS, less, 58, 0)                                                  \
  X (LESS_EQUAL, less_equal, 63, 0)                                      \
  X (GREATER, greater, 61, 0)                                            \
  X (GREATER_EQUAL, greater_equal, 62, 0)                                \
  X (LOGICAL_AND, logical_and, 86, 0)                                    \
  X (LOGICAL_OR, logical_or, 84, 0)                                      \
  X (LOGICAL_NOT, logical_not, 87, 0)                                    \
  X (BITWISE_XOR, bitwise_xor, 160, 0)                                   \
  X (RIGHT_SHIFT, right_shift, 161, 0)                                   \
  X (SELECT, select, 64, 0)                                              \
  X (WHERE, where, 109, 0)                                               \
  X (AVERAGE_POOL_2D, average_pool_2d, 1, 5)                             \
  X (MAX_POOL_2D, max_pool_2d, 17, 5)                                    \
  X (L2_POOL_2D, l2_pool_2d, 12, 5)                                      \
  X (CONCATENATION, concatenation, 2, 10)                                \
  X (CONV_2D, conv_2d, 3, 1)                                             \
  X (DEPTHWISE_CONV_2D, depthwise_conv_2d, 4, 2)                         \
  X (TRANSPOSE_CONV, transpose_conv, 67, 49)                             \
  X (FULLY_CONNECTED, fully_connected, 9, 8)                             \
  X (BATCH_MATMUL, batch_matmul, 126, 101)                               \
  X (DEQUANTIZE, dequantize, 6, 0)                                       \
  X (QUANTIZE, quantize, 114, 0)                                         \
  X (CAST, cast, 53, 37)                                                 \
  X (LOGISTIC, logistic, 14, 0)                                          \
  X (RELU, relu, 19, 0)                                                  \
  X (RELU6, relu6, 21, 0)                                                \
  X (RELU_N1_TO_1, relu_n1_to_1, 20, 0)                                  \
  X (RELU_0_TO_1, relu_0_to_1, 152, 0)                                   \
  X (LEAKY_RELU, leaky_relu, 98, 75)                                     \
  X (PRELU, prelu, 54, 0)                                                \
  X (ELU, elu, 111, 0)                                                   \
  X (GELU, gelu, 150, 120)                                               \
  X (HARD_SWISH, hard_swish, 117, 0)                                     \
  X (TANH, tanh, 28, 0)                                                  \
  X (ABS, abs, 101, 0)                                                   \
  X (NEG, neg, 59, 0)                                                    \
  X (SIGN, sign, 158, 0)                                                 \
  X (FLOOR, floor, 8, 0)                                                 \
  X (CEIL, ceil, 104, 0)                                                 \
  X (ROUND, round, 116, 0)                                               \
  X (EXP, exp, 47, 0)                                                    \
  X (LOG, log, 73, 0)                                                    \
  X (SQRT, sqrt, 75, 0)                                                  \
  X (RSQRT, rsqrt, 76, 0)                                                \
  X (SQUARE, square, 92, 0)                                              \
  X (SIN, sin, 66, 0)                                                    \
  X (COS, cos, 108, 0)                                                   \
  X (MEAN, mean, 40, 27)                                                 \
  X (SUM, sum, 74, 27)                                                   \
  X (REDUCE_MAX, reduce_max, 82, 27)                                     \
  X (REDUCE_MIN, reduce_min, 89, 27)                                     \
  X (REDUCE_PROD, reduce_prod, 81, 27)                                   \
  X (ARG_MAX, arg_max, 56, 40)                                           \
  X (ARG_MIN, arg_min, 79, 57)                                           \
  X (TOPK_V2, topk_v2, 48, 0)                                            \
  X (CUMSUM, cumsum, 128, 102)                                           \
  X (PAD, pad, 34, 0)                                                    \
  X (PADV2, padv2, 60, 0)                                                \
  X (MIRROR_PAD, mirror_pad, 100, 77)                                    \
  X (RESHAPE, reshape, 22, 17)                                           \
  X (SQUEEZE, squeeze, 43, 30)                                           \
  X (EXPAND_DIMS, expand_dims, 70, 0)                                    \
  X (SHAPE, shape, 77, 55)                                               \
  X (RANK, rank, 110, 0)                                                 \
  X (FILL, fill, 94, 0)                                                  \
  X (RANGE, range, 96, 0)                                                \
  X (ZEROS_LIKE, zeros_like, 93, 0)                                      \
  X (SLICE, slice, 65, 0)                                                \
  X (STRIDED_SLICE, strided_slice, 45, 32)                               \
  X (SPLIT, split, 49, 35)                                               \
  X (SPLIT_V, split_v, 102, 79)                                          \
  X (PACK, pack, 83, 59)                                                 \
  X (UNPACK, unpack, 88, 64)                                             \
  X (TRANSPOSE, transpose, 39, 0)                                        \
  X (REVERSE_V2, reverse_v2, 105, 0)                                     \
  X (TILE, tile, 69, 0)                                                  \
  X (BROADCAST_TO, broadcast_to, 130, 0)                                 \
  X (GATHER, gather, 36, 23)                                             \
  X (GATHER_ND, gather_nd, 107, 0)                                       \
  X (ONE_HOT, one_hot, 85, 61)                                           \
  X (DYNAMIC_UPDATE_SLICE, dynamic_update_slice, 151, 0)                 \
  X (RESIZE_BILINEAR, resize_bilinear, 23, 15)                           \
  X (RESIZE_NEAREST_NEIGHBOR, resize_nearest_neighbor, 97, 74)           \
  X (SPACE_TO_DEPTH, space_to_depth, 26, 19)                             \
  X (DEPTH_TO_SPACE, depth_to_space, 5, 94)                              \
  X (SPACE_TO_BATCH_ND, space_to_batch_nd, 38, 0)                        \
  X (BATCH_TO_SPACE_ND, batch_to_space_nd, 37, 0)                        \
  X (SOFTMAX, softmax, 25, 9)                                            \
  X (LOG_SOFTMAX, log_softmax, 50, 0)                                    \
  X (L2_NORMALIZATION, l2_normalization, 11, 0)                          \
  X (LOCAL_RESPONSE_NORMALIZATION, local_response_normalization, 13, 13) \
  X (UNIDIRECTIONAL_SEQUENCE_LSTM, unidirectional_sequence_lstm, 44, 71) \
  X (NON_MAX_SUPPRESSION_V4, non_max_suppression_v4, 120, 0)             \
  X (NON_MAX_SUPPRESSION_V5, non_max_suppression_v5, 121, 0)             \
  X (MAX_POOL_WITH_ARGMAX, max_pool_with_argmax, -1, 0)                  \
  X (MAX_UNPOOL, max_unpool, -1, 0)                                      \
  X (POSENET_DECODER, posenet_decoder, -1, 0)                            \
  X (DETECTION_POSTPROCESS, detection_postprocess, -1, 0)

/*
 * Operators that only readers of other formats and passes make:
 * - SILU: x times its logistic function
 * - MISH: x times the hyperbolic tangent of log (1 + exp x)
 * - ASIN to ATANH: the C library's functions
 * - FMOD: the rest of a division towards zero
 * - BITWISE_AND, BITWISE_OR: of whole numbers
 * - RECURRENT: a layer of cells with a state, LSTM, GRU or plain, over what its inputs add to the
 *   gates
 * - RESAMPLE: along one dimension, each element a weighted sum of stated ones
 * - DYNAMIC_QUANTIZE: float to quantised values by the tensor's own range: values less their zero
 *   point, scale, zero point, all float
 * - FAKE_QUANTIZE: float to the nearest of what 8 bits can say of a picture's or a pixel's own
 *   range, as float
 * - RESIZE_ARG_MAX: RESIZE_BILINEAR of 8-bit values, then ARG_MAX of its channels
 * - LOOKUP: 8-bit values through a constant table of 256 bytes
 * - GATHER_ELEMENTS: each element is one of the data's, in the same place but along one dimension
 * - SCATTER_ELEMENTS, SCATTER_ND: the data, with elements or slices at stated places replaced, or
 *   combined with what is there
 * - GRID_SAMPLE: elements of the output are taken from stated places of a picture, between its
 *   pixels
 * - ROI_ALIGN: rectangles of pictures, each cut into as many cells and brought to one number a cell
 *   and channel
 * - HEAT_MAP_PEAKS: where maps over regions are highest, between their pixels
 * - ROI_POOL: rectangles of pictures, each cut into cells of whole pixels: the greatest number of
 *   each
 * - DEFORM_COLUMNS: the pixels of windows whose places are moved, for a convolution to weigh
 * - DETERMINANT: of square matrices
 * - UNIQUE: the different elements of a vector; as many as there can be, 0 behind the last
 * - NORMALIZE: rows by the root of their mean square
 * - ATTENTION: softmax of queries times keys, times values, whose places core/graph/attention.h
 *   states
 * - NON_ZERO: coordinates of elements that are not 0; as many columns as there are elements, -1
 *   behind the last
 * - NON_MAX_SUPPRESSION_BATCH: boxes of many pictures and classes; as many rows as there can be:
 *   batch, class and box, -1 behind the last
 */
#define SL_MADE_OPERATORS(X)             \
  X (ERF, erf)                           \
  X (SILU, silu)                         \
  X (MISH, mish)                         \
  X (ASIN, asin)                         \
  X (ACOS, acos)                         \
  X (ATAN, atan)                         \
  X (SINH, sinh)                         \
  X (COSH, cosh)                         \
  X (ASINH, asinh)                       \
  X (ACOSH, acosh)                       \
  X (ATANH, atanh)                       \
  X (FMOD, fmod)                         \
  X (BITWISE_AND, bitwise_and)           \
  X (BITWISE_OR, bitwise_or)             \
  X (RECURRENT, recurrent)               \
  X (RESAMPLE, resample)                 \
  X (DYNAMIC_QUANTIZE, dynamic_quantize) \
  X (FAKE_QUANTIZE, fake_quantize)       \
  X (RESIZE_ARG_MAX, resize_arg_max)     \
  X (LOOKUP, lookup)                     \
  X (GATHER_ELEMENTS, gather_elements)   \
  X (SCATTER_ELEMENTS, scatter_elements) \
  X (SCATTER_ND, scatter_nd)             \
  X (ROI_ALIGN, roi_align)               \
  X (GRID_SAMPLE, grid_sample)           \
  X (HEAT_MAP_PEAKS, heat_map_peaks)     \
  X (ROI_POOL, roi_pool)                 \
  X (DEFORM_COLUMNS, deform_columns)     \
  X (DETERMINANT, determinant)           \
  X (UNIQUE, unique)                     \
  X (NON_ZERO, non_zero)                 \
  X (ATTENTION, attention)               \
  X (NORMALIZE, normalize)               \
  X (NON_MAX_SUPPRESSION_BATCH, non_max_suppression_batch)

#define SL_OPERATORS(X) SL_TFLITE_OPERATORS (X) SL_MADE_OPERATORS (X)
#define SL_OPERATOR_TYPE(type, ...) SL_OP_##type,

typedef enum
{
  SL_OP_INVALID = 0,
  SL_OPERATORS (SL_OPERATOR_TYPE) SL_OP_COUNT
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
  SL_ACTIVATION_RELU_0_TO_1,
  /* Curves, of float tensors alone: a pass fuses them, no reader states them. */
  SL_ACTIVATION_LOGISTIC,
  SL_ACTIVATION_SILU, /* x logistic (x) */
  SL_ACTIVATION_HARD_SWISH,
  SL_ACTIVATION_GELU,
  SL_ACTIVATION_GELU_TANH,
  SL_ACTIVATION_TANH,
  SL_ACTIVATION_MISH,      /* x tanh (log (1 + exp x)) */
  SL_ACTIVATION_LEAKY_RELU /* below 0 x times a slope, which the node states */
} SlActivation;

/** sl_activation_is_curve: whether @activation is more than a lowest and a highest value. */
static inline gboolean
sl_activation_is_curve (SlActivation activation)
{
  return activation > SL_ACTIVATION_RELU_0_TO_1;
}

/** Window geometry shared by convolutions and pooling. Paddings count pixels; filled in by shape
 * inference for SL_PADDING_SAME and SL_PADDING_VALID, given for SL_PADDING_EXPLICIT. */
typedef struct
{
  SlPadding padding;
  gint32 stride_h, stride_w;
  gint32 dilation_h, dilation_w;
  gint32 filter_h, filter_w; /* pooling only; convolutions read it from their weights */
  gint32 pad_top, pad_bottom, pad_left, pad_right;
  gint32 depth_multiplier; /* depthwise only */
  SlActivation activation;
  gfloat slope;           /* of SL_ACTIVATION_LEAKY_RELU */
  gboolean by_reciprocal; /* 8-bit convolutions: sums are scaled as qnnpack does it, see
                             sl_node_sum_scale() */
  const gfloat *rest;     /* (nullable): 8-bit convolutions: of each output channel what its bias is
                             beside the whole number, in codes of the output */
} SlWindow;

/** How SCATTER_ELEMENTS and SCATTER_ND combine the value in place with the update. */
typedef enum
{
  SL_SCATTER_REPLACE,
  SL_SCATTER_ADD,
  SL_SCATTER_MUL,
  SL_SCATTER_MAX,
  SL_SCATTER_MIN
} SlScatter;

/**
 * What GATHER and GATHER_ND make of indices outside the tensor.
 * @SL_INDEX_LIMITED: computed ones read the tensor's edge
 * @SL_INDEX_FROM_END: negative ones count from the end; computed ones beyond either end read 0
 * @SL_INDEX_OPEN: negative ones are rows that NON_MAX_SUPPRESSION_BATCH or NON_ZERO left open;
 * these and others outside read 0
 */
typedef enum
{
  SL_INDEX_LIMITED,
  SL_INDEX_FROM_END,
  SL_INDEX_OPEN
} SlIndexing;

/** Cells of RECURRENT: GRU resets its state behind or before the product with weights; the last two
 * have no gates. */
typedef enum
{
  SL_CELL_LSTM,
  SL_CELL_GRU,
  SL_CELL_GRU_RESET_FIRST,
  SL_CELL_TANH,
  SL_CELL_RELU
} SlCell;

/** Most places along a dimension that HEAT_MAP_PEAKS looks at for each pixel of a map. */
#define SL_HEAT_MAP_STEPS 32

/** How GRID_SAMPLE reads between pixels. */
typedef enum
{
  SL_SAMPLE_NEAREST,
  SL_SAMPLE_LINEAR,
  SL_SAMPLE_CUBIC
} SlSampleMode;

/** What is outside a picture: 0, its edge, or the picture mirrored. */
typedef enum
{
  SL_BORDER_ZERO,
  SL_BORDER_EDGE,
  SL_BORDER_MIRROR
} SlBorder;

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

/** Parameters of PosenetDecoderOp (custom op of Coral's PoseNet models); pixels are the input's. */
typedef struct
{
  gint32 max_detections;
  gint32 stride;          /* pixels a cell */
  gfloat score_threshold; /* 0..1 */
  gfloat nms_radius;      /* pixels: nearer points of one kind are the same */
} SlPosenetParams;

/**
 * SlShiftRule: what RIGHT_SHIFT does with a distance outside of 0 to the type's bits less one
 * @SL_SHIFT_CLAMPED: it is clamped to that, as in TensorFlow Lite
 * @SL_SHIFT_SIGN: nothing but the sign is left, 0 or -1, as in torch
 * @SL_SHIFT_LOGICAL: nothing is left; an int32 holds a uint32, as in ONNX
 */
typedef enum
{
  SL_SHIFT_CLAMPED,
  SL_SHIFT_SIGN,
  SL_SHIFT_LOGICAL
} SlShiftRule;

typedef union
{
  SlWindow window;
  struct
  {
    SlActivation activation;
    gboolean half_away; /* ADD of 8 bits: halves are rounded away from zero, as qnnpack does, else
                           up, as XNNPACK does */
  } binary;             /* ADD, SUB, MUL, DIV */
  struct
  {
    gint32 axis;
    SlActivation activation;
  } concat;
  struct
  {
    SlActivation activation;
    gfloat slope; /* as a convolution's */
    gboolean keep_dims;
    gboolean by_reciprocal; /* as a convolution's */
    const gfloat *rest;     /* as a convolution's */
    gboolean dynamic;       /* float rows are rounded to 8 bits for weights of 8 bits */
    gboolean whole;         /* they are whole numbers already, at most 255 apart in a row */
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
    gint32 before,
      after; /* neighbouring channels in the sum of squares, beside the channel itself */
    gfloat bias, alpha, beta;
  } local_response; /* x / (bias + alpha * sum)^beta */
  struct
  {
    SlCell cell;
    gboolean back; /* from the last step to the first */
  } recurrent;
  struct
  {
    gboolean unstable; /* of all elements: equal ones are ordered as PyTorch's sort () does it, else
                          the first one comes first */
  } topk;
  struct
  {
    guint count; /* dimensions of the new shape as written, -1 allowed once; 0 when it is the second
                    input */
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
    gint32 count;        /* SPLIT, SPLIT_V: outputs; PACK: inputs; UNPACK: outputs */
    gint32 batch_dims;   /* GATHER, GATHER_ND */
    SlIndexing indexing; /* GATHER, GATHER_ND */
  } axis;
  struct
  {
    gint32 axis;       /* of the output */
    gboolean from_end; /* indices from -depth to -1 count from the end; else they have no place */
  } one_hot;
  struct
  {
    SlShiftRule rule;
  } shift;
  struct
  {
    guint32 begin_mask, end_mask, ellipsis_mask, new_axis_mask,
      shrink_axis_mask;   /* bit i = entry i */
    gboolean end_is_size; /* ends count from the begins */
  } slice;                /* STRIDED_SLICE */
  struct
  {
    gboolean align_corners, half_pixel_centers;
    gboolean fused; /* of floats: as PyTorch sums, to the last bit; other rounding than XNNPACK's */
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
    gboolean rounded; /* layers that round rows to 8 bits alone read it; known of prepared graphs */
  } gelu;
  struct
  {
    gboolean symmetric; /* the edge itself is repeated; otherwise it is the mirror's axis */
  } mirror;
  struct
  {
    gboolean transpose_a, transpose_b;
    gboolean
      flat; /* of 8 bits: all rows of the first operand are one matrix, and so is the output */
  } matmul;
  struct
  {
    gboolean exclusive, reverse;
  } cumsum;
  struct
  {
    gint32 axis; /* GATHER_ELEMENTS, SCATTER_ELEMENTS */
    SlScatter scatter;
    gboolean open; /* negative indices are rows left open: 0 is read, nothing is written; otherwise
                      they count from the end */
  } elements;
  struct
  {
    gint32 height, width; /* cells of a region */
    gint32 samples;       /* along each dimension of a cell; 0 = one for each pixel that it is long,
                             rounded up */
    gfloat scale;         /* pixels a unit of the regions */
    gboolean half_pixel;  /* pixel centres lie at halves; else at whole numbers, and regions are at
                             least a pixel large */
    gboolean top;         /* the greatest contribution of a pixel, else the samples' mean */
  } roi_align;            /* ROI_ALIGN; of ROI_POOL the first two, and the scale */
  struct
  {
    gint32 kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top,
      pad_left; /* pixels */
    gint32 groups,
      offset_groups; /* of channels: with weights of their own, and with offsets of their own */
  } deform;
  struct
  {
    gboolean sorted; /* from the least to the greatest; else as they come */
  } unique;
  struct
  {
    gboolean
      symmetric; /* symmetric quantisation, else the range from the least to the largest value */
    gboolean
      by_pixel; /* each row of the last dimension has a range, else each entry of the first one */
  } fake_quantize;
  struct
  {
    gint32 most; /* boxes of each class */
    gfloat iou_limit, score_limit;
    gboolean
      centers; /* boxes are centre x, centre y, width and height, else two opposite corners */
  } nms;
  struct
  {
    SlSampleMode mode;
    SlBorder border;
    gboolean
      align_corners; /* -1 and 1 are the middles of the outermost pixels, else their outer edges */
  } grid_sample;
  struct
  {
    SlActivation activation;
    gboolean activation_is_tanh;
    gfloat cell_clip, projection_clip; /* 0 = none */
    gfloat cell_scale;                 /* of integer cells; 0 = none stated */
    gboolean time_major;
  } lstm;
  struct
  {
    gfloat epsilon;    /* added to the mean square */
    gboolean centered; /* rows less their mean, else as they are */
  } normalize;
  const struct _SlAttention *attention; /* core/graph/attention.h, in the graph's arena */
  SlDetectionParams detection;
  SlPosenetParams posenet;
} SlOpParams;

/* Options of TensorFlow Lite's files that are numbers: the union member; the field in its table,
 * ABSENT = not in the file; what it is (models/tflite/options.c); its place in SlOpParams; its name
 * for messages; its value where the file does not say. In the order of the schema. */
#define SL_TFLITE_OPTIONS(X)                                    \
  X (1, 0, PADDING, window.padding, NULL, 0)                    \
  X (1, 1, POSITIVE, window.stride_w, "stride_w", 0)            \
  X (1, 2, POSITIVE, window.stride_h, "stride_h", 0)            \
  X (1, 3, ACTIVATION, window.activation, NULL, 0)              \
  X (1, 4, POSITIVE, window.dilation_w, "dilation_w_factor", 1) \
  X (1, 5, POSITIVE, window.dilation_h, "dilation_h_factor", 1) \
  X (2, 0, PADDING, window.padding, NULL, 0)                    \
  X (2, 1, POSITIVE, window.stride_w, "stride_w", 0)            \
  X (2, 2, POSITIVE, window.stride_h, "stride_h", 0)            \
  X (2, 3, INTEGER, window.depth_multiplier, NULL, 0)           \
  X (2, 4, ACTIVATION, window.activation, NULL, 0)              \
  X (2, 5, POSITIVE, window.dilation_w, "dilation_w_factor", 1) \
  X (2, 6, POSITIVE, window.dilation_h, "dilation_h_factor", 1) \
  X (5, 0, PADDING, window.padding, NULL, 0)                    \
  X (5, 1, POSITIVE, window.stride_w, "stride_w", 0)            \
  X (5, 2, POSITIVE, window.stride_h, "stride_h", 0)            \
  X (5, 3, POSITIVE, window.filter_w, "filter_width", 0)        \
  X (5, 4, POSITIVE, window.filter_h, "filter_height", 0)       \
  X (5, 5, ACTIVATION, window.activation, NULL, 0)              \
  X (5, ABSENT, INTEGER, window.dilation_w, NULL, 1)            \
  X (5, ABSENT, INTEGER, window.dilation_h, NULL, 1)            \
  X (8, 0, ACTIVATION, fully_connected.activation, NULL, 0)     \
  X (8, 2, FLAG, fully_connected.keep_dims, NULL, 0)            \
  X (8, 3, FLAG, fully_connected.dynamic, NULL, 0)              \
  X (9, 0, REAL, softmax.beta, NULL, 0)                         \
  X (10, 0, INTEGER, concat.axis, NULL, 0)                      \
  X (10, 1, ACTIVATION, concat.activation, NULL, 0)             \
  X (11, 0, ACTIVATION, binary.activation, NULL, 0)             \
  X (13, 0, INTEGER, local_response.before, NULL, 0)            \
  X (13, 1, REAL, local_response.bias, NULL, 0)                 \
  X (13, 2, REAL, local_response.alpha, NULL, 0)                \
  X (13, 3, REAL, local_response.beta, NULL, 0)                 \
  X (15, 2, FLAG, resize.align_corners, NULL, 0)                \
  X (15, 3, FLAG, resize.half_pixel_centers, NULL, 0)           \
  X (19, 0, POSITIVE, block.size, "block_size", 0)              \
  X (21, 0, ACTIVATION, binary.activation, NULL, 0)             \
  X (23, 0, INTEGER, axis.axis, NULL, 0)                        \
  X (23, 1, INTEGER, axis.batch_dims, NULL, 0)                  \
  X (27, 0, FLAG, reduce.keep_dims, NULL, 0)                    \
  X (28, 0, ACTIVATION, binary.activation, NULL, 0)             \
  X (29, 0, ACTIVATION, binary.activation, NULL, 0)             \
  X (32, 0, INTEGER, slice.begin_mask, NULL, 0)                 \
  X (32, 1, INTEGER, slice.end_mask, NULL, 0)                   \
  X (32, 2, INTEGER, slice.ellipsis_mask, NULL, 0)              \
  X (32, 3, INTEGER, slice.new_axis_mask, NULL, 0)              \
  X (32, 4, INTEGER, slice.shrink_axis_mask, NULL, 0)           \
  X (32, 5, FLAG, slice.end_is_size, NULL, 0)                   \
  X (49, 0, PADDING, window.padding, NULL, 0)                   \
  X (49, 1, POSITIVE, window.stride_w, "stride_w", 0)           \
  X (49, 2, POSITIVE, window.stride_h, "stride_h", 0)           \
  X (49, 3, ACTIVATION, window.activation, NULL, 0)             \
  X (49, ABSENT, INTEGER, window.dilation_w, NULL, 1)           \
  X (49, ABSENT, INTEGER, window.dilation_h, NULL, 1)           \
  X (59, 1, INTEGER, axis.axis, NULL, 0)                        \
  X (61, 0, INTEGER, one_hot.axis, NULL, 0)                     \
  X (64, 1, INTEGER, axis.axis, NULL, 0)                        \
  X (74, 0, FLAG, resize.align_corners, NULL, 0)                \
  X (74, 1, FLAG, resize.half_pixel_centers, NULL, 0)           \
  X (75, 0, REAL, leaky_relu.alpha, NULL, 0)                    \
  X (77, 0, FLAG, mirror.symmetric, NULL, 0)                    \
  X (94, 0, POSITIVE, block.size, "block_size", 0)              \
  X (101, 0, FLAG, matmul.transpose_a, NULL, 0)                 \
  X (101, 1, FLAG, matmul.transpose_b, NULL, 0)                 \
  X (102, 0, FLAG, cumsum.exclusive, NULL, 0)                   \
  X (102, 1, FLAG, cumsum.reverse, NULL, 0)                     \
  X (120, 0, FLAG, gelu.approximate, NULL, 0)

typedef struct _SlGraph SlGraph;
typedef struct _SlNode SlNode;
typedef struct _SlKernelCall SlKernelCall;

/**
 * SlOp:
 * @min_inputs, @max_inputs: arity; inputs past @required may be omitted (-1)
 * @n_outputs, @max_outputs: how many outputs; @max_outputs 0 = exactly @n_outputs
 * @is_view: the output is the input's bytes under another shape; such a node never runs
 * @check: element types, ranks, constants and parameters; runs before @infer, trusts only the arity
 * @infer: sets the outputs' shapes (and resolves padding); may rely on @check
 * @prepare: (nullable): tables and scratch memory for @run, in the session's arena
 * @run: the kernel; allocates nothing, cannot fail
 */
typedef struct
{
  SlOpType type;
  const char *name;
  guint min_inputs, max_inputs, required, n_outputs;
  gboolean (*check) (SlGraph *graph, SlNode *node, GError **error);
  gboolean (*infer) (SlGraph *graph, SlNode *node, GError **error);
  void *(*prepare) (const SlGraph *graph, const SlNode *node, SlArena *arena);
  void (*run) (const SlKernelCall *call);
  guint max_outputs;
  gboolean is_view;
  gboolean is_static; /* the result follows from the inputs' shapes alone */
  gboolean in_place;  /* @run may be given an input of the output's size as its output */
} SlOp;

/** SL_OP_NAMED_ROW: begins the row of SL_OP_@op, called @text: from @least inputs, which must be
 * there, to @most, @outputs, and the functions in the order of #SlOp. */
#define SL_OP_NAMED_ROW(op, text, least, most, outputs, ...) \
  SL_OP_##op, text, least, most, least, outputs, __VA_ARGS__
/** SL_OP_ROW: likewise, with the name of @op. */
#define SL_OP_ROW(op, ...) SL_OP_NAMED_ROW (op, #op, __VA_ARGS__)

/** sl_op_get: (nullable): the row of @type. */
const SlOp *sl_op_get (SlOpType type);
/** sl_op_type_name: (transfer none): as in the list above, also of operators that are left out of
 * this build. */
const char *sl_op_type_name (SlOpType op);
/** sl_op_name: (transfer none): TensorFlow Lite's name of the operator, "CONV_2D". */
const char *sl_op_name (SlOpType op);
/** sl_op_supported_names: (transfer container): every supported operator, sorted, NULL-terminated.
 */
const char **sl_op_supported_names (void);
