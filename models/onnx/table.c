/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that ONNX files alone have, one row each; those that formats share are in models/lower/table.c. */
#include <string.h>

#include "models/onnx/ops.h"

/* Sorted by name. */
static const OnnxOp rows[] = {
  { ONNX_ROW (BitShift, onnx_bit_shift), 0 },
  { ONNX_ROW (BitwiseAnd, onnx_bitwise), SL_OP_BITWISE_AND },
  { ONNX_ROW (BitwiseNot, onnx_bitwise_not), 0 },
  { ONNX_ROW (BitwiseOr, onnx_bitwise), SL_OP_BITWISE_OR },
  { ONNX_ROW (BitwiseXor, onnx_bitwise), SL_OP_BITWISE_XOR },
  { ONNX_ROW (BlackmanWindow, onnx_window), 0 },
  { ONNX_ROW (Cast, onnx_cast_op), 0 },
  { ONNX_ROW (CastLike, onnx_cast_like), 0 },
  { ONNX_ROW (Col2Im, onnx_col_to_image), 0 },
  { ONNX_ROW (ConcatFromSequence, onnx_concat_from_sequence), 0 },
  { ONNX_ROW (Constant, onnx_constant_op), 0 },
  { ONNX_ROW (ConstantOfShape, onnx_constant_of_shape), 0 },
  { ONNX_ROW (ConvInteger, onnx_conv_integer), 0 },
  { ONNX_ROW (DFT, onnx_dft), 0 },
  { ONNX_ROW (DequantizeLinear, onnx_dequantize_linear), 0 },
  { ONNX_ROW (DynamicQuantizeLinear, onnx_dynamic_quantize), 0 },
  { ONNX_ROW (EyeLike, onnx_eye_like), 0 },
  { ONNX_ROW (HammingWindow, onnx_window), 0 },
  { ONNX_ROW (HannWindow, onnx_window), 0 },
  { ONNX_ROW (If, onnx_if), 0 },
  { ONNX_ROW (Loop, onnx_loop), 0 },
  { ONNX_ROW (MatMulInteger, onnx_mat_mul_integer), 0 },
  { ONNX_ROW (MaxUnpool, onnx_max_unpool), 0 },
  { ONNX_ROW (MelWeightMatrix, onnx_mel_weights), 0 },
  { ONNX_ROW (Optional, onnx_optional_of), 0 },
  { ONNX_ROW (OptionalGetElement, onnx_optional_get), 0 },
  { ONNX_ROW (OptionalHasElement, onnx_optional_has), 0 },
  { ONNX_ROW (QLinearConv, onnx_qlinear_conv), 0 },
  { ONNX_ROW (QLinearMatMul, onnx_qlinear_mat_mul), 0 },
  { ONNX_ROW (QuantizeLinear, onnx_quantize_linear), 0 },
  { ONNX_ROW (STFT, onnx_stft), 0 },
  { ONNX_ROW (Scan, onnx_scan), 0 },
  { ONNX_ROW (SequenceAt, onnx_sequence_at), 0 },
  { ONNX_ROW (SequenceConstruct, onnx_sequence_construct), 0 },
  { ONNX_ROW (SequenceEmpty, onnx_sequence_empty), 0 },
  { ONNX_ROW (SequenceErase, onnx_sequence_erase), 0 },
  { ONNX_ROW (SequenceInsert, onnx_sequence_insert), 0 },
  { ONNX_ROW (SequenceLength, onnx_sequence_length), 0 },
  { ONNX_ROW (SequenceMap, onnx_sequence_map), 0 },
  { ONNX_ROW (SplitToSequence, onnx_split_to_sequence), 0 },
};

/* Of ONNX Runtime's own domain: what its quantiser writes. Sorted by name. */
static const OnnxOp microsoft[] = {
  { ONNX_ROW (Attention, onnx_packed_attention), 0 },
  { ONNX_ROW (BiasGelu, onnx_bias_gelu), 0 },
  { ONNX_ROW (DequantizeLinear, onnx_dequantize_linear), 0 },
  { ONNX_ROW (DynamicQuantizeMatMul, onnx_dynamic_quantize_mat_mul), 0 },
  { ONNX_ROW (FastGelu, onnx_fast_gelu), 0 },
  { ONNX_ROW (FusedConv, onnx_fused_conv), 0 },
  { ONNX_ROW (FusedGemm, onnx_fused_gemm), 0 },
  { ONNX_ROW (FusedMatMul, onnx_fused_mat_mul), 0 },
  { ONNX_ROW (Gelu, onnx_gelu), 0 },
  { ONNX_ROW (GridSample, onnx_grid_sample), 0 },
  { ONNX_ROW (LayerNormalization, onnx_layer_norm), 0 },
  { ONNX_ROW (MatMulIntegerToFloat, onnx_mat_mul_integer_to_float), 0 },
  { ONNX_ROW (MatMulNBits, onnx_mat_mul_few_bits), 0 },
  { ONNX_ROW (MultiHeadAttention, onnx_multi_head_attention), 0 },
  { ONNX_ROW (QGemm, onnx_qgemm), 0 },
  { ONNX_ROW (QLinearAdd, onnx_qlinear_binary), SL_OP_ADD },
  { ONNX_ROW (QLinearAveragePool, onnx_qlinear_pool), SL_OP_AVERAGE_POOL_2D },
  { ONNX_ROW (QLinearConcat, onnx_qlinear_concat), 0 },
  { ONNX_ROW (QLinearGlobalAveragePool, onnx_qlinear_pool), SL_OP_MEAN },
  { ONNX_ROW (QLinearLeakyRelu, onnx_qlinear_unary), SL_OP_LEAKY_RELU },
  { ONNX_ROW (QLinearMul, onnx_qlinear_binary), SL_OP_MUL },
  { ONNX_ROW (QLinearSigmoid, onnx_qlinear_unary), SL_OP_LOGISTIC },
  { ONNX_ROW (QLinearSoftmax, onnx_qlinear_softmax), 0 },
  { ONNX_ROW (QuantizeLinear, onnx_quantize_linear), 0 },
  { ONNX_ROW (QuickGelu, onnx_quick_gelu), 0 },
  { ONNX_ROW (RotaryEmbedding, onnx_rotary_embedding), 0 },
  { ONNX_ROW (SimplifiedLayerNormalization, onnx_rms_norm), 0 },
  { ONNX_ROW (SkipLayerNormalization, onnx_skip_layer_norm), 0 },
  { ONNX_ROW (SkipSimplifiedLayerNormalization, onnx_skip_rms_norm), 0 },
};

const OnnxOp *
onnx_op_find (const char *domain, const char *op)
{
  if (strcmp (domain, "com.microsoft") == 0)
    return onnx_row (microsoft, G_N_ELEMENTS (microsoft), op);
  if (domain[0] != '\0')
    return NULL;
  const OnnxOp *row = onnx_row (rows, G_N_ELEMENTS (rows), op);
  return row != NULL ? row : onnx_shared_op (op);
}
