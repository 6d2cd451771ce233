/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators on each element, of tensors and, where torch has them so, of numbers. */
#include <math.h>
#include <string.h>

#include "models/aten/ops.h"
#include "models/aten/quantized.h"

static guint
category (TsDtype dtype)
{
  return dtype == TS_BOOLEAN ? 0 : ts_dtype_graph (dtype) == SL_DTYPE_F32 ? 2 : 1;
}

static TsDtype
type_of (TsValue value, guint *weight)
{
  *weight = value.kind != TS_TENSOR ? 0 : value.tensor->rank == 0 ? 1 : 2;
  if (value.kind == TS_TENSOR)
    return value.tensor->dtype;
  return value.kind == TS_FLOAT ? TS_FLOAT32 : value.kind == TS_BOOL ? TS_BOOLEAN : TS_INT64;
}

TsDtype
ts_promote (TsValue a, TsValue b)
{
  guint weight_a, weight_b;
  const TsDtype x = type_of (a, &weight_a), y = type_of (b, &weight_b);
  if (category (x) != category (y))
    return category (x) > category (y) ? x : y;
  if (weight_a != weight_b)
    return weight_a > weight_b ? x : y;
  return ts_dtype_size (x) >= ts_dtype_size (y) ? x : y;
}

/* An operand, a tensor or a number, as the type in which the operation is computed. */
static LowerValue *
operand (TsProgram *program, TsValue value, TsDtype dtype)
{
  if (value.kind == TS_TENSOR)
    return ts_cast (program, ts_read (program, value), dtype);
  return ts_scalar (program, value, dtype);
}

static gboolean
are_scalars (const TsCall *call)
{
  return call->args[0].kind != TS_TENSOR && call->args[1].kind != TS_TENSOR;
}

/* An operator of the core that ONNX does not have, in the layout that its operands are in. */
static TsValue
core_binary (TsProgram *program, SlOpType op, const SlOpParams *params, LowerValue *a,
             LowerValue *b, TsDtype dtype)
{
  Lower *o = &program->lower;
  if (ts_failed (program) || a == NULL || b == NULL)
    return ts_none ();
  const guint rank = MAX (a->rank, b->rank);
  const gboolean last = (a->last >= 0 && a->rank == rank) || (b->last >= 0 && b->rank == rank);
  const gint32 inputs[2] = { lower_operand (o, a, rank, last), lower_operand (o, b, rank, last) };
  const gint32 y = lower_emit (o, op, inputs, 2, params, lower_tensor_type (o, inputs[0]));
  return last ? ts_new_last (program, y, dtype) : ts_new_plain (program, y, dtype);
}

/* add, sub, mul: alpha is a factor of the second operand. */
static TsValue
arithmetic (TsProgram *program, const TsCall *call)
{
  if (are_scalars (call))
    return ts_binary_scalar (program, call);
  const TsDtype dtype = ts_promote (call->args[0], call->args[1]);
  const char *onnx = call->op->onnx;
  if (dtype == TS_BOOLEAN) /* the sum is true where one is, the product where both are */
    onnx = strcmp (onnx, "Add") == 0 || strcmp (onnx, "Max") == 0 ? "Or" : "And";
  LowerValue *pair[2] = { operand (program, call->args[0], dtype),
                          operand (program, call->args[1], dtype) };
  if (ts_is_number (call->args[2]) && ts_to_float (program, call->args[2]) != 1)
    pair[1] = ts_onnx_pair (program, "Mul", pair[1], ts_scalar (program, call->args[2], dtype));
  return ts_new (program, ts_onnx (program, onnx, pair, 2, NULL, 0), dtype);
}

/* rsub: the operands the other way round. */
static TsValue
reversed (TsProgram *program, const TsCall *call)
{
  TsCall other = *call;
  const TsOp op = { .name = "aten::sub", .onnx = "Sub" };
  other.op = &op;
  other.args[0] = call->args[1];
  other.args[1] = call->args[0];
  return arithmetic (program, &other);
}

/* What optimize_for_mobile makes of an addition and a relu. */
static TsValue
add_relu (TsProgram *program, const TsCall *call)
{
  TsCall add = *call;
  const TsOp op = { .name = "aten::add", .onnx = "Add" };
  add.op = &op;
  const TsValue sum = arithmetic (program, &add);
  LowerValue *x = ts_read (program, sum);
  return x == NULL ? sum
                   : ts_new (program, ts_onnx (program, "Relu", &x, 1, NULL, 0), sum.tensor->dtype);
}

static TsValue
divide (TsProgram *program, const TsCall *call)
{
  const TsValue mode = call->args[2];
  if (are_scalars (call))
    return ts_binary_scalar (program, call);
  TsDtype dtype = ts_promote (call->args[0], call->args[1]);
  if (category (dtype) < 2 && mode.kind != TS_STRING)
    dtype = TS_FLOAT32;
  LowerValue *pair[2] = { operand (program, call->args[0], dtype),
                          operand (program, call->args[1], dtype) };
  if (mode.kind == TS_STRING && strcmp (mode.text, "floor") == 0)
    return core_binary (program, SL_OP_FLOOR_DIV, NULL, pair[0], pair[1], dtype);
  const TsValue y = ts_new (program, ts_onnx (program, "Div", pair, 2, NULL, 0), dtype);
  return mode.kind == TS_STRING && category (dtype) == 2
           ? ts_run_op (program, "aten::trunc", &y, NULL, 1)
           : y;
}

static TsValue
floor_operation (TsProgram *program, const TsCall *call)
{
  if (are_scalars (call))
    return ts_binary_scalar (program, call);
  const TsDtype dtype = ts_promote (call->args[0], call->args[1]);
  return core_binary (program, call->op->type, NULL, operand (program, call->args[0], dtype),
                      operand (program, call->args[1], dtype), dtype);
}

/* Of two numbers of the program, as of tensors: a distance outside of 64 bits leaves the sign. */
static TsValue
shift_right (TsProgram *program, const TsCall *call)
{
  const SlOpParams params = { .shift = { SL_SHIFT_SIGN } };
  if (!are_scalars (call)) {
    const TsDtype dtype = ts_promote (call->args[0], call->args[1]);
    return core_binary (program, SL_OP_RIGHT_SHIFT, &params,
                        operand (program, call->args[0], dtype),
                        operand (program, call->args[1], dtype), dtype);
  }
  const guint64 distance = (guint64) ts_to_int (program, call->args[1]);
  return ts_int (ts_to_int (program, call->args[0]) >> MIN (distance, 63));
}

/* atan2: whole numbers become real ones. */
static TsValue
angle (TsProgram *program, const TsCall *call)
{
  TsDtype dtype = ts_promote (call->args[0], call->args[1]);
  if (category (dtype) < 2)
    dtype = TS_FLOAT32;
  return core_binary (program, SL_OP_ATAN2, NULL, operand (program, call->args[0], dtype),
                      operand (program, call->args[1], dtype), dtype);
}

static TsValue
compare (TsProgram *program, const TsCall *call)
{
  if (are_scalars (call))
    return ts_binary_scalar (program, call);
  const TsDtype dtype = ts_promote (call->args[0], call->args[1]);
  const TsDtype both = dtype == TS_BOOLEAN && call->op->type == 0 ? TS_INT32 : dtype;
  LowerValue *pair[2] = { operand (program, call->args[0], both),
                          operand (program, call->args[1], both) };
  LowerValue *result = ts_onnx (program, call->op->onnx, pair, 2, NULL, 0);
  if (strcmp (call->op->name, "aten::ne") == 0)
    result = ts_onnx (program, "Not", &result, 1, NULL, 0);
  return ts_new (program, result, TS_BOOLEAN);
}

static TsValue
logical (TsProgram *program, const TsCall *call)
{
  if (are_scalars (call))
    return ts_binary_scalar (program, call);
  const TsDtype dtype = ts_promote (call->args[0], call->args[1]);
  if (call->op->type != 0 && category (dtype) == 1)
    return core_binary (program, call->op->type, NULL, operand (program, call->args[0], dtype),
                        operand (program, call->args[1], dtype), dtype);
  LowerValue *pair[2] = { operand (program, call->args[0], TS_BOOLEAN),
                          operand (program, call->args[1], TS_BOOLEAN) };
  return ts_new (program, ts_onnx (program, call->op->onnx, pair, 2, NULL, 0), TS_BOOLEAN);
}

static TsValue
logical_not (TsProgram *program, const TsCall *call)
{
  if (call->op->type != 0 && call->args[0].kind == TS_TENSOR
      && category (call->args[0].tensor->dtype) == 1) { /* ~x */
    const TsValue args[] = { call->args[0], ts_int (-1) };
    return ts_run_op (program, "aten::bitwise_xor", args, NULL, 2);
  }
  LowerValue *x = ts_cast (program, ts_read (program, call->args[0]), TS_BOOLEAN);
  return ts_new (program, ts_onnx (program, "Not", &x, 1, NULL, 0), TS_BOOLEAN);
}

/* Functions of a real number: whole numbers become float32 first. */
static LowerValue *
real_operand (TsProgram *program, TsValue value, TsDtype *dtype)
{
  LowerValue *x = ts_read (program, value);
  *dtype = TS_FLOAT32;
  if (x == NULL)
    return NULL;
  *dtype = value.tensor->dtype;
  if (category (*dtype) < 2)
    *dtype = TS_FLOAT32;
  return ts_cast (program, x, *dtype);
}

static TsValue
unary (TsProgram *program, const TsCall *call)
{
  TsDtype dtype;
  if (call->args[0].kind != TS_TENSOR)
    return ts_unary_scalar (program, call);
  if (ts_is_quantized (call->args[0].tensor->dtype))
    return ts_quantized_unary (program, call);
  LowerValue *x = real_operand (program, call->args[0], &dtype);
  return ts_new (program, ts_onnx (program, call->op->onnx, &x, 1, NULL, 0), dtype);
}

/* What whole numbers have, too: neg, abs, relu, sign; floor and its like leave them as they are. */
static TsValue
unary_any (TsProgram *program, const TsCall *call)
{
  const TsValue x = call->args[0];
  if (x.kind != TS_TENSOR)
    return ts_unary_scalar (program, call);
  if (ts_is_quantized (x.tensor->dtype))
    return ts_quantized_unary (program, call);
  LowerValue *value = ts_read (program, x);
  if (category (x.tensor->dtype) < 2 && call->op->type != 0)
    return ts_new (program, value, x.tensor->dtype);
  return ts_new (program, ts_onnx (program, call->op->onnx, &value, 1, NULL, 0), x.tensor->dtype);
}

/* One operator of the core, in whatever layout its operand is. */
static TsValue
core_unary (TsProgram *program, const TsCall *call)
{
  TsDtype dtype;
  gboolean last = FALSE;
  LowerValue *x = real_operand (program, call->args[0], &dtype);
  if (x == NULL)
    return ts_none ();
  const gint32 input = lower_any (&program->lower, x, &last),
               y = lower_unary (&program->lower, call->op->type, input);
  return last ? ts_new_last (program, y, dtype) : ts_new_plain (program, y, dtype);
}

/* A function with numbers: attributes @names of ONNX's operator, which are arguments 1 and on. */
static TsValue
with_attributes (TsProgram *program, const TsCall *call, const char *const *names)
{
  LowerAttribute attributes[4];
  TsDtype dtype;
  guint n = 0;
  if (call->args[0].kind == TS_TENSOR && ts_is_quantized (call->args[0].tensor->dtype))
    return ts_quantized_unary (program, call);
  LowerValue *x = real_operand (program, call->args[0], &dtype);
  for (; names[n] != NULL; n++)
    attributes[n] = ts_attr_float (names[n], ts_to_float (program, call->args[n + 1]));
  return ts_new (program, ts_onnx (program, call->op->onnx, &x, 1, attributes, n), dtype);
}

static TsValue
with_alpha (TsProgram *program, const TsCall *call)
{
  static const char *const names[] = { "alpha", NULL };
  return with_attributes (program, call, names);
}

static TsValue
elu (TsProgram *program, const TsCall *call)
{
  if (ts_to_float (program, call->args[2]) != 1 || ts_to_float (program, call->args[3]) != 1)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED, "scales other than 1 are not supported");
  return with_alpha (program, call);
}

static TsValue
hard_sigmoid (TsProgram *program, const TsCall *call)
{
  TsCall same = *call;
  static const char *const names[] = { "alpha", "beta", NULL };
  same.args[1] = ts_float (1.0 / 6);
  same.args[2] = ts_float (0.5);
  return with_attributes (program, &same, names);
}

static TsValue
gelu (TsProgram *program, const TsCall *call)
{
  TsDtype dtype;
  LowerValue *x = real_operand (program, call->args[0], &dtype);
  const char *how = call->args[1].kind == TS_STRING ? call->args[1].text : "none";
  const LowerAttribute attribute = ts_attr_text ("approximate", how);
  return ts_new (program, ts_onnx (program, "Gelu", &x, 1, &attribute, 1), dtype);
}

static TsValue
softplus (TsProgram *program, const TsCall *call)
{
  TsDtype dtype;
  LowerValue *x = real_operand (program, call->args[0], &dtype);
  const gdouble beta = ts_to_float (program, call->args[1]);
  LowerValue *factor = ts_scalar (program, ts_float (beta), TS_FLOAT32);
  if (beta != 1)
    x = ts_onnx_pair (program, "Mul", x, factor);
  x = ts_onnx (program, "Softplus", &x, 1, NULL, 0);
  if (beta != 1)
    x = ts_onnx_pair (program, "Div", x, factor);
  const TsValue y = ts_new (program, x, dtype);
  if (ts_to_float (program, call->args[2]) >= 20) /* what differs there is below a float's digits */
    return y;
  const TsValue args[] = { call->args[0], call->args[1] };
  const TsValue above[] = { ts_run_op (program, "aten::mul", args, NULL, 2), call->args[2] };
  const TsValue pick[] = { ts_run_op (program, "aten::gt", above, NULL, 2), call->args[0], y };
  return ts_run_op (program, "aten::where", pick, NULL, 3);
}

static TsValue
logarithm (TsProgram *program, const TsCall *call)
{
  TsDtype dtype;
  if (call->args[0].kind != TS_TENSOR)
    return ts_unary_scalar (program, call);
  LowerValue *x = real_operand (program, call->args[0], &dtype);
  const gdouble base = strcmp (call->op->name, "aten::log2") == 0 ? log (2) : log (10);
  x = ts_onnx (program, "Log", &x, 1, NULL, 0);
  return ts_new (
    program, ts_onnx_pair (program, "Mul", x, ts_scalar (program, ts_float (1 / base), TS_FLOAT32)),
    dtype);
}

/* log (1 / (1 + exp (-x))) */
static TsValue
log_sigmoid (TsProgram *program, const TsCall *call)
{
  TsDtype dtype;
  LowerValue *x = real_operand (program, call->args[0], &dtype);
  static const char *const steps[] = { "Neg", "Softplus", "Neg" };
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    x = ts_onnx (program, steps[i], &x, 1, NULL, 0);
  return ts_new (program, x, dtype);
}

/* log (1 + x) and exp (x) - 1 */
static TsValue
near_one (TsProgram *program, const TsCall *call)
{
  TsDtype dtype;
  LowerValue *x = real_operand (program, call->args[0], &dtype),
             *one = ts_scalar (program, ts_float (1), TS_FLOAT32);
  const gboolean log1p = strcmp (call->op->name, "aten::log1p") == 0;
  if (log1p)
    x = ts_onnx_pair (program, "Add", x, one);
  x = ts_onnx (program, log1p ? "Log" : "Exp", &x, 1, NULL, 0);
  if (!log1p)
    x = ts_onnx_pair (program, "Sub", x, one);
  return ts_new (program, x, dtype);
}

/* clamp, clamp_min, clamp_max, hardtanh, relu6: a limit of None does not clip. */
static TsValue
clip (TsProgram *program, TsValue x, TsValue low, TsValue high)
{
  if (ts_failed (program) || x.kind != TS_TENSOR)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED, "of a value of type %s",
                      ts_kind_name (x.kind));
  if (ts_is_quantized (x.tensor->dtype))
    return ts_quantized_clip (program, x, low, high);
  TsDtype dtype = x.tensor->dtype;
  if (category (dtype) == 1 && (low.kind == TS_FLOAT || high.kind == TS_FLOAT))
    dtype = TS_FLOAT32;
  LowerValue *inputs[3] = { ts_cast (program, ts_read (program, x), dtype), NULL, NULL };
  if (low.kind == TS_TENSOR || high.kind == TS_TENSOR) {
    for (guint i = 1; i < 3; i++) {
      const TsValue limit = i == 1 ? low : high;
      if (limit.kind != TS_NONE)
        inputs[0] = ts_onnx_pair (program, i == 1 ? "Max" : "Min", inputs[0],
                                  operand (program, limit, dtype));
    }
    return ts_new (program, inputs[0], dtype);
  }
  inputs[1] = low.kind != TS_NONE ? ts_scalar (program, low, dtype) : NULL;
  inputs[2] = high.kind != TS_NONE ? ts_scalar (program, high, dtype) : NULL;
  return ts_new (program, ts_onnx (program, "Clip", inputs, 3, NULL, 0), dtype);
}

static TsValue
clamp (TsProgram *program, const TsCall *call)
{
  return clip (program, call->args[0], call->args[1], call->args[2]);
}

static TsValue
clamp_max (TsProgram *program, const TsCall *call)
{
  return clip (program, call->args[0], ts_none (), call->args[1]);
}

static TsValue
relu6 (TsProgram *program, const TsCall *call)
{
  return clip (program, call->args[0], ts_int (0), ts_int (6));
}

static TsValue
prelu (TsProgram *program, const TsCall *call)
{
  LowerValue *x = ts_read (program, call->args[0]), *slope = ts_read (program, call->args[1]);
  gint64 dims[SL_MAX_RANK];
  if (x == NULL || slope == NULL)
    return ts_none ();
  if (lower_elements (slope) > 1 && x->rank >= 2) { /* one a channel */
    for (guint i = 0; i + 1 < x->rank; i++)
      dims[i] = i == 0 ? (gint64) lower_elements (slope) : 1;
    slope = ts_onnx_pair (program, "Reshape", slope, ts_constant_ints (program, dims, x->rank - 1));
  }
  return ts_new (program, ts_onnx_pair (program, "PRelu", x, slope), call->args[0].tensor->dtype);
}

/* x where it is above the threshold, else a value. */
static TsValue
threshold (TsProgram *program, const TsCall *call)
{
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL)
    return ts_none ();
  const TsDtype dtype = call->args[0].tensor->dtype;
  LowerValue *above =
    ts_onnx_pair (program, "Greater", x, ts_scalar (program, call->args[1], dtype));
  LowerValue *const inputs[3] = { above, x, ts_scalar (program, call->args[2], dtype) };
  return ts_new (program, ts_onnx (program, "Where", inputs, 3, NULL, 0), dtype);
}

static TsValue
power (TsProgram *program, const TsCall *call)
{
  if (are_scalars (call))
    return ts_binary_scalar (program, call);
  const TsDtype dtype = ts_promote (call->args[0], call->args[1]);
  LowerValue *pair[2] = { operand (program, call->args[0], dtype),
                          operand (program, call->args[1], dtype) };
  return ts_new (program, ts_onnx (program, "Pow", pair, 2, NULL, 0), dtype);
}

static TsValue
square (TsProgram *program, const TsCall *call)
{
  LowerValue *x = ts_read (program, call->args[0]);
  return x == NULL
           ? ts_none ()
           : ts_new (program, ts_onnx_pair (program, "Mul", x, x), call->args[0].tensor->dtype);
}

static TsValue
where (TsProgram *program, const TsCall *call)
{
  if (call->args[1].kind == TS_NONE)
    return ts_run_op (program, "aten::nonzero_numpy", call->args, NULL, 1);
  const TsDtype dtype = ts_promote (call->args[1], call->args[2]);
  LowerValue *const inputs[3] = { ts_cast (program, ts_read (program, call->args[0]), TS_BOOLEAN),
                                  operand (program, call->args[1], dtype),
                                  operand (program, call->args[2], dtype) };
  return ts_new (program, ts_onnx (program, "Where", inputs, 3, NULL, 0), dtype);
}

static TsValue
masked_fill (TsProgram *program, const TsCall *call)
{
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL)
    return ts_none ();
  const TsDtype dtype = call->args[0].tensor->dtype;
  LowerValue *const inputs[3] = { ts_cast (program, ts_read (program, call->args[1]), TS_BOOLEAN),
                                  operand (program, call->args[2], dtype), x };
  return ts_new (program, ts_onnx (program, "Where", inputs, 3, NULL, 0), dtype);
}

/* self + value * a * b, and with a / b. */
static TsValue
add_product (TsProgram *program, const TsCall *call)
{
  const TsDtype dtype = ts_promote (call->args[0], call->args[1]);
  LowerValue *pair[2] = { operand (program, call->args[1], dtype),
                          operand (program, call->args[2], dtype) };
  LowerValue *product = ts_onnx (program, call->op->onnx, pair, 2, NULL, 0);
  if (ts_to_float (program, call->args[3]) != 1)
    product = ts_onnx_pair (program, "Mul", product, ts_scalar (program, call->args[3], dtype));
  return ts_new (program,
                 ts_onnx_pair (program, "Add", operand (program, call->args[0], dtype), product),
                 dtype);
}

static TsValue
run (TsProgram *program, const char *name, TsValue a, TsValue b)
{
  const TsValue args[] = { a, b };
  return ts_run_op (program, name, args, NULL, b.kind == TS_NONE ? 1 : 2);
}

/* Towards zero. */
static TsValue
truncate_real (TsProgram *program, const TsCall *call)
{
  const TsValue x = call->args[0],
                size = run (program, "aten::floor", run (program, "aten::abs", x, ts_none ()),
                            ts_none ());
  const TsValue whole =
    run (program, "aten::mul", run (program, "aten::sign", x, ts_none ()), size);
  return strcmp (call->op->name, "aten::frac") == 0 ? run (program, "aten::sub", x, whole) : whole;
}

/* To whole numbers, or to that many decimals. */
static TsValue
round_off (TsProgram *program, const TsCall *call)
{
  const gint64 decimals = ts_to_int (program, call->args[1]);
  const TsValue scale = ts_float (pow (10, (gdouble) CLAMP (decimals, -30, 30)));
  if (decimals == 0 || call->args[0].kind != TS_TENSOR)
    return unary_any (program, call);
  const TsValue x = run (program, "aten::mul", call->args[0], scale);
  return run (program, "aten::div", run (program, "aten::round", x, ts_none ()), scale);
}

/* self + weight * (end - self) */
static TsValue
lerp (TsProgram *program, const TsCall *call)
{
  const TsValue way = run (program, "aten::sub", call->args[1], call->args[0]);
  return run (program, "aten::add", call->args[0], run (program, "aten::mul", way, call->args[2]));
}

/* Half of the elements by how open the other half says. */
static TsValue
glu (TsProgram *program, const TsCall *call)
{
  const TsValue args[] = { call->args[0], ts_int (2), call->args[1] };
  const TsValue halves = ts_run_op (program, "aten::chunk", args, NULL, 3);
  if (halves.kind != TS_LIST || halves.list->n != 2)
    return ts_refuse (program, SL_ERROR_SHAPE, "a dimension that has no halves");
  return run (program, "aten::mul", halves.list->items[0],
              run (program, "aten::sigmoid", halves.list->items[1], ts_none ()));
}

const TsOp ts_ops_elementwise[] = {
  { "aten::trunc", "self", truncate_real },
  { "aten::frac", "self", truncate_real },
  { "aten::lerp", "self,end,weight", lerp },
  { "aten::glu", "self,dim=-1", glu },
  { "aten::add", "self,other,alpha=1", arithmetic, "Add" },
  { "aten::_add_relu", "self,other,alpha=1", add_relu },
  { "aten::sub", "self,other,alpha=1", arithmetic, "Sub" },
  { "aten::mul", "self,other,x=1", arithmetic, "Mul" },
  { "aten::maximum", "self,other,x=1", arithmetic, "Max" },
  { "aten::minimum", "self,other,x=1", arithmetic, "Min" },
  { "aten::rsub", "self,other,alpha=1", reversed },
  { "aten::div", "self,other,rounding_mode=None", divide },
  { "aten::true_divide", "self,other,rounding_mode=None", divide },
  { "aten::floor_divide", "self,other", floor_operation, NULL, SL_OP_FLOOR_DIV },
  { "aten::remainder", "self,other", floor_operation, NULL, SL_OP_FLOOR_MOD },
  { "aten::fmod", "self,other", floor_operation, NULL, SL_OP_FMOD },
  { "aten::atan2", "self,other", angle },
  { "aten::arctan2", "self,other", angle },
  { "aten::pow", "self,exponent", power },
  { "aten::addcmul", "self,tensor1,tensor2,value=1", add_product, "Mul" },
  { "aten::addcdiv", "self,tensor1,tensor2,value=1", add_product, "Div" },
  { "aten::eq", "self,other", compare, "Equal", 1 },
  { "aten::ne", "self,other", compare, "Equal", 1 },
  { "aten::lt", "self,other", compare, "Less" },
  { "aten::le", "self,other", compare, "LessOrEqual" },
  { "aten::gt", "self,other", compare, "Greater" },
  { "aten::ge", "self,other", compare, "GreaterOrEqual" },
  { "aten::logical_and", "self,other", logical, "And" },
  { "aten::logical_or", "self,other", logical, "Or" },
  { "aten::logical_xor", "self,other", logical, "Xor" },
  { "aten::__and__", "self,other", logical, "And", SL_OP_BITWISE_AND },
  { "aten::__or__", "self,other", logical, "Or", SL_OP_BITWISE_OR },
  { "aten::__xor__", "self,other", logical, "Xor", SL_OP_BITWISE_XOR },
  { "aten::bitwise_and", "self,other", logical, "And", SL_OP_BITWISE_AND },
  { "aten::bitwise_or", "self,other", logical, "Or", SL_OP_BITWISE_OR },
  { "aten::bitwise_xor", "self,other", logical, "Xor", SL_OP_BITWISE_XOR },
  { "aten::__rshift__", "self,other", shift_right },
  { "aten::bitwise_right_shift", "self,other", shift_right },
  { "aten::logical_not", "self", logical_not },
  { "aten::bitwise_not", "self", logical_not, NULL, SL_OP_BITWISE_XOR },
  { "aten::neg", "self", unary_any, "Neg" },
  { "aten::abs", "self", unary_any, "Abs" },
  { "aten::relu", "self", unary_any, "Relu" },
  { "aten::sign", "self", unary_any, "Sign" },
  { "aten::floor", "self", unary_any, "Floor", 1 },
  { "aten::ceil", "self", unary_any, "Ceil", 1 },
  { "aten::round", "self,decimals=0", round_off, "Round", 1 },
  { "aten::exp", "self", unary, "Exp" },
  { "aten::log", "self", unary, "Log" },
  { "aten::sqrt", "self", unary, "Sqrt" },
  { "aten::rsqrt", "self", core_unary, NULL, SL_OP_RSQRT },
  { "aten::reciprocal", "self", unary, "Reciprocal" },
  { "aten::sin", "self", unary, "Sin" },
  { "aten::cos", "self", unary, "Cos" },
  { "aten::tan", "self", unary, "Tan" },
  { "aten::tanh", "self", unary, "Tanh" },
  { "aten::asin", "self", unary, "Asin" },
  { "aten::acos", "self", unary, "Acos" },
  { "aten::atan", "self", unary, "Atan" },
  { "aten::sinh", "self", unary, "Sinh" },
  { "aten::cosh", "self", unary, "Cosh" },
  { "aten::asinh", "self", unary, "Asinh" },
  { "aten::acosh", "self", unary, "Acosh" },
  { "aten::atanh", "self", unary, "Atanh" },
  { "aten::erf", "self", unary, "Erf" },
  { "aten::sigmoid", "self", unary, "Sigmoid" },
  { "aten::silu", "self", unary, "Swish" },
  { "aten::mish", "self", unary, "Mish" },
  { "aten::selu", "self", unary, "Selu" },
  { "aten::softsign", "self", unary, "Softsign" },
  { "aten::hardswish", "self", unary, "HardSwish" },
  { "aten::isnan", "self", unary, "IsNaN" },
  { "aten::log2", "self", logarithm },
  { "aten::log10", "self", logarithm },
  { "aten::log1p", "self", near_one },
  { "aten::expm1", "self", near_one },
  { "aten::log_sigmoid", "self", log_sigmoid },
  { "aten::hardsigmoid", "self", hard_sigmoid, "HardSigmoid" },
  { "aten::leaky_relu", "self,negative_slope=0.01", with_alpha, "LeakyRelu" },
  { "aten::elu", "self,alpha=1,scale=1,input_scale=1", elu, "Elu" },
  { "aten::celu", "self,alpha=1", with_alpha, "Celu" },
  { "aten::gelu", "self,approximate=none", gelu },
  { "aten::softplus", "self,beta=1,threshold=20", softplus },
  { "aten::clamp", "self,min=None,max=None", clamp },
  { "aten::clip", "self,min=None,max=None", clamp },
  { "aten::clamp_min", "self,min,max=None", clamp },
  { "aten::clamp_max", "self,max", clamp_max },
  { "aten::hardtanh", "self,min_val=-1,max_val=1", clamp },
  { "aten::relu6", "self", relu6 },
  { "aten::prelu", "self,weight", prelu },
  { "aten::threshold", "self,threshold,value", threshold },
  { "aten::square", "self", square },
  { "aten::where", "condition,self=None,other=None", where },
  { "aten::masked_fill", "self,mask,value", masked_fill },
  { NULL },
};
