/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * MUL, ADD and SUB of a float layer's output with a constant for each channel, which is what
 * BatchNormalization is, become part of the layer's weights and bias; behind a CONCATENATION of
 * layers' channels they become part of each layer. Weights that lie in the model file's image, and
 * that nothing else reads, are multiplied there; copies of the others take together no more memory
 * than the constants do already.
 */
#include <string.h>

#include "core/graph/constants.h"
#include "core/ops/ops.h"
#include "core/passes/passes.h"

typedef struct
{
  SlGraph *graph;
  SlPassIndex index;
  guint before; /* tensors from here on are this pass's own */
  gsize may_copy;
  guint8 *alone; /* for each tensor before: 1 where no byte of its data is another's that is read */
  GHashTable *scales; /* of Scale, by the weights' tensor: applied once, however many nodes multiply
                         a layer's output */
} Fold;

/* What a layer's weights are multiplied with: a factor for each channel, the same for @window
 * elements that follow each other. */
typedef struct
{
  SlNode *layer;
  gsize channels, window;
  gfloat *by;
} Scale;

static void
scale_free (gpointer data)
{
  Scale *scale = data;
  g_free (scale->by);
  g_free (scale);
}

/* Where a constant lies. */
typedef struct
{
  guintptr start, end;
  guint tensor;
} Range;

static gint
compare_starts (gconstpointer a, gconstpointer b)
{
  const guintptr x = ((const Range *) a)->start, y = ((const Range *) b)->start;
  return x < y ? -1 : x > y;
}

/* (transfer full): see Fold's @alone. */
static guint8 *
find_alone (const SlGraph *graph, const guint *readers)
{
  guint8 *alone = g_new0 (guint8, graph->tensors->len);
  g_autofree Range *ranges = g_new (Range, graph->tensors->len);
  guintptr reached = 0;
  guint n = 0;
  for (guint i = 0; i < graph->tensors->len; i++) {
    const SlTensor *tensor = sl_graph_tensor (graph, (gint32) i);
    if (tensor->data != NULL && readers[i] > 0)
      ranges[n++] = (Range){ (guintptr) tensor->data, (guintptr) tensor->data + tensor->bytes, i };
  }
  qsort (ranges, n, sizeof ranges[0], compare_starts);
  for (guint i = 0; i < n; i++) {
    alone[ranges[i].tensor] =
      reached <= ranges[i].start && (i + 1 == n || ranges[i].end <= ranges[i + 1].start);
    reached = MAX (reached, ranges[i].end);
  }
  return alone;
}

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
         && (elements == 1
             || (elements == (gsize) channels && tensor->dims[tensor->rank - 1] == channels));
}

/* (nullable): the layer that makes @tensor for one reader alone, and applies nothing to it. */
static SlNode *
layer_of (const Fold *fold, gint32 tensor)
{
  SlNode *layer = fold->index.consumers[tensor] == 1
                    ? sl_pass_producer (&fold->index, fold->graph, tensor)
                    : NULL;
  if (layer == NULL || !sl_op_is_layer (layer->op))
    return NULL;
  const SlTensor *bias = sl_node_input (fold->graph, layer, sl_op_bias_at (layer->op));
  return sl_node_fused_activation (layer) == SL_ACTIVATION_NONE
             && is_float_constant (sl_node_input (fold->graph, layer, 1))
             && (bias == NULL || is_float_constant (bias))
           ? layer
           : NULL;
}

/* (nullable): the node that joins layers' channels to @tensor, for one reader alone. */
static SlNode *
joint_of (const Fold *fold, gint32 tensor)
{
  SlNode *joint = fold->index.consumers[tensor] == 1
                    ? sl_pass_producer (&fold->index, fold->graph, tensor)
                    : NULL;
  if (joint == NULL || joint->op != SL_OP_CONCATENATION
      || sl_node_fused_activation (joint) != SL_ACTIVATION_NONE
      || joint->params.concat.axis + 1 != (gint32) sl_graph_tensor (fold->graph, tensor)->rank)
    return NULL;
  for (guint i = 0; i < joint->n_inputs; i++)
    if (layer_of (fold, joint->inputs[i]) == NULL)
      return NULL;
  return joint;
}

static gint32
add_constant (Fold *fold, const SlTensor *like, gfloat *data)
{
  SlTensor tensor = *like;
  tensor.data = data;
  return sl_graph_add_tensor (fold->graph, &tensor, NULL);
}

static gint32
copy_constant (Fold *fold, const SlTensor *tensor)
{
  gfloat *data = sl_arena_alloc (fold->graph->arena, tensor->bytes + SL_TENSOR_PADDING);
  memcpy (data, tensor->data, tensor->bytes);
  return add_constant (fold, tensor, data);
}

/* The tensor behind input @i of @layer, for this pass to change; -1 where copies take too much. */
static gint32
own_input (Fold *fold, const SlNode *layer, guint i)
{
  const SlTensor *tensor = sl_node_input (fold->graph, layer, i);
  if (layer->inputs[i] >= (gint32) fold->before)
    return layer->inputs[i];
  if (tensor->bytes > fold->may_copy
      || !sl_graph_need_constant (fold->graph, tensor->data, tensor->bytes, NULL))
    return -1;
  fold->may_copy -= tensor->bytes;
  return copy_constant (fold, tensor);
}

/* Whether the weights of @layer can be multiplied where they are: no other tensor, and no constant
 * that is made of them, reads them. */
static gboolean
changes_in_place (const Fold *fold, const SlNode *layer)
{
  const gint32 weights = layer->inputs[1];
  const SlTensor *tensor = sl_graph_tensor (fold->graph, weights);
  return weights >= (gint32) fold->before
         || (fold->index.consumers[weights] == 1 && fold->alone[weights]
             && sl_graph_owns_constant (fold->graph, tensor->data, tensor->bytes));
}

/* A bias of zeros where @layer has none. */
static gint32
own_bias (Fold *fold, const SlNode *layer, gint32 channels)
{
  if (sl_node_input (fold->graph, layer, sl_op_bias_at (layer->op)) != NULL)
    return own_input (fold, layer, sl_op_bias_at (layer->op));
  const SlTensor like = { .dtype = SL_DTYPE_F32,
                          .rank = 1,
                          .dims = { channels },
                          .name = layer->name,
                          .bytes = (gsize) channels * sizeof (gfloat) };
  gfloat *data = sl_arena_alloc (fold->graph->arena, like.bytes + SL_TENSOR_PADDING);
  memset (data, 0, like.bytes);
  return add_constant (fold, &like, data);
}

/* Multiplies the weights of @layer, in the end, by factors: @one number, or one a channel. */
static void
scale_weights (Fold *fold, SlNode *layer, const gfloat *by, gboolean one)
{
  Scale *scale = g_hash_table_lookup (fold->scales, GINT_TO_POINTER (layer->inputs[1]));
  if (scale == NULL) {
    const gsize channels = (gsize) channels_of (fold->graph, layer);
    const gsize elements = sl_node_input (fold->graph, layer, 1)->bytes / sizeof (gfloat);
    scale = g_new (Scale, 1);
    *scale =
      (Scale){ layer, channels, layer->op == SL_OP_DEPTHWISE_CONV_2D ? 1 : elements / channels,
               g_new (gfloat, channels) };
    for (gsize c = 0; c < channels; c++)
      scale->by[c] = 1;
    g_hash_table_insert (fold->scales, GINT_TO_POINTER (layer->inputs[1]), scale);
  }
  for (gsize c = 0; c < scale->channels; c++)
    scale->by[c] *= by[one ? 0 : c];
}

static void
apply_scale (gpointer tensor, gpointer data, gpointer user)
{
  Fold *fold = user;
  const Scale *scale = data;
  const SlTensor *weights = sl_graph_tensor (fold->graph, GPOINTER_TO_INT (tensor));
  const gsize elements = weights->bytes / sizeof (gfloat);
  if (sl_graph_multiply_constant (fold->graph, weights->data, elements, scale->by, scale->channels,
                                  scale->window))
    return;
  const gint32 copy = copy_constant (fold, weights);
  ((gint32 *) (gpointer) scale->layer->inputs)[1] = copy; /* own_layer() made them */
  sl_graph_multiply_constant (fold->graph, sl_graph_tensor (fold->graph, copy)->data, elements,
                              scale->by, scale->channels, scale->window);
}

/* Gives @layer a bias, and weights where @scaled, that this pass may change; the layer computes
 * what it did. FALSE where copies take too much. */
static gboolean
own_layer (Fold *fold, SlNode *layer, gboolean scaled)
{
  const gint32 bias = own_bias (fold, layer, channels_of (fold->graph, layer));
  const gint32 weights =
    scaled && !changes_in_place (fold, layer) ? own_input (fold, layer, 1) : layer->inputs[1];
  if (bias < 0 || weights < 0)
    return FALSE;
  gint32 *inputs =
    sl_arena_alloc (fold->graph->arena, (sl_op_bias_at (layer->op) + 1) * sizeof inputs[0]);
  memcpy (inputs, layer->inputs,
          MIN (layer->n_inputs, sl_op_bias_at (layer->op)) * sizeof inputs[0]);
  inputs[1] = weights;
  inputs[sl_op_bias_at (layer->op)] = bias;
  layer->inputs = inputs;
  layer->n_inputs = sl_op_bias_at (layer->op) + 1;
  return TRUE;
}

/* @layer, whose inputs are its own, does what @op does with @by: @one number, or one a channel. */
static void
fold_into (Fold *fold, SlNode *layer, SlOpType op, const gfloat *by, gboolean one)
{
  const gsize channels = (gsize) channels_of (fold->graph, layer);
  gfloat *sums =
    (gfloat *) (gpointer) sl_node_input (fold->graph, layer, sl_op_bias_at (layer->op))->data;
  if (op == SL_OP_MUL)
    scale_weights (fold, layer, by, one);
  for (gsize c = 0; c < channels; c++)
    sums[c] = op == SL_OP_MUL   ? sums[c] * by[one ? 0 : c]
              : op == SL_OP_ADD ? sums[c] + by[one ? 0 : c]
                                : sums[c] - by[one ? 0 : c];
}

/* The layers whose channels @joint joins, or @layer alone, each with its part of the constant. */
static gboolean
fold_all (Fold *fold, SlNode *layer, const SlNode *joint, SlOpType op, const SlTensor *constant)
{
  const gboolean one = constant->bytes == sizeof (gfloat);
  const gfloat *by = constant->data;
  const guint n = joint != NULL ? joint->n_inputs : 1;
  for (guint i = 0; i < n; i++)
    if (!own_layer (fold, joint != NULL ? layer_of (fold, joint->inputs[i]) : layer,
                    op == SL_OP_MUL))
      return FALSE;
  for (guint i = 0; i < n; i++) {
    SlNode *part = joint != NULL ? layer_of (fold, joint->inputs[i]) : layer;
    fold_into (fold, part, op, by, one);
    by += one ? 0 : channels_of (fold->graph, part);
  }
  return TRUE;
}

static guint
step (Fold *fold, SlNode *node)
{
  if (node->op != SL_OP_MUL && node->op != SL_OP_ADD && node->op != SL_OP_SUB)
    return 0;
  for (guint i = 0; i < (node->op == SL_OP_SUB ? 1 : 2); i++) {
    const gint32 sums = node->inputs[i];
    SlNode *layer = layer_of (fold, sums), *joint = layer == NULL ? joint_of (fold, sums) : NULL;
    SlNode *maker = layer != NULL ? layer : joint;
    if (maker == NULL || (joint != NULL && node->params.binary.activation != SL_ACTIVATION_NONE)
        || !is_by_channel (sl_node_input (fold->graph, node, 1 - i),
                           channels_of (fold->graph, maker))
        || !sl_tensor_same_shape (sl_node_output (fold->graph, node, 0),
                                  sl_node_output (fold->graph, maker, 0))
        || !fold_all (fold, layer, joint, node->op, sl_node_input (fold->graph, node, 1 - i)))
      continue;
    if (layer != NULL)
      *sl_node_activation (layer) = node->params.binary.activation;
    maker->outputs = node->outputs;
    maker->name = node->name;
    fold->index.producer[node->outputs[0]] = fold->index.producer[sums];
    node->op = SL_OP_INVALID;
    return 1;
  }
  return 0;
}

static guint
run (SlGraph *graph)
{
  guint changes = 0;
  Fold fold = { .graph = graph,
                .before = graph->tensors->len,
                .may_copy = sl_graph_constant_bytes (graph) };
  sl_pass_index_init (&fold.index, graph);
  fold.alone = find_alone (graph, fold.index.consumers);
  fold.scales = g_hash_table_new_full (NULL, NULL, NULL, scale_free);
  for (guint i = 0; i < graph->nodes->len; i++)
    changes += step (&fold, &g_array_index (graph->nodes, SlNode, i));
  g_hash_table_foreach (fold.scales, apply_scale, &fold);
  g_hash_table_unref (fold.scales);
  sl_pass_index_clear (&fold.index);
  g_free (fold.alone);
  sl_pass_remove_nodes (graph);
  return changes;
}

const SlPass sl_pass_fold_scale = { "fold_scale", run };
