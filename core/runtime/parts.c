/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A concatenation along the last dimension is a row of each input after the other. A layer that can
 * leave room between its rows writes them there itself. The concatenation of others inside of one
 * is written in place if all of its inputs are.
 *
 * If all dimensions before are 1, whole inputs lie behind each other, as those of detectors do.
 * These may be views, and concatenations in any case.
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
 * @roots: by tensor: the one whose bytes it shows
 * @makers: by tensor: the node that writes it, -1 = none
 * @readers: by tensor: how often it is read, as an output of the graph, too
 * @copied: by tensor: it is no part, unless its concatenation is one with room between its rows
 * @whole: by node: a concatenation of rows, of which all may be parts
 */
typedef struct
{
  SlParts *parts;
  const SlGraph *graph;
  const SlBackend *const *backends;
  const guint8 *bound;
  const guint *ends;
  gint32 *roots, *makers;
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

/* Parts of the output of @join, a concatenation, that lie behind each other for each input. */
static gsize
rows_of (const Search *s, const SlNode *join)
{
  return sl_tensor_span (sl_node_output (s->graph, join, 0), 0, (guint) join->params.concat.axis);
}

/* Whether @node is a concatenation of rows or of whole inputs, which become neither other values
 * nor another type. */
static gboolean
joins (const Search *s, const SlNode *node)
{
  if (node->op != SL_OP_CONCATENATION || node->params.concat.activation != SL_ACTIVATION_NONE)
    return FALSE;
  const SlTensor *y = sl_node_output (s->graph, node, 0);
  return (y->dtype == SL_DTYPE_F32 || y->dtype == SL_DTYPE_F16)
         && (node->params.concat.axis == (gint32) y->rank - 1 || rows_of (s, node) == 1);
}

static gboolean
is_view (const Search *s, gint32 maker)
{
  return maker >= 0 && sl_op_get (sl_graph_node (s->graph, (guint) maker)->op)->is_view;
}

/* The tensor whose bytes @tensor shows: views of it, each of which is read by the next one alone.
 */
static gint32
shown_by (const Search *s, gint32 tensor)
{
  while (s->readers[tensor] == 1 && is_view (s, s->makers[tensor]))
    tensor = sl_graph_node (s->graph, (guint) s->makers[tensor])->inputs[0];
  return tensor;
}

/* Whether @tensor, an input of @join, may be written in place: nothing else reads it, it has memory
 * of its own, and what writes it can leave room between its rows, if there must be some. */
static gboolean
may_be_part (const Search *s, const SlNode *join, gint32 tensor)
{
  const gboolean whole = rows_of (s, join) == 1;
  const gint32 root = whole ? shown_by (s, tensor) : tensor, maker = s->makers[root];
  if (maker < 0 || s->readers[root] != 1 || s->parts->roots[root] != root || s->bound[root]
      || sl_graph_tensor (s->graph, root)->data != NULL)
    return FALSE;
  const SlNode *node = sl_graph_node (s->graph, (guint) maker);
  const SlBackend *backend = s->backends[maker];
  return (whole ? node->op == SL_OP_CONCATENATION : s->whole[maker])
         || (backend != NULL && backend->writes_parts != NULL
             && backend->writes_parts (s->graph, node));
}

/* Marks concatenations whose rows all may be parts. Returns how many have an input that may be. */
static guint
mark_whole (Search *s)
{
  guint n = 0;
  for (guint i = 0; i < sl_graph_n_nodes (s->graph); i++) {
    const SlNode *node = sl_graph_node (s->graph, i);
    guint parts = 0;
    if (!joins (s, node))
      continue;
    for (guint k = 0; k < node->n_inputs; k++)
      parts += may_be_part (s, node, node->inputs[k]);
    s->whole[i] = parts == node->n_inputs && rows_of (s, node) > 1;
    n += parts > 0;
  }
  return n;
}

static gint32
last_dim (const Search *s, gint32 tensor)
{
  const SlTensor *t = sl_graph_tensor (s->graph, tensor);
  return t->rank > 0 ? t->dims[t->rank - 1] : 1;
}

/* @tensor, and what it is a view of, are @shift bytes from the beginning of @root. @stride: of rows
 * with room between them; 0 = there is none */
static void
place (const Search *s, gint32 tensor, gint32 root, gsize shift, gint32 stride)
{
  const gint32 first = s->roots[tensor];
  for (gint32 at = tensor;; at = sl_graph_node (s->graph, (guint) s->makers[at])->inputs[0]) {
    s->parts->roots[at] = root;
    s->parts->shifts[at] = shift;
    s->parts->strides[at] = stride > 0 ? stride : last_dim (s, at);
    if (at == first)
      return;
  }
}

static void
place_inputs (const Search *s, const SlNode *join)
{
  const SlParts *p = s->parts;
  const gint32 output = join->outputs[0];
  const gint32 stride = MAX (p->strides[output], last_dim (s, output));
  const gboolean apart = stride > last_dim (s, output);
  const gsize rows = rows_of (s, join);
  gsize shift = p->shifts[output];
  for (guint k = 0; k < join->n_inputs; k++) {
    const gint32 input = join->inputs[k];
    if (may_be_part (s, join, input) && (apart || !s->copied[input]))
      place (s, input, p->roots[output], shift, rows > 1 ? stride : 0);
    shift += sl_graph_tensor (s->graph, input)->bytes / rows;
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
      p->roots[i] = s->roots[i];
      p->shifts[i] = 0;
      p->strides[i] = 0;
    }
  for (guint i = sl_graph_n_nodes (s->graph); i-- > 0;) {
    const SlNode *node = sl_graph_node (s->graph, i);
    if (joins (s, node))
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
    for (guint k = 0; joins (s, node) && k < node->n_inputs; k++) {
      const gint32 input = node->inputs[k];
      if (!may_be_part (s, node, input) || tried == tries)
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
  g_autofree gint32 *roots = g_memdup2 (parts->roots, n * sizeof roots[0]),
                    *makers = g_new (gint32, n);
  g_autofree guint *readers = g_new0 (guint, n);
  g_autofree guint8 *whole = g_new0 (guint8, n_nodes + 1), *copied = g_new0 (guint8, n + 1);
  Search s = { .parts = parts,
               .graph = graph,
               .backends = backends,
               .bound = bound,
               .ends = ends,
               .roots = roots,
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
