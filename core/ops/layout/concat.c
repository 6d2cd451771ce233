/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CONCATENATION along one axis; 8-bit inputs of another scale are requantised to the output's. */
#include <string.h>

#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

/* 8-bit: quantised per tensor, or, like the output, not at all. */
static gboolean
check_quantised (const SlGraph *graph, const SlNode *node, const SlTensor *input, GError **error)
{
  const SlTensor *output = sl_node_output (graph, node, 0);
  if (input->quant.count == 0 && output->quant.count == 0)
    return TRUE;
  return sl_node_check_quant (node, "input", input, error)
         && sl_node_check_quant (node, "output", output, error);
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *first = sl_node_input (graph, node, 0);
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlTensor *input = sl_node_input (graph, node, i);
    if (input == NULL)
      return sl_node_error (error, node, SL_ERROR_FORMAT, "input %u is missing", i);
    if (sl_dtype_size (input->dtype) != 1 || input->dtype == SL_DTYPE_BOOL) {
      if (!sl_node_check_copy (graph, node, i, 0, error))
        return FALSE;
    } else if (!sl_node_check_same_dtype (node, input, sl_node_output (graph, node, 0), error)
               || !check_quantised (graph, node, input, error)) {
      return FALSE;
    }
  }
  return sl_node_axis (node, &node->params.concat.axis, first->rank, error);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *first = sl_node_input (graph, node, 0);
  const guint axis = (guint) node->params.concat.axis;
  gint32 dims[SL_MAX_RANK];
  memcpy (dims, first->dims, sizeof dims);
  for (guint i = 1; i < node->n_inputs; i++) {
    const SlTensor *input = sl_node_input (graph, node, i);
    for (guint k = 0; k < MAX (first->rank, input->rank); k++) {
      if (input->rank == first->rank && (k == axis || input->dims[k] == first->dims[k]))
        continue;
      g_autofree char *text_a = sl_tensor_describe (first), *text_b = sl_tensor_describe (input);
      return sl_node_error (error, node, SL_ERROR_SHAPE,
                            "input %u is %s; expected %s but for dimension %u", i, text_b, text_a,
                            axis);
    }
    if (dims[axis] > G_MAXINT32 - input->dims[axis])
      return sl_node_error (error, node, SL_ERROR_LIMIT, "dimension %u overflows", axis);
    dims[axis] += input->dims[axis];
  }
  return sl_node_set_shape (graph, node, 0, first->rank, dims, error);
}

const SlOp sl_op_concatenation = { SL_OP_ROW (CONCATENATION, 1, SL_MAX_OPERANDS, 1, check, infer,
                                              sl_kernel_concatenation_prepare,
                                              sl_kernel_concatenation) };
