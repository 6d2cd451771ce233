/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the number of threads, checks its range, and finds the numbers worth a trial. */
#include "core/base/thread_count.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/cores.h"

/* More seldom help models of the size that this runs. */
#define AUTO_THREADS 4

guint
sl_threads_resolve (guint threads)
{
  return threads > 0 ? threads : CLAMP (g_get_num_processors (), 1, AUTO_THREADS);
}

static int
compare (const void *a, const void *b)
{
  return (int) *(const guint *) a - (int) *(const guint *) b;
}

guint
sl_threads_trials (const char *root, guint trials[SL_MAX_TRIALS])
{
  g_autofree SlCore *cores = g_new (SlCore, SL_MAX_CORES);
  const guint told = sl_cores_read (root, cores), all = told > 0 ? told : g_get_num_processors (),
              big = told > 0 ? sl_cores_big (cores, told) : all;
  guint found[SL_MAX_TRIALS], n = 0, kept = 0;
  for (guint threads = 1; threads <= MIN (all, AUTO_THREADS); threads *= 2)
    found[n++] = threads;
  if (big < all) {
    found[n++] = MIN (big, SL_MAX_THREADS);
    found[n++] = MIN (all, SL_MAX_THREADS);
  }
  qsort (found, n, sizeof found[0], compare);
  for (guint i = 0; i < n; i++)
    if (kept == 0 || trials[kept - 1] != found[i])
      trials[kept++] = found[i];
  return kept;
}

gboolean
sl_threads_parse (const char *text, guint *threads)
{
  guint64 number = 0;
  if (strcmp (text, "auto") != 0
      && !g_ascii_string_to_unsigned (text, 10, 0, SL_MAX_THREADS, &number, NULL))
    return FALSE;
  *threads = (guint) number;
  return TRUE;
}
