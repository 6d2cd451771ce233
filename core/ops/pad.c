/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PAD: zeros (the zero point for 8-bit types) around a tensor; amounts are a constant [rank, 2]. */
#include "core/kernels/kernels.h"
#include "core/ops/ops.h"

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  gint32 amounts[2 * SL_MAX_RANK];
  guint count = 0;
  if (!sl_node_check_activations (graph, node, 1, error))
    return FALSE;
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  if (!sl_constant_ints (sl_node_input (graph, node, 1), amounts, 2 * SL_MAX_RANK, &count) || count != 2 * input->rank)
    return sl_node_error (error, node, SL_ERROR_UNSUPPORTED, "the amounts must be a constant of %u int32 or int64", 2 * input->rank);
  for (guint i = 0; i < count; i++)
    if (amounts[i] < 0 || amounts[i] > G_MAXINT16)
      return sl_node_error (error, node, SL_ERROR_FORMAT, "amount %d is outside 0..%d", amounts[i], G_MAXINT16);
  if (sl_tensor_scale (input) != sl_tensor_scale (output) || sl_tensor_zero_point (input) != sl_tensor_zero_point (output))
    return sl_node_error (error, node, SL_ERROR_UNSUPPORTED, "input and output are quantised differently; padding keeps codes");
  return TRUE;
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 amounts[2 * SL_MAX_RANK], dims[SL_MAX_RANK];
  guint count = 0;
  sl_constant_ints (sl_node_input (graph, node, 1), amounts, 2 * SL_MAX_RANK, &count);
  for (guint i = 0; i < input->rank; i++) {
    if (input->dims[i] > G_MAXINT32 - 2 * G_MAXINT16)
      return sl_node_error (error, node, SL_ERROR_LIMIT, "dimension %u overflows", i);
    dims[i] = input->dims[i] + amounts[2 * i] + amounts[2 * i + 1];
  }
  return sl_node_set_shape (graph, node, 0, input->rank, dims, error);
}

const SlOp sl_op_pad = {
  .type = SL_OP_PAD,
  .name = "PAD",
  .min_inputs = 2,
  .max_inputs = 2,
  .required = 2,
  .n_outputs = 1,
  .check = check,
  .infer = infer,
  .run = sl_kernel_pad,
};
