/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The progress line: name, frames, speed, and the part done where the length is known.
 */
#include "tools/predict/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/printable.h"

#define FIRST_AFTER G_USEC_PER_SEC
#define INTERVAL (G_USEC_PER_SEC / 5)

void
sl_progress_start (SlProgress *progress)
{
  *progress = (SlProgress){ .terminal = isatty (STDERR_FILENO), .started = g_get_monotonic_time () };
}

gboolean
sl_progress_due (SlProgress *progress)
{
  gint64 now = g_get_monotonic_time ();
  progress->frames++;
  if (!progress->terminal || now - progress->started < FIRST_AFTER || now - progress->shown < INTERVAL)
    return FALSE;
  progress->shown = now;
  return TRUE;
}

void
sl_progress_show (SlProgress *progress, const char *name, guint64 position, guint64 duration)
{
  double seconds = (double) (progress->shown - progress->started) / G_USEC_PER_SEC;
  g_autofree char *shown = sl_printable_message (name);
  fprintf (stderr, "\r\033[K%s: frame %" G_GUINT64_FORMAT ", %.1f frames/s", shown, progress->frames,
           (double) progress->frames / MAX (seconds, 1e-3));
  if (duration > 0)
    fprintf (stderr, ", %.0f %%", 100.0 * (double) MIN (position, duration) / (double) duration);
  fflush (stderr);
  progress->visible = TRUE;
}

void
sl_progress_hide (SlProgress *progress)
{
  if (progress->visible)
    fputs ("\r\033[K", stderr);
  progress->visible = FALSE;
}
