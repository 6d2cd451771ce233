/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * MUL, ADD and SUB of a float layer's output with a constant for each channel, which is what BatchNormalization is, become part of the
 * layer's weights and bias. Together the copies of weights take no more memory than the constants do already.
 */
#include <string.h>

#include "core/ops/ops.h"
#include "core/passes/passes.h"

typedef struct
{
  SlGraph *graph;
  SlPassIndex index;
  guint before; /* tensors from here on are this pass's own */
  gsize may_copy;
} Fold;

static gint32
channels_of (const SlGraph *graph, const SlNode *layer)
{
  const SlTensor *output = sl_node_output (graph, layer, 0);
  return output->rank > 0 ? output->dims[output->rank - 1] : 0;
}

static gboolean
is_float_constant (const SlTensor *tensor)
{
  return tensor != NULL && tensor->dtype == SL_DTYPE_F32 && tensor->data != NULL;
}

/* One number, or one for each of the last dimension's. */
static gboolean
is_by_channel (const SlTensor *tensor, gint32 channels)
{
  gsize elements = 0;
  return is_float_constant (tensor) && sl_tensor_elements (tensor, &elements)
         && (elements == 1 || (elements == (gsize) channels && tensor->dims[tensor->rank - 1] == channels));
}

/* (nullable): the layer whose output @node alone reads and combines with constant input *@constant. */
static SlNode *
find_layer (const Fold *fold, const SlNode *node, guint *constant)
{
  for (guint i = 0; i < (node->op == SL_OP_SUB ? 1 : 2); i++) {
    SlNode *layer = node->inputs[i] >= 0 ? sl_pass_producer (&fold->index, fold->graph, node->inputs[i]) : NULL;
    if (layer == NULL || fold->index.consumers[node->inputs[i]] != 1
        || (layer->op != SL_OP_CONV_2D && layer->op != SL_OP_DEPTHWISE_CONV_2D && layer->op != SL_OP_FULLY_CONNECTED))
      continue;
    const SlTensor *bias = sl_node_input (fold->graph, layer, 2);
    if (sl_node_fused_activation (layer) != SL_ACTIVATION_NONE || !is_float_constant (sl_node_input (fold->graph, layer, 1))
        || (bias != NULL && !is_float_constant (bias))
        || !is_by_channel (sl_node_input (fold->graph, node, 1 - i), channels_of (fold->graph, layer)))
      continue;
    *constant = 1 - i;
    return layer;
  }
  return NULL;
}

static gint32
add_constant (Fold *fold, const SlTensor *like, gfloat *data)
{
  SlTensor tensor = *like;
  tensor.data = data;
  return sl_graph_add_tensor (fold->graph, &tensor, NULL);
}

/* The tensor behind input @i of @layer, for this pass to change; -1 where copies take too much. */
static gint32
own_input (Fold *fold, const SlNode *layer, guint i)
{
  const SlTensor *tensor = sl_node_input (fold->graph, layer, i);
  if (layer->inputs[i] >= (gint32) fold->before)
    return layer->inputs[i];
  if (tensor->bytes > fold->may_copy)
    return -1;
  fold->may_copy -= tensor->bytes;
  gfloat *data = sl_arena_alloc (fold->graph->arena, tensor->bytes + SL_TENSOR_PADDING);
  memcpy (data, tensor->data, tensor->bytes);
  return add_constant (fold, tensor, data);
}

static gint32
own_bias (Fold *fold, const SlNode *layer, gint32 channels)
{
  if (sl_node_input (fold->graph, layer, 2) != NULL)
    return own_input (fold, layer, 2);
  const SlTensor like = {
    .dtype = SL_DTYPE_F32, .rank = 1, .dims = { channels }, .name = layer->name, .bytes = (gsize) channels * sizeof (gfloat)
  };
  gfloat *data = sl_arena_alloc (fold->graph->arena, like.bytes + SL_TENSOR_PADDING);
  memset (data, 0, like.bytes);
  return add_constant (fold, &like, data);
}

static void
scale_weights (const SlGraph *graph, const SlNode *layer, gint32 index, const gfloat *by, gboolean one, gsize channels)
{
  const SlTensor *weights = sl_graph_tensor (graph, index);
  gfloat *data = (gfloat *) (gpointer) weights->data;
  const gsize elements = weights->bytes / sizeof data[0], window = elements / channels;
  for (gsize i = 0; i < elements; i++)
    data[i] *= by[one ? 0 : layer->op == SL_OP_DEPTHWISE_CONV_2D ? i % channels : i / window];
}

static gboolean
fold_into (Fold *fold, SlNode *layer, const SlNode *node, const SlTensor *constant)
{
  const gsize channels = (gsize) channels_of (fold->graph, layer);
  const gfloat *by = constant->data;
  const gboolean one = constant->bytes == sizeof by[0];
  const gint32 bias = own_bias (fold, layer, (gint32) channels);
  const gint32 weights = node->op == SL_OP_MUL ? own_input (fold, layer, 1) : layer->inputs[1];
  if (bias < 0 || weights < 0)
    return FALSE;
  if (node->op == SL_OP_MUL)
    scale_weights (fold->graph, layer, weights, by, one, channels);
  gfloat *sums = (gfloat *) (gpointer) sl_graph_tensor (fold->graph, bias)->data;
  for (gsize c = 0; c < channels; c++)
    sums[c] = node->op == SL_OP_MUL   ? sums[c] * by[one ? 0 : c]
              : node->op == SL_OP_ADD ? sums[c] + by[one ? 0 : c]
                                      : sums[c] - by[one ? 0 : c];
  gint32 *inputs = sl_arena_alloc (fold->graph->arena, 3 * sizeof inputs[0]);
  inputs[0] = layer->inputs[0];
  inputs[1] = weights;
  inputs[2] = bias;
  layer->inputs = inputs;
  layer->n_inputs = 3;
  return TRUE;
}

static guint
step (Fold *fold, SlNode *node)
{
  guint constant = 0;
  if (node->op != SL_OP_MUL && node->op != SL_OP_ADD && node->op != SL_OP_SUB)
    return 0;
  SlNode *layer = find_layer (fold, node, &constant);
  if (layer == NULL || !sl_tensor_same_shape (sl_node_output (fold->graph, node, 0), sl_node_output (fold->graph, layer, 0))
      || !fold_into (fold, layer, node, sl_node_input (fold->graph, node, constant)))
    return 0;
  *sl_node_activation (layer) = node->params.binary.activation;
  layer->outputs = node->outputs;
  layer->name = node->name;
  fold->index.producer[node->outputs[0]] = fold->index.producer[node->inputs[1 - constant]];
  node->op = SL_OP_INVALID;
  return 1;
}

static guint
run (SlGraph *graph)
{
  guint changes = 0;
  Fold fold = { .graph = graph, .before = graph->tensors->len, .may_copy = sl_graph_constant_bytes (graph) };
  sl_pass_index_init (&fold.index, graph);
  for (guint i = 0; i < graph->nodes->len; i++)
    changes += step (&fold, &g_array_index (graph->nodes, SlNode, i));
  sl_pass_index_clear (&fold.index);
  sl_pass_remove_nodes (graph);
  return changes;
}

const SlPass sl_pass_fold_scale = { "fold_scale", run };
