/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Guarded memory; see guard.h.
 */
#include "tests/preprocess/guard.h"

#include <sys/mman.h>
#include <unistd.h>

void
test_guard_init (TestGuard *guard, gsize bytes, gboolean at_end)
{
  const gsize page = (gsize) sysconf (_SC_PAGESIZE);
  const gsize inner = (bytes + page - 1) / page * page;
  guard->bytes = bytes;
  guard->map_bytes = inner + 2 * page;
  guard->map = mmap (NULL, guard->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  g_assert_true (guard->map != MAP_FAILED);
  g_assert_cmpint (mprotect (guard->map + page, inner, PROT_READ | PROT_WRITE), ==, 0);
  guard->data = guard->map + page + (at_end ? inner - bytes : 0);
}

void
test_guard_clear (TestGuard *guard)
{
  munmap (guard->map, guard->map_bytes);
  guard->map = NULL;
}
