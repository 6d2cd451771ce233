/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SLICE and STRIDED_SLICE with constant bounds. Both come down to a start, a step and a size along
 * each dimension of the input; STRIDED_SLICE follows Python's rules for negative and open bounds,
 * ellipsis and new axes.
 */
#include <string.h>

#include "core/ops/kernels/moves.h"
#include "core/ops/ops.h"

/* Most entries of a specification: every dimension and a new axis beside each. */
#define MAX_ENTRIES (2 * SL_MAX_RANK)

typedef struct
{
  gint64 start[SL_MAX_RANK], step[SL_MAX_RANK], size[SL_MAX_RANK]; /* by dimension of the input */
  gint32 dims[SL_MAX_RANK];                                        /* of the output */
  guint rank;
} Slice;

static gboolean
slice_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 values[SL_MAX_RANK];
  guint n_begins = 0, n_sizes = 0;
  if (!sl_node_check_copy (graph, node, 0, 0, error)
      || !sl_node_constant (graph, node, 1, "begins", values, SL_MAX_RANK, &n_begins, error)
      || !sl_node_constant (graph, node, 2, "sizes", values, SL_MAX_RANK, &n_sizes, error))
    return FALSE;
  if (n_begins == input->rank && n_sizes == input->rank)
    return TRUE;
  return sl_node_error (error, node, SL_ERROR_SHAPE,
                        "%u begins and %u sizes are given; expected %u of each", n_begins, n_sizes,
                        input->rank);
}

/* Whether elements @begin to @end of dimension 0, as the file has them, are all of one item, and so
 * all of the batch. */
static gboolean
takes_batch (const SlGraph *graph, const SlTensor *input, gint64 begin, gint64 end)
{
  const gint32 n = (gint32) sl_graph_batch (graph);
  return n > 1 && input->rank > 0 && input->data == NULL && input->dims[0] % n == 0 && begin == 0
         && end == input->dims[0] / n;
}

static gboolean
slice_resolve (const SlGraph *graph, const SlNode *node, Slice *slice, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 begins[SL_MAX_RANK], sizes[SL_MAX_RANK];
  guint count = 0;
  sl_constant_ints (sl_node_input (graph, node, 1), begins, SL_MAX_RANK, &count);
  sl_constant_ints (sl_node_input (graph, node, 2), sizes, SL_MAX_RANK, &count);
  slice->rank = input->rank;
  if (takes_batch (graph, input, begins[0], begins[0] + (gint64) sizes[0]))
    sizes[0] = -1;
  for (guint i = 0; i < input->rank; i++) {
    const gint64 size = sizes[i] == -1 ? (gint64) input->dims[i] - begins[i] : sizes[i];
    if (begins[i] < 0 || size < 1 || begins[i] + size > input->dims[i])
      return sl_node_error (error, node, SL_ERROR_SHAPE,
                            "%d elements from %d are outside dimension %u of size %d", sizes[i],
                            begins[i], i, input->dims[i]);
    slice->start[i] = begins[i];
    slice->step[i] = 1;
    slice->size[i] = size;
    slice->dims[i] = (gint32) size;
  }
  return TRUE;
}

static gboolean
strided_check (SlGraph *graph, SlNode *node, GError **error)
{
  static const char *const names[] = { "begins", "ends", "strides" };
  gint32 values[MAX_ENTRIES];
  guint counts[3] = { 0 };
  if (!sl_node_check_copy (graph, node, 0, 0, error))
    return FALSE;
  for (guint i = 0; i < 3; i++)
    if (!sl_node_constant (graph, node, i + 1, names[i], values, MAX_ENTRIES, &counts[i], error))
      return FALSE;
  if (counts[0] != counts[1] || counts[0] != counts[2])
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "%u begins, %u ends and %u strides are given; expected as many of each",
                          counts[0], counts[1], counts[2]);
  for (guint i = 0; i < counts[2]; i++)
    if (values[i] == 0)
      return sl_node_error (error, node, SL_ERROR_FORMAT, "stride %u is 0", i);
  return TRUE;
}

/* One entry of the specification on a dimension of @dim elements: first element, and how many. */
static void
resolve_entry (gint64 dim, gint64 begin, gint64 end, gint64 step, gboolean open_begin,
               gboolean open_end, gboolean end_is_size, gint64 *start, gint64 *size)
{
  const gint64 lowest = step > 0 ? 0 : -1, highest = step > 0 ? dim : dim - 1;
  begin += begin < 0 ? dim : 0;
  begin = open_begin ? (step > 0 ? 0 : dim - 1) : CLAMP (begin, lowest, highest);
  if (end_is_size)
    end += begin;
  else
    end += end < 0 ? dim : 0;
  end = open_end ? (step > 0 ? dim : -1) : CLAMP (end, lowest, highest);
  const gint64 length = step > 0 ? end - begin : begin - end, stride = step > 0 ? step : -step;
  *start = begin;
  *size = length > 0 ? (length + stride - 1) / stride : 0;
}

/* @size: the next dimension of the result. */
static gboolean
add_dimension (const SlNode *node, Slice *slice, gint64 size, GError **error)
{
  if (slice->rank >= SL_MAX_RANK)
    return sl_node_error (error, node, SL_ERROR_LIMIT, "the slice has more than %d dimensions",
                          SL_MAX_RANK);
  slice->dims[slice->rank++] = (gint32) size;
  return TRUE;
}

/* @dim: below the input's rank */
static gboolean
take_whole (const SlNode *node, const SlTensor *input, Slice *slice, guint *dim, GError **error)
{
  slice->start[*dim] = 0;
  slice->step[*dim] = 1;
  slice->size[*dim] = input->dims[*dim];
  return add_dimension (node, slice, input->dims[(*dim)++], error);
}

static gboolean
strided_entry (const SlNode *node, const SlTensor *input, Slice *slice, guint *dim, guint i,
               const gint32 spec[3], GError **error)
{
  const guint32 bit = 1u << i;
  const gboolean shrink = (node->params.slice.shrink_axis_mask & bit) != 0;
  gint64 size = 0;
  if (*dim >= input->rank)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "the slice names more than the %u dimensions of the input", input->rank);
  if (shrink) {
    const gint64 at = spec[0] + (spec[0] < 0 ? (gint64) input->dims[*dim] : 0);
    if (at < 0 || at >= input->dims[*dim])
      return sl_node_error (error, node, SL_ERROR_SHAPE,
                            "element %d is outside dimension %u of size %d", spec[0], *dim,
                            input->dims[*dim]);
    slice->start[*dim] = at;
    size = 1;
  } else {
    resolve_entry (input->dims[*dim], spec[0], spec[1], spec[2],
                   (node->params.slice.begin_mask & bit) != 0,
                   (node->params.slice.end_mask & bit) != 0, node->params.slice.end_is_size,
                   &slice->start[*dim], &size);
    if (!add_dimension (node, slice, size, error))
      return FALSE;
  }
  slice->step[*dim] = spec[2];
  slice->size[(*dim)++] = size;
  return TRUE;
}

static gboolean
strided_resolve (const SlGraph *graph, const SlNode *node, Slice *slice, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 begins[MAX_ENTRIES], ends[MAX_ENTRIES], strides[MAX_ENTRIES];
  guint count = 0, dim = 0, after = 0;
  sl_constant_ints (sl_node_input (graph, node, 1), begins, MAX_ENTRIES, &count);
  sl_constant_ints (sl_node_input (graph, node, 2), ends, MAX_ENTRIES, &count);
  sl_constant_ints (sl_node_input (graph, node, 3), strides, MAX_ENTRIES, &count);
  slice->rank = 0;
  for (guint i = 0; i < count; i++) {
    gint32 spec[3] = { begins[i], ends[i], strides[i] };
    const guint32 whole =
      (node->params.slice.shrink_axis_mask | node->params.slice.new_axis_mask) & 1;
    if (i == 0 && whole == 0 && spec[2] == 1 && takes_batch (graph, input, spec[0], spec[1]))
      spec[1] = input->dims[0];
    if (node->params.slice.ellipsis_mask & (1u << i)) {
      after = 0;
      for (guint k = i + 1; k < count; k++)
        after += !(node->params.slice.new_axis_mask & (1u << k));
      while (dim + after < input->rank)
        if (!take_whole (node, input, slice, &dim, error))
          return FALSE;
    } else if (node->params.slice.new_axis_mask & (1u << i)) {
      if (!add_dimension (node, slice, 1, error))
        return FALSE;
    } else if (!strided_entry (node, input, slice, &dim, i, spec, error)) {
      return FALSE;
    }
  }
  while (dim < input->rank)
    if (!take_whole (node, input, slice, &dim, error))
      return FALSE;
  return TRUE;
}

static gboolean
resolve (const SlGraph *graph, const SlNode *node, Slice *slice, GError **error)
{
  return node->op == SL_OP_SLICE ? slice_resolve (graph, node, slice, error)
                                 : strided_resolve (graph, node, slice, error);
}

gboolean
sl_slice_axes (const SlGraph *graph, const SlNode *node, gint64 start[SL_MAX_RANK],
               gint64 step[SL_MAX_RANK], gint64 size[SL_MAX_RANK])
{
  Slice slice = { 0 };
  if ((node->op != SL_OP_SLICE && node->op != SL_OP_STRIDED_SLICE)
      || !resolve (graph, node, &slice, NULL))
    return FALSE;
  memcpy (start, slice.start, sizeof slice.start);
  memcpy (step, slice.step, sizeof slice.step);
  memcpy (size, slice.size, sizeof slice.size);
  return TRUE;
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  Slice slice = { 0 };
  return resolve (graph, node, &slice, error)
         && sl_node_set_shape (graph, node, 0, slice.rank, slice.dims, error);
}

static void *
prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  SlMoves *moves = sl_moves_new (arena, input->dtype, 1);
  SlMove *move = sl_moves_add (moves, 0, 0);
  Slice slice = { 0 };
  gssize from[SL_MAX_RANK], to[SL_MAX_RANK], step = 1, at = 0;
  resolve (graph, node, &slice, NULL);
  sl_tensor_strides (input, from);
  for (guint i = input->rank; i-- > 0;) {
    to[i] = step;
    step *= slice.size[i];
    at += slice.start[i] * from[i];
  }
  move->from_at = (gsize) at;
  for (guint i = 0; i < input->rank; i++)
    sl_move_axis (move, (gsize) slice.size[i], from[i] * slice.step[i], to[i]);
  return sl_moves_done (moves);
}

const SlOp sl_op_slice = { SL_OP_ROW (SLICE, 3, 3, 1, slice_check, infer, prepare,
                                      sl_kernel_moves) };

const SlOp sl_op_strided_slice = { SL_OP_ROW (STRIDED_SLICE, 4, 4, 1, strided_check, infer, prepare,
                                              sl_kernel_moves) };
