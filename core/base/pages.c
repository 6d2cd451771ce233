/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/base/pages.h"

#include <sys/mman.h>
#include <unistd.h>

/* Smaller memory does not hold a whole huge page. */
#define HUGE ((gsize) 2 << 20)

gsize
sl_pages_round (gsize bytes)
{
  const gsize page = (gsize) sysconf (_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

/* (nullable): @bytes that begin where a huge page does. */
static guint8 *
map_aligned (gsize bytes)
{
  guint8 *memory =
    mmap (NULL, bytes + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  const gsize before = (HUGE - (guintptr) memory % HUGE) % HUGE;
  if (before > 0)
    munmap (memory, before);
  if (before < HUGE)
    munmap (memory + before + bytes, HUGE - before);
  return memory + before;
}

void *
sl_pages_new (gsize bytes)
{
#ifdef MADV_HUGEPAGE
  if (bytes >= HUGE) {
    void *huge = map_aligned (bytes);
    if (huge != NULL)
      madvise (huge, bytes, MADV_HUGEPAGE);
    return huge;
  }
#endif
  return sl_pages_new_small (bytes);
}

void *
sl_pages_new_small (gsize bytes)
{
  void *memory = mmap (NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED ? memory : NULL;
}

void
sl_pages_fill (void *memory, gsize bytes)
{
#ifdef MADV_POPULATE_WRITE
  madvise (memory, bytes, MADV_POPULATE_WRITE);
#endif
}

void
sl_pages_settle (void *memory, gsize bytes)
{
#ifdef MADV_NOHUGEPAGE
  madvise (memory, bytes, MADV_NOHUGEPAGE);
#endif
}

void
sl_pages_free (void *memory, gsize bytes)
{
  if (memory != NULL)
    munmap (memory, bytes);
}
