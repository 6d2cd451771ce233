/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pads in topological order (Kahn's algorithm), with the number of paths to each.
 */
#include "config.h"
#include "pipelines/description/graph.h"

#include "core/base/fail.h"

#define MAX_PATHS 65536
#define MAX_NAMES 8

typedef struct
{
  gdouble paths;        /* that lead here from pads without a predecessor */
  guint waits;          /* predecessors that are not in order yet */
  guint from;           /* a predecessor in a loop, or a pad that a loop leads to */
  GPtrArray *successor; /* of GstPad */
} Node;

static void
clear_node (gpointer data)
{
  g_ptr_array_unref (((Node *) data)->successor);
}

typedef struct
{
  GPtrArray *pads;
  GHashTable *index; /* pad to its place in @pads and @nodes */
  GArray *nodes;     /* of Node */
} Graph;

static void
clear_graph (Graph *graph)
{
  g_ptr_array_unref (graph->pads);
  g_hash_table_unref (graph->index);
  g_array_unref (graph->nodes);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Graph, clear_graph)

static void
add_pad (const GValue *item, gpointer data)
{
  Graph *graph = data;
  GstPad *pad = g_value_get_object (item);
  if (!g_hash_table_insert (graph->index, pad, GUINT_TO_POINTER (graph->pads->len)))
    return;
  g_ptr_array_add (graph->pads, gst_object_ref (pad));
  if (GST_IS_GHOST_PAD (pad)) {
    GValue inside = G_VALUE_INIT;
    g_value_init (&inside, GST_TYPE_PAD);
    g_value_take_object (&inside, gst_proxy_pad_get_internal (GST_PROXY_PAD (pad)));
    add_pad (&inside, graph);
    g_value_unset (&inside);
  }
}

static void
add_pads (const GValue *item, gpointer data)
{
  GstIterator *pads = gst_element_iterate_pads (g_value_get_object (item));
  gst_iterator_foreach (pads, add_pad, data);
  gst_iterator_free (pads);
}

static void
add_successor (const GValue *item, gpointer successors)
{
  g_ptr_array_add (successors, g_value_dup_object (item));
}

/* (transfer full): what a buffer in @pad reaches next. */
static GPtrArray *
successors_of (GstPad *pad)
{
  GPtrArray *successors = g_ptr_array_new_with_free_func (gst_object_unref);
  GstPad *peer = gst_pad_is_linked (pad) && GST_PAD_IS_SRC (pad) ? gst_pad_get_peer (pad) : NULL;
  GstIterator *inside = GST_PAD_IS_SINK (pad) ? gst_pad_iterate_internal_links (pad) : NULL;
  if (peer != NULL)
    g_ptr_array_add (successors, peer);
  if (inside != NULL) {
    gst_iterator_foreach (inside, add_successor, successors);
    gst_iterator_free (inside);
  }
  return successors;
}

/* (nullable): the node of successor @i of @node. */
static Node *
next_node (const Graph *graph, const Node *node, guint i, guint *place)
{
  gpointer found;
  if (!g_hash_table_lookup_extended (graph->index, node->successor->pdata[i], NULL, &found))
    return NULL;
  *place = GPOINTER_TO_UINT (found);
  return &g_array_index (graph->nodes, Node, *place);
}

static void
read_graph (GstElement *pipeline, Graph *graph)
{
  GstIterator *elements = gst_bin_iterate_recurse (GST_BIN (pipeline));
  graph->pads = g_ptr_array_new_with_free_func (gst_object_unref);
  graph->index = g_hash_table_new (NULL, NULL);
  graph->nodes = g_array_new (FALSE, TRUE, sizeof (Node));
  g_array_set_clear_func (graph->nodes, clear_node);
  gst_iterator_foreach (elements, add_pads, graph);
  gst_iterator_free (elements);
  for (guint i = 0; i < graph->pads->len; i++) {
    const Node node = { .successor = successors_of (graph->pads->pdata[i]) };
    g_array_append_val (graph->nodes, node);
  }
  guint place;
  for (guint i = 0; i < graph->nodes->len; i++) {
    const Node *node = &g_array_index (graph->nodes, Node, i);
    for (guint k = 0; k < node->successor->len; k++) {
      Node *next = next_node (graph, node, k, &place);
      if (next != NULL)
        next->waits++;
    }
  }
}

/* Counts the paths to each pad. Returns how many pads are in order; the others are in a loop or
 * after one. */
static guint
count_paths (Graph *graph, gdouble *most)
{
  g_autoptr (GArray) ready = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < graph->nodes->len; i++) {
    Node *node = &g_array_index (graph->nodes, Node, i);
    if (node->waits == 0) {
      node->paths = 1;
      g_array_append_val (ready, i);
    }
  }
  for (guint i = 0; i < ready->len; i++) {
    const Node *node = &g_array_index (graph->nodes, Node, g_array_index (ready, guint, i));
    *most = MAX (*most, node->paths);
    for (guint k = 0, place; k < node->successor->len; k++) {
      Node *next = next_node (graph, node, k, &place);
      if (next == NULL)
        continue;
      next->paths += node->paths;
      if (--next->waits == 0)
        g_array_append_val (ready, place);
    }
  }
  return ready->len;
}

/* A pad of a loop. Each pad that is not in order has a predecessor that is not, so a walk upstream
 * comes into a loop after at most as many steps as there are pads. */
static guint
find_loop (Graph *graph)
{
  guint at = 0;
  for (guint i = 0; i < graph->nodes->len; i++) {
    const Node *node = &g_array_index (graph->nodes, Node, i);
    for (guint k = 0, place; node->waits > 0 && k < node->successor->len; k++) {
      Node *next = next_node (graph, node, k, &place);
      if (next == NULL)
        continue;
      next->from = i;
      at = place;
    }
  }
  for (guint i = 0; i < graph->nodes->len; i++)
    at = g_array_index (graph->nodes, Node, at).from;
  return at;
}

/* (transfer full): "f ! t ! queue0 ! f" */
static char *
name_loop (Graph *graph)
{
  const guint first = find_loop (graph);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  GString *text = g_string_new (NULL);
  guint at = first;
  do {
    GstPad *pad = graph->pads->pdata[at];
    GstObject *parent = GST_OBJECT_PARENT (pad);
    if (GST_PAD_IS_SINK (pad) && parent != NULL && GST_IS_ELEMENT (parent))
      g_ptr_array_add (names, GST_OBJECT_NAME (parent));
    at = g_array_index (graph->nodes, Node, at).from;
  } while (at != first);
  for (guint i = names->len; i > 0 && names->len - i < MAX_NAMES; i--)
    g_string_append_printf (text, "%s ! ", (char *) names->pdata[i - 1]);
  g_string_append_printf (text, "%s%s", names->len > MAX_NAMES ? "... ! " : "",
                          (char *) names->pdata[names->len - 1]);
  return g_string_free (text, FALSE);
}

gboolean
sl_graph_check (GstElement *pipeline, GError **error)
{
  g_auto (Graph) graph = { NULL };
  gdouble most = 0;
  read_graph (pipeline, &graph);
  if (count_paths (&graph, &most) < graph.pads->len) {
    g_autofree char *loop = name_loop (&graph);
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "the elements form a loop, %s; expected links that lead from sources to sinks",
                    loop);
  }
  return most <= MAX_PATHS
         || sl_fail (error, SL_ERROR_ARGUMENT,
                     "branches part and meet again on %.0f paths; expected at most %d, since "
                     "GStreamer negotiates caps along each",
                     most, MAX_PATHS);
}
