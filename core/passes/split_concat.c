/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A 1x1 convolution of joined channels, some of which were made larger by RESIZE before, becomes a
 * convolution of each part and their sum. Both are linear, and a pixel's shares in RESIZE add up to
 * 1, so a part is convolved while it is small: decoders of segmentation spend most of their time
 * there.
 */
#include <string.h>

#include "core/ops/ops.h"
#include "core/passes/passes.h"

#define MAX_PARTS 8
/* Parts of fewer channels, or made less large than this many times, are not worth an addition. */
#define LEAST_CHANNELS 32
#define LEAST_GROWTH 2
/* Changes of a run, each of which takes a look at the whole graph. */
#define MAX_CHANGES 64

/** @from: the part, or what @resize makes it of; @channel: of the weights, the first of @channels
 */
typedef struct
{
  gint32 from, channel, channels;
  gboolean resized;
  SlNode resize; /* a copy: nodes move as others are added */
} Part;

/** @at: where the next new node goes */
typedef struct
{
  SlGraph *graph;
  SlNode conv;
  guint at;
  Part parts[MAX_PARTS];
  guint n;
} Split;

static gint32
channels_of (const SlTensor *tensor)
{
  return tensor->dims[tensor->rank - 1];
}

static gboolean
is_pixelwise (const SlGraph *graph, const SlNode *node)
{
  const SlWindow *w = &node->params.window;
  const SlTensor *x = sl_node_input (graph, node, 0), *y = sl_node_output (graph, node, 0);
  const SlTensor *weights = node->n_inputs > 1 ? sl_node_input (graph, node, 1) : NULL;
  return node->op == SL_OP_CONV_2D && x->dtype == SL_DTYPE_F32 && y->dtype == SL_DTYPE_F32
         && weights->data != NULL && weights->dtype == SL_DTYPE_F32 && weights->dims[1] == 1
         && weights->dims[2] == 1 && channels_of (weights) == channels_of (x) && w->stride_h == 1
         && w->stride_w == 1 && x->dims[1] == y->dims[1] && x->dims[2] == y->dims[2]
         && !sl_activation_is_curve (w->activation);
}

/* RESIZE of @node's input pays: it has enough channels, and becomes large enough. */
static gboolean
pays (const SlGraph *graph, const SlNode *node, gint32 outputs)
{
  const SlTensor *x = sl_node_input (graph, node, 0), *y = sl_node_output (graph, node, 0);
  const gint64 before = (gint64) x->dims[1] * x->dims[2], after = (gint64) y->dims[1] * y->dims[2];
  return after >= LEAST_GROWTH * before && channels_of (x) >= LEAST_CHANNELS
         && outputs <= 2 * channels_of (x);
}

static gboolean
find_parts (Split *s, const SlPassIndex *index)
{
  const SlNode *join = index->consumers[s->conv.inputs[0]] == 1
                         ? sl_pass_producer (index, s->graph, s->conv.inputs[0])
                         : NULL;
  gint32 channel = 0;
  guint resized = 0;
  if (join == NULL || join->op != SL_OP_CONCATENATION || join->params.concat.axis != 3
      || join->params.concat.activation != SL_ACTIVATION_NONE || join->n_inputs > MAX_PARTS)
    return FALSE;
  const gint32 outputs = channels_of (sl_node_output (s->graph, &s->conv, 0));
  for (s->n = 0; s->n < join->n_inputs; s->n++) {
    const gint32 tensor = join->inputs[s->n];
    const SlNode *node =
      index->consumers[tensor] == 1 ? sl_pass_producer (index, s->graph, tensor) : NULL;
    const gboolean small =
      node != NULL
      && (node->op == SL_OP_RESIZE_BILINEAR || node->op == SL_OP_RESIZE_NEAREST_NEIGHBOR)
      && pays (s->graph, node, outputs);
    const gint32 channels = channels_of (sl_graph_tensor (s->graph, tensor));
    s->parts[s->n] = (Part){ small ? node->inputs[0] : tensor, channel, channels, small, { 0 } };
    if (small)
      s->parts[s->n].resize = *node;
    channel += channels;
    resized += small;
  }
  /* Parts that stay as they are get a convolution each, too: more than one of them is joined best.
   */
  return resized > 0 && s->n - resized <= 1;
}

static gint32
add_tensor (SlGraph *graph, const SlTensor *tensor)
{
  return sl_graph_add_tensor (graph, tensor, NULL);
}

static gint32
add_ints (SlGraph *graph, const gint32 values[4])
{
  const gsize bytes = 4 * sizeof values[0];
  return add_tensor (graph, &(SlTensor){ .name = "place",
                                         .dtype = SL_DTYPE_I32,
                                         .rank = 1,
                                         .dims = { 4 },
                                         .data = sl_arena_memdup (graph->arena, values, bytes),
                                         .bytes = bytes });
}

/* The result of a new node before the convolution; -1 where the graph is full. @to: -1 = a new
 * tensor */
static gint32
add_node (Split *s, SlOpType op, const gint32 *inputs, guint n, gint32 to, const SlOpParams *params)
{
  SlGraph *graph = s->graph;
  for (guint i = 0; i < n; i++)
    if (inputs[i] < 0 && !(op == SL_OP_CONV_2D && i == 2))
      return -1;
  if (to < 0)
    to = add_tensor (graph, &(SlTensor){ .name = s->conv.name, .dtype = SL_DTYPE_F32 });
  if (to < 0 || !sl_graph_add_node (graph, op, s->conv.index, inputs, n, &to, 1, params, NULL))
    return -1;
  const SlNode made = g_array_index (graph->nodes, SlNode, graph->nodes->len - 1);
  g_array_set_size (graph->nodes, graph->nodes->len - 1);
  g_array_insert_val (graph->nodes, s->at, made);
  s->at++;
  return to;
}

/* The weights of a part: folding makes them a constant. */
static gint32
cut_weights (Split *s, const Part *part)
{
  const gint32 outputs = sl_node_input (s->graph, &s->conv, 1)->dims[0];
  const gint32 cut[3] = { s->conv.inputs[1],
                          add_ints (s->graph, (const gint32[4]){ 0, 0, 0, part->channel }),
                          add_ints (s->graph, (const gint32[4]){ outputs, 1, 1, part->channels }) };
  return add_node (s, SL_OP_SLICE, cut, 3, -1, NULL);
}

static gint32
convolve (Split *s, const Part *part, gboolean has_bias)
{
  SlOpParams params = s->conv.params;
  const gint32 inputs[3] = { part->from, cut_weights (s, part),
                             has_bias && s->conv.n_inputs > 2 ? s->conv.inputs[2] : -1 };
  params.window.activation = SL_ACTIVATION_NONE;
  const gint32 y = add_node (s, SL_OP_CONV_2D, inputs, 3, -1, &params);
  const SlNode *resize = &part->resize;
  return part->resized ? add_node (s, resize->op, (const gint32[2]){ y, resize->inputs[1] }, 2, -1,
                                   &resize->params)
                       : y;
}

/* The nodes of the parts come before the convolution, which goes. The graph has room for them. */
static void
split (Split *s)
{
  gint32 sum = -1;
  for (guint i = 0; i < s->n; i++) {
    const gint32 part = convolve (s, &s->parts[i], i == 0);
    const gboolean last = i + 1 == s->n;
    const SlOpParams params = {
      .binary = { last ? s->conv.params.window.activation : SL_ACTIVATION_NONE, FALSE }
    };
    sum = i == 0 ? part
                 : add_node (s, SL_OP_ADD, (const gint32[2]){ sum, part }, 2,
                             last ? s->conv.outputs[0] : -1, &params);
  }
  g_array_index (s->graph->nodes, SlNode, s->at).op = SL_OP_INVALID;
}

/* Nodes and tensors that a convolution may become. */
static gboolean
has_room (const SlGraph *graph)
{
  return graph->nodes->len + 4 * MAX_PARTS < SL_MAX_NODES
         && graph->tensors->len + 8 * MAX_PARTS < SL_MAX_TENSORS && sl_op_get (SL_OP_SLICE) != NULL
         && sl_op_get (SL_OP_ADD) != NULL;
}

/* Graphs that other models are made of keep the nodes of their file. Those with attention do not:
 * 8-bit models of them would convolve the large parts, and compute the sums in floats. */
static gboolean
is_left_alone (const SlGraph *graph)
{
  for (guint i = 0; graph->apart && i < graph->nodes->len; i++)
    if (sl_graph_node (graph, i)->op == SL_OP_BATCH_MATMUL)
      return FALSE;
  return graph->apart;
}

static guint
run (SlGraph *graph)
{
  guint changes = 0;
  SlPassIndex index;
  if (is_left_alone (graph))
    return 0;
  sl_pass_index_init (&index, graph);
  for (guint i = 0; i < graph->nodes->len && changes < MAX_CHANGES; i++) {
    const SlNode *node = sl_graph_node (graph, i);
    Split s = { .graph = graph, .conv = *node, .at = i };
    if (!is_pixelwise (graph, node) || !has_room (graph) || !find_parts (&s, &index) || s.n < 2)
      continue;
    split (&s);
    sl_pass_index_clear (&index);
    sl_pass_remove_nodes (graph);
    sl_pass_index_init (&index, graph);
    i = s.at - 1;
    changes++;
  }
  sl_pass_index_clear (&index);
  return changes;
}

const SlPass sl_pass_split_concat = { "split_concat", .run = run };
