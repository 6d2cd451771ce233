/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ARG_MAX of the channels that RESIZE_BILINEAR makes of 8-bit values, as class maps end: one node,
 * so that the enlarged channels, the largest tensor of such a model, are never in memory.
 */
#include "core/ops/ops.h"
#include "core/passes/passes.h"

static gboolean
along_channels (const SlGraph *graph, const SlNode *node)
{
  gint32 axis = 0;
  guint count = 0;
  return sl_constant_ints (sl_node_input (graph, node, 1), &axis, 1, &count)
         && (axis == 3 || axis == -1);
}

/* The kernel counts bytes of a row in 31 bits, and channels in 22. */
static gboolean
small_enough (const SlTensor *input)
{
  return input->dims[3] < 1 << 22 && (gint64) input->dims[2] * input->dims[3] <= G_MAXINT32;
}

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *node)
{
  if (node->op != SL_OP_ARG_MAX || index->consumers[node->inputs[0]] != 1
      || !along_channels (graph, node))
    return 0;
  SlNode *resize = sl_pass_producer (index, graph, node->inputs[0]);
  if (resize == NULL || resize->op != SL_OP_RESIZE_BILINEAR
      || sl_dtype_size (sl_node_input (graph, resize, 0)->dtype) != 1
      || !small_enough (sl_node_input (graph, resize, 0)))
    return 0;
  const gint32 inputs[3] = { resize->inputs[0], resize->inputs[1], node->inputs[1] };
  node->op = SL_OP_RESIZE_ARG_MAX;
  node->params = resize->params;
  node->inputs = sl_arena_memdup (graph->arena, inputs, sizeof inputs);
  node->n_inputs = 3;
  resize->op = SL_OP_INVALID;
  return 1;
}

const SlPass sl_pass_fuse_arg_max = { "fuse_arg_max", .step = step };
