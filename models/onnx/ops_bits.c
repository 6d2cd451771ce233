/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators on the bits of whole numbers. Types of 8 bits are widened, and what comes of them is
 * cut to the type again. */
#include <string.h>

#include "models/onnx/ops.h"

/* The two operands as int32, broadcast; *@dtype is what they were. */
static gboolean
operands (Lower *o, gint32 inputs[2], gboolean *last, SlDtype *dtype)
{
  LowerValue *values[2] = { lower_required (o, 0), lower_required (o, 1) };
  *last = FALSE;
  *dtype = lower_dtype (o, values[0]);
  if (o->error != NULL)
    return FALSE;
  if (*dtype == SL_DTYPE_F32 || *dtype != lower_dtype (o, values[1]))
    return lower_refuse (o, SL_ERROR_UNSUPPORTED,
                         "its inputs are %s and %s; expected whole numbers of one type",
                         sl_dtype_name (*dtype), sl_dtype_name (lower_dtype (o, values[1])));
  const guint rank = MAX (values[0]->rank, values[1]->rank);
  for (guint i = 0; i < 2; i++)
    *last |= values[i]->rank == rank && lower_is_last (values[i]);
  for (guint i = 0; i < 2; i++)
    inputs[i] = lower_cast (o, lower_operand (o, values[i], rank, *last), SL_DTYPE_I32);
  return o->error == NULL;
}

static void
onnx_bitwise (Lower *o)
{
  gboolean last = FALSE;
  SlDtype dtype = SL_DTYPE_I32;
  gint32 inputs[2];
  if (operands (o, inputs, &last, &dtype))
    lower_set (o, 0, lower_cast (o, lower_binary (o, o->row->type, inputs[0], inputs[1]), dtype),
               last);
}

static void
onnx_bitwise_not (Lower *o)
{
  gboolean last = FALSE;
  LowerValue *value = lower_required (o, 0);
  const gint32 x = lower_any (o, value, &last);
  const SlDtype dtype = lower_dtype (o, value);
  if (o->error != NULL)
    return;
  const gint32 ones = lower_int_scalar (o, dtype == SL_DTYPE_U8 ? 255 : -1);
  lower_set (o, 0,
             lower_cast (o,
                         lower_binary (o, SL_OP_BITWISE_XOR, lower_cast (o, x, SL_DTYPE_I32), ones),
                         dtype),
             last);
}

/* By n to the left is times 2^n. */
static void
onnx_bit_shift (Lower *o)
{
  const char *direction = lower_attr_text (o, "direction", "");
  const gboolean left = strcmp (direction, "LEFT") == 0;
  gboolean last = FALSE;
  SlDtype dtype = SL_DTYPE_I32;
  gint32 inputs[2];
  if (!left && strcmp (direction, "RIGHT") != 0)
    lower_fail (o, SL_ERROR_FORMAT, "attribute direction is '%s'; expected LEFT or RIGHT",
                direction);
  if (!operands (o, inputs, &last, &dtype))
    return;
  gint32 y;
  if (left)
    y = lower_binary (o, SL_OP_MUL, inputs[0],
                      lower_binary (o, SL_OP_POW, lower_int_scalar (o, 2), inputs[1]));
  else
    y = lower_emit (o, SL_OP_RIGHT_SHIFT, inputs, 2, &(SlOpParams){ .shift = { SL_SHIFT_LOGICAL } },
                    lower_tensor_type (o, inputs[0]));
  if (left && dtype == SL_DTYPE_U8)
    y = lower_binary (o, SL_OP_BITWISE_AND, y, lower_int_scalar (o, 255));
  lower_set (o, 0, lower_cast (o, y, dtype), last);
}

const LowerOp onnx_ops_bits[] = {
  { LOWER_ROW (BitShift, onnx_bit_shift), 0 },
  { LOWER_ROW (BitwiseAnd, onnx_bitwise), SL_OP_BITWISE_AND },
  { LOWER_ROW (BitwiseNot, onnx_bitwise_not), 0 },
  { LOWER_ROW (BitwiseOr, onnx_bitwise), SL_OP_BITWISE_OR },
  { LOWER_ROW (BitwiseXor, onnx_bitwise), SL_OP_BITWISE_XOR },
  { NULL },
};
