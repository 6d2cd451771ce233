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

/* Operators of TensorFlow Lite's files: SL_OP_NAME, and sl_op_name, its row in core/ops/. */
#define SL_TFLITE_OPERATORS(X)                                   \
  X (ADD, add)                                                   \
  X (SUB, sub)                                                   \
  X (MUL, mul)                                                   \
  X (DIV, div)                                                   \
  X (MAXIMUM, maximum)                                           \
  X (MINIMUM, minimum)                                           \
  X (SQUARED_DIFFERENCE, squared_difference)                     \
  X (POW, pow)                                                   \
  X (FLOOR_DIV, floor_div)                                       \
  X (FLOOR_MOD, floor_mod)                                       \
  X (ATAN2, atan2)                                               \
  X (EQUAL, equal)                                               \
  X (NOT_EQUAL, not_equal)                                       \
  X (LESS, less)                                                 \
  X (LESS_EQUAL, less_equal)                                     \
  X (GREATER, greater)                                           \
  X (GREATER_EQUAL, greater_equal)                               \
  X (LOGICAL_AND, logical_and)                                   \
  X (LOGICAL_OR, logical_or)                                     \
  X (LOGICAL_NOT, logical_not)                                   \
  X (SELECT, select)                                             \
  X (WHERE, where)                                               \
  X (AVERAGE_POOL_2D, average_pool_2d)                           \
  X (MAX_POOL_2D, max_pool_2d)                                   \
  X (L2_POOL_2D, l2_pool_2d)                                     \
  X (CONCATENATION, concatenation)                               \
  X (CONV_2D, conv_2d)                                           \
  X (DEPTHWISE_CONV_2D, depthwise_conv_2d)                       \
  X (TRANSPOSE_CONV, transpose_conv)                             \
  X (FULLY_CONNECTED, fully_connected)                           \
  X (BATCH_MATMUL, batch_matmul)                                 \
  X (DEQUANTIZE, dequantize)                                     \
  X (QUANTIZE, quantize)                                         \
  X (CAST, cast)                                                 \
  X (LOGISTIC, logistic)                                         \
  X (RELU, relu)                                                 \
  X (RELU6, relu6)                                               \
  X (RELU_N1_TO_1, relu_n1_to_1)                                 \
  X (RELU_0_TO_1, relu_0_to_1)                                   \
  X (LEAKY_RELU, leaky_relu)                                     \
  X (PRELU, prelu)                                               \
  X (ELU, elu)                                                   \
  X (GELU, gelu)                                                 \
  X (HARD_SWISH, hard_swish)                                     \
  X (TANH, tanh)                                                 \
  X (ABS, abs)                                                   \
  X (NEG, neg)                                                   \
  X (SIGN, sign)                                                 \
  X (FLOOR, floor)                                               \
  X (CEIL, ceil)                                                 \
  X (ROUND, round)                                               \
  X (EXP, exp)                                                   \
  X (LOG, log)                                                   \
  X (SQRT, sqrt)                                                 \
  X (RSQRT, rsqrt)                                               \
  X (SQUARE, square)                                             \
  X (SIN, sin)                                                   \
  X (COS, cos)                                                   \
  X (MEAN, mean)                                                 \
  X (SUM, sum)                                                   \
  X (REDUCE_MAX, reduce_max)                                     \
  X (REDUCE_MIN, reduce_min)                                     \
  X (REDUCE_PROD, reduce_prod)                                   \
  X (ARG_MAX, arg_max)                                           \
  X (ARG_MIN, arg_min)                                           \
  X (TOPK_V2, topk_v2)                                           \
  X (CUMSUM, cumsum)                                             \
  X (PAD, pad)                                                   \
  X (PADV2, padv2)                                               \
  X (MIRROR_PAD, mirror_pad)                                     \
  X (RESHAPE, reshape)                                           \
  X (SQUEEZE, squeeze)                                           \
  X (EXPAND_DIMS, expand_dims)                                   \
  X (SHAPE, shape)                                               \
  X (RANK, rank)                                                 \
  X (FILL, fill)                                                 \
  X (RANGE, range)                                               \
  X (ZEROS_LIKE, zeros_like)                                     \
  X (SLICE, slice)                                               \
  X (STRIDED_SLICE, strided_slice)                               \
  X (SPLIT, split)                                               \
  X (SPLIT_V, split_v)                                           \
  X (PACK, pack)                                                 \
  X (UNPACK, unpack)                                             \
  X (TRANSPOSE, transpose)                                       \
  X (REVERSE_V2, reverse_v2)                                     \
  X (TILE, tile)                                                 \
  X (BROADCAST_TO, broadcast_to)                                 \
  X (GATHER, gather)                                             \
  X (GATHER_ND, gather_nd)                                       \
  X (ONE_HOT, one_hot)                                           \
  X (RESIZE_BILINEAR, resize_bilinear)                           \
  X (RESIZE_NEAREST_NEIGHBOR, resize_nearest_neighbor)           \
  X (SPACE_TO_DEPTH, space_to_depth)                             \
  X (DEPTH_TO_SPACE, depth_to_space)                             \
  X (SPACE_TO_BATCH_ND, space_to_batch_nd)                       \
  X (BATCH_TO_SPACE_ND, batch_to_space_nd)                       \
  X (SOFTMAX, softmax)                                           \
  X (LOG_SOFTMAX, log_softmax)                                   \
  X (L2_NORMALIZATION, l2_normalization)                         \
  X (LOCAL_RESPONSE_NORMALIZATION, local_response_normalization) \
  X (UNIDIRECTIONAL_SEQUENCE_LSTM, unidirectional_sequence_lstm) \
  X (NON_MAX_SUPPRESSION_V4, non_max_suppression_v4)             \
  X (NON_MAX_SUPPRESSION_V5, non_max_suppression_v5)             \
  X (MAX_POOL_WITH_ARGMAX, max_pool_with_argmax)                 \
  X (MAX_UNPOOL, max_unpool)                                     \
  X (POSENET_DECODER, posenet_decoder)                           \
  X (DETECTION_POSTPROCESS, detection_postprocess)

/*
 * Operators that only readers of other formats and passes make:
 * SILU: x times its logistic function
 * MISH: x times the hyperbolic tangent of log (1 + exp x)
 * ASIN to ATANH: the C library's functions
 * FMOD: the rest of a division towards zero
 * BITWISE_AND, BITWISE_OR, BITWISE_XOR: of whole numbers
 * RECURRENT: a layer of cells with a state, LSTM, GRU or plain, over what its inputs add to the
 * gates RESAMPLE: along one dimension, each element a weighted sum of stated ones DYNAMIC_QUANTIZE:
 * float to quantised values by the tensor's own range: values less their zero point, scale, zero
 * point, all float FAKE_QUANTIZE: float to the nearest of what 8 bits can say of a picture's or a
 * pixel's own range, as float RESIZE_ARG_MAX: RESIZE_BILINEAR of 8-bit values, then ARG_MAX of its
 * channels LOOKUP: 8-bit values through a constant table of 256 bytes GATHER_ELEMENTS: each element
 * is one of the data's, in the same place but along one dimension SCATTER_ELEMENTS, SCATTER_ND: the
 * data, with elements or slices at stated places replaced, or combined with what is there
 * GRID_SAMPLE: elements of the output are taken from stated places of a picture, between its pixels
 * ROI_ALIGN: rectangles of pictures, each cut into as many cells and brought to one number a cell
 * and channel HEAT_MAP_PEAKS: where maps over regions are highest, between their pixels ROI_POOL:
 * rectangles of pictures, each cut into cells of whole pixels: the greatest number of each
 * DEFORM_COLUMNS: the pixels of windows whose places are moved, for a convolution to weigh
 * DETERMINANT: of square matrices
 * UNIQUE: the different elements of a vector; as many as there can be, 0 behind the last
 * NORMALIZE: rows by the root of their mean square
 * ATTENTION: softmax of queries times keys, times values, whose places core/graph/attention.h
 * states NON_ZERO: coordinates of elements that are not 0; as many columns as there are elements,
 * -1 behind the last NON_MAX_SUPPRESSION_BATCH: boxes of many pictures and classes; as many rows as
 * there can be: batch, class and box, -1 behind the last
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
  X (BITWISE_XOR, bitwise_xor)           \
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
#define SL_OPERATOR_TYPE(type, row) SL_OP_##type,

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
