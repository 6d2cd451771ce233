/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "quantize/prune.h"

#include <float.h>
#include <math.h>

#include "quantize/constant.h"

/* Smaller layers cost little. */
#define LEAST 1024

static int
compare (const void *a, const void *b)
{
  const gfloat x = *(const gfloat *) a, y = *(const gfloat *) b;
  return (x > y) - (x < y);
}

/* Exactly @most of @n values become zero: the smallest, the first of equal ones. */
static void
zero_smallest (gfloat *values, gsize n, gsize most)
{
  g_autofree gfloat *sizes = g_new (gfloat, n);
  gsize below = 0;
  for (gsize i = 0; i < n; i++)
    sizes[i] = fabsf (values[i]);
  qsort (sizes, n, sizeof sizes[0], compare);
  const gfloat limit = sizes[most - 1];
  while (sizes[below] < limit)
    below++;
  for (gsize i = 0, equal = most - below; i < n; i++)
    if (fabsf (values[i]) < limit || (fabsf (values[i]) == limit && equal > 0)) {
      equal -= fabsf (values[i]) == limit;
      values[i] = 0;
    }
}

guint
sl_prune (SlGraph *graph, gdouble share)
{
  guint layers = 0;
  g_autofree gboolean *seen = g_new0 (gboolean, MAX (sl_graph_n_tensors (graph), 1));
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    if (node->op != SL_OP_CONV_2D && node->op != SL_OP_FULLY_CONNECTED)
      continue;
    const SlTensor *weights = sl_node_input (graph, node, 1);
    const gsize n = weights->bytes / sizeof (gfloat), most = (gsize) (share * (gdouble) n);
    if (seen[node->inputs[1]] || weights->data == NULL || weights->dtype != SL_DTYPE_F32 || n < LEAST || most == 0
        || !sl_constant_is_within (weights, FLT_MAX))
      continue;
    zero_smallest (sl_constant_writable (graph, node->inputs[1]), n, most);
    seen[node->inputs[1]] = TRUE;
    layers++;
  }
  return layers;
}
