/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layout nodes that undo or repeat each other: TRANSPOSE of TRANSPOSE becomes one; a TRANSPOSE that
 * only moves dimensions of one element, and a SLICE, TILE, PAD or RESIZE that changes nothing,
 * become a RESHAPE; a RESHAPE of a RESHAPE reads the first one's input. RESHAPEs are views and cost
 * nothing.
 */
#include <string.h>

#include "core/ops/ops.h"
#include "core/passes/passes.h"

static void
set_input (SlGraph *graph, SlNode *node, guint i, gint32 tensor)
{
  gint32 *inputs = sl_arena_memdup (graph->arena, node->inputs, node->n_inputs * sizeof inputs[0]);
  inputs[i] = tensor;
  node->inputs = inputs;
}

/* @node keeps its output, as the bytes of its input under the output's shape. */
static void
make_reshape (const SlGraph *graph, SlNode *node)
{
  const SlTensor *output = sl_node_output (graph, node, 0);
  node->op = SL_OP_RESHAPE;
  node->n_inputs = 1;
  memset (&node->params, 0, sizeof node->params);
  node->params.reshape.count = output->rank;
  memcpy (node->params.reshape.dims, output->dims, output->rank * sizeof output->dims[0]);
}

static void
read_order (const SlGraph *graph, const SlNode *node, gint32 order[SL_MAX_RANK], guint *rank)
{
  sl_constant_ints (sl_node_input (graph, node, 1), order, SL_MAX_RANK, rank);
  for (guint i = 0; i < *rank; i++)
    order[i] += order[i] < 0 ? (gint32) *rank : 0;
}

/* Dimensions of more than one element stay in order. */
static gboolean
keeps_order (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 order[SL_MAX_RANK], last = -1;
  guint rank = 0;
  read_order (graph, node, order, &rank);
  for (guint i = 0; i < rank; i++) {
    if (input->dims[order[i]] == 1)
      continue;
    if (order[i] < last)
      return FALSE;
    last = order[i];
  }
  return TRUE;
}

static gboolean
changes_nothing (const SlGraph *graph, const SlNode *node)
{
  switch (node->op) {
    case SL_OP_TRANSPOSE:
      return keeps_order (graph, node);
    case SL_OP_SLICE:
    case SL_OP_TILE:
    case SL_OP_PAD:
    case SL_OP_PADV2:
    case SL_OP_BROADCAST_TO:
    case SL_OP_RESIZE_BILINEAR:
    case SL_OP_RESIZE_NEAREST_NEIGHBOR: {
      const SlTensor *input = sl_node_input (graph, node, 0),
                     *output = sl_node_output (graph, node, 0);
      return sl_tensor_same_shape (input, output);
    }
    default:
      return FALSE;
  }
}

/* TRANSPOSE by @node of what another TRANSPOSE made: one by both. */
static gboolean
merge_transposes (SlGraph *graph, SlNode *node, const SlNode *before)
{
  gint32 outer[SL_MAX_RANK], inner[SL_MAX_RANK], *both;
  guint rank = 0;
  read_order (graph, before, inner, &rank);
  read_order (graph, node, outer, &rank);
  both = sl_arena_alloc (graph->arena, rank * sizeof both[0]);
  for (guint i = 0; i < rank; i++)
    both[i] = inner[outer[i]];
  const SlTensor order = { .name = "order",
                           .dtype = SL_DTYPE_I32,
                           .rank = 1,
                           .dims = { (gint32) rank },
                           .data = both,
                           .bytes = rank * sizeof both[0] };
  const gint32 index = sl_graph_add_tensor (graph, &order, NULL);
  if (index < 0)
    return FALSE;
  set_input (graph, node, 0, before->inputs[0]);
  set_input (graph, node, 1, index);
  return TRUE;
}

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *node)
{
  guint changes = 0;
  const SlNode *before = node->n_inputs > 0 && node->inputs[0] >= 0
                           ? sl_pass_producer (index, graph, node->inputs[0])
                           : NULL;
  if (node->op == SL_OP_TRANSPOSE && before != NULL && before->op == SL_OP_TRANSPOSE
      && merge_transposes (graph, node, before))
    changes++;
  if (changes_nothing (graph, node)) {
    make_reshape (graph, node);
    changes++;
  }
  if (node->op == SL_OP_RESHAPE && before != NULL && before->op == SL_OP_RESHAPE
      && node->inputs[0] == before->outputs[0]) {
    set_input (graph, node, 0, before->inputs[0]);
    changes++;
  }
  return changes;
}

const SlPass sl_pass_cancel_layout = { "cancel_layout", .step = step };
