/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of glibc's allocator; other C libraries do not need them. */
#include "tools/run/memory.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#define ARENAS 2

void
sl_memory_few_arenas (void)
{
#ifdef __GLIBC__
  mallopt (M_ARENA_MAX, ARENAS);
#endif
}

void
sl_memory_trim (void)
{
#ifdef __GLIBC__
  malloc_trim (0);
#endif
}
