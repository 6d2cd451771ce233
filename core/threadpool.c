/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The threads of a session: XNNPACK's thread pool, on which kernels of our own run too. */
#include "core/kernels/parallel.h"

#include <pthreadpool.h>

#include "core/error.h"
#include "core/xnn.h"

typedef struct
{
  SlPart part;
  void *data;
} Work;

static void
run_tile (void *data, size_t first, size_t n)
{
  const Work *work = data;
  work->part (work->data, first, n);
}

void
sl_parallel (const SlKernelCall *call, gsize n, gsize tile, SlPart part, void *data)
{
  Work work = { part, data };
  if (n == 0)
    return;
  if (call->pool == NULL || n <= tile) {
    part (data, 0, n);
    return;
  }
  const gsize threads = pthreadpool_get_threads_count (call->pool);
  pthreadpool_parallelize_1d_tile_1d (call->pool, run_tile, &work, n, MAX (tile, (n + threads - 1) / threads), 0);
}

SlThreadPool
sl_thread_pool_new (guint threads, GError **error)
{
  if (threads <= 1)
    return NULL;
  SlThreadPool pool = pthreadpool_create (threads);
  if (pool == NULL)
    g_set_error (error, SL_ERROR, SL_ERROR_BACKEND, "cannot start %u threads", threads);
  return pool;
}

void
sl_thread_pool_free (SlThreadPool pool)
{
  if (pool != NULL)
    pthreadpool_destroy (pool);
}

static void
nothing (void *data, size_t i)
{
}

void
sl_thread_pool_rest (SlThreadPool pool)
{
  if (pool != NULL)
    pthreadpool_parallelize_1d (pool, nothing, NULL, pthreadpool_get_threads_count (pool), PTHREADPOOL_FLAG_YIELD_WORKERS);
}
