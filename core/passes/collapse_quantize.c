/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Removes pairs of DEQUANTIZE and QUANTIZE with the same quantisation, and a QUANTIZE whose input
 * already has its quantisation. Pairs that would change a value stay.
 */
#include "core/passes/passes.h"

static gboolean
same_quantisation (const SlTensor *a, const SlTensor *b)
{
  return a->dtype == b->dtype && a->quant.count == 1 && b->quant.count == 1
         && sl_tensor_scale (a) == sl_tensor_scale (b)
         && sl_tensor_zero_point (a) == sl_tensor_zero_point (b);
}

/* The tensor whose quantised values the output of QUANTIZE @node repeats, -1 = none. */
static gint32
repeated (const SlPassIndex *index, SlGraph *graph, const SlNode *node)
{
  const SlTensor *output = sl_node_output (graph, node, 0);
  if (same_quantisation (sl_node_input (graph, node, 0), output))
    return node->inputs[0];
  const SlNode *before = sl_pass_producer (index, graph, node->inputs[0]);
  if (before != NULL && before->op == SL_OP_DEQUANTIZE
      && same_quantisation (sl_node_input (graph, before, 0), output))
    return before->inputs[0];
  return -1;
}

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *node)
{
  const gint32 from = node->op == SL_OP_QUANTIZE ? repeated (index, graph, node) : -1;
  if (from < 0)
    return 0;
  const SlTensor *output = sl_node_output (graph, node, 0);
  node->inputs = sl_arena_memdup (graph->arena, &from, sizeof from);
  node->op = SL_OP_RESHAPE;
  node->params = (SlOpParams){ .reshape = { .count = output->rank } };
  for (guint k = 0; k < output->rank; k++)
    node->params.reshape.dims[k] = output->dims[k];
  return 1;
}

const SlPass sl_pass_collapse_quantize = { "collapse_quantize", .step = step };
