/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that work on each element: they keep whatever layout their operands are in. */
#include <math.h>
#include <string.h>

#include "models/lower/ops.h"

void
lower_each (Lower *o)
{
  gboolean last = FALSE;
  const gint32 x = lower_any (o, lower_required (o, 0), &last);
  lower_set (o, 0, o->row->each (o, x), last);
}

static gint32
add (Lower *o, gint32 x, gfloat value)
{
  return value == 0 ? x : lower_binary (o, SL_OP_ADD, x, lower_float_like (o, x, value));
}

static gint32
times (Lower *o, gint32 x, gfloat value)
{
  return value == 1 ? x : lower_binary (o, SL_OP_MUL, x, lower_float_like (o, x, value));
}

static void
lower_unary_op (Lower *o)
{
  gboolean last = FALSE;
  const gint32 x = lower_any (o, lower_required (o, 0), &last);
  lower_set (o, 0, lower_unary (o, o->row->type, x), last);
}

/* Dropout has a mask beside it, which nothing reads in a model for inference. */
static void
lower_identity (Lower *o)
{
  LowerValue *value = lower_required (o, 0);
  lower_set_value (o, 0, value);
}

static gint32
lower_reciprocal (Lower *o, gint32 x)
{
  return lower_binary (o, SL_OP_DIV, lower_float_like (o, x, 1), x);
}

/* log (1 + exp (x)) where neither overflows nor vanishes. */
static gint32
lower_softplus (Lower *o, gint32 x)
{
  const gint32 small =
    lower_unary (o, SL_OP_EXP, lower_unary (o, SL_OP_NEG, lower_unary (o, SL_OP_ABS, x)));
  return lower_binary (o, SL_OP_ADD, lower_unary (o, SL_OP_RELU, x),
                       lower_unary (o, SL_OP_LOG, add (o, small, 1)));
}

static gint32
lower_softsign (Lower *o, gint32 x)
{
  return lower_binary (o, SL_OP_DIV, x, add (o, lower_unary (o, SL_OP_ABS, x), 1));
}

static gint32
lower_tan (Lower *o, gint32 x)
{
  return lower_binary (o, SL_OP_DIV, lower_unary (o, SL_OP_SIN, x), lower_unary (o, SL_OP_COS, x));
}

static gint32
lower_swish (Lower *o, gint32 x)
{
  return lower_binary (
    o, SL_OP_MUL, x,
    lower_unary (o, SL_OP_LOGISTIC, times (o, x, lower_attr_float (o, "alpha", 1))));
}

gint32
lower_gelu (Lower *o, gint32 x)
{
  const SlOpParams params = {
    .gelu = { .approximate = strcmp (lower_attr_text (o, "approximate", "none"), "tanh") == 0 }
  };
  return lower_emit (o, SL_OP_GELU, &x, 1, &params, SL_DTYPE_F32);
}

static gint32
lower_leaky_relu (Lower *o, gint32 x)
{
  const SlOpParams params = { .leaky_relu = { .alpha = lower_attr_float (o, "alpha", 0.01f) } };
  return lower_emit (o, SL_OP_LEAKY_RELU, &x, 1, &params, lower_tensor_type (o, x));
}

/* gamma * (max (x, 0) + alpha * (exp (min (x, 0) / width) - 1)) */
static gint32
elu_of (Lower *o, gint32 x, gfloat alpha, gfloat gamma, gfloat width)
{
  if (alpha == 1 && width == 1)
    return times (o, lower_unary (o, SL_OP_ELU, x), gamma);
  const gint32 below = times (o, lower_binary (o, SL_OP_MINIMUM, x, lower_float (o, 0)), 1 / width);
  const gint32 curve = times (o, lower_unary (o, SL_OP_ELU, below), alpha);
  return times (o, lower_binary (o, SL_OP_ADD, lower_unary (o, SL_OP_RELU, x), curve), gamma);
}

static gint32
lower_elu (Lower *o, gint32 x)
{
  const char *op = o->node->op;
  if (strcmp (op, "Selu") == 0)
    return elu_of (o, x, lower_attr_float (o, "alpha", 1.6732632f),
                   lower_attr_float (o, "gamma", 1.050701f), 1);
  const gfloat alpha = lower_attr_float (o, "alpha", 1);
  return elu_of (o, x, alpha, 1, strcmp (op, "Celu") == 0 ? alpha : 1);
}

static gint32
lower_thresholded_relu (Lower *o, gint32 x)
{
  const gint32 above = lower_emit (
    o, SL_OP_GREATER, (const gint32[]){ x, lower_float (o, lower_attr_float (o, "alpha", 1)) }, 2,
    NULL, SL_DTYPE_BOOL);
  return lower_emit (o, SL_OP_SELECT, (const gint32[]){ above, x, lower_float (o, 0) }, 3, NULL,
                     SL_DTYPE_F32);
}

/* x + bias below -lambd, x - bias above it, 0 between. */
static gint32
lower_shrink (Lower *o, gint32 x)
{
  const gfloat limit = lower_attr_float (o, "lambd", 0.5f), bias = lower_attr_float (o, "bias", 0);
  const SlDtype dtype = lower_tensor_type (o, x);
  const gint32 below = lower_emit (
    o, SL_OP_LESS, (const gint32[]){ x, lower_float_like (o, x, -limit) }, 2, NULL, SL_DTYPE_BOOL);
  const gint32 above =
    lower_emit (o, SL_OP_GREATER, (const gint32[]){ x, lower_float_like (o, x, limit) }, 2, NULL,
                SL_DTYPE_BOOL);
  const gint32 upper = lower_emit (
    o, SL_OP_SELECT, (const gint32[]){ above, add (o, x, -bias), lower_float_like (o, x, 0) }, 3,
    NULL, dtype);
  return lower_emit (o, SL_OP_SELECT, (const gint32[]){ below, add (o, x, bias), upper }, 3, NULL,
                     dtype);
}

/* Operators of opset 6 and before that exporters went on writing: alpha x + beta, and alpha tanh
 * (beta x). */
static gint32
lower_affine (Lower *o, gint32 x)
{
  return add (o, times (o, x, lower_attr_float (o, "alpha", 1)), lower_attr_float (o, "beta", 0));
}

static gint32
lower_scaled_tanh (Lower *o, gint32 x)
{
  return times (o, lower_unary (o, SL_OP_TANH, times (o, x, lower_attr_float (o, "beta", 1))),
                lower_attr_float (o, "alpha", 1));
}

static gint32
lower_parametric_softplus (Lower *o, gint32 x)
{
  return times (o, lower_softplus (o, times (o, x, lower_attr_float (o, "beta", 1))),
                lower_attr_float (o, "alpha", 1));
}

/* A picture times one scale, plus a bias for each channel. */
static void
lower_image_scaler (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const LowerAttribute *bias = lower_attribute (o, "bias");
  const gint32 input = lower_last (o, x);
  if (o->error != NULL)
    return;
  const guint n = bias != NULL ? bias->n_floats : 0;
  if (x->rank != 4 || (n != 0 && (gint32) n != x->dims[1])) {
    lower_fail (
      o, SL_ERROR_SHAPE,
      "attribute bias has %u numbers for an input of %u dimensions; expected one a channel of "
      "[N,C,H,W]",
      n, x->rank);
    return;
  }
  gint32 y = times (o, input, lower_attr_float (o, "scale", 1));
  if (n > 0)
    y = lower_binary (
      o, SL_OP_ADD, y,
      lower_constant (o, SL_DTYPE_F32, 1, (const gint32[]){ (gint32) n }, bias->floats));
  lower_set (o, 0, y, TRUE);
}

static gint32
lower_hard_sigmoid (Lower *o, gint32 x)
{
  const gint32 line =
    add (o, times (o, x, lower_attr_float (o, "alpha", 0.2f)), lower_attr_float (o, "beta", 0.5f));
  return lower_unary (o, SL_OP_RELU_0_TO_1, line);
}

/* The limits of Clip: attributes before opset 11, constant inputs since. */
static gfloat
clip_limit (Lower *o, const char *name, guint i, gfloat fallback)
{
  gfloat value = fallback;
  gint32 whole = 0;
  guint n = 0;
  if (o->opset < 11)
    return lower_attr_float (o, name, fallback);
  LowerValue *input = lower_input (o, i);
  if (input == NULL || input->empty)
    return fallback;
  if (lower_dtype (o, input) == SL_DTYPE_I32) {
    lower_input_ints (o, i, name, &whole, 1, &n);
    return (gfloat) whole;
  }
  lower_input_floats (o, i, name, &value, 1, &n);
  return value;
}

static gint32
lower_clip (Lower *o, gint32 x)
{
  const gfloat low = clip_limit (o, "min", 1, -INFINITY), high = clip_limit (o, "max", 2, INFINITY);
  if (lower_tensor_type (o, x) == SL_DTYPE_F32) {
    if (low == 0 && high >= G_MAXFLOAT)
      return lower_unary (o, SL_OP_RELU, x);
    if (low == 0 && (high == 6 || high == 1))
      return lower_unary (o, high == 6 ? SL_OP_RELU6 : SL_OP_RELU_0_TO_1, x);
    if (low == -1 && high == 1)
      return lower_unary (o, SL_OP_RELU_N1_TO_1, x);
  }
  if (low > -G_MAXFLOAT)
    x = lower_binary (o, SL_OP_MAXIMUM, x, lower_float_like (o, x, low));
  return high < G_MAXFLOAT ? lower_binary (o, SL_OP_MINIMUM, x, lower_float_like (o, x, high)) : x;
}

/* The layout and rank in which @n inputs broadcast. */
static guint
common_rank (Lower *o, LowerValue *const *values, guint n, gboolean *last)
{
  guint rank = 0;
  *last = FALSE;
  for (guint i = 0; i < n; i++)
    if (values[i] != NULL)
      rank = MAX (rank, values[i]->rank);
  for (guint i = 0; i < n; i++)
    *last |= values[i] != NULL && values[i]->rank == rank && lower_is_last (values[i]);
  return rank;
}

/* An input without elements, which a scalar operand leaves empty. */
static gboolean
pass_empty (Lower *o, LowerValue *const *values, guint n)
{
  for (guint i = 0; i < n; i++)
    if (values[i] != NULL && values[i]->empty) {
      lower_set_value (o, 0, values[i]);
      return TRUE;
    }
  return FALSE;
}

static void
pair (Lower *o, SlOpType op, SlDtype result)
{
  LowerValue *values[2] = { lower_required (o, 0), lower_required (o, 1) };
  gboolean last = FALSE;
  if (pass_empty (o, values, 2))
    return;
  const guint rank = common_rank (o, values, 2, &last);
  const gint32 inputs[2] = { lower_operand (o, values[0], rank, last),
                             lower_operand (o, values[1], rank, last) };
  lower_set (o, 0,
             lower_emit (o, op, inputs, 2, NULL,
                         result != SL_DTYPE_INVALID ? result : lower_tensor_type (o, inputs[0])),
             last);
}

static void
lower_binary_op (Lower *o)
{
  pair (o, o->row->type, SL_DTYPE_INVALID);
}

static void
lower_compare (Lower *o)
{
  pair (o, o->row->type, SL_DTYPE_BOOL);
}

static void
lower_xor (Lower *o)
{
  pair (o, SL_OP_NOT_EQUAL, SL_DTYPE_BOOL);
}

static gint32
same (Lower *o, SlOpType op, gint32 a, gint32 b)
{
  return lower_emit (o, op, (const gint32[]){ a, b }, 2, NULL, SL_DTYPE_BOOL);
}

static gint32
lower_is_nan (Lower *o, gint32 x)
{
  return same (o, SL_OP_NOT_EQUAL, x, x);
}

static gint32
lower_is_inf (Lower *o, gint32 x)
{
  const gboolean below = lower_attr_int (o, "detect_negative", 1) != 0,
                 above = lower_attr_int (o, "detect_positive", 1) != 0;
  if (below && above)
    return same (o, SL_OP_EQUAL, lower_unary (o, SL_OP_ABS, x), lower_float (o, INFINITY));
  if (!below && !above)
    return same (o, SL_OP_LESS, lower_unary (o, SL_OP_ABS, x), lower_float (o, 0));
  return same (o, SL_OP_EQUAL, x, lower_float (o, below ? -INFINITY : INFINITY));
}

/* The rest has the divisor's sign; with fmod the dividend's. */
static void
lower_mod (Lower *o)
{
  pair (o, lower_attr_int (o, "fmod", 0) != 0 ? SL_OP_FMOD : SL_OP_FLOOR_MOD, SL_DTYPE_INVALID);
}

/* The exponent may be of another type than the base; squares and roots have operators of their own.
 */
static void
lower_pow (Lower *o)
{
  LowerValue *values[2] = { lower_required (o, 0), lower_required (o, 1) };
  gboolean last = FALSE;
  gsize n = 0;
  const guint rank = common_rank (o, values, 2, &last);
  const gint32 x = lower_operand (o, values[0], rank, last);
  const gint32 y =
    lower_cast (o, lower_operand (o, values[1], rank, last), lower_tensor_type (o, x));
  const gfloat *exponent = lower_tensor_type (o, y) == SL_DTYPE_F32 ? lower_t (o, y)->data : NULL;
  if (!sl_tensor_elements (lower_t (o, y), &n) || n != 1)
    exponent = NULL;
  if (exponent != NULL && (exponent[0] == 2 || exponent[0] == 0.5f))
    lower_set (o, 0, lower_unary (o, exponent[0] == 2 ? SL_OP_SQUARE : SL_OP_SQRT, x), last);
  else
    lower_set (o, 0, lower_binary (o, SL_OP_POW, x, y), last);
}

/* Max, Min, Sum and Mean of any number of inputs. */
static void
lower_variadic (Lower *o)
{
  const guint n = o->node->n_inputs;
  LowerValue *values[SL_MAX_OPERANDS];
  gboolean last = FALSE;
  for (guint i = 0; i < n; i++)
    values[i] = lower_required (o, i);
  if (o->error != NULL || n == 0) {
    lower_fail (o, SL_ERROR_FORMAT, "it has no inputs");
    return;
  }
  const guint rank = common_rank (o, values, n, &last);
  gint32 x = lower_operand (o, values[0], rank, last);
  for (guint i = 1; i < n; i++)
    x = lower_binary (o, o->row->type, x, lower_operand (o, values[i], rank, last));
  if (strcmp (o->node->op, "Mean") == 0)
    x = times (o, x, 1 / (gfloat) n);
  lower_set (o, 0, x, last);
}

static void
lower_where (Lower *o)
{
  LowerValue *values[3] = { lower_required (o, 0), lower_required (o, 1), lower_required (o, 2) };
  gboolean last = FALSE;
  if (pass_empty (o, values, 3))
    return;
  const guint rank = common_rank (o, values, 3, &last);
  gint32 inputs[3];
  for (guint i = 0; i < 3; i++)
    inputs[i] = lower_operand (o, values[i], rank, last);
  lower_set (o, 0, lower_emit (o, SL_OP_SELECT, inputs, 3, NULL, lower_tensor_type (o, inputs[1])),
             last);
}

/* The slope broadcasts from the last dimension on, as everywhere in ONNX. */
static void
lower_prelu (Lower *o)
{
  LowerValue *values[2] = { lower_required (o, 0), lower_required (o, 1) };
  const guint rank = values[0] != NULL ? values[0]->rank : 0;
  const gboolean last = values[0] != NULL && values[0]->last >= 0;
  if (values[1] != NULL && values[1]->rank == 1 && rank > 2
      && values[1]->dims[0] == values[0]->dims[1]
      && values[1]->dims[0] != values[0]->dims[rank - 1]) {
    /* Files of opset 6 and older: one slope a channel. */
    gint32 dims[SL_MAX_RANK] = { values[1]->dims[0], 1, 1, 1, 1, 1, 1, 1 };
    values[1] =
      lower_value_new (o, lower_reshape (o, lower_plain (o, values[1]), dims, rank - 1), FALSE);
  }
  const gint32 inputs[2] = { lower_operand (o, values[0], rank, last),
                             lower_operand (o, values[1], rank, last) };
  lower_set (o, 0, lower_binary (o, SL_OP_PRELU, inputs[0], inputs[1]), last);
}

const LowerOp lower_ops_elementwise[] = {
  { LOWER_ROW (Abs, lower_unary_op), SL_OP_ABS },
  { LOWER_ROW (Acos, lower_unary_op), SL_OP_ACOS },
  { LOWER_ROW (Acosh, lower_unary_op), SL_OP_ACOSH },
  { LOWER_ROW (Add, lower_binary_op), SL_OP_ADD },
  { LOWER_EACH (Affine, lower_affine) },
  { LOWER_ROW (And, lower_compare), SL_OP_LOGICAL_AND },
  { LOWER_ROW (Asin, lower_unary_op), SL_OP_ASIN },
  { LOWER_ROW (Asinh, lower_unary_op), SL_OP_ASINH },
  { LOWER_ROW (Atan, lower_unary_op), SL_OP_ATAN },
  { LOWER_ROW (Atanh, lower_unary_op), SL_OP_ATANH },
  { LOWER_ROW (Ceil, lower_unary_op), SL_OP_CEIL },
  { LOWER_EACH (Celu, lower_elu) },
  { LOWER_EACH (Clip, lower_clip) },
  { LOWER_ROW (Cos, lower_unary_op), SL_OP_COS },
  { LOWER_ROW (Cosh, lower_unary_op), SL_OP_COSH },
  { LOWER_ROW (Div, lower_binary_op), SL_OP_DIV },
  { LOWER_ROW (Dropout, lower_identity), 0 },
  { LOWER_EACH (Elu, lower_elu) },
  { LOWER_ROW (Equal, lower_compare), SL_OP_EQUAL },
  { LOWER_ROW (Erf, lower_unary_op), SL_OP_ERF },
  { LOWER_ROW (Exp, lower_unary_op), SL_OP_EXP },
  { LOWER_ROW (Floor, lower_unary_op), SL_OP_FLOOR },
  { LOWER_EACH (Gelu, lower_gelu) },
  { LOWER_ROW (Greater, lower_compare), SL_OP_GREATER },
  { LOWER_ROW (GreaterOrEqual, lower_compare), SL_OP_GREATER_EQUAL },
  { LOWER_EACH (HardSigmoid, lower_hard_sigmoid) },
  { LOWER_ROW (HardSwish, lower_unary_op), SL_OP_HARD_SWISH },
  { LOWER_ROW (Identity, lower_identity), 0 },
  { LOWER_ROW (ImageScaler, lower_image_scaler), 0 },
  { LOWER_EACH (IsInf, lower_is_inf) },
  { LOWER_EACH (IsNaN, lower_is_nan) },
  { LOWER_EACH (LeakyRelu, lower_leaky_relu) },
  { LOWER_ROW (Less, lower_compare), SL_OP_LESS },
  { LOWER_ROW (LessOrEqual, lower_compare), SL_OP_LESS_EQUAL },
  { LOWER_ROW (Log, lower_unary_op), SL_OP_LOG },
  { LOWER_ROW (Max, lower_variadic), SL_OP_MAXIMUM },
  { LOWER_ROW (Mean, lower_variadic), SL_OP_ADD },
  { LOWER_ROW (Min, lower_variadic), SL_OP_MINIMUM },
  { LOWER_ROW (Mish, lower_unary_op), SL_OP_MISH },
  { LOWER_ROW (Mod, lower_mod), 0 },
  { LOWER_ROW (Mul, lower_binary_op), SL_OP_MUL },
  { LOWER_ROW (Neg, lower_unary_op), SL_OP_NEG },
  { LOWER_ROW (Not, lower_unary_op), SL_OP_LOGICAL_NOT },
  { LOWER_ROW (Or, lower_compare), SL_OP_LOGICAL_OR },
  { LOWER_ROW (PRelu, lower_prelu), 0 },
  { LOWER_EACH (ParametricSoftplus, lower_parametric_softplus) },
  { LOWER_ROW (Pow, lower_pow), 0 },
  { LOWER_EACH (Reciprocal, lower_reciprocal) },
  { LOWER_ROW (Relu, lower_unary_op), SL_OP_RELU },
  { LOWER_ROW (Round, lower_unary_op), SL_OP_ROUND },
  { LOWER_EACH (ScaledTanh, lower_scaled_tanh) },
  { LOWER_EACH (Selu, lower_elu) },
  { LOWER_EACH (Shrink, lower_shrink) },
  { LOWER_ROW (Sigmoid, lower_unary_op), SL_OP_LOGISTIC },
  { LOWER_ROW (Sign, lower_unary_op), SL_OP_SIGN },
  { LOWER_ROW (Sin, lower_unary_op), SL_OP_SIN },
  { LOWER_ROW (Sinh, lower_unary_op), SL_OP_SINH },
  { LOWER_EACH (Softplus, lower_softplus) },
  { LOWER_EACH (Softsign, lower_softsign) },
  { LOWER_ROW (Sqrt, lower_unary_op), SL_OP_SQRT },
  { LOWER_ROW (Sub, lower_binary_op), SL_OP_SUB },
  { LOWER_ROW (Sum, lower_variadic), SL_OP_ADD },
  { LOWER_EACH (Swish, lower_swish) },
  { LOWER_EACH (Tan, lower_tan) },
  { LOWER_ROW (Tanh, lower_unary_op), SL_OP_TANH },
  { LOWER_EACH (ThresholdedRelu, lower_thresholded_relu) },
  { LOWER_ROW (Where, lower_where), 0 },
  { LOWER_ROW (Xor, lower_xor), 0 },
  { NULL },
};
