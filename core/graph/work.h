/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The work of a node as a number of multiply-adds: `sightline inspect` shows it, and it limits
 * constant folding and too slow models. It depends only on shapes, so it is known before anything
 * runs.
 */
#pragma once

#include "core/graph/graph.h"

/** sl_node_multiply_adds: those of convolutions, matrix products and LSTMs, 0 for other operators;
 * shapes must be inferred. */
guint64 sl_node_multiply_adds (const SlGraph *graph, const SlNode *node);
/** sl_node_work: the same; for other operators the number of multiply-adds that would take the
 * plain kernel's time; 0 for views. */
guint64 sl_node_work (const SlGraph *graph, const SlNode *node);
/** sl_graph_multiply_adds, sl_graph_work: of all nodes, a run. */
guint64 sl_graph_multiply_adds (const SlGraph *graph);
guint64 sl_graph_work (const SlGraph *graph);
