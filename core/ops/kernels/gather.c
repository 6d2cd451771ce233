/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GATHER and GATHER_ND: one copy for each index; an index outside the tensor is limited to it. */
#include <string.h>

#include "core/ops/kernels/kernels.h"

static gsize
limited_index (const SlTensor *indices, const void *data, gsize i, gint32 dim)
{
  const gint64 index = indices->dtype == SL_DTYPE_I32 ? ((const gint32 *) data)[i] : ((const gint64 *) data)[i];
  return (gsize) CLAMP (index, 0, dim - 1);
}

static gsize
product (const SlTensor *tensor, guint first, guint end)
{
  gsize n = 1;
  for (guint i = first; i < end; i++)
    n *= (gsize) tensor->dims[i];
  return n;
}

void
sl_kernel_gather (const SlKernelCall *call)
{
  const SlTensor *data = sl_node_input (call->graph, call->node, 0), *indices = sl_node_input (call->graph, call->node, 1);
  const guint axis = (guint) call->node->params.axis.axis, batch_dims = (guint) call->node->params.axis.batch_dims;
  const gsize batches = product (data, 0, batch_dims), outer = product (data, batch_dims, axis),
              n = product (indices, batch_dims, indices->rank);
  const gsize run = product (data, axis + 1, data->rank) * sl_dtype_size (data->dtype), dim = (gsize) data->dims[axis];
  guint8 *out = call->outputs[0];
  for (gsize b = 0; b < batches; b++)
    for (gsize o = 0; o < outer; o++)
      for (gsize i = 0; i < n; i++, out += run) {
        const gsize at = limited_index (indices, call->inputs[1], b * n + i, data->dims[axis]);
        memcpy (out, (const guint8 *) call->inputs[0] + ((b * outer + o) * dim + at) * run, run);
      }
}

void
sl_kernel_gather_nd (const SlKernelCall *call)
{
  const SlTensor *data = sl_node_input (call->graph, call->node, 0), *indices = sl_node_input (call->graph, call->node, 1);
  const guint n = (guint) indices->dims[indices->rank - 1];
  const gsize slices = product (indices, 0, indices->rank - 1), run = product (data, n, data->rank) * sl_dtype_size (data->dtype);
  for (gsize i = 0; i < slices; i++) {
    gsize at = 0;
    for (guint k = 0; k < n; k++)
      at = at * (gsize) data->dims[k] + limited_index (indices, call->inputs[1], i * n + k, data->dims[k]);
    memcpy ((guint8 *) call->outputs[0] + i * run, (const guint8 *) call->inputs[0] + at * run, run);
  }
}
