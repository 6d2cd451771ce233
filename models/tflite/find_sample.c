/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Our writer makes some seventy nodes of a GRID_SAMPLE, since TensorFlow Lite has none. The reader
 * finds them again. Where nodes end as these do, it writes a GRID_SAMPLE of the same picture and
 * grid once more, and compares the two node by node.
 */
#include "models/tflite/find_sample.h"

#include <string.h>

#include "core/ops/ops.h"
#include "models/tflite/express_places.h"

/* Nodes of a GRID_SAMPLE, and pictures of a batch. */
#define LEAST_NODES 50
#define MOST_NODES 80
#define MOST_PICTURES 1024

/* Tensors of the pattern that the graph has, too. */
enum
{
  PICTURE,
  GRID,
  SAMPLES,
  N_SHARED
};

typedef struct
{
  const SlGraph *graph;
  SlGraph *pattern;
  gint32 *of; /* by tensor of the pattern: which of the graph it is, -1 = not known yet */
} Compare;

static gboolean
is_alike (const SlTensor *a, const SlTensor *b)
{
  if (a->dtype != b->dtype || !sl_tensor_same_shape (a, b)
      || (a->data != NULL) != (b->data != NULL))
    return FALSE;
  return a->data == NULL || (a->bytes == b->bytes && memcmp (a->data, b->data, a->bytes) == 0);
}

static gboolean
reads_alike (const Compare *c, gint32 expected, gint32 found)
{
  if (found < 0)
    return FALSE;
  const SlTensor *tensor = sl_graph_tensor (c->pattern, expected);
  return tensor->data != NULL ? is_alike (tensor, sl_graph_tensor (c->graph, found))
                              : c->of[expected] == found;
}

/* Of @found all but its output, which becomes the one of @expected. */
static gboolean
is_same_node (const Compare *c, const SlNode *expected, const SlNode *found)
{
  if (found->op != expected->op || found->n_inputs != expected->n_inputs || found->n_outputs != 1
      || sl_node_fused_activation (found) != SL_ACTIVATION_NONE)
    return FALSE;
  if (found->op == SL_OP_GATHER
      && (found->params.axis.axis != 0 || found->params.axis.batch_dims != 0))
    return FALSE;
  for (guint i = 0; i < found->n_inputs; i++)
    if (!reads_alike (c, expected->inputs[i], found->inputs[i]))
      return FALSE;
  c->of[expected->outputs[0]] = found->outputs[0];
  return is_alike (sl_graph_tensor (c->pattern, expected->outputs[0]),
                   sl_graph_tensor (c->graph, found->outputs[0]));
}

/* A graph with the tensors @shared of @graph alone. */
static SlGraph *
with_shared (const SlGraph *graph, const gint32 shared[N_SHARED])
{
  g_autoptr (SlGraph) made = sl_graph_new (NULL);
  for (guint i = 0; i < N_SHARED; i++)
    if (sl_graph_add_tensor (made, sl_graph_tensor (graph, shared[i]), NULL) < 0)
      return NULL;
  return g_steal_pointer (&made);
}

/* Whether the nodes of @graph from @first on, and @last behind them, are GRID_SAMPLE by @params. */
static gboolean
matches (const SlGraph *graph, guint first, const SlNode *last, const gint32 shared[N_SHARED],
         const SlOpParams *params)
{
  static const gint32 inputs[2] = { PICTURE, GRID };
  static gint32 outputs[1] = { SAMPLES };
  SlNode node = { .op = SL_OP_GRID_SAMPLE, .name = "", .params = *params, .n_inputs = 2 };
  node.inputs = (gint32 *) inputs;
  node.outputs = outputs;
  node.n_outputs = 1;
  g_autoptr (SlGraph) from = with_shared (graph, shared), to = with_shared (graph, shared);
  if (from == NULL || to == NULL || !sl_express_places_fits (from, &node)
      || !sl_express_places (to, from, &node, inputs, NULL))
    return FALSE;
  const guint n = sl_graph_n_nodes (to);
  if (n != sl_graph_n_nodes (graph) - first + 1)
    return FALSE;
  g_autofree gint32 *of = g_new (gint32, sl_graph_n_tensors (to));
  const Compare c = { graph, to, of };
  memset (of, 0xff, sl_graph_n_tensors (to) * sizeof of[0]);
  memcpy (of, shared, N_SHARED * sizeof shared[0]);
  for (guint i = 0; i < n; i++)
    if (!is_same_node (&c, sl_graph_node (to, i),
                       i + 1 < n ? sl_graph_node (graph, first + i) : last))
      return FALSE;
  return TRUE;
}

/* Finds the first of the nodes that may be a GRID_SAMPLE, of which @graph has all but the last: a
 * RESHAPE to rows of pixels, which each GATHER reads, before a SLICE of the grid's coordinates.
 * FALSE where there is none. */
static gboolean
find_first (const SlGraph *graph, guint *first)
{
  const guint n = sl_graph_n_nodes (graph);
  if (n < 4 || sl_graph_node (graph, n - 1)->op != SL_OP_MUL
      || sl_graph_node (graph, n - 2)->op != SL_OP_GATHER)
    return FALSE;
  const gint32 pixels = sl_graph_node (graph, n - 2)->inputs[0];
  for (guint i = n - 2; i-- > 0 && n - i <= MOST_NODES;) {
    const SlNode *node = sl_graph_node (graph, i);
    if (node->outputs[0] != pixels)
      continue;
    *first = i;
    return n - i >= LEAST_NODES && node->op == SL_OP_RESHAPE && node->inputs[0] >= 0
           && sl_graph_node (graph, i + 1)->op == SL_OP_SLICE
           && sl_graph_node (graph, i + 1)->inputs[0] >= 0;
  }
  return FALSE;
}

gboolean
tfl_find_sample (const SlGraph *graph, const gint32 addends[2], gint32 output, gint32 inputs[2],
                 SlOpParams *params)
{
  static const SlBorder borders[] = { SL_BORDER_ZERO, SL_BORDER_EDGE };
  guint first;
  if (sl_op_get (SL_OP_GRID_SAMPLE) == NULL || output < 0
      || output >= (gint32) sl_graph_n_tensors (graph) || !find_first (graph, &first))
    return FALSE;
  const gint32 shared[N_SHARED] = { sl_graph_node (graph, first)->inputs[0],
                                    sl_graph_node (graph, first + 1)->inputs[0], output };
  const SlTensor *picture = sl_graph_tensor (graph, shared[PICTURE]),
                 *grid = sl_graph_tensor (graph, shared[GRID]);
  if (picture->rank != 4 || grid->rank != 4 || picture->dtype != SL_DTYPE_F32
      || grid->dtype != SL_DTYPE_F32 || picture->dims[3] < 1 || grid->dims[0] != picture->dims[0]
      || grid->dims[3] != 2 || picture->dims[0] > MOST_PICTURES)
    return FALSE;
  const SlNode last = {
    .op = SL_OP_ADD, .n_inputs = 2, .n_outputs = 1, .inputs = (gint32 *) addends, .outputs = &output
  };
  for (guint i = 0; i < 4; i++) {
    const SlOpParams tried = { .grid_sample = { .mode = SL_SAMPLE_LINEAR,
                                                .border = borders[i / 2],
                                                .align_corners = i % 2 != 0 } };
    if (!matches (graph, first, &last, shared, &tried))
      continue;
    *params = tried;
    inputs[0] = shared[PICTURE];
    inputs[1] = shared[GRID];
    return TRUE;
  }
  return FALSE;
}
