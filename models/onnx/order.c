/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of a graph's nodes. The format asks for producers before consumers; ONNX Runtime sorts,
 * and tools that add casts at the end of the list rely on that. Called once for each graph when its
 * file is read.
 */
#include "models/onnx/parse.h"

#include "core/base/name_hash.h"

typedef struct
{
  guint node, next;
  GPtrArray *names; /* that the node reads */
} Visit;

typedef struct
{
  const OnnxGraph *graph;
  GHashTable *producers; /* name -> position of the first node that makes it */
  guint8 *begun;
  GArray *stack, *sorted;
} Sorter;

/* All names that @node and the graphs within it read. */
static void
collect_names (const LowerNode *node, GPtrArray *names)
{
  for (guint i = 0; i < node->n_inputs; i++)
    g_ptr_array_add (names, (gpointer) node->inputs[i]);
  for (guint a = 0; a < node->n_attributes; a++) {
    const OnnxGraph *inner = node->attributes[a].graph;
    for (guint i = 0; inner != NULL && i < inner->nodes->len; i++)
      collect_names (&g_array_index (inner->nodes, LowerNode, i), names);
    for (guint i = 0; inner != NULL && i < inner->outputs->len; i++)
      g_ptr_array_add (names, (gpointer) g_array_index (inner->outputs, OnnxEdge, i).name);
  }
}

static GPtrArray *
names_of (const OnnxGraph *graph, guint node)
{
  GPtrArray *names = g_ptr_array_new ();
  collect_names (&g_array_index (graph->nodes, LowerNode, node), names);
  return names;
}

static GHashTable *
find_producers (const OnnxGraph *graph)
{
  GHashTable *producers = g_hash_table_new (sl_name_hash, g_str_equal);
  for (guint i = 0; i < graph->nodes->len; i++) {
    const LowerNode *node = &g_array_index (graph->nodes, LowerNode, i);
    for (guint k = 0; k < node->n_outputs; k++)
      if (node->outputs[k][0] != '\0' && !g_hash_table_contains (producers, node->outputs[k]))
        g_hash_table_insert (producers, (gpointer) node->outputs[k], GUINT_TO_POINTER (i));
  }
  return producers;
}

static gboolean
find_producer (GHashTable *producers, const char *name, guint *at)
{
  gpointer position;
  const gboolean found = g_hash_table_lookup_extended (producers, name, NULL, &position);
  *at = found ? GPOINTER_TO_UINT (position) : 0;
  return found;
}

static gboolean
is_sorted (const OnnxGraph *graph, GHashTable *producers)
{
  for (guint i = 0; i < graph->nodes->len; i++) {
    g_autoptr (GPtrArray) names = names_of (graph, i);
    guint at;
    for (guint k = 0; k < names->len; k++)
      if (find_producer (producers, g_ptr_array_index (names, k), &at) && at > i)
        return FALSE;
  }
  return TRUE;
}

static void
begin (Sorter *sorter, guint node)
{
  const Visit visit = { node, 0, names_of (sorter->graph, node) };
  sorter->begun[node] = 1;
  g_array_append_val (sorter->stack, visit);
}

/* The node on top of the stack goes on to the next one that it waits for, or is done. Of nodes that
 * wait for each other one comes too early, which who builds the graph says. */
static void
step (Sorter *sorter)
{
  Visit *visit = &g_array_index (sorter->stack, Visit, sorter->stack->len - 1);
  guint at;
  while (visit->next < visit->names->len)
    if (find_producer (sorter->producers, g_ptr_array_index (visit->names, visit->next++), &at)
        && !sorter->begun[at]) {
      begin (sorter, at);
      return;
    }
  g_array_append_val (sorter->sorted, g_array_index (sorter->graph->nodes, LowerNode, visit->node));
  g_ptr_array_unref (visit->names);
  g_array_set_size (sorter->stack, sorter->stack->len - 1);
}

void
onnx_graph_sort (OnnxGraph *graph)
{
  const guint n = graph->nodes->len;
  g_autoptr (GHashTable) producers = find_producers (graph);
  if (is_sorted (graph, producers))
    return;
  g_autofree guint8 *begun = g_new0 (guint8, n);
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (Visit));
  Sorter sorter = { graph, producers, begun, stack,
                    g_array_sized_new (FALSE, FALSE, sizeof (LowerNode), n) };
  for (guint i = 0; i < n; i++) {
    if (!begun[i])
      begin (&sorter, i);
    while (stack->len > 0)
      step (&sorter);
  }
  g_array_unref (graph->nodes);
  graph->nodes = sorter.sorted;
}
