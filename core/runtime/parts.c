/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A concatenation along the last dimension is a row of each input after the other. A layer that can
 * leave room between its rows writes them there itself. The concatenation of others inside of one
 * is written in place if all of its inputs are.
 *
 * The whole tensor then lives from the first part that is written, which may be long before its
 * last one. So the arena decides: parts that would make it larger are copied.
 */
#include "core/runtime/parts.h"

#include <string.h>

/* If the arena is larger with all parts, so many are tried one by one. A try takes as long as the
 * square of the nodes, so graphs of thousands have fewer. */
#define MOST_TRIES 64
#define MOST_WORK ((guint64) 1 << 26)

/**
 * Search:
 * @makers: by tensor: the node that writes it, -1 = none
 * @readers: by tensor: how often it is read, as an output of the graph, too
 * @copied: by tensor: it is no part, unless its concatenation is one
 * @whole: by node: a concatenation all of whose inputs may be parts
 */
typedef struct
{
  SlParts *parts;
  const SlGraph *graph;
  const SlBackend *const *backends;
  const guint8 *bound;
  const guint *ends;
  gint32 *makers;
  guint *readers;
  guint8 *copied, *whole;
} Search;

void
sl_parts_init (SlParts *parts, const SlGraph *graph)
{
  const guint n = sl_graph_n_tensors (graph);
  *parts = (SlParts){ sl_roots_new (graph), g_new0 (gsize, n), g_new0 (gint32, n) };
}

void
sl_parts_clear (SlParts *parts)
{
  g_free (parts->roots);
  g_free (parts->shifts);
  g_free (parts->strides);
}

static void
look_around (Search *s)
{
  guint n;
  const gint32 *outputs = sl_graph_all_outputs (s->graph, &n, NULL);
  memset (s->makers, 0xff, sl_graph_n_tensors (s->graph) * sizeof s->makers[0]);
  for (guint i = 0; i < n; i++)
    s->readers[outputs[i]]++;
  for (guint i = 0; i < sl_graph_n_nodes (s->graph); i++) {
    const SlNode *node = sl_graph_node (s->graph, i);
    for (guint k = 0; k < node->n_inputs; k++)
      if (node->inputs[k] >= 0)
        s->readers[node->inputs[k]]++;
    for (guint k = 0; k < node->n_outputs; k++)
      s->makers[node->outputs[k]] = (gint32) i;
  }
}

/* Whether @node is a concatenation of rows that become neither other values nor another type. */
static gboolean
joins_rows (const Search *s, const SlNode *node)
{
  const SlTensor *y = sl_node_output (s->graph, node, 0);
  return node->op == SL_OP_CONCATENATION && node->params.concat.axis == (gint32) y->rank - 1
         && node->params.concat.activation == SL_ACTIVATION_NONE
         && (y->dtype == SL_DTYPE_F32 || y->dtype == SL_DTYPE_F16);
}

/* Whether @tensor, an input of a concatenation that joins_rows(), may be written in place: nothing
 * else reads it, it has memory of its own, and what writes it can leave room between its rows. */
static gboolean
may_be_part (const Search *s, gint32 tensor)
{
  const gint32 maker = s->makers[tensor];
  if (maker < 0 || s->readers[tensor] != 1 || s->parts->roots[tensor] != tensor || s->bound[tensor]
      || sl_graph_tensor (s->graph, tensor)->data != NULL)
    return FALSE;
  const SlNode *node = sl_graph_node (s->graph, (guint) maker);
  const SlBackend *backend = s->backends[maker];
  return s->whole[maker]
         || (backend != NULL && backend->writes_parts != NULL
             && backend->writes_parts (s->graph, node));
}

/* Marks concatenations whose inputs all may be parts. Returns how many have one that may be. */
static guint
mark_whole (Search *s)
{
  guint n = 0;
  for (guint i = 0; i < sl_graph_n_nodes (s->graph); i++) {
    const SlNode *node = sl_graph_node (s->graph, i);
    guint parts = 0;
    if (!joins_rows (s, node))
      continue;
    for (guint k = 0; k < node->n_inputs; k++)
      parts += may_be_part (s, node->inputs[k]);
    s->whole[i] = parts == node->n_inputs;
    n += parts > 0;
  }
  return n;
}

static void
place_inputs (const Search *s, const SlNode *node)
{
  SlParts *p = s->parts;
  const gint32 output = node->outputs[0];
  const SlTensor *y = sl_graph_tensor (s->graph, output);
  gsize shift = p->shifts[output];
  for (guint k = 0; k < node->n_inputs; k++) {
    const gint32 input = node->inputs[k];
    const gint32 channels = sl_graph_tensor (s->graph, input)->dims[y->rank - 1];
    if (may_be_part (s, input) && (p->strides[output] > 0 || !s->copied[input])) {
      p->roots[input] = p->roots[output];
      p->shifts[input] = shift;
      p->strides[input] = p->strides[output] > 0 ? p->strides[output] : y->dims[y->rank - 1];
    }
    shift += (gsize) channels * sl_dtype_size (y->dtype);
  }
}

/* The places of all parts but those that are to be copied. Backwards, since the output of a
 * concatenation may be a part itself. */
static void
place_all (const Search *s)
{
  SlParts *p = s->parts;
  for (guint i = 0; i < sl_graph_n_tensors (s->graph); i++)
    if (p->strides[i] > 0) {
      p->roots[i] = (gint32) i;
      p->shifts[i] = 0;
      p->strides[i] = 0;
    }
  for (guint i = sl_graph_n_nodes (s->graph); i-- > 0;) {
    const SlNode *node = sl_graph_node (s->graph, i);
    if (joins_rows (s, node))
      place_inputs (s, node);
  }
}

static gsize
arena_bytes (const Search *s)
{
  SlMemoryPlan plan;
  g_autofree gssize *offsets = g_new (gssize, sl_graph_n_tensors (s->graph));
  place_all (s);
  sl_memory_plan (s->graph, s->parts->roots, s->bound, s->ends, FALSE, offsets, &plan);
  return plan.bytes;
}

static void
set_copied (const Search *s, gboolean copied)
{
  memset (s->copied, copied, sl_graph_n_tensors (s->graph));
}

/* One input after the other becomes a part if the arena stays as it is. */
static void
try_each (const Search *s, gsize most)
{
  const guint64 n = sl_graph_n_nodes (s->graph), tries = MIN (MOST_TRIES, MOST_WORK / (n * n));
  guint tried = 0;
  set_copied (s, TRUE);
  place_all (s);
  for (guint i = 0; i < n; i++) {
    const SlNode *node = sl_graph_node (s->graph, i);
    for (guint k = 0; joins_rows (s, node) && k < node->n_inputs; k++) {
      const gint32 input = node->inputs[k];
      if (!may_be_part (s, input) || tried == tries)
        continue;
      tried++;
      s->copied[input] = FALSE;
      s->copied[input] = arena_bytes (s) > most;
    }
  }
  place_all (s);
}

void
sl_parts_find (SlParts *parts, const SlGraph *graph, const SlBackend *const *backends,
               const guint8 *bound, const guint *ends)
{
  const guint n = sl_graph_n_tensors (graph), n_nodes = sl_graph_n_nodes (graph);
  g_autofree gint32 *makers = g_new (gint32, n);
  g_autofree guint *readers = g_new0 (guint, n);
  g_autofree guint8 *whole = g_new0 (guint8, n_nodes + 1), *copied = g_new0 (guint8, n + 1);
  Search s = { .parts = parts,
               .graph = graph,
               .backends = backends,
               .bound = bound,
               .ends = ends,
               .makers = makers,
               .readers = readers,
               .whole = whole,
               .copied = copied };
  look_around (&s);
  if (mark_whole (&s) == 0)
    return;
  set_copied (&s, TRUE);
  const gsize most = arena_bytes (&s);
  set_copied (&s, FALSE);
  if (arena_bytes (&s) > most)
    try_each (&s, most);
}
