/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Nodes to packed layers. The zero points are folded into the bias here, weights that need nine bits are split, and
 * nodes whose sums could leave the range in which conversion is exact are refused.
 */
#include <string.h>

#include "core/kernels/int8/layer.h"
#include "core/kernels/kernels.h"

/** Weights of a node by output channel and position in its row of activations. */
typedef struct
{
  const void *data;
  SlDtype dtype;
  gint32 zero_point;
  gint32 channels, depth;
  gsize channel_stride, depth_stride;
} Weights;

static gboolean
is_depthwise (const SlGraph *graph, const SlNode *node)
{
  return node->op == SL_OP_DEPTHWISE_CONV_2D && sl_node_input (graph, node, 0)->dims[3] > 1;
}

/* A depthwise filter over one channel is an ordinary one. */
static Weights
weights_of (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *tensor = sl_node_input (graph, node, 1);
  Weights w = { .data = tensor->data, .dtype = tensor->dtype };
  w.zero_point = tensor->quant.count > 1 ? 0 : sl_tensor_zero_point (tensor);
  w.channels = tensor->dims[node->op == SL_OP_DEPTHWISE_CONV_2D ? 3 : 0];
  w.depth = (gint32) (tensor->bytes / (gsize) w.channels);
  w.channel_stride = node->op == SL_OP_DEPTHWISE_CONV_2D ? 1 : (gsize) w.depth;
  w.depth_stride = node->op == SL_OP_DEPTHWISE_CONV_2D ? (gsize) w.channels : 1;
  return w;
}

static gint32
weight_at (const Weights *w, gint32 channel, gint32 k)
{
  return sl_load_code (w->data, w->dtype, (gsize) channel * w->channel_stride + (gsize) k * w->depth_stride) - w->zero_point;
}

static gfloat
scale_of (const SlGraph *graph, const SlNode *node, gint32 channel)
{
  const SlQuant *quant = &sl_node_input (graph, node, 1)->quant;
  return sl_tensor_scale (sl_node_input (graph, node, 0)) * quant->scale[quant->count > 1 ? channel : 0]
         / sl_tensor_scale (sl_node_output (graph, node, 0));
}

static gint32
bias_of (const SlGraph *graph, const SlNode *node, gint32 channel)
{
  const SlTensor *bias = sl_node_input (graph, node, 2);
  return bias != NULL ? ((const gint32 *) bias->data)[channel] : 0;
}

/* Sums must fit 32 bits and scaled sums 30, for any input; XNNPACK's range of scales besides. */
static gboolean
sums_fit (const SlGraph *graph, const SlNode *node)
{
  const Weights w = weights_of (graph, node);
  for (gint32 c = 0; c < w.channels; c++) {
    const gfloat scale = scale_of (graph, node, c);
    gint64 most = ABS ((gint64) bias_of (graph, node, c));
    for (gint32 k = 0; k < w.depth; k++)
      most += 255 * ABS (weight_at (&w, c, k));
    if (most > G_MAXINT32 || !(scale >= 0x1p-32f && scale < 0x1p+8f) || (gdouble) most * (gdouble) scale > 0x1p+30)
      return FALSE;
  }
  return TRUE;
}

gboolean
sl_int8_supports (const SlGraph *graph, const SlNode *node)
{
  if (node->op != SL_OP_CONV_2D && node->op != SL_OP_DEPTHWISE_CONV_2D && node->op != SL_OP_FULLY_CONNECTED)
    return FALSE;
  const SlTensor *x = sl_node_input (graph, node, 0), *w = sl_node_input (graph, node, 1);
  if (x->dtype != SL_DTYPE_U8 && x->dtype != SL_DTYPE_I8)
    return FALSE;
  if (node->op == SL_OP_CONV_2D && w->dims[3] != x->dims[3])
    return FALSE;
  if (is_depthwise (graph, node) && (node->params.window.depth_multiplier != 1 || w->dims[1] * w->dims[2] > SL_INT8_MAX_TAPS))
    return FALSE;
  return sums_fit (graph, node);
}

gboolean
sl_int8_faster (const SlInt8Isa *isa, const SlGraph *graph, const SlNode *node)
{
  return sl_node_input (graph, node, 0)->dtype == SL_DTYPE_U8 ? isa->faster_u8 : isa->faster_i8;
}

static void *
alloc_aligned (SlArena *arena, gsize bytes)
{
  guint8 *memory = sl_arena_alloc (arena, bytes + 2 * SL_TENSOR_ALIGN);
  return memory + (SL_TENSOR_ALIGN - (gsize) memory % SL_TENSOR_ALIGN) % SL_TENSOR_ALIGN;
}

/* Steps that a weight takes when each holds -128..127. */
static gint32
steps_for (gint32 weight)
{
  return weight > 254 ? 3 : weight > 127 || weight < -128 ? 2 : 1;
}

/* What step @step holds of @weight. */
static gint32
part_of (gint32 weight, gint32 step)
{
  for (; step > 0; step--)
    weight -= CLAMP (weight, -128, 127);
  return CLAMP (weight, -128, 127);
}

/* Steps past the first that the units of a panel need: their number, and with @extra where each reads. */
static gint32
find_extra (const SlInt8Isa *isa, const Weights *w, gint32 first, gint32 channels, gint32 *extra)
{
  gint32 n = 0;
  for (gint32 k = 0; !isa->wide && k < w->depth; k += isa->unit) {
    gint32 most = 1;
    for (gint32 c = first; c < first + channels; c++)
      for (gint32 i = k; i < MIN (k + isa->unit, w->depth); i++)
        most = MAX (most, steps_for (weight_at (w, c, i)));
    for (gint32 i = 1; i < most; i++, n++)
      if (extra != NULL)
        extra[n] = k;
  }
  return n;
}

static void
pack_step (const SlInt8Isa *isa, const Weights *w, const SlInt8Panel *panel, gint32 k, gint32 part, void *to)
{
  for (gint32 lane = 0; lane < panel->channels; lane++)
    for (gint32 i = 0; i < isa->unit && k + i < w->depth; i++) {
      const gint32 weight = weight_at (w, panel->channel + lane, k + i);
      if (isa->wide)
        ((gint16 *) to)[lane * isa->unit + i] = (gint16) weight;
      else
        ((gint8 *) to)[lane * isa->unit + i] = (gint8) part_of (weight, part);
    }
}

static void
pack_panel (const SlInt8Isa *isa, const Weights *w, gint32 first, SlInt8Panel *panel, SlArena *arena)
{
  panel->channel = first;
  panel->channels = MIN (w->channels - first, isa->max_groups * isa->lanes);
  panel->groups = (panel->channels + isa->lanes - 1) / isa->lanes;
  panel->steps = (w->depth + isa->unit - 1) / isa->unit;
  panel->n_extra = find_extra (isa, w, first, panel->channels, NULL);
  gint32 *extra = sl_arena_alloc (arena, (gsize) panel->n_extra * sizeof extra[0] + 1);
  find_extra (isa, w, first, panel->channels, extra);
  const gsize step_bytes = (gsize) (panel->groups * isa->lanes * isa->unit) * (isa->wide ? 2 : 1);
  guint8 *weights = alloc_aligned (arena, step_bytes * (gsize) (panel->steps + panel->n_extra));
  panel->weights = weights;
  panel->extra = extra;
  for (gint32 s = 0; s < panel->steps; s++, weights += step_bytes)
    pack_step (isa, w, panel, s * isa->unit, 0, weights);
  for (gint32 s = 0, part = 1; s < panel->n_extra; s++, weights += step_bytes) {
    part = s > 0 && extra[s] == extra[s - 1] ? part + 1 : 1;
    pack_step (isa, w, panel, extra[s], part, weights);
  }
}

/* Bias and scale in the order of lanes, with zeros for those that no channel fills. */
static void
pack_channels (SlInt8Layer *layer, const SlGraph *graph, const SlNode *node, const Weights *w, gint32 lanes, SlArena *arena)
{
  const gsize padded = ((gsize) w->channels + (gsize) lanes - 1) / (gsize) lanes * (gsize) lanes;
  const gint32 shift = layer->isa->wide || layer->isa->signed_codes == layer->is_signed ? 0 : layer->is_signed ? 128 : -128;
  const gint32 zero_point = sl_tensor_zero_point (sl_node_input (graph, node, 0)) + shift;
  gint32 *bias = sl_arena_alloc (arena, padded * sizeof bias[0]);
  gfloat *scale = sl_arena_alloc (arena, padded * sizeof scale[0]);
  for (gint32 c = 0; c < w->channels; c++) {
    guint32 sum = 0;
    for (gint32 k = 0; k < w->depth; k++)
      sum += (guint32) weight_at (w, c, k);
    const gint32 at = layer->depthwise ? c - c % lanes + layer->isa->dw_lane (c % lanes) : c;
    bias[at] = (gint32) ((guint32) bias_of (graph, node, c) - (guint32) zero_point * sum);
    scale[at] = scale_of (graph, node, c);
  }
  layer->gemm.bias = layer->dw.bias = bias;
  layer->gemm.scale = layer->dw.scale = scale;
  layer->gemm.flip = layer->dw.flip = shift != 0 ? 0x80 : 0;
}

static void
set_output (SlInt8Layer *layer, const SlGraph *graph, const SlNode *node)
{
  SlClamp clamp;
  const SlTensor *output = sl_node_output (graph, node, 0);
  const gint32 shift = output->dtype == SL_DTYPE_I8 ? 128 : 0;
  sl_clamp_for (&clamp, node->op == SL_OP_FULLY_CONNECTED ? node->params.fully_connected.activation : node->params.window.activation,
                output);
  layer->gemm.output = layer->dw.output = (SlInt8Output){
    .zero_point = (gint16) (sl_tensor_zero_point (output) + shift),
    .lo = (guint8) (clamp.lo + shift),
    .hi = (guint8) (clamp.hi + shift),
    .flip = shift != 0 ? 0x80 : 0,
  };
}

static void
set_window (SlInt8Layer *layer, const SlGraph *graph, const SlNode *node)
{
  const SlTensor *x = sl_node_input (graph, node, 0), *w = sl_node_input (graph, node, 1), *y = sl_node_output (graph, node, 0);
  const SlWindow *window = &node->params.window;
  gsize elements = 0;
  sl_tensor_elements (y, &elements);
  layer->channels = y->dims[y->rank - 1];
  layer->rows = (gint32) (elements / (gsize) layer->channels);
  layer->direct = node->op == SL_OP_FULLY_CONNECTED;
  if (layer->direct)
    return;
  layer->images = x->dims[0];
  layer->window = (SlInt8Window){
    .h = x->dims[1],
    .w = x->dims[2],
    .channels = x->dims[3],
    .out_h = y->dims[1],
    .out_w = y->dims[2],
    .filter_h = w->dims[1],
    .filter_w = w->dims[2],
    .stride_h = window->stride_h,
    .stride_w = window->stride_w,
    .dilation_h = window->dilation_h,
    .dilation_w = window->dilation_w,
    .top = window->pad_top,
    .left = window->pad_left,
  };
  layer->direct = w->dims[1] == 1 && w->dims[2] == 1 && window->stride_h == 1 && window->stride_w == 1 && y->dims[1] == x->dims[1]
                  && y->dims[2] == x->dims[2] && window->pad_top == 0 && window->pad_left == 0;
}

/* Pieces of work: rows that stay in the first cache with their gathered windows, and weights that stay in the second while rows pass;
 * with threads, enough of them to share out evenly. */
static void
set_tiles (SlInt8Layer *layer, guint threads, SlArena *arena)
{
  const gsize element = layer->isa->wide ? 2 : 1;
  const gboolean gathers = !layer->direct || layer->isa->wide;
  layer->row_bytes = ((gsize) layer->depth + SL_INT8_MAX_UNIT - 1) / SL_INT8_MAX_UNIT * SL_INT8_MAX_UNIT;
  gint32 rows = gathers ? (gint32) CLAMP (24576 / (layer->row_bytes * element) / 12, 1, 8) * 12 : 96;
  const gsize panel_bytes = (gsize) layer->depth * (gsize) (layer->isa->max_groups * layer->isa->lanes) * element;
  gint32 panels = (gint32) CLAMP (262144 / panel_bytes, 1, (gsize) layer->n_panels);
  const gint32 pieces = threads > 1 ? 4 * (gint32) threads : 1;
  while (rows > 12 && layer->rows / rows < pieces)
    rows -= 12;
  while (panels > 1 && (layer->rows + rows - 1) / rows * (layer->n_panels / panels) < pieces)
    panels = (panels + 1) / 2;
  layer->tile_rows = rows;
  layer->chunk_panels = panels;
  if (!gathers)
    return;
  layer->scratch_bytes = ((gsize) (rows + 1) * layer->row_bytes * element + 2 * SL_TENSOR_PADDING) / SL_TENSOR_ALIGN * SL_TENSOR_ALIGN;
  layer->scratch = alloc_aligned (arena, layer->scratch_bytes * threads);
}

static void
pack_gemm (SlInt8Layer *layer, const Weights *w, guint threads, SlArena *arena)
{
  const gint32 width = layer->isa->max_groups * layer->isa->lanes;
  layer->depth = w->depth;
  layer->n_panels = (w->channels + width - 1) / width;
  SlInt8Panel *panels = sl_arena_alloc (arena, (gsize) layer->n_panels * sizeof panels[0]);
  for (gint32 p = 0; p < layer->n_panels; p++)
    pack_panel (layer->isa, w, p * width, &panels[p], arena);
  layer->gemm.panels = panels;
  set_tiles (layer, threads, arena);
}

/* In which quad and slot tap @tap goes: a quad is a column of a 3x3 window walked by rows, or else the next four taps. */
static gint32
slot_of (const SlInt8Layer *layer, gint32 tap)
{
  return layer->by_rows ? tap % 3 * SL_INT8_QUAD + tap / 3 : tap;
}

/* Narrow: [quad][lane][4 taps]; wide: [pair of taps][lane][2 taps]. */
static void
pack_block (SlInt8Layer *layer, const Weights *w, gint32 first, gint32 pass, guint8 *to)
{
  const SlInt8Isa *isa = layer->isa;
  const gint32 unit = isa->wide ? 2 : SL_INT8_QUAD;
  for (gint32 c = first; c < MIN (first + isa->dw_lanes, w->channels); c++)
    for (gint32 tap = 0; tap < w->depth; tap++) {
      const gint32 slot = slot_of (layer, tap);
      const gint32 at = (slot / unit * isa->dw_lanes + isa->dw_lane (c - first)) * unit + slot % unit;
      if (isa->wide)
        ((gint16 *) to)[at] = (gint16) weight_at (w, c, tap);
      else
        ((gint8 *) to)[at] = (gint8) part_of (weight_at (w, c, tap), pass);
    }
}

static void
pack_depthwise (SlInt8Layer *layer, const Weights *w, SlArena *arena)
{
  const SlInt8Isa *isa = layer->isa;
  const SlInt8Window *window = &layer->window;
  const gint32 blocks = (w->channels + isa->dw_lanes - 1) / isa->dw_lanes;
  layer->by_rows = isa->depthwise_rows != NULL && window->filter_h == 3 && window->filter_w == 3 && window->dilation_h == 1
                   && window->dilation_w == 1 && window->stride_h == window->stride_w && window->stride_h <= 2;
  layer->dw.channels = w->channels;
  layer->dw.quads = layer->by_rows ? 3 : (w->depth + SL_INT8_QUAD - 1) / SL_INT8_QUAD;
  const gsize pass_bytes = (gsize) (isa->dw_lanes * layer->dw.quads) * SL_INT8_QUAD * (isa->wide ? 2 : 1);
  guint8 *passes = sl_arena_alloc (arena, (gsize) blocks), most = 1;
  for (gint32 c = 0; c < w->channels; c++)
    for (gint32 k = 0; k < w->depth; k++) {
      const gint32 steps = isa->wide ? 1 : steps_for (weight_at (w, c, k));
      passes[c / isa->dw_lanes] = MAX (passes[c / isa->dw_lanes], (guint8) steps);
      most = MAX (most, (guint8) steps);
    }
  layer->dw.passes = passes;
  layer->dw.block_bytes = pass_bytes * most;
  guint8 *weights = alloc_aligned (arena, layer->dw.block_bytes * (gsize) blocks);
  layer->dw.weights = (const gint8 *) weights;
  for (gint32 b = 0; b < blocks; b++)
    for (gint32 pass = 0; pass < passes[b]; pass++)
      pack_block (layer, w, b * isa->dw_lanes, pass, weights + (gsize) b * layer->dw.block_bytes + (gsize) pass * pass_bytes);
  const gsize pad = (gsize) (layer->by_rows ? window->w : 1) * (gsize) window->channels;
  layer->pad = alloc_aligned (arena, pad + SL_TENSOR_PADDING);
  memset (layer->pad, layer->zero_code, pad + SL_TENSOR_PADDING);
  layer->dw.pad = layer->zero_code;
}

SlInt8Layer *
sl_int8_layer_new (const SlInt8Isa *isa, const SlGraph *graph, const SlNode *node, guint threads, SlArena *arena)
{
  SlInt8Layer *layer = sl_arena_alloc (arena, sizeof *layer);
  const SlTensor *input = sl_node_input (graph, node, 0);
  const Weights w = weights_of (graph, node);
  layer->isa = isa;
  layer->is_signed = input->dtype == SL_DTYPE_I8;
  layer->zero_code = (guint8) sl_tensor_zero_point (input);
  layer->depthwise = is_depthwise (graph, node);
  set_window (layer, graph, node);
  set_output (layer, graph, node);
  pack_channels (layer, graph, node, &w, layer->depthwise ? isa->dw_lanes : isa->max_groups * isa->lanes, arena);
  if (layer->depthwise)
    pack_depthwise (layer, &w, arena);
  else
    pack_gemm (layer, &w, threads, arena);
  return layer;
}
