/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Elementwise operators of one operand, shape kept: float32, 8-bit and int16 values; whole numbers where that makes
 * sense. LOOKUP stands for any 8-bit one that a pass has made a table of.
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

static gboolean
is_whole_op (SlOpType op)
{
  return op == SL_OP_ABS || op == SL_OP_NEG || op == SL_OP_SIGN || op == SL_OP_SQUARE || op == SL_OP_RELU;
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  const guint32 types = SL_DTYPES_ACTIVATION | SL_DTYPE_BIT (SL_DTYPE_I16) | (is_whole_op (node->op) ? SL_DTYPES_INDEX : 0);
  if (node->op == SL_OP_LEAKY_RELU && !isfinite (node->params.leaky_relu.alpha))
    return sl_node_error (error, node, SL_ERROR_FORMAT, "alpha is not a finite number");
  return sl_node_check_dtype (node, "input", input, types, error) && sl_node_check_same_dtype (node, input, output, error)
         && sl_node_check_quant (node, "input", input, error) && sl_node_check_quant (node, "output", output, error);
}

static gboolean
lookup_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *table = sl_node_input (graph, node, 1);
  if (table->data == NULL || table->dtype != SL_DTYPE_U8 || table->bytes != 256)
    return sl_node_error (error, node, SL_ERROR_FORMAT, "the table must be a constant of 256 bytes");
  return sl_node_check_dtype (node, "input", sl_node_input (graph, node, 0), SL_DTYPES_8BIT, error)
         && sl_node_check_dtype (node, "output", sl_node_output (graph, node, 0), SL_DTYPES_8BIT, error);
}

#define UNARY(symbol, op_type, op_name) \
  const SlOp symbol = {                 \
    .type = op_type,                    \
    .name = op_name,                    \
    .min_inputs = 1,                    \
    .max_inputs = 1,                    \
    .required = 1,                      \
    .n_outputs = 1,                     \
    .in_place = TRUE,                   \
    .check = check,                     \
    .infer = sl_node_same_shape_infer,  \
    .prepare = sl_kernel_unary_prepare, \
    .run = sl_kernel_unary,             \
  }

UNARY (sl_op_logistic, SL_OP_LOGISTIC, "LOGISTIC");
UNARY (sl_op_relu, SL_OP_RELU, "RELU");
UNARY (sl_op_relu6, SL_OP_RELU6, "RELU6");
UNARY (sl_op_relu_n1_to_1, SL_OP_RELU_N1_TO_1, "RELU_N1_TO_1");
UNARY (sl_op_relu_0_to_1, SL_OP_RELU_0_TO_1, "RELU_0_TO_1");
UNARY (sl_op_leaky_relu, SL_OP_LEAKY_RELU, "LEAKY_RELU");
UNARY (sl_op_elu, SL_OP_ELU, "ELU");
UNARY (sl_op_gelu, SL_OP_GELU, "GELU");
UNARY (sl_op_silu, SL_OP_SILU, "SILU");
UNARY (sl_op_mish, SL_OP_MISH, "MISH");
UNARY (sl_op_hard_swish, SL_OP_HARD_SWISH, "HARD_SWISH");
UNARY (sl_op_tanh, SL_OP_TANH, "TANH");
UNARY (sl_op_abs, SL_OP_ABS, "ABS");
UNARY (sl_op_neg, SL_OP_NEG, "NEG");
UNARY (sl_op_sign, SL_OP_SIGN, "SIGN");
UNARY (sl_op_floor, SL_OP_FLOOR, "FLOOR");
UNARY (sl_op_ceil, SL_OP_CEIL, "CEIL");
UNARY (sl_op_round, SL_OP_ROUND, "ROUND");
UNARY (sl_op_exp, SL_OP_EXP, "EXP");
UNARY (sl_op_log, SL_OP_LOG, "LOG");
UNARY (sl_op_sqrt, SL_OP_SQRT, "SQRT");
UNARY (sl_op_rsqrt, SL_OP_RSQRT, "RSQRT");
UNARY (sl_op_square, SL_OP_SQUARE, "SQUARE");
UNARY (sl_op_sin, SL_OP_SIN, "SIN");
UNARY (sl_op_cos, SL_OP_COS, "COS");
UNARY (sl_op_erf, SL_OP_ERF, "ERF");
UNARY (sl_op_asin, SL_OP_ASIN, "ASIN");
UNARY (sl_op_acos, SL_OP_ACOS, "ACOS");
UNARY (sl_op_atan, SL_OP_ATAN, "ATAN");
UNARY (sl_op_sinh, SL_OP_SINH, "SINH");
UNARY (sl_op_cosh, SL_OP_COSH, "COSH");
UNARY (sl_op_asinh, SL_OP_ASINH, "ASINH");
UNARY (sl_op_acosh, SL_OP_ACOSH, "ACOSH");
UNARY (sl_op_atanh, SL_OP_ATANH, "ATANH");

const SlOp sl_op_lookup = {
  .type = SL_OP_LOOKUP,
  .name = "LOOKUP",
  .min_inputs = 2,
  .max_inputs = 2,
  .required = 2,
  .n_outputs = 1,
  .in_place = TRUE,
  .check = lookup_check,
  .infer = sl_node_same_shape_infer,
  .run = sl_kernel_lookup,
};
