/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/backends/plain/widened.h"

#include "core/ops/halves.h"
#include "core/ops/kernels/simd/loops.h"
#include "core/ops/ops.h"

/** @elements: of each operand of binary16, 0 for others; @at: where its floats begin in the scratch
 * memory. */
struct _SlWidened
{
  SlGraph *graph;
  SlKernelCall call;
  const SlOp *op;
  const SlScratch *scratch;
  guint n_inputs, n_operands;
  gsize *elements, *at;
};

static const SlTensor *
operand (const SlGraph *graph, const SlNode *node, guint i)
{
  return i < node->n_inputs ? sl_node_input (graph, node, i)
                            : sl_node_output (graph, node, i - node->n_inputs);
}

gboolean
sl_widened_needed (const SlGraph *graph, const SlNode *node)
{
  gboolean narrow = FALSE;
  for (guint i = 0; i < node->n_inputs + node->n_outputs; i++) {
    const SlTensor *tensor = operand (graph, node, i);
    narrow |= tensor != NULL && tensor->data == NULL && tensor->dtype == SL_DTYPE_F16;
  }
  return narrow && sl_node_halves (graph, node) == SL_HALVES_ANY;
}

/* The node's operands as tensors of a graph of its own; omitted ones are -1. */
static void
copy_operands (SlWidened *w, const SlGraph *graph, const SlNode *node, gint32 *made)
{
  gsize at = 0;
  for (guint i = 0; i < w->n_operands; i++) {
    const SlTensor *tensor = operand (graph, node, i);
    made[i] = -1;
    if (tensor == NULL)
      continue;
    SlTensor copy = *tensor;
    if (tensor->data == NULL && tensor->dtype == SL_DTYPE_F16) {
      w->elements[i] = sl_tensor_count (tensor);
      w->at[i] = at;
      copy.dtype = SL_DTYPE_F32;
      copy.bytes *= 2;
      at +=
        (copy.bytes + SL_TENSOR_PADDING + SL_TENSOR_ALIGN - 1) / SL_TENSOR_ALIGN * SL_TENSOR_ALIGN;
    }
    made[i] = sl_graph_add_tensor (w->graph, &copy, NULL);
  }
  w->at[w->n_operands] = at;
}

SlWidened *
sl_widened_new (SlHost *host, const SlNode *node)
{
  SlWidened *w = g_new0 (SlWidened, 1);
  w->n_inputs = node->n_inputs;
  w->n_operands = node->n_inputs + node->n_outputs;
  w->elements = g_new0 (gsize, w->n_operands);
  w->at = g_new0 (gsize, w->n_operands + 1);
  w->graph = sl_graph_new (NULL);
  g_autofree gint32 *made = g_new (gint32, w->n_operands);
  copy_operands (w, host->graph, node, made);
  const gboolean added =
    sl_graph_add_node (w->graph, node->op, node->index, made, node->n_inputs, made + node->n_inputs,
                       node->n_outputs, &node->params, NULL);
  g_assert (added);
  w->op = sl_op_get (node->op);
  w->scratch = &host->scratch;
  w->call.graph = w->graph;
  w->call.node = sl_graph_node (w->graph, 0);
  w->call.pool = host->pool;
  if (w->op->prepare != NULL)
    w->call.state = w->op->prepare (w->graph, w->call.node, host->arena);
  sl_host_need_scratch (host, w->at[w->n_operands] / host->threads + SL_TENSOR_ALIGN);
  return w;
}

void
sl_widened_free (SlWidened *widened)
{
  if (widened == NULL)
    return;
  sl_graph_unref (widened->graph);
  g_free (widened->elements);
  g_free (widened->at);
  g_free (widened);
}

void
sl_widened_run (SlWidened *w, void *const *memory)
{
  const SlSimdLoops *loops = sl_simd_loops ();
  for (guint i = 0; i < w->n_operands; i++) {
    void *floats = w->elements[i] > 0 ? w->scratch->memory + w->at[i] : memory[i];
    if (i < w->n_inputs && w->elements[i] > 0)
      loops->from_halves (memory[i], floats, w->elements[i]);
    if (i < w->n_inputs)
      w->call.inputs[i] = floats;
    else
      w->call.outputs[i - w->n_inputs] = floats;
  }
  w->op->run (&w->call);
  for (guint i = w->n_inputs; i < w->n_operands; i++)
    if (w->elements[i] > 0)
      loops->to_halves (w->call.outputs[i - w->n_inputs], memory[i], w->elements[i]);
}
