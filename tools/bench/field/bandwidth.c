/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/bench/field/bandwidth.h"

#include <string.h>

#include "core/base/thread_pool.h"
#include "tools/bench/timing.h"

/* Of all threads together: more than any cache of a board. */
#define BYTES ((gsize) 64 << 20)
#define TRIES 6
/* For the pool: so long that each thread has its piece. */
#define COST_US 10000

typedef struct
{
  guint8 *from, *to;
  gsize share;
} Copy;

static void
copy_share (const void *data, guint item, guint thread)
{
  const Copy *copy = data;
  memcpy (copy->to + item * copy->share, copy->from + item * copy->share, copy->share);
}

double
sl_field_bandwidth (guint threads)
{
  Copy copy = { g_try_malloc (BYTES), g_try_malloc (BYTES), BYTES / threads };
  SlPool *pool = threads > 1 ? sl_pool_new (threads, NULL) : NULL;
  double best = 0;
  if (copy.from != NULL && copy.to != NULL && (threads == 1 || pool != NULL)) {
    memset (copy.from, 1, BYTES);
    memset (copy.to, 2, BYTES);
    for (guint i = 0; i < TRIES; i++) {
      const double start = sl_timing_now_ms ();
      sl_pool_run (pool, copy_share, &copy, threads, COST_US);
      const double bytes = 2.0 * (double) copy.share * threads;
      best = MAX (best, bytes / (sl_timing_now_ms () - start) / 1e6);
    }
  }
  sl_pool_free (pool);
  g_free (copy.from);
  g_free (copy.to);
  return best;
}
