/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The rows of the operator table (internal to core), what their plain kernels are called with, and
 * helpers to check nodes and to infer shapes.
 */
#pragma once

#include "sightline/error.h"
#include "core/graph/attention.h"
#include "core/graph/graph.h"
#include "core/base/thread_pool.h"

/** SlKernelCall: one execution of a kernel: everything it may touch. Omitted optional inputs are
 * NULL. */
struct _SlKernelCall
{
  const SlGraph *graph;
  const SlNode *node;
  void *state; /* what prepare returned */
  const void *inputs[SL_MAX_OPERANDS];
  void *outputs[SL_MAX_OUTPUTS];
  SlPool *pool; /* (nullable): see sl_parallel() */
};

#define SL_OPERATOR_ROW(type, row, ...) extern const SlOp sl_op_##row;
SL_OPERATORS (SL_OPERATOR_ROW)
#undef SL_OPERATOR_ROW

/* Helpers for rows (core/ops/helpers.c). */

/** sl_node_error: sets "node 12 CONV_2D 'name': ..." and returns FALSE. */
gboolean sl_node_error (GError **error, const SlNode *node, SlError code, const char *format, ...)
  G_GNUC_PRINTF (4, 5);
/** sl_node_set_shape: gives output @i its shape; FALSE on a dimension below 1, overflow or a
 * constant output. */
gboolean sl_node_set_shape (SlGraph *graph, const SlNode *node, guint i, guint rank,
                            const gint32 *dims, GError **error);
/** sl_node_check_dtype: input or output @tensor must be one of the types in @mask (bits 1 <<
 * SlDtype). */
gboolean sl_node_check_dtype (const SlNode *node, const char *role, const SlTensor *tensor,
                              guint32 mask, GError **error);
/** sl_op_is_layer: whether it is a convolution or a fully connected layer, with weights. */
gboolean sl_op_is_layer (SlOpType op);
/** sl_node_check_outputs: sl_node_check_dtype() of every output. */
gboolean sl_node_check_outputs (const SlGraph *graph, const SlNode *node, guint32 mask,
                                GError **error);
/** sl_node_check_bias_dtype: whether @bias has the type of sums of a layer of @input. */
gboolean sl_node_check_bias_dtype (const SlNode *node, const SlTensor *input, const SlTensor *bias,
                                   GError **error);
/** sl_node_check_quant: 8-bit and int16 tensors must be quantised per tensor; other types pass. */
gboolean sl_node_check_quant (const SlNode *node, const char *role, const SlTensor *tensor,
                              GError **error);
/** sl_node_check_same_dtype: both must have the same element type. */
gboolean sl_node_check_same_dtype (const SlNode *node, const SlTensor *a, const SlTensor *b,
                                   GError **error);
/** sl_node_check_activations: input 0 .. @n_inputs-1 and every output float32, int8 or uint8, one
 * type, quantised per tensor. */
gboolean sl_node_check_activations (const SlGraph *graph, const SlNode *node, guint n_inputs,
                                    GError **error);
/** sl_node_check_typed: the same with other element types, SL_DTYPE_BIT()s. */
gboolean sl_node_check_typed (const SlGraph *graph, const SlNode *node, guint n_inputs,
                              guint32 types, GError **error);
/** sl_node_same_shape_infer: the outputs take the shape of input 0. */
gboolean sl_node_same_shape_infer (SlGraph *graph, SlNode *node, GError **error);
/**
 * sl_node_sum_scale: factor of a sum of products of quantised values in a convolution or fully
 * connected layer that reads input @from: the scales' product divided by the output's, as XNNPACK
 * computes it, or times its reciprocal, as qnnpack does. The two differ in the last bit.
 */
gfloat sl_node_sum_scale (const SlGraph *graph, const SlNode *node, guint from, gint32 channel);
/** sl_node_by_reciprocal: whether a convolution or fully connected layer does the latter. */
gboolean sl_node_by_reciprocal (const SlNode *node);
/** sl_node_bias_rest: (nullable): of each output channel of a quantised layer what its bias is
 * beside the whole number, in codes of the output. XNNPACK leaves it out. */
const gfloat *sl_node_bias_rest (const SlNode *node);
/**
 * sl_add_shift: by how many bits a sum of two 8-bit tensors is shifted down, whose larger scale is
 * @most of the output's: multipliers have one bit more in qnnpack (@half_away) than in XNNPACK, as
 * far as the sum and half a step fit 32 bits.
 */
gint32 sl_add_shift (gfloat most, gboolean half_away);
/** sl_node_check_copy: output @i holds elements of input @from unchanged: same type, same
 * quantisation. */
gboolean sl_node_check_copy (const SlGraph *graph, const SlNode *node, guint from, guint i,
                             GError **error);
/** sl_node_constant: input @i, named @what in messages, must be a constant of at most @max int32 or
 * int64. */
gboolean sl_node_constant (const SlGraph *graph, const SlNode *node, guint i, const char *what,
                           gint32 *values, guint max, guint *count, GError **error);
/** sl_node_axis: makes @axis, -rank..rank-1 as written, 0..rank-1. */
gboolean sl_node_axis (const SlNode *node, gint32 *axis, guint rank, GError **error);
/** sl_node_constant_axis: input @i must be one constant, an axis of a tensor of @rank dimensions;
 * @axis gets it as 0..rank-1. */
gboolean sl_node_constant_axis (const SlGraph *graph, const SlNode *node, guint i, gint32 *axis,
                                guint rank, GError **error);
/** sl_node_broadcast: the shape two tensors broadcast to by NumPy's rules. */
gboolean sl_node_broadcast (const SlNode *node, const SlTensor *a, const SlTensor *b, gint32 *dims,
                            guint *rank, GError **error);
/** sl_node_infer_broadcast: `infer` of operators of two operands: output 0 is what they broadcast
 * to.
 */
gboolean sl_node_infer_broadcast (SlGraph *graph, SlNode *node, GError **error);
/** sl_node_check_rank4: input @i must have 4 dimensions. */
gboolean sl_node_check_rank4 (const SlGraph *graph, const SlNode *node, guint i, GError **error);
/** sl_node_activation: (nullable): the activation that @node applies to its own result; NULL for
 * operators that apply none. */
SlActivation *sl_node_activation (SlNode *node);
/** sl_node_fused_activation: the same, to read: SL_ACTIVATION_NONE for operators that apply none.
 */
SlActivation sl_node_fused_activation (const SlNode *node);
/** sl_node_slope: of values below 0, where @node is LEAKY_RELU or has it fused. */
gfloat sl_node_slope (const SlNode *node);
/** sl_node_fuse: @node, which can have a fused activation, has @activation; @slope: of
 * SL_ACTIVATION_LEAKY_RELU. */
void sl_node_fuse (SlNode *node, SlActivation activation, gfloat slope);
/** sl_op_data_at, sl_op_bias_at: which inputs of a layer of type @op are its data and its bias: a
 * transposed convolution's come behind the output's shape and the weights. */
guint sl_op_data_at (SlOpType op);
guint sl_op_bias_at (SlOpType op);
/** sl_samples_next: where the picture behind picture @i is among the inputs of a GRID_SAMPLE that
 * adds up samples. A picture's grid follows it, and the weights follow the first grid. */
static inline guint
sl_samples_next (guint i)
{
  return i + (i == 0 ? 3 : 2);
}
/** sl_node_curve: the activation that @node is when it is an elementwise operator that is more than
 * limits, else SL_ACTIVATION_NONE. */
SlActivation sl_node_curve (const SlNode *node);
/** sl_op_clamp: the activation that @op is when it only clamps, else SL_ACTIVATION_NONE. */
SlActivation sl_op_clamp (SlOpType op);
/** sl_constant_ints: reads an int32 or int64 constant of at most @max elements; FALSE when it is
 * not one. */
gboolean sl_constant_ints (const SlTensor *tensor, gint32 *values, guint max, guint *count);
/** sl_window_resolve: output size and explicit paddings of a sliding window over @in_h x @in_w. */
gboolean sl_window_resolve (const SlNode *node, SlWindow *window, gint32 in_h, gint32 in_w,
                            gint32 filter_h, gint32 filter_w, gint32 *out_h, gint32 *out_w,
                            GError **error);
/** sl_slice_axes: by dimension of its input, where @node starts, by which steps it goes on, and how
 * many elements it takes; FALSE when it is no SLICE or STRIDED_SLICE. */
gboolean sl_slice_axes (const SlGraph *graph, const SlNode *node, gint64 start[SL_MAX_RANK],
                        gint64 step[SL_MAX_RANK], gint64 size[SL_MAX_RANK]);
/** sl_matmul_operand: the number of the matrix of @operand that matrix @i of BATCH_MATMUL's @output
 * is made of. */
gsize sl_matmul_operand (const SlTensor *operand, const SlTensor *output, gsize i);
/** sl_attention_masked: @score of a query and a key through the masks of ATTENTION, @inputs[3] and
 * those behind it. */
gfloat sl_attention_masked (const SlAttention *a, const void *const *inputs, gsize matrix,
                            gsize query, gsize key, gfloat score);

#define SL_DTYPE_BIT(dtype) (1u << (dtype))
#define SL_DTYPES_8BIT (SL_DTYPE_BIT (SL_DTYPE_I8) | SL_DTYPE_BIT (SL_DTYPE_U8))
#define SL_DTYPES_INDEX (SL_DTYPE_BIT (SL_DTYPE_I32) | SL_DTYPE_BIT (SL_DTYPE_I64))
#define SL_DTYPES_ANY ((1u << SL_DTYPE_COUNT) - 2)
#define SL_DTYPES_ACTIVATION \
  (SL_DTYPE_BIT (SL_DTYPE_F32) | SL_DTYPE_BIT (SL_DTYPE_I8) | SL_DTYPE_BIT (SL_DTYPE_U8))
