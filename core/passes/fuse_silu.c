/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A float tensor times its own LOGISTIC, which nobody else reads, is SILU of it. */
#include "core/passes/passes.h"

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *mul)
{
  if (mul->op != SL_OP_MUL || mul->params.binary.activation != SL_ACTIVATION_NONE || sl_node_output (graph, mul, 0)->dtype != SL_DTYPE_F32)
    return 0;
  for (guint i = 0; i < 2; i++) {
    SlNode *gate = sl_pass_producer (index, graph, mul->inputs[i]);
    if (gate == NULL || gate->op != SL_OP_LOGISTIC || gate->inputs[0] != mul->inputs[1 - i] || index->consumers[gate->outputs[0]] != 1)
      continue;
    index->consumers[gate->inputs[0]]--;
    mul->op = SL_OP_SILU;
    mul->inputs = gate->inputs;
    mul->n_inputs = 1;
    gate->op = SL_OP_INVALID;
    return 1;
  }
  return 0;
}

const SlPass sl_pass_fuse_silu = { "fuse_silu", .step = step };
