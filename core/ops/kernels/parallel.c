/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Work cut into as many parts as there are threads, or fewer where parts would get small. */
#include "core/ops/kernels/parallel.h"

#include "core/base/thread_pool.h"

/* A part of the smallest size that kernels ask for takes about as long, microseconds. */
#define PART_US 10

typedef struct
{
  SlPart part;
  void *data;
  gsize n;
  guint parts;
} Work;

static void
run_part (const void *data, guint item, guint thread)
{
  const Work *work = data;
  const gsize first = work->n / work->parts * item + MIN (work->n % work->parts, item);
  work->part (work->data, first, work->n / work->parts + (item < work->n % work->parts));
}

void
sl_parallel (const SlKernelCall *call, gsize n, gsize tile, SlPart part, void *data)
{
  const Work work = { part, data, n,
                      (guint) MIN (MAX (n / tile, 1), sl_pool_threads (call->pool)) };
  if (n > 0)
    sl_pool_run (call->pool, run_part, &work, work.parts, work.parts * PART_US);
}
