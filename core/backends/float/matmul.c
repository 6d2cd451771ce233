/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Products of matrices, as attention has them. One may be a constant, such as embeddings of
 * classes, that no layer has for weights, because it comes first or has several matrices. A work
 * item packs some columns of the second matrix into its thread's scratch memory, where the tiles of
 * a layer read them, and multiplies rows of the first by them.
 */
#include <math.h>
#include <string.h>

#include "core/backends/float/float_layers.h"
#include "core/ops/ops.h"

/* Deeper products would need much scratch memory; shorter ones are not worth packing for. */
#define MAX_DEPTH 4096
#define MIN_ROWS 2
/* Work items for each thread, so that all end at about the same time. */
#define ITEMS_A_THREAD 4

struct _SlFloatMatmul
{
  const SlFloatIsa *isa;
  const SlTensor *a, *b, *output;
  gint32 rows, columns, depth, panels, registers, parts, part_rows;
  gboolean by_column; /* the second matrix is given column by column */
  guint items, cost_us;
  const gfloat *zeros; /* a bias for a panel */
  const SlScratch *scratch;
};

typedef struct
{
  const SlFloatMatmul *matmul;
  const gfloat *a, *b;
  gfloat *y;
} Run;

gboolean
sl_float_matmul_supports (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *a = sl_node_input (graph, node, 0), *b = sl_node_input (graph, node, 1),
                 *y = sl_node_output (graph, node, 0);
  return a->dtype == SL_DTYPE_F32 && b->dtype == SL_DTYPE_F32 && !node->params.matmul.transpose_a
         && a->dims[a->rank - 1] <= MAX_DEPTH && y->dims[y->rank - 2] >= MIN_ROWS;
}

SlFloatMatmul *
sl_float_matmul_new (const SlFloatIsa *isa, SlHost *host, const SlNode *node)
{
  SlFloatMatmul *m = sl_arena_alloc (host->arena, sizeof *m);
  const gsize width = (gsize) (isa->lanes * isa->max_groups);
  gsize elements = 0;
  m->isa = isa;
  m->a = sl_node_input (host->graph, node, 0);
  m->b = sl_node_input (host->graph, node, 1);
  m->output = sl_node_output (host->graph, node, 0);
  m->by_column = node->params.matmul.transpose_b;
  m->rows = m->output->dims[m->output->rank - 2];
  m->columns = m->output->dims[m->output->rank - 1];
  m->depth = m->a->dims[m->a->rank - 1];
  m->registers = (m->columns + isa->lanes - 1) / isa->lanes;
  m->panels = (m->registers + isa->max_groups - 1) / isa->max_groups;
  sl_tensor_elements (m->output, &elements);
  const guint whole = (guint) (elements / (gsize) m->rows / (gsize) m->columns) * (guint) m->panels;
  const guint wanted = host->threads > 1 ? (ITEMS_A_THREAD * host->threads + whole - 1) / whole : 1;
  m->part_rows = MAX ((m->rows + (gint32) wanted - 1) / (gint32) wanted, isa->max_rows);
  m->parts = (m->rows + m->part_rows - 1) / m->part_rows;
  m->items = whole * (guint) m->parts;
  m->cost_us = (guint) MIN ((gdouble) elements * m->depth / (isa->lanes * 3e3), 1e6);
  gfloat *zeros = sl_tensor_alloc (host->arena, width * sizeof zeros[0]);
  memset (zeros, 0, width * sizeof zeros[0]);
  m->zeros = zeros;
  m->scratch = &host->scratch;
  const gsize bytes = (gsize) m->depth * width * sizeof (gfloat) + SL_TENSOR_PADDING;
  sl_host_need_scratch (host, bytes);
  return m;
}

/* Columns from @first on, @panel's width of them, 0 behind the last. */
static void
pack_columns (const SlFloatMatmul *m, const SlFloatPanel *panel, const gfloat *b, gint32 first,
              gfloat *to)
{
  const gsize width = (gsize) (panel->groups * m->isa->lanes), depth = (gsize) m->depth,
              n = (gsize) panel->channels;
  if (n < width)
    memset (to, 0, depth * width * sizeof to[0]);
  if (!m->by_column) {
    for (gsize k = 0; k < depth; k++)
      memcpy (to + k * width, b + k * (gsize) m->columns + (gsize) first, n * sizeof to[0]);
    return;
  }
  b += (gsize) first * depth;
  for (gsize j = 0; j < n; j++)
    for (gsize k = 0; k < depth; k++)
      to[k * width + j] = b[j * depth + k];
}

static void
run_item (const void *data, guint item, guint thread)
{
  const Run *run = data;
  const SlFloatMatmul *m = run->matmul;
  const SlFloatIsa *isa = m->isa;
  const gint32 part = (gint32) (item % (guint) m->parts),
               p = (gint32) (item / (guint) m->parts % (guint) m->panels);
  const gsize matrix = item / (guint) m->parts / (guint) m->panels,
              area = (gsize) m->rows * (gsize) m->columns;
  const gint32 begin = (gint32) ((gint64) m->registers * p / m->panels), first = begin * isa->lanes;
  const gint32 end = (gint32) ((gint64) m->registers * (p + 1) / m->panels);
  gfloat *packed = (gfloat *) (gpointer) (m->scratch->memory + m->scratch->bytes * thread);
  const SlFloatPanel panel = { packed, 0, MIN (end * isa->lanes, m->columns) - first, end - begin,
                               0 };
  const SlFloatGemm gemm = { &panel, m->zeros, NULL, -INFINITY, INFINITY, 0 };
  const gfloat *a =
    run->a + sl_matmul_operand (m->a, m->output, matrix) * (gsize) m->rows * (gsize) m->depth;
  pack_columns (
    m, &panel,
    run->b + sl_matmul_operand (m->b, m->output, matrix) * (gsize) m->depth * (gsize) m->columns,
    first, packed);
  const gint32 last = MIN ((part + 1) * m->part_rows, m->rows);
  for (gint32 row = part * m->part_rows; row < last; row += isa->max_rows) {
    const gfloat *runs[SL_FLOAT_MAX_ROWS];
    const SlFloatRows rows = { runs, 1, m->depth, MIN (isa->max_rows, last - row) };
    for (gint32 r = 0; r < rows.rows; r++)
      runs[r] = a + (gsize) (row + r) * (gsize) m->depth;
    isa->gemm (&gemm, 0, 1, &rows,
               run->y + matrix * area + (gsize) row * (gsize) m->columns + (gsize) first,
               (gsize) m->columns);
  }
}

void
sl_float_matmul_run (const SlFloatMatmul *m, SlPool *pool, const void *const *inputs, void *output)
{
  const Run run = { m, inputs[0], inputs[1], output };
  sl_pool_run (pool, run_item, &run, m->items, m->cost_us);
}
