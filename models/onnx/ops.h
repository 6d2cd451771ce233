/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converters of the operators that ONNX files alone have, one line for each; table.c says which operator each is for. */
#ifndef SL_MODELS_ONNX_OPS_H
#define SL_MODELS_ONNX_OPS_H

#include "models/lower/ops.h"
#include "models/onnx/onnx.h"

G_BEGIN_DECLS

/* run.c */
/** onnx_run_inner: runs an inner graph with @inputs; the values of its outputs in @outputs. */
gboolean onnx_run_inner (Onnx *o, const OnnxGraph *graph, OnnxValue *const *inputs, guint n_inputs, OnnxValue **outputs, guint n_outputs);

/* ops_control.c */
void onnx_if (Onnx *o);
void onnx_loop (Onnx *o);
void onnx_scan (Onnx *o);
void onnx_sequence_map (Onnx *o);
void onnx_optional_of (Onnx *o);
void onnx_optional_has (Onnx *o);
void onnx_optional_get (Onnx *o);

/* two_stage.c */
/** onnx_loop_of_objects: whether the loop with @body is one of torchvision's over what was found; then its outputs are set, or the error. */
gboolean onnx_loop_of_objects (Onnx *o, const OnnxGraph *body);

/* ops_bits.c */
void onnx_bitwise (Onnx *o);
void onnx_bitwise_not (Onnx *o);
void onnx_bit_shift (Onnx *o);

/* ops_unpool.c */
void onnx_col_to_image (Onnx *o);
void onnx_max_unpool (Onnx *o);

/* ops_list.c */
/** onnx_list_new: (nullable): a sequence of @n items, to be filled. */
OnnxValue *onnx_list_new (Onnx *o, guint n);
void onnx_sequence_construct (Onnx *o);
void onnx_sequence_empty (Onnx *o);
void onnx_sequence_insert (Onnx *o);
void onnx_sequence_erase (Onnx *o);
void onnx_sequence_at (Onnx *o);
void onnx_sequence_length (Onnx *o);
void onnx_concat_from_sequence (Onnx *o);
void onnx_split_to_sequence (Onnx *o);

/* ops_codes.c */
/** onnx_code_range: what codes of OnnxType @type may be; FALSE for other types. */
gboolean onnx_code_range (guint type, gfloat *low, gfloat *high);
/** onnx_quantize_real, onnx_dequantize_real: the node, with codes as whole numbers in float tensors. */
void onnx_quantize_real (Onnx *o, guint type);
void onnx_dequantize_real (Onnx *o);
void onnx_mat_mul_few_bits (Onnx *o);
void onnx_qgemm (Onnx *o);
/** onnx_qlinear_product: QLinearMatMul of matrices that are both computed, or of more than 2 dimensions. */
void onnx_qlinear_product (Onnx *o);
void onnx_qlinear_softmax (Onnx *o);

/* ops_signal.c */
void onnx_dft (Onnx *o);
void onnx_stft (Onnx *o);
void onnx_window (Onnx *o);
void onnx_mel_weights (Onnx *o);

/* ops_fused.c */
void onnx_fused_conv (Onnx *o);
void onnx_fused_gemm (Onnx *o);
void onnx_fused_mat_mul (Onnx *o);
void onnx_bias_gelu (Onnx *o);
void onnx_fast_gelu (Onnx *o);
void onnx_quick_gelu (Onnx *o);
void onnx_skip_layer_norm (Onnx *o);
void onnx_skip_rms_norm (Onnx *o);

/* ops_quant.c */
/** onnx_output_tensor: @value as an output of the model of type @declared: codes as the file has them. */
gint32 onnx_output_tensor (Onnx *o, OnnxValue *value, SlDtype declared);
void onnx_quantize_linear (Onnx *o);
void onnx_dequantize_linear (Onnx *o);
void onnx_qlinear_conv (Onnx *o);
void onnx_qlinear_mat_mul (Onnx *o);
void onnx_qlinear_binary (Onnx *o);
void onnx_qlinear_unary (Onnx *o);
void onnx_qlinear_concat (Onnx *o);
void onnx_qlinear_pool (Onnx *o);
void onnx_dynamic_quantize (Onnx *o);
void onnx_conv_integer (Onnx *o);
void onnx_mat_mul_integer (Onnx *o);
void onnx_mat_mul_integer_to_float (Onnx *o);
void onnx_dynamic_quantize_mat_mul (Onnx *o);

/* ops_types.c */
void onnx_cast_op (Onnx *o);
void onnx_cast_like (Onnx *o);
void onnx_constant_op (Onnx *o);
void onnx_constant_of_shape (Onnx *o);
void onnx_eye_like (Onnx *o);

G_END_DECLS

#endif
