/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Python's own functions as torch.jit writes them: conversions, getattr, range, and the notes on
 * types, which change nothing. */
#include <string.h>

#include "models/torchscript/code.h"

static TsValue
argument (TsProgram *program, const TsExpr *call, guint i)
{
  if (i < call->n)
    return ts_eval (program, call->items[i]);
  return ts_refuse (program, SL_ERROR_FORMAT, "a call with %u arguments; expected at least %u",
                    call->n, i + 1);
}

static TsValue
convert_int (TsProgram *program, const TsExpr *call)
{
  TsValue value = argument (program, call, 0);
  if (value.kind == TS_TENSOR)
    value = ts_item (program, value);
  if (value.kind == TS_STRING)
    return ts_int (g_ascii_strtoll (value.text, NULL, 10));
  if (value.kind == TS_FLOAT && !(value.real > -9e18 && value.real < 9e18))
    return ts_refuse (program, SL_ERROR_FORMAT, "int() of %g", value.real);
  return ts_int (value.kind == TS_FLOAT ? (gint64) value.real : ts_to_int (program, value));
}

static TsValue
convert_float (TsProgram *program, const TsExpr *call)
{
  TsValue value = argument (program, call, 0);
  return ts_float (value.kind == TS_STRING ? g_ascii_strtod (value.text, NULL)
                                           : ts_to_float (program, value));
}

static TsValue
convert_bool (TsProgram *program, const TsExpr *call)
{
  return ts_bool (ts_truth (program, argument (program, call, 0)));
}

static TsValue
convert_text (TsProgram *program, const TsExpr *call)
{
  const TsValue args[] = { ts_string (program->heap, "{}"), argument (program, call, 0) };
  return ts_run_op (program, "aten::format", args, NULL, 2);
}

/* A note on a type that makes a number of a tensor is an operator in the program's own terms. */
static TsValue
annotate (TsProgram *program, const TsExpr *call)
{
  const TsValue value = argument (program, call, 1);
  const char *type =
    call->n > 0 && call->items[0]->kind == TS_EXPR_NAME ? call->items[0]->text : "";
  const gboolean wants_number = strcmp (type, "int") == 0 || strcmp (type, "float") == 0
                                || strcmp (type, "number") == 0 || strcmp (type, "bool") == 0;
  return value.kind == TS_TENSOR && wants_number ? ts_item (program, value) : value;
}

static TsValue
get_attribute (TsProgram *program, const TsExpr *call)
{
  const TsValue base = argument (program, call, 0), name = argument (program, call, 1);
  if (ts_failed (program) || name.kind != TS_STRING)
    return ts_refuse (program, SL_ERROR_FORMAT, "getattr() needs a name");
  return ts_get_attribute (program, base, name.text);
}

static TsValue
has_attribute (TsProgram *program, const TsExpr *call)
{
  const TsValue base = argument (program, call, 0), name = argument (program, call, 1);
  return ts_bool (name.kind == TS_STRING && ts_has_attribute (program, base, name.text));
}

static gint64
count (gint64 first, gint64 end, gint64 step)
{
  if (step > 0)
    return end > first ? (end - first - 1) / step + 1 : 0;
  return step < 0 && end < first ? (first - end - 1) / -step + 1 : 0;
}

/* A range from 0 in steps of 1 is its length, so that a long one takes no memory. */
static TsValue
range (TsProgram *program, const TsExpr *call)
{
  gint64 numbers[3] = { 0, 0, 1 };
  if (call->n < 1 || call->n > 3)
    return ts_refuse (program, SL_ERROR_FORMAT, "range() with %u arguments", call->n);
  for (guint i = 0; i < call->n; i++)
    numbers[call->n == 1 ? 1 : i] =
      CLAMP (ts_to_int (program, argument (program, call, i)), -G_MAXINT32, G_MAXINT32);
  if (numbers[0] == 0 && numbers[2] == 1)
    return ts_int (MAX (numbers[1], 0));
  const TsValue list = ts_list (program->heap);
  const gint64 n = count (numbers[0], numbers[1], numbers[2]);
  for (gint64 i = 0; i < n && !ts_failed (program); i++)
    ts_list_append (program->heap, list.list, ts_int (numbers[0] + i * numbers[2]));
  return list;
}

static gboolean
is_instance (TsValue value, const TsExpr *type)
{
  static const struct
  {
    const char *name;
    TsKind kind;
  } names[] = {
    { "Tensor", TS_TENSOR }, { "int", TS_INT },       { "float", TS_FLOAT }, { "bool", TS_BOOL },
    { "str", TS_STRING },    { "NoneType", TS_NONE }, { "List", TS_LIST },   { "Dict", TS_DICT },
    { "Tuple", TS_TUPLE },   { "Device", TS_DEVICE },
  };
  const TsExpr *head = type->kind == TS_EXPR_SUBSCRIPT ? type->base : type;
  if (type->kind == TS_EXPR_TUPLE || type->kind == TS_EXPR_LIST) {
    for (guint i = 0; i < type->n; i++)
      if (is_instance (value, type->items[i]))
        return TRUE;
    return FALSE;
  }
  if (type->kind == TS_EXPR_GLOBAL)
    return value.kind == TS_OBJECT && strcmp (value.object->class_name, type->text) == 0;
  if (head != type && strcmp (head->text, "Optional") == 0)
    return value.kind == TS_NONE || is_instance (value, type->items[0]);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (head->text, names[i].name) == 0 && value.kind == names[i].kind)
      return value.kind != TS_LIST || head == type || value.list->n == 0
             || is_instance (value.list->items[0], type->items[0]);
  return FALSE;
}

static TsValue
instance (TsProgram *program, const TsExpr *call)
{
  const TsValue value = argument (program, call, 0);
  return ts_bool (call->n > 1 && is_instance (value, call->items[1]));
}

static TsValue
nothing (TsProgram *program, const TsExpr *call)
{
  for (guint i = 0; i < call->n && call->base->text[0] == 'p'; i++)
    ts_eval (program, call->items[i]);
  return ts_none ();
}

gboolean
ts_builtin (TsProgram *program, const char *name, const TsExpr *call, TsValue *result)
{
  static const struct
  {
    const char *name;
    TsValue (*run) (TsProgram *program, const TsExpr *call);
  } rows[] = {
    { "int", convert_int },       { "float", convert_float },   { "bool", convert_bool },
    { "str", convert_text },      { "annotate", annotate },     { "unchecked_cast", annotate },
    { "uninitialized", nothing }, { "getattr", get_attribute }, { "hasattr", has_attribute },
    { "range", range },           { "isinstance", instance },   { "print", nothing },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    if (strcmp (name, rows[i].name) != 0)
      continue;
    *result = rows[i].run (program, call);
    return TRUE;
  }
  return FALSE;
}
