/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Graph rewrites (internal to core). A pass never changes the results of the graph. Each is one
 * file and one row in passes.c, and runs on a verified graph; the graph is verified again after all
 * of them.
 */
#pragma once

#include "core/graph/graph_private.h"

/**
 * SlPassIndex: producers and consumers of each tensor, built once for each pass.
 * @consumers: how many times each tensor is read: inputs of nodes, and the model's outputs
 * @producer: position of the node that makes each tensor, -1 = none
 */
typedef struct
{
  guint *consumers;
  gint32 *producer;
} SlPassIndex;

/**
 * SlPass: has one of
 * @run: rewrites @graph once over; returns how many places it changed
 * @step: the same for one node after another, in order; those whose op it makes SL_OP_INVALID are
 * removed in the end
 */
typedef struct
{
  const char *name;
  guint (*run) (SlGraph *graph);
  guint (*step) (SlGraph *graph, SlPassIndex *index, SlNode *node);
} SlPass;

extern const SlPass sl_pass_become_slice, sl_pass_cancel_layout, sl_pass_collapse_quantize,
  sl_pass_dead_code, sl_pass_dequantize_weights, sl_pass_fold_blocks, sl_pass_fold_pad,
  sl_pass_fold_qdq, sl_pass_fold_table, sl_pass_fuse_activation, sl_pass_fuse_arg_max,
  sl_pass_fuse_attention, sl_pass_fuse_curve, sl_pass_fuse_norm, sl_pass_fuse_samples,
  sl_pass_fold_scale, sl_pass_join_groups, sl_pass_merge_moves, sl_pass_sink_transpose,
  sl_pass_split_concat;

/** sl_node_has_stored_weights: @node computes in floats with 8-bit weights, which
 * dequantize_weights makes float: no kernel runs it before. */
gboolean sl_node_has_stored_weights (const SlGraph *graph, const SlNode *node);
/** sl_constant_fold: where the result of @node, just verified, is known, constants stand for it,
 * its op is SL_OP_INVALID and *@folded is one more. FALSE with @error set where a constant that it
 * reads cannot be read again. */
gboolean sl_constant_fold (SlGraph *graph, SlNode *node, guint *folded, GError **error);
/** sl_passes_take_work: takes @work, in multiply-adds, from what reading the constants of @graph
 * may cost; FALSE when that is too little. */
gboolean sl_passes_take_work (SlGraph *graph, guint64 work);
/** sl_passes_run: every pass in the table's order, counted in the graph; returns the number of
 * changes. */
guint sl_passes_run (SlGraph *graph);
/** sl_passes_count, sl_passes_name: of the rows of the table; (transfer none). */
guint sl_passes_count (void);
const char *sl_passes_name (guint i);

/** sl_graph_narrow: intermediate tensors of @graph, which is proven, become binary16 where its
 * precision is fp16 and nodes take them so. */
void sl_graph_narrow (SlGraph *graph);
/** sl_graph_find_rounded: which GELU of @graph, which is proven, are rounded. */
void sl_graph_find_rounded (SlGraph *graph);

/** sl_passes_make: whether a pass makes a node of @made of one of @of. */
gboolean sl_passes_make (SlOpType of, SlOpType made);

void sl_pass_index_init (SlPassIndex *index, const SlGraph *graph);
void sl_pass_index_clear (SlPassIndex *index);
/** sl_pass_producer: (nullable): the node that makes @tensor, unless it was removed. */
SlNode *sl_pass_producer (const SlPassIndex *index, SlGraph *graph, gint32 tensor);
/** sl_pass_add_ints: a new constant of @n whole numbers; -1 where the graph has no room for it. */
gint32 sl_pass_add_ints (SlGraph *graph, const char *name, const gint32 *values, guint n);
/** sl_pass_set_dims: @tensor has the same elements in other dimensions. */
void sl_pass_set_dims (SlGraph *graph, gint32 tensor, guint rank, const gint32 *dims);
/** sl_pass_make_reshape: @node makes the elements of @input in other dimensions. */
void sl_pass_make_reshape (SlGraph *graph, SlNode *node, gint32 input, guint rank,
                           const gint32 *dims);
/** sl_pass_remove_nodes: drops every node whose op is SL_OP_INVALID. */
void sl_pass_remove_nodes (SlGraph *graph);
