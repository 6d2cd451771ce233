/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layers whose output is a part of a concatenation: each pixel is followed by those of the other
 * parts, which are not written. */
#include "core/backends/float/layer.h"
#include "core/ops/halves.h"
#include "core/ops/ops.h"

/* Softmax and normalisation take many rows at once, and a repeated operand is made for a whole work
 * item. A transposed convolution writes several pixels as one row. Outputs of fully connected
 * layers are small. */
gboolean
sl_float_writes_parts (const SlGraph *graph, const SlNode *node)
{
  switch (node->op) {
    case SL_OP_ADD:
    case SL_OP_MUL:
      return sl_node_repeated (graph, node) < 0;
    case SL_OP_CONV_2D:
    case SL_OP_DEPTHWISE_CONV_2D:
    case SL_OP_MAX_POOL_2D:
    case SL_OP_PRELU:
      return TRUE;
    default:
      return sl_node_curve (node) != SL_ACTIVATION_NONE;
  }
}

void
sl_float_part_set (SlFloatLayer *layer, const SlHost *host, const SlNode *node)
{
  const SlTensor *y = sl_node_output (host->graph, node, 0);
  const gint32 stride = host->strides != NULL ? host->strides[node->outputs[0]] : 0;
  layer->channels = y->rank > 0 ? y->dims[y->rank - 1] : 1;
  layer->stride = (gsize) (stride > 0 ? stride : layer->channels);
}

void
sl_float_part_pieces (SlFloatLayer *layer)
{
  const gsize channels = (gsize) layer->channels;
  if (layer->stride > channels)
    layer->elements.piece = (layer->elements.piece + channels - 1) / channels * channels;
}
