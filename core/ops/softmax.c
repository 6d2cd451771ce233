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
    return sl_node_error (error, node, SL_ERROR_SHAPE, "input is a scalar; expected at least one dimension");
  if (node->op == SL_OP_SOFTMAX && !isfinite (node->params.softmax.beta))
    return sl_node_error (error, node, SL_ERROR_FORMAT, "beta is not a finite number");
  return TRUE;
}

const SlOp sl_op_softmax = {
  .type = SL_OP_SOFTMAX,
  .name = "SOFTMAX",
  .min_inputs = 1,
  .max_inputs = 1,
  .required = 1,
  .n_outputs = 1,
  .check = check,
  .infer = sl_node_same_shape_infer,
  .prepare = sl_kernel_softmax_prepare,
  .run = sl_kernel_softmax,
};

const SlOp sl_op_log_softmax = {
  .type = SL_OP_LOG_SOFTMAX,
  .name = "LOG_SOFTMAX",
  .min_inputs = 1,
  .max_inputs = 1,
  .required = 1,
  .n_outputs = 1,
  .check = check,
  .infer = sl_node_same_shape_infer,
  .run = sl_kernel_softmax,
};

const SlOp sl_op_l2_normalization = {
  .type = SL_OP_L2_NORMALIZATION,
  .name = "L2_NORMALIZATION",
  .min_inputs = 1,
  .max_inputs = 1,
  .required = 1,
  .n_outputs = 1,
  .check = check,
  .infer = sl_node_same_shape_infer,
  .run = sl_kernel_softmax,
};
