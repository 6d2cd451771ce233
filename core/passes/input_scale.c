/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a model itself multiplies its pixels by, as Keras' Rescaling does: found before the passes,
 * which fold it into weights. A message says so where the user scales pixels too.
 */
#include <math.h>
#include <string.h>

#include "core/graph/op.h"
#include "core/passes/prepare.h"
#include "core/passes/passes.h"

/* Operators in front of the scaling at most. */
#define MAX_STEPS 6

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
