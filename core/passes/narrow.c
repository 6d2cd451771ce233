/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Intermediate tensors in binary16, where the graph's precision is fp16: at best half of the
 * memory. It changes results, so it is no pass: sl_graph_prepare() does it once, behind all of
 * them. A tensor is narrow if each node that writes or reads it takes binary16 (core/ops/halves.h).
 * Inputs and outputs of the graph stay as they are; nodes that move their elements get a CAST in
 * between.
 */
#include "core/base/build_selection.h"
#include "core/base/cpu.h"
#include "core/graph/graph_private.h"
#include "core/graph/lifetimes.h"
#include "core/ops/halves.h"
#include "core/ops/ops.h"
#include "core/passes/passes.h"

/* Times that all nodes are looked at, in both directions; real models need two or three. */
#define MAX_ROUNDS 32
/* Tensors of less than this part of the largest one stay floats: they do not count where most
 * memory is used, and rounding them costs time and digits. */
#define SMALL 8

/* Tensors that are tried as floats, and nodes of the plans of the memory that this takes. */
#define MOST_TRIED 64
#define MOST_PLANNED 16384

/** What a tensor that owns its bytes may be. An input or an output of the graph is float, but CAST
 * may stand between it and a node whose data is narrow. */
typedef enum
{
  WIDE,
  NARROW,
  EDGE
} State;

typedef struct
{
  SlGraph *graph;
  gint32 *roots;  /* by tensor */
  guint8 *states; /* by root: State */
} Narrowing;

static guint8 *
state_of (const Narrowing *n, gint32 tensor)
{
  return &n->states[n->roots[tensor]];
}

/* Whether @tensor, of a node, is what the node computes with: neither a shape nor a constant. */
static gboolean
is_data (const Narrowing *n, gint32 tensor)
{
  return tensor >= 0 && sl_graph_tensor (n->graph, tensor)->dtype == SL_DTYPE_F32;
}

/* Whether all data of @node is narrow, or becomes so by a CAST; constants are not. */
static gboolean
are_narrow (const Narrowing *n, const SlNode *node)
{
  guint of[3] = { 0 };
  for (guint i = 0; i < node->n_inputs; i++)
    if (is_data (n, node->inputs[i]))
      of[*state_of (n, node->inputs[i])]++;
  for (guint i = 0; i < node->n_outputs; i++)
    if (is_data (n, node->outputs[i]))
      of[*state_of (n, node->outputs[i])]++;
  return of[WIDE] == 0 && of[NARROW] > 0;
}

/* Returns whether some of these were narrow. */
static gboolean
widen (const Narrowing *n, const gint32 *tensors, guint count)
{
  gboolean changed = FALSE;
  for (guint i = 0; i < count; i++)
    if (is_data (n, tensors[i]) && *state_of (n, tensors[i]) == NARROW) {
      *state_of (n, tensors[i]) = WIDE;
      changed = TRUE;
    }
  return changed;
}

/* Returns whether @node makes tensors float. */
static gboolean
settle_node (const Narrowing *n, const SlNode *node)
{
  if (sl_op_get (node->op)->is_view)
    return FALSE;
  const SlHalves halves = sl_node_halves (n->graph, node);
  if (halves == SL_HALVES_ANY || halves == SL_HALVES_MIXED
      || (halves == SL_HALVES_ALIKE && are_narrow (n, node)))
    return FALSE;
  const gboolean inputs = widen (n, node->inputs, node->n_inputs);
  return widen (n, node->outputs, node->n_outputs) || inputs;
}

/* Forwards and backwards, since what nodes want alike goes on to their neighbours. */
static gboolean
settle (const Narrowing *n)
{
  gboolean changed = FALSE;
  for (guint i = 0; i < n->graph->nodes->len; i++)
    changed |= settle_node (n, sl_graph_node (n->graph, i));
  for (guint i = n->graph->nodes->len; i-- > 0;)
    changed |= settle_node (n, sl_graph_node (n->graph, i));
  return changed;
}

static void
set_edges (const Narrowing *n, const gint32 *tensors, guint count)
{
  for (guint i = 0; i < count; i++) {
    const SlTensor *root = sl_graph_tensor (n->graph, n->roots[tensors[i]]);
    const gboolean may = root->dtype == SL_DTYPE_F32 && root->data == NULL;
    *state_of (n, tensors[i]) = may && SL_KEEPS (operator, CAST) ? EDGE : WIDE;
  }
}

static void
start (const Narrowing *n)
{
  const SlGraph *graph = n->graph;
  for (guint i = 0; i < graph->tensors->len; i++) {
    const SlTensor *tensor = sl_graph_tensor (graph, (gint32) i);
    n->states[i] = n->roots[i] == (gint32) i && tensor->dtype == SL_DTYPE_F32
                       && tensor->data == NULL && tensor->quant.count == 0
                     ? NARROW
                     : WIDE;
  }
  guint n_inputs, n_outputs;
  const gint32 *inputs = sl_graph_all_inputs (graph, &n_inputs, NULL),
               *outputs = sl_graph_all_outputs (graph, &n_outputs, NULL);
  set_edges (n, inputs, n_inputs);
  set_edges (n, outputs, n_outputs);
}

/* Floats or binary16 become the other. */
static void
convert (SlTensor *tensor, SlDtype dtype)
{
  tensor->bytes = tensor->bytes / sl_dtype_size (tensor->dtype) * sl_dtype_size (dtype);
  tensor->dtype = dtype;
}

/* A tensor like @tensor, in binary16. */
static gint32
add_narrow (SlGraph *graph, gint32 tensor)
{
  SlTensor copy = *sl_graph_tensor (graph, tensor);
  convert (&copy, SL_DTYPE_F16);
  return sl_graph_add_tensor (graph, &copy, NULL);
}

/* A CAST to @nodes. */
static void
add_cast (SlGraph *graph, GArray *nodes, const SlNode *beside, gint32 from, gint32 to)
{
  const SlNode cast = { .op = SL_OP_CAST,
                        .index = beside->index,
                        .name = beside->name,
                        .n_inputs = 1,
                        .n_outputs = 1,
                        .inputs = sl_arena_memdup (graph->arena, &from, sizeof from),
                        .outputs = sl_arena_memdup (graph->arena, &to, sizeof to) };
  g_array_append_val (nodes, cast);
}

/* @node, whose data is narrow, to @nodes, with a CAST for each operand that is an edge. */
static void
add_between (const Narrowing *n, GArray *nodes, SlNode node)
{
  SlGraph *graph = n->graph;
  gint32 *inputs = sl_arena_memdup (graph->arena, node.inputs, node.n_inputs * sizeof inputs[0]),
         *outputs =
           sl_arena_memdup (graph->arena, node.outputs, node.n_outputs * sizeof outputs[0]);
  for (guint i = 0; i < node.n_inputs; i++)
    if (is_data (n, node.inputs[i]) && *state_of (n, node.inputs[i]) == EDGE) {
      inputs[i] = add_narrow (graph, node.inputs[i]);
      add_cast (graph, nodes, &node, node.inputs[i], inputs[i]);
    }
  const SlNode before = node;
  node.inputs = inputs;
  node.outputs = outputs;
  g_array_append_val (nodes, node);
  for (guint i = 0; i < node.n_outputs; i++)
    if (is_data (n, before.outputs[i]) && *state_of (n, before.outputs[i]) == EDGE) {
      outputs[i] = add_narrow (graph, before.outputs[i]);
      add_cast (graph, nodes, &before, outputs[i], before.outputs[i]);
    }
}

static void
touch (const Narrowing *n, const gint32 *tensors, guint count, guint8 *moved)
{
  for (guint i = 0; i < count; i++)
    if (tensors[i] >= 0)
      moved[n->roots[tensors[i]]] = TRUE;
}

/* Small tensors are floats again, but for those whose elements are @moved. */
static void
widen_small (const Narrowing *n, guint n_tensors, guint8 *moved)
{
  gsize largest = 0;
  for (guint i = 0; i < n_tensors; i++)
    if (n->states[i] == NARROW)
      largest = MAX (largest, sl_graph_tensor (n->graph, (gint32) i)->bytes);
  for (guint i = 0; i < n->graph->nodes->len; i++) {
    const SlNode *node = sl_graph_node (n->graph, i);
    if (sl_op_get (node->op)->is_view || sl_node_halves (n->graph, node) != SL_HALVES_ALIKE)
      continue;
    touch (n, node->inputs, node->n_inputs, moved);
    touch (n, node->outputs, node->n_outputs, moved);
  }
  for (guint i = 0; i < n_tensors; i++)
    if (n->states[i] == NARROW && !moved[i]
        && sl_graph_tensor (n->graph, (gint32) i)->bytes < largest / SMALL)
      n->states[i] = WIDE;
}

static void
set_dtype (const Narrowing *n, gint32 root, SlDtype dtype, guint n_tensors)
{
  for (guint i = 0; i < n_tensors; i++) {
    SlTensor *tensor = &g_array_index (n->graph->tensors, SlTensor, i);
    if (n->roots[i] == root && tensor->dtype != dtype)
      convert (tensor, dtype);
  }
}

/* Whether a plan of the memory may be made of tensors of these sizes. */
static gboolean
may_plan (const SlGraph *graph)
{
  gsize left = G_MAXSIZE / 8;
  for (guint i = 0; i < graph->tensors->len; i++) {
    const gsize bytes = sl_graph_tensor (graph, (gint32) i)->bytes;
    if (bytes > left)
      return FALSE;
    left -= bytes;
  }
  return TRUE;
}

/* Tensors keep their digits where that takes no more memory, the first ones first: what is rounded
 * there has an effect on all layers. */
static void
widen_free (const Narrowing *n, guint n_tensors, const guint8 *moved)
{
  const guint most = MIN (MOST_TRIED, MOST_PLANNED / (n->graph->nodes->len + 1));
  guint fullest, tried = 0;
  const gsize least = sl_memory_at_once (n->graph, &fullest);
  for (guint i = 0; i < n->graph->nodes->len && tried < most; i++) {
    const gint32 output = sl_graph_node (n->graph, i)->outputs[0],
                 root = (guint) output < n_tensors ? n->roots[output] : -1;
    if (root < 0 || n->states[root] != NARROW || moved[root]
        || sl_graph_tensor (n->graph, root)->dtype != SL_DTYPE_F16)
      continue;
    tried++;
    set_dtype (n, root, SL_DTYPE_F32, n_tensors);
    if (sl_memory_at_once (n->graph, &fullest) > least)
      set_dtype (n, root, SL_DTYPE_F16, n_tensors);
  }
}

static gboolean
has_edges (const Narrowing *n, const SlNode *node)
{
  return !sl_op_get (node->op)->is_view && sl_node_halves (n->graph, node) == SL_HALVES_ALIKE
         && are_narrow (n, node);
}

static void
add_casts (const Narrowing *n)
{
  SlGraph *graph = n->graph;
  GArray *nodes = g_array_sized_new (FALSE, FALSE, sizeof (SlNode), graph->nodes->len);
  for (guint i = 0; i < graph->nodes->len; i++) {
    const SlNode *node = sl_graph_node (graph, i);
    if (has_edges (n, node))
      add_between (n, nodes, *node);
    else
      g_array_append_val (nodes, *node);
  }
  g_array_unref (graph->nodes);
  graph->nodes = nodes;
}

/* Whether there is room for a CAST beside each operand that is an edge. */
static gboolean
has_room (const Narrowing *n)
{
  gsize operands = 0;
  for (guint i = 0; i < n->graph->nodes->len; i++) {
    const SlNode *node = sl_graph_node (n->graph, i);
    operands += has_edges (n, node) ? node->n_inputs + node->n_outputs : 0;
  }
  return n->graph->tensors->len + operands <= SL_MAX_TENSORS
         && n->graph->nodes->len + operands <= SL_MAX_NODES;
}

void
sl_graph_narrow (SlGraph *graph)
{
  if (graph->precision != SL_PRECISION_FP16 || graph->apart || !SL_KEEPS (backend, float))
    return;
  g_autofree gint32 *roots = sl_roots_new (graph);
  g_autofree guint8 *states = g_new0 (guint8, graph->tensors->len + 1);
  const Narrowing n = { graph, roots, states };
  const guint n_tensors = graph->tensors->len;
  guint rounds = 0;
  start (&n);
  while (rounds < MAX_ROUNDS && settle (&n))
    rounds++;
  if (rounds == MAX_ROUNDS || !has_room (&n))
    return;
  g_autofree guint8 *moved = g_new0 (guint8, n_tensors + 1);
  if (!sl_cpu_computes_halves ())
    widen_small (&n, n_tensors, moved);
  add_casts (&n);
  for (guint i = 0; i < n_tensors; i++) {
    SlTensor *tensor = &g_array_index (graph->tensors, SlTensor, i);
    if (states[roots[i]] == NARROW && tensor->dtype == SL_DTYPE_F32)
      convert (tensor, SL_DTYPE_F16);
  }
  if (!sl_cpu_computes_halves () && may_plan (graph))
    widen_free (&n, n_tensors, moved);
}
