/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which nodes the float kernels take, and into what pieces their work is cut. */
#include <math.h>
#include <string.h>

#include "core/base/half.h"
#include "core/backends/float/layer.h"
#include "core/ops/halves.h"
#include "core/ops/kernels/kernels.h"

/* Bytes of weights that stay in the second cache while rows pass, and of pixels under a strip that
 * stay in the first. */
#define CHUNK_BYTES 262144
#define STRIP_BYTES 24576
#define MAX_STRIP 32
/* Adding up the lanes of a register takes as long as this many multiplications. */
#define DEEP_END 6
/* How much longer a lesser instruction set takes for as many multiply-adds, because it moves more
 * operands; LESSER_HALF if it does half as many multiply-adds in a cycle. */
#define LESSER 1.1
#define LESSER_HALF 1.9
#define LESSER_DEPTHWISE 1.35
/* With weights that are zero here and there a multiply-add takes as long as this many of a tile's,
 * more where turned rows do not stay in the first cache; and turning an activation takes as long as
 * this many. */
#define SPARSE_STEP 1.5
#define SPARSE_FAR_STEP 2.1
#define SPARSE_TURN 11
/* Most activations of a row: their places are stored in 16 bits, and a tile of them stays in the
 * second cache. */
#define SPARSE_DEPTH 2048
#define FIRST_CACHE 32768
/* Layers of less depth keep their weights in floats: they are not what takes the time. */
#define MIN_DEPTH 32
/* Winograd's matrices are sums of weights: those of larger ones may leave the range of binary16. */
#define TILES_MOST (SL_HALF_MOST / 3)
/* Tiles of each thread's rows where work is shared out by rows. */
#define MIN_TILES 2
/* Tiles of rows of a work item, and those of a layer that is one item. A few remaining rows would
 * read all weights again. */
#define TILES 8
#define MOST_TILES 10
/* So few rows that bringing weights takes as long as multiplying by them. */
#define FEW_ROWS 64
/* Products of pairs take as long as this part of as many of floats, the rounding of activations
 * included. */
#define PAIRS_STEP 0.6
/* Elements of a work item of an addition, and how many of them are moved in a microsecond; of a
 * softmax. */
#define PIECE 16384
#define MOVED 8e3
#define RISEN 1e3
#define WHOLE_PIECE 64
/* Most channels of a PRELU: their slopes again and again to whole registers stay in the second
 * cache. */
#define MAX_SLOPES 4096
/* Least slopes, so that what begins anew with them does not count. */
#define MIN_PERIOD 512
/* Elements that become floats at a time: they stay in the first cache. */
#define CHUNK 2048
/* Width and height of the largest window of max pooling. */
#define MOST_POOL 5
/* Most lines of a depthwise layer's output in a work item that reads binary16: lines under two
 * windows become floats once. */
#define MOST_LINES 16

static gboolean
is_float (const SlTensor *tensor)
{
  return tensor->dtype == SL_DTYPE_F32;
}

/* Whether @tensor, an operand of @node, is of floats, or of binary16 that kernels widen. */
static gboolean
is_data (const SlGraph *graph, const SlNode *node, const SlTensor *tensor)
{
  return is_float (tensor)
         || (tensor->dtype == SL_DTYPE_F16 && sl_node_halves (graph, node) == SL_HALVES_ANY);
}

static gboolean
is_constant (const SlTensor *tensor)
{
  return is_float (tensor) && tensor->data != NULL;
}

static gboolean
is_pool (const SlNode *node)
{
  return node->op == SL_OP_MAX_POOL_2D;
}

static gboolean
is_element_wise (const SlNode *node)
{
  return node->op == SL_OP_ADD || node->op == SL_OP_MUL || node->op == SL_OP_PRELU
         || node->op == SL_OP_SOFTMAX || node->op == SL_OP_NORMALIZE
         || sl_node_curve (node) != SL_ACTIVATION_NONE;
}

/* Larger windows are for the plain kernel, which shares the largest of each column. */
static gboolean
supports_pool (const SlGraph *graph, const SlNode *node)
{
  const SlWindowShape w = sl_window_shape (graph, node);
  return is_float (sl_node_input (graph, node, 0)) && is_float (sl_node_output (graph, node, 0))
         && w.filter_h <= MOST_POOL && w.filter_w <= MOST_POOL
         && w.filter_h * sl_window_columns (&w, 1) <= SL_FLOAT_MAX_COLUMNS;
}

static gboolean
supports_window (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *weights = sl_node_input (graph, node, 1);
  const SlWindowShape w = sl_window_shape (graph, node);
  if (node->op == SL_OP_DEPTHWISE_CONV_2D)
    return node->params.window.depth_multiplier == 1 && w.channels > 1
           && w.filter_h * sl_window_columns (&w, 1) <= SL_FLOAT_MAX_COLUMNS;
  const gboolean whole_rows =
    w.channels == weights->dims[3] && w.dilation_w == 1 && !sl_window_crosses_sides (&w);
  return (gint64) w.filter_h * (whole_rows ? 1 : w.filter_w) <= SL_FLOAT_MAX_RUNS
         && (gint64) w.filter_w * weights->dims[3] <= G_MAXINT32 / 8;
}

const SlTensor *
sl_float_bias (const SlGraph *graph, const SlNode *node)
{
  return sl_node_input (graph, node, sl_op_bias_at (node->op));
}

/* Whether the slopes are finite constants, one for each channel of a pixel or one for all. */
static gboolean
supports_slopes (const SlTensor *x, const SlTensor *slopes)
{
  const gsize n = slopes->bytes / sizeof (gfloat);
  gboolean finite = TRUE;
  if (!is_constant (slopes) || x->data != NULL || x->rank == 0 || slopes->rank > x->rank
      || n > MAX_SLOPES
      || (n != 1
          && (n != (gsize) x->dims[x->rank - 1]
              || slopes->dims[slopes->rank - 1] != x->dims[x->rank - 1])))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    finite &= isfinite (((const gfloat *) slopes->data)[i]) != 0;
  return finite;
}

/* Constants are copied, to whole registers. */
static gboolean
supports_norm (const SlGraph *graph, const SlNode *node)
{
  for (guint i = 1; i < node->n_inputs; i++)
    if (sl_node_input (graph, node, i) != NULL && !is_constant (sl_node_input (graph, node, i)))
      return FALSE;
  return TRUE;
}

/* Whether a sum or a product has binary16, which XNNPACK does not take. */
static gboolean
has_halves (const SlGraph *graph, const SlNode *node)
{
  return !is_float (sl_node_input (graph, node, 0)) || !is_float (sl_node_input (graph, node, 1))
         || !is_float (sl_node_output (graph, node, 0));
}

gboolean
sl_float_supports (const SlGraph *graph, const SlNode *node)
{
  if (!is_data (graph, node, sl_node_input (graph, node, sl_op_data_at (node->op)))
      || !is_data (graph, node, sl_node_output (graph, node, 0)))
    return FALSE;
  if (node->op == SL_OP_SOFTMAX)
    return sl_node_output (graph, node, 0)->rank > 0;
  if (node->op == SL_OP_NORMALIZE)
    return supports_norm (graph, node);
  if (is_pool (node))
    return supports_pool (graph, node);
  if (node->n_inputs < 2)
    return sl_node_curve (node) != SL_ACTIVATION_NONE;
  const SlTensor *second = sl_node_input (graph, node, 1), *bias = sl_float_bias (graph, node);
  if (node->op == SL_OP_PRELU)
    return supports_slopes (sl_node_input (graph, node, 0), second);
  if (sl_node_repeated (graph, node) >= 0)
    return is_data (graph, node, second)
           && (has_halves (graph, node) || sl_float_repeats_short (graph, node));
  if (is_element_wise (node))
    return is_data (graph, node, second) && sl_node_input (graph, node, 0)->data == NULL
           && second->data == NULL && sl_tensor_same_shape (sl_node_input (graph, node, 0), second);
  if (!sl_op_is_layer (node->op) || !is_constant (second) || (bias != NULL && !is_constant (bias)))
    return FALSE;
  if (node->op == SL_OP_TRANSPOSE_CONV)
    return sl_float_transposed_fits (graph, node);
  return node->op == SL_OP_FULLY_CONNECTED || supports_window (graph, node);
}

static SlActivation
activation_of (const SlNode *node)
{
  const SlActivation curve = sl_node_curve (node);
  return curve != SL_ACTIVATION_NONE ? curve : sl_node_fused_activation (node);
}

/* XNNPACK does not fuse activations that are no limits, and takes no binary16. Its PRELU is as fast
 * where channels fill whole registers. */
gboolean
sl_float_faster (const SlFloatIsa *isa, const SlGraph *graph, const SlNode *node)
{
  if (sl_node_repeated (graph, node) >= 0
      || !is_float (sl_node_input (graph, node, sl_op_data_at (node->op)))
      || !is_float (sl_node_output (graph, node, 0)))
    return TRUE;
  if (node->op == SL_OP_PRELU) {
    const SlTensor *x = sl_node_input (graph, node, 0);
    return isa->faster && x->dims[x->rank - 1] % isa->lanes != 0;
  }
  return isa->faster || sl_activation_is_curve (activation_of (node));
}

static void
set_shape (SlFloatLayer *layer, const SlGraph *graph, const SlNode *node)
{
  const SlTensor *x = sl_node_input (graph, node, 0), *y = sl_node_output (graph, node, 0);
  sl_tensor_elements (y, &layer->elements.total);
  if (is_element_wise (node) || is_pool (node))
    return;
  const SlTensor *w = sl_node_input (graph, node, 1);
  layer->channels = y->dims[y->rank - 1];
  layer->rows = (gint32) (layer->elements.total / (gsize) layer->channels);
  layer->depth = (gint32) (w->bytes / sizeof (gfloat) / (gsize) layer->channels);
  layer->groups = 1;
  layer->mode = SL_FLOAT_DIRECT;
  if (node->op == SL_OP_FULLY_CONNECTED)
    return;
  layer->images = x->dims[0];
  layer->window = sl_window_shape (graph, node);
  if (node->op == SL_OP_DEPTHWISE_CONV_2D)
    layer->mode = SL_FLOAT_DEPTHWISE;
  else
    layer->groups = x->dims[3] / w->dims[3];
  if (node->op == SL_OP_CONV_2D && (layer->groups > 1 || !sl_window_is_pixel (&layer->window)))
    layer->mode = SL_FLOAT_WINDOW;
  layer->tiles.taps_apart = layer->groups > 1 || layer->window.dilation_w > 1;
}

/* Work items: weights that stay in the second-level cache while rows pass. With threads there are
 * enough items to share them evenly: by rows where each thread gets some tiles of them, so that it
 * reads what it wrote. Few rows are cut by channels, so that all weights are read once. */
static void
set_tiles (SlFloatLayer *layer, guint threads)
{
  const SlFloatIsa *isa = layer->isa;
  const gint32 channels = layer->channels / layer->groups,
               width = (layer->tiles.deep ? 1 : isa->lanes) * isa->max_groups;
  const gsize panel_bytes =
    (gsize) layer->depth * (gsize) width * sl_float_weight_size (layer->tiles.weights);
  const gint32 pieces = threads > 1 ? CLAMP ((gint32) layer->cost_us, 1, 4 * (gint32) threads) : 1;
  gint32 rows = TILES * isa->max_rows;
  layer->n_panels =
    (layer->tiles.deep ? (channels + width - 1) / width : sl_float_panels (isa, channels))
    * layer->groups;
  gint32 panels = (gint32) CLAMP (CHUNK_BYTES / panel_bytes, 1, (gsize) layer->n_panels);
  if (layer->rows <= MOST_TILES * isa->max_rows && layer->n_panels >= pieces)
    rows = layer->rows;
  else if (layer->rows >= MIN_TILES * isa->max_rows * (gint32) threads)
    rows = CLAMP (layer->rows / pieces / isa->max_rows * isa->max_rows, isa->max_rows, rows);
  while (panels > 1 && (layer->rows + rows - 1) / rows * (layer->n_panels / panels) < pieces)
    panels = (panels + 1) / 2;
  layer->threads = (gint32) threads;
  layer->tile_rows = rows;
  layer->chunks = (layer->n_panels + panels - 1) / panels;
  if (layer->chunks > 1 && layer->rows <= rows)
    layer->chunks =
      MIN ((layer->chunks + (gint32) threads - 1) / (gint32) threads * (gint32) threads,
           layer->n_panels);
}

static void
set_strip (SlFloatLayer *layer)
{
  const SlWindowShape *w = &layer->window;
  layer->depthwise.strip = MIN (w->out_w, MAX_STRIP);
  while (layer->depthwise.strip > 1
         && (w->filter_h * sl_window_columns (w, layer->depthwise.strip) > SL_FLOAT_MAX_COLUMNS
             || (layer->depthwise.strip > SL_FLOAT_MAX_PIXELS
                 && w->filter_h * sl_window_columns (w, layer->depthwise.strip) * w->channels
                        * (gint64) layer->in_size
                      > STRIP_BYTES)))
    layer->depthwise.strip--;
  layer->depthwise.kernel.channels = w->channels;
  layer->depthwise.kernel.filter_h = w->filter_h;
  layer->depthwise.kernel.filter_w = w->filter_w;
  layer->depthwise.kernel.stride = w->stride_w;
  layer->depthwise.kernel.dilation = w->dilation_w;
  layer->depthwise.rows = w->stride_h == 1 && w->dilation_h == 1 && !layer->narrow.x
                              && !layer->narrow.y && sl_float_pairs_rows (&layer->depthwise.kernel)
                            ? 2
                            : 1;
  layer->depthwise.lines = layer->depthwise.rows;
  if (layer->narrow.x)
    layer->depthwise.lines =
      CLAMP (layer->images * w->out_h / (4 * layer->threads), 1, MIN (MOST_LINES, w->out_h));
}

static guint
cost_of (const SlFloatLayer *layer)
{
  const gdouble rate = layer->isa->lanes * (sl_float_has_strips (layer) ? 2e3 : 4e3);
  if (layer->mode >= SL_FLOAT_ADD)
    return (guint) MIN (
      (gdouble) layer->elements.total / (layer->mode == SL_FLOAT_SOFTMAX ? RISEN : MOVED), 1e6);
  return (guint) MIN ((gdouble) layer->rows * layer->channels * layer->depth / rate, 1e6);
}

static void
set_output (SlFloatLayer *layer, const SlGraph *graph, const SlNode *node)
{
  SlClamp clamp;
  layer->activation = activation_of (node);
  layer->slope = sl_node_slope (node);
  sl_clamp_for (&clamp, layer->activation, sl_node_output (graph, node, 0));
  if (layer->narrow.y) {
    clamp.lo_f = MAX (clamp.lo_f, -SL_HALF_MOST);
    clamp.hi_f = MIN (clamp.hi_f, SL_HALF_MOST);
  }
  layer->lo = layer->tiles.gemm.lo = layer->depthwise.kernel.lo = layer->sparse.lo = clamp.lo_f;
  layer->hi = layer->tiles.gemm.hi = layer->depthwise.kernel.hi = layer->sparse.hi = clamp.hi_f;
}

/* Whether each pixel of a window is a run of its own when registers of @lanes lie along the depth.
 * Windows whose runs are rows of pixels need copies at borders, unless a pixel is whole registers.
 */
static gboolean
deep_taps_apart (const SlFloatLayer *layer, gint32 lanes)
{
  return layer->tiles.taps_apart
         || (layer->mode == SL_FLOAT_WINDOW && layer->depth > SL_FLOAT_MAX_COPIED
             && layer->window.channels % lanes != 0 && sl_window_crosses_sides (&layer->window));
}

static gint32
deep_run_length (const SlFloatLayer *layer, gint32 lanes)
{
  const gint32 rows = layer->mode == SL_FLOAT_WINDOW ? layer->window.filter_h : 1;
  return layer->depth / rows / (deep_taps_apart (layer, lanes) ? layer->window.filter_w : 1);
}

/* (nullable): how @isa multiplies activations and weights of 16 bits. */
static SlFloatPairsFunc
pairs_of (const SlFloatLayer *layer, const SlFloatIsa *isa)
{
  const SlFloatHalves *halves = sl_float_halves_of (layer, isa);
  return layer->precision == SL_PRECISION_BF16 ? sl_float_pairs (isa)
         : halves != NULL                      ? halves->gemm
                                               : NULL;
}

/* Whether @isa multiplies the layer's so. */
static gboolean
goes_by_pairs (const SlFloatLayer *layer, const SlFloatIsa *isa)
{
  return (layer->mode == SL_FLOAT_DIRECT || layer->mode == SL_FLOAT_WINDOW) && layer->groups == 1
         && layer->depth >= sl_float_halves_depth (layer, isa, MIN_DEPTH)
         && pairs_of (layer, isa) != NULL;
}

/* Multiply-adds of a row of the output with those of empty lanes, and what takes as long. */
static gdouble
row_work (const SlFloatLayer *layer, const SlFloatIsa *isa, gboolean deep)
{
  const gint32 channels = layer->channels / layer->groups, lanes = isa->lanes;
  const gdouble depth = layer->depth;
  if (!deep)
    return depth * ((channels + lanes - 1) / lanes * lanes)
           * (goes_by_pairs (layer, isa) ? PAIRS_STEP : 1);
  const gint32 length = deep_run_length (layer, lanes), registers = (length + lanes - 1) / lanes;
  return (depth / length * registers + DEEP_END) * lanes * channels;
}

/* How much longer the next lesser instruction set than @isa takes in tiles. */
static gdouble
lesser_of (const SlFloatIsa *isa)
{
  return sl_float_is_wide (isa) ? LESSER_HALF : LESSER;
}

/* The instruction set and the direction of registers that leave the fewest lanes empty. Lesser
 * instruction sets move more for the same multiply-adds. Returns the work of a row. */
static gdouble
choose_loops (SlFloatLayer *layer, const SlFloatIsa *isa)
{
  const gboolean depthwise = layer->mode == SL_FLOAT_DEPTHWISE;
  gdouble least = INFINITY, handicap = 1;
  for (const SlFloatIsa *with = isa; with != NULL; with = sl_float_isa_lesser (with)) {
    for (gboolean deep = FALSE; deep <= !depthwise; deep++)
      if (row_work (layer, with, deep) * handicap < least) {
        least = row_work (layer, with, deep) * handicap;
        layer->isa = with;
        layer->tiles.deep = deep;
      }
    handicap *= depthwise ? LESSER_DEPTHWISE : lesser_of (with);
  }
  if (layer->tiles.deep) {
    layer->tiles.run_length = deep_run_length (layer, layer->isa->lanes);
    layer->tiles.taps_apart = deep_taps_apart (layer, layer->isa->lanes);
  }
  return least;
}

/* Whether tiles are less than the @work of windows, with any of the instruction sets. Those of six
 * by six have four times the file's weights, which precisions of 16 bits are to make fewer. Loops
 * in binary16 have a third of the weights of tiles of floats, and take as long. */
static void
choose_winograd (SlFloatLayer *layer, const SlFloatIsa *isa, gdouble work, const SlGraph *graph)
{
  if (goes_by_pairs (layer, layer->isa) && sl_float_halves_of (layer, layer->isa) != NULL)
    return;
  const gboolean large = layer->precision == SL_PRECISION_FLOAT && sl_float_winograd_fits (layer, 4)
                         && !sl_float_rounds (graph);
  gdouble least = work, handicap = 1;
  const SlFloatIsa *chosen = NULL;
  for (const SlFloatIsa *with = isa; with != NULL;
       handicap *= lesser_of (with), with = sl_float_isa_lesser (with))
    for (gint32 tile = 2; tile <= (large ? 4 : 2); tile += 2) {
      const gdouble takes = sl_float_winograd_work (layer, with, tile) * handicap;
      if (sl_float_winograd_fits (layer, tile) && takes < least) {
        least = takes;
        chosen = with;
        layer->tile = tile;
      }
    }
  if (chosen == NULL)
    return;
  layer->isa = chosen;
  layer->mode = SL_FLOAT_WINOGRAD;
  layer->tiles.deep = FALSE;
  layer->depth = layer->window.channels;
  layer->cost_us = (guint) (layer->cost_us * least / work);
}

/* Whether going through the weights that are not zero is less work than going through all. */
static void
choose_sparse (SlFloatLayer *layer, const SlFloatIsa *isa, const SlFloatSource *weights)
{
  if (layer->mode != SL_FLOAT_DIRECT || layer->depth > SPARSE_DEPTH)
    return;
  const gdouble tiles = ceil ((gdouble) layer->rows / isa->sparse_rows),
                rows = tiles * isa->sparse_rows;
  const gdouble step = (gsize) (layer->depth * isa->sparse_rows) * sizeof (gfloat) <= FIRST_CACHE
                         ? SPARSE_STEP
                         : SPARSE_FAR_STEP;
  const gdouble work = row_work (layer, layer->isa, layer->tiles.deep) * layer->rows / rows,
                density = (work - SPARSE_TURN * ((gdouble) layer->depth + layer->channels))
                          / ((gdouble) layer->depth * layer->channels * step);
  if (density <= 0 || sl_float_source_full (weights, density))
    return;
  layer->isa = isa;
  layer->mode = SL_FLOAT_SPARSE;
  layer->tiles.deep = FALSE;
}

/* In what form a tile reads @weights, and the loops for that. Weights out of the range of 16 bits
 * stay floats. What is half or a quarter as large without a loss is so where rows are few, so that
 * it takes no longer, or where 16 bits are asked for. */
static void
choose_weights (SlFloatLayer *layer, const SlGraph *graph, const SlNode *node,
                const SlFloatSource *weights)
{
  const SlFloatIsa *isa = layer->isa;
  const gboolean tiles = (layer->mode == SL_FLOAT_DIRECT || layer->mode == SL_FLOAT_WINDOW)
                         && !layer->tiles.deep
                         && layer->depth >= sl_float_halves_depth (layer, isa, MIN_DEPTH);
  if (layer->mode == SL_FLOAT_WINOGRAD && layer->precision == SL_PRECISION_FP16
      && isa->gemm_half != NULL && sl_float_source_within (weights, TILES_MOST))
    layer->tiles.weights = SL_FLOAT_HALF;
  if (!tiles || isa->gemm_half == NULL)
    return;
  if (layer->precision == SL_PRECISION_FP16 && goes_by_pairs (layer, isa)
      && sl_float_source_within (weights, SL_HALF_MOST)) {
    layer->tiles.weights = SL_FLOAT_HALF;
    layer->tiles.pairs = pairs_of (layer, isa);
    sl_float_halves_tiles (layer, graph, node, weights);
  } else if (layer->precision != SL_PRECISION_BF16
             && (layer->precision == SL_PRECISION_FP16 || layer->rows <= FEW_ROWS)
             && sl_float_source_bytes (weights))
    layer->tiles.weights = SL_FLOAT_BYTES;
  else if (layer->precision == SL_PRECISION_FP16
             ? sl_float_source_within (weights, SL_HALF_MOST)
             : layer->precision == SL_PRECISION_FLOAT && layer->rows <= FEW_ROWS
                 && sl_float_source_halves (weights))
    layer->tiles.weights = SL_FLOAT_HALF;
  else if (layer->precision == SL_PRECISION_BF16
           && sl_float_source_within (weights, SL_BFLOAT_MOST)) {
    layer->tiles.weights = goes_by_pairs (layer, isa) ? SL_FLOAT_PAIRS : SL_FLOAT_BFLOAT;
    layer->tiles.pairs = layer->tiles.weights == SL_FLOAT_PAIRS ? pairs_of (layer, isa) : NULL;
  }
  if (layer->tiles.pairs != NULL)
    layer->cost_us = (guint) (layer->cost_us * PAIRS_STEP);
}

void
sl_float_need_scratch (SlFloatLayer *layer, SlHost *host, gsize bytes)
{
  layer->scratch = &host->scratch;
  layer->scratch_bytes = MAX (layer->scratch_bytes, bytes);
  sl_host_need_scratch (host, bytes);
}

static void
set_multiply (SlFloatLayer *layer, SlHost *host)
{
  const SlFloatIsa *isa = layer->isa;
  layer->tiles.multiply = layer->tiles.deep                         ? isa->gemm_deep
                          : layer->tiles.weights == SL_FLOAT_HALF   ? isa->gemm_half
                          : layer->tiles.weights == SL_FLOAT_BFLOAT ? isa->gemm_bfloat
                          : layer->tiles.weights == SL_FLOAT_BYTES  ? isa->gemm_bytes
                                                                    : isa->gemm;
  if (layer->tiles.pairs != NULL)
    sl_float_need_scratch (layer, host, SL_FLOAT_PAIRS_SCRATCH (isa->max_rows, layer->depth));
}

/* Tiles of rows, and where threads outnumber them, of channels. */
static void
set_sparse_tiles (SlFloatLayer *layer, SlHost *host)
{
  const gsize bytes = (gsize) layer->depth * (gsize) layer->isa->sparse_rows * sizeof (gfloat);
  const gint32 tiles = (layer->rows + layer->isa->sparse_rows - 1) / layer->isa->sparse_rows;
  const gint32 pieces = tiles < 2 * (gint32) host->threads ? (gint32) host->threads : 1;
  layer->threads = (gint32) host->threads;
  layer->tile_rows = layer->isa->sparse_rows;
  layer->n_panels = layer->channels;
  layer->chunks = MIN (pieces, layer->channels);
  sl_float_need_scratch (layer, host, bytes);
}

/** What the weight cache holds: the layer's fields that point into it. */
typedef struct
{
  SlFloatGemm gemm;
  SlFloatDepthwise depthwise;
  SlFloatSparse sparse;
} Packed;

typedef struct
{
  SlFloatLayer *layer;
  const SlHost *host;
  const SlNode *node;
  const SlFloatSource *weights; /* but of transposed convolutions */
} Packing;

static void *
pack (SlArena *arena, gpointer data)
{
  const Packing *packing = data;
  sl_float_pack (packing->layer, packing->host->graph, packing->node, packing->weights,
                 packing->host->pool, arena);
  const Packed packed = { packing->layer->tiles.gemm, packing->layer->depthwise.kernel,
                          packing->layer->sparse };
  return sl_arena_memdup (arena, &packed, sizeof packed);
}

/* What stands for the pixels outside of the picture. */
static const gfloat *
outside_new (const SlFloatLayer *layer, SlArena *arena, gfloat value)
{
  const gint32 outputs = layer->channels + layer->isa->lanes * layer->isa->max_groups;
  const gsize n = (gsize) MAX (layer->window.channels * layer->window.filter_w, outputs);
  gfloat *values = sl_tensor_alloc (arena, n * sizeof values[0]);
  for (gsize i = 0; i < n + SL_TENSOR_PADDING / sizeof values[0]; i++)
    values[i] = value;
  return values;
}

/* @value for each channel, or those of input @i, to whole registers. */
static const gfloat *
by_channel (const SlHost *host, const SlNode *node, guint i, gsize n, gfloat value)
{
  const SlTensor *given = i < node->n_inputs ? sl_node_input (host->graph, node, i) : NULL;
  gfloat *values = sl_tensor_alloc (host->arena, n * sizeof values[0]);
  for (gsize k = 0; k < n; k++)
    values[k] = given != NULL ? ((const gfloat *) given->data)[k] : value;
  return values;
}

static void
set_norm (SlFloatLayer *layer, const SlHost *host, const SlNode *node)
{
  const SlTensor *y = sl_node_output (host->graph, node, 0);
  const gsize n = (gsize) y->dims[y->rank - 1];
  layer->norm = (SlFloatNorm){ n, node->params.normalize.epsilon, node->params.normalize.centered,
                               by_channel (host, node, 1, n, 1), by_channel (host, node, 2, n, 0) };
  layer->elements.piece = (layer->elements.piece + n - 1) / n * n;
}

/* Max pooling: strips as of a depthwise layer, of one row. */
static void
set_pool (SlFloatLayer *layer, SlHost *host, const SlNode *node)
{
  layer->mode = SL_FLOAT_POOL;
  layer->images = sl_node_input (host->graph, node, 0)->dims[0];
  layer->window = sl_window_shape (host->graph, node);
  layer->channels = layer->window.channels;
  layer->rows = (gint32) (layer->elements.total / (gsize) layer->channels);
  layer->depth = layer->window.filter_h * layer->window.filter_w;
  layer->groups = 1;
  layer->threads = (gint32) host->threads;
  layer->cost_us = cost_of (layer);
  set_strip (layer);
  layer->depthwise.rows = layer->depthwise.lines = 1;
  layer->zeros = outside_new (layer, host->arena, -INFINITY);
}

/* The mode of elementwise operations, and their work items. */
static void
set_elements (SlFloatLayer *layer, SlHost *host, const SlNode *node)
{
  layer->mode = node->op == SL_OP_ADD         ? SL_FLOAT_ADD
                : node->op == SL_OP_MUL       ? SL_FLOAT_MULTIPLY
                : node->op == SL_OP_PRELU     ? SL_FLOAT_PRELU
                : node->op == SL_OP_SOFTMAX   ? SL_FLOAT_SOFTMAX
                : node->op == SL_OP_NORMALIZE ? SL_FLOAT_NORMALIZE
                                              : SL_FLOAT_ACTIVATE;
  layer->elements.piece =
    MIN (PIECE, ((layer->elements.total + host->threads - 1) / host->threads + WHOLE_PIECE - 1)
                  / WHOLE_PIECE * WHOLE_PIECE);
  layer->elements.chunk = CHUNK;
  sl_float_repeated_set (layer, host->graph, node);
  sl_float_halves_elements (layer);
  layer->cost_us = cost_of (layer);
  if (layer->mode == SL_FLOAT_SOFTMAX) {
    const SlTensor *y = sl_node_output (host->graph, node, 0);
    layer->depth = y->dims[y->rank - 1];
    layer->softmax.beta = node->params.softmax.beta;
    layer->elements.piece = (layer->elements.piece / 2 + (gsize) layer->depth - 1)
                            / (gsize) layer->depth * (gsize) layer->depth;
  }
  if (layer->mode == SL_FLOAT_NORMALIZE)
    set_norm (layer, host, node);
  if (layer->mode != SL_FLOAT_PRELU)
    return;
  const SlTensor *given = sl_node_input (host->graph, node, 1);
  const gsize n = given->bytes / sizeof (gfloat), lanes = (gsize) layer->isa->lanes;
  layer->prelu.period = n;
  while (layer->prelu.period % lanes != 0)
    layer->prelu.period += n;
  layer->prelu.period *= (MIN_PERIOD + layer->prelu.period - 1) / layer->prelu.period;
  gfloat *slopes = sl_tensor_alloc (host->arena, layer->prelu.period * sizeof slopes[0]);
  for (gsize i = 0; i < layer->prelu.period; i += n)
    memcpy (slopes + i, given->data, given->bytes);
  layer->prelu.slopes = slopes;
  layer->elements.piece = MAX (PIECE / layer->prelu.period, 1) * layer->prelu.period;
  layer->elements.chunk = MAX (CHUNK / layer->prelu.period, 1) * layer->prelu.period;
}

static void *
pack_parts (SlArena *arena, gpointer data)
{
  const Packing *packing = data;
  SlFloatGemm *packed =
    sl_arena_alloc (arena, packing->layer->transposed.n_parts * sizeof packed[0]);
  for (guint i = 0; i < packing->layer->transposed.n_parts; i++) {
    sl_float_pack_part (&packing->layer->transposed.parts[i], packing->host->graph, packing->node,
                        packing->host->pool, arena);
    packed[i] = packing->layer->transposed.parts[i].tiles.gemm;
  }
  return packed;
}

static void
finish_transposed (SlFloatLayer *layer, SlHost *host, const SlNode *node)
{
  sl_float_transposed_parts (layer, host->graph, node, host->arena);
  for (guint i = 0; i < layer->transposed.n_parts; i++) {
    SlFloatLayer *part = &layer->transposed.parts[i];
    choose_loops (part, layer->isa);
    part->cost_us = cost_of (part);
    set_multiply (part, host);
    set_tiles (part, host->threads);
    part->zeros = outside_new (part, host->arena, 0);
    sl_float_need_scratch (part, host,
                           (gsize) part->isa->max_rows * (gsize) part->channels * sizeof (gfloat));
    sl_float_narrow_room (part, host);
    layer->cost_us += part->cost_us;
  }
  const SlFloatGemm *packed = sl_weight_cache_get (host->weights, node, layer->isa, pack_parts,
                                                   &(Packing){ layer, host, node, NULL }, NULL);
  for (guint i = 0; i < layer->transposed.n_parts; i++)
    layer->transposed.parts[i].tiles.gemm = packed[i];
}

/* The loops of a layer, by its shape and its weights. */
static void
choose (SlFloatLayer *layer, const SlFloatIsa *isa, const SlGraph *graph, const SlNode *node,
        const SlFloatSource *weights)
{
  const SlTensor *bias = sl_float_bias (graph, node);
  const gdouble row = choose_loops (layer, isa);
  choose_sparse (layer, isa, weights);
  layer->cost_us = cost_of (layer);
  choose_winograd (layer, isa, row * layer->rows, graph);
  choose_weights (layer, graph, node, weights);
  sl_float_halves_depthwise (layer, weights, bias);
  sl_float_strassen_choose (layer, graph, node->op == SL_OP_CONV_2D);
}

/* Tiles of floats and of binary16 are packed from either direction. */
static gboolean
packs_turned (const SlFloatLayer *layer)
{
  return layer->mode == SL_FLOAT_DIRECT && !layer->tiles.deep
         && (layer->tiles.weights == SL_FLOAT_SINGLE || layer->tiles.weights == SL_FLOAT_HALF
             || layer->tiles.weights == SL_FLOAT_FEW_BITS);
}

static void
set_work (SlFloatLayer *layer, SlHost *host)
{
  set_multiply (layer, host);
  layer->threads = (gint32) host->threads;
  if (layer->tiles.weights == SL_FLOAT_FEW_BITS)
    sl_float_few_bits_tiles (layer, host);
  else if (layer->mode == SL_FLOAT_DEPTHWISE)
    set_strip (layer);
  else if (layer->mode == SL_FLOAT_SPARSE)
    set_sparse_tiles (layer, host);
  else if (layer->mode == SL_FLOAT_WINOGRAD)
    sl_float_winograd_tiles (layer, host);
  else if (layer->tiles.paired > 0)
    sl_float_strassen_tiles (layer, host);
  else
    set_tiles (layer, host->threads);
  if (layer->mode != SL_FLOAT_DIRECT && layer->mode != SL_FLOAT_SPARSE)
    layer->zeros = outside_new (layer, host->arena, 0);
  sl_float_narrow_room (layer, host);
}

static gboolean
finish_layer (SlFloatLayer *layer, const SlFloatIsa *isa, SlHost *host, const SlNode *node,
              GError **error)
{
  SlFloatSource weights;
  const gboolean may_turn =
    node->op == SL_OP_FULLY_CONNECTED && layer->precision == SL_PRECISION_FLOAT;
  if (!sl_float_source_take (&weights, host->graph, node, may_turn, error))
    return FALSE;
  if (weights.few_bits) {
    choose_loops (layer, isa);
    layer->cost_us = cost_of (layer);
  }
  if (weights.few_bits && sl_float_few_bits_fits (layer, &weights.matrix))
    layer->tiles.weights = SL_FLOAT_FEW_BITS;
  else if (weights.few_bits && !sl_float_source_straighten (&weights, error))
    return FALSE;
  else
    choose (layer, isa, host->graph, node, &weights);
  set_work (layer, host);
  if (!packs_turned (layer) && !sl_float_source_straighten (&weights, error))
    return FALSE;
  const Packed *packed = sl_weight_cache_get (host->weights, node, layer->isa, pack,
                                              &(Packing){ layer, host, node, &weights }, NULL);
  layer->tiles.gemm = packed->gemm;
  layer->depthwise.kernel = packed->depthwise;
  layer->sparse = packed->sparse;
  sl_float_source_return (&weights);
  return TRUE;
}

SlFloatLayer *
sl_float_layer_new (const SlFloatIsa *isa, SlHost *host, const SlNode *node, GError **error)
{
  SlFloatLayer *layer = sl_arena_alloc (host->arena, sizeof *layer);
  layer->isa = isa;
  layer->precision = sl_graph_precision (host->graph);
  layer->in_size = layer->out_size = sizeof (gfloat);
  sl_float_narrow_set (layer, host->graph, node);
  set_output (layer, host->graph, node);
  sl_float_part_set (layer, host, node);
  if (node->op == SL_OP_TRANSPOSE_CONV) {
    finish_transposed (layer, host, node);
    return layer;
  }
  set_shape (layer, host->graph, node);
  if (is_pool (node)) {
    set_pool (layer, host, node);
    return layer;
  }
  if (is_element_wise (node)) {
    set_elements (layer, host, node);
    sl_float_part_pieces (layer);
    sl_float_narrow_room (layer, host);
    return layer;
  }
  return finish_layer (layer, isa, host, node, error) ? layer : NULL;
}
