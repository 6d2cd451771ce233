/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds how a model scales its own pixels, by a factor, as Keras' Rescaling, or by mean and
 * standard deviation. It runs before the passes, which fold this into weights.
 */
#include <math.h>

#include "core/graph/op.h"
#include "core/passes/prepare.h"
#include "core/passes/passes.h"

/* Operators in front of the scaling at most. */
#define MAX_STEPS 6

/* Channels that a normalisation has numbers for. */
#define MAX_CHANNELS 3

/* (nullable): the only node that reads @tensor. */
static const SlNode *
reader_of (const SlGraph *graph, gint32 tensor)
{
  const SlNode *found = NULL;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    for (guint k = 0; k < node->n_inputs; k++) {
      if (node->inputs[k] != tensor)
        continue;
      if (found != NULL)
        return NULL;
      found = node;
    }
  }
  return found;
}

/* How many numbers @tensor has, one or one for each channel, as @sign times what it holds; 0 = it
 * is no such constant. */
static guint
read_numbers (const SlTensor *tensor, gdouble sign, gdouble numbers[MAX_CHANNELS])
{
  gsize n = 0;
  if (tensor == NULL || tensor->data == NULL || tensor->dtype != SL_DTYPE_F32
      || !sl_tensor_elements (tensor, &n) || (n != 1 && n != MAX_CHANNELS))
    return 0;
  for (gsize i = 0; i < n; i++)
    numbers[i] = sign * (gdouble) ((const gfloat *) tensor->data)[i];
  return (guint) n;
}

/* The first operators of a graph, one after the other. @at: what the next one reads. */
typedef struct
{
  const SlGraph *graph;
  gint32 at;
  guint steps;
} Walk;

static Walk
walk_from_input (const SlGraph *graph)
{
  return (Walk){ graph, sl_graph_n_inputs (graph) > 0 ? sl_graph_input (graph, 0) : -1, 0 };
}

/* (nullable): the next operator that alone reads what the one before gives, those left out that
 * leave values as they are. @input: what it reads. */
static const SlNode *
next_operator (Walk *walk, gint32 *input)
{
  while (walk->steps++ < MAX_STEPS && walk->at >= 0) {
    const SlNode *node = reader_of (walk->graph, walk->at);
    if (node == NULL || node->n_outputs != 1)
      return NULL;
    *input = walk->at;
    walk->at = node->outputs[0];
    if (node->op != SL_OP_TRANSPOSE && node->op != SL_OP_RESHAPE && node->op != SL_OP_CAST)
      return node;
  }
  return NULL;
}

gdouble
sl_graph_find_input_scale (const SlGraph *graph)
{
  Walk walk = walk_from_input (graph);
  const SlNode *node;
  gint32 at;
  while ((node = next_operator (&walk, &at)) != NULL) {
    const gboolean multiplies = node->op == SL_OP_MUL || node->op == SL_OP_DIV;
    if ((!multiplies && node->op != SL_OP_ADD && node->op != SL_OP_SUB) || node->n_inputs != 2
        || node->inputs[0] < 0 || node->inputs[1] < 0)
      return 0;
    if (!multiplies)
      continue;
    const gboolean first = node->inputs[0] == at;
    gdouble numbers[MAX_CHANNELS];
    if (read_numbers (sl_node_input (graph, node, first ? 1 : 0), 1, numbers) != 1
        || (node->op == SL_OP_DIV && !first) || !isfinite (numbers[0]) || numbers[0] == 0)
      return 0;
    return node->op == SL_OP_MUL ? numbers[0] : 1 / numbers[0];
  }
  return 0;
}

static gboolean
lie_within (const gdouble *numbers, guint n, gdouble low, gdouble high)
{
  for (guint i = 0; i < n; i++)
    if (!(numbers[i] >= low && numbers[i] <= high))
      return FALSE;
  return TRUE;
}

/* The largest pixel that a mean and a standard deviation in front of a model are for. */
static gdouble
top_of (const gdouble *means, guint n_means, const gdouble *deviations, guint n_deviations)
{
  if (lie_within (means, n_means, 0.05, 0.95) && lie_within (deviations, n_deviations, 0.05, 1))
    return 1;
  return lie_within (means, n_means, 16, 240) && lie_within (deviations, n_deviations, 16, 255)
           ? 255
           : 0;
}

gdouble
sl_graph_find_input_top (const SlGraph *graph)
{
  Walk walk = walk_from_input (graph);
  gdouble means[MAX_CHANNELS], factors[MAX_CHANNELS];
  gint32 at;
  const SlNode *shift = next_operator (&walk, &at);
  if (shift == NULL || (shift->op != SL_OP_SUB && shift->op != SL_OP_ADD) || shift->n_inputs != 2
      || shift->inputs[0] != at)
    return 0;
  const guint n_means =
    read_numbers (sl_node_input (graph, shift, 1), shift->op == SL_OP_SUB ? 1 : -1, means);
  const SlNode *scale = n_means > 0 ? next_operator (&walk, &at) : NULL;
  if (scale == NULL || (scale->op != SL_OP_DIV && scale->op != SL_OP_MUL) || scale->n_inputs != 2
      || scale->inputs[0] != at)
    return 0;
  const guint n = read_numbers (sl_node_input (graph, scale, 1), 1, factors);
  for (guint k = 0; k < n && scale->op == SL_OP_MUL; k++)
    factors[k] = 1 / factors[k];
  return n > 0 ? top_of (means, n_means, factors, n) : 0;
}
