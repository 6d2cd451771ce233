/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lifetimes by node, in-place writing, then core/graph/arena_plan.c places the blocks. */
#include "core/graph/lifetimes.h"

#include <string.h>

#include "core/graph/arena_plan.h"

typedef struct
{
  const SlGraph *graph;
  const gint32 *roots;
  const guint8 *bound;
  const guint *ends;
  gint32 *block_of; /* by root, -1 = none yet */
  gint32 *last_use; /* by root: position of the last node that reads or writes it */
  SlBlock *blocks;
  guint n_blocks, in_place;
} Layout;

gint32 *
sl_roots_new (const SlGraph *graph)
{
  gint32 *roots = g_new (gint32, sl_graph_n_tensors (graph));
  for (guint i = 0; i < sl_graph_n_tensors (graph); i++)
    roots[i] = (gint32) i;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    if (sl_op_get (node->op)->is_view)
      roots[node->outputs[0]] = roots[node->inputs[0]];
  }
  return roots;
}

static gboolean
in_arena (const Layout *l, gint32 root)
{
  return !l->bound[root] && sl_graph_tensor (l->graph, root)->data == NULL;
}

/* The last node that runs with node @i. */
static gint32
last_of (const Layout *l, guint i)
{
  return (gint32) (l->ends != NULL ? l->ends[i] : i);
}

static gboolean
runs_alone (const Layout *l, gint32 i)
{
  return last_of (l, (guint) i) == i && (i == 0 || last_of (l, (guint) i - 1) < i);
}

static void
find_last_uses (Layout *l)
{
  for (guint i = 0; i < sl_graph_n_nodes (l->graph); i++) {
    const SlNode *node = sl_graph_node (l->graph, i);
    for (guint k = 0; k < node->n_inputs; k++)
      if (node->inputs[k] >= 0)
        l->last_use[l->roots[node->inputs[k]]] = last_of (l, i);
    for (guint k = 0; k < node->n_outputs; k++)
      l->last_use[l->roots[node->outputs[k]]] = last_of (l, i);
  }
  guint n;
  const gint32 *outputs = sl_graph_all_outputs (l->graph, &n, NULL);
  for (guint i = 0; i < n; i++) /* copied out after the last node */
    l->last_use[l->roots[outputs[i]]] = (gint32) sl_graph_n_nodes (l->graph);
}

/* The block of an input that node @i may write over, -1 = none. */
static gint32
block_to_reuse (const Layout *l, const SlNode *node, gint32 i)
{
  const SlTensor *output = sl_node_output (l->graph, node, 0);
  if (!sl_op_get (node->op)->in_place || !runs_alone (l, i)
      || l->roots[node->outputs[0]] != node->outputs[0])
    return -1;
  for (guint k = 0; k < node->n_inputs; k++) {
    const gint32 root = node->inputs[k] < 0 ? -1 : l->roots[node->inputs[k]];
    if (root < 0 || !in_arena (l, root) || l->last_use[root] != i || l->block_of[root] < 0)
      continue;
    const SlTensor *input = sl_node_input (l->graph, node, k);
    if (input->bytes == output->bytes
        && sl_dtype_size (input->dtype) == sl_dtype_size (output->dtype)
        && sl_graph_tensor (l->graph, root)->bytes == output->bytes)
      return l->block_of[root];
  }
  return -1;
}

static void
add_outputs (Layout *l, const SlNode *node, gint32 i)
{
  for (guint k = 0; k < node->n_outputs; k++) {
    const gint32 root = l->roots[node->outputs[k]];
    if (!in_arena (l, root) || l->block_of[root] >= 0)
      continue;
    const gint32 reused = k == 0 ? block_to_reuse (l, node, i) : -1;
    if (reused >= 0) {
      l->block_of[root] = reused;
      l->in_place++;
    } else {
      l->block_of[root] = (gint32) l->n_blocks;
      l->blocks[l->n_blocks++] =
        (SlBlock){ .bytes = sl_graph_tensor (l->graph, root)->bytes, .first = (guint) i };
    }
    SlBlock *block = &l->blocks[l->block_of[root]];
    block->last = MAX (block->last, (guint) MAX (l->last_use[root], i));
  }
}

void
sl_memory_plan (const SlGraph *graph, const gint32 *roots, const guint8 *bound, const guint *ends,
                gboolean halves, gssize *offsets, SlMemoryPlan *plan)
{
  const guint n = sl_graph_n_tensors (graph), n_nodes = sl_graph_n_nodes (graph);
  g_autofree gint32 *block_of = g_new (gint32, n), *last_use = g_new (gint32, n);
  g_autofree SlBlock *blocks = g_new0 (SlBlock, n + 1);
  Layout l = { .graph = graph,
               .roots = roots,
               .bound = bound,
               .ends = ends,
               .block_of = block_of,
               .last_use = last_use,
               .blocks = blocks };
  memset (block_of, 0xff, n * sizeof block_of[0]);
  memset (last_use, 0xff, n * sizeof last_use[0]);
  find_last_uses (&l);
  for (guint i = 0; i < n_nodes; i++)
    add_outputs (&l, sl_graph_node (graph, i), (gint32) i);
  plan->in_place = l.in_place;
  plan->bytes =
    sl_arena_plan (blocks, l.n_blocks, n_nodes + 1, halves, &plan->lower_bound, &plan->fullest);
  for (guint i = 0; i < n; i++)
    offsets[i] = block_of[i] < 0 ? -1 : (gssize) blocks[block_of[i]].offset;
}

gsize
sl_memory_at_once (const SlGraph *graph, guint *fullest)
{
  const guint n = sl_graph_n_tensors (graph);
  g_autofree gint32 *roots = sl_roots_new (graph);
  g_autofree guint8 *bound = g_new0 (guint8, n);
  g_autofree gssize *offsets = g_new (gssize, n);
  SlMemoryPlan plan;
  guint n_inputs, n_outputs;
  const gint32 *inputs = sl_graph_all_inputs (graph, &n_inputs, NULL),
               *outputs = sl_graph_all_outputs (graph, &n_outputs, NULL);
  gsize edges = 0;
  for (guint i = 0; i < n_inputs; i++) {
    bound[roots[inputs[i]]] = 1;
    edges += sl_graph_tensor (graph, inputs[i])->bytes;
  }
  for (guint i = 0; i < n_outputs; i++) {
    bound[roots[outputs[i]]] |= sl_graph_tensor (graph, roots[outputs[i]])->data == NULL;
    edges += sl_graph_tensor (graph, outputs[i])->bytes;
  }
  sl_memory_plan (graph, roots, bound, NULL, FALSE, offsets, &plan);
  *fullest = plan.fullest;
  return edges + plan.bytes;
}
