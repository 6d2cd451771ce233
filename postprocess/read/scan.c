/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of readers, and the thread that they run on. The thread owns picture and code while it
 * is busy; else the caller owns them. A thread that is busy when its owner frees it is left to run,
 * and frees everything at its end.
 */
#include "config.h"
#include "postprocess/read/scan.h"

#include <string.h>

const SlReader *const sl_readers[] = {
#ifdef SL_HAVE_ZXING
  &sl_reader_zxing,
#endif
#ifdef SL_HAVE_ZBAR
  &sl_reader_zbar,
#endif
  NULL
};

struct _SlScan
{
  GMutex lock;
  GCond change;
  guint n_readers;
  const SlReader *readers[SL_READ_MAX_READERS];
  gpointer scanners[SL_READ_MAX_READERS];
  gint64 resumes[SL_READ_MAX_READERS]; /* lock: 0 = it does not rest */
  gboolean is_busy, is_over, is_left;  /* lock */
  GThread *thread;
  gboolean found;
  SlReadHow how;
  SlGray picture;
  SlReadCode code;
};

static void
destroy (SlScan *scan)
{
  for (guint i = 0; i < scan->n_readers; i++)
    scan->readers[i]->close (scan->scanners[i]);
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
    const guint i = scan->how.reader;
    const SlReader *reader = scan->readers[i];
    const gboolean found =
      reader->scan (scan->scanners[i], &scan->picture, &scan->how, &scan->code);
    const gint64 resumes = reader->resumes != NULL ? reader->resumes (scan->scanners[i]) : 0;
    g_mutex_lock (&scan->lock);
    scan->found = found;
    scan->resumes[i] = resumes;
    scan->is_busy = FALSE;
    g_cond_broadcast (&scan->change);
  }
  const gboolean left = scan->is_left;
  g_mutex_unlock (&scan->lock);
  if (left)
    destroy (scan);
  return NULL;
}

/* FALSE where none opens. */
static gboolean
open_readers (SlScan *scan, const char *name)
{
  for (guint i = 0; sl_readers[i] != NULL; i++) {
    const gboolean wanted = name == NULL || strcmp (sl_readers[i]->name, name) == 0;
    gpointer scanner = wanted ? sl_readers[i]->open () : NULL;
    if (scanner == NULL)
      continue;
    scan->readers[scan->n_readers] = sl_readers[i];
    scan->scanners[scan->n_readers++] = scanner;
  }
  return scan->n_readers > 0;
}

SlScan *
sl_scan_new (const char *name)
{
  SlScan *scan = g_new0 (SlScan, 1);
  g_mutex_init (&scan->lock);
  g_cond_init (&scan->change);
  scan->thread = open_readers (scan, name) ? g_thread_try_new ("read", work, scan, NULL) : NULL;
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
  guint kinds = 0;
  for (guint i = 0; i < scan->n_readers; i++)
    kinds |= scan->readers[i]->kinds;
  return kinds;
}

static gboolean
rests (SlScan *scan, guint i)
{
  g_mutex_lock (&scan->lock);
  const gint64 resumes = scan->resumes[i];
  g_mutex_unlock (&scan->lock);
  return resumes > 0 && resumes > g_get_monotonic_time ();
}

guint
sl_scan_ready (SlScan *scan)
{
  guint kinds = 0;
  for (guint i = 0; i < scan->n_readers; i++)
    kinds |= rests (scan, i) ? 0 : scan->readers[i]->kinds;
  return kinds;
}

gint
sl_scan_find (SlScan *scan, guint kinds, guint rank)
{
  for (guint i = 0; i < scan->n_readers; i++)
    if ((scan->readers[i]->kinds & kinds) != 0 && !rests (scan, i) && rank-- == 0)
      return (gint) i;
  return -1;
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
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&scan->lock);
  const gboolean idle = wait (scan, deadline);
  return idle ? &scan->picture : NULL;
}

SlScanResult
sl_scan_run (SlScan *scan, const SlReadHow *how, gint64 deadline, SlReadCode *code)
{
  SlScanResult result = SL_SCAN_LATE;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&scan->lock);
  scan->how = *how;
  scan->is_busy = TRUE;
  g_cond_broadcast (&scan->change);
  if (wait (scan, deadline))
    result = scan->found ? SL_SCAN_FOUND : SL_SCAN_NOTHING;
  if (result == SL_SCAN_FOUND)
    *code = scan->code;
  return result;
}
