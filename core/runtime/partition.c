/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One sweep assigns nodes to steps, a second lists what each step reads and writes. Every variable tensor is external
 * to the runtimes of XNNPACK, also where one of them writes and reads it: so all of them live in one arena with one
 * plan, and a runtime, which runs its nodes in order, may read a view of what it wrote.
 */
#include "core/runtime/partition.h"

#include "core/backends/backend.h"
#include "core/ops/ops.h"

typedef struct
{
  const SlGraph *graph;
  gboolean single;
  gint32 *producer; /* step that writes each tensor, -1 = none */
  GPtrArray *steps;
} Partition;

void
sl_step_free (SlStep *step)
{
  g_array_unref (step->nodes);
  g_array_unref (step->externals);
  g_array_unref (step->is_output);
  g_free (step);
}

static void
step_free (gpointer data)
{
  sl_step_free (data);
}

static SlStep *
step_new (gboolean xnnpack)
{
  SlStep *step = g_new0 (SlStep, 1);
  step->xnnpack = xnnpack;
  step->nodes = g_array_new (FALSE, FALSE, sizeof (guint));
  step->externals = g_array_new (FALSE, FALSE, sizeof (gint32));
  step->is_output = g_array_new (FALSE, FALSE, sizeof (gboolean));
  return step;
}

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

static void
assign_steps (Partition *p, const guint8 *backends)
{
  gboolean open = FALSE;
  for (guint i = 0; i < sl_graph_n_nodes (p->graph); i++) {
    const SlNode *node = sl_graph_node (p->graph, i);
    if (sl_op_get (node->op)->is_view)
      continue;
    const gboolean on_xnnpack = backends[i] == SL_BACKEND_XNNPACK;
    if (!open || !on_xnnpack || p->single)
      g_ptr_array_add (p->steps, step_new (on_xnnpack));
    open = on_xnnpack;
    SlStep *step = g_ptr_array_index (p->steps, p->steps->len - 1);
    g_array_append_val (step->nodes, i);
    for (guint k = 0; k < node->n_outputs; k++)
      p->producer[node->outputs[k]] = (gint32) p->steps->len - 1;
  }
}

static void
add_external (SlStep *step, gint32 tensor, gboolean is_output)
{
  g_array_append_val (step->externals, tensor);
  g_array_append_val (step->is_output, is_output);
}

static void
collect_externals (Partition *p)
{
  g_autofree guint *seen = g_new0 (guint, sl_graph_n_tensors (p->graph));
  for (guint s = 0; s < p->steps->len; s++) {
    SlStep *step = g_ptr_array_index (p->steps, s);
    for (guint i = 0; i < step->nodes->len; i++) {
      const SlNode *node = sl_graph_node (p->graph, g_array_index (step->nodes, guint, i));
      for (guint k = 0; k < node->n_inputs; k++) {
        const gint32 tensor = node->inputs[k];
        if (tensor < 0 || sl_graph_tensor (p->graph, tensor)->data != NULL || p->producer[tensor] == (gint32) s || seen[tensor] == s + 1)
          continue;
        seen[tensor] = s + 1;
        add_external (step, tensor, FALSE);
      }
      for (guint k = 0; k < node->n_outputs; k++)
        add_external (step, node->outputs[k], TRUE);
    }
  }
}

GPtrArray *
sl_partition (const SlGraph *graph, const guint8 *backends, gboolean single)
{
  const guint n = sl_graph_n_tensors (graph);
  Partition p = { .graph = graph, .single = single };
  p.steps = g_ptr_array_new_with_free_func (step_free);
  p.producer = g_new (gint32, n);
  for (guint i = 0; i < n; i++)
    p.producer[i] = -1;
  assign_steps (&p, backends);
  collect_externals (&p);
  g_free (p.producer);
  return p.steps;
}

static gboolean
has_external (const SlStep *step, gint32 tensor)
{
  for (guint i = 0; i < step->externals->len; i++)
    if (g_array_index (step->externals, gint32, i) == tensor)
      return TRUE;
  return FALSE;
}

SlStep *
sl_step_new_alone (const SlGraph *graph, guint index)
{
  const SlNode *node = sl_graph_node (graph, index);
  SlStep *step = step_new (TRUE);
  g_array_append_val (step->nodes, index);
  for (guint k = 0; k < node->n_inputs; k++)
    if (node->inputs[k] >= 0 && sl_graph_tensor (graph, node->inputs[k])->data == NULL && !has_external (step, node->inputs[k]))
      add_external (step, node->inputs[k], FALSE);
  for (guint k = 0; k < node->n_outputs; k++)
    add_external (step, node->outputs[k], TRUE);
  return step;
}
