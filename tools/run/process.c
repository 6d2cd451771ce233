/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Figures of the process from getrusage() and /proc. */
#include "tools/run/process.h"

#include <string.h>
#include <sys/resource.h>

const gint64 sl_flow_buckets[SL_FLOW_BUCKETS] = { 500,     1000,    2000,   5000,   10000,
                                                  20000,   50000,   100000, 200000, 500000,
                                                  1000000, 2000000, 5000000 };

void
sl_histogram_add (SlHistogram *histogram, gint64 time)
{
  guint bucket = 0;
  while (bucket < SL_FLOW_BUCKETS && time > sl_flow_buckets[bucket])
    bucket++;
  histogram->counts[bucket]++;
  histogram->sum += (guint64) MAX (time, 0);
}

static guint64
status_number (const char *text, const char *key)
{
  const char *line = strstr (text, key);
  return line != NULL ? g_ascii_strtoull (line + strlen (key), NULL, 10) : 0;
}

void
sl_process_figures_read (SlProcessFigures *figures)
{
  struct rusage usage;
  g_autofree char *text = NULL;
  *figures = (SlProcessFigures){ 0 };
  if (getrusage (RUSAGE_SELF, &usage) == 0)
    figures->cpu = (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
                   + (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  if (!g_file_get_contents ("/proc/self/status", &text, NULL, NULL))
    return;
  figures->rss = status_number (text, "\nVmRSS:") * 1024;
  figures->threads = (guint) status_number (text, "\nThreads:");
}
