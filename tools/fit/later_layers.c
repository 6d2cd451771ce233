/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Wrong pixels are too bright, too dark or too strong, and so is all that layers make of them. The
 * bias of a layer takes the mean that its sums had in training away: so biases and sums of a
 * picture as in training go against each other, one by one.
 */
#include "tools/fit/later_layers.h"

#include <math.h>
#include <string.h>

#include "core/graph/constants.h"
#include "models/quantize/activation_trace.h"

#define MOST_LAYERS 14
/* Nodes that are looked at for them. */
#define MOST_NODES 120u
/* A layer that is further off is not as batch normalisation leaves it with any pixels. */
#define MOST_OFF 5

/* @sum, @squares: of each channel of the input; @weights: of the node. */
typedef struct
{
  const SlNode *node;
  gint32 depth, outputs;
  gfloat *weights, *bias;
  gdouble *sum, *squares, seen;
} Layer;

struct _SlLaterLayers
{
  SlGraph *graph;
  SlActivationTrace *trace;
  Layer all[MOST_LAYERS];
  guint n;
};

void
sl_later_layers_free (SlLaterLayers *layers)
{
  if (layers == NULL)
    return;
  sl_activation_trace_free (layers->trace);
  sl_graph_done_constants (layers->graph);
  for (guint i = 0; i < layers->n; i++) {
    g_free (layers->all[i].weights);
    g_free (layers->all[i].bias);
    g_free (layers->all[i].sum);
    g_free (layers->all[i].squares);
  }
  g_free (layers);
}

static gboolean
is_depthwise (const SlNode *node)
{
  return node->op == SL_OP_DEPTHWISE_CONV_2D;
}

/* Takes @node if it is a convolution of floats that has something to say. */
static gboolean
take (SlLaterLayers *layers, const SlNode *node)
{
  if ((node->op != SL_OP_CONV_2D && !is_depthwise (node)) || node->n_inputs < 3)
    return FALSE;
  const SlTensor *input = sl_node_input (layers->graph, node, 0),
                 *weights = sl_node_input (layers->graph, node, 1);
  gsize n = 0, n_bias = 0;
  if (input->dtype != SL_DTYPE_F32 || input->rank != 4 || weights->rank != 4)
    return FALSE;
  Layer layer = { .node = node, .depth = input->dims[3] };
  layer.outputs = weights->dims[is_depthwise (node) ? 3 : 0];
  layer.weights = sl_layer_floats (weights, &n);
  layer.bias = sl_layer_floats (sl_node_input (layers->graph, node, 2), &n_bias);
  if (layer.weights == NULL || layer.bias == NULL || n_bias != (gsize) layer.outputs) {
    g_free (layer.weights);
    g_free (layer.bias);
    return FALSE;
  }
  layer.sum = g_new0 (gdouble, layer.depth);
  layer.squares = g_new0 (gdouble, layer.depth);
  layers->all[layers->n++] = layer;
  return TRUE;
}

SlLaterLayers *
sl_later_layers_new (SlGraph *graph, guint threads)
{
  g_autoptr (SlLaterLayers) layers = g_new0 (SlLaterLayers, 1);
  const guint n = MIN (sl_graph_n_nodes (graph), MOST_NODES);
  guint last = 0, convolutions = 0;
  layers->graph = graph;
  sl_graph_use_constants (graph); /* the trace reads them until the end */
  for (guint i = 0; i < n && layers->n < MOST_LAYERS; i++) {
    const SlNode *node = sl_graph_node (graph, i);
    if (!sl_graph_need_inputs (graph, node, NULL))
      return NULL;
    convolutions += node->op == SL_OP_CONV_2D || is_depthwise (node);
    if (convolutions > 1 && take (layers, node))
      last = i;
  }
  layers->trace = last > 0 ? sl_activation_trace_new_part (graph, last, threads, NULL) : NULL;
  return layers->trace != NULL ? g_steal_pointer (&layers) : NULL;
}

void
sl_later_layers_forget (SlLaterLayers *layers)
{
  for (guint i = 0; i < layers->n; i++) {
    Layer *layer = &layers->all[i];
    memset (layer->sum, 0, layer->depth * sizeof *layer->sum);
    memset (layer->squares, 0, layer->depth * sizeof *layer->squares);
    layer->seen = 0;
  }
}

static void
see (Layer *layer, const SlTensor *input, const gfloat *values)
{
  const gsize n = (gsize) input->dims[0] * input->dims[1] * input->dims[2];
  for (gsize i = 0; i < n; i++)
    for (gint32 c = 0; c < layer->depth; c++) {
      const gdouble value = values[i * layer->depth + c];
      layer->sum[c] += value;
      layer->squares[c] += value * value;
    }
  layer->seen += n;
}

gboolean
sl_later_layers_see (SlLaterLayers *layers, const void *tensor, GError **error)
{
  if (!sl_activation_trace_run (layers->trace, tensor, error))
    return FALSE;
  for (guint i = 0; i < layers->n; i++) {
    Layer *layer = &layers->all[i];
    const gfloat *values = sl_activation_trace_data (layers->trace, layer->node->inputs[0]);
    if (values != NULL)
      see (layer, sl_node_input (layers->graph, layer->node, 0), values);
  }
  return TRUE;
}

/* What weight @value makes of channel @c of the input. */
static void
add_input (const Layer *layer, SlChannel *channel, gdouble value, gint32 c)
{
  const gdouble mean = layer->sum[c] / layer->seen,
                variance = fmax (layer->squares[c] / layer->seen - mean * mean, 0);
  channel->sum += value * mean;
  channel->spread += value * value * variance;
  channel->energy += value * value;
}

/* The sums of output @o, as if the elements under a filter had nothing to do with each other. */
static SlChannel
channel_of (const Layer *layer, const gint32 *dims, gint32 o)
{
  SlChannel channel = { .bias = layer->bias[o] };
  const gint32 places = dims[1] * dims[2], depth = dims[3];
  for (gint32 i = 0; i < places; i++)
    if (is_depthwise (layer->node)) {
      add_input (layer, &channel, layer->weights[(gsize) i * depth + o],
                 (gint32) ((gint64) o * layer->depth / depth));
    } else {
      /* of several groups, the one that @o belongs to */
      const gint32 groups = MAX (layer->depth / depth, 1),
                   first = (gint32) ((gint64) o * groups / layer->outputs) * depth;
      for (gint32 c = 0; c < depth; c++)
        add_input (layer, &channel, layer->weights[((gsize) o * places + i) * depth + c],
                   first + c);
    }
  channel.spread = sqrt (channel.spread);
  return channel;
}

gdouble
sl_later_layers_off (const SlLaterLayers *layers)
{
  gdouble off = 0;
  for (guint i = 0; i < layers->n; i++) {
    const Layer *layer = &layers->all[i];
    const gint32 *dims = sl_node_input (layers->graph, layer->node, 1)->dims;
    g_autofree SlChannel *channels = g_new (SlChannel, layer->outputs);
    SlLayerFit fit;
    for (gint32 o = 0; o < layer->outputs; o++)
      channels[o] = channel_of (layer, dims, o);
    sl_layer_fit (channels, (guint) layer->outputs, -1, &fit);
    const gdouble most = fmin (fabs (fit.off), MOST_OFF);
    off += log1p (most * most / 3);
  }
  return off;
}
