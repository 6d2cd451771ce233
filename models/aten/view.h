/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Views: tensors that share elements with another, their base. Values of the graph never change, so
 * an in-place write through a view creates a new value of its base, and a view whose base has
 * changed is created again when it is read.
 */
#pragma once

#include "models/aten/program.h"

typedef enum
{
  TS_VIEW_SHAPE, /* the same elements in another shape */
  TS_VIEW_ORDER, /* dimensions in another order */
  TS_VIEW_PART,  /* elements along one dimension; dropped = that dimension is gone */
  TS_VIEW_OTHER  /* what cannot be written through */
} TsViewKind;

/** @order: dimension i of the view is dimension order[i] of the base. @n elements from @first on
 * along @axis, every @step-th. */
typedef struct
{
  TsViewKind kind;
  gint64 order[SL_MAX_RANK];
  guint axis;
  gint64 first, n, step;
  gboolean dropped;
} TsView;

/** ts_note_view: @result, a new box, is that view of @base; gives @result. */
TsValue ts_note_view (TsProgram *program, TsValue result, TsTensor *base, const TsView *view);
/** ts_refresh: before @box is read: makes it anew where its base has changed. */
void ts_refresh (TsProgram *program, TsTensor *box);
/** ts_is_whole: whether the elements of @box, in its order, are all those of a tensor that is no
 * view. */
gboolean ts_is_whole (TsProgram *program, const TsTensor *box);
/** ts_write_back: after @box was written: gives its base the elements. */
void ts_write_back (TsProgram *program, TsTensor *box);
