/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One list, one thread. Invariant: the thread looks at files without a lock, and calls back under
 * the watch's own lock, which sl_file_watch_free() takes, so no call comes after that.
 */
#include "plugins/tensor/file_watch.h"

/* Time between two looks, us. */
#define INTERVAL G_USEC_PER_SEC
/* More take memory while frames run. */
#define USUAL_WATCHES 16

struct _SlFileWatch
{
  gatomicrefcount refs; /* the owner's, and the thread's while it looks */
  char *path;
  SlFileStamp stamp;
  GRecMutex lock;
  SlFileWatchFunc changed; /* lock: NULL = heard or freed */
  gpointer user;
};

static GMutex list_lock;
static GCond list_changed;
static GPtrArray *watches; /* list_lock: of SlFileWatch, NULL = no thread */

static void
watch_unref (gpointer data)
{
  SlFileWatch *watch = data;
  if (!g_atomic_ref_count_dec (&watch->refs))
    return;
  g_rec_mutex_clear (&watch->lock);
  g_free (watch->path);
  g_free (watch);
}

static void
look (SlFileWatch *watch)
{
  SlFileStamp now;
  if (!sl_file_stamp_read (watch->path, &now) || sl_file_stamp_same_content (&now, &watch->stamp))
    return;
  g_rec_mutex_lock (&watch->lock);
  if (watch->changed != NULL && watch->changed (watch->user))
    watch->changed = NULL;
  g_rec_mutex_unlock (&watch->lock);
}

/* @data: an array, of the thread's own from now on; made before, so that a thread that starts late
 * takes no memory while frames run. */
static gpointer
run (gpointer data)
{
  GPtrArray *now = data;
  g_mutex_lock (&list_lock);
  while (watches->len > 0) {
    const gint64 next = g_get_monotonic_time () + INTERVAL;
    while (watches->len > 0 && g_cond_wait_until (&list_changed, &list_lock, next))
      ;
    for (guint i = 0; i < watches->len; i++) {
      SlFileWatch *watch = watches->pdata[i];
      g_atomic_ref_count_inc (&watch->refs);
      g_ptr_array_add (now, watch);
    }
    g_mutex_unlock (&list_lock);
    for (guint i = 0; i < now->len; i++)
      look (now->pdata[i]);
    g_ptr_array_set_size (now, 0);
    g_mutex_lock (&list_lock);
  }
  g_clear_pointer (&watches, g_ptr_array_unref);
  g_mutex_unlock (&list_lock);
  g_ptr_array_unref (now);
  return NULL;
}

SlFileWatch *
sl_file_watch_new (const char *path, const SlFileStamp *stamp, SlFileWatchFunc changed,
                   gpointer user)
{
  SlFileWatch *watch = g_new0 (SlFileWatch, 1);
  g_atomic_ref_count_init (&watch->refs);
  watch->path = g_strdup (path);
  watch->stamp = *stamp;
  watch->changed = changed;
  watch->user = user;
  g_rec_mutex_init (&watch->lock);
  g_mutex_lock (&list_lock);
  const gboolean start = watches == NULL;
  if (start)
    watches = g_ptr_array_new ();
  g_ptr_array_add (watches, watch);
  g_autoptr (GPtrArray) now = start ? g_ptr_array_new_full (USUAL_WATCHES, watch_unref) : NULL;
  GThread *thread = start ? g_thread_try_new ("sl-files", run, now, NULL) : NULL;
  if (start && thread == NULL) {
    g_clear_pointer (&watches, g_ptr_array_unref);
    g_clear_pointer (&watch, watch_unref);
  } else
    g_steal_pointer (&now);
  g_clear_pointer (&thread, g_thread_unref);
  g_mutex_unlock (&list_lock);
  return watch;
}

void
sl_file_watch_free (SlFileWatch *watch)
{
  if (watch == NULL)
    return;
  g_rec_mutex_lock (&watch->lock);
  watch->changed = NULL;
  g_rec_mutex_unlock (&watch->lock);
  g_mutex_lock (&list_lock);
  g_ptr_array_remove (watches, watch);
  if (watches->len == 0)
    g_cond_broadcast (&list_changed);
  g_mutex_unlock (&list_lock);
  watch_unref (watch);
}
