/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ADD of two tensors of one shape, in XNNPACK's fixed point: the larger of the two scales becomes a
 * multiplier of 21 bits, and the sum is rounded half up, or, as qnnpack does it, half away from
 * zero.
 */
#include <math.h>

#include "core/backends/int8/layer.h"
#include "core/ops/ops.h"

/* More than any sum of XNNPACK's is away from zero: 255 times two multipliers of 21 bits. */
#define MAX_SUM (1 << 30)
/* Bytes of a piece of work. */
#define PIECE 16384

gboolean
sl_int8_add_supports (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *a = sl_node_input (graph, node, 0), *b = sl_node_input (graph, node, 1),
                 *y = sl_node_output (graph, node, 0);
  if ((a->dtype != SL_DTYPE_U8 && a->dtype != SL_DTYPE_I8) || !sl_tensor_same_shape (a, y)
      || !sl_tensor_same_shape (b, y))
    return FALSE;
  const gfloat ratios[] = { sl_tensor_scale (a) / sl_tensor_scale (y),
                            sl_tensor_scale (b) / sl_tensor_scale (y) };
  return ratios[0] >= 0x1p-10f && ratios[0] < 0x1p+8f && ratios[1] >= 0x1p-10f
         && ratios[1] < 0x1p+8f;
}

void
sl_int8_add_init (SlInt8Layer *layer, const SlGraph *graph, const SlNode *node)
{
  const SlTensor *a = sl_node_input (graph, node, 0), *b = sl_node_input (graph, node, 1),
                 *y = sl_node_output (graph, node, 0);
  const gfloat a_scale = sl_tensor_scale (a) / sl_tensor_scale (y),
               b_scale = sl_tensor_scale (b) / sl_tensor_scale (y);
  const gint32 to_unsigned = layer->is_signed ? 128 : 0;
  SlInt8Add *add = &layer->add;
  add->shift = sl_add_shift (MAX (a_scale, b_scale), node->params.binary.half_away);
  add->a = (gint32) lrintf (ldexpf (a_scale, add->shift));
  add->b = (gint32) lrintf (ldexpf (b_scale, add->shift));
  const gint32 half = 1 << (add->shift - 1);
  add->lift = node->params.binary.half_away ? half : half - MAX_SUM;
  add->bias = half - (sl_tensor_zero_point (a) + to_unsigned) * add->a
              - (sl_tensor_zero_point (b) + to_unsigned) * add->b;
  add->flip = layer->is_signed ? 0x80 : 0;
  add->output = layer->gemm.output;
  layer->bytes = y->bytes;
  layer->cost_us = (guint) (y->bytes / 8192);
}

guint
sl_int8_add_items (const SlInt8Layer *layer)
{
  return (guint) ((layer->bytes + PIECE - 1) / PIECE);
}

void
sl_int8_add_run (const SlInt8Layer *layer, const guint8 *a, const guint8 *b, guint8 *out,
                 guint item)
{
  const gsize at = (gsize) item * PIECE;
  layer->isa->add (&layer->add, a + at, b + at, out + at, MIN (layer->bytes - at, PIECE));
}
