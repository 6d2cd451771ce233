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

/* Whether @node puts constants beside @tensor, such as a channel that is stated. */
static gboolean
only_adds_channels (const SlGraph *graph, const SlNode *node, gint32 tensor)
{
  if (node->op != SL_OP_CONCATENATION)
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlTensor *other = node->inputs[i] != tensor ? sl_node_input (graph, node, i) : NULL;
    if (node->inputs[i] != tensor && (other == NULL || other->data == NULL))
      return FALSE;
  }
  return TRUE;
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
    if (node->op != SL_OP_TRANSPOSE && node->op != SL_OP_RESHAPE && node->op != SL_OP_CAST
        && !only_adds_channels (walk->graph, node, *input))
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

/* Numbers that @node, which reads @at first, shifts by or divides by; 0 = it does neither. */
static guint
read_step (const SlGraph *graph, const SlNode *node, gint32 at, gboolean *shifts,
           gdouble numbers[MAX_CHANNELS])
{
  if (node == NULL || node->n_inputs != 2 || node->inputs[0] != at)
    return 0;
  const SlTensor *constant = sl_node_input (graph, node, 1);
  *shifts = node->op == SL_OP_SUB || node->op == SL_OP_ADD;
  if (*shifts)
    return read_numbers (constant, node->op == SL_OP_SUB ? 1 : -1, numbers);
  if (node->op != SL_OP_DIV && node->op != SL_OP_MUL)
    return 0;
  const guint n = read_numbers (constant, 1, numbers);
  for (guint k = 0; k < n && node->op == SL_OP_MUL; k++)
    numbers[k] = 1 / numbers[k];
  return n;
}

gdouble
sl_graph_find_input_top (const SlGraph *graph)
{
  Walk walk = walk_from_input (graph);
  gdouble one[MAX_CHANNELS], two[MAX_CHANNELS];
  gboolean first_shifts, second_shifts;
  gint32 at;
  const SlNode *node = next_operator (&walk, &at);
  const guint n = read_step (graph, node, at, &first_shifts, one);
  node = n > 0 ? next_operator (&walk, &at) : NULL;
  const guint m = read_step (graph, node, at, &second_shifts, two);
  if (n == 0 || m == 0 || first_shifts == second_shifts)
    return 0;
  if (first_shifts)
    return top_of (one, n, two, m);
  gdouble means[MAX_CHANNELS]; /* x / one - two = (x - two * one) / one */
  for (guint k = 0; k < MAX_CHANNELS; k++)
    means[k] = two[m > 1 ? k : 0] * one[n > 1 ? k : 0];
  return top_of (means, MAX_CHANNELS, one, n);
}
