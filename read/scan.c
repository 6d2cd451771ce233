/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of readers, and the thread that one runs on. Picture and code belong to the thread while it is busy, else to whoever calls. A
 * thread that is busy when it is no longer wanted is left alone, and frees all at its end.
 */
#include "config.h"
#include "read/scan.h"

#include <string.h>

const SlReader *const sl_readers[] = {
#ifdef SL_HAVE_ZBAR
  &sl_reader_zbar,
#endif
  NULL
};

struct _SlScan
{
  GMutex lock;
  GCond change;
  const SlReader *reader;
  gpointer scanner;
  gboolean is_busy, is_over, is_left; /* lock */
  GThread *thread;
  gboolean found;
  SlReadHow how;
  SlGray picture;
  SlReadCode code;
};

static void
destroy (SlScan *scan)
{
  scan->reader->close (scan->scanner);
  sl_gray_clear (&scan->picture);
  g_mutex_clear (&scan->lock);
  g_cond_clear (&scan->change);
  g_free (scan);
}

static gpointer
work (gpointer data)
{
  SlScan *scan = data;
  g_mutex_lock (&scan->lock);
  while (!scan->is_over) {
    if (!scan->is_busy) {
      g_cond_wait (&scan->change, &scan->lock);
      continue;
    }
    g_mutex_unlock (&scan->lock);
    const gboolean found = scan->reader->scan (scan->scanner, &scan->picture, &scan->how, &scan->code);
    g_mutex_lock (&scan->lock);
    scan->found = found;
    scan->is_busy = FALSE;
    g_cond_broadcast (&scan->change);
  }
  const gboolean left = scan->is_left;
  g_mutex_unlock (&scan->lock);
  if (left)
    destroy (scan);
  return NULL;
}

SlScan *
sl_scan_new (void)
{
  const SlReader *reader = sl_readers[0];
  gpointer scanner = reader != NULL ? reader->open () : NULL;
  if (scanner == NULL)
    return NULL;
  SlScan *scan = g_new0 (SlScan, 1);
  scan->reader = reader;
  scan->scanner = scanner;
  g_mutex_init (&scan->lock);
  g_cond_init (&scan->change);
  scan->thread = g_thread_try_new ("read", work, scan, NULL);
  if (scan->thread == NULL) {
    destroy (scan);
    return NULL;
  }
  return scan;
}

void
sl_scan_free (SlScan *scan)
{
  if (scan == NULL)
    return;
  g_mutex_lock (&scan->lock);
  GThread *thread = scan->thread;
  const gboolean left = scan->is_left = scan->is_busy;
  scan->is_over = TRUE;
  g_cond_broadcast (&scan->change);
  g_mutex_unlock (&scan->lock);
  if (left) {
    g_thread_unref (thread);
    return;
  }
  g_thread_join (thread);
  destroy (scan);
}

guint
sl_scan_kinds (const SlScan *scan)
{
  return scan->reader->kinds;
}

/* With the lock held. */
static gboolean
wait (SlScan *scan, gint64 deadline)
{
  while (scan->is_busy)
    if (!g_cond_wait_until (&scan->change, &scan->lock, deadline))
      return !scan->is_busy;
  return TRUE;
}

SlGray *
sl_scan_picture (SlScan *scan, gint64 deadline)
{
  g_mutex_lock (&scan->lock);
  const gboolean idle = wait (scan, deadline);
  g_mutex_unlock (&scan->lock);
  return idle ? &scan->picture : NULL;
}

SlScanResult
sl_scan_run (SlScan *scan, const SlReadHow *how, gint64 deadline, SlReadCode *code)
{
  SlScanResult result = SL_SCAN_LATE;
  g_mutex_lock (&scan->lock);
  scan->how = *how;
  scan->is_busy = TRUE;
  g_cond_broadcast (&scan->change);
  if (wait (scan, deadline))
    result = scan->found ? SL_SCAN_FOUND : SL_SCAN_NOTHING;
  if (result == SL_SCAN_FOUND)
    *code = scan->code;
  g_mutex_unlock (&scan->lock);
  return result;
}
