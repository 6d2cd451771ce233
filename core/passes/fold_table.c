/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an elementwise node makes of one 8-bit tensor, constants of one value beside it, is a
 * function of a byte: such a node becomes a LOOKUP in a table of 256 bytes. Chains of them become
 * one table, through float tensors too, and so does a node all of whose operands are functions of
 * the same tensor (x * LOGISTIC (x)). Tables are made by running the nodes' plain kernels on all
 * 256 values, so every rounding between them is kept.
 */
#include <string.h>

#include "core/ops/ops.h"
#include "core/passes/passes.h"

#define N_BYTES 256

/** What is known of a tensor: the values it takes for each value of @source, -1 = nothing. */
typedef struct
{
  gint32 source;
  guint cost;   /* nodes that the values come from */
  void *values; /* N_BYTES elements of the tensor's type */
} Known;

static gboolean
is_byte (const SlTensor *tensor)
{
  return (tensor->dtype == SL_DTYPE_I8 || tensor->dtype == SL_DTYPE_U8);
}

static gboolean
is_foldable (SlOpType op)
{
  switch (op) {
    case SL_OP_QUANTIZE:
    case SL_OP_DEQUANTIZE:
    case SL_OP_CAST:
    case SL_OP_LOOKUP:
      return TRUE;
    case SL_OP_NORMALIZE: /* of rows */
      return FALSE;
    default:
      return sl_op_get (op)->in_place;
  }
}

/* One value, repeated: the element at 0 stands for all. */
static gboolean
is_uniform (const SlTensor *tensor)
{
  const gsize size = sl_dtype_size (tensor->dtype);
  for (gsize at = size; at < tensor->bytes; at += size)
    if (memcmp ((const guint8 *) tensor->data + at, tensor->data, size) != 0)
      return FALSE;
  return TRUE;
}

/* The tensor that every variable operand of @node is a function of, -1 = none; the others must be
 * uniform and broadcast into it. */
static gint32
source_of (const SlGraph *graph, const SlNode *node, const Known *known)
{
  gint32 source = -1;
  for (guint i = 0; i < node->n_inputs; i++) {
    const gint32 index = node->inputs[i];
    const SlTensor *input = index < 0 ? NULL : sl_graph_tensor (graph, index);
    if (input == NULL)
      return -1;
    if (node->op == SL_OP_LOOKUP && i == 1)
      continue;
    if (input->data != NULL) {
      if (input->bytes > N_BYTES * sizeof (gfloat) || !is_uniform (input))
        return -1;
      continue;
    }
    const gint32 from = known[index].source >= 0 ? known[index].source
                        : is_byte (input)        ? index
                                                 : -1;
    if (from < 0 || (source >= 0 && from != source))
      return -1;
    source = from;
  }
  const SlTensor *output = sl_node_output (graph, node, 0);
  return source >= 0 && sl_tensor_same_shape (sl_graph_tensor (graph, source), output) ? source
                                                                                       : -1;
}

/* The 256 values themselves, as a tensor holds them. */
static void *
identity_values (SlGraph *graph)
{
  guint8 *values = sl_arena_alloc (graph->arena, N_BYTES + SL_TENSOR_PADDING);
  for (guint i = 0; i < N_BYTES; i++)
    values[i] = (guint8) i;
  return values;
}

/* Runs @node on N_BYTES elements in a graph of its own. */
static void *
run_on_all (SlGraph *graph, const SlNode *node, const Known *known)
{
  g_autoptr (SlGraph) small = sl_graph_new (NULL);
  g_autoptr (SlArena) scratch = sl_arena_new ();
  SlKernelCall *call = g_new0 (SlKernelCall, 1);
  const SlOp *op = sl_op_get (node->op);
  gint32 inputs[SL_MAX_RANK];
  SlTensor output = *sl_node_output (graph, node, 0);
  output.rank = 1;
  output.dims[0] = N_BYTES;
  output.bytes = N_BYTES * sl_dtype_size (output.dtype);
  for (guint i = 0; i < node->n_inputs; i++) {
    SlTensor input = *sl_graph_tensor (graph, node->inputs[i]);
    const gboolean table = node->op == SL_OP_LOOKUP && i == 1;
    if (input.data == NULL)
      call->inputs[i] = known[node->inputs[i]].values != NULL ? known[node->inputs[i]].values
                                                              : identity_values (graph);
    else
      call->inputs[i] = input.data;
    input.rank = input.data == NULL || table ? 1 : 0;
    input.dims[0] = N_BYTES;
    inputs[i] = sl_graph_add_tensor (small, &input, NULL);
  }
  const gint32 out = sl_graph_add_tensor (small, &output, NULL);
  void *values = sl_arena_alloc (graph->arena, output.bytes + SL_TENSOR_PADDING);
  if (sl_graph_add_node (small, node->op, 0, inputs, node->n_inputs, &out, 1, &node->params,
                         NULL)) {
    call->graph = small;
    call->node = sl_graph_node (small, 0);
    call->outputs[0] = values;
    if (op->prepare != NULL)
      call->state = op->prepare (small, call->node, scratch);
    op->run (call);
  } else {
    values = NULL;
  }
  g_free (call);
  return values;
}

static gint32
add_table (SlGraph *graph, const void *values)
{
  const SlTensor table = { .name = "table",
                           .dtype = SL_DTYPE_U8,
                           .rank = 1,
                           .dims = { N_BYTES },
                           .data = values,
                           .bytes = N_BYTES };
  return sl_graph_add_tensor (graph, &table, NULL);
}

/* Worth it for chains, and for what XNNPACK has no fast operator for; a single node of its own
 * stays as it is. */
static gboolean
is_gain (const SlNode *node, const Known *made)
{
  if (node->op == SL_OP_LOOKUP)
    return made->cost > 1;
  return made->cost > 1
         || !(node->op == SL_OP_QUANTIZE || node->op == SL_OP_LOGISTIC || node->op == SL_OP_RELU
              || node->op == SL_OP_RELU6);
}

static guint
run (SlGraph *graph)
{
  const guint n = graph->tensors->len;
  g_autofree Known *known = g_new0 (Known, n);
  guint changes = 0;
  for (guint i = 0; i < n; i++)
    known[i].source = -1;
  for (guint i = 0; i < graph->nodes->len; i++) {
    SlNode *node = &g_array_index (graph->nodes, SlNode, i);
    if (!is_foldable (node->op) || node->n_inputs > 2 || node->outputs[0] >= (gint32) n)
      continue;
    const gint32 source = source_of (graph, node, known);
    if (source < 0)
      continue;
    Known made = { source, 1, run_on_all (graph, node, known) };
    for (guint k = 0; k < node->n_inputs; k++)
      if (node->inputs[k] < (gint32) n)
        made.cost += known[node->inputs[k]].cost;
    if (made.values == NULL)
      continue;
    known[node->outputs[0]] = made;
    if (!is_byte (sl_node_output (graph, node, 0)) || !is_gain (node, &made))
      continue;
    const gint32 inputs[2] = { source, add_table (graph, made.values) };
    if (inputs[1] < 0)
      continue;
    node->op = SL_OP_LOOKUP;
    node->inputs = sl_arena_memdup (graph->arena, inputs, sizeof inputs);
    node->n_inputs = 2;
    known[node->outputs[0]].cost = 1;
    changes++;
  }
  return changes;
}

const SlPass sl_pass_fold_table = { "fold_table", run };
