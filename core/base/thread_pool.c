/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each thread has a share of the pieces, neighbours of each other and the same share of every work
 * of as many pieces, so that what a thread wrote is in its own cache when it reads it as the next
 * work's input. A thread that has finished its own share claims items of others, one at a time, so
 * a thread that starts late or is held up does fewer. A claim is what makes a thread take part: one
 * that still sleeps when all pieces are done is never waited for. What a claim refers to cannot
 * change before the claimed piece is counted as done, so it is read only afterwards.
 */
#include "core/base/thread_pool.h"

/* How long threads spin for the next piece before they sleep, and the caller for the last one,
 * microseconds. */
#define SPIN_US 25
#define SPINS_PER_LOOK 32
/* Each thread's part of the work takes at least this long; threads that sleep take some 50 us to
 * come. */
#define SHARE_US 1
#define WAKE_US 5
/* Rows of works that take less than this are nearly done when threads that sleep have come and have
 * read what they need. */
#define ROW_US 200
/* No two threads write to one line of a cache. */
#define LINE 64
/* What a share says to a thread that need not spin for more. */
#define REST -1

/** What is left of one thread's share: pieces not claimed, or REST. */
typedef struct
{
  gint left; /* atomic */
  guint8 apart[LINE - sizeof (gint)];
} Share;

struct _SlPool
{
  guint n_threads;
  GThread **threads; /* all but the caller */
  Share *shares;     /* by thread */
  /* The work at hand, written before shares. */
  SlPoolFunc func;
  const void *data;
  guint items, parts; /* pieces, and how many threads have a share of them */
  /* Works between two rests are a row. */
  gint64 rested;         /* when the last row ended; 0 within one */
  guint64 row_us;        /* what shared works of this row take, or of the last one */
  gboolean close, wakes; /* whether this row followed the last one within SPIN_US, and else whether
                            it takes long */
  guint8 apart[LINE];
  gint done; /* atomic: pieces done by others than the caller */
  guint8 apart_too[LINE];
  gint asleep;   /* atomic: whether threads wait for @work that nobody has woken */
  gint waiting;  /* atomic: whether the caller waits for @finished */
  gint quit;     /* atomic */
  guint started; /* threads that have begun, and so have allocated what they ever will */
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

/* The first piece of a share; later ones are the larger, since the last piece of all often is not
 * whole. */
static inline guint
share_start (guint items, guint parts, guint share)
{
  return (guint) ((guint64) items * share / parts);
}

/* Does one piece of a share; FALSE when none is left. */
static gboolean
claim (SlPool *pool, guint share, guint thread)
{
  gint *const counter = &pool->shares[share].left;
  gint left = g_atomic_int_get (counter);
  while (left > 0 && !g_atomic_int_compare_and_exchange (counter, left, left - 1))
    left = g_atomic_int_get (counter);
  if (left <= 0)
    return FALSE;
  pool->func (pool->data, share_start (pool->items, pool->parts, share + 1) - (guint) left, thread);
  return TRUE;
}

/* Does what can be claimed, of the thread's own share first; returns how many pieces that was. */
static guint
work (SlPool *pool, guint thread)
{
  guint mine = 0;
  for (guint i = 0; i < pool->n_threads; i++)
    while (claim (pool, (thread + i) % pool->n_threads, thread))
      mine++;
  return mine;
}

/* Spins while *@value is @from or more and less than @to, until time is up. */
static void
spin (const gint *value, gint from, gint to)
{
  const gint64 end = g_get_monotonic_time () + SPIN_US;
  do {
    for (guint i = 0; i < SPINS_PER_LOOK; i++) {
      const gint now = g_atomic_int_get (value);
      if (now < from || now >= to)
        return;
      relax ();
    }
  } while (g_get_monotonic_time () < end);
}

static void
count_done (SlPool *pool, guint pieces)
{
  g_atomic_int_add (&pool->done, (gint) pieces);
  if (!g_atomic_int_get (&pool->waiting))
    return;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&pool->mutex);
  g_cond_signal (&pool->finished);
}

static void
count_started (SlPool *pool)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&pool->mutex);
  pool->started++;
  g_cond_signal (&pool->finished);
}

static void
sleep_until_woken (SlPool *pool, const gint *left)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&pool->mutex);
  g_atomic_int_set (&pool->asleep, 1);
  if (g_atomic_int_get (left) <= 0 && !g_atomic_int_get (&pool->quit))
    g_cond_wait (&pool->work, &pool->mutex);
}

static gpointer
worker_main (gpointer data)
{
  Worker *worker = data;
  SlPool *pool = worker->pool;
  const guint index = worker->index;
  const gint *const left = &pool->shares[index].left;
  g_free (worker);
  count_started (pool);
  while (!g_atomic_int_get (&pool->quit)) {
    const guint pieces = work (pool, index);
    if (pieces > 0)
      count_done (pool, pieces);
    spin (left, 0, 1);
    if (g_atomic_int_get (left) <= 0)
      sleep_until_woken (pool, left);
  }
  return NULL;
}

static void
wake (SlPool *pool)
{
  g_mutex_lock (&pool->mutex);
  g_atomic_int_set (&pool->asleep, 0);
  g_mutex_unlock (&pool->mutex);
  g_cond_broadcast (&pool->work);
}

static void
wait_for_others (SlPool *pool, gint pieces)
{
  spin (&pool->done, 0, pieces);
  if (g_atomic_int_get (&pool->done) >= pieces)
    return;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&pool->mutex);
  g_atomic_int_set (&pool->waiting, 1);
  while (g_atomic_int_get (&pool->done) < pieces)
    g_cond_wait (&pool->finished, &pool->mutex);
  g_atomic_int_set (&pool->waiting, 0);
}

void
sl_pool_run (SlPool *pool, SlPoolFunc func, const void *data, guint items, guint cost_us)
{
  const guint parts = pool == NULL ? 1 : MIN (MIN (pool->n_threads, items), cost_us / SHARE_US);
  if (parts <= 1) {
    for (guint i = 0; i < items; i++)
      func (data, i, 0);
    return;
  }
  if (pool->rested != 0) {
    pool->close = g_get_monotonic_time () - pool->rested < SPIN_US;
    pool->wakes = pool->row_us >= ROW_US;
    pool->rested = 0;
    pool->row_us = 0;
  }
  pool->row_us += cost_us;
  pool->func = func;
  pool->data = data;
  pool->items = items;
  pool->parts = parts;
  g_atomic_int_set (&pool->done, 0);
  for (guint i = 0; i < pool->n_threads; i++)
    g_atomic_int_set (
      &pool->shares[i].left,
      i < parts ? (gint) (share_start (items, parts, i + 1) - share_start (items, parts, i)) : 0);
  if ((pool->close || (pool->wakes && cost_us >= WAKE_US)) && g_atomic_int_get (&pool->asleep))
    wake (pool);
  wait_for_others (pool, (gint) (items - work (pool, 0)));
}

void
sl_pool_rest (SlPool *pool)
{
  if (pool == NULL || pool->rested != 0)
    return;
  pool->rested = g_get_monotonic_time ();
  for (guint i = 1; !pool->close && i < pool->n_threads; i++)
    g_atomic_int_set (&pool->shares[i].left, REST);
}

SlPool *
sl_pool_new (guint threads, GError **error)
{
  SlPool *pool = g_new0 (SlPool, 1);
  pool->threads = g_new0 (GThread *, threads);
  pool->shares = g_aligned_alloc0 (threads, sizeof pool->shares[0], LINE);
  pool->n_threads = threads;
  pool->wakes = TRUE;
  g_mutex_init (&pool->mutex);
  g_cond_init (&pool->work);
  g_cond_init (&pool->finished);
  for (guint i = 1; i < threads; i++) {
    Worker *worker = g_new (Worker, 1);
    *worker = (Worker){ pool, i };
    GThread *thread = g_thread_try_new ("sl-pool", worker_main, worker, error);
    if (thread == NULL) {
      g_free (worker);
      g_prefix_error (
        error, "cannot start %u threads, for want of memory or by a limit on threads: ", threads);
      sl_pool_free (pool);
      return NULL;
    }
    pool->threads[i - 1] = thread;
  }
  /* Yielding would wait for every other thread of a busy machine in turn. */
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&pool->mutex);
  while (pool->started + 1 < pool->n_threads)
    g_cond_wait (&pool->finished, &pool->mutex);
  return pool;
}

void
sl_pool_free (SlPool *pool)
{
  if (pool == NULL)
    return;
  g_atomic_int_set (&pool->quit, 1);
  wake (pool);
  for (guint i = 0; i + 1 < pool->n_threads && pool->threads[i] != NULL; i++)
    g_thread_join (pool->threads[i]);
  g_mutex_clear (&pool->mutex);
  g_cond_clear (&pool->work);
  g_cond_clear (&pool->finished);
  g_free (pool->threads);
  g_aligned_free (pool->shares);
  g_free (pool);
}

guint
sl_pool_threads (const SlPool *pool)
{
  return pool != NULL ? pool->n_threads : 1;
}
