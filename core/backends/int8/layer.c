/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which nodes the int8 kernels take, how their activations reach the inner loops, and into what
 * pieces their work is cut. Nodes whose sums could leave the range in which conversion is exact are
 * refused, so the loops need not check.
 */
#include <string.h>

#include "core/backends/int8/layer.h"
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

/* Narrower outputs leave tiles of a banded layer half empty. */
#define MIN_BAND 24
/* Most bytes copied for a piece of work, and of a gathered window; larger ones are left to other
 * modes, or to XNNPACK. */
#define MAX_COPY (1 << 24)
#define MAX_WINDOW (1 << 20)
/* Fewer rows than this share weights of int16 too seldom: reading them takes longest, and XNNPACK
 * reads half as many bytes. */
#define MIN_INT16_ROWS 17
/* Rows that tiles of every instruction set divide evenly. */
#define TILE 12
/* With weights that are zero here and there a step takes as long as this many of a tile's, more
 * where turned rows take more than half of the first cache; turning four activations, or results,
 * of a row takes as long as this many; and the end of a channel's weights, which no processor
 * foresees, as long as this many for each tile. */
#define SPARSE_STEP 1.3
#define SPARSE_FAR_STEP 2.3
#define SPARSE_NEAR 16384
#define SPARSE_TURN 1.2
#define SPARSE_END 12
/* Most activations of a row: a tile of them stays in the second cache. */
#define SPARSE_DEPTH 4096
/* With loops that load several steps at once an odd one takes as long as this many, the start of a
 * run as this many; and in cycles of a row, the start of its copy. */
#define ODD_STEP 1.5
#define RUN_STEPS 0.5
#define COPY_START 8
/* Most blocks after which channels of a flat layer repeat. */
#define MAX_FLAT_BLOCKS 16

static gboolean
is_depthwise (const SlGraph *graph, const SlNode *node)
{
  return node->op == SL_OP_DEPTHWISE_CONV_2D && sl_node_input (graph, node, 0)->dims[3] > 1;
}

/* Sums must fit 32 bits and scaled sums 30, for any input; XNNPACK's range of scales besides. */
static gboolean
sum_fits (gint64 most, gint32 bias, gfloat scale)
{
  most += ABS ((gint64) bias);
  return most <= G_MAXINT32 && scale >= 0x1p-32f && scale < 0x1p+8f
         && (gdouble) most * (gdouble) scale <= 0x1p+30;
}

/* The largest weights decide, and only if they are too large for comfort the real ones. */
static gboolean
sums_fit (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *tensor = sl_node_input (graph, node, 1);
  const gint32 channels = tensor->dims[node->op == SL_OP_DEPTHWISE_CONV_2D ? 3 : 0];
  gboolean fits = TRUE;
  for (gint32 c = 0; fits && c < channels; c++)
    fits = sum_fits (255 * 255 * (gint64) (tensor->bytes / (gsize) channels),
                     sl_int8_bias_of (graph, node, c), sl_node_sum_scale (graph, node, 0, c));
  if (fits)
    return TRUE;
  SlInt8Weights w;
  sl_int8_weights_init (&w, NULL, graph, node, 1, 1);
  fits = TRUE;
  for (gint32 c = 0; fits && c < channels; c++) {
    gint64 most = 0;
    sl_int8_weights_read (&w, c, 1);
    for (gint32 k = 0; k < w.depth; k++)
      most += 255 * ABS ((gint32) w.values[k]);
    fits = sum_fits (most, sl_int8_bias_of (graph, node, c), sl_node_sum_scale (graph, node, 0, c));
  }
  sl_int8_weights_clear (&w);
  return fits;
}

gboolean
sl_int8_supports (const SlGraph *graph, const SlNode *node)
{
  if (node->op == SL_OP_ADD)
    return sl_int8_add_supports (graph, node);
  if (node->op != SL_OP_CONV_2D && node->op != SL_OP_DEPTHWISE_CONV_2D
      && node->op != SL_OP_FULLY_CONNECTED)
    return FALSE;
  if (sl_int8_is_dynamic (node))
    return sl_int8_dynamic_supports (graph, node);
  const SlTensor *x = sl_node_input (graph, node, 0), *w = sl_node_input (graph, node, 1);
  if (x->dtype != SL_DTYPE_U8 && x->dtype != SL_DTYPE_I8)
    return FALSE;
  if (node->op == SL_OP_CONV_2D && w->dims[3] != x->dims[3])
    return FALSE;
  if (is_depthwise (graph, node)
      && (node->params.window.depth_multiplier != 1 || w->dims[1] * w->dims[2] > SL_INT8_MAX_TAPS))
    return FALSE;
  if (node->op != SL_OP_FULLY_CONNECTED
      && w->bytes / (gsize) w->dims[node->op == SL_OP_CONV_2D ? 0 : 3] > MAX_WINDOW)
    return FALSE;
  return sums_fit (graph, node);
}

gboolean
sl_int8_faster (const SlInt8Isa *isa, const SlGraph *graph, const SlNode *node)
{
  const SlTensor *y = sl_node_output (graph, node, 0);
  const gboolean multiplies = node->op == SL_OP_FULLY_CONNECTED || node->op == SL_OP_CONV_2D;
  if (sl_int8_is_dynamic (node)) /* no other backend multiplies them in 8 bits */
    return TRUE;
  if (node->op != SL_OP_ADD && sl_node_bias_rest (node) != NULL) /* which XNNPACK leaves out */
    return TRUE;
  if (multiplies && sl_node_by_reciprocal (node)) /* the other backends would round otherwise */
    return TRUE;
  if (isa->int16 && multiplies && y->bytes < MIN_INT16_ROWS * (gsize) y->dims[y->rank - 1])
    return FALSE;
  return sl_node_input (graph, node, 0)->dtype == SL_DTYPE_U8 ? isa->faster_u8 : isa->faster_i8;
}

/* From what AVX-512 loops take; a slower instruction set gains more from threads than this says. */
static guint
cost_of (const SlInt8Layer *layer)
{
  const gint32 lanes = layer->mode == SL_INT8_DW_FLAT   ? 1
                       : layer->mode >= SL_INT8_DW_TAPS ? layer->isa->dw_lanes
                                                        : layer->isa->lanes;
  const gdouble outputs =
    (gdouble) layer->rows * (gdouble) ((layer->channels + lanes - 1) / lanes * lanes);
  const gdouble us = layer->mode >= SL_INT8_DW_TAPS
                       ? outputs * layer->depth / 45e3
                       : outputs * layer->depth / 200e3 + outputs / 20e3;
  return (guint) MIN (us, 1e6);
}

static void
set_output (SlInt8Layer *layer, const SlGraph *graph, const SlNode *node)
{
  SlClamp clamp;
  const SlTensor *output = sl_node_output (graph, node, 0);
  const gint32 shift = output->dtype == SL_DTYPE_I8 ? 128 : 0;
  sl_clamp_for (&clamp, sl_node_fused_activation (node), output);
  layer->gemm.output = layer->dw.output = layer->sparse.output = (SlInt8Output){
    .zero_point = (gint16) (sl_tensor_zero_point (output) + shift),
    .lo = (guint8) (clamp.lo + shift),
    .hi = (guint8) (clamp.hi + shift),
    .flip = shift != 0 ? 0x80 : 0,
  };
}

static void
set_window (SlInt8Layer *layer, const SlGraph *graph, const SlNode *node)
{
  const SlTensor *w = sl_node_input (graph, node, 1), *y = sl_node_output (graph, node, 0);
  const gsize elements = sl_tensor_count (y);
  layer->channels = y->dims[y->rank - 1];
  layer->rows = (gint32) (elements / (gsize) layer->channels);
  layer->depth = (gint32) (w->bytes / (gsize) layer->channels);
  if (node->op == SL_OP_FULLY_CONNECTED)
    return;
  layer->images = sl_node_input (graph, node, 0)->dims[0];
  layer->window = sl_window_shape (graph, node);
}

/* Quantised values of an input row with the padding that its windows read, and some that copies may
 * write. */
static gint64
line_of (const SlWindowShape *w)
{
  return (((gint64) w->out_w - 1) * w->stride_w + w->filter_w + 1) * w->channels
         + 2 * SL_TENSOR_PADDING;
}

static SlInt8Mode
depthwise_mode (const SlInt8Layer *layer)
{
  const SlWindowShape *w = &layer->window;
  const gint32 lanes = layer->isa->dw_lanes;
  if (w->filter_h != 3 || w->filter_w != 3 || w->dilation_h != 1 || w->dilation_w != 1
      || w->stride_h != w->stride_w || w->stride_h > 2)
    return SL_INT8_DW_TAPS;
  gint32 blocks = 1;
  while (w->channels < lanes && blocks * lanes % w->channels != 0)
    blocks++;
  if (layer->isa->depthwise_flat != NULL && w->channels < lanes && blocks <= MAX_FLAT_BLOCKS
      && w->out_w * w->channels >= lanes && line_of (w) <= MAX_COPY)
    return SL_INT8_DW_FLAT;
  return layer->isa->depthwise_rows != NULL && (gint64) w->w * w->channels <= MAX_COPY
           ? SL_INT8_DW_ROWS
           : SL_INT8_DW_TAPS;
}

/* Steps of @n activations that follow each other: some take longer than those of whole registers.
 */
static gdouble
steps_of (gint32 n, gint32 loaded)
{
  return n / loaded * SL_INT8_QUAD + ODD_STEP * ((n % loaded + SL_INT8_QUAD - 1) / SL_INT8_QUAD);
}

/* Whether rows of windows are so short that a copy of each window is read faster, where the loops
 * load several steps at once. */
static gboolean
gathers (const SlInt8Layer *layer)
{
  const gint32 loaded = layer->isa->loaded, run = layer->window.filter_w * layer->window.channels,
               width = layer->isa->max_groups * layer->isa->lanes;
  if (loaded == 0)
    return FALSE;
  const gdouble saved =
    layer->window.filter_h * (steps_of (run, loaded) + RUN_STEPS) - steps_of (layer->depth, loaded);
  const gdouble copied = layer->window.filter_h * (2.0 * ((run + 15) / 16) + COPY_START);
  return saved * ((layer->channels + width - 1) / width) > copied;
}

static SlInt8Mode
mode_of (const SlInt8Layer *layer, const SlGraph *graph, const SlNode *node)
{
  const SlWindowShape *w = &layer->window;
  if (node->op == SL_OP_ADD)
    return SL_INT8_ADD;
  if (sl_int8_is_dynamic (node))
    return SL_INT8_DYNAMIC;
  if (is_depthwise (graph, node))
    return depthwise_mode (layer);
  if (node->op == SL_OP_FULLY_CONNECTED || sl_window_is_pixel (w))
    return SL_INT8_DIRECT;
  return w->dilation_w == 1 && w->out_w >= MIN_BAND && w->filter_h * line_of (w) <= MAX_COPY
             && !gathers (layer)
           ? SL_INT8_BANDED
           : SL_INT8_GATHERED;
}

/* The instruction set's loops of bytes where they can be faster. Whole numbers need all eight bits
 * of rounded rows. */
static const SlInt8Isa *
bytes_of (const SlInt8Layer *layer)
{
  return layer->mode < SL_INT8_ADD && !layer->whole ? layer->isa->bytes : NULL;
}

/* Whether rows are flipped before they are multiplied: a copy, which pays where one is made anyway,
 * and where it serves many channels but is not deep. Some instruction sets want it of all rows. */
static gboolean
flips_rows (const SlInt8Layer *layer)
{
  const gboolean by_rows = layer->mode == SL_INT8_DIRECT || layer->mode == SL_INT8_GATHERED;
  const gint32 shallow = layer->isa->shallow;
  const gboolean pays = layer->mode == SL_INT8_BANDED
                        || (by_rows && layer->depth <= shallow
                            && (layer->channels > layer->isa->lanes || shallow == G_MAXINT32));
  return layer->flip != 0 && pays;
}

/* Work items: rows that stay in the first-level cache with their copies, and weights that stay in
 * the second-level one while rows pass. With threads there are enough items to share them evenly.
 * They divide rows or channels, the more numerous, so that little is read twice. */
static void
set_tiles (SlInt8Layer *layer, guint threads, gsize element)
{
  const gboolean copies =
    layer->mode == SL_INT8_GATHERED || layer->isa->int16 || flips_rows (layer);
  const gint32 width = layer->isa->max_groups * layer->isa->lanes;
  const gsize panel_bytes = (gsize) layer->depth * (gsize) width * element;
  const gint32 pieces = threads > 1 ? CLAMP ((gint32) cost_of (layer), 1, 4 * (gint32) threads) : 1;
  layer->n_panels = (layer->channels + width - 1) / width;
  layer->row_bytes =
    ((gsize) layer->depth + SL_INT8_MAX_UNIT - 1) / SL_INT8_MAX_UNIT * SL_INT8_MAX_UNIT;
  gint32 rows =
    copies ? (gint32) CLAMP (24576 / (layer->row_bytes * element) / TILE, 1, 8) * TILE : 8 * TILE;
  gint32 panels = (gint32) CLAMP (262144 / panel_bytes, 1, (gsize) layer->n_panels);
  if (layer->channels <= layer->rows)
    rows = CLAMP (layer->rows / pieces / TILE * TILE, TILE, rows);
  if (layer->mode == SL_INT8_BANDED)
    rows = layer->window.out_w;
  while (panels > 1 && (layer->rows + rows - 1) / rows * (layer->n_panels / panels) < pieces)
    panels = (panels + 1) / 2;
  layer->tile_rows = rows;
  layer->chunk_panels = panels;
}

/* Whether going through the fours of weights that are not zero is less work than going through all.
 */
static gboolean
is_sparse (const SlInt8Layer *layer, const SlGraph *graph, const SlNode *node)
{
  if (layer->mode != SL_INT8_DIRECT || layer->isa->sparse == NULL
      || layer->depth % SL_INT8_QUAD != 0 || layer->depth > SPARSE_DEPTH)
    return FALSE;
  const gint32 lanes = layer->isa->lanes, tile = layer->isa->sparse_rows;
  const gdouble rows = (layer->rows + tile - 1) / tile * tile,
                fours = (gdouble) layer->depth / SL_INT8_QUAD;
  const gdouble step =
    (gsize) layer->depth * (gsize) tile <= SPARSE_NEAR ? SPARSE_STEP : SPARSE_FAR_STEP;
  const gdouble all = (gdouble) layer->rows * ((layer->channels + lanes - 1) / lanes) * fours
                      / (gdouble) MAX (layer->isa->gain, 1);
  const gdouble least = SPARSE_TURN * rows * (fours + (gdouble) layer->channels / SL_INT8_QUAD)
                        + SPARSE_END * rows / tile * layer->channels;
  return least < all
         && least + sl_int8_density (graph, node) * rows / lanes * layer->channels * fours * step
              < all;
}

/* Tiles of rows, and where threads outnumber them, of channels. */
static void
set_sparse_tiles (SlInt8Layer *layer, guint threads)
{
  const gint32 tiles = (layer->rows + layer->isa->sparse_rows - 1) / layer->isa->sparse_rows;
  const gint32 pieces = tiles < 2 * (gint32) threads ? (gint32) threads : 1;
  layer->tile_rows = layer->isa->sparse_rows;
  layer->n_panels = layer->channels;
  layer->chunk_panels =
    ((layer->channels + pieces - 1) / pieces + SL_INT8_QUAD - 1) / SL_INT8_QUAD * SL_INT8_QUAD;
  layer->scratch_bytes = (gsize) layer->depth * (gsize) layer->isa->sparse_rows;
}

static void
set_depthwise (SlInt8Layer *layer, SlArena *arena)
{
  const SlWindowShape *w = &layer->window;
  const gint32 pixels = layer->mode == SL_INT8_DW_ROWS ? w->w : 1;
  layer->dw.channels = w->channels;
  layer->dw.pad = layer->zero_byte;
  while (layer->mode == SL_INT8_DW_FLAT && layer->dw.channels % layer->isa->dw_lanes != 0)
    layer->dw.channels += w->channels;
  layer->pad = sl_tensor_alloc (arena, (gsize) (pixels * w->channels));
  memset (layer->pad, layer->zero_byte, (gsize) (pixels * w->channels) + SL_TENSOR_PADDING);
}

static void
set_scratch (SlInt8Layer *layer, gsize element)
{
  gsize elements = 0;
  if (layer->mode == SL_INT8_BANDED)
    elements = (gsize) (layer->window.filter_h + 1) * (gsize) layer->line;
  else if (layer->mode == SL_INT8_GATHERED || (layer->mode == SL_INT8_DIRECT && layer->isa->int16)
           || flips_rows (layer))
    elements = (gsize) (layer->tile_rows + 1) * layer->row_bytes;
  else if (layer->mode == SL_INT8_DW_FLAT)
    elements = 4 * (gsize) layer->line;
  if (elements > 0)
    layer->scratch_bytes = elements * element + SL_TENSOR_PADDING;
}

/** What the weight cache holds: the layer's fields that point into it. */
typedef struct
{
  SlInt8Gemm gemm;
  SlInt8Sparse sparse;
  SlInt8Depthwise dw;
} Packed;

typedef struct
{
  SlInt8Layer *layer;
  const SlHost *host;
  const SlNode *node;
} Packing;

static void *
pack (SlArena *arena, gpointer data)
{
  const Packing *packing = data;
  const SlHost *host = packing->host;
  if (!sl_int8_pack (packing->layer, host->graph, packing->node, host->pool, arena))
    return NULL;
  const Packed packed = { packing->layer->gemm, packing->layer->sparse, packing->layer->dw };
  return sl_arena_memdup (arena, &packed, sizeof packed);
}

/* What depends on the instruction set, of a layer whose window and mode are set. */
static void
set_isa (SlInt8Layer *layer, const SlInt8Isa *isa, const SlHost *host, const SlNode *node)
{
  const SlGraph *graph = host->graph;
  const SlTensor *input = sl_node_input (graph, node, 0);
  const gsize element = isa->int16 ? 2 : 1;
  layer->isa = isa;
  layer->scratch_bytes = 0;
  layer->is_signed = input->dtype == SL_DTYPE_I8
                     || (sl_int8_is_dynamic (node) && isa->signed_values && !isa->either);
  layer->flip = ((isa->int16 || isa->either) && !is_depthwise (graph, node))
                    || isa->signed_values == layer->is_signed
                  ? 0
                  : 0x80;
  if (layer->mode == SL_INT8_ADD)
    return;
  if (is_sparse (layer, graph, node))
    layer->mode = SL_INT8_SPARSE;
  if (layer->mode >= SL_INT8_DW_TAPS)
    set_depthwise (layer, host->arena);
  else if (layer->mode == SL_INT8_SPARSE)
    set_sparse_tiles (layer, host->threads);
  else
    set_tiles (layer, host->threads, element);
  layer->gemm.flip = flips_rows (layer) ? 0 : layer->flip;
  layer->gemm.is_signed = layer->is_signed;
  layer->cost_us = cost_of (layer);
  set_scratch (layer, element);
}

/* FALSE if this instruction set is not the fastest for the weights. */
static gboolean
set_weights (SlInt8Layer *layer, const SlHost *host, const SlNode *node)
{
  const Packed *packed = sl_weight_cache_get (host->weights, node, layer->isa, pack,
                                              &(Packing){ layer, host, node }, NULL);
  if (packed == NULL)
    return FALSE;
  layer->gemm = packed->gemm;
  layer->sparse = packed->sparse;
  layer->dw = packed->dw;
  return TRUE;
}

SlInt8Layer *
sl_int8_layer_new (const SlInt8Isa *isa, SlHost *host, const SlNode *node)
{
  const SlGraph *graph = host->graph;
  SlInt8Layer *layer = sl_arena_alloc (host->arena, sizeof *layer);
  layer->whole = sl_int8_is_dynamic (node) && node->params.fully_connected.whole;
  layer->isa = isa;
  layer->scratch = &host->scratch;
  layer->zero_byte =
    sl_int8_is_dynamic (node) ? 0 : (guint8) sl_tensor_zero_point (sl_node_input (graph, node, 0));
  if (node->op != SL_OP_ADD)
    set_window (layer, graph, node);
  if (!sl_int8_is_dynamic (node))
    set_output (layer, graph, node);
  layer->mode = mode_of (layer, graph, node);
  if (layer->mode == SL_INT8_BANDED || layer->mode == SL_INT8_DW_FLAT)
    layer->line = (gint32) line_of (&layer->window);
  const SlInt8Isa *bytes = bytes_of (layer);
  set_isa (layer, bytes != NULL ? bytes : isa, host, node);
  if (layer->mode == SL_INT8_ADD) {
    sl_int8_add_init (layer, graph, node);
    return layer;
  }
  if (!set_weights (layer, host, node)) {
    set_isa (layer, isa, host, node);
    set_weights (layer, host, node);
  }
  if (layer->mode == SL_INT8_DYNAMIC)
    sl_int8_dynamic_init (layer, host, node);
  sl_host_need_scratch (host, layer->scratch_bytes);
  return layer;
}
