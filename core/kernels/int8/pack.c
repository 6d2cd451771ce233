/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weights in the order in which the inner loops read them. Zero points are folded into the bias here, and weights
 * that need nine bits are split over further steps.
 */
#include <string.h>

#include "core/kernels/int8/layer.h"
#include "core/kernels/kernels.h"

/** Consecutive activations of a window that one step multiplies: @k of the window, @offset where they are read. */
typedef struct
{
  gint32 k, count, offset;
} Unit;

/* A depthwise filter over one channel is an ordinary one. */
SlInt8Weights
sl_int8_weights (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *tensor = sl_node_input (graph, node, 1);
  SlInt8Weights w = { .data = tensor->data, .dtype = tensor->dtype };
  w.zero_point = tensor->quant.count > 1 ? 0 : sl_tensor_zero_point (tensor);
  w.channels = tensor->dims[node->op == SL_OP_DEPTHWISE_CONV_2D ? 3 : 0];
  w.depth = (gint32) (tensor->bytes / (gsize) w.channels);
  w.channel_stride = node->op == SL_OP_DEPTHWISE_CONV_2D ? 1 : (gsize) w.depth;
  w.depth_stride = node->op == SL_OP_DEPTHWISE_CONV_2D ? (gsize) w.channels : 1;
  return w;
}

gint32
sl_int8_weight (const SlInt8Weights *w, gint32 channel, gint32 k)
{
  return sl_load_code (w->data, w->dtype, (gsize) channel * w->channel_stride + (gsize) k * w->depth_stride) - w->zero_point;
}

gfloat
sl_int8_scale_of (const SlGraph *graph, const SlNode *node, gint32 channel)
{
  const SlQuant *quant = &sl_node_input (graph, node, 1)->quant;
  return sl_tensor_scale (sl_node_input (graph, node, 0)) * quant->scale[quant->count > 1 ? channel : 0]
         / sl_tensor_scale (sl_node_output (graph, node, 0));
}

gint32
sl_int8_bias_of (const SlGraph *graph, const SlNode *node, gint32 channel)
{
  const SlTensor *bias = sl_node_input (graph, node, 2);
  return bias != NULL ? ((const gint32 *) bias->data)[channel] : 0;
}

void *
sl_int8_alloc (SlArena *arena, gsize bytes)
{
  guint8 *memory = sl_arena_alloc (arena, bytes + SL_TENSOR_PADDING + SL_TENSOR_ALIGN);
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

/* Units of a window: in banded layers each of its rows begins a new one. */
static Unit *
units_new (const SlInt8Layer *layer, gint32 *n)
{
  const gint32 unit = layer->isa->unit, runs = layer->mode == SL_INT8_BANDED ? layer->window.filter_h : 1, run = layer->depth / runs;
  const gint32 per_run = (run + unit - 1) / unit;
  Unit *units = g_new (Unit, (gsize) runs * (gsize) per_run);
  *n = runs * per_run;
  for (gint32 i = 0; i < *n; i++) {
    const gint32 at = i % per_run * unit;
    units[i] = (Unit){ i / per_run * run + at, MIN (unit, run - at), i / per_run * layer->line + at };
  }
  return units;
}

/* Steps that unit @unit needs in a panel. */
static gint32
steps_of_unit (const SlInt8Layer *layer, const SlInt8Weights *w, const SlInt8Panel *panel, const Unit *unit)
{
  gint32 most = 1;
  for (gint32 c = 0; !layer->isa->wide && c < panel->channels; c++)
    for (gint32 i = 0; i < unit->count; i++)
      most = MAX (most, steps_for (sl_int8_weight (w, panel->channel + c, unit->k + i)));
  return most;
}

static void
pack_step (const SlInt8Isa *isa, const SlInt8Weights *w, const SlInt8Panel *panel, const Unit *unit, gint32 part, void *to)
{
  for (gint32 lane = 0; lane < panel->channels; lane++)
    for (gint32 i = 0; i < unit->count; i++) {
      const gint32 weight = sl_int8_weight (w, panel->channel + lane, unit->k + i);
      if (isa->wide)
        ((gint16 *) to)[lane * isa->unit + i] = (gint16) weight;
      else
        ((gint8 *) to)[lane * isa->unit + i] = (gint8) part_of (weight, part);
    }
}

static void
pack_panel (const SlInt8Layer *layer, const SlInt8Weights *w, const Unit *units, gint32 n_units, SlInt8Panel *panel, SlArena *arena)
{
  const SlInt8Isa *isa = layer->isa;
  gint32 all = 0;
  panel->channels = MIN (w->channels - panel->channel, isa->max_groups * isa->lanes);
  panel->groups = (panel->channels + isa->lanes - 1) / isa->lanes;
  panel->steps = layer->mode == SL_INT8_BANDED ? 0 : n_units;
  for (gint32 u = 0; u < n_units; u++)
    all += steps_of_unit (layer, w, panel, &units[u]);
  gint32 *extra = sl_arena_alloc (arena, (gsize) all * sizeof extra[0]);
  const gsize step_bytes = (gsize) (panel->groups * isa->lanes * isa->unit) * (isa->wide ? 2 : 1);
  guint8 *weights = sl_int8_alloc (arena, step_bytes * (gsize) all);
  panel->weights = weights;
  panel->extra = extra;
  for (gint32 u = 0; u < n_units; u++, weights += step_bytes) {
    pack_step (isa, w, panel, &units[u], 0, weights);
    if (panel->steps == 0)
      extra[panel->n_extra++] = units[u].offset;
  }
  for (gint32 u = 0; u < n_units; u++)
    for (gint32 part = 1, n = steps_of_unit (layer, w, panel, &units[u]); part < n; part++, weights += step_bytes) {
      pack_step (isa, w, panel, &units[u], part, weights);
      extra[panel->n_extra++] = units[u].offset;
    }
}

static void
pack_gemm (SlInt8Layer *layer, const SlInt8Weights *w, SlArena *arena)
{
  gint32 n_units = 0;
  const gint32 width = layer->isa->max_groups * layer->isa->lanes;
  g_autofree Unit *units = units_new (layer, &n_units);
  SlInt8Panel *panels = sl_arena_alloc (arena, (gsize) layer->n_panels * sizeof panels[0]);
  for (gint32 p = 0; p < layer->n_panels; p++) {
    panels[p].channel = p * width;
    pack_panel (layer, w, units, n_units, &panels[p], arena);
  }
  layer->gemm.panels = panels;
}

/* In which quad and slot tap @tap goes: a quad is a column of a 3x3 window, or else the next four taps. */
static gint32
slot_of (const SlInt8Layer *layer, gint32 tap)
{
  return layer->mode != SL_INT8_DW_TAPS ? tap % 3 * SL_INT8_QUAD + tap / 3 : tap;
}

/* Narrow: [quad][lane][4 taps]; wide: [pair of taps][lane][2 taps]. @first counts round and round in flat layers. */
static void
pack_block (SlInt8Layer *layer, const SlInt8Weights *w, gint32 first, gint32 pass, guint8 *to)
{
  const SlInt8Isa *isa = layer->isa;
  const gint32 unit = isa->wide ? 2 : SL_INT8_QUAD;
  for (gint32 c = first; c < MIN (first + isa->dw_lanes, layer->dw.channels); c++)
    for (gint32 tap = 0; tap < w->depth; tap++) {
      const gint32 slot = slot_of (layer, tap), weight = sl_int8_weight (w, c % w->channels, tap);
      const gint32 at = (slot / unit * isa->dw_lanes + isa->dw_lane (c - first)) * unit + slot % unit;
      if (isa->wide)
        ((gint16 *) (gpointer) to)[at] = (gint16) weight;
      else
        ((gint8 *) to)[at] = (gint8) part_of (weight, pass);
    }
}

static void
pack_depthwise (SlInt8Layer *layer, const SlInt8Weights *w, SlArena *arena)
{
  const SlInt8Isa *isa = layer->isa;
  const gint32 blocks = (layer->dw.channels + isa->dw_lanes - 1) / isa->dw_lanes;
  layer->dw.quads = layer->mode != SL_INT8_DW_TAPS ? 3 : (w->depth + SL_INT8_QUAD - 1) / SL_INT8_QUAD;
  const gsize pass_bytes = (gsize) (isa->dw_lanes * layer->dw.quads) * SL_INT8_QUAD * (isa->wide ? 2 : 1);
  guint8 *passes = sl_arena_alloc (arena, (gsize) blocks), most = 1;
  for (gint32 c = 0; c < layer->dw.channels; c++)
    for (gint32 k = 0; k < w->depth; k++) {
      const gint32 steps = isa->wide ? 1 : steps_for (sl_int8_weight (w, c % w->channels, k));
      passes[c / isa->dw_lanes] = MAX (passes[c / isa->dw_lanes], (guint8) steps);
      most = MAX (most, (guint8) steps);
    }
  layer->dw.passes = passes;
  layer->dw.block_bytes = pass_bytes * most;
  guint8 *weights = sl_int8_alloc (arena, layer->dw.block_bytes * (gsize) blocks);
  layer->dw.weights = (const gint8 *) weights;
  for (gint32 b = 0; b < blocks; b++)
    for (gint32 pass = 0; pass < passes[b]; pass++)
      pack_block (layer, w, b * isa->dw_lanes, pass, weights + (gsize) b * layer->dw.block_bytes + (gsize) pass * pass_bytes);
}

/* Bias and scale in the order of lanes, with zeros for those that no channel fills. */
static void
pack_channels (SlInt8Layer *layer, const SlGraph *graph, const SlNode *node, const SlInt8Weights *w, SlArena *arena)
{
  const SlInt8Isa *isa = layer->isa;
  const gboolean depthwise = layer->mode >= SL_INT8_DW_TAPS;
  const gint32 lanes = depthwise ? isa->dw_lanes : isa->max_groups * isa->lanes, n = depthwise ? layer->dw.channels : w->channels;
  const gsize padded = ((gsize) n + (gsize) lanes - 1) / (gsize) lanes * (gsize) lanes;
  const gint32 shift = isa->wide || isa->signed_codes == layer->is_signed ? 0 : layer->is_signed ? 128 : -128;
  const gint32 zero_point = sl_tensor_zero_point (sl_node_input (graph, node, 0)) + shift;
  gint32 *bias = sl_int8_alloc (arena, padded * sizeof bias[0]);
  gfloat *scale = sl_int8_alloc (arena, padded * sizeof scale[0]);
  for (gint32 i = 0; i < n; i++) {
    const gint32 c = i % w->channels, at = depthwise ? i - i % lanes + isa->dw_lane (i % lanes) : i;
    guint32 sum = 0;
    for (gint32 k = 0; k < w->depth; k++)
      sum += (guint32) sl_int8_weight (w, c, k);
    bias[at] = (gint32) ((guint32) sl_int8_bias_of (graph, node, c) - (guint32) zero_point * sum);
    scale[at] = sl_int8_scale_of (graph, node, c);
  }
  layer->gemm.bias = layer->dw.bias = bias;
  layer->gemm.scale = layer->dw.scale = scale;
  layer->gemm.flip = layer->dw.flip = shift != 0 ? 0x80 : 0;
}

void
sl_int8_pack (SlInt8Layer *layer, const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlInt8Weights w = sl_int8_weights (graph, node);
  pack_channels (layer, graph, node, &w, arena);
  if (layer->mode >= SL_INT8_DW_TAPS)
    pack_depthwise (layer, &w, arena);
  else
    pack_gemm (layer, &w, arena);
}
