/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Nodes whose data is binary16 and whose plain kernel computes with floats (internal to
 * core/backends/plain): operands become floats in the session's scratch memory for the run.
 */
#pragma once

#include "core/backends/backend.h"

typedef struct _SlWidened SlWidened;

/** sl_widened_needed: whether @node has operands of binary16 that its kernel cannot read or write.
 */
gboolean sl_widened_needed (const SlGraph *graph, const SlNode *node);
/** sl_widened_new: (transfer full): of @node: its kernel, and a graph of the node alone whose
 * operands are floats. */
SlWidened *sl_widened_new (SlHost *host, const SlNode *node);
void sl_widened_free (SlWidened *widened);
/** sl_widened_run: @memory has the inputs, then the outputs. */
void sl_widened_run (SlWidened *widened, void *const *memory);
