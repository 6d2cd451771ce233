/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GATHER (slices along an axis) and GATHER_ND (slices by coordinates), int32 or int64 indices.
 * Constant indices are checked when the graph is, unless they name open rows; computed ones are
 * limited to the tensor when they run, or stand for 0, so that nothing is read outside.
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

static gint64
index_at (const SlTensor *indices, const void *data, gsize i)
{
  return indices->dtype == SL_DTYPE_I32 ? ((const gint32 *) data)[i] : ((const gint64 *) data)[i];
}

static gboolean
same_batches (const SlTensor *data, const SlTensor *indices, gint32 batch_dims)
{
  gboolean same = batch_dims >= 0 && batch_dims <= (gint32) MIN (data->rank, indices->rank);
  for (gint32 i = 0; same && i < batch_dims; i++)
    same = data->dims[i] == indices->dims[i];
  return same;
}

static gboolean
check_coordinates (const SlNode *node, const SlTensor *data, const SlTensor *indices,
                   GError **error)
{
  const gint32 batch = node->params.axis.batch_dims;
  if (batch >= 0 && batch < (gint32) indices->rank && same_batches (data, indices, batch)
      && indices->dims[indices->rank - 1] <= (gint32) data->rank - batch)
    return TRUE;
  g_autofree char *a = sl_tensor_describe (data), *b = sl_tensor_describe (indices);
  if (batch != 0)
    return sl_node_error (
      error, node, SL_ERROR_SHAPE,
      "indices %s do not address %s with batch_dims %d; expected as many equal dimensions, then at "
      "most %d coordinates in the last dimension",
      b, a, batch, MAX ((gint32) data->rank - batch, 0));
  return sl_node_error (
    error, node, SL_ERROR_SHAPE,
    "indices %s do not address %s; expected at most %u coordinates in the last dimension", b, a,
    data->rank);
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *data = sl_node_input (graph, node, 0), *indices = sl_node_input (graph, node, 1);
  if (!sl_node_check_copy (graph, node, 0, 0, error)
      || !sl_node_check_dtype (node, "indices", indices, SL_DTYPES_INDEX, error))
    return FALSE;
  if (node->op == SL_OP_GATHER_ND)
    return check_coordinates (node, data, indices, error);
  const gint32 batch = node->params.axis.batch_dims;
  if (!sl_node_axis (node, &node->params.axis.axis, data->rank, error))
    return FALSE;
  return (batch <= node->params.axis.axis && same_batches (data, indices, batch))
         || sl_node_error (error, node, SL_ERROR_SHAPE,
                           "batch_dims is %d; expected 0 up to the axis, %d, and equal dimensions",
                           batch, node->params.axis.axis);
}

static gboolean
check_constant (const SlNode *node, const SlTensor *data, const SlTensor *indices, guint first,
                guint n, GError **error)
{
  const SlIndexing indexing = node->params.axis.indexing;
  gsize count = 0;
  if (indices->data == NULL || indexing == SL_INDEX_OPEN)
    return TRUE;
  sl_tensor_elements (indices, &count);
  for (gsize i = 0; i < count; i++) {
    const gint64 index = index_at (indices, indices->data, i);
    const gint32 dim = data->dims[first + i % n], least = indexing == SL_INDEX_FROM_END ? -dim : 0;
    if (index < least || index >= dim)
      return sl_node_error (error, node, SL_ERROR_FORMAT,
                            "index %" G_GINT64_FORMAT " is outside %d..%d", index, least, dim - 1);
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
  return check_constant (node, data, indices, axis, 1, error)
         && sl_node_set_shape (graph, node, 0, rank, dims, error);
}

static gboolean
gather_nd_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *data = sl_node_input (graph, node, 0), *indices = sl_node_input (graph, node, 1);
  const guint n = (guint) indices->dims[indices->rank - 1],
              batch = (guint) node->params.axis.batch_dims;
  gint32 dims[2 * SL_MAX_RANK];
  guint rank = 0;
  for (guint i = 0; i + 1 < indices->rank; i++)
    dims[rank++] = indices->dims[i];
  for (guint i = batch + n; i < data->rank; i++)
    dims[rank++] = data->dims[i];
  return check_constant (node, data, indices, batch, n, error)
         && sl_node_set_shape (graph, node, 0, rank, dims, error);
}

const SlOp sl_op_gather = { SL_OP_ROW (GATHER, 2, 2, 1, check, gather_infer, NULL,
                                       sl_kernel_gather) };

const SlOp sl_op_gather_nd = { SL_OP_ROW (GATHER_ND, 2, 2, 1, check, gather_nd_infer, NULL,
                                          sl_kernel_gather_nd) };
