/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fully connected layers of floats with weights of 8 bits: each row of activations is rounded to 8
 * bits by its own range, all rows first, and the sums of products become floats by the scales of
 * row and channel. No copy of the weights is of floats.
 */
#include "core/backends/int8/layer.h"
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

/* Deeper sums could leave 32 bits. */
#define MAX_DEPTH (G_MAXINT32 / (255 * 255))
/* Rows of a work item of the rounding, and activations that it takes a thread a microsecond. */
#define ROUNDED_ROWS SL_INT8_MOST_ROWS
#define ROUNDED 8e3

/** A layer, this run's memory, and the rounded rows. */
typedef struct
{
  const SlInt8Layer *layer;
  const gfloat *x;
  gfloat *y;
  guint8 *codes;
  SlInt8Row *rows;
} Run;

gboolean
sl_int8_is_dynamic (const SlNode *node)
{
  return node->op == SL_OP_FULLY_CONNECTED && node->params.fully_connected.dynamic;
}

gboolean
sl_int8_dynamic_supports (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *weights = sl_node_input (graph, node, 1), *bias = sl_node_input (graph, node, 2);
  return sl_node_input (graph, node, 0)->dtype == SL_DTYPE_F32 && weights->dims[1] <= MAX_DEPTH
         && (bias == NULL || bias->dtype == SL_DTYPE_F32)
         && !sl_activation_is_curve (sl_node_fused_activation (node));
}

static gsize
row_bytes (const SlInt8Layer *layer)
{
  return layer->row_bytes * (layer->isa->int16 ? 2 : 1);
}

static gsize
codes_bytes (const SlInt8Layer *layer)
{
  const gsize bytes = (gsize) layer->rows * row_bytes (layer) + SL_TENSOR_PADDING;
  return (bytes + SL_TENSOR_ALIGN - 1) / SL_TENSOR_ALIGN * SL_TENSOR_ALIGN;
}

/* The scratch of all threads together holds the rows. */
void
sl_int8_dynamic_init (SlInt8Layer *layer, SlHost *host, const SlNode *node)
{
  SlClamp clamp;
  const gsize threads = MAX (host->threads, 1);
  sl_clamp_for (&clamp, sl_node_fused_activation (node), sl_node_output (host->graph, node, 0));
  layer->gemm.lo = clamp.lo_f;
  layer->gemm.hi = clamp.hi_f;
  layer->scratch_bytes =
    (codes_bytes (layer) + (gsize) layer->rows * sizeof (SlInt8Row) + threads - 1) / threads;
}

static void
round_rows (const void *data, guint item, guint thread)
{
  const Run *run = data;
  const SlInt8Layer *layer = run->layer;
  const gsize depth = (gsize) layer->depth, first = (gsize) item * ROUNDED_ROWS,
              end = MIN (first + ROUNDED_ROWS, (gsize) layer->rows);
  const gfloat *rows[ROUNDED_ROWS];
  for (gsize r = first; r < end; r++)
    rows[r - first] = run->x + r * depth;
  layer->isa->round (rows, depth, (gint32) (end - first), layer->whole,
                     run->codes + first * row_bytes (layer), row_bytes (layer), &run->rows[first]);
}

static void
multiply (const void *data, guint item, guint thread)
{
  const Run *run = data;
  const SlInt8Layer *layer = run->layer;
  const gint32 tiles = (layer->rows + layer->tile_rows - 1) / layer->tile_rows;
  const gint32 first = (gint32) item % tiles * layer->tile_rows,
               panel = (gint32) item / tiles * layer->chunk_panels;
  layer->isa->gemm_floats (&layer->gemm, panel, MIN (panel + layer->chunk_panels, layer->n_panels),
                           run->codes + (gsize) first * row_bytes (layer), row_bytes (layer),
                           MIN (layer->tile_rows, layer->rows - first), run->rows + first,
                           run->y + (gsize) first * (gsize) layer->channels,
                           (gsize) layer->channels);
}

void
sl_int8_dynamic_run (const SlInt8Layer *layer, SlPool *pool, const gfloat *x, gfloat *y)
{
  guint8 *codes = layer->scratch->memory;
  const Run run = { layer, x, y, codes, (SlInt8Row *) (gpointer) (codes + codes_bytes (layer)) };
  const gint32 tiles = (layer->rows + layer->tile_rows - 1) / layer->tile_rows,
               chunks = (layer->n_panels + layer->chunk_panels - 1) / layer->chunk_panels;
  const guint items = (guint) ((layer->rows + ROUNDED_ROWS - 1) / ROUNDED_ROWS);
  sl_pool_run (pool, round_rows, &run, items,
               (guint) MIN ((gdouble) layer->rows * layer->depth / ROUNDED, 1e6));
  sl_pool_run (pool, multiply, &run, (guint) (tiles * chunks), layer->cost_us);
}
