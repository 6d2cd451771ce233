/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The QUANTIZE of a model's only input, left out on request: the maker of the input tensor can
 * write the quantised values itself. In no table of passes, because it changes what the model
 * takes; sl_model_load_with() asks for it.
 */
#include "core/graph/op.h"
#include "core/passes/passes.h"
#include "core/passes/prepare.h"

static gint
find_node (const SlGraph *graph)
{
  if (!graph->prepared || graph->n_inputs != 1)
    return -1;
  gint found = -1;
  SlPassIndex index;
  sl_pass_index_init (&index, graph);
  const gboolean alone = index.consumers[graph->inputs[0]] == 1;
  for (guint i = 0; alone && found < 0 && i < graph->nodes->len; i++) {
    const SlNode *node = sl_graph_node (graph, i);
    if (node->op == SL_OP_QUANTIZE && node->inputs[0] == graph->inputs[0])
      found = (gint) i;
  }
  sl_pass_index_clear (&index);
  for (guint i = 0; found >= 0 && i < graph->n_outputs + graph->n_carried; i++)
    if (graph->outputs[i] == sl_graph_node (graph, (guint) found)->outputs[0])
      return -1;
  return found;
}

const SlTensor *
sl_graph_quantized_input (const SlGraph *graph)
{
  const gint found = find_node (graph);
  return found >= 0 ? sl_graph_tensor (graph, sl_graph_node (graph, (guint) found)->outputs[0])
                    : NULL;
}

void
sl_graph_skip_input_quantize (SlGraph *graph)
{
  const gint found = find_node (graph);
  g_return_if_fail (found >= 0);
  SlNode *node = &g_array_index (graph->nodes, SlNode, found);
  graph->skipped = TRUE;
  graph->declared_input = graph->inputs[0];
  graph->inputs[0] = node->outputs[0];
  node->op = SL_OP_INVALID;
  sl_pass_remove_nodes (graph);
}
