/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/ops/kernels/kernels.h"
/*
 * NON_ZERO: the coordinates of elements other than 0, in order. The output has a row for each
 * dimension of the input and a column for each of its elements. The number of elements other than 0
 * is known only at run time; the remaining columns are -1.
 */
#include "core/ops/ops.h"

#define TYPES \
  (SL_DTYPE_BIT (SL_DTYPE_BOOL) | SL_DTYPE_BIT (SL_DTYPE_F32) | SL_DTYPE_BIT (SL_DTYPE_I32))

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  if (!sl_node_check_dtype (node, "input", input, TYPES, error)
      || !sl_node_check_outputs (graph, node, SL_DTYPE_BIT (SL_DTYPE_I32), error))
    return FALSE;
  return input->rank > 0
         || sl_node_error (error, node, SL_ERROR_SHAPE,
                           "the input is a scalar; expected at least 1 dimension");
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gsize elements = 0;
  if (!sl_tensor_elements (input, &elements) || elements > G_MAXINT32)
    return sl_node_error (error, node, SL_ERROR_LIMIT, "the input has more than %d elements",
                          G_MAXINT32);
  return sl_node_set_shape (graph, node, 0, 2,
                            (const gint32[]){ (gint32) input->rank, (gint32) elements }, error);
}

static gboolean
is_set (const SlTensor *tensor, const void *data, gsize i)
{
  switch (tensor->dtype) {
    case SL_DTYPE_BOOL:
      return ((const guint8 *) data)[i] != 0;
    case SL_DTYPE_F32:
      return ((const gfloat *) data)[i] != 0;
    default:
      return ((const gint32 *) data)[i] != 0;
  }
}

static void
run (const SlKernelCall *call)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0);
  const gsize n = (gsize) sl_node_output (call->graph, call->node, 0)->dims[1];
  gint32 *out = call->outputs[0];
  gsize found = 0;
  for (gsize i = 0; i < n; i++) {
    if (!is_set (input, call->inputs[0], i))
      continue;
    gsize rest = i;
    for (guint k = input->rank; k-- > 0; rest /= (gsize) input->dims[k])
      out[k * n + found] = (gint32) (rest % (gsize) input->dims[k]);
    found++;
  }
  for (guint k = 0; k < input->rank; k++)
    for (gsize i = found; i < n; i++)
      out[k * n + i] = -1;
}

const SlOp sl_op_non_zero = { SL_OP_ROW (NON_ZERO, 1, 1, 1, check, infer, NULL, run) };
