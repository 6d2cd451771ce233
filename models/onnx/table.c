/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the row of an operator of an ONNX file: among those that such files alone have, and among
 * those that formats share. */
#include <string.h>

#include "models/onnx/ops.h"

/* Of ONNX Runtime's own domain: what its quantiser writes. */
static const LowerOp microsoft[] = {
  { LOWER_ROW (Attention, lower_packed_attention), 0 },
  { LOWER_ROW (BiasGelu, onnx_bias_gelu), 0 },
  { LOWER_ROW (DequantizeLinear, onnx_dequantize_linear), 0 },
  { LOWER_ROW (DynamicQuantizeMatMul, onnx_dynamic_quantize_mat_mul), 0 },
  { LOWER_ROW (FastGelu, onnx_fast_gelu), 0 },
  { LOWER_ROW (FusedConv, onnx_fused_conv), 0 },
  { LOWER_ROW (FusedGemm, onnx_fused_gemm), 0 },
  { LOWER_ROW (FusedMatMul, onnx_fused_mat_mul), 0 },
  { LOWER_EACH (Gelu, lower_gelu) },
  { LOWER_ROW (GridSample, lower_grid_sample), 0 },
  { LOWER_ROW (LayerNormalization, lower_layer_norm), 0 },
  { LOWER_ROW (MatMulIntegerToFloat, onnx_mat_mul_integer_to_float), 0 },
  { LOWER_ROW (MatMulNBits, onnx_mat_mul_few_bits), 0 },
  { LOWER_ROW (MultiHeadAttention, lower_multi_head_attention), 0 },
  { LOWER_ROW (QGemm, onnx_qgemm), 0 },
  { LOWER_ROW (QLinearAdd, onnx_qlinear_binary), SL_OP_ADD },
  { LOWER_ROW (QLinearAveragePool, onnx_qlinear_pool), SL_OP_AVERAGE_POOL_2D },
  { LOWER_ROW (QLinearConcat, onnx_qlinear_concat), 0 },
  { LOWER_ROW (QLinearGlobalAveragePool, onnx_qlinear_pool), SL_OP_MEAN },
  { LOWER_ROW (QLinearLeakyRelu, onnx_qlinear_unary), SL_OP_LEAKY_RELU },
  { LOWER_ROW (QLinearMul, onnx_qlinear_binary), SL_OP_MUL },
  { LOWER_ROW (QLinearSigmoid, onnx_qlinear_unary), SL_OP_LOGISTIC },
  { LOWER_ROW (QLinearSoftmax, onnx_qlinear_softmax), 0 },
  { LOWER_ROW (QuantizeLinear, onnx_quantize_linear), 0 },
  { LOWER_ROW (QuickGelu, onnx_quick_gelu), 0 },
  { LOWER_ROW (RotaryEmbedding, lower_rotary_embedding), 0 },
  { LOWER_ROW (SimplifiedLayerNormalization, lower_rms_norm), 0 },
  { LOWER_ROW (SkipLayerNormalization, onnx_skip_layer_norm), 0 },
  { LOWER_ROW (SkipSimplifiedLayerNormalization, onnx_skip_rms_norm), 0 },
  { NULL },
};

const LowerOp *
onnx_op_find (const char *domain, const char *op)
{
  static const LowerOp *const tables[] = { onnx_ops_bits,   onnx_ops_control,
                                           onnx_ops_list,   onnx_ops_quant,
                                           onnx_ops_signal, onnx_ops_types,
                                           onnx_ops_unpool, NULL },
                              *const others[] = { microsoft, NULL };
  static gsize index, other_index;
  if (strcmp (domain, "com.microsoft") == 0)
    return lower_row (&other_index, others, op);
  if (domain[0] != '\0')
    return NULL;
  const LowerOp *row = lower_row (&index, tables, op);
  return row != NULL ? row : lower_find_op (op);
}
