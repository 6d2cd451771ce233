/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RECURRENT with the float loops. The input's part of all steps comes computed; a step is a product
 * of a vector with weights as they are. */
#include "core/ops/recurrent.h"

#include "core/backends/float/float_layers.h"

struct _SlFloatRecurrent
{
  SlKernelCall call;
  SlRecurrentLoops loops;
};

SlFloatRecurrent *
sl_float_recurrent_new (const SlFloatIsa *isa, SlHost *host, const SlNode *node)
{
  SlFloatRecurrent *made = sl_arena_alloc (host->arena, sizeof *made);
  made->call =
    (SlKernelCall){ .graph = host->graph,
                    .node = node,
                    .state = sl_op_get (node->op)->prepare (host->graph, node, host->arena) };
  made->loops = (SlRecurrentLoops){ isa->add_rows, isa->activate };
  return made;
}

void
sl_float_recurrent_run (SlFloatRecurrent *recurrent, const void *const *inputs,
                        void *const *outputs)
{
  SlKernelCall *call = &recurrent->call;
  for (guint i = 0; i < call->node->n_inputs; i++)
    call->inputs[i] = inputs[i];
  for (guint i = 0; i < call->node->n_outputs; i++)
    call->outputs[i] = outputs[i];
  sl_recurrent_run (call, &recurrent->loops);
}
