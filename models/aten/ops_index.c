/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements by tensors of their indices: read and written. */
#include <string.h>

#include "models/aten/dynamic_rows.h"
#include "models/aten/shape.h"

static TsValue
index_select (TsProgram *program, const TsCall *call)
{
  LowerValue *x = ts_read (program, call->args[0]), *places = ts_read (program, call->args[2]);
  if (x == NULL || places == NULL)
    return ts_none ();
  const LowerAttribute attribute = ts_attr_int ("axis", ts_axis (program, call->args[1], x->rank));
  return ts_new (program,
                 ts_onnx (program, "Gather", (LowerValue *[]){ x, places }, 2, &attribute, 1),
                 call->args[0].tensor->dtype);
}

static TsValue
gather (TsProgram *program, const TsCall *call)
{
  LowerValue *x = ts_read (program, call->args[0]), *places = ts_read (program, call->args[2]);
  if (x == NULL || places == NULL)
    return ts_none ();
  const LowerAttribute attribute = ts_attr_int ("axis", ts_axis (program, call->args[1], x->rank));
  return ts_new (
    program, ts_onnx (program, "GatherElements", (LowerValue *[]){ x, places }, 2, &attribute, 1),
    call->args[0].tensor->dtype);
}

/**
 * Places: the indices of x[..., i, j, ...]
 * @axes: the @n dimensions that are indexed
 * @at: where the indices' dimensions are in the result: those of neighbours where they pointed to,
 * others in front
 * @indices: of one shape, int32; @dims: that shape, of @rank dimensions
 */
typedef struct
{
  guint at, n, rank, axes[SL_MAX_RANK];
  LowerValue *indices[SL_MAX_RANK];
  gint64 dims[SL_MAX_RANK];
} Places;

/* The shape that all indices broadcast to. */
static gboolean
broadcast (TsProgram *program, Places *places)
{
  for (guint i = 0; i < places->n; i++)
    places->rank = MAX (places->rank, places->indices[i]->rank);
  for (guint k = 0; k < places->rank; k++)
    places->dims[k] = 1;
  for (guint i = 0; i < places->n; i++)
    for (guint k = 0; k < places->indices[i]->rank; k++) {
      gint64 *dim = &places->dims[places->rank - places->indices[i]->rank + k];
      *dim = MAX (*dim, places->indices[i]->dims[k]);
    }
  for (guint i = 0; i < places->n && places->n > 1; i++)
    places->indices[i] = ts_onnx_pair (program, "Expand", places->indices[i],
                                       ts_constant_ints (program, places->dims, places->rank));
  return !ts_failed (program);
}

static gboolean
read_places (TsProgram *program, TsValue list, guint rank, Places *places)
{
  *places = (Places){ 0 };
  if (list.kind != TS_LIST || list.list->n > rank) {
    ts_refuse (program, SL_ERROR_FORMAT, "expected a list of at most %u tensors", rank);
    return FALSE;
  }
  for (guint i = 0; i < list.list->n; i++) {
    const TsValue item = list.list->items[i];
    if (item.kind == TS_NONE)
      continue;
    LowerValue *index = ts_read (program, item);
    if (index != NULL && (item.tensor->dtype == TS_BOOLEAN || item.tensor->dtype == TS_UINT8))
      ts_refuse (program, SL_ERROR_UNSUPPORTED,
                 "elements chosen by truth values: their number depends on the picture");
    if (ts_failed (program))
      return FALSE;
    places->axes[places->n] = i;
    places->indices[places->n++] = ts_cast (program, index, TS_INT32);
  }
  if (places->n > 0 && places->axes[places->n - 1] - places->axes[0] == places->n - 1)
    places->at = places->axes[0];
  return broadcast (program, places);
}

/* Dimensions of a tensor of @rank in another order: those that are indexed come first. */
static void
indexed_first (const Places *places, guint rank, gint64 *order)
{
  guint n = 0;
  for (guint i = 0; i < places->n; i++)
    order[n++] = places->axes[i];
  for (guint i = 0, k = 0; i < rank; i++)
    if (k < places->n && places->axes[k] == i)
      k++;
    else
      order[n++] = i;
}

/* Indices of each element side by side, in a last dimension. */
static LowerValue *
coordinates (TsProgram *program, Places *places)
{
  const gint64 last = places->rank;
  const LowerAttribute axis = ts_attr_int ("axis", last);
  for (guint i = 0; i < places->n; i++)
    places->indices[i] =
      ts_onnx_pair (program, "Unsqueeze", places->indices[i], ts_constant_ints (program, &last, 1));
  return places->n == 1 ? places->indices[0]
                        : ts_onnx (program, "Concat", places->indices, places->n, &axis, 1);
}

/* Rows by their places: those count whose place and whose row at that place do. */
static TsValue
gather_rows (TsProgram *program, TsValue x, TsValue places)
{
  LowerValue *const inputs[2] = { ts_read (program, x), ts_read (program, places) };
  const TsValue result =
    ts_new (program, ts_onnx (program, "Gather", inputs, 2, NULL, 0), x.tensor->dtype);
  if (result.kind != TS_TENSOR || (x.tensor->valid == NULL && places.tensor->valid == NULL))
    return result;
  result.tensor->valid = places.tensor->valid;
  if (x.tensor->valid == NULL || places.tensor->rank != 1)
    return result;
  LowerValue *rows = ts_onnx_pair (program, "Gather", x.tensor->valid, inputs[1]);
  result.tensor->valid =
    places.tensor->valid == NULL ? rows : ts_onnx_pair (program, "And", rows, places.tensor->valid);
  return result;
}

/* x[..., i, j, ...]: the dimensions of the indices stand where they pointed to. */
static TsValue
index_tensors (TsProgram *program, const TsCall *call)
{
  gint64 order[2 * SL_MAX_RANK];
  Places places;
  const TsValue first = call->args[1].kind == TS_LIST && call->args[1].list->n > 0
                          ? call->args[1].list->items[0]
                          : ts_none ();
  if (first.kind == TS_TENSOR && first.tensor->dtype == TS_BOOLEAN && call->args[1].list->n == 1)
    return ts_choose_rows (program, call->args[0], first);
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || !read_places (program, call->args[1], x->rank, &places))
    return ts_none ();
  if (places.n == 0)
    return call->args[0];
  const TsDtype dtype = call->args[0].tensor->dtype;
  const LowerAttribute axis = ts_attr_int ("axis", places.at);
  if (places.n == 1 && places.at == 0)
    return gather_rows (program, call->args[0], first);
  if (places.n == 1)
    return ts_new (
      program, ts_onnx (program, "Gather", (LowerValue *[]){ x, places.indices[0] }, 2, &axis, 1),
      dtype);
  if (places.rank + x->rank - places.n > SL_MAX_RANK)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED, "a result of more than %d dimensions",
                      SL_MAX_RANK);
  indexed_first (&places, x->rank, order);
  LowerValue *y = ts_onnx (
    program, "GatherND",
    (LowerValue *[]){ ts_permuted (program, x, order, x->rank), coordinates (program, &places) }, 2,
    NULL, 0);
  for (guint i = 0; y != NULL && i < y->rank; i++)
    order[i] = i < places.at ? places.rank + i : i < places.at + places.rank ? i - places.at : i;
  return ts_new (program, y != NULL ? ts_permuted (program, y, order, y->rank) : NULL, dtype);
}

static LowerValue *
updates_of (TsProgram *program, TsValue value, TsDtype dtype, const gint64 *dims, guint rank)
{
  LowerValue *x = value.kind == TS_TENSOR ? ts_cast (program, ts_read (program, value), dtype)
                                          : ts_scalar (program, value, dtype);
  return rank == 0 ? x
                   : ts_onnx_pair (program, "Expand", x, ts_constant_ints (program, dims, rank));
}

/* x[mask] = value of one element, the truth values being of the first dimensions; FALSE for
 * anything else. */
static gboolean
put_where (TsProgram *program, const TsCall *call, TsValue *result)
{
  gint64 dims[SL_MAX_RANK];
  const TsValue list = call->args[1], value = call->args[2];
  const TsTensor *mask =
    list.kind == TS_LIST && list.list->n == 1 && list.list->items[0].kind == TS_TENSOR
      ? list.list->items[0].tensor
      : NULL;
  if (mask == NULL || mask->dtype != TS_BOOLEAN
      || (value.kind == TS_TENSOR && ts_tensor_elements (value.tensor) != 1))
    return FALSE;
  LowerValue *x = ts_read (program, call->args[0]), *where = ts_read (program, list.list->items[0]);
  if (x == NULL || where == NULL)
    return TRUE;
  for (guint i = 0; i < x->rank; i++)
    dims[i] = i < where->rank ? where->dims[i] : 1;
  for (guint i = 0; i < where->rank; i++)
    if (where->rank > x->rank || where->dims[i] != x->dims[i]) {
      ts_refuse (program, SL_ERROR_SHAPE, "truth values of another shape than the tensor's");
      return TRUE;
    }
  const TsDtype dtype = call->args[0].tensor->dtype;
  LowerValue *put = updates_of (program, value, dtype, NULL, 0);
  put = put != NULL ? ts_reshaped (program, put, (const gint64[]){ 1 }, 1) : NULL;
  if (put != NULL && ts_truth (program, call->args[3]))
    put = ts_onnx_pair (program, "Add", x, put);
  *result = ts_new (
    program,
    ts_onnx (program, "Where",
             (LowerValue *[]){ ts_reshaped (program, where, dims, x->rank), put, x }, 3, NULL, 0),
    dtype);
  return TRUE;
}

/* x[..., i, ..., j, ...] = value, of the shape that such elements have. */
static LowerValue *
put_anywhere (TsProgram *program, LowerValue *x, Places *places, TsValue value, TsDtype dtype,
              const LowerAttribute *reduction)
{
  gint64 order[SL_MAX_RANK], inverse[SL_MAX_RANK], dims[SL_MAX_RANK], moved[SL_MAX_RANK];
  const guint rank = places->rank + x->rank - places->n, end = places->at + places->rank;
  indexed_first (places, x->rank, order);
  for (guint i = 0; i < x->rank; i++)
    inverse[order[i]] = i;
  for (guint i = 0; i < rank; i++)
    dims[i] = i < places->at ? x->dims[order[places->n + i]]
              : i < end      ? places->dims[i - places->at]
                             : x->dims[order[places->n + i - places->rank]];
  for (guint i = 0; i < rank; i++)
    moved[i] = i < places->rank ? places->at + i : i < end ? i - places->rank : i;
  LowerValue *updates =
    ts_permuted (program, updates_of (program, value, dtype, dims, rank), moved, rank);
  LowerValue *const inputs[3] = { ts_permuted (program, x, order, x->rank),
                                  coordinates (program, places), updates };
  return ts_permuted (program, ts_onnx (program, "ScatterND", inputs, 3, reduction, 1), inverse,
                      x->rank);
}

static TsValue
index_put (TsProgram *program, const TsCall *call)
{
  gint64 dims[2 * SL_MAX_RANK], shape[SL_MAX_RANK];
  Places places;
  TsValue chosen = ts_none ();
  if (put_where (program, call, &chosen))
    return chosen;
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || !read_places (program, call->args[1], x->rank, &places))
    return ts_none ();
  const TsDtype dtype = call->args[0].tensor->dtype;
  const LowerAttribute attributes[2] = {
    ts_attr_int ("axis", places.at),
    ts_attr_text ("reduction", ts_truth (program, call->args[3]) ? "add" : "none")
  };
  const TsValue first = call->args[1].list->n > 0 ? call->args[1].list->items[0] : ts_none ();
  if (places.n == 1 && places.rank == 1 && first.kind == TS_TENSOR && first.tensor->valid != NULL) {
    for (guint i = 0; i < x->rank; i++)
      dims[i] = i == 0 ? places.dims[0] : x->dims[i];
    return ts_new (
      program,
      ts_put_rows (program, x, first, updates_of (program, call->args[2], dtype, dims, x->rank)),
      dtype);
  }
  if (places.n == 1 && places.rank == 1) {
    for (guint i = 0; i < x->rank; i++) {
      dims[i] = i == places.at ? places.dims[0] : x->dims[i];
      shape[i] = i == places.at ? places.dims[0] : 1;
    }
    LowerValue *index = ts_reshaped (program, places.indices[0], shape, x->rank);
    index = ts_onnx_pair (program, "Expand", index, ts_constant_ints (program, dims, x->rank));
    LowerValue *const inputs[3] = { x, index,
                                    updates_of (program, call->args[2], dtype, dims, x->rank) };
    return ts_new (program, ts_onnx (program, "ScatterElements", inputs, 3, attributes, 2), dtype);
  }
  if (places.n == 0 || places.rank + x->rank - places.n > SL_MAX_RANK)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "no indices, or elements of more than %d dimensions", SL_MAX_RANK);
  return ts_new (program, put_anywhere (program, x, &places, call->args[2], dtype, attributes + 1),
                 dtype);
}

/* As ONNX calls it. */
static const char *
reduction_of (TsProgram *program, const TsCall *call)
{
  static const char *const words[][2] = { { "add", "add" },      { "sum", "add" },
                                          { "multiply", "mul" }, { "prod", "mul" },
                                          { "amax", "max" },     { "amin", "min" } };
  const TsValue word = call->args[4];
  for (guint i = 0; word.kind == TS_STRING && i < G_N_ELEMENTS (words); i++)
    if (strcmp (word.text, words[i][0]) == 0)
      return words[i][1];
  if (word.kind != TS_NONE)
    ts_refuse (program, SL_ERROR_UNSUPPORTED,
               "reduction '%s'; expected sum, prod, mean, amax, amin, add or multiply",
               word.kind == TS_STRING ? word.text : ts_kind_name (word.kind));
  return call->op->onnx;
}

static TsValue
scatter (TsProgram *program, const TsCall *call)
{
  gint64 dims[SL_MAX_RANK];
  LowerValue *x = ts_read (program, call->args[0]), *index = ts_read (program, call->args[2]);
  if (x == NULL || index == NULL)
    return ts_none ();
  const TsDtype dtype = call->args[0].tensor->dtype;
  const LowerAttribute attributes[2] = { ts_attr_int ("axis",
                                                      ts_axis (program, call->args[1], x->rank)),
                                         ts_attr_text ("reduction", reduction_of (program, call)) };
  for (guint i = 0; i < index->rank; i++)
    dims[i] = index->dims[i];
  LowerValue *const inputs[3] = { x, index,
                                  updates_of (program, call->args[3], dtype, dims, index->rank) };
  return ts_new (program, ts_onnx (program, "ScatterElements", inputs, 3, attributes, 2), dtype);
}

static TsValue
triangle (TsProgram *program, const TsCall *call)
{
  const gint64 diagonal = ts_to_int (program, call->args[1]);
  const LowerAttribute upper = ts_attr_int ("upper", strcmp (call->op->name, "aten::triu") == 0);
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL)
    return ts_none ();
  return ts_new (program,
                 ts_onnx (program, "Trilu",
                          (LowerValue *[]){ x, ts_constant_ints (program, &diagonal, 1) }, 2,
                          &upper, 1),
                 call->args[0].tensor->dtype);
}

/* Rows of a table. */
static TsValue
embedding (TsProgram *program, const TsCall *call)
{
  LowerValue *const inputs[2] = { ts_read (program, call->args[0]),
                                  ts_read (program, call->args[1]) };
  return ts_new (program, ts_onnx (program, "Gather", inputs, 2, NULL, 0), TS_FLOAT32);
}

static TsValue
one_hot (TsProgram *program, const TsCall *call)
{
  const gint64 depth = ts_to_int (program, call->args[1]), values[2] = { 0, 1 };
  const LowerAttribute last = ts_attr_int ("axis", -1);
  if (depth < 1)
    return ts_refuse (program, SL_ERROR_SHAPE,
                      "one_hot() without a number of classes depends on the picture");
  LowerValue *inputs[3] = { ts_read (program, call->args[0]), ts_constant_ints (program, &depth, 1),
                            ts_constant_ints (program, values, 2) };
  return ts_new (program, ts_onnx (program, "OneHot", inputs, 3, &last, 1), TS_INT64);
}

const TsOp ts_ops_index[] = {
  { "aten::index_select", "self,dim,index", index_select },
  { "aten::gather", "self,dim,index,sparse_grad=False", gather },
  { "aten::index", "self,indices", index_tensors },
  { "aten::_unsafe_index", "self,indices", index_tensors },
  { "aten::index_put", "self,indices,values,accumulate=False", index_put },
  { "aten::_unsafe_index_put", "self,indices,values,accumulate=False", index_put },
  { "aten::scatter", "self,dim,index,src,reduce=None", scatter, "none" },
  { "aten::scatter_add", "self,dim,index,src,reduce=None", scatter, "add" },
  { "aten::triu", "self,diagonal=0", triangle },
  { "aten::tril", "self,diagonal=0", triangle },
  { "aten::embedding", "weight,indices,padding_idx=-1,scale_grad_by_freq=False,sparse=False",
    embedding },
  { "aten::one_hot", "self,num_classes=-1", one_hot },
  { NULL },
};
