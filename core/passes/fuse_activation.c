/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An activation that alone reads the output of a node with a fused activation moves into that node:
 * one that clamps (RELU, RELU6 ...), and behind float layers also a curve (SILU, LEAKY_RELU ...).
 * For 8-bit tensors only where both outputs are quantised alike, since the node would otherwise
 * round once less.
 */
#include "core/ops/ops.h"
#include "core/passes/passes.h"

static gboolean
takes_curves (const SlGraph *graph, const SlNode *node)
{
  return sl_node_input (graph, node, 0)->dtype == SL_DTYPE_F32
         && sl_node_output (graph, node, 0)->dtype == SL_DTYPE_F32
         && (node->op == SL_OP_CONV_2D || node->op == SL_OP_DEPTHWISE_CONV_2D
             || (node->op == SL_OP_FULLY_CONNECTED && !node->params.fully_connected.dynamic));
}

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *relu)
{
  const SlActivation clamp = sl_op_clamp (relu->op),
                     kind = clamp != SL_ACTIVATION_NONE ? clamp : sl_node_curve (relu);
  if (kind == SL_ACTIVATION_NONE)
    return 0;
  SlNode *node = sl_pass_producer (index, graph, relu->inputs[0]);
  SlActivation *activation = node != NULL ? sl_node_activation (node) : NULL;
  const SlTensor *in = sl_node_input (graph, relu, 0), *out = sl_node_output (graph, relu, 0);
  if (activation == NULL || *activation != SL_ACTIVATION_NONE
      || index->consumers[relu->inputs[0]] != 1
      || (clamp == SL_ACTIVATION_NONE && !takes_curves (graph, node))
      || sl_tensor_scale (in) != sl_tensor_scale (out)
      || sl_tensor_zero_point (in) != sl_tensor_zero_point (out))
    return 0;
  sl_node_fuse (node, kind, sl_node_slope (relu));
  node->outputs = relu->outputs;
  node->name = relu->name;
  index->producer[relu->outputs[0]] = index->producer[relu->inputs[0]];
  relu->op = SL_OP_INVALID;
  return 1;
}

const SlPass sl_pass_fuse_activation = { "fuse_activation", .step = step };
