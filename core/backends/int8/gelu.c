/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/backends/int8/gelu.h"

#include "core/backends/int8/layer.h"

/* Floats of a work item, and those that a thread computes in a microsecond. */
#define PIECE 16384
#define COMPUTED_IN_US 6000

typedef struct
{
  const SlInt8Isa *isa;
  const gfloat *x;
  gfloat *y;
  gsize n;
} Run;

gboolean
sl_int8_gelu_supports (const SlInt8Isa *isa, const SlGraph *graph, const SlNode *node)
{
  return isa->gelu != NULL && node->op == SL_OP_GELU && node->params.gelu.rounded
         && !node->params.gelu.approximate && sl_node_input (graph, node, 0)->dtype == SL_DTYPE_F32
         && sl_node_output (graph, node, 0)->dtype == SL_DTYPE_F32;
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
