/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arithmetic and comparisons of numbers, as Python computes them: what shapes are computed with. */
#include <math.h>
#include <string.h>

#include "models/aten/ops.h"

static gboolean
is (const TsCall *call, const char *name)
{
  return strcmp (strchr (call->op->name, ':') + 2, name) == 0;
}

gboolean
ts_equal (TsValue a, TsValue b)
{
  if (ts_is_number (a) && ts_is_number (b)) {
    const gdouble x = a.kind == TS_FLOAT ? a.real
                      : a.kind == TS_INT ? (gdouble) a.number
                                         : (gdouble) (a.truth != FALSE);
    const gdouble y = b.kind == TS_FLOAT ? b.real
                      : b.kind == TS_INT ? (gdouble) b.number
                                         : (gdouble) (b.truth != FALSE);
    return a.kind == TS_INT && b.kind == TS_INT ? a.number == b.number : x == y;
  }
  if (a.kind != b.kind)
    return FALSE;
  switch (a.kind) {
    case TS_NONE:
      return TRUE;
    case TS_STRING:
    case TS_DEVICE:
      return strcmp (a.text, b.text) == 0;
    case TS_LIST:
    case TS_TUPLE:
      if (a.list->n != b.list->n)
        return FALSE;
      for (guint i = 0; i < a.list->n;
           i++) /* one level: lists of lists are equal only when they are the same */
        if (a.list->items[i].kind == TS_LIST || a.list->items[i].kind == TS_TUPLE
              ? a.list->items[i].list != b.list->items[i].list
              : !ts_equal (a.list->items[i], b.list->items[i]))
          return FALSE;
      return TRUE;
    case TS_OBJECT:
      return a.object == b.object;
    case TS_TENSOR:
      return a.tensor == b.tensor;
    default:
      return FALSE;
  }
}

/* Whole numbers: what leaves 64 bits is an error, not another number. */
static TsValue
whole (TsProgram *program, const TsCall *call, gint64 a, gint64 b)
{
  gint64 result = 0;
  gboolean fits = TRUE;
  if (is (call, "add"))
    fits = !__builtin_add_overflow (a, b, &result);
  else if (is (call, "sub"))
    fits = !__builtin_sub_overflow (a, b, &result);
  else if (is (call, "mul"))
    fits = !__builtin_mul_overflow (a, b, &result);
  else if (is (call, "__and__"))
    result = a & b;
  else if (is (call, "__or__"))
    result = a | b;
  else if (is (call, "__xor__"))
    result = a ^ b;
  else if (is (call, "min") || is (call, "max"))
    result = (a < b) == (call->op->name[strlen (call->op->name) - 1] == 'n') ? a : b;
  else if (b == 0 || (a == G_MININT64 && b == -1))
    return ts_refuse (program, SL_ERROR_FORMAT, "%" G_GINT64_FORMAT " divided by %" G_GINT64_FORMAT,
                      a, b);
  else if (is (call, "remainder"))
    result = a % b + ((a % b != 0 && (a % b < 0) != (b < 0)) ? b : 0);
  else
    result = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  return fits ? ts_int (result)
              : ts_refuse (program, SL_ERROR_LIMIT, "a whole number beyond 64 bits");
}

static TsValue
real (TsProgram *program, const TsCall *call, gdouble a, gdouble b)
{
  if (is (call, "add"))
    return ts_float (a + b);
  if (is (call, "sub"))
    return ts_float (a - b);
  if (is (call, "mul"))
    return ts_float (a * b);
  if (is (call, "pow"))
    return ts_float (pow (a, b));
  if (is (call, "min") || is (call, "max"))
    return ts_float ((a < b) == is (call, "min") ? a : b);
  if (b == 0)
    return ts_refuse (program, SL_ERROR_FORMAT, "%g divided by 0", a);
  if (is (call, "div"))
    return ts_float (a / b);
  return ts_float (is (call, "remainder") ? a - floor (a / b) * b : floor (a / b));
}

static TsValue
compare (const TsCall *call, TsValue a, TsValue b)
{
  gint order;
  if (a.kind == TS_STRING && b.kind == TS_STRING) {
    order = strcmp (a.text, b.text);
  } else if (a.kind == TS_INT && b.kind == TS_INT) {
    order = (a.number > b.number) - (a.number < b.number);
  } else {
    const gdouble x = a.kind == TS_FLOAT ? a.real : (gdouble) a.number,
                  y = b.kind == TS_FLOAT ? b.real : (gdouble) b.number;
    if (isnan (x) || isnan (y))
      return ts_bool (FALSE);
    order = (x > y) - (x < y);
  }
  return ts_bool (is (call, "lt")   ? order < 0
                  : is (call, "le") ? order <= 0
                  : is (call, "gt") ? order > 0
                                    : order >= 0);
}

/* Lists are joined and repeated, strings joined. */
static TsValue
join (TsProgram *program, const TsCall *call, TsValue a, TsValue b)
{
  if (is (call, "add") && a.kind == TS_STRING && b.kind == TS_STRING) {
    g_autofree char *text = strlen (a.text) + strlen (b.text) <= TS_MAX_STRING
                              ? g_strconcat (a.text, b.text, NULL)
                              : NULL;
    return text != NULL ? ts_string (program->heap, text)
                        : ts_refuse (program, SL_ERROR_LIMIT, "a string is too long");
  }
  const TsValue list = ts_list (program->heap);
  const gint64 times = is (call, "mul") && b.kind == TS_INT ? b.number : 1;
  if (a.kind != TS_LIST
      || (is (call, "add") ? b.kind != TS_LIST : !is (call, "mul") || b.kind != TS_INT))
    return ts_refuse (program, SL_ERROR_UNSUPPORTED, "%s and %s", ts_kind_name (a.kind),
                      ts_kind_name (b.kind));
  for (gint64 k = 0; k < times && a.list->n > 0 && !ts_failed (program); k++)
    for (guint i = 0; i < a.list->n && !ts_failed (program); i++)
      ts_list_append (program->heap, list.list, a.list->items[i]);
  for (guint i = 0; is (call, "add") && i < b.list->n && !ts_failed (program); i++)
    ts_list_append (program->heap, list.list, b.list->items[i]);
  return list;
}

static TsValue
as_int (TsValue value)
{
  return value.kind == TS_BOOL ? ts_int (value.truth != FALSE) : value;
}

TsValue
ts_binary_scalar (TsProgram *program, const TsCall *call)
{
  const TsValue a = call->args[0], b = call->args[1];
  if (is (call, "eq") || is (call, "ne"))
    return ts_bool (ts_equal (a, b) == is (call, "eq"));
  const gboolean numbers = ts_is_number (a) && ts_is_number (b),
                 texts = a.kind == TS_STRING && b.kind == TS_STRING;
  if ((numbers || texts)
      && (is (call, "lt") || is (call, "le") || is (call, "gt") || is (call, "ge")))
    return compare (call, as_int (a), as_int (b));
  if (!numbers)
    return join (program, call, a, b);
  if (a.kind == TS_BOOL && b.kind == TS_BOOL && call->op->name[6] == '_')
    return ts_bool (is (call, "__and__")  ? a.truth && b.truth
                    : is (call, "__or__") ? a.truth || b.truth
                                          : !a.truth != !b.truth);
  const gboolean wholes = a.kind != TS_FLOAT && b.kind != TS_FLOAT;
  TsValue power = as_int (b);
  if (wholes && is (call, "pow") && power.number >= 0 && power.number < 63) {
    TsValue result = ts_int (1);
    const TsCall times = { .op = &(TsOp){ .name = "aten::mul" } };
    for (gint64 i = 0; i < power.number && !ts_failed (program); i++)
      result = whole (program, &times, result.number, as_int (a).number);
    return result;
  }
  if (wholes && !is (call, "div") && !is (call, "pow"))
    return whole (program, call, as_int (a).number, power.number);
  return real (program, call, ts_to_float (program, a), ts_to_float (program, b));
}

TsValue
ts_unary_scalar (TsProgram *program, const TsCall *call)
{
  static const struct
  {
    const char *name;
    gdouble (*function) (gdouble x);
  } rows[] = {
    { "sqrt", sqrt }, { "exp", exp },   { "log", log },   { "sin", sin },     { "cos", cos },
    { "tan", tan },   { "tanh", tanh }, { "log2", log2 }, { "log10", log10 },
  };
  const TsValue x = as_int (call->args[0]);
  if (x.kind == TS_INT && (is (call, "neg") || is (call, "abs")))
    return ts_int (x.number == G_MININT64             ? x.number
                   : is (call, "neg") || x.number < 0 ? -x.number
                                                      : x.number);
  const gdouble value = ts_to_float (program, x);
  if (is (call, "neg") || is (call, "abs"))
    return ts_float (is (call, "neg") ? -value : fabs (value));
  if (is (call, "floor") || is (call, "ceil")) /* whole numbers in TorchScript */
    return x.kind == TS_INT
             ? x
             : ts_int (
               ts_to_int (program, ts_float (is (call, "floor") ? floor (value) : ceil (value))));
  if (is (call, "round"))
    return ts_float (rint (value));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (is (call, rows[i].name))
      return ts_float (rows[i].function (value));
  return ts_refuse (program, SL_ERROR_UNSUPPORTED, "of a number it is not supported");
}

static TsValue
negation (TsProgram *program, const TsCall *call)
{
  return ts_bool (!ts_truth (program, call->args[0]));
}

static TsValue
identity_test (TsProgram *program, const TsCall *call)
{
  (void) program;
  const TsValue a = call->args[0], b = call->args[1];
  return ts_bool ((a.kind == b.kind && ts_equal (a, b)) == is (call, "__is__"));
}

/* Of two numbers, or of the elements of a list. */
static TsValue
extreme (TsProgram *program, const TsCall *call)
{
  TsCall pair = *call;
  const TsValue list = call->args[0];
  if (call->args[1].kind != TS_NONE)
    return ts_binary_scalar (program, call);
  if (list.kind != TS_LIST || list.list->n == 0)
    return ts_refuse (program, SL_ERROR_FORMAT, "of a value of type %s", ts_kind_name (list.kind));
  TsValue result = list.list->items[0];
  for (guint i = 1; i < list.list->n && !ts_failed (program); i++) {
    pair.args[0] = result;
    pair.args[1] = list.list->items[i];
    result = ts_binary_scalar (program, &pair);
  }
  return result;
}

static TsValue
range_length (TsProgram *program, const TsCall *call)
{
  const gint64 first = ts_to_int (program, call->args[0]), end = ts_to_int (program, call->args[1]),
               step = ts_to_int (program, call->args[2]);
  if (step == 0 || ABS (first) > G_MAXINT32 || ABS (end) > G_MAXINT32 || ABS (step) > G_MAXINT32)
    return ts_refuse (program, SL_ERROR_FORMAT,
                      "a range from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                      " in steps of %" G_GINT64_FORMAT,
                      first, end, step);
  const gint64 way = step > 0 ? end - first : first - end;
  return ts_int (way > 0 ? (way - 1) / ABS (step) + 1 : 0);
}

static TsValue
derive_index (TsProgram *program, const TsCall *call)
{
  const TsCall times = { .op = &(TsOp){ .name = "aten::mul" } },
               plus = { .op = &(TsOp){ .name = "aten::add" } };
  const TsValue way =
    whole (program, &times, ts_to_int (program, call->args[0]), ts_to_int (program, call->args[2]));
  return ts_failed (program)
           ? way
           : whole (program, &plus, way.number, ts_to_int (program, call->args[1]));
}

/* Numbers of tensors, and numbers of other numbers. */
static TsValue
to_number (TsProgram *program, const TsCall *call)
{
  TsValue value =
    call->args[0].kind == TS_TENSOR ? ts_item (program, call->args[0]) : call->args[0];
  if (value.kind == TS_STRING)
    value = ts_float (g_ascii_strtod (value.text, NULL));
  if (is (call, "Bool"))
    return ts_bool (ts_truth (program, value));
  if (g_str_has_prefix (call->op->name, "aten::Int"))
    return ts_int (ts_to_int (program, value));
  return g_str_has_prefix (call->op->name, "aten::Float") ? ts_float (ts_to_float (program, value))
                                                          : value;
}

const TsOp ts_ops_scalar[] = {
  { "aten::__not__", "a", negation },
  { "aten::__is__", "a,b", identity_test },
  { "aten::__isnot__", "a,b", identity_test },
  { "aten::floordiv", "a,b", ts_binary_scalar },
  { "aten::__range_length", "a,b,c", range_length },
  { "aten::__derive_index", "a,b,c", derive_index },
  { "aten::Int", "a", to_number },
  { "aten::IntImplicit", "a", to_number },
  { "aten::Float", "a", to_number },
  { "aten::FloatImplicit", "a", to_number },
  { "aten::Bool", "a", to_number },
  { "aten::ScalarImplicit", "a", to_number },
  { "aten::item", "a", to_number },
  { "aten::_local_scalar_dense", "a", to_number },
  { "prim::min", "a,b=None", extreme },
  { "prim::max", "a,b=None", extreme },
  { "prim::abs", "a", ts_unary_scalar },
  { NULL },
};
