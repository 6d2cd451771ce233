/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converters of ONNX operators, one line for each; table.c says which operator each is for. */
#ifndef SL_MODELS_ONNX_OPS_H
#define SL_MODELS_ONNX_OPS_H

#include "models/onnx/build.h"

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

/* ops_elementwise.c */
void onnx_unary_op (Onnx *o);
void onnx_identity (Onnx *o);
void onnx_reciprocal (Onnx *o);
void onnx_softplus (Onnx *o);
void onnx_softsign (Onnx *o);
void onnx_tan (Onnx *o);
void onnx_swish (Onnx *o);
void onnx_gelu (Onnx *o);
void onnx_leaky_relu (Onnx *o);
void onnx_elu (Onnx *o);
void onnx_thresholded_relu (Onnx *o);
void onnx_shrink (Onnx *o);
void onnx_affine (Onnx *o);
void onnx_scaled_tanh (Onnx *o);
void onnx_parametric_softplus (Onnx *o);
void onnx_image_scaler (Onnx *o);
void onnx_hard_sigmoid (Onnx *o);
void onnx_clip (Onnx *o);
void onnx_cast_op (Onnx *o);
void onnx_cast_like (Onnx *o);
void onnx_binary_op (Onnx *o);
void onnx_compare (Onnx *o);
void onnx_xor (Onnx *o);
void onnx_is_nan (Onnx *o);
void onnx_is_inf (Onnx *o);
void onnx_mod (Onnx *o);
void onnx_pow (Onnx *o);
void onnx_variadic (Onnx *o);
void onnx_where (Onnx *o);
void onnx_prelu (Onnx *o);

/* ops_bits.c */
void onnx_bitwise (Onnx *o);
void onnx_bitwise_not (Onnx *o);
void onnx_bit_shift (Onnx *o);

/* ops_window.c */
void onnx_conv (Onnx *o);
void onnx_conv_transpose (Onnx *o);
void onnx_deform_conv (Onnx *o);
void onnx_pool (Onnx *o);
void onnx_global_pool (Onnx *o);
void onnx_global_lp_pool (Onnx *o);
/** onnx_conv_input, onnx_conv_filter: what a convolution reads: [batch, height, width, channels], and weights of 4 dimensions in ONNX's
 *  order. */
gint32 onnx_conv_input (Onnx *o, OnnxValue *x);
gint32 onnx_conv_filter (Onnx *o, OnnxValue *weights);
/** onnx_conv_weights: such weights as the core has them, and its operator for that many groups of @channels. */
gint32 onnx_conv_weights (Onnx *o, gint32 weights, gint64 group, gint32 channels, SlOpType *op);
/** onnx_conv_2d: the convolution by the node's attributes; @bias may be -1, and the result is a tensor like @result. */
gint32 onnx_conv_2d (Onnx *o, OnnxValue *x, gint32 input, gint32 weights, gint32 bias, const SlTensor *result);
/** onnx_conv_set: the node's output, in as many dimensions as its input @x has. */
void onnx_conv_set (Onnx *o, const OnnxValue *x, gint32 y);

/** onnx_pool_of, onnx_global_pool_of: the pool of the node's attributes over @x, channels last. */
gint32 onnx_pool_of (Onnx *o, OnnxValue *x);
gint32 onnx_global_pool_of (Onnx *o, OnnxValue *x);

/* ops_volume.c */
/** onnx_conv_volume, onnx_pool_volume: the node, whose input @x has three dimensions behind batch and channels. */
void onnx_conv_volume (Onnx *o, OnnxValue *x, OnnxValue *weights, OnnxValue *bias);
void onnx_pool_volume (Onnx *o, OnnxValue *x);

/* ops_unpool.c */
void onnx_col_to_image (Onnx *o);
void onnx_max_unpool (Onnx *o);

/* ops_shape.c */
void onnx_constant_op (Onnx *o);
void onnx_shape (Onnx *o);
void onnx_size (Onnx *o);
void onnx_reshape_op (Onnx *o);
void onnx_flatten (Onnx *o);
void onnx_squeeze (Onnx *o);
void onnx_unsqueeze (Onnx *o);
void onnx_transpose_op (Onnx *o);
void onnx_expand (Onnx *o);
void onnx_tile (Onnx *o);
void onnx_constant_of_shape (Onnx *o);
void onnx_eye_like (Onnx *o);
void onnx_range (Onnx *o);
void onnx_non_zero (Onnx *o);

/* ops_axis.c */
void onnx_concat (Onnx *o);
void onnx_split (Onnx *o);
void onnx_slice (Onnx *o);
void onnx_gather (Onnx *o);
void onnx_gather_nd (Onnx *o);
void onnx_compress (Onnx *o);
void onnx_pad_op (Onnx *o);
void onnx_center_crop_pad (Onnx *o);
void onnx_crop (Onnx *o);
void onnx_reduce_op (Onnx *o);
void onnx_arg (Onnx *o);
void onnx_top_k (Onnx *o);
void onnx_softmax (Onnx *o);
void onnx_cum_sum (Onnx *o);
void onnx_trilu (Onnx *o);
void onnx_depth_to_space (Onnx *o);

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

/* ops_matrix.c */
void onnx_gemm (Onnx *o);
void onnx_mat_mul (Onnx *o);
void onnx_batch_norm (Onnx *o);
void onnx_instance_norm (Onnx *o);
void onnx_mean_variance_norm (Onnx *o);
void onnx_group_norm (Onnx *o);
void onnx_layer_norm (Onnx *o);
void onnx_rms_norm (Onnx *o);
void onnx_lp_norm (Onnx *o);
void onnx_lrn (Onnx *o);
void onnx_einsum (Onnx *o);
void onnx_det (Onnx *o);
/** onnx_product: a product of matrices; constant ones of 2 dimensions become weights. */
gint32 onnx_product (Onnx *o, gint32 a, gint32 b);
/** onnx_layer: rows of @x times @weights, constant, one row an output; @bias may be -1. */
gint32 onnx_layer (Onnx *o, gint32 x, gint32 weights, gint32 bias);
/** onnx_swap_last: the last two dimensions exchanged. */
gint32 onnx_swap_last (Onnx *o, gint32 x);

/* ops_attention.c */

/**
 * OnnxAttention: softmax (scale q k' + mask) v
 * @q, @k, @v: tensors [...,rows,depth]; of 4 dimensions, heads of @q may be a multiple of those of @k and @v
 * @mask: -1, or what is added to scores [...,queries,keys], or truth values that say which keys count
 * @scale: 0 = one over the root of the depth
 * @softcap: above 0: scores become that times the hyperbolic tangent of scores divided by it
 * @causal: a query sees keys up to its own place, which is @past behind the first key
 */
typedef struct
{
  gint32 q, k, v, mask;
  gfloat scale, softcap;
  gboolean causal;
  gint32 past;
} OnnxAttention;

/** onnx_attend: all attention there is is built here. */
gint32 onnx_attend (Onnx *o, const OnnxAttention *attention);
/** onnx_truth_mask: 0 where @keep holds or is not 0, elsewhere @dropped. */
gint32 onnx_truth_mask (Onnx *o, gint32 keep, gfloat dropped);
void onnx_attention (Onnx *o);
void onnx_multi_head_attention (Onnx *o);
void onnx_packed_attention (Onnx *o);
void onnx_rotary_embedding (Onnx *o);

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
/** onnx_unsigned: int8 codes as the uint8 ones that they were. */
gint32 onnx_unsigned (Onnx *o, gint32 tensor);
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

/* ops_resize.c */
void onnx_resize (Onnx *o);

/* ops_elements.c */
void onnx_gather_elements (Onnx *o);
void onnx_scatter (Onnx *o);
void onnx_one_hot (Onnx *o);
void onnx_unique (Onnx *o);
void onnx_reverse_sequence (Onnx *o);

/* ops_recurrent.c */
void onnx_recurrent (Onnx *o);

/* ops_region.c */
void onnx_grid_sample (Onnx *o);
void onnx_affine_grid (Onnx *o);
void onnx_roi_align (Onnx *o);
void onnx_max_roi_pool (Onnx *o);
/** onnx_heat_map_peaks: (nullable): of maps [n,points,height,width] over regions [n,4]: [n,points,3] of x, y and the value there. */
OnnxValue *onnx_heat_map_peaks (Onnx *o, OnnxValue *maps, OnnxValue *regions);
void onnx_non_max_suppression (Onnx *o);

/** onnx_optional: input @i as a tensor; -1 where the node has none. */
gint32 onnx_optional (Onnx *o, guint i);

#endif
