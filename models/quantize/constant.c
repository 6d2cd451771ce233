/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/quantize/constant.h"

#include <math.h>
#include <string.h>

gboolean
sl_constant_is_within (const SlTensor *tensor, gfloat most)
{
  const gfloat *values = tensor->data;
  for (gsize i = 0; i < tensor->bytes / sizeof values[0]; i++)
    if (!(fabsf (values[i]) <= most))
      return FALSE;
  return TRUE;
}

gfloat *
sl_constant_writable (SlGraph *graph, gint32 index)
{
  SlTensor *tensor = (SlTensor *) sl_graph_tensor (graph, index);
  gfloat *copy = sl_tensor_alloc (sl_graph_arena (graph), tensor->bytes);
  memcpy (copy, tensor->data, tensor->bytes);
  tensor->data = copy;
  return copy;
}
