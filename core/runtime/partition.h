/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Splits the nodes of a graph into steps (internal to core): runs of neighbouring nodes for
 * backends that join them, single nodes for the others. Views are no steps: their output is their
 * input's memory.
 */
#pragma once

#include "core/backends/backend.h"

/** sl_partition: (transfer full) (element-type SlStep): @backends has one for each node; @threads:
 * of the session, or 0 where every node is a step. */
GPtrArray *sl_partition (const SlGraph *graph, const SlBackend *const *backends, guint threads);
/** sl_step_new_alone: (transfer full): node @index by itself on @backend. */
SlStep *sl_step_new_alone (const SlGraph *graph, const SlBackend *backend, guint index);
void sl_step_free (SlStep *step);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlStep, sl_step_free)
