/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tensor split along its channels, convolutions alike but for weights and bias of one part each,
 * their outputs joined in the same order: that is one convolution with as many groups, or a
 * depthwise one where a part is one channel. Exporters write groups so where their format has none.
 * Of 8-bit values every tensor on both sides must have one scale and zero point, so that the result
 * is the same, bit by bit. What would then be slower stays apart: the 8-bit kernels know no groups,
 * and wide float ones are as fast alone.
 */
#include <string.h>

#include "core/passes/passes.h"

#define FEWEST_GROUPS 2
/* Most bytes of joined weights: tensors of a file may share their bytes. */
#define MAX_BYTES (16u << 20)
/* Most channels of a float part on either side, where the window is larger than a pixel. From what
 * AVX-512 kernels take: 0.7 to 0.9 of the time with 16, 1.2 with 24, 1.9 with 64; of one pixel 0.9
 * with 64. */
#define MAX_CHANNELS 16

/* The @i-th convolution before @joint. */
static const SlNode *
convolution (SlGraph *graph, const SlPassIndex *index, const SlNode *joint, guint i)
{
  return sl_pass_producer (index, graph, joint->inputs[i]);
}

static gboolean
same_quant (const SlTensor *a, const SlTensor *b)
{
  return a->dtype == b->dtype && a->quant.count == b->quant.count && a->quant.count <= 1
         && sl_tensor_scale (a) == sl_tensor_scale (b)
         && sl_tensor_zero_point (a) == sl_tensor_zero_point (b);
}

static gboolean
alike (const SlTensor *a, const SlTensor *b)
{
  if (a == NULL || b == NULL)
    return a == b;
  return a->dtype == b->dtype && a->data != NULL && b->data != NULL && sl_tensor_same_shape (a, b)
         && a->bytes == b->bytes && a->quant.count == b->quant.count;
}

/* Whether @conv, for one reader alone, differs from @first in its data, weights and bias only. */
static gboolean
is_like (const SlGraph *graph, const SlPassIndex *index, const SlNode *conv, const SlNode *first,
         const SlTensor *joined)
{
  if (conv == NULL || conv->op != SL_OP_CONV_2D || index->consumers[conv->outputs[0]] != 1
      || memcmp (&conv->params.window, &first->params.window, sizeof conv->params.window) != 0)
    return FALSE;
  const SlTensor *input = sl_node_input (graph, conv, 0), *weights = sl_node_input (graph, conv, 1),
                 *bias = sl_node_input (graph, conv, 2);
  return (bias == NULL || bias->rank == 1) && weights->rank == 4
         && weights->dims[3] == input->dims[3] && weights->dtype == input->dtype
         && (weights->dtype == SL_DTYPE_F32 || weights->dtype == SL_DTYPE_I8)
         && alike (weights, sl_node_input (graph, first, 1))
         && alike (bias, sl_node_input (graph, first, 2))
         && same_quant (sl_node_output (graph, conv, 0), joined);
}

/* What node @split gives the convolutions the parts of, in order and to them alone; -1 = something
 * else. */
static gint32
find_whole (SlGraph *graph, const SlPassIndex *index, const SlNode *joint, const SlNode *split)
{
  if (split == NULL || (split->op != SL_OP_SPLIT && split->op != SL_OP_SPLIT_V)
      || split->n_outputs != joint->n_inputs)
    return -1;
  const gint32 whole = split->inputs[split->op == SL_OP_SPLIT ? 1 : 0];
  const SlTensor *tensor = sl_graph_tensor (graph, whole),
                 *part = sl_graph_tensor (graph, split->outputs[0]);
  if (tensor->rank != 4 || part->rank != 4
      || memcmp (tensor->dims, part->dims, 3 * sizeof tensor->dims[0]) != 0
      || (gint64) part->dims[3] * (gint64) split->n_outputs != tensor->dims[3])
    return -1;
  for (guint i = 0; i < split->n_outputs; i++)
    if (convolution (graph, index, joint, i)->inputs[0] != split->outputs[i]
        || index->consumers[split->outputs[i]] != 1
        || !same_quant (sl_graph_tensor (graph, split->outputs[i]), tensor))
      return -1;
  return whole;
}

/* Scales of all groups' constants @which, along @axis. */
static SlQuant
join_scales (SlGraph *graph, const SlPassIndex *index, const SlNode *joint, guint which,
             guint channels, gint axis)
{
  const guint n = joint->n_inputs * channels;
  if (sl_node_input (graph, convolution (graph, index, joint, 0), which)->quant.count == 0)
    return (SlQuant){ 0 };
  gfloat *scale = sl_arena_alloc (graph->arena, n * sizeof *scale);
  gint32 *zero_point = sl_arena_alloc (graph->arena, n * sizeof *zero_point);
  for (guint i = 0; i < n; i++) {
    const SlQuant *quant =
      &sl_node_input (graph, convolution (graph, index, joint, i / channels), which)->quant;
    scale[i] = quant->scale[quant->count > 1 ? i % channels : 0];
    zero_point[i] = quant->zero_point[quant->count > 1 ? i % channels : 0];
  }
  return (SlQuant){ n, axis, scale, zero_point };
}

/* Adds the constants @which of all groups as one: one after another, or, of depthwise weights,
 * channel by channel in turn. */
static gint32
join_constants (SlGraph *graph, const SlPassIndex *index, const SlNode *joint, guint which,
                gboolean in_turn)
{
  SlTensor tensor = *sl_node_input (graph, convolution (graph, index, joint, 0), which);
  const guint groups = joint->n_inputs, channels = (guint) tensor.dims[0];
  const gsize size = sl_dtype_size (tensor.dtype), window = tensor.bytes / size / channels;
  guint8 *data = sl_arena_alloc (graph->arena, groups * tensor.bytes + SL_TENSOR_PADDING);
  for (guint g = 0; g < groups; g++) {
    const guint8 *from = sl_node_input (graph, convolution (graph, index, joint, g), which)->data;
    if (!in_turn)
      memcpy (data + g * tensor.bytes, from, tensor.bytes);
    for (gsize i = 0; in_turn && i < channels * window; i++)
      memcpy (data + ((i % window) * groups * channels + g * channels + i / window) * size,
              from + i * size, size);
  }
  tensor.quant = join_scales (graph, index, joint, which, channels, in_turn ? 3 : 0);
  tensor.dims[in_turn ? 3 : 0] = (gint32) (groups * channels);
  if (in_turn)
    tensor.dims[0] = 1;
  tensor.bytes *= groups;
  tensor.data = data;
  return sl_graph_add_tensor (graph, &tensor, NULL);
}

static gboolean
has_zero_points (const SlGraph *graph, const SlNode *conv)
{
  const SlQuant *quant = &sl_node_input (graph, conv, 1)->quant;
  for (guint i = 0; i < quant->count; i++)
    if (quant->zero_point[i] != 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_joint (SlGraph *graph, const SlPassIndex *index, const SlNode *joint)
{
  const SlTensor *joined =
    joint->op == SL_OP_CONCATENATION ? sl_node_output (graph, joint, 0) : NULL;
  if (joined == NULL || joined->rank != 4 || joint->params.concat.axis != 3
      || joint->params.concat.activation != SL_ACTIVATION_NONE || joint->n_inputs < FEWEST_GROUPS)
    return FALSE;
  const SlNode *first = convolution (graph, index, joint, 0);
  for (guint i = 0; i < joint->n_inputs; i++) {
    const SlNode *conv = convolution (graph, index, joint, i);
    if (!is_like (graph, index, conv, first, joined) || has_zero_points (graph, conv))
      return FALSE;
  }
  return TRUE;
}

/* Whether the joined convolution takes less time than those that are like @conv. */
static gboolean
is_faster (const SlGraph *graph, const SlNode *conv)
{
  const SlTensor *weights = sl_node_input (graph, conv, 1);
  const gint32 *dims = weights->dims, most = MAX (dims[0], dims[3]);
  if (weights->dtype != SL_DTYPE_F32) /* a depthwise convolution of one channel a part */
    return most == 1;
  return most <= MAX_CHANNELS || dims[1] * dims[2] == 1;
}

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *joint)
{
  if (!is_joint (graph, index, joint))
    return 0;
  const SlNode *first = convolution (graph, index, joint, 0);
  if (!is_faster (graph, first))
    return 0;
  SlNode *split = sl_pass_producer (index, graph, first->inputs[0]);
  const gint32 whole = find_whole (graph, index, joint, split);
  if (whole < 0 || sl_node_input (graph, first, 1)->bytes > MAX_BYTES / joint->n_inputs
      || graph->tensors->len + 2 > SL_MAX_TENSORS)
    return 0;
  const gboolean depthwise = sl_node_input (graph, first, 1)->dims[3] == 1,
                 biased = sl_node_input (graph, first, 2) != NULL;
  gint32 *inputs = sl_arena_alloc (graph->arena, 3 * sizeof *inputs);
  inputs[0] = whole;
  inputs[1] = join_constants (graph, index, joint, 1, depthwise);
  inputs[2] = biased ? join_constants (graph, index, joint, 2, FALSE) : -1;
  const SlOpParams params = first->params;
  for (guint i = 0; i < joint->n_inputs; i++)
    sl_pass_producer (index, graph, joint->inputs[i])->op = SL_OP_INVALID;
  split->op = SL_OP_INVALID;
  joint->op = depthwise ? SL_OP_DEPTHWISE_CONV_2D : SL_OP_CONV_2D;
  joint->params = params;
  joint->inputs = inputs;
  joint->n_inputs = 3;
  return 1;
}

const SlPass sl_pass_join_groups = { "join_groups", .step = step };
