/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every operator by the plain kernel of its row in core/ops: for what no other backend takes, and
 * the reference that they are tested against. */
#include "core/backends/backend.h"
#include "core/backends/plain/widened.h"
#include "core/ops/ops.h"

typedef struct
{
  SlWidened *widened; /* (nullable): instead of what follows */
  SlKernelCall call;
  void (*run) (const SlKernelCall *call);
} Kernel;

static gboolean
supports (const SlGraph *graph, const SlNode *node)
{
  return TRUE;
}

static gpointer
prepare (SlHost *host, const SlStep *step, gpointer threads, GError **error)
{
  const SlNode *node = sl_graph_node (host->graph, g_array_index (step->nodes, guint, 0));
  const SlOp *op = sl_op_get (node->op);
  Kernel *kernel = sl_arena_alloc (host->arena, sizeof *kernel);
  if (sl_widened_needed (host->graph, node)) {
    kernel->widened = sl_widened_new (host, node);
    return kernel;
  }
  kernel->run = op->run;
  kernel->call.graph = host->graph;
  kernel->call.node = node;
  kernel->call.pool = host->pool;
  if (op->prepare != NULL)
    kernel->call.state = op->prepare (host->graph, node, host->arena);
  return kernel;
}

static gboolean
run (gpointer prepared, void *const *memory)
{
  Kernel *kernel = prepared;
  if (kernel->widened != NULL) {
    sl_widened_run (kernel->widened, memory);
    return TRUE;
  }
  SlKernelCall *call = &kernel->call;
  const guint n_inputs = call->node->n_inputs;
  for (guint i = 0; i < n_inputs; i++)
    call->inputs[i] = memory[i];
  for (guint i = 0; i < call->node->n_outputs; i++)
    call->outputs[i] = memory[n_inputs + i];
  kernel->run (call);
  return TRUE;
}

static void
free_kernel (gpointer prepared)
{
  sl_widened_free (((Kernel *) prepared)->widened);
}

const SlBackend sl_backend_plain = {
  .name = "plain",
  .title = "plain kernels",
  .failure = "a plain kernel failed while running the model",
  .uses_pool = TRUE,
  .supports = supports,
  .prepare = prepare,
  .run = run,
  .free = free_kernel,
};
