/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Runs a graph and keeps the output of every node, for measurements. */
#pragma once

#include "core/graph/graph.h"

typedef struct _SlActivationTrace SlActivationTrace;

/** sl_activation_trace_new: @graph: (transfer none): not prepared, with shapes known and one input;
 * it must outlive the tape. @threads: 1..SL_MAX_THREADS. NULL with @error set where memory or a
 * backend refuses. */
SlActivationTrace *sl_activation_trace_new (SlGraph *graph, guint threads, GError **error);
/** sl_activation_trace_new_part: only of the first @n_nodes nodes. */
SlActivationTrace *sl_activation_trace_new_part (SlGraph *graph, guint n_nodes, guint threads,
                                                 GError **error);
void sl_activation_trace_free (SlActivationTrace *tape);
/** sl_activation_trace_run: @input: as many bytes as the graph's input has. */
gboolean sl_activation_trace_run (SlActivationTrace *tape, const void *input, GError **error);
/** sl_activation_trace_data: (nullable): what the last run left in @tensor, valid until the next;
 * NULL for constants. */
const void *sl_activation_trace_data (const SlActivationTrace *tape, gint32 tensor);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlActivationTrace, sl_activation_trace_free)
