/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that several formats are lowered to, as ONNX defines them. Each file ops_*.c ends with
 * the rows of its own; what is declared here is shared by files. */
#pragma once

#include "core/base/build_selection.h"
#include "models/lower/build.h"

/** LOWER_ROW: the first two members of a row; a build that leaves the operator out has no
 * converter. */
#define LOWER_ROW(name, convert) #name, SL_KEEPS(onnx, name) ? convert : NULL
/** LOWER_EACH: a row of an operator on each element: @function is what @x becomes. */
#define LOWER_EACH(name, function) \
  LOWER_ROW (name, lower_each), SL_OP_INVALID, SL_KEEPS (onnx, name) ? function : NULL

/** Rows, each table ending in one without a name. */
extern const LowerOp lower_ops_attention[], lower_ops_axis[], lower_ops_einsum[],
  lower_ops_elements[], lower_ops_elementwise[], lower_ops_matrix[], lower_ops_recurrent[],
  lower_ops_region[], lower_ops_resize[], lower_ops_shape[], lower_ops_volume[], lower_ops_window[];

/* ops_elementwise.c */
void lower_each (Lower *o);
gint32 lower_gelu (Lower *o, gint32 x);

/* ops_window.c */
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
/** lower_conv_volume: the node, whose input @x has three dimensions behind batch and channels. */
void lower_conv_volume (Lower *o, LowerValue *x, LowerValue *weights, LowerValue *bias);

/* ops_matrix.c */
void lower_layer_norm (Lower *o);
void lower_rms_norm (Lower *o);
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
void lower_multi_head_attention (Lower *o);
void lower_packed_attention (Lower *o);
void lower_rotary_embedding (Lower *o);

/* ops_region.c */
void lower_grid_sample (Lower *o);
/** lower_heat_map_peaks: (nullable): of maps [n,points,height,width] over regions [n,4]:
 * [n,points,3] of x, y and the value there. */
LowerValue *lower_heat_map_peaks (Lower *o, LowerValue *maps, LowerValue *regions);

/** lower_optional: input @i as a tensor; -1 where the node has none. */
gint32 lower_optional (Lower *o, guint i);
