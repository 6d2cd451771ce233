/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* QUANTIZE (float or codes to codes), DEQUANTIZE (codes or float16 to float) and CAST. */
#include "core/kernels/kernels.h"
#include "core/ops/ops.h"

#define CODES (SL_DTYPES_8BIT | SL_DTYPE_BIT (SL_DTYPE_I16))
#define CAST_TO (SL_DTYPES_ANY & ~SL_DTYPE_BIT (SL_DTYPE_F16))

static gboolean
quantize_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  return sl_node_check_dtype (node, "input", input, CODES | SL_DTYPE_BIT (SL_DTYPE_F32), error)
         && sl_node_check_dtype (node, "output", output, CODES, error) && sl_node_check_quant (node, "input", input, error)
         && sl_node_check_quant (node, "output", output, error);
}

/* Constants may be scaled along an axis; what is computed may not. */
static gboolean
dequantize_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  if (!sl_node_check_dtype (node, "input", input, CODES | SL_DTYPE_BIT (SL_DTYPE_F16), error)
      || !sl_node_check_dtype (node, "output", output, SL_DTYPE_BIT (SL_DTYPE_F32), error))
    return FALSE;
  const SlQuant *quant = &input->quant;
  if (input->data != NULL && quant->count > 1 && quant->axis >= 0 && quant->axis < (gint) input->rank
      && quant->count == (guint) input->dims[quant->axis])
    return TRUE;
  return sl_node_check_quant (node, "input", input, error);
}

static gboolean
cast_check (SlGraph *graph, SlNode *node, GError **error)
{
  return sl_node_check_dtype (node, "input", sl_node_input (graph, node, 0), SL_DTYPES_ANY, error)
         && sl_node_check_dtype (node, "output", sl_node_output (graph, node, 0), CAST_TO, error);
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

const SlOp sl_op_cast = {
  .type = SL_OP_CAST,
  .name = "CAST",
  .min_inputs = 1,
  .max_inputs = 1,
  .required = 1,
  .n_outputs = 1,
  .check = cast_check,
  .infer = sl_node_same_shape_infer,
  .run = sl_kernel_cast,
};
