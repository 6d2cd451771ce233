/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a graph and keeps what every node made, for measuring.
 */
#ifndef SL_QUANTIZE_TAPE_H
#define SL_QUANTIZE_TAPE_H

#include "core/graph/graph.h"

G_BEGIN_DECLS

typedef struct _SlTape SlTape;

/** sl_tape_new: @graph: (transfer none): not prepared, with shapes known and one input; it must outlive the tape. @threads: 1..SL_MAX_THREADS.
 *  NULL with @error set where memory or a backend refuses. */
SlTape *sl_tape_new (SlGraph *graph, guint threads, GError **error);
void sl_tape_free (SlTape *tape);
/** sl_tape_run: @input: as many bytes as the graph's input has. */
gboolean sl_tape_run (SlTape *tape, const void *input, GError **error);
/** sl_tape_data: (nullable): what the last run left in @tensor, valid until the next; NULL for constants. */
const void *sl_tape_data (const SlTape *tape, gint32 tensor);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlTape, sl_tape_free)

G_END_DECLS

#endif
