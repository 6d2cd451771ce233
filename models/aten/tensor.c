/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tensors of the file: their elements in torch's order, and as constants of the graph. Elements
 * that lie in that order, or channels last, stay where they are; others, and types that the graph
 * does not have, are copied, and copies are counted with the graph's others.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/half.h"
#include "core/graph/constants.h"
#include "models/aten/value.h"

/* Whole numbers beyond this stand for "as far as it goes". */
#define FAR (G_GINT64_CONSTANT (1) << 62)

gsize
ts_tensor_elements (const TsTensor *tensor)
{
  gsize n = 1;
  for (guint i = 0; i < tensor->rank; i++)
    n *= (gsize) tensor->dims[i];
  return n;
}

gboolean
ts_tensor_fits (const TsTensor *tensor)
{
  gsize elements = 1, last = tensor->offset;
  gboolean empty = FALSE, good = TRUE;
  for (guint i = 0; i < tensor->rank && good; i++) {
    gsize way;
    empty |= tensor->dims[i] == 0;
    good =
      g_size_checked_mul (&elements, elements, (gsize) MAX (tensor->dims[i], 1))
      && elements <= G_MAXINT32 && (tensor->strides[i] <= G_MAXINT32 || tensor->dims[i] <= 1)
      && g_size_checked_mul (&way, (gsize) MAX (tensor->dims[i] - 1, 0), (gsize) tensor->strides[i])
      && g_size_checked_add (&last, last, way);
  }
  return good && (empty || last < tensor->storage->elements);
}

/* The next element's place behind @at, of the one that @index counts; dimension @rank - 1 runs
 * fastest. */
static gsize
next_place (const TsTensor *tensor, gint32 index[SL_MAX_RANK], gsize at)
{
  for (guint i = tensor->rank; i-- > 0;) {
    at += (gsize) tensor->strides[i];
    if (++index[i] < tensor->dims[i])
      break;
    at -= (gsize) tensor->strides[i] * (gsize) tensor->dims[i];
    index[i] = 0;
  }
  return at;
}

static gdouble
load_real (TsDtype dtype, const void *bytes, gsize i)
{
  if (dtype == TS_FLOAT64)
    return ((const gdouble *) bytes)[i];
  if (dtype == TS_FLOAT32)
    return ((const gfloat *) bytes)[i];
  const guint16 bits = ((const guint16 *) bytes)[i];
  const guint32 wide = (guint32) bits << 16;
  gfloat real;
  memcpy (&real, &wide, sizeof real);
  return (gdouble) (dtype == TS_BFLOAT16 ? real : sl_half_to_float (bits));
}

static gint64
load_whole (TsDtype dtype, const void *bytes, gsize i)
{
  switch (dtype) {
    case TS_INT64:
      return ((const gint64 *) bytes)[i];
    case TS_INT32:
    case TS_QINT32:
      return ((const gint32 *) bytes)[i];
    case TS_INT16:
      return ((const gint16 *) bytes)[i];
    case TS_INT8:
    case TS_QINT8:
      return ((const gint8 *) bytes)[i];
    default:
      return ((const guint8 *) bytes)[i];
  }
}

static gboolean
is_real (TsDtype dtype)
{
  return dtype == TS_FLOAT16 || dtype == TS_FLOAT32 || dtype == TS_FLOAT64 || dtype == TS_BFLOAT16;
}

/* Room for the elements of a tensor of the file with numbers of @size bytes. */
static void *
room (TsHeap *heap, const TsTensor *tensor, gboolean right_type, gsize most, gsize size)
{
  if (tensor->storage == NULL || tensor->storage->bytes == NULL || !right_type
      || ts_tensor_elements (tensor) > most) {
    ts_fail (heap, SL_ERROR_UNSUPPORTED,
             "a tensor of %s is not a constant of at most %" G_GSIZE_FORMAT " %s numbers",
             ts_dtype_name (tensor->dtype), most,
             size == sizeof (gdouble) && is_real (tensor->dtype) ? "real" : "whole");
    return NULL;
  }
  return ts_alloc (heap, MAX (ts_tensor_elements (tensor), 1) * size);
}

const gint64 *
ts_tensor_ints (TsHeap *heap, const TsTensor *tensor, gsize most)
{
  gint32 index[SL_MAX_RANK] = { 0 };
  gint64 *numbers = room (heap, tensor, !is_real (tensor->dtype), most, sizeof numbers[0]);
  gsize at = tensor->offset;
  for (gsize i = 0; numbers != NULL && i < ts_tensor_elements (tensor);
       i++, at = next_place (tensor, index, at))
    numbers[i] = load_whole (tensor->dtype, tensor->storage->bytes, at);
  return numbers;
}

const gdouble *
ts_tensor_floats (TsHeap *heap, const TsTensor *tensor, gsize most)
{
  gint32 index[SL_MAX_RANK] = { 0 };
  gdouble *numbers = room (heap, tensor, is_real (tensor->dtype), most, sizeof numbers[0]);
  gsize at = tensor->offset;
  for (gsize i = 0; numbers != NULL && i < ts_tensor_elements (tensor);
       i++, at = next_place (tensor, index, at))
    numbers[i] = load_real (tensor->dtype, tensor->storage->bytes, at);
  return numbers;
}

/* Whether elements follow each other in torch's order, or with channels last. */
static gboolean
is_packed (const TsTensor *tensor, gboolean last)
{
  gint64 expected = 1;
  for (guint i = tensor->rank; i-- > 0;) {
    const guint axis = !last || i == 0 ? i : i == tensor->rank - 1 ? 1 : i + 1;
    if (tensor->dims[axis] > 1 && tensor->strides[axis] != expected)
      return FALSE;
    expected *= tensor->dims[axis];
  }
  return TRUE;
}

/* A tensor of the file, as constants are made of it. */
typedef struct
{
  SlGraph *graph;
  TsTensor tensor;
  TsStorage storage;
  SlDtype dtype;
} Stored;

static gboolean
convert_whole (gint64 whole, gint32 *number, GError **error)
{
  *number = (gint32) CLAMP (whole, G_MININT32, G_MAXINT32);
  return whole == *number || whole >= FAR || whole <= -FAR
         || sl_fail (error, SL_ERROR_UNSUPPORTED,
                     "a tensor holds %" G_GINT64_FORMAT ", which does not fit 32 bits", whole);
}

/* The elements of @data, in torch's order. */
static gboolean
convert_elements (void *memory, gpointer data, GError **error)
{
  const Stored *from = data;
  const TsTensor *tensor = &from->tensor;
  const void *bytes = from->storage.bytes;
  const gsize n = ts_tensor_elements (tensor), size = sl_dtype_size (from->dtype),
              all = from->storage.elements * ts_dtype_size (tensor->dtype);
  gint32 index[SL_MAX_RANK] = { 0 };
  gsize at = tensor->offset;
  gboolean came;
  if (!sl_graph_take_source (from->graph, bytes, all, &came, error))
    return FALSE;
  for (gsize i = 0; i < n; i++, at = next_place (tensor, index, at)) {
    if (from->dtype == SL_DTYPE_F32)
      ((gfloat *) memory)[i] = (gfloat) load_real (tensor->dtype, bytes, at);
    else if (size == 1)
      ((guint8 *) memory)[i] = (guint8) load_whole (tensor->dtype, bytes, at);
    else if (!convert_whole (load_whole (tensor->dtype, bytes, at), (gint32 *) memory + i, error))
      return FALSE;
  }
  sl_graph_return_source (from->graph, bytes, all, came);
  return TRUE;
}

static const void *
copy_elements (Lower *o, TsHeap *heap, const TsTensor *tensor, SlDtype dtype)
{
  const gsize bytes = ts_tensor_elements (tensor) * sl_dtype_size (dtype);
  g_autoptr (GError) error = NULL;
  o->copied += bytes;
  if (o->copied > o->may_copy) {
    ts_fail (heap, SL_ERROR_LIMIT,
             "copies of the file's tensors would be much larger than the file");
    return NULL;
  }
  Stored *from = g_new (Stored, 1);
  *from = (Stored){ o->graph, *tensor, *tensor->storage, dtype };
  const void *copy =
    sl_graph_make_constant (o->graph, bytes, convert_elements, from, g_free, &error);
  if (copy != NULL)
    sl_graph_used_source (o->graph, copy, bytes, tensor->storage->bytes,
                          tensor->storage->elements * ts_dtype_size (tensor->dtype));
  else
    ts_fail (heap, (SlError) error->code, "%s", error->message);
  return copy;
}

/* Scales and zero points as the graph has them; their axis is torch's. */
static gboolean
convert_quant (Lower *o, TsHeap *heap, const TsTensor *tensor, SlDtype dtype, SlQuant *quant)
{
  const TsQuant *from = &tensor->quant;
  gint32 lo = 0, hi = 0;
  *quant = (SlQuant){ .count = 0 };
  if (from->n == 0)
    return TRUE;
  if (!sl_dtype_range (dtype, &lo, &hi) || sl_dtype_size (dtype) != 1)
    return ts_fail (heap, SL_ERROR_UNSUPPORTED,
                    "a quantised tensor is %s; expected qint8 or quint8",
                    ts_dtype_name (tensor->dtype));
  gfloat *scale = sl_arena_alloc (o->arena, from->n * sizeof scale[0]);
  gint32 *zero_point = sl_arena_alloc (o->arena, from->n * sizeof zero_point[0]);
  for (guint i = 0; i < from->n; i++) {
    scale[i] = from->scales[i] == 0 ? FLT_MIN : (gfloat) from->scales[i];
    if (!isfinite (scale[i]) || scale[i] <= 0 || from->zero_points[i] < lo
        || from->zero_points[i] > hi)
      return ts_fail (heap, SL_ERROR_FORMAT,
                      "a quantised tensor has scale %g and zero point %" G_GINT64_FORMAT
                      "; expected a finite number above 0, and one from %d to %d",
                      from->scales[i], from->zero_points[i], lo, hi);
    zero_point[i] = (gint32) from->zero_points[i];
  }
  *quant =
    (SlQuant){ .count = from->n, .axis = from->axis, .scale = scale, .zero_point = zero_point };
  return TRUE;
}

LowerValue *
ts_tensor_value (Lower *o, TsHeap *heap, TsTensor *tensor)
{
  SlTensor constant = { .name = "", .dtype = ts_dtype_graph (tensor->dtype), .rank = tensor->rank };
  const gsize n = ts_tensor_elements (tensor), size = ts_dtype_size (tensor->dtype);
  if (tensor->value != NULL || heap->error != NULL || o->error != NULL)
    return tensor->value;
  if (tensor->storage == NULL || tensor->storage->bytes == NULL
      || constant.dtype == SL_DTYPE_INVALID) {
    ts_fail (heap, SL_ERROR_UNSUPPORTED, "a tensor of %s is not supported",
             ts_dtype_name (tensor->dtype));
    return NULL;
  }
  if (n == 0)
    return tensor->value = lower_value_empty (o, tensor->rank, tensor->dims);
  const gboolean same_type = sl_dtype_size (constant.dtype) == size && tensor->dtype != TS_BFLOAT16
                             && tensor->dtype != TS_FLOAT16;
  const gboolean last =
    same_type && tensor->rank > 2 && !is_packed (tensor, FALSE) && is_packed (tensor, TRUE);
  if (!convert_quant (o, heap, tensor, constant.dtype, &constant.quant))
    return NULL;
  if (same_type && (last || is_packed (tensor, FALSE)))
    constant.data = (const guint8 *) tensor->storage->bytes + tensor->offset * size;
  else
    constant.data = copy_elements (o, heap, tensor, constant.dtype);
  if (constant.data == NULL)
    return NULL;
  constant.bytes = n * sl_dtype_size (constant.dtype);
  for (guint i = 0; i < tensor->rank; i++)
    constant.dims[lower_axis (i, tensor->rank, last)] = tensor->dims[i];
  if (constant.quant.count > 0)
    constant.quant.axis = (gint) lower_axis ((guint) constant.quant.axis, tensor->rank, last);
  return tensor->value = lower_value_new (o, lower_new_tensor (o, &constant), last);
}
