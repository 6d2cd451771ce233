/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums and products of a tensor and a vector that each of its pixels takes: a work item has the
 * vector over and over in its scratch memory. */
#include <string.h>

#include "core/backends/float/layer.h"
#include "core/ops/halves.h"
#include "core/ops/ops.h"

/* Elements of a vector that XNNPACK, which goes from one to the next, takes several times as long
 * for. */
#define SHORT_VECTOR 16

gboolean
sl_float_repeats_short (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *vector = sl_node_input (graph, node, (guint) sl_node_repeated (graph, node));
  const gint32 period = vector->dims[vector->rank - 1];
  return period > 1 && period <= SHORT_VECTOR
         && !sl_activation_is_curve (sl_node_fused_activation (node));
}

void
sl_float_repeated_set (SlFloatLayer *layer, const SlGraph *graph, const SlNode *node)
{
  const gint which = sl_node_repeated (graph, node);
  if (which < 0)
    return;
  const SlTensor *vector = sl_node_input (graph, node, (guint) which);
  SlFloatElements *elements = &layer->elements;
  const gsize period = (gsize) vector->dims[vector->rank - 1];
  layer->repeated =
    (SlFloatRepeated){ .first = which == 0,
                       .period = period,
                       .image = elements->total / (sl_tensor_count (vector) / period) };
  elements->chunk = MAX (elements->chunk / period, 1) * period;
  elements->piece = (elements->piece + period - 1) / period * period;
  if (which > 0)
    return;
  const gboolean x = layer->narrow.x;
  layer->narrow.x = layer->narrow.second;
  layer->narrow.second = x;
}

void
sl_float_repeat (const SlFloatLayer *layer, const gfloat *vectors, gsize image, gfloat *to)
{
  const gsize period = layer->repeated.period,
              chunk = MIN (layer->elements.chunk, layer->repeated.image);
  if (layer->narrow.second)
    sl_float_widen (vectors, image * period, to, period);
  else
    memcpy (to, vectors + image * period, period * sizeof to[0]);
  for (gsize n = period; n < chunk; n *= 2)
    memcpy (to + n, to, MIN (n, chunk - n) * sizeof to[0]);
}
