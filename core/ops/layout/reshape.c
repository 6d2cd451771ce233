/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RESHAPE, SQUEEZE and EXPAND_DIMS: the same bytes under another shape, so views that never run. */
#include "core/ops/ops.h"

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  return sl_node_check_copy (graph, node, 0, 0, error);
}

/* The shape asked for: a constant second input, else the parameters, else what the file says of the
 * output. */
static gboolean
wanted_shape (const SlGraph *graph, const SlNode *node, gint32 *dims, guint *rank, GError **error)
{
  const SlTensor *shape = sl_node_input (graph, node, 1);
  if (shape != NULL) {
    if (sl_constant_ints (shape, dims, SL_MAX_RANK, rank))
      return TRUE;
    return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                          "the shape must be a constant of at most %d int32 or int64", SL_MAX_RANK);
  }
  *rank = node->params.reshape.count;
  for (guint i = 0; i < *rank; i++)
    dims[i] = node->params.reshape.dims[i];
  return TRUE;
}

static gboolean
reshape_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 dims[SL_MAX_RANK];
  guint rank = 0, open = SL_MAX_RANK;
  gsize elements = 0, known = 1;
  if (!wanted_shape (graph, node, dims, &rank, error))
    return FALSE;
  sl_tensor_elements (input, &elements);
  if (input->data == NULL && input->rank > 0)
    sl_graph_batch_shape (graph, elements, input->dims[0], dims, rank);
  for (guint i = 0; i < rank; i++) {
    if (dims[i] == -1 && open == SL_MAX_RANK)
      open = i;
    else if (dims[i] < 1 || !g_size_checked_mul (&known, known, (gsize) dims[i]))
      return sl_node_error (error, node, SL_ERROR_SHAPE, "dimension %u of the new shape is %d", i,
                            dims[i]);
  }
  if (open < SL_MAX_RANK && elements % known == 0 && elements / known <= G_MAXINT32) {
    dims[open] = (gint32) (elements / known);
    known = elements;
  }
  if (known != elements || (open < SL_MAX_RANK && dims[open] < 1)) {
    g_autofree char *text = sl_tensor_describe (input);
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "%s does not fit the new shape of %" G_GSIZE_FORMAT " elements", text,
                          known);
  }
  return sl_node_set_shape (graph, node, 0, rank, dims, error);
}

static gboolean
squeeze_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 dims[SL_MAX_RANK];
  guint rank = 0, dropped = 0;
  for (guint i = 0; i < node->params.squeeze.count; i++) {
    gint32 axis = node->params.squeeze.axes[i];
    axis += axis < 0 ? (gint32) input->rank : 0;
    if (axis < 0 || axis >= (gint32) input->rank || input->dims[axis] != 1)
      return sl_node_error (error, node, SL_ERROR_SHAPE, "axis %d cannot be dropped",
                            node->params.squeeze.axes[i]);
    dropped |= 1u << axis;
  }
  for (guint i = 0; i < input->rank; i++)
    if (node->params.squeeze.count == 0 ? input->dims[i] != 1 : !(dropped & (1u << i)))
      dims[rank++] = input->dims[i];
  return sl_node_set_shape (graph, node, 0, rank, dims, error);
}

static gboolean
expand_dims_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 axis = 0, dims[SL_MAX_RANK];
  guint count = 0;
  if (!sl_constant_ints (sl_node_input (graph, node, 1), &axis, 1, &count) || count != 1)
    return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                          "the axis must be a constant int32 or int64");
  const gint32 at = axis < 0 ? axis + (gint32) input->rank + 1 : axis;
  if (at < 0 || at > (gint32) input->rank || input->rank + 1 > SL_MAX_RANK)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "axis %d is outside a tensor of %u dimensions", axis, input->rank);
  for (guint i = 0; i <= input->rank; i++)
    dims[i] = i == (guint) at ? 1 : input->dims[i > (guint) at ? i - 1 : i];
  return sl_node_set_shape (graph, node, 0, input->rank + 1, dims, error);
}

const SlOp sl_op_reshape = { SL_OP_ROW (RESHAPE, 1, 2, 1, check, reshape_infer, NULL, NULL),
                             .is_view = TRUE };

const SlOp sl_op_squeeze = { SL_OP_ROW (SQUEEZE, 1, 1, 1, check, squeeze_infer, NULL, NULL),
                             .is_view = TRUE };

const SlOp sl_op_expand_dims = {
  SL_OP_ROW (EXPAND_DIMS, 2, 2, 1, check, expand_dims_infer, NULL, NULL), .is_view = TRUE
};
