/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* XNNPACK as a backend: runs of neighbouring nodes in one runtime each, on threads of XNNPACK's own
 * kind. */
#include "core/backends/xnnpack/xnn.h"

/* A row of a block that the plain kernel moves in a few loads and stores. */
#define SHORT_ROW 64
/* Floats of a pixel that are blended in a register. */
#define SHORT_PIXEL 8

/* Largest floats of windows are found faster by the plain kernel, whose windows share what they
 * have in common. It moves short rows of blocks faster. It blends floats faster, on all threads of
 * the session, unless a pixel has some, but fills no register. */
static gboolean
faster (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  if (node->op == SL_OP_DEPTH_TO_SPACE) {
    const SlTensor *output = sl_node_output (graph, node, 0);
    return (gsize) node->params.block.size * (gsize) output->dims[3] * sl_dtype_size (output->dtype)
           >= SHORT_ROW;
  }
  if (node->op == SL_OP_RESIZE_BILINEAR && input->dtype == SL_DTYPE_F32)
    return input->dims[3] > 1 && input->dims[3] < SHORT_PIXEL;
  return node->op != SL_OP_MAX_POOL_2D || input->dtype != SL_DTYPE_F32;
}

static gpointer
start_threads (const SlHost *host, GError **error)
{
  return sl_backends_heavy (host, &sl_backend_xnnpack) ? sl_xnn_threads_new (host->threads, error)
                                                       : NULL;
}

const SlBackend sl_backend_xnnpack = {
  .name = "xnnpack",
  .title = "XNNPACK",
  .failure = "XNNPACK failed while running the model",
  .joins_nodes = TRUE,
  .packs_weights = TRUE,
  .may_refuse = TRUE,
  .open = sl_xnn_init,
  .supports = sl_xnn_supports,
  .faster = faster,
  .start_threads = start_threads,
  .rest_threads = sl_xnn_threads_rest,
  .stop_threads = sl_xnn_threads_free,
  .prepare = sl_xnn_runtime_new,
  .run = sl_xnn_runtime_run,
  .free = sl_xnn_runtime_free,
};
