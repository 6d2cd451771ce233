/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that read elements at computed places, as nodes that TensorFlow Lite has (internal to
 * models/tflite). */
#pragma once

#include "core/graph/graph.h"

/** sl_express_places_fits: whether @node of @graph is GATHER_ELEMENTS, or a GRID_SAMPLE that other
 * operators can compute. */
gboolean sl_express_places_fits (const SlGraph *graph, const SlNode *node);
/**
 * sl_express_places:
 * @to: where the nodes go; it has the tensors of @from under their numbers, but @inputs of @node
 *
 * Returns: FALSE with @error set where the graph is full.
 */
gboolean sl_express_places (SlGraph *to, const SlGraph *from, const SlNode *node,
                            const gint32 *inputs, GError **error);
