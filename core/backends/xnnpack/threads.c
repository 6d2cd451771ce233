/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The threads of a session's XNNPACK runtimes: XNNPACK's own kind of pool. Other backends run on
 * core/base/thread_pool.h. */
#include <pthreadpool.h>

#include "core/base/fail.h"
#include "core/backends/xnnpack/xnn.h"

SlXnnThreads
sl_xnn_threads_new (guint threads, GError **error)
{
  if (threads <= 1)
    return NULL;
  SlXnnThreads pool = pthreadpool_create (threads);
  if (pool == NULL)
    sl_fail (error, SL_ERROR_BACKEND,
             "cannot start %u threads, for want of memory or by a limit on threads", threads);
  return pool;
}

void
sl_xnn_threads_free (gpointer pool)
{
  if (pool != NULL)
    pthreadpool_destroy (pool);
}

static void
nothing (void *data, size_t i)
{
}

void
sl_xnn_threads_rest (gpointer pool)
{
  if (pool != NULL)
    pthreadpool_parallelize_1d (pool, nothing, NULL, pthreadpool_get_threads_count (pool),
                                PTHREADPOOL_FLAG_YIELD_WORKERS);
}
