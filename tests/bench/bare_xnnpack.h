/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The yardstick for our own overhead: the convolutions, additions and averages of a model as one
 * XNNPACK subgraph, invoked in a loop with nothing around it. Operators XNNPACK lacks (softmax of
 * codes, detection post-processing) are left out, so it does less than a session.
 */
#ifndef SL_BENCH_BARE_XNNPACK_H
#define SL_BENCH_BARE_XNNPACK_H

#include "core/graph/graph.h"

typedef struct _BareLoop BareLoop;

/** bare_loop_new: (nullable): NULL when the model has an operator this loop does not know. @threads
 * 1 = the caller's. */
BareLoop *bare_loop_new (const SlGraph *graph, guint threads);
void bare_loop_run (BareLoop *loop);
void bare_loop_free (BareLoop *loop);

#endif
