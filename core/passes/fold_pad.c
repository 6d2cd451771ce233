/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PAD followed by an unpadded convolution becomes the convolution's own padding. Only spatial zero
 * padding: PAD fills 8-bit tensors with the zero point, which is what a convolution's padding means
 * too.
 */
#include "core/ops/ops.h"
#include "core/passes/passes.h"

static gboolean
spatial_padding (const SlGraph *graph, const SlNode *pad, gint32 amounts[8])
{
  guint count = 0;
  const SlTensor *input = sl_node_input (graph, pad, 0);
  if (input->rank != 4 || !sl_constant_ints (sl_node_input (graph, pad, 1), amounts, 8, &count)
      || count != 8)
    return FALSE;
  const SlTensor *output = sl_node_output (graph, pad, 0);
  return amounts[0] == 0 && amounts[1] == 0 && amounts[6] == 0 && amounts[7] == 0
         && sl_tensor_scale (input) == sl_tensor_scale (output)
         && sl_tensor_zero_point (input) == sl_tensor_zero_point (output);
}

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *conv)
{
  gint32 amounts[8];
  if ((conv->op != SL_OP_CONV_2D && conv->op != SL_OP_DEPTHWISE_CONV_2D)
      || conv->params.window.padding != SL_PADDING_VALID)
    return 0;
  SlNode *pad = sl_pass_producer (index, graph, conv->inputs[0]);
  if (pad == NULL || pad->op != SL_OP_PAD || index->consumers[conv->inputs[0]] != 1
      || !spatial_padding (graph, pad, amounts))
    return 0;
  gint32 *inputs =
    sl_arena_memdup (graph->arena, conv->inputs, conv->n_inputs * sizeof conv->inputs[0]);
  inputs[0] = pad->inputs[0];
  conv->inputs = inputs;
  SlWindow *window = &conv->params.window;
  window->padding = SL_PADDING_EXPLICIT;
  window->pad_top = amounts[2];
  window->pad_bottom = amounts[3];
  window->pad_left = amounts[4];
  window->pad_right = amounts[5];
  pad->op = SL_OP_INVALID;
  return 1;
}

const SlPass sl_pass_fold_pad = { "fold_pad", .step = step };
