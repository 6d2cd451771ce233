/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pass table and what passes share. */
#include "core/passes/passes.h"

#include <string.h>

static const SlPass constant_fold = { "constant_fold", NULL };

static const SlPass *const passes[] = {
  &constant_fold,
  &sl_pass_join_groups,
  &sl_pass_fold_scale,
  &sl_pass_fuse_curve,
  &sl_pass_fuse_activation,
  &sl_pass_fold_qdq,
  &sl_pass_dequantize_weights,
  &sl_pass_collapse_quantize,
  &sl_pass_sink_transpose,
  &sl_pass_cancel_layout,
  &sl_pass_become_slice,
  &sl_pass_fold_blocks,
  &sl_pass_fold_pad,
  &sl_pass_fold_table,
  &sl_pass_fuse_arg_max,
  &sl_pass_fuse_attention,
  &sl_pass_fuse_norm,
  &sl_pass_fuse_samples,
  &sl_pass_merge_moves,
  &sl_pass_split_concat,
  &sl_pass_dead_code,
};

G_STATIC_ASSERT (G_N_ELEMENTS (passes) <= SL_MAX_PASSES);

/* What passes make nodes of; SL_OP_INVALID: of many operators. */
static const struct
{
  SlOpType of, made;
} rewrites[] = {
  { SL_OP_INVALID, SL_OP_LOOKUP },
  { SL_OP_INVALID, SL_OP_RESHAPE },
  { SL_OP_ARG_MAX, SL_OP_RESIZE_ARG_MAX },
  { SL_OP_BATCH_MATMUL, SL_OP_ATTENTION },
  { SL_OP_CONV_2D, SL_OP_DEPTHWISE_CONV_2D },
  { SL_OP_FULLY_CONNECTED, SL_OP_BATCH_MATMUL },
  { SL_OP_MEAN, SL_OP_AVERAGE_POOL_2D },
  { SL_OP_MEAN, SL_OP_NORMALIZE },
  { SL_OP_TRANSPOSE, SL_OP_STRIDED_SLICE },
};

gboolean
sl_passes_make (SlOpType of, SlOpType made)
{
  gboolean does = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (rewrites); i++)
    does |= rewrites[i].made == made && (rewrites[i].of == SL_OP_INVALID || rewrites[i].of == of);
  return does;
}

void
sl_pass_index_init (SlPassIndex *index, const SlGraph *graph)
{
  index->consumers = g_new0 (guint, graph->tensors->len);
  index->producer = g_new (gint32, graph->tensors->len);
  memset (index->producer, 0xff, graph->tensors->len * sizeof index->producer[0]);
  for (guint i = 0; i < graph->nodes->len; i++) {
    const SlNode *node = sl_graph_node (graph, i);
    for (guint k = 0; k < node->n_inputs; k++)
      if (node->inputs[k] >= 0)
        index->consumers[node->inputs[k]]++;
    for (guint k = 0; k < node->n_outputs; k++)
      index->producer[node->outputs[k]] = (gint32) i;
  }
  for (guint i = 0; i < graph->n_outputs + graph->n_carried; i++)
    index->consumers[graph->outputs[i]]++;
}

void
sl_pass_index_clear (SlPassIndex *index)
{
  g_clear_pointer (&index->consumers, g_free);
  g_clear_pointer (&index->producer, g_free);
}

SlNode *
sl_pass_producer (const SlPassIndex *index, SlGraph *graph, gint32 tensor)
{
  if (index->producer[tensor] < 0)
    return NULL;
  SlNode *node = &g_array_index (graph->nodes, SlNode, index->producer[tensor]);
  return node->op != SL_OP_INVALID ? node : NULL;
}

gint32
sl_pass_add_ints (SlGraph *graph, const char *name, const gint32 *values, guint n)
{
  const SlTensor tensor = { .name = name,
                            .dtype = SL_DTYPE_I32,
                            .rank = 1,
                            .dims = { (gint32) n },
                            .data = sl_arena_memdup (graph->arena, values, n * sizeof values[0]),
                            .bytes = n * sizeof values[0] };
  return sl_graph_add_tensor (graph, &tensor, NULL);
}

void
sl_pass_set_dims (SlGraph *graph, gint32 tensor, guint rank, const gint32 *dims)
{
  SlTensor *t = &g_array_index (graph->tensors, SlTensor, tensor);
  t->rank = rank;
  memmove (t->dims, dims, rank * sizeof dims[0]);
}

void
sl_pass_make_reshape (SlGraph *graph, SlNode *node, gint32 input, guint rank, const gint32 *dims)
{
  node->op = SL_OP_RESHAPE;
  node->inputs = sl_arena_memdup (graph->arena, &input, sizeof input);
  node->n_inputs = 1;
  node->params = (SlOpParams){ .reshape = { .count = rank } };
  memcpy (node->params.reshape.dims, dims, rank * sizeof dims[0]);
  sl_pass_set_dims (graph, node->outputs[0], rank, dims);
}

void
sl_pass_remove_nodes (SlGraph *graph)
{
  guint kept = 0;
  for (guint i = 0; i < graph->nodes->len; i++) {
    const SlNode node = g_array_index (graph->nodes, SlNode, i);
    if (node.op != SL_OP_INVALID)
      g_array_index (graph->nodes, SlNode, kept++) = node;
  }
  g_array_set_size (graph->nodes, kept);
}

static guint
run_steps (const SlPass *pass, SlGraph *graph)
{
  guint changes = 0;
  SlPassIndex index;
  sl_pass_index_init (&index, graph);
  for (guint i = 0; i < graph->nodes->len; i++)
    changes += pass->step (graph, &index, &g_array_index (graph->nodes, SlNode, i));
  sl_pass_index_clear (&index);
  sl_pass_remove_nodes (graph);
  return changes;
}

guint
sl_passes_run (SlGraph *graph)
{
  guint changes = 0;
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++) {
    const SlPass *pass = passes[i];
    const guint changed = pass->step != NULL  ? run_steps (pass, graph)
                          : pass->run != NULL ? pass->run (graph)
                                              : 0;
    graph->pass_changes[i] += changed;
    changes += changed;
  }
  return changes;
}

guint
sl_passes_count (void)
{
  return G_N_ELEMENTS (passes);
}

const char *
sl_passes_name (guint i)
{
  return passes[i]->name;
}
