/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MEAN, SUM, REDUCE_MAX, REDUCE_MIN and REDUCE_PROD over constant axes. The maximum of booleans is
 * whether any is true, the minimum whether all are. */
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

/* Most averages of one node: the kernel keeps 8 bytes for each. */
#define MAX_SUMS (1 << 26)

#define TYPES (SL_DTYPES_ACTIVATION | SL_DTYPE_BIT (SL_DTYPE_I16) | SL_DTYPES_INDEX)

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  gint32 axes[SL_MAX_RANK];
  guint count = 0;
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  const gboolean picks = node->op == SL_OP_REDUCE_MAX || node->op == SL_OP_REDUCE_MIN;
  if (!sl_node_check_dtype (node, "input", input,
                            TYPES | (picks ? SL_DTYPE_BIT (SL_DTYPE_BOOL) : 0), error)
      || !sl_node_check_same_dtype (node, input, output, error)
      || !sl_node_check_quant (node, "input", input, error)
      || !sl_node_check_quant (node, "output", output, error))
    return FALSE;
  if (!sl_constant_ints (sl_node_input (graph, node, 1), axes, SL_MAX_RANK, &count))
    return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                          "the axes must be a constant of at most %d int32 or int64", SL_MAX_RANK);
  for (guint i = 0; i < count; i++)
    if (axes[i] < -(gint32) input->rank || axes[i] >= (gint32) input->rank)
      return sl_node_error (error, node, SL_ERROR_FORMAT,
                            "axis %d is outside a tensor of %u dimensions", axes[i], input->rank);
  return TRUE;
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 axes[SL_MAX_RANK], dims[SL_MAX_RANK];
  guint count = 0, rank = 0, reduced = 0;
  gdouble sums = 1;
  sl_constant_ints (sl_node_input (graph, node, 1), axes, SL_MAX_RANK, &count);
  for (guint i = 0; i < count; i++)
    reduced |= 1u << (axes[i] < 0 ? axes[i] + (gint32) input->rank : axes[i]);
  for (guint i = 0; i < input->rank; i++) {
    if (!(reduced & (1u << i))) {
      dims[rank++] = input->dims[i];
      sums *= input->dims[i];
    } else if (node->params.reduce.keep_dims) {
      dims[rank++] = 1;
    }
  }
  if (sums > MAX_SUMS)
    return sl_node_error (error, node, SL_ERROR_LIMIT, "%.0f averages are over the limit of %d",
                          sums, MAX_SUMS);
  return sl_node_set_shape (graph, node, 0, rank, dims, error);
}

#define REDUCE(symbol, op)                                                              \
  const SlOp symbol = { SL_OP_ROW (op, 2, 2, 1, check, infer, sl_kernel_reduce_prepare, \
                                   sl_kernel_reduce) }

REDUCE (sl_op_mean, MEAN);
REDUCE (sl_op_sum, SUM);
REDUCE (sl_op_reduce_max, REDUCE_MAX);
REDUCE (sl_op_reduce_min, REDUCE_MIN);
REDUCE (sl_op_reduce_prod, REDUCE_PROD);
