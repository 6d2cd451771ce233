/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators of two operands with NumPy broadcasting: float32, 8-bit and int16 values, and whole
 * numbers (int32, int64); ADD, SUB, MUL and DIV with a fused activation.
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

#define TYPES (SL_DTYPES_ACTIVATION | SL_DTYPE_BIT (SL_DTYPE_I16) | SL_DTYPES_INDEX)
#define REAL_TYPES (SL_DTYPES_ACTIVATION | SL_DTYPE_BIT (SL_DTYPE_I16))

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *tensors[] = { sl_node_input (graph, node, 0), sl_node_input (graph, node, 1),
                                sl_node_output (graph, node, 0) };
  const gboolean bitwise =
    node->op == SL_OP_BITWISE_AND || node->op == SL_OP_BITWISE_OR || node->op == SL_OP_BITWISE_XOR;
  const gboolean real = node->op == SL_OP_PRELU || node->op == SL_OP_ATAN2;
  const guint32 types = real ? REAL_TYPES : bitwise ? SL_DTYPES_INDEX : TYPES;
  for (guint i = 0; i < 3; i++) {
    const char *role = i < 2 ? "input" : "output";
    if (!sl_node_check_dtype (node, role, tensors[i], types, error)
        || !sl_node_check_same_dtype (node, tensors[0], tensors[i], error)
        || !sl_node_check_quant (node, role, tensors[i], error))
      return FALSE;
  }
  return TRUE;
}

#define BINARY(symbol, op)                                                            \
  const SlOp symbol = {                                                               \
    SL_OP_ROW (op, 2, 2, 1, check, sl_node_infer_broadcast, sl_kernel_binary_prepare, \
               sl_kernel_broadcast),                                                  \
    .in_place = TRUE,                                                                 \
  }

BINARY (sl_op_add, ADD);
BINARY (sl_op_sub, SUB);
BINARY (sl_op_mul, MUL);
BINARY (sl_op_div, DIV);
BINARY (sl_op_maximum, MAXIMUM);
BINARY (sl_op_minimum, MINIMUM);
BINARY (sl_op_squared_difference, SQUARED_DIFFERENCE);
BINARY (sl_op_pow, POW);
BINARY (sl_op_floor_div, FLOOR_DIV);
BINARY (sl_op_floor_mod, FLOOR_MOD);
BINARY (sl_op_atan2, ATAN2);
BINARY (sl_op_fmod, FMOD);
BINARY (sl_op_bitwise_and, BITWISE_AND);
BINARY (sl_op_bitwise_or, BITWISE_OR);
BINARY (sl_op_bitwise_xor, BITWISE_XOR);
BINARY (sl_op_prelu, PRELU);
