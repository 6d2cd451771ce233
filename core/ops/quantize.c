/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* QUANTIZE (float or quantised to quantised), DEQUANTIZE (quantised or float16 to float) and CAST.
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

#define QUANTISED (SL_DTYPES_8BIT | SL_DTYPE_BIT (SL_DTYPE_I16))
#define QUANTISED_OR_I32 (QUANTISED | SL_DTYPE_BIT (SL_DTYPE_I32))

/* Numbers of 32 bits may stand for themselves elsewhere; here they need a scale. */
static gboolean
check_quantised (const SlNode *node, const char *role, const SlTensor *tensor, GError **error)
{
  if (tensor->dtype == SL_DTYPE_I32 && tensor->quant.count != 1)
    return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                          "%s '%s' is int32 with %u scales; expected one scale and zero point",
                          role, tensor->name, tensor->quant.count);
  return sl_node_check_quant (node, role, tensor, error);
}

static gboolean
quantize_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  const guint32 results = input->dtype == SL_DTYPE_F32 ? QUANTISED : QUANTISED_OR_I32;
  return sl_node_check_dtype (node, "input", input, QUANTISED_OR_I32 | SL_DTYPE_BIT (SL_DTYPE_F32),
                              error)
         && sl_node_check_dtype (node, "output", output, results, error)
         && check_quantised (node, "input", input, error)
         && check_quantised (node, "output", output, error);
}

/* Constants may be scaled along an axis; what is computed may not. */
static gboolean
dequantize_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  if (!sl_node_check_dtype (node, "input", input, QUANTISED | SL_DTYPE_BIT (SL_DTYPE_F16), error)
      || !sl_node_check_dtype (node, "output", output, SL_DTYPE_BIT (SL_DTYPE_F32), error))
    return FALSE;
  const SlQuant *quant = &input->quant;
  if (input->data != NULL && quant->count > 1 && quant->axis >= 0
      && quant->axis < (gint) input->rank && quant->count == (guint) input->dims[quant->axis])
    return TRUE;
  return sl_node_check_quant (node, "input", input, error);
}

static gboolean
cast_check (SlGraph *graph, SlNode *node, GError **error)
{
  return sl_node_check_dtype (node, "input", sl_node_input (graph, node, 0), SL_DTYPES_ANY, error)
         && sl_node_check_outputs (graph, node, SL_DTYPES_ANY, error);
}

const SlOp sl_op_quantize = { SL_OP_ROW (QUANTIZE, 1, 1, 1, quantize_check,
                                         sl_node_same_shape_infer, sl_kernel_quantize_prepare,
                                         sl_kernel_quantize) };

const SlOp sl_op_dequantize = { SL_OP_ROW (DEQUANTIZE, 1, 1, 1, dequantize_check,
                                           sl_node_same_shape_infer, NULL, sl_kernel_dequantize) };

const SlOp sl_op_cast = { SL_OP_ROW (CAST, 1, 1, 1, cast_check, sl_node_same_shape_infer, NULL,
                                     sl_kernel_cast) };
