/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table by element type, as TensorFlow Lite's own tools have it
 * (tensorflow/lite/tools/versioning), and the few operators of which a parameter or a rank counts,
 * too.
 */
#include "models/tflite/versions.h"

/* Operators whose kernels of later versions take more types: the version for 8 bits with a sign,
 * for bool, and for all others. */
static const struct
{
  SlOpType op;
  gint8 i8, boolean, other;
} rows[] = {
  { SL_OP_ADD, 2, 1, 1 },
  { SL_OP_SUB, 2, 1, 1 },
  { SL_OP_MUL, 2, 1, 1 },
  { SL_OP_MAXIMUM, 2, 1, 1 },
  { SL_OP_MINIMUM, 2, 1, 1 },
  { SL_OP_SQUARED_DIFFERENCE, 2, 1, 1 },
  { SL_OP_EQUAL, 2, 1, 1 },
  { SL_OP_NOT_EQUAL, 2, 1, 1 },
  { SL_OP_LESS, 2, 1, 1 },
  { SL_OP_LESS_EQUAL, 2, 1, 1 },
  { SL_OP_GREATER, 2, 1, 1 },
  { SL_OP_GREATER_EQUAL, 2, 1, 1 },
  { SL_OP_AVERAGE_POOL_2D, 2, 1, 1 },
  { SL_OP_MAX_POOL_2D, 2, 1, 1 },
  { SL_OP_CONCATENATION, 2, 1, 1 },
  { SL_OP_CONV_2D, 3, 1, 1 },
  { SL_OP_DEPTHWISE_CONV_2D, 3, 1, 1 },
  { SL_OP_FULLY_CONNECTED, 4, 1, 1 },
  { SL_OP_BATCH_MATMUL, 2, 1, 1 },
  { SL_OP_TRANSPOSE_CONV, 2, 1, 1 },
  { SL_OP_DEQUANTIZE, 2, 1, 1 },
  { SL_OP_LOGISTIC, 2, 1, 1 },
  { SL_OP_RELU, 2, 1, 1 },
  { SL_OP_RELU6, 2, 1, 1 },
  { SL_OP_LEAKY_RELU, 2, 1, 1 },
  { SL_OP_GELU, 2, 1, 1 },
  { SL_OP_TANH, 2, 1, 1 },
  { SL_OP_EXP, 2, 1, 1 },
  { SL_OP_LOG, 2, 1, 1 },
  { SL_OP_ABS, 2, 1, 1 },
  { SL_OP_RSQRT, 2, 1, 1 },
  { SL_OP_MEAN, 2, 1, 1 },
  { SL_OP_SUM, 2, 1, 1 },
  { SL_OP_REDUCE_MAX, 2, 1, 1 },
  { SL_OP_REDUCE_MIN, 2, 1, 1 },
  { SL_OP_REDUCE_PROD, 2, 1, 1 },
  { SL_OP_ARG_MAX, 2, 3, 1 },
  { SL_OP_ARG_MIN, 2, 3, 1 },
  { SL_OP_TOPK_V2, 2, 1, 1 },
  { SL_OP_PAD, 2, 1, 1 },
  { SL_OP_PADV2, 2, 1, 1 },
  { SL_OP_MIRROR_PAD, 2, 1, 1 },
  { SL_OP_SLICE, 2, 1, 1 },
  { SL_OP_STRIDED_SLICE, 2, 3, 1 },
  { SL_OP_SPLIT, 2, 1, 1 },
  { SL_OP_SPLIT_V, 2, 1, 1 },
  { SL_OP_PACK, 2, 1, 1 },
  { SL_OP_UNPACK, 2, 3, 1 },
  { SL_OP_TRANSPOSE, 2, 3, 1 },
  { SL_OP_TILE, 3, 1, 1 },
  { SL_OP_BROADCAST_TO, 3, 2, 2 },
  { SL_OP_GATHER, 2, 3, 1 },
  { SL_OP_GATHER_ND, 2, 4, 1 },
  { SL_OP_RESIZE_BILINEAR, 2, 1, 1 },
  { SL_OP_RESIZE_NEAREST_NEIGHBOR, 2, 1, 1 },
  { SL_OP_SPACE_TO_DEPTH, 2, 1, 1 },
  { SL_OP_DEPTH_TO_SPACE, 2, 1, 1 },
  { SL_OP_SPACE_TO_BATCH_ND, 2, 1, 1 },
  { SL_OP_BATCH_TO_SPACE_ND, 2, 1, 1 },
  { SL_OP_SOFTMAX, 2, 1, 1 },
  { SL_OP_LOG_SOFTMAX, 2, 1, 1 },
  { SL_OP_L2_NORMALIZATION, 2, 1, 1 },
  { SL_OP_FILL, 3, 2, 1 },
};

static gint32
by_type (SlOpType op, SlDtype dtype)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].op == op)
      return dtype == SL_DTYPE_I8     ? rows[i].i8
             : dtype == SL_DTYPE_BOOL ? rows[i].boolean
                                      : rows[i].other;
  return 1;
}

static gboolean
broadcasts (const SlGraph *graph, const SlNode *node)
{
  return !sl_tensor_same_shape (sl_node_input (graph, node, 0), sl_node_input (graph, node, 1));
}

/* Weights of 8 bits under float activations. */
static gboolean
is_hybrid (const SlGraph *graph, const SlNode *node)
{
  return sl_node_input (graph, node, 0)->dtype == SL_DTYPE_F32
         && sl_node_input (graph, node, 1)->dtype == SL_DTYPE_I8;
}

/* The highest of the versions that parameters ask for; 1 where they ask for none. */
static gint32
by_parameters (const SlGraph *graph, const SlNode *node, const SlTensor *first)
{
  const SlOpParams *p = &node->params;
  const SlDtype dtype = first->dtype;
  const guint rank = MAX (first->rank, sl_node_output (graph, node, 0)->rank);
  switch (node->op) {
    case SL_OP_CONV_2D:
      return sl_node_input (graph, node, 1)->dims[3] != first->dims[3] ? 6
             : is_hybrid (graph, node)                                 ? 5
                                                                       : 1;
    case SL_OP_DEPTHWISE_CONV_2D:
      return is_hybrid (graph, node)                                  ? 6
             : p->window.dilation_h != 1 || p->window.dilation_w != 1 ? 2
                                                                      : 1;
    case SL_OP_FULLY_CONNECTED:
      return is_hybrid (graph, node) && sl_node_input (graph, node, 1)->quant.count > 1 ? 12
             : is_hybrid (graph, node) && p->fully_connected.dynamic                    ? 9
             : sl_node_input (graph, node, 2) == NULL                                   ? 6
             : p->fully_connected.keep_dims                                             ? 5
             : is_hybrid (graph, node)                                                  ? 3
                                                                                        : 1;
    case SL_OP_TRANSPOSE_CONV:
      return p->window.activation != SL_ACTIVATION_NONE ? 4
             : sl_node_input (graph, node, 3) != NULL   ? 3
                                                        : 1;
    case SL_OP_DEQUANTIZE:
      return dtype == SL_DTYPE_F16 ? 3 : 1;
    case SL_OP_ADD:
      return dtype == SL_DTYPE_I64 ? 4 : 1;
    case SL_OP_SUB:
      return dtype == SL_DTYPE_I64 ? 4 : rank > 4 && broadcasts (graph, node) ? 3 : 1;
    case SL_OP_MUL: {
      const gfloat scale =
        sl_tensor_scale (first) * sl_tensor_scale (sl_node_input (graph, node, 1));
      return dtype == SL_DTYPE_I64 ? 6
             : dtype == SL_DTYPE_I8 && scale >= sl_tensor_scale (sl_node_output (graph, node, 0))
               ? 3
               : 1;
    }
    case SL_OP_DIV:
      return rank > 4 && broadcasts (graph, node) ? 2 : 1;
    case SL_OP_FLOOR_DIV:
      return dtype == SL_DTYPE_F32 ? 2 : 1;
    case SL_OP_MAXIMUM:
    case SL_OP_MINIMUM:
      return rank > 4 && broadcasts (graph, node) ? 3 : 1;
    case SL_OP_RESIZE_BILINEAR:
      return p->resize.half_pixel_centers ? 3 : 1;
    case SL_OP_RESIZE_NEAREST_NEIGHBOR:
      return p->resize.half_pixel_centers || p->resize.align_corners ? 3 : 1;
    case SL_OP_TRANSPOSE:
      return rank > 5 ? 6 : rank > 4 ? 4 : 1;
    case SL_OP_STRIDED_SLICE:
      return p->slice.end_is_size                                         ? 8
             : p->slice.ellipsis_mask != 0 || p->slice.new_axis_mask != 0 ? 6
             : rank > 4                                                   ? 4
                                                                          : 1;
    case SL_OP_SLICE:
      return rank > 4 ? 5 : 1;
    case SL_OP_GATHER:
      return p->axis.batch_dims != 0 ? 5 : 1;
    case SL_OP_SPACE_TO_BATCH_ND:
    case SL_OP_BATCH_TO_SPACE_ND:
      return rank != 4 ? 3 : 1;
    case SL_OP_GATHER_ND:
      return p->axis.batch_dims != 0 ? 5 : 1;
    default:
      return 1;
  }
}

gint32
tfl_version (const SlGraph *graph, const SlNode *node)
{
  /* The data of these are not the first input. */
  const guint at = node->op == SL_OP_TRANSPOSE_CONV ? 2 : node->op == SL_OP_SPLIT ? 1 : 0;
  const SlTensor *data = sl_node_input (graph, node, at);
  return MAX (by_type (node->op, data->dtype), by_parameters (graph, node, data));
}
