/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums are computed here and not taken from a session, which has them behind their activation. */
#include "tools/fit/first_layer.h"

#include <math.h>
#include <string.h>

#include "core/graph/constants.h"
#include "core/graph/first_norm.h"
#include "tools/fit/layer.h"

/* Places of a picture a side that are looked at. */
#define PLACES 16
#define MOST_STEPS 5
/* Channels that batch normalisation gave less are dead; how far the logarithm of the spread and the
 * mean of the sums of a few pictures are from those in training. */
#define LEAST_SCALE 1e-3
#define SPREADS_VARY 0.25
#define MEANS_VARY 0.4

/* Channels of the first layer: those of the picture, and one that is always the same. */
#define MOST_CHANNELS 4

/* A constant of each channel: x * gain + offset. */
typedef struct
{
  gdouble gain[MOST_CHANNELS], offset[MOST_CHANNELS];
} Affine;

struct _SlFirstLayer
{
  gboolean planar; /* the input is NCHW */
  gint32 width, height, depth, channels;
  gint32 n, filter_height, filter_width, dilation_height, dilation_width;
  Affine affine;
  gfloat *weights; /* OHWI */
  gfloat *bias;
  const SlFirstNorm *norm; /* (nullable): of @n channels, and the graph's */
  gdouble *sum, *squares;  /* of each output channel */
  guint seen;
};

void
sl_first_layer_free (SlFirstLayer *layer)
{
  if (layer == NULL)
    return;
  g_free (layer->weights);
  g_free (layer->bias);
  g_free (layer->sum);
  g_free (layer->squares);
  g_free (layer);
}

/* (nullable): the first convolution that reads @tensor, or else the only node that does. */
static const SlNode *
reader_of (const SlGraph *graph, const SlTensor *tensor)
{
  const SlNode *found = NULL;
  guint n = 0;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    for (guint k = 0; k < node->n_inputs; k++)
      if (sl_node_input (graph, node, k) == tensor) {
        if (node->op == SL_OP_CONV_2D && k == 0)
          return node;
        found = node;
        n++;
      }
  }
  return n == 1 ? found : NULL;
}

/* Arithmetic with one constant, or one a channel, on the way from the picture to the layer. */
static gboolean
follow_arithmetic (SlFirstLayer *layer, const SlGraph *graph, const SlNode *node)
{
  gsize n = 0;
  g_autofree gfloat *values = sl_layer_floats (sl_node_input (graph, node, 1), &n);
  if (values == NULL || node->params.binary.activation != SL_ACTIVATION_NONE
      || (n != 1 && n != (gsize) layer->channels))
    return FALSE;
  for (gint32 c = 0; c < layer->channels; c++) {
    const gdouble value = values[n == 1 ? 0 : c];
    const gdouble gain = node->op == SL_OP_MUL ? value : node->op == SL_OP_DIV ? 1 / value : 1;
    const gdouble more = node->op == SL_OP_ADD ? value : node->op == SL_OP_SUB ? -value : 0;
    layer->affine.gain[c] *= gain;
    layer->affine.offset[c] = layer->affine.offset[c] * gain + more;
  }
  return TRUE;
}

/* A channel behind those of the picture that is a constant. */
static gboolean
follow_fixed (SlFirstLayer *layer, const SlGraph *graph, const SlNode *node)
{
  gsize n = 0;
  g_autofree gfloat *values = sl_layer_floats (sl_node_input (graph, node, 1), &n);
  if (values == NULL || node->n_inputs != 2 || n != (gsize) layer->width * layer->height
      || layer->channels >= MOST_CHANNELS)
    return FALSE;
  for (gsize i = 1; i < n; i++)
    if (values[i] != values[0])
      return FALSE;
  layer->affine.gain[layer->channels] = 0;
  layer->affine.offset[layer->channels++] = values[0];
  return TRUE;
}

/* What the file keeps of batch normalisation, where the layer has become one with it. */
static const SlFirstNorm *
norm_of (const SlFirstLayer *layer, const SlGraph *graph, const SlNode *node)
{
  const SlFirstNorm *norm = sl_graph_first_norm (graph);
  const SlNode *next = reader_of (graph, sl_graph_tensor (graph, node->outputs[0]));
  const gboolean apart = next != NULL && (next->op == SL_OP_MUL || next->op == SL_OP_ADD);
  return norm != NULL && norm->n == (guint) layer->n && !apart ? norm : NULL;
}

static gboolean
take_layer (SlFirstLayer *layer, const SlGraph *graph, const SlNode *node)
{
  const SlTensor *weights = sl_node_input (graph, node, 1);
  const SlWindow *window = &node->params.window;
  gsize n_weights = 0, n_bias = 0;
  if (weights->rank != 4 || weights->dims[3] != layer->channels)
    return FALSE;
  layer->weights = sl_layer_floats (weights, &n_weights);
  layer->bias = sl_layer_floats (sl_node_input (graph, node, 2), &n_bias);
  layer->n = weights->dims[0];
  layer->norm = norm_of (layer, graph, node);
  layer->filter_height = weights->dims[1];
  layer->filter_width = weights->dims[2];
  layer->dilation_height = MAX (window->dilation_h, 1);
  layer->dilation_width = MAX (window->dilation_w, 1);
  layer->sum = g_new0 (gdouble, layer->n);
  layer->squares = g_new0 (gdouble, layer->n);
  return layer->weights != NULL && layer->bias != NULL && n_bias == (gsize) layer->n
         && layer->width > layer->filter_width * layer->dilation_width
         && layer->height > layer->filter_height * layer->dilation_height;
}

/* FALSE where the input is no picture of floats. */
static gboolean
take_input (SlFirstLayer *layer, const SlTensor *input)
{
  if (input->dtype != SL_DTYPE_F32 || input->rank != 4)
    return FALSE;
  layer->planar = input->dims[1] == 1 || input->dims[1] == 3;
  layer->depth = input->dims[layer->planar ? 1 : 3];
  layer->height = input->dims[layer->planar ? 2 : 1];
  layer->width = input->dims[layer->planar ? 3 : 2];
  layer->channels = layer->depth;
  for (gint32 c = 0; c < layer->depth && layer->depth <= 3; c++)
    layer->affine.gain[c] = 1;
  return layer->depth <= 3;
}

/* A node on the way from the picture to the layer. */
static gboolean
follow (SlFirstLayer *layer, const SlGraph *graph, const SlNode *node)
{
  switch (node->op) {
    case SL_OP_TRANSPOSE:
    case SL_OP_PAD:
    case SL_OP_QUANTIZE:
    case SL_OP_DEQUANTIZE:
      return TRUE;
    case SL_OP_RESHAPE:
      return layer->depth == 1;
    case SL_OP_CONCATENATION:
      return follow_fixed (layer, graph, node);
    case SL_OP_MUL:
    case SL_OP_DIV:
    case SL_OP_ADD:
    case SL_OP_SUB:
      return follow_arithmetic (layer, graph, node);
    default:
      return FALSE;
  }
}

static gboolean
find_layer (SlFirstLayer *layer, SlGraph *graph)
{
  const SlTensor *at = sl_graph_input_tensor (graph, 0);
  if (!take_input (layer, at))
    return FALSE;
  for (guint step = 0; step < MOST_STEPS; step++) {
    const SlNode *node = reader_of (graph, at);
    if (node == NULL || !sl_graph_need_inputs (graph, node, NULL))
      return FALSE;
    if (node->op == SL_OP_CONV_2D)
      return take_layer (layer, graph, node);
    if (!follow (layer, graph, node))
      return FALSE;
    at = sl_graph_tensor (graph, node->outputs[0]);
  }
  return FALSE;
}

SlFirstLayer *
sl_first_layer_new (SlGraph *graph)
{
  g_autoptr (SlFirstLayer) layer = g_new0 (SlFirstLayer, 1);
  sl_graph_use_constants (graph);
  const gboolean found = find_layer (layer, graph);
  sl_graph_done_constants (graph);
  return found ? g_steal_pointer (&layer) : NULL;
}

void
sl_first_layer_forget (SlFirstLayer *layer)
{
  memset (layer->sum, 0, layer->n * sizeof *layer->sum);
  memset (layer->squares, 0, layer->n * sizeof *layer->squares);
  layer->seen = 0;
}

static gdouble
pixel (const SlFirstLayer *layer, const gfloat *tensor, gint32 y, gint32 x, gint32 c)
{
  if (c >= layer->depth)
    return layer->affine.offset[c];
  const gsize at = layer->planar ? ((gsize) c * layer->height + y) * layer->width + x
                                 : ((gsize) y * layer->width + x) * layer->depth + c;
  return tensor[at] * layer->affine.gain[c] + layer->affine.offset[c];
}

static void
see_place (SlFirstLayer *layer, const gfloat *tensor, gint32 top, gint32 left)
{
  const gfloat *weight = layer->weights;
  for (gint32 o = 0; o < layer->n; o++) {
    gdouble sum = layer->bias[o];
    for (gint32 i = 0; i < layer->filter_height; i++)
      for (gint32 j = 0; j < layer->filter_width; j++)
        for (gint32 c = 0; c < layer->channels; c++)
          sum += *weight++
                 * pixel (layer, tensor, top + i * layer->dilation_height,
                          left + j * layer->dilation_width, c);
    layer->sum[o] += sum;
    layer->squares[o] += sum * sum;
  }
  layer->seen++;
}

void
sl_first_layer_see (SlFirstLayer *layer, const gfloat *tensor)
{
  const gint32 height = layer->height - layer->filter_height * layer->dilation_height,
               width = layer->width - layer->filter_width * layer->dilation_width;
  for (gint32 i = 0; i < PLACES; i++)
    for (gint32 j = 0; j < PLACES; j++)
      see_place (layer, tensor, i * height / PLACES, j * width / PLACES);
}

/* The spread of an output channel's sums on the pictures seen. */
static gdouble
spread_of (const SlFirstLayer *layer, gint32 o)
{
  const gdouble mean = layer->sum[o] / layer->seen;
  return sqrt (fmax (layer->squares[o] / layer->seen - mean * mean, 0));
}

/* What channel @o adds to its sums without a picture, and the sum of its weights: what a pixel
 * value of 1 everywhere adds. */
static void
constants_of (const SlFirstLayer *layer, gint32 o, gdouble *bias, gdouble *weight)
{
  const gint32 n = layer->filter_height * layer->filter_width * layer->channels;
  *bias = layer->bias[o];
  *weight = 0;
  for (gint32 i = 0; i < n; i++) {
    const gdouble value = layer->weights[(gsize) o * n + i];
    *weight += value * layer->affine.gain[i % layer->channels];
    *bias += value * layer->affine.offset[i % layer->channels];
  }
}

/* The energy of channel @o's weights in each channel of the picture. */
static gdouble
energy_of (const SlFirstLayer *layer, gint32 o, gdouble energy[static MOST_CHANNELS])
{
  const gint32 n = layer->filter_height * layer->filter_width * layer->channels;
  gdouble sum = 0;
  memset (energy, 0, MOST_CHANNELS * sizeof *energy);
  for (gint32 i = 0; i < n; i++) {
    const gint32 c = i % layer->channels;
    const gdouble value = layer->weights[(gsize) o * n + i] * layer->affine.gain[c];
    energy[c] += value * value;
    sum += value * value;
  }
  return sum;
}

void
sl_first_layer_fit (const SlFirstLayer *layer, gdouble mean, SlLayerFit *fit)
{
  g_autofree SlChannel *channels = g_new (SlChannel, layer->n);
  gdouble energy[MOST_CHANNELS];
  for (gint32 o = 0; o < layer->n; o++) {
    constants_of (layer, o, &channels[o].bias, &channels[o].sum);
    channels[o].spread = spread_of (layer, o);
    channels[o].energy = energy_of (layer, o, energy);
  }
  sl_layer_fit (channels, (guint) layer->n, -mean, fit);
}

gdouble
sl_first_layer_norm (const SlFirstLayer *layer)
{
  g_autofree gdouble *spreads = g_new (gdouble, layer->n), *means = g_new (gdouble, layer->n);
  guint n = 0;
  for (gint32 o = 0; o < layer->n && layer->norm != NULL; o++) {
    const gdouble scale = fabs (layer->norm->scale[o]), spread = spread_of (layer, o);
    if (scale < LEAST_SCALE || spread <= 0)
      continue;
    spreads[n] = log (spread / scale);
    means[n++] = fabs (layer->sum[o] / layer->seen - layer->norm->bias[o]) / scale;
  }
  if (n == 0)
    return NAN;
  const gdouble spread = sl_layer_median (spreads, n) / SPREADS_VARY,
                mean = sl_layer_median (means, n) / MEANS_VARY;
  return -(spread * spread + mean * mean) / 2;
}

gdouble
sl_first_layer_lean (const SlFirstLayer *layer)
{
  gdouble share[MOST_CHANNELS] = { 0 }, energy[MOST_CHANNELS];
  for (gint32 o = 0; o < layer->n && layer->depth == 3; o++) {
    const gdouble all = energy_of (layer, o, energy);
    for (guint c = 0; c < 3 && all > 0; c++)
      share[c] += energy[c] / all;
  }
  return share[0] > 0 && share[2] > 0 ? log (share[0] / share[2]) : 0;
}
