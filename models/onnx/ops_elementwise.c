/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators: they keep the layout of their operands. */
#include <math.h>
#include <string.h>

#include "models/onnx/build.h"
#include "models/onnx/ops.h"

typedef gint32 (*Function) (Onnx *o, gint32 x);

static void
map (Onnx *o, Function function)
{
  gboolean last = FALSE;
  const gint32 x = onnx_any (o, onnx_required (o, 0), &last);
  onnx_set (o, 0, function (o, x), last);
}

static gint32
add (Onnx *o, gint32 x, gfloat value)
{
  return value == 0 ? x : onnx_binary (o, SL_OP_ADD, x, onnx_float_like (o, x, value));
}

static gint32
times (Onnx *o, gint32 x, gfloat value)
{
  return value == 1 ? x : onnx_binary (o, SL_OP_MUL, x, onnx_float_like (o, x, value));
}

void
onnx_unary_op (Onnx *o)
{
  gboolean last = FALSE;
  const gint32 x = onnx_any (o, onnx_required (o, 0), &last);
  onnx_set (o, 0, onnx_unary (o, onnx_current (o)->type, x), last);
}

/* Dropout has a mask beside it, which nothing reads in a model for inference. */
void
onnx_identity (Onnx *o)
{
  OnnxValue *value = onnx_required (o, 0);
  onnx_set_value (o, 0, value);
}

static gint32
reciprocal (Onnx *o, gint32 x)
{
  return onnx_binary (o, SL_OP_DIV, onnx_float_like (o, x, 1), x);
}

void
onnx_reciprocal (Onnx *o)
{
  map (o, reciprocal);
}

/* log (1 + exp (x)) where neither overflows nor vanishes. */
static gint32
softplus (Onnx *o, gint32 x)
{
  const gint32 small = onnx_unary (o, SL_OP_EXP, onnx_unary (o, SL_OP_NEG, onnx_unary (o, SL_OP_ABS, x)));
  return onnx_binary (o, SL_OP_ADD, onnx_unary (o, SL_OP_RELU, x), onnx_unary (o, SL_OP_LOG, add (o, small, 1)));
}

void
onnx_softplus (Onnx *o)
{
  map (o, softplus);
}

static gint32
softsign (Onnx *o, gint32 x)
{
  return onnx_binary (o, SL_OP_DIV, x, add (o, onnx_unary (o, SL_OP_ABS, x), 1));
}

void
onnx_softsign (Onnx *o)
{
  map (o, softsign);
}

static gint32
tangent (Onnx *o, gint32 x)
{
  return onnx_binary (o, SL_OP_DIV, onnx_unary (o, SL_OP_SIN, x), onnx_unary (o, SL_OP_COS, x));
}

void
onnx_tan (Onnx *o)
{
  map (o, tangent);
}

static gint32
swish (Onnx *o, gint32 x)
{
  return onnx_binary (o, SL_OP_MUL, x, onnx_unary (o, SL_OP_LOGISTIC, times (o, x, onnx_attr_float (o, "alpha", 1))));
}

void
onnx_swish (Onnx *o)
{
  map (o, swish);
}

static gint32
gelu (Onnx *o, gint32 x)
{
  const SlOpParams params = { .gelu = { .approximate = strcmp (onnx_attr_text (o, "approximate", "none"), "tanh") == 0 } };
  return onnx_emit (o, SL_OP_GELU, &x, 1, &params, SL_DTYPE_F32);
}

void
onnx_gelu (Onnx *o)
{
  map (o, gelu);
}

static gint32
leaky_relu (Onnx *o, gint32 x)
{
  const SlOpParams params = { .leaky_relu = { .alpha = onnx_attr_float (o, "alpha", 0.01f) } };
  return onnx_emit (o, SL_OP_LEAKY_RELU, &x, 1, &params, onnx_tensor_type (o, x));
}

void
onnx_leaky_relu (Onnx *o)
{
  map (o, leaky_relu);
}

/* gamma * (max (x, 0) + alpha * (exp (min (x, 0) / width) - 1)) */
static gint32
elu_of (Onnx *o, gint32 x, gfloat alpha, gfloat gamma, gfloat width)
{
  if (alpha == 1 && width == 1)
    return times (o, onnx_unary (o, SL_OP_ELU, x), gamma);
  const gint32 below = times (o, onnx_binary (o, SL_OP_MINIMUM, x, onnx_float (o, 0)), 1 / width);
  const gint32 curve = times (o, onnx_unary (o, SL_OP_ELU, below), alpha);
  return times (o, onnx_binary (o, SL_OP_ADD, onnx_unary (o, SL_OP_RELU, x), curve), gamma);
}

static gint32
elu (Onnx *o, gint32 x)
{
  const char *op = o->node->op;
  if (strcmp (op, "Selu") == 0)
    return elu_of (o, x, onnx_attr_float (o, "alpha", 1.6732632f), onnx_attr_float (o, "gamma", 1.050701f), 1);
  const gfloat alpha = onnx_attr_float (o, "alpha", 1);
  return elu_of (o, x, alpha, 1, strcmp (op, "Celu") == 0 ? alpha : 1);
}

void
onnx_elu (Onnx *o)
{
  map (o, elu);
}

static gint32
thresholded_relu (Onnx *o, gint32 x)
{
  const gint32 above =
    onnx_emit (o, SL_OP_GREATER, (const gint32[]){ x, onnx_float (o, onnx_attr_float (o, "alpha", 1)) }, 2, NULL, SL_DTYPE_BOOL);
  return onnx_emit (o, SL_OP_SELECT, (const gint32[]){ above, x, onnx_float (o, 0) }, 3, NULL, SL_DTYPE_F32);
}

void
onnx_thresholded_relu (Onnx *o)
{
  map (o, thresholded_relu);
}

/* x + bias below -lambd, x - bias above it, 0 between. */
static gint32
shrink (Onnx *o, gint32 x)
{
  const gfloat limit = onnx_attr_float (o, "lambd", 0.5f), bias = onnx_attr_float (o, "bias", 0);
  const SlDtype dtype = onnx_tensor_type (o, x);
  const gint32 below = onnx_emit (o, SL_OP_LESS, (const gint32[]){ x, onnx_float_like (o, x, -limit) }, 2, NULL, SL_DTYPE_BOOL);
  const gint32 above = onnx_emit (o, SL_OP_GREATER, (const gint32[]){ x, onnx_float_like (o, x, limit) }, 2, NULL, SL_DTYPE_BOOL);
  const gint32 upper = onnx_emit (o, SL_OP_SELECT, (const gint32[]){ above, add (o, x, -bias), onnx_float_like (o, x, 0) }, 3, NULL, dtype);
  return onnx_emit (o, SL_OP_SELECT, (const gint32[]){ below, add (o, x, bias), upper }, 3, NULL, dtype);
}

void
onnx_shrink (Onnx *o)
{
  map (o, shrink);
}

/* Operators of opset 6 and before that exporters went on writing: alpha x + beta, and alpha tanh (beta x). */
static gint32
affine (Onnx *o, gint32 x)
{
  return add (o, times (o, x, onnx_attr_float (o, "alpha", 1)), onnx_attr_float (o, "beta", 0));
}

void
onnx_affine (Onnx *o)
{
  map (o, affine);
}

static gint32
scaled_tanh (Onnx *o, gint32 x)
{
  return times (o, onnx_unary (o, SL_OP_TANH, times (o, x, onnx_attr_float (o, "beta", 1))), onnx_attr_float (o, "alpha", 1));
}

void
onnx_scaled_tanh (Onnx *o)
{
  map (o, scaled_tanh);
}

static gint32
parametric_softplus (Onnx *o, gint32 x)
{
  return times (o, softplus (o, times (o, x, onnx_attr_float (o, "beta", 1))), onnx_attr_float (o, "alpha", 1));
}

void
onnx_parametric_softplus (Onnx *o)
{
  map (o, parametric_softplus);
}

/* A picture times one scale, plus a bias for each channel. */
void
onnx_image_scaler (Onnx *o)
{
  OnnxValue *x = onnx_required (o, 0);
  const OnnxAttribute *bias = onnx_attribute (o, "bias");
  const gint32 input = onnx_last (o, x);
  if (o->error != NULL)
    return;
  const guint n = bias != NULL ? bias->n_floats : 0;
  if (x->rank != 4 || (n != 0 && (gint32) n != x->dims[1])) {
    onnx_fail (o, SL_ERROR_SHAPE, "attribute bias has %u numbers for an input of %u dimensions; expected one a channel of [N,C,H,W]", n,
               x->rank);
    return;
  }
  gint32 y = times (o, input, onnx_attr_float (o, "scale", 1));
  if (n > 0)
    y = onnx_binary (o, SL_OP_ADD, y, onnx_constant (o, SL_DTYPE_F32, 1, (const gint32[]){ (gint32) n }, bias->floats));
  onnx_set (o, 0, y, TRUE);
}

static gint32
hard_sigmoid (Onnx *o, gint32 x)
{
  const gint32 line = add (o, times (o, x, onnx_attr_float (o, "alpha", 0.2f)), onnx_attr_float (o, "beta", 0.5f));
  return onnx_unary (o, SL_OP_RELU_0_TO_1, line);
}

void
onnx_hard_sigmoid (Onnx *o)
{
  map (o, hard_sigmoid);
}

/* The limits of Clip: attributes before opset 11, constant inputs since. */
static gfloat
clip_limit (Onnx *o, const char *name, guint i, gfloat fallback)
{
  gfloat value = fallback;
  gint32 whole = 0;
  guint n = 0;
  if (o->file->opset < 11)
    return onnx_attr_float (o, name, fallback);
  OnnxValue *input = onnx_input (o, i);
  if (input == NULL || input->empty)
    return fallback;
  if (onnx_dtype (o, input) == SL_DTYPE_I32) {
    onnx_input_ints (o, i, name, &whole, 1, &n);
    return (gfloat) whole;
  }
  onnx_input_floats (o, i, name, &value, 1, &n);
  return value;
}

static gint32
clip (Onnx *o, gint32 x)
{
  const gfloat low = clip_limit (o, "min", 1, -INFINITY), high = clip_limit (o, "max", 2, INFINITY);
  if (onnx_tensor_type (o, x) == SL_DTYPE_F32) {
    if (low == 0 && high >= G_MAXFLOAT)
      return onnx_unary (o, SL_OP_RELU, x);
    if (low == 0 && (high == 6 || high == 1))
      return onnx_unary (o, high == 6 ? SL_OP_RELU6 : SL_OP_RELU_0_TO_1, x);
    if (low == -1 && high == 1)
      return onnx_unary (o, SL_OP_RELU_N1_TO_1, x);
  }
  if (low > -G_MAXFLOAT)
    x = onnx_binary (o, SL_OP_MAXIMUM, x, onnx_float_like (o, x, low));
  return high < G_MAXFLOAT ? onnx_binary (o, SL_OP_MINIMUM, x, onnx_float_like (o, x, high)) : x;
}

void
onnx_clip (Onnx *o)
{
  map (o, clip);
}

/* float64 and float16 are float32 here, and whole numbers int32; what a file stores at its edges is another matter. */
void
onnx_cast_op (Onnx *o)
{
  const gint64 to = onnx_attr_int (o, "to", 0);
  const SlDtype dtype = to > 0 && to < 64 ? onnx_ir_type ((guint) to) : SL_DTYPE_INVALID;
  gboolean last = FALSE;
  OnnxValue *value = onnx_required (o, 0);
  if (dtype == SL_DTYPE_INVALID) {
    onnx_fail (o, SL_ERROR_UNSUPPORTED, "attribute to is %s, which is not supported", onnx_type_name ((guint) CLAMP (to, 0, 64)));
    return;
  }
  if (value != NULL && value->empty) {
    onnx_set_value (o, 0, value);
    return;
  }
  gint32 x = onnx_any (o, value, &last);
  if (onnx_t (o, x)->dtype == SL_DTYPE_I8 && onnx_t (o, x)->quant.count == 1 && o->signed_codes) {
    /* The file's codes are uint8; here they are int8, which only a type of more bits tells. */
    if (dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I8) {
      onnx_set_value (o, 0, value);
      return;
    }
    x = onnx_unsigned (o, x);
  }
  onnx_set (o, 0, onnx_cast (o, x, dtype), last);
}

/* The type alone of the second input counts. */
void
onnx_cast_like (Onnx *o)
{
  const SlDtype dtype = onnx_dtype (o, onnx_required (o, 1));
  OnnxValue *value = onnx_required (o, 0);
  gboolean last = FALSE;
  if (value != NULL && value->empty) {
    onnx_set_value (o, 0, value);
    return;
  }
  const gint32 x = onnx_any (o, value, &last);
  onnx_set (o, 0, onnx_cast (o, x, dtype), last);
}

/* The layout and rank in which @n inputs broadcast. */
static guint
common_rank (Onnx *o, OnnxValue *const *values, guint n, gboolean *last)
{
  guint rank = 0;
  *last = FALSE;
  for (guint i = 0; i < n; i++)
    if (values[i] != NULL)
      rank = MAX (rank, values[i]->rank);
  for (guint i = 0; i < n; i++)
    *last |= values[i] != NULL && values[i]->rank == rank && onnx_is_last (values[i]);
  return rank;
}

/* An input without elements, which a scalar operand leaves empty. */
static gboolean
pass_empty (Onnx *o, OnnxValue *const *values, guint n)
{
  for (guint i = 0; i < n; i++)
    if (values[i] != NULL && values[i]->empty) {
      onnx_set_value (o, 0, values[i]);
      return TRUE;
    }
  return FALSE;
}

static void
pair (Onnx *o, SlOpType op, SlDtype result)
{
  OnnxValue *values[2] = { onnx_required (o, 0), onnx_required (o, 1) };
  gboolean last = FALSE;
  if (pass_empty (o, values, 2))
    return;
  const guint rank = common_rank (o, values, 2, &last);
  const gint32 inputs[2] = { onnx_operand (o, values[0], rank, last), onnx_operand (o, values[1], rank, last) };
  onnx_set (o, 0, onnx_emit (o, op, inputs, 2, NULL, result != SL_DTYPE_INVALID ? result : onnx_tensor_type (o, inputs[0])), last);
}

void
onnx_binary_op (Onnx *o)
{
  pair (o, onnx_current (o)->type, SL_DTYPE_INVALID);
}

void
onnx_compare (Onnx *o)
{
  pair (o, onnx_current (o)->type, SL_DTYPE_BOOL);
}

void
onnx_xor (Onnx *o)
{
  pair (o, SL_OP_NOT_EQUAL, SL_DTYPE_BOOL);
}

static gint32
same (Onnx *o, SlOpType op, gint32 a, gint32 b)
{
  return onnx_emit (o, op, (const gint32[]){ a, b }, 2, NULL, SL_DTYPE_BOOL);
}

static gint32
is_nan (Onnx *o, gint32 x)
{
  return same (o, SL_OP_NOT_EQUAL, x, x);
}

void
onnx_is_nan (Onnx *o)
{
  map (o, is_nan);
}

static gint32
is_inf (Onnx *o, gint32 x)
{
  const gboolean below = onnx_attr_int (o, "detect_negative", 1) != 0, above = onnx_attr_int (o, "detect_positive", 1) != 0;
  if (below && above)
    return same (o, SL_OP_EQUAL, onnx_unary (o, SL_OP_ABS, x), onnx_float (o, INFINITY));
  if (!below && !above)
    return same (o, SL_OP_LESS, onnx_unary (o, SL_OP_ABS, x), onnx_float (o, 0));
  return same (o, SL_OP_EQUAL, x, onnx_float (o, below ? -INFINITY : INFINITY));
}

void
onnx_is_inf (Onnx *o)
{
  map (o, is_inf);
}

/* The rest has the divisor's sign; with fmod the dividend's. */
void
onnx_mod (Onnx *o)
{
  pair (o, onnx_attr_int (o, "fmod", 0) != 0 ? SL_OP_FMOD : SL_OP_FLOOR_MOD, SL_DTYPE_INVALID);
}

/* The exponent may be of another type than the base; squares and roots have operators of their own. */
void
onnx_pow (Onnx *o)
{
  OnnxValue *values[2] = { onnx_required (o, 0), onnx_required (o, 1) };
  gboolean last = FALSE;
  gsize n = 0;
  const guint rank = common_rank (o, values, 2, &last);
  const gint32 x = onnx_operand (o, values[0], rank, last);
  const gint32 y = onnx_cast (o, onnx_operand (o, values[1], rank, last), onnx_tensor_type (o, x));
  const gfloat *exponent = onnx_tensor_type (o, y) == SL_DTYPE_F32 ? onnx_t (o, y)->data : NULL;
  if (!sl_tensor_elements (onnx_t (o, y), &n) || n != 1)
    exponent = NULL;
  if (exponent != NULL && (exponent[0] == 2 || exponent[0] == 0.5f))
    onnx_set (o, 0, onnx_unary (o, exponent[0] == 2 ? SL_OP_SQUARE : SL_OP_SQRT, x), last);
  else
    onnx_set (o, 0, onnx_binary (o, SL_OP_POW, x, y), last);
}

/* Max, Min, Sum and Mean of any number of inputs. */
void
onnx_variadic (Onnx *o)
{
  const guint n = o->node->n_inputs;
  OnnxValue *values[SL_MAX_OPERANDS];
  gboolean last = FALSE;
  for (guint i = 0; i < n; i++)
    values[i] = onnx_required (o, i);
  if (o->error != NULL || n == 0) {
    onnx_fail (o, SL_ERROR_FORMAT, "it has no inputs");
    return;
  }
  const guint rank = common_rank (o, values, n, &last);
  gint32 x = onnx_operand (o, values[0], rank, last);
  for (guint i = 1; i < n; i++)
    x = onnx_binary (o, onnx_current (o)->type, x, onnx_operand (o, values[i], rank, last));
  if (strcmp (o->node->op, "Mean") == 0)
    x = times (o, x, 1 / (gfloat) n);
  onnx_set (o, 0, x, last);
}

void
onnx_where (Onnx *o)
{
  OnnxValue *values[3] = { onnx_required (o, 0), onnx_required (o, 1), onnx_required (o, 2) };
  gboolean last = FALSE;
  if (pass_empty (o, values, 3))
    return;
  const guint rank = common_rank (o, values, 3, &last);
  gint32 inputs[3];
  for (guint i = 0; i < 3; i++)
    inputs[i] = onnx_operand (o, values[i], rank, last);
  onnx_set (o, 0, onnx_emit (o, SL_OP_SELECT, inputs, 3, NULL, onnx_tensor_type (o, inputs[1])), last);
}

/* The slope broadcasts from the last dimension on, as everywhere in ONNX. */
void
onnx_prelu (Onnx *o)
{
  OnnxValue *values[2] = { onnx_required (o, 0), onnx_required (o, 1) };
  const guint rank = values[0] != NULL ? values[0]->rank : 0;
  const gboolean last = values[0] != NULL && values[0]->last >= 0;
  if (values[1] != NULL && values[1]->rank == 1 && rank > 2 && values[1]->dims[0] == values[0]->dims[1]
      && values[1]->dims[0] != values[0]->dims[rank - 1]) {
    /* Files of opset 6 and older: one slope a channel. */
    gint32 dims[SL_MAX_RANK] = { values[1]->dims[0], 1, 1, 1, 1, 1, 1, 1 };
    values[1] = onnx_value_new (o, onnx_reshape (o, onnx_plain (o, values[1]), dims, rank - 1), FALSE);
  }
  const gint32 inputs[2] = { onnx_operand (o, values[0], rank, last), onnx_operand (o, values[1], rank, last) };
  onnx_set (o, 0, onnx_binary (o, SL_OP_PRELU, inputs[0], inputs[1]), last);
}
