/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interposes malloc, calloc, realloc and their aligned relatives; each counts and passes on. */
#include "tools/bench/allocations.h"

#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(SANITIZED)
#include <errno.h>

extern void *__libc_malloc (size_t bytes);
extern void *__libc_calloc (size_t n, size_t bytes);
extern void *__libc_realloc (void *memory, size_t bytes);
extern void *__libc_memalign (size_t alignment, size_t bytes);

static gint64 count;
static void (*watcher) (void);

static void
add_one (void)
{
  __atomic_fetch_add (&count, 1, __ATOMIC_RELAXED);
  void (*seen) (void) = __atomic_load_n (&watcher, __ATOMIC_RELAXED);
  if (seen != NULL)
    seen ();
}

void *
malloc (size_t bytes)
{
  add_one ();
  return __libc_malloc (bytes);
}

void *
calloc (size_t n, size_t bytes)
{
  add_one ();
  return __libc_calloc (n, bytes);
}

void *
realloc (void *memory, size_t bytes)
{
  add_one ();
  return __libc_realloc (memory, bytes);
}

void *
aligned_alloc (size_t alignment, size_t bytes)
{
  add_one ();
  return __libc_memalign (alignment, bytes);
}

int
posix_memalign (void **memory, size_t alignment, size_t bytes)
{
  add_one ();
  *memory = __libc_memalign (alignment, bytes);
  return *memory != NULL ? 0 : ENOMEM;
}

gint64
sl_allocations (void)
{
  return __atomic_load_n (&count, __ATOMIC_RELAXED);
}

void
sl_allocations_watch (void (*seen) (void))
{
  __atomic_store_n (&watcher, seen, __ATOMIC_RELAXED);
}
#else
gint64
sl_allocations (void)
{
  return -1;
}

void
sl_allocations_watch (void (*seen) (void))
{
}
#endif
