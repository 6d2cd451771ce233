/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LOGISTIC, RELU and RELU6: elementwise, shape kept. */
#include "core/kernels/kernels.h"
#include "core/ops/ops.h"

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  return sl_node_check_activations (graph, node, 1, error);
}

const SlOp sl_op_logistic = {
  .type = SL_OP_LOGISTIC,
  .name = "LOGISTIC",
  .min_inputs = 1,
  .max_inputs = 1,
  .required = 1,
  .n_outputs = 1,
  .check = check,
  .infer = sl_node_same_shape_infer,
  .prepare = sl_kernel_logistic_prepare,
  .run = sl_kernel_logistic,
};

const SlOp sl_op_relu = {
  .type = SL_OP_RELU,
  .name = "RELU",
  .min_inputs = 1,
  .max_inputs = 1,
  .required = 1,
  .n_outputs = 1,
  .check = check,
  .infer = sl_node_same_shape_infer,
  .prepare = sl_kernel_relu_prepare,
  .run = sl_kernel_relu,
};

const SlOp sl_op_relu6 = {
  .type = SL_OP_RELU6,
  .name = "RELU6",
  .min_inputs = 1,
  .max_inputs = 1,
  .required = 1,
  .n_outputs = 1,
  .check = check,
  .infer = sl_node_same_shape_infer,
  .prepare = sl_kernel_relu_prepare,
  .run = sl_kernel_relu,
};
