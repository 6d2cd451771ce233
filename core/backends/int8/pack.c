/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weights in the order in which the inner loops read them. Zero points are folded into the bias
 * here, and weights that need nine bits are split over further steps.
 */
#include <math.h>
#include <string.h>

#include "core/backends/int8/layer.h"
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

/* Weights that are read together; their sums fit 16 bits for SUMMED of these. */
#define BLOCK 8
#define SUMMED 64

typedef guint8 Bytes __attribute__ ((vector_size (BLOCK)));
typedef gint8 SignedBytes __attribute__ ((vector_size (BLOCK)));
typedef gint16 Words __attribute__ ((vector_size (2 * BLOCK)));

/** What is known of the weights of a channel. */
typedef struct
{
  gint16 least, most;
  gint32 sum;
} Range;

static inline void
note (Range *range, gint16 value)
{
  range->least = MIN (range->least, value);
  range->most = MAX (range->most, value);
  range->sum += value;
}

/* @n blocks, SUMMED at most. @low: right where the weights fit it */
static inline __attribute__ ((always_inline)) void
read_blocks (const guint8 *from, const gboolean is_signed, gint16 zero_point, gint32 n,
             gint16 *values, gint8 *low, Range *range)
{
  Words least = { 0 }, most = { 0 }, sum = { 0 };
  for (gint32 i = 0; i < n; i++) {
    Bytes bytes;
    memcpy (&bytes, from + i * BLOCK, sizeof bytes);
    const Words words = (is_signed ? __builtin_convertvector((SignedBytes) bytes, Words)
                                   : __builtin_convertvector(bytes, Words))
                        - zero_point;
    const Words below = (Words) (words < least);
    const Words above = (Words) (words > most);
    least = (words & below) | (least & ~below);
    most = (words & above) | (most & ~above);
    sum += words;
    memcpy (values + i * BLOCK, &words, sizeof words);
    bytes -= (guint8) zero_point;
    memcpy (low + i * BLOCK, &bytes, sizeof bytes);
  }
  for (gint i = 0; i < BLOCK; i++) {
    range->least = MIN (range->least, least[i]);
    range->most = MAX (range->most, most[i]);
    range->sum += sum[i];
  }
}

/* The weights of one channel, which follow each other in the file. */
static Range
read_row (const SlTensor *tensor, gint16 zero_point, gsize first, gint32 depth, gint16 *values,
          gint8 *low)
{
  const guint8 *from = (const guint8 *) tensor->data + first;
  const gboolean is_signed = tensor->dtype == SL_DTYPE_I8;
  const gint32 whole = depth / BLOCK;
  Range range = { 0 };
  for (gint32 b = 0; b < whole; b += SUMMED) {
    const gint32 at = b * BLOCK, n = MIN (SUMMED, whole - b);
    if (is_signed)
      read_blocks (from + at, TRUE, zero_point, n, values + at, low + at, &range);
    else
      read_blocks (from + at, FALSE, zero_point, n, values + at, low + at, &range);
  }
  for (gint32 k = whole * BLOCK; k < depth; k++) {
    values[k] = (gint16) ((is_signed ? (gint8) from[k] : from[k]) - zero_point);
    low[k] = (gint8) values[k];
    note (&range, values[k]);
  }
  return range;
}

/* Those of a channel that are @stride apart. */
static Range
read_column (const SlTensor *tensor, gint16 zero_point, gsize first, gsize stride, gint32 depth,
             gint16 *values, gint8 *low)
{
  const guint8 *from = (const guint8 *) tensor->data + first;
  Range range = { 0 };
  for (gsize k = 0; k < (gsize) depth; k++) {
    const guint8 byte = from[k * stride];
    values[k] = (gint16) ((tensor->dtype == SL_DTYPE_I8 ? (gint8) byte : byte) - zero_point);
    low[k] = (gint8) values[k];
    note (&range, values[k]);
  }
  return range;
}

/* Terms that a weight takes when each holds @least..127. */
static gint32
steps_for (gint32 weight, gint32 least)
{
  return weight > 254 || weight < 2 * least ? 3 : weight > 127 || weight < least ? 2 : 1;
}

/* What term @step holds of @weight of a depthwise layer. */
static gint32
part_of (gint32 weight, gint32 step, gint32 least)
{
  for (; step > 0; step--)
    weight -= CLAMP (weight, least, 127);
  return CLAMP (weight, least, 127);
}

static gint16
weight_zero_point (const SlTensor *tensor)
{
  return (gint16) (tensor->quant.count > 1 ? 0 : sl_tensor_zero_point (tensor));
}

void
sl_int8_weights_init (SlInt8Weights *w, const SlInt8Isa *isa, const SlGraph *graph,
                      const SlNode *node, gint32 runs, gint32 most)
{
  const SlTensor *tensor = sl_node_input (graph, node, 1);
  w->tensor = tensor;
  w->least = isa != NULL && isa->symmetric ? -127 : -128;
  w->by_depth = node->op == SL_OP_DEPTHWISE_CONV_2D;
  w->channels = tensor->dims[w->by_depth ? 3 : 0];
  w->depth = (gint32) (tensor->bytes / (gsize) w->channels);
  w->run = w->depth / runs;
  w->limit = G_MAXINT16;
  if (isa != NULL && isa->pairs)
    w->limit /= sl_int8_is_dynamic (node) ? isa->last : G_MAXUINT8;
  const gsize n = (gsize) MIN (most, w->channels);
  w->values = g_new (gint16, n * (gsize) w->depth);
  w->low = g_new (gint8, n * (gsize) w->depth);
  w->steps = g_new (guint8, n);
  w->sums = g_new (gint32, n);
}

void
sl_int8_weights_read (SlInt8Weights *w, gint32 first, gint32 count)
{
  const gint16 zero_point = weight_zero_point (w->tensor);
  w->first = first;
  for (gsize i = 0; i < (gsize) count; i++) {
    const gsize at = i * (gsize) w->depth, c = (gsize) first + i;
    gint16 *values = w->values + at;
    gint8 *low = w->low + at;
    const Range range =
      w->by_depth
        ? read_column (w->tensor, zero_point, c, (gsize) w->channels, w->depth, values, low)
        : read_row (w->tensor, zero_point, c * (gsize) w->depth, w->depth, values, low);
    w->sums[i] = range.sum;
    w->steps[i] =
      (guint8) MAX (steps_for (range.least, w->least), steps_for (range.most, w->least));
    for (gint32 k = 0; w->steps[i] > 1 && k < w->depth; k++)
      low[k] = (gint8) CLAMP (values[k], w->least, 127);
    sl_int8_limit (w, (gint32) i);
  }
}

void
sl_int8_weights_clear (SlInt8Weights *w)
{
  g_free (w->values);
  g_free (w->low);
  g_free (w->steps);
  g_free (w->sums);
}

gint32
sl_int8_bias_of (const SlGraph *graph, const SlNode *node, gint32 channel)
{
  const SlTensor *bias = sl_node_input (graph, node, 2);
  return bias != NULL ? ((const gint32 *) bias->data)[channel] : 0;
}

/* In which quad and slot tap @tap goes: a quad is a column of a 3x3 window, or else the next four
 * taps. */
static gint32
slot_of (const SlInt8Layer *layer, gint32 tap)
{
  return layer->mode != SL_INT8_DW_TAPS ? tap % 3 * SL_INT8_QUAD + tap / 3 : tap;
}

/* Narrow: [quad][lane][4 taps]; int16: [pair of taps][lane][2 taps], in the second pass a tap
 * later. @first counts round and round in flat layers. */
static void
pack_block (SlInt8Layer *layer, const SlInt8Weights *w, gint32 first, gint32 pass, guint8 *to)
{
  const SlInt8Isa *isa = layer->isa;
  const gint32 unit = isa->int16 ? 2 : SL_INT8_QUAD;
  for (gint32 c = first; c < MIN (first + isa->dw_lanes, layer->dw.channels); c++)
    for (gint32 tap = 0; tap < w->depth; tap++) {
      const gint32 slot = slot_of (layer, tap) + (isa->int16 ? pass : 0),
                   weight = w->values[(gsize) (c % w->channels) * (gsize) w->depth + (gsize) tap];
      const gint32 at =
        (slot / unit * isa->dw_lanes + isa->dw_lane (c - first)) * unit + slot % unit;
      if (isa->int16)
        ((gint16 *) (gpointer) to)[at] = (gint16) weight;
      else
        ((gint8 *) to)[at] = (gint8) part_of (weight, pass, w->least);
    }
}

static void
pack_blocks (SlInt8Layer *layer, const SlInt8Weights *w, SlArena *arena)
{
  const SlInt8Isa *isa = layer->isa;
  const gint32 blocks = (layer->dw.channels + isa->dw_lanes - 1) / isa->dw_lanes;
  layer->dw.quads =
    layer->mode != SL_INT8_DW_TAPS ? 3 : (w->depth + SL_INT8_QUAD - 1) / SL_INT8_QUAD;
  const gsize pass_bytes =
    (gsize) (isa->dw_lanes * layer->dw.quads) * SL_INT8_QUAD * (isa->int16 ? 2 : 1);
  guint8 *passes = sl_arena_alloc (arena, (gsize) blocks), most = 1;
  for (gint32 c = 0; c < layer->dw.channels; c++) {
    const guint8 steps =
      isa->int16 ? 1 + (layer->mode != SL_INT8_DW_TAPS) : w->steps[c % w->channels];
    passes[c / isa->dw_lanes] = MAX (passes[c / isa->dw_lanes], steps);
    most = MAX (most, steps);
  }
  layer->dw.passes = passes;
  layer->dw.block_bytes = pass_bytes * most;
  guint8 *weights = sl_tensor_alloc (arena, layer->dw.block_bytes * (gsize) blocks);
  layer->dw.weights = (const gint8 *) weights;
  for (gint32 b = 0; b < blocks; b++)
    for (gint32 pass = 0; pass < passes[b]; pass++)
      pack_block (layer, w, b * isa->dw_lanes, pass,
                  weights + (gsize) b * layer->dw.block_bytes + (gsize) pass * pass_bytes);
}

/* Bias, scale and rest in the order of lanes, with zeros for those that no channel fills. */
typedef struct
{
  gint32 *bias;
  gfloat *scale, *rest, *lean;
  gint32 zero_point;
} Channels;

static void
channels_init (Channels *channels, SlInt8Layer *layer, const SlGraph *graph, const SlNode *node,
               gint32 n, gint32 lanes, SlArena *arena)
{
  const gsize padded = ((gsize) n + (gsize) lanes - 1) / (gsize) lanes * (gsize) lanes;
  const gint32 shift = layer->flip == 0 ? 0 : layer->is_signed ? 128 : -128;
  channels->bias = sl_tensor_alloc (arena, padded * sizeof channels->bias[0]);
  channels->scale = sl_tensor_alloc (arena, padded * sizeof channels->scale[0]);
  channels->rest = sl_tensor_alloc (arena, padded * sizeof channels->rest[0]);
  channels->zero_point = sl_tensor_zero_point (sl_node_input (graph, node, 0)) + shift;
  layer->gemm.bias = layer->dw.bias = channels->bias;
  layer->gemm.scale = layer->dw.scale = channels->scale;
  layer->gemm.rest = layer->dw.rest = channels->rest;
  if (sl_int8_is_dynamic (node)) {
    channels->lean = sl_tensor_alloc (arena, padded * sizeof channels->lean[0]);
    channels->zero_point = layer->is_signed ? -128 : 0;
    layer->gemm.lean = channels->lean;
  }
  layer->dw.flip = layer->flip;
}

/* Channel @c, whose weights have this sum, at place @at. */
static void
channels_set (Channels *channels, gint32 at, const SlGraph *graph, const SlNode *node, gint32 c,
              gint32 sum)
{
  const gfloat *rest = sl_node_bias_rest (node);
  if (sl_int8_is_dynamic (node)) {
    const SlTensor *weights = sl_node_input (graph, node, 1),
                   *bias = sl_node_input (graph, node, 2);
    channels->bias[at] = -channels->zero_point * sum;
    channels->scale[at] = weights->quant.scale[weights->quant.count > 1 ? c : 0];
    channels->lean[at] = channels->scale[at] * (gfloat) sum;
    channels->rest[at] = bias != NULL ? ((const gfloat *) bias->data)[c] : 0;
    return;
  }
  channels->bias[at] = (gint32) ((guint32) sl_int8_bias_of (graph, node, c)
                                 - (guint32) channels->zero_point * (guint32) sum);
  channels->scale[at] = sl_node_sum_scale (graph, node, 0, c);
  channels->rest[at] = rest != NULL ? rest[c] : 0;
}

/* FALSE where @layer's loops are not the fastest for these weights. */
static gboolean
pack_gemm (SlInt8Layer *layer, const SlGraph *graph, const SlNode *node, SlPool *pool,
           SlArena *arena)
{
  Channels channels;
  g_autofree gint32 *sums = g_new (gint32, layer->channels);
  layer->gemm.panels = sl_int8_pack_panels (layer, graph, node, pool, arena, sums);
  if (layer->gemm.panels == NULL)
    return FALSE;
  channels_init (&channels, layer, graph, node, layer->channels,
                 layer->isa->max_groups * layer->isa->lanes, arena);
  for (gint32 c = 0; c < layer->channels; c++)
    channels_set (&channels, c, graph, node, c, sums[c]);
  return TRUE;
}

static void
pack_depthwise (SlInt8Layer *layer, const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const gint32 lanes = layer->isa->dw_lanes;
  SlInt8Weights w;
  Channels channels;
  sl_int8_weights_init (&w, layer->isa, graph, node, 1, G_MAXINT32);
  sl_int8_weights_read (&w, 0, w.channels);
  channels_init (&channels, layer, graph, node, layer->dw.channels, lanes, arena);
  for (gint32 i = 0; i < layer->dw.channels; i++) {
    const gint32 c = i % w.channels;
    channels_set (&channels, i - i % lanes + layer->isa->dw_lane (i % lanes), graph, node, c,
                  w.sums[c]);
  }
  pack_blocks (layer, &w, arena);
  sl_int8_weights_clear (&w);
}

static gboolean
has_weight (const gint16 *four)
{
  return four[0] != 0 || four[1] != 0 || four[2] != 0 || four[3] != 0;
}

gdouble
sl_int8_density (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *tensor = sl_node_input (graph, node, 1);
  const gint16 zero_point = weight_zero_point (tensor),
               base = tensor->dtype == SL_DTYPE_I8 ? 0x80 : 0;
  const guint8 *values = tensor->data, zero = (guint8) zero_point;
  const gint16 least = (gint16) (zero_point - 128 + base),
               most = (gint16) (zero_point + 127 + base);
  gsize found = 0;
  gboolean fits = TRUE;
  for (gsize i = 0; i < tensor->bytes; i += SL_INT8_QUAD) {
    guint four = 0;
    for (gsize k = i; k < i + SL_INT8_QUAD; k++) {
      const gint16 value = (gint16) (values[k] ^ base);
      four |= values[k] ^ zero;
      fits &= value >= least && value <= most;
    }
    found += four != 0;
  }
  return fits ? (gdouble) (found * SL_INT8_QUAD) / (gdouble) tensor->bytes : 1;
}

/* A channel at a time: its fours that are not all zero. */
static void
pack_sparse (SlInt8Layer *layer, const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  SlInt8Weights w;
  Channels channels;
  const gsize fours = (gsize) (layer->depth / SL_INT8_QUAD) * (gsize) layer->channels;
  const gsize found = (gsize) lrint (sl_int8_density (graph, node) * (gdouble) fours);
  gint32 *starts = sl_arena_alloc (arena, ((gsize) layer->channels + 1) * sizeof starts[0]), at = 0;
  guint16 *places = sl_arena_alloc (arena, found * sizeof places[0]);
  gint8 *weights = sl_arena_alloc (arena, found * SL_INT8_QUAD);
  sl_int8_weights_init (&w, layer->isa, graph, node, 1, 1);
  channels_init (&channels, layer, graph, node, layer->channels, 1, arena);
  for (gint32 c = 0; c < layer->channels; c++) {
    starts[c] = at;
    sl_int8_weights_read (&w, c, 1);
    channels_set (&channels, c, graph, node, c, w.sums[0]);
    for (gint32 k = 0; k < layer->depth; k += SL_INT8_QUAD)
      if (has_weight (w.values + k)) {
        memcpy (weights + (gsize) at * SL_INT8_QUAD, w.low + k, SL_INT8_QUAD);
        places[at++] = (guint16) (k / SL_INT8_QUAD);
      }
  }
  starts[layer->channels] = at;
  layer->sparse.starts = starts;
  layer->sparse.places = places;
  layer->sparse.weights = weights;
  layer->sparse.bias = channels.bias;
  layer->sparse.scale = channels.scale;
  layer->sparse.rest = channels.rest;
  sl_int8_weights_clear (&w);
}

gboolean
sl_int8_pack (SlInt8Layer *layer, const SlGraph *graph, const SlNode *node, SlPool *pool,
              SlArena *arena)
{
  if (layer->mode < SL_INT8_DW_TAPS && layer->mode != SL_INT8_SPARSE)
    return pack_gemm (layer, graph, node, pool, arena);
  if (layer->mode == SL_INT8_SPARSE)
    pack_sparse (layer, graph, node, arena);
  else
    pack_depthwise (layer, graph, node, arena);
  return TRUE;
}
