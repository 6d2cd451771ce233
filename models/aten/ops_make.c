/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors made of numbers, and elements written in place. */
#include <math.h>
#include <string.h>

#include "models/aten/ops.h"
#include "models/aten/shape.h"

/* Elements of a constant that is written out. */
#define MAX_ELEMENTS (1 << 16)
/* Elements of a range. */
#define MAX_COUNTED (1 << 24)
#define MAX_DEPTH 8

static TsDtype
type_or (TsProgram *program, TsValue value, TsDtype fallback)
{
  if (value.kind == TS_NONE)
    return fallback;
  const gint64 number = ts_to_int (program, value);
  if (number < 0 || number >= TS_N_DTYPES || ts_dtype_graph ((TsDtype) number) == SL_DTYPE_INVALID
      || ts_is_quantized ((TsDtype) number))
    ts_refuse (program, SL_ERROR_UNSUPPORTED, "tensors of %s are not supported",
               ts_dtype_name ((TsDtype) CLAMP (number, 0, TS_N_DTYPES)));
  return (TsDtype) number;
}

static TsValue
filled (TsProgram *program, const gint64 *dims, guint rank, TsValue number, TsDtype dtype)
{
  gint32 shape[SL_MAX_RANK];
  gboolean empty = FALSE;
  LowerValue *one = ts_scalar (program, number, dtype);
  for (guint i = 0; i < rank; i++) {
    if (dims[i] < 0 || dims[i] > G_MAXINT32)
      return ts_refuse (program, SL_ERROR_SHAPE, "a dimension of %" G_GINT64_FORMAT, dims[i]);
    shape[i] = (gint32) dims[i];
    empty |= dims[i] == 0;
  }
  if (ts_failed (program))
    return ts_none ();
  if (empty)
    return ts_new (program, lower_value_empty (&program->lower, rank, shape), dtype);
  if (rank > 0)
    one = ts_onnx_pair (program, "Expand", one, ts_constant_ints (program, dims, rank));
  return ts_new (program, one, dtype);
}

/* zeros, ones, empty: of a size; full has the number behind it. What is empty holds zeros. */
static TsValue
make (TsProgram *program, const TsCall *call)
{
  gint64 dims[SL_MAX_RANK];
  guint rank = 0;
  const gboolean full = strcmp (call->op->name, "aten::full") == 0;
  const TsValue number = full ? call->args[1] : ts_int (call->op->type);
  const TsDtype fallback = !full || number.kind == TS_FLOAT ? TS_FLOAT32
                           : number.kind == TS_BOOL         ? TS_BOOLEAN
                                                            : TS_INT64;
  const gboolean ordered = g_str_has_prefix (call->op->name, "aten::empty_");
  const TsDtype dtype = type_or (program, call->args[full || ordered ? 2 : 1], fallback);
  return ts_to_ints (program, call->args[0], dims, SL_MAX_RANK, &rank)
           ? filled (program, dims, rank, number, dtype)
           : ts_none ();
}

/* The same of another tensor's size and type. */
static TsValue
make_like (TsProgram *program, const TsCall *call)
{
  gint64 dims[SL_MAX_RANK];
  const gboolean full = strcmp (call->op->name, "aten::full_like") == 0;
  if (call->args[0].kind != TS_TENSOR)
    return ts_refuse (program, SL_ERROR_FORMAT, "of a value of type %s",
                      ts_kind_name (call->args[0].kind));
  const TsTensor *t = call->args[0].tensor;
  for (guint i = 0; i < t->rank; i++)
    dims[i] = t->dims[i];
  return filled (program, dims, t->rank, full ? call->args[1] : ts_int (call->op->type),
                 type_or (program, call->args[full ? 2 : 1], t->dtype));
}

/* new_zeros and its like: a size of their own, another tensor's type. */
static TsValue
make_new (TsProgram *program, const TsCall *call)
{
  gint64 dims[SL_MAX_RANK];
  guint rank = 0;
  const gboolean full = strcmp (call->op->name, "aten::new_full") == 0;
  if (call->args[0].kind != TS_TENSOR
      || !ts_to_ints (program, call->args[1], dims, SL_MAX_RANK, &rank))
    return ts_refuse (program, SL_ERROR_FORMAT, "of a value of type %s",
                      ts_kind_name (call->args[0].kind));
  const TsDtype dtype = type_or (program, call->args[full ? 3 : 2], call->args[0].tensor->dtype);
  return filled (program, dims, rank, full ? call->args[2] : ts_int (call->op->type), dtype);
}

/* first + step * i, computed in the graph, so that many take no memory now. */
static TsValue
count_up (TsProgram *program, gint32 n, TsValue first, TsValue step, TsDtype dtype)
{
  LowerValue *x = lower_value_new (&program->lower, lower_count (&program->lower, 0, n), FALSE);
  x = ts_cast (program, x, dtype);
  x = ts_onnx_pair (program, "Mul", x, ts_scalar (program, step, dtype));
  return ts_new (program, ts_onnx_pair (program, "Add", x, ts_scalar (program, first, dtype)),
                 dtype);
}

/* arange (end), (start, end) and (start, end, step); options come by name, or as four arguments
 * more by place. */
static TsValue
arange (TsProgram *program, const TsCall *call)
{
  const guint places = call->n_given;
  const guint numbers = places >= 7 ? 3 : places >= 5 ? places - 4 : MIN (places, 3);
  gdouble range[3] = { 0, 0, 1 };
  gboolean real = FALSE;
  const TsValue type = places >= 5 ? call->args[numbers] : call->args[7];
  for (guint i = 0; i < numbers; i++) {
    range[numbers == 1 ? 1 : i] = ts_to_float (program, call->args[i]);
    real |= call->args[i].kind == TS_FLOAT;
  }
  if (ts_failed (program) || numbers == 0)
    return ts_refuse (program, SL_ERROR_FORMAT, "a range of %u numbers", numbers);
  const TsDtype dtype = type_or (program, type, real ? TS_FLOAT32 : TS_INT64);
  const gdouble count = range[2] != 0 ? ceil ((range[1] - range[0]) / range[2]) : -1;
  if (!(count >= 0) || count > MAX_COUNTED)
    return ts_refuse (program, SL_ERROR_LIMIT, "%g elements; expected 0 to %d", count, MAX_COUNTED);
  const gint32 n = (gint32) count;
  if (n == 0)
    return ts_new (program, lower_value_empty (&program->lower, 1, &n), dtype);
  if (n > MAX_ELEMENTS)
    return count_up (program, n, ts_float (range[0]), ts_float (range[2]), dtype);
  g_autofree gfloat *values = g_new (gfloat, (gsize) n);
  for (gint32 i = 0; i < n; i++)
    values[i] = (gfloat) (range[0] + i * range[2]);
  return ts_new (program, ts_cast (program, ts_constant_floats (program, values, (guint) n), dtype),
                 dtype);
}

/* Rows and columns of the triangle of a matrix that tril() and triu() keep, row after row. */
static TsValue
triangle (TsProgram *program, const TsCall *call)
{
  const gint64 rows = ts_to_int (program, call->args[0]),
               columns = ts_to_int (program, call->args[1]),
               offset = CLAMP (ts_to_int (program, call->args[2]), -MAX_ELEMENTS, MAX_ELEMENTS);
  const gboolean upper = strcmp (call->op->name, "aten::triu_indices") == 0;
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (gint32)),
                     second = g_array_new (FALSE, FALSE, sizeof (gint32));
  if (ts_failed (program) || rows < 0 || columns < 0 || rows > MAX_ELEMENTS
      || columns > MAX_ELEMENTS || rows * columns > MAX_ELEMENTS)
    return ts_refuse (program, SL_ERROR_LIMIT,
                      "a matrix of %" G_GINT64_FORMAT " by %" G_GINT64_FORMAT
                      " elements; expected at most %d elements",
                      rows, columns, MAX_ELEMENTS);
  for (gint32 y = 0; y < rows; y++)
    for (gint32 x = 0; x < columns; x++)
      if (upper ? x - y >= offset : x - y <= offset) {
        g_array_append_val (places, y);
        g_array_append_val (second, x);
      }
  const gint32 dims[2] = { 2, (gint32) places->len };
  if (dims[1] == 0)
    return ts_new (program, lower_value_empty (&program->lower, 2, dims), TS_INT64);
  g_array_append_vals (places, second->data, second->len);
  return ts_new_plain (
    program, lower_constant (&program->lower, SL_DTYPE_I32, 2, dims, places->data), TS_INT64);
}

static TsValue
linspace (TsProgram *program, const TsCall *call)
{
  const gdouble first = ts_to_float (program, call->args[0]),
                last = ts_to_float (program, call->args[1]);
  const gint64 n = ts_to_int (program, call->args[2]);
  if (n < 1 || n > MAX_ELEMENTS)
    return ts_refuse (program, SL_ERROR_LIMIT, "%" G_GINT64_FORMAT " elements; expected 1 to %d", n,
                      MAX_ELEMENTS);
  g_autofree gfloat *values = g_new (gfloat, (gsize) n);
  const gfloat step = n > 1 ? (gfloat) ((last - first) / (gdouble) (n - 1)) : 0;
  for (gint64 i = 0; i < n; i++) /* from both ends, as torch does it */
    values[i] =
      i < n / 2 ? (gfloat) first + step * (gfloat) i : (gfloat) last - step * (gfloat) (n - 1 - i);
  return ts_new (program, ts_constant_floats (program, values, (guint) n), TS_FLOAT32);
}

/* Numbers of nested lists, one after the other; FALSE when they are no rectangle. */
static gboolean
collect (TsProgram *program, TsValue value, guint depth, gint64 *dims, guint *rank, GArray *numbers,
         gboolean *real)
{
  if (value.kind != TS_LIST && value.kind != TS_TUPLE) {
    const gfloat number = (gfloat) ts_to_float (program, value);
    *real |= value.kind == TS_FLOAT
             || (value.kind == TS_TENSOR && ts_dtype_graph (value.tensor->dtype) == SL_DTYPE_F32);
    g_array_append_val (numbers, number);
    return *rank == depth && numbers->len <= MAX_ELEMENTS && !ts_failed (program);
  }
  if (depth == *rank && numbers->len == 0 && depth < MAX_DEPTH)
    dims[(*rank)++] = value.list->n;
  if (depth >= *rank || dims[depth] != value.list->n)
    return FALSE;
  for (guint i = 0; i < value.list->n; i++)
    if (!collect (program, value.list->items[i], depth + 1, dims, rank, numbers, real))
      return FALSE;
  return TRUE;
}

static TsValue
tensor (TsProgram *program, const TsCall *call)
{
  gint64 dims[MAX_DEPTH];
  guint rank = 0;
  gboolean real = FALSE;
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (gfloat));
  const TsValue data = call->args[0];
  if (data.kind == TS_TENSOR || ts_is_number (data)) {
    const TsDtype own = data.kind == TS_TENSOR  ? data.tensor->dtype
                        : data.kind == TS_FLOAT ? TS_FLOAT32
                        : data.kind == TS_BOOL  ? TS_BOOLEAN
                                                : TS_INT64;
    const TsDtype dtype = type_or (program, call->args[1], own);
    LowerValue *x = data.kind == TS_TENSOR ? ts_cast (program, ts_read (program, data), dtype)
                                           : ts_scalar (program, data, dtype);
    return ts_new (program, x, dtype);
  }
  if (!collect (program, data, 0, dims, &rank, numbers, &real))
    return ts_refuse (program, SL_ERROR_FORMAT,
                      "expected a number, or lists of numbers of one length, at most %d",
                      MAX_ELEMENTS);
  const TsDtype dtype = type_or (program, call->args[1], real ? TS_FLOAT32 : TS_INT64);
  const gint32 none = 0;
  if (numbers->len == 0)
    return ts_new (program, lower_value_empty (&program->lower, 1, &none), dtype);
  LowerValue *x =
    ts_constant_floats (program, (const gfloat *) (gconstpointer) numbers->data, numbers->len);
  return ts_new (program, ts_reshaped (program, ts_cast (program, x, dtype), dims, rank), dtype);
}

/* A number as a tensor without dimensions. */
static TsValue
number (TsProgram *program, const TsCall *call)
{
  const TsValue x = call->args[0];
  const TsDtype dtype = type_or (program, call->args[1],
                                 x.kind == TS_FLOAT  ? TS_FLOAT32
                                 : x.kind == TS_BOOL ? TS_BOOLEAN
                                                     : TS_INT64);
  return x.kind == TS_TENSOR ? x : ts_new (program, ts_scalar (program, x, dtype), dtype);
}

static TsValue
meshgrid (TsProgram *program, const TsCall *call)
{
  gint64 dims[SL_MAX_RANK], shape[SL_MAX_RANK];
  const TsValue list = call->args[0], results = ts_list (program->heap);
  const gboolean swapped =
    call->args[1].kind == TS_STRING && strcmp (call->args[1].text, "xy") == 0;
  if (list.kind != TS_LIST || list.list->n > SL_MAX_RANK || (swapped && list.list->n < 2))
    return ts_refuse (program, SL_ERROR_FORMAT, "expected a list of at most %d tensors",
                      SL_MAX_RANK);
  const guint n = list.list->n;
  for (guint i = 0; i < n; i++) {
    const guint at = swapped && i < 2 ? 1 - i : i;
    if (list.list->items[i].kind != TS_TENSOR || list.list->items[i].tensor->rank > 1)
      return ts_refuse (program, SL_ERROR_FORMAT, "expected tensors of one dimension");
    dims[at] = (gint64) ts_tensor_elements (list.list->items[i].tensor);
  }
  for (guint i = 0; i < n && !ts_failed (program); i++) {
    const guint at = swapped && i < 2 ? 1 - i : i;
    for (guint k = 0; k < n; k++)
      shape[k] = k == at ? dims[k] : 1;
    LowerValue *x = ts_reshaped (program, ts_read (program, list.list->items[i]), shape, n);
    x = ts_onnx_pair (program, "Expand", x, ts_constant_ints (program, dims, n));
    ts_list_append (program->heap, results.list,
                    ts_new (program, x, list.list->items[i].tensor->dtype));
  }
  return results;
}

static TsValue
broadcast_tensors (TsProgram *program, const TsCall *call)
{
  gint64 dims[SL_MAX_RANK] = { 0 };
  guint rank = 0;
  const TsValue list = call->args[0], results = ts_list (program->heap);
  if (list.kind != TS_LIST)
    return ts_refuse (program, SL_ERROR_FORMAT, "expected a list of tensors");
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < list.list->n && !ts_failed (program); i++) {
      LowerValue *x = ts_read (program, list.list->items[i]);
      if (x == NULL)
        return ts_none ();
      if (pass == 1) {
        x = ts_onnx_pair (program, "Expand", x, ts_constant_ints (program, dims, rank));
        ts_list_append (program->heap, results.list,
                        ts_new (program, x, list.list->items[i].tensor->dtype));
        continue;
      }
      while (rank < x->rank) {
        memmove (dims + 1, dims, rank * sizeof dims[0]);
        dims[0] = 1;
        rank++;
      }
      for (guint k = 0; k < x->rank; k++)
        dims[rank - x->rank + k] = MAX (dims[rank - x->rank + k], x->dims[k]);
    }
  return results;
}

/* copy_, fill_, zero_: another value of the same size and type. */
static TsValue
overwrite (TsProgram *program, const TsCall *call)
{
  gint64 dims[SL_MAX_RANK];
  const TsValue box = call->args[0],
                from = strcmp (call->op->name, "aten::zero_") == 0 ? ts_int (0) : call->args[1];
  if (box.kind != TS_TENSOR)
    return ts_refuse (program, SL_ERROR_FORMAT, "of a value of type %s", ts_kind_name (box.kind));
  const TsDtype dtype = box.tensor->dtype;
  for (guint i = 0; i < box.tensor->rank; i++)
    dims[i] = box.tensor->dims[i];
  LowerValue *x = from.kind == TS_TENSOR ? ts_cast (program, ts_read (program, from), dtype)
                                         : ts_scalar (program, from, dtype);
  if (x != NULL && !x->empty && box.tensor->rank > 0)
    x = ts_onnx_pair (program, "Expand", x, ts_constant_ints (program, dims, box.tensor->rank));
  const TsValue result = ts_new (program, x, dtype);
  if (result.kind == TS_TENSOR)
    ts_write (program, box.tensor, result);
  return box;
}

static TsValue
chance (TsProgram *program, const TsCall *call)
{
  (void) call;
  return ts_refuse (
    program, SL_ERROR_UNSUPPORTED,
    "random numbers are not supported; call model.eval() before the model is exported");
}

#define OPTIONS "dtype=None,layout=None,device=None,pin_memory=None,memory_format=None"

const TsOp ts_ops_make[] = {
  { "aten::zeros", "size," OPTIONS, make },
  { "aten::ones", "size," OPTIONS, make, NULL, 1 },
  { "aten::empty", "size," OPTIONS, make },
  { "aten::empty_strided", "size,stride," OPTIONS, make },
  { "aten::empty_permuted", "size,physical_layout," OPTIONS, make },
  { "aten::full", "size,fill_value," OPTIONS, make },
  { "aten::zeros_like", "self," OPTIONS, make_like },
  { "aten::ones_like", "self," OPTIONS, make_like, NULL, 1 },
  { "aten::empty_like", "self," OPTIONS, make_like },
  { "aten::full_like", "self,fill_value," OPTIONS, make_like },
  { "aten::new_zeros", "self,size," OPTIONS, make_new },
  { "aten::new_ones", "self,size," OPTIONS, make_new, NULL, 1 },
  { "aten::new_empty", "self,size," OPTIONS, make_new },
  { "aten::new_full", "self,size,fill_value," OPTIONS, make_new },
  { "aten::arange",
    "a=None,b=None,c=None,d=None,e=None,f=None,g=None,dtype=None,layout=None,device=None,"
    "pin_memory=None",
    arange },
  { "aten::tril_indices", "row,col,offset=0," OPTIONS, triangle },
  { "aten::triu_indices", "row,col,offset=0," OPTIONS, triangle },
  { "aten::linspace", "start,end,steps," OPTIONS, linspace },
  { "aten::tensor", "data,dtype=None,device=None,requires_grad=None", tensor },
  { "aten::as_tensor", "data,dtype=None,device=None", tensor },
  { "aten::scalar_tensor", "s," OPTIONS, number },
  { "prim::NumToTensor", "a,b=None", number },
  { "aten::broadcast_tensors", "tensors", broadcast_tensors },
  { "aten::meshgrid", "tensors,indexing=None", meshgrid },
  { "aten::copy_", "self,src,non_blocking=False", overwrite },
  { "aten::fill_", "self,value", overwrite },
  { "aten::zero_", "self", overwrite },
  { "aten::rand", "...", chance },
  { "aten::randn", "...", chance },
  { "aten::randint", "...", chance },
  { "aten::randperm", "...", chance },
  { "aten::rand_like", "...", chance },
  { "aten::randn_like", "...", chance },
  { "aten::bernoulli", "...", chance },
  { "aten::multinomial", "...", chance },
  { NULL },
};
