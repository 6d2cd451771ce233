/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SOFTMAX, LOG_SOFTMAX and L2_NORMALIZATION over the last dimension. */
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const guint32 int16 = node->op == SL_OP_SOFTMAX ? SL_DTYPE_BIT (SL_DTYPE_I16) : 0;
  if (!sl_node_check_typed (graph, node, 1, SL_DTYPES_ACTIVATION | int16, error))
    return FALSE;
  if (sl_node_input (graph, node, 0)->rank < 1)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "input is a scalar; expected at least one dimension");
  if (node->op == SL_OP_SOFTMAX && !isfinite (node->params.softmax.beta))
    return sl_node_error (error, node, SL_ERROR_FORMAT, "beta is not a finite number");
  return TRUE;
}

const SlOp sl_op_softmax = { SL_OP_ROW (SOFTMAX, 1, 1, 1, check, sl_node_same_shape_infer,
                                        sl_kernel_softmax_prepare, sl_kernel_softmax) };

const SlOp sl_op_log_softmax = { SL_OP_ROW (LOG_SOFTMAX, 1, 1, 1, check, sl_node_same_shape_infer,
                                            NULL, sl_kernel_softmax) };

const SlOp sl_op_l2_normalization = { SL_OP_ROW (
  L2_NORMALIZATION, 1, 1, 1, check, sl_node_same_shape_infer, NULL, sl_kernel_softmax) };
