/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GLib's locks on pthread's, to be preloaded when tests run under ThreadSanitizer: it does not see
 * what GLib's own locks, which call the kernel themselves, put in order, and reports all that they
 * protect. Built for that only, and not instrumented itself.
 */
#define GLIB_DISABLE_DEPRECATION_WARNINGS
#include <glib.h>
#include <pthread.h>
#include <stdlib.h>

/* What is being made between g_once_init_enter() and _leave() right now; NULL = a free place. */
static pthread_mutex_t once_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t once_done = PTHREAD_COND_INITIALIZER;
static const volatile void *making[64];

static pthread_mutex_t *
mutex_of (GMutex *mutex)
{
  gpointer known = __atomic_load_n (&mutex->p, __ATOMIC_ACQUIRE);
  if (known != NULL)
    return known;
  pthread_mutex_t *made = malloc (sizeof *made);
  pthread_mutex_init (made, NULL);
  if (__atomic_compare_exchange_n (&mutex->p, &known, made, FALSE, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE))
    return made;
  pthread_mutex_destroy (made);
  free (made);
  return known;
}

static pthread_cond_t *
cond_of (GCond *cond)
{
  gpointer known = __atomic_load_n (&cond->p, __ATOMIC_ACQUIRE);
  if (known != NULL)
    return known;
  pthread_cond_t *made = malloc (sizeof *made);
  pthread_condattr_t attributes;
  pthread_condattr_init (&attributes);
  pthread_condattr_setclock (&attributes, CLOCK_MONOTONIC);
  pthread_cond_init (made, &attributes);
  pthread_condattr_destroy (&attributes);
  if (__atomic_compare_exchange_n (&cond->p, &known, made, FALSE, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE))
    return made;
  pthread_cond_destroy (made);
  free (made);
  return known;
}

void
g_mutex_init (GMutex *mutex)
{
  mutex->p = NULL;
}

void
g_mutex_clear (GMutex *mutex)
{
  if (mutex->p == NULL)
    return;
  pthread_mutex_destroy (mutex->p);
  free (mutex->p);
  mutex->p = NULL;
}

void
g_mutex_lock (GMutex *mutex)
{
  pthread_mutex_lock (mutex_of (mutex));
}

gboolean
g_mutex_trylock (GMutex *mutex)
{
  return pthread_mutex_trylock (mutex_of (mutex)) == 0;
}

void
g_mutex_unlock (GMutex *mutex)
{
  pthread_mutex_unlock (mutex_of (mutex));
}

void
g_cond_init (GCond *cond)
{
  cond->p = NULL;
}

void
g_cond_clear (GCond *cond)
{
  if (cond->p == NULL)
    return;
  pthread_cond_destroy (cond->p);
  free (cond->p);
  cond->p = NULL;
}

void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  pthread_cond_wait (cond_of (cond), mutex_of (mutex));
}

gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  const struct timespec until = { end_time / G_USEC_PER_SEC, end_time % G_USEC_PER_SEC * 1000 };
  return pthread_cond_timedwait (cond_of (cond), mutex_of (mutex), &until) == 0;
}

void
g_cond_signal (GCond *cond)
{
  pthread_cond_signal (cond_of (cond));
}

void
g_cond_broadcast (GCond *cond)
{
  pthread_cond_broadcast (cond_of (cond));
}

/* Under the lock: where @location is among what is being made, or with NULL a free place. */
static const volatile void **
find (const volatile void *location)
{
  for (guint i = 0; i < G_N_ELEMENTS (making); i++)
    if (making[i] == location)
      return &making[i];
  return NULL;
}

gboolean (g_once_init_enter) (volatile void *location)
{
  gsize *value = (gsize *) location;
  pthread_mutex_lock (&once_mutex);
  while (__atomic_load_n (value, __ATOMIC_ACQUIRE) == 0 && find (location) != NULL)
    pthread_cond_wait (&once_done, &once_mutex);
  const gboolean mine = __atomic_load_n (value, __ATOMIC_ACQUIRE) == 0;
  if (mine)
    *find (NULL) = location;
  pthread_mutex_unlock (&once_mutex);
  return mine;
}

void (g_once_init_leave) (volatile void *location, gsize result)
{
  pthread_mutex_lock (&once_mutex);
  __atomic_store_n ((gsize *) location, result, __ATOMIC_RELEASE);
  *find (location) = NULL;
  pthread_cond_broadcast (&once_done);
  pthread_mutex_unlock (&once_mutex);
}
