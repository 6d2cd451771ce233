/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds how a model scales its own pixels, by a factor, as Keras' Rescaling, or by mean and
 * standard deviation. It runs before the passes, which fold this into weights.
 */
#include <math.h>
#include <string.h>

#include "core/graph/op.h"
#include "core/passes/prepare.h"
#include "core/passes/passes.h"

/* Operators in front of the scaling at most. */
#define MAX_STEPS 6

/* Channels that a normalisation has numbers for. */
#define MAX_CHANNELS 3

/* The one number that @tensor is. */
static gboolean
is_number (const SlTensor *tensor, gfloat *number)
{
  gsize elements = 0;
  if (tensor->data == NULL || tensor->dtype != SL_DTYPE_F32
      || !sl_tensor_elements (tensor, &elements) || elements != 1)
    return FALSE;
  memcpy (number, tensor->data, sizeof *number);
  return TRUE;
}

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

gdouble
sl_graph_find_input_scale (const SlGraph *graph)
{
  gint32 at = sl_graph_n_inputs (graph) > 0 ? sl_graph_input (graph, 0) : -1;
  const SlNode *node;
  gfloat number;
  for (guint i = 0;
       i < MAX_STEPS && at >= 0 && (node = reader_of (graph, at)) != NULL && node->n_outputs == 1;
       i++) {
    const gboolean two = node->n_inputs == 2 && node->inputs[0] >= 0 && node->inputs[1] >= 0;
    if ((node->op == SL_OP_MUL || node->op == SL_OP_DIV) && two) {
      const gboolean first = node->inputs[0] == at;
      if (!is_number (sl_node_input (graph, node, first ? 1 : 0), &number)
          || (node->op == SL_OP_DIV && !first) || !isfinite (number) || number == 0)
        return 0;
      return node->op == SL_OP_MUL ? (gdouble) number : 1 / (gdouble) number;
    }
    const gboolean moves =
      node->op == SL_OP_TRANSPOSE || node->op == SL_OP_RESHAPE || node->op == SL_OP_CAST;
    if (!moves && !((node->op == SL_OP_ADD || node->op == SL_OP_SUB) && two))
      return 0;
    at = node->outputs[0];
  }
  return 0;
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
  gint32 at = sl_graph_n_inputs (graph) > 0 ? sl_graph_input (graph, 0) : -1;
  gdouble means[MAX_CHANNELS], factors[MAX_CHANNELS];
  const SlNode *node;
  guint n_means = 0, n = 0;
  for (guint i = 0;
       i < MAX_STEPS && at >= 0 && (node = reader_of (graph, at)) != NULL && node->n_outputs == 1;
       i++, at = node->outputs[0]) {
    if (node->op == SL_OP_TRANSPOSE || node->op == SL_OP_RESHAPE || node->op == SL_OP_CAST)
      continue;
    if (node->n_inputs != 2 || node->inputs[0] != at)
      return 0;
    const SlTensor *other = sl_node_input (graph, node, 1);
    if (n_means == 0 && (node->op == SL_OP_SUB || node->op == SL_OP_ADD)) {
      n_means = read_numbers (other, node->op == SL_OP_SUB ? 1 : -1, means);
      if (n_means == 0)
        return 0;
      continue;
    }
    if (n_means == 0 || (node->op != SL_OP_DIV && node->op != SL_OP_MUL))
      return 0;
    n = read_numbers (other, 1, factors);
    for (guint k = 0; k < n && node->op == SL_OP_MUL; k++)
      factors[k] = 1 / factors[k];
    return n > 0 ? top_of (means, n_means, factors, n) : 0;
  }
  return 0;
}
