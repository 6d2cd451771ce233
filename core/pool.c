/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pieces are claimed one by one from a counter, so a thread that starts late or is held up takes fewer. A claim is
 * what makes a thread take part: one that still sleeps when all pieces are done is never waited for. What a claim
 * refers to cannot change before the claimed piece is done, so it is read only afterwards.
 */
#include "core/pool.h"

/* How long threads spin for the next piece before they sleep, and the caller for the last one, microseconds. */
#define SPIN_US 25
#define SPINS_PER_LOOK 32
/* Work that takes one thread less is not shared; threads that sleep take some 50 us to come. */
#define SHARE_US 2
#define WAKE_US 5

struct _SlPool
{
  guint n_threads;
  GThread **threads; /* all but the caller */
  /* The work at hand, written before @left. */
  SlPoolFunc func;
  const void *data;
  gint items;
  gint left;     /* atomic: pieces not claimed */
  gint done;     /* atomic: pieces done */
  gint sleeping; /* atomic: threads that wait for @work */
  gint waiting;  /* atomic: whether the caller waits for @finished */
  gint quit;     /* atomic */
  gint started;  /* atomic: threads that have begun, and so have allocated what they ever will */
  GMutex mutex;
  GCond work, finished;
};

typedef struct
{
  SlPool *pool;
  guint index;
} Worker;

static inline void
relax (void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause ();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Does one piece; FALSE when none is left. */
static gboolean
claim (SlPool *pool, guint thread)
{
  gint left = g_atomic_int_get (&pool->left);
  while (left > 0 && !g_atomic_int_compare_and_exchange (&pool->left, left, left - 1))
    left = g_atomic_int_get (&pool->left);
  if (left <= 0)
    return FALSE;
  const gint items = pool->items;
  pool->func (pool->data, (guint) (items - left), thread);
  if (g_atomic_int_add (&pool->done, 1) + 1 == items && g_atomic_int_get (&pool->waiting)) {
    g_mutex_lock (&pool->mutex);
    g_cond_signal (&pool->finished);
    g_mutex_unlock (&pool->mutex);
  }
  return TRUE;
}

/* Spins until *@value is at least @least or time is up. */
static gboolean
spin (const gint *value, gint least)
{
  const gint64 end = g_get_monotonic_time () + SPIN_US;
  do {
    for (guint i = 0; i < SPINS_PER_LOOK; i++) {
      if (g_atomic_int_get (value) >= least)
        return TRUE;
      relax ();
    }
  } while (g_get_monotonic_time () < end);
  return FALSE;
}

static gpointer
worker_main (gpointer data)
{
  Worker *worker = data;
  SlPool *pool = worker->pool;
  const guint index = worker->index;
  g_free (worker);
  g_atomic_int_inc (&pool->started);
  while (!g_atomic_int_get (&pool->quit)) {
    while (claim (pool, index))
      continue;
    if (spin (&pool->left, 1))
      continue;
    g_mutex_lock (&pool->mutex);
    g_atomic_int_inc (&pool->sleeping);
    while (g_atomic_int_get (&pool->left) == 0 && !g_atomic_int_get (&pool->quit))
      g_cond_wait (&pool->work, &pool->mutex);
    g_atomic_int_add (&pool->sleeping, -1);
    g_mutex_unlock (&pool->mutex);
  }
  return NULL;
}

static void
wake (SlPool *pool)
{
  g_mutex_lock (&pool->mutex);
  g_cond_broadcast (&pool->work);
  g_mutex_unlock (&pool->mutex);
}

void
sl_pool_run (SlPool *pool, SlPoolFunc func, const void *data, guint items, guint cost_us)
{
  if (pool == NULL || items <= 1 || cost_us < SHARE_US) {
    for (guint i = 0; i < items; i++)
      func (data, i, 0);
    return;
  }
  pool->func = func;
  pool->data = data;
  pool->items = (gint) items;
  g_atomic_int_set (&pool->done, 0);
  g_atomic_int_set (&pool->left, (gint) items);
  if (cost_us >= WAKE_US && g_atomic_int_get (&pool->sleeping) > 0)
    wake (pool);
  while (claim (pool, 0))
    continue;
  if (spin (&pool->done, (gint) items))
    return;
  g_mutex_lock (&pool->mutex);
  g_atomic_int_set (&pool->waiting, 1);
  while (g_atomic_int_get (&pool->done) < (gint) items)
    g_cond_wait (&pool->finished, &pool->mutex);
  g_atomic_int_set (&pool->waiting, 0);
  g_mutex_unlock (&pool->mutex);
}

SlPool *
sl_pool_new (guint threads, GError **error)
{
  SlPool *pool = g_new0 (SlPool, 1);
  pool->threads = g_new0 (GThread *, threads);
  pool->n_threads = 1;
  g_mutex_init (&pool->mutex);
  g_cond_init (&pool->work);
  g_cond_init (&pool->finished);
  for (guint i = 1; i < threads; i++) {
    Worker *worker = g_new (Worker, 1);
    *worker = (Worker){ pool, i };
    GThread *thread = g_thread_try_new ("sl-pool", worker_main, worker, error);
    if (thread == NULL) {
      g_free (worker);
      g_prefix_error (error, "cannot start %u threads: ", threads);
      sl_pool_free (pool);
      return NULL;
    }
    pool->threads[pool->n_threads++ - 1] = thread;
  }
  while (g_atomic_int_get (&pool->started) + 1 < (gint) pool->n_threads)
    g_thread_yield ();
  return pool;
}

void
sl_pool_free (SlPool *pool)
{
  if (pool == NULL)
    return;
  g_atomic_int_set (&pool->quit, 1);
  wake (pool);
  for (guint i = 0; i + 1 < pool->n_threads; i++)
    g_thread_join (pool->threads[i]);
  g_mutex_clear (&pool->mutex);
  g_cond_clear (&pool->work);
  g_cond_clear (&pool->finished);
  g_free (pool->threads);
  g_free (pool);
}

guint
sl_pool_threads (const SlPool *pool)
{
  return pool != NULL ? pool->n_threads : 1;
}
