/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From an output towards the input, until an operator tells. */
#include "core/graph/value_kind.h"

/* A LOOKUP may end this far beyond 1, in steps of the scale: 255/256 is rounded to the nearest
 * step. */
#define SLACK 1.0f

static gboolean
makes (const SlNode *node, gint32 index)
{
  for (guint k = 0; k < node->n_outputs; k++)
    if (node->outputs[k] == index)
      return TRUE;
  return FALSE;
}

/* Operators that only move or average numbers. */
static gboolean
is_looked_through (SlOpType op)
{
  return op == SL_OP_RESHAPE || op == SL_OP_SQUEEZE || op == SL_OP_EXPAND_DIMS
         || op == SL_OP_TRANSPOSE || op == SL_OP_SLICE || op == SL_OP_STRIDED_SLICE
         || op == SL_OP_QUANTIZE || op == SL_OP_DEQUANTIZE || op == SL_OP_MEAN
         || op == SL_OP_AVERAGE_POOL_2D;
}

static SlValueKind
kind_after (SlActivation activation)
{
  switch (activation) {
    case SL_ACTIVATION_NONE:
    case SL_ACTIVATION_RELU_N1_TO_1:
      return SL_VALUES_LOGITS;
    case SL_ACTIVATION_RELU_0_TO_1:
    case SL_ACTIVATION_LOGISTIC:
      return SL_VALUES_PROBABILITIES;
    case SL_ACTIVATION_TANH:
      return SL_VALUES_UNKNOWN;
    default:
      return SL_VALUES_FEATURES;
  }
}

/* Probabilities when all of the table's quantised values lie in 0..1. */
static SlValueKind
kind_of_table (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *output = sl_node_output (graph, node, 0);
  const guint8 *table = sl_node_input (graph, node, 1)->data;
  const gfloat scale = sl_tensor_scale (output);
  for (guint i = 0; i < 256; i++) {
    const gint32 quantised =
      (output->dtype == SL_DTYPE_I8 ? (gint8) table[i] : table[i]) - sl_tensor_zero_point (output);
    if ((gfloat) quantised < -SLACK || (gfloat) quantised * scale > 1 + SLACK * scale)
      return SL_VALUES_UNKNOWN;
  }
  return SL_VALUES_PROBABILITIES;
}

static SlValueKind
kind_of_node (const SlGraph *graph, const SlNode *node)
{
  switch (node->op) {
    case SL_OP_SOFTMAX:
      return SL_VALUES_SHARES;
    case SL_OP_LOGISTIC:
    case SL_OP_RELU_0_TO_1:
      return SL_VALUES_PROBABILITIES;
    case SL_OP_LOOKUP:
      return kind_of_table (graph, node);
    case SL_OP_LOG_SOFTMAX:
    case SL_OP_BATCH_MATMUL:
      return SL_VALUES_LOGITS;
    case SL_OP_CONV_2D:
    case SL_OP_DEPTHWISE_CONV_2D:
      return kind_after (node->params.window.activation);
    case SL_OP_FULLY_CONNECTED:
      return kind_after (node->params.fully_connected.activation);
    case SL_OP_RELU:
    case SL_OP_RELU6:
    case SL_OP_L2_NORMALIZATION:
      return SL_VALUES_FEATURES;
    default:
      return SL_VALUES_UNKNOWN;
  }
}

/* A CAST of float32 to float16 or back. */
static gboolean
is_between_floats (const SlGraph *graph, const SlNode *node)
{
  if (node->op != SL_OP_CAST)
    return FALSE;
  const SlDtype from = sl_node_input (graph, node, 0)->dtype,
                to = sl_node_output (graph, node, 0)->dtype;
  return (from == SL_DTYPE_F32 || from == SL_DTYPE_F16)
         && (to == SL_DTYPE_F32 || to == SL_DTYPE_F16);
}

/* The node that makes tensor @index, behind those that are looked through; NULL = none. Nodes are
 * in the order in which they run, so one walk back meets every maker. */
static const SlNode *
find_maker (const SlGraph *graph, gint32 index)
{
  for (guint i = sl_graph_n_nodes (graph); i-- > 0;) {
    const SlNode *node = sl_graph_node (graph, i);
    if (!makes (node, index))
      continue;
    if (!is_looked_through (node->op) && !is_between_floats (graph, node))
      return node;
    index = node->inputs[0];
  }
  return NULL;
}

SlValueKind
sl_graph_value_kind (const SlGraph *graph, gint32 index)
{
  const SlNode *maker = find_maker (graph, index);
  return maker != NULL ? kind_of_node (graph, maker) : SL_VALUES_UNKNOWN;
}

guint
sl_graph_class_count (const SlGraph *graph, gint32 index)
{
  const SlNode *maker = find_maker (graph, index);
  if (maker != NULL && maker->op == SL_OP_DETECTION_POSTPROCESS)
    return maker->n_outputs > 1 && maker->outputs[1] == index
             ? (guint) MAX (maker->params.detection.num_classes, 0)
             : 0;
  if (maker == NULL || (maker->op != SL_OP_ARG_MAX && maker->op != SL_OP_RESIZE_ARG_MAX))
    return 0;
  const SlTensor *input = sl_node_input (graph, maker, 0),
                 *output = sl_node_output (graph, maker, 0);
  gsize numbers = 0, chosen = 0;
  if (maker->op == SL_OP_RESIZE_ARG_MAX)
    return (guint) input->dims[3];
  return sl_tensor_elements (input, &numbers) && sl_tensor_elements (output, &chosen) && chosen > 0
           ? (guint) (numbers / chosen)
           : 0;
}
