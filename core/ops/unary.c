/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Elementwise operators of one operand, shape kept: float32, 8-bit and int16 values; whole numbers
 * where that makes sense. LOOKUP stands for any 8-bit one that a pass has made a table of.
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

static gboolean
is_whole_op (SlOpType op)
{
  return op == SL_OP_ABS || op == SL_OP_NEG || op == SL_OP_SIGN || op == SL_OP_SQUARE
         || op == SL_OP_RELU;
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  const guint32 types = SL_DTYPES_ACTIVATION | SL_DTYPE_BIT (SL_DTYPE_I16)
                        | (is_whole_op (node->op) ? SL_DTYPES_INDEX : 0);
  if (node->op == SL_OP_LEAKY_RELU && !isfinite (node->params.leaky_relu.alpha))
    return sl_node_error (error, node, SL_ERROR_FORMAT, "alpha is not a finite number");
  return sl_node_check_dtype (node, "input", input, types, error)
         && sl_node_check_same_dtype (node, input, output, error)
         && sl_node_check_quant (node, "input", input, error)
         && sl_node_check_quant (node, "output", output, error);
}

static gboolean
lookup_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *table = sl_node_input (graph, node, 1);
  if (table->data == NULL || table->dtype != SL_DTYPE_U8 || table->bytes != 256)
    return sl_node_error (error, node, SL_ERROR_FORMAT,
                          "the table must be a constant of 256 bytes");
  return sl_node_check_dtype (node, "input", sl_node_input (graph, node, 0), SL_DTYPES_8BIT, error)
         && sl_node_check_outputs (graph, node, SL_DTYPES_8BIT, error);
}

#define UNARY(symbol, op)                                                             \
  const SlOp symbol = {                                                               \
    SL_OP_ROW (op, 1, 1, 1, check, sl_node_same_shape_infer, sl_kernel_unary_prepare, \
               sl_kernel_unary),                                                      \
    .in_place = TRUE,                                                                 \
  }

UNARY (sl_op_logistic, LOGISTIC);
UNARY (sl_op_relu, RELU);
UNARY (sl_op_relu6, RELU6);
UNARY (sl_op_relu_n1_to_1, RELU_N1_TO_1);
UNARY (sl_op_relu_0_to_1, RELU_0_TO_1);
UNARY (sl_op_leaky_relu, LEAKY_RELU);
UNARY (sl_op_elu, ELU);
UNARY (sl_op_gelu, GELU);
UNARY (sl_op_silu, SILU);
UNARY (sl_op_mish, MISH);
UNARY (sl_op_hard_swish, HARD_SWISH);
UNARY (sl_op_tanh, TANH);
UNARY (sl_op_abs, ABS);
UNARY (sl_op_neg, NEG);
UNARY (sl_op_sign, SIGN);
UNARY (sl_op_floor, FLOOR);
UNARY (sl_op_ceil, CEIL);
UNARY (sl_op_round, ROUND);
UNARY (sl_op_exp, EXP);
UNARY (sl_op_log, LOG);
UNARY (sl_op_sqrt, SQRT);
UNARY (sl_op_rsqrt, RSQRT);
UNARY (sl_op_square, SQUARE);
UNARY (sl_op_sin, SIN);
UNARY (sl_op_cos, COS);
UNARY (sl_op_erf, ERF);
UNARY (sl_op_asin, ASIN);
UNARY (sl_op_acos, ACOS);
UNARY (sl_op_atan, ATAN);
UNARY (sl_op_sinh, SINH);
UNARY (sl_op_cosh, COSH);
UNARY (sl_op_asinh, ASINH);
UNARY (sl_op_acosh, ACOSH);
UNARY (sl_op_atanh, ATANH);

const SlOp sl_op_lookup = { SL_OP_ROW (LOOKUP, 2, 2, 1, lookup_check, sl_node_same_shape_infer,
                                       NULL, sl_kernel_lookup),
                            .in_place = TRUE };
