/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks of pixels moved into channels before a float convolution become a larger window with a
 * larger stride: SPACE_TO_DEPTH, or four strided slices joined on the channels, as YOLOv5's and
 * YOLOX's Focus is written. The weights are put in another order, so nothing is moved in a frame.
 * Together the copies of weights take no more memory than the constants do already.
 */
#include "core/ops/ops.h"
#include "core/passes/passes.h"

#define MAX_SIZE 4
#define MAX_PLACES (MAX_SIZE * MAX_SIZE)

/**
 * What a tensor is blocks of: the channels of place p are those of pixel (@y[p], @x[p]) of a block.
 * @first: whether channels are the source's second dimension, not its last
 */
typedef struct
{
  gint32 source, size;
  gboolean first;
  gint32 y[MAX_PLACES], x[MAX_PLACES];
} Blocks;

/* Follows slices of slices to the tensor they are taken from. @place: where in blocks of two by
 * two. */
static gboolean
find_slice (SlGraph *graph, const SlPassIndex *index, gint32 tensor, Blocks *blocks,
            gint32 place[2])
{
  gint64 from[SL_MAX_RANK] = { 0 }, by[SL_MAX_RANK] = { 1, 1, 1, 1 }, start[SL_MAX_RANK],
         step[SL_MAX_RANK], size[SL_MAX_RANK];
  const SlTensor *taken = sl_graph_tensor (graph, tensor);
  const SlNode *node = sl_pass_producer (index, graph, tensor);
  for (; node != NULL && sl_slice_axes (graph, node, start, step, size);
       node = sl_pass_producer (index, graph, tensor)) {
    if (sl_node_input (graph, node, 0)->rank != 4 || sl_node_output (graph, node, 0)->rank != 4)
      return FALSE;
    for (guint i = 0; i < 4; i++) {
      from[i] = start[i] + from[i] * step[i];
      by[i] *= step[i];
    }
    tensor = node->inputs[0];
  }
  const SlTensor *whole = sl_graph_tensor (graph, tensor);
  const guint row = blocks->first ? 2 : 1, channel = blocks->first ? 1 : 3;
  for (guint i = 0; i < 2; i++) {
    if (by[row + i] != 2 || (from[row + i] != 0 && from[row + i] != 1)
        || whole->dims[row + i] != 2 * taken->dims[row + i])
      return FALSE;
    place[i] = (gint32) from[row + i];
  }
  blocks->source = tensor;
  return whole->dims[0] == taken->dims[0] && whole->dims[channel] == taken->dims[channel]
         && by[0] == 1 && by[channel] == 1;
}

static gboolean
find_joined (SlGraph *graph, const SlPassIndex *index, const SlNode *concat, Blocks *blocks)
{
  guint seen = 0;
  if (concat->op != SL_OP_CONCATENATION || concat->n_inputs != 4
      || concat->params.concat.axis != (blocks->first ? 1 : 3)
      || sl_node_fused_activation (concat) != SL_ACTIVATION_NONE
      || sl_node_output (graph, concat, 0)->rank != 4)
    return FALSE;
  blocks->size = 2;
  for (guint i = 0; i < 4; i++) {
    gint32 place[2] = { 0 };
    const gint32 before = blocks->source;
    if (!find_slice (graph, index, concat->inputs[i], blocks, place)
        || (i > 0 && before != blocks->source))
      return FALSE;
    blocks->y[i] = place[0];
    blocks->x[i] = place[1];
    seen |= 1u << (2 * place[0] + place[1]);
  }
  return seen == 0xf;
}

/* (nullable): the node whose output @transpose brings from channels second to channels last. */
static SlNode *
behind_transpose (SlGraph *graph, const SlPassIndex *index, const SlNode *transpose)
{
  gint32 order[4];
  guint n = 0;
  if (transpose->op != SL_OP_TRANSPOSE
      || !sl_constant_ints (sl_node_input (graph, transpose, 1), order, 4, &n) || n != 4
      || order[0] != 0 || order[1] != 2 || order[2] != 3 || order[3] != 1
      || index->consumers[transpose->outputs[0]] != 1)
    return NULL;
  return sl_pass_producer (index, graph, transpose->inputs[0]);
}

static gboolean
find_blocks (SlGraph *graph, const SlPassIndex *index, const SlNode *node, Blocks *blocks)
{
  *blocks = (Blocks){ .source = -1, .first = node->op == SL_OP_TRANSPOSE };
  if (blocks->first)
    node = behind_transpose (graph, index, node);
  if (node == NULL || node->op != SL_OP_SPACE_TO_DEPTH || blocks->first)
    return node != NULL && find_joined (graph, index, node, blocks);
  blocks->source = node->inputs[0];
  blocks->size = node->params.block.size;
  if (blocks->size < 2 || blocks->size > MAX_SIZE)
    return FALSE;
  for (gint32 i = 0; i < blocks->size * blocks->size; i++) {
    blocks->y[i] = i / blocks->size;
    blocks->x[i] = i % blocks->size;
  }
  return TRUE;
}

/* The weights of @conv for whole pixels instead of blocks. */
static gint32
spread_weights (SlGraph *graph, const Blocks *blocks, const SlTensor *weights)
{
  const gint32 *d = weights->dims, size = blocks->size, channels = d[3] / (size * size);
  const gsize row = (gsize) d[2] * (gsize) size * (gsize) channels;
  SlTensor spread = *weights;
  gfloat *to = sl_tensor_alloc (graph->arena, weights->bytes);
  const gfloat *from = weights->data;
  spread.dims[1] = d[1] * size;
  spread.dims[2] = d[2] * size;
  spread.dims[3] = channels;
  spread.data = to;
  for (gint32 tap = 0; tap < d[0] * d[1] * d[2]; tap++)
    for (gint32 i = 0; i < d[3]; i++) {
      const gint32 place = i / channels;
      const gsize line = (gsize) (tap / d[2]) * (gsize) size + (gsize) blocks->y[place];
      const gsize column = (gsize) (tap % d[2]) * (gsize) size + (gsize) blocks->x[place];
      to[line * row + column * (gsize) channels + (gsize) (i % channels)] = *from++;
    }
  return sl_graph_add_tensor (graph, &spread, NULL);
}

static gboolean
is_plain_conv (const SlGraph *graph, const SlNode *conv)
{
  const SlTensor *weights = sl_node_input (graph, conv, 1);
  return conv->op == SL_OP_CONV_2D && conv->params.window.dilation_h == 1
         && conv->params.window.dilation_w == 1 && weights->dtype == SL_DTYPE_F32
         && weights->data != NULL && sl_node_input (graph, conv, 0)->dtype == SL_DTYPE_F32
         && weights->dims[3] == sl_node_input (graph, conv, 0)->dims[3];
}

/* What @conv reads instead of blocks: the source, which @transpose, where that is one, now brings
 * to channels last. */
static gint32
whole_pixels (SlGraph *graph, const Blocks *blocks, SlNode *transpose)
{
  if (!blocks->first)
    return blocks->source;
  const SlTensor *source = sl_graph_tensor (graph, blocks->source);
  SlTensor turned = *source;
  turned.dims[1] = source->dims[2];
  turned.dims[2] = source->dims[3];
  turned.dims[3] = source->dims[1];
  turned.data = NULL;
  const gint32 output = sl_graph_add_tensor (graph, &turned, NULL);
  if (output < 0)
    return -1;
  const gint32 inputs[2] = { blocks->source, transpose->inputs[1] };
  transpose->inputs = sl_arena_memdup (graph->arena, inputs, sizeof inputs);
  transpose->outputs = sl_arena_memdup (graph->arena, &output, sizeof output);
  return output;
}

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *conv, gsize *may_copy)
{
  Blocks blocks;
  SlNode *node =
    is_plain_conv (graph, conv) ? sl_pass_producer (index, graph, conv->inputs[0]) : NULL;
  if (node == NULL || !find_blocks (graph, index, node, &blocks)
      || sl_node_input (graph, conv, 1)->bytes > *may_copy)
    return 0;
  *may_copy -= sl_node_input (graph, conv, 1)->bytes;
  const gint32 weights = spread_weights (graph, &blocks, sl_node_input (graph, conv, 1));
  const gint32 pixels = weights >= 0 ? whole_pixels (graph, &blocks, node) : -1;
  if (pixels < 0)
    return 0;
  gint32 *inputs =
    sl_arena_memdup (graph->arena, conv->inputs, conv->n_inputs * sizeof conv->inputs[0]);
  inputs[0] = pixels;
  inputs[1] = weights;
  conv->inputs = inputs;
  SlWindow *window = &conv->params.window;
  window->padding = SL_PADDING_EXPLICIT;
  gint32 *const numbers[] = { &window->stride_h, &window->stride_w,  &window->pad_top,
                              &window->pad_left, &window->pad_right, &window->pad_bottom };
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    *numbers[i] *= blocks.size;
  return 1;
}

static guint
run (SlGraph *graph)
{
  guint changes = 0;
  gsize may_copy = sl_graph_constant_bytes (graph);
  SlPassIndex index;
  sl_pass_index_init (&index, graph);
  for (guint i = 0; i < graph->nodes->len; i++)
    changes += step (graph, &index, &g_array_index (graph->nodes, SlNode, i), &may_copy);
  sl_pass_index_clear (&index);
  return changes;
}

const SlPass sl_pass_fold_blocks = { "fold_blocks", .run = run };
