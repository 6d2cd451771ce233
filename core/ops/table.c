/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every supported operator; look-up by type is an index. */
#include "core/ops/ops.h"

#include <stdlib.h>

static const SlOp *const rows[SL_OP_COUNT] = {
  [SL_OP_ADD] = &sl_op_add,
  [SL_OP_SUB] = &sl_op_sub,
  [SL_OP_MUL] = &sl_op_mul,
  [SL_OP_DIV] = &sl_op_div,
  [SL_OP_MAXIMUM] = &sl_op_maximum,
  [SL_OP_MINIMUM] = &sl_op_minimum,
  [SL_OP_SQUARED_DIFFERENCE] = &sl_op_squared_difference,
  [SL_OP_POW] = &sl_op_pow,
  [SL_OP_FLOOR_DIV] = &sl_op_floor_div,
  [SL_OP_FLOOR_MOD] = &sl_op_floor_mod,
  [SL_OP_EQUAL] = &sl_op_equal,
  [SL_OP_NOT_EQUAL] = &sl_op_not_equal,
  [SL_OP_LESS] = &sl_op_less,
  [SL_OP_LESS_EQUAL] = &sl_op_less_equal,
  [SL_OP_GREATER] = &sl_op_greater,
  [SL_OP_GREATER_EQUAL] = &sl_op_greater_equal,
  [SL_OP_LOGICAL_AND] = &sl_op_logical_and,
  [SL_OP_LOGICAL_OR] = &sl_op_logical_or,
  [SL_OP_LOGICAL_NOT] = &sl_op_logical_not,
  [SL_OP_SELECT] = &sl_op_select,
  [SL_OP_WHERE] = &sl_op_where,
  [SL_OP_AVERAGE_POOL_2D] = &sl_op_average_pool_2d,
  [SL_OP_MAX_POOL_2D] = &sl_op_max_pool_2d,
  [SL_OP_L2_POOL_2D] = &sl_op_l2_pool_2d,
  [SL_OP_CONCATENATION] = &sl_op_concatenation,
  [SL_OP_CONV_2D] = &sl_op_conv_2d,
  [SL_OP_DEPTHWISE_CONV_2D] = &sl_op_depthwise_conv_2d,
  [SL_OP_TRANSPOSE_CONV] = &sl_op_transpose_conv,
  [SL_OP_FULLY_CONNECTED] = &sl_op_fully_connected,
  [SL_OP_BATCH_MATMUL] = &sl_op_batch_matmul,
  [SL_OP_DEQUANTIZE] = &sl_op_dequantize,
  [SL_OP_QUANTIZE] = &sl_op_quantize,
  [SL_OP_CAST] = &sl_op_cast,
  [SL_OP_LOGISTIC] = &sl_op_logistic,
  [SL_OP_RELU] = &sl_op_relu,
  [SL_OP_RELU6] = &sl_op_relu6,
  [SL_OP_RELU_N1_TO_1] = &sl_op_relu_n1_to_1,
  [SL_OP_RELU_0_TO_1] = &sl_op_relu_0_to_1,
  [SL_OP_LEAKY_RELU] = &sl_op_leaky_relu,
  [SL_OP_PRELU] = &sl_op_prelu,
  [SL_OP_ELU] = &sl_op_elu,
  [SL_OP_GELU] = &sl_op_gelu,
  [SL_OP_HARD_SWISH] = &sl_op_hard_swish,
  [SL_OP_TANH] = &sl_op_tanh,
  [SL_OP_ABS] = &sl_op_abs,
  [SL_OP_NEG] = &sl_op_neg,
  [SL_OP_SIGN] = &sl_op_sign,
  [SL_OP_FLOOR] = &sl_op_floor,
  [SL_OP_CEIL] = &sl_op_ceil,
  [SL_OP_ROUND] = &sl_op_round,
  [SL_OP_EXP] = &sl_op_exp,
  [SL_OP_LOG] = &sl_op_log,
  [SL_OP_SQRT] = &sl_op_sqrt,
  [SL_OP_RSQRT] = &sl_op_rsqrt,
  [SL_OP_SQUARE] = &sl_op_square,
  [SL_OP_SIN] = &sl_op_sin,
  [SL_OP_COS] = &sl_op_cos,
  [SL_OP_MEAN] = &sl_op_mean,
  [SL_OP_SUM] = &sl_op_sum,
  [SL_OP_REDUCE_MAX] = &sl_op_reduce_max,
  [SL_OP_REDUCE_MIN] = &sl_op_reduce_min,
  [SL_OP_REDUCE_PROD] = &sl_op_reduce_prod,
  [SL_OP_ARG_MAX] = &sl_op_arg_max,
  [SL_OP_ARG_MIN] = &sl_op_arg_min,
  [SL_OP_TOPK_V2] = &sl_op_topk_v2,
  [SL_OP_PAD] = &sl_op_pad,
  [SL_OP_PADV2] = &sl_op_padv2,
  [SL_OP_MIRROR_PAD] = &sl_op_mirror_pad,
  [SL_OP_RESHAPE] = &sl_op_reshape,
  [SL_OP_SQUEEZE] = &sl_op_squeeze,
  [SL_OP_EXPAND_DIMS] = &sl_op_expand_dims,
  [SL_OP_SHAPE] = &sl_op_shape,
  [SL_OP_RANK] = &sl_op_rank,
  [SL_OP_FILL] = &sl_op_fill,
  [SL_OP_RANGE] = &sl_op_range,
  [SL_OP_ZEROS_LIKE] = &sl_op_zeros_like,
  [SL_OP_SLICE] = &sl_op_slice,
  [SL_OP_STRIDED_SLICE] = &sl_op_strided_slice,
  [SL_OP_SPLIT] = &sl_op_split,
  [SL_OP_SPLIT_V] = &sl_op_split_v,
  [SL_OP_PACK] = &sl_op_pack,
  [SL_OP_UNPACK] = &sl_op_unpack,
  [SL_OP_TRANSPOSE] = &sl_op_transpose,
  [SL_OP_TILE] = &sl_op_tile,
  [SL_OP_BROADCAST_TO] = &sl_op_broadcast_to,
  [SL_OP_GATHER] = &sl_op_gather,
  [SL_OP_GATHER_ND] = &sl_op_gather_nd,
  [SL_OP_RESIZE_BILINEAR] = &sl_op_resize_bilinear,
  [SL_OP_RESIZE_NEAREST_NEIGHBOR] = &sl_op_resize_nearest_neighbor,
  [SL_OP_SPACE_TO_DEPTH] = &sl_op_space_to_depth,
  [SL_OP_DEPTH_TO_SPACE] = &sl_op_depth_to_space,
  [SL_OP_SPACE_TO_BATCH_ND] = &sl_op_space_to_batch_nd,
  [SL_OP_BATCH_TO_SPACE_ND] = &sl_op_batch_to_space_nd,
  [SL_OP_SOFTMAX] = &sl_op_softmax,
  [SL_OP_LOG_SOFTMAX] = &sl_op_log_softmax,
  [SL_OP_L2_NORMALIZATION] = &sl_op_l2_normalization,
  [SL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM] = &sl_op_unidirectional_sequence_lstm,
  [SL_OP_NON_MAX_SUPPRESSION_V4] = &sl_op_non_max_suppression_v4,
  [SL_OP_NON_MAX_SUPPRESSION_V5] = &sl_op_non_max_suppression_v5,
  [SL_OP_DETECTION_POSTPROCESS] = &sl_op_detection_postprocess,
  [SL_OP_RESIZE_ARG_MAX] = &sl_op_resize_arg_max,
  [SL_OP_LOOKUP] = &sl_op_lookup,
};

const SlOp *
sl_op_get (SlOpType type)
{
  return (guint) type < SL_OP_COUNT ? rows[type] : NULL;
}

const char *
sl_op_name (SlOpType op)
{
  const SlOp *row = sl_op_get (op);
  return row != NULL ? row->name : "INVALID";
}

static int
compare_names (const void *a, const void *b)
{
  return g_strcmp0 (*(const char *const *) a, *(const char *const *) b);
}

const char **
sl_op_supported_names (void)
{
  const char **names = g_new0 (const char *, SL_OP_COUNT + 1);
  guint n = 0;
  for (guint i = 0; i < SL_OP_COUNT; i++)
    if (rows[i] != NULL && i != SL_OP_LOOKUP && i != SL_OP_RESIZE_ARG_MAX)
      names[n++] = rows[i]->name;
  qsort (names, n, sizeof names[0], compare_names);
  return names;
}
