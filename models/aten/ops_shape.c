/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that change a tensor's shape, order or type, and take parts of it. */
#include <string.h>

#include "models/aten/dynamic_rows.h"
#include "models/aten/shape.h"
#include "models/aten/view.h"

#define MAX_PARTS 64

/* A result that keeps its operand's type, and its scale where it has one. */
static TsValue
like (TsProgram *program, LowerValue *value, TsValue operand)
{
  TsValue result = ts_new (program, value, operand.tensor->dtype);
  if (result.kind == TS_TENSOR)
    result.tensor->quant = operand.tensor->quant;
  return result;
}

/* A result that shares its elements with @operand, in another shape, or as @view says. */
static TsValue
view_of (TsProgram *program, LowerValue *value, TsValue operand, const TsView *view)
{
  static const TsView shape = { .kind = TS_VIEW_SHAPE };
  return ts_note_view (program, like (program, value, operand), operand.tensor,
                       view != NULL ? view : &shape);
}

static TsView
part (guint axis, gint64 first, gint64 n, gboolean dropped)
{
  return (TsView){
    .kind = TS_VIEW_PART, .axis = axis, .first = first, .n = n, .step = 1, .dropped = dropped
  };
}

LowerValue *
ts_reshaped (TsProgram *program, LowerValue *x, const gint64 *dims, guint rank)
{
  const LowerAttribute zero = ts_attr_int ("allowzero", 1);
  gint32 shape[SL_MAX_RANK];
  if (ts_failed (program) || x == NULL)
    return NULL;
  if (rank == x->rank) {
    gboolean same = TRUE;
    for (guint i = 0; i < rank; i++)
      same &= dims[i] == x->dims[i];
    if (same)
      return x;
  }
  for (guint i = 0; i < rank; i++)
    shape[i] = (gint32) dims[i];
  if (rank == 0)
    return lower_value_new (
      &program->lower, lower_reshape (&program->lower, lower_plain (&program->lower, x), shape, 0),
      FALSE);
  if (x->empty)
    return lower_value_empty (&program->lower, rank, shape);
  return ts_onnx (program, "Reshape", (LowerValue *[]){ x, ts_constant_ints (program, dims, rank) },
                  2, &zero, 1);
}

/* Fills in a -1 and compares the number of elements. */
static gboolean
resolve (TsProgram *program, const LowerValue *x, gint64 *dims, guint rank)
{
  gint64 known = 1, total = 1;
  gint open = -1;
  for (guint i = 0; i < x->rank; i++)
    total *= x->dims[i];
  for (guint i = 0; i < rank; i++) {
    if (dims[i] == -1 && open < 0)
      open = (gint) i;
    else if (dims[i] < 0 || dims[i] > G_MAXINT32 || __builtin_mul_overflow (known, dims[i], &known))
      known = -1;
    if (known < 0)
      break;
  }
  if (open >= 0 && known > 0 && total % known == 0) {
    dims[open] = total / known;
    known = total;
  }
  if (known == total)
    return TRUE;
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < rank; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "", dims[i]);
  ts_refuse (program, SL_ERROR_SHAPE, "%" G_GINT64_FORMAT " elements do not fit the shape [%s]",
             total, text->str);
  return FALSE;
}

static TsValue
reshape (TsProgram *program, const TsCall *call)
{
  gint64 dims[SL_MAX_RANK];
  guint rank = 0;
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || !ts_to_ints (program, call->args[1], dims, SL_MAX_RANK, &rank)
      || !resolve (program, x, dims, rank))
    return ts_none ();
  return view_of (program, ts_reshaped (program, x, dims, rank), call->args[0], NULL);
}

static TsValue
flatten (TsProgram *program, const TsCall *call)
{
  gint64 dims[SL_MAX_RANK] = { 1 };
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL)
    return ts_none ();
  const guint first = ts_axis (program, call->args[1], x->rank),
              last = ts_axis (program, call->args[2], x->rank);
  guint n = x->rank == 0 ? 1 : 0;
  for (guint i = 0; i < x->rank; i++) {
    if (i > first && i <= last) {
      dims[n - 1] *= x->dims[i];
      continue;
    }
    dims[n++] = x->dims[i];
  }
  return ts_failed (program)
           ? ts_none ()
           : view_of (program, ts_reshaped (program, x, dims, n), call->args[0], NULL);
}

static TsValue
reshape_as (TsProgram *program, const TsCall *call)
{
  gint64 dims[SL_MAX_RANK];
  LowerValue *x = ts_read (program, call->args[0]);
  const LowerValue *other = ts_read (program, call->args[1]);
  if (x == NULL || other == NULL)
    return ts_none ();
  for (guint i = 0; i < other->rank; i++)
    dims[i] = other->dims[i];
  return resolve (program, x, dims, other->rank)
           ? view_of (program, ts_reshaped (program, x, dims, other->rank), call->args[0], NULL)
           : ts_none ();
}

/* One dimension as several. */
static TsValue
unflatten (TsProgram *program, const TsCall *call)
{
  gint64 sizes[SL_MAX_RANK], dims[2 * SL_MAX_RANK];
  guint n = 0, rank = 0;
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || !ts_to_ints (program, call->args[2], sizes, SL_MAX_RANK, &n))
    return ts_none ();
  const guint axis = ts_axis (program, call->args[1], x->rank);
  for (guint i = 0; i < x->rank; i++)
    for (guint k = 0; k < (i == axis ? n : 1); k++)
      dims[rank++] = i == axis ? sizes[k] : x->dims[i];
  if (rank > SL_MAX_RANK || !resolve (program, x, dims, rank))
    return ts_refuse (program, SL_ERROR_SHAPE, "more than %d dimensions", SL_MAX_RANK);
  return view_of (program, ts_reshaped (program, x, dims, rank), call->args[0], NULL);
}

static TsValue
unsqueeze (TsProgram *program, const TsCall *call)
{
  gint64 dims[SL_MAX_RANK];
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || x->rank >= SL_MAX_RANK)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED, "more than %d dimensions", SL_MAX_RANK);
  const guint axis = ts_axis (program, call->args[1], x->rank + 1);
  for (guint i = 0; i <= x->rank; i++)
    dims[i] = i == axis ? 1 : x->dims[i < axis ? i : i - 1];
  return view_of (program, ts_reshaped (program, x, dims, x->rank + 1), call->args[0], NULL);
}

static TsValue
squeeze (TsProgram *program, const TsCall *call)
{
  gint64 dims[SL_MAX_RANK], axes[SL_MAX_RANK];
  guint n = 0, named = 0, chosen = 0;
  LowerValue *x = ts_read (program, call->args[0]);
  const gboolean all = call->args[1].kind == TS_NONE;
  if (x == NULL || (!all && !ts_to_ints (program, call->args[1], axes, SL_MAX_RANK, &named)))
    return ts_none ();
  for (guint i = 0; i < named; i++)
    chosen |= 1u << ts_axis_of (program, axes[i], x->rank);
  for (guint i = 0; i < x->rank; i++)
    if (x->dims[i] != 1 || (!all && (chosen & 1u << i) == 0))
      dims[n++] = x->dims[i];
  return view_of (program, ts_reshaped (program, x, dims, n), call->args[0], NULL);
}

LowerValue *
ts_permuted (TsProgram *program, LowerValue *x, const gint64 *order, guint rank)
{
  const LowerAttribute perm = ts_attr_ints (program, "perm", order, rank);
  gint32 dims[SL_MAX_RANK];
  if (ts_failed (program) || x == NULL || rank == 0)
    return x;
  for (guint i = 0; i < rank; i++)
    dims[i] = x->dims[order[i]];
  return x->empty ? lower_value_empty (&program->lower, rank, dims)
                  : ts_onnx (program, "Transpose", &x, 1, &perm, 1);
}

static TsValue
permuted (TsProgram *program, TsValue operand, LowerValue *x, const gint64 *order)
{
  TsView view = { .kind = TS_VIEW_ORDER };
  memcpy (view.order, order, x->rank * sizeof order[0]);
  return view_of (program, ts_permuted (program, x, order, x->rank), operand, &view);
}

static TsValue
permute (TsProgram *program, const TsCall *call)
{
  gint64 order[SL_MAX_RANK];
  guint n = 0, seen = 0;
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || !ts_to_ints (program, call->args[1], order, SL_MAX_RANK, &n))
    return ts_none ();
  for (guint i = 0; i < n; i++) {
    order[i] = ts_axis_of (program, order[i], x->rank);
    seen |= 1u << order[i];
  }
  if (n != x->rank || seen != (1u << n) - 1)
    return ts_refuse (program, SL_ERROR_FORMAT,
                      "an order that does not name each of %u dimensions once", x->rank);
  return permuted (program, call->args[0], x, order);
}

/* transpose, swapaxes, t */
static TsValue
transpose (TsProgram *program, const TsCall *call)
{
  gint64 order[SL_MAX_RANK];
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL)
    return ts_none ();
  if (x->rank < 2)
    return call->args[0];
  const guint a = ts_axis (program, call->args[1], x->rank),
              b = ts_axis (program, call->args[2], x->rank);
  for (guint i = 0; i < x->rank; i++)
    order[i] = i == a ? b : i == b ? a : i;
  return permuted (program, call->args[0], x, order);
}

/* Dimensions moved to other places; the others keep their order. */
static TsValue
move_dims (TsProgram *program, const TsCall *call)
{
  gint64 from[SL_MAX_RANK], to[SL_MAX_RANK], order[SL_MAX_RANK];
  guint n = 0, n_to = 0, moved = 0, next = 0;
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || !ts_to_ints (program, call->args[1], from, SL_MAX_RANK, &n)
      || !ts_to_ints (program, call->args[2], to, SL_MAX_RANK, &n_to))
    return ts_none ();
  for (guint i = 0; i < SL_MAX_RANK; i++)
    order[i] = -1;
  for (guint i = 0; i < MIN (n, n_to); i++) {
    from[i] = ts_axis_of (program, from[i], x->rank);
    order[ts_axis_of (program, to[i], x->rank)] = from[i];
    moved |= 1u << from[i];
  }
  if (n != n_to || ts_failed (program))
    return ts_refuse (program, SL_ERROR_FORMAT, "%u dimensions to %u places", n, n_to);
  for (guint i = 0; i < x->rank; i++) {
    while (next < x->rank && (moved & 1u << next) != 0)
      next++;
    if (order[i] < 0)
      order[i] = next < x->rank ? next++ : 0;
  }
  const TsValue args[] = { call->args[0], ts_list (program->heap) };
  for (guint i = 0; i < x->rank && !ts_failed (program); i++)
    ts_list_append (program->heap, args[1].list, ts_int (order[i]));
  return ts_run_op (program, "aten::permute", args, NULL, 2);
}

static TsValue
expand (TsProgram *program, const TsCall *call)
{
  gint64 dims[SL_MAX_RANK];
  guint n = 0;
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL)
    return ts_none ();
  if (call->args[1].kind == TS_TENSOR) {
    n = call->args[1].tensor->rank;
    for (guint i = 0; i < n; i++)
      dims[i] = call->args[1].tensor->dims[i];
  } else if (!ts_to_ints (program, call->args[1], dims, SL_MAX_RANK, &n)) {
    return ts_none ();
  }
  if (n < x->rank)
    return ts_refuse (program, SL_ERROR_SHAPE, "%u dimensions for a tensor of %u", n, x->rank);
  for (guint i = 0; i < x->rank; i++)
    if (dims[n - x->rank + i] == -1)
      dims[n - x->rank + i] = x->dims[i];
  x = ts_onnx_pair (program, "Expand", x, ts_constant_ints (program, dims, n));
  return view_of (program, x, call->args[0], &(TsView){ .kind = TS_VIEW_OTHER });
}

static TsValue
repeat (TsProgram *program, const TsCall *call)
{
  gint64 times[SL_MAX_RANK], dims[SL_MAX_RANK];
  guint n = 0;
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || !ts_to_ints (program, call->args[1], times, SL_MAX_RANK, &n))
    return ts_none ();
  if (n < x->rank && strcmp (call->op->name, "aten::tile") != 0)
    return ts_refuse (program, SL_ERROR_SHAPE, "%u numbers for %u dimensions", n, x->rank);
  if (n < x->rank) { /* those that are missing are in front */
    memmove (times + (x->rank - n), times, n * sizeof times[0]);
    for (guint i = 0; i < x->rank - n; i++)
      times[i] = 1;
    n = x->rank;
  }
  for (guint i = 0; i < n; i++)
    dims[i] = i < n - x->rank ? 1 : x->dims[i - (n - x->rank)];
  x = ts_reshaped (program, x, dims, n);
  return like (program, ts_onnx_pair (program, "Tile", x, ts_constant_ints (program, times, n)),
               call->args[0]);
}

LowerValue *
ts_slice_of (TsProgram *program, LowerValue *x, gint64 axis, gint64 first, gint64 end, gint64 step)
{
  LowerValue *const inputs[5] = { x, ts_constant_ints (program, &first, 1),
                                  ts_constant_ints (program, &end, 1),
                                  ts_constant_ints (program, &axis, 1),
                                  ts_constant_ints (program, &step, 1) };
  gint32 dims[SL_MAX_RANK];
  if (ts_failed (program) || x == NULL || (first == 0 && end == x->dims[axis] && step == 1))
    return x;
  memcpy (dims, x->dims, sizeof dims);
  dims[axis] = end > first ? (gint32) ((end - first - 1) / step + 1) : 0;
  return dims[axis] == 0 || x->empty ? lower_value_empty (&program->lower, x->rank, dims)
                                     : ts_onnx (program, "Slice", inputs, 5, NULL, 0);
}

static TsValue
slice (TsProgram *program, const TsCall *call)
{
  if (call->args[0].kind != TS_TENSOR) {
    TsCall list = *call; /* of a list the second argument is the start */
    list.args[3] = call->n_given > 3 ? call->args[3] : ts_int (1);
    return ts_list_slice (program, &list);
  }
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || x->rank == 0)
    return ts_refuse (program, SL_ERROR_SHAPE, "a tensor without dimensions");
  const guint axis = ts_axis (program, call->args[1], x->rank);
  const gint64 n = x->dims[axis], stated = ts_to_int (program, call->args[4]),
               step = MIN (stated, MAX (n, 1));
  gint64 first = call->args[2].kind == TS_NONE ? 0 : ts_to_int (program, call->args[2]);
  gint64 end = call->args[3].kind == TS_NONE ? n : ts_to_int (program, call->args[3]);
  if (step < 1)
    return ts_refuse (program, SL_ERROR_FORMAT, "a step of %" G_GINT64_FORMAT, step);
  first = CLAMP (first < 0 ? first + n : first, 0, n);
  end = CLAMP (end < 0 ? end + n : end, first, n);
  TsView view = part (axis, first, (end - first + step - 1) / step, FALSE);
  view.step = step;
  const TsValue result =
    view_of (program, ts_slice_of (program, x, axis, first, end, step), call->args[0], &view);
  if (axis == 0 && result.kind == TS_TENSOR)
    ts_slice_rows (program, call->args[0].tensor, result.tensor, first, end, step);
  return result;
}

static TsValue
narrow (TsProgram *program, const TsCall *call)
{
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL)
    return ts_none ();
  const guint axis = ts_axis (program, call->args[1], x->rank);
  const gint64 start = ts_to_int (program, call->args[2]), n = ts_to_int (program, call->args[3]),
               first = start < 0 ? start + x->dims[axis] : start;
  if (first < 0 || n < 0 || first > x->dims[axis] || n > x->dims[axis] - first)
    return ts_refuse (program, SL_ERROR_SHAPE,
                      "%" G_GINT64_FORMAT " elements from %" G_GINT64_FORMAT " of %d", n, first,
                      x->dims[axis]);
  const TsView view = part (axis, first, n, FALSE);
  return view_of (program, ts_slice_of (program, x, axis, first, first + n, 1), call->args[0],
                  &view);
}

/* Without @axis, of which the tensor has one element. */
static LowerValue *
drop (TsProgram *program, LowerValue *x, guint axis)
{
  gint64 dims[SL_MAX_RANK];
  guint n = 0;
  if (ts_failed (program) || x == NULL)
    return NULL;
  for (guint i = 0; i < x->rank; i++)
    if (i != axis)
      dims[n++] = x->dims[i];
  return ts_reshaped (program, x, dims, n);
}

static TsValue
select_one (TsProgram *program, const TsCall *call)
{
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || x->rank == 0)
    return ts_refuse (program, SL_ERROR_SHAPE, "a tensor without dimensions");
  const guint axis = ts_axis (program, call->args[1], x->rank);
  const gint64 stated = ts_to_int (program, call->args[2]),
               at = stated < 0 ? stated + x->dims[axis] : stated;
  if (at < 0 || at >= x->dims[axis])
    return ts_refuse (program, SL_ERROR_SHAPE, "index %" G_GINT64_FORMAT " of a dimension of %d",
                      stated, x->dims[axis]);
  const TsView view = part (axis, at, 1, TRUE);
  return view_of (program, drop (program, ts_slice_of (program, x, axis, at, at + 1, 1), axis),
                  call->args[0], &view);
}

/* Consecutive parts of @sizes along a dimension, as a list. */
static TsValue
parts (TsProgram *program, TsValue tensor, LowerValue *x, guint axis, const gint64 *sizes, guint n,
       gboolean dropped)
{
  const LowerAttribute attribute = ts_attr_int ("axis", axis);
  LowerValue *outputs[MAX_PARTS] = { x };
  const TsValue list = ts_list (program->heap);
  if (n > 1)
    ts_onnx_all (program, "Split", (LowerValue *[]){ x, ts_constant_ints (program, sizes, n) }, 2,
                 &attribute, 1, outputs, n);
  gint64 first = 0;
  for (guint i = 0; i < n && !ts_failed (program); first += sizes[i++]) {
    const TsView view = part (axis, first, sizes[i], dropped);
    LowerValue *value = dropped ? drop (program, outputs[i], axis) : outputs[i];
    ts_list_append (program->heap, list.list, view_of (program, value, tensor, &view));
  }
  return list;
}

static TsValue
split (TsProgram *program, const TsCall *call)
{
  gint64 sizes[MAX_PARTS], sum = 0;
  guint n = 0;
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL)
    return ts_none ();
  const guint axis = ts_axis (program, call->args[2], x->rank);
  const gint64 total = ts_failed (program) || x->rank == 0 ? 0 : x->dims[axis];
  if (call->args[1].kind == TS_LIST) {
    ts_to_ints (program, call->args[1], sizes, MAX_PARTS, &n);
    for (guint i = 0; i < n; i++)
      sum = sizes[i] < 1 || sizes[i] > total ? -1 : sum < 0 ? sum : sum + sizes[i];
  } else {
    gint64 size = ts_to_int (program, call->args[1]);
    if (g_str_has_suffix (call->op->name, "chunk"))
      size = size > 0 ? (total + size - 1) / size : 0;
    for (; size > 0 && sum < total && n < MAX_PARTS; sum += sizes[n++])
      sizes[n] = MIN (size, total - sum);
  }
  if (sum != total || n == 0)
    return ts_refuse (program, SL_ERROR_SHAPE,
                      "parts that do not make up a dimension of %" G_GINT64_FORMAT
                      ", or more than %d",
                      total, MAX_PARTS);
  return parts (program, call->args[0], x, axis, sizes, n, FALSE);
}

static TsValue
unbind (TsProgram *program, const TsCall *call)
{
  gint64 ones[MAX_PARTS];
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || x->rank == 0)
    return ts_refuse (program, SL_ERROR_SHAPE, "a tensor without dimensions");
  const guint axis = ts_axis (program, call->args[1], x->rank);
  const guint n = (guint) x->dims[axis];
  for (guint i = 0; i < MAX_PARTS; i++)
    ones[i] = 1;
  if (n > MAX_PARTS || x->empty)
    return n == 0
             ? ts_list (program->heap)
             : ts_refuse (program, SL_ERROR_LIMIT, "%u parts; expected at most %d", n, MAX_PARTS);
  return parts (program, call->args[0], x, axis, ones, n, TRUE);
}

/* cat and stack. Tensors without elements and with one dimension count for nothing, as in torch. */
static TsValue
join (TsProgram *program, const TsCall *call)
{
  LowerValue *values[SL_MAX_OPERANDS];
  const TsValue list = call->args[0];
  const gboolean stack = strcmp (call->op->name, "aten::stack") == 0;
  guint n = 0;
  TsValue first = ts_none ();
  if (list.kind != TS_LIST && list.kind != TS_TUPLE)
    return ts_refuse (program, SL_ERROR_FORMAT, "a value of type %s; expected a list of tensors",
                      ts_kind_name (list.kind));
  for (guint i = 0; i < list.list->n && !ts_failed (program); i++) {
    LowerValue *x = ts_read (program, list.list->items[i]);
    if (x == NULL || (x->empty && !stack && n + 1 < list.list->n))
      continue;
    if (first.kind == TS_NONE)
      first = list.list->items[i];
    if (n == SL_MAX_OPERANDS)
      return ts_refuse (program, SL_ERROR_LIMIT, "more than %d tensors", SL_MAX_OPERANDS);
    values[n++] = x;
  }
  if (ts_failed (program) || first.kind == TS_NONE)
    return ts_refuse (program, SL_ERROR_FORMAT, "a list without tensors");
  if (ts_is_quantized (first.tensor->dtype) && !stack)
    return ts_run_op (program, "quantized::cat", call->args, NULL, 2);
  TsDtype dtype = first.tensor->dtype;
  for (guint i = 0; i < list.list->n; i++) {
    TsTensor same = { .dtype = dtype, .rank = list.list->items[i].tensor->rank };
    dtype = ts_promote ((TsValue){ .kind = TS_TENSOR, .tensor = &same }, list.list->items[i]);
  }
  const guint axis = ts_axis (program, call->args[1], values[0]->rank + (stack ? 1 : 0));
  const gint64 at = axis;
  for (guint i = 0; i < n; i++) {
    values[i] = ts_cast (program, values[i], dtype);
    if (stack)
      values[i] =
        ts_onnx_pair (program, "Unsqueeze", values[i], ts_constant_ints (program, &at, 1));
  }
  const LowerAttribute attribute = ts_attr_int ("axis", axis);
  const TsValue result = ts_new (
    program, n == 1 ? values[0] : ts_onnx (program, "Concat", values, n, &attribute, 1), dtype);
  if (result.kind == TS_TENSOR && axis == 0 && !stack)
    result.tensor->valid = ts_joined_rows (program, list.list);
  return result;
}

static TsValue
pixel_shuffle (TsProgram *program, const TsCall *call)
{
  LowerValue *x = ts_read (program, call->args[0]);
  const LowerAttribute attributes[2] = {
    ts_attr_int ("blocksize", ts_to_int (program, call->args[1])), ts_attr_text ("mode", "CRD")
  };
  return x == NULL
           ? ts_none ()
           : like (program, ts_onnx (program, "DepthToSpace", &x, 1, attributes, 2), call->args[0]);
}

/* [n, c, h, w] -> [n, c * r * r, h / r, w / r], the other way round than SpaceToDepth orders it. */
static TsValue
pixel_unshuffle (TsProgram *program, const TsCall *call)
{
  static const gint64 order[6] = { 0, 1, 3, 5, 2, 4 };
  LowerValue *x = ts_read (program, call->args[0]);
  const gint64 r = ts_to_int (program, call->args[1]);
  if (x == NULL || x->rank != 4 || r < 1 || x->dims[2] % r != 0 || x->dims[3] % r != 0)
    return ts_refuse (program, SL_ERROR_SHAPE,
                      "a factor of %" G_GINT64_FORMAT " does not fit the tensor", r);
  const gint64 d[4] = { x->dims[0], x->dims[1], x->dims[2] / r, x->dims[3] / r };
  x = ts_reshaped (program, x, (const gint64[]){ d[0], d[1], d[2], r, d[3], r }, 6);
  x = ts_permuted (program, x, order, 6);
  return like (program,
               ts_reshaped (program, x, (const gint64[]){ d[0], d[1] * r * r, d[2], d[3] }, 4),
               call->args[0]);
}

static TsValue
channel_shuffle (TsProgram *program, const TsCall *call)
{
  static const gint64 order[5] = { 0, 2, 1, 3, 4 };
  LowerValue *x = ts_read (program, call->args[0]);
  const gint64 groups = ts_to_int (program, call->args[1]);
  if (x == NULL || x->rank != 4 || groups < 1 || x->dims[1] % groups != 0)
    return ts_refuse (program, SL_ERROR_SHAPE, "%" G_GINT64_FORMAT " groups do not fit the tensor",
                      groups);
  const gint64 d[4] = { x->dims[0], x->dims[1], x->dims[2], x->dims[3] };
  x = ts_reshaped (program, x, (const gint64[]){ d[0], groups, d[1] / groups, d[2], d[3] }, 5);
  return like (program, ts_reshaped (program, ts_permuted (program, x, order, 5), d, 4),
               call->args[0]);
}

static TsValue
flip (TsProgram *program, const TsCall *call)
{
  gint64 axes[SL_MAX_RANK];
  guint n = 0;
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || !ts_to_ints (program, call->args[1], axes, SL_MAX_RANK, &n))
    return ts_none ();
  for (guint i = 0; i < n && !ts_failed (program); i++) {
    const gint64 axis = ts_axis_of (program, axes[i], x->rank), first = -1, end = -G_MAXINT32;
    LowerValue *const inputs[5] = { x, ts_constant_ints (program, &first, 1),
                                    ts_constant_ints (program, &end, 1),
                                    ts_constant_ints (program, &axis, 1),
                                    ts_constant_ints (program, &first, 1) };
    x = ts_onnx (program, "Slice", inputs, 5, NULL, 0);
  }
  return like (program, x, call->args[0]);
}

/* Along each dimension the last elements come first. */
static TsValue
roll (TsProgram *program, const TsCall *call)
{
  gint64 shifts[SL_MAX_RANK], axes[SL_MAX_RANK];
  guint n = 0, n_axes = 0;
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || !ts_to_ints (program, call->args[1], shifts, SL_MAX_RANK, &n)
      || !ts_to_ints (program, call->args[2], axes, SL_MAX_RANK, &n_axes))
    return ts_none ();
  if (n == 1 && n_axes == 0 && x->rank != 1) { /* as one line of elements */
    const gint64 line = (gint64) lower_elements (x);
    const TsValue args[] = { ts_new (program, ts_reshaped (program, x, &line, 1),
                                     call->args[0].tensor->dtype),
                             call->args[1], ts_int (0) };
    const TsValue back[] = { ts_run_op (program, "aten::roll", args, NULL, 3), call->args[0] };
    return ts_run_op (program, "aten::reshape_as", back, NULL, 2);
  }
  if (n != n_axes && (n != 1 || n_axes != 0))
    return ts_refuse (program, SL_ERROR_UNSUPPORTED, "%u shifts for %u dimensions", n, n_axes);
  if (n_axes == 0)
    axes[0] = 0;
  for (guint i = 0; i < n && !ts_failed (program); i++) {
    const guint axis = ts_axis_of (program, axes[i], x->rank);
    const gint64 size = x->dims[axis], shift = size > 0 ? ((shifts[i] % size) + size) % size : 0;
    const LowerAttribute attribute = ts_attr_int ("axis", axis);
    if (shift == 0)
      continue;
    LowerValue *const halves[2] = { ts_slice_of (program, x, axis, size - shift, size, 1),
                                    ts_slice_of (program, x, axis, 0, size - shift, 1) };
    x = ts_onnx (program, "Concat", halves, 2, &attribute, 1);
  }
  return like (program, x, call->args[0]);
}

/* What changes neither values nor shape: memory formats, devices, gradients, dropout. A new box, so
 * that operations in place leave the operand alone. */
static TsValue
copy (TsProgram *program, const TsCall *call)
{
  LowerValue *x = ts_read (program, call->args[0]);
  return x == NULL ? ts_none () : like (program, x, call->args[0]);
}

static TsValue
same (TsProgram *program, const TsCall *call)
{
  (void) program;
  return call->args[0];
}

static TsValue
dropout (TsProgram *program, const TsCall *call)
{
  if (ts_truth (program, call->args[2]) && ts_to_float (program, call->args[1]) != 0)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "the model is in training; call model.eval() before it is exported");
  return copy (program, call);
}

static TsValue
convert (TsProgram *program, TsValue tensor, TsDtype dtype)
{
  LowerValue *x = ts_read (program, tensor);
  if (x == NULL)
    return ts_none ();
  if (dtype == tensor.tensor->dtype)
    return tensor;
  if ((guint) dtype >= TS_N_DTYPES || ts_is_quantized (dtype)
      || ts_is_quantized (tensor.tensor->dtype))
    return ts_refuse (program, SL_ERROR_UNSUPPORTED, "%s as %s",
                      ts_dtype_name (tensor.tensor->dtype), ts_dtype_name (dtype));
  if (dtype == TS_BOOLEAN && !x->empty && lower_dtype (&program->lower, x) != SL_DTYPE_BOOL) {
    LowerValue *zero = ts_scalar (program, ts_int (0), tensor.tensor->dtype);
    x = ts_onnx_pair (program, "Equal", x, zero);
    return ts_new (program, ts_onnx (program, "Not", &x, 1, NULL, 0), dtype);
  }
  return ts_new (program, ts_cast (program, x, dtype), dtype);
}

/* to() has its type in the first or second place, by name, or takes that of another tensor. */
static TsValue
to (TsProgram *program, const TsCall *call)
{
  const TsValue *a = call->args;
  const gboolean device = a[1].kind == TS_DEVICE || a[1].kind == TS_NONE;
  const TsValue type = a[8].kind == TS_INT             ? a[8]
                       : a[1].kind == TS_INT           ? a[1]
                       : device && a[2].kind == TS_INT ? a[2]
                                                       : ts_none ();
  if (a[0].kind != TS_TENSOR)
    return ts_refuse (program, SL_ERROR_FORMAT, "of a value of type %s", ts_kind_name (a[0].kind));
  if (a[1].kind == TS_TENSOR)
    return convert (program, a[0], a[1].tensor->dtype);
  return type.kind == TS_INT
           ? convert (program, a[0], (TsDtype) CLAMP (type.number, 0, TS_N_DTYPES))
           : a[0];
}

static TsValue
type_as (TsProgram *program, const TsCall *call)
{
  return call->args[1].kind == TS_TENSOR
           ? convert (program, call->args[0], call->args[1].tensor->dtype)
           : call->args[0];
}

const TsOp ts_ops_shape[] = {
  { "aten::reshape", "self,shape", reshape },
  { "aten::view", "self,size", reshape },
  { "aten::_unsafe_view", "self,size", reshape },
  { "aten::ravel", "self,start_dim=0,end_dim=-1", flatten },
  { "aten::_reshape_alias", "self,size,stride=None", reshape },
  { "aten::view_as", "self,other", reshape_as },
  { "aten::reshape_as", "self,other", reshape_as },
  { "aten::movedim", "self,source,destination", move_dims },
  { "aten::moveaxis", "self,source,destination", move_dims },
  { "aten::tile", "self,dims", repeat },
  { "aten::unsafe_chunk", "self,chunks,dim=0", split },
  { "aten::unsafe_split", "self,split_size,dim=0", split },
  { "aten::flatten", "self,start_dim=0,end_dim=-1", flatten },
  { "aten::unflatten", "self,dim,sizes,names=None", unflatten },
  { "aten::unsqueeze", "self,dim", unsqueeze },
  { "aten::squeeze", "self,dim=None", squeeze },
  { "aten::permute", "self,dims", permute },
  { "aten::transpose", "self,dim0,dim1", transpose },
  { "aten::swapaxes", "self,axis0,axis1", transpose },
  { "aten::t", "self,a=0,b=1", transpose },
  { "aten::numpy_T", "self,a=0,b=1", transpose },
  { "aten::mT", "self,a=-2,b=-1", transpose },
  { "aten::mH", "self,a=-2,b=-1", transpose },
  { "aten::adjoint", "self,a=-2,b=-1", transpose },
  { "aten::matrix_H", "self,a=0,b=1", transpose },
  { "aten::swapdims", "self,dim0,dim1", transpose },
  { "aten::expand", "self,size,implicit=False", expand },
  { "aten::expand_as", "self,other", expand },
  { "aten::broadcast_to", "self,size", expand },
  { "aten::repeat", "self,repeats", repeat },
  { "aten::slice", "self,dim=0,start=None,end=None,step=1", slice },
  { "aten::narrow", "self,dim,start,length", narrow },
  { "aten::select", "self,dim,index", select_one },
  { "aten::split", "self,split_size,dim=0", split },
  { "aten::split_with_sizes", "self,split_sizes,dim=0", split },
  { "aten::chunk", "self,chunks,dim=0", split },
  { "aten::unbind", "self,dim=0", unbind },
  { "aten::cat", "tensors,dim=0", join },
  { "aten::concat", "tensors,dim=0", join },
  { "aten::stack", "tensors,dim=0", join },
  { "aten::pixel_shuffle", "self,upscale_factor", pixel_shuffle },
  { "aten::pixel_unshuffle", "self,downscale_factor", pixel_unshuffle },
  { "aten::channel_shuffle", "self,groups", channel_shuffle },
  { "aten::flip", "self,dims", flip },
  { "aten::roll", "self,shifts,dims=[]", roll },
  { "aten::contiguous", "self,memory_format=None", same },
  { "aten::detach", "self", same },
  { "aten::data", "self", same },
  { "prim::data", "self", same },
  { "aten::cpu", "self", same },
  { "aten::cuda", "self", same },
  { "aten::requires_grad_", "self,requires_grad=True", same },
  { "aten::alias", "self", same },
  { "aten::clone", "self,memory_format=None", copy },
  { "aten::lift_fresh_copy", "self", copy },
  { "aten::lift_fresh", "self", same },
  { "aten::lift", "self", same },
  { "aten::positive", "self", same },
  { "aten::conj", "self", same },
  { "aten::resolve_conj", "self", same },
  { "aten::resolve_neg", "self", same },
  { "aten::dropout", "input,p,train", dropout },
  { "aten::feature_dropout", "input,p,train", dropout },
  { "aten::alpha_dropout", "input,p,train", dropout },
  { "aten::to",
    "self,a=None,b=None,c=None,d=None,e=None,f=None,g=None,dtype=None,layout=None,device=None,"
    "pin_memory=None,non_blocking=None,copy=None,memory_format=None",
    to },
  { "aten::type_as", "self,other", type_as },
  { NULL },
};
