/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reduction of what TRANSPOSE alone makes for it reads the tensor before, along the same
 * dimensions, and TRANSPOSE has the smaller result. Sums of weighted samples come so, as deformable
 * attention is exported.
 */
#include "core/ops/ops.h"
#include "core/passes/passes.h"

static gboolean
is_reduction (SlOpType op)
{
  return op == SL_OP_MEAN || op == SL_OP_SUM || op == SL_OP_REDUCE_MAX || op == SL_OP_REDUCE_MIN;
}

/* The dimensions of a reduction along @axes of what @order makes, by the dimensions before it,
 * and the order of those that are left. */
static guint
divide (const gint32 *order, guint rank, guint32 reduced, gboolean keeps, gint32 *axes,
        gint32 *rest)
{
  guint n_axes = 0, n_rest = 0;
  gint32 place[SL_MAX_RANK];
  guint32 before = 0;
  for (guint i = 0; i < rank; i++)
    if (reduced & (1u << i)) {
      axes[n_axes++] = order[i];
      before |= 1u << order[i];
    }
  for (guint i = 0, k = 0; i < rank; i++) {
    place[i] = (gint32) k;
    k += keeps || !(before & (1u << i));
  }
  for (guint i = 0; i < rank; i++)
    if (keeps || !(reduced & (1u << i)))
      rest[n_rest++] = place[order[i]];
  return n_rest;
}

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *node)
{
  gint32 order[SL_MAX_RANK], axes[SL_MAX_RANK], rest[SL_MAX_RANK];
  guint rank = 0, n_axes = 0;
  guint32 reduced = 0;
  SlNode *turn = is_reduction (node->op) && index->consumers[node->inputs[0]] == 1
                   ? sl_pass_producer (index, graph, node->inputs[0])
                   : NULL;
  if (turn == NULL || turn->op != SL_OP_TRANSPOSE
      || sl_node_input (graph, turn, 0)->dtype != SL_DTYPE_F32
      || !sl_constant_ints (sl_node_input (graph, turn, 1), order, SL_MAX_RANK, &rank)
      || !sl_constant_ints (sl_node_input (graph, node, 1), axes, SL_MAX_RANK, &n_axes))
    return 0;
  for (guint i = 0; i < rank; i++)
    order[i] += order[i] < 0 ? (gint32) rank : 0;
  for (guint i = 0; i < n_axes; i++)
    reduced |= 1u << (axes[i] + (axes[i] < 0 ? (gint32) rank : 0));
  const guint n = divide (order, rank, reduced, node->params.reduce.keep_dims, axes, rest);
  const gint32 along = n > 0 ? sl_pass_add_ints (graph, "axes", axes,
                                                 (guint) __builtin_popcount (reduced))
                             : -1,
               turned = along >= 0 ? sl_pass_add_ints (graph, "order", rest, n) : -1;
  if (turned < 0)
    return 0;
  const SlTensor *output = sl_node_output (graph, node, 0);
  gint32 dims[SL_MAX_RANK];
  for (guint i = 0; i < n; i++)
    dims[rest[i]] = output->dims[i];
  const gint32 first[2] = { turn->inputs[0], along }, second[2] = { turn->outputs[0], turned };
  turn->op = node->op;
  turn->params = node->params;
  turn->inputs = sl_arena_memdup (graph->arena, first, sizeof first);
  node->op = SL_OP_TRANSPOSE;
  sl_pass_set_dims (graph, turn->outputs[0], n, dims);
  node->params = (SlOpParams){ 0 };
  node->inputs = sl_arena_memdup (graph->arena, second, sizeof second);
  return 1;
}

const SlPass sl_pass_sink_transpose = { "sink_transpose", .step = step };
