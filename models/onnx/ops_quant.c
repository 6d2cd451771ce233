/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Quantised operators: QuantizeLinear and DequantizeLinear, QLinear*, and the integer ones of
 * dynamic quantisation, whose activations stay float here. uint8 codes beside int8 weights become
 * int8, which changes no value.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/graph/constants.h"
#include "models/lower/codes.h"
#include "models/onnx/ops.h"

/** Scales and zero points as the file has them. @dtype: of the codes */
typedef struct
{
  const gfloat *scales;
  const void *zeros; /* (nullable) */
  gsize n, n_zeros;
  SlDtype dtype;
} Scales;

static gboolean
check_scales (Lower *o, const Scales *scales)
{
  for (gsize i = 0; i < scales->n; i++)
    if (!isfinite (scales->scales[i]) || scales->scales[i] < 0)
      return lower_refuse (o, SL_ERROR_FORMAT,
                           "scale %" G_GSIZE_FORMAT " is %g; expected a finite number above 0", i,
                           (gdouble) scales->scales[i]);
  return TRUE;
}

/* Reads scale input @at and zero point input @at + 1 (which may be omitted) for codes of @dtype,
 * which may have no codes of its own. */
static gboolean
find_scales (Lower *o, guint at, SlDtype dtype, Scales *scales)
{
  LowerValue *values = lower_required (o, at), *zeros = lower_input (o, at + 1);
  *scales = (Scales){ .n = 0 };
  scales->scales = lower_data (o, values, &scales->n);
  scales->zeros = zeros != NULL ? lower_data (o, zeros, &scales->n_zeros) : NULL;
  if (o->error != NULL)
    return FALSE;
  if (scales->scales == NULL || lower_dtype (o, values) != SL_DTYPE_F32
      || (zeros != NULL
          && (scales->zeros == NULL || (scales->n_zeros != scales->n && scales->n_zeros != 1))))
    return lower_refuse (
      o, SL_ERROR_UNSUPPORTED,
      "its scale and zero point, inputs %u and %u, must be constants of as many elements", at,
      at + 1);
  scales->dtype = zeros != NULL               ? lower_dtype (o, zeros)
                  : dtype != SL_DTYPE_INVALID ? dtype
                                              : SL_DTYPE_U8;
  if (zeros != NULL && scales->dtype != SL_DTYPE_U8 && scales->dtype != SL_DTYPE_I8
      && scales->dtype != SL_DTYPE_I32)
    return lower_refuse (o, SL_ERROR_UNSUPPORTED,
                         "its zero point is %s; expected uint8, int8 or int32",
                         sl_dtype_name (scales->dtype));
  return check_scales (o, scales);
}

/* The same as a tensor's quantisation; *@dtype without codes of its own is set. */
static gboolean
read_quant (Lower *o, guint at, SlDtype *dtype, SlQuant *quant)
{
  Scales from;
  if (!find_scales (o, at, *dtype, &from))
    return FALSE;
  gfloat *scale = sl_arena_alloc (o->arena, from.n * sizeof scale[0]);
  gint32 *zero_point = sl_arena_alloc (o->arena, from.n * sizeof zero_point[0]);
  for (gsize i = 0; i < from.n; i++) {
    scale[i] = from.scales[i] == 0 ? FLT_MIN : from.scales[i];
    if (from.zeros != NULL)
      zero_point[i] = lower_code_at (from.dtype, from.zeros, from.n_zeros == 1 ? 0 : i);
  }
  *dtype = from.dtype;
  *quant = (SlQuant){ .count = (guint) from.n, .scale = scale, .zero_point = zero_point };
  return TRUE;
}

static gboolean
check_codes (Lower *o, SlDtype dtype)
{
  if (dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I8)
    return TRUE;
  return lower_refuse (o, SL_ERROR_UNSUPPORTED, "its codes are %s; expected uint8 or int8",
                       sl_dtype_name (dtype));
}

/* The dimension of scales of their own. */
static gboolean
find_axis (Lower *o, const LowerValue *x, SlQuant *quant)
{
  if (quant->count == 1)
    return TRUE;
  const guint axis = lower_norm_axis (o, lower_attr_int (o, "axis", 1), x->rank);
  quant->axis = (gint) axis;
  if (lower_attr_int (o, "block_size", 0) != 0)
    return lower_refuse (o, SL_ERROR_UNSUPPORTED,
                         "attribute block_size is %" G_GINT64_FORMAT
                         "; expected 0 where constants are quantised",
                         lower_attr_int (o, "block_size", 0));
  if (o->error == NULL && quant->count == (guint) x->dims[axis])
    return TRUE;
  return lower_refuse (
    o, SL_ERROR_UNSUPPORTED,
    "%u scales along dimension %u of size %d; expected one, or one for each element of the "
    "dimension",
    quant->count, axis, o->error == NULL ? x->dims[axis] : 0);
}

/* The type of codes that QuantizeLinear makes: stated, or that of the zero point; 0 where neither
 * says it. */
static guint
code_type (Lower *o)
{
  const LowerValue *zero = lower_input (o, 2);
  const guint stated = (guint) MIN ((guint64) lower_attr_int (o, "output_dtype", 0), 64);
  return stated != 0 || zero == NULL ? stated : zero->type;
}

/* Whether what is computed from the picture has scales that the core's quantised tensors have not:
 * several, or computed ones. */
static gboolean
needs_reals (Lower *o, LowerValue *x)
{
  gsize n = 0;
  LowerValue *scale = lower_required (o, 1);
  if (o->error != NULL || x->empty || scale->empty)
    return FALSE;
  return lower_data (o, scale, &n) == NULL || (n > 1 && !lower_is_constant (o, x));
}

void
onnx_quantize_linear (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  SlDtype dtype = SL_DTYPE_INVALID;
  SlQuant quant;
  gboolean last = FALSE;
  const guint stated = code_type (o);
  if (o->error != NULL)
    return;
  if ((stated != 0 && stated != ONNX_UINT8 && stated != ONNX_INT8) || needs_reals (o, x)) {
    onnx_quantize_real (o, stated != 0 ? stated : ONNX_UINT8);
    return;
  }
  if (stated != 0)
    dtype = onnx_ir_type (stated);
  if (!read_quant (o, 1, &dtype, &quant) || !check_codes (o, dtype) || !find_axis (o, x, &quant))
    return;
  LowerCodes to = { .dtype = dtype, .quant = quant };
  sl_dtype_range (dtype, &to.lo, &to.hi);
  const gint32 codes = lower_quantised (o, x, &to, &last);
  lower_set (o, 0, codes, last);
}

/* A matrix of blocks of @size along dimension @axis, whose zero points are codes, too. */
static gint32
widen_blocks (Lower *o, LowerValue *x, const Scales *scales, guint axis, gsize size)
{
  const gsize across = axis == 0 ? (gsize) x->dims[1] : 1;
  const SlFewBitsStep step = { axis == 0 ? across : scales->n / (gsize) x->dims[0], 1 };
  SlFewBits zeros = { .bits = 8, .values = scales->zeros, .value_bytes = scales->n_zeros };
  sl_graph_few_bits_of (o->graph, scales->zeros, &zeros);
  return lower_widen (o, x,
                      (SlFewBits){
                        .size = { axis == 0 ? size : 1, axis == 0 ? 1 : size },
                        .scales = scales->scales,
                        .scale_step = step,
                        .scale_bytes = scales->n * sizeof (gfloat),
                        .zeros = zeros.values,
                        .zero_bits = zeros.bits,
                        .zero_step = scales->n_zeros == 1 ? (SlFewBitsStep){ 0, 0 } : step,
                        .zero_bytes = zeros.value_bytes,
                      });
}

/* A scale for each block along one dimension: what the codes stand for. */
static gint32
dequantise_blocks (Lower *o, LowerValue *x, const Scales *from)
{
  const SlDtype dtype = lower_dtype (o, x);
  const LowerValue *scales = lower_required (o, 1);
  const gint64 size = MIN (lower_attr_int (o, "block_size", 0), G_MAXINT32);
  const guint axis = lower_norm_axis (o, lower_attr_int (o, "axis", 1), x->rank);
  gsize n = 0, inner = 1;
  if (o->error != NULL)
    return -1;
  const gsize dim = (gsize) x->dims[axis],
              blocks = size > 0 ? (dim + (gsize) size - 1) / (gsize) size : 0;
  gboolean fits = lower_is_constant (o, x) && scales->rank == x->rank;
  for (guint i = 0; fits && i < x->rank; i++)
    fits = (gsize) scales->dims[i] == (i == axis ? blocks : (gsize) x->dims[i]);
  if (!fits)
    return lower_fail (o, SL_ERROR_UNSUPPORTED,
                       "its scales do not fit blocks of %" G_GINT64_FORMAT
                       " along dimension %u; expected a constant with a scale for each block",
                       size, axis);
  if (x->rank == 2 && dtype != SL_DTYPE_I32)
    return widen_blocks (o, x, from, axis, (gsize) size);
  const void *codes = lower_data (o, x, &n);
  for (guint i = axis + 1; i < x->rank; i++)
    inner *= (gsize) x->dims[i];
  g_autofree gfloat *to = g_new (gfloat, MAX (n, 1));
  for (gsize i = 0; i < n && o->error == NULL; i++) {
    const gsize s = (i / inner / dim * blocks + i / inner % dim / (gsize) size) * inner + i % inner;
    const gint32 zero =
      from->zeros != NULL ? lower_code_at (dtype, from->zeros, from->n_zeros == 1 ? 0 : s) : 0;
    to[i] =
      (gfloat) (((gdouble) lower_code_at (dtype, codes, i) - zero) * (gdouble) from->scales[s]);
  }
  return lower_constant (o, SL_DTYPE_F32, x->rank, x->dims, to);
}

void
onnx_dequantize_linear (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  SlDtype dtype = lower_dtype (o, x);
  SlQuant quant;
  Scales scales;
  const SlDtype stored = dtype;
  if (o->error != NULL)
    return;
  const SlTensor *tensor = lower_t (o, x->plain >= 0 ? x->plain : x->last);
  const gboolean computed = !lower_is_constant (o, x);
  if (stored == SL_DTYPE_F32 || (stored == SL_DTYPE_I32 && computed)
      || (tensor->quant.count == 0 && needs_reals (o, x))) {
    onnx_dequantize_real (o);
    return;
  }
  if (!find_scales (o, 1, dtype, &scales))
    return;
  if (scales.n > 1 && lower_attr_int (o, "block_size", 0) != 0
      && (scales.dtype == SL_DTYPE_I32 || check_codes (o, scales.dtype))) {
    if (scales.dtype != stored)
      lower_fail (o, SL_ERROR_FORMAT,
                  "its zero point is %s for values of %s; expected the same type",
                  sl_dtype_name (scales.dtype), sl_dtype_name (stored));
    else
      lower_set (o, 0, dequantise_blocks (o, x, &scales), FALSE);
    return;
  }
  if (o->error != NULL || !read_quant (o, 1, &dtype, &quant) || !find_axis (o, x, &quant))
    return;
  if (stored != SL_DTYPE_I32 && !check_codes (o, dtype))
    return;
  lower_set_value (o, 0, lower_dequantised (o, x, dtype, quant));
}

/* Input @i with the scale and zero point that follow it, in the layout asked for. */
static gint32
quantised_input (Lower *o, guint i, gboolean want_last, LowerValue **value)
{
  SlQuant quant;
  *value = lower_required (o, i);
  SlDtype dtype = lower_dtype (o, *value);
  const gint32 tensor = want_last ? lower_last (o, *value) : lower_plain (o, *value);
  if (o->error != NULL)
    return -1;
  if (dtype == SL_DTYPE_I8 && o->signed_codes && lower_t (o, tensor)->data == NULL)
    dtype = SL_DTYPE_INVALID; /* the file's type is that of the zero point */
  if (!read_quant (o, i + 1, &dtype, &quant) || !check_codes (o, dtype))
    return -1;
  return lower_as_codes (o, tensor, dtype, quant);
}

/* What the node makes: codes by the scale at input @i. */
static gboolean
quantised_output (Lower *o, guint i, SlTensor *like)
{
  *like = (SlTensor){ 0 };
  if (!read_quant (o, i, &like->dtype, &like->quant) || !check_codes (o, like->dtype))
    return FALSE;
  lower_make_signed (o, &like->dtype, &like->quant);
  return TRUE;
}

static void
onnx_qlinear_conv (Lower *o)
{
  LowerValue *x, *w = lower_required (o, 3), *bias = lower_input (o, 8);
  SlDtype dtype = lower_dtype (o, w);
  SlQuant quant;
  SlTensor like;
  const gint32 input = quantised_input (o, 0, TRUE, &x);
  if (o->error != NULL || !read_quant (o, 4, &dtype, &quant) || !quantised_output (o, 6, &like))
    return;
  const gint32 weights = lower_as_codes (o, lower_conv_filter (o, w), dtype, quant);
  gint32 shaped = input;
  if (o->error == NULL && x->rank == 3)
    shaped = lower_reshape (o, input, (const gint32[]){ x->dims[0], 1, x->dims[2], x->dims[1] }, 4);
  lower_conv_set (
    o, x, lower_conv_2d (o, x, shaped, weights, bias != NULL ? lower_plain (o, bias) : -1, &like));
}

/* A row of the left matrix against columns of the right one, which is constant weights. */
static void
onnx_qlinear_mat_mul (Lower *o)
{
  LowerValue *a, *b = lower_required (o, 3);
  SlDtype dtype = lower_dtype (o, b);
  SlQuant quant;
  SlTensor like;
  gsize n = 0;
  const gint32 order[2] = { 1, 0 };
  const SlOpParams params = { .fully_connected = { .keep_dims = TRUE } };
  if (o->error == NULL && (b->rank != 2 || lower_data (o, b, &n) == NULL)) {
    onnx_qlinear_product (o);
    return;
  }
  const gint32 input = quantised_input (o, 0, FALSE, &a);
  if (o->error != NULL || !read_quant (o, 4, &dtype, &quant) || !quantised_output (o, 6, &like))
    return;
  quant.axis = 1;
  const gint32 weights =
    lower_transpose (o, lower_as_codes (o, lower_plain (o, b), dtype, quant), order);
  lower_set (
    o, 0,
    lower_settled (o, SL_OP_FULLY_CONNECTED, (const gint32[]){ input, weights }, 2, &params, &like),
    FALSE);
}

/* The layout of a quantised operator of equal inputs: channels last where its first input is so. */
static gboolean
layout_of (Lower *o, guint i)
{
  const LowerValue *value = lower_required (o, i);
  return value != NULL && value->last >= 0;
}

void
onnx_qlinear_binary (Lower *o)
{
  LowerValue *a, *b;
  SlTensor like;
  const gboolean last = layout_of (o, 0) || layout_of (o, 3);
  LowerValue *second = lower_required (o, 3);
  const gboolean same = o->error == NULL && second->rank == lower_required (o, 0)->rank;
  const gint32 x = quantised_input (o, 0, last && same, &a),
               y = quantised_input (o, 3, last && same, &b);
  if (o->error != NULL || !quantised_output (o, 6, &like))
    return;
  lower_set (o, 0, lower_settled (o, o->row->type, (const gint32[]){ x, y }, 2, NULL, &like),
             last && same);
}

static gdouble
real_of (Lower *o, gdouble x)
{
  if (o->row->type == SL_OP_LOGISTIC)
    return 1 / (1 + exp (-x));
  return x < 0 ? x * (gdouble) lower_attr_float (o, "alpha", 0.01f) : x;
}

/* A table of 256 codes: of each the code of the function's real value, half to even. */
void
onnx_qlinear_unary (Lower *o)
{
  LowerValue *x;
  SlTensor like;
  guint8 table[256];
  gint32 lo = 0, hi = 0;
  const gint32 dims[1] = { 256 };
  const gboolean last = layout_of (o, 0);
  const gint32 input = quantised_input (o, 0, last, &x);
  if (o->error != NULL || !quantised_output (o, 3, &like))
    return;
  const SlTensor t = *lower_t (o, input);
  sl_dtype_range (like.dtype, &lo, &hi);
  for (gint32 i = 0; i < 256; i++) {
    const gint32 code = t.dtype == SL_DTYPE_I8 ? (gint8) i : i;
    const gfloat real = (gfloat) (code - sl_tensor_zero_point (&t)) * sl_tensor_scale (&t);
    const gfloat value = rintf ((gfloat) real_of (o, (gdouble) real) / sl_tensor_scale (&like))
                         + (gfloat) sl_tensor_zero_point (&like);
    table[i] = (guint8) lower_code_within (value, lo, hi);
  }
  const gint32 constant = lower_constant (o, SL_DTYPE_U8, 1, dims, table);
  lower_set (o, 0,
             lower_settled (o, SL_OP_LOOKUP, (const gint32[]){ input, constant }, 2, NULL, &like),
             last);
}

void
onnx_qlinear_concat (Lower *o)
{
  gint32 inputs[SL_MAX_OPERANDS];
  LowerValue *value = NULL;
  SlTensor like;
  guint n = 0;
  gboolean last = FALSE;
  for (guint i = 2; i + 2 < o->node->n_inputs; i += 3)
    last |= layout_of (o, i);
  for (guint i = 2; i + 2 < o->node->n_inputs && o->error == NULL; i += 3)
    inputs[n++] = quantised_input (o, i, last, &value);
  if (o->error != NULL || !quantised_output (o, 0, &like))
    return;
  if (lower_fail_if (o, n == 0, SL_ERROR_FORMAT, "it has no inputs"))
    return;
  const guint axis = lower_norm_axis (o, lower_attr_int (o, "axis", 0), value->rank);
  const SlOpParams params = { .concat = { .axis = (gint32) lower_axis (axis, value->rank, last) } };
  lower_set (o, 0, lower_settled (o, SL_OP_CONCATENATION, inputs, n, &params, &like), last);
}

/* Pools between quantisations: real in between, since the core's keep codes. */
void
onnx_qlinear_pool (Lower *o)
{
  LowerValue *x;
  SlTensor like;
  const gboolean behind = lower_attr_int (o, "channels_last", 0) != 0;
  const gint32 codes = quantised_input (o, 0, !behind, &x);
  if (o->error != NULL || !quantised_output (o, 3, &like))
    return;
  LowerValue *real = lower_value_new (
    o, lower_settled (o, SL_OP_DEQUANTIZE, &codes, 1, NULL, &(SlTensor){ .dtype = SL_DTYPE_F32 }),
    TRUE);
  const gint32 y =
    o->row->type == SL_OP_MEAN ? lower_global_pool_of (o, real) : lower_pool_of (o, real);
  const gint32 z = lower_settled (o, SL_OP_QUANTIZE, &y, 1, NULL, &like);
  lower_set (o, 0, z, !behind);
}

/* Codes less their zero point, as real numbers: convolutions and products of them are exact up to
 * 24 bits. */
static void
onnx_dynamic_quantize (Lower *o)
{
  static const SlDtype types[3] = { SL_DTYPE_F32, SL_DTYPE_F32, SL_DTYPE_F32 };
  gint32 outputs[3];
  gboolean last = FALSE;
  const gint32 x = lower_any (o, lower_required (o, 0), &last);
  if (!lower_emit_all (o, SL_OP_DYNAMIC_QUANTIZE, &x, 1, NULL, types, outputs, 3))
    return;
  LowerValue *codes = lower_value_new (o, outputs[0], last);
  codes->zero = outputs[2];
  lower_set_value (o, 0, codes);
  lower_set (o, 1, outputs[1], FALSE);
  lower_set (o, 2, lower_cast (o, outputs[2], SL_DTYPE_U8), FALSE);
}

gint32
onnx_output_tensor (Lower *o, LowerValue *value, SlDtype declared)
{
  const gint32 tensor = lower_plain (o, value);
  if (o->error != NULL || declared != SL_DTYPE_U8 || lower_t (o, tensor)->dtype == SL_DTYPE_U8)
    return tensor;
  if (value->zero >= 0)
    return lower_cast (o, lower_binary (o, SL_OP_ADD, tensor, value->zero), SL_DTYPE_U8);
  return lower_unsigned (o, tensor);
}

/* Weights of an integer operator as codes of scale 1. */
static gint32
integer_weights (Lower *o, gint32 weights, guint zero_input)
{
  static const gfloat one = 1;
  gsize n = 0;
  LowerValue *zeros = lower_input (o, zero_input);
  const void *zero = zeros != NULL ? lower_data (o, zeros, &n) : NULL;
  const SlDtype dtype = lower_t (o, weights)->dtype;
  gint32 *zero_point = sl_arena_alloc (o->arena, sizeof zero_point[0]);
  if (o->error != NULL || !check_codes (o, dtype))
    return -1;
  if ((zeros != NULL && zero == NULL) || lower_t (o, weights)->data == NULL)
    return lower_fail (o, SL_ERROR_UNSUPPORTED,
                       "its weights and their zero point must be constants");
  for (gsize i = 1; i < n; i++)
    if (memcmp ((const guint8 *) zero + i, zero, 1) != 0)
      return lower_fail (o, SL_ERROR_UNSUPPORTED,
                         "its weights have several zero points; expected one");
  if (n > 0)
    zero_point[0] = lower_code_at (dtype, zero, 0);
  SlTensor like = *lower_t (o, weights);
  like.quant = (SlQuant){ .count = 1, .scale = &one, .zero_point = zero_point };
  like.name = NULL;
  return lower_new_tensor (o, &like);
}

/* The other side's codes are real numbers, unless something else than DynamicQuantizeLinear made
 * them. */
static gboolean
check_float (Lower *o, const LowerValue *x)
{
  if (o->error == NULL && lower_dtype (o, x) != SL_DTYPE_F32)
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "its input is %s; expected what DynamicQuantizeLinear makes",
                sl_dtype_name (lower_dtype (o, x)));
  return o->error == NULL;
}

static void
onnx_conv_integer (Lower *o)
{
  LowerValue *x = lower_required (o, 0), *w = lower_required (o, 1);
  if (!check_float (o, x))
    return;
  const gint32 weights = integer_weights (o, lower_conv_filter (o, w), 3);
  lower_conv_set (o, x,
                  lower_conv_2d (o, x, lower_conv_input (o, x), weights, -1,
                                 &(SlTensor){ .dtype = SL_DTYPE_F32 }));
}

/* @x times constant codes of weights: whole numbers are multiplied as such, so that no copy of the
 * weights is of floats. */
static gint32
product_of_codes (Lower *o, gint32 x, gint32 weights)
{
  const SlOpParams params = { .fully_connected = {
                                .keep_dims = TRUE, .dynamic = TRUE, .whole = TRUE } };
  const SlTensor *a = lower_t (o, x), *b = lower_t (o, weights);
  if (o->error != NULL || b->rank != 2 || a->rank < 1 || a->data != NULL
      || a->dims[a->rank - 1] != b->dims[0])
    return lower_product (o, x, weights);
  return lower_emit (o, SL_OP_FULLY_CONNECTED, (const gint32[]){ x, lower_swap_last (o, weights) },
                     2, &params, SL_DTYPE_F32);
}

static void
onnx_mat_mul_integer (Lower *o)
{
  LowerValue *x = lower_required (o, 0), *w = lower_required (o, 1);
  if (!check_float (o, x))
    return;
  if (w->zero >= 0) { /* both are computed, as in attention */
    lower_set (o, 0, lower_product (o, lower_plain (o, x), lower_plain (o, w)), FALSE);
    return;
  }
  const gint32 weights = integer_weights (o, lower_plain (o, w), 3);
  if (o->error == NULL && w->rank == 2 && x->zero >= 0) {
    lower_set (o, 0, product_of_codes (o, lower_plain (o, x), weights), FALSE);
    return;
  }
  const gint32 real = o->error == NULL && w->rank == 2
                        ? weights
                        : lower_settled (o, SL_OP_DEQUANTIZE, &weights, 1, NULL,
                                         &(SlTensor){ .dtype = SL_DTYPE_F32 });
  lower_set (o, 0, lower_product (o, lower_plain (o, x), real), FALSE);
}

/* Sums of whole numbers with scales @a and @b, and a bias. */
static gint32
sums_as_reals (Lower *o, gint32 sums, gint32 a, gint32 b, guint bias)
{
  const gint32 y = lower_binary (o, SL_OP_MUL, sums, lower_binary (o, SL_OP_MUL, a, b));
  return lower_has_input (o, bias)
           ? lower_binary (o, SL_OP_ADD, y, lower_plain (o, lower_input (o, bias)))
           : y;
}

/* Of com.microsoft: matrices of codes, their scales, their zero points, a bias. */
void
onnx_mat_mul_integer_to_float (Lower *o)
{
  LowerValue *x = lower_required (o, 0), *w = lower_required (o, 1);
  if (!check_float (o, x))
    return;
  const gint32 weights = integer_weights (o, lower_plain (o, w), 5),
               a = lower_plain (o, lower_required (o, 2));
  const gint32 sums =
    (x->zero >= 0 ? product_of_codes : lower_product) (o, lower_plain (o, x), weights);
  lower_set (o, 0, sums_as_reals (o, sums, a, lower_plain (o, lower_required (o, 3)), 6), FALSE);
}

/* Of com.microsoft: a matrix that is quantised by its own range, codes of weights, their scale and
 * zero point, a bias. */
void
onnx_dynamic_quantize_mat_mul (Lower *o)
{
  static const SlDtype types[3] = { SL_DTYPE_F32, SL_DTYPE_F32, SL_DTYPE_F32 };
  gint32 codes[3];
  LowerValue *w = lower_required (o, 1);
  const gint32 x = lower_plain (o, lower_required (o, 0));
  if (o->error != NULL || !lower_emit_all (o, SL_OP_DYNAMIC_QUANTIZE, &x, 1, NULL, types, codes, 3))
    return;
  const gint32 sums = product_of_codes (o, codes[0], integer_weights (o, lower_plain (o, w), 3));
  lower_set (o, 0, sums_as_reals (o, sums, codes[1], lower_plain (o, lower_required (o, 2)), 4),
             FALSE);
}

const LowerOp onnx_ops_quant[] = {
  { LOWER_ROW (ConvInteger, onnx_conv_integer), 0 },
  { LOWER_ROW (DequantizeLinear, onnx_dequantize_linear), 0 },
  { LOWER_ROW (DynamicQuantizeLinear, onnx_dynamic_quantize), 0 },
  { LOWER_ROW (MatMulInteger, onnx_mat_mul_integer), 0 },
  { LOWER_ROW (QLinearConv, onnx_qlinear_conv), 0 },
  { LOWER_ROW (QLinearMatMul, onnx_qlinear_mat_mul), 0 },
  { LOWER_ROW (QuantizeLinear, onnx_quantize_linear), 0 },
  { NULL },
};
