/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Quantising and dequantising by constant scales and zero points, as the formats that state both
 * mean it. */
#include "models/lower/codes.h"

#include <math.h>

#include "core/graph/constants.h"

#define N_CODES 256

/* Code or zero point @i; of @dtype uint8, int8 or int32. */
gint32
lower_code_at (SlDtype dtype, const void *codes, gsize i)
{
  if (dtype == SL_DTYPE_I32)
    return ((const gint32 *) codes)[i];
  return dtype == SL_DTYPE_U8 ? ((const guint8 *) codes)[i] : ((const gint8 *) codes)[i];
}

/* NaN gives the lowest quantised value. */
gint32
lower_code_within (gfloat value, gint32 lo, gint32 hi)
{
  return (gint32) (value >= (gfloat) lo ? MIN (value, (gfloat) hi) : (gfloat) lo);
}

/* int8 for uint8, moved by 128. */
void
lower_make_signed (Lower *o, SlDtype *dtype, SlQuant *quant)
{
  if (!o->signed_codes || *dtype != SL_DTYPE_U8 || quant->count != 1)
    return;
  gint32 *zero = sl_arena_memdup (o->arena, quant->zero_point, sizeof zero[0]);
  zero[0] -= 128;
  quant->zero_point = zero;
  *dtype = SL_DTYPE_I8;
}

/* Constants as codes: half to even, as the file's own runtime does it. */
static gint32
quantise_constant (Lower *o, LowerValue *x, const LowerCodes *to)
{
  const SlQuant quant = to->quant;
  gsize n = 0, inner = 1;
  const gfloat *from = lower_data (o, x, &n);
  if (o->error != NULL)
    return -1;
  for (guint i = (guint) quant.axis + 1; i < x->rank; i++)
    inner *= (gsize) x->dims[i];
  g_autofree guint8 *codes = g_malloc (MAX (n, 1));
  for (gsize i = 0; i < n; i++) {
    const gsize c = quant.count > 1 ? i / inner % quant.count : 0;
    const gfloat code = rintf (from[i] / quant.scale[c]) + (gfloat) quant.zero_point[c];
    codes[i] = (guint8) lower_code_within (code, to->lo, to->hi);
  }
  const gint32 tensor = lower_constant (o, to->dtype, x->rank, x->dims, codes);
  lower_change_tensor (o, tensor)->quant = quant;
  return tensor;
}

/* @tensor as codes of that quantisation. What the file says beside each use must agree with where
 * they come from. */
gint32
lower_as_codes (Lower *o, gint32 tensor, SlDtype dtype, SlQuant quant)
{
  SlTensor like = *lower_t (o, tensor);
  if (o->error != NULL)
    return -1;
  if (like.quant.count == 0 && like.data == NULL
      && like.dtype == dtype) { /* an input of the model */
    lower_change_tensor (o, tensor)->quant = quant;
    if (!o->signed_codes || dtype != SL_DTYPE_U8 || quant.count != 1)
      return tensor;
  }
  if (like.data != NULL) {
    like.quant = quant;
    like.name = NULL;
    return lower_new_tensor (o, &like);
  }
  lower_make_signed (o, &dtype, &quant);
  like = *lower_t (o, tensor);
  if (like.dtype == dtype && like.quant.count == 1 && quant.count == 1
      && like.quant.scale[0] == quant.scale[0] && like.quant.zero_point[0] == quant.zero_point[0])
    return tensor;
  if (like.quant.count != 1 || quant.count != 1 || like.quant.scale[0] != quant.scale[0]
      || like.quant.zero_point[0] - (like.dtype == SL_DTYPE_I8 ? -128 : 0)
           != quant.zero_point[0] - (dtype == SL_DTYPE_I8 ? -128 : 0))
    return lower_fail (
      o, SL_ERROR_UNSUPPORTED,
      "its input's codes were made with scale %g and are read with %g; expected the same",
      (gdouble) sl_tensor_scale (&like), (gdouble) quant.scale[0]);
  return lower_settled (o, SL_OP_QUANTIZE, &tensor, 1, NULL,
                        &(SlTensor){ .dtype = dtype, .quant = quant });
}

gint32
lower_widen (Lower *o, LowerValue *x, SlFewBits matrix)
{
  const SlTensor codes = *lower_t (o, lower_plain (o, x));
  SlTensor like = { .dtype = SL_DTYPE_F32, .rank = 2, .dims = { codes.dims[0], codes.dims[1] } };
  SlFewBits packed = { .bits = 8, .values = codes.data, .value_bytes = codes.bytes };
  like.bytes = codes.bytes * sizeof (gfloat);
  if (o->error != NULL || !lower_may_make (o, like.bytes))
    return -1;
  sl_graph_few_bits_of (o->graph, codes.data, &packed);
  matrix.rows = (gsize) codes.dims[0];
  matrix.columns = (gsize) codes.dims[1];
  matrix.bits = packed.bits;
  matrix.is_signed = codes.dtype == SL_DTYPE_I8;
  matrix.values = packed.values;
  matrix.value_step = (SlFewBitsStep){ matrix.columns, 1 };
  matrix.value_bytes = packed.value_bytes;
  like.data = sl_graph_widen_later (o->graph, &matrix, &o->error);
  return like.data != NULL ? lower_new_tensor (o, &like) : -1;
}

/* The same of a matrix with a scale, or one for each row or column. */
static gint32
dequantise_matrix (Lower *o, LowerValue *x, const SlQuant *quant)
{
  const gsize n = quant->count, rows = (gsize) x->dims[0], columns = (gsize) x->dims[1];
  const gboolean by_row = n > 1 && quant->axis == 0;
  gfloat *reals = sl_arena_alloc (o->arena, n * sizeof reals[0]);
  for (gsize i = 0; i < n; i++)
    reals[i] = (gfloat) quant->zero_point[i];
  return lower_widen (o, x,
                      (SlFewBits){ .size = { by_row ? 1 : rows, n > 1 && !by_row ? 1 : columns },
                                   .scales = quant->scale,
                                   .scale_step = { by_row ? 1 : 0, n > 1 && !by_row ? 1 : 0 },
                                   .scale_bytes = n * sizeof (gfloat),
                                   .reals = reals,
                                   .real_bytes = n * sizeof (gfloat) });
}

/* Constants that become real at once: whole numbers of 32 bits, which are biases, and weights of
 * codes that no layer takes. */
static gint32
dequantise_constant (Lower *o, LowerValue *x, const SlQuant *quant)
{
  gsize n = 0, inner = 1;
  const SlDtype dtype = lower_dtype (o, x);
  if (o->error == NULL && x->rank == 2 && dtype != SL_DTYPE_I32)
    return dequantise_matrix (o, x, quant);
  const void *from = lower_data (o, x, &n);
  if (o->error != NULL)
    return -1;
  for (guint i = (guint) quant->axis + 1; i < x->rank; i++)
    inner *= (gsize) x->dims[i];
  g_autofree gfloat *to = g_new (gfloat, MAX (n, 1));
  for (gsize i = 0; i < n; i++) {
    const gsize c = quant->count > 1 ? i / inner % quant->count : 0;
    to[i] = (gfloat) (((gdouble) lower_code_at (dtype, from, i) - quant->zero_point[c])
                      * (gdouble) quant->scale[c]);
  }
  return lower_constant (o, SL_DTYPE_F32, x->rank, x->dims, to);
}

/* Layers take several scales only with symmetric quantisation. */
static gboolean
is_for_layers (SlDtype dtype, const SlQuant *quant)
{
  gboolean symmetric = TRUE;
  for (guint i = 0; i < quant->count; i++)
    symmetric &= quant->zero_point[i] == 0;
  return quant->count == 1 || (dtype == SL_DTYPE_I8 && symmetric);
}

/* Codes beyond @lo and @hi, where the type has them, become those. */
static gint32
saturated (Lower *o, gint32 codes, gint32 lo, gint32 hi)
{
  guint8 table[N_CODES];
  gint32 least = 0, most = 0;
  const SlTensor t = *lower_t (o, codes);
  if (o->error != NULL || !sl_dtype_range (t.dtype, &least, &most) || (lo <= least && hi >= most))
    return codes;
  for (gint32 i = 0; i < N_CODES; i++) {
    const gint32 code = t.dtype == SL_DTYPE_I8 ? (gint8) i : i;
    table[i] = (guint8) CLAMP (code, lo, hi);
  }
  const gint32 inputs[2] = { codes, lower_constant (o, SL_DTYPE_U8, 1, (const gint32[]){ N_CODES },
                                                    table) };
  return lower_settled (o, SL_OP_LOOKUP, inputs, 2, NULL,
                        &(SlTensor){ .dtype = t.dtype, .quant = t.quant });
}

gint32
lower_quantised (Lower *o, LowerValue *x, const LowerCodes *codes, gboolean *last)
{
  gsize n = 0;
  SlTensor like = { .dtype = codes->dtype, .quant = codes->quant };
  *last = FALSE;
  if (lower_data (o, x, &n) != NULL && lower_dtype (o, x) == SL_DTYPE_F32)
    return quantise_constant (o, x, codes);
  lower_make_signed (o, &like.dtype, &like.quant);
  const gint32 input = lower_any (o, x, last), moved = like.dtype == codes->dtype ? 0 : N_CODES / 2;
  return saturated (o, lower_settled (o, SL_OP_QUANTIZE, &input, 1, NULL, &like), codes->lo - moved,
                    codes->hi - moved);
}

LowerValue *
lower_dequantised (Lower *o, LowerValue *x, SlDtype dtype, SlQuant quant)
{
  gsize n = 0;
  gboolean last = FALSE;
  const gboolean computed = lower_data (o, x, &n) == NULL;
  if (lower_dtype (o, x) == SL_DTYPE_I32 || (!computed && !is_for_layers (dtype, &quant)))
    return lower_value_new (o, dequantise_constant (o, x, &quant), FALSE);
  if (!computed) {
    LowerValue *value =
      lower_value_new (o, lower_as_codes (o, lower_plain (o, x), dtype, quant), FALSE);
    if (value != NULL) {
      value->codes = value->plain;
      value->plain = -1;
    }
    return value;
  }
  const gint32 codes = lower_as_codes (o, lower_any (o, x, &last), dtype, quant);
  return lower_value_new (
    o, lower_settled (o, SL_OP_DEQUANTIZE, &codes, 1, NULL, &(SlTensor){ .dtype = SL_DTYPE_F32 }),
    last);
}
