/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GATHER and GATHER_ND: one copy for each index; what an index outside the tensor reads is
 * SlIndexing's. */
#include <string.h>

#include "core/ops/kernels/kernels.h"

/* The place of index @i, limited to @dim; FALSE = there is a 0 instead. */
static gboolean
place_of (const SlKernelCall *call, gsize i, gint32 dim, gsize *place)
{
  const SlTensor *indices = sl_node_input (call->graph, call->node, 1);
  const SlIndexing indexing = call->node->params.axis.indexing;
  gint64 index = indices->dtype == SL_DTYPE_I32 ? ((const gint32 *) call->inputs[1])[i]
                                                : ((const gint64 *) call->inputs[1])[i];
  if (indexing == SL_INDEX_FROM_END && index < 0)
    index += dim;
  *place = (gsize) CLAMP (index, 0, dim - 1);
  return indexing == SL_INDEX_LIMITED || (index >= 0 && index < dim);
}

static void
write_zeros (const SlKernelCall *call, guint8 *to, gsize bytes)
{
  const SlTensor *data = sl_node_input (call->graph, call->node, 0);
  memset (to, sl_dtype_size (data->dtype) == 1 ? sl_tensor_zero_point (data) : 0, bytes);
}

void
sl_kernel_gather (const SlKernelCall *call)
{
  const SlTensor *data = sl_node_input (call->graph, call->node, 0),
                 *indices = sl_node_input (call->graph, call->node, 1);
  const guint axis = (guint) call->node->params.axis.axis,
              batch_dims = (guint) call->node->params.axis.batch_dims;
  const gsize batches = sl_tensor_span (data, 0, batch_dims),
              outer = sl_tensor_span (data, batch_dims, axis),
              n = sl_tensor_span (indices, batch_dims, indices->rank);
  const gsize run = sl_tensor_span (data, axis + 1, data->rank) * sl_dtype_size (data->dtype),
              dim = (gsize) data->dims[axis];
  guint8 *out = call->outputs[0];
  for (gsize b = 0; b < batches; b++)
    for (gsize o = 0; o < outer; o++)
      for (gsize i = 0; i < n; i++, out += run) {
        gsize at = 0;
        if (place_of (call, b * n + i, data->dims[axis], &at))
          memcpy (out, (const guint8 *) call->inputs[0] + ((b * outer + o) * dim + at) * run, run);
        else
          write_zeros (call, out, run);
      }
}

void
sl_kernel_gather_nd (const SlKernelCall *call)
{
  const SlTensor *data = sl_node_input (call->graph, call->node, 0),
                 *indices = sl_node_input (call->graph, call->node, 1);
  const guint n = (guint) indices->dims[indices->rank - 1],
              batch_dims = (guint) call->node->params.axis.batch_dims;
  const gsize slices = sl_tensor_span (indices, 0, indices->rank - 1),
              in_batch = sl_tensor_span (indices, batch_dims, indices->rank - 1),
              run = sl_tensor_span (data, batch_dims + n, data->rank) * sl_dtype_size (data->dtype);
  for (gsize i = 0; i < slices; i++) {
    gsize at = i / in_batch, place = 0;
    gboolean inside = TRUE;
    for (guint k = 0; k < n; k++) {
      const gint32 dim = data->dims[batch_dims + k];
      inside &= place_of (call, i * n + k, dim, &place);
      at = at * (gsize) dim + place;
    }
    if (inside)
      memcpy ((guint8 *) call->outputs[0] + i * run, (const guint8 *) call->inputs[0] + at * run,
              run);
    else
      write_zeros (call, (guint8 *) call->outputs[0] + i * run, run);
  }
}
