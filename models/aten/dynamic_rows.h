/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tensors whose number of rows depends on the picture: kept boxes, chosen indices. In the graph
 * they have the largest possible number of rows, and a boolean for each says whether it is valid;
 * the others have no meaning. Operators that work row by row keep these booleans, those that choose
 * rows change them, and those that would mix rows in other ways are refused.
 */
#pragma once

#include "models/aten/ops.h"

/** ts_pass_rows: @result of an operator on @args has the rows that count of the first argument with
 * such. */
void ts_pass_rows (TsProgram *program, const TsValue *args, guint n, TsValue result);
/** ts_choose_rows: the elements of @x that @mask, of its first dimensions, chooses. */
TsValue ts_choose_rows (TsProgram *program, TsValue x, TsValue mask);
/** ts_slice_rows: @to is rows @first to @end - 1 of @from, every @step of them. */
void ts_slice_rows (TsProgram *program, const TsTensor *from, TsTensor *to, gint64 first,
                    gint64 end, gint64 step);
/** ts_joined_rows: (nullable): the rows that count of tensors one behind the other; NULL when all
 * do. */
LowerValue *ts_joined_rows (TsProgram *program, const TsList *list);
/** ts_put_rows: @x with @rows at @places, those of them that count. */
LowerValue *ts_put_rows (TsProgram *program, LowerValue *x, TsValue places, LowerValue *rows);
/** ts_filled_rows: @x with @number in the rows that do not count. */
LowerValue *ts_filled_rows (TsProgram *program, TsValue x, gdouble number);
