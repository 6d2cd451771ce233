/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that ONNX files alone have, one row each; those that formats share are in
 * models/lower/table.c. */
#include <string.h>

#include "models/onnx/ops.h"

/* Sorted by name. */
static const LowerOp rows[] = {
  { LOWER_ROW (BitShift, onnx_bit_shift), 0 },
  { LOWER_ROW (BitwiseAnd, onnx_bitwise), SL_OP_BITWISE_AND },
  { LOWER_ROW (BitwiseNot, onnx_bitwise_not), 0 },
  { LOWER_ROW (BitwiseOr, onnx_bitwise), SL_OP_BITWISE_OR },
  { LOWER_ROW (BitwiseXor, onnx_bitwise), SL_OP_BITWISE_XOR },
  { LOWER_ROW (BlackmanWindow, onnx_window), 0 },
  { LOWER_ROW (Cast, onnx_cast_op), 0 },
  { LOWER_ROW (CastLike, onnx_cast_like), 0 },
  { LOWER_ROW (Col2Im, onnx_col_to_image), 0 },
  { LOWER_ROW (ConcatFromSequence, onnx_concat_from_sequence), 0 },
  { LOWER_ROW (Constant, onnx_constant_op), 0 },
  { LOWER_ROW (ConstantOfShape, onnx_constant_of_shape), 0 },
  { LOWER_ROW (ConvInteger, onnx_conv_integer), 0 },
  { LOWER_ROW (DFT, onnx_dft), 0 },
  { LOWER_ROW (DequantizeLinear, onnx_dequantize_linear), 0 },
  { LOWER_ROW (DynamicQuantizeLinear, onnx_dynamic_quantize), 0 },
  { LOWER_ROW (EyeLike, onnx_eye_like), 0 },
  { LOWER_ROW (HammingWindow, onnx_window), 0 },
  { LOWER_ROW (HannWindow, onnx_window), 0 },
  { LOWER_ROW (If, onnx_if), 0 },
  { LOWER_ROW (Loop, onnx_loop), 0 },
  { LOWER_ROW (MatMulInteger, onnx_mat_mul_integer), 0 },
  { LOWER_ROW (MaxUnpool, onnx_max_unpool), 0 },
  { LOWER_ROW (MelWeightMatrix, onnx_mel_weights), 0 },
  { LOWER_ROW (Optional, onnx_optional_of), 0 },
  { LOWER_ROW (OptionalGetElement, onnx_optional_get), 0 },
  { LOWER_ROW (OptionalHasElement, onnx_optional_has), 0 },
  { LOWER_ROW (QLinearConv, onnx_qlinear_conv), 0 },
  { LOWER_ROW (QLinearMatMul, onnx_qlinear_mat_mul), 0 },
  { LOWER_ROW (QuantizeLinear, onnx_quantize_linear), 0 },
  { LOWER_ROW (STFT, onnx_stft), 0 },
  { LOWER_ROW (Scan, onnx_scan), 0 },
  { LOWER_ROW (SequenceAt, onnx_sequence_at), 0 },
  { LOWER_ROW (SequenceConstruct, onnx_sequence_construct), 0 },
  { LOWER_ROW (SequenceEmpty, onnx_sequence_empty), 0 },
  { LOWER_ROW (SequenceErase, onnx_sequence_erase), 0 },
  { LOWER_ROW (SequenceInsert, onnx_sequence_insert), 0 },
  { LOWER_ROW (SequenceLength, onnx_sequence_length), 0 },
  { LOWER_ROW (SequenceMap, onnx_sequence_map), 0 },
  { LOWER_ROW (SplitToSequence, onnx_split_to_sequence), 0 },
};

/* Of ONNX Runtime's own domain: what its quantiser writes. Sorted by name. */
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
};

const LowerOp *
onnx_op_find (const char *domain, const char *op)
{
  if (strcmp (domain, "com.microsoft") == 0)
    return lower_row (microsoft, G_N_ELEMENTS (microsoft), op);
  if (domain[0] != '\0')
    return NULL;
  const LowerOp *row = lower_row (rows, G_N_ELEMENTS (rows), op);
  return row != NULL ? row : lower_find_op (op);
}
