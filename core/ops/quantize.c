/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* QUANTIZE (float or 8-bit to 8-bit) and DEQUANTIZE (8-bit to float). */
#include "core/kernels/kernels.h"
#include "core/ops/ops.h"

#define BITS8 (SL_DTYPE_BIT (SL_DTYPE_I8) | SL_DTYPE_BIT (SL_DTYPE_U8))

static gboolean
quantize_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  return sl_node_check_dtype (node, "input", input, SL_DTYPES_ACTIVATION, error)
         && sl_node_check_dtype (node, "output", output, BITS8, error) && sl_node_check_quant (node, "input", input, error)
         && sl_node_check_quant (node, "output", output, error);
}

static gboolean
dequantize_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  return sl_node_check_dtype (node, "input", input, BITS8, error)
         && sl_node_check_dtype (node, "output", output, SL_DTYPE_BIT (SL_DTYPE_F32), error)
         && sl_node_check_quant (node, "input", input, error);
}

const SlOp sl_op_quantize = {
  .type = SL_OP_QUANTIZE,
  .name = "QUANTIZE",
  .min_inputs = 1,
  .max_inputs = 1,
  .required = 1,
  .n_outputs = 1,
  .check = quantize_check,
  .infer = sl_node_same_shape_infer,
  .prepare = sl_kernel_quantize_prepare,
  .run = sl_kernel_quantize,
};

const SlOp sl_op_dequantize = {
  .type = SL_OP_DEQUANTIZE,
  .name = "DEQUANTIZE",
  .min_inputs = 1,
  .max_inputs = 1,
  .required = 1,
  .n_outputs = 1,
  .check = dequantize_check,
  .infer = sl_node_same_shape_infer,
  .run = sl_kernel_dequantize,
};
