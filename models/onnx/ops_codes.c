/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Codes that no quantised tensor of the core has: of 4 and 16 bits, with scales for each block or
 * channel, or with scales that are computed. They are whole numbers in float tensors here, which
 * holds them exactly. Also weights of few bits (MatMulNBits), and operators of com.microsoft that
 * are made of QuantizeLinear, DequantizeLinear and another one.
 */
#include <string.h>

#include "core/graph/constants.h"
#include "models/onnx/ops.h"

/* Blocks of a row of weights. */
#define MAX_BLOCKS (1 << 24)

/** Dimensions in which a tensor and its scales broadcast. */
typedef struct
{
  guint rank;
  gint32 dims[SL_MAX_RANK], scale_dims[SL_MAX_RANK];
} Blocks;

gboolean
onnx_code_range (guint type, gfloat *low, gfloat *high)
{
  static const struct
  {
    guint type;
    gfloat low, high;
  } ranges[] = { { ONNX_UINT8, 0, 255 },        { ONNX_INT8, -128, 127 }, { ONNX_UINT16, 0, 65535 },
                 { ONNX_INT16, -32768, 32767 }, { ONNX_UINT4, 0, 15 },    { ONNX_INT4, -8, 7 } };
  for (guint i = 0; i < G_N_ELEMENTS (ranges); i++)
    if (ranges[i].type == type) {
      *low = ranges[i].low;
      *high = ranges[i].high;
      return TRUE;
    }
  return FALSE;
}

/* One scale; one for each element of a dimension; or one for each block along it. */
static gboolean
find_blocks (Lower *o, const LowerValue *x, const LowerValue *scale, Blocks *b)
{
  const gint64 size = lower_attr_int (o, "block_size", 0);
  const guint axis =
    lower_elements (scale) > 1 ? lower_norm_axis (o, lower_attr_int (o, "axis", 1), x->rank) : 0;
  *b = (Blocks){ .rank = x->rank };
  if (o->error != NULL)
    return FALSE;
  memcpy (b->dims, x->dims, sizeof b->dims);
  for (guint i = 0; i < SL_MAX_RANK; i++)
    b->scale_dims[i] = 1;
  if (lower_elements (scale) == 1)
    return TRUE;
  if (size == 0 && scale->rank == 1 && scale->dims[0] == x->dims[axis]) {
    b->scale_dims[axis] = scale->dims[0];
    return TRUE;
  }
  gboolean fits = size > 0 && size <= x->dims[axis] && scale->rank == x->rank
                  && x->rank < SL_MAX_RANK && x->dims[axis] % size == 0;
  for (guint i = 0; fits && i < x->rank; i++)
    fits = scale->dims[i] == (i == axis ? x->dims[axis] / (gint32) size : x->dims[i]);
  if (!fits)
    return lower_refuse (o, SL_ERROR_UNSUPPORTED,
                         "its scales do not fit blocks of %" G_GINT64_FORMAT
                         " along dimension %u of size %d; expected one scale, one for each element "
                         "of the dimension, or one for each whole block",
                         size, axis, x->dims[axis]);
  b->rank = x->rank + 1;
  memmove (b->dims + axis + 1, b->dims + axis, (x->rank - axis) * sizeof b->dims[0]);
  b->dims[axis] = scale->dims[axis];
  b->dims[axis + 1] = (gint32) size;
  memcpy (b->scale_dims, scale->dims, axis * sizeof b->dims[0] + sizeof b->dims[0]);
  memcpy (b->scale_dims + axis + 2, scale->dims + axis + 1,
          (x->rank - axis - 1) * sizeof b->dims[0]);
  b->scale_dims[axis + 1] = 1;
  return TRUE;
}

/* Input @i, scales or zero points, so that it broadcasts; -1 = omitted. */
static gint32
spread (Lower *o, guint i, const Blocks *b)
{
  LowerValue *value = lower_input (o, i);
  gsize n = 1;
  if (o->error != NULL || value == NULL)
    return -1;
  for (guint k = 0; k < b->rank; k++)
    n *= (gsize) b->scale_dims[k];
  if (lower_elements (value) != n && lower_elements (value) != 1)
    return lower_fail (o, SL_ERROR_SHAPE,
                       "input %u has %" G_GSIZE_FORMAT " elements; expected 1 or %" G_GSIZE_FORMAT,
                       i, lower_elements (value), n);
  const gboolean one = lower_elements (value) == 1;
  return lower_cast (o, lower_reshape (o, lower_plain (o, value), b->scale_dims, one ? 0 : b->rank),
                     SL_DTYPE_F32);
}

void
onnx_quantize_real (Lower *o, guint type)
{
  LowerValue *x = lower_required (o, 0), *scale = lower_required (o, 1);
  gfloat low = 0, high = 0;
  Blocks b;
  if (o->error != NULL)
    return;
  if (lower_fail_if (o, !onnx_code_range (type, &low, &high), SL_ERROR_UNSUPPORTED,
                     "its codes are %s; expected whole numbers of 4, 8 or 16 bits",
                     onnx_type_name (type)))
    return;
  if (lower_fail_if (o, lower_dtype (o, x) != SL_DTYPE_F32 || !find_blocks (o, x, scale, &b),
                     SL_ERROR_UNSUPPORTED, "its input is %s; expected float",
                     sl_dtype_name (lower_dtype (o, x))))
    return;
  const gint32 s = spread (o, 1, &b), zero = spread (o, 2, &b);
  gint32 y = lower_binary (o, SL_OP_DIV, lower_reshape (o, lower_plain (o, x), b.dims, b.rank), s);
  y = lower_unary (o, SL_OP_ROUND, y);
  y = zero >= 0 ? lower_binary (o, SL_OP_ADD, y, zero) : y;
  y = lower_binary (o, SL_OP_MINIMUM, lower_binary (o, SL_OP_MAXIMUM, y, lower_float (o, low)),
                    lower_float (o, high));
  LowerValue *value = lower_value_new (o, lower_reshape (o, y, x->dims, x->rank), FALSE);
  if (value != NULL)
    value->type = type;
  lower_set_value (o, 0, value);
}

/* What DynamicQuantizeLinear makes is less its zero point already. */
void
onnx_dequantize_real (Lower *o)
{
  LowerValue *x = lower_required (o, 0), *scale = lower_required (o, 1);
  Blocks b;
  if (o->error != NULL || !find_blocks (o, x, scale, &b))
    return;
  const gint32 s = spread (o, 1, &b), zero = x->zero < 0 ? spread (o, 2, &b) : -1;
  gint32 y = lower_cast (o, lower_reshape (o, lower_plain (o, x), b.dims, b.rank), SL_DTYPE_F32);
  y = zero >= 0 ? lower_binary (o, SL_OP_SUB, y, zero) : y;
  lower_set (o, 0, lower_reshape (o, lower_binary (o, SL_OP_MUL, y, s), x->dims, x->rank), FALSE);
}

/** Weights in blocks of few bits: @codes [outputs,blocks,bytes], @scales [outputs * blocks], @zeros
 * packed likewise, or as floats, or NULL */
typedef struct
{
  gint64 outputs, depth, bits, size, blocks, bytes;
  const guint8 *codes, *zeros;
  const gfloat *scales, *real_zeros;
} FewBits;

static const void *
constant_of (Lower *o, guint i, SlDtype dtype, gint64 elements)
{
  gsize n = 0;
  LowerValue *value = lower_required (o, i);
  const void *data = lower_data (o, value, &n);
  if (o->error == NULL
      && (data == NULL || lower_dtype (o, value) != dtype || n != (gsize) elements))
    lower_fail (o, SL_ERROR_SHAPE,
                "input %u is %s with %" G_GSIZE_FORMAT
                " elements%s; expected a constant %s with %" G_GINT64_FORMAT,
                i, sl_dtype_name (lower_dtype (o, value)),
                value->empty ? 0 : lower_elements (value),
                data == NULL ? ", computed from the picture" : "", sl_dtype_name (dtype), elements);
  return o->error == NULL ? data : NULL;
}

static gboolean
read_few_bits (Lower *o, FewBits *w)
{
  *w = (FewBits){ .outputs = lower_attr_int (o, "N", 0),
                  .depth = lower_attr_int (o, "K", 0),
                  .bits = lower_attr_int (o, "bits", 4),
                  .size = lower_attr_int (o, "block_size", 0) };
  if (w->outputs < 1 || w->outputs > G_MAXINT32 || w->depth < 1 || w->depth > G_MAXINT32)
    lower_fail (o, SL_ERROR_FORMAT,
                "attributes N and K are %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                "; expected at least 1",
                w->outputs, w->depth);
  else if (w->bits != 2 && w->bits != 4 && w->bits != 8)
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "attribute bits is %" G_GINT64_FORMAT "; expected 2, 4 or 8", w->bits);
  else if (w->size < 16 || w->size > G_MAXINT32 || (w->size & (w->size - 1)) != 0)
    lower_fail (o, SL_ERROR_FORMAT,
                "attribute block_size is %" G_GINT64_FORMAT "; expected a power of two from 16",
                w->size);
  else if (lower_has_input (o, 4))
    lower_fail (
      o, SL_ERROR_UNSUPPORTED,
      "input 4, groups of its columns, is not supported; quantise the model without an order of "
      "columns");
  if (o->error != NULL)
    return FALSE;
  w->blocks = (w->depth + w->size - 1) / w->size;
  w->bytes = w->size * w->bits / 8;
  if (w->blocks > MAX_BLOCKS)
    return lower_refuse (o, SL_ERROR_LIMIT,
                         "%" G_GINT64_FORMAT " blocks in a row are over the limit of %d", w->blocks,
                         MAX_BLOCKS);
  w->codes = constant_of (o, 1, SL_DTYPE_U8, w->outputs * w->blocks * w->bytes);
  w->scales = constant_of (o, 2, SL_DTYPE_F32, w->outputs * w->blocks);
  if (lower_has_input (o, 3) && lower_dtype (o, lower_input (o, 3)) == SL_DTYPE_F32)
    w->real_zeros = constant_of (o, 3, SL_DTYPE_F32, w->outputs * w->blocks);
  else if (lower_has_input (o, 3))
    w->zeros = constant_of (o, 3, SL_DTYPE_U8, w->outputs * ((w->blocks * w->bits + 7) / 8));
  return o->error == NULL;
}

static SlFewBits
matrix_of (const FewBits *w)
{
  const gsize zero_bytes = (gsize) ((w->blocks * w->bits + 7) / 8), blocks = (gsize) w->blocks,
              outputs = (gsize) w->outputs;
  return (SlFewBits){
    .rows = outputs,
    .columns = (gsize) w->depth,
    .bits = (guint) w->bits,
    .zero_bits = (guint) w->bits,
    .middle = 1 << (w->bits - 1),
    .size = { 1, (gsize) w->size },
    .values = w->codes,
    .value_step = { (gsize) (w->blocks * w->size), 1 },
    .value_bytes = outputs * blocks * (gsize) w->bytes,
    .scales = w->scales,
    .scale_step = { blocks, 1 },
    .scale_bytes = outputs * blocks * sizeof (gfloat),
    .zeros = w->zeros,
    .zero_step = { zero_bytes * 8 / (gsize) w->bits, 1 },
    .zero_bytes = w->zeros != NULL ? outputs * zero_bytes : 0,
    .reals = w->real_zeros,
    .real_bytes = w->real_zeros != NULL ? outputs * blocks * sizeof (gfloat) : 0,
  };
}

/* The float weights are made later, where something needs them: layers read the codes. Their number
 * is bounded by that of the codes in the file, which count once. */
void
onnx_mat_mul_few_bits (Lower *o)
{
  FewBits w;
  LowerValue *codes = lower_required (o, 1), *bias = lower_input (o, 5);
  if (o->error != NULL || !read_few_bits (o, &w))
    return;
  const guint64 bytes = (guint64) w.outputs * (guint64) w.depth * sizeof (gfloat);
  if (!codes->widened)
    lower_grant (o, bytes);
  codes->widened = TRUE;
  if (lower_fail_if (o, bytes > SL_MAX_TENSOR_BYTES, SL_ERROR_LIMIT,
                     "weights of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                     " numbers are over the limit of 1 GiB",
                     w.outputs, w.depth)
      || !lower_may_make (o, bytes))
    return;
  const SlFewBits matrix = matrix_of (&w);
  SlTensor weights = { .dtype = SL_DTYPE_F32,
                       .rank = 2,
                       .dims = { (gint32) w.outputs, (gint32) w.depth },
                       .bytes = (gsize) bytes };
  weights.data = sl_graph_widen_later (o->graph, &matrix, &o->error);
  if (weights.data == NULL)
    return;
  lower_set (o, 0,
             lower_layer (o, lower_plain (o, lower_required (o, 0)), lower_new_tensor (o, &weights),
                          bias != NULL ? lower_plain (o, bias) : -1),
             FALSE);
}

static LowerValue *
real_input (Lower *o, guint i, gint64 axis)
{
  const LowerAttribute along = { .name = "axis", .i = axis };
  LowerValue *inputs[3] = { lower_required (o, i), lower_required (o, i + 1),
                            lower_input (o, i + 2) };
  return lower_call (o, "DequantizeLinear", inputs, 3, &along, 1);
}

static LowerValue *
quantised (Lower *o, LowerValue *y, guint i)
{
  return lower_call (o, "QuantizeLinear",
                     (LowerValue *[]){ y, lower_required (o, i), lower_input (o, i + 1) }, 3, NULL,
                     0);
}

/* Both matrices with scale and zero point, whole numbers that are added, scale and zero point of
 * the result, which is real without them. */
void
onnx_qgemm (Lower *o)
{
  static const LowerAttribute first = { .name = "axis", .i = 0 };
  LowerValue *a = real_input (o, 0, 1),
             *b = real_input (o, 3, lower_attr_int (o, "transB", 0) != 0 ? 0 : 1),
             *c = lower_input (o, 6);
  if (c != NULL) {
    LowerValue *scale = lower_call (
      o, "Mul", (LowerValue *[]){ lower_required (o, 1), lower_required (o, 4) }, 2, NULL, 0);
    c = lower_call (o, "DequantizeLinear", (LowerValue *[]){ c, scale }, 2, &first, 1);
  }
  LowerValue *y = lower_call (o, "Gemm", (LowerValue *[]){ a, b, c }, 3, o->node->attributes,
                              o->node->n_attributes);
  lower_set_value (o, 0, lower_has_input (o, 7) ? quantised (o, y, 7) : y);
}

void
onnx_qlinear_product (Lower *o)
{
  LowerValue *factors[2] = { real_input (o, 0, 1), real_input (o, 3, 1) };
  lower_set_value (o, 0, quantised (o, lower_call (o, "MatMul", factors, 2, NULL, 0), 6));
}

void
onnx_qlinear_softmax (Lower *o)
{
  const LowerAttribute axis = { .name = "axis", .i = lower_attr_int (o, "axis", -1) };
  LowerValue *x = real_input (o, 0, 1);
  if (o->error != NULL)
    return;
  const guint along = lower_norm_axis (o, axis.i, x->rank);
  if (o->error == NULL && (lower_attr_int (o, "opset", 13) < 13) != (o->opset < 13)
      && along + 1 != x->rank) {
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "attribute opset is %" G_GINT64_FORMAT
                " along dimension %u of %u; expected the last one",
                lower_attr_int (o, "opset", 13), along, x->rank);
    return;
  }
  lower_set_value (o, 0, quantised (o, lower_call (o, "Softmax", &x, 1, &axis, 1), 3));
}
