/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One clock and one loop for all that is timed in turn. */
#include "tools/bench/timing.h"

#include <stdlib.h>
#include <time.h>

double
sl_timing_now_ms (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec * 1e3 + (double) t.tv_nsec * 1e-6;
}

void
sl_timing_each (void (*run) (gpointer data), gpointer data, guint n, double *ms)
{
  for (guint i = 0; i < n; i++) {
    const double at = sl_timing_now_ms ();
    run (data);
    ms[i] = sl_timing_now_ms () - at;
  }
}

static int
compare_doubles (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;
  return x < y ? -1 : x > y;
}

void
sl_timing_sort (double *ms, guint n)
{
  qsort (ms, n, sizeof ms[0], compare_doubles);
}

gboolean
sl_timing_in_turn (const SlTimed *rows, guint n_rows, guint runs, guint turn, guint pause_us,
                   void (*progress) (guint done, guint all), GError **error)
{
  for (guint done = 0; done < runs; done += turn) {
    for (guint k = 0; k < n_rows; k++) {
      if (pause_us > 0)
        g_usleep (pause_us);
      if (!rows[k].turn (rows[k].data, MIN (turn, runs - done), rows[k].ms + done, error))
        return FALSE;
    }
    if (progress != NULL)
      progress (done, runs);
  }
  if (progress != NULL)
    progress (runs, runs);
  for (guint k = 0; k < n_rows; k++)
    sl_timing_sort (rows[k].ms, runs);
  return TRUE;
}
