/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GRID_SAMPLE with the float loops: a sample is a few pixels, each times its factor. */
#include "core/ops/grid_sample.h"

#include "core/backends/float/float_layers.h"

struct _SlFloatSample
{
  SlKernelCall call;
  SlWeighFunc weigh;
};

gboolean
sl_float_sample_supports (const SlGraph *graph, const SlNode *node)
{
  return sl_node_input (graph, node, 0)->dtype == SL_DTYPE_F32
         && sl_node_input (graph, node, 1)->dtype == SL_DTYPE_F32
         && sl_node_output (graph, node, 0)->dtype == SL_DTYPE_F32;
}

SlFloatSample *
sl_float_sample_new (const SlFloatIsa *isa, SlHost *host, const SlNode *node)
{
  SlFloatSample *made = sl_arena_alloc (host->arena, sizeof *made);
  made->call = (SlKernelCall){ .graph = host->graph, .node = node, .pool = host->pool };
  made->weigh = isa->weigh;
  return made;
}

void
sl_float_sample_run (const SlFloatSample *sample, const void *const *inputs, void *output)
{
  SlKernelCall call = sample->call;
  for (guint i = 0; i < call.node->n_inputs; i++)
    call.inputs[i] = inputs[i];
  call.outputs[0] = output;
  sl_grid_sample_run (&call, sample->weigh);
}
