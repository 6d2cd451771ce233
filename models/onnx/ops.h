/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converters of the operators that ONNX files alone have, one line for each; table.c says which
 * operator each is for. */
#pragma once

#include "models/lower/ops.h"
#include "models/onnx/reader.h"

/* run.c */
/** onnx_run_inner: runs an inner graph with @inputs; the values of its outputs in @outputs. */
gboolean onnx_run_inner (Lower *o, const OnnxGraph *graph, LowerValue *const *inputs,
                         guint n_inputs, LowerValue **outputs, guint n_outputs);

/* ops_control.c */
void onnx_if (Lower *o);
void onnx_loop (Lower *o);
void onnx_scan (Lower *o);
void onnx_sequence_map (Lower *o);
void onnx_optional_of (Lower *o);
void onnx_optional_has (Lower *o);
void onnx_optional_get (Lower *o);

/* two_stage.c */
/** onnx_loop_of_objects: whether the loop with @body is one of torchvision's over what was found;
 * then its outputs are set, or the error. */
gboolean onnx_loop_of_objects (Lower *o, const OnnxGraph *body);

/* ops_bits.c */
void onnx_bitwise (Lower *o);
void onnx_bitwise_not (Lower *o);
void onnx_bit_shift (Lower *o);

/* ops_unpool.c */
void onnx_col_to_image (Lower *o);
void onnx_max_unpool (Lower *o);

/* ops_list.c */
/** onnx_list_new: (nullable): a sequence of @n items, to be filled. */
LowerValue *onnx_list_new (Lower *o, guint n);
void onnx_sequence_construct (Lower *o);
void onnx_sequence_empty (Lower *o);
void onnx_sequence_insert (Lower *o);
void onnx_sequence_erase (Lower *o);
void onnx_sequence_at (Lower *o);
void onnx_sequence_length (Lower *o);
void onnx_concat_from_sequence (Lower *o);
void onnx_split_to_sequence (Lower *o);

/* ops_codes.c */
/** onnx_code_range: what codes of OnnxType @type may be; FALSE for other types. */
gboolean onnx_code_range (guint type, gfloat *low, gfloat *high);
/** onnx_quantize_real, onnx_dequantize_real: the node, with codes as whole numbers in float
 * tensors. */
void onnx_quantize_real (Lower *o, guint type);
void onnx_dequantize_real (Lower *o);
void onnx_mat_mul_few_bits (Lower *o);
void onnx_qgemm (Lower *o);
/** onnx_qlinear_product: QLinearMatMul of matrices that are both computed, or of more than 2
 * dimensions. */
void onnx_qlinear_product (Lower *o);
void onnx_qlinear_softmax (Lower *o);

/* ops_signal.c */
void onnx_dft (Lower *o);
void onnx_stft (Lower *o);
void onnx_window (Lower *o);
void onnx_mel_weights (Lower *o);

/* ops_fused.c */
void onnx_fused_conv (Lower *o);
void onnx_fused_gemm (Lower *o);
void onnx_fused_mat_mul (Lower *o);
void onnx_bias_gelu (Lower *o);
void onnx_fast_gelu (Lower *o);
void onnx_quick_gelu (Lower *o);
void onnx_skip_layer_norm (Lower *o);
void onnx_skip_rms_norm (Lower *o);

/* ops_quant.c */
/** onnx_output_tensor: @value as an output of the model of type @declared: codes as the file has
 * them. */
gint32 onnx_output_tensor (Lower *o, LowerValue *value, SlDtype declared);
void onnx_quantize_linear (Lower *o);
void onnx_dequantize_linear (Lower *o);
void onnx_qlinear_conv (Lower *o);
void onnx_qlinear_mat_mul (Lower *o);
void onnx_qlinear_binary (Lower *o);
void onnx_qlinear_unary (Lower *o);
void onnx_qlinear_concat (Lower *o);
void onnx_qlinear_pool (Lower *o);
void onnx_dynamic_quantize (Lower *o);
void onnx_conv_integer (Lower *o);
void onnx_mat_mul_integer (Lower *o);
void onnx_mat_mul_integer_to_float (Lower *o);
void onnx_dynamic_quantize_mat_mul (Lower *o);

/* ops_types.c */
void onnx_cast_op (Lower *o);
void onnx_cast_like (Lower *o);
void onnx_constant_op (Lower *o);
void onnx_constant_of_shape (Lower *o);
void onnx_eye_like (Lower *o);
