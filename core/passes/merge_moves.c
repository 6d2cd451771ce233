/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TRANSPOSE of RESHAPE of TRANSPOSE moves all elements twice. It becomes a RESHAPE to the factors
 * of the dimensions, one TRANSPOSE of these, and a RESHAPE; RESHAPEs are views. Values and results
 * of deformable attention come so, as exporters write batches and heads.
 */
#include "core/passes/moved_view.h"

static gboolean
is_plain (const SlTensor *tensor)
{
  return tensor->data == NULL && tensor->quant.count <= 1;
}

/* The node of @op that makes what @node reads, for it alone. */
static SlNode *
before (SlGraph *graph, const SlPassIndex *index, const SlNode *node, SlOpType op)
{
  SlNode *found = NULL;
  if (index->consumers[node->inputs[0]] == 1)
    found = sl_pass_producer (index, graph, node->inputs[0]);
  if (found == NULL || found->op != op || !is_plain (sl_node_output (graph, found, 0)))
    return NULL;
  return found;
}

/* The factors of @view by their steps: @dims from the outermost on, and which of them each one is.
 */
static gboolean
sort_factors (const SlStrided *view, guint n, gint32 *dims, gint32 *order, gint32 *moved)
{
  for (guint i = 0; i < n; i++) {
    guint place = 0;
    for (guint k = 0; k < n; k++)
      place += view->factors[k].step > view->factors[i].step;
    order[i] = (gint32) place;
    dims[place] = moved[i] = view->factors[i].size;
  }
  return n > 1;
}

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *node)
{
  gint32 dims[SL_MAX_RANK], order[SL_MAX_RANK], made[SL_MAX_RANK];
  SlMoved moved;
  SlNode *middle = node->op == SL_OP_TRANSPOSE ? before (graph, index, node, SL_OP_RESHAPE) : NULL,
         *first = middle != NULL ? before (graph, index, middle, SL_OP_TRANSPOSE) : NULL;
  if (first == NULL || !sl_moved_view (graph, index, node->outputs[0], 3, FALSE, &moved))
    return 0;
  const guint n = moved.view.ends[moved.view.rank - 1];
  if (n > SL_MAX_RANK || !sort_factors (&moved.view, n, dims, order, made))
    return 0;
  const gint32 along = sl_pass_add_ints (graph, "order", order, n);
  if (along < 0)
    return 0;
  const SlTensor *output = sl_node_output (graph, node, 0);
  const gint32 inputs[] = { first->outputs[0], along };
  sl_pass_make_reshape (graph, first, moved.tensor, n, dims);
  sl_pass_make_reshape (graph, node, middle->outputs[0], output->rank, output->dims);
  middle->op = SL_OP_TRANSPOSE;
  middle->inputs = sl_arena_memdup (graph->arena, inputs, sizeof inputs);
  middle->n_inputs = G_N_ELEMENTS (inputs);
  middle->params = (SlOpParams){ 0 };
  sl_pass_set_dims (graph, middle->outputs[0], n, made);
  return 1;
}

const SlPass sl_pass_merge_moves = { "merge_moves", .step = step };
