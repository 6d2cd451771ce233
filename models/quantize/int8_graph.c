/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weights are symmetric int8, a scale for each output channel (FULLY_CONNECTED, or where the plan
 * says so: one), biases int32 of input scale times weight scale, constants of other operators int8
 * by their own extremes, as TensorFlow Lite's specification of 8-bit quantisation has it.
 */
#include "models/quantize/int8_graph.h"

#include <math.h>

/* A quantised bias keeps a bit free for the sums that are added to it. */
#define MAX_BIAS ((gdouble) (1 << 30))
#define MAX_VALUE 127
/* Of a sum's scale to the output's: multipliers of kernels have 32 bits behind the point. */
#define MIN_RATIO (1.0f / (1 << 24))
/* Of a channel of zeros. */
#define LEAST_SCALE 1e-30f
/* Largest mean magnitude of the values of a channel of a dynamic layer. AVX2 adds the products of
 * four weights in 16 bits, where those of weights that are evenly spread over 8 bits do not fit. */
#define MOST_MEAN 53

typedef struct
{
  SlGraph *from, *to;
  SlArena *arena;
  const SlPlan *plan;
  const SlRanges *ranges;
  gboolean *is_quantized; /* by tensor: it is made as int8 values */
  gint32 *other; /* by tensor: its float form where it is quantised, its int8 form where it is
                    float; -1 = not made yet */
  GError **error;
} Rewrite;

static gint32
add_tensor (Rewrite *c, const SlTensor *like, const char *suffix)
{
  SlTensor tensor = *like;
  g_autofree char *name = g_strconcat (like->name, suffix, NULL);
  tensor.name = sl_arena_strdup (c->arena, name);
  return sl_graph_add_tensor (c->to, &tensor, c->error);
}

static void
set_quant (Rewrite *c, SlTensor *tensor, guint n, gint axis, const gfloat *scales,
           gint32 zero_point)
{
  gint32 *zero_points = sl_arena_alloc (c->arena, n * sizeof zero_points[0]);
  for (guint i = 0; i < n; i++)
    zero_points[i] = zero_point;
  tensor->quant =
    (SlQuant){ n, axis, sl_arena_memdup (c->arena, scales, n * sizeof scales[0]), zero_points };
}

/* Makes @tensor, of floats, the int8 one that the plan has for it. */
static void
quantize_tensor (Rewrite *c, SlTensor *tensor, gint32 planned)
{
  tensor->dtype = SL_DTYPE_I8;
  tensor->bytes /= sizeof (gfloat);
  set_quant (c, tensor, 1, 0, &c->plan->scale[planned], c->plan->zero_point[planned]);
}

/* A name for the quantised form of a result of the model, whose own name is the result's. */
static gboolean
convert (Rewrite *c, gint32 tensor, const SlNode *node)
{
  const gboolean to_float = c->is_quantized[tensor];
  const gint32 made =
    add_tensor (c, sl_graph_tensor (c->from, tensor), to_float ? "/float" : "/int8");
  if (made < 0)
    return FALSE;
  if (!to_float)
    quantize_tensor (c, (SlTensor *) sl_graph_tensor (c->to, made), tensor);
  c->other[tensor] = made;
  return sl_graph_add_node (c->to, to_float ? SL_OP_DEQUANTIZE : SL_OP_QUANTIZE, node->index,
                            &tensor, 1, &made, 1, NULL, c->error);
}

/* The form of @tensor that @node reads, quantised or not. */
static gint32
form_of (Rewrite *c, const SlNode *node, gint32 tensor, gboolean quantized)
{
  const SlTensor *t = sl_graph_tensor (c->from, tensor);
  if (t->data != NULL || t->dtype != SL_DTYPE_F32 || c->is_quantized[tensor] == quantized)
    return tensor;
  return c->other[tensor] >= 0 || convert (c, tensor, node) ? c->other[tensor] : -1;
}

static gint8
quantized_value (gfloat value, gfloat scale, gint32 zero_point, gint32 least)
{
  return (gint8) CLAMP (nearbyintf (value / scale) + (gfloat) zero_point, (gfloat) least,
                        (gfloat) MAX_VALUE);
}

/* A constant of a node that is no layer, with the scale of @planned, or with its own where that is
 * -1. */
static gint32
add_constant (Rewrite *c, gint32 constant, gint32 planned)
{
  const SlTensor *from = sl_graph_tensor (c->from, constant);
  const gfloat *values = from->data;
  const gsize n = from->bytes / sizeof (gfloat);
  SlTensor tensor = *from;
  SlRange range = { 0, 0 };
  for (gsize i = 0; i < n; i++) {
    range.low = MIN (range.low, (gdouble) values[i]);
    range.high = MAX (range.high, (gdouble) values[i]);
  }
  gfloat scale = range.high > range.low ? (gfloat) ((range.high - range.low) / 255) : 1.0f / 128;
  gint32 zero_point = (gint32) CLAMP (nearbyint (-128 - range.low / (gdouble) scale), -128, 127);
  if (planned >= 0) {
    scale = c->plan->scale[planned];
    zero_point = c->plan->zero_point[planned];
  }
  gint8 *quantized = sl_tensor_alloc (c->arena, n);
  for (gsize i = 0; i < n; i++)
    quantized[i] = quantized_value (values[i], scale, zero_point, -128);
  tensor.dtype = SL_DTYPE_I8;
  tensor.bytes = n;
  tensor.data = quantized;
  set_quant (c, &tensor, 1, 0, &scale, zero_point);
  return add_tensor (c, &tensor, "/int8");
}

/** A layer's weights: element (i, o, k) of outer * channels * inner elements belongs to output
 * channel o. */
typedef struct
{
  const SlNode *node;
  const SlTensor *weights, *bias; /* (nullable) @bias */
  gint axis;
  gboolean single;  /* one scale for all */
  gboolean dynamic; /* its input and output are floats */
  gsize outer, channels, inner;
  gfloat input_scale, output_scale;
  gfloat *scales; /* by output channel */
  gint8 *values;
} Layer;

static gboolean
is_dynamic (const Rewrite *c, const SlNode *node)
{
  return c->plan->dynamic[node - sl_graph_node (c->from, 0)];
}

static void
layer_init (Rewrite *c, const SlNode *node, Layer *layer)
{
  const SlTensor *weights = sl_node_input (c->from, node, 1);
  const gboolean depthwise = node->op == SL_OP_DEPTHWISE_CONV_2D;
  const gsize n = weights->bytes / sizeof (gfloat);
  *layer = (Layer){ .node = node,
                    .weights = weights,
                    .bias = sl_node_input (c->from, node, 2),
                    .axis = depthwise ? 3 : 0 };
  layer->dynamic = is_dynamic (c, node);
  layer->single = c->plan->per_tensor || (node->op == SL_OP_FULLY_CONNECTED && !layer->dynamic);
  layer->channels = (gsize) weights->dims[layer->axis];
  layer->inner = depthwise ? 1 : n / layer->channels;
  layer->outer = depthwise ? n / layer->channels : 1;
  layer->input_scale = c->plan->scale[node->inputs[0]];
  layer->output_scale = c->plan->scale[node->outputs[0]];
  layer->scales = sl_arena_alloc (c->arena, layer->channels * sizeof layer->scales[0]);
  layer->values = sl_tensor_alloc (c->arena, n);
}

static gsize
place (const Layer *layer, gsize i, gsize o, gsize k)
{
  return (i * layer->channels + o) * layer->inner + k;
}

/* The least scale that holds the weights, leaves the bias room, and that kernels can come from to
 * the output's: channels of tiny weights need that. */
static void
choose_weight_scales (const Layer *layer)
{
  const gfloat least =
    layer->dynamic ? LEAST_SCALE : MIN_RATIO * layer->output_scale / layer->input_scale;
  const gfloat *weights = layer->weights->data,
               *bias = layer->bias != NULL ? layer->bias->data : NULL;
  gfloat whole = 0;
  for (gsize o = 0; o < layer->channels; o++) {
    gfloat most = 0;
    gdouble sum = 0;
    for (gsize i = 0; i < layer->outer; i++)
      for (gsize k = 0; k < layer->inner; k++) {
        const gfloat size = fabsf (weights[place (layer, i, o, k)]);
        most = MAX (most, size);
        sum += (gdouble) size;
      }
    const gdouble mean = sum / (gdouble) (layer->outer * layer->inner),
                  even = layer->dynamic ? mean / MOST_MEAN : 0;
    const gdouble room = bias != NULL && !layer->dynamic
                           ? fabs ((gdouble) bias[o]) / (MAX_BIAS * (gdouble) layer->input_scale)
                           : 0;
    layer->scales[o] = MAX (MAX (most / MAX_VALUE, (gfloat) even), MAX ((gfloat) room, least));
    whole = MAX (whole, layer->scales[o]);
  }
  for (gsize o = 0; o < layer->channels && layer->single; o++)
    layer->scales[o] = whole;
}

/* Mean of the value that the weight (i, o, k) is multiplied with; 0 where it is not known. */
static gdouble
mean_behind (const Rewrite *c, const Layer *layer, gsize o, gsize k)
{
  const SlNode *node = layer->node;
  const SlObserved *seen = sl_ranges_get (c->ranges, node->inputs[0]);
  const SlTensor *input = sl_node_input (c->from, node, 0);
  const gsize channels = (gsize) input->dims[input->rank - 1];
  if (seen == NULL)
    return 0;
  if (node->op == SL_OP_DEPTHWISE_CONV_2D)
    return seen->means[o * channels / layer->channels];
  const gsize depth = (gsize) layer->weights->dims[layer->weights->rank - 1];
  if (node->op == SL_OP_FULLY_CONNECTED)
    return depth == channels ? seen->means[k] : 0;
  /* Convolutions in groups: the group of o begins at its share of the channels. */
  const gsize group = o * (channels / depth) / layer->channels;
  return seen->means[group * depth + k % depth];
}

static void
round_weights (const Rewrite *c, const Layer *layer, gdouble *bias)
{
  const gfloat *weights = layer->weights->data;
  for (gsize i = 0; i < layer->outer; i++)
    for (gsize o = 0; o < layer->channels; o++)
      for (gsize k = 0; k < layer->inner; k++) {
        const gsize at = place (layer, i, o, k);
        layer->values[at] = quantized_value (weights[at], layer->scales[o], 0, -MAX_VALUE);
        bias[o] -=
          ((gdouble) layer->values[at] * (gdouble) layer->scales[o] - (gdouble) weights[at])
          * mean_behind (c, layer, o, k);
      }
}

static gint32
add_weights (Rewrite *c, const Layer *layer)
{
  SlTensor tensor = *layer->weights;
  tensor.dtype = SL_DTYPE_I8;
  tensor.bytes /= sizeof (gfloat);
  tensor.data = layer->values;
  if (layer->dynamic) {
    tensor.rank = 2;
    tensor.dims[1] = (gint32) layer->inner;
  }
  set_quant (c, &tensor, layer->single ? 1 : (guint) layer->channels,
             layer->single ? 0 : layer->axis, layer->scales, 0);
  return add_tensor (c, &tensor, "/int8");
}

static gint32
add_bias (Rewrite *c, const Layer *layer, const gdouble *bias)
{
  SlTensor tensor = { .name = layer->bias != NULL ? layer->bias->name : "bias",
                      .dtype = SL_DTYPE_I32,
                      .rank = 1 };
  gint32 *quantized = sl_tensor_alloc (c->arena, layer->channels * sizeof quantized[0]);
  gfloat *scales = sl_arena_alloc (c->arena, layer->channels * sizeof scales[0]);
  for (gsize o = 0; o < layer->channels; o++) {
    const gdouble scale = (gdouble) layer->input_scale * (gdouble) layer->scales[o];
    quantized[o] = (gint32) CLAMP (nearbyint (bias[o] / scale), -2 * MAX_BIAS, 2 * MAX_BIAS - 1);
    scales[o] = MAX ((gfloat) scale, 1e-37f);
  }
  tensor.dims[0] = (gint32) layer->channels;
  tensor.bytes = layer->channels * sizeof quantized[0];
  tensor.data = quantized;
  set_quant (c, &tensor, layer->single ? 1 : (guint) layer->channels, 0, scales, 0);
  return add_tensor (c, &tensor, "/int32");
}

static gint32
add_float_bias (Rewrite *c, const Layer *layer, const gdouble *bias)
{
  SlTensor tensor = { .name = layer->bias != NULL ? layer->bias->name : "bias",
                      .dtype = SL_DTYPE_F32,
                      .rank = 1,
                      .dims = { (gint32) layer->channels },
                      .bytes = layer->channels * sizeof (gfloat) };
  gfloat *values = sl_tensor_alloc (c->arena, tensor.bytes);
  for (gsize o = 0; o < layer->channels; o++)
    values[o] = (gfloat) bias[o];
  tensor.data = values;
  return add_tensor (c, &tensor, "/float");
}

/* Of a fully connected layer that rounds the rows of @node, which may be a pointwise convolution.
 */
static SlOpParams
dynamic_params (const SlNode *node)
{
  SlOpParams params = node->params;
  if (node->op == SL_OP_CONV_2D)
    params = (SlOpParams){ .fully_connected = { .activation = node->params.window.activation,
                                                .keep_dims = TRUE } };
  params.fully_connected.dynamic = TRUE;
  return params;
}

static gboolean
add_layer (Rewrite *c, const SlNode *node)
{
  Layer layer;
  SlOpParams params = node->params;
  gint32 inputs[3];
  layer_init (c, node, &layer);
  choose_weight_scales (&layer);
  g_autofree gdouble *bias = g_new0 (gdouble, layer.channels);
  for (gsize o = 0; layer.bias != NULL && o < layer.channels; o++)
    bias[o] = (gdouble) ((const gfloat *) layer.bias->data)[o];
  round_weights (c, &layer, bias);
  inputs[0] = form_of (c, node, node->inputs[0], !layer.dynamic);
  inputs[1] = add_weights (c, &layer);
  inputs[2] = layer.dynamic ? add_float_bias (c, &layer, bias) : add_bias (c, &layer, bias);
  if (layer.dynamic)
    params = dynamic_params (node);
  return inputs[0] >= 0 && inputs[1] >= 0 && inputs[2] >= 0
         && sl_graph_add_node (c->to, layer.dynamic ? SL_OP_FULLY_CONNECTED : node->op, node->index,
                               inputs, 3, node->outputs, 1, &params, c->error);
}

/* Parts of a CONCATENATION that have a stated scale come to that of the whole. */
static gint32
rescaled (Rewrite *c, const SlNode *node, gint32 input)
{
  const gint32 output = node->outputs[0];
  if (c->plan->scale[input] == c->plan->scale[output]
      && c->plan->zero_point[input] == c->plan->zero_point[output])
    return form_of (c, node, input, TRUE);
  const gint32 quantized = form_of (c, node, input, TRUE),
               made = quantized >= 0 ? add_tensor (c, sl_graph_tensor (c->from, input), "/rescaled")
                                     : -1;
  if (made < 0)
    return -1;
  quantize_tensor (c, (SlTensor *) sl_graph_tensor (c->to, made), output);
  return sl_graph_add_node (c->to, SL_OP_QUANTIZE, node->index, &quantized, 1, &made, 1, NULL,
                            c->error)
           ? made
           : -1;
}

static gboolean
add_other (Rewrite *c, const SlNode *node, gboolean quantized)
{
  gint32 inputs[SL_MAX_OPERANDS];
  const gboolean same = quantized && sl_scales_of (node->op) == SL_SCALES_SAME;
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlTensor *input = sl_node_input (c->from, node, i);
    const gboolean value = input != NULL && input->dtype == SL_DTYPE_F32;
    inputs[i] = node->inputs[i];
    if (value && quantized && input->data != NULL)
      inputs[i] = add_constant (c, node->inputs[i], same ? node->outputs[0] : -1);
    else if (value && same)
      inputs[i] = rescaled (c, node, node->inputs[i]);
    else if (value)
      inputs[i] = form_of (c, node, node->inputs[i], quantized);
    if (value && inputs[i] < 0)
      return FALSE;
  }
  return sl_graph_add_node (c->to, node->op, node->index, inputs, node->n_inputs, node->outputs,
                            node->n_outputs, &node->params, c->error);
}

/* @tensor of floats as int8 values that have no zero point. */
static gint32
add_symmetric (Rewrite *c, const SlNode *node, gint32 tensor)
{
  const SlRange *range = &sl_ranges_get (c->ranges, tensor)->range;
  const gfloat scale =
    (gfloat) MAX (MAX (range->high, -range->low) / MAX_VALUE, (gdouble) LEAST_SCALE);
  const gint32 from = form_of (c, node, tensor, FALSE),
               made = add_tensor (c, sl_graph_tensor (c->from, tensor), "/symmetric");
  if (from < 0 || made < 0)
    return -1;
  SlTensor *rounded = (SlTensor *) sl_graph_tensor (c->to, made);
  rounded->dtype = SL_DTYPE_I8;
  rounded->bytes /= sizeof (gfloat);
  set_quant (c, rounded, 1, 0, &scale, 0);
  return sl_graph_add_node (c->to, SL_OP_QUANTIZE, node->index, &from, 1, &made, 1, NULL, c->error)
           ? made
           : -1;
}

/* A product of two activations, the first of which is rounded while the model runs. */
static gboolean
add_product (Rewrite *c, const SlNode *node)
{
  const gint32 inputs[2] = { form_of (c, node, node->inputs[0], FALSE),
                             add_symmetric (c, node, node->inputs[1]) };
  return inputs[0] >= 0 && inputs[1] >= 0
         && sl_graph_add_node (c->to, node->op, node->index, inputs, 2, node->outputs, 1,
                               &node->params, c->error);
}

static gboolean
add_nodes (Rewrite *c)
{
  for (guint i = 0; i < sl_graph_n_nodes (c->from); i++) {
    const SlNode *node = sl_graph_node (c->from, i);
    const gboolean quantized = c->plan->quantized[i];
    const gboolean layer =
      (quantized && sl_scales_of (node->op) == SL_SCALES_LAYER) || c->plan->dynamic[i];
    const gboolean product = layer && node->op == SL_OP_BATCH_MATMUL;
    if (!(product ? add_product (c, node)
          : layer ? add_layer (c, node)
                  : add_other (c, node, quantized)))
      return FALSE;
  }
  return TRUE;
}

/* Whether the picture comes quantised: some node reads it so. */
static gboolean
is_read_quantized (const Rewrite *c, gint32 tensor)
{
  for (guint i = 0; i < sl_graph_n_nodes (c->from); i++)
    for (guint k = 0; k < sl_graph_node (c->from, i)->n_inputs; k++)
      if (c->plan->quantized[i] && sl_graph_node (c->from, i)->inputs[k] == tensor)
        return TRUE;
  return FALSE;
}

static gboolean
copy_tensors (Rewrite *c)
{
  const gint32 input = sl_graph_input (c->from, 0);
  for (guint i = 0; i < sl_graph_n_nodes (c->from); i++)
    for (guint k = 0; c->plan->quantized[i] && k < sl_graph_node (c->from, i)->n_outputs; k++)
      c->is_quantized[sl_graph_node (c->from, i)->outputs[k]] = TRUE;
  c->is_quantized[input] = is_read_quantized (c, input);
  for (gint32 i = 0; i < (gint32) sl_graph_n_tensors (c->from); i++) {
    SlTensor tensor = *sl_graph_tensor (c->from, i);
    c->other[i] = -1;
    if (c->is_quantized[i])
      quantize_tensor (c, &tensor, i);
    if (sl_graph_add_tensor (c->to, &tensor, c->error) < 0)
      return FALSE;
  }
  return TRUE;
}

/* Results of the model are floats, under their names. */
static gboolean
set_io (Rewrite *c)
{
  gint32 outputs[SL_MAX_IO];
  const gint32 input = sl_graph_input (c->from, 0);
  const SlNode *last = sl_graph_node (c->from, sl_graph_n_nodes (c->from) - 1);
  for (guint i = 0; i < sl_graph_n_outputs (c->from); i++) {
    const gint32 output = sl_graph_output (c->from, i);
    outputs[i] = form_of (c, last, output, FALSE);
    if (outputs[i] < 0)
      return FALSE;
    if (outputs[i] == output)
      continue;
    SlTensor *quantized = (SlTensor *) sl_graph_tensor (c->to, output),
             *floats = (SlTensor *) sl_graph_tensor (c->to, outputs[i]);
    floats->name = sl_graph_tensor (c->from, output)->name;
    g_autofree char *name = g_strconcat (floats->name, "/int8", NULL);
    quantized->name = sl_arena_strdup (c->arena, name);
  }
  return sl_graph_set_io (c->to, &input, 1, outputs, sl_graph_n_outputs (c->from), c->error);
}

static void
drop_reference (gpointer graph)
{
  sl_graph_unref (graph);
}

SlGraph *
sl_int8_graph_new (SlGraph *graph, const SlPlan *plan, const SlRanges *ranges, GError **error)
{
  const guint n = sl_graph_n_tensors (graph);
  g_autoptr (SlGraph) to = sl_graph_new (NULL);
  Rewrite c = { .from = graph, .to = to, .plan = plan, .ranges = ranges, .error = error };
  c.arena = sl_graph_arena (to);
  c.is_quantized = sl_arena_alloc (c.arena, n * sizeof c.is_quantized[0]);
  c.other = sl_arena_alloc (c.arena, n * sizeof c.other[0]);
  sl_graph_set_source (to, sl_graph_ref (graph), drop_reference);
  return copy_tensors (&c) && add_nodes (&c) && set_io (&c) ? g_steal_pointer (&to) : NULL;
}

void
sl_int8_graph_to_uint8 (SlGraph *graph)
{
  for (gint32 i = 0; i < (gint32) sl_graph_n_tensors (graph); i++) {
    SlTensor *tensor = (SlTensor *) sl_graph_tensor (graph, i);
    if (tensor->dtype != SL_DTYPE_I8)
      continue;
    tensor->dtype = SL_DTYPE_U8;
    gint32 *zero_points = sl_arena_memdup (sl_graph_arena (graph), tensor->quant.zero_point,
                                           tensor->quant.count * sizeof zero_points[0]);
    for (guint k = 0; k < tensor->quant.count; k++)
      zero_points[k] += 128;
    tensor->quant.zero_point = zero_points;
    if (tensor->data == NULL)
      continue;
    guint8 *values = sl_tensor_alloc (sl_graph_arena (graph), tensor->bytes);
    for (gsize k = 0; k < tensor->bytes; k++)
      values[k] = ((const guint8 *) tensor->data)[k] ^ 0x80;
    tensor->data = values;
  }
}
