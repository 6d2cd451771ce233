/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that formats are lowered to, as ONNX defines them: one row each, and how a node is converted by its row. */
#include <stdlib.h>
#include <string.h>

#include "core/base/name_hash.h"
#include "models/lower/ops.h"

/* Inputs of an operator that others are made of. */
#define MAX_CALLED 4

/* Sorted by name. */
static const OnnxOp rows[] = {
  { ONNX_ROW (Abs, onnx_unary_op), SL_OP_ABS },
  { ONNX_ROW (Acos, onnx_unary_op), SL_OP_ACOS },
  { ONNX_ROW (Acosh, onnx_unary_op), SL_OP_ACOSH },
  { ONNX_ROW (Add, onnx_binary_op), SL_OP_ADD },
  { ONNX_ROW (Affine, onnx_affine), 0 },
  { ONNX_ROW (AffineGrid, onnx_affine_grid), 0 },
  { ONNX_ROW (And, onnx_compare), SL_OP_LOGICAL_AND },
  { ONNX_ROW (ArgMax, onnx_arg), SL_OP_ARG_MAX },
  { ONNX_ROW (ArgMin, onnx_arg), SL_OP_ARG_MIN },
  { ONNX_ROW (Asin, onnx_unary_op), SL_OP_ASIN },
  { ONNX_ROW (Asinh, onnx_unary_op), SL_OP_ASINH },
  { ONNX_ROW (Atan, onnx_unary_op), SL_OP_ATAN },
  { ONNX_ROW (Atanh, onnx_unary_op), SL_OP_ATANH },
  { ONNX_ROW (Attention, onnx_attention), 0 },
  { ONNX_ROW (AveragePool, onnx_pool), SL_OP_AVERAGE_POOL_2D },
  { ONNX_ROW (BatchNormalization, onnx_batch_norm), 0 },
  { ONNX_ROW (Ceil, onnx_unary_op), SL_OP_CEIL },
  { ONNX_ROW (Celu, onnx_elu), 0 },
  { ONNX_ROW (CenterCropPad, onnx_center_crop_pad), 0 },
  { ONNX_ROW (Clip, onnx_clip), 0 },
  { ONNX_ROW (Compress, onnx_compress), 0 },
  { ONNX_ROW (Concat, onnx_concat), 0 },
  { ONNX_ROW (Conv, onnx_conv), 0 },
  { ONNX_ROW (ConvTranspose, onnx_conv_transpose), 0 },
  { ONNX_ROW (Cos, onnx_unary_op), SL_OP_COS },
  { ONNX_ROW (Cosh, onnx_unary_op), SL_OP_COSH },
  { ONNX_ROW (Crop, onnx_crop), 0 },
  { ONNX_ROW (CumSum, onnx_cum_sum), 0 },
  { ONNX_ROW (DeformConv, onnx_deform_conv), 0 },
  { ONNX_ROW (DepthToSpace, onnx_depth_to_space), SL_OP_DEPTH_TO_SPACE },
  { ONNX_ROW (Det, onnx_det), 0 },
  { ONNX_ROW (Div, onnx_binary_op), SL_OP_DIV },
  { ONNX_ROW (Dropout, onnx_identity), 0 },
  { ONNX_ROW (Einsum, onnx_einsum), 0 },
  { ONNX_ROW (Elu, onnx_elu), 0 },
  { ONNX_ROW (Equal, onnx_compare), SL_OP_EQUAL },
  { ONNX_ROW (Erf, onnx_unary_op), SL_OP_ERF },
  { ONNX_ROW (Exp, onnx_unary_op), SL_OP_EXP },
  { ONNX_ROW (Expand, onnx_expand), 0 },
  { ONNX_ROW (Flatten, onnx_flatten), 0 },
  { ONNX_ROW (Floor, onnx_unary_op), SL_OP_FLOOR },
  { ONNX_ROW (GRU, onnx_recurrent), SL_OP_RECURRENT },
  { ONNX_ROW (Gather, onnx_gather), 0 },
  { ONNX_ROW (GatherElements, onnx_gather_elements), 0 },
  { ONNX_ROW (GatherND, onnx_gather_nd), 0 },
  { ONNX_ROW (Gelu, onnx_gelu), 0 },
  { ONNX_ROW (Gemm, onnx_gemm), 0 },
  { ONNX_ROW (GlobalAveragePool, onnx_global_pool), SL_OP_MEAN },
  { ONNX_ROW (GlobalLpPool, onnx_global_lp_pool), 0 },
  { ONNX_ROW (GlobalMaxPool, onnx_global_pool), SL_OP_REDUCE_MAX },
  { ONNX_ROW (Greater, onnx_compare), SL_OP_GREATER },
  { ONNX_ROW (GreaterOrEqual, onnx_compare), SL_OP_GREATER_EQUAL },
  { ONNX_ROW (GridSample, onnx_grid_sample), 0 },
  { ONNX_ROW (GroupNormalization, onnx_group_norm), 0 },
  { ONNX_ROW (HardSigmoid, onnx_hard_sigmoid), 0 },
  { ONNX_ROW (HardSwish, onnx_unary_op), SL_OP_HARD_SWISH },
  { ONNX_ROW (Hardmax, onnx_softmax), 0 },
  { ONNX_ROW (Identity, onnx_identity), 0 },
  { ONNX_ROW (ImageScaler, onnx_image_scaler), 0 },
  { ONNX_ROW (InstanceNormalization, onnx_instance_norm), 0 },
  { ONNX_ROW (IsInf, onnx_is_inf), 0 },
  { ONNX_ROW (IsNaN, onnx_is_nan), 0 },
  { ONNX_ROW (LRN, onnx_lrn), 0 },
  { ONNX_ROW (LSTM, onnx_recurrent), SL_OP_RECURRENT },
  { ONNX_ROW (LayerNormalization, onnx_layer_norm), 0 },
  { ONNX_ROW (LeakyRelu, onnx_leaky_relu), 0 },
  { ONNX_ROW (Less, onnx_compare), SL_OP_LESS },
  { ONNX_ROW (LessOrEqual, onnx_compare), SL_OP_LESS_EQUAL },
  { ONNX_ROW (Log, onnx_unary_op), SL_OP_LOG },
  { ONNX_ROW (LogSoftmax, onnx_softmax), SL_OP_LOG_SOFTMAX },
  { ONNX_ROW (LpNormalization, onnx_lp_norm), 0 },
  { ONNX_ROW (LpPool, onnx_pool), SL_OP_L2_POOL_2D },
  { ONNX_ROW (MatMul, onnx_mat_mul), 0 },
  { ONNX_ROW (Max, onnx_variadic), SL_OP_MAXIMUM },
  { ONNX_ROW (MaxPool, onnx_pool), SL_OP_MAX_POOL_2D },
  { ONNX_ROW (MaxRoiPool, onnx_max_roi_pool), 0 },
  { ONNX_ROW (Mean, onnx_variadic), SL_OP_ADD },
  { ONNX_ROW (MeanVarianceNormalization, onnx_mean_variance_norm), 0 },
  { ONNX_ROW (Min, onnx_variadic), SL_OP_MINIMUM },
  { ONNX_ROW (Mish, onnx_unary_op), SL_OP_MISH },
  { ONNX_ROW (Mod, onnx_mod), 0 },
  { ONNX_ROW (Mul, onnx_binary_op), SL_OP_MUL },
  { ONNX_ROW (Neg, onnx_unary_op), SL_OP_NEG },
  { ONNX_ROW (NonMaxSuppression, onnx_non_max_suppression), 0 },
  { ONNX_ROW (NonZero, onnx_non_zero), 0 },
  { ONNX_ROW (Not, onnx_unary_op), SL_OP_LOGICAL_NOT },
  { ONNX_ROW (OneHot, onnx_one_hot), 0 },
  { ONNX_ROW (Or, onnx_compare), SL_OP_LOGICAL_OR },
  { ONNX_ROW (PRelu, onnx_prelu), 0 },
  { ONNX_ROW (Pad, onnx_pad_op), 0 },
  { ONNX_ROW (ParametricSoftplus, onnx_parametric_softplus), 0 },
  { ONNX_ROW (Pow, onnx_pow), 0 },
  { ONNX_ROW (RMSNormalization, onnx_rms_norm), 0 },
  { ONNX_ROW (RNN, onnx_recurrent), SL_OP_RECURRENT },
  { ONNX_ROW (Range, onnx_range), 0 },
  { ONNX_ROW (Reciprocal, onnx_reciprocal), 0 },
  { ONNX_ROW (ReduceL1, onnx_reduce_op), SL_OP_SUM },
  { ONNX_ROW (ReduceL2, onnx_reduce_op), SL_OP_SUM },
  { ONNX_ROW (ReduceLogSum, onnx_reduce_op), SL_OP_SUM },
  { ONNX_ROW (ReduceLogSumExp, onnx_reduce_op), SL_OP_SUM },
  { ONNX_ROW (ReduceMax, onnx_reduce_op), SL_OP_REDUCE_MAX },
  { ONNX_ROW (ReduceMean, onnx_reduce_op), SL_OP_MEAN },
  { ONNX_ROW (ReduceMin, onnx_reduce_op), SL_OP_REDUCE_MIN },
  { ONNX_ROW (ReduceProd, onnx_reduce_op), SL_OP_REDUCE_PROD },
  { ONNX_ROW (ReduceSum, onnx_reduce_op), SL_OP_SUM },
  { ONNX_ROW (ReduceSumSquare, onnx_reduce_op), SL_OP_SUM },
  { ONNX_ROW (Relu, onnx_unary_op), SL_OP_RELU },
  { ONNX_ROW (Reshape, onnx_reshape_op), 0 },
  { ONNX_ROW (Resize, onnx_resize), 0 },
  { ONNX_ROW (ReverseSequence, onnx_reverse_sequence), 0 },
  { ONNX_ROW (RoiAlign, onnx_roi_align), 0 },
  { ONNX_ROW (RotaryEmbedding, onnx_rotary_embedding), 0 },
  { ONNX_ROW (Round, onnx_unary_op), SL_OP_ROUND },
  { ONNX_ROW (ScaledTanh, onnx_scaled_tanh), 0 },
  { ONNX_ROW (Scatter, onnx_scatter), SL_OP_SCATTER_ELEMENTS },
  { ONNX_ROW (ScatterElements, onnx_scatter), SL_OP_SCATTER_ELEMENTS },
  { ONNX_ROW (ScatterND, onnx_scatter), SL_OP_SCATTER_ND },
  { ONNX_ROW (Selu, onnx_elu), 0 },
  { ONNX_ROW (Shape, onnx_shape), 0 },
  { ONNX_ROW (Shrink, onnx_shrink), 0 },
  { ONNX_ROW (Sigmoid, onnx_unary_op), SL_OP_LOGISTIC },
  { ONNX_ROW (Sign, onnx_unary_op), SL_OP_SIGN },
  { ONNX_ROW (SimplifiedLayerNormalization, onnx_rms_norm), 0 },
  { ONNX_ROW (Sin, onnx_unary_op), SL_OP_SIN },
  { ONNX_ROW (Sinh, onnx_unary_op), SL_OP_SINH },
  { ONNX_ROW (Size, onnx_size), 0 },
  { ONNX_ROW (Slice, onnx_slice), 0 },
  { ONNX_ROW (Softmax, onnx_softmax), SL_OP_SOFTMAX },
  { ONNX_ROW (Softplus, onnx_softplus), 0 },
  { ONNX_ROW (Softsign, onnx_softsign), 0 },
  { ONNX_ROW (SpaceToDepth, onnx_depth_to_space), SL_OP_SPACE_TO_DEPTH },
  { ONNX_ROW (Split, onnx_split), 0 },
  { ONNX_ROW (Sqrt, onnx_unary_op), SL_OP_SQRT },
  { ONNX_ROW (Squeeze, onnx_squeeze), 0 },
  { ONNX_ROW (Sub, onnx_binary_op), SL_OP_SUB },
  { ONNX_ROW (Sum, onnx_variadic), SL_OP_ADD },
  { ONNX_ROW (Swish, onnx_swish), 0 },
  { ONNX_ROW (Tan, onnx_tan), 0 },
  { ONNX_ROW (Tanh, onnx_unary_op), SL_OP_TANH },
  { ONNX_ROW (ThresholdedRelu, onnx_thresholded_relu), 0 },
  { ONNX_ROW (Tile, onnx_tile), 0 },
  { ONNX_ROW (TopK, onnx_top_k), 0 },
  { ONNX_ROW (Transpose, onnx_transpose_op), 0 },
  { ONNX_ROW (Trilu, onnx_trilu), 0 },
  { ONNX_ROW (Unique, onnx_unique), 0 },
  { ONNX_ROW (Unsqueeze, onnx_unsqueeze), 0 },
  { ONNX_ROW (Upsample, onnx_resize), 0 },
  { ONNX_ROW (Where, onnx_where), 0 },
  { ONNX_ROW (Xor, onnx_xor), 0 },
};

static int
compare (const void *name, const void *row)
{
  return strcmp (name, ((const OnnxOp *) row)->op);
}

const OnnxOp *
onnx_row (const OnnxOp *table, gsize n, const char *op)
{
  return bsearch (op, table, n, sizeof table[0], compare);
}

const OnnxOp *
onnx_shared_op (const char *op)
{
  return onnx_row (rows, G_N_ELEMENTS (rows), op);
}

void
onnx_convert (Onnx *o)
{
  const OnnxOp *outer = o->row;
  o->row = o->find_op != NULL ? o->find_op (o->node->domain, o->node->op) : onnx_shared_op (o->node->op);
  sl_graph_note_import (o->graph, o->row->op);
  if (o->row->convert != NULL)
    o->row->convert (o);
  else
    onnx_fail (o, SL_ERROR_UNSUPPORTED, "operator %s " SL_LEFT_OUT, o->row->op);
  o->row = outer;
}

OnnxValue *
onnx_call (Onnx *o, const char *op, OnnxValue *const *inputs, guint n, const OnnxAttribute *attributes, guint n_attributes)
{
  static const char *const places[MAX_CALLED] = { "<0>", "<1>", "<2>", "<3>" };
  const char *names[MAX_CALLED], *output;
  const OnnxNode *outer = o->node, *caller = o->caller;
  g_return_val_if_fail (n <= MAX_CALLED, NULL);
  if (o->error != NULL)
    return NULL;
  g_autoptr (GHashTable) values = g_hash_table_new (sl_name_hash, g_str_equal);
  OnnxScope scope = { .graph = o->scope->graph, .values = values }, *around = o->scope;
  for (guint i = 0; i < n; i++) {
    names[i] = inputs[i] != NULL ? places[i] : "";
    if (inputs[i] != NULL)
      g_hash_table_insert (values, (gpointer) places[i], inputs[i]);
  }
  output = outer != NULL && outer->n_outputs > 0 ? outer->outputs[0] : "";
  if (output[0] == '\0' || output[0] == '<')
    output = "output";
  const OnnxNode node = { .op = op,
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
  onnx_convert (o);
  o->scope = around;
  o->node = outer;
  o->caller = caller;
  return o->error == NULL ? g_hash_table_lookup (values, output) : NULL;
}
