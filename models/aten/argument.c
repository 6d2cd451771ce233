/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arguments of operators as numbers, truth values, lists of numbers and dimensions. */
#include "models/aten/ops.h"

TsValue
ts_item (TsProgram *program, TsValue tensor)
{
  gsize n = 0;
  LowerValue *value = ts_read (program, tensor);
  const void *data = value != NULL ? lower_data (&program->lower, value, &n) : NULL;
  if (ts_failed (program))
    return ts_none ();
  if (data == NULL)
    return ts_refuse (
      program, SL_ERROR_UNSUPPORTED,
      "a number is needed that depends on the picture; only what follows from shapes and constants "
      "is supported here");
  if (n != 1)
    return ts_refuse (program, SL_ERROR_FORMAT,
                      "a tensor of %" G_GSIZE_FORMAT " elements where one number is needed", n);
  switch (lower_dtype (&program->lower, value)) {
    case SL_DTYPE_F32:
      return ts_float ((gdouble) * (const gfloat *) data);
    case SL_DTYPE_I32:
      return ts_int (*(const gint32 *) data);
    case SL_DTYPE_BOOL:
      return ts_bool (*(const guint8 *) data != 0);
    case SL_DTYPE_U8:
      return ts_int (*(const guint8 *) data);
    case SL_DTYPE_I8:
      return ts_int (*(const gint8 *) data);
    default:
      return ts_refuse (program, SL_ERROR_UNSUPPORTED, "a number of %s is not supported",
                        ts_dtype_name (tensor.tensor->dtype));
  }
}

gboolean
ts_is_number (TsValue value)
{
  return value.kind == TS_INT || value.kind == TS_FLOAT || value.kind == TS_BOOL;
}

gint64
ts_to_int (TsProgram *program, TsValue value)
{
  if (value.kind == TS_TENSOR)
    value = ts_item (program, value);
  if (value.kind == TS_INT || value.kind == TS_BOOL)
    return value.kind == TS_INT ? value.number : value.truth != FALSE;
  if (value.kind == TS_FLOAT && value.real > -9e18 && value.real < 9e18)
    return (gint64) value.real;
  ts_refuse (program, SL_ERROR_FORMAT, "a value of type %s where a whole number is needed",
             ts_kind_name (value.kind));
  return 0;
}

gdouble
ts_to_float (TsProgram *program, TsValue value)
{
  if (value.kind == TS_TENSOR)
    value = ts_item (program, value);
  if (value.kind == TS_FLOAT)
    return value.real;
  return (gdouble) ts_to_int (program, value);
}

gboolean
ts_to_ints (TsProgram *program, TsValue value, gint64 *ints, guint most, guint *n)
{
  *n = 0;
  if (value.kind != TS_LIST && value.kind != TS_TUPLE) {
    ints[0] = ts_to_int (program, value);
    *n = 1;
    return !ts_failed (program);
  }
  if (value.list->n > most) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED, "a list of %u numbers; expected at most %u",
               value.list->n, most);
    return FALSE;
  }
  for (; *n < value.list->n; ++*n)
    ints[*n] = ts_to_int (program, value.list->items[*n]);
  return !ts_failed (program);
}

guint
ts_axis_of (TsProgram *program, gint64 axis, guint rank)
{
  const gint64 dims = MAX (rank, 1);
  if (axis >= -dims && axis < dims)
    return (guint) (axis < 0 ? axis + dims : axis);
  ts_refuse (program, SL_ERROR_FORMAT,
             "dimension %" G_GINT64_FORMAT " of a tensor of %u dimensions", axis, rank);
  return 0;
}

guint
ts_axis (TsProgram *program, TsValue value, guint rank)
{
  return ts_axis_of (program, ts_to_int (program, value), rank);
}

gboolean
ts_truth (TsProgram *program, TsValue value)
{
  switch (value.kind) {
    case TS_NONE:
      return FALSE;
    case TS_BOOL:
      return value.truth;
    case TS_INT:
      return value.number != 0;
    case TS_FLOAT:
      return value.real != 0;
    case TS_STRING:
      return value.text[0] != '\0';
    case TS_LIST:
    case TS_TUPLE:
      return value.list->n > 0;
    case TS_DICT:
      return value.dict->n > 0;
    case TS_TENSOR:
      return ts_truth (program, ts_item (program, value));
    default:
      return TRUE;
  }
}

static TsValue
index_list (TsProgram *program, const TsList *list, TsValue index)
{
  if (index.kind == TS_TENSOR)
    index = ts_item (program, index);
  const gint64 at =
    index.kind == TS_INT && index.number < 0 ? index.number + list->n : index.number;
  if (index.kind == TS_INT && at >= 0 && at < list->n)
    return list->items[at];
  if (index.kind != TS_INT)
    return ts_refuse (program, SL_ERROR_FORMAT, "a list is indexed by a value of type %s",
                      ts_kind_name (index.kind));
  return ts_refuse (program, SL_ERROR_FORMAT,
                    "index %" G_GINT64_FORMAT " is outside a list of %u elements", index.number,
                    list->n);
}

TsValue
ts_index (TsProgram *program, TsValue base, TsValue index)
{
  if (ts_failed (program))
    return ts_none ();
  if (base.kind == TS_LIST || base.kind == TS_TUPLE)
    return index_list (program, base.list, index);
  if (base.kind == TS_TENSOR) {
    const TsValue args[] = { base, ts_int (0), index };
    return ts_run_op (program, "aten::select", args, NULL, 3);
  }
  if (base.kind == TS_STRING) {
    const glong n = g_utf8_strlen (base.text, -1),
                at =
                  index.kind != TS_INT ? -1 : (glong) (index.number + (index.number < 0 ? n : 0));
    g_autofree char *one = at >= 0 && at < n ? g_utf8_substring (base.text, at, at + 1) : NULL;
    return one != NULL ? ts_string (program->heap, one)
                       : ts_refuse (program, SL_ERROR_FORMAT, "an index is outside a string");
  }
  if (base.kind != TS_DICT)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED, "a value of type %s has no elements",
                      ts_kind_name (base.kind));
  const TsValue *value = ts_dict_get (base.dict, index);
  if (value == NULL)
    return ts_refuse (program, SL_ERROR_FORMAT, "a dictionary has no entry '%s'",
                      index.kind == TS_STRING ? index.text : "?");
  return *value;
}
