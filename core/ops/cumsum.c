/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CUMSUM: sums of all elements up to each one along a constant axis. "exclusive" leaves the element
 * itself out, "reverse" sums from the end. Floats are summed in the order of the axis, as
 * TensorFlow Lite does; integers wrap.
 */
#include <string.h>

#include "core/ops/kernels/parallel.h"
#include "core/ops/ops.h"

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 axis = 0;
  return sl_node_check_dtype (node, "input", input, SL_DTYPE_BIT (SL_DTYPE_F32) | SL_DTYPES_INDEX,
                              error)
         && sl_node_check_same_dtype (node, input, sl_node_output (graph, node, 0), error)
         && sl_node_constant_axis (graph, node, 1, &axis, input->rank, error);
}

/* The tensor is @blocks times @rows times @inner numbers; sums run over the rows. */
typedef struct
{
  gsize blocks, rows, inner;
} Shape;

static Shape
shape_of (const SlKernelCall *call)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0);
  Shape shape = { 1, 1, 1 };
  gint32 axis = 0;
  guint count = 0;
  sl_constant_ints (sl_node_input (call->graph, call->node, 1), &axis, 1, &count);
  axis += axis < 0 ? (gint32) input->rank : 0;
  for (gint32 i = 0; i < (gint32) input->rank; i++)
    *(i < axis ? &shape.blocks : i == axis ? &shape.rows : &shape.inner) *= (gsize) input->dims[i];
  return shape;
}

/* @to = @a + @b, @n numbers. */
static void
add_rows (SlDtype dtype, void *to, const void *a, const void *b, gsize n)
{
  if (dtype == SL_DTYPE_F32)
    for (gsize i = 0; i < n; i++)
      ((gfloat *) to)[i] = ((const gfloat *) a)[i] + ((const gfloat *) b)[i];
  else if (dtype == SL_DTYPE_I32)
    for (gsize i = 0; i < n; i++)
      ((guint32 *) to)[i] = ((const guint32 *) a)[i] + ((const guint32 *) b)[i];
  else
    for (gsize i = 0; i < n; i++)
      ((guint64 *) to)[i] = ((const guint64 *) a)[i] + ((const guint64 *) b)[i];
}

static void
some_blocks (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const SlTensor *input = sl_node_input (call->graph, call->node, 0);
  const gboolean exclusive = call->node->params.cumsum.exclusive,
                 reverse = call->node->params.cumsum.reverse;
  const Shape shape = shape_of (call);
  const gsize rows = shape.rows, row = shape.inner * sl_dtype_size (input->dtype);
  for (gsize block = first; block < first + n; block++) {
    const guint8 *in = (const guint8 *) call->inputs[0] + block * rows * row;
    guint8 *out = (guint8 *) call->outputs[0] + block * rows * row;
    for (gsize i = 0; i < rows; i++) {
      const gsize at = reverse ? rows - 1 - i : i, before = reverse ? at + 1 : at - 1;
      if (i > 0)
        add_rows (input->dtype, out + at * row, out + before * row,
                  in + (exclusive ? before : at) * row, shape.inner);
      else if (exclusive)
        memset (out + at * row, 0, row);
      else
        memcpy (out + at * row, in + at * row, row);
    }
  }
}

static void
run (const SlKernelCall *call)
{
  sl_parallel (call, shape_of (call).blocks, 1, some_blocks, (void *) call);
}

const SlOp sl_op_cumsum = { SL_OP_ROW (CUMSUM, 2, 2, 1, check, sl_node_same_shape_infer, NULL,
                                       run) };
