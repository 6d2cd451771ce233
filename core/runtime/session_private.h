/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a session is made of: session.c makes it, session_run.c runs it. */
#pragma once

#include "core/runtime/partition.h"
#include "core/runtime/parts.h"
#include "core/runtime/session.h"

/**
 * ReadyStep: a step made ready.
 * @prepared: what its backend made of it; NULL until then
 * @roots: by operand: the tensor whose memory it is, -1 = omitted; @shifts: bytes from its
 * beginning
 * @memory: by operand, filled at run time
 */
typedef struct
{
  const SlBackend *backend;
  gpointer prepared;
  guint n_operands;
  gint32 *roots;
  gsize *shifts;
  void **memory;
} ReadyStep;

/** Graph output whose bytes live elsewhere: copied after the last step. */
typedef struct
{
  guint output;
  gint32 root;
  gsize bytes;
} CopyOut;

/** Memory of a held input (core/graph/graph.h). @next is where a run writes what the next one gets;
 * NULL where the caller gets that, too. */
typedef struct
{
  void *now, *next;
} Held;

struct _SlSession
{
  SlGraph *graph;
  const gint32 *inputs, *outputs; /* tensors: the graph's, and behind them those of held inputs */
  guint n_inputs, n_outputs, n_held;
  Held *held;
  SlHost host;                       /* what backends see */
  gpointer threads[SL_MAX_BACKENDS]; /* by row of the table: those that the backend started */
  void *block;                       /* intermediate tensors */
  gsize block_pages;                 /* bytes of it that are pages of the system; 0 = of the heap */
  void **memory;                     /* by root tensor */
  SlParts parts;                     /* by tensor */
  GPtrArray *partition;              /* of SlStep */
  ReadyStep *steps;
  guint n_steps;
  gint32 output_root[SL_MAX_IO]; /* root bound to this output's buffer, -1 = copied */
  CopyOut copies[SL_MAX_IO];
  guint n_copies;
  SlSessionStats stats;
  gint cancelled;          /* atomic */
  SlSession *linked;       /* (nullable): cancelled with it; under link_lock */
  const SlBackend *failed; /* whose step failed last */
  guint64 *node_ns;        /* by node: time spent in it; NULL unless profiling */
  SlExternalSession
    *external; /* (nullable): runs the model whole, and nothing above but the graph is there */
  gboolean fallback;  /* a session of ours takes over when it fails */
  SlSession *instead; /* (nullable): that session, then */
  char *notice;       /* (nullable): why */
};
