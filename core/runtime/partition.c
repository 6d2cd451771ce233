/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One sweep assigns nodes to steps, a second lists what each step reads and writes. Every variable
 * tensor is an operand of a step of joined nodes, also where one of them writes it and another
 * reads it: so all of them live in one arena with one plan, and a step, which runs its nodes in
 * order, may read a view of what it wrote.
 */
#include "core/runtime/partition.h"

typedef struct
{
  const SlGraph *graph;
  guint threads;    /* 0: every node is a step */
  gint32 *producer; /* step that writes each tensor, -1 = none */
  guint *readers;   /* how often each tensor is read */
  GPtrArray *steps;
} Partition;

void
sl_step_free (SlStep *step)
{
  g_array_unref (step->nodes);
  g_array_unref (step->operands);
  g_array_unref (step->is_output);
  g_free (step);
}

static void
step_free (gpointer data)
{
  sl_step_free (data);
}

static SlStep *
step_new (const SlBackend *backend)
{
  SlStep *step = g_new0 (SlStep, 1);
  step->backend = backend;
  step->nodes = g_array_new (FALSE, FALSE, sizeof (guint));
  step->operands = g_array_new (FALSE, FALSE, sizeof (gint32));
  step->is_output = g_array_new (FALSE, FALSE, sizeof (gboolean));
  return step;
}

static void
count_readers (Partition *p)
{
  guint n;
  const gint32 *outputs = sl_graph_all_outputs (p->graph, &n, NULL);
  for (guint i = 0; i < n; i++)
    p->readers[outputs[i]]++;
  for (guint i = 0; i < sl_graph_n_nodes (p->graph); i++) {
    const SlNode *node = sl_graph_node (p->graph, i);
    for (guint k = 0; k < node->n_inputs; k++)
      if (node->inputs[k] >= 0)
        p->readers[node->inputs[k]]++;
  }
}

static void
assign_steps (Partition *p, const SlBackend *const *backends)
{
  SlStep *step = NULL;
  guint joined = 0; /* nodes before it belong to @step */
  for (guint i = 0; i < sl_graph_n_nodes (p->graph); i++) {
    const SlNode *node = sl_graph_node (p->graph, i);
    if (backends[i] == NULL)
      continue;
    if (i >= joined
        && (step == NULL || step->backend != backends[i] || !backends[i]->joins_nodes
            || p->threads == 0)) {
      step = step_new (backends[i]);
      g_ptr_array_add (p->steps, step);
      if (backends[i]->neighbours != NULL && p->threads > 0)
        joined = i + backends[i]->neighbours (p->graph, backends, p->readers, p->threads, i);
    }
    g_array_append_val (step->nodes, i);
    for (guint k = 0; k < node->n_outputs; k++)
      p->producer[node->outputs[k]] = (gint32) p->steps->len - 1;
  }
}

static void
add_operand (SlStep *step, gint32 tensor, gboolean is_output)
{
  g_array_append_val (step->operands, tensor);
  g_array_append_val (step->is_output, is_output);
}

/* Whether step @s, of joined nodes, has to be given the memory of an input of one of them, which
 * was not met before. */
static gboolean
is_new_input (const Partition *p, guint s, gint32 tensor, guint *seen)
{
  if (tensor < 0 || sl_graph_tensor (p->graph, tensor)->data != NULL
      || p->producer[tensor] == (gint32) s || seen[tensor] == s + 1)
    return FALSE;
  seen[tensor] = s + 1;
  return TRUE;
}

static void
collect_operands (Partition *p)
{
  g_autofree guint *seen = g_new0 (guint, sl_graph_n_tensors (p->graph));
  for (guint s = 0; s < p->steps->len; s++) {
    SlStep *step = g_ptr_array_index (p->steps, s);
    for (guint i = 0; i < step->nodes->len; i++) {
      const SlNode *node = sl_graph_node (p->graph, g_array_index (step->nodes, guint, i));
      for (guint k = 0; k < node->n_inputs; k++)
        if (!step->backend->joins_nodes || is_new_input (p, s, node->inputs[k], seen))
          add_operand (step, node->inputs[k], FALSE);
      for (guint k = 0; k < node->n_outputs; k++)
        add_operand (step, node->outputs[k], TRUE);
    }
  }
}

GPtrArray *
sl_partition (const SlGraph *graph, const SlBackend *const *backends, guint threads)
{
  const guint n = sl_graph_n_tensors (graph);
  Partition p = { .graph = graph, .threads = threads };
  p.steps = g_ptr_array_new_with_free_func (step_free);
  p.producer = g_new (gint32, n);
  p.readers = g_new0 (guint, n);
  count_readers (&p);
  for (guint i = 0; i < n; i++)
    p.producer[i] = -1;
  assign_steps (&p, backends);
  collect_operands (&p);
  g_free (p.producer);
  g_free (p.readers);
  return p.steps;
}

SlStep *
sl_step_new_alone (const SlGraph *graph, const SlBackend *backend, guint index)
{
  const guint n = sl_graph_n_nodes (graph);
  g_autofree const SlBackend **backends = g_new0 (const SlBackend *, n);
  backends[index] = backend;
  g_autoptr (GPtrArray) steps = sl_partition (graph, backends, 0);
  return g_ptr_array_steal_index (steps, 0);
}
