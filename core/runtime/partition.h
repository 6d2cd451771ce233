/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Partitioning (internal to core): the nodes of a graph as steps run one after the other, each an XNNPACK runtime
 * over consecutive nodes or one kernel of our own. Views belong to no step.
 */
#ifndef SL_CORE_RUNTIME_PARTITION_H
#define SL_CORE_RUNTIME_PARTITION_H

#include "core/graph/graph.h"

G_BEGIN_DECLS

/**
 * SlStep:
 * @xnnpack: whether XNNPACK runs it; otherwise @nodes has one entry
 * @nodes: (element-type guint): positions in the graph
 * @externals: (element-type gint32): variable tensors that it reads or writes
 * @is_output: (element-type gboolean): for each external, whether this step produces it
 */
typedef struct
{
  gboolean xnnpack;
  GArray *nodes, *externals, *is_output;
} SlStep;

/** sl_roots_new: (transfer full): for each tensor the one whose bytes it shows: itself, or what it is a view of. */
gint32 *sl_roots_new (const SlGraph *graph);
/** sl_partition: (transfer full) (element-type SlStep): @backends has one SlBackend per node; with @single every node is a step. */
GPtrArray *sl_partition (const SlGraph *graph, const guint8 *backends, gboolean single);
/** sl_step_new_alone: (transfer full): node @index by itself on XNNPACK. */
SlStep *sl_step_new_alone (const SlGraph *graph, guint index);
void sl_step_free (SlStep *step);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlStep, sl_step_free)

G_END_DECLS

#endif
