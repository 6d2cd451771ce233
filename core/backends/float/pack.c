/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weights in the order in which the inner loops read them. */
#include <math.h>
#include <string.h>

#include "core/base/half.h"
#include "core/backends/float/layer.h"
#include "core/backends/transpose.h"
#include "core/ops/kernels/simd/loops.h"

/* Weights of a row that are packed before those of the next one. */
#define PACKED_AT_ONCE ((gsize) 16)
/* Of a panel, with any instruction set. */
#define MOST_CHANNELS 64
/* Bytes of weights that a thread packs in a microsecond. */
#define PACKED_IN_US 2000

/* To whole registers, and a tile's more, so that every load of a register lies inside. Again for
 * each pixel that a window makes. */
static gfloat *
pack_bias (const SlFloatLayer *layer, const SlTensor *bias, SlArena *arena)
{
  gfloat *packed = sl_tensor_alloc (
    arena, ((gsize) layer->channels + (gsize) (layer->isa->lanes * layer->isa->max_groups))
             * sizeof packed[0]);
  memset (packed, 0,
          ((gsize) layer->channels + (gsize) (layer->isa->lanes * layer->isa->max_groups))
            * sizeof packed[0]);
  for (gsize c = 0; bias != NULL && c < (gsize) layer->channels;
       c += bias->bytes / sizeof packed[0])
    memcpy (packed + c, bias->data, bias->bytes);
  return packed;
}

/* @step: of SL_FLOAT_BYTES, and for arithmetic of binary16 */
static void
put (SlFloatWeights kind, gfloat step, void *to, gsize at, gfloat value)
{
  if (kind == SL_FLOAT_SINGLE)
    ((gfloat *) to)[at] = value;
  else if (kind == SL_FLOAT_BYTES)
    ((gint8 *) to)[at] = (gint8) lrintf (value / step);
  else
    ((guint16 *) to)[at] =
      kind == SL_FLOAT_HALF ? sl_half_from_float (value / step) : sl_bfloat_from_float (value);
}

/* To whole registers, and a tile's more, as of the bias. */
static gfloat *
pack_steps (const SlFloatLayer *layer, const gfloat *weights, SlArena *arena)
{
  const gsize n = (gsize) layer->channels + (gsize) (layer->isa->lanes * layer->isa->max_groups);
  gfloat *steps = sl_tensor_alloc (arena, n * sizeof steps[0]);
  memset (steps, 0, n * sizeof steps[0]);
  for (gsize c = 0; c < (gsize) layer->channels; c++)
    steps[c] = sl_float_step (weights + c * (gsize) layer->depth, (gsize) layer->depth);
  return steps;
}

/* Whole fours of floats of whole fours of rows, which are transposed in registers. Returns how many
 * rows are packed so. */
static gint32
pack_fours (const SlFloatPanel *panel, const gfloat *rows, gsize depth, gsize width, gfloat *to)
{
  const gint32 lanes = panel->channels / 4 * 4;
  for (gsize first = 0; first < depth / 4 * 4; first += PACKED_AT_ONCE)
    for (gint32 lane = 0; lane < lanes; lane += 4)
      for (gsize k = first; k < MIN (first + PACKED_AT_ONCE, depth / 4 * 4); k += 4)
        sl_turn (rows + (gsize) lane * depth + k, depth * sizeof rows[0],
                 to + k * width + (gsize) lane, width * sizeof to[0], 0);
  for (gint32 lane = 0; lane < lanes; lane++)
    for (gsize k = depth / 4 * 4; k < depth; k++)
      to[k * width + (gsize) lane] = rows[(gsize) lane * depth + k];
  return lanes;
}

/* Whether a tile computes in binary16. */
static gboolean
has_halves (const SlFloatLayer *layer)
{
  return layer->tiles.weights == SL_FLOAT_HALF && layer->tiles.pairs != NULL;
}

/* @rows: the windows of the panel's channels, as the file has them. A few columns of all rows at a
 * time stay in the first cache. */
static void
pack_panel (const SlFloatLayer *layer, SlFloatPanel *panel, const gfloat *rows, void *to)
{
  const gsize width = (gsize) (panel->groups * layer->isa->lanes), depth = (gsize) layer->depth;
  const guint together = layer->tiles.weights == SL_FLOAT_PAIRS ? 2 : 1;
  const gint32 packed =
    layer->tiles.weights == SL_FLOAT_SINGLE ? pack_fours (panel, rows, depth, width, to) : 0;
  panel->weights = to;
  for (gsize first = 0; first < depth; first += PACKED_AT_ONCE)
    for (gint32 lane = packed; lane < panel->channels; lane++) {
      const gfloat *from = rows + (gsize) lane * depth;
      const gfloat step = layer->tiles.weights == SL_FLOAT_BYTES
                            ? layer->tiles.gemm.steps[panel->channel + lane]
                          : has_halves (layer) ? layer->tiles.gemm.unit
                                               : 1;
      for (gsize k = first; k < MIN (first + PACKED_AT_ONCE, depth); k++)
        put (layer->tiles.weights, step, to,
             (k / together * width + (gsize) lane) * together + k % together, from[k]);
    }
}

/* Row @k of a transposed matrix from channel @first on, as floats at @to. */
static void
load_turned (const SlFloatSource *source, gsize k, gsize first, gsize n, gfloat *to)
{
  const gsize at = k * source->channels + first;
  if (source->halves)
    sl_simd_loops ()->from_halves ((const guint16 *) source->values + at, to, n);
  else
    memcpy (to, (const guint8 *) source->values + at * sizeof to[0], n * sizeof to[0]);
}

/* The same of a transposed matrix, whose rows hold the channels, at any address. */
static void
pack_turned_panel (const SlFloatLayer *layer, SlFloatPanel *panel, const SlFloatSource *source,
                   void *to)
{
  const gsize width = (gsize) (panel->groups * layer->isa->lanes),
              channels = (gsize) panel->channels, first = (gsize) panel->channel;
  const gfloat *by = source->by != NULL ? source->by + first : NULL;
  gfloat row[MOST_CHANNELS];
  panel->weights = to;
  for (gsize k = 0; k < (gsize) layer->depth; k++) {
    if (layer->tiles.weights == SL_FLOAT_SINGLE && by == NULL) {
      load_turned (source, k, first, channels, (gfloat *) to + k * width);
      continue;
    }
    load_turned (source, k, first, channels, row);
    for (gsize lane = 0; lane < channels; lane++)
      put (layer->tiles.weights, 1, to, k * width + lane,
           by != NULL ? row[lane] * by[lane] : row[lane]);
  }
}

/* The same along the depth: run by run in whole registers. */
static void
pack_deep_panel (const SlFloatLayer *layer, SlFloatPanel *panel, const gfloat *rows, void *memory)
{
  gfloat *to = memory;
  const gint32 length = layer->tiles.run_length, lanes = layer->isa->lanes;
  panel->weights = to;
  for (gint32 first = 0; first < layer->depth; first += length)
    for (gint32 k = 0; k < length; k += lanes)
      for (gint32 g = 0; g < panel->groups; g++, to += lanes) {
        const gfloat *from = rows + (gsize) g * (gsize) layer->depth + (gsize) (first + k);
        memcpy (to, from, (gsize) MIN (lanes, length - k) * sizeof to[0]);
      }
}

/* The first register of panel @p, of so many @panels of a group. Panels have about as many
 * registers each, but pairs are of the widest ones. */
static gint32
first_register (const SlFloatLayer *layer, gint32 p, gint32 panels, gint32 registers)
{
  return layer->tiles.paired > 0 && p < panels ? p * layer->isa->max_groups
                                               : (gint32) ((gint64) registers * p / panels);
}

void
sl_float_plan_panels (const SlFloatLayer *layer, SlFloatPanel *packed)
{
  const gint32 lanes = layer->tiles.deep ? 1 : layer->isa->lanes,
               channels = layer->channels / layer->groups,
               registers = (channels + lanes - 1) / lanes;
  const gint32 panels = layer->n_panels / layer->groups,
               inputs = layer->window.channels / layer->groups;
  for (gint32 p = 0; p < layer->n_panels; p++) {
    const gint32 group = p / panels, first = first_register (layer, p % panels, panels, registers),
                 end = first_register (layer, p % panels + 1, panels, registers);
    packed[p] = (SlFloatPanel){
      .channel = group * channels + first * lanes,
      .channels = MIN (end * lanes, channels) - first * lanes,
      .groups = end - first,
      .offset = group * inputs,
    };
  }
}

/* Bytes of @panel's weights. */
static gsize
panel_bytes (const SlFloatLayer *layer, const SlFloatPanel *panel)
{
  const gint32 lanes = layer->isa->lanes, length = layer->tiles.run_length,
               whole = (length + lanes - 1) / lanes * lanes;
  const gint32 together = layer->tiles.weights == SL_FLOAT_PAIRS ? 2
                          : has_halves (layer)                   ? SL_FLOAT_WIDE
                                                                 : 1;
  const gsize depth = layer->tiles.deep
                        ? (gsize) (layer->depth / length) * (gsize) whole
                        : (gsize) ((layer->depth + together - 1) / together) * (gsize) together;
  return (gsize) (panel->groups * (layer->tiles.deep ? 1 : lanes)) * depth
         * sl_float_weight_size (layer->tiles.weights);
}

/* Memory for the weights of all panels. */
static guint8 *
allocate_panels (const SlFloatLayer *layer, const SlFloatPanel *packed, SlArena *arena)
{
  gsize bytes = 0;
  for (gint32 p = 0; p < layer->n_panels; p++)
    bytes += panel_bytes (layer, &packed[p]);
  guint8 *memory = sl_tensor_alloc (arena, bytes);
  if (has_halves (layer) && layer->depth % SL_FLOAT_WIDE != 0)
    memset (memory, 0, bytes);
  return memory;
}

/* What panels are packed of. @weights: the rows of all channels, the windows of a Winograd layer
 * (pack_tiles), or the source of a transposed matrix (pack_turned). */
typedef struct
{
  const SlFloatLayer *layer;
  const void *weights;
  SlFloatPanel *packed;
  guint8 **to; /* where each panel of @packed begins */
} Job;

static void
pack_one (const void *data, guint item, guint thread)
{
  const Job *job = data;
  const SlFloatLayer *layer = job->layer;
  SlFloatPanel *panel = &job->packed[item];
  const gfloat *rows =
    (const gfloat *) job->weights + (gsize) panel->channel * (gsize) layer->depth;
  (layer->tiles.deep ? pack_deep_panel : pack_panel) (layer, panel, rows, job->to[item]);
}

static void
pack_turned (const void *data, guint item, guint thread)
{
  const Job *job = data;
  pack_turned_panel (job->layer, &job->packed[item], job->weights, job->to[item]);
}

/* One panel of each of the matrices: those of all channels are never in memory at once. */
static void
pack_tiles (const void *data, guint item, guint thread)
{
  const Job *job = data;
  const SlFloatLayer *layer = job->layer;
  const SlFloatPanel *first = &job->packed[item];
  const gsize size = (gsize) layer->depth * (gsize) first->channels;
  g_autofree gfloat *matrices =
    sl_float_winograd_weights (layer, job->weights, first->channel, first->channels);
  for (guint i = 0; i < (guint) sl_float_winograd_matrices (layer); i++) {
    const guint at = i * (guint) layer->n_panels + item;
    pack_panel (layer, &job->packed[at], matrices + i * size, job->to[at]);
  }
}

/* Memory for the panels of @n matrices, which @pack writes. */
static void
pack_panels (const SlFloatLayer *layer, const void *weights, SlFloatPanel *packed, guint n,
             SlPoolFunc pack, SlPool *pool, SlArena *arena)
{
  const guint panels = (guint) layer->n_panels;
  g_autofree guint8 **to = g_new (guint8 *, n * panels);
  gsize bytes = 0;
  for (guint i = 0; i < n; i++) {
    sl_float_plan_panels (layer, packed + i * panels);
    to[i * panels] = allocate_panels (layer, packed + i * panels, arena);
    for (guint p = 1; p < panels; p++)
      to[i * panels + p] = to[i * panels + p - 1] + panel_bytes (layer, &packed[p - 1]);
    bytes += (gsize) (to[(i + 1) * panels - 1] - to[i * panels]);
  }
  sl_pool_run (pool, pack, &(Job){ layer, weights, packed, to }, panels,
               (guint) MIN (bytes / PACKED_IN_US, G_MAXINT));
}

static void
pack_gemm (SlFloatLayer *layer, const void *weights, gboolean turned, SlPool *pool, SlArena *arena)
{
  SlFloatPanel *packed = sl_arena_alloc (arena, (gsize) layer->n_panels * sizeof packed[0]);
  layer->tiles.gemm.steps =
    layer->tiles.weights == SL_FLOAT_BYTES ? pack_steps (layer, weights, arena) : NULL;
  pack_panels (layer, weights, packed, 1, turned ? pack_turned : pack_one, pool, arena);
  if (layer->tiles.paired > 0)
    sl_float_strassen_compare (layer, packed, pool);
  layer->tiles.gemm.panels = packed;
}

static void
pack_winograd (SlFloatLayer *layer, const gfloat *weights, SlPool *pool, SlArena *arena)
{
  const guint matrices = (guint) sl_float_winograd_matrices (layer);
  SlFloatPanel *packed =
    sl_arena_alloc (arena, (gsize) matrices * (gsize) layer->n_panels * sizeof packed[0]);
  pack_panels (layer, weights, packed, matrices, pack_tiles, pool, arena);
  layer->tiles.gemm.panels = packed;
}

/* (transfer none): @n floats as binary16. */
static guint16 *
pack_halves (const gfloat *values, gsize n, SlArena *arena)
{
  guint16 *packed = sl_tensor_alloc (arena, n * sizeof packed[0]);
  sl_simd_loops ()->to_halves (values, packed, n);
  return packed;
}

static void
pack_depthwise (SlFloatLayer *layer, const SlTensor *weights, const SlTensor *bias, SlArena *arena)
{
  const gint32 lanes = layer->halves != NULL ? SL_FLOAT_WIDE : layer->isa->lanes,
               taps = layer->window.filter_h * layer->window.filter_w;
  const gsize n = (gsize) ((layer->channels + lanes - 1) / lanes * lanes) * (gsize) taps;
  gfloat *to = sl_tensor_alloc (arena, n * sizeof to[0]);
  memset (to, 0, n * sizeof to[0]);
  for (gint32 c = 0; c < layer->channels; c++)
    for (gint32 tap = 0; tap < taps; tap++)
      to[(gsize) (c / lanes * taps + tap) * (gsize) lanes + (gsize) (c % lanes)] =
        ((const gfloat *) weights->data)[(gsize) tap * (gsize) layer->channels + (gsize) c];
  const gfloat *offsets = pack_bias (layer, bias, arena);
  layer->depthwise.kernel.weights = to;
  layer->depthwise.kernel.bias = offsets;
  if (layer->halves == NULL)
    return;
  layer->depthwise.kernel.weights = pack_halves (to, n, arena);
  layer->depthwise.kernel.bias = pack_halves (
    offsets, ((gsize) layer->channels + SL_FLOAT_WIDE - 1) / SL_FLOAT_WIDE * SL_FLOAT_WIDE, arena);
}

/* How many of @n floats are not zero. */
static gsize
count (const gfloat *values, gsize n)
{
  gsize found = 0;
  for (gsize i = 0; i < n; i++)
    found += values[i] != 0;
  return found;
}

static void
pack_sparse (SlFloatLayer *layer, const gfloat *weights, SlArena *arena)
{
  const gsize n = (gsize) layer->channels * (gsize) layer->depth, found = count (weights, n);
  gint32 *starts = sl_arena_alloc (arena, ((gsize) layer->channels + 1) * sizeof starts[0]), at = 0;
  guint16 *places = sl_arena_alloc (arena, found * sizeof places[0]);
  gfloat *values = sl_arena_alloc (arena, found * sizeof values[0]);
  for (gint32 c = 0; c < layer->channels; c++) {
    starts[c] = at;
    for (gint32 k = 0; k < layer->depth; k++, weights++)
      if (*weights != 0) {
        places[at] = (guint16) k;
        values[at++] = *weights;
      }
  }
  starts[layer->channels] = at;
  layer->sparse.starts = starts;
  layer->sparse.places = places;
  layer->sparse.values = values;
}

void
sl_float_pack (SlFloatLayer *layer, const SlGraph *graph, const SlNode *node,
               const SlFloatSource *weights, SlPool *pool, SlArena *arena)
{
  if (layer->mode == SL_FLOAT_DEPTHWISE)
    pack_depthwise (layer, weights->tensor, sl_float_bias (graph, node), arena);
  else if (layer->mode == SL_FLOAT_SPARSE)
    pack_sparse (layer, weights->values, arena);
  else if (layer->mode == SL_FLOAT_WINOGRAD)
    pack_winograd (layer, weights->values, pool, arena);
  else if (layer->tiles.weights == SL_FLOAT_FEW_BITS)
    sl_float_few_bits_pack (layer, &weights->matrix, weights->by, pool, arena);
  else
    pack_gemm (layer, weights->turned ? (const void *) weights : weights->values, weights->turned,
               pool, arena);
  if (layer->mode != SL_FLOAT_DEPTHWISE)
    layer->tiles.gemm.bias = layer->sparse.bias =
      pack_bias (layer, sl_float_bias (graph, node), arena);
}

void
sl_float_pack_part (SlFloatLayer *part, const SlGraph *graph, const SlNode *node, SlPool *pool,
                    SlArena *arena)
{
  g_autofree gfloat *weights = sl_float_transposed_weights (part, sl_node_input (graph, node, 1));
  pack_gemm (part, weights, FALSE, pool, arena);
  part->tiles.gemm.bias = pack_bias (part, sl_float_bias (graph, node), arena);
}
