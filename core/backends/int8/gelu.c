/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/backends/int8/gelu.h"

#include "core/backends/int8/layer.h"
#include "core/ops/ops.h"

/* Floats of a work item, and those that a thread computes in a microsecond. */
#define PIECE 16384
#define COMPUTED_IN_US 6000
/* Nodes behind GELU of which one is such a layer: others need no look at the whole graph. */
#define NEAR 4

typedef struct
{
  const SlInt8Isa *isa;
  const gfloat *x;
  gfloat *y;
  gsize n;
} Run;

static gboolean
reads (const SlNode *node, gint32 tensor)
{
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] == tensor)
      return TRUE;
  return FALSE;
}

static gboolean
rounds (const SlNode *node, gint32 tensor)
{
  return sl_int8_is_dynamic (node) && !node->params.fully_connected.whole
         && node->inputs[0] == tensor;
}

static gboolean
is_near_layer (const SlGraph *graph, guint at, gint32 tensor)
{
  for (guint i = at + 1; i < MIN (sl_graph_n_nodes (graph), at + 1 + NEAR); i++)
    if (rounds (sl_graph_node (graph, i), tensor))
      return TRUE;
  return FALSE;
}

gboolean
sl_int8_gelu_supports (const SlInt8Isa *isa, const SlGraph *graph, const SlNode *node)
{
  if (isa->gelu == NULL || node->op != SL_OP_GELU || node->params.gelu.approximate
      || sl_node_input (graph, node, 0)->dtype != SL_DTYPE_F32
      || sl_node_output (graph, node, 0)->dtype != SL_DTYPE_F32
      || !is_near_layer (graph, (guint) (node - sl_graph_node (graph, 0)), node->outputs[0]))
    return FALSE;
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    if (sl_graph_output (graph, i) == node->outputs[0])
      return FALSE;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++)
    if (reads (sl_graph_node (graph, i), node->outputs[0])
        && !rounds (sl_graph_node (graph, i), node->outputs[0]))
      return FALSE;
  return TRUE;
}

static void
run_piece (const void *data, guint item, guint thread)
{
  const Run *run = data;
  const gsize at = (gsize) item * PIECE;
  run->isa->gelu (run->x + at, run->y + at, MIN (run->n - at, PIECE));
}

void
sl_int8_gelu_run (const SlInt8Isa *isa, SlPool *pool, const gfloat *x, gfloat *y, gsize n)
{
  const Run run = { isa, x, y, n };
  sl_pool_run (pool, run_piece, &run, (guint) ((n + PIECE - 1) / PIECE),
               (guint) MIN (n / COMPUTED_IN_US, G_MAXINT));
}
