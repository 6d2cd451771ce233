/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/quantize/prune.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "models/quantize/constant.h"

/* Smaller layers cost little. */
#define LEAST 1024

static int
compare (const void *a, const void *b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;
  return (x > y) - (x < y);
}

static gdouble
size_of (const gfloat *values, gsize block)
{
  gdouble size = 0;
  for (gsize i = 0; i < block; i++)
    size += fabs ((gdouble) values[i]);
  return size;
}

/* Exactly @most of @n blocks become zero: the smallest, the first of equal ones. */
static void
zero_smallest (gfloat *values, gsize n, gsize block, gsize most)
{
  g_autofree gdouble *sizes = g_new (gdouble, n), *sorted = NULL;
  gsize below = 0;
  for (gsize i = 0; i < n; i++)
    sizes[i] = size_of (values + i * block, block);
  sorted = g_memdup2 (sizes, n * sizeof sizes[0]);
  qsort (sorted, n, sizeof sorted[0], compare);
  const gdouble limit = sorted[most - 1];
  while (sorted[below] < limit)
    below++;
  for (gsize i = 0, equal = most - below; i < n; i++)
    if (sizes[i] < limit || (sizes[i] == limit && equal > 0)) {
      equal -= sizes[i] == limit;
      memset (values + i * block, 0, block * sizeof values[0]);
    }
}

guint
sl_prune (SlGraph *graph, gdouble share, gboolean blocks)
{
  guint layers = 0;
  g_autofree gboolean *seen = g_new0 (gboolean, MAX (sl_graph_n_tensors (graph), 1));
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    if (node->op != SL_OP_CONV_2D && node->op != SL_OP_FULLY_CONNECTED)
      continue;
    const SlTensor *weights = sl_node_input (graph, node, 1);
    const gsize block =
      blocks && weights->dims[weights->rank - 1] % SL_PRUNE_BLOCK == 0 ? SL_PRUNE_BLOCK : 1;
    const gsize n = weights->bytes / sizeof (gfloat),
                most = (gsize) (share * (gdouble) (n / block));
    if (seen[node->inputs[1]] || weights->data == NULL || weights->dtype != SL_DTYPE_F32
        || n < LEAST || most == 0 || !sl_constant_is_within (weights, FLT_MAX))
      continue;
    zero_smallest (sl_constant_writable (graph, node->inputs[1]), n / block, block, most);
    seen[node->inputs[1]] = TRUE;
    layers++;
  }
  return layers;
}
