/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/quantize/equalize.h"

#include <math.h>
#include <string.h>

#include "models/quantize/constant.h"

/* A chain of layers wants several rounds, of which each moves less than the one before. */
#define ROUNDS 20
/* Most that a channel is moved in a round. */
#define MAX_FACTOR 8.0f

/** A layer and the next one, which alone reads what the first makes. */
typedef struct
{
  const SlNode *first, *next;
} Pair;

typedef struct
{
  SlGraph *graph;
  guint *readers; /* by tensor */
  gint32 *reader; /* by tensor: the last node that reads it */
} Equalizer;

static gboolean
is_layer (SlOpType op)
{
  return op == SL_OP_CONV_2D || op == SL_OP_DEPTHWISE_CONV_2D;
}

static gboolean
has_linear_activation (const SlNode *node)
{
  const SlActivation activation = node->params.window.activation;
  return activation == SL_ACTIVATION_NONE || activation == SL_ACTIVATION_RELU;
}

/* Steps of which f (s x) = s f (x) for s > 0, channel by channel. */
static gboolean
keeps_scale (const SlNode *node)
{
  if (node->op == SL_OP_MAX_POOL_2D || node->op == SL_OP_AVERAGE_POOL_2D)
    return has_linear_activation (node);
  return node->op == SL_OP_RELU || node->op == SL_OP_LEAKY_RELU || node->op == SL_OP_PAD;
}

static void
index_readers (Equalizer *e)
{
  for (guint i = 0; i < sl_graph_n_nodes (e->graph); i++) {
    const SlNode *node = sl_graph_node (e->graph, i);
    for (guint k = 0; k < node->n_inputs; k++) {
      if (node->inputs[k] < 0)
        continue;
      e->readers[node->inputs[k]]++;
      e->reader[node->inputs[k]] = (gint32) i;
    }
  }
  for (guint i = 0; i < sl_graph_n_outputs (e->graph); i++)
    e->readers[sl_graph_output (e->graph, i)]++;
}

/* Whether weights and bias of @node are its own constants. */
static gboolean
owns_constants (const Equalizer *e, const SlNode *node)
{
  for (guint i = 1; i < node->n_inputs; i++) {
    const SlTensor *tensor = sl_node_input (e->graph, node, i);
    if (tensor != NULL
        && (tensor->data == NULL || tensor->dtype != SL_DTYPE_F32
            || e->readers[node->inputs[i]] != 1))
      return FALSE;
  }
  return TRUE;
}

/* Whether each channel of @node's input meets weights of its own. */
static gboolean
splits_channels (const Equalizer *e, const SlNode *node)
{
  const gint32 channels = sl_node_input (e->graph, node, 0)->dims[3];
  return sl_node_input (e->graph, node, 1)->dims[3] == channels;
}

static gboolean
find_next (const Equalizer *e, const SlNode *first, Pair *pair)
{
  const SlNode *node = first;
  if (!is_layer (first->op) || !has_linear_activation (first) || !owns_constants (e, first))
    return FALSE;
  do {
    const gint32 output = node->outputs[0];
    if (e->readers[output] != 1 || e->reader[output] < 0)
      return FALSE;
    node = sl_graph_node (e->graph, (guint) e->reader[output]);
    if (node->inputs[0] != output)
      return FALSE;
  } while (keeps_scale (node));
  *pair = (Pair){ first, node };
  return is_layer (node->op) && owns_constants (e, node) && splits_channels (e, node);
}

/* The channel of the first layer's results, or with @input of the next one's input, that weight @i
 * belongs to. */
static gsize
channel_of (const SlNode *node, const SlTensor *weights, gsize i, gboolean input)
{
  const gsize last = (gsize) weights->dims[3];
  if (input || node->op == SL_OP_DEPTHWISE_CONV_2D)
    return i % last;
  return i / (weights->bytes / sizeof (gfloat) / (gsize) weights->dims[0]);
}

/* Largest magnitude of the weights of each channel. */
static void
magnitudes (const Equalizer *e, const SlNode *node, gboolean input, gfloat *most)
{
  const SlTensor *weights = sl_node_input (e->graph, node, 1);
  const gfloat *values = weights->data;
  for (gsize i = 0; i < weights->bytes / sizeof (gfloat); i++) {
    gfloat *one = &most[channel_of (node, weights, i, input)];
    *one = MAX (*one, fabsf (values[i]));
  }
}

static gfloat *
values_of (const Equalizer *e, const SlNode *node, guint input)
{
  return (gfloat *) sl_node_input (e->graph, node, input)->data;
}

static void
equalize_pair (const Equalizer *e, const Pair *pair)
{
  const SlTensor *weights = sl_node_input (e->graph, pair->first, 1),
                 *behind = sl_node_input (e->graph, pair->next, 1);
  const gsize channels = (gsize) sl_node_output (e->graph, pair->first, 0)->dims[3];
  g_autofree gfloat *before = g_new0 (gfloat, channels), *after = g_new0 (gfloat, channels);
  magnitudes (e, pair->first, FALSE, before);
  magnitudes (e, pair->next, TRUE, after);
  gfloat *factor = before, *first = values_of (e, pair->first, 1),
         *next = values_of (e, pair->next, 1);
  for (gsize c = 0; c < channels; c++)
    factor[c] = before[c] > 0 && after[c] > 0
                  ? CLAMP (sqrtf (before[c] / after[c]), 1 / MAX_FACTOR, MAX_FACTOR)
                  : 1;
  for (gsize i = 0; i < weights->bytes / sizeof (gfloat); i++)
    first[i] /= factor[channel_of (pair->first, weights, i, FALSE)];
  for (gsize i = 0; i < behind->bytes / sizeof (gfloat); i++)
    next[i] *= factor[channel_of (pair->next, behind, i, TRUE)];
  for (gsize c = 0; c < channels && sl_node_input (e->graph, pair->first, 2) != NULL; c++)
    values_of (e, pair->first, 2)[c] /= factor[c];
}

guint
sl_equalize (SlGraph *graph)
{
  const guint n = sl_graph_n_tensors (graph);
  g_autofree guint *readers = g_new0 (guint, MAX (n, 1));
  g_autofree gint32 *reader = g_new (gint32, MAX (n, 1));
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (Pair));
  Equalizer e = { graph, readers, reader };
  memset (reader, 0xff, n * sizeof reader[0]);
  index_readers (&e);
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    Pair pair;
    if (find_next (&e, sl_graph_node (graph, i), &pair))
      g_array_append_val (pairs, pair);
  }
  for (guint i = 0; i < pairs->len; i++) {
    const Pair *pair = &g_array_index (pairs, Pair, i);
    sl_constant_writable (graph, pair->first->inputs[1]);
    sl_constant_writable (graph, pair->next->inputs[1]);
    if (sl_node_input (graph, pair->first, 2) != NULL)
      sl_constant_writable (graph, pair->first->inputs[2]);
  }
  for (guint round = 0; round < ROUNDS; round++)
    for (guint i = 0; i < pairs->len; i++)
      equalize_pair (&e, &g_array_index (pairs, Pair, i));
  return pairs->len;
}
