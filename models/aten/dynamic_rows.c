/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See dynamic_rows.h. */
#include "models/aten/dynamic_rows.h"

#include <string.h>

#include "models/aten/shape.h"

/* More rows than this are not kept apart. */
#define MAX_ROWS (1 << 21)
/* Below every score. */
#define LOWEST (-1e30f)

static LowerValue *
reshaped_one (TsProgram *program, LowerValue *x, gint64 first, guint rank)
{
  const gint64 dims[SL_MAX_RANK] = { first, 1, 1, 1, 1, 1, 1, 1 };
  return ts_reshaped (program, x, dims, rank);
}

static LowerValue *
both (TsProgram *program, LowerValue *a, LowerValue *b)
{
  return a == NULL ? b : b == NULL ? a : ts_onnx_pair (program, "And", a, b);
}

/* One truth value a row as @times of them. */
static LowerValue *
repeated (TsProgram *program, LowerValue *valid, gint64 times)
{
  const gint64 n = valid->dims[0], wide[2] = { n, times };
  LowerValue *x = reshaped_one (program, valid, n, 2);
  x = ts_onnx_pair (program, "Expand", x, ts_constant_ints (program, wide, 2));
  return reshaped_one (program, x, n * times, 1);
}

/* Lists of more tensors than an operator takes are not searched: they only grow. */
static const TsTensor *
find_rows (const TsValue *args, guint n)
{
  for (guint i = 0; i < n; i++) {
    if (args[i].kind == TS_TENSOR && args[i].tensor->valid != NULL)
      return args[i].tensor;
    const gboolean list = args[i].kind == TS_LIST || args[i].kind == TS_TUPLE;
    for (guint k = 0; list && k < MIN (args[i].list->n, SL_MAX_OPERANDS); k++)
      if (args[i].list->items[k].kind == TS_TENSOR && args[i].list->items[k].tensor->valid != NULL)
        return args[i].list->items[k].tensor;
  }
  return NULL;
}

static void
pass (TsProgram *program, const TsTensor *from, TsTensor *to)
{
  const gint32 n = from->valid->dims[0];
  if (to->rank == 0
      && (strcmp (program->op, "aten::max") == 0 || strcmp (program->op, "aten::min") == 0))
    return;
  if (to == from || to->valid != NULL || ts_failed (program))
    return;
  const gint32 rows = to->rank > 0 ? to->dims[0] : 0;
  const gboolean reshaped = rows > 0 && ts_tensor_elements (to) == ts_tensor_elements (from);
  if (rows == n) {
    to->valid = from->valid;
    to->valid_each = from->valid_each;
  } else if (reshaped && rows > n && rows % n == 0) {
    to->valid = repeated (program, from->valid, rows / n);
    to->valid_each = rows / n;
  } else if (reshaped && n % rows == 0 && from->valid_each > 0
             && from->valid_each % (n / rows) == 0) {
    to->valid = ts_slice_of (program, from->valid, 0, 0, n, n / rows);
  } else {
    ts_refuse (
      program, SL_ERROR_UNSUPPORTED,
      "the number of its rows depends on the picture; only operators that treat each row alike are "
      "supported");
  }
}

void
ts_pass_rows (TsProgram *program, const TsValue *args, guint n, TsValue result)
{
  if (ts_failed (program))
    return;
  const gboolean first_only = strcmp (program->op, "aten::to") == 0
                              || strcmp (program->op, "aten::type_as") == 0
                              || g_str_has_prefix (program->op, "aten::index_put");
  const TsTensor *from = find_rows (args, first_only ? MIN (n, 1) : n);
  if (from == NULL)
    return;
  if (result.kind == TS_TENSOR)
    pass (program, from, result.tensor);
  for (guint i = 0; (result.kind == TS_LIST || result.kind == TS_TUPLE)
                    && i < MIN (result.list->n, SL_MAX_OPERANDS);
       i++)
    if (result.list->items[i].kind == TS_TENSOR)
      pass (program, from, result.list->items[i].tensor);
}

void
ts_slice_rows (TsProgram *program, const TsTensor *from, TsTensor *to, gint64 first, gint64 end,
               gint64 step)
{
  if (from->valid == NULL)
    return;
  to->valid = ts_slice_of (program, from->valid, 0, first, end, step);
  to->valid_each =
    step == 1 && from->valid_each > 0 && first % from->valid_each == 0 ? from->valid_each : 0;
}

LowerValue *
ts_joined_rows (TsProgram *program, const TsList *list)
{
  LowerValue *parts[SL_MAX_OPERANDS];
  const LowerAttribute axis = ts_attr_int ("axis", 0);
  gboolean any = FALSE;
  guint n = 0;
  for (guint i = 0; i < list->n && n < SL_MAX_OPERANDS && !ts_failed (program); i++) {
    const TsTensor *tensor = list->items[i].tensor;
    const gint64 rows[1] = { tensor->rank > 0 ? tensor->dims[0] : 0 };
    if (rows[0] == 0)
      continue;
    any |= tensor->valid != NULL;
    LowerValue *all = ts_scalar (program, ts_bool (TRUE), TS_BOOLEAN);
    parts[n++] = tensor->valid != NULL
                   ? tensor->valid
                   : ts_onnx_pair (program, "Expand", all, ts_constant_ints (program, rows, 1));
  }
  return !any ? NULL : n == 1 ? parts[0] : ts_onnx (program, "Concat", parts, n, &axis, 1);
}

TsValue
ts_choose_rows (TsProgram *program, TsValue x, TsValue mask)
{
  gint64 dims[SL_MAX_RANK], rows = 1;
  guint rank = 1;
  LowerValue *from = ts_read (program, x), *chosen = ts_read (program, mask);
  if (from == NULL || chosen == NULL)
    return ts_none ();
  for (guint i = 0; i < chosen->rank; i++) {
    if (i >= from->rank || from->dims[i] != chosen->dims[i])
      return ts_refuse (program, SL_ERROR_SHAPE, "truth values of another shape than the tensor's");
    rows *= chosen->dims[i];
  }
  if (rows < 1 || rows > MAX_ROWS)
    return ts_refuse (program, SL_ERROR_LIMIT,
                      "a choice among %" G_GINT64_FORMAT " rows; expected 1 to %d", rows, MAX_ROWS);
  for (guint i = chosen->rank; i < from->rank; i++)
    dims[rank++] = from->dims[i];
  dims[0] = rows;
  LowerValue *valid = mask.tensor->valid != NULL ? mask.tensor->valid : x.tensor->valid;
  if (valid != NULL && valid->dims[0] != rows)
    valid = repeated (program, valid, rows / valid->dims[0]);
  const TsValue result = ts_new (program, ts_reshaped (program, from, dims, rank), x.tensor->dtype);
  if (result.kind == TS_TENSOR)
    result.tensor->valid = both (program, reshaped_one (program, chosen, rows, 1), valid);
  return result;
}

static LowerValue *
fill (TsProgram *program, LowerValue *value, LowerValue *valid, gdouble number, TsDtype dtype)
{
  if (ts_failed (program) || value == NULL || valid == NULL)
    return value;
  LowerValue *const inputs[3] = { reshaped_one (program, valid, value->dims[0], value->rank), value,
                                  ts_scalar (program, ts_float (number), dtype) };
  return ts_onnx (program, "Where", inputs, 3, NULL, 0);
}

LowerValue *
ts_filled_rows (TsProgram *program, TsValue x, gdouble number)
{
  LowerValue *value = ts_read (program, x);
  return value != NULL ? fill (program, value, x.tensor->valid, number, x.tensor->dtype) : NULL;
}

LowerValue *
ts_put_rows (TsProgram *program, LowerValue *x, TsValue places, LowerValue *rows)
{
  const LowerAttribute axis = ts_attr_int ("axis", 0), none = ts_attr_text ("reduction", "none");
  LowerValue *index = ts_cast (program, ts_read (program, places), TS_INT32);
  if (x == NULL || index == NULL || rows == NULL)
    return NULL;
  const gint64 n = x->dims[0], column[2] = { index->dims[0], 1 };
  LowerValue *const choice[3] = { places.tensor->valid, index,
                                  ts_scalar (program, ts_int (n), TS_INT32) };
  index = ts_reshaped (program, ts_onnx (program, "Where", choice, 3, NULL, 0), column, 2);
  LowerValue *const parts[2] = { x, ts_slice_of (program, x, 0, 0, 1, 1) };
  LowerValue *const inputs[3] = { ts_onnx (program, "Concat", parts, 2, &axis, 1), index, rows };
  return ts_slice_of (program, ts_onnx (program, "ScatterND", inputs, 3, &none, 1), 0, 0, n, 1);
}

/* The places of all elements of @dims, row by row: [elements, dimensions]. */
static LowerValue *
all_places (TsProgram *program, const gint32 *dims, guint rank, gint32 rows)
{
  const gint32 shape[2] = { rows, (gint32) rank };
  g_autofree gint32 *places = g_new (gint32, (gsize) rows * rank);
  for (gint32 i = 0; i < rows; i++) {
    gint32 rest = i;
    for (guint k = rank; k-- > 0; rest /= dims[k])
      places[(gsize) i * rank + k] = rest % dims[k];
  }
  return lower_value_new (&program->lower,
                          lower_constant (&program->lower, SL_DTYPE_I32, 2, shape, places), FALSE);
}

static TsValue
nonzero (TsProgram *program, const TsCall *call)
{
  const TsValue args[] = { call->args[0], ts_int (TS_BOOLEAN) };
  const TsValue mask = ts_run_op (program, "aten::to", args, NULL, 2),
                chosen = ts_choose_rows (program, mask, mask);
  if (chosen.kind != TS_TENSOR || mask.tensor->rank == 0)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED, "of a tensor without dimensions");
  const TsValue result = ts_new (
    program, all_places (program, mask.tensor->dims, mask.tensor->rank, chosen.tensor->dims[0]),
    TS_INT64);
  if (result.kind == TS_TENSOR)
    result.tensor->valid = chosen.tensor->valid;
  return result;
}

/* nonzero () by columns, which where () of a condition alone is, too. */
static TsValue
nonzero_columns (TsProgram *program, const TsCall *call)
{
  const TsValue places = nonzero (program, call), list = ts_list (program->heap);
  for (gint32 i = 0; !ts_failed (program) && i < places.tensor->dims[1]; i++) {
    const TsValue args[] = { places, ts_int (1), ts_int (i) };
    ts_list_append (program->heap, list.list, ts_run_op (program, "aten::select", args, NULL, 3));
  }
  return list;
}

/* As many places as boxes, the kept ones first, by descending score. */
static TsValue
nms (TsProgram *program, const TsCall *call)
{
  LowerValue *boxes = ts_read (program, call->args[0]),
             *scores = ts_filled_rows (program, call->args[1], (gdouble) LOWEST);
  if (boxes != NULL)
    scores = fill (program, scores, call->args[0].tensor->valid, (gdouble) LOWEST, TS_FLOAT32);
  if (boxes == NULL || scores == NULL || boxes->rank != 2 || boxes->dims[1] != 4
      || scores->rank != 1 || scores->dims[0] != boxes->dims[0])
    return ts_refuse (program, SL_ERROR_SHAPE, "expected boxes of four edges and a score for each");
  const gint64 n = boxes->dims[0], most[1] = { n }, column[2] = { 2, 3 }, axis = 1;
  const gfloat overlap = (gfloat) ts_to_float (program, call->args[2]), least = LOWEST / 10;
  LowerValue *const inputs[5] = { ts_reshaped (program, boxes, (const gint64[]){ 1, n, 4 }, 3),
                                  ts_reshaped (program, scores, (const gint64[]){ 1, 1, n }, 3),
                                  ts_constant_ints (program, most, 1),
                                  ts_constant_floats (program, &overlap, 1),
                                  ts_constant_floats (program, &least, 1) };
  LowerValue *kept = ts_onnx (program, "NonMaxSuppression", inputs, 5, NULL, 0);
  kept = ts_slice_of (program, kept, axis, column[0], column[1], 1);
  if (kept == NULL)
    return ts_none ();
  kept = ts_reshaped (program, kept, (const gint64[]){ kept->dims[0] }, 1);
  LowerValue *zero = ts_scalar (program, ts_int (0), TS_INT32);
  const TsValue result = ts_new (program, ts_onnx_pair (program, "Max", kept, zero), TS_INT64);
  if (result.kind == TS_TENSOR)
    result.tensor->valid = ts_onnx_pair (program, "GreaterOrEqual", kept, zero);
  return result;
}

const TsOp ts_ops_rows[] = {
  { "aten::nonzero", "self", nonzero },
  { "aten::nonzero_numpy", "self", nonzero_columns },
  { "torchvision::nms", "dets,scores,iou_threshold", nms },
  { NULL },
};
