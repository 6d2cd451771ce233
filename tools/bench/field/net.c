/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/bench/field/net.h"

#include <math.h>
#include <string.h>

#include "core/passes/prepare.h"

/* The standard deviation of what a layer makes, and how many of them 8-bit values reach. */
#define DEVIATION 2.0
#define REACH 4.0
/* The root of the mean square of whole numbers from -127 to 127, of which each is as frequent. */
#define WEIGHT_DEVIATION 73.6
/* Weights of a channel differ from the mean by up to this factor. */
#define CHANNELS_DIFFER 0.25

/* Marsaglia's xorshift: the same numbers everywhere. */
guint32
sl_field_random (guint32 *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

/* -1 to 1 */
static double
fraction (SlFieldNet *net)
{
  return (double) (sl_field_random (&net->state) >> 8) / 8388608.0 - 1.0;
}

void
sl_field_net_init (SlFieldNet *net, SlFieldType type, gboolean transformer, guint32 seed)
{
  *net = (SlFieldNet){ .graph = sl_graph_new (NULL),
                       .quantised = type == SL_FIELD_INT8 && !transformer,
                       .bytes = type == SL_FIELD_INT8,
                       .state = seed };
  sl_graph_set_precision (net->graph,
                          type == SL_FIELD_FP16 ? SL_PRECISION_FP16 : SL_PRECISION_FLOAT);
}

static gint32
add_tensor (SlFieldNet *net, SlTensor *tensor)
{
  tensor->name = "field";
  return net->error == NULL ? sl_graph_add_tensor (net->graph, tensor, &net->error) : -1;
}

static void
add_node (SlFieldNet *net, SlOpType op, const gint32 *inputs, guint n_inputs, const gint32 *outputs,
          guint n_outputs, const SlOpParams *params)
{
  if (net->error == NULL)
    sl_graph_add_node (net->graph, op, sl_graph_n_nodes (net->graph), inputs, n_inputs, outputs,
                       n_outputs, params, &net->error);
}

static SlQuant
quant (SlFieldNet *net, float scale, gint32 zero_point)
{
  SlArena *arena = sl_graph_arena (net->graph);
  return (SlQuant){ 1, 0, sl_arena_memdup (arena, &scale, sizeof scale),
                    sl_arena_memdup (arena, &zero_point, sizeof zero_point) };
}

static double
step_of (const SlFieldValue *value)
{
  return (value->hi - value->lo) / 255;
}

/* The tensor of @value, without a shape. */
static void
place (SlFieldNet *net, SlFieldValue *value)
{
  SlTensor tensor = { .dtype = net->quantised ? SL_DTYPE_I8 : SL_DTYPE_F32 };
  if (net->quantised)
    tensor.quant = quant (net, (float) step_of (value),
                          (gint32) CLAMP (lrint (-value->lo / step_of (value)) - 128, -128, 127));
  value->index = add_tensor (net, &tensor);
}

SlFieldValue
sl_field_input (SlFieldNet *net, gint32 h, gint32 w, gint32 c)
{
  SlFieldValue value = { -1, h, w, c, 0, 1, 1.0 / 3 };
  SlTensor tensor = { .dtype = net->quantised ? SL_DTYPE_I8 : SL_DTYPE_F32,
                      .rank = 4,
                      .dims = { 1, h, w, c } };
  if (net->quantised)
    tensor.quant = quant (net, 1.0f / 255, -128);
  value.index = add_tensor (net, &tensor);
  return value;
}

/* Weights of @channels along @axis; @inner elements of a channel follow each other where it is the
 * first one, else channels do. Gives the scale of each. */
static gint32
add_weights (SlFieldNet *net, SlTensor *tensor, guint axis, gsize inner, double deviation,
             gfloat **scales)
{
  SlArena *arena = sl_graph_arena (net->graph);
  const gsize channels = (gsize) tensor->dims[axis], n = channels * inner;
  gfloat *scale = sl_arena_alloc (arena, channels * sizeof *scale);
  for (gsize o = 0; o < channels; o++)
    scale[o] = (gfloat) (deviation / WEIGHT_DEVIATION * (1 + CHANNELS_DIFFER * fraction (net)));
  gint8 *bytes = sl_tensor_alloc (arena, n);
  for (gsize i = 0; i < n; i++)
    bytes[i] = (gint8) ((gint32) (sl_field_random (&net->state) >> 8) % 255 - 127);
  *scales = scale;
  if (net->quantised || net->bytes) {
    tensor->dtype = SL_DTYPE_I8;
    tensor->quant = (SlQuant){ (guint) channels, (gint) axis, scale,
                               sl_arena_alloc (arena, channels * sizeof (gint32)) };
    tensor->data = bytes;
    return add_tensor (net, tensor);
  }
  gfloat *floats = sl_tensor_alloc (arena, n * sizeof *floats);
  for (gsize i = 0; i < n; i++)
    floats[i] = (gfloat) bytes[i] * scale[axis == 0 ? i / inner : i % channels];
  tensor->dtype = SL_DTYPE_F32;
  tensor->data = floats;
  return add_tensor (net, tensor);
}

/* Up to half in either direction. */
static gint32
add_bias (SlFieldNet *net, gint32 channels, double step, const gfloat *scales)
{
  SlArena *arena = sl_graph_arena (net->graph);
  SlTensor tensor = { .dtype = net->quantised ? SL_DTYPE_I32 : SL_DTYPE_F32,
                      .rank = 1,
                      .dims = { channels } };
  gint32 *whole = sl_tensor_alloc (arena, (gsize) channels * sizeof *whole);
  gfloat *floats = sl_tensor_alloc (arena, (gsize) channels * sizeof *floats);
  for (gint32 o = 0; o < channels; o++) {
    floats[o] = (gfloat) (fraction (net) / 2);
    whole[o] = (gint32) lrint ((double) floats[o] / (step * (double) scales[o]));
  }
  tensor.data = net->quantised ? (const void *) whole : floats;
  if (net->quantised) {
    gfloat *products = sl_arena_alloc (arena, (gsize) channels * sizeof *products);
    for (gint32 o = 0; o < channels; o++)
      products[o] = (gfloat) step * scales[o];
    tensor.quant = (SlQuant){ (guint) channels, 0, products,
                              sl_arena_alloc (arena, (gsize) channels * sizeof (gint32)) };
  }
  return add_tensor (net, &tensor);
}

/* What a layer's results become by @curve. */
static void
set_range (SlFieldValue *value, SlFieldCurve curve)
{
  value->lo = curve == SL_FIELD_RELU || curve == SL_FIELD_RELU6 ? 0 : -REACH * DEVIATION;
  value->hi = curve == SL_FIELD_RELU6 ? 6 : REACH * DEVIATION;
  value->square = DEVIATION * DEVIATION * (value->lo < 0 ? 1 : 0.5);
}

/* x times its logistic function, as converters write it. */
static SlFieldValue
add_silu (SlFieldNet *net, SlFieldValue x)
{
  SlFieldValue curve = x, product = x;
  curve.lo = 0;
  curve.hi = 255.0 / 256;
  product.lo = -0.3;
  product.square = DEVIATION * DEVIATION * 0.45;
  place (net, &curve);
  place (net, &product);
  const gint32 both[] = { x.index, curve.index };
  add_node (net, SL_OP_LOGISTIC, &x.index, 1, &curve.index, 1, NULL);
  add_node (net, SL_OP_MUL, both, 2, &product.index, 1, &(SlOpParams){ 0 });
  return product;
}

SlFieldValue
sl_field_conv (SlFieldNet *net, SlFieldValue x, SlFieldLayer layer)
{
  const gint32 stride = MAX (layer.stride, 1), dilation = MAX (layer.dilation, 1),
               channels = layer.depthwise ? x.c : layer.channels, depth = layer.depthwise ? 1 : x.c,
               area = layer.filter * layer.filter;
  SlFieldValue y = { -1, (x.h + stride - 1) / stride, (x.w + stride - 1) / stride, channels };
  SlOpParams params = { .window = { .padding = SL_PADDING_SAME,
                                    .stride_h = stride,
                                    .stride_w = stride,
                                    .dilation_h = dilation,
                                    .dilation_w = dilation,
                                    .depth_multiplier = 1 } };
  SlTensor weights = { .rank = 4, .dims = { channels, layer.filter, layer.filter, depth } };
  gfloat *scales;
  if (layer.depthwise) {
    weights.dims[0] = 1;
    weights.dims[3] = channels;
  }
  params.window.activation = layer.curve == SL_FIELD_RELU    ? SL_ACTIVATION_RELU
                             : layer.curve == SL_FIELD_RELU6 ? SL_ACTIVATION_RELU6
                                                             : SL_ACTIVATION_NONE;
  set_range (&y, layer.curve);
  gint32 inputs[3] = { x.index };
  inputs[1] = add_weights (net, &weights, layer.depthwise ? 3 : 0, (gsize) area * (gsize) depth,
                           DEVIATION / sqrt (area * depth * x.square), &scales);
  inputs[2] = add_bias (net, channels, x.index >= 0 ? step_of (&x) : 1, scales);
  place (net, &y);
  add_node (net, layer.depthwise ? SL_OP_DEPTHWISE_CONV_2D : SL_OP_CONV_2D, inputs, 3, &y.index, 1,
            &params);
  return layer.curve == SL_FIELD_SILU ? add_silu (net, y) : y;
}

SlFieldValue
sl_field_add (SlFieldNet *net, SlFieldValue a, SlFieldValue b)
{
  SlFieldValue y = a;
  const gint32 inputs[] = { a.index, b.index };
  y.lo = 0.75 * (a.lo + b.lo);
  y.hi = 0.75 * (a.hi + b.hi);
  y.square = a.square + b.square;
  place (net, &y);
  add_node (net, SL_OP_ADD, inputs, 2, &y.index, 1, &(SlOpParams){ 0 });
  return y;
}

SlFieldValue
sl_field_concat (SlFieldNet *net, const SlFieldValue *parts, guint n)
{
  SlFieldValue y = parts[0];
  gint32 inputs[8];
  y.c = 0;
  y.square = 0;
  for (guint i = 0; i < n; i++) {
    inputs[i] = parts[i].index;
    y.c += parts[i].c;
    y.lo = MIN (y.lo, parts[i].lo);
    y.hi = MAX (y.hi, parts[i].hi);
    y.square += parts[i].square * parts[i].c;
  }
  y.square /= y.c;
  place (net, &y);
  add_node (net, SL_OP_CONCATENATION, inputs, n, &y.index, 1,
            &(SlOpParams){ .concat = { .axis = 3 } });
  return y;
}

void
sl_field_split (SlFieldNet *net, SlFieldValue x, SlFieldValue halves[2])
{
  const gint32 axis = 3;
  const gint32 inputs[] = { sl_field_ints (net, &axis, 1), x.index };
  gint32 outputs[2];
  for (guint i = 0; i < 2; i++) {
    halves[i] = x;
    halves[i].c = x.c / 2;
    place (net, &halves[i]);
    outputs[i] = halves[i].index;
  }
  add_node (net, SL_OP_SPLIT, inputs, 2, outputs, 2, &(SlOpParams){ .axis = { .count = 2 } });
}

SlFieldValue
sl_field_max_pool (SlFieldNet *net, SlFieldValue x, gint32 window)
{
  SlFieldValue y = x;
  y.square *= 2;
  place (net, &y);
  const SlOpParams params = { .window = { .padding = SL_PADDING_SAME,
                                          .stride_h = 1,
                                          .stride_w = 1,
                                          .dilation_h = 1,
                                          .dilation_w = 1,
                                          .filter_h = window,
                                          .filter_w = window } };
  add_node (net, SL_OP_MAX_POOL_2D, &x.index, 1, &y.index, 1, &params);
  return y;
}

SlFieldValue
sl_field_twice (SlFieldNet *net, SlFieldValue x)
{
  SlFieldValue y = x;
  y.h *= 2;
  y.w *= 2;
  const gint32 size[] = { y.h, y.w };
  const gint32 inputs[] = { x.index, sl_field_ints (net, size, 2) };
  place (net, &y);
  add_node (net, SL_OP_RESIZE_NEAREST_NEIGHBOR, inputs, 2, &y.index, 1, &(SlOpParams){ 0 });
  return y;
}

SlFieldValue
sl_field_mean (SlFieldNet *net, SlFieldValue x)
{
  static const gint32 axes[] = { 1, 2 };
  SlFieldValue y = x;
  const gint32 inputs[] = { x.index, sl_field_ints (net, axes, 2) };
  y.h = y.w = 0;
  place (net, &y);
  add_node (net, SL_OP_MEAN, inputs, 2, &y.index, 1, &(SlOpParams){ 0 });
  return y;
}

SlFieldValue
sl_field_dense (SlFieldNet *net, SlFieldValue x, gint32 channels)
{
  SlFieldValue y = x;
  SlTensor weights = { .rank = 2, .dims = { channels, x.c } };
  SlOpParams params = { .fully_connected = { .keep_dims = TRUE,
                                             .dynamic = net->bytes && !net->quantised } };
  gfloat *scales;
  gint32 inputs[3] = { x.index };
  y.c = channels;
  set_range (&y, SL_FIELD_LINEAR);
  inputs[1] =
    add_weights (net, &weights, 0, (gsize) x.c, DEVIATION / sqrt (x.c * x.square), &scales);
  inputs[2] = add_bias (net, channels, step_of (&x), scales);
  place (net, &y);
  add_node (net, SL_OP_FULLY_CONNECTED, inputs, 3, &y.index, 1, &params);
  return y;
}

gint32
sl_field_floats (SlFieldNet *net, gint32 rows, gint32 n, double mean, double spread)
{
  gfloat *data = sl_tensor_alloc (sl_graph_arena (net->graph), (gsize) n * sizeof *data);
  SlTensor tensor = { .dtype = SL_DTYPE_F32, .rank = 1, .dims = { n }, .data = data };
  if (rows > 0) {
    tensor.rank = 3;
    tensor.dims[0] = 1;
    tensor.dims[1] = rows;
    tensor.dims[2] = n / rows;
  }
  for (gint32 i = 0; i < n; i++)
    data[i] = (gfloat) (mean + spread * fraction (net));
  return add_tensor (net, &tensor);
}

gint32
sl_field_ints (SlFieldNet *net, const gint32 *values, guint n)
{
  SlTensor tensor = { .dtype = SL_DTYPE_I32, .rank = 1, .dims = { (gint32) n } };
  gint32 *data = sl_tensor_alloc (sl_graph_arena (net->graph), n * sizeof *data);
  memcpy (data, values, n * sizeof *data);
  tensor.data = data;
  return add_tensor (net, &tensor);
}

gint32
sl_field_node (SlFieldNet *net, SlOpType op, const gint32 *inputs, guint n,
               const SlOpParams *params)
{
  SlTensor tensor = { .dtype = SL_DTYPE_F32 };
  const gint32 output = add_tensor (net, &tensor);
  add_node (net, op, inputs, n, &output, 1, params);
  return output;
}

SlGraph *
sl_field_net_finish (SlFieldNet *net, const SlFieldValue *input, const SlFieldValue *outputs,
                     guint n, GError **error)
{
  g_autoptr (SlGraph) graph = g_steal_pointer (&net->graph);
  gint32 indices[8];
  for (guint i = 0; i < n; i++)
    indices[i] = outputs[i].index;
  if (net->error != NULL) {
    g_propagate_error (error, g_steal_pointer (&net->error));
    return NULL;
  }
  return sl_graph_set_io (graph, &input->index, 1, indices, n, error)
             && sl_graph_prepare (graph, error)
           ? g_steal_pointer (&graph)
           : NULL;
}
