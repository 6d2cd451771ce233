/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clock that a test sets (clock.h). */
#include "tests/support/clock.h"

#include <dlfcn.h>
#include <time.h>

/* After which a thread on a clock that stands is known not to be signalled. */
#define NEVER_US (60 * G_USEC_PER_SEC)

static __typeof__ (&g_cond_wait_until) real_wait;
static gint mode;
static GMutex lock;
static gint64 held;  /* the time of a clock that does not run; under the lock */
static gint64 ahead; /* of the real time, which a clock that runs is; under the lock */
static GCond begun;
static GHashTable *waiting; /* of GThread: those that have begun a wait; under the lock */

static void __attribute__ ((constructor)) find_real_wait (void)
{
  real_wait = (__typeof__ (real_wait)) dlsym (RTLD_NEXT, "g_cond_wait_until");
}

static gint64
real_time (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (gint64) now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

/* Locked. */
static gint64
get_time (void)
{
  return g_atomic_int_get (&mode) == SL_CLOCK_RUNS ? real_time () + ahead : held;
}

void
sl_clock_set (SlClock clock)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  g_clear_pointer (&waiting, g_hash_table_unref);
  waiting = g_hash_table_new (NULL, NULL);
  held = get_time ();
  ahead = MAX (ahead, held - real_time ());
  g_atomic_int_set (&mode, (gint) clock);
}

void
sl_clock_pass (gint64 us)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  held += us;
}

void
sl_clock_await (const GThread *thread)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  while (!g_hash_table_contains (waiting, thread))
    g_cond_wait (&begun, &lock);
}

gint64
g_get_monotonic_time (void)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  return get_time ();
}

/* Of a clock that runs. */
static gint64
to_real_time (gint64 time)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  return time - ahead;
}

static void
jump (gint64 time)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  held = MAX (held, time);
}

static void
note_wait (void)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  g_hash_table_add (waiting, g_thread_self ());
  g_cond_broadcast (&begun);
}

gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  const gint clock = g_atomic_int_get (&mode);
  if (clock == SL_CLOCK_RUNS)
    return real_wait (cond, mutex, to_real_time (end_time));
  if (clock == SL_CLOCK_JUMPS) {
    jump (end_time);
    return FALSE;
  }
  note_wait ();
  if (!real_wait (cond, mutex, real_time () + NEVER_US))
    g_error ("a thread waits for a time, and nothing else wakes it");
  return TRUE;
}
