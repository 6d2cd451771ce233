/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converters of the operators that several formats are lowered to, one line for each; table.c says
 * which operator each is for. */
#pragma once

#include "core/base/build_selection.h"
#include "models/lower/build.h"

/** LOWER_ROW: the first two members of a row; a build that leaves the operator out has no
 * converter. */
#define LOWER_ROW(name, convert) #name, SL_KEEPS(onnx, name) ? convert : NULL
/** LOWER_EACH: a row of an operator on each element: @function is what @x becomes. */
#define LOWER_EACH(name, function) \
  LOWER_ROW (name, lower_each), SL_OP_INVALID, SL_KEEPS (onnx, name) ? function : NULL

/* ops_elementwise.c */
void lower_each (Lower *o);
void lower_unary_op (Lower *o);
void lower_identity (Lower *o);
gint32 lower_reciprocal (Lower *o, gint32 x);
gint32 lower_softplus (Lower *o, gint32 x);
gint32 lower_softsign (Lower *o, gint32 x);
gint32 lower_tan (Lower *o, gint32 x);
gint32 lower_swish (Lower *o, gint32 x);
gint32 lower_gelu (Lower *o, gint32 x);
gint32 lower_leaky_relu (Lower *o, gint32 x);
gint32 lower_elu (Lower *o, gint32 x);
gint32 lower_thresholded_relu (Lower *o, gint32 x);
gint32 lower_shrink (Lower *o, gint32 x);
gint32 lower_affine (Lower *o, gint32 x);
gint32 lower_scaled_tanh (Lower *o, gint32 x);
gint32 lower_parametric_softplus (Lower *o, gint32 x);
void lower_image_scaler (Lower *o);
gint32 lower_hard_sigmoid (Lower *o, gint32 x);
gint32 lower_clip (Lower *o, gint32 x);
void lower_binary_op (Lower *o);
void lower_compare (Lower *o);
void lower_xor (Lower *o);
gint32 lower_is_nan (Lower *o, gint32 x);
gint32 lower_is_inf (Lower *o, gint32 x);
void lower_mod (Lower *o);
void lower_pow (Lower *o);
void lower_variadic (Lower *o);
void lower_where (Lower *o);
void lower_prelu (Lower *o);

/* ops_window.c */
void lower_conv (Lower *o);
void lower_conv_transpose (Lower *o);
void lower_deform_conv (Lower *o);
void lower_pool (Lower *o);
void lower_global_pool (Lower *o);
void lower_global_lp_pool (Lower *o);
/** lower_conv_input, lower_conv_filter: what a convolution reads: [batch, height, width, channels],
 * and weights of 4 dimensions in ONNX's order. */
gint32 lower_conv_input (Lower *o, LowerValue *x);
gint32 lower_conv_filter (Lower *o, LowerValue *weights);
/** lower_conv_weights: such weights as the core has them, and its operator for that many groups of
 * @channels. */
gint32 lower_conv_weights (Lower *o, gint32 weights, gint64 group, gint32 channels, SlOpType *op);
/** lower_conv_2d: the convolution by the node's attributes; @bias may be -1, and the result is a
 * tensor like @result. */
gint32 lower_conv_2d (Lower *o, LowerValue *x, gint32 input, gint32 weights, gint32 bias,
                      const SlTensor *result);
/** lower_conv_set: the node's output, in as many dimensions as its input @x has. */
void lower_conv_set (Lower *o, const LowerValue *x, gint32 y);

/** lower_pool_of, lower_global_pool_of: the pool of the node's attributes over @x, channels last.
 */
gint32 lower_pool_of (Lower *o, LowerValue *x);
gint32 lower_global_pool_of (Lower *o, LowerValue *x);

/* ops_volume.c */
/** lower_conv_volume, lower_pool_volume: the node, whose input @x has three dimensions behind batch
 * and channels. */
void lower_conv_volume (Lower *o, LowerValue *x, LowerValue *weights, LowerValue *bias);
void lower_pool_volume (Lower *o, LowerValue *x);

/* ops_shape.c */
void lower_shape (Lower *o);
void lower_size (Lower *o);
void lower_reshape_op (Lower *o);
void lower_flatten (Lower *o);
void lower_squeeze (Lower *o);
void lower_unsqueeze (Lower *o);
void lower_transpose_op (Lower *o);
void lower_expand (Lower *o);
void lower_tile (Lower *o);
void lower_range (Lower *o);
void lower_non_zero (Lower *o);

/* ops_axis.c */
void lower_concat (Lower *o);
void lower_split (Lower *o);
void lower_slice (Lower *o);
void lower_gather (Lower *o);
void lower_gather_nd (Lower *o);
void lower_compress (Lower *o);
void lower_pad_op (Lower *o);
void lower_center_crop_pad (Lower *o);
void lower_crop (Lower *o);
void lower_reduce_op (Lower *o);
void lower_arg (Lower *o);
void lower_top_k (Lower *o);
void lower_softmax (Lower *o);
void lower_cum_sum (Lower *o);
void lower_trilu (Lower *o);
void lower_depth_to_space (Lower *o);

/* ops_matrix.c */
void lower_gemm (Lower *o);
void lower_mat_mul (Lower *o);
void lower_batch_norm (Lower *o);
void lower_instance_norm (Lower *o);
void lower_mean_variance_norm (Lower *o);
void lower_group_norm (Lower *o);
void lower_layer_norm (Lower *o);
void lower_rms_norm (Lower *o);
void lower_lp_norm (Lower *o);
void lower_lrn (Lower *o);
void lower_einsum (Lower *o);
void lower_det (Lower *o);
/** lower_product: a product of matrices; constant ones of 2 dimensions become weights. */
gint32 lower_product (Lower *o, gint32 a, gint32 b);
/** lower_layer: rows of @x times @weights, constant, one row an output; @bias may be -1. */
gint32 lower_layer (Lower *o, gint32 x, gint32 weights, gint32 bias);
/** lower_swap_last: the last two dimensions exchanged. */
gint32 lower_swap_last (Lower *o, gint32 x);

/* ops_attention.c */

/**
 * LowerAttention: softmax (scale q k' + mask) v
 * @q, @k, @v: tensors [...,rows,depth]; of 4 dimensions, heads of @q may be a multiple of those of
 * @k and @v
 * @mask: -1, or what is added to scores [...,queries,keys], or truth values that say which keys
 * count
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
} LowerAttention;

/** lower_attend: all attention there is is built here. */
gint32 lower_attend (Lower *o, const LowerAttention *attention);
/** lower_truth_mask: 0 where @keep holds or is not 0, elsewhere @dropped. */
gint32 lower_truth_mask (Lower *o, gint32 keep, gfloat dropped);
void lower_attention (Lower *o);
void lower_multi_head_attention (Lower *o);
void lower_packed_attention (Lower *o);
void lower_rotary_embedding (Lower *o);

/* ops_resize.c */
void lower_resize (Lower *o);

/* ops_elements.c */
void lower_gather_elements (Lower *o);
void lower_scatter (Lower *o);
void lower_one_hot (Lower *o);
void lower_unique (Lower *o);
void lower_reverse_sequence (Lower *o);

/* ops_recurrent.c */
void lower_recurrent (Lower *o);

/* ops_region.c */
void lower_grid_sample (Lower *o);
void lower_affine_grid (Lower *o);
void lower_roi_align (Lower *o);
void lower_max_roi_pool (Lower *o);
/** lower_heat_map_peaks: (nullable): of maps [n,points,height,width] over regions [n,4]:
 * [n,points,3] of x, y and the value there. */
LowerValue *lower_heat_map_peaks (Lower *o, LowerValue *maps, LowerValue *regions);
void lower_non_max_suppression (Lower *o);

/** lower_optional: input @i as a tensor; -1 where the node has none. */
gint32 lower_optional (Lower *o, guint i);
