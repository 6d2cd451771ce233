/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ADD, SUB and MUL with NumPy broadcasting and a fused activation. */
#include "core/kernels/kernels.h"
#include "core/ops/ops.h"

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  return sl_node_check_activations (graph, node, 2, error);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *a = sl_node_input (graph, node, 0), *b = sl_node_input (graph, node, 1);
  const guint rank = MAX (a->rank, b->rank);
  gint32 dims[SL_MAX_RANK];
  for (guint i = 0; i < rank; i++) {
    const gint32 da = i + a->rank >= rank ? a->dims[i + a->rank - rank] : 1;
    const gint32 db = i + b->rank >= rank ? b->dims[i + b->rank - rank] : 1;
    if (da != db && da != 1 && db != 1) {
      g_autofree char *text_a = sl_tensor_describe (a), *text_b = sl_tensor_describe (b);
      return sl_node_error (error, node, SL_ERROR_SHAPE, "%s and %s do not broadcast", text_a, text_b);
    }
    dims[i] = MAX (da, db);
  }
  return sl_node_set_shape (graph, node, 0, rank, dims, error);
}

const SlOp sl_op_add = {
  .type = SL_OP_ADD,
  .name = "ADD",
  .min_inputs = 2,
  .max_inputs = 2,
  .required = 2,
  .n_outputs = 1,
  .check = check,
  .infer = infer,
  .run = sl_kernel_add,
};

const SlOp sl_op_sub = {
  .type = SL_OP_SUB,
  .name = "SUB",
  .min_inputs = 2,
  .max_inputs = 2,
  .required = 2,
  .n_outputs = 1,
  .check = check,
  .infer = infer,
  .run = sl_kernel_sub,
};

const SlOp sl_op_mul = {
  .type = SL_OP_MUL,
  .name = "MUL",
  .min_inputs = 2,
  .max_inputs = 2,
  .required = 2,
  .n_outputs = 1,
  .check = check,
  .infer = infer,
  .run = sl_kernel_mul,
};
