/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * To be preloaded (scripts/flakes.sh): threads that are held up at random, as on a machine with too
 * few processors, where they lock and unlock, wait for files and sockets, and begin. It takes no
 * processor time itself. Most calls are not held up, some for 8 ms, few for 150 ms, and one in
 * 60,000 for two seconds.
 */
/* With it, headers define poll() and read() themselves. */
#undef _FORTIFY_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <gmodule.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* GLib would lock: a generator of its own for each thread. */
static __thread guint64 state;

static guint
below (guint limit)
{
  if (state == 0) {
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    state = ((guint64) (gsize) &state ^ (guint64) now.tv_nsec << 24 ^ (guint64) getpid () << 8) | 1;
  }
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (guint) ((state >> 20) % limit);
}

static void
pause_ms (guint ms)
{
  const int kept = errno;
  const struct timespec time = { ms / 1000, (long) (ms % 1000) * 1000000 };
  nanosleep (&time, NULL);
  errno = kept;
}

static void
hold_up (void)
{
  const guint drawn = below (60000);
  if (drawn < 1)
    pause_ms (2000);
  else if (drawn < 12)
    pause_ms (150);
  else if (drawn < 150)
    pause_ms (8);
}

/* The function that this file has one in the place of. */
#define REAL(function)                  \
  static __typeof__ (&(function)) real; \
  if (real == NULL)                     \
  *(void **) &real = dlsym (RTLD_NEXT, #function)

G_MODULE_EXPORT int
poll (struct pollfd *files, nfds_t n, int timeout)
{
  REAL (poll);
  hold_up ();
  const int found = real (files, n, timeout);
  hold_up ();
  return found;
}

G_MODULE_EXPORT ssize_t
read (int file, void *bytes, size_t size)
{
  REAL (read);
  hold_up ();
  return real (file, bytes, size);
}

G_MODULE_EXPORT ssize_t
write (int file, const void *bytes, size_t size)
{
  REAL (write);
  hold_up ();
  return real (file, bytes, size);
}

G_MODULE_EXPORT void (g_mutex_lock) (GMutex *mutex)
{
  REAL (g_mutex_lock);
  hold_up ();
  real (mutex);
}

G_MODULE_EXPORT void (g_mutex_unlock) (GMutex *mutex)
{
  REAL (g_mutex_unlock);
  real (mutex);
  hold_up ();
}

typedef struct
{
  void *(*run) (void *);
  void *data;
} Begin;

static void *
begin (void *data)
{
  const Begin begun = *(Begin *) data;
  free (data);
  const guint drawn = below (100);
  if (drawn < 20)
    pause_ms (drawn < 2 ? 1500 : 60);
  return begun.run (begun.data);
}

G_MODULE_EXPORT int
pthread_create (pthread_t *thread, const pthread_attr_t *attributes, void *(*run) (void *),
                void *data)
{
  REAL (pthread_create);
  Begin *begun = malloc (sizeof *begun);
  *begun = (Begin){ run, data };
  const int failed = real (thread, attributes, begin, begun);
  if (failed != 0)
    free (begun);
  return failed;
}
