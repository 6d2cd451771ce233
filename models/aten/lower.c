/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors of the program in the graph: arguments read, results boxed, operators of ONNX called with
 * them. */
#include <string.h>

#include "core/base/saturate.h"
#include "models/aten/ops.h"
#include "models/aten/view.h"

/* Inputs and outputs of one operator. */
#define MAX_EDGES 256

LowerValue *
ts_read (TsProgram *program, TsValue value)
{
  if (ts_failed (program))
    return NULL;
  if (value.kind != TS_TENSOR) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED, "an argument is of type %s; expected Tensor",
               ts_kind_name (value.kind));
    return NULL;
  }
  ts_refresh (program, value.tensor);
  return ts_tensor_value (&program->lower, program->heap, value.tensor);
}

void
ts_write (TsProgram *program, TsTensor *box, TsValue result)
{
  if (ts_failed (program) || result.tensor == box)
    return;
  *box = *result.tensor;
  ts_write_back (program, box);
}

TsValue
ts_new (TsProgram *program, LowerValue *value, TsDtype dtype)
{
  return ts_failed (program) || value == NULL ? ts_none ()
                                              : ts_tensor (program->heap, value, dtype);
}

TsValue
ts_new_plain (TsProgram *program, gint32 tensor, TsDtype dtype)
{
  return ts_failed (program)
           ? ts_none ()
           : ts_new (program, lower_value_new (&program->lower, tensor, FALSE), dtype);
}

TsValue
ts_new_last (TsProgram *program, gint32 tensor, TsDtype dtype)
{
  return ts_failed (program)
           ? ts_none ()
           : ts_new (program, lower_value_new (&program->lower, tensor, TRUE), dtype);
}

LowerValue *
ts_constant_ints (TsProgram *program, const gint64 *values, guint n)
{
  gint32 narrow[SL_MAX_OPERANDS];
  for (guint i = 0; i < MIN (n, SL_MAX_OPERANDS); i++)
    narrow[i] = (gint32) CLAMP (values[i], G_MININT32, G_MAXINT32);
  if (n == 0)
    return lower_value_empty (&program->lower, 1, (const gint32[]){ 0 });
  return lower_value_new (&program->lower,
                          lower_ints_constant (&program->lower, narrow, MIN (n, SL_MAX_OPERANDS)),
                          FALSE);
}

LowerValue *
ts_constant_floats (TsProgram *program, const gfloat *values, guint n)
{
  const gint32 dims[1] = { (gint32) n };
  return lower_value_new (&program->lower,
                          lower_constant (&program->lower, SL_DTYPE_F32, 1, dims, values), FALSE);
}

LowerValue *
ts_scalar (TsProgram *program, TsValue number, TsDtype dtype)
{
  Lower *o = &program->lower;
  if (ts_failed (program))
    return NULL;
  const gdouble real = ts_to_float (program, number);
  const gint32 whole = number.kind == TS_INT
                         ? (gint32) CLAMP (number.number, G_MININT32, G_MAXINT32)
                         : sl_saturate (real);
  switch (ts_dtype_graph (dtype)) {
    case SL_DTYPE_F32:
      return lower_value_new (o, lower_float (o, (gfloat) real), FALSE);
    case SL_DTYPE_I32:
      return lower_value_new (o, lower_int_scalar (o, whole), FALSE);
    default:
      return lower_value_new (
        o, lower_cast (o, lower_int_scalar (o, whole), ts_dtype_graph (dtype)), FALSE);
  }
}

LowerValue *
ts_cast (TsProgram *program, LowerValue *value, TsDtype dtype)
{
  gboolean last = FALSE;
  const SlDtype type = ts_dtype_graph (dtype);
  Lower *o = &program->lower;
  if (ts_failed (program) || value == NULL || value->empty || lower_dtype (o, value) == type)
    return value;
  if (type == SL_DTYPE_INVALID) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED, "tensors of %s are not supported",
               ts_dtype_name (dtype));
    return NULL;
  }
  const gint32 tensor = lower_any (o, value, &last);
  return lower_value_new (o, lower_cast (o, tensor, type), last);
}

LowerAttribute
ts_attr_int (const char *name, gint64 i)
{
  return (LowerAttribute){ .name = name, .i = i };
}

LowerAttribute
ts_attr_float (const char *name, gdouble f)
{
  return (LowerAttribute){ .name = name, .f = (gfloat) f };
}

LowerAttribute
ts_attr_ints (TsProgram *program, const char *name, const gint64 *ints, guint n)
{
  return (LowerAttribute){
    .name = name,
    .n_ints = n,
    .ints = n > 0 ? sl_arena_memdup (program->heap->arena, ints, n * sizeof ints[0]) : NULL
  };
}

LowerAttribute
ts_attr_text (const char *name, const char *text)
{
  return (LowerAttribute){ .name = name, .text = { text, strlen (text) } };
}

/* The first output is called as the program's operator, "conv2d". */
static const char *
output_name (const TsProgram *program)
{
  const char *colon = program->op != NULL ? strrchr (program->op, ':') : NULL;
  return colon != NULL ? colon + 1 : "output";
}

gboolean
ts_onnx_all (TsProgram *program, const char *op, LowerValue *const *inputs, guint n,
             const LowerAttribute *attributes, guint n_attributes, LowerValue **outputs,
             guint n_outputs)
{
  const char *names[2 * MAX_EDGES];
  char texts[MAX_EDGES][8];
  Lower *o = &program->lower;
  if (ts_failed (program))
    return FALSE;
  if (n > MAX_EDGES - n_outputs) {
    ts_refuse (program, SL_ERROR_LIMIT, "%u tensors for one operator; expected at most %u", n,
               MAX_EDGES - n_outputs);
    return FALSE;
  }
  const LowerNode node = { .op = op,
                           .domain = "",
                           .name = "",
                           .index = (guint) MIN (program->steps, G_MAXUINT),
                           .n_inputs = n,
                           .n_outputs = n_outputs,
                           .n_attributes = n_attributes,
                           .inputs = names,
                           .outputs = names + n,
                           .attributes = attributes };
  for (guint i = 0; i < n; i++) {
    g_snprintf (texts[i], sizeof texts[i], "%u", i);
    names[i] = inputs[i] != NULL ? texts[i] : "";
    if (inputs[i] != NULL)
      g_hash_table_insert (program->scope.values, texts[i], inputs[i]);
  }
  for (guint i = 0; i < n_outputs; i++) {
    g_snprintf (texts[n + i], sizeof texts[n + i], "o%u", i);
    names[n + i] = i == 0 ? output_name (program) : texts[n + i];
  }
  o->node = &node;
  lower_convert (o);
  for (guint i = 0; i < n_outputs; i++)
    outputs[i] = g_hash_table_lookup (program->scope.values, names[n + i]);
  o->node = NULL;
  g_hash_table_remove_all (program->scope.values);
  return !ts_failed (program);
}

LowerValue *
ts_onnx (TsProgram *program, const char *op, LowerValue *const *inputs, guint n,
         const LowerAttribute *attributes, guint n_attributes)
{
  LowerValue *output = NULL;
  return ts_onnx_all (program, op, inputs, n, attributes, n_attributes, &output, 1) ? output : NULL;
}

LowerValue *
ts_onnx_pair (TsProgram *program, const char *op, LowerValue *a, LowerValue *b)
{
  return ts_onnx (program, op, (LowerValue *[]){ a, b }, 2, NULL, 0);
}
