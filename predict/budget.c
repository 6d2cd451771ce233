/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns in real time. One lock guards the turns of the process; nothing runs under it. */
#include "predict/budget.h"

#include <time.h>

struct _SlBudgetStream
{
  SlTurnStream *turn;
  SlBatchStream *batch; /* (nullable) */
  gdouble rate;
  gboolean cancelled;
  gint64 began; /* processor time of its thread when it got its turn */
  GCond changed;
};

static GMutex lock;
static SlTurns *turns; /* from the first stream or call on; it keeps the number of cores */

/* Processor time of this thread in us. */
static gint64
thread_time (void)
{
  struct timespec time = { 0 };
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (gint64) time.tv_sec * G_USEC_PER_SEC + time.tv_nsec / 1000;
}

static gdouble
all_cores (void)
{
  return g_get_num_processors ();
}

/* Locked. */
static SlTurns *
get_turns (void)
{
  if (turns == NULL)
    turns = sl_turns_new (all_cores ());
  return turns;
}

/* Gives all turns that may be given. Locked. Returns when to look again, which a stream that waits
 * must do. */
static gint64
give_turns (void)
{
  SlTurnStream *given[SL_MAX_BATCH];
  gint64 look;
  guint n;
  while ((n = sl_turns_give (turns, g_get_monotonic_time (), given, SL_MAX_BATCH, &look)) > 0)
    for (guint i = 0; i < n; i++) {
      SlBudgetStream *stream = sl_turn_stream_user (given[i]);
      if (stream->batch != NULL)
        sl_batch_stream_expect (stream->batch);
      g_cond_signal (&stream->changed);
    }
  return look;
}

/* By a thread that does not wait itself. Locked. */
static void
give_and_go (void)
{
  const gint64 look = give_turns ();
  SlTurnStream *waiting = look < G_MAXINT64 ? sl_turns_waiting (turns) : NULL;
  if (waiting != NULL)
    g_cond_signal (&((SlBudgetStream *) sl_turn_stream_user (waiting))->changed);
}

void
sl_budget_set_cores (gdouble cores)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  sl_turns_set_cores (get_turns (), cores > 0 ? cores : all_cores (), g_get_monotonic_time ());
  give_and_go ();
}

gdouble
sl_budget_cores (void)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  return sl_turns_cores (get_turns ());
}

SlBudgetStream *
sl_budget_stream_new (void)
{
  SlBudgetStream *stream = g_new0 (SlBudgetStream, 1);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  g_cond_init (&stream->changed);
  stream->turn = sl_turn_stream_new (get_turns (), stream);
  return stream;
}

void
sl_budget_stream_free (SlBudgetStream *stream)
{
  if (stream == NULL)
    return;
  sl_budget_stream_leave (stream, FALSE, FALSE);
  g_mutex_lock (&lock);
  sl_turn_stream_free (stream->turn);
  g_mutex_unlock (&lock);
  g_cond_clear (&stream->changed);
  g_free (stream);
}

void
sl_budget_stream_set (SlBudgetStream *stream, gdouble rate, guint priority, guint threads,
                      SlBatchStream *batch)
{
  const SlBatchSession *session = batch != NULL ? sl_batch_stream_session (batch) : NULL;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  stream->rate = rate;
  stream->batch = batch;
  sl_turn_stream_set (stream->turn, rate > 0 ? rate : 1, priority, threads, session,
                      session != NULL ? sl_batch_session_size (session) : 1);
}

gboolean
sl_budget_stream_enter (SlBudgetStream *stream, guint n, gboolean need)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  if (stream->rate <= 0)
    return TRUE;
  if (stream->cancelled)
    return FALSE;
  const gint64 now = g_get_monotonic_time ();
  sl_turn_stream_arrive (stream->turn, n, now);
  if (sl_turn_stream_has_turn (stream->turn))
    return TRUE;
  sl_turn_stream_wait (stream->turn, need, now);
  gint64 look = give_turns ();
  while (!sl_turn_stream_has_turn (stream->turn) && !stream->cancelled) {
    if (look == G_MAXINT64)
      g_cond_wait (&stream->changed, &lock);
    else
      g_cond_wait_until (&stream->changed, &lock, look);
    look = give_turns ();
  }
  const gboolean turn = sl_turn_stream_has_turn (stream->turn);
  stream->began = thread_time ();
  if (!turn)
    sl_turn_stream_give_up (stream->turn);
  give_and_go ();
  return turn;
}

gboolean
sl_budget_stream_has_turn (SlBudgetStream *stream)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  return sl_turn_stream_has_turn (stream->turn);
}

void
sl_budget_stream_skip (SlBudgetStream *stream)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  sl_turn_stream_skip (stream->turn);
}

void
sl_budget_stream_leave (SlBudgetStream *stream, gboolean ran, gboolean more)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  if (!sl_turn_stream_has_turn (stream->turn))
    return;
  sl_turn_stream_done (stream->turn, ran, more, thread_time () - stream->began,
                       g_get_monotonic_time ());
  /* Streams of its batch that have a turn do not wait for it. */
  if (stream->batch != NULL)
    sl_batch_stream_rest (stream->batch);
  give_and_go ();
}

void
sl_budget_stream_cancel (SlBudgetStream *stream, gboolean cancelled)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  stream->cancelled = cancelled;
  g_cond_signal (&stream->changed);
}

gboolean
sl_budget_stream_figures (SlBudgetStream *stream, SlTurnFigures *figures)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  if (stream->rate <= 0)
    return FALSE;
  sl_turn_stream_figures (stream->turn, g_get_monotonic_time (), figures);
  return TRUE;
}
