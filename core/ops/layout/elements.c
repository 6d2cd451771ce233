/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GATHER_ELEMENTS, SCATTER_ELEMENTS and SCATTER_ND: int32 indices, which count from the end when
 * negative. Constant ones are checked when the graph is. Computed ones outside the tensor are
 * limited to it where elements are read; where they are written, such an element is left out. Where
 * negative ones are open rows, 0 is read for them, and they are not checked.
 */
#include <string.h>

#include "core/ops/kernels/moves.h"
#include "core/ops/kernels/parallel.h"
#include "core/ops/ops.h"

#define COMBINED (SL_DTYPE_BIT (SL_DTYPE_F32) | SL_DTYPE_BIT (SL_DTYPE_I32))

/* @n coordinates follow each other in the indices, for dimensions @first.. of the data. */
static gboolean
check_constant (const SlNode *node, const SlTensor *data, const SlTensor *indices, guint first,
                guint n, GError **error)
{
  const gint32 *index = indices->data;
  gsize count = 0;
  if (index == NULL || node->params.elements.open || !sl_tensor_elements (indices, &count))
    return TRUE;
  for (gsize i = 0; i < count; i++) {
    const gint32 dim = data->dims[first + i % n];
    if (index[i] < -dim || index[i] >= dim)
      return sl_node_error (error, node, SL_ERROR_FORMAT, "index %d is outside %d..%d", index[i],
                            -dim, dim - 1);
  }
  return TRUE;
}

static gboolean
check_combined (const SlGraph *graph, const SlNode *node, GError **error)
{
  return sl_node_check_copy (graph, node, 2, 0, error)
         && (node->params.elements.scatter == SL_SCATTER_REPLACE
             || sl_node_check_dtype (node, "data", sl_node_input (graph, node, 0), COMBINED,
                                     error));
}

static gboolean
elements_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *data = sl_node_input (graph, node, 0), *indices = sl_node_input (graph, node, 1);
  gint32 *axis = &node->params.elements.axis;
  if (!sl_node_check_copy (graph, node, 0, 0, error)
      || !sl_node_check_dtype (node, "indices", indices, SL_DTYPE_BIT (SL_DTYPE_I32), error)
      || !sl_node_axis (node, axis, data->rank, error))
    return FALSE;
  gboolean fits = indices->rank == data->rank;
  for (guint i = 0; fits && i < data->rank; i++)
    fits = i == (guint) *axis || indices->dims[i] <= data->dims[i];
  if (!fits) {
    g_autofree char *a = sl_tensor_describe (data), *b = sl_tensor_describe (indices);
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "indices %s do not lie in %s along dimension %d", b, a, *axis);
  }
  if (!check_constant (node, data, indices, (guint) *axis, 1, error))
    return FALSE;
  if (node->op == SL_OP_GATHER_ELEMENTS)
    return TRUE;
  if (sl_tensor_same_shape (indices, sl_node_input (graph, node, 2)))
    return check_combined (graph, node, error);
  g_autofree char *a = sl_tensor_describe (indices),
                  *b = sl_tensor_describe (sl_node_input (graph, node, 2));
  return sl_node_error (error, node, SL_ERROR_SHAPE,
                        "indices %s and updates %s; expected one shape", a, b);
}

static gboolean
gather_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *indices = sl_node_input (graph, node, 1);
  return sl_node_set_shape (graph, node, 0, indices->rank, indices->dims, error);
}

static gboolean
nd_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *data = sl_node_input (graph, node, 0), *indices = sl_node_input (graph, node, 1),
                 *updates = sl_node_input (graph, node, 2);
  if (!sl_node_check_copy (graph, node, 0, 0, error)
      || !sl_node_check_dtype (node, "indices", indices, SL_DTYPE_BIT (SL_DTYPE_I32), error))
    return FALSE;
  const guint n = indices->rank > 0 ? (guint) indices->dims[indices->rank - 1] : 0;
  gboolean fits = n >= 1 && n <= data->rank && updates->rank == indices->rank - 1 + data->rank - n;
  for (guint i = 0; fits && i < updates->rank; i++)
    fits = updates->dims[i]
           == (i + 1 < indices->rank ? indices->dims[i] : data->dims[i + 1 - indices->rank + n]);
  if (fits)
    return check_constant (node, data, indices, 0, n, error) && check_combined (graph, node, error);
  g_autofree char *a = sl_tensor_describe (data), *b = sl_tensor_describe (indices),
                  *c = sl_tensor_describe (updates);
  return sl_node_error (
    error, node, SL_ERROR_SHAPE,
    "indices %s and updates %s do not fit %s; expected coordinates in the last dimension, and a "
    "slice for each",
    b, c, a);
}

/** Rows of the indices, along their last dimension. */
typedef struct
{
  const SlTensor *data, *indices;
  gssize strides[SL_MAX_RANK];
  guint axis, last;
  gsize size, columns;
} Rows;

static gsize
rows_init (Rows *r, const SlKernelCall *call)
{
  r->data = sl_node_input (call->graph, call->node, 0);
  r->indices = sl_node_input (call->graph, call->node, 1);
  r->axis = (guint) call->node->params.elements.axis;
  r->last = r->indices->rank - 1;
  r->size = sl_dtype_size (r->data->dtype);
  r->columns = (gsize) r->indices->dims[r->last];
  sl_tensor_strides (r->data, r->strides);
  return sl_tensor_count (r->indices) / r->columns;
}

/* @index within @dim; -1 for an open row. */
static gint64
place_of (const SlKernelCall *call, gint64 index, gint64 dim)
{
  if (index >= 0)
    return index;
  return call->node->params.elements.open ? -1 : index + dim;
}

/* Where the data has what row @row begins with, index 0 along the axis. */
static gsize
row_place (const Rows *r, gsize row)
{
  gsize at = 0;
  for (guint k = r->last; k-- > 0; row /= (gsize) r->indices->dims[k])
    at += k == r->axis ? 0 : row % (gsize) r->indices->dims[k] * (gsize) r->strides[k];
  return at;
}

static gsize
step_of (const Rows *r)
{
  return r->axis == r->last ? 0 : 1;
}

static void
gather_rows (void *context, gsize first, gsize n)
{
  const SlKernelCall *call = context;
  Rows r;
  rows_init (&r, call);
  const gint64 dim = r.data->dims[r.axis];
  const gsize stride = (gsize) r.strides[r.axis], step = step_of (&r);
  for (gsize row = first; row < first + n; row++) {
    const gsize base = row_place (&r, row);
    const gint32 *index = (const gint32 *) call->inputs[1] + row * r.columns;
    guint8 *to = (guint8 *) call->outputs[0] + row * r.columns * r.size;
    for (gsize i = 0; i < r.columns; i++) {
      const gint64 at = place_of (call, index[i], dim);
      const guint8 *from = (const guint8 *) call->inputs[0]
                           + (base + i * step + (gsize) CLAMP (at, 0, dim - 1) * stride) * r.size;
      if (at < 0 && call->node->params.elements.open)
        memset (to + i * r.size, r.size == 1 ? sl_tensor_zero_point (r.data) : 0, r.size);
      else
        memcpy (to + i * r.size, from, r.size);
    }
  }
}

static void
gather_run (const SlKernelCall *call)
{
  Rows r;
  const gsize rows = rows_init (&r, call);
  sl_parallel (call, rows, MAX (4096 / r.columns, 1), gather_rows, (void *) call);
}

static void
combine_floats (SlScatter scatter, gfloat *to, const gfloat *from, gsize n)
{
  for (gsize i = 0; i < n; i++)
    to[i] = scatter == SL_SCATTER_ADD   ? to[i] + from[i]
            : scatter == SL_SCATTER_MUL ? to[i] * from[i]
            : scatter == SL_SCATTER_MAX ? MAX (to[i], from[i])
                                        : MIN (to[i], from[i]);
}

/* Sums and products wrap. */
static void
combine_ints (SlScatter scatter, gint32 *to, const gint32 *from, gsize n)
{
  for (gsize i = 0; i < n; i++)
    to[i] = scatter == SL_SCATTER_ADD   ? (gint32) ((guint32) to[i] + (guint32) from[i])
            : scatter == SL_SCATTER_MUL ? (gint32) ((guint32) to[i] * (guint32) from[i])
            : scatter == SL_SCATTER_MAX ? MAX (to[i], from[i])
                                        : MIN (to[i], from[i]);
}

/* Brings element @from of the updates, and @n - 1 behind it, to element @to of the output. */
static void
combine (const SlKernelCall *call, gsize to, gsize from, gsize n)
{
  const SlTensor *data = sl_node_input (call->graph, call->node, 0);
  const SlScatter scatter = call->node->params.elements.scatter;
  const gsize size = sl_dtype_size (data->dtype);
  guint8 *out = (guint8 *) call->outputs[0] + to * size;
  const guint8 *in = (const guint8 *) call->inputs[2] + from * size;
  if (scatter == SL_SCATTER_REPLACE)
    memcpy (out, in, n * size);
  else if (data->dtype == SL_DTYPE_F32)
    combine_floats (scatter, (gfloat *) out, (const gfloat *) in, n);
  else
    combine_ints (scatter, (gint32 *) out, (const gint32 *) in, n);
}

/* In order: where a place comes twice, what comes last stays. */
static void
scatter_run (const SlKernelCall *call)
{
  Rows r;
  const gsize rows = rows_init (&r, call), stride = (gsize) r.strides[r.axis], step = step_of (&r);
  const gint64 dim = r.data->dims[r.axis];
  memcpy (call->outputs[0], call->inputs[0], r.data->bytes);
  for (gsize row = 0; row < rows; row++) {
    const gsize base = row_place (&r, row);
    for (gsize i = row * r.columns; i < (row + 1) * r.columns; i++) {
      const gint64 at = place_of (call, ((const gint32 *) call->inputs[1])[i], dim);
      if (at >= 0 && at < dim)
        combine (call, base + (i - row * r.columns) * step + (gsize) at * stride, i, 1);
    }
  }
}

static void
nd_run (const SlKernelCall *call)
{
  const SlTensor *data = sl_node_input (call->graph, call->node, 0),
                 *indices = sl_node_input (call->graph, call->node, 1);
  const guint n = (guint) indices->dims[indices->rank - 1];
  const gint32 *index = call->inputs[1];
  const gsize count = sl_tensor_count (indices), run = sl_tensor_span (data, n, data->rank);
  memcpy (call->outputs[0], call->inputs[0], data->bytes);
  for (gsize i = 0; i < count / n; i++) {
    gboolean inside = TRUE;
    gsize place = 0;
    for (guint k = 0; k < n; k++) {
      const gint64 dim = data->dims[k], at = place_of (call, index[i * n + k], dim);
      inside &= at >= 0 && at < dim;
      place = place * (gsize) dim + (gsize) CLAMP (at, 0, dim - 1);
    }
    if (inside)
      combine (call, place * run, i * run, run);
  }
}

const SlOp sl_op_gather_elements = { SL_OP_ROW (GATHER_ELEMENTS, 2, 2, 1, elements_check,
                                                gather_infer, NULL, gather_run) };

const SlOp sl_op_scatter_elements = { SL_OP_ROW (SCATTER_ELEMENTS, 3, 3, 1, elements_check,
                                                 sl_node_same_shape_infer, NULL, scatter_run) };

const SlOp sl_op_scatter_nd = { SL_OP_ROW (SCATTER_ND, 3, 3, 1, nd_check, sl_node_same_shape_infer,
                                           NULL, nd_run) };
