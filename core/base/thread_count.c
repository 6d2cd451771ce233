/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the number of threads, and checks its range. */
#include "core/base/thread_count.h"

#include <string.h>

/* More seldom help models of the size that this runs. */
#define AUTO_THREADS 4

guint
sl_threads_resolve (guint threads)
{
  return threads > 0 ? threads : CLAMP (g_get_num_processors (), 1, AUTO_THREADS);
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
