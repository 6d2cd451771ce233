/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators on the bits of whole numbers. Types of 8 bits are widened, and what comes of them is cut to the type again. */
#include <string.h>

#include "models/onnx/ops.h"

/* The two operands as int32, broadcast; *@dtype is what they were. */
static gboolean
operands (Onnx *o, gint32 inputs[2], gboolean *last, SlDtype *dtype)
{
  OnnxValue *values[2] = { onnx_required (o, 0), onnx_required (o, 1) };
  *last = FALSE;
  *dtype = onnx_dtype (o, values[0]);
  if (o->error != NULL)
    return FALSE;
  if (*dtype == SL_DTYPE_F32 || *dtype != onnx_dtype (o, values[1])) {
    onnx_fail (o, SL_ERROR_UNSUPPORTED, "its inputs are %s and %s; expected whole numbers of one type", sl_dtype_name (*dtype),
               sl_dtype_name (onnx_dtype (o, values[1])));
    return FALSE;
  }
  const guint rank = MAX (values[0]->rank, values[1]->rank);
  for (guint i = 0; i < 2; i++)
    *last |= values[i]->rank == rank && onnx_is_last (values[i]);
  for (guint i = 0; i < 2; i++)
    inputs[i] = onnx_cast (o, onnx_operand (o, values[i], rank, *last), SL_DTYPE_I32);
  return o->error == NULL;
}

void
onnx_bitwise (Onnx *o)
{
  gboolean last = FALSE;
  SlDtype dtype = SL_DTYPE_I32;
  gint32 inputs[2];
  if (operands (o, inputs, &last, &dtype))
    onnx_set (o, 0, onnx_cast (o, onnx_binary (o, o->row->type, inputs[0], inputs[1]), dtype), last);
}

void
onnx_bitwise_not (Onnx *o)
{
  gboolean last = FALSE;
  OnnxValue *value = onnx_required (o, 0);
  const gint32 x = onnx_any (o, value, &last);
  const SlDtype dtype = onnx_dtype (o, value);
  if (o->error != NULL)
    return;
  const gint32 ones = onnx_int_scalar (o, dtype == SL_DTYPE_U8 ? 255 : -1);
  onnx_set (o, 0, onnx_cast (o, onnx_binary (o, SL_OP_BITWISE_XOR, onnx_cast (o, x, SL_DTYPE_I32), ones), dtype), last);
}

/* By n to the left is times 2^n, to the right divided by it: the numbers are unsigned. */
void
onnx_bit_shift (Onnx *o)
{
  const char *direction = onnx_attr_text (o, "direction", "");
  const gboolean left = strcmp (direction, "LEFT") == 0;
  gboolean last = FALSE;
  SlDtype dtype = SL_DTYPE_I32;
  gint32 inputs[2];
  if (!left && strcmp (direction, "RIGHT") != 0)
    onnx_fail (o, SL_ERROR_FORMAT, "attribute direction is '%s'; expected LEFT or RIGHT", direction);
  if (!operands (o, inputs, &last, &dtype))
    return;
  const gint32 power = onnx_binary (o, SL_OP_POW, onnx_int_scalar (o, 2), inputs[1]);
  gint32 y = onnx_binary (o, left ? SL_OP_MUL : SL_OP_DIV, inputs[0], power);
  if (dtype == SL_DTYPE_U8)
    y = onnx_binary (o, SL_OP_BITWISE_AND, y, onnx_int_scalar (o, 255));
  onnx_set (o, 0, onnx_cast (o, y, dtype), last);
}
