/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Quantising, and operators of quantised tensors other than those with weights. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "models/aten/quantized.h"

#define CODES 256

gboolean
ts_quantized_result (TsProgram *program, TsDtype dtype, TsValue scale, TsValue zero_point,
                     SlTensor *like)
{
  const gdouble real = ts_to_float (program, scale);
  const gint64 zero = ts_to_int (program, zero_point);
  SlArena *arena = program->lower.arena;
  if (ts_failed (program))
    return FALSE;
  const gint64 low = dtype == TS_QUINT8 ? 0 : -128;
  if ((dtype != TS_QUINT8 && dtype != TS_QINT8) || !(real > 0) || !isfinite ((gfloat) real)
      || zero < low || zero > low + 255) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED,
               "codes of %s with scale %g and zero point %" G_GINT64_FORMAT, ts_dtype_name (dtype),
               real, zero);
    return FALSE;
  }
  gfloat *scales = sl_arena_alloc (arena, sizeof *scales);
  gint32 *zeros = sl_arena_alloc (arena, sizeof *zeros);
  scales[0] = MAX ((gfloat) real, FLT_MIN);
  zeros[0] = (gint32) (zero - (dtype == TS_QUINT8 ? 128 : 0));
  *like = (SlTensor){ .dtype = SL_DTYPE_I8,
                      .quant = { .count = 1, .scale = scales, .zero_point = zeros } };
  return TRUE;
}

/* (nullable): a quantised argument; anything else is an error. */
static LowerValue *
read_codes (TsProgram *program, TsValue value)
{
  LowerValue *x = ts_read (program, value);
  if (x == NULL || (ts_is_quantized (value.tensor->dtype) && !x->empty))
    return x;
  ts_refuse (program, SL_ERROR_UNSUPPORTED, "its input is %s; expected a quantised tensor",
             ts_dtype_name (value.tensor->dtype));
  return NULL;
}

static TsValue
boxed (TsProgram *program, gint32 tensor, gboolean last, TsDtype dtype)
{
  return last ? ts_new_last (program, tensor, dtype) : ts_new_plain (program, tensor, dtype);
}

static TsValue
quantize (TsProgram *program, const TsCall *call)
{
  SlTensor like;
  gboolean last = FALSE;
  LowerValue *x = ts_read (program, call->args[0]);
  const TsDtype dtype = (TsDtype) CLAMP (ts_to_int (program, call->args[3]), 0, TS_N_DTYPES);
  if (x == NULL || !ts_quantized_result (program, dtype, call->args[1], call->args[2], &like))
    return ts_none ();
  const gint32 input = lower_any (&program->lower, ts_cast (program, x, TS_FLOAT32), &last);
  return boxed (program, lower_settled (&program->lower, SL_OP_QUANTIZE, &input, 1, NULL, &like),
                last, dtype);
}

TsValue
ts_dequantized (TsProgram *program, TsValue value)
{
  gboolean last = FALSE;
  LowerValue *x = ts_read (program, value);
  if (x == NULL)
    return ts_none ();
  if (!ts_is_quantized (value.tensor->dtype))
    return value;
  const gint32 input = lower_any (&program->lower, x, &last);
  return boxed (program,
                lower_settled (&program->lower, SL_OP_DEQUANTIZE, &input, 1, NULL,
                               &(SlTensor){ .dtype = SL_DTYPE_F32 }),
                last, TS_FLOAT32);
}

static TsValue
dequantize (TsProgram *program, const TsCall *call)
{
  const TsValue x = call->args[0];
  if (x.kind != TS_LIST && x.kind != TS_TUPLE)
    return ts_dequantized (program, x);
  const TsValue list = ts_list (program->heap);
  for (guint i = 0; i < x.list->n && !ts_failed (program); i++)
    ts_list_append (program->heap, list.list, ts_dequantized (program, x.list->items[i]));
  return list;
}

/* Two quantised tensors of one layout. */
static TsValue
binary (TsProgram *program, const TsCall *call)
{
  SlTensor like;
  Lower *o = &program->lower;
  LowerValue *a = read_codes (program, call->args[0]), *b = read_codes (program, call->args[1]);
  if (a == NULL || b == NULL
      || !ts_quantized_result (program, call->args[0].tensor->dtype, call->args[2], call->args[3],
                               &like))
    return ts_none ();
  const guint rank = MAX (a->rank, b->rank);
  const gboolean last = (a->last >= 0 && a->rank == rank) || (b->last >= 0 && b->rank == rank);
  const gint32 inputs[2] = { lower_operand (o, a, rank, last), lower_operand (o, b, rank, last) };
  const gboolean relu = g_str_has_suffix (call->op->name, "_relu");
  const SlOpParams params = { .binary = { .activation =
                                            relu ? SL_ACTIVATION_RELU : SL_ACTIVATION_NONE,
                                          .half_away = call->op->type == SL_OP_ADD } };
  return boxed (program, lower_settled (o, call->op->type, inputs, 2, &params, &like), last,
                call->args[0].tensor->dtype);
}

/* The same codes that stand for other numbers: of @scale. */
static TsValue
relabelled (TsProgram *program, TsValue value, gfloat scale)
{
  guint8 table[CODES];
  gboolean last = FALSE;
  Lower *o = &program->lower;
  LowerValue *x = read_codes (program, value);
  const gint32 input = x != NULL ? lower_any (o, x, &last) : -1;
  if (ts_failed (program))
    return ts_none ();
  const SlTensor from = *lower_t (o, input);
  gfloat *scales = sl_arena_alloc (o->arena, sizeof *scales);
  scales[0] = scale;
  const SlTensor like = { .dtype = from.dtype,
                          .quant = {
                            .count = 1, .scale = scales, .zero_point = from.quant.zero_point } };
  for (guint i = 0; i < CODES; i++)
    table[i] = (guint8) i;
  const gint32 constant = lower_constant (o, SL_DTYPE_U8, 1, (const gint32[]){ CODES }, table);
  return boxed (
    program, lower_settled (o, SL_OP_LOOKUP, (const gint32[]){ input, constant }, 2, NULL, &like),
    last, value.tensor->dtype);
}

/* (NaN after an error): the scale of a quantised argument. */
static gfloat
scale_of (TsProgram *program, TsValue value)
{
  LowerValue *x = read_codes (program, value);
  const SlTensor *t =
    x != NULL ? lower_t (&program->lower, x->plain >= 0 ? x->plain : x->last) : NULL;
  if (!ts_failed (program) && t->quant.count == 1)
    return t->quant.scale[0];
  ts_refuse (program, SL_ERROR_UNSUPPORTED, "of a tensor with several scales");
  return NAN;
}

/* A number beside a quantised tensor scales its codes' meaning; the codes of the result stay what
 * they are. */
static TsValue
times_number (TsProgram *program, const TsCall *call)
{
  const gdouble number = ts_to_float (program, call->args[1]);
  const gfloat scale = scale_of (program, call->args[0]);
  if (!ts_failed (program) && !(number > 0))
    return ts_refuse (program, SL_ERROR_UNSUPPORTED, "by %g; only numbers above 0 are supported",
                      number);
  return relabelled (program, call->args[0], (gfloat) ((gdouble) scale * number));
}

TsValue
ts_through_codes (TsProgram *program, const TsCall *call,
                  TsValue (*run) (TsProgram *program, const TsCall *call))
{
  TsCall real = *call;
  const TsValue x = call->args[0];
  const gfloat scale = scale_of (program, x);
  const TsValue zero = ts_run_op (program, "aten::q_zero_point", &x, NULL, 1);
  real.args[0] = ts_dequantized (program, relabelled (program, x, 1));
  if (ts_failed (program))
    return ts_none ();
  const TsValue args[] = { run (program, &real), ts_float (1), zero, ts_int (x.tensor->dtype) };
  return relabelled (program, ts_run_op (program, "aten::quantize_per_tensor", args, NULL, 4),
                     scale);
}

static TsValue
join (TsProgram *program, const TsCall *call)
{
  gint32 inputs[SL_MAX_OPERANDS];
  SlTensor like;
  gboolean last = FALSE;
  const TsValue list = call->args[0];
  if ((list.kind != TS_LIST && list.kind != TS_TUPLE) || list.list->n == 0
      || list.list->n > SL_MAX_OPERANDS)
    return ts_refuse (program, SL_ERROR_FORMAT, "expected a list of 1 to %d tensors",
                      SL_MAX_OPERANDS);
  for (guint i = 0; i < list.list->n; i++) {
    LowerValue *x = read_codes (program, list.list->items[i]);
    if (x == NULL)
      return ts_none ();
    last |= x->last >= 0;
  }
  const TsTensor *first = list.list->items[0].tensor;
  for (guint i = 0; i < list.list->n; i++)
    inputs[i] = last ? lower_last (&program->lower, ts_read (program, list.list->items[i]))
                     : lower_plain (&program->lower, ts_read (program, list.list->items[i]));
  if (ts_failed (program))
    return ts_none ();
  const SlTensor *t = lower_t (&program->lower, inputs[0]);
  like = (SlTensor){ .dtype = t->dtype, .quant = t->quant };
  if (call->args[2].kind != TS_NONE
      && !ts_quantized_result (program, first->dtype, call->args[2], call->args[3], &like))
    return ts_none ();
  const SlOpParams params = {
    .concat = { .axis = (gint32) lower_axis (ts_axis (program, call->args[1], first->rank),
                                             first->rank, last),
                .activation = g_str_has_suffix (call->op->name, "_relu") ? SL_ACTIVATION_RELU
                                                                         : SL_ACTIVATION_NONE }
  };
  return boxed (
    program,
    lower_settled (&program->lower, SL_OP_CONCATENATION, inputs, list.list->n, &params, &like),
    last, first->dtype);
}

/* The real functions; @a and @b are the operator's numbers. */
typedef gdouble (*Function) (gdouble x, gdouble a, gdouble b);

static gdouble
sigmoid (gdouble x, gdouble a, gdouble b)
{
  (void) a;
  (void) b;
  return 1 / (1 + exp (-x));
}

static gdouble
hyperbolic (gdouble x, gdouble a, gdouble b)
{
  (void) a;
  (void) b;
  return tanh (x);
}

static gdouble
hardswish (gdouble x, gdouble a, gdouble b)
{
  (void) a;
  (void) b;
  return x * CLAMP (x + 3, 0, 6) / 6;
}

static gdouble
hardsigmoid (gdouble x, gdouble a, gdouble b)
{
  (void) a;
  (void) b;
  return CLAMP (x + 3, 0, 6) / 6;
}

static gdouble
leaky (gdouble x, gdouble a, gdouble b)
{
  (void) b;
  return x < 0 ? x * a : x;
}

static gdouble
exponential (gdouble x, gdouble a, gdouble b)
{
  (void) b;
  return x < 0 ? a * expm1 (x) : x;
}

static gdouble
clipped (gdouble x, gdouble a, gdouble b)
{
  return CLAMP (x, a, b);
}

static TsValue
by_table (TsProgram *program, TsValue value, Function function, gdouble a, gdouble b,
          const SlTensor *result)
{
  guint8 table[CODES];
  gboolean last = FALSE;
  LowerValue *x = read_codes (program, value);
  const gint32 input = x != NULL ? lower_any (&program->lower, x, &last) : -1;
  if (ts_failed (program))
    return ts_none ();
  const SlTensor t = *lower_t (&program->lower, input);
  const SlTensor like = result != NULL ? *result : (SlTensor){ .dtype = t.dtype, .quant = t.quant };
  for (gint32 i = 0; i < CODES; i++) {
    const gfloat real = (gfloat) ((gint8) i - sl_tensor_zero_point (&t)) * sl_tensor_scale (&t);
    const gfloat code = rintf ((gfloat) function ((gdouble) real, a, b) / sl_tensor_scale (&like))
                        + (gfloat) sl_tensor_zero_point (&like);
    table[i] = (guint8) (gint8) CLAMP (code, -128.0f, 127.0f);
  }
  const gint32 constant =
    lower_constant (&program->lower, SL_DTYPE_U8, 1, (const gint32[]){ CODES }, table);
  return boxed (program,
                lower_settled (&program->lower, SL_OP_LOOKUP, (const gint32[]){ input, constant },
                               2, NULL, &like),
                last, value.tensor->dtype);
}

/* Operators that state the result's scale behind their numbers, those whose result has a scale of
 * its own, and those that keep it. */
static TsValue
function (TsProgram *program, const TsCall *call)
{
  static const struct
  {
    const char *name;
    Function function;
    guint numbers; /* arguments that are the function's */
    gint scale;    /* argument with the result's scale, -1 = its own, 0 = the operand's */
    gdouble own_scale;
    gint own_zero;
  } rows[] = {
    { "quantized::sigmoid", sigmoid, 0, 1, 0, 0 },
    { "quantized::hardswish", hardswish, 0, 1, 0, 0 },
    { "quantized::leaky_relu", leaky, 1, 3, 0, 0 },
    { "quantized::elu", exponential, 0, 1, 0, 0 },
    { "aten::sigmoid", sigmoid, 0, -1, 1.0 / 256, 0 },
    { "aten::hardsigmoid", hardsigmoid, 0, -1, 1.0 / 256, 0 },
    { "aten::tanh", hyperbolic, 0, -1, 2.0 / 256, 128 },
    { "aten::leaky_relu", leaky, 1, 0, 0, 0 },
    { "aten::hardswish", hardswish, 0, 0, 0, 0 },
    { "aten::elu", exponential, 1, 0, 0, 0 },
  };
  SlTensor like;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    if (strcmp (call->op->name, rows[i].name) != 0)
      continue;
    const guint at = (guint) MAX (rows[i].scale, 0);
    gboolean stated = FALSE;
    if (rows[i].scale > 0)
      stated = ts_quantized_result (program, TS_QUINT8, call->args[at], call->args[at + 1], &like);
    else if (rows[i].scale < 0)
      stated = ts_quantized_result (program, TS_QUINT8, ts_float (rows[i].own_scale),
                                    ts_int (rows[i].own_zero), &like);
    const gdouble a = rows[i].numbers > 0 ? ts_to_float (program, call->args[1]) : 1;
    return ts_failed (program)
             ? ts_none ()
             : by_table (program, call->args[0], rows[i].function, a, 0, stated ? &like : NULL);
  }
  return ts_refuse (program, SL_ERROR_UNSUPPORTED, "of a quantised tensor it is not supported");
}

/* Limits for which the graph has an operator of its own, which becomes part of the convolution
 * before it. */
static TsValue
clamped (TsProgram *program, TsValue value, SlOpType op)
{
  gboolean last = FALSE;
  LowerValue *x = read_codes (program, value);
  const gint32 input = x != NULL ? lower_any (&program->lower, x, &last) : -1;
  return ts_failed (program)
           ? ts_none ()
           : boxed (program, lower_unary (&program->lower, op, input), last, value.tensor->dtype);
}

TsValue
ts_quantized_unary (TsProgram *program, const TsCall *call)
{
  return strcmp (call->op->name, "aten::relu") == 0 ? clamped (program, call->args[0], SL_OP_RELU)
                                                    : function (program, call);
}

TsValue
ts_quantized_clip (TsProgram *program, TsValue x, TsValue low, TsValue high)
{
  static const struct
  {
    gdouble low, high;
    SlOpType op;
  } rows[] = { { 0, G_MAXDOUBLE, SL_OP_RELU },
               { 0, 6, SL_OP_RELU6 },
               { -1, 1, SL_OP_RELU_N1_TO_1 },
               { 0, 1, SL_OP_RELU_0_TO_1 } };
  const gdouble a = low.kind != TS_NONE ? ts_to_float (program, low) : -G_MAXDOUBLE,
                b = high.kind != TS_NONE ? ts_to_float (program, high) : G_MAXDOUBLE;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (a == rows[i].low && b == rows[i].high)
      return clamped (program, x, rows[i].op);
  return by_table (program, x, clipped, a, b, NULL);
}

static TsValue
relu6 (TsProgram *program, const TsCall *call)
{
  return ts_quantized_clip (program, call->args[0], ts_int (0), ts_int (6));
}

/* What training for quantisation leaves where the model was not converted: values as codes would
 * have them. */
static TsValue
fake_quantize (TsProgram *program, const TsCall *call)
{
  const gint64 low = ts_to_int (program, call->args[3]), high = ts_to_int (program, call->args[4]);
  const TsValue scale = ts_float (ts_to_float (program, call->args[1])),
                zero = ts_int (ts_to_int (program, call->args[2]));
  const TsValue args[] = { call->args[0], scale, zero, ts_int (low == 0 ? TS_QUINT8 : TS_QINT8) };
  if (ts_failed (program) || high - low != 255 || (low != 0 && low != -128))
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "codes from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT "; expected 8 bits",
                      low, high);
  return ts_dequantized (program, ts_run_op (program, "aten::quantize_per_tensor", args, NULL, 4));
}

/* Scale and zero point as the program sees them. */
static TsValue
fact (TsProgram *program, const TsCall *call)
{
  LowerValue *x = read_codes (program, call->args[0]);
  const gfloat scale = scale_of (program, call->args[0]);
  if (ts_failed (program))
    return ts_none ();
  if (strcmp (call->op->name, "aten::q_scale") == 0)
    return ts_float ((gdouble) scale);
  const SlTensor *t = lower_t (&program->lower, x->plain >= 0 ? x->plain : x->last);
  return ts_int (t->quant.zero_point[0] + (call->args[0].tensor->dtype == TS_QUINT8 ? 128 : 0));
}

const TsOp ts_ops_quantized[] = {
  { "aten::quantize_per_tensor", "input,scale,zero_point,dtype", quantize },
  { "aten::fake_quantize_per_tensor_affine", "self,scale,zero_point,quant_min,quant_max",
    fake_quantize },
  { "aten::dequantize", "self", dequantize },
  { "aten::q_scale", "self", fact },
  { "aten::q_zero_point", "self", fact },
  { "quantized::add", "qa,qb,scale,zero_point", binary, NULL, SL_OP_ADD },
  { "quantized::add_relu", "qa,qb,scale,zero_point", binary, NULL, SL_OP_ADD },
  { "quantized::mul", "qa,qb,scale,zero_point", binary, NULL, SL_OP_MUL },
  { "quantized::mul_relu", "qa,qb,scale,zero_point", binary, NULL, SL_OP_MUL },
  { "quantized::mul_scalar", "qa,b", times_number },
  { "quantized::cat", "qx,dim,scale=None,zero_point=None", join },
  { "quantized::cat_relu", "qx,dim,scale=None,zero_point=None", join },
  { "quantized::sigmoid", "qx,output_scale,output_zero_point", function },
  { "quantized::hardswish", "input,output_scale,output_zero_point", function },
  { "quantized::leaky_relu", "qx,negative_slope,inplace,output_scale,output_zero_point", function },
  { "quantized::elu", "self,output_scale,output_zero_point,alpha=1", function },
  { "quantized::relu6", "qx,inplace=False", relu6 },
  { NULL },
};
