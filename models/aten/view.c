/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See view.h. */
#include "models/aten/view.h"

#include <string.h>

#include "models/aten/ops.h"
#include "models/aten/shape.h"

/* Views of views: deeper ones are not written through. */
#define MAX_DEPTH 64

/** @seen: the base's value of which the view is. */
typedef struct
{
  TsView view;
  TsTensor *base;
  const LowerValue *seen;
  guint depth;
} Record;

TsValue
ts_note_view (TsProgram *program, TsValue result, TsTensor *base, const TsView *view)
{
  if (ts_failed (program) || result.kind != TS_TENSOR || result.tensor == base)
    return result;
  const Record *below = g_hash_table_lookup (program->views, base);
  Record *record = ts_alloc (program->heap, sizeof *record);
  if (record == NULL)
    return result;
  *record = (Record){
    .view = *view, .base = base, .seen = base->value, .depth = below != NULL ? below->depth + 1 : 1
  };
  if (record->depth > MAX_DEPTH) {
    record->view.kind = TS_VIEW_OTHER;
    record->depth = 1;
  }
  g_hash_table_insert (program->views, result.tensor, record);
  return result;
}

/* Behind the last element of a part. */
static gint64
end_of (const TsView *view)
{
  return view->first + MAX (view->n - 1, 0) * view->step + MIN (view->n, 1);
}

static LowerValue *
take (TsProgram *program, const TsTensor *box, const Record *record, LowerValue *base)
{
  gint64 dims[SL_MAX_RANK];
  for (guint i = 0; i < box->rank; i++)
    dims[i] = box->dims[i];
  const TsView *view = &record->view;
  if (view->kind == TS_VIEW_ORDER)
    return ts_permuted (program, base, view->order, box->rank);
  if (view->kind == TS_VIEW_PART)
    base = ts_slice_of (program, base, view->axis, view->first, end_of (view), view->step);
  return ts_reshaped (program, base, dims, box->rank);
}

void
ts_refresh (TsProgram *program, TsTensor *box)
{
  Record *record = g_hash_table_lookup (program->views, box);
  if (ts_failed (program) || record == NULL)
    return;
  if (record->view.kind != TS_VIEW_OTHER)
    ts_refresh (program, record->base);
  if (record->base->value == record->seen)
    return;
  if (record->view.kind == TS_VIEW_OTHER) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED,
               "its input shares elements with a tensor that has been changed in place");
    return;
  }
  record->seen = record->base->value;
  LowerValue *value = take (program, box, record, record->base->value);
  if (value != NULL)
    box->value = value;
}

gboolean
ts_is_whole (TsProgram *program, const TsTensor *box)
{
  const Record *record;
  while ((record = g_hash_table_lookup (program->views, box)) != NULL
         && record->view.kind == TS_VIEW_SHAPE)
    box = record->base;
  return record == NULL;
}

/* The base with @part, of as many dimensions, at every step-th place: both joined, and each place
 * taken from where it is. */
static LowerValue *
interleave (TsProgram *program, const Record *record, LowerValue *part)
{
  const TsView *view = &record->view;
  const gint32 whole = record->base->dims[view->axis];
  const LowerAttribute axis = ts_attr_int ("axis", view->axis);
  Lower *o = &program->lower;
  o->copied += (gsize) whole * sizeof (gint32);
  if (o->copied > o->may_copy) {
    ts_refuse (program, SL_ERROR_LIMIT,
               "writes through stepped slices take more memory than the file's size allows");
    return NULL;
  }
  g_autofree gint32 *places = g_new (gint32, (gsize) whole);
  for (gint32 i = 0; i < whole; i++) {
    const gint64 from = i - view->first;
    const gboolean written = from >= 0 && from % view->step == 0 && from / view->step < view->n;
    places[i] = written ? whole + (gint32) (from / view->step) : i;
  }
  LowerValue *const pieces[2] = { record->base->value, part };
  LowerValue *const inputs[2] = {
    ts_onnx (program, "Concat", pieces, 2, &axis, 1),
    lower_value_new (o, lower_constant (o, SL_DTYPE_I32, 1, &whole, places), FALSE)
  };
  return ts_failed (program) ? NULL : ts_onnx (program, "Gather", inputs, 2, &axis, 1);
}

/* The base with @part where the view is. */
static LowerValue *
put (TsProgram *program, const Record *record, LowerValue *part)
{
  const TsTensor *base = record->base;
  const TsView *view = &record->view;
  gint64 dims[SL_MAX_RANK], inverse[SL_MAX_RANK];
  LowerValue *pieces[3];
  guint n = 0;
  for (guint i = 0; i < base->rank; i++) {
    dims[i] = base->dims[i];
    if (view->kind == TS_VIEW_ORDER)
      inverse[view->order[i]] = i;
  }
  if (view->kind == TS_VIEW_ORDER)
    return ts_permuted (program, part, inverse, base->rank);
  if (view->kind == TS_VIEW_SHAPE)
    return ts_reshaped (program, part, dims, base->rank);
  const gint64 end = end_of (view), whole = dims[view->axis];
  const LowerAttribute axis = ts_attr_int ("axis", view->axis);
  dims[view->axis] = view->n;
  if (view->step > 1)
    return interleave (program, record, ts_reshaped (program, part, dims, base->rank));
  if (view->first > 0)
    pieces[n++] = ts_slice_of (program, base->value, view->axis, 0, view->first, 1);
  pieces[n++] = ts_reshaped (program, part, dims, base->rank);
  if (end < whole)
    pieces[n++] = ts_slice_of (program, base->value, view->axis, end, whole, 1);
  return n == 1 ? pieces[0] : ts_onnx (program, "Concat", pieces, n, &axis, 1);
}

void
ts_write_back (TsProgram *program, TsTensor *box)
{
  Record *record;
  while (!ts_failed (program) && (record = g_hash_table_lookup (program->views, box)) != NULL) {
    if (box->value == NULL || box->value->empty)
      return;
    if (record->view.kind == TS_VIEW_OTHER) {
      ts_refuse (
        program, SL_ERROR_UNSUPPORTED,
        "its operand shares elements with another tensor in a way that cannot be written in place");
      return;
    }
    ts_refresh (program, record->base);
    LowerValue *value = put (program, record, box->value);
    if (value == NULL)
      return;
    record->base->value = value;
    record->seen = value;
    box = record->base;
  }
}
