/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which results are only read by layers that round them to 8 bits, so that a small error does not
 * matter. It changes no node, so it is no pass: sl_graph_prepare() does it once, behind all of
 * them.
 */
#include "core/passes/passes.h"

/* Layers that round the rows of their input by the range of each row. */
static gboolean
rounds_rows (const SlNode *node)
{
  return node->op == SL_OP_FULLY_CONNECTED && node->params.fully_connected.dynamic
         && !node->params.fully_connected.whole;
}

void
sl_graph_find_rounded (SlGraph *graph)
{
  SlPassIndex index;
  sl_pass_index_init (&index, graph);
  g_autofree guint *rounded = g_new0 (guint, graph->tensors->len);
  for (guint i = 0; i < graph->nodes->len; i++) {
    const SlNode *node = sl_graph_node (graph, i);
    if (rounds_rows (node))
      rounded[node->inputs[0]]++;
  }
  for (guint i = 0; i < graph->nodes->len; i++) {
    SlNode *node = &g_array_index (graph->nodes, SlNode, i);
    if (node->op == SL_OP_GELU)
      node->params.gelu.rounded = rounded[node->outputs[0]] > 0
                                  && rounded[node->outputs[0]] == index.consumers[node->outputs[0]];
  }
  sl_pass_index_clear (&index);
}
