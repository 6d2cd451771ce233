/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/quantize/tokens.h"

#include <float.h>

#include "core/graph/work.h"
#include "core/ops/ops.h"
#include "models/quantize/constant.h"

/* Smaller layers gain nothing. */
#define MIN_WEIGHTS 1024
/* Layers of this share of the work make a network one of tokens. */
#define HEAVY 0.005

static gboolean
has_weights (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *weights = sl_node_input (graph, node, 1),
                 *bias = sl_node_input (graph, node, 2);
  return node->op == SL_OP_FULLY_CONNECTED && input->dtype == SL_DTYPE_F32 && weights->data != NULL
         && weights->dtype == SL_DTYPE_F32 && weights->bytes >= MIN_WEIGHTS * sizeof (gfloat)
         && sl_constant_is_within (weights, FLT_MAX)
         && (bias == NULL
             || (bias->data != NULL && bias->dtype == SL_DTYPE_F32
                 && sl_constant_is_within (bias, FLT_MAX)));
}

static gboolean
is_of_tokens (const SlGraph *graph)
{
  guint64 work = 0;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++)
    work += sl_node_multiply_adds (graph, sl_graph_node (graph, i));
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    if (!has_weights (graph, node))
      continue;
    const SlTensor *output = sl_node_output (graph, node, 0);
    const gboolean many_rows = sl_tensor_count (output) > (gsize) output->dims[output->rank - 1];
    if (many_rows && (gdouble) sl_node_multiply_adds (graph, node) >= HEAVY * (gdouble) work)
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_convolution (SlOpType op)
{
  return op == SL_OP_CONV_2D || op == SL_OP_DEPTHWISE_CONV_2D;
}

/* Nodes that are no convolutions stay quantised where quantised nodes alone, or the model's caller,
 * make what they read. Returns how many do not. */
static guint
leave_behind_floats (const SlGraph *graph, gboolean *quantized, gboolean *is_float)
{
  guint changed = 0;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    for (guint k = 0; quantized[i] && !is_convolution (node->op) && k < node->n_inputs; k++)
      if (node->inputs[k] >= 0 && is_float[node->inputs[k]]) {
        quantized[i] = FALSE;
        changed++;
      }
    for (guint k = 0; !quantized[i] && k < node->n_outputs; k++)
      is_float[node->outputs[k]] = TRUE;
  }
  return changed;
}

/* The same of those that read what they make. */
static guint
leave_before_floats (const SlGraph *graph, gboolean *quantized, gboolean *read_as_float)
{
  guint changed = 0;
  for (guint i = sl_graph_n_nodes (graph); i-- > 0;) {
    const SlNode *node = sl_graph_node (graph, i);
    for (guint k = 0; quantized[i] && !is_convolution (node->op) && k < node->n_outputs; k++)
      if (read_as_float[node->outputs[k]]) {
        quantized[i] = FALSE;
        changed++;
      }
    for (guint k = 0; !quantized[i] && k < node->n_inputs; k++)
      if (node->inputs[k] >= 0)
        read_as_float[node->inputs[k]] = TRUE;
  }
  return changed;
}

void
sl_tokens_plan (const SlGraph *graph, const gboolean *kept, gboolean *quantized, gboolean *dynamic)
{
  const guint nodes = sl_graph_n_nodes (graph), tensors = sl_graph_n_tensors (graph);
  if (!is_of_tokens (graph))
    return;
  for (guint i = 0; i < nodes; i++) {
    const SlNode *node = sl_graph_node (graph, i);
    dynamic[i] = has_weights (graph, node) && (kept == NULL || !kept[i]);
    if (node->op == SL_OP_FULLY_CONNECTED)
      quantized[i] = FALSE;
  }
  g_autofree gboolean *is_float = g_new0 (gboolean, MAX (tensors, 1)),
                      *read_as_float = g_new0 (gboolean, MAX (tensors, 1));
  while (leave_behind_floats (graph, quantized, is_float)
         + leave_before_floats (graph, quantized, read_as_float))
    ;
}
