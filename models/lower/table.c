/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that formats are lowered to, as ONNX defines them: one row each, and how a node is
 * converted by its row. */
#include <stdlib.h>
#include <string.h>

#include "core/base/name_hash.h"
#include "models/lower/ops.h"

/* Inputs of an operator that others are made of. */
#define MAX_CALLED 4

/* Sorted by name. */
static const LowerOp rows[] = {
  { LOWER_ROW (Abs, lower_unary_op), SL_OP_ABS },
  { LOWER_ROW (Acos, lower_unary_op), SL_OP_ACOS },
  { LOWER_ROW (Acosh, lower_unary_op), SL_OP_ACOSH },
  { LOWER_ROW (Add, lower_binary_op), SL_OP_ADD },
  { LOWER_EACH (Affine, lower_affine) },
  { LOWER_ROW (AffineGrid, lower_affine_grid), 0 },
  { LOWER_ROW (And, lower_compare), SL_OP_LOGICAL_AND },
  { LOWER_ROW (ArgMax, lower_arg), SL_OP_ARG_MAX },
  { LOWER_ROW (ArgMin, lower_arg), SL_OP_ARG_MIN },
  { LOWER_ROW (Asin, lower_unary_op), SL_OP_ASIN },
  { LOWER_ROW (Asinh, lower_unary_op), SL_OP_ASINH },
  { LOWER_ROW (Atan, lower_unary_op), SL_OP_ATAN },
  { LOWER_ROW (Atanh, lower_unary_op), SL_OP_ATANH },
  { LOWER_ROW (Attention, lower_attention), 0 },
  { LOWER_ROW (AveragePool, lower_pool), SL_OP_AVERAGE_POOL_2D },
  { LOWER_ROW (BatchNormalization, lower_batch_norm), 0 },
  { LOWER_ROW (Ceil, lower_unary_op), SL_OP_CEIL },
  { LOWER_EACH (Celu, lower_elu) },
  { LOWER_ROW (CenterCropPad, lower_center_crop_pad), 0 },
  { LOWER_EACH (Clip, lower_clip) },
  { LOWER_ROW (Compress, lower_compress), 0 },
  { LOWER_ROW (Concat, lower_concat), 0 },
  { LOWER_ROW (Conv, lower_conv), 0 },
  { LOWER_ROW (ConvTranspose, lower_conv_transpose), 0 },
  { LOWER_ROW (Cos, lower_unary_op), SL_OP_COS },
  { LOWER_ROW (Cosh, lower_unary_op), SL_OP_COSH },
  { LOWER_ROW (Crop, lower_crop), 0 },
  { LOWER_ROW (CumSum, lower_cum_sum), 0 },
  { LOWER_ROW (DeformConv, lower_deform_conv), 0 },
  { LOWER_ROW (DepthToSpace, lower_depth_to_space), SL_OP_DEPTH_TO_SPACE },
  { LOWER_ROW (Det, lower_det), 0 },
  { LOWER_ROW (Div, lower_binary_op), SL_OP_DIV },
  { LOWER_ROW (Dropout, lower_identity), 0 },
  { LOWER_ROW (Einsum, lower_einsum), 0 },
  { LOWER_EACH (Elu, lower_elu) },
  { LOWER_ROW (Equal, lower_compare), SL_OP_EQUAL },
  { LOWER_ROW (Erf, lower_unary_op), SL_OP_ERF },
  { LOWER_ROW (Exp, lower_unary_op), SL_OP_EXP },
  { LOWER_ROW (Expand, lower_expand), 0 },
  { LOWER_ROW (Flatten, lower_flatten), 0 },
  { LOWER_ROW (Floor, lower_unary_op), SL_OP_FLOOR },
  { LOWER_ROW (GRU, lower_recurrent), SL_OP_RECURRENT },
  { LOWER_ROW (Gather, lower_gather), 0 },
  { LOWER_ROW (GatherElements, lower_gather_elements), 0 },
  { LOWER_ROW (GatherND, lower_gather_nd), 0 },
  { LOWER_EACH (Gelu, lower_gelu) },
  { LOWER_ROW (Gemm, lower_gemm), 0 },
  { LOWER_ROW (GlobalAveragePool, lower_global_pool), SL_OP_MEAN },
  { LOWER_ROW (GlobalLpPool, lower_global_lp_pool), 0 },
  { LOWER_ROW (GlobalMaxPool, lower_global_pool), SL_OP_REDUCE_MAX },
  { LOWER_ROW (Greater, lower_compare), SL_OP_GREATER },
  { LOWER_ROW (GreaterOrEqual, lower_compare), SL_OP_GREATER_EQUAL },
  { LOWER_ROW (GridSample, lower_grid_sample), 0 },
  { LOWER_ROW (GroupNormalization, lower_group_norm), 0 },
  { LOWER_EACH (HardSigmoid, lower_hard_sigmoid) },
  { LOWER_ROW (HardSwish, lower_unary_op), SL_OP_HARD_SWISH },
  { LOWER_ROW (Hardmax, lower_softmax), 0 },
  { LOWER_ROW (Identity, lower_identity), 0 },
  { LOWER_ROW (ImageScaler, lower_image_scaler), 0 },
  { LOWER_ROW (InstanceNormalization, lower_instance_norm), 0 },
  { LOWER_EACH (IsInf, lower_is_inf) },
  { LOWER_EACH (IsNaN, lower_is_nan) },
  { LOWER_ROW (LRN, lower_lrn), 0 },
  { LOWER_ROW (LSTM, lower_recurrent), SL_OP_RECURRENT },
  { LOWER_ROW (LayerNormalization, lower_layer_norm), 0 },
  { LOWER_EACH (LeakyRelu, lower_leaky_relu) },
  { LOWER_ROW (Less, lower_compare), SL_OP_LESS },
  { LOWER_ROW (LessOrEqual, lower_compare), SL_OP_LESS_EQUAL },
  { LOWER_ROW (Log, lower_unary_op), SL_OP_LOG },
  { LOWER_ROW (LogSoftmax, lower_softmax), SL_OP_LOG_SOFTMAX },
  { LOWER_ROW (LpNormalization, lower_lp_norm), 0 },
  { LOWER_ROW (LpPool, lower_pool), SL_OP_L2_POOL_2D },
  { LOWER_ROW (MatMul, lower_mat_mul), 0 },
  { LOWER_ROW (Max, lower_variadic), SL_OP_MAXIMUM },
  { LOWER_ROW (MaxPool, lower_pool), SL_OP_MAX_POOL_2D },
  { LOWER_ROW (MaxRoiPool, lower_max_roi_pool), 0 },
  { LOWER_ROW (Mean, lower_variadic), SL_OP_ADD },
  { LOWER_ROW (MeanVarianceNormalization, lower_mean_variance_norm), 0 },
  { LOWER_ROW (Min, lower_variadic), SL_OP_MINIMUM },
  { LOWER_ROW (Mish, lower_unary_op), SL_OP_MISH },
  { LOWER_ROW (Mod, lower_mod), 0 },
  { LOWER_ROW (Mul, lower_binary_op), SL_OP_MUL },
  { LOWER_ROW (Neg, lower_unary_op), SL_OP_NEG },
  { LOWER_ROW (NonMaxSuppression, lower_non_max_suppression), 0 },
  { LOWER_ROW (NonZero, lower_non_zero), 0 },
  { LOWER_ROW (Not, lower_unary_op), SL_OP_LOGICAL_NOT },
  { LOWER_ROW (OneHot, lower_one_hot), 0 },
  { LOWER_ROW (Or, lower_compare), SL_OP_LOGICAL_OR },
  { LOWER_ROW (PRelu, lower_prelu), 0 },
  { LOWER_ROW (Pad, lower_pad_op), 0 },
  { LOWER_EACH (ParametricSoftplus, lower_parametric_softplus) },
  { LOWER_ROW (Pow, lower_pow), 0 },
  { LOWER_ROW (RMSNormalization, lower_rms_norm), 0 },
  { LOWER_ROW (RNN, lower_recurrent), SL_OP_RECURRENT },
  { LOWER_ROW (Range, lower_range), 0 },
  { LOWER_EACH (Reciprocal, lower_reciprocal) },
  { LOWER_ROW (ReduceL1, lower_reduce_op), SL_OP_SUM },
  { LOWER_ROW (ReduceL2, lower_reduce_op), SL_OP_SUM },
  { LOWER_ROW (ReduceLogSum, lower_reduce_op), SL_OP_SUM },
  { LOWER_ROW (ReduceLogSumExp, lower_reduce_op), SL_OP_SUM },
  { LOWER_ROW (ReduceMax, lower_reduce_op), SL_OP_REDUCE_MAX },
  { LOWER_ROW (ReduceMean, lower_reduce_op), SL_OP_MEAN },
  { LOWER_ROW (ReduceMin, lower_reduce_op), SL_OP_REDUCE_MIN },
  { LOWER_ROW (ReduceProd, lower_reduce_op), SL_OP_REDUCE_PROD },
  { LOWER_ROW (ReduceSum, lower_reduce_op), SL_OP_SUM },
  { LOWER_ROW (ReduceSumSquare, lower_reduce_op), SL_OP_SUM },
  { LOWER_ROW (Relu, lower_unary_op), SL_OP_RELU },
  { LOWER_ROW (Reshape, lower_reshape_op), 0 },
  { LOWER_ROW (Resize, lower_resize), 0 },
  { LOWER_ROW (ReverseSequence, lower_reverse_sequence), 0 },
  { LOWER_ROW (RoiAlign, lower_roi_align), 0 },
  { LOWER_ROW (RotaryEmbedding, lower_rotary_embedding), 0 },
  { LOWER_ROW (Round, lower_unary_op), SL_OP_ROUND },
  { LOWER_EACH (ScaledTanh, lower_scaled_tanh) },
  { LOWER_ROW (Scatter, lower_scatter), SL_OP_SCATTER_ELEMENTS },
  { LOWER_ROW (ScatterElements, lower_scatter), SL_OP_SCATTER_ELEMENTS },
  { LOWER_ROW (ScatterND, lower_scatter), SL_OP_SCATTER_ND },
  { LOWER_EACH (Selu, lower_elu) },
  { LOWER_ROW (Shape, lower_shape), 0 },
  { LOWER_EACH (Shrink, lower_shrink) },
  { LOWER_ROW (Sigmoid, lower_unary_op), SL_OP_LOGISTIC },
  { LOWER_ROW (Sign, lower_unary_op), SL_OP_SIGN },
  { LOWER_ROW (SimplifiedLayerNormalization, lower_rms_norm), 0 },
  { LOWER_ROW (Sin, lower_unary_op), SL_OP_SIN },
  { LOWER_ROW (Sinh, lower_unary_op), SL_OP_SINH },
  { LOWER_ROW (Size, lower_size), 0 },
  { LOWER_ROW (Slice, lower_slice), 0 },
  { LOWER_ROW (Softmax, lower_softmax), SL_OP_SOFTMAX },
  { LOWER_EACH (Softplus, lower_softplus) },
  { LOWER_EACH (Softsign, lower_softsign) },
  { LOWER_ROW (SpaceToDepth, lower_depth_to_space), SL_OP_SPACE_TO_DEPTH },
  { LOWER_ROW (Split, lower_split), 0 },
  { LOWER_ROW (Sqrt, lower_unary_op), SL_OP_SQRT },
  { LOWER_ROW (Squeeze, lower_squeeze), 0 },
  { LOWER_ROW (Sub, lower_binary_op), SL_OP_SUB },
  { LOWER_ROW (Sum, lower_variadic), SL_OP_ADD },
  { LOWER_EACH (Swish, lower_swish) },
  { LOWER_EACH (Tan, lower_tan) },
  { LOWER_ROW (Tanh, lower_unary_op), SL_OP_TANH },
  { LOWER_EACH (ThresholdedRelu, lower_thresholded_relu) },
  { LOWER_ROW (Tile, lower_tile), 0 },
  { LOWER_ROW (TopK, lower_top_k), 0 },
  { LOWER_ROW (Transpose, lower_transpose_op), 0 },
  { LOWER_ROW (Trilu, lower_trilu), 0 },
  { LOWER_ROW (Unique, lower_unique), 0 },
  { LOWER_ROW (Unsqueeze, lower_unsqueeze), 0 },
  { LOWER_ROW (Upsample, lower_resize), 0 },
  { LOWER_ROW (Where, lower_where), 0 },
  { LOWER_ROW (Xor, lower_xor), 0 },
};

static int
compare (const void *name, const void *row)
{
  return strcmp (name, ((const LowerOp *) row)->op);
}

const LowerOp *
lower_row (const LowerOp *table, gsize n, const char *op)
{
  return bsearch (op, table, n, sizeof table[0], compare);
}

const LowerOp *
lower_find_op (const char *op)
{
  return lower_row (rows, G_N_ELEMENTS (rows), op);
}

void
lower_convert (Lower *o)
{
  const LowerOp *outer = o->row;
  o->row =
    o->find_op != NULL ? o->find_op (o->node->domain, o->node->op) : lower_find_op (o->node->op);
  sl_graph_note_import (o->graph, o->row->op);
  if (o->row->convert != NULL)
    o->row->convert (o);
  else
    lower_fail (o, SL_ERROR_UNSUPPORTED, "operator %s " SL_LEFT_OUT, o->row->op);
  o->row = outer;
}

LowerValue *
lower_call (Lower *o, const char *op, LowerValue *const *inputs, guint n,
            const LowerAttribute *attributes, guint n_attributes)
{
  static const char *const places[MAX_CALLED] = { "<0>", "<1>", "<2>", "<3>" };
  const char *names[MAX_CALLED], *output;
  const LowerNode *outer = o->node, *caller = o->caller;
  g_return_val_if_fail (n <= MAX_CALLED, NULL);
  if (o->error != NULL)
    return NULL;
  g_autoptr (GHashTable) values = g_hash_table_new (sl_name_hash, g_str_equal);
  LowerScope scope = { .graph = o->scope->graph, .values = values }, *around = o->scope;
  for (guint i = 0; i < n; i++) {
    names[i] = inputs[i] != NULL ? places[i] : "";
    if (inputs[i] != NULL)
      g_hash_table_insert (values, (gpointer) places[i], inputs[i]);
  }
  output = outer != NULL && outer->n_outputs > 0 ? outer->outputs[0] : "";
  if (output[0] == '\0' || output[0] == '<')
    output = "output";
  const LowerNode node = { .op = op,
                           .domain = "",
                           .name = "",
                           .index = outer != NULL ? outer->index : 0,
                           .n_inputs = n,
                           .n_outputs = 1,
                           .n_attributes = n_attributes,
                           .inputs = names,
                           .outputs = &output,
                           .attributes = attributes };
  o->caller = caller != NULL ? caller : outer;
  o->node = &node;
  o->scope = &scope;
  lower_convert (o);
  o->scope = around;
  o->node = outer;
  o->caller = caller;
  return o->error == NULL ? g_hash_table_lookup (values, output) : NULL;
}
