/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that name an element type by ONNX's number for it, or hold a constant of the file. */
#include "models/onnx/ops.h"

/* float64 and float16 are float32 here, and whole numbers int32; what a file stores at its edges is
 * another matter. */
static void
onnx_cast_op (Lower *o)
{
  const gint64 to = lower_attr_int (o, "to", 0);
  const SlDtype dtype = to > 0 && to < 64 ? onnx_ir_type ((guint) to) : SL_DTYPE_INVALID;
  gboolean last = FALSE;
  LowerValue *value = lower_required (o, 0);
  if (lower_fail_if (o, dtype == SL_DTYPE_INVALID, SL_ERROR_UNSUPPORTED,
                     "attribute to is %s, which is not supported",
                     onnx_type_name ((guint) CLAMP (to, 0, 64))))
    return;
  if (value != NULL && value->empty) {
    lower_set_value (o, 0, value);
    return;
  }
  gint32 x = lower_any (o, value, &last);
  if (lower_t (o, x)->dtype == SL_DTYPE_I8 && lower_t (o, x)->quant.count == 1 && o->signed_codes) {
    /* The file's codes are uint8; here they are int8, which only a type of more bits tells. */
    if (dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I8) {
      lower_set_value (o, 0, value);
      return;
    }
    x = lower_unsigned (o, x);
  }
  lower_set (o, 0, lower_cast (o, x, dtype), last);
}

/* The type alone of the second input counts. */
static void
onnx_cast_like (Lower *o)
{
  const SlDtype dtype = lower_dtype (o, lower_required (o, 1));
  LowerValue *value = lower_required (o, 0);
  gboolean last = FALSE;
  if (value != NULL && value->empty) {
    lower_set_value (o, 0, value);
    return;
  }
  const gint32 x = lower_any (o, value, &last);
  lower_set (o, 0, lower_cast (o, x, dtype), last);
}

static void
onnx_constant_op (Lower *o)
{
  const LowerAttribute *a = NULL;
  if ((a = lower_attribute (o, "value")) != NULL && a->tensor != NULL) {
    lower_set_value (
      o, 0, onnx_read_constant (o, *a->tensor, o->node->n_outputs > 0 ? o->node->outputs[0] : ""));
  } else if ((a = lower_attribute (o, "value_float")) != NULL) {
    lower_set (o, 0, lower_float (o, a->f), FALSE);
  } else if ((a = lower_attribute (o, "value_int")) != NULL) {
    lower_set (o, 0, lower_int_scalar (o, (gint32) CLAMP (a->i, G_MININT32, G_MAXINT32)), FALSE);
  } else if ((a = lower_attribute (o, "value_floats")) != NULL && a->n_floats > 0) {
    lower_set (
      o, 0,
      lower_constant (o, SL_DTYPE_F32, 1, (const gint32[]){ (gint32) a->n_floats }, a->floats),
      FALSE);
  } else if ((a = lower_attribute (o, "value_ints")) != NULL && a->n_ints > 0) {
    g_autofree gint32 *values = g_new (gint32, a->n_ints);
    for (guint i = 0; i < a->n_ints; i++)
      values[i] = (gint32) CLAMP (a->ints[i], G_MININT32, G_MAXINT32);
    lower_set (o, 0, lower_ints_constant (o, values, a->n_ints), FALSE);
  } else {
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "%s; expected value, value_float, value_int, value_floats or value_ints",
                lower_attribute (o, "sparse_value") != NULL
                  ? "attribute sparse_value is not supported: export the model with dense constants"
                  : "it has no value that is supported");
  }
}

static void
onnx_constant_of_shape (Lower *o)
{
  const LowerAttribute *attribute = lower_attribute (o, "value");
  gint32 dims[SL_MAX_RANK], value = -1;
  guint rank = 0;
  if (!lower_input_ints (o, 0, "shape", dims, SL_MAX_RANK, &rank) || o->error != NULL)
    return;
  for (guint i = 0; i < rank; i++)
    if (dims[i] == 0) {
      lower_set_value (o, 0, lower_value_empty (o, rank, dims));
      return;
    }
  if (attribute != NULL && attribute->tensor != NULL)
    value = lower_plain (o, onnx_read_constant (o, *attribute->tensor, "value"));
  else
    value = lower_float (o, 0);
  if (o->error == NULL && rank == 0)
    lower_set (o, 0, lower_reshape (o, value, NULL, 0), FALSE);
  else
    lower_set (o, 0,
               lower_emit (o, SL_OP_FILL,
                           (const gint32[]){ lower_ints_constant (o, dims, rank), value }, 2, NULL,
                           lower_tensor_type (o, value)),
               FALSE);
}

/* Ones on a diagonal, in the shape of the input. */
static void
onnx_eye_like (Lower *o)
{
  const LowerValue *x = lower_required (o, 0);
  const gint64 k = CLAMP (lower_attr_int (o, "k", 0), -MAX_DIAGONAL, MAX_DIAGONAL),
               to = lower_attr_int (o, "dtype", 0);
  const SlDtype dtype = to > 0 && to < 64 ? onnx_ir_type ((guint) to) : lower_dtype (o, x);
  if (o->error != NULL)
    return;
  if (lower_fail_if (o, x->rank != 2 || x->empty || dtype == SL_DTYPE_INVALID, SL_ERROR_SHAPE,
                     "its input has %u dimensions, and attribute dtype is %" G_GINT64_FORMAT
                     "; expected a matrix and a type of numbers",
                     x->rank, to))
    return;
  const gint32 columns = lower_count (o, 0, x->dims[1]),
               rows = lower_reshape (o, lower_count (o, k, k + x->dims[0]),
                                     (const gint32[]){ x->dims[0], 1 }, 2);
  lower_set (o, 0,
             lower_cast (o,
                         lower_emit (o, SL_OP_EQUAL, (const gint32[]){ columns, rows }, 2, NULL,
                                     SL_DTYPE_BOOL),
                         dtype),
             FALSE);
}

const LowerOp onnx_ops_types[] = {
  { LOWER_ROW (Cast, onnx_cast_op), 0 },
  { LOWER_ROW (CastLike, onnx_cast_like), 0 },
  { LOWER_ROW (Constant, onnx_constant_op), 0 },
  { LOWER_ROW (ConstantOfShape, onnx_constant_of_shape), 0 },
  { LOWER_ROW (EyeLike, onnx_eye_like), 0 },
  { NULL },
};
