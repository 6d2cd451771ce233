/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors of the program in the graph: arguments read, results boxed, operators of ONNX called with them. */
#include <string.h>

#include "core/base/saturate.h"
#include "models/torchscript/ops.h"
#include "models/torchscript/view.h"

/* Inputs and outputs of one operator. */
#define MAX_EDGES 256

OnnxValue *
ts_read (TsProgram *program, TsValue value)
{
  if (ts_failed (program))
    return NULL;
  if (value.kind != TS_TENSOR) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED, "an argument is of type %s; expected Tensor", ts_kind_name (value.kind));
    return NULL;
  }
  ts_refresh (program, value.tensor);
  return ts_tensor_value (&program->onnx, program->heap, value.tensor);
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
ts_new (TsProgram *program, OnnxValue *value, TsDtype dtype)
{
  return ts_failed (program) || value == NULL ? ts_none () : ts_tensor (program->heap, value, dtype);
}

TsValue
ts_new_plain (TsProgram *program, gint32 tensor, TsDtype dtype)
{
  return ts_failed (program) ? ts_none () : ts_new (program, onnx_value_new (&program->onnx, tensor, FALSE), dtype);
}

TsValue
ts_new_last (TsProgram *program, gint32 tensor, TsDtype dtype)
{
  return ts_failed (program) ? ts_none () : ts_new (program, onnx_value_new (&program->onnx, tensor, TRUE), dtype);
}

OnnxValue *
ts_constant_ints (TsProgram *program, const gint64 *values, guint n)
{
  gint32 narrow[SL_MAX_OPERANDS];
  for (guint i = 0; i < MIN (n, SL_MAX_OPERANDS); i++)
    narrow[i] = (gint32) CLAMP (values[i], G_MININT32, G_MAXINT32);
  if (n == 0)
    return onnx_value_empty (&program->onnx, 1, (const gint32[]){ 0 });
  return onnx_value_new (&program->onnx, onnx_ints_constant (&program->onnx, narrow, MIN (n, SL_MAX_OPERANDS)), FALSE);
}

OnnxValue *
ts_constant_floats (TsProgram *program, const gfloat *values, guint n)
{
  const gint32 dims[1] = { (gint32) n };
  return onnx_value_new (&program->onnx, onnx_constant (&program->onnx, SL_DTYPE_F32, 1, dims, values), FALSE);
}

OnnxValue *
ts_scalar (TsProgram *program, TsValue number, TsDtype dtype)
{
  Onnx *o = &program->onnx;
  if (ts_failed (program))
    return NULL;
  const gdouble real = ts_to_float (program, number);
  const gint32 whole = number.kind == TS_INT ? (gint32) CLAMP (number.number, G_MININT32, G_MAXINT32) : sl_saturate (real);
  switch (ts_dtype_graph (dtype)) {
    case SL_DTYPE_F32:
      return onnx_value_new (o, onnx_float (o, (gfloat) real), FALSE);
    case SL_DTYPE_I32:
      return onnx_value_new (o, onnx_int_scalar (o, whole), FALSE);
    default:
      return onnx_value_new (o, onnx_cast (o, onnx_int_scalar (o, whole), ts_dtype_graph (dtype)), FALSE);
  }
}

OnnxValue *
ts_cast (TsProgram *program, OnnxValue *value, TsDtype dtype)
{
  gboolean last = FALSE;
  const SlDtype type = ts_dtype_graph (dtype);
  Onnx *o = &program->onnx;
  if (ts_failed (program) || value == NULL || value->empty || onnx_dtype (o, value) == type)
    return value;
  if (type == SL_DTYPE_INVALID) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED, "tensors of %s are not supported", ts_dtype_name (dtype));
    return NULL;
  }
  const gint32 tensor = onnx_any (o, value, &last);
  return onnx_value_new (o, onnx_cast (o, tensor, type), last);
}

OnnxAttribute
ts_attr_int (const char *name, gint64 i)
{
  return (OnnxAttribute){ .name = name, .i = i };
}

OnnxAttribute
ts_attr_float (const char *name, gdouble f)
{
  return (OnnxAttribute){ .name = name, .f = (gfloat) f };
}

OnnxAttribute
ts_attr_ints (TsProgram *program, const char *name, const gint64 *ints, guint n)
{
  return (
    OnnxAttribute){ .name = name, .n_ints = n, .ints = n > 0 ? sl_arena_memdup (program->heap->arena, ints, n * sizeof ints[0]) : NULL };
}

OnnxAttribute
ts_attr_text (const char *name, const char *text)
{
  return (OnnxAttribute){ .name = name, .text = { text, strlen (text) } };
}

/* The first output is called as the program's operator, "conv2d". */
static const char *
output_name (const TsProgram *program)
{
  const char *colon = program->op != NULL ? strrchr (program->op, ':') : NULL;
  return colon != NULL ? colon + 1 : "output";
}

gboolean
ts_onnx_all (TsProgram *program, const char *op, OnnxValue *const *inputs, guint n, const OnnxAttribute *attributes, guint n_attributes,
             OnnxValue **outputs, guint n_outputs)
{
  const char *names[2 * MAX_EDGES];
  char texts[MAX_EDGES][8];
  Onnx *o = &program->onnx;
  if (ts_failed (program))
    return FALSE;
  if (n > MAX_EDGES - n_outputs) {
    ts_refuse (program, SL_ERROR_LIMIT, "%u tensors for one operator; expected at most %u", n, MAX_EDGES - n_outputs);
    return FALSE;
  }
  const OnnxNode node = { .op = op,
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
  onnx_convert (o);
  for (guint i = 0; i < n_outputs; i++)
    outputs[i] = g_hash_table_lookup (program->scope.values, names[n + i]);
  o->node = NULL;
  g_hash_table_remove_all (program->scope.values);
  return !ts_failed (program);
}

OnnxValue *
ts_onnx (TsProgram *program, const char *op, OnnxValue *const *inputs, guint n, const OnnxAttribute *attributes, guint n_attributes)
{
  OnnxValue *output = NULL;
  return ts_onnx_all (program, op, inputs, n, attributes, n_attributes, &output, 1) ? output : NULL;
}
