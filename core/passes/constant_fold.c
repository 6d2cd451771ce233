/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Constant folding: a node that reads constants only, or shapes only, is run once with its own
 * kernel and its outputs become constants. It happens node by node while the graph is verified,
 * since the shapes of later nodes may depend on the values; results much larger than their inputs
 * are computed at run time. So is everything once a graph's folding has taken as much work as a
 * file of its size may cost at load: a few bytes of FILL, TILE and BATCH_MATMUL can ask for hours.
 */
#include "core/ops/ops.h"
#include "core/passes/passes.h"
#include "core/graph/work.h"

/* Results up to this size are folded whatever they are made of. */
#define ALWAYS_BYTES 65536
/* Larger ones may be this many times their inputs: int8 to float32. */
#define GROWTH 4
/* Work that folding may take, for any file, and for each of its bytes: enough to make float16
 * weights float32 and turn them around. */
#define ANY_WORK (G_GUINT64_CONSTANT (1) << 26)
#define BYTE_WORK 32

static gboolean
worth_folding (const SlGraph *graph, const SlNode *node)
{
  gsize in = 0, out = 0;
  const SlOp *op = sl_op_get (node->op);
  if ((op->run == NULL && !op->is_view) || sl_node_has_stored_weights (graph, node))
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlTensor *input = sl_node_input (graph, node, i);
    if (input == NULL || op->is_static)
      continue;
    if (input->data == NULL)
      return FALSE;
    in += input->bytes;
  }
  for (guint i = 0; i < node->n_outputs; i++)
    out += sl_node_output (graph, node, i)->bytes;
  return out <= ALWAYS_BYTES || out <= GROWTH * in;
}

static gboolean
is_graph_output (const SlGraph *graph, const SlNode *node)
{
  for (guint k = 0; k < node->n_outputs; k++)
    for (guint i = 0; i < graph->n_outputs; i++)
      if (graph->outputs[i] == node->outputs[k])
        return TRUE;
  return FALSE;
}

/* Takes @node's work from what is left; FALSE when that is too little. */
static gboolean
take_work (SlGraph *graph, const SlNode *node)
{
  const guint64 most =
    ANY_WORK + BYTE_WORK * (graph->bytes != NULL ? (guint64) g_bytes_get_size (graph->bytes) : 0);
  const guint64 work = sl_node_work (graph, node);
  if (work > most - graph->folding)
    return FALSE;
  graph->folding += work;
  return TRUE;
}

guint
sl_constant_fold (SlGraph *graph, SlNode *node)
{
  const SlOp *op = sl_op_get (node->op);
  if (!worth_folding (graph, node) || is_graph_output (graph, node) || !take_work (graph, node))
    return 0;
  if (op->is_view) {
    sl_node_output (graph, node, 0)->data = sl_node_input (graph, node, 0)->data;
    node->op = SL_OP_INVALID;
    return 1;
  }
  g_autoptr (SlArena) scratch = sl_arena_new ();
  SlKernelCall *call = g_new0 (SlKernelCall, 1);
  call->graph = graph;
  call->node = node;
  for (guint i = 0; i < node->n_inputs; i++)
    call->inputs[i] = node->inputs[i] < 0 ? NULL : sl_node_input (graph, node, i)->data;
  for (guint i = 0; i < node->n_outputs; i++)
    call->outputs[i] =
      sl_arena_alloc (graph->arena, sl_node_output (graph, node, i)->bytes + SL_TENSOR_PADDING);
  if (op->prepare != NULL)
    call->state = op->prepare (graph, node, scratch);
  op->run (call);
  for (guint i = 0; i < node->n_outputs; i++)
    sl_node_output (graph, node, i)->data = call->outputs[i];
  g_free (call);
  node->op = SL_OP_INVALID;
  return 1;
}
