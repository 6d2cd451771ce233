/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/ops/halves.h"

#include "core/graph/constants.h"
#include "core/ops/ops.h"

/* Most pixels of a window: more are not read line by line. */
#define MOST_TAPS 64
/* Most elements of a vector that is repeated: a thread has it in its first cache. */
#define MOST_REPEATED 4096
/* Elements of an image at least, where there are several: each takes its vector anew. */
#define LEAST_IMAGE 32
/* Bytes as floats of the operands of a node that converts them as a whole. */
#define MOST_CONVERTED ((gsize) 256 << 10)

static gboolean
is_float (const SlTensor *tensor)
{
  return tensor != NULL && (tensor->dtype == SL_DTYPE_F32 || tensor->dtype == SL_DTYPE_F16);
}

static gboolean
is_weights (const SlTensor *tensor)
{
  return tensor != NULL && tensor->dtype == SL_DTYPE_F32 && tensor->data != NULL;
}

/* Layers whose kernels read lines of the input, and round what they write. */
static SlHalves
layer_halves (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *weights = sl_node_input (graph, node, 1),
                 *bias = sl_node_input (graph, node, sl_op_bias_at (node->op));
  SlFewBits few_bits; /* their loops read floats */
  if (!is_weights (weights) || (bias != NULL && !is_weights (bias))
      || sl_graph_few_bits_of (graph, weights->data, &few_bits))
    return SL_HALVES_NONE;
  if (node->op == SL_OP_FULLY_CONNECTED)
    return node->params.fully_connected.dynamic ? SL_HALVES_NONE : SL_HALVES_ANY;
  const SlWindow *window = &node->params.window;
  if ((gint64) weights->dims[1] * weights->dims[2] > MOST_TAPS || window->dilation_h > 2
      || window->dilation_w > 2)
    return SL_HALVES_NONE;
  if (node->op == SL_OP_TRANSPOSE_CONV)
    return window->stride_h <= weights->dims[1] && window->stride_w <= weights->dims[2]
             ? SL_HALVES_ANY
             : SL_HALVES_NONE;
  if (node->op == SL_OP_DEPTHWISE_CONV_2D)
    return window->depth_multiplier == 1 && weights->dims[3] > 1 ? SL_HALVES_ANY : SL_HALVES_NONE;
  return SL_HALVES_ANY;
}

/* Whether a node of few elements may convert what it reads and writes. */
static SlHalves
converted (const SlGraph *graph, const SlNode *node)
{
  gsize bytes = 0;
  for (guint i = 0; i < node->n_inputs + node->n_outputs; i++) {
    const SlTensor *operand = i < node->n_inputs ? sl_node_input (graph, node, i)
                                                 : sl_node_output (graph, node, i - node->n_inputs);
    if (is_float (operand) && operand->data == NULL)
      bytes += sl_tensor_count (operand) * sizeof (gfloat);
  }
  return bytes <= MOST_CONVERTED ? SL_HALVES_ANY : SL_HALVES_NONE;
}

static gboolean
repeats (const SlTensor *x, const SlTensor *vector)
{
  const guint rank = vector->rank, apart = x->rank - MIN (rank, x->rank);
  if (x->data != NULL || rank == 0 || rank > x->rank || vector->dims[rank - 1] > MOST_REPEATED
      || (vector->dims[rank - 1] != 1 && vector->dims[rank - 1] != x->dims[x->rank - 1]))
    return FALSE;
  /* The same dimensions as @x, then those in which it repeats. */
  gboolean begun = sl_tensor_span (x, 0, apart) > 1;
  for (guint d = 0; d + 1 < rank; d++) {
    const gint32 of_x = x->dims[d + apart];
    if (vector->dims[d] != 1 && (begun || vector->dims[d] != of_x))
      return FALSE;
    begun |= vector->dims[d] != of_x;
  }
  const gsize images = sl_tensor_count (vector) / (gsize) vector->dims[rank - 1];
  return images == 1 || sl_tensor_count (x) / images >= LEAST_IMAGE;
}

gint
sl_node_repeated (const SlGraph *graph, const SlNode *node)
{
  if (node->op != SL_OP_ADD && node->op != SL_OP_MUL)
    return -1;
  const SlTensor *a = sl_node_input (graph, node, 0), *b = sl_node_input (graph, node, 1),
                 *y = sl_node_output (graph, node, 0);
  if (!is_float (a) || !is_float (b) || !is_float (y) || sl_tensor_same_shape (a, b))
    return -1;
  return sl_tensor_same_shape (a, y) && repeats (a, b)   ? 1
         : sl_tensor_same_shape (b, y) && repeats (b, a) ? 0
                                                         : -1;
}

static SlHalves
binary_halves (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *a = sl_node_input (graph, node, 0), *b = sl_node_input (graph, node, 1);
  const gboolean simple = node->op == SL_OP_ADD || node->op == SL_OP_MUL;
  if (!is_float (a) || !is_float (b) || !is_float (sl_node_output (graph, node, 0)))
    return SL_HALVES_NONE;
  if (sl_node_repeated (graph, node) >= 0)
    return SL_HALVES_ANY;
  return simple && a->data == NULL && b->data == NULL && sl_tensor_same_shape (a, b)
           ? SL_HALVES_ANY
           : converted (graph, node);
}

SlHalves
sl_node_halves (const SlGraph *graph, const SlNode *node)
{
  const SlWindow *window = &node->params.window;
  switch (node->op) {
    case SL_OP_CONV_2D:
    case SL_OP_DEPTHWISE_CONV_2D:
    case SL_OP_TRANSPOSE_CONV:
    case SL_OP_FULLY_CONNECTED:
      return layer_halves (graph, node);
    case SL_OP_ADD:
    case SL_OP_MUL:
    case SL_OP_SUB:
    case SL_OP_DIV:
      return binary_halves (graph, node);
    case SL_OP_PRELU:
      return is_weights (sl_node_input (graph, node, 1)) ? SL_HALVES_ANY : SL_HALVES_NONE;
    case SL_OP_TRANSPOSE:
      return SL_HALVES_MIXED;
    case SL_OP_MEAN:
    case SL_OP_AVERAGE_POOL_2D:
      return converted (graph, node);
    case SL_OP_MAX_POOL_2D:
      return window->stride_w <= window->filter_w && window->filter_w <= MOST_TAPS
               ? SL_HALVES_ALIKE
               : converted (graph, node);
    case SL_OP_RESIZE_BILINEAR:
      return node->params.resize.fused ? converted (graph, node) : SL_HALVES_ALIKE;
    case SL_OP_CONCATENATION:
    case SL_OP_SLICE:
    case SL_OP_STRIDED_SLICE:
    case SL_OP_SPLIT:
    case SL_OP_SPLIT_V:
    case SL_OP_PACK:
    case SL_OP_UNPACK:
    case SL_OP_PAD:
    case SL_OP_MIRROR_PAD:
    case SL_OP_SPACE_TO_DEPTH:
    case SL_OP_DEPTH_TO_SPACE:
    case SL_OP_RESIZE_NEAREST_NEIGHBOR:
      return SL_HALVES_ALIKE;
    default:
      return sl_node_curve (node) != SL_ACTIVATION_NONE ? SL_HALVES_ANY : SL_HALVES_NONE;
  }
}
