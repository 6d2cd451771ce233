/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drops nodes of whose outputs nothing is read. Backwards, so that whole branches go in one sweep.
 */
#include "core/passes/passes.h"

static gboolean
is_dead (const SlPassIndex *index, const SlNode *node)
{
  for (guint k = 0; k < node->n_outputs; k++)
    if (index->consumers[node->outputs[k]] > 0)
      return FALSE;
  return TRUE;
}

static guint
run (SlGraph *graph)
{
  guint changes = 0;
  SlPassIndex index;
  sl_pass_index_init (&index, graph);
  for (guint i = graph->nodes->len; i-- > 0;) {
    SlNode *node = &g_array_index (graph->nodes, SlNode, i);
    if (!is_dead (&index, node))
      continue;
    for (guint k = 0; k < node->n_inputs; k++)
      if (node->inputs[k] >= 0)
        index.consumers[node->inputs[k]]--;
    node->op = SL_OP_INVALID;
    changes++;
  }
  sl_pass_index_clear (&index);
  sl_pass_remove_nodes (graph);
  return changes;
}

const SlPass sl_pass_dead_code = { "dead_code", run };
