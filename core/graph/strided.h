/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Views of tensors (internal to core): where the elements of a tensor lie in the memory of another
 * one, of which it is made by operators that only move elements. Each dimension is a product of
 * factors with a step each, so that RESHAPE of TRANSPOSE is a view, too.
 */
#pragma once

#include "core/graph/tensor.h"

#define SL_MAX_FACTORS 16

/** SlFactor: @size indices, @step elements from one to the next; 0 where all are the same. */
typedef struct
{
  gint32 size;
  gint64 step;
} SlFactor;

/**
 * SlStrided:
 * @offset: of the first element
 * @dims: of the view, @rank of them
 * @ends: by dimension: the factor behind its last one
 * @factors: all dimensions' from the outermost on, none of size 1
 */
typedef struct
{
  gint64 offset;
  guint rank;
  gint32 dims[SL_MAX_RANK];
  guint ends[SL_MAX_RANK];
  SlFactor factors[SL_MAX_FACTORS];
} SlStrided;

/** sl_strided_whole: all of a tensor of @dims, in its order. FALSE where a dimension is 0. */
gboolean sl_strided_whole (SlStrided *view, guint rank, const gint32 *dims);
/** sl_strided_reshape: the same elements in their order as @dims; FALSE where a dimension would
 * begin or end within a factor that cannot be divided there. */
gboolean sl_strided_reshape (SlStrided *view, guint rank, const gint32 *dims);
/** sl_strided_transpose: dimension @order[i] becomes dimension i; FALSE where @order is none. */
gboolean sl_strided_transpose (SlStrided *view, guint rank, const gint32 *order);
/** sl_strided_cut: of @dim, which has at most one factor, @size indices from @start on, @step from
 * one to the next. */
gboolean sl_strided_cut (SlStrided *view, guint dim, gint64 start, gint64 step, gint32 size);
/** sl_strided_broadcast: to @dims by NumPy's rules. */
gboolean sl_strided_broadcast (SlStrided *view, guint rank, const gint32 *dims);
/** sl_strided_at: how far index @i of @dim is from the first one. */
gint64 sl_strided_at (const SlStrided *view, guint dim, gsize i);
/** sl_strided_step: the step of @dim if it is one for all its indices; FALSE where it is not. */
gboolean sl_strided_step (const SlStrided *view, guint dim, gint64 *step);
