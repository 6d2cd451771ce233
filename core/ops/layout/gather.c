/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GATHER (slices along an axis) and GATHER_ND (slices by coordinates), int32 or int64 indices. Constant indices are
 * checked when the graph is; computed ones are limited to the tensor when they run, or stand for 0, so that nothing is read outside.
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

static gint64
index_at (const SlTensor *indices, const void *data, gsize i)
{
  return indices->dtype == SL_DTYPE_I32 ? ((const gint32 *) data)[i] : ((const gint64 *) data)[i];
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *data = sl_node_input (graph, node, 0), *indices = sl_node_input (graph, node, 1);
  if (!sl_node_check_copy (graph, node, 0, 0, error) || !sl_node_check_dtype (node, "indices", indices, SL_DTYPES_INDEX, error))
    return FALSE;
  if (node->op == SL_OP_GATHER_ND) {
    if (indices->rank >= 1 && indices->dims[indices->rank - 1] <= (gint32) data->rank)
      return TRUE;
    g_autofree char *text_a = sl_tensor_describe (data), *text_b = sl_tensor_describe (indices);
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "indices %s do not address %s; expected at most %u coordinates in the last dimension", text_b, text_a,
                          data->rank);
  }
  const gint32 batch = node->params.axis.batch_dims;
  if (!sl_node_axis (node, &node->params.axis.axis, data->rank, error))
    return FALSE;
  gboolean fits = batch >= 0 && batch <= node->params.axis.axis && batch <= (gint32) indices->rank;
  for (gint32 i = 0; fits && i < batch; i++)
    fits = data->dims[i] == indices->dims[i];
  return fits
         || sl_node_error (error, node, SL_ERROR_SHAPE, "batch_dims is %d; expected 0 up to the axis, %d, and equal dimensions", batch,
                           node->params.axis.axis);
}

static gboolean
check_constant (const SlNode *node, const SlTensor *data, const SlTensor *indices, guint first, guint n, GError **error)
{
  gsize count = 0;
  if (indices->data == NULL)
    return TRUE;
  sl_tensor_elements (indices, &count);
  for (gsize i = 0; i < count; i++) {
    const gint64 index = index_at (indices, indices->data, i);
    const gint32 dim = data->dims[first + i % n];
    if (index < 0 || index >= dim)
      return sl_node_error (error, node, SL_ERROR_FORMAT, "index %" G_GINT64_FORMAT " is outside 0..%d", index, dim - 1);
  }
  return TRUE;
}

static gboolean
gather_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *data = sl_node_input (graph, node, 0), *indices = sl_node_input (graph, node, 1);
  const guint axis = (guint) node->params.axis.axis, batch = (guint) node->params.axis.batch_dims;
  gint32 dims[2 * SL_MAX_RANK];
  guint rank = 0;
  for (guint i = 0; i < axis; i++)
    dims[rank++] = data->dims[i];
  for (guint i = batch; i < indices->rank; i++)
    dims[rank++] = indices->dims[i];
  for (guint i = axis + 1; i < data->rank; i++)
    dims[rank++] = data->dims[i];
  return check_constant (node, data, indices, axis, 1, error) && sl_node_set_shape (graph, node, 0, rank, dims, error);
}

static gboolean
gather_nd_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *data = sl_node_input (graph, node, 0), *indices = sl_node_input (graph, node, 1);
  const guint n = (guint) indices->dims[indices->rank - 1];
  gint32 dims[2 * SL_MAX_RANK];
  guint rank = 0;
  for (guint i = 0; i + 1 < indices->rank; i++)
    dims[rank++] = indices->dims[i];
  for (guint i = n; i < data->rank; i++)
    dims[rank++] = data->dims[i];
  return check_constant (node, data, indices, 0, n, error) && sl_node_set_shape (graph, node, 0, rank, dims, error);
}

const SlOp sl_op_gather = {
  .type = SL_OP_GATHER,
  .name = "GATHER",
  .min_inputs = 2,
  .max_inputs = 2,
  .required = 2,
  .n_outputs = 1,
  .check = check,
  .infer = gather_infer,
  .run = sl_kernel_gather,
};

const SlOp sl_op_gather_nd = {
  .type = SL_OP_GATHER_ND,
  .name = "GATHER_ND",
  .min_inputs = 2,
  .max_inputs = 2,
  .required = 2,
  .n_outputs = 1,
  .check = check,
  .infer = gather_nd_infer,
  .run = sl_kernel_gather_nd,
};
