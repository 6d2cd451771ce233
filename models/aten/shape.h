/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shape operations for the other operators: reshape, permute, slice. Errors are sticky, and a NULL
 * operand gives NULL. */
#pragma once

#include "models/aten/program.h"

/** ts_reshaped: @dims of as many elements. */
LowerValue *ts_reshaped (TsProgram *program, LowerValue *x, const gint64 *dims, guint rank);
/** ts_permuted: dimension i of the result is dimension @order[i]. */
LowerValue *ts_permuted (TsProgram *program, LowerValue *x, const gint64 *order, guint rank);
/** ts_slice_of: every @step-th element from @first up to @end along @axis, all within the tensor.
 */
LowerValue *ts_slice_of (TsProgram *program, LowerValue *x, gint64 axis, gint64 first, gint64 end,
                         gint64 step);
