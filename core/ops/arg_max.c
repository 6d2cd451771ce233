/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ARG_MAX and ARG_MIN along a constant axis, and TOPK_V2 along the last one with a constant k. */
#include <string.h>

#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

#define TYPES (SL_DTYPES_ACTIVATION | SL_DTYPE_BIT (SL_DTYPE_I16) | SL_DTYPE_BIT (SL_DTYPE_I32))

static gboolean
arg_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 axis = 0;
  return sl_node_check_dtype (node, "input", input, TYPES, error)
         && sl_node_check_dtype (node, "output", sl_node_output (graph, node, 0), SL_DTYPES_INDEX,
                                 error)
         && sl_node_constant_axis (graph, node, 1, &axis, input->rank, error);
}

static gboolean
arg_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 axis = 0, dims[SL_MAX_RANK];
  guint count = 0, rank = 0;
  sl_constant_ints (sl_node_input (graph, node, 1), &axis, 1, &count);
  axis += axis < 0 ? (gint32) input->rank : 0;
  for (guint i = 0; i < input->rank; i++)
    if ((gint32) i != axis)
      dims[rank++] = input->dims[i];
  return sl_node_set_shape (graph, node, 0, rank, dims, error);
}

static gboolean
topk_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 k = 0;
  guint count = 0;
  if (!sl_node_check_dtype (node, "input", input, TYPES, error)
      || !sl_node_check_copy (graph, node, 0, 0, error)
      || !sl_node_check_dtype (node, "indices", sl_node_output (graph, node, 1),
                               SL_DTYPE_BIT (SL_DTYPE_I32), error)
      || !sl_node_constant (graph, node, 1, "k", &k, 1, &count, error))
    return FALSE;
  if (input->rank < 1 || count != 1 || k < 1 || k > input->dims[input->rank - 1]) {
    g_autofree char *text = sl_tensor_describe (input);
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "k is %d for %s; expected 1 up to the last dimension", k, text);
  }
  return TRUE;
}

static gboolean
topk_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 dims[SL_MAX_RANK];
  guint count = 0;
  memcpy (dims, input->dims, sizeof dims);
  sl_constant_ints (sl_node_input (graph, node, 1), &dims[input->rank - 1], 1, &count);
  return sl_node_set_shape (graph, node, 0, input->rank, dims, error)
         && sl_node_set_shape (graph, node, 1, input->rank, dims, error);
}

const SlOp sl_op_arg_max = { SL_OP_ROW (ARG_MAX, 2, 2, 1, arg_check, arg_infer, NULL,
                                        sl_kernel_arg_max) };

const SlOp sl_op_arg_min = { SL_OP_ROW (ARG_MIN, 2, 2, 1, arg_check, arg_infer, NULL,
                                        sl_kernel_arg_max) };

const SlOp sl_op_topk_v2 = { SL_OP_ROW (TOPK_V2, 2, 2, 2, topk_check, topk_infer,
                                        sl_kernel_topk_prepare, sl_kernel_topk) };
