/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that ONNX files alone have. Each file ops_*.c ends with the rows of its own; table.c
 * has those of ONNX Runtime's domain, whose converters are declared here. */
#pragma once

#include "models/lower/ops.h"
#include "models/onnx/reader.h"

/** Rows, each table ending in one without a name. */
extern const LowerOp onnx_ops_bits[], onnx_ops_control[], onnx_ops_list[], onnx_ops_quant[],
  onnx_ops_signal[], onnx_ops_types[], onnx_ops_unpool[];

/* run.c */
/** onnx_run_inner: runs an inner graph with @inputs; the values of its outputs in @outputs. */
gboolean onnx_run_inner (Lower *o, const OnnxGraph *graph, LowerValue *const *inputs,
                         guint n_inputs, LowerValue **outputs, guint n_outputs);

/* two_stage.c */
/** onnx_loop_of_objects: whether the loop with @body is one of torchvision's over what was found;
 * then its outputs are set, or the error. */
gboolean onnx_loop_of_objects (Lower *o, const OnnxGraph *body);

/* ops_list.c */
/** onnx_list_new: (nullable): a sequence of @n items, to be filled. */
LowerValue *onnx_list_new (Lower *o, guint n);

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
void onnx_qlinear_binary (Lower *o);
void onnx_qlinear_unary (Lower *o);
void onnx_qlinear_concat (Lower *o);
void onnx_qlinear_pool (Lower *o);
void onnx_mat_mul_integer_to_float (Lower *o);
void onnx_dynamic_quantize_mat_mul (Lower *o);
